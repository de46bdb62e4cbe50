"""Rows of the oracle in space: residual, Jacobian on twists and quadratic term; place and rotation matrix per body.

Of body b, q[12 b:] holds the place and then the rotation by rows, v[6 b:] velocity and angular velocity (global axes).
Each R, C and H has its own unknown, its continuous angle, and so has each wheel of a gear. Tables as in the plane.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

POINT, DOT, LINE, DISTANCE, TURN, OWN, RATIO, CYLINDER = range(8)


@njit(cache=True)
def turned(q, body, x, y, z):  # type: ignore[no-untyped-def]
    """Return a vector of a body in global axes."""
    r = q[12 * body + 3 : 12 * body + 12]
    out = np.empty(3)
    for n in range(3):
        out[n] = r[3 * n] * x + r[3 * n + 1] * y + r[3 * n + 2] * z
    return out


@njit(cache=True)
def cross(a, b):  # type: ignore[no-untyped-def]
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


@njit(cache=True)
def dot(a, b):  # type: ignore[no-untyped-def]
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True)
def spatial_rows(ints, reals, bodies, q, v, drive, phi, J, gamma):  # type: ignore[no-untyped-def]
    """Fill residuals, Jacobian on the twists and the right side of J a = gamma."""
    J[:] = 0.0
    for m in range(ints.shape[0]):
        kind, i, j, k, d = ints[m, 0], ints[m, 1], ints[m, 2], ints[m, 3], ints[m, 4]
        p = reals[m]
        f0, f2 = (drive[d, 0], drive[d, 2]) if d >= 0 else (0.0, 0.0)
        u = 6 * bodies + k  # own unknown
        if kind == OWN:
            phi[m], gamma[m], J[m, u] = q[12 * bodies + k] - f0, f2, 1.0
            continue
        if kind == RATIO:  # own unknowns i and j in the ratio p[0]
            phi[m], gamma[m] = q[12 * bodies + j] - p[0] * q[12 * bodies + i], 0.0
            J[m, 6 * bodies + j], J[m, 6 * bodies + i] = 1.0, -p[0]
            continue
        wi, wj = v[6 * i + 3 : 6 * i + 6], v[6 * j + 3 : 6 * j + 6]
        if kind in (DOT, TURN):  # p: vector on i (of TURN its x and y), vector on j, constant
            b = turned(q, j, p[3], p[4], p[5])
            b1 = cross(wj, b)
            b2 = cross(wj, b1)
            a = turned(q, i, p[0], p[1], p[2])
            if kind == TURN:
                angle, rate = q[12 * bodies + k], v[u]
                y = turned(q, i, p[7], p[8], p[9])
                along = math.cos(angle) * a + math.sin(angle) * y
                a = math.cos(angle) * y - math.sin(angle) * a
                a1 = cross(wi, a) - rate * along
                a2 = cross(wi, cross(wi, a)) - 2 * rate * cross(wi, along) - rate * rate * a
                J[m, u] = -dot(along, b)
            else:
                a1 = cross(wi, a)
                a2 = cross(wi, a1)
            phi[m] = dot(a, b) - p[6]
            gamma[m] = -(dot(a2, b) + 2 * dot(a1, b1) + dot(a, b2))
            c = cross(a, b)
            for n in range(3):
                J[m, 6 * i + 3 + n] += c[n]
                J[m, 6 * j + 3 + n] -= c[n]
            continue
        a, b = turned(q, i, p[0], p[1], p[2]), turned(q, j, p[3], p[4], p[5])
        gap = q[12 * j : 12 * j + 3] + b - q[12 * i : 12 * i + 3] - a
        rate3 = v[6 * j : 6 * j + 3] + cross(wj, b) - v[6 * i : 6 * i + 3] - cross(wi, a)
        more = cross(wj, cross(wj, b)) - cross(wi, cross(wi, a))
        if kind == POINT:  # p: places, component
            e = np.zeros(3)
            e[int(p[6])] = 1.0
            phi[m], gamma[m] = dot(e, gap), -dot(e, more)
        elif kind == LINE:  # p: places, direction on i, factor of the own unknown
            e = turned(q, i, p[6], p[7], p[8])
            e1 = cross(wi, e)
            phi[m] = dot(e, gap) - f0
            gamma[m] = f2 - (dot(e, more) + 2 * dot(e1, rate3) + dot(cross(wi, e1), gap))
            c = cross(e, gap)
            for n in range(3):
                J[m, 6 * i + 3 + n] += c[n]
            if k >= 0:
                phi[m] += p[9] * q[12 * bodies + k]
                J[m, u] += p[9]
        elif kind == CYLINDER:  # p: places, axis on i, radius
            axis = turned(q, i, p[6], p[7], p[8])
            axis1 = cross(wi, axis)
            s = dot(axis, gap)
            s1 = dot(axis1, gap) + dot(axis, rate3)
            s2 = dot(cross(wi, axis1), gap) + 2 * dot(axis1, rate3) + dot(axis, more)
            length = math.sqrt(dot(gap, gap) - s * s)
            e = (gap - s * axis) / length
            along = (dot(gap, rate3) - s * s1) / length
            phi[m] = length - p[9]
            gamma[m] = -(dot(rate3, rate3) + dot(gap, more) - s1 * s1 - s * s2 - along * along) / length
            c = cross(e, gap)
            for n in range(3):
                J[m, 6 * i + 3 + n] += c[n]
        else:
            length = math.sqrt(dot(gap, gap))
            e = gap / length
            along = dot(e, rate3)
            phi[m] = length - f0 - p[6]
            gamma[m] = f2 - (dot(e, more) + (dot(rate3, rate3) - along * along) / length)
        ca, cb = cross(a, e), cross(b, e)
        for n in range(3):
            J[m, 6 * i + n] -= e[n]
            J[m, 6 * i + 3 + n] -= ca[n]
            J[m, 6 * j + n] += e[n]
            J[m, 6 * j + 3 + n] += cb[n]
