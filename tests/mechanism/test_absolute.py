"""Absolute coordinates against closed forms, complex steps and differences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assurgent.mechanism.absolute import STEP, Absolute
from assurgent.mechanism.assembly import follow
from assurgent.mechanism.body_motion import BodyMotion
from assurgent.mechanism.model import Body, Driver, Follower, Joint, Model
from tests.mechanism.absolute_samples import FOUR_BAR, ROUNDING, RSSR, circles, model


def at(motion: BodyMotion, local: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return position, velocity and acceleration (n x 2) of a point of a planar body."""
    angle, omega, alpha = motion.angle[:, :, None]
    r = np.hstack([np.cos(angle), np.sin(angle)]) * local[0] + np.hstack([-np.sin(angle), np.cos(angle)]) * local[1]
    n = np.stack([-r[:, 1], r[:, 0]], axis=1)
    x, v, a = motion.origin.transpose(0, 2, 1)
    return x + r, v + omega * n, a + alpha * n - omega**2 * r


class Cubic:
    """A function with all three derivatives different from zero."""

    text = "cubic"

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.array([1.5 + 0.3 * np.sin(2 * x), 0.6 * np.cos(2 * x), -1.2 * np.sin(2 * x), -2.4 * np.cos(2 * x)])


# ---- derivatives of every kind ------------------------------------------------------------------------------------
PLANAR = ("R", "P", "slot", "gear", "rack", "cam", "cam roller", "cam flat")
PLANAR_DRIVERS = ("angle", "displacement", "distance", "turn")
SPATIAL = ("R", "P", "S", "C", "U", "H", "planar", "rod")
SPATIAL_DRIVERS = ("angle", "displacement", "distance", "screw")
ALL = [("planar", k, "") for k in PLANAR] + [("planar", "R", k) for k in PLANAR_DRIVERS]
ALL += [("spatial", k, "") for k in SPATIAL] + [("spatial", "C", k) for k in SPATIAL_DRIVERS]


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def one_joint(space: str, kind: str, driver: str, random: np.random.Generator) -> Model:
    """Return three bodies with random geometry and one joint: nothing is closed, as derivatives do not need it."""
    d = 2 if space == "planar" else 3
    vector = lambda: random.standard_normal(d)  # noqa: E731
    bodies = {"frame": Body("frame", {"O": np.zeros(d)}, np.zeros(d), np.eye(d))}
    for name in "abc":
        q, _ = np.linalg.qr(random.standard_normal((d, d)))
        q[:, 0] *= np.linalg.det(q)
        bodies[name] = Body(name, {"P": vector()}, vector(), q, rod=kind == "rod" and name == "a")
    name, _, form = kind.partition(" ")
    if driver == "screw":
        name = "H"
    axes = [unit(vector()) for _ in range(2)]
    normals = [unit(np.cross(x, vector())) if d == 3 else np.zeros(2) for x in axes]
    follower = Follower(0.3 if form == "roller" else 0.0, unit(vector()) if form == "flat" else None)
    joint = Joint(
        "J", "S" if name == "rod" else name, "a", "b", None, vector(), vector(), *axes, *normals, angle=0.4, ratio=-1.7,
        carrier="c" if name == "gear" else None, radius=0.7, pitch=0.3, profile=Cubic(), follower=follower,
    )  # fmt: skip
    joints = {"J": joint}
    if name == "rod":
        joints["K"] = replace(joint, name="K", first="c", second="a", a=vector(), b=vector())
    drivers = {}
    if driver in ("angle", "displacement", "screw"):
        drivers["D"] = Driver("D", "angle" if driver == "screw" else driver, Cubic(), "J", ("a", "b"))
    elif driver:
        drivers["D"] = Driver("D", driver, Cubic(), None, ("a", "b"), ("P", "P"), (vector(), vector()))
    return Model("one", space, {}, bodies, joints, drivers)


@pytest.mark.parametrize(("space", "kind", "driver"), ALL)
def test_jacobian_is_the_derivative_of_the_rows(space: str, kind: str, driver: str) -> None:
    random = np.random.default_rng(5)
    system = Absolute(one_joint(space, kind, driver, random))
    poses = replace(system.first(), contact=np.full(int(kind.startswith("cam")), 0.8))
    values = dict.fromkeys(system.drivers, 0.2)
    J = system.jacobian(poses)
    held = np.array([not name.startswith("spin") for name in system.names])  # a rod's spin is held in its rate only
    assert np.abs(J[~held]).sum() > 0 or kind != "rod"
    for column in range(system.n_columns):
        step = 1j * STEP * np.eye(system.n_columns)[column]
        derivative = system.rows(poses.tangent(*system.spread(step)), values).imag / STEP
        np.testing.assert_allclose(J[held, column], derivative[held], atol=1e-14, rtol=1e-13)  # both exact


@pytest.mark.parametrize(("space", "kind", "driver"), ALL)
def test_gamma_is_the_change_of_the_jacobian_along_the_motion(space: str, kind: str, driver: str) -> None:
    random = np.random.default_rng(6)
    system = Absolute(one_joint(space, kind, driver, random))
    poses = replace(system.first(), contact=np.full(int(kind.startswith("cam")), 0.8))
    velocity = random.standard_normal(system.n_columns)
    h = 1e-5
    ahead, behind = (system.jacobian(poses.moved(*system.spread(s * h * velocity))) for s in (1, -1))
    expected = (ahead - behind) @ velocity / (2 * h)
    # central differences: h² of truncation, and eps/h of rounding
    np.testing.assert_allclose(system.gamma(poses, velocity), expected, atol=1e-7)


def test_four_bar_is_that_of_two_circles_and_its_rates_are_differences(tmp_path: Path) -> None:
    m = model(tmp_path, FOUR_BAR)
    h = 1e-4
    times = np.sort(np.concatenate([np.linspace(0.1, 4, 9) + k * h for k in (-2, -1, 0, 1, 2)]))
    motion = follow(m, times)
    theta = 1.4 + 2 * times + 0.3 * np.sin(times)
    B = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    C = circles(B, 4.0, np.broadcast_to([4.0, 0.0], B.shape), 3.0)
    place, velocity, acceleration = at(motion["rod"], m.bodies["rod"].points["C"])
    np.testing.assert_allclose(place, C, atol=ROUNDING)
    np.testing.assert_allclose(motion["crank"].angle[0], theta, atol=ROUNDING)  # not modulo 2 π
    x = C.reshape(9, 5, 2)
    first = (x[:, 0] - 8 * x[:, 1] + 8 * x[:, 3] - x[:, 4]) / (12 * h)
    second = (-x[:, 0] + 16 * x[:, 1] - 30 * x[:, 2] + 16 * x[:, 3] - x[:, 4]) / (12 * h * h)
    # rounding of the differences: 1e-15/h and 1e-15/h², a few times over
    np.testing.assert_allclose(velocity[2::5], first, atol=1e-9)
    np.testing.assert_allclose(acceleration[2::5], second, atol=5e-6)


def test_slider_crank_is_its_closed_form_to_the_second_order(tmp_path: Path) -> None:
    text = """
    space = "planar"
    [points]
    A = [0, 0]
    B = [1, 0.1]
    C = [3.5, 0.3]
    [bodies.frame]
    points = ["A"]
    [bodies.crank]
    points = ["A", "B"]
    length = 1
    [bodies.rod]
    points = ["B", "C"]
    length = 3
    [bodies.slider]
    points = ["C"]
    [joints]
    A = { type = "R", bodies = ["frame", "crank"], at = "A" }
    B = { type = "R", bodies = ["crank", "rod"], at = "B" }
    C = { type = "R", bodies = ["rod", "slider"], at = "C" }
    G = { type = "P", bodies = ["frame", "slider"], at = "C", axis = [1, 0] }
    [drivers]
    theta = { joint = "A", angle = "2*t" }
    """
    times = np.linspace(0, 4, 33)
    motion = follow(model(tmp_path, text), times)["slider"]
    theta, w, e = 2 * times, 2.0, 0.3
    # x = cos θ + sqrt(9 - u²), u = e - sin θ; with W = 2 the rate
    u, u1, u2 = e - np.sin(theta), -w * np.cos(theta), w**2 * np.sin(theta)
    root = np.sqrt(9 - u**2)
    root1 = -u * u1 / root
    root2 = -(u1**2 + u * u2 + root1**2) / root
    np.testing.assert_allclose(motion.origin[0, 0], np.cos(theta) + root, atol=ROUNDING)
    np.testing.assert_allclose(motion.origin[1, 0], -w * np.sin(theta) + root1, atol=ROUNDING)
    np.testing.assert_allclose(motion.origin[2, 0], -(w**2) * np.cos(theta) + root2, atol=10 * ROUNDING)
    np.testing.assert_allclose(motion.origin[0, 1], 0.3, atol=ROUNDING)
    np.testing.assert_allclose(motion.angle, 0, atol=10 * ROUNDING)


def test_planetary_train_has_the_ratios_of_willis(tmp_path: Path) -> None:
    text = """
    space = "planar"
    [points]
    O = [0, 0]
    P = [3, 0]
    [bodies.frame]
    points = ["O"]
    [bodies.sun]
    points = ["O"]
    [bodies.arm]
    points = ["O", "P"]
    [bodies.planet]
    points = ["P"]
    [bodies.ring]
    points = ["O"]
    [joints]
    S = { type = "R", bodies = ["frame", "sun"], at = "O" }
    A = { type = "R", bodies = ["frame", "arm"], at = "O" }
    R = { type = "R", bodies = ["frame", "ring"], at = "O" }
    P = { type = "R", bodies = ["arm", "planet"], at = "P" }
    g = { type = "gear", bodies = ["sun", "planet"], ratio = -2, carrier = "arm" }
    h = { type = "gear", bodies = ["planet", "ring"], ratio = 0.25, carrier = "arm" }
    [drivers]
    a = { joint = "S", angle = "3*t" }
    b = { joint = "R", angle = "t" }
    """
    times = np.linspace(0, 5, 6)  # several turns: gears count them
    motion = follow(model(tmp_path, text), times)
    # (ω_ring - ω_arm) = -0.5 (ω_sun - ω_arm), so ω_arm = (1 + 0.5·3)/1.5; ω_planet - ω_arm = -2 (3 - ω_arm)
    arm = 2.5 / 1.5
    np.testing.assert_allclose(motion["arm"].angle[0], arm * times, atol=10 * ROUNDING)
    np.testing.assert_allclose(motion["planet"].angle[0], (arm - 2 * (3 - arm)) * times, atol=10 * ROUNDING)


def test_rack_moves_by_the_arc_of_its_pinion(tmp_path: Path) -> None:
    text = """
    space = "planar"
    [points]
    O = [0, 0]
    T = [1, 0.4]
    [bodies.frame]
    points = ["O"]
    [bodies.pinion]
    points = ["O"]
    [bodies.bar]
    points = ["T"]
    [joints]
    O = { type = "R", bodies = ["frame", "pinion"], at = "O" }
    G = { type = "P", bodies = ["frame", "bar"], at = "T", axis = [1, 0] }
    M = { type = "rack", bodies = ["pinion", "bar"], radius = 0.4, axis = [1, 0] }
    [drivers]
    theta = { joint = "O", angle = "4*t" }
    """
    times = np.linspace(0, 4, 5)
    motion = follow(model(tmp_path, text), times)
    np.testing.assert_allclose(motion["bar"].origin[0, 0], 1 + 0.4 * 4 * times, atol=ROUNDING)
    np.testing.assert_allclose(motion["bar"].origin[1, 0], 1.6, atol=ROUNDING)


@pytest.mark.parametrize("follower", ["point", "roller", "flat"])
def test_eccentric_disc_as_cam_moves_its_follower_as_known(tmp_path: Path, follower: str) -> None:
    end = {"point": "", "roller": ", radius = 0.3", "flat": ", direction = [1, 0]"}[follower]
    text = f"""
    space = "planar"
    [points]
    O = [0, 0]
    F = [0, 1.2]
    [bodies.frame]
    points = ["O"]
    [bodies.cam]
    points = ["O"]
    [bodies.lifter]
    points = ["F"]
    [joints]
    O = {{ type = "R", bodies = ["frame", "cam"], at = "O" }}
    G = {{ type = "P", bodies = ["frame", "lifter"], at = "F", axis = [0, 1] }}
    K = {{ type = "cam", bodies = ["cam", "lifter"], centre = "O", profile = "0.4*cos(u) + sqrt(1 - (0.4*sin(u))**2)",
          follower = {{ point = "F"{end} }} }}
    [drivers]
    theta = {{ joint = "O", angle = "3*t" }}
    """
    times = np.linspace(0, 2, 17)
    motion = follow(model(tmp_path, text.replace("\n          follower", " follower")), times)["lifter"]
    s, c, w = np.sin(3 * times), np.cos(3 * times), 3.0
    if follower == "flat":
        lift, rate = 1 + 0.4 * s, 0.4 * w * c
    else:
        reach = 1.3 if follower == "roller" else 1.0
        root = np.sqrt(reach**2 - (0.4 * c) ** 2)
        lift, rate = 0.4 * s + root, 0.4 * w * c + 0.16 * w * c * s / root
    np.testing.assert_allclose(motion.origin[0, 1], lift, atol=ROUNDING)
    np.testing.assert_allclose(motion.origin[1, 1], rate, atol=10 * ROUNDING)
    differences = np.gradient(rate, times, edge_order=2)
    # second-order differences with a step of 0.125: a coarse check of sign and size of the acceleration
    np.testing.assert_allclose(motion.origin[2, 1], differences, atol=0.1 * np.abs(differences).max())


def test_screw_advances_by_its_pitch_over_many_turns(tmp_path: Path) -> None:
    text = """
    space = "spatial"
    [points]
    O = [0, 0, 0]
    [bodies.frame]
    points = ["O"]
    [bodies.nut]
    points = ["O"]
    [joints]
    H = { type = "H", bodies = ["frame", "nut"], at = "O", axis = [1, 2, 2], pitch = 0.05 }
    [drivers]
    theta = { joint = "H", angle = "7*t" }
    """
    times = np.linspace(0, 3, 7)
    motion = follow(model(tmp_path, text), times)["nut"]
    axis = np.array([1, 2, 2]) / 3
    np.testing.assert_allclose(motion.origin[0], np.outer(axis, 0.05 * 7 * times), atol=ROUNDING)
    np.testing.assert_allclose(motion.omega, np.outer(axis, np.full(7, 7.0)), atol=10 * ROUNDING)


def test_universal_joint_between_two_shafts_is_not_uniform(tmp_path: Path) -> None:
    text = """
    space = "spatial"
    [parameters]
    beta = 0.6
    [points]
    O = [0, 0, 0]
    [bodies.frame]
    points = ["O"]
    [bodies.input]
    points = ["O"]
    [bodies.output]
    points = ["O"]
    [joints]
    A = { type = "C", bodies = ["frame", "input"], at = "O", axis = [1, 0, 0] }
    B = { type = "R", bodies = ["frame", "output"], at = "O", axis = ["cos(beta)", "sin(beta)", 0] }
    U = { type = "U", bodies = ["input", "output"], at = "O", axes = [[0, 0, 1], ["-sin(beta)", "cos(beta)", 0]] }
    [drivers]
    theta = { joint = "A", angle = "2*t" }
    """
    times = np.linspace(0, 3, 13)
    motion = follow(model(tmp_path, text), times)["output"]
    rate = motion.omega[0] * np.cos(0.6) + motion.omega[1] * np.sin(0.6)
    # the input's fork is normal to the plane of the shafts at the start, where the output is slowest
    expected = 2 * np.cos(0.6) / (1 - (np.sin(0.6) * np.sin(2 * times)) ** 2)
    np.testing.assert_allclose(rate, expected, atol=10 * ROUNDING)


def test_spatial_four_bar_keeps_its_lengths_and_its_rates_are_differences(tmp_path: Path) -> None:
    h = 1e-4
    times = np.sort(np.concatenate([np.linspace(0.1, 3, 6) + k * h for k in (-1, 0, 1)]))
    m = model(tmp_path, RSSR)
    motion = follow(m, times)
    ends = {}
    for body, point in (("crank", "B"), ("arm", "C"), ("coupler", "B"), ("coupler", "C")):
        ends[body, point] = motion[body].origin[0].T + motion[body].rotation @ m.bodies[body].points[point]
    np.testing.assert_allclose(ends["crank", "B"], ends["coupler", "B"], atol=ROUNDING)
    np.testing.assert_allclose(ends["arm", "C"], ends["coupler", "C"], atol=ROUNDING)
    np.testing.assert_allclose(np.linalg.norm(ends["arm", "C"] - ends["crank", "B"], axis=1), 3.6, atol=ROUNDING)
    omega, alpha = motion["coupler"].omega.T, motion["coupler"].alpha.T
    along = ends["coupler", "C"] - ends["coupler", "B"]
    np.testing.assert_allclose(np.sum(omega * along, axis=1), 0, atol=10 * ROUNDING)  # a rod does not spin
    np.testing.assert_allclose(alpha[1::3], (omega[2::3] - omega[0::3]) / (2 * h), atol=1e-5)  # h² of truncation
    arm = motion["arm"].omega.T
    velocity = np.cross(arm, ends["arm", "C"] - m.points["D"])
    differences = (ends["arm", "C"][2::3] - ends["arm", "C"][0::3]) / (2 * h)
    np.testing.assert_allclose(velocity[1::3], differences, atol=1e-5)
