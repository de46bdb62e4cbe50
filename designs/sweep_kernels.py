"""Numbers made of the series of designs while these are in the cache. Imported only where designs run: loads Numba."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..runtime.sources import dated
from .design_kernels import OPTIONS

MAX, MIN, RANGE, MEAN, LENGTH, TRANSMISSION, TURN = range(7)
CODES = {"max": MAX, "min": MIN, "range": RANGE, "mean": MEAN, "length": LENGTH, "transmission": TRANSMISSION}


FAST = {**OPTIONS, "fastmath": {"contract", "nnan", "nsz", "reassoc", "ninf"}}  # of whole designs: all numbers


@njit(**FAST)
@dated
def extremes(values, n, width):  # type: ignore[no-untyped-def]
    """The least, the largest and the sum of n values `width` apart, in vectors."""
    least, largest, total = 1e300, -1e300, 0.0
    for k in range(np.uint64(n)):
        x = values[k * width]
        least = x if x < least else least
        largest = x if x > largest else largest
        total += x
    return least, largest, total


@njit(**FAST)
@dated
def path_length(values, n):  # type: ignore[no-untyped-def]
    """The sum of the distances between n points of the plane."""
    total = 0.0
    for k in range(np.uint64(n - 1)):
        i = k * np.uint64(2)
        x = values[i + np.uint64(2)] - values[i]
        y = values[i + np.uint64(3)] - values[i + np.uint64(1)]
        total += math.sqrt(x * x + y * y)
    return total


@njit(**FAST)
@dated
def transmission(values, dyads, n):  # type: ignore[no-untyped-def]
    """The least sine of the angle between the bars of the dyads."""
    least = 1.0
    for i in range(len(dyads)):
        a, b, c = values[dyads[i, 0] :], values[dyads[i, 1] :], values[dyads[i, 2] :]
        for k in range(np.uint64(n)):
            x, y = k * np.uint64(2), k * np.uint64(2) + np.uint64(1)
            ux, uy, vx, vy = a[x] - b[x], a[y] - b[y], c[x] - b[x], c[y] - b[y]
            cross, square = ux * vy - uy * vx, (ux * ux + uy * uy) * (vx * vx + vy * vy)
            sine = cross * cross / square
            least = sine if sine < least else least
    return math.sqrt(least)


@njit(**OPTIONS)
@dated
def reduce_designs(out, answers, plan, dyads, n, found):  # type: ignore[no-untyped-def]
    """Write found[design, reduction]; NaN where a design is not whole.

    plan: rows of code, order, place, width, component. dyads: places of the three points of each RRR dyad.
    """
    for d in range(len(out)):
        for r in range(len(plan)):
            code, order, place, width, component = plan[r, 0], plan[r, 1], plan[r, 2], plan[r, 3], plan[r, 4]
            if code == TURN:
                found[d, r] = 1.0 if answers[d, 0] == 0 else 0.0
            elif answers[d, 0] != 0:
                found[d, r] = np.nan
            elif code == LENGTH and width == 2:
                found[d, r] = path_length(out[d, order, place:], n)
            elif code == LENGTH:
                total = 0.0
                for k in range(n - 1):
                    square = 0.0
                    for c in range(width):
                        step = out[d, order, place + (k + 1) * width + c] - out[d, order, place + k * width + c]
                        square += step * step
                    total += math.sqrt(square)
                found[d, r] = total
            elif code == TRANSMISSION:
                found[d, r] = transmission(out[d, 0], dyads, n)
            else:
                least, largest, total = extremes(out[d, order, place + component :], n, np.uint64(width))
                if code == MAX:
                    found[d, r] = largest
                elif code == MIN:
                    found[d, r] = least
                else:
                    found[d, r] = largest - least if code == RANGE else total / n
