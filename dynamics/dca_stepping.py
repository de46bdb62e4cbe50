"""The compiled integration of the divide and conquer methods: Runge-Kutta pairs of order 5(4) and 8(5,3), projections.

Imported only where it runs, because it loads Numba. Coefficients and step control are those that SciPy publishes; the
pair of Dormand and Prince of order 5(4), which the paper used, serves rough tolerances, DOP853 fine ones.
"""

from __future__ import annotations

import math

import numpy as np
from numba import carray, njit
from scipy.integrate import RK45

from ..codegen import joint_codes as code
from ..mechanism.model import Array
from ..runtime.sources import dated
from . import body_head, joint_head
from . import dca_head as at
from .body_forces import remember_turns
from .dca_equations import length, put, put_rates, rates, rows_times, settle
from .dca_kernels import COUNTED
from .integrator import END, LEAST, LONGEST, MOST, RTOL, SAFETY, STEP, TIME, A, C, dense, error_of, interpolate
from .joint_kernels import FAR, doubles, integers, remember

FIVE, EIGHT = 5, 8
STAGES5, STAGES8 = 6, 12
E5, P5 = np.array(RK45.E), np.array(RK45.P)
PATIENCE = 200  # steps after which it returns in any case, so that the user can interrupt
GO_ON, FAILED, OPENED = 0, 1, 2
RAISES, RAISED = 2, 1e3  # how often, and by what, a penalty is raised; beyond it rounding errors grow with it
N_CONTROL = LONGEST + 1  # the first places of the control are those of `integrator`
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
def stages(head, A, C, t, h, y, K, trial, first, last):  # type: ignore[no-untyped-def]
    """Stages first to last of a step; `trial` holds the state of the last one. False where one has no solution."""
    for k in range(first, last + 1):
        for i in range(len(y)):
            total = 0.0
            for j in range(k):
                total += A[k, j] * K[j, i]
            trial[i] = y[i] + h * total
        if not rates(head, t + C[k] * h, trial, K[k]):
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
def observe(h, y):  # type: ignore[no-untyped-def]
    """Note the largest norms of Φ, Φ̇ and Φ̈ (after an evaluation of the accelerations), normalisations included."""
    m, w, rows = h[at.N_BODIES], h[at.WIDTH], h[at.N_ROWS]
    gap, largest = carray(doubles(h[at.GAP]), rows), carray(doubles(h[at.LARGEST]), at.N_LARGEST)
    put(gap, carray(doubles(h[at.GAMMA]), rows))
    rows_times(h, carray(doubles(h[at.FOUND]), m * w), gap)
    position, velocity = length(carray(doubles(h[at.PHI]), rows)) ** 2, length(carray(doubles(h[at.RATE]), rows)) ** 2
    acceleration = length(gap) ** 2
    if w == 6:
        settings = carray(doubles(h[at.SETTINGS]), FAR)
        omega, mu = settings[at.FREQUENCY], settings[at.STABLE]
        for b in range(m):
            phi, rate = -1.0, 0.0
            for i in range(3, 7):
                phi += y[7 * b + i] ** 2
                rate += 2.0 * y[7 * b + i] * y[7 * (m + b) + i]
            position += phi * phi
            velocity += rate * rate
            acceleration += (omega * (2.0 * mu * rate + omega * phi)) ** 2
    largest[at.GAP_P] = max(largest[at.GAP_P], math.sqrt(position))
    largest[at.GAP_V] = max(largest[at.GAP_V], math.sqrt(velocity))
    largest[at.GAP_A] = max(largest[at.GAP_A], math.sqrt(acceleration))


@njit(**COUNTED)
@dated
def settle_shown(h, t, y, projected, doubt, k):  # type: ignore[no-untyped-def]
    """Project a state that is shown and find its accelerations; False where there are none.

    Next to a singular position the iterations creep: what they leave of a weak combination of rows they take down by
    the factor 1 / (1 + α σ²). There the penalty is raised; doubt[k] tells where even that does not do.
    """
    settings, counts = carray(doubles(h[at.SETTINGS]), FAR), carray(integers(h[at.COUNTS]), at.N_COUNTS)
    alpha, failures = settings[at.ALPHA], counts[at.FAILURES]
    found = settle(h, t, y, projected)
    for _ in range(RAISES):
        if not found or counts[at.FAILURES] == failures:
            break
        counts[at.FAILURES] = failures
        settings[at.ALPHA] *= RAISED
        found = settle(h, t, y, projected)
    settings[at.ALPHA] = alpha
    doubt[k] = counts[at.FAILURES] != failures
    return found


@njit(**COUNTED)
@dated
def keep(h):  # type: ignore[no-untyped-def]
    """Let turns and contacts be counted from the last evaluation on."""
    remember(carray(integers(h[at.JOINT_HEAD]), joint_head.SIZE))
    remember_turns(carray(integers(h[at.BODY_HEAD]), body_head.SIZE))


@njit(**COUNTED)
@dated
def write(h, bodies, bends, turns):  # type: ignore[no-untyped-def]
    """Keep bodies, their accelerations and the turns of torsion springs for the results."""
    m, w = h[at.N_BODIES], h[at.WIDTH]
    now = carray(doubles(h[at.BODIES]), (m + 1, code.BODY2 if w == 3 else code.BODY3))
    found = carray(doubles(h[at.FOUND]), (m, w))
    for k in range(m + 1):
        put(bodies[k], now[k])
        if k > 0:
            put(bends[k], found[k - 1])
    put(turns, carray(doubles(h[at.TURNS]), h[at.N_TURNS]))


@njit(**COUNTED)
@dated
def advance(  # type: ignore[no-untyped-def]
    head, A, C, y, K, F, trial, atol, control, counts, times, kept, bends, turns, doubt, most
):
    """Take at most `most` steps towards the end; bodies and accelerations at the asked times are kept.

    K[0] holds the rates at the present state.
    """
    end, rtol, projected, five = control[END], control[RTOL], counts[PROJECTED], counts[ORDER] == FIVE
    exponent, last = (-0.2, STAGES5) if five else (-0.125, STAGES8)
    one, more, spare = np.int64(1), np.int64(STAGES8 + 1), np.int64(STAGES8 + 3)  # literals would be compiled for anew
    for _ in range(most):
        t = control[TIME]
        least = 10.0 * abs(np.nextafter(t, np.inf) - t)
        h = max(min(control[STEP], control[LONGEST]), least)
        rejected = False
        while True:
            if h < least:
                return FAILED
            ahead = min(t + h, end)
            h = ahead - t
            error = -1.0
            if stages(head, A, C, t, h, y, K, trial, one, last):
                error = error5(h, y, K, trial, atol, rtol) if five else error_of(h, y, K, trial, atol, rtol)
            counts[EVALUATIONS] += last
            if 0.0 <= error < 1.0:
                put(F[7], trial)
                if settle(head, ahead, trial, projected):
                    observe(head, trial)
                    put_rates(head, trial, F[8])
                    break
                error = -1.0
            h *= max(LEAST, SAFETY * error**exponent) if error > 0.0 else LEAST
            rejected = True
        factor = MOST if error == 0.0 else min(MOST, SAFETY * error**exponent)
        control[STEP] = h * (min(1.0, factor) if rejected else factor)
        counts[STEPS] += 1
        keep(head)
        k = counts[NEXT]
        if k < len(times) and times[k] <= ahead:
            if times[k] < ahead and not five:
                if not stages(head, A, C, t, h, y, K, F[0], more, spare):
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
                if not settle_shown(head, times[k], state, projected, doubt, k):
                    return FAILED
                if projected != 0:  # otherwise what lies between the steps is less exact than they are
                    observe(head, state)
                write(head, kept[k], bends[k], turns[k])
                k += 1
            counts[NEXT] = k
        put(y, trial)
        put(K[0], F[8])
        control[TIME] = ahead
        if carray(doubles(head[at.LARGEST]), FAR)[at.GAP_P] > carray(doubles(head[at.SETTINGS]), FAR)[at.OPEN]:
            return OPENED
        if ahead >= end:
            return GO_ON
    return GO_ON
