"""Rows of the oracle in the plane: residual, Jacobian and quadratic term of every constraint, x, y, angle per body.

A row is a line of two tables. Integers: kind, body i, body j, third body or own unknown, driver, joint. Reals are
named at each kind. Body 0 is the frame; its columns are there and are dropped by whoever solves.
"""

from __future__ import annotations

import cmath
import math

import numpy as np
from numba import njit

PIN, LINE, DISTANCE, CAM, FACE = range(5)


@njit(cache=True)
def place(q, body, x, y):  # type: ignore[no-untyped-def]
    """Return the arm from the body's origin in global axes, and the place itself."""
    c, s = math.cos(q[3 * body + 2]), math.sin(q[3 * body + 2])
    ax, ay = c * x - s * y, s * x + c * y
    return ax, ay, q[3 * body] + ax, q[3 * body + 1] + ay


@njit(cache=True)
def outline(harmonics, radius, u):  # type: ignore[no-untyped-def]
    """Return the curve (of a roller's centre) over u, with two derivatives, as complex numbers; and its tangent's two.

    c = r e^iu; with a roller p = c - i radius c'/|c'|, so that p' = (1 + radius k) c' with the curvature k.
    """
    r = np.zeros(4)
    for n in range(harmonics.shape[1]):
        a, b = harmonics[0, n], harmonics[1, n]
        c, s = math.cos(n * u), math.sin(n * u)
        r[0] += a * c + b * s
        r[1] += n * (b * c - a * s)
        r[2] -= n * n * (a * c + b * s)
        r[3] -= n**3 * (b * c - a * s)
    e = cmath.exp(1j * u)
    c0, c1, c2 = r[0] * e, (r[1] + 1j * r[0]) * e, (r[2] + 2j * r[1] - r[0]) * e
    c3 = (r[3] + 3j * r[2] - 3 * r[1] - 1j * r[0]) * e
    speed = abs(c1)
    k = (c1.conjugate() * c2).imag / speed**3
    k1 = (c1.conjugate() * c3).imag / speed**3 - 3 * k * (c1.conjugate() * c2).real / speed**2
    g = 1 + radius * k
    return c0 - 1j * radius * c1 / speed, g * c1, g * c2 + radius * k1 * c1, c1, c2, c3


@njit(cache=True)
def planar_rows(ints, reals, cams, bodies, q, v, drive, phi, J, gamma):  # type: ignore[no-untyped-def]
    """Fill residuals, Jacobian and the right side of J a = gamma; `drive` has value, rate, acceleration per driver."""
    J[:] = 0.0
    for m in range(ints.shape[0]):
        kind, i, j, k, d = ints[m, 0], ints[m, 1], ints[m, 2], ints[m, 3], ints[m, 4]
        p = reals[m]
        f0, f2 = (drive[d, 0], drive[d, 2]) if d >= 0 else (0.0, 0.0)
        wi, wj = v[3 * i + 2], v[3 * j + 2]
        if kind <= DISTANCE:
            ax, ay, xi, yi = place(q, i, p[0], p[1])
            bx, by, xj, yj = place(q, j, p[2], p[3])
            dx, dy = xj - xi, yj - yi
            # velocity and quadratic acceleration of the difference of the two places
            ux, uy = v[3 * j] - v[3 * i] - wj * by + wi * ay, v[3 * j + 1] - v[3 * i + 1] + wj * bx - wi * ax
            gx, gy = -wj * wj * bx + wi * wi * ax, -wj * wj * by + wi * wi * ay
            if kind == PIN:  # p: place on i, place on j, component
                ex, ey = (1.0, 0.0) if p[4] == 0.0 else (0.0, 1.0)
                phi[m], gamma[m] = ex * dx + ey * dy, -(ex * gx + ey * gy)
            elif kind == LINE:  # p: places, direction on i, factors of the angles of i, j, k, constant
                ex, ey, _, _ = place(q, i, p[4], p[5])
                phi[m] = ex * dx + ey * dy + p[6] * q[3 * i + 2] + p[7] * q[3 * j + 2] + p[9] - f0
                gamma[m] = f2 - (ex * gx + ey * gy + 2 * wi * (ex * uy - ey * ux) - wi * wi * (ex * dx + ey * dy))
                J[m, 3 * i + 2] += ex * dy - ey * dx + p[6]
                J[m, 3 * j + 2] += p[7]
                if k >= 0:
                    phi[m] += p[8] * q[3 * k + 2]
                    J[m, 3 * k + 2] += p[8]
            else:
                length = math.hypot(dx, dy)
                ex, ey = dx / length, dy / length
                along = ex * ux + ey * uy
                phi[m] = length - f0 - p[4]
                gamma[m] = f2 - (ex * gx + ey * gy + (ux * ux + uy * uy - along * along) / length)
            J[m, 3 * i] -= ex
            J[m, 3 * i + 1] -= ey
            J[m, 3 * i + 2] -= ey * ax - ex * ay
            J[m, 3 * j] += ex
            J[m, 3 * j + 1] += ey
            J[m, 3 * j + 2] += ey * bx - ex * by
            continue
        # i is the cam, j the follower, k its contact parameter; p: centre on i, point on j, component, cam, radius
        u = 3 * bodies + k
        w = v[u]
        ei, ej = cmath.exp(1j * q[3 * i + 2]), cmath.exp(1j * q[3 * j + 2])
        zi, zj = complex(q[3 * i], q[3 * i + 1]), complex(q[3 * j], q[3 * j + 1])
        c0, c1, c2, t0, t1, t2 = outline(cams[int(p[5])], p[6], q[u])
        if kind == CAM:
            on, arm = ei * (complex(p[0], p[1]) + c0), ej * complex(p[2], p[3])
            e = 1.0 + 0j if p[4] == 0.0 else 1j
            gap = zj + arm - zi - on
            quadratic = -wj * wj * arm + wi * wi * on - ei * (c2 * w * w + 2j * wi * w * c1)
            rates = (1j * on, 1j * arm, ei * c1)
            translate = True
        else:  # face of the follower along p[7], p[8]: component 0 the contact on it, 1 its direction
            e = 1j * ej * complex(p[7], p[8])
            translate = p[4] == 0.0
            if translate:
                on, arm = ei * (complex(p[0], p[1]) + c0), ej * complex(p[2], p[3])
                gap = zj + arm - zi - on
                quadratic = -wj * wj * arm + wi * wi * on - ei * (c2 * w * w + 2j * wi * w * c1)
                rate = complex(v[3 * j] - v[3 * i], v[3 * j + 1] - v[3 * i + 1])
                rate += 1j * (wj * arm - wi * on) - ei * c1 * w
                rates = (1j * on, 1j * arm, ei * c1)
            else:
                gap, rate = -ei * t0, -ei * (t1 * w + 1j * wi * t0)
                quadratic = -ei * (t2 * w * w + 2j * wi * w * t1 - wi * wi * t0)
                rates = (1j * ei * t0, 0j, ei * t1)
            turned = 1j * e  # rate of e per rate of the follower's angle
            J[m, 3 * j + 2] += (turned.conjugate() * gap).real
            quadratic += -wj * wj * gap + 2 * wj * (-1j) * rate  # of conj(e) gap, moved to the side of gap
        phi[m] = (e.conjugate() * gap).real
        gamma[m] = -(e.conjugate() * quadratic).real
        J[m, 3 * i + 2] -= (e.conjugate() * rates[0]).real
        J[m, 3 * j + 2] += (e.conjugate() * rates[1]).real
        J[m, u] -= (e.conjugate() * rates[2]).real
        if translate:
            J[m, 3 * i] -= e.real
            J[m, 3 * i + 1] -= e.imag
            J[m, 3 * j] += e.real
            J[m, 3 * j + 1] += e.imag
