"""One topology, one text; what the generator makes of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assurgent.codegen.specification_reader import parse_spec
from assurgent.mechanism.model import FRAME, Model
from assurgent.mechanism.plans.plan import GroupPlan
from assurgent.mechanism.plans.spatial import plan_spatial
from assurgent.mechanism.plans.spatial_legs import plan_spatial_parts
from tests.motion.bound_plans import Bound, bound, sketched, whole
from tests.motion.spatial_sketches import CASES, EXACT, Sketch, Z, moved


# ---- one topology, one text ---------------------------------------------------------------------------------------
def disguised(s: Sketch) -> GroupPlan:
    """Plan the same group with every name changed and every table of the model in another order."""
    names = {name: name if name == FRAME else f"z{len(s.bodies) - i}" for i, name in enumerate(s.bodies)}
    bodies = {names[n]: replace(b, name=names[n], points={"q": np.ones(3)}) for n, b in reversed(s.bodies.items())}
    joints = {
        f"k{n}": replace(j, name=f"k{n}", first=names[j.first], second=names[j.second])
        for n, j in reversed(s.joints.items())
    }
    drivers = {
        f"w{n}": replace(d, name=f"w{n}", joint=d.joint and f"k{d.joint}", bodies=tuple(names[b] for b in d.bodies))
        for n, d in reversed(s.drivers.items())
    }
    model = Model("other", "spatial", {}, bodies, joints, drivers)
    order = [names[b] for b in s.group], [f"k{j}" for j in s.joints], [f"w{d}" for d in s.drivers]
    return plan_spatial(model, "other", "g", *order)


@pytest.mark.parametrize("name", CASES)
def test_equal_topologies_have_equal_texts(name: str) -> None:
    plain, other = Sketch(), Sketch(seed=11, shuffled=True)  # other axes, and joints seen from the other body
    CASES[name].build(plain)
    CASES[name].build(other)
    first, second = plain.plan(), disguised(other)
    assert first.specification == second.specification
    assert first.coordinates == second.coordinates
    assert len(first.parameters) == len(second.parameters)


def test_other_topologies_have_other_texts() -> None:
    texts = {bound(name).plan.specification for name in CASES}
    same = {"driven crank, reversed", "driven slide, reversed", "Bennett"}  # of a crank, a slide and a four-bar
    assert len(texts) == len(CASES) - len(same)


def test_a_centre_on_the_axis_keeps_the_text() -> None:
    """A rod that ends on the rocker's axis has no lever arm; that is a number and not another type."""
    s = Sketch()
    s.body("rocker")
    s.rod("rod", "crank", (0.3, 0.2, 0.5), "rocker", (2, 0, 1.3))
    s.joint("R", FRAME, "rocker", (2, 0, 0.3), Z)
    b = Bound.of(s)
    assert b.plan.specification == bound("RSSR").plan.specification
    assert np.max(np.abs(b.constraint(b.plan.start, b.h(sketched(s), {})))) < EXACT
    assert b.plan.parameters[0] == pytest.approx(0.0, abs=EXACT)


@pytest.mark.parametrize(
    ("name", "points", "parameters"),
    [
        ("RSSR", 2, 2),  # two vectors of the rocker's triad, the third is the axis; rod and rocker have one length each
        ("rod and slider", 1, 1),  # the slider's centre; its axes are those of the rail
        ("driven crank", 2, 0),
        ("driven slide", 1, 0),
        ("platform on six rods", 1, 6 + 5 * 3),  # the product of two unknown axes; one end is the platform's own point
        ("three rods meet", 0, 3),
    ],
)
def test_only_what_no_row_holds_is_a_point(name: str, points: int, parameters: int) -> None:
    """Origins and axes are combinations of coordinates and points with numbers: they add nothing to the type."""
    spec = bound(name).spec
    assert (len(spec.points), len(spec.par)) == (points, parameters)


# ---- what the generator makes of it -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "branches"),
    [
        ("RSSR", 1),
        ("rod and slider", 1),
        ("strut", 1),
        ("three rods meet", 1),
        ("driven crank", 0),
        ("driven slide", 0),
    ],
)
def test_closed_forms_are_found(name: str, branches: int) -> None:
    from assurgent.codegen.closedform import find_closed_form
    from assurgent.codegen.derive import derive

    found = find_closed_form(derive(bound(name).spec))
    assert found is not None
    assert len(found.branches) == branches


def test_a_leg_has_a_closed_form() -> None:
    from assurgent.codegen.closedform import find_closed_form
    from assurgent.codegen.derive import derive

    s = bound("Stewart platform").sketch
    leg = plan_spatial_parts(s.model(), "g1", "g", s.group, list(s.joints), list(s.drivers))[1]
    found = find_closed_form(derive(parse_spec(whole(leg), "derived")))
    assert found is not None
    assert len(found.branches) == 1  # the side to which the second axis points


def test_generated_rssr_moves_as_the_library_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The derived type, generated and verified, and the shipped RSSR put the rocker's end at the same place."""
    import assurgent
    from assurgent.runtime.library_build import generate_type

    monkeypatch.setenv("ASSURGENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ASSURGENT_DATA", str(tmp_path / "data"))
    b = bound("RSSR")
    made = generate_type(b.spec)
    assert made.verification is not None
    assert made.verification.passed
    poses = sketched(b.sketch) | moved(b.sketch)
    h = b.h(poses, {})
    phi = assurgent.load("derived").position(
        dict(zip(b.spec.h, h, strict=True)),
        dict(zip(b.spec.par, b.plan.parameters, strict=True)),
        start=b.plan.start,
    )
    rocker = b.poses(np.asarray(phi), h, poses)["rocker"]
    joint, rod = b.sketch.joints["R2"], b.sketch.joints["S0"]
    centre, axis = poses[FRAME].point(joint.a), poses[FRAME].rotation @ joint.axis_a
    C = np.array([1.5, 0.4, 1.1])  # in the sketch
    foot = centre + axis * (axis @ (C - centre))
    B, length = poses["crank"].point(rod.a), float(np.linalg.norm(C - [0.3, 0.2, 0.5]))
    known = {"B": B, "D": foot, "n": axis}
    shipped = assurgent.load("RSSR").position(known, {"L_BC": length, "L_CD": np.linalg.norm(C - foot)}, start=C)
    assert np.max(np.abs(np.asarray(shipped) - rocker.point(b.sketch.joints["S1"].b))) < EXACT
