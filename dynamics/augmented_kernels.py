"""Compiled dynamics in absolute coordinates: state and bodies, the augmented system, projections.

Imported only where it runs, because it loads Numba. A state holds the coordinates of all movable bodies (planar x, y,
angle; spatial centre and Euler parameters), then their velocities (v, ω).
"""

from __future__ import annotations

import functools
import math

from numba import carray, cfunc, njit

from ..codegen import joint_codes as code
from ..runtime.sources import dated
from . import array_heads as heads
from . import body_head as place
from . import joint_head
from .body_forces import remember_turns, wrenches
from .elimination_kernels import eliminate
from .friction_kernels import EFFORT, LAW_SIZE, brake, note_forces
from .joint_kernels import (
    CALLED,
    FAR,
    INTERNAL,
    OPTIONS,
    doubles,
    evaluate,
    integers,
    put_planar,
    put_rotation,
    remember,
)

SIGNATURE = "int64(CPointer(int64), CPointer(float64))"
# a method's own places: matrix, right-hand side, order of columns, scales of columns; whether rows are in excess;
# joints with friction, their laws, and how many they are
MATRIX, SIDE, ORDER, COLUMNS, REDUNDANT, BRAKED, LAWS, N_BRAKED = range(place.METHOD, place.METHOD + 8)
BRAKING, BRAKED_ENOUGH = 500, 1e-12  # rounds in which friction settles, and the last change of its forces
CLOSING, CLOSED = 8, 1e-9  # iterations that close the joints, and the last change, whose square is left


# ---- the state ----------------------------------------------------------------------------------------------------
@njit(**OPTIONS)
@dated
def unpack(y, bodies, n):  # type: ignore[no-untyped-def]
    """The movable bodies of a state (n counts the frame)."""
    planar, m = bodies.shape[1] == code.BODY2, n - 1
    for k in range(m):
        if planar:
            q, v = 3 * k, 3 * (m + k)
            put_planar(bodies, k + 1, y[q], y[q + 1], y[q + 2], y[v], y[v + 1], y[v + 2])
        else:
            q, v = 7 * k, 7 * m + 6 * k
            for c in range(3):
                bodies[k + 1, c] = y[q + c]
            put_rotation(bodies, k + 1, y[q + 3], y[q + 4], y[q + 5], y[q + 6])
            for c in range(6):
                bodies[k + 1, 12 + c] = y[v + c]


@njit(**OPTIONS)
@dated
def pack_rates(y, bodies, bend, n, out):  # type: ignore[no-untyped-def]
    """The rates of a state from its velocities and accelerations: ṗ = ½ Gᵀ ω."""
    planar, m = bodies.shape[1] == code.BODY2, n - 1
    for k in range(m):
        if planar:
            for c in range(3):
                out[3 * k + c], out[3 * (m + k) + c] = y[3 * (m + k) + c], bend[k + 1, c]
        else:
            q, v = 7 * k, 7 * m + 6 * k
            for i in range(3):
                out[q + i] = y[v + i]
            parameter_rates(y, q + 3, y[v + 3], y[v + 4], y[v + 5], out)
            for i in range(6):
                out[v + i] = bend[k + 1, i]


@njit(**OPTIONS)
@dated
def displace(y, k, m, planar, dx, at):  # type: ignore[no-untyped-def]
    """Move a body of a state by a small twist dx[at ...]; Euler parameters are turned and of unit length again."""
    if planar:
        for c in range(3):
            y[3 * k + c] += dx[at + c]
        return
    for c in range(3):
        y[7 * k + c] += dx[at + c]
    turn_parameters(y, 7 * k + 3, dx[at + 3], dx[at + 4], dx[at + 5])


@njit(**OPTIONS)
@dated
def turn_parameters(y, q, a, b, c):  # type: ignore[no-untyped-def]
    """Turn Euler parameters at y[q ...] by a rotation vector; they are of unit length again."""
    size = math.sqrt(a * a + b * b + c * c)
    f = 0.5 if size < 1e-8 else math.sin(0.5 * size) / size
    w, a, b, c = math.cos(0.5 * size), f * a, f * b, f * c
    e0, e1, e2, e3 = y[q], y[q + 1], y[q + 2], y[q + 3]
    p0, p1 = w * e0 - a * e1 - b * e2 - c * e3, w * e1 + a * e0 + b * e3 - c * e2
    p2, p3 = w * e2 + b * e0 + c * e1 - a * e3, w * e3 + c * e0 + a * e2 - b * e1
    length = math.sqrt(p0 * p0 + p1 * p1 + p2 * p2 + p3 * p3)
    y[q], y[q + 1], y[q + 2], y[q + 3] = p0 / length, p1 / length, p2 / length, p3 / length


@njit(**OPTIONS)
@dated
def parameter_rates(y, q, a, b, c, out):  # type: ignore[no-untyped-def]
    """ṗ = ½ Gᵀ ω of Euler parameters at y[q ...], into the same place of another array."""
    a, b, c = 0.5 * a, 0.5 * b, 0.5 * c
    e0, e1, e2, e3 = y[q], y[q + 1], y[q + 2], y[q + 3]
    out[q] = -a * e1 - b * e2 - c * e3
    out[q + 1] = a * e0 + b * e3 - c * e2
    out[q + 2] = b * e0 + c * e1 - a * e3
    out[q + 3] = c * e0 + a * e2 - b * e1


# ---- the augmented system -----------------------------------------------------------------------------------------
@njit(**INTERNAL)
@dated
def fill_rows(head, joints, A, columns, size):  # type: ignore[no-untyped-def]
    """The scaled Jacobian and its transpose beside the first `size` columns of a matrix that is zero there."""
    w, lines, rows = head[place.WIDTH], joints[joint_head.LINES], joints[joint_head.ROWS]
    items = carray(integers(joints[joint_head.ITEMS]), (lines, code.ITEM_SIZE))
    J = carray(doubles(joints[joint_head.J]), (rows, 3, w))
    scales = carray(doubles(head[COLUMNS]), FAR)[size:]
    for e in range(lines):
        roles = 3 if items[e, code.KIND] in code.THREE_BODIES else 2
        for row in range(items[e, code.ROW], items[e, code.ROW] + items[e, code.ROWS]):
            for role in range(roles):
                k = items[e, code.FIRST + role]
                if k > 0:
                    at = w * (k - 1)
                    for c in range(w):
                        A[size + row, at + c] += J[row, role, c] * columns[at + c] / scales[row]
                        A[at + c, size + row] = A[size + row, at + c]


@dated
def _rates(ints_at, x_at):  # type: ignore[no-untyped-def]
    """The augmented system at a state; accelerations are left with the bodies."""
    ints, x = carray(ints_at, FAR), carray(x_at, FAR)
    head = carray(integers(ints[heads.HEAD + place.OWN_BODIES]), place.SIZE)
    n, w = head[place.COUNT], head[place.WIDTH]
    joints = carray(integers(head[place.JOINTS]), joint_head.SIZE)
    bodies = carray(doubles(head[place.BODIES]), (n, code.BODY2 if w == 3 else code.BODY3))
    wrench, bend = carray(doubles(head[place.WRENCH]), (n, w)), carray(doubles(head[place.ACCELERATION]), (n, w))
    y = x[ints[heads.Y] :]
    unpack(y, bodies, n)
    evaluate(joints, x[heads.TIME])
    wrenches(head, x[heads.TIME])
    if head[N_BRAKED] > 0:
        status = _braked(head, joints, bodies, wrench)
    else:
        status = 0 if _balanced(head, joints, wrench) > 0.0 else 1
    if status != 0:
        return status
    b, columns = carray(doubles(head[SIDE]), FAR), carray(doubles(head[COLUMNS]), FAR)
    for k in range(1, n):
        for c in range(w):
            bend[k, c] = b[w * (k - 1) + c] * columns[w * (k - 1) + c]
    pack_rates(y, bodies, bend, n, x[ints[heads.Y] + 2 * ints[heads.FREE] :])
    return 0


@njit(**INTERNAL)
@dated
def _balanced(head, joints, wrench):  # type: ignore[no-untyped-def]
    """Scaled accelerations and multipliers under wrenches into SIDE; what masses were divided by, 0 if singular."""
    n, w = head[place.COUNT], head[place.WIDTH]
    rows, size = joints[joint_head.ROWS], w * (n - 1)
    total = size + rows
    A, b = carray(doubles(head[MATRIX]), (total, total)), carray(doubles(head[SIDE]), total)
    columns, gamma = carray(doubles(head[COLUMNS]), FAR), carray(doubles(joints[joint_head.GAMMA]), rows)
    A[:, :] = 0.0
    weight = fill_masses(head, A, columns)
    fill_rows(head, joints, A, columns, size)
    for k in range(1, n):
        for c in range(w):
            at = w * (k - 1) + c
            b[at] = wrench[k, c] * columns[at] / weight
    for row in range(rows):
        b[size + row] = -gamma[row] / columns[size + row]
    order, least = carray(integers(head[ORDER]), total), head[N_BRAKED] > 0  # friction follows the reported share
    if eliminate(A, b, order, total, head[REDUNDANT] != 0, least) < 0:
        return 0.0
    return weight


@njit(**OPTIONS)
@dated
def strike(head, joints, wrench):  # type: ignore[no-untyped-def]
    """The same for callers in Python."""
    return _balanced(head, joints, wrench)


@njit(**INTERNAL)
@dated
def _braked(head, joints, bodies, wrench):  # type: ignore[no-untyped-def]
    """The same with the friction that follows from the multipliers; begins with the forces of the last evaluation."""
    lines, count = joints[joint_head.LINES], head[N_BRAKED]
    items = carray(integers(joints[joint_head.ITEMS]), (lines, code.ITEM_SIZE))
    numbers = carray(doubles(joints[joint_head.NUMBERS]), (lines, code.NUMBERS))
    braked, laws = carray(integers(head[BRAKED]), count), carray(doubles(head[LAWS]), (count, LAW_SIZE))
    size = head[place.WIDTH] * (head[place.COUNT] - 1)
    b, columns = carray(doubles(head[SIDE]), FAR), carray(doubles(head[COLUMNS]), FAR)
    for m in range(count):
        laws[m, EFFORT] = 0.0
    for _ in range(BRAKING):
        brake(items, numbers, bodies, braked, laws, wrench)
        weight = _balanced(head, joints, wrench)
        if not weight > 0.0:
            return 1
        change, largest = note_forces(items, braked, laws, b[size:], columns[size:], weight)
        if not change > BRAKED_ENOUGH * largest:
            return 0
    return 1


@njit(**INTERNAL)
@dated
def fill_masses(head, A, columns):  # type: ignore[no-untyped-def]
    """The scaled mass matrix, and what it was divided by."""
    n, w = head[place.COUNT], head[place.WIDTH]
    mass, about = carray(doubles(head[place.MASS]), n), carray(doubles(head[place.ABOUT]), (n, 9))
    turned = carray(doubles(head[place.INERTIA]), (n, 9))
    d, weight = (2 if w == 3 else 3), 0.0
    for k in range(1, n):
        at = w * (k - 1)
        for c in range(d):
            A[at + c, at + c] = mass[k] * columns[at + c] ** 2
            weight = max(weight, A[at + c, at + c])
        if w == 3:
            A[at + 2, at + 2] = about[k, 0]
            weight = max(weight, about[k, 0])
        else:
            for i in range(3):
                for j in range(3):
                    A[at + 3 + i, at + 3 + j] = turned[k, 3 * i + j]
                    weight = max(weight, abs(turned[k, 3 * i + j]))
    weight = max(weight, 1e-300)
    for i in range(w * (n - 1)):
        for j in range(w * (i // w), w * (i // w) + w):
            A[i, j] /= weight
    return weight


# ---- projections --------------------------------------------------------------------------------------------------
@njit(**INTERNAL)
@dated
def nearest(head, joints, residual):  # type: ignore[no-untyped-def]
    """The smallest scaled twists that take a residual of all rows away, into SIDE; the largest of them."""
    n, w, rows = head[place.COUNT], head[place.WIDTH], joints[joint_head.ROWS]
    size = w * (n - 1)
    total = size + rows
    A, b = carray(doubles(head[MATRIX]), (total, total)), carray(doubles(head[SIDE]), total)
    columns = carray(doubles(head[COLUMNS]), FAR)
    A[:, :] = 0.0
    for i in range(size):
        A[i, i], b[i] = 1.0, 0.0
    fill_rows(head, joints, A, columns, size)
    for row in range(rows):
        b[size + row] = -residual[row] / columns[size + row]
    if eliminate(A, b, carray(integers(head[ORDER]), total), total, head[REDUNDANT] != 0) < 0:
        return math.inf
    largest = 0.0
    for i in range(size):
        largest = max(largest, abs(b[i]))
        b[i] *= columns[i]
    return largest


@dated
def _project(ints_at, x_at):  # type: ignore[no-untyped-def]
    """Close all joints by the smallest motion, then take from the velocities what the joints do not allow."""
    ints, x = carray(ints_at, FAR), carray(x_at, FAR)
    head = carray(integers(ints[heads.HEAD + place.OWN_BODIES]), place.SIZE)
    n, w = head[place.COUNT], head[place.WIDTH]
    joints = carray(integers(head[place.JOINTS]), joint_head.SIZE)
    bodies = carray(doubles(head[place.BODIES]), (n, code.BODY2 if w == 3 else code.BODY3))
    y, m = x[ints[heads.Y] :], n - 1
    b = carray(doubles(head[SIDE]), FAR)
    phi, rate = carray(doubles(joints[joint_head.PHI]), FAR), carray(doubles(joints[joint_head.RATE]), FAR)
    closed = False
    for _ in range(CLOSING):
        unpack(y, bodies, n)
        evaluate(joints, x[heads.TIME])
        change = nearest(head, joints, phi)
        if not change < math.inf:
            return 1
        for k in range(m):
            displace(y, k, m, w == 3, b, w * k)
        if change < CLOSED:
            closed = True
            break
    if not closed:
        return 1
    unpack(y, bodies, n)
    evaluate(joints, x[heads.TIME])
    if not nearest(head, joints, rate) < math.inf:
        return 1
    first = (3 if w == 3 else 7) * m
    for i in range(w * m):
        y[first + i] += b[i]
    return 0


@dated
def _finish(ints_at, x_at):  # type: ignore[no-untyped-def]
    """Count turns and contacts from the accepted state on, whose rates were evaluated last."""
    ints = carray(ints_at, FAR)
    head = carray(integers(ints[heads.HEAD + place.OWN_BODIES]), place.SIZE)
    remember(carray(integers(head[place.JOINTS]), joint_head.SIZE))
    remember_turns(head)
    return 0


@functools.cache
def finish_address() -> int:
    """Return the address of what follows an accepted step."""
    return int(cfunc(SIGNATURE, **CALLED)(_finish).address)


@functools.cache
def addresses() -> tuple[int, int, int]:
    """Return the addresses of right-hand side, projection, and what follows an accepted step."""
    rates, project = (int(cfunc(SIGNATURE, **CALLED)(f).address) for f in (_rates, _project))
    return rates, project, finish_address()
