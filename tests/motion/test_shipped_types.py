"""Ordinary groups bind to shipped types: what the planners write has the signature of a shipped specification."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from assurgent.codegen.signature import signature
from assurgent.mechanism.plans.plan import GroupPlan
from assurgent.mechanism.plans.planning import plan_groups, studied
from assurgent.mechanism.reader import loads
from assurgent.motion.kinematics import run
from assurgent.runtime.library import manifest

# Joints as "name type first second at" with axis and through in front of a driver; points as "A x y (z)".
CRANK = "A R frame crank A; "
FOUR_BAR = ("A 0 0; B 0 2; C 5 5; D 6 0", CRANK + "B R crank rod B; C R rod rocker C; D R frame rocker D")
SLIDER_CRANK = (
    "A 0 0; B 0 2; C 5 0",
    CRANK + "B R crank rod B; C R rod slider C; D P frame slider C axis 1 0",
)
QUICK_RETURN = (
    "A 0 0; B 0.5 2; D 3 0",
    CRANK + "B R crank block B; C P lever block B axis -2.5 2 through D; D R frame lever D",
)
SCOTCH_YOKE = (
    "A 0 0; B 1 1; C 1 2",
    CRANK + "B R crank block B; C P yoke block B axis 0 1 through C; D P frame yoke C axis 1 0",
)
WEDGE = (
    "A 0 0; E 0 1; C 2 1",
    "A P frame wedge E axis 0 1 through A; B P wedge one C axis 1 0; C R one two C; D P frame two C axis 2 1",
)
CYLINDER = (
    "A 0 0; B 2 1; C 3 0",
    "A R frame tube A; p P tube piston B axis 2 1 through A; B R piston arm B; C R frame arm C",
)
TRIAD = (
    "O -1 0; A 0 0; B 4 0; C 2 4; D 1 1; E 3 1; F 2 3",
    "O R frame crank O; A R crank l1 A; B R frame l2 B; C R frame l3 C; D R plate l1 D; E R plate l2 E; F R plate l3 F",
)
RSSR = (
    "A 0 0 0; B 0.3 0.2 0.5; C 1.5 0.4 1.1; D 2 0 0.3",
    "A R frame crank A axis 0 0 1; B S crank rod B; C S rod rocker C; D R frame rocker D axis 0.2 1 0.3",
)
RSSP = (
    "A 0 0 0; B 0.3 0.2 0.5; C 1.5 0.4 0.1",
    "A R frame crank A axis 0 0 1; B S crank rod B; C S rod slider C; D P frame slider C axis 1 0.2 -0.1",
)
PSSR = (
    "A 0 0 0; B 0.3 0.2 0.5; C 1.5 0.4 1.1; D 2 0 0.3",
    "A P frame ram B axis 0 0.3 1 through A; B S ram rod B; C S rod rocker C; D R frame rocker D axis 0.2 1 0.3",
)
FEET = ((2.0, 0.3, 0.0), (-0.8, 1.9, 0.0), (-1.3, 1.6, 0.1), (-1.4, -1.5, 0.0), (-0.7, -1.9, 0.2), (1.9, -0.4, 0.0))
HEADS = ((0.7, 0.8, 1.5), (0.4, 1.0, 1.6), (-1.0, 0.2, 1.5), (-1.1, -0.2, 1.4), (0.3, -1.0, 1.5), (0.7, -0.7, 1.7))


def stewart() -> tuple[str, str]:
    """Return a platform on six legs, whose universal joints stand as they like."""
    points, joints = [], []
    for i, ((a, b, c), (x, y, z)) in enumerate(zip(FEET, HEADS, strict=True)):
        points += [f"F{i} {a} {b} {c}", f"H{i} {x} {y} {z}"]
        way = x - a, y - b, z - c
        axes = f"axes {-way[1]} {way[0]} 0 {-way[0] * way[2]} {-way[1] * way[2]} {way[0] ** 2 + way[1] ** 2}"
        joints += [
            f"U{i} U frame low{i} F{i} {axes}",
            f"P{i} P low{i} high{i} H{i} axis {way[0]} {way[1]} {way[2]} through F{i}",
            f"S{i} S high{i} top H{i}",
        ]
    return "; ".join(points), "; ".join(joints)


def numbers(words: list[str]) -> str:
    return "[" + ", ".join(words) + "]"


def mechanism(parts: tuple[str, str], *drivers: str, swapped: bool = False) -> str:
    """Return a mechanism file; `swapped`: with other names, and spherical and revolute joints from the other body."""
    points = [p.split() for p in parts[0].split("; ")]
    joints = [j.split() for j in parts[1].split("; ")]
    d = len(points[0]) - 1
    prefix = "z" if swapped else "b"
    bodies: dict[str, list[str]] = {}
    lines = []
    for name, kind, first, second, at, *rest in joints:
        one, two = (b if b == "frame" else f"{prefix}{b}" for b in (first, second))
        for body in (one, two) if kind != "P" else (two,):
            bodies.setdefault(body, []).append(at)
        bodies.setdefault(one, [])
        fields = ""
        if "through" in rest:
            i = rest.index("through")
            bodies[one].append(rest[i + 1])
            fields, rest = f', through = "{rest[i + 1]}"', rest[:i]
        if rest:
            values = rest[1:]
            text = numbers(values) if len(values) == d else f"[{numbers(values[:d])}, {numbers(values[d:])}]"
            fields += f", {rest[0]} = {text}"
        if swapped and kind in "RS":
            one, two = two, one
        lines.append(f'{name} = {{ type = "{kind}", bodies = ["{one}", "{two}"], at = "{at}"{fields} }}')
    rows = [
        f'format = 1\nname = "m"\nspace = "{"planar" if d == 2 else "spatial"}"\n[points]',
        *(f"{name} = {numbers(place)}" for name, *place in points),
        *(f"[bodies.{b}]\npoints = {list(dict.fromkeys(ps))}" for b, ps in bodies.items()),
        "[joints]",
        *lines,
        "[drivers]",
        *(f"q{i} = {{ {driver} }}" for i, driver in enumerate(drivers)),
        "[simulation]\nstart = 0\nstop = 1\nstep = 0.1",
    ]
    return "\n".join(rows)


TURN = 'joint = "A", angle = "t"'
CASES = {
    "four-bar": (FOUR_BAR, (TURN,), ["R", "RRR"]),
    "slider-crank": (SLIDER_CRANK, (TURN,), ["R", "RRP"]),
    "quick return": (QUICK_RETURN, (TURN,), ["R", "RPR"]),
    "Scotch yoke": (SCOTCH_YOKE, (TURN,), ["R", "RPP"]),
    "wedge": (WEDGE, ('joint = "A", displacement = "1 + t"',), ["P", "PRP"]),
    "bar and cylinder": (CYLINDER, ('joint = "p", displacement = "2.2 + 0.1*t"',), ["RR[P]R"]),
    "triad": (TRIAD, ('joint = "O", angle = "t"',), ["R", "triad-6R"]),
    "RSSR": (RSSR, (TURN,), ["R-spatial", "SSR"]),
    "RSSP": (RSSP, (TURN,), ["R-spatial", "SSP"]),
    "PSSR": (PSSR, ('joint = "A", displacement = "0.5 + 0.1*t"',), ["P-spatial", "SSR"]),
}


ROOT = Path(__file__).parents[2]
FILES = {
    "tests/data/spatial/wishbone.toml": ["R-spatial", "wishbone"],
    "tests/data/spatial/mcpherson.toml": ["R-spatial", "mcpherson"],
    "tests/data/spatial/delta.toml": ["R-spatial"] * 3 + ["platform-rods"],
    "tests/data/spatial/sarrus.toml": ["R-spatial", "RRRRR-spatial"],
    "examples/bricard.toml": ["R-spatial", "RRRRR-spatial"],
    "examples/schatz.toml": ["R-spatial", "RRRRR-spatial"],
    "examples/bennett.toml": ["R-spatial", "RRR-spatial"],
    "tests/data/spatial/spherical-four-bar.toml": ["R-spatial", "RRR-spatial"],
    "examples/stewart-platform.toml": ["platform-distances"],
    "examples/stewart-platform-ups.toml": ["platform-U[P]S"] + ["leg-U[P]S"] * 6,
}


def plans(text: str) -> list[GroupPlan]:
    model = loads(text, "m.toml")
    found = plan_groups(model, studied(model))
    assert all(isinstance(p, GroupPlan) for p in found)
    return [p for p in found if isinstance(p, GroupPlan)]


def shipped(plan: GroupPlan) -> str | None:
    """Return the name of the shipped type that has the plan's equations."""
    digest = signature(tomllib.loads(plan.specification)).digest
    return next((e.name for e in manifest() if e.signature == digest), None)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_ordinary_groups_are_shipped(name: str, swapped: bool) -> None:
    parts, drivers, expected = CASES[name]
    assert [shipped(p) for p in plans(mechanism(parts, *drivers, swapped=swapped))] == expected


@pytest.mark.parametrize("path", FILES)
def test_the_common_spatial_mechanisms_are_shipped(path: str) -> None:
    """A first run of a suspension, a platform, a Delta robot or a loop of six hinges derives nothing."""
    assert [shipped(p) for p in plans((ROOT / path).read_text("utf-8"))] == FILES[path]


def test_the_legs_of_a_stewart_platform_are_shipped() -> None:
    drivers = [f'joint = "P{i}", displacement = "{_length(i)} + 0.1*t"' for i in range(6)]
    found = plans(mechanism(stewart(), *drivers))
    assert [shipped(p) for p in found[1:]] == ["leg-U[P]S"] * 6


def _length(i: int) -> float:
    return sum((x - a) ** 2 for a, x in zip(FEET[i], HEADS[i], strict=True)) ** 0.5


@pytest.mark.parametrize("name", ["R-spatial", "P-spatial", "SSR", "SSP", "leg-U[P]S"])
def test_derived_types_are_shipped_as_they_are_written(name: str) -> None:
    """Symbols are those of the planner, so that a plan and its shipped type can be read side by side."""
    cases = [(parts, drivers) for parts, drivers, _ in CASES.values()]
    cases.append((stewart(), tuple(f'joint = "P{i}", displacement = "{_length(i)}"' for i in range(6))))
    plan = next(p for c, d in cases for p in plans(mechanism(c, *d)) if shipped(p) == name)
    entry = next(e for e in manifest() if e.name == name)
    assert signature(tomllib.loads(plan.specification)).order == entry.order


@pytest.mark.parametrize(("name", "last"), [("RSSR", "brocker"), ("RSSP", "bslider")])
def test_shipped_spatial_types_move_whole_bodies(name: str, last: str) -> None:
    """Axes and origins formed from the types' points: right-handed, on their joint, and at the rod's length."""
    parts, drivers, _ = CASES[name]
    model = loads(mechanism(parts, *drivers), "m.toml")
    times = np.linspace(0.0, 0.3, 4)
    results = run(model, times).results
    joint, rod = model.joints["D"], model.bodies["brod"]
    body = results.bodies[last]
    assert body.rotation is not None
    rotation, omega = body.rotation, body.angular_velocity
    place = {p: results.points[p].position for p in "BC"}
    # values of order one through some twenty operations
    assert np.max(np.abs(np.swapaxes(rotation, 1, 2) @ rotation - np.eye(3))) < 1e-13
    assert np.max(np.abs(rotation @ joint.axis_b - joint.axis_a)) < 1e-13  # the frame's axes are the global ones
    assert np.max(np.abs(np.cross(omega, joint.axis_a))) < 1e-12
    length = np.linalg.norm(rod.points["B"] - rod.points["C"])
    assert np.max(np.abs(np.linalg.norm(place["B"] - place["C"], axis=1) - length)) < 1e-13
    arm = place["C"] - model.bodies["frame"].outside(joint.a)
    first = np.asarray(model.points["C"]) - model.bodies["frame"].outside(joint.a)
    if joint.kind == "R":  # C stays at its height along the axis and at its distance from it
        assert np.max(np.abs(arm @ joint.axis_a - first @ joint.axis_a)) < 1e-13
        assert np.max(np.abs(np.linalg.norm(arm, axis=1) - np.linalg.norm(first))) < 1e-13
        assert np.ptp(rotation, axis=0).max() > 0.01  # it does turn
    else:
        assert np.max(np.abs(np.cross(arm, joint.axis_a))) < 1e-13
        assert np.max(np.abs(omega)) == 0.0
        assert np.ptp(arm, axis=0).max() > 0.01
