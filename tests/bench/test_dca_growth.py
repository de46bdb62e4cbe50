"""The work of a right-hand side by divide and conquer: linear, and the same by threads."""

import numpy as np
import pytest

from assurgent.bench.dca_growth import ladder, pendulum, prepared, seconds


@pytest.mark.long
@pytest.mark.parametrize("made", [pendulum, ladder])
def test_linear_growth(made):
    sizes = (10, 100, 1000, 2000)
    times = [seconds(*prepared(made(n))) for n in sizes]
    assert np.polyfit(np.log(sizes), np.log(times), 1)[0] <= 1.1


@pytest.mark.long
@pytest.mark.parametrize("made", [pendulum, ladder])
def test_threads_change_nothing(made):
    from assurgent.dynamics.dca_equations import rates
    from assurgent.dynamics.dca_threads import working

    system, y = prepared(made(300))
    one, two = np.zeros_like(y), np.zeros_like(y)
    assert rates(system.tables, 0.0, y, one)
    with working(system.tables, 2):
        assert rates(system.tables, 0.0, y, two)
    assert not system.tables.threads.any()
    np.testing.assert_array_equal(one, two)
