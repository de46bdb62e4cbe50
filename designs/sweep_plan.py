"""What a sweep is asked for: its designs (a grid, or a Latin hypercube) and what is kept of each."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
BODY = {"angle": 0, "omega": 1, "alpha": 2}


def grid(over: Sequence[str]) -> dict[str, Array]:
    """Return the designs of all combinations of `a=first:last:count` or `a=1,2,3`, the last one changing fastest."""
    axes: dict[str, Array] = {}
    for text in over:
        name, parts = _axis(text)
        if len(parts) == 2 and ":" in text:
            raise InputError(f"over {text}: lacks the count of a grid, {text}:50 - or give samples N")
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
    bounds = {}
    for text in over:
        name, parts = _axis(text)
        if ":" not in text or len(parts) != 2:
            raise InputError(f"over {text}: with samples it is name=first:last")
        bounds[name] = parts
    points = qmc.LatinHypercube(len(bounds), rng=np.random.default_rng(seed)).random(samples)
    return {n: b[0] + (b[1] - b[0]) * points[:, k] for k, (n, b) in enumerate(bounds.items())}


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
    table: str  # points, bodies, joints, efforts; "" of a whole design
    name: str = ""
    how: str = ""
    order: int = 0
    component: int = 0


def split(text: str) -> list[str]:
    """Return the parts of a list with commas, those in parentheses kept together."""
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def wants(given: Sequence[str], names: Mapping[str, Sequence[str]]) -> list[Want]:
    """Return what is wanted by name; `names` are those of points, bodies, joints and drivers."""
    return [_want(text, names) for text in given]


def _want(text: str, names: Mapping[str, Sequence[str]]) -> Want:
    if text in WHOLE:
        return Want(text, "", how=text)
    match = re.fullmatch(r"(\w+)\((.*)\)", text)
    if match and match[1] in REDUCTIONS:
        what = match[2].strip()
        table, name, order, component = _series(text, what, names, True)
        if (match[1] == "length") != (table == "points" and component < 0):
            reason = "length is that of a point's path: length(P)" if match[1] == "length" else "name a component: P.x"
            raise InputError(f"want {text}: {reason}")
        return Want(text, table, name, match[1], order, max(component, 0))
    table, name, _, component = _series(text, text, names, False)
    return Want(text, table, name)


def _series(text: str, what: str, names: Mapping[str, Sequence[str]], components: bool) -> tuple[str, str, int, int]:
    tables = {"point": "points", "body": "bodies", "joint": "joints"}
    head, dot, tail = what.partition(".")
    if dot and head in tables and tail in names[tables[head]]:
        return tables[head], tail, 0, -1 if head == "point" else 0
    for table in ("points", "bodies", "joints"):
        if what in names[table]:
            return table, what, 0, -1 if table == "points" else 0
    owner, _, suffix = what.rpartition(".")
    if suffix == "effort" and owner in names["drivers"] and not components:
        return "efforts", owner, 0, 0
    owner = owner.removeprefix("point.") if owner.removeprefix("point.") in names["points"] else owner
    if components and owner in names["points"] and suffix in COMPONENTS:
        return "points", owner, *COMPONENTS[suffix]
    if components and owner in names["bodies"] and suffix in BODY:
        return "bodies", owner, BODY[suffix], 0
    every = [*names["points"], *names["bodies"], *names["joints"], *(f"{d}.effort" for d in names["drivers"]), *WHOLE]
    more = f"; numbers are {', '.join(f'{r}(..)' for r in REDUCTIONS)}, {', '.join(WHOLE)}"
    raise InputError(f"want {text}: there is no series '{what}'{nearest(what, every)}{more}")
