"""Mechanisms that once went wrong, each against physics or an independent solution."""

from __future__ import annotations

import re
from pathlib import Path

import mpmath
import numpy as np
import pytest

from assurgent import Mechanism
from assurgent.codegen.derive import derive
from assurgent.codegen.generate import compile_spec
from assurgent.codegen.specification_reader import parse_spec
from assurgent.codegen.verify import verify_module
from assurgent.common.errors import InputError
from assurgent.dynamics.equilibrium import equilibrium
from assurgent.dynamics.forward import simulate
from assurgent.dynamics.inverse import inverse
from assurgent.mechanism.reader import load, loads
from assurgent.motion.branches import follow
from assurgent.motion.kinematics import prepare, run
from assurgent.motion.reported import followed_times, reported
from assurgent.runtime.group_type import GroupType
from assurgent.runtime.library_build import as_plain_python

MOVING = ("b1", "b2", "b3")
FAULTS = Path(__file__).parents[1] / "data/faults"
TURN = 2 * np.pi


def angles(results):
    """Return all angles of joints and of planar bodies, by name, at the last time."""
    found = {("joint", name): float(s.angle[-1]) for name, s in results.joints.items() if s.angle is not None}
    return found | {("body", name): float(s.angle[-1]) for name, s in results.bodies.items() if s.angle is not None}


def test_w1_spatial_joint_angle_at():
    """Behind a universal joint the output has made as many whole turns as the input, however far the instant is."""
    model = load(FAULTS / "W1-spatial-joint-angle-at.toml")
    found = run(model, np.array([17.0])).results  # 340 turns
    assert found.joints["B"].angle[0] == pytest.approx(340 * TURN, abs=1e-9)
    grid = run(model, np.linspace(0, 0.55, 12)).results
    assert angles(run(model, np.array([0.55])).results) == pytest.approx(angles(grid), abs=1e-11)


def test_w2_fast_wheel_turns():
    """A wheel that a gear makes fast drives a drag link: between two instants link and rod turn by radians."""
    model = load(FAULTS / "W2-fast-wheel-turns.toml")
    whole = run(model).results
    fine = run(model, np.linspace(0, 2, 2001)).results
    assert angles(whole) == pytest.approx(angles(fine), abs=1e-11)
    assert angles(run(model, np.array([2.0])).results) == pytest.approx(angles(fine), abs=1e-11)
    once = run(model, np.array([0.0, 7 * TURN / 30])).results  # the wheel has made seven whole turns, and so has all
    for body in ("rod", "link"):
        assert np.diff(once.bodies[body].angle) == pytest.approx(7 * TURN, abs=1e-11)


def test_w2_designs_turn_as_single_runs_do():
    mechanism = Mechanism.load(FAULTS / "W2-fast-wheel-turns.toml")
    mechanism.parameter("k", 30.0)
    mechanism.joints["G"]["ratio"] = "k"
    times = np.array([0.4, 1.1, 2.0])
    ratios = np.array([11.0, 30.0, 34.0, 47.0])
    batch = mechanism.compile(times=times).batch({"k": ratios})
    for i, k in enumerate(ratios):
        mechanism.parameters["k"] = float(k)
        alone = mechanism.run(times=times)
        for name in ("rod", "link", "wheel"):
            assert batch.bodies[name].angle[i] == pytest.approx(alone.bodies[name].angle, abs=1e-12)
        for name in ("B", "C", "D"):
            assert batch.joints[name].angle[i] == pytest.approx(alone.joints[name].angle, abs=1e-12)


def test_w4_driven_angle_at_far():
    """Whole turns of the wheel are whole turns of the link, and of the rod; so far away the driver's own steps, of
    which there are 100 000 at most, are seven radians long."""
    model = load(FAULTS / "W4-driven-angle-at-far.toml")
    turns = 111_408
    found = run(model, np.array([0.0, turns * TURN / 100])).results
    for body in ("wheel", "rod", "link"):
        assert np.diff(found.bodies[body].angle) == pytest.approx(turns * TURN, rel=1e-13)


def test_w5_rack_one_turn_off():
    """The sketch closes exactly, so that every point lies at first where it is drawn."""
    model = load(FAULTS / "W5-rack-one-turn-off.toml")
    found = run(model).results
    for name, place in model.points.items():
        assert found.points[name].position[0] == pytest.approx(place, abs=1e-14)


@pytest.mark.parametrize("degrees", [-170, -100, -10, 80, 170, 350])
def test_w6_torsion_spring_turn(degrees):
    """A relaxed spring takes no effort, wherever its base stands."""
    model = load(FAULTS / "W6-torsion-spring-turn.toml", {"base": np.radians(degrees)})
    found = inverse(model).results
    for driver in found.drivers.values():
        assert driver.effort == pytest.approx(0, abs=1e-13)


def test_d2_pendulum_keyerror():
    """Its end runs on a circle, by the angle that is driven from the slide at its end."""
    found = run(load(FAULTS / "D2-pendulum-keyerror.toml")).results
    turn = 0.5 + found.time
    assert found.points["G"].position == pytest.approx(0.7 * np.stack([np.cos(turn), np.sin(turn)], axis=1), abs=1e-14)
    assert found.points["H"].position[:, 0] == pytest.approx(0.7 * np.cos(turn), abs=1e-14)
    assert found.bodies["arm"].angle == pytest.approx(turn, abs=1e-14)


def test_w15_simulate_partition_loses_energy():
    """A leg on a universal and a spherical joint took its other branch where the coordinates changed."""
    model = load(FAULTS / "W15-simulate-partition-loses-energy.toml")
    times = np.linspace(0, 0.4, 41)
    outcome, oracle = simulate(model, times), simulate(model, times, method="global").results
    found = outcome.results
    assert outcome.stop is None
    assert found.diagnostics["coordinate_changes"] == 2
    assert np.ptp(found.energy.total) < 1e-9 * found.energy.kinetic.max()
    for name, point in oracle.points.items():
        assert found.points[name].position == pytest.approx(point.position, abs=1e-9)
        assert found.points[name].velocity == pytest.approx(point.velocity, abs=1e-8)


def test_redundant_type_whose_tensors_vanish(tmp_path: Path) -> None:
    """K is the identity for every configuration, so that L and K_t cancel to zero: errors need their terms' size."""
    name = "D1-redundant-type-zero-L.toml"
    spec = parse_spec((FAULTS / name).read_text("utf-8"), name)
    path = tmp_path / "redundant.py"
    path.write_text(compile_spec(spec, name).module.text, "utf-8")
    result = verify_module(derive(spec), GroupType(as_plain_python(path, "redundant")), count=10)
    assert result.passed, result.headline
    text = path.read_text("utf-8")
    assert "L[i, 0, k] = y[0]" in text
    path.write_text(text.replace("L[i, 0, k] = y[0]", "L[i, 0, k] = y[0] + 1e-9"), "utf-8")
    altered = verify_module(derive(spec), GroupType(as_plain_python(path, "redundant")), count=2)
    assert altered.errors["L"].worst > 1e-10


ROD = """
format = 1
space = "spatial"
points = { O = [0, 0, 0], B = [1, 0, 0], C = [0, 0, 1], Q = [0.25, 0, 0.75] }
[parameters]
r = 1.0
[bodies]
frame = { points = ["O"] }
crank = { points = ["O", "B"], length = "r" }
rod = { points = ["B", "C", "Q"], local = { B = [0, 0, 0], C = [0, 0, 1.5], Q = [0, 0, 0.5] } }
slider = { points = ["C"] }
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "O", axis = [0, 0, 1] }
B = { type = "S", bodies = ["crank", "rod"], at = "B" }
C = { type = "S", bodies = ["rod", "slider"], at = "C" }
G = { type = "P", bodies = ["frame", "slider"], at = "C", through = "O", axis = [0, 0, 1] }
[drivers]
th = { joint = "A", angle = "t" }
[simulation]
stop = 6
step = 0.5
"""


def test_point_beside_the_line_of_a_rod() -> None:
    """Nothing says where it is; on the line, but for rounding, it stays."""
    text = (FAULTS / "W12-rod-off-line-point.toml").read_text("utf-8")
    with pytest.raises(InputError, match=r"\[bodies.rod\]: point 'Q' lies beside the line .* replace one S .* by U"):
        loads(text, "w12.toml")
    loads(text.replace("Q = [0.5, 1, 0.5]", "Q = [0.5, 1e-12, 0.5]"), "on-line.toml")
    force = '\n[forces]\nF = { body = "rod", point = [0.1, 0, 0.5], force = [1, 0, 0] }\n'
    with pytest.raises(InputError, match=r"\[forces\] F: its point on body 'rod' lies beside the line"):
        loads(ROD + force, "force.toml")


def test_centre_of_mass_beside_the_line_of_a_rod() -> None:
    """It matters to the dynamics alone."""
    text = ROD.replace("Q = [0, 0, 0.5] } }", "Q = [0, 0, 0.5] }, mass = 1, centre = [0.1, 0, 0.5] }")
    model = loads(text, "centre.toml")
    assert run(model).stop is None
    with pytest.raises(InputError, match=r"\[bodies\] rod: its centre of mass lies beside the line"):
        inverse(model)


def test_rotation_of_a_rod_has_the_reported_angular_velocity() -> None:
    """Round a cone: after a turn the rod is turned about its line by the solid angle, 2π(1 - cos α)."""
    end = 2 * np.pi
    for times in ([end], [0.1, 3.0, 3.1, end], np.linspace(0, end, 1001)):  # the grid does not matter
        rod = run(loads(ROD, "rod.toml"), np.asarray(times)).results.bodies["rod"]
        first = run(loads(ROD, "rod.toml"), np.array([0.0])).results.bodies["rod"].rotation[0]
        u = first[:, 2]  # from B to C, at the angle α from the z axis
        area = 2 * np.pi * (1 - u[2])
        x, y = first[:, 0], np.cross(u, first[:, 0])
        expected = np.cos(area) * x + np.sin(area) * y
        np.testing.assert_allclose(rod.rotation[-1][:, 2], u, atol=1e-13)
        np.testing.assert_allclose(rod.rotation[-1][:, 0], expected, atol=1e-11)
    # its rate, by differences of order eight over a step of 2π/1000
    D = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
    rate = sum(d * rod.rotation[i : len(rod.rotation) - 8 + i] for i, d in enumerate(D)) / (end / 1000)
    turning = np.cross(rod.angular_velocity[4:-4, :, None], rod.rotation[4:-4], axis=1)
    np.testing.assert_allclose(rate, turning, atol=1e-11)


def test_rotation_of_a_rod_after_many_turns() -> None:
    """The same solid angle in every turn, by as many inner steps for a turn: they once grew with the turns."""
    model, lanes = loads(ROD, "rod.toml"), []
    program = prepare(model)[1]
    (written,) = program.sequence.written["bodies", "rod"]
    assert written is not None
    for turns in (20, 200):
        solution = follow(program, np.array([0.0, 2 * np.pi * turns]))
        lanes.append(len(followed_times(solution, [written])))
        rotation = reported(solution, solution.asked)[1]["rod"].rotation
        first = rotation[0]
        u, area = first[:, 2], 2 * np.pi * turns * (1 - first[2, 2])
        K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
        turned = (np.eye(3) + np.sin(area) * K + (1 - np.cos(area)) * K @ K) @ first  # Rodrigues
        np.testing.assert_allclose(rotation[1], turned, atol=1e-10 * turns)  # 1e-8 a radian, a hundred times the error
    assert lanes[1] < 11 * lanes[0]


def test_designs_with_rods_are_run_together(tmp_path: Path) -> None:
    (tmp_path / "rod.toml").write_text(ROD, "utf-8")
    lengths = np.linspace(0.6, 1.2, 5)
    compiled = Mechanism.load(tmp_path / "rod.toml").compile(points=["Q"], bodies=["rod"])
    found = compiled.batch({"r": lengths})
    assert not found.own_way.any()
    for i, r in enumerate(lengths):
        alone = run(loads(ROD, "rod.toml", {"r": float(r)})).results
        np.testing.assert_allclose(found.bodies["rod"].rotation[i], alone.bodies["rod"].rotation, atol=1e-10)
        np.testing.assert_allclose(found.points["Q"].velocity[i], alone.points["Q"].velocity, atol=1e-13)


def test_simulated_rod_turns_without_spin() -> None:
    """Partition (transported) against global (integrated in the coordinates of all bodies), with coarse output."""
    text = ROD.replace('length = "r" }', 'length = "r", mass = 2, inertia = [0.1, 0.1, 0.2, 0, 0, 0] }')
    text = text.replace("Q = [0, 0, 0.5] } }", "Q = [0, 0, 0.5] }, mass = 1, inertia = [0.1, 0.1, 0.01, 0, 0, 0] }")
    text = text.replace("[drivers]", "[initial]").replace('angle = "t"', "angle = 0, rate = 3")
    text = text.replace('slider = { points = ["C"] }', 'slider = { points = ["C"], mass = 1 }') + "tolerance = 1e-10\n"
    model, times = loads(text, "free.toml"), np.array([0.7, 2.0])
    one, two = (simulate(model, times, method).results.bodies["rod"] for method in ("partition", "global"))
    np.testing.assert_allclose(one.rotation, two.rotation, atol=1e-9)  # the tolerance of the integration, and more


def test_balanced_wheel_is_neutral() -> None:
    """The centre of mass is the pivot: no stiffness, whatever rounding leaves; and it rests where it is drawn."""
    model = load(FAULTS / "W13-balanced-wheel-unstable.toml")
    found = equilibrium(model)
    assert found.neutral
    assert [(m.angular, m.decay) for m in found.modes] == [(0.0, 0.0)]
    assert found.coordinates["j1"] == pytest.approx(model.bodies["b1"].angle, abs=1e-14)


def test_growth_about_an_unstable_equilibrium() -> None:
    """The four-bar p1-p2-p3-p4 beside V''/M of its closed form with 40 digits; the rest of the file stands still."""
    model = load(FAULTS / "W14-equilibrium-mode-inaccurate.toml")
    found = equilibrium(model)
    with mpmath.workdps(40):
        place = {p: mpmath.mpc(*x) for p, x in model.points.items()}
        b3 = model.bodies["b3"].points
        A, D, crank = place["p1"], place["p4"], abs(place["p2"] - place["p1"])
        rod, rocker = abs(place["p3"] - place["p2"]), abs(mpmath.mpc(*b3["p3"]) - mpmath.mpc(*b3["p4"]))
        masses = [(mpmath.mpf(m.mass), mpmath.mpf(float(m.inertia))) for m in (model.bodies[b].mass for b in MOVING)]

        def pins(angle: mpmath.mpf, side: int) -> tuple[mpmath.mpc, mpmath.mpc]:
            B = A + crank * mpmath.expj(angle)
            r = abs(D - B)
            along = (rod**2 - rocker**2 + r**2) / (2 * r)
            return B, B + (D - B) / r * mpmath.mpc(along, side * mpmath.sqrt(rod**2 - along**2))

        B, C = (mpmath.mpc(*found.points[p]) for p in ("p2", "p3"))
        near = mpmath.arg(B - A)
        side = min((1, -1), key=lambda s: abs(pins(near, s)[1] - C))

        def bodies(angle: mpmath.mpf) -> list[tuple[mpmath.mpc, mpmath.mpf]]:
            B, C = pins(angle, side)
            return [((A + B) / 2, angle), ((B + C) / 2, mpmath.arg(C - B)), ((C + D) / 2, mpmath.arg(C - D))]

        def potential(angle: mpmath.mpf) -> mpmath.mpf:
            return sum(m * mpmath.mpf(9.81) * x.imag for (m, _), (x, _) in zip(masses, bodies(angle), strict=True))

        rest = mpmath.findroot(lambda x: mpmath.diff(potential, x), near)
        inertia = sum(
            m * abs(mpmath.diff(lambda x, k=k: bodies(x)[k][0], rest)) ** 2
            + J * mpmath.diff(lambda x, k=k: bodies(x)[k][1], rest) ** 2
            for k, (m, J) in enumerate(masses)
        )
        growth = float(mpmath.sqrt(-mpmath.diff(potential, rest, 2) / inertia))
    assert not found.stable
    assert float(near - rest) == pytest.approx(0.0, abs=1e-13)
    assert found.modes[0].decay == pytest.approx(-growth, rel=1e-12)  # 4e-4 by differences


@pytest.mark.parametrize("number", ["", "-2"])
def test_simulate_spatial_false_stop(number: str) -> None:
    """A universal joint comes to the end of its reach: both cranks turn back there, and the coupler goes on."""
    model = load(FAULTS / f"simulate-spatial-false-stop{number}.toml")
    times = np.linspace(0, 0.3, 61)  # so that some lie where no joint coordinate is in use
    found, other = simulate(model, times), simulate(model, times, "global")
    assert found.stop is None
    assert other.stop is None
    assert {()} < set(found.results.independent)
    for name, series in found.results.bodies.items():
        reference = other.results.bodies[name]
        assert series.rotation == pytest.approx(reference.rotation, abs=1e-7)
        assert series.angular_velocity == pytest.approx(reference.angular_velocity, abs=1e-7)
        largest = np.abs(reference.angular_acceleration).max()
        assert series.angular_acceleration == pytest.approx(reference.angular_acceleration, abs=1e-7 * largest)
    for name, reaction in found.results.reactions.items():
        reference = other.results.reactions[name].force
        assert reaction.force == pytest.approx(reference, abs=1e-7 * np.abs(reference).max())
    angle, rate = found.results.joints["j1"].angle, found.results.joints["j1"].rate
    assert np.abs(np.diff(np.sign(rate))).max() == 2  # it turns back
    assert np.gradient(angle, times)[1:-1] == pytest.approx(rate[1:-1], abs=0.1)
    total = found.results.energy.total
    assert total == pytest.approx(total[0], abs=1e-8 * np.abs(found.results.energy.kinetic).max())


@pytest.mark.parametrize(
    ("name", "time"),
    [
        ("at-far-newton-false-loss", 9.93728746864288),
        ("at-far-newton-other-branch", 17.69536518001562),
        ("far-newton-closer-look", 20.0),
        ("platform-closer-look", 0.7),
        ("turn-spatial-grid", 0.1),
        ("turns-before-a-dead-point", 2.384),
        ("turns-behind-a-fast-wheel", 0.22),
        ("turns-lever-on-a-cylinder", 0.2),
    ],
)
def test_one_instant_is_reached_as_by_small_steps(name, time):
    """Small: so that no angle is in doubt of its turns, and the next place is where the rates say."""
    model = load(FAULTS / f"{name}.toml")
    small = run(model, time * (1 - np.linspace(1, 0, 16001) ** 2)).results  # smaller where a dead point is near
    assert len(small.time) == 16001
    for joint in small.joints.values():
        assert joint.angle is None or np.abs(np.diff(joint.angle)).max() < 0.5
    for point in small.points.values():
        assert np.abs(np.diff(point.position, axis=0)).max() < 0.05 * model.size
    for times in ([time], [0.0, time]):
        found = run(model, np.array(times)).results
        assert found.time.tolist() == times
        assert angles(found) == pytest.approx(angles(small), abs=1e-9)
        for point, series in small.points.items():
            assert found.points[point].position[-1] == pytest.approx(series.position[-1], abs=1e-9)


def test_spatial_loss_between_instants():
    """The ball runs on a line; the motion ends where the crank's pin is farther from it than the rod is long."""
    model = load(FAULTS / "spatial-loss-between-instants.toml")
    place = {name: np.asarray(p) for name, p in model.points.items()}
    axis, guide = (np.array(v) / np.linalg.norm(v) for v in ([-1.521, -0.638, 0.497], [0.216, 0.841, -0.541]))
    length, arm = np.linalg.norm(place["p3"] - place["p2"]), place["p2"] - place["p1"]

    def reach(t):
        a = -0.417 * np.sin(2.173 * t)  # the joint is that of the frame on the crank
        turned = arm * np.cos(a) + np.cross(axis, arm) * np.sin(a) + axis * (axis @ arm) * (1 - np.cos(a))
        return length - np.linalg.norm(np.cross(place["p1"] + turned - place["p3"], guide))

    low, high = 1.9, 2.15
    assert reach(low) > 0 > reach(high)
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if reach(middle) > 0 else (low, middle)
    for step in (0.05, 0.29090909090909095, 2.6):
        outcome = run(model, np.arange(0, 2.62, step))
        assert outcome.stop is not None
        assert outcome.stop.time == pytest.approx(low, abs=1e-9)


@pytest.mark.parametrize("name", ["driver-jumps", "driver-jumps-newton"])
def test_driver_jumps(name):
    """A formula may jump; behind it everything is where a driver without a jump brings it."""
    text = (FAULTS / f"{name}.toml").read_text("utf-8")
    model = loads(text, "jumps.toml")
    stop = model.simulation.stop
    before, value, behind = re.search(r"if\(t < .*?, (.*?), (.*?) \+ (.*?)\)\"", text).groups()
    assert before == value
    smooth = loads(re.sub(r"if\(.*\)\"", f'{before} + {behind}*t/{stop}"', text), "smooth.toml")
    found, expected = run(model), run(smooth)
    assert found.stop is None
    for point, series in expected.results.points.items():
        assert found.results.points[point].position[-1] == pytest.approx(series.position[-1], abs=1e-12)


def test_bridge_far_from_the_origin():
    """A rigid body keeps its length, to rounding of coordinates as large as 7e5."""
    model = load(FAULTS / "bridge-far-from-the-origin.toml")
    points = run(model).results.points
    for a, b in (("p6", "p8"), ("p7", "p8")):
        length = np.linalg.norm(points[a].position - points[b].position, axis=1)
        assert len(length) == 4
        assert length == pytest.approx(np.hypot(*(model.points[a] - model.points[b])), abs=1e-8)
