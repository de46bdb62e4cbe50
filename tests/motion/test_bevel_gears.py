"""Gears in space against closed forms: Willis' equation, torques about the axes, the motion of a free differential."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assurgent.common.errors import InputError
from assurgent.dynamics.forward import simulate
from assurgent.dynamics.inverse import inverse
from assurgent.mechanism.reader import loads
from assurgent.motion.kinematics import run

AXLE = (Path(__file__).parents[2] / "examples" / "car-differential.toml").read_text("utf-8")
SPEED = 4 * np.pi / 3.5  # of the cage: 120 rpm of the drive shaft, final drive 3.5
ROUNDING = 1e-12  # angles of some tens through some hundred operations
PAIR = """
format = 1
space = "spatial"
points = { O = [0, 0, 0], S = [-0.3, 0, 0], W = [0, 0.2, 0] }
[bodies]
frame = { points = ["O", "S", "W"] }
shaft = { points = ["S"] }
wheel = { points = ["W"] }
[joints]
S = { type = "R", bodies = ["frame", "shaft"], at = "S", axis = [1, 0, 0] }
W = { type = "R", bodies = ["frame", "wheel"], at = "W", axis = [0, 1, 0] }
M = { type = "gear", bodies = ["shaft", "wheel"], radii = [0.02, 0.07] }
[drivers]
theta = { joint = "S", angle = "20*t" }
"""


def left_wheel(t: np.ndarray) -> np.ndarray:
    return np.asarray(SPEED * (t - 0.2 * (t / 2 - np.sin(np.pi * t) / (2 * np.pi))))


@pytest.mark.parametrize("method", ["td", "3ot", "global", "global-sparse"])
def test_a_differential_keeps_the_mean_of_both_wheels(method: str) -> None:
    t = np.linspace(0, 2, 9)
    found = run(loads(AXLE, "axle.toml"), t, method).results
    cage, left = SPEED * t, left_wheel(t)
    assert found.joints["C"].angle == pytest.approx(cage, abs=ROUNDING)
    assert found.joints["R"].angle == pytest.approx(2 * cage - left, abs=ROUNDING)  # Willis
    assert found.joints["P"].angle == pytest.approx(-1.5 * (left - cage), abs=ROUNDING)
    bend = -SPEED * 0.2 * np.pi / 2 * np.sin(np.pi * t)
    assert found.joints["R"].acceleration == pytest.approx(-bend, abs=1e-11)


def test_torques_of_a_differential_are_those_about_the_axes() -> None:
    t = np.linspace(0, 2, 9)
    found = inverse(loads(AXLE, "axle.toml"), t).results
    left = -SPEED * 0.2 * np.pi / 2 * np.sin(np.pi * t)
    on_right = 0.9 * -left + 30  # inertia and the road
    on_left = on_right - 1.5 * 2e-4 * 1.5 * left  # what the planet's own inertia takes away
    y = np.array([0.0, 1.0, 0.0])
    assert found.reactions["MR"].moment == pytest.approx(np.outer(on_right, y), abs=1e-11)
    assert found.reactions["ML"].moment == pytest.approx(np.outer(on_left, y), abs=1e-11)
    assert found.drivers["curve"].effort == pytest.approx(0.9 * left + 30 - on_left, abs=1e-11)
    assert found.diagnostics["power_balance"] < 1e-12


@pytest.mark.parametrize("method", ["semirecursive-1", "semirecursive-2"])
def test_methods_that_do_not_count_turns_say_so(method: str) -> None:
    model = loads(AXLE.split("[drivers]")[0], "axle.toml")
    with pytest.raises(InputError, match=f"{method} does not count the turns of gears in space"):
        simulate(model, np.array([0.0, 0.1]), method)


@pytest.mark.parametrize("method", ["partition", "global", "dca", "dca-projected"])
def test_a_free_differential_moves_with_constant_accelerations(method: str) -> None:
    """In the turns of shaft and left wheel its mass matrix is constant."""
    text = AXLE.split("[drivers]")[0].replace("gravity = [0, 0, -9.81]", "") + (
        "[forces]\nroad = { body = 'left', torque = [0, -3, 0] }\nengine = { body = 'shaft', torque = [1, 0, 0] }\n"
        "[initial]\ns = { joint = 'S', angle = 0, rate = 10 }\nl = { joint = 'L', angle = 0, rate = 1 }\n"
    )
    t = np.linspace(0, 2, 5)
    found = simulate(loads(text, "axle.toml"), t, method).results
    shaft, left = np.eye(2)
    cage = shaft / 3.5
    right, planet = 2 * cage - left, -1.5 * (left - cage)
    parts = [(0.002, shaft), (0.04 + 0.4 * 0.06**2 + 1.5e-4, cage), (2e-4, planet), (0.9, left), (0.9, right)]
    bend = np.linalg.solve(sum(inertia * np.outer(x, x) for inertia, x in parts), shaft - 3 * left)
    for joint, rates in (("S", shaft), ("L", left), ("R", right), ("P", planet)):
        wanted = rates @ [10, 1] * t + rates @ bend * t**2 / 2
        assert found.joints[joint].angle == pytest.approx(wanted, abs=1e-7)  # tolerance 1e-9, some twenty radians


def test_a_bevel_pair_counts_whole_turns_at_instants_far_apart() -> None:
    found = run(loads(PAIR, "pair.toml"), np.array([0.0, 3.0, 10.0])).results
    assert found.joints["W"].angle == pytest.approx(np.array([0.0, 3.0, 10.0]) * -20 * 2 / 7, abs=ROUNDING)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("radii = [0.02, 0.07]", "ratio = 2, axes = [[1, 0, 0], [1, 0, 0]]", r"axes: 'wheel' has no joint R, C or H"),
        ("radii = [0.02, 0.07]", "ratio = 2, axes = [1, 0, 0]", r"axes: are two vectors"),
        ('type = "R", bodies = ["frame", "wheel"], at = "W", axis = [0, 1, 0]',
         'type = "S", bodies = ["frame", "wheel"], at = "W"', r"'wheel' has no joint R, C or H with the carrier"),
    ],
)  # fmt: skip
def test_a_wheel_needs_its_bearing(old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=r"\[joints\] M.*" + message):
        loads(PAIR.replace(old, new), "pair.toml")
