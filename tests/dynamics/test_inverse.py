"""Inverse dynamics: power balance, three schemes, actuators, Newton-Euler, and back from forward motion."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import BPoly

from assurgent import Mechanism
from assurgent.common.errors import InputError
from assurgent.dynamics.body_kernels import imbalance
from assurgent.dynamics.forward import simulate
from assurgent.dynamics.inverse import inverse
from assurgent.dynamics.reaction_schemes import SCHEMES
from assurgent.mechanism.model import Driver

DRIVEN = """
[drivers]
theta = { joint = "A", angle = "pi/3 + 4*t + 0.3*sin(5*t)" }
[simulation]
stop = 2
step = 0.1
"""


@pytest.fixture
def driven(mechanisms, read):
    return read(mechanisms.HEAD.format(name="four-bar") + mechanisms.CRANK_ROCKER + DRIVEN)


def test_power_is_balanced(driven):
    r = inverse(driven).results
    assert r.diagnostics["power_balance"] < 1e-13
    # and in the large: work of the motor is the gain of energy (Simpson over a fine grid)
    times = np.linspace(0, 2, 401)
    fine = inverse(driven, times).results
    power = fine.drivers["theta"].effort * fine.joints["A"].rate
    work = (times[1] - times[0]) / 3 * (power[0] + 4 * power[1:-1:2].sum() + 2 * power[2:-2:2].sum() + power[-1])
    assert work == pytest.approx(fine.energy.total[-1] - fine.energy.total[0], abs=2e-5)  # of the fourth-order rule


def test_powers_are_measured_by_the_largest_of_the_run():
    # one body, two instants: next to rest the efforts are wrong by a tenth, which is nothing beside the other instant
    origin, turn, still = np.zeros((3, 2, 2, 2)), np.zeros((3, 2, 1, 2)), np.zeros((2, 3, 2))
    origin[1, 1, 0] = [1e-9, 2.0]
    inertia, pushes = still.copy(), still.copy()
    inertia[1, 0], pushes[1, 0] = [1.0, 10.0], [0.9, 10.0]
    miss, largest = imbalance(origin, turn, inertia, still, pushes, np.zeros(2, dtype=bool))
    assert miss == pytest.approx(1e-10)
    assert largest == pytest.approx(40.0)


def test_three_schemes_agree(driven):
    found = {scheme: inverse(driven, scheme=scheme).results for scheme in SCHEMES}
    largest = max(np.abs(r.force).max() for r in found["direct"].reactions.values())
    for scheme in ("tangent", "inverse"):
        for joint, reaction in found[scheme].reactions.items():
            assert reaction.force == pytest.approx(found["direct"].reactions[joint].force, abs=1e-11 * largest)
            assert reaction.moment == pytest.approx(found["direct"].reactions[joint].moment, abs=1e-11 * largest)


def test_reactions_keep_every_body_in_balance(driven):
    r = inverse(driven).results
    force = {j: s.force for j, s in r.reactions.items()}
    gravity = np.array([0, -9.81])
    masses = {"crank": (0.5, "A", "B"), "rod": (1.2, "B", "C"), "rocker": (0.9, "D", "C")}
    ends = {"crank": force["A"] - force["B"], "rod": force["B"] - force["C"], "rocker": force["C"] + force["D"]}
    for body, (m, one, two) in masses.items():
        centre = 0.5 * (r.points[one].acceleration + r.points[two].acceleration)
        assert ends[body] == pytest.approx(m * (centre - gravity), abs=1e-10)


def test_actuators_carry_the_same_power(driven, mechanisms, read):
    text = mechanisms.HEAD.format(name="four-bar") + mechanisms.CRANK_ROCKER + DRIVEN
    acted = inverse(read(text + '[actuators]\nmotor = { joint = "D" }\n')).results
    plain = inverse(driven).results
    power = plain.drivers["theta"].effort * plain.joints["A"].rate
    moving = np.abs(plain.joints["D"].rate) > 0.1
    assert (acted.actuators["motor"].effort * acted.joints["D"].rate)[moving] == pytest.approx(power[moving], rel=1e-9)
    assert acted.diagnostics["power_balance"] < 1e-12
    assert acted.drivers["theta"].effort == pytest.approx(np.zeros(21))
    with pytest.raises(InputError, match="actuators"):
        inverse(read(text + '[actuators]\none = { joint = "D" }\ntwo = { joint = "B" }\n'))


class Sampled:
    """A motion known at some instants, with its derivatives; between them the polynomial that has them at both ends."""

    text = "sampled"

    def __init__(self, times, value, rate, acceleration):
        motion = BPoly.from_derivatives(times, np.stack([value, rate, acceleration], axis=1))
        self.orders = [motion, *(motion.derivative(k) for k in (1, 2, 3))]

    def __call__(self, t):
        return np.stack([order(t) for order in self.orders])

    def check(self, times, where):
        return None


@pytest.mark.parametrize("name", ["CRANK_ROCKER", "RSSR"])
def test_inverse_gives_back_what_forward_was_given(mechanisms, read, name):
    if name == "RSSR":
        text, torque = mechanisms.RSSR, '[0, 0, "0.2*cos(3*t)"]'
    else:
        text, torque = mechanisms.HEAD.format(name="m") + mechanisms.CRANK_ROCKER, '"1.5*cos(3*t)"'
        text += '[initial]\nq = { joint = "A", angle = 1, rate = 2 }\n'
    model = read(text + f'[forces]\nmotor = {{ body = "crank", torque = {torque} }}\n')
    times = np.linspace(0, 0.3, 31)
    forward = simulate(model, times).results
    joint = forward.joints["A"]
    motion = Sampled(times, joint.angle, joint.rate, joint.acceleration)
    driver = Driver("q", "angle", motion, "A", ("frame", "crank"))
    back = inverse(replace(model, loads=(), initial=(), drivers={"q": driver}), times).results
    given = (0.2 if name == "RSSR" else 1.5) * np.cos(3 * times)
    assert back.drivers["q"].effort == pytest.approx(given, abs=1e-8)
    for j in forward.reactions:
        assert back.reactions[j].force == pytest.approx(forward.reactions[j].force, abs=1e-8 * 100)


GUIDED = """
format = 1
space = "planar"
gravity = [0, -9.81]
[points]
O = [0, 0]
L = [0.1, 0]
R = [0.5, 0]
[bodies.frame]
points = ["O"]
[bodies.table]
points = ["L", "R"]
mass = 4
centre = [0.1, 0]
inertia = 0.2
[joints]
left = { type = "P", bodies = ["frame", "table"], at = "L", axis = [1, 0], through = "O" }
right = { type = "P", bodies = ["frame", "table"], at = "R", axis = [1, 0], through = "O" }
[drivers]
push = { joint = "left", displacement = "0.1 + 0.05*sin(2*t)" }
"""

DOOR = """
format = 1
space = "spatial"
gravity = [0, 0, -9.81]
[points]
L = [0, 0, 0.2]
U = [0, 0, 1.8]
H = [0.8, 0, 1]
[bodies.frame]
points = ["L", "U"]
[bodies.door]
points = ["L", "U", "H"]
mass = 30
centre = [0.4, 0, 0.8]
inertia = [8, 9, 2, 0, 0, 0]
[joints]
low = { type = "R", bodies = ["frame", "door"], at = "L", axis = [0, 0, 1] }
up = { type = "R", bodies = ["frame", "door"], at = "U", axis = [0, 0, 1] }
[initial]
swing = { joint = "low", angle = 0, rate = 1 }
"""


def test_reactions_that_are_not_unique_are_marked(read):
    r = inverse(read(GUIDED), np.array([0.0, 0.5])).results
    assert r.diagnostics["reactions"] == {"not_unique": ["left", "right"]}
    total = r.reactions["left"].force + r.reactions["right"].force
    assert total == pytest.approx(np.array([[0, 4 * 9.81]] * 2), abs=1e-10)  # the driver alone pushes along
    assert r.drivers["push"].effort == pytest.approx(4 * -0.2 * np.sin([0, 1]), abs=1e-12)
    assert r.diagnostics["power_balance"] < 1e-12


def test_a_door_on_two_hinges(read):
    r = simulate(read(DOOR), np.array([0.0, 0.5]), "global").results
    assert r.diagnostics["reactions"] == {"not_unique": ["low", "up"]}
    total = r.reactions["low"].force + r.reactions["up"].force
    across = -30 * 0.4 * np.array([[np.cos(t), np.sin(t)] for t in (0, 0.5)])  # at 1 rad/s about the hinges
    assert total == pytest.approx(np.column_stack([across, [30 * 9.81] * 2]), abs=1e-9)


def test_unique_reactions_are_not_marked(driven):
    assert "reactions" not in inverse(driven).results.diagnostics


CAM = """
format = 1
space = "planar"
gravity = [0, -9.81]
[points]
O = [0, 0]
G = [0, 0]
F = [0, 0.05]
[bodies.frame]
points = ["O", "G"]
[bodies.disc]
points = ["O"]
mass = 0.4
inertia = 0.001
centre = [0.005, 0]
[bodies.lift]
points = ["F"]
mass = 0.3
[joints]
O = { type = "R", bodies = ["frame", "disc"], at = "O" }
slide = { type = "P", bodies = ["frame", "lift"], at = "F", axis = [0, 1], through = "G" }
touch = { type = "cam", bodies = ["disc", "lift"], centre = "O", profile = "0.05 + 0.01*cos(u)",
          follower = { point = "F", radius = 0.01 } }
"""


def test_cams(read):
    text = CAM.replace(",\n          follower", ", follower")
    driven = read(text + '[drivers]\nq = { joint = "O", angle = "5*t" }\n')
    r = inverse(driven, np.linspace(0, 0.4, 41)).results
    assert r.diagnostics["power_balance"] < 1e-10
    power = 5 * r.drivers["q"].effort
    work = 0.01 / 3 * (power[0] + 4 * power[1:-1:2].sum() + 2 * power[2:-2:2].sum() + power[-1])
    assert work == pytest.approx(r.energy.total[-1] - r.energy.total[0], abs=1e-7)  # Simpson's rule
    free = read(text + '[initial]\nq = { joint = "O", angle = 0, rate = 5 }\n')
    times = np.linspace(0, 0.4, 9)
    moved, other = simulate(free, times, "global").results, simulate(free, times).results
    assert moved.diagnostics["energy_drift"] < 1e-9
    assert other.diagnostics["energy_drift"] < 1e-9
    assert other.bodies["disc"].angle == pytest.approx(moved.bodies["disc"].angle, abs=1e-8)
    assert other.points["F"].velocity == pytest.approx(moved.points["F"].velocity, abs=1e-8)
    assert other.reactions["touch"].force == pytest.approx(moved.reactions["touch"].force, abs=1e-7)  # of some 5 N


SPRUNG = """
format = 1
space = "planar"
gravity = [0, -9.81]
[points]
O = [0, 0]
F = [0, 0.04]
T = [0, 0.2]
[bodies.frame]
points = ["O", "T"]
[bodies.cam]
points = ["O"]
mass = 0.5
inertia = 0.002
centre = [0.004, 0]
[bodies.tappet]
points = ["F"]
mass = 0.3
inertia = 0.001
[joints]
O = { type = "R", bodies = ["frame", "cam"], at = "O" }
G = { type = "P", bodies = ["frame", "tappet"], at = "F", through = "O", axis = [0, 1] }
C = { type = "cam", bodies = ["cam", "tappet"], centre = "O", profile = "0.015*cos(u) + sqrt(0.04**2 - (0.015*sin(u))**2)", follower = { point = "F", direction = [1, 0] } }
[forces]
spring = { type = "spring", between = ["F", "T"], stiffness = 400, length = 0.2 }
[drivers]
q = { joint = "O", angle = "40*t" }
"""  # noqa: E501


@pytest.mark.parametrize("scheme", ["direct", "tangent", "inverse"])
def test_torque_of_a_cam_that_lifts_a_sprung_mass(read, scheme):
    """A disc of radius R about a point e off its pivot lifts a flat face by y = R + e sin θ."""
    e, w, t = 0.015, 40.0, np.linspace(0, 0.5, 101)
    found = inverse(read(SPRUNG), t, scheme=scheme).results
    y, sine, cosine = 0.04 + e * np.sin(w * t), np.sin(w * t), np.cos(w * t)
    pressed = 0.3 * (9.81 - e * w * w * sine) + 400 * y  # the spring is y shorter than when it is free
    assert found.drivers["q"].effort == pytest.approx(pressed * e * cosine + 0.5 * 9.81 * 0.004 * cosine, abs=1e-11)
    assert np.abs(found.reactions["C"].force[:, 1]) == pytest.approx(np.abs(pressed), abs=1e-10)


def test_forces_that_are_too_large_for_their_reactions_are_refused() -> None:
    """A force of 1e300 N gave infinite reactions, with exit code 0."""
    m = Mechanism.load(Path(__file__).parents[2] / "examples" / "four-bar.toml")
    m.forces["push"] = {"body": "coupler", "point": "C", "force": ["floor(1e300)", 0]}
    with pytest.raises(
        InputError, match=r"push: the value of .* is out of range \(numbers go up to 1e\+100\) at t = 0"
    ):
        m.inverse([0.0, 0.1])


WELDED = """
format = 1
space = "planar"
gravity = [0, -9.81]
points = { A = [0, 0], B = [0.3, 0.4], W = [0.1, 0.6] }
[bodies]
frame = { points = ["A"] }
crank = { points = ["A", "B"], mass = 1.5, inertia = 0.02, centre = [0.2, 0] }
flag = { points = ["B", "W"], mass = 0.7, inertia = 0.03, centre = [0.2, -0.1] }
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "A" }
K = JOINT
[drivers]
q = { joint = "A", angle = "atan2(4, 3) + 3*t" }
HELD
"""
WELD = WELDED.replace("JOINT", '{ type = "weld", bodies = ["crank", "flag"] }').replace("HELD", "")
HOLDING = WELDED.replace(
    "JOINT", '{ type = "P", bodies = ["crank", "flag"], at = "B", axis = [1, 0], through = "B" }'
).replace("HELD", 'k = { joint = "K", displacement = 0 }')


def test_a_weld_has_no_reaction_but_the_joint_that_stands_for_it(read):
    """The flag turns with the crank about A: force m (a - g) of its centre, and that force's moment about B."""
    times = np.linspace(0, 1, 11)
    welded, held = (inverse(read(text), times).results for text in (WELD, HOLDING))
    assert welded.diagnostics["reactions"] == {"welds": ["K"]}
    assert "K" not in welded.reactions
    assert "reactions" not in held.diagnostics
    assert held.drivers["q"].effort == pytest.approx(welded.drivers["q"].effort, abs=1e-12)
    along = np.array([-0.2, 0.2]) / np.hypot(0.2, 0.2)  # the flag's x axis at the start
    arm0 = 0.2 * along - 0.1 * np.array([-along[1], along[0]])
    c, s = np.cos(3 * times), np.sin(3 * times)
    turned = np.array([[c, -s], [s, c]])
    arm, centre = (np.einsum("ijn,j->ni", turned, x) for x in (arm0, arm0 + np.array([0.3, 0.4])))
    force = 0.7 * (-9 * centre + [0, 9.81])
    axis = np.stack([c, s], axis=1)  # of the joint, which the crank carries along
    found = held.reactions["K"].force + held.drivers["k"].effort[:, None] * axis
    assert found == pytest.approx(force, abs=1e-12)
    assert held.reactions["K"].moment == pytest.approx(arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0], abs=1e-12)


def test_welds_are_named_by_simulations_too(read):
    model = read(WELD.split("[drivers]")[0])
    for method in ("partition", "global"):
        assert simulate(model, np.array([0.0, 0.1]), method).results.diagnostics["reactions"] == {"welds": ["K"]}
