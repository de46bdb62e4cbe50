"""What a sweep is asked for: its designs (a grid, or a Latin hypercube) and what is kept of each."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..common.errors import InputError, nearest
from ..common.expressions import FormulaError
from ..mechanism.functions import evaluate
from ..mechanism.model import Array

MOST = 100_000_000  # designs
REDUCTIONS = ("max", "min", "range", "mean", "length")
WHOLE = ("transmission", "turn")  # reductions of a whole design
COMPONENTS = {
    **{c: (0, k) for k, c in enumerate("xyz")},
    **{f"v{c}": (1, k) for k, c in enumerate("xyz")},
    **{f"a{c}": (2, k) for k, c in enumerate("xyz")},
}
# what of a series may be named after it: order and component; a driver has its effort beside its value
Suffixes = Mapping[str, Mapping[str, tuple[int, int]]]
SUFFIXES: Suffixes = {
    "points": COMPONENTS,
    "bodies": {"angle": (0, 0), "omega": (1, 0), "alpha": (2, 0)},
    "joints": {"rate": (1, 0), "acceleration": (2, 0)},
    "drivers": {"value": (0, 0), "effort": (0, 0)},
    "actuators": {"effort": (0, 0)},
}
PREFIXES = {"point": "points", "body": "bodies", "joint": "joints", "driver": "drivers", "actuator": "actuators"}
BESIDE = ("drivers", "efforts", "actuators")  # tables of numbers that are not those of the compiled motion


def grid(over: Sequence[str]) -> dict[str, Array]:
    """Return the designs of all combinations of `a=first:last:count` or `a=1,2,3`, the last one changing fastest."""
    axes: dict[str, Array] = {}
    for text in over:
        name, parts = _axis(text)
        if len(parts) == 2 and ":" in text:
            raise InputError(f"over {text}: lacks the count of a grid, {text}:50 - or give samples N")
        _once(text, name, axes)
        axes[name] = _values(text, parts)
    count = math.prod(len(v) for v in axes.values())
    if count > MOST:
        raise InputError(f"over: {count} designs are more than {MOST} - take fewer values, or samples")
    columns = np.meshgrid(*axes.values(), indexing="ij") if axes else []
    return {name: np.ascontiguousarray(c.ravel()) for name, c in zip(axes, columns, strict=True)}


def hypercube(over: Sequence[str], samples: int, seed: int) -> dict[str, Array]:
    """Return a Latin hypercube of designs within `a=first:last`."""
    from scipy.stats import qmc

    if not 1 <= samples <= MOST:
        raise InputError(f"samples {samples}: is a whole number from 1 to {MOST}")
    bounds: dict[str, list[float]] = {}
    for text in over:
        name, parts = _axis(text)
        if ":" not in text or len(parts) != 2:
            raise InputError(f"over {text}: with samples it is name=first:last")
        _once(text, name, bounds)
        bounds[name] = parts
    points = qmc.LatinHypercube(len(bounds), rng=np.random.default_rng(seed)).random(samples)
    return {n: b[0] + (b[1] - b[0]) * points[:, k] for k, (n, b) in enumerate(bounds.items())}


def _once(text: str, name: str, before: Mapping[str, object]) -> None:
    if name in before:
        raise InputError(f"over {text}: the values of {name} are given twice - give all of them once, {name}=1,2,3")


def _axis(text: str) -> tuple[str, list[float]]:
    name, equals, rest = (part.strip() for part in text.partition("="))
    if not name or not equals or not rest:
        raise InputError(f"over {text}: is written name=first:last:count or name=1,2,3")
    separator = ":" if ":" in rest else ","
    try:
        found = [float(evaluate(part, {})) for part in rest.split(separator)]
    except FormulaError as error:
        raise InputError(f"over {text}: {error} - write name=first:last:count or name=1,2,3") from None
    if separator == ":" and len(found) not in (2, 3):
        raise InputError(f"over {text}: is written name=first:last:count")
    return name, found


def _values(text: str, parts: list[float]) -> Array:
    if ":" not in text:
        return np.array(parts)
    first, last, count = parts
    if count != int(count) or not 1 <= count <= MOST:
        raise InputError(f"over {text}: the count is a whole number from 1 on")
    return np.linspace(first, last, int(count))


# ---- what is kept ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Want:
    """One thing that is kept: a series of a table, or a number made of one (`how`)."""

    text: str
    table: str  # points, bodies, joints, drivers, efforts, actuators; "" of a whole design
    name: str = ""
    how: str = ""
    order: int = 0
    component: int = -1  # of a series alone; -1: all that it has


def split(text: str) -> list[str]:
    """Return the parts of a list with commas, those in parentheses kept together."""
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def wants(given: Sequence[str], names: Mapping[str, Sequence[str]], dimension: int) -> list[Want]:
    """Return what is wanted by name; `names` are those of points, bodies, joints, drivers and actuators."""
    axes = {c: at for c, at in COMPONENTS.items() if at[1] < dimension}
    return [_want(text, names, {**SUFFIXES, "points": axes}) for text in given]


def _want(text: str, names: Mapping[str, Sequence[str]], suffixes: Suffixes) -> Want:
    if text in WHOLE:
        return Want(text, "", how=text)
    match = re.fullmatch(r"(\w+)\((.*)\)", text)
    if match and match[1] not in REDUCTIONS and (near := nearest(match[1], REDUCTIONS)):
        raise InputError(f"want {text}: there is no number {match[1]}(..){near}")
    if not match or match[1] not in REDUCTIONS:
        return _series(text, text, names, suffixes)
    found = _series(text, match[2].strip(), names, suffixes)
    path = found.table == "points" and found.component < 0
    if (match[1] == "length") != path:
        reason = "length is that of a point's path: length(P)" if match[1] == "length" else "name a component: P.x"
        raise InputError(f"want {text}: {reason}")
    return replace(found, text=text, how=match[1], component=max(found.component, 0))


def _series(text: str, what: str, names: Mapping[str, Sequence[str]], suffixes: Suffixes) -> Want:
    """Return the series that is called `what`: an entry of a table, or one of the numbers that an entry has."""
    prefix, _, rest = what.partition(".")
    ways = [(what, tuple(PREFIXES.values()))]
    if prefix in PREFIXES:
        ways.insert(0, (rest, (PREFIXES[prefix],)))
    has: list[str] = []
    for called, tables in ways:
        for table in tables:
            if called in names[table]:
                if table != "actuators":
                    return Want(text, table, called)
                has.append(f"{called}.effort")  # which is all that it has
        owner, _, suffix = called.rpartition(".")
        for table in tables:
            if owner not in names[table]:
                continue
            has += [f"{owner}.{other}" for other in suffixes[table]]
            if suffix in suffixes[table]:
                if table in BESIDE:
                    return Want(text, "efforts" if (table, suffix) == ("drivers", "effort") else table, owner)
                name = f"joint.{owner}.{suffix}" if table == "joints" else f"{owner}.{suffix}"  # that of its column
                return Want(name, table, owner, "", *suffixes[table][suffix])
    if has:
        raise InputError(f"want {text}: there is no '{what}'{nearest(what, has)} - there are {', '.join(has)}")
    every = [*names["points"], *names["bodies"], *names["joints"], *names["drivers"], *WHOLE]
    every += [f"{n}.effort" for n in (*names["drivers"], *names["actuators"])]
    listed = ", ".join([*names["points"], *names["bodies"]][:12])
    more = f" - there are {listed}; numbers are {', '.join(f'{r}(..)' for r in REDUCTIONS)}, {', '.join(WHOLE)}"
    raise InputError(f"want {text}: there is no series '{what}'{nearest(what, every)}{more}")
