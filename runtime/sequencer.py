"""The one sequencer: for each stretch of one branch, each block of lanes, each item of a program, a call by address.

Every item, a group of any type, a combination of rows, a continuous angle, is a C function of one signature, so that
this loop is compiled once for all mechanisms. The same loop solves a program, looks at its quality, carries columns
of the velocity transformation or of sensitivities through it, and with one lane is the right-hand side of the
integrator: only the addresses differ. Imported only where something runs, because it loads Numba.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import carray, cfunc, njit, types
from numba.extending import intrinsic

from . import lanemath as math
from .sources import dated

# Without Numba's run-time (_nrt) nothing here can allocate: code that tried would not compile.
OPTIONS: dict[str, Any] = {
    "cache": True, "error_model": "numpy", "fastmath": {"contract"}, "nogil": True, "no_cfunc_wrapper": True,
    "_nrt": False,
}  # fmt: skip
CALLED: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}
_INTS, _FLOATS = types.CPointer(types.int64), types.CPointer(types.float64)
# item, numbers, changes, signs, t; q, qdot, qddot; out, outdot, outddot; call; first, last; work
SIGNATURE = types.int64(_INTS, *[_FLOATS] * 10, _INTS, types.int64, types.int64, _FLOATS)
N_ARGUMENTS = 15

# places in the integers of a call
STRIDE, START, COLUMNS, COLUMN_STRIDE, CHANGE_STRIDE, ITERATIONS, SKIPPED, ORDERS, CALL_SIZE = range(9)
# columns of the table of steps: address, address of the assembly (0: none), place of the item's table, first φ, number,
# address of Newton for all lanes at once (0: none)
ADDRESS, ASSEMBLY, PLACE, PHI, N_PHI, SETTLE, STEP_SIZE = range(7)
# columns of the report of a look at the quality
LEAST, LEAST_AT, RESIDUAL, SUSPECTS, STRAYS, REPORT_SIZE = range(6)
NEAR = 0.35  # conditioning below which two branches may meet between two lanes
FAR_OFF = 0.25  # distance from the prediction, as a share of the way of the step, that is not trusted
# Newton at once: lanes of one serial step where it is not one lane, lanes worth it, and steps of one lane after a
# longer one that was not trusted.
SHORTEST, LONGEST, FEWEST, PAUSE = 4, 32, 32, 16
# The miss of the predictions as a share of the way of a step, which grows with its square: a long step is taken only
# below TRUSTED, and the next one is shorter above HARD, longer where it will stay below it.
TRUSTED, HARD = 0.06, 0.03
FAR = 1 << 40  # arrays come to C functions as bare pointers: their lengths are not looked at
BLOCK = 12288  # lanes of a block: the rows of an item and of the one before stay near, and calls are few


def caller(n: int) -> Any:
    """Return a compiled call of a C function by its address with n integer or pointer arguments; returns an integer."""

    @intrinsic
    def call(typing_context, address, arguments):  # type: ignore[no-untyped-def]
        from llvmlite import ir

        signature = types.int64(types.int64, types.UniTuple(types.int64, n))

        def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
            word = ir.IntType(64)
            function = builder.inttoptr(values[0], ir.FunctionType(word, [word] * n).as_pointer())
            parts = [builder.extract_value(values[1], i) for i in range(n)]
            return builder.call(function, parts)

        return signature, generate

    return call


call_item = caller(N_ARGUMENTS)


@njit(**OPTIONS)
@dated
def sequence(steps, tables, numbers, changes, signs, edges, t, state, out, call, work, block, lost, modes, report):  # type: ignore[no-untyped-def]
    """Do all steps for the lanes edges[0] to edges[-1] - 1; signs[i] are those of the stretch from edges[i] on.

    `state` and `out` are (order, row, lane). `lost`: the first lane of a block in which a step has lanes without a
    solution. `modes`, where it is not empty: the groups are assembled at the first lane, and this is in how many ways
    (0 ends the run). `report`, where it is not empty: what the lanes of `out` say about a step's quality.
    """
    q, qdot, qddot = state[0].ctypes.data, state[1].ctypes.data, state[2].ctypes.data
    settles = steps.shape[1] > SETTLE  # a table may end before that column
    for i in range(len(edges) - 1):
        for first in range(edges[i], edges[i + 1], block):
            last = min(first + block, edges[i + 1])
            for j in range(len(steps)):
                item = tables.ctypes.data + 8 * steps[j, PLACE]
                arguments = (
                    item, numbers.ctypes.data, changes.ctypes.data, signs[i].ctypes.data, t.ctypes.data,
                    q, qdot, qddot, out[0].ctypes.data, out[1].ctypes.data, out[2].ctypes.data,
                    call.ctypes.data, np.int64(first), np.int64(last), work.ctypes.data,
                )  # fmt: skip
                if len(modes) > 0 and first == call[START] and steps[j, ASSEMBLY] != 0:
                    modes[j] = call_item(steps[j, ASSEMBLY], arguments)
                    if modes[j] == 0:
                        lost[j] = first
                        return
                if settles and steps[j, SETTLE] != 0 and last - first >= FEWEST:
                    without = at_once(steps[j], tables, t, out, call, arguments)
                else:
                    without = call_item(steps[j, ADDRESS], arguments)
                if without > 0 and first < lost[j]:
                    lost[j] = first
                if len(report) > 0:
                    look(out[0, 0], out[1, 0], state, t, tables, steps[j], first, last, report[j])


@njit(**OPTIONS)
@dated
def at_once(step, tables, t, out, call, arguments):  # type: ignore[no-untyped-def]
    """Newton over the lanes of a block: serial steps over several lanes hold the branch, the others are done at once.

    As long as the predictions of a step, forth and back, meet its ends well enough, the lanes between are seeded by
    interpolation and wait for the function that solves all of them at once; elsewhere, and where a lane does not
    settle, the serial sweep does lane by lane. Returns the number of lanes without a solution: all from the first on.
    """
    rows = tables[step[PLACE] + step[PHI] : step[PLACE] + step[PHI] + step[N_PHI]]
    first, last = arguments[12], arguments[13]
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


@njit(**OPTIONS)
@dated
def one_lane(step, arguments, call, k, skipped):  # type: ignore[no-untyped-def]
    """Do one lane by the serial sweep, predicted from the lane `skipped` + 1 before it; 1 where it has no solution."""
    call[SKIPPED] = skipped
    failed = call_item(step[ADDRESS], (*arguments[:12], np.int64(k), np.int64(k + 1), arguments[14]))
    call[SKIPPED] = 0
    return failed


@njit(**OPTIONS)
@dated
def missed(rows, t, out, a, b):  # type: ignore[no-untyped-def]
    """By how much the second-order predictions from lane a to b and back miss, as a share of the way between them.

    The way is that of the speeds at both ends, too: a step may turn round and end where it began.
    """
    dt, way, miss = t[b] - t[a], 1e-300, 0.0
    for row in rows:
        d = out[0, row, b] - out[0, row, a]
        way = max(way, abs(d), abs(dt * out[1, row, a]), abs(dt * out[1, row, b]))
        miss = max(miss, abs(d - dt * (out[1, row, a] + 0.5 * dt * out[2, row, a])))
        miss = max(miss, abs(d - dt * (out[1, row, b] - 0.5 * dt * out[2, row, b])))
    return miss / way


@njit(**OPTIONS)
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


@njit(**OPTIONS)
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


@njit(**OPTIONS)
@dated
def without_solution(rows, out, k, last):  # type: ignore[no-untyped-def]
    """Make all lanes after k, which has no solution, NaN, as those are that would go on from it; their number."""
    for row in rows:
        for order in range(3):
            for i in range(k + 1, last):
                out[order, row, i] = np.nan
    return last - k


@njit(**OPTIONS)
@dated
def look(kappa, residual, state, t, tables, step, first, last, report):  # type: ignore[no-untyped-def]
    """Note the least conditioning, the largest residual, where branches may meet, and steps off their prediction."""
    least, largest = np.inf, report[RESIDUAL]
    for k in range(np.uint64(first), np.uint64(last)):
        least = least if kappa[k] >= least else kappa[k]  # NaN comes through
        largest = largest if residual[k] <= largest else residual[k]
    report[RESIDUAL] = largest
    if not least >= report[LEAST]:
        report[LEAST] = least
        for k in range(first, last):
            if not kappa[k] > least:
                report[LEAST_AT] = k
                break
    if not least >= NEAR:
        for k in range(first + 1, last - 1):
            here, before, behind = kappa[k], kappa[k - 1], kappa[k + 1]
            # a V that reaches zero falls by its own height within one step
            if here < NEAR and here <= before and here <= behind and here <= 1.2 * max(before - here, behind - here):
                report[SUSPECTS] += 1
    if step[N_PHI] < 0:  # closed form: its branch is its sign
        return
    scale = 0.0
    for i in range(step[N_PHI]):
        row = tables[step[PLACE] + step[PHI] + i]
        for k in range(first, last):
            scale = max(scale, abs(state[0, row, k]))
    for k in range(first, last - 1):
        dt = t[k + 1] - t[k]
        way, miss = 0.0, 0.0
        for i in range(step[N_PHI]):
            row = tables[step[PLACE] + step[PHI] + i]
            x, y = state[0, row, k], state[0, row, k + 1]
            way = max(way, abs(y - x))
            miss = max(miss, abs(y - x - dt * (state[1, row, k] + 0.5 * dt * state[2, row, k])))
            miss = max(miss, abs(y - x - dt * (state[1, row, k + 1] - 0.5 * dt * state[2, row, k + 1])))
        if miss > FAR_OFF * way and miss > 1e-4 * scale:
            report[STRAYS] += 1


# ---- items that belong to no type ----------------------------------------------------------------------------------
def constants(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Rows that never change. item: their number, then row and place of each."""
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    for i in range(item[0]):
        row = np.uint64(item[1 + 2 * i] * call[STRIDE])
        value = numbers[item[2 + 2 * i]]
        for k in range(np.uint64(first), np.uint64(last)):
            out[row + k] = value
        for k in range(np.uint64(first), np.uint64(last)):
            outdot[row + k] = 0.0
        for k in range(np.uint64(first), np.uint64(last)):
            outddot[row + k] = 0.0
    return 0


def constant_values(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """The values of rows that never change, where their rates stand as zeros already."""
    item, numbers, call, out = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR), carray(out_at, FAR)
    for i in range(item[0]):
        row = np.uint64(item[1 + 2 * i] * call[STRIDE])
        value = numbers[item[2 + 2 * i]]
        for k in range(np.uint64(first), np.uint64(last)):
            out[row + k] = value
    return 0


def constant_changes(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Changes of rows that never change in time: those of their numbers, and none of their rates."""
    item, changes, call = carray(item_at, FAR), carray(changes_at, FAR), carray(call_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    for c in range(call[COLUMNS]):
        for i in range(item[0]):
            row = np.uint64(item[1 + 2 * i] * call[STRIDE] + c * call[COLUMN_STRIDE])
            value = changes[c * call[CHANGE_STRIDE] + item[2 + 2 * i]]
            for k in range(np.uint64(first), np.uint64(last)):
                out[row + k] = value
            if call[ORDERS] != 1:
                for k in range(np.uint64(first), np.uint64(last)):
                    outdot[row + k] = 0.0
                    outddot[row + k] = 0.0
    return 0


@njit(**OPTIONS)
@dated
def combined(item, at, numbers, source, target, o, n, first, last):  # type: ignore[no-untyped-def]
    """Write one combination of rows of `source` into `target`; item[at]: its row, number of terms, rows and places."""
    row, count = np.uint64(item[at] * n + o), item[at + 1]
    begin, end = np.uint64(first), np.uint64(last)
    done = 0
    while done < count or done == 0:
        left = min(count - done, 4)
        e = at + 2 + 2 * done
        a = numbers[item[e + 1]] if left > 0 else 0.0
        b = numbers[item[e + 3]] if left > 1 else 0.0
        c = numbers[item[e + 5]] if left > 2 else 0.0
        d = numbers[item[e + 7]] if left > 3 else 0.0
        p = np.uint64(item[e] * n + o) if left > 0 else row
        q = np.uint64(item[e + 2] * n + o) if left > 1 else row
        r = np.uint64(item[e + 4] * n + o) if left > 2 else row
        s = np.uint64(item[e + 6] * n + o) if left > 3 else row
        if done > 0:
            for k in range(begin, end):
                value = target[row + k] + a * source[p + k]
                if left > 1:
                    value += b * source[q + k]
                if left > 2:
                    value += c * source[r + k]
                if left > 3:
                    value += d * source[s + k]
                target[row + k] = value
        elif left <= 0:
            for k in range(begin, end):
                target[row + k] = 0.0
        elif left == 1:
            for k in range(begin, end):
                target[row + k] = a * source[p + k]
        elif left == 2:
            for k in range(begin, end):
                target[row + k] = a * source[p + k] + b * source[q + k]
        elif left == 3:
            for k in range(begin, end):
                target[row + k] = a * source[p + k] + b * source[q + k] + c * source[r + k]
        else:
            for k in range(begin, end):
                target[row + k] = (a * source[p + k] + b * source[q + k]) + (c * source[r + k] + d * source[s + k])
        done += 4


def combination(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Rows that are linear combinations. item: their number, then each: row, number of terms, rows and places."""
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    q, qdot, qddot = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    at = 1
    for _ in range(item[0]):
        combined(item, at, numbers, q, out, 0, call[STRIDE], first, last)
        combined(item, at, numbers, qdot, outdot, 0, call[STRIDE], first, last)
        combined(item, at, numbers, qddot, outddot, 0, call[STRIDE], first, last)
        at += 2 + 2 * item[at + 1]
    return 0


def combination_columns(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """The same combinations of the columns in out (or of third derivatives, which are one column)."""
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    out, again = carray(out_at, FAR), carray(out_at, FAR)
    for c in range(call[COLUMNS]):
        at = 1
        for _ in range(item[0]):
            combined(item, at, numbers, again, out, c * call[COLUMN_STRIDE], call[STRIDE], first, last)
            at += 2 + 2 * item[at + 1]
    return 0


@njit(**OPTIONS)
@dated
def combined_changes(item, at, numbers, changes, source, target, again, o, n, first, last):  # type: ignore[no-untyped-def]
    """Write the change of one combination: of its rows in `again` times factors, and of the factors times rows."""
    row = np.uint64(item[at] * n + o)
    for k in range(np.uint64(first), np.uint64(last)):
        target[row + k] = 0.0
    for j in range(item[at + 1]):
        e = at + 2 + 2 * j
        f, df = numbers[item[e + 1]], changes[item[e + 1]]
        p, base = np.uint64(item[e] * n + o), np.uint64(item[e] * n)
        for k in range(np.uint64(first), np.uint64(last)):
            target[row + k] += f * again[p + k] + df * source[base + k]


def combination_changes(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Changes of rows that are linear combinations, with those of the parameters, for the columns in out."""
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    q, qdot, qddot = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    every = carray(changes_at, FAR)
    n = call[STRIDE]
    for c in range(call[COLUMNS]):
        changes, o = every[c * call[CHANGE_STRIDE] :], c * call[COLUMN_STRIDE]
        at = 1
        for _ in range(item[0]):
            combined_changes(item, at, numbers, changes, q, out, out, o, n, first, last)
            if call[ORDERS] != 1:
                combined_changes(item, at, numbers, changes, qdot, outdot, outdot, o, n, first, last)
                combined_changes(item, at, numbers, changes, qddot, outddot, outddot, o, n, first, last)
            at += 2 + 2 * item[at + 1]
    return 0


@njit(**OPTIONS)
@dated
def combine_at(item, e, numbers, q, n, k):  # type: ignore[no-untyped-def]
    """The combination at item[e] (number of terms, then row and place of each) in lane k."""
    total = numbers[item[e + 2]] * q[np.uint64(item[e + 1]) * n + k]
    for j in range(1, item[e]):
        total += numbers[item[e + 2 + 2 * j]] * q[np.uint64(item[e + 1 + 2 * j]) * n + k]
    return total


@njit(**OPTIONS)
@dated
def principal(item, numbers, q, qdot, qddot, out, outdot, outddot, n, first, last):  # type: ignore[no-untyped-def]
    """Write the angle between -π and π of a direction whose components are one or two terms each, and its rates."""
    nx = item[2]
    ny = item[3 + 2 * nx]
    a, e = np.uint64(item[0]) * n, 3 + 2 * nx
    x0, f0 = np.uint64(item[3]) * n, numbers[item[4]]
    x1, f1 = (np.uint64(item[5]) * n, numbers[item[6]]) if nx > 1 else (x0, 0.0)
    y0, g0 = np.uint64(item[e + 1]) * n, numbers[item[e + 2]]
    y1, g1 = (np.uint64(item[e + 3]) * n, numbers[item[e + 4]]) if ny > 1 else (y0, 0.0)
    for k in range(np.uint64(first), np.uint64(last)):
        x = f0 * q[x0 + k] + f1 * q[x1 + k]
        y = g0 * q[y0 + k] + g1 * q[y1 + k]
        xd = f0 * qdot[x0 + k] + f1 * qdot[x1 + k]
        yd = g0 * qdot[y0 + k] + g1 * qdot[y1 + k]
        xdd = f0 * qddot[x0 + k] + f1 * qddot[x1 + k]
        ydd = g0 * qddot[y0 + k] + g1 * qddot[y1 + k]
        inverse = 1.0 / (x * x + y * y)
        rate = (x * yd - y * xd) * inverse
        out[a + k] = math.atan2(y, x)
        outdot[a + k] = rate
        outddot[a + k] = (x * ydd - y * xdd - 2.0 * rate * (x * xd + y * yd)) * inverse


def angle(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """The continuous angle of a direction. item: its row, place of the value next to which it begins, both components.

    From lane to lane the angle follows its own rate (Euler-Maclaurin, error of order 5), so that it may turn by more
    than half a revolution between two of them.
    """
    item, numbers, call, t = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR), carray(t_at, FAR)
    q, qdot, qddot = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    n, start = np.uint64(call[STRIDE]), np.uint64(call[START])
    a, begin, end = np.uint64(item[0]) * n, np.uint64(first), np.uint64(last)
    before = out[a + begin - np.uint64(1)] if begin != start else 0.0
    if item[2] <= 2 and item[3 + 2 * item[2]] <= 2:
        principal(item, numbers, q, qdot, qddot, out, outdot, outddot, n, first, last)
    else:
        e = 3 + 2 * item[2]
        for k in range(begin, end):
            x, y = combine_at(item, 2, numbers, q, n, k), combine_at(item, e, numbers, q, n, k)
            xd, yd = combine_at(item, 2, numbers, qdot, n, k), combine_at(item, e, numbers, qdot, n, k)
            xdd, ydd = combine_at(item, 2, numbers, qddot, n, k), combine_at(item, e, numbers, qddot, n, k)
            inverse = 1.0 / (x * x + y * y)
            rate = (x * yd - y * xd) * inverse
            out[a + k], outdot[a + k] = math.atan2(y, x), rate
            outddot[a + k] = (x * ydd - y * xdd - 2.0 * rate * (x * xd + y * yd)) * inverse
    # whole turns: what the rates say of the way from one lane to the next, less what the values say
    turn = 2.0 * np.pi
    value = out[a + begin]
    if begin == start:
        turns = np.round((numbers[item[1]] - value) / turn)
    else:
        j = begin - np.uint64(1)
        dt = t[begin] - t[j]
        way = dt * (0.5 * (outdot[a + j] + outdot[a + begin]) + dt / 12.0 * (outddot[a + j] - outddot[a + begin]))
        way = way if way - way == 0.0 else 0.0
        turns = np.round((before + way - value) / turn)
    out[a + begin] = value + turn * turns
    for k in range(begin + np.uint64(1), end):
        j = k - np.uint64(1)
        dt = t[k] - t[j]
        way = dt * (0.5 * (outdot[a + j] + outdot[a + k]) + dt / 12.0 * (outddot[a + j] - outddot[a + k]))
        way = way if way - way == 0.0 else 0.0
        here = out[a + k]
        off = value + way - here
        if abs(off) > np.pi:
            turns += np.round(off / turn)
        value = here
        out[a + k] = here + turn * turns
    return 0


def angle_columns(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Columns of a continuous angle: what its direction turns by."""
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    q, out = carray(q_at, FAR), carray(out_at, FAR)
    n, e = np.uint64(call[STRIDE]), 3 + 2 * item[2]
    a = np.uint64(item[0]) * n
    for c in range(call[COLUMNS]):
        o = np.uint64(c * call[COLUMN_STRIDE])
        for k in range(np.uint64(first), np.uint64(last)):
            x, y = combine_at(item, 2, numbers, q, n, k), combine_at(item, e, numbers, q, n, k)
            dx, dy = combine_at(item, 2, numbers, out, n, o + k), combine_at(item, e, numbers, out, n, o + k)
            out[o + a + k] = (x * dy - y * dx) / (x * x + y * y)
    return 0


def angle_changes(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Changes of a continuous angle and its rates with those of its direction, for the columns in out.

    With ρ = x² + y²: ρ θ̇ = x ẏ - y ẋ and ρ θ̈ = x ÿ - y ẍ - ρ̇ θ̇, each varied. Angles are followed along single rows,
    whose factors are ones and have no changes.
    """
    item, call = carray(item_at, FAR), carray(call_at, FAR)
    q, qdot, qddot = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    n = np.uint64(call[STRIDE])
    a, i, j = np.uint64(item[0]) * n, np.uint64(item[3]) * n, np.uint64(item[6]) * n
    for c in range(call[COLUMNS]):
        o = np.uint64(c * call[COLUMN_STRIDE])
        for k in range(np.uint64(first), np.uint64(last)):
            x, y, dx, dy = q[i + k], q[j + k], out[o + i + k], out[o + j + k]
            square = x * x + y * y
            out[o + a + k] = (x * dy - y * dx) / square
            if call[ORDERS] != 1:
                xd, yd, dxd, dyd = qdot[i + k], qdot[j + k], outdot[o + i + k], outdot[o + j + k]
                xdd, ydd, dxdd, dydd = qddot[i + k], qddot[j + k], outddot[o + i + k], outddot[o + j + k]
                rate, bend, change = qdot[a + k], qddot[a + k], 2.0 * (x * dx + y * dy)
                drate = (dx * yd + x * dyd - dy * xd - y * dxd - rate * change) / square
                outdot[o + a + k] = drate
                growth, dgrowth = 2.0 * (x * xd + y * yd), 2.0 * (dx * xd + x * dxd + dy * yd + y * dyd)
                turning = dx * ydd + x * dydd - dy * xdd - y * dxdd
                outddot[o + a + k] = (turning - change * bend - drate * growth - rate * dgrowth) / square
    return 0


def angle_jerks(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """The third derivative of a continuous angle, from those of its direction in out.

    With ρ = x² + y²: ρ θ⃛ = x y⃛ - y x⃛ + ẋ ÿ - ẏ ẍ - 2 ρ̇ θ̈ - ρ̈ θ̇.
    """
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    q, qdot, qddot, out = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR), carray(out_at, FAR)
    n, e = np.uint64(call[STRIDE]), 3 + 2 * item[2]
    a = np.uint64(item[0]) * n
    for k in range(np.uint64(first), np.uint64(last)):
        x, y = combine_at(item, 2, numbers, q, n, k), combine_at(item, e, numbers, q, n, k)
        xd, yd = combine_at(item, 2, numbers, qdot, n, k), combine_at(item, e, numbers, qdot, n, k)
        xdd, ydd = combine_at(item, 2, numbers, qddot, n, k), combine_at(item, e, numbers, qddot, n, k)
        xddd, yddd = combine_at(item, 2, numbers, out, n, k), combine_at(item, e, numbers, out, n, k)
        square = x * x + y * y
        first_rate, second_rate = 2.0 * (x * xd + y * yd), 2.0 * (xd * xd + yd * yd + x * xdd + y * ydd)
        bend = x * yddd - y * xddd + xd * ydd - yd * xdd
        out[a + k] = (bend - 2.0 * first_rate * qddot[a + k] - second_rate * qdot[a + k]) / square
    return 0


@functools.cache
def made(maker: Callable[[int], Callable[..., Any]], argument: int) -> Callable[..., Any]:
    """Return the function over lanes that a maker gives for an argument, once, so that it is compiled once."""
    return maker(argument)


@functools.cache
def address(function: Callable[..., Any]) -> int:
    """Return the address of the C function of a Python function with the signature of items, compiled at first use."""
    return int(compiled(function).address)


@functools.cache
def compiled(function: Callable[..., Any]) -> Any:
    """Return the C function of a Python function with the signature of items."""
    return cfunc(SIGNATURE, **CALLED)(dated(function))
