"""Long runs in stretches: a change point lies in one of them with all its nodes, however close lanes are."""

from __future__ import annotations

import numpy as np
import pytest

from assurgent.mechanism.reader import loads
from assurgent.motion.kinematics import run

PARALLELOGRAM = """
format = 1
space = "planar"
points = { A = [0, 0], B = [0, 2], C = [5, 2], D = [5, 0] }
[bodies]
frame = { points = ["A", "D"] }
crank = { points = ["A", "B"] }
rod = { points = ["B", "C"] }
rocker = { points = ["D", "C"] }
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "A" }
B = { type = "R", bodies = ["crank", "rod"], at = "B" }
C = { type = "R", bodies = ["rod", "rocker"], at = "C" }
D = { type = "R", bodies = ["frame", "rocker"], at = "D" }
[drivers]
theta = { joint = "A", angle = "pi/2 + 2*pi*t" }
"""


@pytest.mark.parametrize(("turns", "lanes"), [(10, 4_000), (20, 2_000), (50, 20_001), (6, 60_000), (2, 200_000)])
def test_a_parallelogram_passes_both_change_points_of_every_turn(turns: int, lanes: int) -> None:
    """Stretches began within the nodes of a change point, which could not be bridged then: a false dead point."""
    found = run(loads(PARALLELOGRAM, "parallelogram"), np.linspace(0, turns, lanes + 1))
    assert found.stop is None
    points = found.results.points
    assert points["C"].position - points["B"].position == pytest.approx(np.tile([5.0, 0.0], (lanes + 1, 1)), abs=1e-11)
    assert points["C"].velocity == pytest.approx(points["B"].velocity, abs=1e-6)  # interpolated at change points
