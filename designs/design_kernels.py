"""Many designs of one program, compiled: each is assembled, solved over its instants, looked at, and reported.

The lanes of a design lie together, so that its numbers are constant over them and every sweep is the one of a single
run. Imported only where designs run, because it loads Numba.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..runtime.sequencer import (
    ADDRESS,
    CLOSE,
    ITERATIONS,
    LEAST,
    N_PHI,
    OPTIONS,
    PHI,
    PLACE,
    RESIDUAL,
    START,
    STEEP,
    SUSPECTS,
    call_item,
    close_calls,
    largest_of,
    leaps,
    sequence,
)
from ..runtime.sources import dated
from ..runtime.time_kernels import evaluate
from .lane_bounds import least_and_steepest, steepest_of_two

WHOLE, LOST, APART, OWN_WAY = range(4)  # of a design: solved; lost on the way; not assembled; to be run on its own
NEVER = 1 << 62
CLEAR = 0.66 * CLOSE  # conditioning of every lane above which `close_calls` finds none but steep changes
TOO_FAR = -2  # in place of the step that was lost: lanes lie too far apart for whole turns to be certain


@njit(**OPTIONS)
@dated
def drive(functions, numbers, t, state, rows):  # type: ignore[no-untyped-def]
    """Write the drivers of a design into their rows; the number of lanes that are not finite."""
    code, own, work = functions
    n, stride = len(t), state.shape[2]
    size = state.shape[1] * stride
    q, qdot, qddot = state[0].reshape(size), state[1].reshape(size), state[2].reshape(size)
    return evaluate(code, own, numbers, 1, n, t, n, q, qdot, qddot, qddot, stride, rows, 2, 0, n, work)


@njit(**OPTIONS)
@dated
def longest_ways(functions, numbers, t, state, rows, largest, swing, ways):  # type: ignore[no-untyped-def]
    """Raise the ways between times, as shares of the largest one at once, to what the fastest of some designs goes.

    swing: the share of its largest rate that a driver's rate may change at once.
    """
    for d in range(len(numbers)):
        if drive(functions, numbers[d], t, state, rows) > 0:
            continue
        for i in range(len(rows)):
            fastest, bend = 1e-300, 0.0
            for k in range(len(t)):
                fastest, bend = max(fastest, abs(state[1, rows[i], k])), max(bend, abs(state[2, rows[i], k]))
            for k in range(len(t) - 1):
                ways[k] = max(ways[k], min((t[k + 1] - t[k]) * bend / (swing * fastest), 1e6))
                rate = max(abs(state[1, rows[i], k]), abs(state[1, rows[i], k + 1]))
                way = max(abs(state[0, rows[i], k + 1] - state[0, rows[i], k]), rate * (t[k + 1] - t[k]))
                if way <= 1e6 * largest[i]:
                    ways[k] = max(ways[k], way / largest[i])


@njit(**OPTIONS)
@dated
def first_lost(state, tables, step, count, first, last, orders):  # type: ignore[no-untyped-def]
    """The first lane from `first` on in which a group's φ (or, of three orders, a rate of it) is no number."""
    for k in range(first, last):
        total = 0.0
        for i in range(count):
            row = tables[step[PLACE] + step[PHI] + i]
            for order in range(orders):
                total += state[order, row, k]
        if total - total != 0.0:
            return k
    return last


@njit(**OPTIONS)
@dated
def where_lost(state, tables, solving, unknowns, lost, modes, first, n, orders):  # type: ignore[no-untyped-def]
    """Solved lanes before n, the step that was lost first (-1: none), and whether an angle turns too far between lanes.

    first: the lane at which the steps began; what is lost there has written nothing, unless its mode was given.
    """
    solved, where, too_far = n, -1, False
    for j in range(len(solving)):
        if lost[j] < n and unknowns[j] < 0:
            too_far = True
        if lost[j] < n and unknowns[j] > 0:
            given = lost[j] > first or modes[j] > 0
            k = first_lost(state, tables, solving[j], unknowns[j], lost[j], n, orders) if given else first
            if k < solved:
                solved, where = k, j
    return solved, where, too_far


@njit(**OPTIONS)
@dated
def calm(rows, state, last):  # type: ignore[no-untyped-def]
    """Whether no step of some rows is long, and none at an end far longer than the one beside it: nothing jumped."""
    if last < 4:
        return False
    size, first, second, before, end = largest_of(rows, state, 0), 0.0, 0.0, 0.0, 0.0
    for i in range(0, len(rows), 2):
        if not steepest_of_two(state[0, rows[i]], state[0, rows[min(i + 1, len(rows) - 1)]], last) <= 0.1 * size:
            return False
    for row in rows:
        x = state[0, row]
        first, second = max(first, abs(x[1] - x[0])), max(second, abs(x[2] - x[1]))
        before, end = max(before, abs(x[last - 2] - x[last - 3])), max(end, abs(x[last - 1] - x[last - 2]))
    least = 1e-12 * size
    return first <= 2.5 * second + least and end <= 2.5 * before + least


@njit(**OPTIONS)
@dated
def reported_doubts(report, bound):  # type: ignore[no-untyped-def]
    """The number of steps that a closer look is due to, and of groups whose residual is above the bound."""
    found = 0
    for j in range(len(report)):
        found += int(report[j, SUSPECTS]) + (not report[j, RESIDUAL] <= bound)
    return found


@njit(**OPTIONS)
@dated
def doubts(watched, solving, tables, own, none, signs, edges, t, state, call, work, n, lost, report):  # type: ignore[no-untyped-def]
    """The number of steps of a motion of positions alone that a closer look is due to; report: κ² at its least.

    The squared conditioning stands where a rate of the first φ would. Where rows do not tell that nothing jumped, rates
    are found at both ends.
    """
    last, found, still = edges[1], 0, True
    for j in range(len(watched)):
        place = watched[j, PLACE] + watched[j, PHI]
        squares = state[1, tables[place]]
        least, steepest = least_and_steepest(squares, last)
        report[j, LEAST] = least
        # with κ ≥ c everywhere two lanes together have 2 c, and κ changes by the change of κ² over 2 c at most
        if not (least >= CLEAR * CLEAR and steepest <= 2.0 * CLEAR * STEEP):
            for k in range(np.uint64(last)):
                squares[k] = np.sqrt(squares[k])
            found += close_calls(squares, t, np.sqrt(least), 0, last)
        still = still and calm(tables[place : place - watched[j, N_PHI]], state, last)
    if still:
        return found
    for first in (0, max(0, last - 2)):
        edges[0], edges[1] = first, min(first + 2, last)
        sequence(solving, tables, own, none, signs, edges, t, state, state, call, work, n, lost, edges[:0], none)
    edges[0], edges[1] = 0, last
    for j in range(len(watched)):
        place = watched[j, PLACE] + watched[j, PHI]
        found += leaps(tables[place : place - watched[j, N_PHI]], t, state, 0, last, False)
    return found


@njit(**{**OPTIONS, "forceinline": True})
@dated
def run_design(  # type: ignore[no-untyped-def]
    own, kept, functions, driver_rows, phases, unknowns, tables, t, state, out, calls, lanes, scratch, bound, answer
):  # fmt: skip
    """Run one design of numbers `own` into out[order, place]; see run_designs."""
    constants, solving, quality, angles, outputs, positions = phases
    lean = len(positions) > 0
    moving, orders = (positions, 1) if lean else (solving, 3)
    call, asked_call = calls
    signs, work, changes, lost, modes, report, kappa, edges, one = scratch
    n, asked = len(t), len(lanes)
    edges[0], edges[1], one[0] = 0, n, 0
    empty, no_report = edges[:0], changes
    answer[0], answer[1], answer[2], answer[3], answer[4] = OWN_WAY, 0, -1, 0, 0
    if not kept or (len(driver_rows) > 0 and drive(functions, own, t, state, driver_rows) > 0):
        return
    if len(constants) > 0:
        sequence(constants, tables, own, changes, signs, edges, t, state, state, call, work, n, lost, empty, no_report)
    call[ITERATIONS] = 0
    lost[:] = NEVER
    modes[:] = 0
    sequence(moving, tables, own, changes, signs, edges, t, state, state, call, work, n, lost, modes, no_report)
    answer[3] = call[ITERATIONS]
    solved, where, too_far = where_lost(state, tables, moving, unknowns, lost, modes, 0, n, orders)
    answer[4] = solved
    if too_far:
        answer[2] = TOO_FAR
        return
    if solved == 0:
        # a closed form that no sign closes is apart, unless branches meet there; Newton may need another start
        own_way = solving[where, N_PHI] > 0
        if not own_way and n > 1:
            edges[0], edges[1], call[START] = 1, 2, 1
            lost[:] = NEVER
            modes[:] = 0
            sequence(moving, tables, own, changes, signs, edges, t, state, state, call, work, n, lost, modes, no_report)
            own_way = where_lost(state, tables, moving, unknowns, lost, modes, 1, 2, orders)[0] == 2
            edges[0], edges[1], call[START] = 0, n, 0
        answer[0] = OWN_WAY if own_way else APART
        answer[2] = where
        if answer[0] == APART:
            out[:] = np.nan
        return
    edges[1] = solved
    for j in range(len(report)):
        report[j] = 0.0
        report[j, LEAST] = np.inf
    if lean:
        suspicious = doubts(
            quality, solving, tables, own, changes, signs, edges, t, state, call, work, n, lost, report
        )  # fmt: skip
    else:
        sequence(quality, tables, own, changes, signs, edges, t, state, kappa, call, work, n, lost, empty, report)
        suspicious = reported_doubts(report, bound * max(1.0, own[0] * own[0]))
    if where >= 0 and not np.isfinite(state[0, tables[solving[where, PLACE] + solving[where, PHI]], solved]):
        answer[0], answer[2] = LOST, where
    elif where >= 0:
        suspicious += 1  # a dead point: whether the motion goes on is asked by the run itself
    else:
        answer[0] = WHOLE
    if suspicious > 0:
        answer[0] = OWN_WAY
        return
    reported = asked
    while reported > 0 and lanes[reported - 1] >= solved:
        reported -= 1
    answer[1] = reported
    lost[:] = NEVER
    if len(angles) > 0:
        sequence(angles, tables, own, changes, signs, edges, t, state, state, call, work, n, lost, empty, no_report)
    if reported < asked:
        out[:] = np.nan
    if reported > 0 and len(outputs) > 0:
        one[1] = reported
        lost[:] = NEVER
        here = out.reshape(3, 1, out.shape[1])
        sequence(outputs, tables, own, changes, signs, one, t, state, here, asked_call, work, n, lost, empty, no_report)
    for j in range(len(lost)):
        if lost[j] < NEVER:
            answer[0], answer[1], answer[2] = OWN_WAY, 0, TOO_FAR


@njit(**OPTIONS)
@dated
def run_designs(  # type: ignore[no-untyped-def]
    numbers, kept, functions, driver_rows, phases, unknowns, tables, t, state, out, calls, lanes, scratch, bound,
    answers,
):  # fmt: skip
    """Run designs one after the other; numbers[design], out[design, order, place].

    phases: steps of constants, solving, quality, angles, outputs, and those that find positions alone, if any (then
    `quality` are the groups whose conditioning these write). unknowns: number of φ of each step that solves,
    -1 of an angle. A design that turns too far from lane to lane is run on its own.
    calls: integers of a call without and with the asked lanes behind them. scratch: arrays that every design uses
    again. bound: largest residual over the squared size that is none. answers: (status, solved instants, step that
    was lost, iterations, solved lanes) per design.
    """
    for d in range(len(numbers)):
        run_design(
            numbers[d], kept[d], functions, driver_rows, phases, unknowns, tables, t, state, out[d], calls, lanes,
            scratch, bound, answers[d],
        )  # fmt: skip


@njit(**OPTIONS)
@dated
def carry_changes(  # type: ignore[no-untyped-def]
    steps, outputs, tables, numbers, changes, signs, edges, t, state, D, out, spare, call, asked_call, asked, work,
    block, lost,
):  # fmt: skip
    """Carry the changes of a state with every parameter through all items, and on to the outputs.

    D[order, column times row, lane]: changes, those of the drivers given. out[column, order, place]. An output is
    linear in its factors and in its rows: its change is its value for changed rows plus that for changed factors.
    """
    none, empty = changes[:0], edges[:0]
    sequence(steps, tables, numbers, changes, signs, edges, t, state, D, call, work, block, lost, empty, none)
    orders, rows = len(D), state.shape[1]
    for c in range(len(changes)):
        one, two = min(1, orders - 1), min(2, orders - 1)
        first, second, third = D[0, c * rows], D[one, c * rows], D[two, c * rows]
        for j in range(len(outputs)):
            item = tables.ctypes.data + 8 * outputs[j, PLACE]
            tail = (asked_call.ctypes.data, 0, np.int64(asked), work.ctypes.data)
            o = out[c]
            call_item(outputs[j, ADDRESS], (
                item, numbers.ctypes.data, 0, 0, t.ctypes.data, first.ctypes.data, second.ctypes.data,
                third.ctypes.data, o[0].ctypes.data, o[1].ctypes.data, o[2].ctypes.data, *tail,
            ))  # fmt: skip
            call_item(outputs[j, ADDRESS], (
                item, changes[c].ctypes.data, 0, 0, t.ctypes.data, state[0].ctypes.data, state[1].ctypes.data,
                state[2].ctypes.data, spare[0].ctypes.data, spare[1].ctypes.data, spare[2].ctypes.data, *tail,
            ))  # fmt: skip
        for order in range(orders):
            for k in range(np.uint64(out.shape[2])):
                out[c, order, k] += spare[order, k]
