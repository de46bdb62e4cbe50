"""A mechanism file becomes a model with hand-derived geometry, or one clear message; never anything else."""

from __future__ import annotations

import math
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assurgent.common.errors import InputError
from assurgent.mechanism import geometry
from assurgent.mechanism.model import PointForce, Spring, Torque, TorsionSpring
from assurgent.mechanism.reader import from_data, load, loads
from assurgent.runtime.time_functions import check_times
from tests.mechanism.reader_samples import FOUR_BAR, GEARS, SPATIAL, near, read


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
