"""Quantities of results by name (`C`, `joint.C`, `point.C`, `crank.omega`) and in the units that somebody asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..common.errors import InputError, nearest
from ..common.si_units import FORCES, HALF_TURN, LENGTHS, TIMES
from ..mechanism.mobility import COORDINATES
from ..mechanism.model import Model
from .results import Results
from .series import Array

# what may stand before a name that means several things, and the table that it says
KINDS = {
    "point": "points",
    "body": "bodies",
    "joint": "joints",
    "driver": "drivers",
    "actuator": "actuators",
    "vector": "vectors",
}
MOST = 30  # names that a message lists
_SUFFIXES = {
    **dict.fromkeys(("x", "y", "z", "displacement"), ("position", "m")),
    **dict.fromkeys(("vx", "vy", "vz"), ("velocity", "m/s")),
    **dict.fromkeys(("ax", "ay", "az"), ("acceleration", "m/s²")),
    **dict.fromkeys(("fx", "fy", "fz"), ("force", "N")),
    **dict.fromkeys(("m", "mx", "my", "mz"), ("moment", "N m")),
    **dict.fromkeys(("omega", "omegax", "omegay", "omegaz"), ("angular velocity", "rad/s")),
    **dict.fromkeys(("alpha", "alphax", "alphay", "alphaz"), ("angular acceleration", "rad/s²")),
    **dict.fromkeys(("kinetic", "potential", "total"), ("energy", "J")),
    "angle": ("angle", "rad"),
}


@dataclass(frozen=True, eq=False)
class Curve:
    """One number over time: what it measures and in which unit, whose it is, and which component."""

    quantity: str
    unit: str
    owner: str
    component: str
    values: Array

    @property
    def label(self) -> str:
        return f"{self.owner} {self.component}".strip()


def found(results: Results, name: str) -> tuple[str, str]:
    """Return the table and the key of a name; the table is "columns" for the name of a column of the CSV file."""
    for table in KINDS.values():
        if name in (getattr(results, table) or {}):
            return table, name
    kind, dot, rest = name.partition(".")
    if dot and kind in KINDS and rest in (getattr(results, KINDS[kind]) or {}):
        return KINDS[kind], rest
    columns = results.columns()
    if name in columns and columns[name].dtype.kind == "f":
        return "columns", name
    known = [key for table in KINDS.values() for key in getattr(results, table) or {}]
    shown = ", ".join(known[:MOST]) + (f" and {len(known) - MOST} more" if len(known) > MOST else "")
    raise InputError(
        f"'{name}' is no point, body, joint or driver of {results.mechanism}, nor a column of its table"
        f"{nearest(name, [*known, *columns])} - there are {shown or 'none'}"
    )


def curves(results: Results, name: str, magnitude: bool = False) -> list[Curve]:
    """Return what a name stands for, one curve per component; of vectors their sizes where those are asked for."""
    table, key = found(results, name)
    if table == "columns":
        return [Curve(*_measured(key), key, "", results.columns()[key])]
    series: Any = getattr(results, table)[key]
    if table == "points":
        parts = [("position", "m", series.position), ("velocity", "m/s", series.velocity)]
        parts += [("acceleration", "m/s²", series.acceleration)]
        if magnitude:
            sizes = {"velocity": "speed", "acceleration": "size of acceleration"}
            return [Curve(sizes[q], u, name, "", np.hypot.reduce(v, axis=1)) for q, u, v in parts[1:]]
        return [Curve(q, u, name, a, v[:, k]) for q, u, v in parts for k, a in enumerate(results.axes)]
    if table == "vectors":
        parts = [("vector", "", series.value), ("its rate", "1/s", series.rate)]
        parts += [("its second rate", "1/s²", series.acceleration)]
        return [Curve(q, u, name, a, v[:, k]) for q, u, v in parts for k, a in enumerate(results.axes)]
    if table == "drivers":
        effort = [] if series.effort is None else [Curve("effort", "", name, "", series.effort)]
        return [Curve("value", "", name, "", series.value), *effort]
    if table == "actuators":
        return [Curve("effort", "", name, "", series.effort)]
    return _turning(results, name, series, magnitude)


def _turning(results: Results, name: str, series: Any, magnitude: bool) -> list[Curve]:
    """Return the curves of a body or a joint: coordinate, rate and acceleration."""
    angle, slide = getattr(series, "angle", None), getattr(series, "displacement", None)
    body = hasattr(series, "angular_velocity")
    rates = (series.angular_velocity, series.angular_acceleration) if body else (series.rate, series.acceleration)
    words = ("angular velocity", "rad/s"), ("angular acceleration", "rad/s²")
    if getattr(series, "rotation", None) is not None:
        if magnitude:
            return [Curve(*w, name, "", np.hypot.reduce(v, axis=1)) for w, v in zip(words, rates, strict=True)]
        return [Curve(*w, name, a, v[:, k]) for w, v in zip(words, rates, strict=True) for k, a in enumerate("xyz")]
    shown = []
    if angle is not None:
        shown += [Curve("angle", "rad", name, "", angle)]
        shown += [Curve(*w, name, "", v) for w, v in zip(words, rates, strict=True)]
    if slide is not None:
        own = (series.displacement_rate, series.displacement_acceleration) if angle is not None else rates
        shown += [Curve("displacement", "m", name, "", slide), Curve("velocity", "m/s", name, "", own[0])]
        shown += [Curve("acceleration", "m/s²", name, "", own[1])]
    return shown


def _measured(column: str) -> tuple[str, str]:
    """Return what a column of the CSV file measures, by how its name ends, and its unit."""
    if column == "t":
        return "time", "s"
    return _SUFFIXES.get(column.rpartition(".")[2], ("value", ""))


def coordinate(results: Results, name: str) -> Curve:
    """Return the one number that a name stands for, to be drawn over: an angle, a displacement, a column."""
    shown = curves(results, name)
    if len({c.component for c in shown}) > 1 or not shown:
        axes = ", ".join(f"{name}.{axis}" for axis in results.axes)
        raise InputError(f"'{name}' has several components - name one of them, such as {axes}, or a joint")
    return shown[0]


# ---- units --------------------------------------------------------------------------------------------------------
def shown_in(unit: str, wanted: Iterable[str]) -> tuple[float, str]:
    """Return the factor from SI to the unit in which a quantity is shown, and its text."""
    base, slash, rest = unit.partition("/")
    for name in wanted:
        if name in LENGTHS and base == "m":
            return 1 / float(LENGTHS[name]), name + slash + rest
        if name == "rpm" and unit == "rad/s":
            return 30 / np.pi, "rpm"
        if name in HALF_TURN and name != "rpm" and base == "rad":
            return float(HALF_TURN[name]) / np.pi, name + slash + rest
        if name in FORCES and unit == "N":
            return 1 / float(FORCES[name]), name
        if name in TIMES and unit == "s":
            return 1 / float(TIMES[name]), name
    return 1.0, unit


def units_of(text: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the units that are asked for, with commas between them; others than those of results are refused."""
    names = [part.strip() for part in text.split(",")] if isinstance(text, str) else list(text or ())
    known = [*LENGTHS, "rad", *HALF_TURN, *FORCES, *TIMES]
    for name in names:
        if name not in known:
            raise InputError(f"unit '{name}': results are shown in {' '.join(known)}{nearest(name, known)}")
    return tuple(names)


def efforts_of(results: Results, model: Model) -> list[tuple[str, str, Array]]:
    """Return name, unit and values of the efforts: of actuators where the file has them, else of drivers."""
    if results.actuators:
        turning = {a.name: COORDINATES[model.joints[a.joint].kind][0] == "angle" for a in model.actuators}
        found = {name: series.effort for name, series in results.actuators.items()}
    else:
        turning = {name: driver.kind in ("angle", "turn") for name, driver in model.drivers.items()}
        found = {name: s.effort for name, s in results.drivers.items() if s.effort is not None}
    return [(name, "N m" if turning[name] else "N", effort) for name, effort in found.items()]
