"""Numbers written past the caches: results larger than these, which nobody reads before the last of them is written.

A common store fetches its line from memory first and drives another one out of the cache, so that a large result costs
the memory twice. Imported only where compiled code runs: Numba.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from ..common.lines import LINE
from .sequencer import INTERNAL
from .sources import dated

WORTH = 1 << 22  # bytes; smaller results are still in the caches when they are read


@intrinsic
def put_line(_: Any, to: Any, source: Any) -> Any:
    """Copy a line of the cache between two addresses; `to` begins a line."""

    def emit(context: Any, builder: Any, _: Any, places: Any) -> Any:
        line = ir.VectorType(ir.DoubleType(), LINE)
        at, source_at = (builder.inttoptr(place, line.as_pointer()) for place in places)
        stored = builder.store(builder.load(source_at, align=8), at, align=8 * LINE)
        stored.set_metadata("nontemporal", builder.module.add_metadata([ir.IntType(32)(1)]))
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), emit


@intrinsic
def settle(_: Any) -> Any:
    """Wait until all that was written past the caches stands in memory, for other threads too."""

    def emit(context: Any, builder: Any, *_: Any) -> Any:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), emit


@njit(**INTERNAL)
@dated
def stream(to, source):  # type: ignore[no-untyped-def]
    """Copy numbers that lie one behind the other; call `settle` behind the last."""
    count = len(source)
    at, source_at = to.ctypes.data, source.ctypes.data
    head = min(count, -(at // 8) % LINE)
    tail = count - (count - head) % LINE
    for k in range(np.uint64(head)):
        to[k] = source[k]
    for k in range(head, tail, LINE):
        put_line(at + 8 * k, source_at + 8 * k)
    for k in range(np.uint64(tail), np.uint64(count)):
        to[k] = source[k]
