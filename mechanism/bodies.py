"""The tables [points] and [bodies] -> parts: every body's points in its own axes, and where these axes lie first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import geometry
from .file_values import Source, Where
from .geometry import GeometryError, Pose
from .model import FRAME, Array, Mass
from .numbers import arithmetic
from .numbers.nominal import nominal

MASS_KEYS = ("mass", "centre", "inertia")
BODY_KEYS = ("points", "length", "local", "kind", *MASS_KEYS)


@dataclass(eq=False, slots=True)
class Part:
    """A body as the user wrote it."""

    name: str
    points: dict[str, Array]  # in its own axes
    pose: Pose
    rod: bool
    table: Mapping[str, Any]

    @property
    def where(self) -> Where:
        return ("bodies", self.name)


def check_name(source: Source, where: Where, name: str) -> None:
    """Refuse names that could not be shown in a message or a column of results."""
    if not name or len(name) > 100 or not name.isprintable() or name != name.strip():
        source.fail(where, "a name has 1 to 100 printable characters and no space at its ends")


def read_points(source: Source) -> dict[str, Array]:
    """Return the places that [points] gives."""
    found = {}
    for name, value in source.table(("points",), source.data.get("points", {})).items():
        check_name(source, ("points", name), name)
        found[name] = source.vector(("points", name), value)
    return found


def read_bodies(source: Source, sketch: Mapping[str, Array]) -> tuple[dict[str, Part], dict[str, Array]]:
    """Return all bodies, the frame first, and the places of all points in the first configuration."""
    bodies = source.table(("bodies",), source.data.get("bodies", {}))
    if FRAME not in bodies:
        source.fail(("bodies",), f"lacks the ground - write [bodies.{FRAME}] with its points")
    listed = {name: _listed(source, name, table) for name, table in bodies.items()}
    owned = {point for points in listed.values() for point in points}
    for name in (n for n in bodies if "local" not in bodies[n]):
        others = {point for other in bodies if other != name for point in listed[other]}
        for point in listed[name]:  # a misspelt point leaves the right one without a body: it is the one to be named
            if point not in sketch and point not in others:
                source.unknown(("bodies", name, "points"), "point", point, sketch)
    for point in sketch:
        if point not in owned:
            source.fail(("points", point), "belongs to no body - list it in the `points` of a body, or remove it")
    locals_: dict[str, dict[str, Array]] = {}
    poses: dict[str, Pose] = {}
    left_out: dict[str, list[Array]] = {}
    for name in sorted(n for n in bodies if "local" in bodies[n]):
        given = locals_[name] = _local(source, name, listed[name])
        poses[name] = _fitted(source, name, given, sketch)
        for point in listed[name]:
            if point not in sketch:
                left_out.setdefault(point, []).append(poses[name].outside(given[point]))
    places = {**sketch, **{point: np.mean(found, axis=0) for point, found in left_out.items()}}
    order = [FRAME, *(name for name in bodies if name != FRAME)]
    parts = {}
    for name in order:
        where = ("bodies", name)
        if name not in poses:
            for point in listed[name]:
                if point not in places:
                    source.unknown((*where, "points"), "point", point, places)
            try:
                locals_[name], poses[name] = _measured(source, name, listed[name], places)
            except GeometryError as error:
                source.fail(where, f"{error} - move one of them in [points], or list points that lie apart first")
        rod = _is_rod(source, name)
        parts[name] = Part(name, locals_[name], poses[name], rod, bodies[name])
    return parts, places


def _listed(source: Source, name: str, value: object) -> list[str]:
    """Return the points that a body lists, after a look at its keys."""
    where = ("bodies", name)
    check_name(source, where, name)
    table = source.table(where, value)
    source.keys(where, table, BODY_KEYS, () if name == FRAME else ("points",))
    points = source.names((*where, "points"), table.get("points", []))
    if len(set(points)) < len(points):
        twice = next(p for p in points if points.count(p) > 1)
        source.fail((*where, "points"), f"names '{twice}' twice - once is enough")
    if not points and name != FRAME:
        source.fail((*where, "points"), "is empty - a body has at least one point")
    for point in points:
        check_name(source, (*where, "points"), point)
    for key in ("length", "local"):
        if key in table and name == FRAME:
            source.fail((*where, key), "the frame has no need of it: its points lie where [points] puts them")
    if "length" in table and "local" in table:
        source.fail((*where, "length"), "and `local` exclude each other - keep one of them")
    if "length" in table and len(points) != 2:
        source.fail(
            (*where, "length"),
            f"belongs to a body of 2 points, this one has {len(points)} - give their coordinates by `local`",
        )
    return points


def _is_rod(source: Source, name: str) -> bool:
    where: Where = ("bodies", name, "kind")
    kind = source.data["bodies"][name].get("kind")
    if kind is None:
        return False
    if kind != "rod":
        source.fail(where, f'{kind!r} is not known - the only kind is "rod"')
    if source.dimension == 2 or name == FRAME:
        source.fail(where, "a rod is a moving body of a spatial mechanism - remove `kind`")
    return True


def _local(source: Source, name: str, points: list[str]) -> dict[str, Array]:
    where: Where = ("bodies", name, "local")
    table = source.table(where, source.data["bodies"][name]["local"])
    listed = set(points)
    for point in table:
        if point not in listed:
            source.unknown((*where, point), f"point of body '{name}' named", point, points)
    for point in points:
        if point not in table:
            source.fail(where, f"lacks the point '{point}' - give its coordinates in the body's axes")
    return {point: source.vector((*where, point), table[point]) for point in points}


def _fitted(source: Source, name: str, local: Mapping[str, Array], sketch: Mapping[str, Array]) -> Pose:
    known = [point for point in local if point in sketch]
    missing = [point for point in local if point not in sketch]
    if missing and len(known) < 2:
        source.fail(
            ("bodies", name, "points"),
            f"'{missing[0]}' is not in [points]; it may be left out only if two other points of the body stand there",
        )
    try:
        return geometry.fit([local[p] for p in known], [sketch[p] for p in known])
    except GeometryError as error:
        source.fail(("bodies", name, "local"), f"{error}")


def _measured(
    source: Source, name: str, points: list[str], places: Mapping[str, Array]
) -> tuple[dict[str, Array], Pose]:
    """Return points and axes of a body without `local`: from its length, or as [points] has them."""
    table = source.data["bodies"][name]
    pose = geometry.identity(source.dimension)
    if name == FRAME:
        return {p: places[p] for p in points}, pose
    pose.origin = places[points[0]]
    planar = source.dimension == 2
    if "length" in table:
        length = source.positive(("bodies", name, "length"), table["length"])
        direction, pose.origin = geometry.stretched(places[points[0]], places[points[1]], length)
        if planar:
            pose.rotation = geometry.planar_rotation(direction)
            direction = np.array([1.0, 0.0])
        return {points[0]: np.zeros(source.dimension), points[1]: length * direction}, pose
    if planar and len(points) > 1:
        difference = places[points[1]] - pose.origin
        if arithmetic.vanishes(difference):
            raise GeometryError(f"its first two points {points[0]} and {points[1]} lie at one place")
        pose.rotation = geometry.planar_rotation(difference)
    local = {p: pose.inside(places[p]) for p in points}
    if planar and len(points) > 1:
        local[points[1]][1] = 0.0  # on the x axis, whatever rounding says
    return local, pose


def read_mass(source: Source, part: Part, jointed: list[Array]) -> Mass | None:
    """Return mass, centre and inertia in the part's own axes, or None if it has neither mass nor inertia.

    `jointed` are the places, in its axes, of its points with joints: their mean is the centre where none is given
    (without any: the mean of all its points). In space `inertia = [Ixx, Iyy, Izz, Ixy, Ixz, Iyz]` are the entries
    of the tensor as they stand: Ixy at [0, 1] and [1, 0], so that Ixy = -∫ x y dm.
    """
    table, where = part.table, part.where
    mass = source.number((*where, "mass"), table.get("mass", 0))
    if mass < 0:
        source.fail((*where, "mass"), f"is {mass:.12g} and must not be negative")
    inertia = _inertia(source, (*where, "inertia"), table.get("inertia"))
    centre = np.zeros(source.dimension)
    if isinstance(table.get("centre"), str):
        if table["centre"] not in part.points:
            source.unknown((*where, "centre"), f"point of body '{part.name}' named", table["centre"], part.points)
        centre = part.points[table["centre"]]
    elif "centre" in table:
        centre = source.vector((*where, "centre"), table["centre"])
    elif jointed or part.points:
        centre = np.mean(jointed or list(part.points.values()), axis=0)
    if "mass" not in table and "inertia" not in table:
        return None
    return Mass(mass, centre, inertia)


def _inertia(source: Source, where: Where, value: object) -> Array:
    if source.dimension == 2:
        number = source.number(where, 0 if value is None else value)
        if number < 0:
            source.fail(where, f"is {number:.12g} and must not be negative")
        return np.array(number)
    if value is None:
        return np.zeros((3, 3))
    if not isinstance(value, list):
        source.fail(where, "is a list [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] in a spatial mechanism")
    xx, yy, zz, xy, xz, yz = source.vector(where, value, 6)
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    scale = arithmetic.largest(tensor)
    if scale and not _is_inertia(tensor / scale):
        source.fail(where, "is no inertia: a principal moment is negative - check order and signs of the entries")
    return tensor


def _is_inertia(tensor: Array) -> bool:
    """Tell whether no principal moment of a tensor of size one is negative; of a traced one by its minors, too."""
    if arithmetic.is_traced(tensor):
        pairs = [(i, j) for i in range(3) for j in range(i)]
        squares = [tensor[i, i] * tensor[j, j] - tensor[i, j] * tensor[i, j] for i, j in pairs]
        whole = tensor[0] @ np.cross(tensor[1], tensor[2])
        if not all(minor >= -1e-9 for minor in (*np.diag(tensor), *squares, whole)):
            return False
    return bool(np.min(np.linalg.eigvalsh(nominal(tensor))) >= -1e-9)
