"""Compiled equations of the divide and conquer methods: accelerations, and projections of positions and velocities.

Imported only where they run, because they load Numba. The unknowns of a body are those of its twist (planar: ẍ, ÿ, θ̈ of
the centre; spatial: v̇ of the centre and ω̇, in global axes). They are the tangential part of the accelerations of centre
and Euler parameters, p̈ = ½ (0, ω̇) p - ¼ ω² p: so the normalisation of Eq. 4, 5 holds without a multiplier, and the mass
matrix of a leaf is regular where the body has inertia. On all three levels the unknown of an iteration is the
change x of what is sought, with the residuals of the last iterate on the right-hand side:

    M x + Φ_qᵀ δλ = ρ - Φ_qᵀ λ,   δλ = α (Φ_q x + c)

    accelerations  ρ = Q - M q̈       c = Φ_q q̈ + γ + 2 Ω μ Φ̇ + Ω² Φ     Eq. 1 to 10
    positions      ρ = -M (q - q*)   c = Φ(q)                            Eq. 41 to 49, 99, 100
    velocities     ρ = -M (q̇ - q̇*)   c = Φ̇(q, q̇)                         Eq. 57 to 65, 104 to 111

which is the papers' iteration, but can be carried on to rounding errors.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..codegen import jointcodes as code
from ..runtime.sources import dated
from .bodyforces import turned_inertia, wrenches
from .dca_kernels import COUNTED, down, factor, up
from .dca_system import (
    ACCELERATION,
    ALPHA,
    FACTORED,
    FAILURES,
    FREQUENCY,
    GAP_A,
    GAP_P,
    GAP_V,
    ITERATIONS,
    MOST,
    OPEN,
    POSITION,
    STABLE,
    VELOCITY,
)  # fmt: skip
from .jointkernels import call1, evaluate, put_planar, put_rotation

SLOW = 0.5  # an iteration that leaves more than this of the change before it ...
ROUNDING = 1e-9  # ... and whose change is less than this part of what is sought has come down to rounding errors


# ---- arrays without copies ----------------------------------------------------------------------------------------
@njit(no_cpython_wrapper=True, **COUNTED)
@dated
def put(out, x):  # type: ignore[no-untyped-def]
    """out = x for vectors: an assignment of slices would make a copy in between."""
    for i in range(len(out)):
        out[i] = x[i]


@njit(no_cpython_wrapper=True, **COUNTED)
@dated
def fill(out, value):  # type: ignore[no-untyped-def]
    """Set all numbers of a matrix."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = value


@njit(no_cpython_wrapper=True, **COUNTED)
@dated
def add(out, x):  # type: ignore[no-untyped-def]
    """out += x for matrices."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] += x[i, j]


@njit(no_cpython_wrapper=True, **COUNTED)
@dated
def length(x):  # type: ignore[no-untyped-def]
    """The Euclidean norm of an array."""
    total = 0.0
    for value in x.flat:
        total += value * value
    return math.sqrt(total)


# ---- bodies -------------------------------------------------------------------------------------------------------
@njit(**COUNTED)
@dated
def put_bodies(s, y):  # type: ignore[no-untyped-def]
    """Places, rotations and velocities of all bodies from the state: coordinates, behind them the twists."""
    bodies, m, w = s.bodies, len(s.bodies) - 1, s.J.shape[2]
    if w == 3:
        for b in range(m):
            q, v = 3 * b, 3 * (m + b)
            put_planar(bodies, b + 1, y[q], y[q + 1], y[q + 2], y[v], y[v + 1], y[v + 2])
        return
    for b in range(m):
        q, v = 7 * b, 7 * (m + b)
        for i in range(3):
            bodies[b + 1, code.PLACE3 + i], bodies[b + 1, code.VELOCITY3 + i] = y[q + i], y[v + i]
        p0, p1, p2, p3 = y[q + 3], y[q + 4], y[q + 5], y[q + 6]
        r0, r1, r2, r3 = y[v + 3], y[v + 4], y[v + 5], y[v + 6]
        put_rotation(bodies, b + 1, p0, p1, p2, p3)
        f = 2.0 / (p0 * p0 + p1 * p1 + p2 * p2 + p3 * p3)  # ω = 2 G ṗ
        bodies[b + 1, code.OMEGA3] = f * (p0 * r1 - p1 * r0 + p2 * r3 - p3 * r2)
        bodies[b + 1, code.OMEGA3 + 1] = f * (p0 * r2 - p2 * r0 + p3 * r1 - p1 * r3)
        bodies[b + 1, code.OMEGA3 + 2] = f * (p0 * r3 - p3 * r0 + p1 * r2 - p2 * r1)


@njit(no_cpython_wrapper=True, **COUNTED)
@dated
def spun(y, q, x0, x1, x2, out, at, factor):  # type: ignore[no-untyped-def]
    """out += ½ (0, x) p + factor p: tangential and normal change of the Euler parameters p at y[q]."""
    p0, p1, p2, p3 = y[q], y[q + 1], y[q + 2], y[q + 3]
    a, b, c = 0.5 * x0, 0.5 * x1, 0.5 * x2
    out[at] += factor * p0 - a * p1 - b * p2 - c * p3
    out[at + 1] += factor * p1 + a * p0 + b * p3 - c * p2
    out[at + 2] += factor * p2 + b * p0 + c * p1 - a * p3
    out[at + 3] += factor * p3 + c * p0 + a * p2 - b * p1


@njit(no_cpython_wrapper=True, **COUNTED)
@dated
def move(y, b, m, w, x):  # type: ignore[no-untyped-def]
    """Change the coordinates of a body by a small displacement; Euler parameters stay of unit length."""
    if w == 3:
        for i in range(3):
            y[3 * b + i] += x[i]
        return
    q = 7 * b
    for i in range(3):
        y[q + i] += x[i]
    spun(y, q + 3, x[3], x[4], x[5], y, q + 3, 0.0)
    size = math.sqrt(y[q + 3] ** 2 + y[q + 4] ** 2 + y[q + 5] ** 2 + y[q + 6] ** 2)
    for i in range(3, 7):
        y[q + i] /= size


@njit(no_cpython_wrapper=True, **COUNTED)
@dated
def put_masses(s):  # type: ignore[no-untyped-def]
    """The mass matrices of the bodies about their centres, in global axes: the leaves of the tree."""
    if s.J.shape[2] == 3:
        return  # constant
    for b in range(len(s.leaf)):
        turned_inertia(s.bodies, s.about, s.turned, b + 1)
        for i in range(3):
            for j in range(3):
                s.leaf[b, 3 + i, 3 + j] = s.turned[b + 1, 3 * i + j]


# ---- iterations ---------------------------------------------------------------------------------------------------
@njit(no_cpython_wrapper=True, **COUNTED)
@dated
def rows_times(s, x, out):  # type: ignore[no-untyped-def]
    """out += Φ_q x, with the Jacobian of the factorisation."""
    items, J, w = s.items, s.jacobian, s.J.shape[2]
    for e in range(len(items)):
        for role in range(3):
            b = items[e, code.FIRST + role] - 1
            if b >= 0:
                for row in range(items[e, code.ROW], items[e, code.ROW] + items[e, code.ROWS]):
                    total = 0.0
                    for i in range(w):
                        total += J[row, role, i] * x[b, i]
                    out[row] += total


@njit(no_cpython_wrapper=True, **COUNTED)
@dated
def less_reactions(s, out):  # type: ignore[no-untyped-def]
    """out -= Φ_qᵀ λ."""
    items, J, w = s.items, s.jacobian, s.J.shape[2]
    for e in range(len(items)):
        for role in range(3):
            b = items[e, code.FIRST + role] - 1
            if b >= 0:
                for row in range(items[e, code.ROW], items[e, code.ROW] + items[e, code.ROWS]):
                    force = s.force[row]
                    for i in range(w):
                        out[b, i] -= J[row, role, i] * force


@njit(no_cpython_wrapper=True, **COUNTED)
@dated
def less_inertia(s, x, out):  # type: ignore[no-untyped-def]
    """out -= M x."""
    w = s.J.shape[2]
    for b in range(len(s.leaf)):
        for i in range(w):
            total = 0.0
            for j in range(w):
                total += s.leaf[b, i, j] * x[b, j]
            out[b, i] -= total


@njit(**COUNTED)
@dated
def assemble(s):  # type: ignore[no-untyped-def]
    """Factor with the masses and Jacobians as they are now; they are kept for all iterations (M_ij once a step)."""
    for row in range(len(s.J)):
        for role in range(3):
            put(s.jacobian[row, role], s.J[row, role])
    put_masses(s)
    n = len(s.nodes)
    s.counts[FACTORED] += 1
    if s.threads[0] != 0:
        return call1(s.threads[0], (s.threads.ctypes.data,)) == 0
    return factor(
        s.nodes, s.parts, s.destinations, s.ties, s.matrices, s.leaf, s.jacobian, 1.0 / s.settings[ALPHA], 0, n
    ) == n  # fmt: skip


@njit(no_cpython_wrapper=True, **COUNTED)
@dated
def improve(s):  # type: ignore[no-untyped-def]
    """One iteration: the change of what is sought (s.change) and of λ for the residuals in s.rest and s.gap."""
    n = len(s.nodes)
    if s.threads[0] != 0:
        call1(s.threads[1], (s.threads.ctypes.data,))
        call1(s.threads[2], (s.threads.ctypes.data,))
    else:
        up(s.nodes, s.parts, s.destinations, s.ties, s.matrices, s.vectors, s.rest, s.gap, 0, n)
        down(s.nodes, s.ties, s.gone, s.matrices, s.vectors, s.change, s.force_change, 0, n)
    size = 0.0
    for b in range(len(s.change)):
        for i in range(s.change.shape[1]):
            size += s.change[b, i] * s.change[b, i]
    for row in range(len(s.force)):
        s.force[row] += s.force_change[row]
    s.counts[ITERATIONS] += 1
    return math.sqrt(size)


@njit(no_cpython_wrapper=True, **COUNTED)
@dated
def finished(size, before, tolerance, whole):  # type: ignore[no-untyped-def]
    """Whether the iterations have come to their tolerance or to a standstill."""
    return size < tolerance or size >= before or (size > SLOW * before and size <= ROUNDING * whole)


@njit(**COUNTED)
@dated
def accelerations(s, t):  # type: ignore[no-untyped-def]
    """Accelerations into s.found and multipliers into s.force; rows, masses and factors are those of the bodies.

    Returns False where they are not finite.
    """
    wrenches(s.head, t)
    omega, mu = s.settings[FREQUENCY], s.settings[STABLE]
    fill(s.found, 0.0)
    s.force[:] = 0.0
    before = np.inf
    for _ in range(s.counts[MOST]):
        for b in range(len(s.rest)):
            for i in range(s.rest.shape[1]):
                s.rest[b, i] = s.wrench[b + 1, i]
        less_inertia(s, s.found, s.rest)
        less_reactions(s, s.rest)
        for row in range(len(s.gap)):
            s.gap[row] = s.gamma[row] + omega * (2.0 * mu * s.rate[row] + omega * s.phi[row])
        rows_times(s, s.found, s.gap)
        size = improve(s)
        if not math.isfinite(size):
            return False
        add(s.found, s.change)
        if finished(size, before, s.settings[ACCELERATION], length(s.found)):
            return True
        before = size
    s.counts[FAILURES] += 1
    return True


@njit(**COUNTED)
@dated
def rates(s, t, y, out):  # type: ignore[no-untyped-def]
    """ẏ: coordinates from the twists, twists from the accelerations; False where there are none."""
    put_bodies(s, y)
    evaluate(s.joints, t)
    if not assemble(s) or not accelerations(s, t):
        return False
    put_rates(s, y, out)
    return True


@njit(**COUNTED)
@dated
def put_rates(s, y, out):  # type: ignore[no-untyped-def]
    """ẏ from the accelerations found; Φ̈ + 2 Ω μ Φ̇ + Ω² Φ of the normalisations is zero (Eq. 7)."""
    m, w = len(s.leaf), s.J.shape[2]
    per = len(y) // (2 * m)
    omega, mu = s.settings[FREQUENCY], s.settings[STABLE]
    for i in range(per * m):
        out[i] = y[per * m + i]
    for b in range(m):
        q, v = per * b, per * (m + b)
        for i in range(3):
            out[v + i] = s.found[b, i]
        if w == 6:
            square, slope, speed = 0.0, 0.0, 0.0
            for i in range(3, 7):
                square += y[q + i] * y[q + i]
                slope += y[q + i] * y[v + i]
                speed += y[v + i] * y[v + i]
                out[v + i] = 0.0
            normal = -speed - omega * (2.0 * mu * slope + 0.5 * omega * (square - 1.0))
            spun(y, q + 3, s.found[b, 3], s.found[b, 4], s.found[b, 5], out, v + 3, normal / square)


@njit(**COUNTED)
@dated
def project(s, t, y):  # type: ignore[no-untyped-def]
    """Bring positions and velocities of a state back to the constraints, mass-orthogonally (Eq. 41 to 72).

    The tangent matrix of the positions is that of the start (modified Newton); at the end rows and factors are those
    of the projected positions. Returns False where joints stay open.
    """
    m, w = len(s.leaf), s.J.shape[2]
    put_bodies(s, y)
    evaluate(s.joints, t)
    if not assemble(s):
        return False
    fill(s.found, 0.0)  # here q - q*
    s.force[:] = 0.0
    before = np.inf
    for _ in range(s.counts[MOST]):
        fill(s.rest, 0.0)
        less_inertia(s, s.found, s.rest)
        less_reactions(s, s.rest)
        put(s.gap, s.phi)
        size = improve(s)
        if not math.isfinite(size):
            return False
        add(s.found, s.change)
        for b in range(m):
            move(y, b, m, w, s.change[b])
        put_bodies(s, y)
        evaluate(s.joints, t)
        if finished(size, before, s.settings[POSITION], 1.0):
            break
        before = size
    if not assemble(s):
        return False
    per = len(y) // (2 * m)
    if w == 6:
        for b in range(m):  # of ṗ what lies along p is not seen by ω
            q, v = 7 * b + 3, 7 * (m + b) + 3
            slope = y[q] * y[v] + y[q + 1] * y[v + 1] + y[q + 2] * y[v + 2] + y[q + 3] * y[v + 3]
            spun(y, q, 0.0, 0.0, 0.0, y, v, -slope)
    fill(s.found, 0.0)  # here q̇ - q̇*
    s.force[:] = 0.0
    before = np.inf
    for _ in range(s.counts[MOST]):
        fill(s.rest, 0.0)
        less_inertia(s, s.found, s.rest)
        less_reactions(s, s.rest)
        put(s.gap, s.rate)
        rows_times(s, s.found, s.gap)
        size = improve(s)
        if not math.isfinite(size):
            return False
        add(s.found, s.change)
        for b in range(m):
            for i in range(3):
                y[per * (m + b) + i] += s.change[b, i]
            if w == 6:
                spun(y, per * b + 3, s.change[b, 3], s.change[b, 4], s.change[b, 5], y, per * (m + b) + 3, 0.0)
        if finished(size, before, s.settings[VELOCITY], 1.0):
            break
        before = size
    put_bodies(s, y)
    evaluate(s.joints, t)
    return length(s.phi) <= s.settings[OPEN]


@njit(**COUNTED)
@dated
def observe(s, y):  # type: ignore[no-untyped-def]
    """Note the largest norms of Φ, Φ̇ and Φ̈ (after an evaluation of the accelerations), normalisations included."""
    m, w = len(s.leaf), s.J.shape[2]
    put(s.gap, s.gamma)
    rows_times(s, s.found, s.gap)
    position, velocity, acceleration = length(s.phi) ** 2, length(s.rate) ** 2, length(s.gap) ** 2
    if w == 6:
        omega, mu = s.settings[FREQUENCY], s.settings[STABLE]
        for b in range(m):
            phi, rate = -1.0, 0.0
            for i in range(3, 7):
                phi += y[7 * b + i] ** 2
                rate += 2.0 * y[7 * b + i] * y[7 * (m + b) + i]
            position += phi * phi
            velocity += rate * rate
            acceleration += (omega * (2.0 * mu * rate + omega * phi)) ** 2
    s.largest[GAP_P] = max(s.largest[GAP_P], math.sqrt(position))
    s.largest[GAP_V] = max(s.largest[GAP_V], math.sqrt(velocity))
    s.largest[GAP_A] = max(s.largest[GAP_A], math.sqrt(acceleration))
