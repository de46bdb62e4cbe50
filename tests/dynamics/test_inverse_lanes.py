"""Inverse dynamics over lanes: closed forms, virtual power, redundancy, whole turns of springs, growth with size."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assurgent import Mechanism
from assurgent.dynamics.applied_loads import Applied
from assurgent.dynamics.body_lanes import body_lanes, in_portions
from assurgent.dynamics.inertia import Inertia
from assurgent.dynamics.inverse import _Inverse, inverse
from assurgent.dynamics.joint_forces import Forces
from assurgent.dynamics.velocity_transformation import velocity_columns
from assurgent.mechanism.absolute import Absolute
from assurgent.mechanism.model import Mass
from assurgent.mechanism.reader import load, loads
from assurgent.motion.branches import follow
from assurgent.motion.kinematics import prepare

R, L, OMEGA = 0.04, 0.14, 100.0
SLIDER_CRANK = f"""
format = 1
name = "slider-crank"
space = "planar"
[points]
O = [0, 0]
A = [{R}, 0]
B = [{R + L}, 0]
[bodies.frame]
points = ["O"]
[bodies.crank]
points = ["O", "A"]
length = {R}
[bodies.rod]
points = ["A", "B"]
length = {L}
[bodies.piston]
points = ["B"]
mass = 0.7
[joints]
O = {{ type = "R", bodies = ["frame", "crank"], at = "O" }}
A = {{ type = "R", bodies = ["crank", "rod"], at = "A" }}
B = {{ type = "R", bodies = ["rod", "piston"], at = "B" }}
G = {{ type = "P", bodies = ["frame", "piston"], at = "B", through = "O", axis = [1, 0] }}
[drivers]
theta = {{ joint = "O", angle = "0.3 + {OMEGA}*t" }}
"""


def test_a_slider_crank_in_closed_form() -> None:
    """A piston alone has mass: the rod is a two-force member, its force and the torque are known in closed form."""
    times = np.linspace(0, 0.1, 4001)  # more lanes than one portion holds
    found = inverse(loads(SLIDER_CRANK, "slider-crank.toml"), times).results
    theta = 0.3 + OMEGA * times
    s, c = np.sin(theta), np.cos(theta)
    root = np.sqrt(L**2 - R**2 * s**2)
    slope = -R * s - R**2 * s * c / root  # dx/dθ
    bend = -R * c - R**2 * (c**2 - s**2) / root - R**4 * s**2 * c**2 / root**3
    push = 0.7 * OMEGA**2 * bend  # along the guide
    across = -push * R * s / root  # sin of the rod's angle is -R s / L, its cosine root / L
    assert found.reactions["B"].force[:, 0] == pytest.approx(push, abs=1e-11 * np.abs(push).max())
    assert found.reactions["B"].force[:, 1] == pytest.approx(across, abs=1e-11 * np.abs(push).max())
    assert found.reactions["G"].force[:, 1] == pytest.approx(-across, abs=1e-11 * np.abs(push).max())
    assert found.drivers["theta"].effort == pytest.approx(push * slope, abs=1e-11 * np.abs(push * slope).max())
    assert found.energy is not None
    assert found.energy.kinetic == pytest.approx(0.35 * (OMEGA * slope) ** 2, rel=1e-11)


def _along(model, times):
    structure, program = prepare(model)
    solution = follow(program, times)
    return structure, solution, body_lanes(solution, solution.asked)


@pytest.mark.parametrize("name", ["CRANK_ROCKER", "RSSR"])
def test_efforts_are_virtual_power(mechanisms, read, name) -> None:
    """The forces of drivers out of the groups' balance are Rᵀ (M a - Q), with R from the rows of all joints."""
    driver = '[drivers]\nq = { joint = "A", angle = "0.4 + 3*t + 0.2*sin(7*t)" }\n'
    planar = mechanisms.HEAD.format(name="m") + mechanisms.CRANK_ROCKER
    model = read((planar if name == "CRANK_ROCKER" else mechanisms.RSSR) + driver)
    structure, solution, bodies = _along(model, np.linspace(0, 0.6, 61))
    inertia = Inertia(model)
    lack = inertia.over(bodies)[0] - Applied(model, inertia).over(bodies)
    forces = Forces(model, structure.groups)
    found = forces.solve(bodies, lack[None], np.zeros(len(bodies), dtype=bool))
    R_ = velocity_columns(solution, solution.asked)
    wanted = np.einsum("knwl,nwl->kl", R_, lack)
    assert found.drivers[0] == pytest.approx(wanted, abs=1e-11 * np.abs(wanted).max())
    # the columns are the motion itself, divided by the driver's rate
    rate = solution.state[1, solution.program.drivers["q"], solution.asked]
    assert R_[0] * rate == pytest.approx(bodies.twists(), abs=1e-10)
    # and joints with drivers leave no body out of balance
    total = forces.exerted(bodies, found.drivers[0])
    index, d = list(model.bodies), model.dimension
    for joint, wrench in zip(model.joints.values(), found.wrenches, strict=True):
        two = index.index(joint.second)
        point = bodies.origin[0, two] + np.einsum("ijl,j->il", bodies.rotation[two], joint.b)
        for k, sign in ((two, 1), (index.index(joint.first), -1)):
            arm = np.zeros((3, len(bodies)))
            force = np.zeros((3, len(bodies)))
            arm[:d], force[:d] = point - bodies.origin[0, k], wrench[:d]
            total[k, :d] += sign * wrench[:d]
            total[k, d:] += sign * (wrench[d:] + np.cross(arm, force, axis=0)[2 if d == 2 else 0 :])
    assert total[1:] == pytest.approx(lack[1:], abs=1e-11 * np.abs(lack).max())


def test_rows_over_lanes_are_those_of_the_absolute_coordinates(mechanisms, read) -> None:
    """One lane, every joint: the compiled rows against those by which mechanisms are assembled."""
    driver = '[drivers]\nq = { joint = "A", angle = "0.4 + 3*t" }\n'
    for text in (mechanisms.HEAD.format(name="m") + mechanisms.CRANK_ROCKER, mechanisms.RSSR):
        model = read(text + driver)
        _, _, bodies = _along(model, np.array([0.0, 0.1]))
        system = Absolute(replace(model, drivers={}))
        rotation = bodies.rotation[..., 1]
        angle = np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])
        pose = {b: (bodies.origin[0, k, :, 1], angle[k] if bodies.planar else rotation[k])
                for k, b in enumerate(model.bodies) if k}  # fmt: skip
        wanted = system.jacobian(system.posed(pose))
        found = Forces(model).joint_rows(bodies.at(np.array([1])))[0]
        assert found == pytest.approx(wanted, abs=1e-13)


PARALLEL = """
format = 1
space = "planar"
gravity = [0, -9.81]
[points]
A = [0, 0]
B = [0, 1]
C = [2, 1]
D = [2, 0]
E = [1, 0]
F = [1, 1]
T = [2, 2]
[bodies.frame]
points = ["A", "D", "E"]
[bodies.left]
points = ["A", "B"]
mass = 1
[bodies.right]
points = ["D", "C"]
mass = 1
[bodies.middle]
points = ["E", "F"]
mass = 1
[bodies.bar]
points = ["B", "C", "F"]
mass = 2
inertia = 0.4
[bodies.top]
points = ["C", "T"]
mass = 0.5
inertia = 0.1
[joints]
A = { type = "R", bodies = ["frame", "left"], at = "A" }
B = { type = "R", bodies = ["left", "bar"], at = "B" }
C = { type = "R", bodies = ["right", "bar"], at = "C" }
D = { type = "R", bodies = ["frame", "right"], at = "D" }
E = { type = "R", bodies = ["frame", "middle"], at = "E" }
F = { type = "R", bodies = ["middle", "bar"], at = "F" }
G = { type = "R", bodies = ["bar", "top"], at = "C" }
[drivers]
q = { joint = "A", angle = "pi/2 + 0.4*sin(3*t)" }
p = { joint = "G", angle = "pi/2 + 0.3*t" }
"""


def test_redundant_joints_below_a_group_that_is_not() -> None:
    """Three parallel cranks hold a bar too often; the arm on it is solved first, and its forces stay unique."""
    model = loads(PARALLEL, "parallel.toml")
    structure, _, bodies = _along(model, np.linspace(0, 1, 41))
    forces, whole = Forces(model, structure.groups), Forces(model)
    assert len(forces.square.bodies) == 1  # the arm
    assert len(forces.parts) == 1
    inertia = Inertia(model)
    lack = (inertia.over(bodies)[0] - Applied(model, inertia).over(bodies))[None]
    regular = np.zeros(len(bodies), dtype=bool)
    one, two = forces.solve(bodies, lack, regular), whole.solve(bodies, lack, regular)
    size = np.abs(one.wrenches).max()
    assert one.wrenches == pytest.approx(two.wrenches, abs=1e-11 * size)  # the least forces of all joints at once
    assert one.drivers == pytest.approx(two.drivers, abs=1e-11 * size)
    assert forces.not_unique == {"A", "B", "C", "D", "E", "F"} == whole.not_unique


TORSION = """
format = 1
space = "planar"
[points]
O = [0, 0]
P = [1, 0]
Q = [2, 0]
[bodies.frame]
points = ["O"]
[bodies.arm]
points = ["O", "P"]
[bodies.wheel]
points = ["P", "Q"]
[joints]
O = { type = "R", bodies = ["frame", "arm"], at = "O" }
P = { type = "R", bodies = ["arm", "wheel"], at = "P" }
[forces]
twist = { type = "torsion-spring", joint = "P", stiffness = 2, angle = 0.5, damping = 0.25 }
[drivers]
arm = { joint = "O", angle = "0.2*t" }
wheel = { joint = "P", angle = "1 + 9*t" }
"""


def test_torsion_springs_count_whole_turns() -> None:
    times = np.linspace(0, 5, 6001)  # seven turns, over several portions
    found = inverse(loads(TORSION, "torsion.toml"), times).results
    torque = 2 * (1 + 9 * times - 0.5) + 0.25 * 9
    assert found.drivers["wheel"].effort == pytest.approx(torque, rel=1e-12)
    assert found.drivers["arm"].effort == pytest.approx(np.zeros_like(times), abs=1e-9)
    assert found.energy is not None
    assert found.energy.potential == pytest.approx((1 + 9 * times - 0.5) ** 2, rel=1e-12)


def test_portions_are_the_whole(mechanisms, read) -> None:
    model = read(mechanisms.HEAD.format(name="m") + mechanisms.CRANK_ROCKER
                 + '[drivers]\nq = { joint = "A", angle = "9*t" }\n')  # fmt: skip
    _, program = prepare(model)
    solution = follow(program, np.linspace(0, 20, 5001))
    lanes = solution.asked[::3]
    whole, at = body_lanes(solution, lanes), 0
    for place, part in in_portions(solution, lanes):
        assert place.start == at
        at = place.stop
        for name in ("time", "origin", "turn", "rotation"):
            assert np.array_equal(getattr(part, name), getattr(whole, name)[..., place])
    assert at == len(lanes)


def _chain(k: int) -> Mechanism:
    m = Mechanism(f"chain-{k}")
    m.gravity = [0, -9.81]
    m.point("A", [0, 0])
    m.point("B", [0, 2])
    for i in range(1, k + 1):
        m.point(f"C{i}", [4.6 + 6 * (i - 1), 5.8])
        m.point(f"D{i}", [6 * i, 0])
    m.body("frame", ["A", *(f"D{i}" for i in range(1, k + 1))])
    m.body("crank", ["A", "B"], length=2, mass=1, inertia=0.3)
    m.joint("A", "R", ["frame", "crank"], at="A")
    for i in range(1, k + 1):
        last, pin, name = ("crank", "B", "B") if i == 1 else (f"rocker{i - 1}", f"C{i - 1}", f"C{i - 1}b")
        m.body(f"rod{i}", [pin, f"C{i}"], length=6, mass=1, inertia=3)
        m.body(f"rocker{i}", [f"D{i}", f"C{i}"], length=6, mass=1, inertia=3)
        m.joint(name, "R", [last, f"rod{i}"], at=pin)
        m.joint(f"C{i}", "R", [f"rod{i}", f"rocker{i}"], at=f"C{i}")
        m.joint(f"D{i}", "R", ["frame", f"rocker{i}"], at=f"D{i}")
    m.driver("theta", joint="A", angle="pi/2 + t")
    return m


def test_the_cost_grows_with_the_number_of_dyads_and_no_faster() -> None:
    """Four times as many dyads: between two and six times the processor time of all that follows the motion."""
    times, seconds = np.linspace(0, 6, 2001), []
    for k in (10, 40):
        model = _chain(k).model()
        structure, program = prepare(model)
        solution = follow(program, times)
        inside = _Inverse(model, "direct", structure.groups)
        sizes = np.diff(inside.forces.square.body_start)
        assert not inside.forces.parts
        assert sizes.max() == 2  # a dyad at a time, however long the chain
        best = np.inf
        for _ in range(7):
            start = time.process_time()
            inside.record(solution, solution.asked)
            best = min(best, time.process_time() - start)
        seconds.append(best)
    assert 2 < seconds[1] / seconds[0] < 6


def test_pins_of_three_bodies(read) -> None:
    """However the joints at a pin are written, the bodies feel the same."""
    text = _chain(3).text()
    written = 'C1b = { type = "R", bodies = ["rocker1", "rod2"]'
    other = text.replace(written, written.replace("rocker1", "rod1"))
    assert other != text
    times = np.linspace(0, 6, 50)
    one, two = (inverse(read(x), times).results.reactions for x in (text, other))
    size = np.abs(one["A"].force).max()
    assert two["C1b"].force == pytest.approx(one["C1b"].force, abs=1e-11 * size)
    # rod1 carries rod2 on: what the pin gives to rocker1 is the same
    assert two["C1"].force == pytest.approx(one["C1"].force - one["C1b"].force, abs=1e-11 * size)


def test_examples_are_in_balance_by_all_joints_at_once() -> None:
    """Group by group or all at once: the same forces, for mechanisms with slots, gears, racks and shared pins."""
    folder = Path(__file__).parents[2] / "examples"
    for name in ("jansen-leg", "quick-return", "scotch-yoke", "planetary-gear", "rack-and-pinion", "gear-linkage"):
        model = load(folder / f"{name}.toml")
        bodies = {n: b if n == "frame" else replace(b, mass=Mass(1.5, np.full(2, 0.1 * model.size), np.array(0.2)))
                  for n, b in model.bodies.items()}  # fmt: skip
        model = replace(model, bodies=bodies, gravity=np.array([1.0, -9.81]))
        span = model.simulation
        structure, _, lanes = _along(model, np.linspace(span.start, span.stop, 31))
        inertia = Inertia(model)
        lack = (inertia.over(lanes)[0] - Applied(model, inertia).over(lanes))[None]
        regular = np.zeros(len(lanes), dtype=bool)
        one = Forces(model, structure.groups).solve(lanes, lack, regular)
        two = Forces(model).solve(lanes, lack, regular)
        size = np.abs(two.wrenches).max()
        assert one.wrenches == pytest.approx(two.wrenches, abs=1e-10 * size), name
        assert one.drivers == pytest.approx(two.drivers, abs=1e-10 * size), name
