"""Points, bodies and joints measured on given motions, against closed forms and differences."""

import numpy as np
import pytest

from assurgent.mechanism.model import Body, Driver, Member, Model
from assurgent.motion.measure import BodyMotion, measure

TIMES = np.linspace(0.0, 2.0, 401)


def wave(a, b, c, w, t=TIMES):
    """a + b t + c sin(w t) with two derivatives, 3 x n."""
    return np.stack([a + b * t + c * np.sin(w * t), b + c * w * np.cos(w * t), -c * w**2 * np.sin(w * t)])


def differences(x, t=TIMES):
    """Central differences of fourth order over an even grid, without the two values at each end."""
    dt = t[1] - t[0]
    return (x[:-4] - 8 * x[1:-3] + 8 * x[3:-1] - x[4:]) / (12 * dt)


def assert_derivative(x, x_dot, t=TIMES, share=1e-6):
    # error of the differences: dt⁴/30 times the fifth derivative, here at most some 1e4; whole mechanisms move over
    # coarser steps (1/120 of a turn) with higher harmonics, and say so by their share
    scale = max(1.0, float(np.max(np.abs(x_dot))))
    np.testing.assert_allclose(differences(x, t), x_dot[2:-2], atol=share * scale, rtol=0)


def planar_model(joints, bodies, drivers=None):
    points = {p: b.outside(x) for b in bodies for p, x in b.points.items()}
    return Model("m", "planar", points, {b.name: b for b in bodies}, {j.name: j for j in joints}, drivers or {})


def flat_body(name, angle=0.0, origin=(0, 0), points=None, members=()):
    c, s = np.cos(angle), np.sin(angle)
    return Body(name, points or {}, np.array(origin, float), np.array([[c, -s], [s, c]]), members=members)


def chain(first_omega_axis, q, samples, axis, offset, t=TIMES):
    """A body that turns unevenly about a fixed axis and travels; and one that turns by q about an axis of the first."""
    theta = wave(0.2, 0.7, 0.5, 2.0, t)
    e = np.asarray(first_omega_axis, float) / np.linalg.norm(first_omega_axis)
    R = np.stack([samples.turn(e, x) for x in theta[0]])
    origin = np.stack([wave(0.1, 0.3, 0.2, 3.0, t), wave(-1, 0.1, 0.4, 2.0, t), wave(0.5, -0.2, 0.1, 4.0, t)], axis=1)
    one = BodyMotion(origin, rotation=R, omega=np.outer(e, theta[1]), alpha=np.outer(e, theta[2]))
    u, u_dot, _ = one.vector(axis)
    second = np.stack([samples.turn(axis, x) for x in q[0]])
    omega = one.omega + u * q[1]
    alpha = one.alpha + u_dot * q[1] + u * q[2]
    place, v, a = one.point(offset)
    return one, BodyMotion(np.stack([place, v, a]), rotation=R @ second, omega=omega, alpha=alpha)


def test_planar_points_move_as_their_differences_say(samples):
    body = flat_body("b", points={"P": np.array([0.7, -0.4])})
    origin = np.stack([wave(0.3, 1.0, 0.5, 3.0), wave(0.0, -0.4, 0.3, 2.0)], axis=1)
    motion = BodyMotion(origin, angle=wave(0.4, 2.0, 0.6, 3.0))
    points, _, _, _ = measure(planar_model([], [flat_body("frame"), body]), {"b": motion}, TIMES, {})
    P = points["P"]
    theta = motion.angle[0]
    expected = origin[0, 0] + 0.7 * np.cos(theta) + 0.4 * np.sin(theta)
    np.testing.assert_allclose(P.position[:, 0], expected, atol=1e-14)  # rounding
    assert_derivative(P.position, P.velocity)
    assert_derivative(P.velocity, P.acceleration)


def test_spatial_points_move_as_their_differences_say(samples):
    axis = np.array([2, -1, 2]) / 3
    _, two = chain([1, 2, 2], wave(0.0, 3.0, 0.4, 2.0), samples, axis, np.array([0.4, 0.1, -0.3]))
    body = Body("b", {"P": np.array([0.3, -0.8, 0.5])}, np.zeros(3), np.eye(3))
    frame = Body("frame", {}, np.zeros(3), np.eye(3))
    model = Model("m", "spatial", {"P": np.zeros(3)}, {"frame": frame, "b": body}, {}, {})
    points, bodies, _, _ = measure(model, {"b": two}, TIMES, {})
    assert_derivative(points["P"].position, points["P"].velocity)
    assert_derivative(points["P"].velocity, points["P"].acceleration)
    assert bodies["b"].rotation.shape == (len(TIMES), 3, 3)
    np.testing.assert_array_equal(bodies["b"].rotation[7], two.rotation[7])


@pytest.mark.parametrize("kind", ["R", "C"])
def test_spatial_angle_is_the_turn_that_made_the_motion(samples, kind):
    q = wave(0.0, 9.0, 0.8, 3.0)  # several turns: it must not jump
    axis = np.array([2, -1, 2]) / 3
    normal = np.array([1, 2, 0]) / 5**0.5
    a = np.array([0.4, 0.1, -0.3])
    one, two = chain([1, 2, 2], q, samples, axis, a)
    if kind == "C":  # slide along the axis as well, as seen from the first body
        s = wave(0.25, 0.3, 0.1, 5.0)
        u, u_dot, u_ddot = one.vector(axis)
        slide = np.stack([u * s[0], u_dot * s[0] + u * s[1], u_ddot * s[0] + 2 * u_dot * s[1] + u * s[2]])
        two = BodyMotion(two.origin + slide, rotation=two.rotation, omega=two.omega, alpha=two.alpha)
    joint = samples.joint("J", kind, "a", "b", "P", a, np.zeros(3), axis, axis, normal_a=normal, normal_b=normal)
    eye = np.eye(3)
    bodies = [Body("frame", {}, np.zeros(3), eye), Body("a", {"P": a}, np.zeros(3), eye), Body("b", {}, a, eye)]
    model = Model("m", "spatial", {"P": a}, {b.name: b for b in bodies}, {"J": joint}, {})
    series = measure(model, {"a": one, "b": two}, TIMES, {})[2]["J"]
    # rounding of some twenty operations on numbers of size 20 (angle), 12 and 20 (rates)
    np.testing.assert_allclose(series.angle, q[0], atol=1e-13)
    np.testing.assert_allclose(series.rate, q[1], atol=1e-13)
    np.testing.assert_allclose(series.acceleration, q[2], atol=1e-12)
    if kind == "C":
        np.testing.assert_allclose(series.displacement, s[0], atol=1e-14)
        np.testing.assert_allclose(series.displacement_rate, s[1], atol=1e-13)
        np.testing.assert_allclose(series.displacement_acceleration, s[2], atol=1e-12)
    else:
        assert series.displacement is None


def test_spatial_angle_follows_its_rate_over_wide_gaps(samples):
    t = np.array([0.0, 0.5, 1.1, 1.6])
    q = wave(0.0, 9.0, 0.1, 1.0, t)  # up to 5.4 rad from one instant to the next
    axis, normal = np.array([0, 0, 1.0]), np.array([1.0, 0, 0])
    one, two = chain([1, 2, 2], q, samples, axis, np.zeros(3), t)
    zero = np.zeros(3)
    joint = samples.joint("J", "R", "a", "b", "P", zero, zero, axis, axis, normal_a=normal, normal_b=normal)
    bodies = {n: Body(n, {}, np.zeros(3), np.eye(3)) for n in ("frame", "a", "b")}
    model = Model("m", "spatial", {}, bodies, {"J": joint}, {})
    series = measure(model, {"a": one, "b": two}, t, {})[2]["J"]
    np.testing.assert_allclose(series.angle, q[0], atol=1e-13)


def test_a_driven_spatial_angle_equals_its_driver_at_single_instants(samples):
    t = np.array([0.0, 4.0])
    q = wave(11.0, 9.0, 0.1, 1.0, t)
    axis, normal = np.array([0, 0, 1.0]), np.array([1.0, 0, 0])
    one, two = chain([1, 2, 2], q, samples, axis, np.zeros(3), t)
    zero = np.zeros(3)
    joint = samples.joint("J", "R", "a", "b", "P", zero, zero, axis, axis, normal_a=normal, normal_b=normal)
    bodies = {n: Body(n, {}, np.zeros(3), np.eye(3)) for n in ("frame", "a", "b")}
    driver = Driver("theta", "angle", samples.Linear(0, 0), joint="J", bodies=("a", "b"))
    model = Model("m", "spatial", {}, bodies, {"J": joint}, {"theta": driver})
    series = measure(model, {"a": one, "b": two}, t, {"theta": np.vstack([q, 0 * t])})[2]["J"]
    np.testing.assert_allclose(series.angle, q[0], atol=1e-13)


@pytest.mark.parametrize("kind", ["P", "slot"])
def test_planar_slide_is_seen_from_the_first_body(samples, kind):
    turned = 0.3
    origin = np.stack([wave(0, 0.5, 0.2, 3.0), wave(1, 0.1, 0.3, 2.0)], axis=1)
    one = BodyMotion(origin, angle=wave(0.1, 2.0, 0.5, 2.0))
    s = wave(0.4, 0.6, 0.2, 4.0)
    axis, a = np.array([0.6, 0.8]), np.array([0.2, -0.1])
    u, u_dot, u_ddot = one.vector(axis)
    on_line = np.stack(one.point(a)) + np.stack(
        [u * s[0], u_dot * s[0] + u * s[1], u_ddot * s[0] + 2 * u_dot * s[1] + u * s[2]]
    )
    two = BodyMotion(on_line, angle=one.angle + np.array([[turned], [0], [0]]))
    joint = samples.joint("J", kind, "a", "b", "P", a, np.zeros(2), axis, axis, angle=turned)
    model = planar_model([joint], [flat_body("frame"), flat_body("a"), flat_body("b", turned)])
    series = measure(model, {"a": one, "b": two}, TIMES, {})[2]["J"]
    np.testing.assert_allclose(series.displacement, s[0], atol=1e-14)  # rounding only, also below
    np.testing.assert_allclose(series.rate, s[1], atol=1e-13)
    np.testing.assert_allclose(series.acceleration, s[2], atol=1e-12)
    assert series.angle is None


def test_planar_angles_start_within_half_a_turn_or_equal_their_driver(samples):
    q = wave(7.5, 3.0, 0.4, 2.0)
    free = wave(5.0, -1.0, 0.2, 2.0)
    hinge = samples.joint("A", "R", "frame", "crank", "A", angle=7.5)
    joint = samples.joint("B", "R", "crank", "rod", "B", angle=5.0 - 7.5)
    driver = Driver("theta", "angle", samples.Linear(0, 0), joint="A", bodies=("frame", "crank"))
    model = planar_model(
        [hinge, joint], [flat_body("frame"), flat_body("crank", 7.5), flat_body("rod", 5.0)], {"theta": driver}
    )
    zero = np.zeros((3, 2, len(TIMES)))
    wrapped = q.copy()
    wrapped[0] -= 2 * np.pi  # a solver may have begun a turn lower
    motions = {"crank": BodyMotion(zero, angle=wrapped), "rod": BodyMotion(zero, angle=free)}
    _, bodies, joints, drivers = measure(model, motions, TIMES, {"theta": np.vstack([q, 0 * TIMES])})
    np.testing.assert_allclose(bodies["crank"].angle, q[0], atol=1e-14)
    np.testing.assert_allclose(joints["A"].angle, q[0], atol=1e-14)
    np.testing.assert_array_equal(drivers["theta"].value, q[0])
    np.testing.assert_allclose(bodies["rod"].angle, free[0] - 2 * np.pi, atol=1e-14)
    np.testing.assert_allclose(joints["B"].angle, free[0] - q[0], atol=1e-14)  # starts at -2.5
    np.testing.assert_allclose(joints["B"].acceleration, free[2] - q[2], atol=1e-14)


def test_a_start_at_minus_pi_is_pi(samples):
    model = planar_model([], [flat_body("frame"), flat_body("b", np.pi)])
    for start in (-np.pi, np.pi, 3 * np.pi, -np.pi + 1e-15):
        motion = BodyMotion(np.zeros((3, 2, 1)), angle=np.array([[start], [0], [0]]))
        angle = measure(model, {"b": motion}, np.zeros(1), {})[1]["b"].angle[0]
        assert angle == pytest.approx(np.pi, abs=1e-14)


def test_welded_bodies_have_their_own_axes(samples):
    c, s = np.cos(0.4), np.sin(0.4)
    turned = np.array([[c, -s], [s, c]])
    body = flat_body(
        "a",
        points={"P": np.array([1.0, 0])},
        members=(Member("a", np.zeros(2), np.eye(2)), Member("b", np.array([1.0, 0]), turned)),
    )
    motion = BodyMotion(np.zeros((3, 2, len(TIMES))), angle=wave(0.1, 2.0, 0.3, 2.0))
    hinge = samples.joint("A", "R", "frame", "a", "A")
    driver = Driver("theta", "angle", samples.Linear(0, 0), joint="A", bodies=("frame", "a"))
    model = planar_model([hinge], [flat_body("frame"), body], {"theta": driver})
    value = wave(0.1, 2.0, 0.3, 2.0) + np.array([[2 * np.pi], [0], [0]])
    _, bodies, joints, _ = measure(model, {"a": motion}, TIMES, {"theta": np.vstack([value, 0 * TIMES])})
    assert list(bodies) == ["a", "b"]
    np.testing.assert_allclose(joints["A"].angle, value[0], atol=1e-14)
    np.testing.assert_allclose(bodies["a"].angle, value[0], atol=1e-14)
    np.testing.assert_allclose(bodies["b"].angle, value[0] + 0.4, atol=1e-14)  # driven with it, its axes 0.4 ahead
    np.testing.assert_array_equal(bodies["b"].angular_velocity, motion.angle[1])


def test_slider_crank_against_its_closed_form(samples):
    model = samples.slider_crank()
    results = samples.run(model)
    t = results.time
    q = 34.9 * t
    beta = np.arcsin((1 - 2 * np.sin(q)) / 6)
    # Newton to 1e-13 of lengths near 10, and angles of the rod from it
    np.testing.assert_allclose(results.points["C"].position[:, 0], 2 * np.cos(q) + 6 * np.cos(beta), atol=1e-11)
    np.testing.assert_allclose(results.joints["guide"].displacement, results.points["C"].position[:, 0], atol=1e-11)
    np.testing.assert_allclose(results.joints["B"].angle, beta - q, atol=1e-11)
    np.testing.assert_allclose(results.joints["A"].angle, q, atol=1e-12)
    assert_derivative(results.joints["guide"].displacement, results.joints["guide"].rate, t, share=1e-4)
    assert_derivative(results.bodies["rod"].angle, results.bodies["rod"].angular_velocity, t, share=1e-4)
    assert set(results.points) == {"A", "B", "C", "E", "G"}
    assert "frame" not in results.bodies


def test_spatial_four_bar_keeps_its_lengths_and_its_angle(samples):
    model, motions, times = samples.rssr()
    results = samples.results_of(model, motions, times)
    B, C = results.points["B"].position, results.points["C"].position
    np.testing.assert_allclose(np.linalg.norm(C - B, axis=1), model.bodies["rod"].points["C"][0], atol=1e-12)
    np.testing.assert_allclose(results.joints["A"].angle, 2 * times, atol=1e-12)
    assert results.joints["D"].angle[0] == pytest.approx(0, abs=1e-14)
    assert_derivative(results.joints["D"].angle, results.joints["D"].rate, times, share=1e-4)
    assert_derivative(results.joints["D"].rate, results.joints["D"].acceleration, times, share=1e-4)
    assert_derivative(results.points["C"].velocity, results.points["C"].acceleration, times, share=1e-4)
    # a rod has no spin of its own
    spin = np.sum(results.bodies["rod"].angular_velocity * (C - B), axis=1)
    np.testing.assert_allclose(spin, 0, atol=1e-12)
    assert list(results.joints) == ["A", "D"]  # S has no coordinate
