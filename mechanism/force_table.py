"""The table [forces] -> loads: forces and torques as functions of time, springs and torsion springs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .bodies import check_name
from .drivers import COORDINATES, DriverReader
from .file_values import Source, Where, shown
from .model import Array, Load, PointForce, Spring, Torque, TorsionSpring


def read_loads(source: Source, coordinates: DriverReader) -> tuple[Load, ...]:
    """Return all loads in the order of the file."""
    found: list[Load] = []
    for name, value in source.table(("forces",), source.data.get("forces", {})).items():
        where: Where = ("forces", name)
        check_name(source, where, name)
        table = source.table(where, value)
        kind = table.get("type", "")
        if kind == "spring":
            found.append(_spring(source, coordinates, name, where, table))
        elif kind == "torsion-spring":
            found.append(_torsion_spring(source, coordinates, name, where, table))
        elif "type" in table:
            source.unknown((*where, "type"), "type of force", kind, ("spring", "torsion-spring"))
        else:
            found.append(_applied(source, coordinates, name, where, table))
    return tuple(found)


def _applied(
    source: Source, coordinates: DriverReader, name: str, where: Where, table: Mapping[str, Any]
) -> PointForce | Torque:
    source.keys(where, table, ("type", "body", "point", "force", "torque"), ("body",))
    assembly = coordinates.assembly
    body = source.string((*where, "body"), table["body"])
    if body not in assembly.home:
        source.unknown((*where, "body"), "body", body, assembly.home)
    if ("force" in table) == ("torque" in table):
        source.fail(where, "has either 'force' (with 'point') or 'torque' - give one; two loads have two names")
    rigid = assembly.home[body]
    if "torque" in table:
        if "point" in table:
            source.fail((*where, "point"), "has no meaning for a torque, which acts on the whole body - remove it")
        parts = _components(source, (*where, "torque"), table["torque"], 1 if source.dimension == 2 else 3)
        return Torque(name, rigid, parts)
    if "point" not in table:
        source.fail(where, "lacks 'point' - the name of a point of the body, or its coordinates in the body's axes")
    if isinstance(table["point"], str):
        point = assembly.point(body, table["point"])
        if point is None:
            points = assembly.parts[body].points
            source.unknown((*where, "point"), f"point of body '{body}' named", table["point"], points)
    else:
        point = assembly.local(body, source.vector((*where, "point"), table["point"]))
    return PointForce(name, rigid, point, _components(source, (*where, "force"), table["force"], source.dimension))


def _components(source: Source, where: Where, value: object, count: int) -> tuple[Any, ...]:
    """Return the functions of time of a vector; one alone needs no list."""
    if count == 1:
        value = value if isinstance(value, list) else [value]
    if not isinstance(value, list) or len(value) != count:
        asked = "a number or a formula in t" if count == 1 else f"a list of {count} numbers or formulas in t"
        size = f" of {len(value)}" if isinstance(value, list) else ""
        source.fail(where, f"is {asked}, not {shown(value)}{size}")
    return tuple(source.function(where, v) for v in value)


def _coefficients(source: Source, where: Where, table: Mapping[str, Any], rest: str) -> tuple[float, float, float]:
    """Return stiffness, the value at rest, and damping."""
    if "stiffness" not in table and "damping" not in table:
        source.fail(where, "has neither 'stiffness' nor 'damping' - give at least one")
    if "stiffness" in table and rest not in table:
        source.fail(where, f"lacks '{rest}' - the {rest} at which the spring is at rest")
    stiffness, at_rest, damping = (
        source.number((*where, key), table.get(key, 0)) for key in ("stiffness", rest, "damping")
    )
    return stiffness, at_rest, damping


def _spring(source: Source, coordinates: DriverReader, name: str, where: Where, table: Mapping[str, Any]) -> Spring:
    source.keys(where, table, ("type", "between", "stiffness", "length", "damping"), ("between",))
    _, bodies, ends = coordinates.between((*where, "between"), table["between"])
    stiffness, length, damping = _coefficients(source, where, table, "length")
    if length < 0:
        source.fail((*where, "length"), f"is {length:.12g} and must not be negative")
    pair: tuple[Array, Array] = ends
    return Spring(name, bodies, pair, stiffness, length, damping)


def _torsion_spring(
    source: Source, coordinates: DriverReader, name: str, where: Where, table: Mapping[str, Any]
) -> TorsionSpring:
    source.keys(where, table, ("type", "joint", "stiffness", "angle", "damping"), ("joint",))
    joint = coordinates.joint((*where, "joint"), table["joint"], "a torsion spring")
    if "angle" not in COORDINATES[joint.kind]:
        source.fail((*where, "joint"), f"'{joint.name}' is a joint '{joint.kind}' and has no angle - name an R, C or H")
    stiffness, angle, damping = _coefficients(source, where, table, "angle")
    return TorsionSpring(name, joint.name, stiffness, angle - coordinates.offset(joint, "angle"), damping)
