"""The measurements of the formulations: their mechanisms, the memory that steps take, and what the ratios are of."""

import numpy as np
import pytest

from assurgent.bench import formulations
from assurgent.bench.dynamics_study import REFERENCE, Figure


def test_the_open_chain_swings_alike_by_another_formulation():
    case = formulations.open_chain(3)
    recursive = formulations.prepared("semirecursive-1", case).run(REFERENCE)
    bodies = formulations.prepared("global", case).run(REFERENCE)
    moved = np.abs(recursive.places - np.array([[0.1 * k * np.sin(0.3), -0.1 * k * np.cos(0.3)] for k in range(3)]))
    assert moved.max() > 0.02  # of 0.2 m: it has not come back to where it began
    np.testing.assert_allclose(recursive.places, bodies.places, atol=1e-8)


def test_steps_take_no_memory():
    """A call brings its arrays to the compiled loop; how many steps it takes there makes no difference."""
    for name, (short, long) in formulations.memory().items():
        assert long.numba_blocks == short.numba_blocks, name


def test_ratios_are_to_the_faster_peer_that_reached_the_accuracy():
    def figure(program, seconds, reached=True):
        return Figure("chain", program, "1", 1e-5, 1e-3, 100, 1e-7, seconds, reached)

    rows = [figure("Assurgent, semirecursive-1", 0.06), figure("MuJoCo", 0.01, False), figure("Pinocchio", 0.03)]
    (claim,) = formulations.beside_claims(rows)
    assert claim.value == pytest.approx(2.0)
    assert claim.holds
    assert formulations.beside_claims(rows[:1]) == []
