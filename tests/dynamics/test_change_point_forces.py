"""Forces where the branches of a group meet: as smooth as on both sides of it."""

from __future__ import annotations

import numpy as np
import pytest

from assurgent.dynamics.inverse import inverse
from assurgent.mechanism.reader import loads

# a crank-slider moved at the slider: at both ends of the stroke crank and rod are in line
PRESS = """
format = 1
name = "press"
space = "planar"
gravity = [0, -9.81]
[points]
O = [0, 0]
A = [0.05, 0.06]
B = [0, -0.29]
[bodies]
frame = { points = ["O"] }
crank = { points = ["O", "A"], length = 0.08, mass = 12, inertia = 0.4, centre = [0, 0] }
rod = { points = ["A", "B"], length = 0.35, mass = 8, inertia = 0.1 }
ram = { points = ["B"], mass = 40, inertia = 0.5 }
[joints]
O = { type = "R", bodies = ["frame", "crank"], at = "O" }
A = { type = "R", bodies = ["crank", "rod"], at = "A" }
B = { type = "R", bodies = ["rod", "ram"], at = "B" }
G = { type = "P", bodies = ["frame", "ram"], at = "B", through = "O", axis = [0, -1] }
[drivers]
x = { joint = "G", displacement = "0.35 + 0.08*sin(2*pi*t)" }
[simulation]
stop = 1
step = 0.005
"""


def from_both_sides(values: np.ndarray, k: int) -> np.ndarray:
    """Interpolate at k from three steps on either side (order five)."""
    near, next_, far = (values[k - i] + values[k + i] for i in (1, 2, 3))
    return (15 * near - 6 * next_ + far) / 20


@pytest.mark.parametrize("t", [0.25, 0.75])
def test_forces_pass_a_meeting_smoothly(t: float) -> None:
    found = inverse(loads(PRESS, "press.toml")).results
    k = int(np.argmin(np.abs(found.time - t)))
    effort = found.drivers["x"].effort
    force = found.reactions["B"].force
    assert effort is not None
    # the error of the interpolation here, of order six in the step, is below 1e-7 of the forces
    assert effort[k] == pytest.approx(from_both_sides(effort, k), rel=1e-6)
    assert force[k] == pytest.approx(from_both_sides(force, k), abs=1e-6 * np.abs(force).max())
    assert found.diagnostics["power_balance"] < 1e-10
    assert "unbounded" not in found.diagnostics
    # in line with the guide, the rod carries ram and its own share: the guide feels nothing
    assert abs(found.reactions["G"].force[k][0]) < 1e-6 * np.abs(force).max()


def test_forces_without_bound_are_said_to_be_so() -> None:
    # the slider cannot turn the crank in line with it, but a crank out of balance must be turned
    sideways = PRESS.replace("centre = [0, 0]", "centre = [0.02, 0.03]").replace("[0, -9.81]", "[-5, -9.81]")
    found = inverse(loads(sideways, "press.toml")).results
    assert found.diagnostics["unbounded"] == pytest.approx([0.25, 0.75], abs=1e-9)
