"""Spatial groups drawn joint by joint, with poses that are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assurgent.mechanism.model import FRAME, Body, Driver, Joint, Model
from assurgent.mechanism.plans.plan import GroupPlan
from assurgent.mechanism.plans.spatial import plan_spatial

Array = NDArray[np.float64]
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
