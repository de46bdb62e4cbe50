"""All rows of the state at one instant by the one sequencer with one lane: q, q̇, c, R, distance from singularity.

Imported only where a simulation runs, because it loads Numba. Lane 0 is where the sequencer starts, so that Newton goes
on from the φ that stands in the rows: the prediction from the last accepted state is written there before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray, njit, types
from numba.extending import intrinsic

from ..runtime.sequencer import ADDRESS, CALL_SIZE, LEAST, PLACE, REPORT_SIZE, STEP_SIZE, sequence
from . import array_heads as chain
from .array_heads import INTERNAL

NEVER = 1 << 62
VIEWING = {**INTERNAL, "_nrt": True}  # Numba makes a view from a pointer only so; nothing is allocated


@njit(**INTERNAL)
@chain.dated
def predict(ints, x):  # type: ignore[no-untyped-def]
    """Write where Newton starts and next to what continuous angles are: Taylor from the last accepted state."""
    n, dt = ints[chain.ROWS], x[chain.TIME] - x[chain.BASE_TIME]
    for i in range(ints[chain.PREDICTED]):
        e = ints[chain.PREDICTED_AT] + 2 * i
        base = ints[e]
        x[ints[e + 1]] = x[base] + dt * (x[base + n] + 0.5 * dt * x[base + 2 * n])


@njit(**INTERNAL)
@chain.dated
def take_sides(ints, x):  # type: ignore[no-untyped-def]
    """Let the groups on a bridge follow their polynomials, before and behind it their own equations."""
    b = ints[chain.BRIDGE]
    side = x[b + 2] * (x[ints[ints[chain.FREE_AT]]] - x[b]) / x[b + 1]
    for i in range(ints[chain.BRIDGED]):
        e = ints[chain.BRIDGE_AT] + chain.BRIDGED_SIZE * i
        step = ints[chain.SOLVING] + STEP_SIZE * ints[e + chain.STEP]
        on = abs(side) <= 1.0
        ints[step + ADDRESS] = ints[e + (chain.BRIDGE_ADDRESS if on else chain.OWN_ADDRESS)]
        ints[step + PLACE] = ints[e + (chain.BRIDGE_TABLE if on else chain.OWN_TABLE)]
        count = ints[e + chain.SIGN_COUNT]
        sides = ints[e + chain.SIDES] + (count if side > 1.0 else 0)
        for j in range(count):
            x[ints[chain.SIGNS] + ints[e + chain.SIGN_AT] + j] = x[sides + j]


@intrinsic
def floats_at(typing_context, address):  # type: ignore[no-untyped-def]
    """Return an address as a pointer to numbers."""
    return types.CPointer(types.float64)(types.int64), _as_pointer


@intrinsic
def ints_at(typing_context, address):  # type: ignore[no-untyped-def]
    """Return an address as a pointer to integers."""
    return types.CPointer(types.int64)(types.int64), _as_pointer


def _as_pointer(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return builder.inttoptr(values[0], context.get_value_type(signature.return_type))


@njit(**VIEWING)
@chain.dated
def run(ints, x, at, count, out, orders, rows, report, reports):  # type: ignore[no-untyped-def]
    """Run a phase, whose steps and output (order, row) stand at places, over the one lane.

    Views of the flat arrays are made from addresses: reshaping them would take as long as a group.
    """
    i, f = ints.ctypes.data, x.ctypes.data
    steps = carray(ints_at(i + 8 * at), (count, STEP_SIZE))
    tables = carray(ints_at(i + 8 * ints[chain.TABLES]), ints[chain.N_TABLES])
    edges, none = carray(ints_at(i + 8 * ints[chain.EDGES]), 2), carray(ints_at(i), 0)
    lost, call = carray(ints_at(i + 8 * ints[chain.LOST]), count), carray(ints_at(i + 8 * ints[chain.CALL]), CALL_SIZE)
    numbers = carray(floats_at(f + 8 * ints[chain.NUMBERS]), ints[chain.N_NUMBERS])
    changes = carray(floats_at(f), (0, 1))
    signs = carray(floats_at(f + 8 * ints[chain.SIGNS]), (1, ints[chain.N_SIGNS]))
    t = carray(floats_at(f + 8 * chain.TIME), 1)
    state = carray(floats_at(f + 8 * ints[chain.STATE]), (3, ints[chain.ROWS], 1))
    target = carray(floats_at(f + 8 * out), (orders, rows, 1))
    work = carray(floats_at(f + 8 * ints[chain.WORK]), ints[chain.N_WORK])
    noted = carray(floats_at(f + 8 * report), (reports, REPORT_SIZE))
    sequence(steps, tables, numbers, changes, signs, edges, t, state, target, call, work, 1, lost, none, noted)


@njit(**INTERNAL)
@chain.dated
def solve_rows(ints, x):  # type: ignore[no-untyped-def]
    """All rows from those of drivers and coordinates, with their columns of R; False where a group has no solution."""
    n, s, f = ints[chain.ROWS], ints[chain.STATE], ints[chain.FREE]
    predict(ints, x)
    if ints[chain.BRIDGED] > 0:
        take_sides(ints, x)
    rate = 1.0
    if ints[chain.ALONE] != 0:
        z = ints[ints[chain.FREE_AT]] + n
        rate, x[z] = x[z], 1.0
    lost, count = ints[chain.LOST], ints[chain.N_SOLVING]
    for i in range(count):
        ints[lost + i] = NEVER
    run(ints, x, ints[chain.SOLVING], count, s, 3, n, 0, 0)
    for i in range(count):
        if ints[lost + i] != NEVER:
            return False
    if ints[chain.ALONE] != 0:
        # one coordinate and nothing driven: with its unit rate the rates are R, and c goes with the square of the rate
        for i in range(n):
            x[s + 3 * n + i] = x[s + n + i]
        for i in range(n):
            x[s + n + i] *= rate
        for i in range(n):
            x[s + 2 * n + i] *= rate * rate
    else:
        run(ints, x, ints[chain.CARRYING], ints[chain.N_CARRYING], s + 3 * n, 1, f * n, 0, 0)
    return True


@njit(**INTERNAL)
@chain.dated
def least_distance(ints, x):  # type: ignore[no-untyped-def]
    """The least distance of a group from singularity, 0 to 1, at the last evaluation."""
    count, report = ints[chain.N_QUALITY], ints[chain.REPORT]
    for i in range(count):
        x[report + REPORT_SIZE * i + LEAST] = np.inf
    run(ints, x, ints[chain.QUALITY], count, ints[chain.KAPPA], 3, 1, report, count)
    least = 1.0
    for i in range(count):
        least = min(least, x[report + REPORT_SIZE * i + LEAST])
    return least
