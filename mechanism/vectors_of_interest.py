"""What a user wants to see beside points, bodies and joints: vectors of bodies, and their centres of mass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .file_values import Source, shown
from .model import FRAME, Array, Mass
from .numbers import arithmetic
from .rigid import Assembly, Declared


@dataclass(frozen=True, eq=False)
class Vector:
    """A vector of a body (as the user named it), in that body's axes."""

    name: str
    body: str
    local: Array


def read_vectors(source: Source, assembly: Assembly) -> dict[str, Vector]:
    """Return the [vectors]: between two points of a body, or a direction in its axes."""
    found = {}
    for name, entry in source.table(("vectors",), source.data.get("vectors", {})).items():
        where = ("vectors", name)
        table = source.table(where, entry)
        source.keys(where, table, ("body", "of", "direction"), ("body",))
        body = source.string((*where, "body"), table["body"])
        if body not in assembly.parts:
            source.unknown((*where, "body"), "body", body, assembly.parts)
        if ("of" in table) == ("direction" in table):
            source.fail(where, 'has either of = ["P", "Q"], two points of the body, or direction = [..] in its axes')
        if "of" in table:
            points = assembly.parts[body].points
            names = source.names((*where, "of"), table["of"], 2)
            for point in names:
                if point not in points:
                    source.unknown((*where, "of"), f"point of {body}", point, points)
            local = points[names[1]] - points[names[0]]
        else:
            local = source.vector((*where, "direction"), table["direction"])
        found[name] = Vector(name, body, local)
    return found


def add_centres(
    source: Source, assembly: Assembly, places: dict[str, Array], masses: Mapping[str, Mass], joints: list[Declared]
) -> None:
    """With [simulation] centres = true, give every body a point `<body>.centre`, which costs the solver nothing."""
    table = source.table(("simulation",), source.data.get("simulation", {}))
    wanted = table.get("centres", False)
    if not isinstance(wanted, bool):
        source.fail(("simulation", "centres"), f"is true or false, not {shown(wanted)}")
    for rigid in assembly.bodies.values() if wanted else ():
        for part, pose in rigid.members.items():
            if part == FRAME:
                continue
            name, points = f"{part}.centre", assembly.parts[part].points
            if name in places:
                source.fail(("points", name), "is what centres = true calls a centre of mass - choose another name")
            if part in masses:
                centre = masses[part].centre
            else:  # as for a mass without a centre: the mean of the points where the body has joints
                jointed = dict.fromkeys(j.at for j in joints if part in (j.first, j.second))
                chosen = [points[p] for p in jointed if p in points] or list(points.values())
                centre = arithmetic.array([sum(p[i] for p in chosen) / len(chosen) for i in range(source.dimension)])
            local = pose.origin + pose.rotation @ centre
            rigid.points[name] = local
            places[name] = rigid.pose.origin + rigid.pose.rotation @ local


def vector_motion(
    local: Array, angle: Array | None, rotation: Array | None, omega: Array, alpha: Array
) -> tuple[Array, Array, Array]:
    """Return a vector of a body in global axes with its rates (Eq. 45 differentiated), each n x d."""
    if angle is not None:
        c, s = np.cos(angle), np.sin(angle)
        w = np.stack([c * local[0] - s * local[1], s * local[0] + c * local[1]], axis=1)
        across = np.stack([-w[:, 1], w[:, 0]], axis=1)
        return w, omega[:, None] * across, alpha[:, None] * across - (omega**2)[:, None] * w
    assert rotation is not None
    w = rotation @ local
    rate = np.cross(omega, w)
    return w, rate, np.cross(alpha, w) + np.cross(omega, rate)
