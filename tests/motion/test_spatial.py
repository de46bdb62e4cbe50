"""Spatial groups -> specifications: counts, the assembled sketch, motion against the joints themselves, equal texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from assurgent.codegen.algebra import ELEMENTARY, Field
from assurgent.codegen.spec import GroupSpec
from assurgent.codegen.specification_reader import parse_spec
from assurgent.mechanism.model import FRAME, Body, Driver, Joint, Model
from assurgent.mechanism.plans.plan import Axes, Between, GroupPlan, PointOf, ValueOf, VectorOf
from assurgent.mechanism.plans.spatial import plan_spatial
from assurgent.mechanism.plans.spatial_legs import plan_spatial_parts

Array = NDArray[np.float64]
FLOATS = Field(number=lambda f: float(Fraction(f)), functions={n: getattr(math, n) for n in ELEMENTARY}, pi=math.pi)
EXACT = 1e-12  # positions of order one through some twenty operations, each of 1e-16
Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Pose:
    origin: Array
    rotation: Array

    def point(self, local: Array) -> Array:
        return self.origin + self.rotation @ local


def about(axis: Sequence[float], angle: float) -> Array:
    n = np.asarray(axis, float) / np.linalg.norm(axis)
    N = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    return np.asarray(np.eye(3) + math.sin(angle) * N + (1 - math.cos(angle)) * N @ N)


class Sketch:
    """An assembled mechanism: joints are laid where they are wanted, bodies have axes at random."""

    def __init__(self, seed: int = 5, shuffled: bool = False) -> None:
        self.rng = np.random.default_rng(seed)
        self.shuffled = shuffled
        self.bodies: dict[str, Body] = {}
        self.joints: dict[str, Joint] = {}
        self.drivers: dict[str, Driver] = {}
        self.group: list[str] = []
        self.values: dict[str, float] = {}
        self.bodies[FRAME] = Body(FRAME, {}, np.zeros(3), np.eye(3))
        self.body("crank", known=True)

    def body(self, *names: str, rod: bool = False, known: bool = False) -> None:
        for name in names:
            rotation = about(self.rng.normal(size=3), 2.0)
            self.bodies[name] = Body(name, {}, self.rng.normal(size=3), rotation, rod=rod)
            if not known:
                self.group.append(name)

    def joint(self, kind: str, first: str, second: str, at: Sequence[float], axis: Sequence[float] = (0, 0, 1),
              axis2: Sequence[float] | None = None, slide: float = 0.0, pitch: float = 0.0) -> str:  # fmt: skip
        if self.shuffled and self.rng.random() < 0.5:  # a joint has no first body by nature
            first, second = second, first
            axis, axis2 = (axis, axis2) if axis2 is None else (axis2, axis)
        one, two = self.bodies[first], self.bodies[second]
        n = np.asarray(axis, float) / np.linalg.norm(axis)
        m = n if axis2 is None else np.asarray(axis2, float) / np.linalg.norm(axis2)
        v = np.cross(n, self.rng.normal(size=3))
        v /= np.linalg.norm(v)
        place = np.asarray(at, float)
        name = f"{kind}{len(self.joints)}"
        self.joints[name] = Joint(
            name, kind, first, second, None, one.inside(place - slide * n), two.inside(place),
            one.rotation.T @ n, two.rotation.T @ m, one.rotation.T @ v, two.rotation.T @ v, pitch=pitch,
        )  # fmt: skip
        return name

    def rod(self, name: str, first: str, p: Sequence[float], second: str, q: Sequence[float]) -> None:
        self.body(name, rod=True)
        self.joint("S", first, name, p)
        self.joint("S", name, second, q)

    def drive(self, kind: str, joint: str, value: float) -> None:
        name = f"driver{len(self.drivers)}"
        motion = None  # never called: a plan needs no values
        j = self.joints[joint]
        self.drivers[name] = Driver(name, kind, motion, joint, (j.first, j.second))  # type: ignore[arg-type]
        self.values[name] = value

    def distance(self, first: str, p: Sequence[float], second: str, q: Sequence[float]) -> None:
        name = f"driver{len(self.drivers)}"
        ends = self.bodies[first].inside(np.asarray(p, float)), self.bodies[second].inside(np.asarray(q, float))
        self.drivers[name] = Driver(name, "distance", None, None, (first, second), None, ends)  # type: ignore[arg-type]
        self.values[name] = float(np.linalg.norm(np.subtract(q, p)))

    def model(self) -> Model:
        bodies = {n: replace(b, points={"p": np.zeros(3)}) for n, b in self.bodies.items()}
        return Model("sketch", "spatial", {}, bodies, self.joints, self.drivers)

    def plan(self) -> GroupPlan:
        return plan_spatial(self.model(), "g1", "g", self.group, list(self.joints), list(self.drivers))


# ---- the groups ---------------------------------------------------------------------------------------------------
def rssr(s: Sketch, rocker: str = "R", slide: float = 0.0) -> None:
    s.body("rocker")
    s.rod("rod", "crank", (0.3, 0.2, 0.5), "rocker", (1.5, 0.4, 1.1))
    s.joint(rocker, FRAME, "rocker", (2, 0, 0.3), (0.2, 1, 0.3), slide=slide)


def rod_slider(s: Sketch) -> None:
    s.body("slider")
    s.rod("rod", "crank", (0.3, 0.2, 0.5), "slider", (1.5, 0.4, 0.1))
    s.joint("P", FRAME, "slider", (1.4, 0.1, 0.3), (1, 0.2, -0.1), slide=0.4)


def driven_crank(s: Sketch) -> None:
    s.body("arm")
    s.drive("angle", s.joint("R", FRAME, "arm", (1, 0, 0.5), (1, 2, 0.5)), 0.0)


def driven_crank_reversed(s: Sketch) -> None:
    s.body("arm")
    s.drive("angle", s.joint("R", "arm", FRAME, (1, 0, 0.5), (1, 2, 0.5)), 0.0)


def driven_slide(s: Sketch) -> None:
    s.body("arm")
    s.drive("displacement", s.joint("P", "crank", "arm", (1, 0, 0.5), (1, 2, 0.5), slide=0.3), 0.3)


def driven_slide_reversed(s: Sketch) -> None:
    s.body("arm")
    s.drive("displacement", s.joint("P", "arm", "crank", (1, 0, 0.5), (1, 2, 0.5), slide=0.3), 0.3)


def driven_cylinder(s: Sketch) -> None:
    s.body("arm")
    joint = s.joint("C", "crank", "arm", (1, 0, 0.5), (1, 2, 0.5), slide=0.3)
    s.drive("angle", joint, 0.0)
    s.drive("displacement", joint, 0.3)


def driven_screw(s: Sketch) -> None:
    s.body("arm")
    s.drive("angle", s.joint("H", "arm", "crank", (1, 0, 0.5), (1, 2, 0.5), pitch=0.4), 0.0)


def cylinder_on_rods(s: Sketch) -> None:
    s.body("c")
    s.rod("r1", "crank", (0, 0, 0), "c", (1, 0.3, 0.2))
    s.rod("r2", FRAME, (0, 1, 2), "c", (1.2, 0.1, 1.2))
    s.joint("C", FRAME, "c", (2, 0, 0), (0.1, 0.2, 1), slide=0.2)


def rsc(s: Sketch) -> None:
    s.body("b1", "b2")
    s.joint("R", "crank", "b1", (0, 0, 0), (0.1, 0.3, 1))
    s.joint("S", "b1", "b2", (1, 0.5, 0.3))
    s.joint("C", FRAME, "b2", (2, 0, 0), (0.3, 1, 0.2), slide=0.2)


def usr(s: Sketch) -> None:
    s.body("b1", "b2")
    s.joint("U", "crank", "b1", (0, 0, 0), (1, 0, 0), (0, 1, 0.5))
    s.joint("S", "b1", "b2", (1, 0.5, 0.8))
    s.joint("R", FRAME, "b2", (2, 0, 0), (0.3, 1, 0.2))


def sru(s: Sketch) -> None:
    s.body("b1", "b2")
    s.joint("S", "crank", "b1", (0, 0, 0))
    s.joint("R", "b1", "b2", (1, 0.5, 0.8), (0.3, 1, 0.2))
    s.joint("U", "b2", FRAME, (2, 0, 0), (1, 0.2, 0.5), (0, 1, -0.4))


def cuc(s: Sketch) -> None:
    s.body("b1", "b2")
    s.joint("C", "crank", "b1", (0, 0, 0), (0.2, 0.1, 1), slide=0.3)
    s.joint("U", "b1", "b2", (1, 0.5, 0.8), (1, 0, 0.3), (0, 1, 0))
    s.joint("C", FRAME, "b2", (2, 0, 0), (0.3, 1, 0.2), slide=0.1)


def ccc(s: Sketch) -> None:
    s.body("b1", "b2")
    s.joint("C", "crank", "b1", (0, 0, 0), (0.2, 0.1, 1), slide=0.3)
    s.joint("C", "b1", "b2", (1, 0.5, 0.8), (1, 0.2, 0.3), slide=0.5)
    s.joint("C", FRAME, "b2", (2, 0, 0), (0.3, 1, 0.2), slide=0.1)


def cer(s: Sketch) -> None:
    s.body("b1", "b2")
    s.joint("C", "crank", "b1", (0, 0, 0), (0.2, 0.1, 1), slide=0.3)
    s.joint("planar", "b1", "b2", (1, 0.5, 0.8), (1, 0.2, 0.3))
    s.joint("R", FRAME, "b2", (2, 0, 0), (0.3, 1, 0.2))


def ball_on_rods(s: Sketch) -> None:
    s.body("b")
    s.joint("S", FRAME, "b", (0, 0, 0))
    for i, (p, q) in enumerate([((1, 1.5, 0), (1, 0, 0)), ((0, 1.2, 1.3), (0, 1, 0)), ((1.6, 0, 1.1), (0.1, 0.2, 1))]):
        s.rod(f"r{i}", "crank", p, "b", q)


def hexapod() -> list[tuple[Array, Array]]:
    """Feet and heads of six legs: pairs of feet, and pairs of heads between them, none of them quite regular."""
    found = []
    for k in range(3):
        for side in (-1, 1):
            low, high = 2 * math.pi * k / 3 + 0.3 * side, 2 * math.pi * k / 3 + side * (math.pi / 3 - 0.2)
            foot = np.array([2 * math.cos(low), 2 * math.sin(low), 0.1 * k])
            found.append((foot, np.array([math.cos(high), math.sin(high), 1.5 + 0.1 * side])))
    return found


def platform(s: Sketch) -> None:
    s.body("b")
    for i, (foot, head) in enumerate(hexapod()):
        s.rod(f"r{i}", "crank" if i % 2 else FRAME, foot, "b", head)


def stewart(s: Sketch) -> None:
    s.body("b")
    for i, (foot, head) in enumerate(hexapod()):
        s.body(f"lower{i}", f"upper{i}")
        along, first = head - foot, np.cross(head - foot, (0.3, 0.2, 1))
        s.joint("U", FRAME, f"lower{i}", foot, np.cross(first, (0.1, 0.5, 1)), first)
        slide = float(np.linalg.norm(along))
        s.drive("displacement", s.joint("P", f"lower{i}", f"upper{i}", head, along, slide=slide), slide)
        s.joint("S", f"upper{i}", "b", head)


def mixed_legs(s: Sketch) -> None:
    """Legs of every make: driven or not, with the universal joint at the foot or at the head, and two rods."""
    s.body("b")
    for i, (foot, head) in enumerate(hexapod()):
        along, aside = head - foot, np.cross(head - foot, (0.3, 0.2, 1))
        axis = np.cross(aside, (0.1, 0.5, 1))
        if i < 2:
            s.rod(f"r{i}", "crank", foot, "b", head)
        elif i < 4:
            s.body(f"leg{i}")
            s.joint("U", *(("crank", f"leg{i}") if i == 2 else (f"leg{i}", "crank")), foot, axis, aside)
            s.joint("S", f"leg{i}", "b", head)
        else:
            s.body(f"lower{i}", f"upper{i}")
            s.joint("U", "b", f"upper{i}", head, axis, aside)
            order = (f"lower{i}", f"upper{i}") if i == 4 else (f"upper{i}", f"lower{i}")
            s.drive("displacement", s.joint("P", *order, head, along + 0.3 * aside, slide=0.4), 0.4)
            s.joint("S", "crank", f"lower{i}", foot)


def screw_on_rod(s: Sketch) -> None:
    s.body("screw")
    s.joint("H", FRAME, "screw", (0, 0, 0), (0.2, 0.1, 1), pitch=0.3)
    s.rod("rod", "crank", (2, 0, 1), "screw", (1, 0.4, 0.2))


def puck_on_rods(s: Sketch) -> None:
    s.body("puck")
    s.joint("planar", FRAME, "puck", (0, 0, 0), (0.2, 0.1, 1))
    for i, (p, q) in enumerate([((2, 0, 1), (1, 0, 0.3)), ((0, 2, 1), (0, 1, 0.2)), ((-2, 1, 1), (0.2, 0.6, 0))]):
        s.rod(f"r{i}", "crank", p, "puck", q)


def rods_meet(s: Sketch) -> None:
    for i, p in enumerate([(1.5, 0, 0), (0, 1.5, 0), (-1, -1, 0.3)]):
        s.body(f"r{i}", rod=True)
        s.joint("S", "crank", f"r{i}", p)
    s.joint("S", "r0", "r1", (0.1, 0.2, 1.2))
    s.joint("S", "r2", "r1", (0.1, 0.2, 1.2))


def strut(s: Sketch) -> None:
    s.body("arm")
    s.joint("R", "crank", "arm", (1, 0, 0.5), (1, 2, 0.5))
    s.distance("arm", (1.4, 1, -0.5), FRAME, (0, 1, 0.2))


def strut_on_rod(s: Sketch) -> None:
    rssr(s, "C", 0.2)
    s.distance(FRAME, (1, -1, 0.2), "rod", (0.9, 0.3, 0.8))  # holds the rod's middle


def shared_centre(s: Sketch) -> None:
    """Two bodies and a rod meet in one centre, though every joint names the rod."""
    s.body("b1", "b2")
    s.joint("C", "crank", "b1", (0, 0, 0), (0.2, 0.1, 1), slide=0.3)
    s.joint("C", FRAME, "b2", (2, 0, 0), (0.3, 1, 0.2), slide=0.1)
    s.rod("rod", FRAME, (1, -1, 2), "b1", (1, 0.5, 0.8))
    s.joint("S", "b2", "rod", (1, 0.5, 0.8))


def four_bar(s: Sketch) -> None:
    s.body("coupler", "rocker")
    s.joint("R", "crank", "coupler", (0, 1, 0.2), Z)
    s.joint("R", "coupler", "rocker", (2, 2, -0.4), Z)
    s.joint("R", FRAME, "rocker", (2.4, 0, 0.7), Z)


def bennett_joints(theta: float) -> list[tuple[Array, Array]]:
    """Point and axis of the four joints of Bennett's linkage, whose crank (between the first two) stands at theta."""
    (a, alpha), (b, beta) = (1.0, 0.7), (math.sin(1.2) / math.sin(0.7), 1.2)
    # with the offsets zero the turns are θ1, θ2, -θ1, -θ2, and tan(θ1/2) tan(θ2/2) = sin((β+α)/2) / sin((β-α)/2)
    second = 2 * math.atan(math.sin((beta + alpha) / 2) / math.sin((beta - alpha) / 2) / math.tan(theta / 2))
    place, turn, found = np.zeros(3), np.eye(3), []
    for angle, (length, twist) in zip((theta, second, -theta, -second), ((a, alpha), (b, beta)) * 2, strict=True):
        found.append((place, turn[:, 2]))
        turn = turn @ about(Z, angle)
        place = place + length * turn[:, 0]
        turn = turn @ about((1, 0, 0), twist)
    assert np.allclose(place, 0)  # it is Bennett's: the loop closes
    assert np.allclose(turn, np.eye(3))
    return found


def bennett(s: Sketch) -> None:
    s.body("coupler", "rocker")
    joints = bennett_joints(1.0)
    for (first, second), (at, axis) in zip((("crank", "coupler"), ("coupler", "rocker"), (FRAME, "rocker")), joints[1:],
                                           strict=True):  # fmt: skip
        s.joint("R", first, second, at, axis)


def nut(s: Sketch, kind: str, drive: str = "", value: float = 0.0) -> None:
    """A nut guided along the axis about which the crank turns: the screw closes a loop."""
    s.body("nut")
    s.joint("P", FRAME, "nut", (0.3, 0.4, 0.5), Z, slide=0.2)
    joint = s.joint(kind, "crank", "nut", (0, 0, 0.6), Z, pitch=0.25 if kind == "H" else 0.0, slide=value)
    if drive:
        s.drive(drive, joint, value)


def turned_about_z(s: Sketch) -> dict[str, Pose]:
    crank, turn = s.bodies["crank"], about(Z, 0.2)
    return {"crank": Pose(turn @ crank.origin, turn @ crank.rotation)}


def moved(s: Sketch) -> dict[str, Pose]:
    crank, turn = s.bodies["crank"], about((1, 2, -1), 0.05)
    return {"crank": Pose(turn @ crank.origin + 0.03, turn @ crank.rotation)}


@dataclass(frozen=True)
class Case:
    build: Callable[[Sketch], None]
    unknowns: int
    rows: int
    move: Callable[[Sketch], dict[str, Pose]] = moved
    drive: float = 0.1  # by which every driver moves on


CASES = {
    "RSSR": Case(rssr, 2, 2),
    "rod and slider": Case(rod_slider, 1, 1),
    "driven crank": Case(driven_crank, 2, 2),
    "driven crank, reversed": Case(driven_crank_reversed, 2, 2),
    "driven slide": Case(driven_slide, 1, 1),
    "driven slide, reversed": Case(driven_slide_reversed, 1, 1),
    "driven cylinder": Case(driven_cylinder, 3, 3),
    "driven screw": Case(driven_screw, 1, 1),
    "C body on two rods": Case(cylinder_on_rods, 3, 3),
    "R-S-C": Case(rsc, 5, 5),
    "U-S-R": Case(usr, 6, 6),
    "S-R-U": Case(sru, 6, 6),
    "C-U-C": Case(cuc, 6, 6),
    "C-C-C": Case(ccc, 6, 6),
    "C-planar-R": Case(cer, 5, 5),
    "body on S and three rods": Case(ball_on_rods, 6, 6),
    "platform on six rods": Case(platform, 9, 9),
    "Stewart platform": Case(stewart, 30, 30),
    "legs of every make": Case(mixed_legs, 22, 22),
    "screw on a rod": Case(screw_on_rod, 1, 1),
    "puck on rods": Case(puck_on_rods, 4, 4),
    "three rods meet": Case(rods_meet, 3, 3),
    "strut": Case(strut, 2, 2),
    "strut on a rod": Case(strut_on_rod, 3, 3),
    "shared centre": Case(shared_centre, 6, 6),
    "planar four-bar in space": Case(four_bar, 4, 7, turned_about_z),
    "Bennett": Case(bennett, 4, 7, turned_about_z),
    "nut": Case(lambda s: nut(s, "H"), 2, 6, turned_about_z),
    "nut, slide driven": Case(lambda s: nut(s, "C", "displacement", 0.3), 1, 5, turned_about_z),
    "nut, turn driven": Case(lambda s: nut(s, "R", "angle"), 2, 7, turned_about_z, -0.2),
}


# ---- a plan with numbers ------------------------------------------------------------------------------------------
def whole(plan: GroupPlan, name: str = "derived") -> str:
    return f'format = 1\nname = "{name}"\n{plan.specification}'


@dataclass(frozen=True, eq=False)
class Bound:
    """A plan, its specification, and the values of h for given poses of the known bodies."""

    sketch: Sketch
    plan: GroupPlan
    spec: GroupSpec

    @classmethod
    def of(cls, sketch: Sketch) -> Bound:
        plan = sketch.plan()
        return cls(sketch, plan, parse_spec(whole(plan), "derived"))

    def h(self, poses: Mapping[str, Pose], values: Mapping[str, float]) -> Array:
        found: list[float] = []
        for source in self.plan.known:
            match source:
                case PointOf(body, local):
                    found += list(poses[body].point(local))
                case VectorOf(body, local):
                    found += list(poses[body].rotation @ local)
                case ValueOf(driver):
                    found.append(values[driver])
        return np.array(found)

    def _evaluator(self, phi: Array, h: Array):  # type: ignore[no-untyped-def]
        spec = self.spec
        names = (*spec.phi, *spec.h, *spec.par, "t")
        values = dict(zip(names, map(float, (*phi, *h, *self.plan.parameters, 0.0)), strict=True))
        return spec.evaluator(values.__getitem__, FLOATS)

    def constraint(self, phi: Array, h: Array) -> Array:
        evaluate = self._evaluator(phi, h)
        return np.array([e for c in self.spec.constraints for e in evaluate.residual(c.equation)])

    def vectors(self, phi: Array, h: Array) -> dict[str, Array]:
        """Return the points of interest and the coordinates by name."""
        evaluate, spec = self._evaluator(phi, h), self.spec
        scalars = dict(zip((*spec.phi, *spec.h), (*phi, *h), strict=True))
        found = {c.name: np.array([scalars[s] for s in c.symbols]) for c in (*spec.dependent, *spec.independent)}
        return found | {f.name: np.array(evaluate(f.node)) for f in spec.points}

    def poses(self, phi: Array, h: Array, known: Mapping[str, Pose]) -> dict[str, Pose]:
        """Return the poses of the group's bodies; those of a rod are right along its line."""
        vectors = self.vectors(phi, h)
        found: dict[str, Pose] = {}

        def at(name: str | PointOf | VectorOf) -> Array:
            if isinstance(name, str):
                return vectors[name]
            other = found[name.body] if name.body in self.plan.bodies else known[name.body]
            return other.point(name.local) if isinstance(name, PointOf) else other.rotation @ name.local

        for body, placement in self.plan.placements.items():
            match placement:
                case Axes(origin, axes, point, basis):
                    inside = np.eye(3) if basis is None else basis.T  # the same vectors in the body's axes
                    rotation = np.column_stack([at(a) for a in axes]) @ np.linalg.inv(inside)
                    found[body] = Pose(at(origin) - (0 if point is None else rotation @ point), rotation)
                case Between(P, Q, p, q):
                    along = np.outer(at(Q) - at(P), q - p) / ((q - p) @ (q - p))
                    found[body] = Pose(at(P) - along @ p, along)
        assert set(found) == set(self.plan.bodies)
        return found

    def jacobian(self, phi: Array, h: Array) -> Array:
        d = 1e-6
        steps = d * np.eye(len(phi))
        return np.array([(self.constraint(phi + e, h) - self.constraint(phi - e, h)) / (2 * d) for e in steps]).T

    def solve(self, h: Array) -> Array:
        phi = self.plan.start
        for _ in range(30):
            phi = phi - np.linalg.lstsq(self.jacobian(phi, h), self.constraint(phi, h), rcond=None)[0]
        return phi


def sketched(s: Sketch) -> dict[str, Pose]:
    return {name: Pose(body.origin, body.rotation) for name, body in s.bodies.items()}


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


def bound(name: str) -> Bound:
    sketch = Sketch()
    CASES[name].build(sketch)
    return Bound.of(sketch)


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
