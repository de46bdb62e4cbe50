"""The least and the largest of a row of lanes, in vectors. Imported only where designs run: loads Numba.

A minimum written as a comparison stays in one register, because its choice may be between numbers that are none;
LLVM's own minimum, said to be of numbers, goes through lanes in vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from ..runtime.sequencer import OPTIONS
from ..runtime.sources import dated

# of numbers alone: who calls has seen that none is missing
IN_VECTORS: dict[str, Any] = {**OPTIONS, "fastmath": {"contract", "nnan", "nsz", "reassoc"}}


def _choice(name: str) -> Any:
    """Return LLVM's choice between two numbers."""

    @intrinsic
    def choose(typing_context, a, b):  # type: ignore[no-untyped-def]
        from llvmlite import ir

        def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
            double = ir.DoubleType()
            function = ir.FunctionType(double, [double, double])
            chosen = builder.module.declare_intrinsic(f"llvm.{name}", [double], function)
            return builder.call(chosen, values, fastmath=("nnan", "nsz"))

        return types.float64(types.float64, types.float64), generate

    return choose


lower, higher = _choice("minnum"), _choice("maxnum")


@njit(**IN_VECTORS)
@dated
def bounds_and_sum(x, last):  # type: ignore[no-untyped-def]
    """The least, the largest and the sum of x[:last]."""
    least, most, total = x[0], x[0], 0.0
    for k in range(np.uint64(last)):
        least, most = lower(least, x[k]), higher(most, x[k])
        total += x[k]
    return least, most, total


@njit(**IN_VECTORS)
@dated
def least_and_steepest(x, last):  # type: ignore[no-untyped-def]
    """The least of x[:last] and the largest difference of two neighbours."""
    least, steepest = x[last - 1], 0.0
    for k in range(np.uint64(last - 1)):
        least, steepest = lower(least, x[k]), higher(steepest, abs(x[k + np.uint64(1)] - x[k]))
    return least, steepest


@njit(**IN_VECTORS)
@dated
def steepest_of_two(x, y, last):  # type: ignore[no-untyped-def]
    """The largest difference of two neighbours in x[:last] and in y[:last]."""
    steepest, other = 0.0, 0.0
    for k in range(np.uint64(last - 1)):
        j = k + np.uint64(1)
        steepest, other = higher(steepest, abs(x[j] - x[k])), higher(other, abs(y[j] - y[k]))
    return higher(steepest, other)
