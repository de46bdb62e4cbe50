"""Joints as they are read: axes, points of both bodies, gears, racks and rods."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assurgent.common.errors import InputError
from assurgent.mechanism import geometry
from tests.mechanism.reader_samples import FOUR_BAR, GEARS, SPATIAL, near, read


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
