"""All rows of the state at one instant by the one sequencer with one lane: q, q̇, c, R, distance from singularity.

Imported only where a simulation runs, because it loads Numba. Lane 0 is where the sequencer starts, so that Newton goes
on from the φ that stands in the rows: the prediction from the last accepted state is written there before.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..sequencer import ADDRESS, LEAST, PLACE, REPORT_SIZE, STEP_SIZE, sequence
from . import chain
from .chain import INTERNAL

NEVER = 1 << 62


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
        solving = ints[chain.SOLVING] + STEP_SIZE * ints[e + chain.SOLVES]
        carrying = ints[chain.CARRYING] + STEP_SIZE * ints[e + chain.CARRIES]
        on = abs(side) <= 1.0
        ints[solving + ADDRESS] = ints[e + (chain.BRIDGE_SOLVING if on else chain.OWN_SOLVING)]
        ints[carrying + ADDRESS] = ints[e + (chain.BRIDGE_CARRYING if on else chain.OWN_CARRYING)]
        ints[solving + PLACE] = ints[carrying + PLACE] = ints[e + (chain.BRIDGE_TABLE if on else chain.OWN_TABLE)]
        count = ints[e + chain.SIGN_COUNT]
        sides = ints[e + chain.SIDES] + (count if side > 1.0 else 0)
        for j in range(count):
            x[ints[chain.SIGNS] + ints[e + chain.SIGN_AT] + j] = x[sides + j]


@njit(**INTERNAL)
@chain.dated
def run(ints, x, at, count, state, out, report):  # type: ignore[no-untyped-def]
    """Run a phase, whose steps stand at a place, over the one lane."""
    steps = ints[at : at + STEP_SIZE * count].reshape(count, STEP_SIZE)
    tables = ints[ints[chain.TABLES] : ints[chain.TABLES] + ints[chain.N_TABLES]]
    numbers = x[ints[chain.NUMBERS] : ints[chain.NUMBERS] + ints[chain.N_NUMBERS]]
    signs = x[ints[chain.SIGNS] : ints[chain.SIGNS] + ints[chain.N_SIGNS]].reshape(1, ints[chain.N_SIGNS])
    edges, none = ints[ints[chain.EDGES] : ints[chain.EDGES] + 2], ints[:0]
    lost, call = ints[ints[chain.LOST] : ints[chain.LOST] + count], ints[ints[chain.CALL] : ints[chain.CALL] + 16]
    work, t = x[ints[chain.WORK] : ints[chain.WORK] + ints[chain.N_WORK]], x[chain.TIME : chain.TIME + 1]
    sequence(steps, tables, numbers, report[:0], signs, edges, t, state, out, call, work, 1, lost, none, report)


@njit(**INTERNAL)
@chain.dated
def solve_rows(ints, x):  # type: ignore[no-untyped-def]
    """All rows from those of drivers and coordinates, with their columns of R; False where a group has no solution."""
    n, s, columns = ints[chain.ROWS], ints[chain.STATE], ints[chain.FREE] * ints[chain.ROWS]
    state = x[s : s + 3 * n].reshape(3, n, 1)
    R = x[s + 3 * n : s + 3 * n + columns].reshape(1, columns, 1)
    none = x[:0].reshape(0, REPORT_SIZE)
    predict(ints, x)
    if ints[chain.BRIDGED] > 0:
        take_sides(ints, x)
    lost, count = ints[chain.LOST], ints[chain.N_SOLVING]
    for i in range(count):
        ints[lost + i] = NEVER
    run(ints, x, ints[chain.SOLVING], count, state, state, none)
    for i in range(count):
        if ints[lost + i] != NEVER:
            return False
    run(ints, x, ints[chain.CARRYING], ints[chain.N_CARRYING], state, R, none)
    return True


@njit(**INTERNAL)
@chain.dated
def least_distance(ints, x):  # type: ignore[no-untyped-def]
    """The least distance of a group from singularity, 0 to 1, at the last evaluation."""
    n, s, count, r = ints[chain.ROWS], ints[chain.STATE], ints[chain.N_QUALITY], ints[chain.REPORT]
    state = x[s : s + 3 * n].reshape(3, n, 1)
    kappa = x[ints[chain.KAPPA] : ints[chain.KAPPA] + 3].reshape(3, 1, 1)
    report = x[r : r + REPORT_SIZE * count].reshape(count, REPORT_SIZE)
    for i in range(count):
        report[i, LEAST] = np.inf
    run(ints, x, ints[chain.QUALITY], count, state, kappa, report)
    least = 1.0
    for i in range(count):
        least = min(least, report[i, LEAST])
    return least
