"""Many designs of one program, each at times of its own, with the exact changes of what is asked for: compiled.

No design is looked at closely here: one that cannot be assembled at a lane is NaN there. So a search may go through
thousands of bad designs, and only what it finds is run with all checks. Imported only where designs run: loads Numba.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..runtime.sequencer import ADDRESS, ASSEMBLY, CALL_SIZE, OPTIONS, ORDERS, PLACE, call_item, sequence
from ..runtime.sources import dated
from ..runtime.time_kernels import differentiate
from .design_kernels import NEVER, carry_changes, drive

TURN = 2.0 * np.pi


@njit(**OPTIONS)
@dated
def written(step, tables, numbers, t, state, column, spare, asked_call, count, work):  # type: ignore[no-untyped-def]
    """Write one output for rates that stand in `column`."""
    call_item(step[ADDRESS], (
        tables.ctypes.data + 8 * step[PLACE], numbers.ctypes.data, 0, 0, t.ctypes.data, state[0].ctypes.data,
        column.ctypes.data, state[2].ctypes.data, spare[0].ctypes.data, spare[1].ctypes.data,
        spare[3].ctypes.data, asked_call.ctypes.data, 0, np.int64(count), work.ctypes.data,
    ))  # fmt: skip


@njit(**OPTIONS)
@dated
def curved_changes(  # type: ignore[no-untyped-def]
    curved, tables, own, change, t, state, column, changed, spare, asked_call, work, shifted
):  # fmt: skip
    """Write the change of outputs that are no combinations of rows: angles in space, displacements.

    With the changes of the rows in place of their rates, the rate of an output is its change. What its numbers (axes,
    local coordinates) change is a central difference: exact for the products of two numbers in a displacement.
    """
    largest = 1e-300
    for i in range(len(own)):
        largest = max(largest, abs(change[i]) / max(1.0, abs(own[i])))
    step = 1e-5 / largest
    count = len(asked_call) - CALL_SIZE
    for j in range(len(curved)):
        place = tables[curved[j, PLACE]]
        written(curved[j], tables, own, t, state, column, spare, asked_call, count, work)
        for k in range(count):
            changed[0, place + k] = spare[1, place + k]
        for side in (1.0, -1.0):
            for i in range(len(own)):
                shifted[i] = own[i] + side * step * change[i]
            written(curved[j], tables, shifted, t, state, column, spare, asked_call, count, work)
            for k in range(count):
                spare[2, place + k] = spare[0, place + k] if side > 0.0 else spare[2, place + k] - spare[0, place + k]
        for k in range(count):
            off = spare[2, place + k]
            changed[0, place + k] += (off - TURN * np.round(off / TURN) if abs(off) > 3.0 else off) / (2.0 * step)


@njit(**OPTIONS)
@dated
def solve_designs(  # type: ignore[no-untyped-def]
    numbers, kept, times, asked, functions, driver_rows, phases, tables, signs, state, calls, scratch, out,
    changes, partials, carried, changed,
):  # fmt: skip
    """Write out[design, order, place], and changed[design, column, order, place] where it is not empty.

    times[design, lane] rise; asked[design] are the lanes of the places. phases: own constants, solving, tangents,
    outputs that are linear in the rows, others. changes[design, column, number]; partials: the drivers' derivatives by
    constants with their rows.
    """
    constants, solving, tangents, linear, curved = phases
    call, asked_call = calls
    work, lost, modes, none, edges, one, spare, turned, shifted = scratch
    n, count = times.shape[1], asked.shape[1]
    edges[0], edges[1], one[0], one[1] = 0, n, 0, count
    empty = edges[:0]
    for d in range(len(numbers)):
        out[d] = np.nan
        if len(changed) > 0:
            changed[d] = np.nan
        own, t = numbers[d], times[d]
        if not kept[d] or drive(functions, own, t, state, driver_rows) > 0:
            continue
        lost[:] = NEVER
        call[ORDERS] = asked_call[ORDERS] = 0  # positions with their rates
        if len(constants) > 0:
            sequence(constants, tables, own, none, signs, edges, t, state, state, call, work, n, lost, empty, none)
        sequence(solving, tables, own, none, signs, edges, t, state, state, call, work, n, lost, modes, none)
        given = True
        for j in range(len(modes)):
            given = given and (solving[j, ASSEMBLY] == 0 or modes[j] > 0)
        if not given:
            continue
        for i in range(count):
            asked_call[CALL_SIZE + i] = asked[d, i]
        here = out[d].reshape(3, 1, out.shape[2])
        for outputs in (linear, curved):
            sequence(outputs, tables, own, none, signs, one, t, state, here, asked_call, work, n, lost, empty, none)
        if len(changed) == 0:
            continue
        call[ORDERS] = asked_call[ORDERS] = 1  # changes of positions alone
        columns, rows = changes.shape[1], state.shape[1]
        for c in range(columns):
            for row in driver_rows:
                carried[0, c * rows + row] = 0.0
        code, constants_of, buffer, targets, sources = partials
        if len(sources) > 0:
            for c in range(columns):
                for i in range(changes.shape[2]):
                    turned[i * columns + c] = changes[d, c, i]
            flat = carried.reshape(carried.size)
            differentiate(
                code, constants_of, own, 1, n, t, n, flat, flat, flat, flat, n, targets, 0, 0, n, buffer, columns,
                sources, turned, rows * n,
            )  # fmt: skip
        carry_changes(
            tangents, linear, tables, own, changes[d], signs, edges, t, state, carried, changed[d], spare, call,
            asked_call, count, work, n, lost,
        )  # fmt: skip
        if len(curved) > 0:
            asked_call[ORDERS] = 0
            for c in range(columns):
                curved_changes(
                    curved, tables, own, changes[d, c], t, state, carried[0, c * rows :], changed[d, c], spare,
                    asked_call, work, shifted,
                )  # fmt: skip
