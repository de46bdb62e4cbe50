"""Spatial groups -> specifications: counts, the assembled sketch, motion against the joints themselves, equal texts."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest

from assurgent.codegen.specification_reader import parse_spec
from assurgent.mechanism.plans.plan import Axes, Between
from assurgent.mechanism.plans.spatial_legs import plan_spatial_parts
from tests.motion.bound_plans import Bound, bound, sketched, whole
from tests.motion.spatial_sketches import CASES, EXACT, Array, Pose, Sketch


def violations(s: Sketch, poses: Mapping[str, Pose], values: Mapping[str, float]) -> Array:
    """Return by how much joints and drivers are violated, from the meaning of each joint alone."""
    found: list[float] = []
    for joint in s.joints.values():
        one, two = poses[joint.first], poses[joint.second]
        D = two.point(joint.b) - one.point(joint.a)
        n, m, v, u = one.rotation @ joint.axis_a, two.rotation @ joint.axis_b, one.rotation @ joint.normal_a, (
            two.rotation @ joint.normal_b
        )  # fmt: skip
        turn = math.atan2(float(n @ np.cross(v, u)), float(v @ u))
        if joint.kind in "RSU":
            found += list(D)
        if joint.kind == "U":
            found.append(float(n @ m))
        if joint.kind in ("R", "C", "P", "H", "planar"):
            found += list(n - m)
        if joint.kind in "CPH":
            found += list(np.cross(D, n))
        if joint.kind == "P":
            found += list(v - u)
        if joint.kind == "H":
            found.append(float(D @ n) - joint.pitch * turn)
        if joint.kind == "planar":
            found.append(float(D @ n))
        for driver in s.drivers.values():
            if driver.joint == joint.name:
                found.append(values[driver.name] - (turn if driver.kind == "angle" else float(D @ n)))
    for driver in s.drivers.values():
        if driver.ends is not None:
            P, Q = (poses[body].point(end) for body, end in zip(driver.bodies, driver.ends, strict=True))
            found.append(float(np.linalg.norm(P - Q)) - values[driver.name])
    return np.abs(found)


@pytest.mark.parametrize("name", CASES)
def test_the_sketch_is_assembled(name: str) -> None:
    b, case = bound(name), CASES[name]
    assert (len(b.spec.phi), len(b.constraint(b.plan.start, np.ones(len(b.spec.h))))) == (case.unknowns, case.rows)
    assert (len(b.plan.start), len(b.plan.parameters)) == (case.unknowns, len(b.spec.par))
    assert b.plan.coordinates == tuple(c.name for c in b.spec.independent)
    known = sketched(b.sketch)
    h = b.h(known, b.sketch.values)
    assert np.max(np.abs(b.constraint(b.plan.start, h))) < EXACT
    assert np.linalg.matrix_rank(b.jacobian(b.plan.start, h), tol=1e-6) == case.unknowns  # differences: 1e-10
    evaluate = b._evaluator(b.plan.start, h)
    assert all(abs(e) < EXACT for c in b.spec.admissible for e in evaluate.residual(c.equation))
    for body, pose in b.poses(b.plan.start, h, known).items():
        if isinstance(b.plan.placements[body], Axes):
            assert np.max(np.abs(pose.origin - known[body].origin)) < EXACT
            assert np.max(np.abs(pose.rotation - known[body].rotation)) < EXACT
        else:
            line = b.plan.placements[body]
            assert isinstance(line, Between)
            assert all(np.max(np.abs(pose.point(x) - known[body].point(x))) < EXACT for x in (line.p, line.q))


@pytest.mark.parametrize("name", CASES)
def test_the_motion_keeps_every_joint(name: str) -> None:
    """Known bodies and drivers move on; the bodies placed by the solved specification satisfy the joints' meaning."""
    b, case = bound(name), CASES[name]
    poses = sketched(b.sketch) | case.move(b.sketch)
    values = {driver: value + case.drive for driver, value in b.sketch.values.items()}
    h = b.h(poses, values)
    phi = b.solve(h)
    assert np.max(np.abs(b.constraint(phi, h))) < 1e-10  # the steps are those of differences
    after = poses | b.poses(phi, h, poses)
    assert np.max(violations(b.sketch, after, values)) < 1e-9
    for body in b.plan.placements:
        R = after[body].rotation
        if not b.sketch.bodies[body].rod:
            assert np.max(np.abs(R.T @ R - np.eye(3))) < 1e-9
            assert np.linalg.det(R) > 0
        assert np.max(np.abs(after[body].rotation - b.sketch.bodies[body].rotation)) < 1.5  # the same assembly


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("Stewart platform", [9, 4, 4, 4, 4, 4, 4]),
        ("legs of every make", [9, 4, 4, 4, 4]),
        ("U-S-R", [2, 4]),
        ("S-R-U", [6]),
        ("platform on six rods", [9]),
    ],
)
def test_legs_follow_the_platform(name: str, sizes: list[int]) -> None:
    """A platform on bars, then its legs one by one, move as all the bodies together do."""
    together, case = bound(name), CASES[name]
    s = together.sketch
    parts = [
        Bound(s, plan, parse_spec(whole(plan), "derived"))
        for plan in plan_spatial_parts(s.model(), "g1", "g", s.group, list(s.joints), list(s.drivers))
    ]
    assert [len(b.spec.phi) for b in parts] == sizes
    assert sorted(body for b in parts for body in b.plan.bodies) == sorted(s.group)
    assert sorted(joint for b in parts for joint in b.plan.joints) == sorted(s.joints)
    assert len({b.plan.specification for b in parts if b.plan.type == "U[P]S"}) <= 1
    sketch = sketched(s)
    for b in parts:
        h = b.h(sketch, s.values)
        assert len(b.constraint(b.plan.start, h)) == len(b.plan.start)
        assert np.max(np.abs(b.constraint(b.plan.start, h))) < EXACT
    poses = sketch | case.move(s)
    values = {driver: value + case.drive for driver, value in s.values.items()}
    h = together.h(poses, values)
    expected = together.poses(together.solve(h), h, poses)
    for b in parts:
        h = b.h(poses, values)
        phi = b.solve(h)
        assert np.max(np.abs(b.constraint(phi, h))) < 1e-10  # the steps are those of differences
        poses |= b.poses(phi, h, poses)
    assert np.max(violations(s, poses, values)) < 1e-9
    for body, pose in expected.items():
        if not s.bodies[body].rod:
            assert np.max(np.abs(pose.rotation - poses[body].rotation)) < 1e-9
