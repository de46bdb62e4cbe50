"""Ways of modelling in space: points of a hinge's axis, points kept on planes and cylinders; closed forms each."""

from __future__ import annotations

import numpy as np
import pytest

from assurgent.common.errors import InputError
from assurgent.dynamics.forward import simulate
from assurgent.dynamics.inverse import inverse
from assurgent.mechanism.model import Model
from assurgent.mechanism.reader import loads
from assurgent.motion.kinematics import run

ROUNDING = 1e-12  # positions of order one through some hundred operations


def read(text: str) -> Model:
    return loads(text, "m.toml")


# ---- points of a hinge's axis ---------------------------------------------------------------------------------------
ELBOW = """
format = 1
space = "spatial"
gravity = [0, 0, -9.81]
points = { A = [0, 0, 0], P = [1, 0.2, 0.1], Q = [1.3, 0.6, 0.1], T = [2, 0, 0.4] }
[bodies]
frame   = { points = ["A"] }
arm     = { points = ["A", "P", "Q"], mass = 2 }
forearm = { points = ["Q", "P", "T"], mass = 1 }
[joints]
A = { type = "R", bodies = ["frame", "arm"], at = "A", axis = [0, 0, 1] }
E = { type = "R", bodies = ["arm", "forearm"], at = "Q", axis = [3, 4, 0] }
[drivers]
a = { joint = "A", angle = "t" }
e = { joint = "E", angle = "0.5*sin(3*t)" }
"""


def test_every_point_of_a_hinge_axis_is_common_to_both_bodies() -> None:
    found = run(read(ELBOW), np.linspace(0, 2, 9)).results
    place = {name: series.position for name, series in found.points.items()}
    first = {"A": [0, 0, 0], "P": [1, 0.2, 0.1], "Q": [1.3, 0.6, 0.1]}
    for body, origin in (("arm", "A"), ("forearm", "Q")):  # by either body the point lies at the same place
        way = np.array(first["P"]) - first[origin]
        carried = place[origin] + found.bodies[body].rotation @ way
        assert place["P"] == pytest.approx(carried, abs=ROUNDING)


def test_the_second_point_of_a_hinge_changes_nothing_else() -> None:
    alone = ELBOW.replace('["Q", "P", "T"]', '["Q", "T"]')
    one, two = (run(read(text), np.linspace(0, 2, 5)).results for text in (ELBOW, alone))
    for name, series in two.points.items():
        assert one.points[name].position == pytest.approx(series.position, abs=ROUNDING)


def test_a_point_beside_the_axis_still_needs_a_joint() -> None:
    with pytest.raises(InputError, match=r"\[points\] P: .*it misses the axis of 'E' by 0\.001 m.* add the joint"):
        read(ELBOW.replace("axis = [3, 4, 0]", "axis = [3, 4, 0.01]"))


# ---- a point kept on a plane ----------------------------------------------------------------------------------------
SWASH = """
format = 1
space = "spatial"
gravity = [0, 0, -9.81]
parameters = { r = 0.04, tilt = "15 deg" }
points = { O = [0, 0, 0], A = ["r", 0, "-r*tan(tilt)"] }
[bodies]
frame   = { points = ["O"] }
shaft   = { points = ["O"], mass = 1, inertia = [1e-4, 1e-4, 2e-4, 0, 0, 0] }
plunger = { points = ["A"], mass = 0.3 }
[joints]
S = { type = "R", bodies = ["frame", "shaft"], at = "O", axis = [0, 0, 1] }
G = { type = "P", bodies = ["frame", "plunger"], at = "A", axis = [0, 0, 1] }
[joints.K]
type = "on-plane"
bodies = ["shaft", "plunger"]
at = "A"
through = "O"
normal = ["sin(tilt)", 0, "cos(tilt)"]
[drivers]
theta = { joint = "S", angle = "40*t" }
"""
SLOPE = 0.04 * np.tan(np.radians(15))  # the plunger's end is at z = - SLOPE cos(theta)


def test_a_plunger_on_a_swash_plate_moves_as_the_cosine() -> None:
    times = np.linspace(0, 0.3, 13)
    found = inverse(read(SWASH), times).results
    theta, w = 40 * times, 40.0
    A = found.points["A"]
    assert A.position[:, 2] == pytest.approx(-SLOPE * np.cos(theta), abs=ROUNDING)
    assert A.velocity[:, 2] == pytest.approx(w * SLOPE * np.sin(theta), abs=ROUNDING * w)
    lift = 0.3 * (w**2 * SLOPE * np.cos(theta) + 9.81)  # what the plunger needs along its guide
    assert found.drivers["theta"].effort == pytest.approx(lift * SLOPE * np.sin(theta), abs=1e-12)
    tilt = np.radians(15)
    normal = np.stack([np.sin(tilt) * np.cos(theta), np.sin(tilt) * np.sin(theta), np.full(13, np.cos(tilt))], 1)
    assert found.reactions["K"].force == pytest.approx(normal * (lift / np.cos(tilt))[:, None], abs=1e-11)


@pytest.mark.parametrize("method", ["partition", "global", "semirecursive-1", "dca"])
def test_a_free_swash_plate_keeps_its_energy(method: str) -> None:
    """(J + m SLOPE² sin² θ) ω² / 2 + m g z is constant: the speed at any angle follows."""
    text = SWASH.split("[drivers]")[0] + '[initial]\nstart = { joint = "S", angle = 0, rate = 30 }\n'
    found = simulate(read(text), np.linspace(0, 0.3, 7), method).results
    theta, rate = found.joints["S"].angle, found.joints["S"].rate
    energy = 0.5 * (2e-4 + 0.3 * SLOPE**2 * np.sin(theta) ** 2) * rate**2 - 0.3 * 9.81 * SLOPE * np.cos(theta)
    assert energy == pytest.approx(np.full(7, energy[0]), rel=1e-8)  # the tolerance of the run is 1e-9
    assert np.ptp(rate) > 1.0


def test_a_plane_needs_a_normal_and_has_no_coordinate() -> None:
    with pytest.raises(InputError, match=r"\[joints\] K.normal: is zero"):
        read(SWASH.replace('["sin(tilt)", 0, "cos(tilt)"]', "[0, 0, 0]"))
    with pytest.raises(InputError, match=r"\[drivers\] theta.joint: 'K' is a joint 'on-plane'; a driver needs one of"):
        read(SWASH.replace('joint = "S", angle', 'joint = "K", angle'))


# ---- a point kept on a cylinder -------------------------------------------------------------------------------------
ECCENTRIC = """
format = 1
space = "spatial"
gravity = [0, 0, -9.81]
points = { O = [0, 0, 0], E = [0, 0, 0.01], A = [0, 0.02, 0.05] }
[bodies]
frame   = { points = ["O"] }
shaft   = { points = ["O", "E"], mass = 1, centre = "O", inertia = [1e-4, 1e-4, 1e-4, 0, 0, 0] }
plunger = { points = ["A"], mass = 0.3 }
[joints]
S = { type = "R", bodies = ["frame", "shaft"], at = "O", axis = [0, 1, 0] }
G = { type = "P", bodies = ["frame", "plunger"], at = "A", axis = [0, 0, 1] }
K = { type = "on-cylinder", bodies = ["shaft", "plunger"], at = "A", through = "E", axis = [0, 1, 0] }
[drivers]
theta = { joint = "S", angle = "40*t" }
"""


def lift(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Height of the plunger over an eccentric of 10 mm and a radius of 40 mm, and its derivatives by the angle."""
    e, c, s = 0.01, np.cos(theta), np.sin(theta)
    root = np.sqrt(0.04**2 - (e * s) ** 2)
    slope = -e * s - e**2 * s * c / root
    return e * c + root, slope, -e * c - e**2 * (c**2 - s**2) / root - e**4 * (s * c) ** 2 / root**3


@pytest.mark.parametrize("method", ["td", "3ot", "global", "global-sparse"])
def test_a_plunger_on_an_eccentric_moves_as_over_its_circle(method: str) -> None:
    times = np.linspace(0, 0.3, 13)
    A = run(read(ECCENTRIC), times, method).results.points["A"]
    z, slope, bend = lift(40 * times)
    assert A.position[:, 2] == pytest.approx(z, abs=ROUNDING)
    assert A.velocity[:, 2] == pytest.approx(40 * slope, abs=ROUNDING * 40)
    assert A.acceleration[:, 2] == pytest.approx(1600 * bend, abs=ROUNDING * 1600)


def test_the_reaction_of_a_cylinder_acts_along_its_radius() -> None:
    times = np.linspace(0, 0.3, 13)
    found = inverse(read(ECCENTRIC), times).results
    theta = 40 * times
    z, slope, bend = lift(theta)
    push = 0.3 * (1600 * bend + 9.81)
    radius = np.stack([-0.01 * np.sin(theta), np.zeros(13), z - 0.01 * np.cos(theta)], 1)
    assert found.reactions["K"].force == pytest.approx(radius * (push / radius[:, 2])[:, None], abs=1e-10)
    assert found.drivers["theta"].effort == pytest.approx(push * slope, abs=1e-11)


@pytest.mark.parametrize("method", ["partition", "global"])
def test_a_free_eccentric_keeps_its_energy(method: str) -> None:
    text = ECCENTRIC.split("[drivers]")[0] + '[initial]\nstart = { joint = "S", angle = 0, rate = 30 }\n'
    found = simulate(read(text), np.linspace(0, 0.3, 7), method).results
    theta, rate = found.joints["S"].angle, found.joints["S"].rate
    z, slope, _ = lift(theta)
    energy = 0.5 * (1e-4 + 0.3 * slope**2) * rate**2 + 0.3 * 9.81 * z
    assert energy == pytest.approx(np.full(7, energy[0]), rel=1e-8)  # the tolerance of the run is 1e-9
    assert np.ptp(rate) > 1.0


def test_a_cylinder_needs_a_radius() -> None:
    with pytest.raises(InputError, match=r"\[joints\] K: 'A' lies on the axis in the sketch - give 'radius'"):
        read(ECCENTRIC.replace("A = [0, 0.02, 0.05]", "A = [0, 0.02, 0.01]"))
