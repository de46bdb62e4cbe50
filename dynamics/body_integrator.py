"""The compiled integration of bodies: the stages of DOP853, with every step projected onto the joints.

Imported only where a simulation runs, because it loads Numba. Right-hand side and projection of a method are called by
their addresses, as in `integrator`, whose stages, error and dense output these are.
"""

from __future__ import annotations

import numpy as np
from numba import carray, njit

from ..codegen import joint_codes as code
from ..motion.global_kernels import call2
from . import array_heads as heads
from . import body_head as place
from .integrator import (
    END,
    EVALUATIONS,
    EXPONENT,
    FAILED,
    GO_ON,
    LEAST,
    LONGEST,
    LOST,
    MOST,
    NEXT,
    RTOL,
    SAFETY,
    STAGES,
    STEP,
    STEPS,
    TIME,
    dense,
    error_of,
    interpolate,
    rates,
    stages,
)  # fmt: skip
from .joint_kernels import OPTIONS, doubles, integers

PATIENCE = 10_000  # steps after which the loop returns in any case, so that the user can interrupt
OWN = heads.HEAD


@njit(**OPTIONS)
@heads.dated
def project(ints, x, t, y):  # type: ignore[no-untyped-def]
    """Put a state onto the joints, in place; False where that fails."""
    if ints[OWN + place.PROJECT] == 0:
        return True
    at, n = ints[heads.Y], len(y) - 1
    x[heads.TIME] = t
    for i in range(n):
        x[at + i] = y[i]
    lost = call2(ints[OWN + place.PROJECT], (ints[heads.OWN_INTS], ints[heads.OWN_FLOATS]))
    for i in range(n):
        y[i] = x[at + i]
    return lost == 0


@njit(**OPTIONS)
@heads.dated
def note(ints, x, t, y, K, s, k, kept, bends, turns):  # type: ignore[no-untyped-def]
    """Evaluate a state and keep the bodies, their accelerations and the turns of torsion springs as lane k."""
    if not rates(ints, x, t, y, K, s):
        return False
    head = carray(integers(ints[OWN + place.OWN_BODIES]), place.SIZE)
    n, w = head[place.COUNT], head[place.WIDTH]
    columns = code.BODY2 if w == 3 else code.BODY3
    bodies, bend = carray(doubles(head[place.BODIES]), (n, columns)), carray(doubles(head[place.ACCELERATION]), (n, w))
    now = carray(doubles(head[place.TURNS]), turns.shape[1])
    for i in range(n):
        for c in range(columns):
            kept[k, i, c] = bodies[i, c]
        for c in range(w):
            bends[k, i, c] = bend[i, c]
    for i in range(turns.shape[1]):
        turns[k, i] = now[i]
    return True


@njit(**OPTIONS)
@heads.dated
def advance(  # type: ignore[no-untyped-def]
    ints, x, y, K, F, trial, atol, control, counts, times, kept, bends, turns, most
):
    """Take at most `most` steps towards the end; K[0] holds the rates at the present state, which is projected."""
    end, rtol, n = control[END], control[RTOL], len(y)
    first, one, more, spare = np.int64(0), np.int64(1), np.int64(STAGES + 1), np.int64(STAGES + 3)
    last, row = np.int64(STAGES), np.int64(8)  # literals would be compiled for anew
    for _ in range(most):
        t = control[TIME]
        least = 10.0 * abs(np.nextafter(t, np.inf) - t)
        h, rejected = max(min(control[STEP], control[LONGEST]), least), False
        while True:
            if h < least:
                return FAILED
            ahead = min(t + h, end)
            h = ahead - t
            error = -1.0
            if stages(ints, x, t, h, y, K, trial, one, last):
                error = error_of(h, y, K, trial, atol, rtol)
            counts[EVALUATIONS] += STAGES
            if 0.0 <= error < 1.0:
                factor = MOST if error == 0.0 else min(MOST, SAFETY * error**EXPONENT)
                control[STEP] = h * (min(1.0, factor) if rejected else factor)
                break
            h *= max(LEAST, SAFETY * error**EXPONENT) if error > 0.0 else LEAST
            rejected = True
        counts[STEPS] += 1
        k = counts[NEXT]
        for i in range(n):
            F[7, i] = trial[i]
        if k < len(times) and times[k] < ahead:
            if not stages(ints, x, t, h, y, K, trial, more, spare):
                return FAILED
            dense(h, y, K, F)
            counts[EVALUATIONS] += 3
        while k < len(times) and times[k] < ahead:
            interpolate((times[k] - t) / h, y, F, F, row)
            if not project(ints, x, times[k], F[8]) or not note(
                ints, x, times[k], F[8], K, spare, k, kept, bends, turns
            ):
                return LOST
            k += 1
            counts[NEXT] = k
        for i in range(n):
            y[i] = F[7, i]
        control[TIME] = ahead
        if not project(ints, x, ahead, y) or not rates(ints, x, ahead, y, K, first):
            return LOST
        counts[EVALUATIONS] += 1
        call2(ints[OWN + place.FINISH], (ints[heads.OWN_INTS], ints[heads.OWN_FLOATS]))
        while k < len(times) and times[k] <= ahead:
            if not note(ints, x, ahead, y, K, first, k, kept, bends, turns):
                return LOST
            k += 1
            counts[NEXT] = k
        if ahead >= end:
            return GO_ON
    return GO_ON
