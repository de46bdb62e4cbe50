"""The compiled right-hand side, Rᵀ M R z̈ = Rᵀ (Q - M c), and what follows an accepted step.

Imported only where a simulation runs, because it loads Numba. Each part is compiled on its own and called by its
address: so the integrator holds one copy of none of them, and loads are compiled only for those who have some.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import carray, cfunc, njit

from ..motion.global_kernels import call2
from ..runtime.items import next_to
from ..runtime.time_kernels import evaluate
from . import array_heads as chain
from .load_kernels import candidate_rate, component
from .state_kernels import least_distance, solve_rows

FAR = 1 << 40
SIGNATURE = "int64(CPointer(int64), CPointer(float64))"
CALLED: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}
OPTIONS = {**CALLED, "no_cfunc_wrapper": True, "_nrt": False}
INTERNAL = {**OPTIONS, "no_cpython_wrapper": True}
JUMP = 0.05  # of the way of a row in a step: what its rates at both ends may leave unexplained
ROUNDING, TINY = 1e-7, 1e-12  # of the row itself, where it hardly moves; groups near a singular position lose digits


@chain.dated
def _functions(ints_at, x_at):  # type: ignore[no-untyped-def]
    """Value and two derivatives of all functions of time, into the places from VALUES on: one lane, rows 3 apart."""
    ints, x = carray(ints_at, FAR), carray(x_at, FAR)
    v = ints[chain.VALUES]
    evaluate(
        ints[ints[chain.FUNCTION] :], x[ints[chain.FUNCTION_NUMBERS] :], x, 1, 1, x[chain.TIME :], 1, x[v:],
        x[v + 1 :], x[v + 2 :], x, 3, ints[ints[chain.FUNCTION_ROWS] :], 2, 0, 1, x[ints[chain.FUNCTION_WORK] :],
    )  # fmt: skip
    return 0


@functools.cache
def functions_of_time() -> Any:
    """Return what evaluates all functions of time; only loads and drivers need it."""
    return cfunc(SIGNATURE, **CALLED)(_functions)


@njit(**INTERNAL)
@chain.dated
def positions(ints, x):  # type: ignore[no-untyped-def]
    """All rows of the state from time, coordinates and rates; False where a group has no solution."""
    f, y, n = ints[chain.FREE], ints[chain.Y], ints[chain.ROWS]
    if ints[chain.N_FUNCTIONS] > 0:
        call2(ints[chain.FUNCTIONS], (ints[chain.OWN_INTS], ints[chain.OWN_FLOATS]))
    for i in range(ints[chain.DRIVEN]):
        row, place = ints[ints[chain.DRIVEN_AT] + i], ints[chain.VALUES] + 3 * i  # drivers are the first functions
        x[row], x[row + n], x[row + 2 * n] = x[place], x[place + 1], x[place + 2]
    for i in range(f):
        row = ints[ints[chain.FREE_AT] + i]
        x[row], x[row + n] = x[y + i], x[y + f + i]
    return solve_rows(ints, x)


@njit(**INTERNAL)
@chain.dated
def reduce(ints, x):  # type: ignore[no-untyped-def]
    """Rᵀ M R and Rᵀ (Q - M c): the mass matrix of all rows is constant, and weight is a constant force on them."""
    f, m, h, n = ints[chain.FREE], ints[chain.MATRIX], ints[chain.VECTOR], ints[chain.ROWS]
    for i in range(f * f):
        x[m + i] = 0.0
    for i in range(f):
        x[h + i] = 0.0
    for i in range(ints[chain.MASSES]):
        e = ints[chain.MASS_AT] + 4 * i
        row, columns, count, values = ints[e], ints[e + 1], ints[e + 2], ints[e + 3]
        lack = x[ints[chain.WEIGHT] + i]
        for k in range(count):
            lack -= x[values + k] * x[ints[columns + k] + 2 * n]
        for j in range(f):
            x[h + j] += x[row + (3 + j) * n] * lack
            moved = 0.0
            for k in range(count):
                moved += x[values + k] * x[ints[columns + k] + (3 + j) * n]
            for k in range(f):
                x[m + f * k + j] += x[row + (3 + k) * n] * moved


@njit(**INTERNAL)
@chain.dated
def solve(x, f, m, h):  # type: ignore[no-untyped-def]
    """Solve with the symmetric matrix at m, in place of the vector at h (Cholesky); False without inertia."""
    for j in range(f):
        for k in range(j + 1):
            total = x[m + f * j + k]
            for i in range(k):
                total -= x[m + f * j + i] * x[m + f * k + i]
            if j == k:
                if not total > 0.0:
                    return False
                x[m + f * j + j] = np.sqrt(total)
            else:
                x[m + f * j + k] = total / x[m + f * k + k]
    for j in range(f):
        for i in range(j):
            x[h + j] -= x[m + f * j + i] * x[h + i]
        x[h + j] /= x[m + f * j + j]
    for j in range(f - 1, -1, -1):
        for i in range(j + 1, f):
            x[h + j] -= x[m + f * i + j] * x[h + i]
        x[h + j] /= x[m + f * j + j]
    return True


@njit(**INTERNAL)
@chain.dated
def energy(ints, x):  # type: ignore[no-untyped-def]
    """Kinetic energy and its rate, which is the power of all loads and drivers, from q̇ and q̈ of the rows."""
    f, n, bends = ints[chain.FREE], ints[chain.ROWS], ints[chain.Y] + 3 * ints[chain.FREE]
    double, power = 0.0, 0.0
    for i in range(ints[chain.MASSES]):
        e = ints[chain.MASS_AT] + 4 * i
        row, columns, count, values = ints[e], ints[e + 1], ints[e + 2], ints[e + 3]
        momentum, bend = 0.0, x[row + 2 * n]
        for k in range(count):
            momentum += x[values + k] * x[ints[columns + k] + n]
        for j in range(f):
            bend += x[row + (3 + j) * n] * x[bends + j]
        double += momentum * x[row + n]
        power += momentum * bend
    x[chain.KINETIC], x[chain.POWER] = 0.5 * double, power


@chain.dated
def _rates(ints_at, x_at):  # type: ignore[no-untyped-def]
    """ẏ of y = (z, ż) behind y; 0, or 1 where the groups have no solution or the free motions no inertia."""
    ints, x = carray(ints_at, FAR), carray(x_at, FAR)
    if not positions(ints, x):
        return 1
    reduce(ints, x)
    f, m, h, y = ints[chain.FREE], ints[chain.MATRIX], ints[chain.VECTOR], ints[chain.Y]
    if ints[chain.LOADS] > 0:
        call2(ints[chain.LOAD_CODE], (ints[chain.OWN_INTS], ints[chain.OWN_FLOATS]))
    if f == 1:
        x[h] /= x[m]
    elif not solve(x, f, m, h):
        return 1
    total = 0.0
    for i in range(f):
        x[y + 2 * f + i], x[y + 3 * f + i] = x[y + f + i], x[h + i]
        total += x[h + i]
    energy(ints, x)
    return 0 if total - total == 0.0 else 1


@chain.dated
def _smooth(ints_at, x_at):  # type: ignore[no-untyped-def]
    """0 where every row went on from the last accepted state as its rates at both ends say; 1 for a jump.

    Position, rates and second derivatives at both ends leave h⁵/720 of the fifth derivative: nothing beside the way of
    a row in a step that the tolerance allows. A jump of the position or of a rate is as large as the way itself.
    """
    ints, x = carray(ints_at, FAR), carray(x_at, FAR)
    f, n, state, base = ints[chain.FREE], ints[chain.ROWS], ints[chain.STATE], ints[chain.BASE]
    bends, h = ints[chain.Y] + 3 * f, x[chain.TIME] - x[chain.BASE_TIME]
    for i in range(n):
        q0, v0, a0 = x[base + i], x[base + n + i], x[base + 2 * n + i]
        q1, v1, a1 = x[state + i], x[state + n + i], x[state + 2 * n + i]
        for j in range(f):
            a1 += x[state + (3 + j) * n + i] * x[bends + j]
        gap = q1 - q0 - 0.5 * h * (v0 + v1) - h * h / 12.0 * (a0 - a1)
        way = abs(h) * (abs(v0) + abs(v1)) + h * h * (abs(a0) + abs(a1))
        if not abs(gap) <= JUMP * way + ROUNDING * (abs(q0) + abs(q1)) + TINY:
            x[chain.JUMP] = i + 1
            return 1
    x[chain.JUMP] = 0
    return 0


@chain.dated
def _accept(ints_at, x_at):  # type: ignore[no-untyped-def]
    """Make the last evaluation the place from which Newton's starts and continuous angles are predicted."""
    ints, x = carray(ints_at, FAR), carray(x_at, FAR)
    f, n, state, base = ints[chain.FREE], ints[chain.ROWS], ints[chain.STATE], ints[chain.BASE]
    bends = ints[chain.Y] + 3 * f
    if ints[chain.TURNS] > 0:
        call2(ints[chain.TURN_CODE], (ints[chain.OWN_INTS], ints[chain.OWN_FLOATS]))
    dt = x[chain.TIME] - x[chain.BASE_TIME]
    for i in range(ints[chain.BODIES]):
        e, place = ints[ints[chain.BODY_AT] + i], ints[chain.ANGLES] + 3 * i
        ex, ey = component(ints, x, e, 0, 0), component(ints, x, e, 1, 0)
        value = np.arctan2(ey, ex)
        ahead = x[place] + dt * (x[place + 1] + 0.5 * dt * x[place + 2])
        x[place] = next_to(value, ahead)
        for order in range(1, 3 + f):
            w = ex * component(ints, x, e, 1, order) - ey * component(ints, x, e, 0, order)
            if order < 3:
                x[place + order] = w
            else:
                x[place + 2] += w * x[bends + order - 3]
    for i in range(2 * n):
        x[base + i] = x[state + i]
    for i in range(n):
        bend = x[state + 2 * n + i]
        for j in range(f):
            bend += x[state + (3 + j) * n + i] * x[bends + j]
        x[base + 2 * n + i] = bend
    x[chain.BASE_TIME] = x[chain.TIME]
    return 0


@njit(**OPTIONS)
@chain.dated
def accept(ints, x):  # type: ignore[no-untyped-def]
    """Call what renews the base of predictions."""
    return call2(ints[chain.ACCEPT], (ints[chain.OWN_INTS], ints[chain.OWN_FLOATS]))


@chain.dated
def _look(ints_at, x_at):  # type: ignore[no-untyped-def]
    """1 where a candidate coordinate would gain more than x[GAIN] in squared volume.

    The rates of the coordinates in use are unit vectors: a swap changes the squared volume by the square below.
    """
    ints, x = carray(ints_at, FAR), carray(x_at, FAR)
    f, lengths, n = ints[chain.FREE], ints[chain.LENGTHS], ints[chain.CANDIDATES]
    for i in range(n):
        for j in range(f):
            rate = candidate_rate(ints, x, i, 3 + j)
            if rate * rate * x[lengths + n + j] > x[chain.GAIN] * x[lengths + i]:
                return 1
    return 0


@njit(**INTERNAL)
@chain.dated
def look_wanted(ints, x, gain):  # type: ignore[no-untyped-def]
    """Call what compares the candidates."""
    x[chain.GAIN] = gain
    return call2(ints[chain.LOOK], (ints[chain.OWN_INTS], ints[chain.OWN_FLOATS])) != 0


@chain.dated
def _distance(ints_at, x_at):  # type: ignore[no-untyped-def]
    """Write the least distance of a group from singularity into x[DISTANCE]."""
    ints, x = carray(ints_at, FAR), carray(x_at, FAR)
    x[chain.DISTANCE] = least_distance(ints, x)
    return 0


@functools.cache
def compiled() -> dict[int, Any]:
    """Return the compiled parts by the places of their addresses."""
    make = cfunc(SIGNATURE, **CALLED)
    return {
        chain.RATES: make(_rates), chain.ACCEPT: make(_accept), chain.LOOK: make(_look),
        chain.DISTANCES: make(_distance), chain.SMOOTH: make(_smooth),
    }  # fmt: skip
