"""Parts -> rigid bodies: welded parts become one, and each point's name gets its place on one body or on a pin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ..common.graphs import DisjointSets
from . import geometry
from .bodies import Part
from .file_values import Source
from .geometry import Pose
from .model import FRAME, Array, Joint, Mass, Member
from .numbers import arithmetic

COMMON_POINT = ("R", "S", "U")  # joints whose `at` is the same point on both bodies
SLIDING = (
    "P",
    "slot",
    "C",
    "H",
    "planar",
    "on-plane",
    "on-cylinder",
)  # joints whose `at` is a point of the second body
_SAME = 1e-9  # places nearer than this share of the body's size are one
_ON_AXIS = 1e-9  # a point is on a hinge's axis where it is nearer than this share of its distance from the hinge


@dataclass(eq=False, slots=True)
class Declared:
    """A joint as the user wrote it, with its names checked."""

    name: str
    kind: str
    first: str
    second: str
    at: str | None
    table: Mapping[str, object]


@dataclass(eq=False, slots=True)
class Rigid:
    """One rigid body being put together; its pose and points are in the axes of the part that gives it its name."""

    name: str
    pose: Pose
    points: dict[str, Array]
    members: dict[str, Pose] = field(default_factory=dict)  # each part's axes in the axes of the rigid body


@dataclass(eq=False)
class Assembly:
    """The rigid bodies, and which part belongs to which."""

    source: Source
    parts: Mapping[str, Part]
    bodies: dict[str, Rigid]
    home: dict[str, str]  # part -> rigid body

    def of(self, part: str) -> Rigid:
        return self.bodies[self.home[part]]

    def local(self, part: str, vector: Array) -> Array:
        """Return a point given in the axes of a part in those of its rigid body."""
        if self.home[part] == part:
            return vector
        return self.of(part).members[part].outside(vector)

    def point(self, part: str, name: str) -> Array | None:
        """Return a point of a part, or of the rigid body that it belongs to, in the rigid body's axes."""
        if self.home[part] == part and name in self.parts[part].points:
            return self.of(part).points.get(name, self.parts[part].points[name])
        rigid = self.of(part)
        if name in rigid.points:
            return rigid.points[name]
        own = self.parts[part].points.get(name)
        return None if own is None else self.local(part, own)

    def turn(self, part: str) -> float:
        """Return the angle of a part's axes in those of its rigid body (planar)."""
        return 0.0 if self.home[part] == part else geometry.turn(self.of(part).members[part].rotation)

    def owners(self) -> dict[str, list[str]]:
        """Return the rigid bodies that carry each point."""
        found: dict[str, list[str]] = {}
        for rigid in self.bodies.values():
            for point in rigid.points:
                found.setdefault(point, []).append(rigid.name)
        return found

    def members(self, rigid: Rigid) -> tuple[Member, ...]:
        return tuple(Member(name, pose.origin, pose.rotation) for name, pose in rigid.members.items())


def assemble(
    source: Source, parts: Mapping[str, Part], places: Mapping[str, Array], welds: Iterable[Declared]
) -> Assembly:
    """Return the rigid bodies; the frame's name, else the alphabetically first, is that of welded parts."""
    neighbours: dict[str, list[str]] = {}
    for weld in welds:
        neighbours.setdefault(weld.first, []).append(weld.second)
        neighbours.setdefault(weld.second, []).append(weld.first)
    assembly = Assembly(source, parts, {}, {})
    still = geometry.identity(source.dimension)
    for name in (*([FRAME] if FRAME in neighbours else []), *sorted(n for n in neighbours if n != FRAME)):
        if name not in assembly.home:
            _weld(assembly, name, neighbours, places)
    for name, part in parts.items():  # keeps the order of the file
        if name not in assembly.home:
            assembly.bodies[name] = Rigid(name, part.pose, dict(part.points), {name: still})
            assembly.home[name] = name
    order = [n for n in parts if n in assembly.bodies]
    assembly.bodies = {n: assembly.bodies[n] for n in order}
    return assembly


def _weld(assembly: Assembly, name: str, neighbours: Mapping[str, list[str]], places: Mapping[str, Array]) -> None:
    """Gather all parts that are welded to one, directly or through others.

    The first configuration decides their angles. A part that shares a point with those gathered so far is moved so
    that the point is the same on both: its lengths stay exact though the sketch is not. Points that then still
    disagree are taken where the sketch puts them.
    """
    parts = assembly.parts
    dimension = assembly.source.dimension
    rigid = Rigid(name, parts[name].pose, dict(parts[name].points), {name: geometry.identity(dimension)})
    queue = [name]
    for current in queue:
        for other in sorted(set(neighbours[current])):
            if other in rigid.members:
                continue
            queue.append(other)
            part = parts[other]
            rotation = rigid.pose.rotation.T @ part.pose.rotation
            pose = Pose(rigid.pose.inside(part.pose.origin), rotation)
            shared = [p for p in part.points if p in rigid.points]
            if shared:
                gaps = [rigid.points[p] - pose.outside(part.points[p]) for p in shared]
                pose.origin = pose.origin + np.mean(gaps, axis=0)
            rigid.members[other] = pose
            mine = {p: pose.outside(x) for p, x in part.points.items()}
            size = arithmetic.larger(arithmetic.largest(x) for x in (*mine.values(), *rigid.points.values()))
            for point, x in mine.items():
                if point not in rigid.points:
                    rigid.points[point] = x
                elif arithmetic.largest(rigid.points[point] - x) > _SAME * size and name != FRAME:
                    rigid.points[point] = rigid.pose.inside(places[point])
    assembly.bodies[name] = rigid
    assembly.home.update(dict.fromkeys(rigid.members, name))


def check_sharing(
    source: Source, assembly: Assembly, declared: Iterable[Declared], joints: Mapping[str, Joint]
) -> None:
    """Refuse a point of several bodies without a joint there; give the name of a sliding one to the second body.

    In space a hinge holds every point of its axis together, not only the one that it is at.
    """
    at: dict[str, list[Declared]] = {}
    for joint in declared:
        if joint.at is not None:
            at.setdefault(joint.at, []).append(joint)
    hinges = [joint for joint in joints.values() if joint.kind == "R" and source.dimension == 3]
    for point, owners in assembly.owners().items():
        if len(owners) == 1:
            continue
        groups = _groups(assembly, owners, at.get(point, []))
        beside = _on_hinges(assembly, groups, point, hinges) if len(set(groups.values())) > 1 else ""
        if len(set(groups.values())) == 1:
            continue
        guides = set()
        for joint in at.get(point, []):
            ends = [groups.get(assembly.home[body]) for body in (joint.first, joint.second)]
            if joint.kind in SLIDING and None not in ends and ends[0] != ends[1]:
                guides.add(ends[0])
        guiding = [body for body, group in groups.items() if group in guides]
        if len(set(groups.values()) - guides) != 1 or len(guiding) > len(guides):
            names = sorted(groups)
            listed = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
            source.fail(
                ("points", point),
                f"is a point of {listed}, but no joint or weld there holds them all together{beside} - "
                "add the joint, or give the bodies points of their own",
            )
        for body in guiding:
            del assembly.bodies[body].points[point]


def _groups(assembly: Assembly, owners: list[str], joints: list[Declared]) -> dict[str, str]:
    """Return for each body that has a point one body that stands for all that joints hold together there."""
    sets = DisjointSets(owners)
    for joint in joints:
        first, second = assembly.home[joint.first], assembly.home[joint.second]
        if joint.kind in COMMON_POINT and first in sets and second in sets:
            sets.join(first, second)
    return {body: sets.find(body) for body in owners}


def _on_hinges(assembly: Assembly, groups: dict[str, str], point: str, hinges: Iterable[Joint]) -> str:
    """Join the groups of bodies that a hinge with the point on its axis holds together; say which misses it."""
    beside = ""
    for hinge in hinges:
        if hinge.first not in groups or hinge.second not in groups or groups[hinge.first] == groups[hinge.second]:
            continue
        one = assembly.bodies[hinge.first].points[point] - hinge.a
        two = assembly.bodies[hinge.second].points[point] - hinge.b
        along = [one @ hinge.axis_a, two @ hinge.axis_b]
        apart = [one - along[0] * hinge.axis_a, two - along[1] * hinge.axis_b, np.atleast_1d(along[0] - along[1])]
        gap = arithmetic.larger(arithmetic.norm(x) for x in apart)
        if gap > _ON_AXIS * arithmetic.larger((arithmetic.norm(one), arithmetic.norm(two))):
            beside = f" (it misses the axis of '{hinge.name}' by {float(gap):.3g} m)"
            continue
        left, kept = groups[hinge.second], groups[hinge.first]
        groups.update({body: kept for body, group in groups.items() if group == left})
    return beside


def total_mass(masses: Mapping[str, Mass], rigid: Rigid) -> Mass | None:
    """Return the mass of a rigid body from those of its parts: common centre, parallel axes (Steiner)."""
    if not masses:
        return None
    if list(rigid.members) == [rigid.name]:
        return masses[rigid.name]
    placed = [(m.mass, rigid.members[n].outside(m.centre), _turned(m, rigid.members[n])) for n, m in masses.items()]
    whole = sum(m for m, _, _ in placed)
    if whole > 0:
        centre = np.sum([m * c for m, c, _ in placed], axis=0) / whole
    else:
        centre = np.mean([c for _, c, _ in placed], axis=0)
    inertia = np.zeros_like(placed[0][2])
    for m, c, own in placed:
        d = c - centre
        square = arithmetic.scalar(d @ d)
        inertia = inertia + own + m * (square if d.size == 2 else square * np.eye(3) - np.outer(d, d))
    return Mass(whole, centre, np.asarray(inertia))


def _turned(mass: Mass, pose: Pose) -> Array:
    return mass.inertia if mass.inertia.ndim == 0 else pose.rotation @ mass.inertia @ pose.rotation.T
