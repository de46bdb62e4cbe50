"""Entries of [initial] that start a body on ball joints: its orientation and angular velocity."""

from __future__ import annotations

import numpy as np

from .file_values import Source, Where
from .model import FRAME, Array, InitialBody
from .rigid import Assembly

_ORTHONORMAL = 1e-6  # what rounded entries of a rotation matrix leave
KEYS = ("body", "axis", "angle", "rotation", "angular_velocity")


def read_body(source: Source, assembly: Assembly, name: str, where: Where, table: dict[str, object]) -> InitialBody:
    """Return one entry; the orientation is that of the sketch, turned about an axis, or a matrix."""
    if source.dimension == 2:
        source.fail((*where, "body"), "a body starts by its orientation in space only - name a 'joint' and its angle")
    source.keys(where, table, KEYS, ("body",))
    body = source.string((*where, "body"), table["body"])
    if body not in assembly.home:
        source.unknown((*where, "body"), "body", body, assembly.home)
    if assembly.home[body] == FRAME:
        source.fail((*where, "body"), "the frame does not move - name a body on a joint S")
    rigid = assembly.of(body)
    if ("axis" in table) != ("angle" in table):
        source.fail(where, "a turn from the sketch needs both 'axis' and 'angle'")
    if "axis" in table and "rotation" in table:
        source.fail(where, "gives the orientation twice, by 'axis' and 'angle' and by 'rotation' - keep one")
    rotation = np.asarray(rigid.pose.rotation, dtype=float)
    if "axis" in table:
        axis = source.vector((*where, "axis"), table["axis"])
        if not axis.any():
            source.fail((*where, "axis"), "is zero and has no direction - give a vector of any length but zero")
        rotation = turned(axis / np.linalg.norm(axis), source.number((*where, "angle"), table["angle"])) @ rotation
    elif "rotation" in table:
        own = _matrix(source, (*where, "rotation"), table["rotation"])
        member = rigid.members.get(body)
        rotation = own if member is None else own @ np.asarray(member.rotation, dtype=float).T
    spin = source.vector((*where, "angular_velocity"), table.get("angular_velocity", [0, 0, 0]))
    return InitialBody(name, rigid.name, rotation, np.asarray(spin, dtype=float))


def turned(axis: Array, angle: float) -> Array:
    """Return the rotation about a unit vector (Rodrigues)."""
    x, y, z = axis
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew)


def _matrix(source: Source, where: Where, value: object) -> Array:
    if not isinstance(value, list) or len(value) != 3:
        source.fail(where, "is a matrix of three rows: the body's x, y and z axes are its columns")
    rows = np.array([source.vector(where, row) for row in value])
    if np.abs(rows @ rows.T - np.eye(3)).max() > _ORTHONORMAL or np.linalg.det(rows) < 0:
        source.fail(where, "is no rotation: its rows must be perpendicular unit vectors, right-handed")
    left, _, right = np.linalg.svd(rows)
    return np.asarray(left @ right)
