"""Newton-Raphson and continuation of the oracle: small adaptive steps that must be where the last rates point.

A step is kept when Newton-Raphson corrects the prediction by little, the new rates agree with the old accelerations and
the determinant keeps its sign. It may change sign in a very short step only: two branches cross there, and the
prediction chooses. Where no step however short is kept, the motion ends.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .formulas import evaluate
from .planar_rows import planar_rows
from .spatial_rows import spatial_rows

CORRECTION = 1e-4  # of a prediction, in sizes of the mechanism and radians
CROSSING = 1e-3  # longest movement over which the determinant may change its sign
NEARLY = 1e6  # condition at which a node is not taken: steps lead over it
RATES = 0.05  # by which new rates may miss their prediction
FAR = 1e6  # sizes of the mechanism: beyond it a body has left
NODES = 40_000
WHOLE, LOST, ENDLESS = 0, 1, 2


@njit(cache=True)
def drive_at(model, t):  # type: ignore[no-untyped-def]
    """Return value, rate and acceleration of every driver, in the units of the oracle."""
    tapes, scales, offsets = model[5], model[6], model[7]
    found = np.zeros((scales.shape[0], 3))
    for d in range(scales.shape[0]):
        found[d] = evaluate(tapes[0], tapes[1], tapes[2], tapes[3], tapes[4], tapes[5], d, t) * scales[d]
        found[d, 0] += offsets[d]
    return found


@njit(cache=True)
def fastest_drive(model, times):  # type: ignore[no-untyped-def]
    """Return the fastest driver's rate at each of some times."""
    found = np.zeros(times.shape[0])
    for k in range(times.shape[0]):
        drive = drive_at(model, times[k])
        for d in range(drive.shape[0]):
            found[k] = max(found[k], abs(drive[d, 1]))
    return found


@njit(cache=True)
def freedoms(model):  # type: ignore[no-untyped-def]
    return 3 if model[0] == 2 else 6


@njit(cache=True)
def fill(model, q, v, drive):  # type: ignore[no-untyped-def]
    """Return residuals, Jacobian and right side of the accelerations of all rows."""
    ints = model[2]
    rows, columns = ints.shape[0], v.shape[0]
    phi, J, gamma = np.zeros(rows), np.zeros((rows, columns)), np.zeros(rows)
    if model[0] == 2:
        planar_rows(ints, model[3], model[4], model[1], q, v, drive, phi, J, gamma)
    else:
        spatial_rows(ints, model[3], model[1], q, v, drive, phi, J, gamma)
    return phi, J, gamma


@njit(cache=True)
def moved(model, q, dx):  # type: ignore[no-untyped-def]
    """Return the configuration after a small displacement; rotations turn about the global vector."""
    out = q.copy()
    if model[0] == 2:
        out += dx
        return out
    bodies = model[1]
    for b in range(1, bodies):
        out[12 * b : 12 * b + 3] += dx[6 * b : 6 * b + 3]
        w = dx[6 * b + 3 : 6 * b + 6]
        angle = math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
        s = math.sin(angle) / angle if angle > 1e-8 else 1.0
        c = (1 - math.cos(angle)) / (angle * angle) if angle > 1e-8 else 0.5
        K = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
        R = np.ascontiguousarray(q[12 * b + 3 : 12 * b + 12]).reshape(3, 3)
        R = R + s * (K @ R) + c * (K @ (K @ R))
        if angle > 1e-3:  # rounding would leave the rotations in the long run
            R = 1.5 * R - 0.5 * (R @ (R.T @ R))
        out[12 * b + 3 : 12 * b + 12] = R.ravel()
    out[12 * bodies :] += dx[6 * bodies :]
    return out


@njit(cache=True)
def newton(model, keep, q, drive, most):  # type: ignore[no-untyped-def]
    """Return the closed configuration, the whole correction, and the size of its last part."""
    f = freedoms(model)
    columns = f * model[1] + q.shape[0] - (3 if model[0] == 2 else 12) * model[1]
    zero, total, dx = np.zeros(columns), np.zeros(columns), np.zeros(columns)
    last = np.inf
    for _ in range(most):
        phi, J, _g = fill(model, q, zero, drive)
        A = np.ascontiguousarray(J[keep][:, f:])
        if not np.all(np.isfinite(A)) or np.linalg.slogdet(A)[0] == 0.0:
            return q, total, np.inf
        dx[f:] = -np.linalg.solve(A, phi[keep])
        size = np.max(np.abs(dx))
        if not size < 10.0:
            return q, total, np.inf
        q = moved(model, q, dx)
        total += dx
        if size < 1e-13 or (size < 1e-9 and size > 0.3 * last):
            last = size
            break
        last = size
    return q, total, last


@njit(cache=True)
def rates(model, keep, q, drive):  # type: ignore[no-untyped-def]
    """Return velocities, accelerations, the sign of the determinant and the condition number."""
    f = freedoms(model)
    columns = f * model[1] + q.shape[0] - (3 if model[0] == 2 else 12) * model[1]
    v, a = np.zeros(columns), np.zeros(columns)
    ints = model[2]
    _p, J, _g = fill(model, q, v, drive)
    A = np.ascontiguousarray(J[keep][:, f:])
    sign = np.linalg.slogdet(A)[0]
    if sign == 0.0 or not np.all(np.isfinite(A)):
        return v, a, 0.0, np.inf
    inverse = np.linalg.inv(A)
    right = np.zeros(keep.shape[0])
    for n in range(keep.shape[0]):
        d = ints[keep[n], 4]
        right[n] = drive[d, 1] if d >= 0 else 0.0
    v[f:] = inverse @ right
    _p, _J, gamma = fill(model, q, v, drive)
    a[f:] = inverse @ gamma[keep]
    return v, a, sign, math.sqrt(np.sum(A * A) * np.sum(inverse * inverse))


@njit(cache=True)
def follow(model, keep, q, start, stop, longest):  # type: ignore[no-untyped-def]
    """Return the nodes of the motion from a closed configuration on, and how it ended (at the last node)."""
    v, a, sign, condition = rates(model, keep, q, drive_at(model, start))
    T, Q = np.empty(NODES), np.empty((NODES, q.shape[0]))
    V, A, C = np.empty((NODES, v.shape[0])), np.empty((NODES, v.shape[0])), np.empty(NODES)
    T[0], Q[0], V[0], A[0], C[0] = start, q, v, a, condition
    n, t, status, tries = 1, start, WHOLE, 0
    least = max(1e-11 * abs(stop - start), 4e-16 * max(abs(start), abs(stop)))
    h = min(longest, stop - start) / 8
    while t < stop:
        if n == NODES:
            status = ENDLESS
            break
        if h < least:
            status = LOST
            break
        h = min(h, stop - t, longest)
        goal = stop if stop - t - h < least else t + h
        step = goal - t
        drive = drive_at(model, goal)
        p, total, last = newton(model, keep, moved(model, q, v * step + a * (0.5 * step * step)), drive, 8)
        error = np.max(np.abs(total))
        if not (last < 1e-8 and error < CORRECTION):
            h = step / 2
            continue
        v1, a1, sign1, condition1 = rates(model, keep, p, drive)
        if not condition1 < np.inf:
            h = step / 2
            continue
        missed = np.max(np.abs(v1 - v - a * step))
        size = max(np.max(np.abs(v)) + np.max(np.abs(a)) * step, np.max(np.abs(v1)))
        movement = size * step
        if condition1 > NEARLY and tries < 40:  # branches are so near there that no place or rate tells them apart
            tries += 1
            h = 1.7 * step if movement < CROSSING / 2 else 0.37 * step
            continue
        if missed * step > RATES * movement + 1e-9 or (sign1 != sign and movement > CROSSING):
            h = step / 2
            continue
        if sign1 != sign and error > 0.02 * movement:
            h = step / 2
            continue
        if sign1 != sign and missed > RATES * size + 1e-7:
            h = step / 2
            continue
        if n > 1 and movement < 1e-9 and condition1 > 1e9:  # stands still where branches meet
            status = LOST
            break
        q, v, a, sign, condition, t = p, v1, a1, sign1, condition1, goal
        tries = 0 if condition < 1e4 else tries  # at a dead point there is nothing behind it
        T[n], Q[n], V[n], A[n], C[n] = t, q, v, a, condition
        n += 1
        h = step * min(2.0, max(0.3, 0.8 * (CORRECTION / 10 / max(error, 1e-12)) ** (1 / 3)))
        if np.max(np.abs(q)) > FAR and model[0] != 2:
            status = LOST
            break
        if model[0] == 2:
            for b in range(1, model[1]):
                if abs(q[3 * b]) > FAR or abs(q[3 * b + 1]) > FAR:
                    status = LOST
            if status == LOST:
                break
    return T[:n], Q[:n], V[:n], A[:n], C[:n], status


@njit(cache=True)
def carried(model, keep, q, before, after):  # type: ignore[no-untyped-def]
    """Return the configuration when the drivers go from one set of values to another in a straight line (a jump)."""
    done, step = 0.0, 1 / 200
    while done < 1.0:
        share = min(done + step, 1.0)
        p, total, last = newton(model, keep, q, before + (after - before) * share, 8)
        if last < 1e-8 and np.max(np.abs(total)) < 0.2:
            q, done, step = p, share, min(2 * step, 1 / 200)
        elif step < 1e-9:
            return q, False
        else:
            step /= 2
    return q, True


@njit(cache=True)
def sampled(model, keep, T, Q, V, A, times):  # type: ignore[no-untyped-def]
    """Return configuration, rates and condition at asked times, each closed anew from the nearest node.

    Where branches meet, every step of Newton halves the error only: what is left of it counts as rounding.
    """
    n = times.shape[0]
    q, v, a = np.zeros((n, Q.shape[1])), np.zeros((n, V.shape[1])), np.zeros((n, V.shape[1]))
    condition = np.zeros(n)
    for k in range(n):
        i = min(max(np.searchsorted(T, times[k]), 0), T.shape[0] - 1)
        if i > 0 and times[k] - T[i - 1] < T[i] - times[k]:
            i -= 1
        h = times[k] - T[i]
        drive = drive_at(model, times[k])
        q[k], _total, last = newton(model, keep, moved(model, Q[i], V[i] * h + A[i] * (h * h / 2)), drive, 40)
        v[k], a[k], _sign, condition[k] = rates(model, keep, q[k], drive)
        if last > 1e-9:
            condition[k] = max(condition[k], last / 2.2e-16)
    return q, v, a, condition
