"""Numbers made of the series of a design while these are in the cache. Imported only where designs run: loads Numba."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..runtime.sequencer import INTERNAL, LEAST, OPTIONS
from ..runtime.sources import dated
from .design_kernels import WHOLE, run_design
from .lane_bounds import IN_VECTORS, bounds_and_sum, higher, lower

MAX, MIN, RANGE, MEAN, LENGTH, TRANSMISSION, TURN = range(7)
CODES = {"max": MAX, "min": MIN, "range": RANGE, "mean": MEAN, "length": LENGTH, "transmission": TRANSMISSION}


@njit(**INTERNAL)
@dated
def factor(numbers, place):  # type: ignore[no-untyped-def]
    """The factor of a row in a combination; zero where the row is no part of it."""
    return numbers[place] if place >= 0 else 0.0


@njit(**IN_VECTORS)
@dated
def plane_bounds(q, stride, point, numbers, n, across, upwards):  # type: ignore[no-untyped-def]
    """Least, largest and sum of x and of y of a point of the plane, which is written into two rows.

    point: the four rows of q that it is combined of, then the places of their factors in x and in y.
    """
    r0, r1 = np.uint64(point[0] * stride), np.uint64(point[1] * stride)
    r2, r3 = np.uint64(point[2] * stride), np.uint64(point[3] * stride)
    a0, a1, a2, a3 = (
        factor(numbers, point[4]), factor(numbers, point[5]), factor(numbers, point[6]), factor(numbers, point[7])
    )  # fmt: skip
    b0, b1, b2, b3 = (
        factor(numbers, point[8]), factor(numbers, point[9]), factor(numbers, point[10]), factor(numbers, point[11])
    )  # fmt: skip
    left = right = (a0 * q[r0] + a1 * q[r1]) + (a2 * q[r2] + a3 * q[r3])
    low = high = (b0 * q[r0] + b1 * q[r1]) + (b2 * q[r2] + b3 * q[r3])
    along, up = 0.0, 0.0
    for k in range(np.uint64(n)):
        q0, q1, q2, q3 = q[r0 + k], q[r1 + k], q[r2 + k], q[r3 + k]
        u, v = (a0 * q0 + a1 * q1) + (a2 * q2 + a3 * q3), (b0 * q0 + b1 * q1) + (b2 * q2 + b3 * q3)
        left, right, low, high = lower(left, u), higher(right, u), lower(low, v), higher(high, v)
        along += u
        up += v
        across[k], upwards[k] = u, v
    return left, right, along, low, high, up


@njit(**OPTIONS)
@dated
def reduce_rows(state, status, numbers, points, plan, least_sine, n, room, found):  # type: ignore[no-untyped-def]
    """Write found[reduction] of points of the plane from the rows of a state; `plan` has a point's number as its place.

    points: rows and factors of each. room: a row for each component of one point at least.
    """
    q, stride, seen = state[0].reshape(state.shape[1] * state.shape[2]), state.shape[2], -1
    across, upwards, numbered = room[:n], room[(n + 7) // 8 * 8 :], (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for r in range(len(plan)):
        code, point, o, to = plan[r, 0], plan[r, 2], 3 * plan[r, 4], plan[r, 5]
        if code == TURN:
            found[to] = 1.0 if status == WHOLE else 0.0
        elif status != WHOLE:
            found[to] = np.nan
        elif code == TRANSMISSION:
            found[to] = math.sqrt(least_sine)
        else:
            if point != seen:
                seen, numbered = point, plane_bounds(q, stride, points[point], numbers, n, across, upwards)
            if code == LENGTH:
                found[to] = path_length(across, upwards, n)
            else:
                found[to] = of_bounds(code, numbered[o], numbered[o + 1], numbered[o + 2], n)


@njit(**OPTIONS)
@dated
def of_bounds(code, least, most, total, n):  # type: ignore[no-untyped-def]
    """One number of a series."""
    return most if code == MAX else least if code == MIN else most - least if code == RANGE else total / n


@njit(**IN_VECTORS)
@dated
def path_length(x, y, n):  # type: ignore[no-untyped-def]
    """The sum of the distances between n points of the plane."""
    total = 0.0
    for k in range(np.uint64(n - 1)):
        u, v = x[k + np.uint64(1)] - x[k], y[k + np.uint64(1)] - y[k]
        total += math.sqrt(u * u + v * v)
    return total


@njit(**IN_VECTORS)
@dated
def path_length_in_space(x, y, z, n):  # type: ignore[no-untyped-def]
    """The same in space."""
    total = 0.0
    for k in range(np.uint64(n - 1)):
        u, v, w = x[k + np.uint64(1)] - x[k], y[k + np.uint64(1)] - y[k], z[k + np.uint64(1)] - z[k]
        total += math.sqrt(u * u + v * v + w * w)
    return total


@njit(**IN_VECTORS)
@dated
def transmission(values, dyads, n):  # type: ignore[no-untyped-def]
    """The least squared sine of the angle between the bars of the dyads, from the places of their points."""
    least = 1.0
    for i in range(len(dyads)):
        a, b, c = values[dyads[i, 0] :], values[dyads[i, 1] :], values[dyads[i, 2] :]
        for k in range(np.uint64(n)):
            y = k + np.uint64((n + 7) // 8 * 8)
            ux, uy, vx, vy = a[k] - b[k], a[y] - b[y], c[k] - b[k], c[y] - b[y]
            cross, square = ux * vy - uy * vx, (ux * ux + uy * uy) * (vx * vx + vy * vy)
            least = lower(least, cross * cross / square)
    return least


@njit(**OPTIONS)
@dated
def reduce_design(out, status, plan, dyads, n, found):  # type: ignore[no-untyped-def]
    """Write found[reduction] of out[order, place], components one behind the other; NaN where a design is not whole.

    plan: rows of code, order, place, width, component and number of the reduction, those of one series together. dyads:
    places of the three points of each RRR dyad.
    """
    seen_order, seen_at, least, most, total = -1, -1, 0.0, 0.0, 0.0
    stride = (n + 7) // 8 * 8
    for r in range(len(plan)):
        code, order, width, to = plan[r, 0], plan[r, 1], plan[r, 3], plan[r, 5]
        at = plan[r, 2] + plan[r, 4] * stride
        x = out[order, at:]
        if code == TURN:
            found[to] = 1.0 if status == WHOLE else 0.0
        elif status != WHOLE:
            found[to] = np.nan
        elif code == TRANSMISSION:
            found[to] = math.sqrt(transmission(out[0], dyads, n))
        elif code == LENGTH and width == 2:
            found[to] = path_length(x, x[stride:], n)
        elif code == LENGTH:
            found[to] = path_length_in_space(x, x[stride:], x[2 * stride :], n)
        else:
            if order != seen_order or at != seen_at:
                seen_order, seen_at = order, at
                least, most, total = bounds_and_sum(x, n)
            found[to] = of_bounds(code, least, most, total, n)


@njit(**OPTIONS)
@dated
def reduce_designs(out, answers, plan, dyads, n, found):  # type: ignore[no-untyped-def]
    """Reduce designs whose series stand in out[design, order, place]."""
    for d in range(len(out)):
        reduce_design(out[d], answers[d, 0], plan, dyads, n, found[d])


@njit(**OPTIONS)
@dated
def reduced_designs(numbers, kept, fixed, room, varied, answers, plan, dyads, rows, asked, found):  # type: ignore[no-untyped-def]
    """Run designs one after the other and reduce each while its series are in the cache.

    rows: the dyads by their numbers in the report of a run, points that are reduced without being written, and the
    plan of these; where it is empty, series are written and reduced.
    """
    functions, driver_rows, phases, unknowns, tables, t, state = fixed
    calls, lanes, scratch, bound = varied
    report = scratch[5]
    watched, points, from_rows = rows
    for d in range(len(numbers)):
        run_design(
            numbers[d], kept[d], functions, driver_rows, phases, unknowns, tables, t, state, room, calls, lanes,
            scratch, bound, answers[d],
        )  # fmt: skip
        if len(from_rows) == 0:
            reduce_design(room, answers[d, 0], plan, dyads, asked, found[d])
            continue
        least = 1.0
        for i in watched:
            least = min(least, report[i, LEAST])
        reduce_rows(state, answers[d, 0], numbers[d], points, from_rows, least, asked, room[0], found[d])
