"""The compiled integration of the divide and conquer methods: Runge-Kutta pairs of order 5(4) and 8(5,3), projections.

Imported only where it runs, because it loads Numba. Coefficients and step control are those that SciPy publishes; the
pair of Dormand and Prince of order 5(4), which the paper used, serves rough tolerances, DOP853 fine ones.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.integrate import RK45

from ..mechanism.model import Array
from ..runtime.sources import dated
from .bodyforces import remember_turns
from .dca_equations import accelerations, assemble, observe, project, put, put_bodies, put_rates, rates
from .dca_kernels import COUNTED
from .integrator import LEAST, MOST, SAFETY, A, C, dense, error_of, interpolate
from .jointkernels import evaluate, remember

FIVE, EIGHT = 5, 8
STAGES5, STAGES8 = 6, 12
E5, P5 = np.array(RK45.E), np.array(RK45.P)
PATIENCE = 200  # steps after which it returns in any case, so that the user can interrupt
GO_ON, FAILED = 0, 1
TIME, STEP, END, TOLERANCE, N_CONTROL = range(5)
NEXT, STEPS, EVALUATIONS, ORDER, PROJECTED, N_COUNTS = range(6)


def tableau(order: int) -> tuple[Array, Array]:
    """Return all rows of coefficients and their times; the result of a step is the row behind its stages."""
    if order == EIGHT:
        return A.copy(), C.copy()
    rows = np.zeros((STAGES5 + 1, STAGES5 + 1))
    rows[:STAGES5, : STAGES5 - 1], rows[STAGES5, :STAGES5] = RK45.A, RK45.B
    return rows, np.append(RK45.C, 1.0)


@njit(no_cpython_wrapper=True, **COUNTED)
@dated
def stages(s, A, C, t, h, y, K, trial, first, last):  # type: ignore[no-untyped-def]
    """Stages first to last of a step; `trial` holds the state of the last one. False where one has no solution."""
    for k in range(first, last + 1):
        for i in range(len(y)):
            total = 0.0
            for j in range(k):
                total += A[k, j] * K[j, i]
            trial[i] = y[i] + h * total
        if not rates(s, t + C[k] * h, trial, K[k]):
            return False
    return True


@njit(no_cpython_wrapper=True, **COUNTED)
@dated
def error5(h, y, K, trial, atol, rtol):  # type: ignore[no-untyped-def]
    """The error of a step of order 5(4) over the tolerance."""
    total = 0.0
    for i in range(len(y)):
        e = 0.0
        for j in range(STAGES5 + 1):
            e += E5[j] * K[j, i]
        total += (h * e / (atol[i] + max(abs(y[i]), abs(trial[i])) * rtol)) ** 2
    return np.sqrt(total / len(y))


@njit(no_cpython_wrapper=True, **COUNTED)
@dated
def inside5(u, h, y, K, out):  # type: ignore[no-untyped-def]
    """The state at the part u of the last step of order 5(4)."""
    for i in range(len(y)):
        total = 0.0
        for j in range(STAGES5 + 1):
            total += K[j, i] * u * (P5[j, 0] + u * (P5[j, 1] + u * (P5[j, 2] + u * P5[j, 3])))
        out[i] = y[i] + h * total


@njit(**COUNTED)
@dated
def settle(s, t, y, projected):  # type: ignore[no-untyped-def]
    """Project a state and find its accelerations; False where there are none."""
    if projected != 0:
        if not project(s, t, y):
            return False
    else:
        put_bodies(s, y)
        evaluate(s.joints, t)
        if not assemble(s):
            return False
    return accelerations(s, t)


@njit(**COUNTED)
@dated
def keep(s):  # type: ignore[no-untyped-def]
    """Let turns and contacts be counted from the last evaluation on."""
    remember(s.joints)
    remember_turns(s.head)


@njit(**COUNTED)
@dated
def write(s, bodies, bends, turns):  # type: ignore[no-untyped-def]
    """Keep bodies, their accelerations and the turns of torsion springs for the results."""
    for k in range(len(bodies)):
        put(bodies[k], s.bodies[k])
        if k > 0:
            put(bends[k], s.found[k - 1])
    put(turns, s.turns)


@njit(**COUNTED)
@dated
def advance(  # type: ignore[no-untyped-def]
    s, A, C, y, K, F, trial, atol, control, counts, times, kept, bends, turns, most
):
    """Take at most `most` steps towards the end; bodies and accelerations at the asked times are kept.

    K[0] holds the rates at the present state.
    """
    end, rtol, projected, five = control[END], control[TOLERANCE], counts[PROJECTED], counts[ORDER] == FIVE
    exponent, last = (-0.2, STAGES5) if five else (-0.125, STAGES8)
    one, more, spare = np.int64(1), np.int64(STAGES8 + 1), np.int64(STAGES8 + 3)  # literals would be compiled for anew
    for _ in range(most):
        t = control[TIME]
        least = 10.0 * abs(np.nextafter(t, np.inf) - t)
        h = max(control[STEP], least)
        rejected = False
        while True:
            if h < least:
                return FAILED
            ahead = min(t + h, end)
            h = ahead - t
            error = -1.0
            if stages(s, A, C, t, h, y, K, trial, one, last):
                error = error5(h, y, K, trial, atol, rtol) if five else error_of(h, y, K, trial, atol, rtol)
            counts[EVALUATIONS] += last
            if 0.0 <= error < 1.0:
                put(F[7], trial)
                if settle(s, ahead, trial, projected):
                    observe(s, trial)
                    put_rates(s, trial, F[8])
                    break
                error = -1.0
            h *= max(LEAST, SAFETY * error**exponent) if error > 0.0 else LEAST
            rejected = True
        factor = MOST if error == 0.0 else min(MOST, SAFETY * error**exponent)
        control[STEP] = h * (min(1.0, factor) if rejected else factor)
        counts[STEPS] += 1
        keep(s)
        k = counts[NEXT]
        if k < len(times) and times[k] <= ahead:
            if times[k] < ahead and not five:
                if not stages(s, A, C, t, h, y, K, F[0], more, spare):
                    return FAILED
                dense(h, y, K, F)
                counts[EVALUATIONS] += 3
            while k < len(times) and times[k] <= ahead:
                if times[k] == ahead:
                    put(F[0], trial)  # the polynomial is not needed any more
                elif five:
                    inside5((times[k] - t) / h, h, y, K, F[0])
                else:
                    interpolate((times[k] - t) / h, y, F, K, spare)
                state = F[0] if five or times[k] == ahead else K[spare]
                if not settle(s, times[k], state, projected):
                    return FAILED
                if projected != 0:  # otherwise what lies between the steps is less exact than they are
                    observe(s, state)
                write(s, kept[k], bends[k], turns[k])
                k += 1
            counts[NEXT] = k
        put(y, trial)
        put(K[0], F[8])
        control[TIME] = ahead
        if ahead >= end:
            return GO_ON
    return GO_ON
