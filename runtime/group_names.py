"""The names of a mechanism for the symbols of its groups' types: a dyad's C is the mechanism's point of that name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..common.errors import InputError, nearest
from ..mechanism.model import FRAME, Model
from ..mechanism.plans.plan import (
    Along,
    Angle,
    AngleOf,
    Array,
    Axes,
    Between,
    FoundBy,
    GroupPlan,
    PointOf,
    Spanned,
    SumOf,
    ValueOf,
    VectorOf,
)
from ..mechanism.structure import Structure
from .program import GroupStep, Program


@dataclass(frozen=True)
class GroupNames:
    """What the symbols of a group's type are in the mechanism: names, numbers, and a line on each for the reader."""

    names: dict[str, str]
    numbers: dict[str, float]
    legend: tuple[str, ...]


def steps_of(structure: Structure, program: Program, group: str | None) -> list[GroupStep]:
    """Return the steps of a group by its name (a platform's legs are steps apart), or of all groups."""
    steps = [s for s in program.steps if isinstance(s, GroupStep)]
    if group is None:
        return steps
    chosen = [s for s in steps if s.plan.name == group]
    if not chosen:
        wanted = next((set(g.bodies) for g in structure.groups if g.name == group), set())
        chosen = [s for s in steps if set(s.plan.bodies) & wanted]
    if not chosen:
        known = [g.name for g in structure.groups]
        raise InputError(f"there is no group '{group}'{nearest(group, known)} - the groups are {', '.join(known)}")
    return chosen


def group_names(model: Model, step: GroupStep) -> GroupNames:
    """Return the mechanism's names and numbers for the symbols of a group's type."""
    plan, solver = step.plan, step.solver
    names: dict[str, str] = {}
    legend: list[str] = []
    for coordinate, source in zip(plan.coordinates, plan.known, strict=True):
        own, symbols, value = solver.names[coordinate], solver.symbols(coordinate), ""
        match source:
            case PointOf(body, local):
                point = _point(model, body, local)
                told = f"point {point or _numbers(local)} of {body}"
                if point is not None:
                    _rename(names, symbols, [f"{axis}_{point}" for axis in "xyz"[: len(symbols)]])
                if body == FRAME:
                    value = f" = {_numbers(local)}"
            case VectorOf(body, local):
                told = f"direction {_numbers(local)} in the axes of {body}"
            case AngleOf(body):
                told = f"angle of {body}"
                _rename(names, symbols, [f"angle_{body}"])
            case ValueOf(driver, sign):
                told = f"{'' if sign > 0 else 'minus '}driver {driver}"
                if sign > 0:
                    _rename(names, symbols, [driver])
            case SumOf(constant, angles):
                parts = [f"{'+' if factor > 0 else '-'} angle of {body}" for body, factor in angles]
                told = " ".join((f"{float(constant):.12g}", *parts))
            case FoundBy(group):
                told = f"vector of {', '.join(plan.bodies)} that {group} finds"
        legend.append(f"{own}: {told}{value} (independent)")
    for coordinate, body, point, told in _found(model, plan):
        if coordinate not in solver.names:
            continue
        own, symbols = solver.names[coordinate], solver.symbols(coordinate)
        if set(symbols) - set(solver.group.dependent):
            continue
        line = f"{own}: {told} of {body}"
        if not any(known.startswith(f"{own}: ") for known in legend):
            legend.append(f"{line} (dependent)")
            if point is not None:
                _rename(names, symbols, [f"{axis}_{point}" for axis in "xyz"[: len(symbols)]])
    noise = 1e-14 * model.size  # what rounding leaves of a zero
    parameters = zip(solver.group.parameters, (float(v) for v in solver.par), strict=True)
    numbers = {name: v if abs(v) > noise else 0.0 for name, v in parameters}
    legend += [f"{name} = {value:.12g}" for name, value in numbers.items()]
    return GroupNames(names, numbers, tuple(legend))


def _rename(names: dict[str, str], symbols: tuple[str, ...], wanted: list[str]) -> None:
    """Note other names for symbols, unless one of them is in use: two pins of one point stay two symbols."""
    if not set(wanted) & set(names.values()):
        names.update(zip(symbols, wanted, strict=True))


def _point(model: Model, body: str, local: Array) -> str | None:
    """Return the point of a body that lies there, or None."""
    for name, place in model.bodies[body].points.items():
        if np.allclose(np.asarray(place, dtype=float), np.asarray(local, dtype=float), rtol=0, atol=1e-9 * model.size):
            return name
    return None


def _found(model: Model, plan: GroupPlan) -> Iterator[tuple[str, str, str | None, str]]:
    """Yield (coordinate, body, point's name if it has one, what it is) of everything that places the bodies."""
    for body, placement in plan.placements.items():
        places: list[tuple[object, Array]] = []
        directions: list[tuple[object, Array]] = []
        match placement:
            case Between(P, Q, p, q):
                places = [(P, p), (Q, q)]
            case Along(P, W, p, w):
                places, directions = [(P, p)], [(W, w)]
            case Axes(origin, axes, point, basis) | Angle(Axes(origin, axes, point, basis)):
                places = [(origin, np.zeros(model.dimension) if point is None else point)]
                rows = np.eye(model.dimension) if basis is None else basis
                directions = list(zip(axes, rows, strict=False))
            case Spanned(origin, point, vectors):
                places = [(origin, point)]
                places += [(v[1], _local(placement, i)) for i, v in enumerate(vectors) if isinstance(v, tuple)]
                directions = [(v, _local(placement, i)) for i, v in enumerate(vectors) if not isinstance(v, tuple)]
        for name, local in places:
            if isinstance(name, str):
                found = _point(model, body, local)
                yield name, body, found, f"point {found or _numbers(local)}"
        for name, local in directions:
            if isinstance(name, str):
                yield name, body, None, f"direction {_numbers(local)} in the axes"
        if isinstance(placement, Angle):
            yield placement.angle, body, None, "angle"


def _local(placement: Spanned, i: int) -> Array:
    """Return a vector of a placement in the body's axes; of a pair of points, the second of the two."""
    local = np.linalg.inv(np.asarray(placement.factors, dtype=float))[:, i]
    return local + placement.point if isinstance(placement.vectors[i], tuple) else local


def _numbers(values: Array) -> str:
    return "(" + ", ".join(f"{float(v) + 0.0:.6g}" for v in values) + ")"
