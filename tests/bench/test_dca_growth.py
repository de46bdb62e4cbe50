"""The work of a right-hand side by divide and conquer: linear, and the same by threads."""

import numpy as np
import pytest

from assurgent.bench.dca_growth import ladder, pendulum, prepared, seconds


@pytest.mark.long
@pytest.mark.parametrize(("made", "most"), [(pendulum, 1.1), (ladder, 1.25)])
def test_linear_growth(made, most):
    """The matrices of a long ladder outgrow the caches (1.17 measured): memory, not operations, which are linear."""
    sizes = (10, 100, 1000, 2000)
    times = [seconds(*prepared(made(n))) for n in sizes]
    assert np.polyfit(np.log(sizes), np.log(times), 1)[0] <= most


@pytest.mark.parametrize("made", [pendulum, ladder])
def test_linear_operations(made):
    """Multiplications of an assembly, counted from the sizes of its nodes."""
    work = []
    for n in (300, 1200):
        e, r, c = prepared(made(n))[0].tables.nodes[:, :3].T.astype(float)
        leaving, closing = e**3 / 3 + e * e * (r + c) + e * (r * r + c * c + c * r), c**3 / 3 + c * r * (c + r)
        work.append(float(np.sum(leaving + closing)))
    assert np.log(work[1] / work[0]) / np.log(4) <= 1.1


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
