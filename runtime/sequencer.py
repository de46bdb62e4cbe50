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
from numba import cfunc, njit, types
from numba.extending import intrinsic

from .sources import dated

# Without Numba's run-time (_nrt) nothing here can allocate: code that tried would not compile.
OPTIONS: dict[str, Any] = {
    "cache": True, "error_model": "numpy", "fastmath": {"contract"}, "nogil": True, "no_cfunc_wrapper": True,
    "_nrt": False,
}  # fmt: skip
# what is called by compiled code alone is neither kept on disk on its own nor wrapped for Python
INTERNAL: dict[str, Any] = {**OPTIONS, "cache": False, "no_cpython_wrapper": True}
CALLED: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}
_INTS, _FLOATS = types.CPointer(types.int64), types.CPointer(types.float64)
# item, numbers, changes, signs, t; q, qdot, qddot; out, outdot, outddot; call; first, last; work
SIGNATURE = types.int64(_INTS, *[_FLOATS] * 10, _INTS, types.int64, types.int64, _FLOATS)
N_ARGUMENTS = 15

# places in the integers of a call
STRIDE, START, COLUMNS, COLUMN_STRIDE, CHANGE_STRIDE, ITERATIONS, SKIPPED, ORDERS, CALL_SIZE = range(9)
# columns of the table of steps: address, address of the assembly (0: none), place of the item's table, first φ, number
# (negative: of a closed form), address of Newton for seeded lanes (0: none), and of what seeds them (`newton_lanes`)
ADDRESS, ASSEMBLY, PLACE, PHI, N_PHI, SETTLE, AT_ONCE, STEP_SIZE = range(8)
# columns of the report of a look at the quality
LEAST, LEAST_AT, RESIDUAL, SUSPECTS, REPORT_SIZE = range(5)
# what may have happened between two lanes: nothing, the group came near to singularity, it jumped, the step is too
# long, or the determinant of Φ_φ changed its sign: on a branch it does so where branches meet, and nowhere else (groups
# that are solved by least squares have no determinant, and no sign)
NOTHING, NEAR, JUMP, LONG, NEAR_AND_LONG, TURNED = range(6)
CLOSE = 0.6  # conditioning of two lanes together above which neither is near to singularity
EXPLAINED = 1e-3  # miss of the predictions of a step, as a share of its way, that leaves no doubt
STEEP = 0.35  # change of the conditioning between two lanes that is not trusted
FAR_OFF = 0.08  # distance from the prediction, as a share of the way of the step, that is not trusted
ASTRAY = 0.15  # distance from the rates, of the ways: a jump has 1, infinity 1/2 and more, a turn by 2 rad 0.12
FEWEST = 32  # lanes worth to be done at once
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
call_at_once = caller(N_ARGUMENTS + 5)


@njit(**OPTIONS)
@dated
def sequence(steps, tables, numbers, changes, signs, edges, t, state, out, call, work, block, lost, modes, report):  # type: ignore[no-untyped-def]
    """Do all steps for the lanes edges[0] to edges[-1] - 1; signs[i] are those of the stretch from edges[i] on.

    `state` and `out` are (order, row, lane). `lost`: the first lane of a block in which a step has lanes without a
    solution. `modes`, where it is not empty: the groups are assembled at the first lane, and this is in how many ways
    (0 ends the run). `report`, where it is not empty: what the lanes of `out` say about a step's quality.
    """
    q, qdot, qddot = state[0].ctypes.data, state[1].ctypes.data, state[2].ctypes.data
    may_settle = steps.shape[1] > AT_ONCE  # a table may end before that column
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
                if may_settle and steps[j, AT_ONCE] != 0 and last - first >= FEWEST:
                    read = (steps[j].ctypes.data, item, call.ctypes.data, t.ctypes.data, out.ctypes.data)
                    without = call_at_once(steps[j, AT_ONCE], (*read, *arguments))
                else:
                    without = call_item(steps[j, ADDRESS], arguments)
                if without > 0 and first < lost[j]:
                    lost[j] = first
                if len(report) > 0:
                    look(out[:, 0], state, t, tables, steps[j], first, last, report[j])


@njit(**INTERNAL)
@dated
def missed(rows, t, out, a, b):  # type: ignore[no-untyped-def]
    """By how much the second-order predictions from lane a to b and back miss, as a share of the way between them.

    The way is that of the speeds at both ends, too: a step may turn round and end where it began.
    """
    dt, way, miss = t[b] - t[a], 4e-13, 0.0  # an angle that stays zero has rounding errors all the same
    for row in rows:
        way = max(way, 1e-9 * abs(out[0, row, a]))
        d = out[0, row, b] - out[0, row, a]
        way = max(way, abs(d), abs(dt * out[1, row, a]), abs(dt * out[1, row, b]))
        miss = max(miss, abs(d - dt * (out[1, row, a] + 0.5 * dt * out[2, row, a])))
        miss = max(miss, abs(d - dt * (out[1, row, b] - 0.5 * dt * out[2, row, b])))
    return miss / way


@njit(**INTERNAL)
@dated
def look(quality, state, t, tables, step, first, last, report):  # type: ignore[no-untyped-def]
    """Note the least conditioning, the largest residual, and the number of steps that a closer look is due to."""
    kappa, residual, orientation = quality[0], quality[1], quality[2]
    least, largest, numbers = extremes(kappa, residual, first, last)
    if numbers < last - first:
        least = largest = np.nan
    largest = report[RESIDUAL] if largest <= report[RESIDUAL] else largest
    report[RESIDUAL] = largest
    if not least >= report[LEAST]:
        report[LEAST] = least
        for k in range(first, last):
            if not kappa[k] > least:
                report[LEAST_AT] = k
                break
    place, count = step[PLACE] + step[PHI], abs(step[N_PHI])
    rows = tables[place : place + count]
    report[SUSPECTS] += close_calls(kappa, t, least, first, last)
    if step[N_PHI] < 0:
        report[SUSPECTS] += leaps(rows, t, state, first, last, True)
    else:
        for k in range(first, last - 1):
            report[SUSPECTS] += not missed(rows, t, state, k, k + 1) <= FAR_OFF
            report[SUSPECTS] += orientation[k] != orientation[k + 1]


@njit(**INTERNAL)
@dated
def close_calls(kappa, t, least, first, last):  # type: ignore[no-untyped-def]
    """The number of steps in which the conditioning, `least` at its least, may reach zero or changes too much."""
    if least >= CLOSE:
        return 0
    close, found = 0 if least >= 0.0 else 1, 0
    for k in range(np.uint64(first), np.uint64(last - 1)):
        here, there = kappa[k], kappa[k + np.uint64(1)]
        close += (here + there <= 1.3 * CLOSE) | (abs(here - there) > STEEP)
    for k in range(first, last - 1 if close > 0 else first):
        found += nearing(kappa, t, k, first, last) != NOTHING
    return found


@njit(**INTERNAL)
@dated
def leaps(rows, t, state, first, last, rates):  # type: ignore[no-untyped-def]
    """The number of steps in which a closed form may have changed its branch: rows leave their rates.

    Without `rates`, but for those at the ends, the steps before and behind stand for them.
    """
    doubts, found, inner = 0, 0, 0 if rates else 1
    for row in rows:
        doubts += strays(t, state[0, row], state[1, row], first + inner, last - inner, rates)
    for k in range(first + inner, last - inner - 1 if doubts > 0 else first):
        found += strayed(rows, t, state, k, rates)
    if last - first > 1:  # at the ends nothing but the rates tells
        found += not missed(rows, t, state, first, first + 1) <= FAR_OFF
        found += not missed(rows, t, state, last - 2, last - 1) <= FAR_OFF
    return found


@njit(**{**INTERNAL, "fastmath": {"contract", "nnan", "nsz"}})
@dated
def extremes(kappa, residual, first, last):  # type: ignore[no-untyped-def]
    """The least conditioning and the largest residual, in vectors of lanes, and the number of lanes with numbers."""
    least, largest, numbers = np.inf, 0.0, 0
    for k in range(np.uint64(first), np.uint64(last)):
        least = kappa[k] if kappa[k] < least else least
        largest = residual[k] if residual[k] > largest else largest
    for k in range(np.uint64(first), np.uint64(last)):
        numbers += is_number(kappa[k] + residual[k])
    return least, largest, numbers


@njit(**INTERNAL)
@dated
def is_number(x):  # type: ignore[no-untyped-def]
    return x - x == 0.0


@njit(**INTERNAL)
@dated
def nearing(kappa, t, k, first, last):  # type: ignore[no-untyped-def]
    """Whether the conditioning may reach zero between lanes k and k + 1: it falls towards there fast enough."""
    here, there = kappa[k], kappa[k + 1]
    change, both = abs(here - there), (here + there) / 1.3
    if both > CLOSE and change <= STEEP:
        return NOTHING
    dt = t[k + 1] - t[k]
    near = not both > change or last - first < 3
    if k > first:
        near = near or (kappa[k - 1] - here - 1e-9) * dt >= both * (t[k] - t[k - 1])
    if k + 2 < last:
        near = near or (kappa[k + 2] - there - 1e-9) * dt >= both * (t[k + 2] - t[k + 1])
    return NEAR if near else LONG if change > STEEP else NOTHING


@njit(**INTERNAL)
@dated
def strays(t, x, v, first, last, rates):  # type: ignore[no-untyped-def]
    """The number of steps in which a row strays from its rates."""
    found = 0
    if rates:
        for k in range(np.uint64(first), np.uint64(max(first, last - 1))):
            miss, way = off_rates(t, x, v, k)
            found += miss > ASTRAY * way
    else:
        for k in range(np.uint64(first), np.uint64(max(first, last - 1))):
            miss, way = off_neighbours(t, x, k)
            found += miss > ASTRAY * way
    return found


@njit(**INTERNAL)
@dated
def strayed(rows, t, state, k, rates):  # type: ignore[no-untyped-def]
    """Whether the step from lane k is another one than its rates say, as through infinity and back from behind."""
    far, ways, lane = 0.0, 0.0, np.uint64(k)
    for row in rows:
        x = state[0, row]
        miss, way = off_rates(t, x, state[1, row], lane) if rates else off_neighbours(t, x, lane)
        far, ways = max(far, miss), max(ways, way)
    return far > ASTRAY * ways


@njit(**INTERNAL)
@dated
def off_rates(t, x, v, k):  # type: ignore[no-untyped-def]
    """How far the step from lane k is from the trapezium of its rates, and all their ways, rounding included."""
    j = k + np.uint64(1)
    dt, d = t[j] - t[k], x[j] - x[k]
    return abs(d - 0.5 * dt * (v[k] + v[j])), abs(d) + dt * (abs(v[k]) + abs(v[j])) + 1e-9 * abs(x[k]) + 4e-13


@njit(**INTERNAL)
@dated
def off_neighbours(t, x, k):  # type: ignore[no-untyped-def]
    """As `off_rates`, with the mean rates of the steps before and behind; multiplied by the times of both."""
    h, j, i = k - np.uint64(1), k + np.uint64(1), k + np.uint64(2)
    before, dt, behind = t[k] - t[h], t[j] - t[k], t[i] - t[j]
    d, v, u = before * behind * (x[j] - x[k]), behind * dt * (x[k] - x[h]), before * dt * (x[i] - x[j])
    rounding = before * behind * (1e-9 * abs(x[k]) + 4e-13)
    return abs(d - 0.5 * (v + u)), abs(d) + abs(v) + abs(u) + rounding


@njit(**INTERNAL)
@dated
def jumped(before, here, there, behind, size):  # type: ignore[no-untyped-def]
    """Whether the step from here to there is long, and far longer than its neighbours."""
    return abs(there - here) > max(0.1 * size, 2.5 * (abs(here - before) + abs(behind - there)))


@njit(**INTERNAL)
@dated
def largest_of(rows, state, k):  # type: ignore[no-untyped-def]
    """The largest |φ| at a lane."""
    size = 0.0
    for row in rows:
        size = max(size, abs(state[0, row, k]))
    return size


@njit(**OPTIONS)
@dated
def marks(kappa, orientation, state, t, rows, closed, found):  # type: ignore[no-untyped-def]
    """Write for every step of a group what may have happened in it; Newton alone has an orientation, if square."""
    last = len(found) + 1
    size = largest_of(rows, state, 0)
    for k in range(last - 1):
        found[k] = nearing(kappa, t, k, 0, last)
        if found[k] == LONG and missed(rows, t, state, k, k + 1) <= EXPLAINED:
            found[k] = NOTHING  # pivots that change places change the measure
        if not closed and not missed(rows, t, state, k, k + 1) <= FAR_OFF:
            found[k] = NEAR_AND_LONG if found[k] == NEAR else LONG
        if not closed and orientation[k] != orientation[k + 1]:
            found[k] = TURNED
        if not closed or found[k] != NOTHING:
            continue
        if k == 0 or k == last - 2:
            found[k] = NOTHING if missed(rows, t, state, k, k + 1) <= FAR_OFF else JUMP
            continue
        for row in rows:
            x = state[0, row]
            if jumped(x[k - 1], x[k], x[k + 1], x[k + 2], size):
                found[k] = JUMP
        if found[k] == NOTHING and strayed(rows, t, state, k, True):
            found[k] = NEAR


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
