"""A mechanism file becomes a model with hand-derived geometry, or one clear message; never anything else."""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import random
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assurgent.common.errors import InputError
from assurgent.mechanism import geometry
from assurgent.mechanism.model import Model, PointForce, Spring, Torque, TorsionSpring
from assurgent.mechanism.reader import from_data, load, loads
from assurgent.runtime.timefunctions import check_times

DATA = Path(__file__).with_name("data")  # together they use every table and every kind of joint
FOUR_BAR, GEARS, SPATIAL = ALL = tuple((DATA / f"{n}.toml").read_text() for n in ("four-bar", "gears", "spatial"))


def read(text: str, **settings: float) -> Model:
    return loads(text, "m.toml", settings)


def near(found: Any, expected: Any, tolerance: float = 1e-14) -> None:
    """Equal to a few roundings of numbers of order 10."""
    assert np.asarray(found) == pytest.approx(np.asarray(expected, dtype=float), abs=tolerance)


# ---- geometry ----
def test_two_point_bodies_lie_about_the_middle_of_the_sketch() -> None:
    bodies = read(FOUR_BAR).bodies
    near(bodies["crank"].origin, [0, 0])
    near(bodies["crank"].rotation, [[0, -1], [1, 0]])
    near(bodies["crank"].points["B"], [2, 0])
    # C = (5, 5) and D = (6, 0) are 26**0.5 apart; 6 m about their middle
    along = np.array([1, -5]) / 26**0.5
    near(bodies["rocker"].origin, np.array([5.5, 2.5]) - 3 * along)
    near(bodies["rocker"].outside(bodies["rocker"].points["D"]), np.array([5.5, 2.5]) + 3 * along)
    assert bodies["rocker"].angle == pytest.approx(math.atan2(-5, 1), abs=1e-15)


def test_point_left_out_is_placed_by_its_body() -> None:
    model = read(FOUR_BAR)
    near(model.points["P"], np.array([2.5, 3.5]) + np.array([-3, 5]) / 34**0.5)
    near(model.bodies["rod"].points["P"], [3, 1])
    assert list(model.bodies) == ["frame", "crank", "rod", "rocker"]


def test_best_fit_of_a_triangle_is_least_squares() -> None:
    """No small turn or shift lowers the sum of squares: it is stationary, and least among 720 turned copies."""
    local = [np.array(v) for v in ([0.0, 0.0], [4.0, 0.0], [1.0, 2.0])]
    places = [np.array(v) for v in ([1.0, 1.1], [2.9, 4.2], [-0.1, 3.0])]

    def error(turn: float, shift: Any) -> float:
        c, s = math.cos(turn), math.sin(turn)
        R = np.array([[c, -s], [s, c]])
        return float(sum(np.sum((R @ x + shift - y) ** 2) for x, y in zip(local, places, strict=True)))

    pose = geometry.fit(local, places)
    turn = geometry.turn(pose.rotation)
    least = error(turn, pose.origin)
    middle = np.mean(local, axis=0)
    for other in np.linspace(-math.pi, math.pi, 720):
        c, s = math.cos(other), math.sin(other)
        shift = np.mean(places, axis=0) - np.array([[c, -s], [s, c]]) @ middle
        assert error(float(other), shift) >= least - 1e-12
    for step in ([1e-4, 0], [0, 1e-4]):
        assert error(turn, pose.origin + step) > least


def test_spatial_fit_recovers_a_rotation_and_never_mirrors() -> None:
    rng = np.random.default_rng(7)
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    R = Q * np.sign(np.linalg.det(Q))
    X = list(rng.normal(size=(5, 3)))
    pose = geometry.fit(X, [R @ x + [1, 2, 3] for x in X])
    near(pose.rotation, R, 1e-13)
    near(pose.origin, [1, 2, 3], 1e-13)
    mirrored = geometry.fit(X, [x * [1, 1, -1] for x in X])
    assert np.linalg.det(mirrored.rotation) == pytest.approx(1, abs=1e-13)
    near(mirrored.rotation @ mirrored.rotation.T, np.eye(3), 1e-13)


@pytest.mark.parametrize("end", [[1, 0, 0], [0, 3, 4], [-1, 0, 0], [-1, 1e-9, 0], [0, 0, -2]])
def test_two_points_in_space_turn_no_more_than_they_must(end: list[float]) -> None:
    """The axis of the fit is perpendicular to both directions: there is no spin about the line."""
    start, goal = np.array([1.0, 0, 0]), geometry.unit(np.array(end, dtype=float))
    pose = geometry.fit([0 * start, start], [0 * start, goal])
    near(pose.rotation @ start, goal, 1e-9)  # half turns lose half the digits
    cosine = (np.trace(pose.rotation) - 1) / 2
    assert cosine == pytest.approx(float(start @ goal), abs=1e-9)


def test_axes_of_measured_and_one_point_bodies() -> None:
    model = read(GEARS)
    near(model.bodies["sun"].rotation, np.eye(2))
    near(model.bodies["planet"].origin, [3, 0])
    spatial = read(SPATIAL).bodies
    near(spatial["coupler"].rotation, np.eye(3))
    near(spatial["coupler"].origin, [1, 0, 0])
    near(spatial["coupler"].points["C"], [2, 1, 0])
    near(spatial["v"].rotation @ [0, 0, 1], [0, 1, 0])
    near(spatial["v"].origin, [6, 5, 5])


# ---- joints ----
def test_axes_and_normals_are_shared_in_the_first_configuration() -> None:
    model = read(SPATIAL)
    axes = {"A": [0, 0, 1], "D": [0, 0.6, 0.8], "E": [1, 0, 0], "G": [0, 0.5**0.5, 0.5**0.5], "H": [3**-0.5] * 3}
    for name, axis in axes.items():
        joint = model.joints[name]
        first, second = model.bodies[joint.first].rotation, model.bodies[joint.second].rotation
        near(first @ joint.axis_a, axis)
        near(second @ joint.axis_b, axis)
        near(first @ joint.normal_a, second @ joint.normal_b)
        near([joint.axis_a @ joint.normal_a, joint.normal_a @ joint.normal_a], [0, 1])
    u = model.joints["F"]
    near(u.axis_a, [0, 1, 0])
    near(model.bodies["v"].rotation @ u.axis_b, [0, 0, 1])
    assert model.joints["G"].pitch == pytest.approx(0.5 / math.pi, rel=1e-15)


def test_points_of_joints_lie_in_both_bodies() -> None:
    model = read(SPATIAL)
    near(model.joints["E"].a, [5, 5, 5])  # no `through`: where `at` lies first
    near(model.joints["P"].a, [3, 0, 0])
    near(model.joints["P"].b, [0, 0, 0])
    w = model.bodies["w"]
    near(w.outside(model.joints["H"].a), [8, 7, 5])
    for name in "ABCDF":
        joint = model.joints[name]
        near(joint.a, model.bodies[joint.first].points[name])
        near(joint.b, model.bodies[joint.second].points[name])


def test_planar_joints() -> None:
    joints = read(GEARS).joints
    assert joints["mesh"].ratio == -2.0  # radii 2 and 1, outside
    assert joints["mesh"].carrier == "arm"
    assert joints["mesh"].bodies == ("sun", "planet", "arm")
    assert (joints["wheel"].ratio, joints["wheel"].carrier) == (-2.5, "frame")
    near(joints["lift"].axis_a, [0, 1])
    near(joints["lift"].axis_b, [0, 1])
    near(joints["lift"].a, [0, 5])
    near(joints["guide"].axis_a, [-1, 0])
    assert not joints["guide"].axis_b.any()
    near(joints["teeth"].axis_b, [1, 0])
    assert (joints["teeth"].radius, joints["teeth"].a.tolist()) == (2.0, [0.0, 0.0])
    cam = joints["cam"]
    assert cam.follower is not None
    assert cam.profile is not None
    assert cam.follower.radius == 0.5
    near(cam.profile(np.array([0.0, math.pi]))[0], [4, 2])


def test_internal_gear_is_positive() -> None:
    text = GEARS.replace("radii = [2, 1]", "radii = [2, 1], internal = true")
    assert read(text).joints["mesh"].ratio == 2.0


def test_angle_between_x_axes_is_wrapped() -> None:
    model = read(FOUR_BAR)
    expected = model.bodies["rocker"].angle - model.bodies["rod"].angle
    assert model.joints["C"].angle == pytest.approx(geometry.wrap(expected), abs=1e-15)
    assert [geometry.wrap(x) for x in (-math.pi, math.pi, 3 * math.pi / 2)] == [math.pi, math.pi, -math.pi / 2]


def test_pinion_turns_about_the_body_that_guides_the_rack() -> None:
    """With a second pivot the pinion's centre is still the one on the frame, which carries the rack's slot."""
    text = GEARS.replace('[bodies.sun]\npoints = ["O"]', '[bodies.sun]\npoints = ["Z", "O"]')
    text = text.replace("[points]", "[points]\nZ = [1, 0]").replace(
        "[bodies.disc]", '[bodies.z]\npoints = ["Z"]\n[bodies.disc]'
    )
    text = text.replace("[joints]", '[joints]\nAA = { type = "R", bodies = ["sun", "z"], at = "Z" }')
    model = read(text)
    near(model.bodies["sun"].outside(model.joints["teeth"].a), [0, 0])
    near(model.bodies["sun"].rotation @ [1, 0], [-1, 0])


def test_rods_are_found_and_checked() -> None:
    automatic = SPATIAL.replace('kind = "rod"', "")
    for text in (SPATIAL, automatic):
        assert [b.name for b in read(text).bodies.values() if b.rod] == ["coupler"]
    held = (
        automatic.replace("[points]", "[points]\nX = [2, 2, 2]")
        .replace('points = ["B", "C"]', 'points = ["B", "C", "X"]')
        .replace('between = ["A", "G"]', 'between = ["A", "X"]')
    )
    assert not any(b.rod for b in read(held).bodies.values())
    on_its_line = held.replace("X = [2, 2, 2]", "X = [2, 0.5, 0]")
    assert read(on_its_line).bodies["coupler"].rod
    with pytest.raises(InputError, match=r"\[bodies.crank\] kind: a rod has a spherical joint at each"):
        read(SPATIAL.replace("length = 1\n[bodies.coupler]", 'length = 1\nkind = "rod"\n[bodies.coupler]'))


def test_point_of_a_guide_and_of_the_guided_is_the_guided_one() -> None:
    text = GEARS.replace('points = ["O", "T"]', 'points = ["O", "T", "F"]')
    model = read(text)
    assert "F" not in model.bodies["frame"].points
    assert "F" in model.bodies["follower"].points
    near(model.joints["lift"].a, [0, 5])


# ---- welds ----
WELDED = """
format = 1
space = "planar"
[points]
A = [0, 0]
B = [2.1, 0]
C = [2, 2.9]
[bodies.frame]
points = ["A"]
[bodies.b]
points = ["A", "B"]
length = 2
mass = 1
inertia = 0.5
centre = [1, 0]
[bodies.a]
points = ["B", "C"]
length = 3
mass = 3
centre = [1.5, 0]
[joints]
A = { type = "R", bodies = ["frame", "b"], at = "A" }
W = { type = "weld", bodies = ["b", "a"] }
[drivers]
theta = { joint = "A", angle = "t" }
[forces]
push = { body = "b", point = [0.5, 0], force = [1, 0] }
"""


def test_welded_bodies_are_one_with_exact_lengths() -> None:
    """Named after the alphabetically first; the shared point is one; the angle is the sketch's."""
    model = read(WELDED)
    assert list(model.bodies) == ["frame", "a"]
    assert model.welds == {"W": ("b", "a")}
    assert list(model.joints) == ["A"]
    assert model.joints["A"].second == "a"
    body = model.bodies["a"]
    assert np.linalg.norm(body.points["A"] - body.points["B"]) == pytest.approx(2, abs=1e-14)
    assert np.linalg.norm(body.points["C"] - body.points["B"]) == pytest.approx(3, abs=1e-14)
    members = {m.name: m for m in body.members}
    assert set(members) == {"a", "b"}
    lean = math.atan2(2.9, -0.1)  # of BC in the sketch; AB lies along x
    near(members["b"].rotation, [[math.cos(-lean), -math.sin(-lean)], [math.sin(-lean), math.cos(-lean)]])
    near(members["b"].origin, body.points["A"])
    push = model.loads[0]
    assert isinstance(push, PointForce)
    assert push.body == "a"
    near(push.point, body.points["A"] + 0.25 * (body.points["B"] - body.points["A"]))


def test_driver_of_a_welded_part_turns_the_rigid_body() -> None:
    """The angle of part b is t, so that of the rigid body, whose axes are a's, is t plus the lean of BC."""
    motion = read(WELDED).drivers["theta"].motion
    near(motion(np.array([0.5]))[:2, 0], [0.5 + math.atan2(2.9, -0.1), 1.0])


def test_welded_mass_is_that_of_both() -> None:
    """Total 4 kg; the polar moment about the common centre is 0.5 + m1 m2/(m1 + m2) d² (two-body formula)."""
    body = read(WELDED).bodies["a"]
    assert body.mass is not None
    c1 = (body.points["A"] + body.points["B"]) / 2
    c2 = (body.points["B"] + body.points["C"]) / 2
    assert body.mass.mass == 4.0
    near(body.mass.centre, 0.25 * c1 + 0.75 * c2)
    near(body.mass.inertia, 0.5 + 0.75 * np.sum((c1 - c2) ** 2))


def test_weld_to_the_frame_is_the_frame() -> None:
    model = read(
        WELDED.replace('bodies = ["b", "a"]', 'bodies = ["frame", "a"]')
        .replace('points = ["B", "C"]', 'points = ["C", "E"]')
        .replace("[bodies.frame]", "E = [3, 3]\n[bodies.frame]")
    )
    assert list(model.bodies) == ["frame", "b"]
    assert {m.name for m in model.bodies["frame"].members} == {"frame", "a"}
    near(model.bodies["frame"].rotation, np.eye(2))
    assert set(model.bodies["frame"].points) == {"A", "C", "E"}


def test_spatial_inertia_of_welded_bodies_is_turned() -> None:
    text = SPATIAL.replace("[joints]", '[joints]\nW = { type = "weld", bodies = ["v", "u"] }').replace(
        'F = { type = "U", bodies = ["u", "v"], at = "F", axes = [[0, 1, 0], [0, 0, 5]] }\n', ""
    )
    text = text.replace("local = { F", "mass = 1\ncentre = [0, 0, 0]\ninertia = [1, 2, 3, 0, 0, 0]\nlocal = { F")
    body = read(text).bodies["u"]
    assert body.mass is not None
    # v's z axis (moment 3) is u's y axis, by the smallest turn; its y axis is u's -z
    near(body.mass.inertia, np.diag([1, 3, 2]))
    near(body.mass.centre, [1, 0, 0])


# ---- dynamics ----
def test_masses() -> None:
    bodies = read(FOUR_BAR).bodies
    crank, rod, rocker = (bodies[n].mass for n in ("crank", "rod", "rocker"))
    assert crank is not None
    assert rod is not None
    assert rocker is not None
    near(crank.centre, [1, 0])
    assert (crank.mass, float(crank.inertia), crank.inertia.shape) == (0.5, 0.5 * 4 / 12, ())
    near(rod.centre, [3, 1])
    assert float(rod.inertia) == 0.0
    near(rocker.centre, [2, 0.5])
    assert bodies["frame"].mass is None
    arm = read(SPATIAL).bodies["arm"].mass
    assert arm is not None
    near(arm.inertia, [[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 3]])


def test_loads_and_the_other_tables() -> None:
    model = read(FOUR_BAR)
    push, pull, turn, coil, hair = model.loads
    assert isinstance(push, PointForce)
    assert isinstance(pull, PointForce)
    assert isinstance(turn, Torque)
    assert isinstance(coil, Spring)
    assert isinstance(hair, TorsionSpring)
    near(push.point, [3, 1])
    near(pull.point, [1, 2])
    near(pull.force[1](np.array([0.5, 2.0]))[0], [0.5, 1])
    near(turn.torque[0](np.array([2.0]))[:, 0], [6, 3, 0, 0])
    assert coil.bodies == ("frame", "rocker")
    assert (coil.stiffness, coil.length, coil.damping) == (10, 2, 0.5)
    near(coil.ends[1], [0, 0])
    assert (hair.joint, hair.stiffness, hair.angle, hair.damping) == ("D", 4, math.pi, 0.1)
    assert model.initial[0].value == 2
    assert model.initial[0].coordinate == "angle"
    assert model.actuators[0].joint == "D"
    assert model.assembly == {"RRR_1": 1}
    assert model.gravity.tolist() == [0, -9.81]
    assert model.simulation.times().tolist() == [0, 0.5, 1, 1.5]
    assert (model.simulation.tolerance, model.simulation.cut) == (1e-8, ("D",))
    assert read(GEARS).gravity.tolist() == [0, 0]


def test_drivers() -> None:
    drivers = read(SPATIAL).drivers
    assert [(d.kind, d.joint) for d in drivers.values()] == [("angle", "A"), ("displacement", "E"), ("distance", None)]
    assert drivers["reach"].bodies == ("frame", "w")  # G is `at` a screw joint: a point of its second body
    assert drivers["reach"].points == ("A", "G")
    turn = read(GEARS).drivers["two"]
    assert (turn.kind, turn.bodies) == ("turn", ("frame", "arm"))


def test_table_of_a_driver_lies_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "cam.csv").write_text("t,value\n0,0\n1,1\n2,4\n3,9\n")
    path = tmp_path / "m.toml"
    for form in ('table = "cam.csv"', 'angle = { table = "cam.csv" }'):
        path.write_text(FOUR_BAR.replace('angle = "pi/2 + omega*t"', form))
        model = load(path)
        near(model.drivers["theta"].motion(np.array([2.5]))[:3, 0], [6.25, 5, 2], 1e-12)
        check_times(model, np.array([0.0, 3.0]))
        with pytest.raises(InputError, match=r"m.toml: \[drivers\] theta: table .cam.csv. reaches from t = 0 to 3"):
            check_times(model, np.array([0.0, 3.1]))
    with pytest.raises(InputError, match="has no folder for tables"):
        loads(path.read_text(), "page")


def test_check_times_finds_what_is_not_finite() -> None:
    model = read(FOUR_BAR.replace('"3*t"', '"1/(t - 1)"'))
    check_times(model, np.array([0.0, 2.0]))
    with pytest.raises(InputError, match=r"\[forces\] turn: the value of .* at t = 1 "):
        check_times(model, np.array([0.0, 1.0]))


# ---- parameters and settings ----
def test_settings_override_parameters_and_what_follows_from_them() -> None:
    assert read(FOUR_BAR).parameters["twice"] == 69.92
    assert read(FOUR_BAR, omega=2.0).parameters == {"omega": 2.0, "g": 9.81, "twice": 4.0}
    with pytest.raises(InputError, match="there is no parameter 'omgea' - did you mean 'omega'"):
        read(FOUR_BAR, omgea=2.0)
    with pytest.raises(InputError, match=r"\[parameters\] omega: nan is not a finite number"):
        read(FOUR_BAR, omega=math.nan)


def test_order_of_tables_changes_nothing() -> None:
    data = tomllib.loads(FOUR_BAR)
    turned = {
        k: dict(reversed(v.items())) if isinstance(v, dict) and k != "parameters" else v
        for k, v in reversed(data.items())
    }
    one, two = from_data(data, "m"), from_data(turned, "m")
    for name, body in one.bodies.items():
        assert np.array_equal(body.origin, two.bodies[name].origin)
        assert np.array_equal(body.rotation, two.bodies[name].rotation)
    for name, joint in one.joints.items():
        assert np.array_equal(joint.a, two.joints[name].a)
    assert next(iter(two.bodies)) == "frame"


# ---- wrong input ----
WRONG = [
    (0, "format = 1", "format = 2", "m.toml:1: format: 2 is not known - a mechanism file begins with format = 1"),
    (0, '"planar"', '"plane"', 'space: .plane. is not known - write "planar"'),
    (0, "[simulation]", "[simulatoin]", r"\[simulatoin\]: 'simulatoin' is not known here - did you mean 'simulation'"),
    (0, "step  = 0.5", "setp = 0.5", r"\[simulation\] setp: 'setp' is not known here - did you mean 'step'"),
    (0, "step  = 0.5", "step = 0", r"\[simulation\] step: is 0 and must be greater than 0"),
    (0, "step  = 0.5", "step = 1e-300", r"\[simulation\] step: makes"),
    (0, "stop  = 1.5", "stop = -1", r"\[simulation\] stop: is -1, before start = 0"),
    (0, 'cut = ["D"]', 'cut = ["Q"]', r"\[simulation\] cut: there is no joint 'Q'"),
    (0, "omega = 34.96", "e = 1", r"\[parameters\] e: 'e' has a meaning of its own"),
    (0, "omega = 34.96", "sin = 1", r"\[parameters\] sin: "),
    (0, "omega = 34.96", 'omega = "twice"', r"\[parameters\] omega: column 1 of .twice.: unknown name"),
    (0, "B = [0, 2]", "B = [0, 2, 1]", r"m.toml:13: \[points\] B: is a list of 2 numbers in a planar mechanism"),
    (0, "B = [0, 2]", "B = [0, true]", r"\[points\] B: is a number or a formula in quotes, not true"),
    (0, "B = [0, 2]", "B = [0, nan]", r"\[points\] B: nan is not a finite number"),
    (0, "B = [0, 2]", f"B = [0, {'9' * 400}]", r"\[points\] B: 9+\.\.\. is not a finite number"),
    (0, "B = [0, 2]", 'B = [0, "9**9**9"]', r'\[points\] B: "9\*\*9\*\*9" is not a finite number'),
    (0, "D = [6, 0]", "D = [6, 0]\nX = [1, 1]", r"\[points\] X: belongs to no body"),
    (0, "D = [6, 0]", 'D = [6, 0]\n"a\\nb" = [1, 1]', "a name has 1 to 100 printable characters"),
    (0, "[bodies.frame]", "[bodies.ground]", r"\[bodies\]: lacks the ground - write \[bodies.frame\]"),
    (0, "length = 2\n", "length = -2\n", r"m.toml:22: \[bodies.crank\] length: is -2 and must be greater than 0"),
    (0, "length = 2\n", "lenght = 2\n", r"\[bodies.crank\] lenght: 'lenght' is not known here - did you mean 'length'"),
    (0, "length = 2\n", "length = 2\nlocal = {A = [0, 0], B = [2, 0]}\n", "exclude each other"),
    (0, 'points = ["A", "B"]', 'points = ["A", "B", "C"]', r"\[bodies.crank\] length: belongs to a body of 2 points"),
    (0, 'points = ["A", "B"]', 'points = ["A", "Q"]', r"\[bodies.crank\] points: there is no point 'Q'"),
    (0, 'points = ["A", "B"]', 'points = ["A", "A"]', "names 'A' twice"),
    (0, 'points = ["A", "B"]', "points = 3", "is a list of names"),
    (0, 'points = ["A", "B"]\n', "", r"\[bodies.crank\]: lacks 'points'"),
    (0, "P = [3, 1] }", "Q = [3, 1] }", r"\[bodies.rod\] local.Q: there is no point of body 'rod' named 'Q'"),
    (0, ", P = [3, 1] }", " }", r"\[bodies.rod\] local: lacks the point 'P'"),
    (0, "C = [5.0, 5.0]\n", "", r"\[bodies.rod\] points: 'C' is not in \[points\]; it may be left out only if two"),
    (0, "C = [5.0, 5.0]", "C = [0, 2]", r"\[bodies.rod\] local: its points lie at one place"),
    (0, "C = [5.0, 5.0]", "C = [6, 0]", r"\[bodies.rocker\]: its two points lie at one place"),
    (0, "mass = 2", "mass = -2", r"\[bodies.rod\] mass: is -2 and must not be negative"),
    (0, 'centre = "P"', 'centre = "D"', r"\[bodies.rod\] centre: there is no point of body 'rod' named 'D'"),
    (0, "inertia = 3", "inertia = [1, 2]", r"\[bodies.rocker\] inertia: is a number"),
    (
        0,
        'D = { type = "R", bodies = ["frame", "rocker"], at = "D" }',
        "",
        r"\[points\] D: is a point of frame, rocker, but no joint",
    ),
    (
        0,
        'type = "R", bodies = ["crank", "rod"]',
        'type = "T", bodies = ["crank", "rod"]',
        r"\[joints\] B.type: there is no joint type 'T'",
    ),
    (
        0,
        'type = "R", bodies = ["crank", "rod"]',
        'type = "S", bodies = ["crank", "rod"]',
        r"belongs to a spatial mechanism",
    ),
    (
        0,
        'bodies = ["crank", "rod"]',
        'bodies = ["crnak", "rod"]',
        r"\[joints\] B.bodies: there is no body 'crnak' - did you mean 'crank'",
    ),
    (0, 'bodies = ["crank", "rod"]', 'bodies = ["rod", "rod"]', "names 'rod' twice"),
    (
        0,
        'bodies = ["crank", "rod"],',
        'axis = [0, 1], bodies = ["crank", "rod"],',
        r"\[joints\] B.axis: has no meaning for a joint 'R' of a planar",
    ),
    (0, 'bodies = ["crank", "rod"],   at = "B"', 'bodies = ["crank", "rod"]', r"\[joints\] B: lacks 'at'"),
    (
        0,
        'bodies = ["crank", "rod"],   at = "B"',
        'bodies = ["crank", "rod"], at = "D"',
        "'D' is not a point of body 'crank'",
    ),
    (0, 'joint = "A", angle = "pi', 'joint = "Z", angle = "pi', r"\[drivers\] theta.joint: there is no joint 'Z'"),
    (
        0,
        'angle = "pi/2 + omega*t"',
        'displacement = "t"',
        r"\[drivers\] theta.displacement: does not fit: joint 'A' is of type 'R'",
    ),
    (0, ', angle = "pi/2 + omega*t"', "", r"\[drivers\] theta: has neither 'angle' nor 'displacement'"),
    (0, 'angle = "pi/2 + omega*t"', 'angle = "pi/2 + omga*t"', "unknown name 'omga' - did you mean 'omega'"),
    (0, "[drivers]", '[drivers]\nagain = { between = ["B", "P"], distance = "t" }', "both points of body 'rod'"),
    (0, "[drivers]", '[drivers]\nagain = { between = ["B", "P"], joint = "A" }', "a driver has one of 'joint'"),
    (0, 'joint = "D", angle = 2', 'joint = "A", angle = 2', "the driver 'theta' prescribes this coordinate"),
    (0, 'torque = "3*t"', 'torque = ["t", "t"]', r"turn.torque: is a number or a formula in t, not \['t', 't'\] of 2"),
    (0, "torque = ", "point = 'B', force = [1, 2, 3] } #", r"force: is a list of 2 .* in t, not \[1, 2, 3\] of 3"),
    (0, 'angle = "pi/2 + omega*t"', 'angle = "pi/2 + omega*time"', "unknown name 'time' - time is written t$"),
    (0, ', torque = "3*t"', "", r"\[forces\] turn: has either 'force'"),
    (0, 'type = "spring"', 'type = "sping"', "there is no type of force 'sping' - did you mean 'spring'"),
    (0, "length = 2, damping", "damping", r"\[forces\] coil: lacks 'length'"),
    (0, "RRR_1 = 1", "RRR_1 = 1.5", r"\[assembly\] RRR_1: is the whole number of an assembly mode"),
    (0, "gravity = [0", "gravity = [0, 0", "gravity: is a list of 2 numbers"),
    (0, "[joints]", "[joints", "m.toml:39: not valid TOML"),
    (0, "[points]", "[points]\nA = [1, 1]", r"m.toml:\d+: not valid TOML: the name 'A' stands twice in one"),
    (0, "[points]", "[points]\n[points]", r"m.toml:\d+: not valid TOML: the table \[points\] stands twice - join"),
    (1, "radius = 2, axis", "radius = 2, radius = 3, axis", r"the name 'radius' stands twice in one table"),
    (0, "[bodies.crank]", "[bodies.crank]\nkind = 'rod'", "a rod is a moving body of a spatial mechanism"),
    (1, "radii = [2, 1]", "radii = [2, 1], ratio = 2", "a gear has either 'ratio'"),
    (1, "radii = [2, 1]", "radii = [2, -1]", r"\[joints\] mesh.radii: must be greater than 0"),
    (1, 'carrier = "arm"', 'carrier = "sun"', "'sun' is one of the two wheels"),
    (1, "ratio = -2.5", "ratio = 0", r"\[joints\] wheel.ratio: is 0"),
    (1, "axis = [0, 2]", "axis = [0, 0]", r"\[joints\] lift.axis: is zero and has no direction"),
    (1, "radius = 2, axis", "radius = 0, axis", r"\[joints\] teeth.radius: is 0"),
    (1, '"3 + cos(u)"', '"3 + cos(t)"', r"\[joints\] cam.profile: column 9"),
    (1, '"3 + cos(u)"', '"1/u"', "is not finite and smooth"),
    (1, "radius = 0.5 }", "radius = 0.5, direction = [1, 0] }", "keep one of them"),
    (1, 'point = "F"', 'point = "S"', r"\[joints\] cam.follower.point: there is no point of body 'follower'"),
    (1, 'bodies = ["hub", "disc"] }', 'bodies = ["hub", "disc"], at = "T" }', "has no meaning for a joint 'weld'"),
    (1, 'joint = "sun"', 'joint = "fixed"', "'fixed' is a weld, which has no coordinate"),
    (1, 'joint = "sun"', 'joint = "mesh"', "is a joint 'gear'; a driver needs one of"),
    (2, "axis = [0, 0, 2]", "axis = [0, 2]", "is a list of 3 numbers in a spatial mechanism"),
    (2, ", axis = [0, 0, 2]", "", r"\[joints\] A: lacks 'axis'"),
    (2, "[0, 0, 5]", "[0, 4, 5]", r"\[joints\] F.axes: stand at 51.34 degrees"),
    (2, 'type = "S", bodies = ["crank"', 'type = "slot", bodies = ["crank"', "belongs to a planar mechanism"),
    (2, "inertia = [1, 2, 3,", "inertia = [1, 2, -3,", "a principal moment is negative"),
    (2, 'displacement = "t"', 'table = "x.csv"', "a joint C turns and slides"),
    (2, "[drivers]", '[drivers]\nq = { bodies = ["u", "v"], angle = "t" }', "planar mechanisms only"),
]


@pytest.mark.parametrize(("which", "old", "new", "says"), WRONG, ids=[f"{i}-{w[2][:30]}" for i, w in enumerate(WRONG)])
def test_wrong_input(which: int, old: str, new: str, says: str) -> None:
    """Each mistake has one message with the file, the table, the key, and what would be right."""
    assert old in ALL[which]
    with pytest.raises(InputError) as caught:
        read(ALL[which].replace(old, new, 1))
    message = str(caught.value)
    assert message.startswith("m.toml")
    assert re.search(says, message), message
    assert "\n" not in message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none.toml: cannot be read: No such file"):
        load(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        load(tmp_path / "latin.toml")
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path)
    (tmp_path / "big.toml").write_text("#" * 8_000_001)
    with pytest.raises(InputError, match="has more than 8000000 bytes"):
        load(tmp_path / "big.toml")
    with pytest.raises(InputError, match="not valid TOML"):
        loads("a = " + "[" * 100_000, "deep")


def test_a_name_that_stands_twice_is_named_with_its_line() -> None:
    """Also at the end of a file, where the parser gives no line, and in a value of several lines, which hides it."""
    for text, says in (
        ('[d]\nx = { joint = "A", angle = pi/2 + w*t }', "m:2: not valid TOML: pi/2 \\+ w\\*t in angle stands without"),
        ("[p]\nA = [0, L*atan2(3,4)]\n", 'm:2: not valid TOML: L\\*atan2\\(3,4\\) in A .* has them: "L'),
        ('b = 18 deg # "no', "m:1: not valid TOML: 18 deg in b stands without quotes"),
        ("[a]\nb = 1\nb = 2", "m:3: not valid TOML: the name 'b' stands twice"),
        ("[a]\r\nb = 1\r\nb = 2\r\nc = 3\r\n", "m:3: not valid TOML: the name 'b' stands twice"),
        ("[a]\nb = 1\n[a.b]\nc = 2\n", "m:3: not valid TOML: the name 'a.b' stands twice"),
        ("b = 1\nb = [\n  2,\n]\nc = 3\n", "m:4: not valid TOML: a name stands twice"),
        ("[a.b]\n[c]\n[a.b]\n", r"m:3: not valid TOML: the table \[a.b\] stands twice"),
    ):
        with pytest.raises(InputError, match=says):
            loads(text, "m")


def test_windows_lines_and_marks_are_read(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_bytes(b"\xef\xbb\xbf" + FOUR_BAR.replace("\n", "\r\n").encode())
    assert load(path).name == "four-bar"


def test_reading_needs_no_heavy_library() -> None:
    import subprocess

    code = (
        "import sys; from assurgent.mechanism.reader import loads; loads(sys.stdin.read(), 'm'); "
        "print([m for m in ('scipy', 'sympy', 'numba', 'pandas', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], input=FOUR_BAR, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---- anything else is InputError, too ----
VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 1.5, math.nan, math.inf, 10**400, True, "", "A", "t", "1/0", "frame", "9**9**9", "x.csv"),
    *([], [1], [1, 2], [1, 2, 3], ["A"], ["A", "B"], ["frame", "crank"], [[1, 0, 0], [0, 1, 0]], [[]], {}, {"A": 1}),
)


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every key and index of nested values."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [p for key, value in items for p in ((*path, key), *places(value, (*path, key)))]


def mutate(data: dict[str, Any], rng: random.Random) -> None:
    *way, key = rng.choice(places(data))
    holder: Any = data
    for step in way:
        holder = holder[step]
    action = rng.randrange(4)
    if action == 0:
        del holder[key]
    elif action == 1 and isinstance(holder, dict):
        holder[rng.choice([str(key) + "x", str(key)[:-1], "type", "at", "joint", "local", ""])] = holder.pop(key)
    elif action == 2:
        names = [str(p[-1]) for p in places(data)]
        holder[key] = rng.choice(names)
    else:
        holder[key] = copy.deepcopy(rng.choice(VALUES))


@pytest.mark.parametrize("which", range(3))
def test_mutated_files_are_read_or_refused(which: int) -> None:
    """1500 files with one to four random faults each: a model or an InputError of one line, nothing else."""
    rng = random.Random(20240 + which)
    original = tomllib.loads(ALL[which])
    refused: list[str] = []
    for _ in range(1500):
        data = copy.deepcopy(original)
        for _ in range(rng.randint(1, 4)):
            mutate(data, rng)
        try:
            model = from_data(data, "fuzz", None, Path(), ALL[which])
        except InputError as error:
            refused.append(str(error))
        else:
            for body in model.bodies.values():
                assert all(np.isfinite(p).all() for p in body.points.values())
    assert len(refused) > 900  # most faults matter
    assert all(message.startswith("fuzz") and "\n" not in message for message in refused)


def test_mutated_text_is_read_or_refused() -> None:
    rng = random.Random(5)
    for text, _ in itertools.product(ALL, range(300)):
        cut = rng.randrange(len(text))
        piece = rng.choice(["", "[", '"', "=", "\x00", "1e999", "'", "{}", text[: rng.randrange(40)]])
        with contextlib.suppress(InputError):
            loads(text[:cut] + piece + text[cut + rng.randrange(4) :], "fuzz")
