"""Compiled kinematics of a spanning tree, one lane: poses, velocities and bias accelerations from relative coordinates.

Imported only where it runs, because it loads Numba. Equation numbers: Yu, Mikkola, Pan, Escalona (2022). Each joint is
a sequence of elementary motions; of each the velocity transformation has one column (BALL: three) per body behind it.
Semi-recursive I: the column at the centre of the body, V_i^j (Eq. 18, 20); II: at the global origin, b_j (Eq. 31, 34).
"""

from __future__ import annotations

import math

from numba import njit

from ..runtime.sources import dated
from .joint_kernels import INTERNAL, put_planar
from .tree_head import BALL, SCREW, SLIDE, SLIDE_OWN, TURN_ABOUT


@njit(**INTERNAL)
@dated
def rotate(bodies, k, v, i):  # type: ignore[no-untyped-def]
    """A local vector v[i] of body k in global axes."""
    if bodies.shape[1] == 8:
        c, s = bodies[k, 3], bodies[k, 4]
        return c * v[i, 0] - s * v[i, 1], s * v[i, 0] + c * v[i, 1], 0.0
    x, y, z = v[i, 0], v[i, 1], v[i, 2]
    return (bodies[k, 3] * x + bodies[k, 4] * y + bodies[k, 5] * z,
            bodies[k, 6] * x + bodies[k, 7] * y + bodies[k, 8] * z,
            bodies[k, 9] * x + bodies[k, 10] * y + bodies[k, 11] * z)  # fmt: skip


@njit(**INTERNAL)
@dated
def cross(a0, a1, a2, b0, b1, b2):  # type: ignore[no-untyped-def]
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0


@njit(**INTERNAL)
@dated
def turned(R, x, y, z, angle):  # type: ignore[no-untyped-def]
    """R (row by row) times the rotation about a unit axis."""
    c, s = math.cos(angle), math.sin(angle)
    t = 1.0 - c
    q00, q01, q02 = t * x * x + c, t * x * y - s * z, t * x * z + s * y
    q10, q11, q12 = t * x * y + s * z, t * y * y + c, t * y * z - s * x
    q20, q21, q22 = t * x * z - s * y, t * y * z + s * x, t * z * z + c
    return product(R, (q00, q01, q02, q10, q11, q12, q20, q21, q22))


@njit(**INTERNAL)
@dated
def product(P, Q):  # type: ignore[no-untyped-def]
    """The product of two matrices, row by row."""
    return (
        P[0] * Q[0] + P[1] * Q[3] + P[2] * Q[6], P[0] * Q[1] + P[1] * Q[4] + P[2] * Q[7],
        P[0] * Q[2] + P[1] * Q[5] + P[2] * Q[8], P[3] * Q[0] + P[4] * Q[3] + P[5] * Q[6],
        P[3] * Q[1] + P[4] * Q[4] + P[5] * Q[7], P[3] * Q[2] + P[4] * Q[5] + P[5] * Q[8],
        P[6] * Q[0] + P[7] * Q[3] + P[8] * Q[6], P[6] * Q[1] + P[7] * Q[4] + P[8] * Q[7],
        P[6] * Q[2] + P[7] * Q[5] + P[8] * Q[8],
    )  # fmt: skip


@njit(**INTERNAL)
@dated
def spherical(p, at):  # type: ignore[no-untyped-def]
    """The rotation of Euler parameters, row by row."""
    e0, e1, e2, e3 = p[at], p[at + 1], p[at + 2], p[at + 3]
    f = 2.0 / (e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
    return (
        1.0 - f * (e2 * e2 + e3 * e3), f * (e1 * e2 - e0 * e3), f * (e1 * e3 + e0 * e2),
        f * (e1 * e2 + e0 * e3), 1.0 - f * (e1 * e1 + e3 * e3), f * (e2 * e3 - e0 * e1),
        f * (e1 * e3 - e0 * e2), f * (e2 * e3 + e0 * e1), 1.0 - f * (e1 * e1 + e2 * e2),
    )  # fmt: skip


@njit(**INTERNAL)
@dated
def pose(i, p, first, last, motions, axes, pitch, at, q, a, b, turn, bodies):  # type: ignore[no-untyped-def]
    """Put body i where its relative coordinates say (Eq. 15, 19, B.2)."""
    x, y, z = rotate(bodies, p, a, i)
    x, y = x + bodies[p, 0], y + bodies[p, 1]
    if bodies.shape[1] == 8:
        angle = bodies[p, 2] + turn[i, 0]
        for m in range(first, last):
            value = q[at[m]]
            if motions[m] == SLIDE:
                u, v, _ = rotate(bodies, p, axes, m)
                x, y = x + value * u, y + value * v
            elif motions[m] == TURN_ABOUT:
                angle += value
        put_planar(bodies, i, 0.0, 0.0, angle, 0.0, 0.0, 0.0)
        for m in range(first, last):
            if motions[m] == SLIDE_OWN:
                u, v, _ = rotate(bodies, i, axes, m)
                x, y = x + q[at[m]] * u, y + q[at[m]] * v
        u, v, _ = rotate(bodies, i, b, i)
        bodies[i, 0], bodies[i, 1] = x - u, y - v
        return
    z += bodies[p, 2]
    R = (bodies[p, 3], bodies[p, 4], bodies[p, 5], bodies[p, 6], bodies[p, 7], bodies[p, 8], bodies[p, 9],
         bodies[p, 10], bodies[p, 11])  # fmt: skip
    C = (turn[i, 0], turn[i, 1], turn[i, 2], turn[i, 3], turn[i, 4], turn[i, 5], turn[i, 6], turn[i, 7], turn[i, 8])
    own = False
    for m in range(first, last):
        kind, value = motions[m], q[at[m]]
        if kind in (SLIDE, SCREW):
            u, v, w = rotate(bodies, p, axes, m)
            f = value * (pitch[m] if kind == SCREW else 1.0)
            x, y, z = x + f * u, y + f * v, z + f * w
        if kind in (TURN_ABOUT, SCREW):
            R = turned(R, axes[m, 0], axes[m, 1], axes[m, 2], value)
        elif kind == BALL:
            R = product(R, spherical(q, at[m]))
        elif kind != SLIDE:  # about an axis of the child, behind the turn between both
            R, own = turned(product(R, C), axes[m, 0], axes[m, 1], axes[m, 2], value), True
    if not own:
        R = product(R, C)
    for c in range(9):
        bodies[i, 3 + c] = R[c]
    u, v, w = rotate(bodies, i, b, i)
    bodies[i, 0], bodies[i, 1], bodies[i, 2] = x - u, y - v, z - w


@njit(**INTERNAL)
@dated
def put_column(columns, j, turning, u, arm):  # type: ignore[no-untyped-def]
    """A column of a turn about u (Eq. 18: the arm leads from the axis to the point of reference) or of a slide."""
    if columns.shape[1] == 3:
        columns[j, 0], columns[j, 1], columns[j, 2] = (-arm[1], arm[0], 1.0) if turning else (u[0], u[1], 0.0)
        return
    v = cross(u[0], u[1], u[2], arm[0], arm[1], arm[2]) if turning else u
    columns[j, 0], columns[j, 1], columns[j, 2] = v
    f = 1.0 if turning else 0.0
    columns[j, 3], columns[j, 4], columns[j, 5] = f * u[0], f * u[1], f * u[2]


@njit(**INTERNAL)
@dated
def make_columns(i, p, first, last, motions, axes, pitch, place, a, b, bodies, x, columns):  # type: ignore[no-untyped-def]
    """The columns of a body's own joint at its point of reference x[i].

    Turns go through the joint's point: on the child, b; slides along an axis of the child come behind the turn, which
    then goes through the parent's point a.
    """
    own = motions[last - 1] == SLIDE_OWN if last > first else False
    r = rotate(bodies, p, a, i) if own else rotate(bodies, i, b, i)
    k = p if own else i
    three = columns.shape[1] == 6
    arm = (x[i, 0] - bodies[k, 0] - r[0], x[i, 1] - bodies[k, 1] - r[1],
           x[i, 2] - bodies[k, 2] - r[2] if three else 0.0)  # fmt: skip
    for m in range(first, last):
        kind, j = motions[m], place[m]
        if kind == BALL:
            for c in range(3):
                u = (bodies[p, 3 + c], bodies[p, 6 + c], bodies[p, 9 + c])
                put_column(columns, j + c, kind == BALL, u, arm)
            continue
        u = rotate(bodies, p if kind in (SLIDE, TURN_ABOUT, SCREW) else i, axes, m)
        put_column(columns, j, kind != SLIDE and kind != SLIDE_OWN, u, arm)
        if kind == SCREW:
            for c in range(3):
                columns[j, c] += pitch[m] * u[c]


@njit(**INTERNAL)
@dated
def spin_of(bodies, k):  # type: ignore[no-untyped-def]
    if bodies.shape[1] == 8:
        return 0.0, 0.0, bodies[k, 7]
    return bodies[k, 15], bodies[k, 16], bodies[k, 17]


@njit(**INTERNAL)
@dated
def move_first(i, p, first, last, motions, axes, pitch, place, a, b, v, bodies, bias):  # type: ignore[no-untyped-def]
    """Semi-recursive I: velocity of body i at its centre, and its acceleration without z̈ (Eq. 16, 22, 23).

    The joint's point is carried along: first as a point of the parent, then through each motion.
    """
    three = bodies.shape[1] != 8
    w = spin_of(bodies, p)
    at, bend = (12, 3) if three else (5, 2)
    alpha = (bias[p, 3], bias[p, 4], bias[p, 5]) if three else (0.0, 0.0, bias[p, 2])
    r = rotate(bodies, p, a, i)
    s = cross(w[0], w[1], w[2], r[0], r[1], r[2])
    vx, vy, vz = bodies[p, at] + s[0], bodies[p, at + 1] + s[1], (bodies[p, at + 2] + s[2]) if three else 0.0
    c0, c1 = cross(alpha[0], alpha[1], alpha[2], r[0], r[1], r[2]), cross(w[0], w[1], w[2], s[0], s[1], s[2])
    ax, ay = bias[p, 0] + c0[0] + c1[0], bias[p, 1] + c0[1] + c1[1]
    az = bias[p, 2] + c0[2] + c1[2] if three else 0.0
    # where the point is beside a: what the slides have moved it by, as the poses say
    e = rotate(bodies, i, b, i)
    dx, dy = bodies[i, 0] + e[0] - bodies[p, 0] - r[0], bodies[i, 1] + e[1] - bodies[p, 1] - r[1]
    dz = bodies[i, 2] + e[2] - bodies[p, 2] - r[2] if three else 0.0
    own = motions[last - 1] == SLIDE_OWN if last > first else False
    if not own:  # the way is fixed in the parent's axes
        s = cross(w[0], w[1], w[2], dx, dy, dz)
        c0, c1 = cross(alpha[0], alpha[1], alpha[2], dx, dy, dz), cross(w[0], w[1], w[2], s[0], s[1], s[2])
        vx, vy, vz = vx + s[0], vy + s[1], vz + s[2]
        ax, ay, az = ax + c0[0] + c1[0], ay + c0[1] + c1[1], az + c0[2] + c1[2]
    base = w
    for m in range(first, last):
        kind, rate = motions[m], v[place[m]]
        if kind == BALL:
            u = (0.0, 0.0, 0.0)
            for c in range(3):
                f = v[place[m] + c]
                u = (u[0] + f * bodies[p, 3 + c], u[1] + f * bodies[p, 6 + c], u[2] + f * bodies[p, 9 + c])
        else:
            d = rotate(bodies, p if kind in (SLIDE, TURN_ABOUT, SCREW) else i, axes, m)
            if kind != SLIDE and kind != SLIDE_OWN and not three:
                d = (0.0, 0.0, 1.0)
            u = (rate * d[0], rate * d[1], rate * d[2])
        if kind in (SLIDE, SCREW):
            f = pitch[m] if kind == SCREW else 1.0
            g = cross(base[0], base[1], base[2], u[0], u[1], u[2])
            vx, vy, vz = vx + f * u[0], vy + f * u[1], vz + f * u[2]
            ax, ay, az = ax + 2.0 * f * g[0], ay + 2.0 * f * g[1], az + 2.0 * f * g[2]
        if kind == SLIDE_OWN:  # the way is fixed in the child's axes
            s = cross(w[0], w[1], w[2], dx, dy, dz)
            c0, c1 = cross(alpha[0], alpha[1], alpha[2], dx, dy, dz), cross(w[0], w[1], w[2], s[0], s[1], s[2])
            g = cross(w[0], w[1], w[2], u[0], u[1], u[2])
            vx, vy, vz = vx + s[0] + u[0], vy + s[1] + u[1], vz + s[2] + u[2]
            ax, ay = ax + c0[0] + c1[0] + 2.0 * g[0], ay + c0[1] + c1[1] + 2.0 * g[1]
            az += c0[2] + c1[2] + 2.0 * g[2]
        elif kind != SLIDE:
            g = cross(w[0], w[1], w[2], u[0], u[1], u[2])
            alpha = (alpha[0] + g[0], alpha[1] + g[1], alpha[2] + g[2])
            w = (w[0] + u[0], w[1] + u[1], w[2] + u[2])
    # from the joint's point to the centre
    s = cross(w[0], w[1], w[2], -e[0], -e[1], -e[2])
    c0, c1 = cross(alpha[0], alpha[1], alpha[2], -e[0], -e[1], -e[2]), cross(w[0], w[1], w[2], s[0], s[1], s[2])
    bodies[i, at], bodies[i, at + 1] = vx + s[0], vy + s[1]
    bias[i, 0], bias[i, 1] = ax + c0[0] + c1[0], ay + c0[1] + c1[1]
    if three:
        bodies[i, 14], bias[i, 2] = vz + s[2], az + c0[2] + c1[2]
        for c in range(3):
            bodies[i, 15 + c], bias[i, 3 + c] = w[c], alpha[c]
    else:
        bodies[i, 7], bias[i, bend] = w[2], alpha[2]


@njit(**INTERNAL)
@dated
def move_second(i, p, first, last, motions, axes, pitch, place, a, b, v, columns, bodies, Z, bias):  # type: ignore[no-untyped-def]
    """Semi-recursive II: Ż_i = Ż_p + b_j ż_j and Z̈_i = Z̈_p + d_j at the origin (Eq. 31, 34), then D and e (Eq. 28).

    Z[i] holds velocity and bias acceleration of the body's material point at the origin.
    """
    three, n = bodies.shape[1] != 8, columns.shape[1]
    for c in range(2 * n):
        Z[i, c] = Z[p, c]
    own = motions[last - 1] == SLIDE_OWN if last > first else False
    k = p if own else i
    e = rotate(bodies, p, a, i) if own else rotate(bodies, i, b, i)
    r = (bodies[k, 0] + e[0], bodies[k, 1] + e[1], bodies[k, 2] + e[2] if three else 0.0)
    w = spin_of(bodies, p)
    for m in range(first, last):
        kind = motions[m]
        count = 3 if kind == BALL else 1
        u = (0.0, 0.0, 0.0)
        for c in range(count):
            j = place[m] + c
            rate = v[j]
            for k2 in range(n):
                Z[i, k2] += columns[j, k2] * rate
            if kind in (SLIDE, SLIDE_OWN):
                u = (columns[j, 0] * rate, columns[j, 1] * rate, columns[j, 2] * rate if three else 0.0)
            elif three:
                u = (u[0] + columns[j, 3] * rate, u[1] + columns[j, 4] * rate, u[2] + columns[j, 5] * rate)
            else:
                u = (0.0, 0.0, rate)
        g = cross(w[0], w[1], w[2], u[0], u[1], u[2])
        if kind in (SLIDE, SLIDE_OWN):
            Z[i, n], Z[i, n + 1] = Z[i, n] + 2.0 * g[0], Z[i, n + 1] + 2.0 * g[1]
            if three:
                Z[i, n + 2] += 2.0 * g[2]
            continue
        if kind == SCREW:
            for c in range(3):
                Z[i, n + c] += 2.0 * pitch[m] * g[c]
        s = cross(w[0], w[1], w[2], r[0], r[1], r[2])
        before = cross(w[0], w[1], w[2], s[0], s[1], s[2])
        w = (w[0] + u[0], w[1] + u[1], w[2] + u[2])
        s = cross(w[0], w[1], w[2], r[0], r[1], r[2])
        after, moved = cross(w[0], w[1], w[2], s[0], s[1], s[2]), cross(g[0], g[1], g[2], r[0], r[1], r[2])
        for c in range(3 if three else 2):
            Z[i, n + c] += before[c] - after[c] - moved[c]
        if three:
            for c in range(3):
                Z[i, n + 3 + c] += g[c]
    # q̇ = D Ż, q̈ = D Z̈ + e
    x, y = bodies[i, 0], bodies[i, 1]
    if three:
        z = bodies[i, 2]
        s = cross(w[0], w[1], w[2], x, y, z)
        c0 = cross(Z[i, 9], Z[i, 10], Z[i, 11], x, y, z)
        c1 = cross(w[0], w[1], w[2], s[0], s[1], s[2])
        for c in range(3):
            bodies[i, 12 + c], bodies[i, 15 + c] = Z[i, c] + s[c], w[c]
            bias[i, c], bias[i, 3 + c] = Z[i, 6 + c] + c0[c] + c1[c], Z[i, 9 + c]
        return
    bodies[i, 5], bodies[i, 6], bodies[i, 7] = Z[i, 0] - w[2] * y, Z[i, 1] + w[2] * x, w[2]
    bias[i, 0] = Z[i, 3] - Z[i, 5] * y - w[2] * w[2] * x
    bias[i, 1] = Z[i, 4] + Z[i, 5] * x - w[2] * w[2] * y
    bias[i, 2] = Z[i, 5]
