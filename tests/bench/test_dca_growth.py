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


@pytest.mark.parametrize("made", [pendulum, ladder])
def test_linear_operations(made):
    """Multiplications of an assembly, counted from the sizes of its nodes."""
    work, counts = [], []
    for n in (10, 300, 1200):
        system = prepared(made(n))[0]
        e, r, c = system.tables.nodes[:, :3].T.astype(float)
        leaving, closing = e**3 / 3 + e * e * (r + c) + e * (r * r + c * c + c * r), c**3 / 3 + c * r * (c + r)
        work.append(float(np.sum(leaving + closing)))
        counts.append(len(system.names))
    exponents = np.diff(np.log(work)) / np.diff(np.log(counts))
    assert exponents[0] <= 1.03  # at 10 bodies some nodes still have the ends of the mechanism to themselves
    assert exponents[1] <= 1.01


@pytest.mark.parametrize("made", [pendulum, ladder])
def test_iterations_do_not_grow(made):
    """With one penalty for all sizes the ladder took 4 at 9 bodies, 7 at 300 and more than 10 at 2,000."""
    from assurgent.dynamics.dca_equations import rates
    from assurgent.dynamics.dca_head import FAILURES, ITERATIONS

    for n in (10, 100, 900):
        system, y = prepared(made(n))
        assert rates(system.head, 0.0, y, np.zeros_like(y))
        assert system.tables.counts[ITERATIONS] <= 6
        assert system.tables.counts[FAILURES] == 0


@pytest.mark.long
@pytest.mark.parametrize("made", [pendulum, ladder])
def test_threads_change_nothing(made):
    from assurgent.dynamics.dca_equations import rates
    from assurgent.dynamics.dca_head import FACTOR_CODE
    from assurgent.dynamics.dca_threads import working

    system, y = prepared(made(300))
    one, two = np.zeros_like(y), np.zeros_like(y)
    assert rates(system.head, 0.0, y, one)
    with working(system.head, 2):
        assert rates(system.head, 0.0, y, two)
    assert not system.head[FACTOR_CODE:].any()
    np.testing.assert_array_equal(one, two)
