"""Values of a pool as a function of doubles: straight-line Python, ready at once, for a few hundred evaluations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from . import printer
from .value_numbering import Pool, Value

Array = NDArray[np.float64]


def function(names: Sequence[str], find: Callable[[Pool], Sequence[Value]]) -> Callable[..., Array]:
    """Return what `find` asks of a pool with these inputs; not a number throughout where one has no real value."""
    pool = Pool(names)
    rows = find(pool)
    results = [pool.assign(pool.fresh(f"_r{i}"), row).name for i, row in enumerate(rows)]
    lines = [printer.statement(a, 1) for section in pool.sections() for a in section.statements]
    text = "\n".join([f"def values({', '.join(names)}):", *lines, f" return [{', '.join(results)}]"])
    scope: dict[str, object] = {"math": math}
    exec(compile(text, "<doubles>", "exec"), scope)  # text of the printer alone, names as in the emitted modules
    plain: Callable[..., list[float]] = scope["values"]  # type: ignore[assignment]

    def values(*arguments: float) -> Array:
        try:
            with np.errstate(all="ignore"):
                return np.array(plain(*arguments), dtype=float)
        except (ArithmeticError, ValueError):
            return np.full(len(rows), np.nan)

    return values
