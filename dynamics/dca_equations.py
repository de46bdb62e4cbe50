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

which is the papers' iteration, but can be carried on to rounding errors. `h` is the array of `dca_head`; pieces call
each other by address, so that each is optimised once.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numba import carray, cfunc, njit

from ..codegen import joint_codes as code
from ..motion.global_kernels import call2
from ..runtime.sources import dated
from . import body_head, joint_head
from . import dca_head as at
from .body_forces import turned_inertia, wrenches
from .dca_kernels import COUNTED, down, factor, up
from .dca_layout import NODE_SIZE, PART_SIZE, TIE_SIZE
from .joint_kernels import CALLED, FAR, call1, doubles, evaluate, integers, put_planar, put_rotation

SIGNATURE = "int64(CPointer(int64), CPointer(float64))"
INSIDE = {**COUNTED, "no_cpython_wrapper": True}
SLOW = 0.5  # an iteration that leaves more than this of the change before it ...
ROUNDING = 1e-9  # ... and whose change is less than this part of what is sought has come down to rounding errors


# ---- arrays without copies ----------------------------------------------------------------------------------------
@njit(**INSIDE)
@dated
def put(out, x):  # type: ignore[no-untyped-def]
    """out = x for vectors: an assignment of slices would make a copy in between."""
    for i in range(len(out)):
        out[i] = x[i]


@njit(**INSIDE)
@dated
def length(x):  # type: ignore[no-untyped-def]
    """The Euclidean norm of a vector."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return math.sqrt(total)


# ---- bodies -------------------------------------------------------------------------------------------------------
@dated
def _place(h_at, y_at):  # type: ignore[no-untyped-def]
    """Places, rotations and velocities of all bodies from a state (coordinates, behind them rates), then all rows."""
    h, y = carray(h_at, at.SIZE), carray(y_at, FAR)
    m, w = h[at.N_BODIES], h[at.WIDTH]
    bodies = carray(doubles(h[at.BODIES]), (m + 1, code.BODY2 if w == 3 else code.BODY3))
    for b in range(m):
        if w == 3:
            q, v = 3 * b, 3 * (m + b)
            put_planar(bodies, b + 1, y[q], y[q + 1], y[q + 2], y[v], y[v + 1], y[v + 2])
        else:
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
    evaluate(carray(integers(h[at.JOINT_HEAD]), joint_head.SIZE), carray(doubles(h[at.SETTINGS]), FAR)[at.TIME])
    return 0


@njit(**INSIDE)
@dated
def spun(y, q, x0, x1, x2, out, to, factor):  # type: ignore[no-untyped-def]
    """out += ½ (0, x) p + factor p: tangential and normal change of the Euler parameters p at y[q]."""
    p0, p1, p2, p3 = y[q], y[q + 1], y[q + 2], y[q + 3]
    a, b, c = 0.5 * x0, 0.5 * x1, 0.5 * x2
    out[to] += factor * p0 - a * p1 - b * p2 - c * p3
    out[to + 1] += factor * p1 + a * p0 + b * p3 - c * p2
    out[to + 2] += factor * p2 + b * p0 + c * p1 - a * p3
    out[to + 3] += factor * p3 + c * p0 + a * p2 - b * p1


@njit(**INSIDE)
@dated
def move(y, b, w, x):  # type: ignore[no-untyped-def]
    """Change the coordinates of a body by a small displacement; Euler parameters stay of unit length."""
    q = (3 if w == 3 else 7) * b
    for i in range(3):
        y[q + i] += x[w * b + i]
    if w == 6:
        spun(y, q + 3, x[w * b + 3], x[w * b + 4], x[w * b + 5], y, q + 3, 0.0)
        size = math.sqrt(y[q + 3] ** 2 + y[q + 4] ** 2 + y[q + 5] ** 2 + y[q + 6] ** 2)
        for i in range(3, 7):
            y[q + i] /= size


# ---- iterations ---------------------------------------------------------------------------------------------------
@njit(**INSIDE)
@dated
def rows_times(h, x, out):  # type: ignore[no-untyped-def]
    """out += Φ_q x, with the Jacobian of the factorisation."""
    w = h[at.WIDTH]
    items = carray(integers(h[at.ITEMS]), (h[at.N_LINES], code.ITEM_SIZE))
    J = carray(doubles(h[at.JACOBIAN]), (h[at.N_ROWS], 3, w))
    for e in range(len(items)):
        for role in range(3):
            b = items[e, code.FIRST + role] - 1
            if b >= 0:
                for row in range(items[e, code.ROW], items[e, code.ROW] + items[e, code.ROWS]):
                    total = 0.0
                    for i in range(w):
                        total += J[row, role, i] * x[w * b + i]
                    out[row] += total


@njit(**INSIDE)
@dated
def residual(h, given, x, out):  # type: ignore[no-untyped-def]
    """out = given - M x - Φ_qᵀ λ; `given` has the frame first, or is empty: zero."""
    m, w = h[at.N_BODIES], h[at.WIDTH]
    items = carray(integers(h[at.ITEMS]), (h[at.N_LINES], code.ITEM_SIZE))
    J, leaf = carray(doubles(h[at.JACOBIAN]), (h[at.N_ROWS], 3, w)), carray(doubles(h[at.LEAF]), (m, w, w))
    force = carray(doubles(h[at.FORCE]), h[at.N_ROWS])
    for b in range(m):
        for i in range(w):
            total = given[w * (b + 1) + i] if len(given) > 0 else 0.0
            for j in range(w):
                total -= leaf[b, i, j] * x[w * b + j]
            out[w * b + i] = total
    for e in range(len(items)):
        for role in range(3):
            b = items[e, code.FIRST + role] - 1
            if b >= 0:
                for row in range(items[e, code.ROW], items[e, code.ROW] + items[e, code.ROWS]):
                    for i in range(w):
                        out[w * b + i] -= J[row, role, i] * force[row]


@dated
def _assemble(h_at, y_at):  # type: ignore[no-untyped-def]
    """Factor with the masses and Jacobians as they are now; they are kept for all iterations (M_ij once a step)."""
    h = carray(h_at, at.SIZE)
    m, w, rows, nodes = h[at.N_BODIES], h[at.WIDTH], h[at.N_ROWS], h[at.N_NODES]
    put(carray(doubles(h[at.JACOBIAN]), 3 * w * rows), carray(doubles(h[at.JACOBIAN_NOW]), 3 * w * rows))
    leaf = carray(doubles(h[at.LEAF]), (m, w, w))
    if w == 6:  # planar masses are constant
        bodies = carray(doubles(h[at.BODIES]), (m + 1, code.BODY3))
        about, turned = carray(doubles(h[at.ABOUT]), (m + 1, 9)), carray(doubles(h[at.TURNED]), (m + 1, 9))
        for b in range(m):
            turned_inertia(bodies, about, turned, b + 1)
            for i in range(3):
                for j in range(3):
                    leaf[b, 3 + i, 3 + j] = turned[b + 1, 3 * i + j]
    carray(integers(h[at.COUNTS]), at.N_COUNTS)[at.FACTORED] += 1
    if h[at.FACTOR_CODE] != 0:
        return call1(h[at.FACTOR_CODE], (h.ctypes.data,))
    return nodes - factor(
        carray(integers(h[at.NODES]), (nodes, NODE_SIZE)), carray(integers(h[at.PARTS]), (h[at.N_PARTS], PART_SIZE)),
        carray(integers(h[at.DESTINATIONS]), FAR), carray(integers(h[at.TIES]), (h[at.N_TIES], TIE_SIZE)),
        carray(doubles(h[at.MATRICES]), FAR), leaf, carray(doubles(h[at.JACOBIAN]), (rows, 3, w)),
        1.0 / carray(doubles(h[at.SETTINGS]), FAR)[at.ALPHA], np.int64(0), nodes,
    )  # fmt: skip


@dated
def _improve(h_at, y_at):  # type: ignore[no-untyped-def]
    """One iteration: the change of what is sought and of λ for the residuals in REST and GAP; its size into MOVED."""
    h = carray(h_at, at.SIZE)
    m, w, rows, n = h[at.N_BODIES], h[at.WIDTH], h[at.N_ROWS], h[at.N_NODES]
    if h[at.UP_CODE] != 0:
        call1(h[at.UP_CODE], (h.ctypes.data,))
        call1(h[at.DOWN_CODE], (h.ctypes.data,))
    else:
        nodes, x, v = (
            carray(integers(h[at.NODES]), (n, NODE_SIZE)),
            carray(doubles(h[at.MATRICES]), FAR),
            carray(doubles(h[at.VECTORS]), FAR),
        )
        ties = carray(integers(h[at.TIES]), (h[at.N_TIES], TIE_SIZE))
        up(
            nodes, carray(integers(h[at.PARTS]), (h[at.N_PARTS], PART_SIZE)), carray(integers(h[at.DESTINATIONS]), FAR),
            ties, x, v, carray(doubles(h[at.REST]), (m, w)), carray(doubles(h[at.GAP]), rows), np.int64(0), n,
        )  # fmt: skip
        down(
            nodes, ties, carray(integers(h[at.GONE]), FAR), x, v, carray(doubles(h[at.CHANGE]), (m, w)),
            carray(doubles(h[at.FORCE_CHANGE]), rows), np.int64(0), n,
        )  # fmt: skip
    force, more = carray(doubles(h[at.FORCE]), rows), carray(doubles(h[at.FORCE_CHANGE]), rows)
    for row in range(rows):
        force[row] += more[row]
    carray(integers(h[at.COUNTS]), at.N_COUNTS)[at.ITERATIONS] += 1
    carray(doubles(h[at.SETTINGS]), FAR)[at.MOVED] = length(carray(doubles(h[at.CHANGE]), m * w))
    return 0


@njit(**INSIDE)
@dated
def begin(h):  # type: ignore[no-untyped-def]
    """What is sought and λ before the first iteration: zero."""
    for i in range(h[at.N_BODIES] * h[at.WIDTH]):
        carray(doubles(h[at.FOUND]), FAR)[i] = 0.0
    for i in range(h[at.N_ROWS]):
        carray(doubles(h[at.FORCE]), FAR)[i] = 0.0


@njit(**INSIDE)
@dated
def improve(h):  # type: ignore[no-untyped-def]
    """One iteration on REST and GAP: the size of the change, which is added to what is sought."""
    call2(h[at.IMPROVE_CODE], (h.ctypes.data, h.ctypes.data))
    n = h[at.N_BODIES] * h[at.WIDTH]
    found, change = carray(doubles(h[at.FOUND]), n), carray(doubles(h[at.CHANGE]), n)
    for i in range(n):
        found[i] += change[i]
    return carray(doubles(h[at.SETTINGS]), FAR)[at.MOVED]


@njit(**INSIDE)
@dated
def finished(size, before, tolerance, whole):  # type: ignore[no-untyped-def]
    """Whether the iterations have come to their tolerance or to a standstill."""
    return size < tolerance or size >= before or (size > SLOW * before and size <= ROUNDING * whole)


@dated
def _accelerate(h_at, y_at):  # type: ignore[no-untyped-def]
    """Accelerations into FOUND and multipliers into FORCE; rows, masses and factors are those of the bodies.

    Returns 1 where they are not finite.
    """
    h = carray(h_at, at.SIZE)
    m, w, rows = h[at.N_BODIES], h[at.WIDTH], h[at.N_ROWS]
    settings, counts = carray(doubles(h[at.SETTINGS]), FAR), carray(integers(h[at.COUNTS]), at.N_COUNTS)
    wrenches(carray(integers(h[at.BODY_HEAD]), body_head.SIZE), settings[at.TIME])
    omega, mu = settings[at.FREQUENCY], settings[at.STABLE]
    found, gap = carray(doubles(h[at.FOUND]), m * w), carray(doubles(h[at.GAP]), rows)
    phi, rate, gamma = (
        carray(doubles(h[at.PHI]), rows),
        carray(doubles(h[at.RATE]), rows),
        carray(doubles(h[at.GAMMA]), rows),
    )
    begin(h)
    before = np.inf
    for _ in range(counts[at.MOST]):
        residual(h, carray(doubles(h[at.WRENCH]), (m + 1) * w), found, carray(doubles(h[at.REST]), m * w))
        for row in range(rows):
            gap[row] = gamma[row] + omega * (2.0 * mu * rate[row] + omega * phi[row])
        rows_times(h, found, gap)
        size = improve(h)
        if not math.isfinite(size):
            return 1
        if finished(size, before, settings[at.ACCELERATION], length(found)):
            return 0
        before = size
    counts[at.FAILURES] += 1
    return 0


@njit(**INSIDE)
@dated
def put_bodies(h, t, y):  # type: ignore[no-untyped-def]
    """Bodies and rows of a state."""
    carray(doubles(h[at.SETTINGS]), FAR)[at.TIME] = t
    call2(h[at.PLACE_CODE], (h.ctypes.data, y.ctypes.data))


@njit(**COUNTED)
@dated
def settle(h, t, y, projected):  # type: ignore[no-untyped-def]
    """Project a state, if asked for, and find its accelerations; False where there are none."""
    put_bodies(h, t, y)
    own = (h.ctypes.data, y.ctypes.data)
    if call2(h[at.ASSEMBLE_CODE], own) != 0 or (projected != 0 and call2(h[at.PROJECT_CODE], own) != 0):
        return False
    return call2(h[at.ACCELERATE_CODE], own) == 0


@njit(**COUNTED)
@dated
def rates(h, t, y, out):  # type: ignore[no-untyped-def]
    """ẏ: coordinates from the twists, twists from the accelerations; False where there are none."""
    if not settle(h, t, y, np.int64(0)):
        return False
    put_rates(h, y, out)
    return True


@njit(**COUNTED)
@dated
def put_rates(h, y, out):  # type: ignore[no-untyped-def]
    """ẏ from the accelerations found; Φ̈ + 2 Ω μ Φ̇ + Ω² Φ of the normalisations is zero (Eq. 7)."""
    m, w = h[at.N_BODIES], h[at.WIDTH]
    per = 3 if w == 3 else 7
    found, settings = carray(doubles(h[at.FOUND]), m * w), carray(doubles(h[at.SETTINGS]), FAR)
    omega, mu = settings[at.FREQUENCY], settings[at.STABLE]
    for i in range(per * m):
        out[i] = y[per * m + i]
    for b in range(m):
        q, v = per * b, per * (m + b)
        for i in range(3):
            out[v + i] = found[w * b + i]
        if w == 6:
            square, slope, speed = 0.0, 0.0, 0.0
            for i in range(3, 7):
                square += y[q + i] * y[q + i]
                slope += y[q + i] * y[v + i]
                speed += y[v + i] * y[v + i]
                out[v + i] = 0.0
            normal = -speed - omega * (2.0 * mu * slope + 0.5 * omega * (square - 1.0))
            x = w * b + 3
            spun(y, q + 3, found[x], found[x + 1], found[x + 2], out, v + 3, normal / square)


@dated
def _project(h_at, y_at):  # type: ignore[no-untyped-def]
    """Bring positions and velocities of a state back to the constraints, mass-orthogonally (Eq. 41 to 72).

    Bodies, rows and factors are those of the state. The tangent matrix of the positions is that of the start (modified
    Newton); at the end rows and factors are those of the projected positions. Returns 1 where joints stay open.
    """
    h = carray(h_at, at.SIZE)
    m, w, rows = h[at.N_BODIES], h[at.WIDTH], h[at.N_ROWS]
    per = 3 if w == 3 else 7
    y, own = carray(y_at, 2 * per * m), (h.ctypes.data, carray(y_at, FAR).ctypes.data)
    settings, most = carray(doubles(h[at.SETTINGS]), FAR), carray(integers(h[at.COUNTS]), at.N_COUNTS)[at.MOST]
    found, change, none = (
        carray(doubles(h[at.FOUND]), m * w),
        carray(doubles(h[at.CHANGE]), m * w),
        carray(doubles(h[at.REST]), 0),
    )
    gap, rest = carray(doubles(h[at.GAP]), rows), carray(doubles(h[at.REST]), m * w)
    phi, rate = carray(doubles(h[at.PHI]), rows), carray(doubles(h[at.RATE]), rows)
    begin(h)  # what is sought here: q - q*
    before = np.inf
    for _ in range(most):
        residual(h, none, found, rest)
        put(gap, phi)
        size = improve(h)
        if not math.isfinite(size):
            return 1
        for b in range(m):
            move(y, b, w, change)
        call2(h[at.PLACE_CODE], own)
        if finished(size, before, settings[at.POSITION], 1.0):
            break
        before = size
    if call2(h[at.ASSEMBLE_CODE], own) != 0:
        return 1
    if w == 6:
        for b in range(m):  # of ṗ what lies along p is not seen by ω
            q, v = 7 * b + 3, 7 * (m + b) + 3
            slope = y[q] * y[v] + y[q + 1] * y[v + 1] + y[q + 2] * y[v + 2] + y[q + 3] * y[v + 3]
            spun(y, q, 0.0, 0.0, 0.0, y, v, -slope)
    begin(h)  # and here q̇ - q̇*
    before = np.inf
    for _ in range(most):
        residual(h, none, found, rest)
        put(gap, rate)
        rows_times(h, found, gap)
        size = improve(h)
        if not math.isfinite(size):
            return 1
        for b in range(m):
            for i in range(3):
                y[per * (m + b) + i] += change[w * b + i]
            if w == 6:
                x = w * b + 3
                spun(y, per * b + 3, change[x], change[x + 1], change[x + 2], y, per * (m + b) + 3, 0.0)
        if finished(size, before, settings[at.VELOCITY], 1.0):
            break
        before = size
    call2(h[at.PLACE_CODE], own)
    return 0 if length(phi) <= settings[at.OPEN] else 1


@functools.cache
def addresses(projected: bool) -> dict[int, int]:
    """Return where the pieces are compiled, by their places in the head; projections only where they are asked for."""
    pieces = {
        at.PLACE_CODE: _place, at.ASSEMBLE_CODE: _assemble, at.IMPROVE_CODE: _improve, at.ACCELERATE_CODE: _accelerate,
    } | ({at.PROJECT_CODE: _project} if projected else {})  # fmt: skip
    return {place: int(cfunc(SIGNATURE, **CALLED)(piece).address) for place, piece in pieces.items()}
