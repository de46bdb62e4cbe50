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


SWUNG = """
format = 1
name = "a crank driven by the place of its end, through its dead centre"
space = "planar"
gravity = [0, -9.81]
points = { O = [0, 0], A = [0.08, 0.06] }
[bodies]
frame = { points = ["O"] }
crank = { points = ["O", "A"], length = 0.1, mass = 1, centre = "A" }
[joints]
O = { type = "R", bodies = ["frame", "crank"], at = "O" }
[drivers]
g = { point = "A", x = "0.1*cos(sqrt(2)*sin(t - 1))" }
[simulation]
stop = 2
step = 0.001
"""


@pytest.mark.parametrize("times", [None, [0.0, 0.99, 0.995, 1.000001, 1.001, 2.0]])
def test_a_pole_of_the_effort_is_followed_from_the_balance_on_either_side(times: list[float] | None) -> None:
    """m L² θ'' + m g L cos θ = -y F with θ = -√2 sin(t - 1): F has a pole at t = 1, where y passes zero."""
    asked = None if times is None else np.array(times)
    found = inverse(loads(SWUNG, "swung.toml"), asked).results
    s = found.time - 1.0
    angle, bend = -np.sqrt(2) * np.sin(s), np.sqrt(2) * np.sin(s)
    beside = np.abs(s) > 1e-9
    with np.errstate(divide="ignore"):
        right = -(0.01 * bend + 0.981 * np.cos(angle)) / (0.1 * np.sin(angle))
    effort = found.drivers["g"].effort
    assert effort is not None
    # positions that are right to 1e-15 are so to 1e-8 of y a microsecond beside the pole
    assert effort[beside] == pytest.approx(right[beside], rel=1e-8)
    assert np.isnan(effort[~beside]).all()
    assert found.diagnostics.get("unbounded", []) == pytest.approx(found.time[~beside])


CRANKS = """
format = 1
name = "parallelogram with three cranks"
space = "planar"
gravity = [1, -9.81]
points = { A = [0, 0], B = [2, 0], C = [3, 0], P = [0, 1], Q = [2, 1], R = [3, 1] }
[bodies]
frame = { points = ["A", "B", "C"] }
a = { points = ["A", "P"], mass = 1, inertia = 0.1 }
b = { points = ["B", "Q"], mass = 1, inertia = 0.1 }
c = { points = ["C", "R"], mass = 1, inertia = 0.1 }
k = { points = ["P", "Q", "R"], mass = 3, inertia = 0.1, centre = [0.5, 0.2] }
[joints]
A = { type = "R", bodies = ["frame", "a"], at = "A" }
B = { type = "R", bodies = ["frame", "b"], at = "B" }
C = { type = "R", bodies = ["frame", "c"], at = "C" }
P = { type = "R", bodies = ["a", "k"], at = "P" }
Q = { type = "R", bodies = ["b", "k"], at = "Q" }
R = { type = "R", bodies = ["c", "k"], at = "R" }
[drivers]
a = { joint = "A", angle = "1.2 + 9*t" }
[simulation]
stop = 0.4
step = 0.001
"""


def test_bodies_are_in_balance_beside_a_change_point_whatever_is_asked() -> None:
    """A crank at constant speed: P must give what weight and effort do not (moments about A, forces of a)."""
    model = loads(CRANKS, "cranks.toml")
    few, many = (inverse(model, t).results for t in (np.array([0.0, 0.2154]), None))
    more = inverse(model, np.union1d(np.linspace(0.0, 0.4, 401), [0.2154])).results
    for found in (few, many, more):
        reactions, place = found.reactions, found.points["P"].position
        assert reactions is not None
        effort, P = found.drivers["a"].effort, reactions["P"].force
        weight = 0.5 * (place[:, 0] * -9.81 - place[:, 1] * 1.0)
        lack = weight + effort - (place[:, 0] * P[:, 1] - place[:, 1] * P[:, 0])
        assert np.abs(lack).max() < 1e-8 * np.abs(P).max()
    lane = int(np.argmin(np.abs(more.time - 0.2154)))
    assert few.reactions is not None
    assert more.reactions is not None
    # all in line 0.3 ms later: of 1e-12 of the positions 1e-9 are left of the forces, times a hundred to be sure
    assert more.reactions["P"].force[lane] == pytest.approx(few.reactions["P"].force[1], rel=1e-7)


def test_an_effort_may_have_a_limit_where_reactions_have_none() -> None:
    """With all links in line the coupler cannot turn the other cranks; what A's driver must lift stays finite."""
    line = (np.pi - 1.2) / 9
    found = inverse(loads(CRANKS, "cranks.toml"), np.array([0.0, line, 0.3])).results
    effort, reactions = found.drivers["a"].effort, found.reactions
    assert effort is not None
    assert reactions is not None
    # constant speed: the effort is the moment of all weights, three halves of a crank and the coupler, about A
    assert effort == pytest.approx(4.5 * (9.81 * np.cos(1.2 + 9 * found.time) + np.sin(1.2 + 9 * found.time)), rel=1e-9)
    assert np.isnan(reactions["P"].force).all(axis=1).tolist() == [False, True, False]
    assert found.diagnostics["unbounded"] == pytest.approx([line])


def test_friction_that_holds_a_slider_at_its_dead_point_is_said_to_be_without_bound() -> None:
    """Where the lever of the ram's force, about 0.08 cos(2πt), is shorter than that of friction nothing moves it."""
    rubbing = PRESS.replace('at = "A" }', 'at = "A", friction = { coefficient = 0.2, radius = 0.01, speed = 0.1 } }')
    found = inverse(loads(rubbing, "press.toml"), np.array([0.0, 0.2, 0.25, 0.3])).results
    effort = found.drivers["x"].effort
    assert effort is not None
    assert np.isnan(effort).tolist() == [False, False, True, False]
    assert found.diagnostics["unbounded"] == pytest.approx([0.25])
