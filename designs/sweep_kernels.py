"""Numbers made of the series of designs while these are in the cache. Imported only where designs run: loads Numba."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..runtime.sources import dated
from .design_kernels import OPTIONS, run_designs

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
def plane_extremes(values, n):  # type: ignore[no-untyped-def]
    """The same of both components of n points of the plane: least, largest and sum of x, then of y."""
    x0, x1, sx, y0, y1, sy = 1e300, -1e300, 0.0, 1e300, -1e300, 0.0
    for k in range(np.uint64(n)):
        x, y = values[k * np.uint64(2)], values[k * np.uint64(2) + np.uint64(1)]
        x0 = x if x < x0 else x0
        x1 = x if x > x1 else x1
        sx += x
        y0 = y if y < y0 else y0
        y1 = y if y > y1 else y1
        sy += y
    return x0, x1, sx, y0, y1, sy


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
def length_of(values, n, width):  # type: ignore[no-untyped-def]
    """The sum of the distances between n points of so many components."""
    if width == 2:
        return path_length(values, n)
    total = 0.0
    for k in range(n - 1):
        square = 0.0
        for c in range(width):
            step = values[(k + 1) * width + c] - values[k * width + c]
            square += step * step
        total += math.sqrt(square)
    return total


@njit(**OPTIONS)
@dated
def reduce_designs(out, answers, plan, dyads, n, found):  # type: ignore[no-untyped-def]
    """Write found[design, reduction]; NaN where a design is not whole.

    plan: rows of code, order, place, width, component and number of the reduction, those of one series together. dyads:
    places of the three points of each RRR dyad.
    """
    for d in range(len(out)):
        seen_order, seen_place, seen = -1, -1, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for r in range(len(plan)):
            code, order, place = plan[r, 0], plan[r, 1], plan[r, 2]
            width, component, at = plan[r, 3], plan[r, 4], plan[r, 5]
            if code == TURN:
                found[d, at] = 1.0 if answers[d, 0] == 0 else 0.0
                continue
            if answers[d, 0] != 0:
                found[d, at] = np.nan
                continue
            if code == LENGTH:
                found[d, at] = length_of(out[d, order, place:], n, width)
                continue
            if code == TRANSMISSION:
                found[d, at] = transmission(out[d, 0], dyads, n)
                continue
            if width == 2:
                if order != seen_order or place != seen_place:
                    seen_order, seen_place, seen = order, place, plane_extremes(out[d, order, place:], n)
                least, largest, total = seen[3 * component], seen[3 * component + 1], seen[3 * component + 2]
            else:
                least, largest, total = extremes(out[d, order, place + component :], n, np.uint64(width))
            if code == MAX:
                found[d, at] = largest
            elif code == MIN:
                found[d, at] = least
            else:
                found[d, at] = largest - least if code == RANGE else total / n


@njit(**OPTIONS)
@dated
def reduced_designs(numbers, kept, fixed, room, varied, answers, plan, dyads, asked, found):  # type: ignore[no-untyped-def]
    """Run designs a few at a time and reduce them while their series are in the cache."""
    functions, rows, phases, unknowns, tables, t, state = fixed
    calls, lanes, scratch, bound = varied
    for first in range(0, len(numbers), len(room)):
        last = min(first + len(room), len(numbers))
        out, told = room[: last - first], answers[first:last]
        run_designs(
            numbers[first:last], kept[first:last], functions, rows, phases, unknowns, tables, t, state, out, calls,
            lanes, scratch, bound, told,
        )  # fmt: skip
        reduce_designs(out, told, plan, dyads, asked, found[first:last])
