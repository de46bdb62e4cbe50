"""Compiled sums over the bodies: the mass matrix and the generalised forces of inertia and weight from a solved state.

Imported only where a simulation runs, because it loads Numba. A body's origin and axes are linear combinations of rows
of the state: `start`, `rows` and `factors` hold them one after the other, for every body the components of its origin
and of its axes (planar: of the x axis only). Lanes are those of `mechanics`: unit rates first, the actual motion last.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy"}


@njit(**OPTIONS)
def combine(state, rows, start, columns, factors):  # type: ignore[no-untyped-def]
    """Write rows of the state that are linear combinations of others, all orders and lanes."""
    for order in range(state.shape[0]):
        for i in range(len(rows)):
            for lane in range(state.shape[2]):
                total = 0.0
                for k in range(start[i], start[i + 1]):
                    total += factors[k] * state[order, columns[k], lane]
                state[order, rows[i], lane] = total


@njit(**OPTIONS)
def _component(state, order, lane, i, start, rows, factors):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(start[i], start[i + 1]):
        total += factors[k] * state[order, rows[k], lane]
    return total


@njit(**OPTIONS)
def reduce_planar(state, start, rows, factors, mass, centre, inertia, gravity, free, M, h):  # type: ignore[no-untyped-def]
    """Add up M = Σ m v_c v_cᵀ + I ω ωᵀ and h = Σ m v_c · (g - a_c) - I ω α over the bodies; f x f and f."""
    f, last = len(free), state.shape[2] - 1
    M[:] = 0.0
    h[:] = 0.0
    v = np.empty((f, 3))
    for b in range(len(mass)):
        m, inertia_b = mass[b], inertia[b]
        if m == 0.0 and inertia_b == 0.0:
            continue
        i = 4 * b
        x = _component(state, 0, last, i + 2, start, rows, factors)
        y = _component(state, 0, last, i + 3, start, rows, factors)
        rx = centre[b, 0] * x - centre[b, 1] * y
        ry = centre[b, 0] * y + centre[b, 1] * x
        for j in range(f):
            lane = free[j]
            ex = _component(state, 1, lane, i + 2, start, rows, factors)
            ey = _component(state, 1, lane, i + 3, start, rows, factors)
            w = x * ey - y * ex
            v[j, 0] = _component(state, 1, lane, i, start, rows, factors) - w * ry
            v[j, 1] = _component(state, 1, lane, i + 1, start, rows, factors) + w * rx
            v[j, 2] = w
        ex = _component(state, 1, last, i + 2, start, rows, factors)
        ey = _component(state, 1, last, i + 3, start, rows, factors)
        omega = x * ey - y * ex
        ex = _component(state, 2, last, i + 2, start, rows, factors)
        ey = _component(state, 2, last, i + 3, start, rows, factors)
        alpha = x * ey - y * ex
        ax = _component(state, 2, last, i, start, rows, factors) - alpha * ry - omega * omega * rx
        ay = _component(state, 2, last, i + 1, start, rows, factors) + alpha * rx - omega * omega * ry
        for j in range(f):
            h[j] += m * (v[j, 0] * (gravity[0] - ax) + v[j, 1] * (gravity[1] - ay)) - inertia_b * v[j, 2] * alpha
            for k in range(j + 1):
                M[j, k] += m * (v[j, 0] * v[k, 0] + v[j, 1] * v[k, 1]) + inertia_b * v[j, 2] * v[k, 2]
    for j in range(f):
        for k in range(j):
            M[k, j] = M[j, k]


@njit(**OPTIONS)
def reduce_spatial(state, start, rows, factors, mass, centre, inertia, gravity, free, M, h):  # type: ignore[no-untyped-def]
    """As in the plane, with inertias in the bodies' axes: h also has -ω_j · (I α + ω × I ω)."""
    f, last = len(free), state.shape[2] - 1
    M[:] = 0.0
    h[:] = 0.0
    velocity, spin = np.empty((f, 3)), np.empty((f, 3))
    R, D = np.empty((3, 3)), np.empty((3, 3))
    r, place = np.empty(3), np.empty(3)
    for b in range(len(mass)):
        m, local = mass[b], inertia[b]
        if m == 0.0 and not local.any():
            continue
        i = 12 * b
        for axis in range(3):
            for c in range(3):
                R[c, axis] = _component(state, 0, last, i + 3 + 3 * axis + c, start, rows, factors)
        for c in range(3):
            r[c] = R[c, 0] * centre[b, 0] + R[c, 1] * centre[b, 1] + R[c, 2] * centre[b, 2]
        turned = R @ local @ R.T
        for j in range(f):
            _axes(state, 1, free[j], i, start, rows, factors, D, place)
            spin[j] = _turning(R, D)
            velocity[j] = place + _cross(spin[j], r)
        _axes(state, 1, last, i, start, rows, factors, D, place)
        omega = _turning(R, D)
        _axes(state, 2, last, i, start, rows, factors, D, place)
        alpha = _turning(R, D)
        lack = gravity - place - _cross(alpha, r) - _cross(omega, _cross(omega, r))
        moment = turned @ alpha + _cross(omega, turned @ omega)
        for j in range(f):
            momentum = turned @ spin[j]
            for c in range(3):
                h[j] += m * velocity[j, c] * lack[c] - spin[j, c] * moment[c]
            for k in range(j + 1):
                for c in range(3):
                    M[j, k] += m * velocity[j, c] * velocity[k, c] + momentum[c] * spin[k, c]
    for j in range(f):
        for k in range(j):
            M[k, j] = M[j, k]


@njit(**OPTIONS)
def _axes(state, order, lane, i, start, rows, factors, D, place):  # type: ignore[no-untyped-def]
    for c in range(3):
        place[c] = _component(state, order, lane, i + c, start, rows, factors)
        for axis in range(3):
            D[c, axis] = _component(state, order, lane, i + 3 + 3 * axis + c, start, rows, factors)


@njit(**OPTIONS)
def _turning(R, D):  # type: ignore[no-untyped-def]
    """Half the sum of axis × its derivative: ω of first derivatives, α of second ones."""
    total = np.zeros(3)
    for axis in range(3):
        total += 0.5 * _cross(R[:, axis], D[:, axis])
    return total


@njit(**OPTIONS)
def _cross(a, b):  # type: ignore[no-untyped-def]
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
