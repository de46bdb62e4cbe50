"""The compiled integrator: right-hand side, DOP853 with dense output, classical Runge-Kutta with a fixed step.

Imported only where a simulation runs, because it loads Numba. The Runge-Kutta pair of order 8(5,3) has the coefficients
that SciPy publishes with its DOP853, whose step control is followed to the letter. A library's integrator was tried
first: CyRK 0.20 compiles anew for every right-hand side in every process (8 s, nothing of it kept on disk), and does
not stop after a step to ask whether the coordinates still serve. This one is compiled once for all mechanisms:
right-hand side and groups are called by their addresses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.integrate import DOP853

from ..motion.global_kernels import call2
from ..runtime.items import next_to
from . import array_heads as chain
from .equation_kernels import accept, look_wanted
from .load_kernels import LOAD_SIZE, TORSION, component

STAGES = 12


def _tableau() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return all rows of coefficients and their times: 12 stages, the result as the 13th, 3 more for dense output."""
    rows, nodes = np.zeros((STAGES + 4, STAGES + 4)), np.ones(STAGES + 4)
    rows[:STAGES, :STAGES], nodes[:STAGES] = DOP853.A, DOP853.C
    rows[STAGES, :STAGES] = DOP853.B
    rows[STAGES + 1 :, : DOP853.A_EXTRA.shape[1]], nodes[STAGES + 1 :] = DOP853.A_EXTRA, DOP853.C_EXTRA
    return rows, nodes


A, C = _tableau()
E3, E5, D = np.array(DOP853.E3), np.array(DOP853.E5), np.array(DOP853.D)
SAFETY, LEAST, MOST, EXPONENT = 0.9, 0.2, 10.0, -1.0 / 8.0

GO_ON, LOOK, FAILED, LOST = 0, 1, 2, 4  # why the compiled loop returns: bits
PATIENCE = 10_000  # steps after which it returns in any case, so that the user can interrupt
# places in the control array of numbers
(
    TIME, STEP, END, RTOL, LONGEST, STRIDE, SINGULAR, NEAR, LOOK_BELOW, BRIDGE_END, GAIN, LAST_DISTANCE, BALANCE,
    ENERGY, SLIGHT, N_CONTROL,
) = range(16)  # fmt: skip
# places in the counters
NEXT, STEPS, EVALUATIONS, UNSEEN, SELDOM, OFTEN, FIRST, N_COUNTS = range(8)

OPTIONS: dict[str, Any] = {
    "cache": True, "error_model": "numpy", "fastmath": {"contract"}, "no_cfunc_wrapper": True, "_nrt": False,
}  # fmt: skip
INTERNAL = {**OPTIONS, "no_cpython_wrapper": True}


@njit(**OPTIONS)
@chain.dated
def rates(ints, x, t, y, K, s):  # type: ignore[no-untyped-def]
    """ẏ at a time into K[s], behind it the power of all loads and drivers; False where the groups have no solution."""
    n, place = 2 * ints[chain.FREE], ints[chain.Y]
    x[chain.TIME] = t
    for i in range(n):
        x[place + i] = y[i]
    lost = call2(ints[chain.RATES], (ints[chain.OWN_INTS], ints[chain.OWN_FLOATS]))
    for i in range(n):
        K[s, i] = x[place + n + i]
    K[s, n] = x[chain.POWER]
    return lost == 0


@njit(**OPTIONS)
@chain.dated
def evaluate(ints, x, times, states, lo, hi, K, s, rows, angles, turns, first):  # type: ignore[no-untyped-def]
    """All rows (q, q̇, q̈, R; 3 + f x row x lane), planar angles (body x lane) and turns of torsion springs, next to
    which they are (spring x lane), at the states lo to hi - 1.

    State k is lane k - first. Returns the first state without a solution. K[s] is spare; the base of predictions stays.
    """
    f, n, state = ints[chain.FREE], ints[chain.ROWS], ints[chain.STATE]
    for k in range(lo, hi):
        if not rates(ints, x, times[k], states[k], K, s):
            return k
        at = k - first
        for i in range(n):
            row = state + i
            bend = x[row + 2 * n]
            for j in range(f):
                bend += x[row + (3 + j) * n] * K[s, f + j]
                rows[3 + j, i, at] = x[row + (3 + j) * n]
            rows[0, i, at], rows[1, i, at], rows[2, i, at] = x[row], x[row + n], bend
        dt = times[k] - x[chain.BASE_TIME]
        for i in range(ints[chain.BODIES]):
            e, place = ints[ints[chain.BODY_AT] + i], ints[chain.ANGLES] + 3 * i
            value = np.arctan2(component(ints, x, e, 1, 0), component(ints, x, e, 0, 0))
            ahead = x[place] + dt * (x[place + 1] + 0.5 * dt * x[place + 2])
            angles[i, at] = next_to(value, ahead)
        spring = 0
        for i in range(ints[chain.LOADS]):
            load = ints[chain.LOAD_AT] + LOAD_SIZE * i
            if ints[load] == TORSION:
                turns[spring, at] = x[ints[load + 9]] + dt * x[ints[load + 9] + 1]
                spring += 1
    return hi


# ---- when Python should look --------------------------------------------------------------------------------------
@njit(**INTERNAL)
@chain.dated
def look_due(ints, x, y, control, counts):  # type: ignore[no-untyped-def]
    """Whether the choice of coordinates should be looked at: bridges, singular positions, better coordinates."""
    if ints[chain.BRIDGED] != 0:
        b = ints[chain.BRIDGE]
        control[LAST_DISTANCE] = 1.0
        return abs((y[0] - x[b]) / x[b + 1]) > control[BRIDGE_END]
    call2(ints[chain.DISTANCES], (ints[chain.OWN_INTS], ints[chain.OWN_FLOATS]))
    distance = x[chain.DISTANCE]
    control[LAST_DISTANCE] = distance
    counts[UNSEEN] += 1
    if not distance > control[SINGULAR]:
        return True
    if distance > control[NEAR]:
        control[LOOK_BELOW] = control[NEAR]
    elif distance < control[LOOK_BELOW]:
        return True
    if counts[UNSEEN] >= counts[OFTEN]:
        return True
    if counts[UNSEEN] < counts[SELDOM]:
        return False
    return look_wanted(ints, x, control[GAIN])


# ---- DOP853 -------------------------------------------------------------------------------------------------------
@njit(**INTERNAL)
@chain.dated
def stages(ints, x, t, h, y, K, trial, first, last):  # type: ignore[no-untyped-def]
    """Stages first to last of a step; `trial` holds the state of the last one. False where one has no solution."""
    for s in range(first, last + 1):
        for i in range(len(y)):
            total = 0.0
            for j in range(s):
                total += A[s, j] * K[j, i]
            trial[i] = y[i] + h * total
        if not rates(ints, x, t + C[s] * h, trial, K, s):
            return False
    return True


@njit(**INTERNAL)
@chain.dated
def goes_on(ints, x, worked, control):  # type: ignore[no-untyped-def]
    """Whether the last evaluation continues the accepted state: every row smoothly, the energy by the work done.

    What starts from rest has no energy to compare with: there the energy of a motion within the tolerance is allowed.
    """
    largest = max(control[ENERGY], x[chain.KINETIC])
    if not abs(worked - x[chain.KINETIC]) <= control[BALANCE] * largest + control[SLIGHT]:
        x[chain.JUMP] = -1
        return False
    if call2(ints[chain.SMOOTH], (ints[chain.OWN_INTS], ints[chain.OWN_FLOATS])) != 0:
        return False
    control[ENERGY] = largest
    return True


@njit(**INTERNAL)
@chain.dated
def error_of(h, y, K, trial, atol, rtol):  # type: ignore[no-untyped-def]
    """The error of a step over the tolerance."""
    n = len(atol)
    five, three = 0.0, 0.0
    for i in range(n):
        scale = atol[i] + max(abs(y[i]), abs(trial[i])) * rtol
        e5, e3 = 0.0, 0.0
        for j in range(STAGES + 1):
            e5 += E5[j] * K[j, i]
            e3 += E3[j] * K[j, i]
        five += (e5 / scale) ** 2
        three += (e3 / scale) ** 2
    if five == 0.0 and three == 0.0:
        return 0.0
    return h * five / np.sqrt((five + 0.01 * three) * n)


@njit(**INTERNAL)
@chain.dated
def dense(h, y, K, F):  # type: ignore[no-untyped-def]
    """The polynomial of order 7 over the last step, whose end is in F[7], from all its 16 stages."""
    for i in range(len(y)):
        change = F[7, i] - y[i]
        F[0, i] = change
        F[1, i] = h * K[0, i] - change
        F[2, i] = 2.0 * change - h * (K[STAGES, i] + K[0, i])
        for e in range(4):
            total = 0.0
            for j in range(STAGES + 4):
                total += D[e, j] * K[j, i]
            F[3 + e, i] = h * total


@njit(**INTERNAL)
@chain.dated
def interpolate(u, y, F, out, row):  # type: ignore[no-untyped-def]
    """The state at the part u of the last step into a row of `out`."""
    for i in range(len(y)):
        total = 0.0
        for k in range(7):
            total = (total + F[6 - k, i]) * (u if k % 2 == 0 else 1.0 - u)
        out[row, i] = y[i] + total


@njit(**INTERNAL)
@chain.dated
def longest(y, control, scale):  # type: ignore[no-untyped-def]
    """How long the next step may be: no further than the groups are from being singular."""
    f = len(scale)
    fastest = 0.0
    for i in range(f):
        fastest = max(fastest, abs(y[f + i]) / scale[i])
    near = max(control[LAST_DISTANCE], control[SINGULAR])
    return control[STRIDE] * near / fastest if fastest > 0.0 else np.inf


@njit(**OPTIONS)
@chain.dated
def advance(  # type: ignore[no-untyped-def]
    ints, x, y, K, F, trial, atol, scale, control, counts, times, out, rows, angles, turns
):
    """Step until the end is reached, a look is due, or no step is short enough.

    States at the asked times are in `out`; what is reported there, from the time FIRST on, in rows, angles and turns.

    K[0] holds the rates at the present state, which is also the base of predictions. The last number of a state is the
    kinetic energy, integrated from the power of all loads and drivers: after a step it must be that of the rates.
    """
    end, rtol, n = control[END], control[RTOL], len(y)
    one, last, more, spare = np.int64(1), np.int64(STAGES), np.int64(STAGES + 1), np.int64(STAGES + 3)  # no literals:
    room = np.int64(0)  # each would be compiled for anew
    for _ in range(PATIENCE):
        t = control[TIME]
        least = 10.0 * abs(np.nextafter(t, np.inf) - t)
        h = max(min(control[STEP], control[LONGEST], longest(y, control, scale)), least)
        rejected = False
        while True:
            if h < least:
                return FAILED
            ahead = t + h
            if ahead > end:
                ahead = end
            h = ahead - t
            error = -1.0
            if stages(ints, x, t, h, y, K, trial, one, last):
                error = error_of(h, y, K, trial, atol, rtol)
            counts[EVALUATIONS] += STAGES
            if 0.0 <= error < 1.0 and not goes_on(ints, x, trial[n - 1], control):
                error = -1.0
            if 0.0 <= error < 1.0:
                factor = MOST if error == 0.0 else min(MOST, SAFETY * error**EXPONENT)
                if rejected:
                    factor = min(1.0, factor)
                control[STEP] = h * factor
                break
            h *= max(LEAST, SAFETY * error**EXPONENT) if error > 0.0 else LEAST
            rejected = True
        trial[n - 1] = x[chain.KINETIC]
        counts[STEPS] += 1
        control[TIME] = ahead
        accept(ints, x)
        why = LOOK if look_due(ints, x, trial, control, counts) else GO_ON
        k = counts[NEXT]
        if k < len(times) and times[k] <= ahead:
            for i in range(n):
                F[7, i] = trial[i]
            if times[k] < ahead:
                if not stages(ints, x, t, h, y, K, trial, more, spare):
                    return FAILED
                dense(h, y, K, F)
                counts[EVALUATIONS] += 3
            while k < len(times) and times[k] <= ahead:
                if times[k] == ahead:
                    for i in range(n):
                        out[k, i] = F[7, i]
                else:
                    interpolate((times[k] - t) / h, y, F, out, k)
                k += 1
            counts[NEXT] = evaluate(ints, x, times, out, counts[NEXT], k, K, room, rows, angles, turns, counts[FIRST])
            if counts[NEXT] < k:
                return LOST
            for i in range(n):
                trial[i] = F[7, i]
        for i in range(n):
            y[i] = trial[i]
            K[0, i] = K[STAGES, i]
        if why != GO_ON or ahead >= end:
            return why
    return GO_ON


# ---- a fixed step -------------------------------------------------------------------------------------------------
@njit(**OPTIONS)
@chain.dated
def march(ints, x, y, K, trial, control, counts, times, out, rows, angles, turns):  # type: ignore[no-untyped-def]
    """The classical Runge-Kutta method of order 4: equal steps of at most STEP from one asked time to the next.

    It returns as `advance` does, at END too if that comes first; counts[NEXT] is the asked time that is under way.
    """
    n, room, first = len(y), np.int64(4), np.int64(0)
    for _ in range(PATIENCE):
        k = counts[NEXT]
        t = control[TIME]
        goal = min(times[k], control[END])
        left = max(1.0, np.ceil((goal - t) / control[STEP] * (1.0 - 1e-9)))
        h = (goal - t) / left
        for s in range(1, 4):
            part = h if s == 3 else 0.5 * h
            for i in range(n):
                trial[i] = y[i] + part * K[s - 1, i]
            if not rates(ints, x, t + part, trial, K, s):
                return FAILED
        for i in range(n):
            trial[i] = y[i] + h / 6.0 * (K[0, i] + 2.0 * (K[1, i] + K[2, i]) + K[3, i])
        ahead = goal if left == 1.0 else t + h
        if not rates(ints, x, ahead, trial, K, first) or not goes_on(ints, x, trial[n - 1], control):
            return FAILED
        trial[n - 1] = x[chain.KINETIC]
        for i in range(n):
            y[i] = trial[i]
        counts[EVALUATIONS] += 4
        counts[STEPS] += 1
        control[TIME] = ahead
        accept(ints, x)
        why = LOOK if look_due(ints, x, y, control, counts) else GO_ON
        if ahead == times[k]:
            for i in range(n):
                out[k, i] = y[i]
            counts[NEXT] = evaluate(ints, x, times, out, k, k + 1, K, room, rows, angles, turns, counts[FIRST])
            if counts[NEXT] == k:
                return LOST
        if why != GO_ON or ahead >= control[END]:
            return why
    return GO_ON
