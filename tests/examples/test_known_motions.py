"""What is known of the motion of each example: closed forms, ratios, lengths."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from tests.examples.example_runs import EXAMPLES, at, model_of, results_of

EXACT = 1e-11  # closed forms in doubles, relative to numbers of order one


def circles(P: np.ndarray, p: float, Q: np.ndarray, q: float, side: float) -> np.ndarray:
    """Return where circles about P and Q meet, to the left (side 1) or right (-1) of the way from P to Q; n x 2."""
    d = np.linalg.norm(Q - P, axis=-1, keepdims=True)
    along = (Q - P) / d
    x = (d**2 + p**2 - q**2) / (2 * d)
    across = np.stack([-along[..., 1], along[..., 0]], axis=-1)
    return np.asarray(P + x * along + side * np.sqrt(p**2 - x**2) * across)


def unit(angle: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def test_four_bar_is_a_crank_rocker_with_the_swing_of_its_collinear_positions() -> None:
    a, b, c, d = 0.1, 0.3, 0.28, 0.35  # crank, coupler, rocker, frame
    assert a + d < b + c  # Grashof with the crank as the shortest: it turns fully
    assert results_of("four-bar").bodies["crank"].angle[-1] == pytest.approx(2 * np.pi, abs=EXACT)
    for reach, turn in ((b + a, 0.0), (b - a, np.pi)):  # crank and coupler in line: the rocker is at an end
        crank = np.arccos((reach**2 + d**2 - c**2) / (2 * reach * d)) + turn
        rocker = at("four-bar", [crank / (2 * np.pi)]).bodies["rocker"]
        expected = np.pi - np.arccos((c**2 + d**2 - reach**2) / (2 * c * d))
        assert rocker.angle[0] == pytest.approx(expected, abs=EXACT)
        assert abs(rocker.angular_velocity[0]) < EXACT


def test_slider_crank_has_the_stroke_of_an_offset_slider() -> None:
    r, length, e = 0.04, 0.14, 0.005
    results = results_of("slider-crank")
    theta = results.drivers["theta"].value
    x = r * np.cos(theta) + np.sqrt(length**2 - (r * np.sin(theta) - e) ** 2)
    np.testing.assert_allclose(results.points["B"].position[:, 0], x, atol=EXACT)


def test_quick_return_is_slow_out_and_quick_back() -> None:
    # the lever stands still where the crank is square to it: cos(angle between crank and line of centres) = r/d
    half, speed = np.arccos(0.1 / 0.25), 2 * np.pi * 40 / 60
    ends = sorted(((-np.pi / 2 + half) % (2 * np.pi), (-np.pi / 2 - half) % (2 * np.pi)))
    results = at("quick-return", [end / speed for end in ends])
    assert np.abs(results.bodies["lever"].angular_velocity).max() < EXACT * speed
    assert np.abs(results.points["R"].velocity).max() < EXACT
    out, back = 2 * np.pi - 2 * half, 2 * half
    assert out / back == pytest.approx((180 + 2 * 23.578178) / (180 - 2 * 23.578178), rel=1e-7)  # asin(0.4) in degrees


def test_jansen_foot_walks_flat() -> None:
    """The foot by intersections of circles; its step is long and level as Jansen chose it to be."""
    results, u = results_of("jansen-leg"), 0.01
    P = 15 * unit(results.drivers["theta"].value)
    Z = np.broadcast_to([-38.0, -7.8], P.shape)
    U = circles(P, 50.0, Z, 41.5, -1)
    V = circles(Z, 40.1, U, 55.8, 1)
    L = circles(P, 61.9, Z, 39.3, 1)
    W = circles(V, 39.4, L, 36.7, -1)
    F = circles(L, 49.0, W, 65.7, 1)
    foot = results.points["F"].position / u
    np.testing.assert_allclose(foot, F, atol=1e-10)
    on_ground = foot[foot[:, 1] < foot[:, 1].min() + 2.0]  # within 2 units (of a crank of 15) of the lowest place
    assert np.ptp(on_ground[:, 0]) > 0.8 * np.ptp(foot[:, 0])
    assert 60 < np.ptp(foot[:, 0]) < 80
    assert len(on_ground) > 0.5 * len(foot)


def test_klann_foot_goes_straight_for_half_a_turn() -> None:
    results, u = results_of("klann-leg"), 0.25
    foot = results.points["F"].position / u
    np.testing.assert_allclose(foot[0], [0, 0], atol=1e-12)  # the patent's first position
    np.testing.assert_allclose(foot[-1], foot[0], atol=1e-10)
    half = len(foot) // 2
    heights = np.array([np.ptp(np.roll(foot[:-1, 1], -k)[:half]) for k in range(len(foot) - 1)])
    assert heights.min() < 0.06 * np.ptp(foot[:, 0])
    assert np.ptp(foot[:, 1]) > 0.3 * np.ptp(foot[:, 0])  # and is lifted for the rest


def test_five_bar_tool_lies_on_two_circles() -> None:
    results = results_of("five-bar")
    B, D = results.points["B"].position, results.points["D"].position
    np.testing.assert_allclose(results.points["C"].position, circles(B, 0.4, D, 0.4, 1), atol=EXACT)


def test_pantograph_enlarges_by_its_ratio() -> None:
    results = results_of("pantograph")
    pen, tracer = results.points["P"], results.points["D"]
    np.testing.assert_allclose(pen.position, 2.5 * tracer.position, atol=EXACT)
    np.testing.assert_allclose(pen.velocity, 2.5 * tracer.velocity, atol=EXACT)
    np.testing.assert_allclose(pen.acceleration, 2.5 * tracer.acceleration, atol=1e-9)
    t = results.time
    ellipse = np.stack([0.14 + 0.03 * np.cos(2 * np.pi * t), 0.05 + 0.02 * np.sin(2 * np.pi * t)], axis=-1)
    np.testing.assert_allclose(tracer.position, ellipse, atol=EXACT)


def test_scissor_lift_keeps_its_platform_level() -> None:
    results = results_of("scissor-lift")
    assert np.abs(results.bodies["platform"].angle).max() < EXACT
    E, arm = results.points["E"].position, results.bodies["arm1"].angle
    np.testing.assert_allclose(E, np.stack([0 * arm, 2 * 1.6 * np.sin(arm)], axis=-1), atol=EXACT)
    assert np.ptp(E[:, 1]) > 1.0


def test_gear_of_the_linkage_turns_twice_as_fast_the_other_way() -> None:
    bodies = results_of("gear-linkage").bodies
    np.testing.assert_allclose(bodies["gear"].angular_velocity, -2 * bodies["crank"].angular_velocity, rtol=EXACT)
    assert bodies["gear"].angle[-1] - bodies["gear"].angle[0] == pytest.approx(-4 * np.pi, abs=EXACT)


def test_planetary_gear_has_the_ratios_of_willis() -> None:
    bodies = results_of("planetary-gear").bodies
    sun, carrier, planet = (bodies[b].angle - bodies[b].angle[0] for b in ("sun", "carrier", "planet"))
    np.testing.assert_allclose(carrier, sun * 24 / (24 + 60), atol=1e-10)
    np.testing.assert_allclose(planet - carrier, 60 / 18 * (0 - carrier), atol=1e-10)
    np.testing.assert_allclose(planet - carrier, -24 / 18 * (sun - carrier), atol=1e-10)


def test_rack_moves_by_the_arc_of_the_pinion_and_the_wheels_steer_one_way() -> None:
    results = results_of("rack-and-pinion")
    turn = results.bodies["pinion"].angle - results.bodies["pinion"].angle[0]
    rack = results.points["L"].position[:, 0]
    np.testing.assert_allclose(rack - rack[0], 0.02 * turn, atol=EXACT)
    left, right = (results.bodies[b].angle - results.bodies[b].angle[0] for b in ("left_wheel", "right_wheel"))
    np.testing.assert_allclose(left[50], -right[150], atol=1e-9)  # mirrored to the other side half a period later
    assert left[50] * right[50] > 0


def test_excavator_keeps_the_lengths_of_its_cylinders() -> None:
    results = results_of("excavator")
    for name, p, q in (("boom_cylinder", "B", "C"), ("stick_cylinder", "E", "S"), ("bucket_cylinder", "Q", "K")):
        way = results.points[q].position - results.points[p].position
        np.testing.assert_allclose(np.linalg.norm(way, axis=1), results.drivers[name].value, atol=EXACT)
    K, H = results.points["K"].position, results.points["H"].position
    np.testing.assert_allclose(np.linalg.norm(K - H, axis=1), np.hypot(0.1, 0.45), atol=EXACT)


def test_scotch_yoke_moves_as_a_sine() -> None:
    results = results_of("scotch-yoke")
    r, w, t = 0.05, 10 * np.pi, results.time
    rod = results.points["R"]
    np.testing.assert_allclose(rod.position[:, 0] - rod.position[0, 0], r * (np.cos(w * t) - 1), atol=EXACT)
    np.testing.assert_allclose(rod.acceleration[:, 0], -r * w**2 * np.cos(w * t), atol=1e-9)


def test_oldham_coupling_transmits_speed_and_its_disc_circles_twice_as_fast() -> None:
    results = results_of("oldham-coupling")
    bodies, gap = results.bodies, 0.006
    np.testing.assert_allclose(bodies["output"].angular_velocity, bodies["input"].angular_velocity, rtol=EXACT)
    centre = results.points["C"].position - [gap / 2, 0]
    np.testing.assert_allclose(centre, gap / 2 * unit(2 * results.drivers["theta"].value), atol=EXACT)


def test_scalable_four_bar_is_what_its_generator_writes() -> None:
    spec = importlib.util.spec_from_file_location("scalable_four_bar", EXAMPLES / "scalable_four_bar.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = module.scalable_four_bar(3, stop=0.36, step=0.001)
    made.name = "scalable-four-bar"
    comment, text = (EXAMPLES / "scalable-four-bar.toml").read_text("utf-8").split("\n", 1)
    assert comment.startswith("# ")
    assert text == made.text()
    assert len(module.scalable_four_bar(20).model().movable) == 41
    points = results_of("scalable-four-bar").points
    for i in (2, 3):  # rhombi: every pin moves as the one before, six metres further
        way = points[f"C{i}"].position - points[f"C{i - 1}"].position
        np.testing.assert_allclose(way, np.broadcast_to([6.0, 0.0], way.shape), atol=1e-10)


def test_watt_coupler_and_rocker_are_a_four_bar() -> None:
    results = results_of("watt-six-bar")
    B, D, E, F = (results.points[p].position for p in "BDEF")
    np.testing.assert_allclose(results.points["C"].position, circles(B, 0.24, D, 0.25, 1), atol=EXACT)
    np.testing.assert_allclose(results.points["G"].position, circles(E, 0.25, F, 0.25, 1), atol=EXACT)


def test_stephenson_crank_driven_back_gives_the_same_motion() -> None:
    """Solved from the other end it is two dyads: the rocker that was driven must come out as its driver said."""
    results, points = results_of("stephenson-six-bar"), model_of("stephenson-six-bar").points

    def length(p: str, q: str) -> float:
        return float(np.linalg.norm(points[p] - points[q]))

    A = results.points["A"].position
    B0, D0 = np.broadcast_to(points["B0"], A.shape), np.broadcast_to(points["D0"], A.shape)
    AB = circles(A, length("A", "B"), B0, length("B", "B0"), 1) - A
    z = complex(*(points["C"] - points["A"])) / complex(*(points["B"] - points["A"]))  # the plate's shape
    C = A + z.real * AB + z.imag * np.stack([-AB[:, 1], AB[:, 0]], axis=-1)
    D = circles(C, length("C", "D"), D0, length("D", "D0"), 1)
    np.testing.assert_allclose(D, D0 + length("D", "D0") * unit(results.drivers["eta"].value), atol=1e-10)


def test_cam_follower_rests_on_the_base_circle_and_reaches_its_lift() -> None:
    results = results_of("cam-follower")
    F = results.points["F"].position
    np.testing.assert_allclose(F[:, 0], 0, atol=1e-12)
    top = at("cam-follower", [0.05]).points["F"]  # the nose points upwards after half a turn
    assert top.position[0, 1] == pytest.approx(0.03 + 0.012 + 0.008, abs=1e-10)
    assert abs(top.velocity[0, 1]) < 1e-9
    assert F[0, 1] == pytest.approx(0.038, abs=1e-5)  # exp(-8) of the lift is left opposite the nose


def test_spatial_slider_crank_keeps_its_rod() -> None:
    results = results_of("spatial-slider-crank")
    theta = results.drivers["theta"].value
    y, z = 0.1 - 0.08 * np.sin(theta), 0.12 + 0.08 * np.cos(theta)
    np.testing.assert_allclose(results.points["C"].position[:, 0], np.sqrt(0.3**2 - y**2 - z**2), atol=EXACT)


def test_rssr_rocker_solves_its_displacement_equation() -> None:
    results = results_of("rssr")
    theta = results.drivers["theta"].value
    B = np.stack([0.05 * np.cos(theta), 0.05 * np.sin(theta), 0 * theta], axis=-1) - [0.1, 0.22, 0]
    # C = D + c (0, -sin psi, cos psi): B.C' is what the rod's length asks for, a sin psi + b cos psi = k
    c, rod = 0.18, 0.3
    a, b, k = -B[:, 1], B[:, 2], (np.sum(B**2, axis=1) + c**2 - rod**2) / (2 * c)
    C = results.points["C"].position - [0.1, 0.22, 0]
    psi = np.arctan2(-C[:, 1], C[:, 2])
    np.testing.assert_allclose(a * np.sin(psi) + b * np.cos(psi), k, atol=EXACT)
    np.testing.assert_allclose(np.linalg.norm(C, axis=1), c, atol=EXACT)
    np.testing.assert_allclose(C[:, 0], 0, atol=EXACT)


@pytest.mark.long
def test_universal_joint_has_the_speed_of_hooke() -> None:
    results, beta = results_of("universal-joint"), np.pi / 6
    joint, theta = results.joints["B"], results.drivers["theta"].value
    speed = 2 * np.pi * 10
    # theta counts from where the input's axis of the cross stands square to the plane of the shafts
    ratio = np.cos(beta) / (1 - np.sin(beta) ** 2 * np.sin(theta) ** 2)
    np.testing.assert_allclose(joint.rate, speed * ratio, rtol=1e-10)
    phi = joint.angle  # tan(phi) = tan(theta) cos(beta)
    np.testing.assert_allclose(np.sin(phi) * np.cos(theta), np.sin(theta) * np.cos(phi) * np.cos(beta), atol=EXACT)


@pytest.mark.long
def test_screw_jack_rises_by_its_lead() -> None:
    results = results_of("screw-jack")
    table, t = results.points["T"], results.time
    np.testing.assert_allclose(table.position - table.position[0], np.outer(0.004 * 1.5 * t, [0, 0, 1]), atol=EXACT)
    assert np.abs(results.bodies["table"].angular_velocity).max() < 1e-10


@pytest.mark.long
def test_bennett_half_angles_keep_their_ratio() -> None:
    results = results_of("bennett")
    a, b, alpha, phi = 0.2, 0.12, np.pi / 3, 1.0
    beta = np.arcsin(b / a * np.sin(alpha))
    ratio = (b * np.cos(alpha) - a * np.cos(beta)) / (b - a)
    crank = phi + results.joints["A"].angle
    rocker = 2 * np.arctan(ratio * np.tan(phi / 2)) + results.joints["D"].angle
    np.testing.assert_allclose(
        np.sin(rocker / 2) * np.cos(crank / 2), ratio * np.sin(crank / 2) * np.cos(rocker / 2), atol=1e-10
    )


@pytest.mark.long
def test_stewart_platform_moves_alike_with_legs_as_bodies_and_as_lengths() -> None:
    bars, legs = results_of("stewart-platform"), results_of("stewart-platform-ups")
    np.testing.assert_allclose(bars.points["P"].position, legs.points["P"].position, atol=1e-10)
    np.testing.assert_allclose(bars.bodies["platform"].rotation, legs.bodies["platform"].rotation, atol=1e-10)
    for i in range(1, 7):
        length = np.linalg.norm(bars.points[f"B{i}"].position - bars.points[f"A{i}"].position, axis=1)
        np.testing.assert_allclose(length, bars.drivers[f"leg{i}"].value, atol=EXACT)


def test_bricard_angles_follow_the_threefold_closure() -> None:
    """Angles of every other hinge are alike, and cos a + cos b + cos a cos b = 0 with twists of a right angle."""
    results = results_of("bricard")
    angle = {name: joint.angle for name, joint in results.joints.items()}
    # at the cube all hinges stand at a right angle, from where joint angles count
    a, b = -np.sin(angle["A"]), -np.sin(angle["B"])
    assert np.abs(a + b + a * b).max() < 1e-13
    assert np.ptp(angle["B"]) > 0.5
    for one, others in (("A", "CE"), ("B", "DF")):
        for other in others:
            assert np.abs(np.abs(angle[one]) - np.abs(angle[other])).max() < 1e-12
