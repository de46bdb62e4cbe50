"""Newton over the lanes of a block: serial steps over several lanes hold the branch, the others are done at once.

The sequencer calls it by address, so that it is compiled only where a run is long enough for it.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import carray, cfunc, njit, types

from .sequencer import (
    ADDRESS,
    CALLED,
    COLUMN_STRIDE,
    FAR,
    FEWEST,
    INTERNAL,
    N_ARGUMENTS,
    N_PHI,
    PHI,
    SETTLE,
    SKIPPED,
    STRIDE,
    call_item,
    missed,
)
from .sources import dated

# lanes of one serial step where it is not one lane, and steps of one lane after a longer one that was not trusted
SHORTEST, LONGEST, PAUSE = 4, 32, 16
# The miss of the predictions as a share of the way of a step, which grows with its square: a long step is taken only
# below TRUSTED, and the next one is shorter above HARD, longer where it will stay below it.
TRUSTED, HARD = 0.06, 0.03
_INTS, _FLOATS = types.CPointer(types.int64), types.CPointer(types.float64)
SIGNATURE = types.int64(_INTS, _INTS, _INTS, _FLOATS, _FLOATS, *[types.int64] * N_ARGUMENTS)


@dated
def at_once(  # type: ignore[no-untyped-def]
    step_at, item_at, call_at, t_at, out_at, item_address, numbers, changes, signs, t_address, q, qdot, qddot,
    out_address, outdot, outddot, call_address, first, last, work
):  # fmt: skip
    """Do the lanes of a block: the row of the step, its table, the arrays that are read here, and what items get.

    As long as the predictions of a step, forth and back, meet its ends well enough, the lanes between are seeded by
    interpolation and wait for the function that solves all of them at once; elsewhere, and where a lane does not
    settle, the serial sweep does lane by lane. Returns the number of lanes without a solution: all from the first on.
    """
    step, item, call, t = carray(step_at, FAR), carray(item_at, FAR), carray(call_at, FAR), carray(t_at, FAR)
    n = call[STRIDE]
    out = carray(out_at, (3, call[COLUMN_STRIDE] // n, n))
    rows = item[step[PHI] : step[PHI] + step[N_PHI]]
    arguments = (
        item_address, numbers, changes, signs, t_address, q, qdot, qddot, out_address, outdot, outddot, call_address,
        first, last, work,
    )  # fmt: skip
    if one_lane(step, arguments, call, first, 0) > 0:
        return without_solution(rows, out, first, last)
    a, run, size, pause, waiting = first, first + 1, 1, 0, False
    while a + 1 < last:
        b = min(a + size, last - 1)
        failed = one_lane(step, arguments, call, b, b - a - 1)
        share = missed(rows, t, out, a, b) if failed == 0 else np.inf
        if b > a + 1:
            if not share <= TRUSTED:
                size = size // 2 if size > SHORTEST else 1
                pause = PAUSE
                continue
            seed(rows, t, out, a, b)
            waiting = True
        else:
            if waiting:  # a step of one lane ends a run of longer ones
                k = finish(step, rows, arguments, call, out, run, b)
                if k < b:
                    return without_solution(rows, out, k, last)
                waiting = False
            if failed > 0:
                return without_solution(rows, out, b, last)
            run = b + 1
        a = b
        if size == 1:
            pause -= 1
            if pause < 0 and share * SHORTEST * SHORTEST < HARD:
                size = SHORTEST
        elif share > HARD and size > SHORTEST:
            size = size // 2
        elif share * 4.0 < HARD and size < LONGEST:
            size += size
    if waiting:
        k = finish(step, rows, arguments, call, out, run, last)
        if k < last:
            return without_solution(rows, out, k, last)
    return 0


@njit(**INTERNAL)
@dated
def one_lane(step, arguments, call, k, skipped):  # type: ignore[no-untyped-def]
    """Do one lane by the serial sweep, predicted from the lane `skipped` + 1 before it; 1 where it has no solution."""
    call[SKIPPED] = skipped
    failed = call_item(step[ADDRESS], (*arguments[:12], np.int64(k), np.int64(k + 1), arguments[14]))
    call[SKIPPED] = 0
    return failed


@njit(**INTERNAL)
@dated
def seed(rows, t, out, a, b):  # type: ignore[no-untyped-def]
    """Write φ of the lanes between a and b by quintic Hermite interpolation of φ and its rates there."""
    H, begin = t[b] - t[a], t[a]
    inverse = 1.0 / H
    for row in rows:
        line = out[0, row]
        x, v, w = out[0, row, a], H * out[1, row, a], 0.5 * H * H * out[2, row, a]
        y, u, z = out[0, row, b], H * out[1, row, b], 0.5 * H * H * out[2, row, b]
        d, e, f = y - x - v - w, u - v - 2.0 * w, z - w
        c3, c4, c5 = 10.0 * d - 4.0 * e + f, -15.0 * d + 7.0 * e - 2.0 * f, 6.0 * d - 3.0 * e + f
        for k in range(np.uint64(a + 1), np.uint64(b)):
            s = (t[k] - begin) * inverse
            line[k] = x + s * (v + s * (w + s * (c3 + s * (c4 + s * c5))))


@njit(**INTERNAL)
@dated
def finish(step, rows, arguments, call, out, first, last):  # type: ignore[no-untyped-def]
    """Solve seeded lanes at once, one by one where they are few or do not settle; the first without a solution."""
    few = last - first < FEWEST
    if not few:
        lanes = (np.int64(first), np.int64(last), arguments[14])
        if call_item(step[SETTLE], (*arguments[:12], *lanes)) == 0:
            return last
    for k in range(first, last):
        if (few or not np.isfinite(out[0, rows[0], k])) and one_lane(step, arguments, call, k, 0) > 0:
            return k
    return last


@njit(**INTERNAL)
@dated
def without_solution(rows, out, k, last):  # type: ignore[no-untyped-def]
    """Make all lanes after k, which has no solution, NaN, as those are that would go on from it; their number."""
    for row in rows:
        for order in range(3):
            for i in range(k + 1, last):
                out[order, row, i] = np.nan
    return last - k


@functools.cache
def compiled() -> Any:
    """Return the C function, compiled at first use."""
    return cfunc(SIGNATURE, **CALLED)(at_once)
