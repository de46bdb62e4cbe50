"""Compiled loads and inertia on free bodies, one lane: wrenches about the centres of mass, mass matrices.

Imported only where it runs, because it loads Numba. `head` is the array of a `BodySystem`.
"""

from __future__ import annotations

import functools
import math

from numba import carray, cfunc, njit

from ..codegen import joint_codes as code
from ..runtime.items import next_to
from ..runtime.sources import dated
from ..runtime.time_kernels import evaluate as evaluate_functions
from . import body_head as place
from . import joint_head
from .joint_kernels import CALLED, FAR, INTERNAL, OPTIONS, call1, doubles, integers, relative_turn


@dated
def _functions(head_at):  # type: ignore[no-untyped-def]
    """Values of all functions of time of loads; the time stands behind them."""
    head = carray(head_at, place.SIZE)
    f = place.FUNCTIONS
    values = carray(doubles(head[f + 4]), FAR)
    evaluate_functions(
        carray(integers(head[f]), FAR), carray(doubles(head[f + 1]), FAR), values, 1, 1, values[3 * head[f + 5] :], 1,
        values, values[1:], values[2:], values, 3, carray(integers(head[f + 3]), FAR), 2, 0, 1,
        carray(doubles(head[f + 2]), FAR),
    )  # fmt: skip
    return 0


@njit(**INTERNAL)
@dated
def carried(bodies, k, w, numbers, i, at):  # type: ignore[no-untyped-def]
    """A local vector of body k in global axes."""
    x, y = numbers[i, at], numbers[i, at + 1]
    if w == 3:
        c, s = bodies[k, 3], bodies[k, 4]
        return c * x - s * y, s * x + c * y, 0.0
    z = numbers[i, at + 2]
    return (bodies[k, 3] * x + bodies[k, 4] * y + bodies[k, 5] * z,
            bodies[k, 6] * x + bodies[k, 7] * y + bodies[k, 8] * z,
            bodies[k, 9] * x + bodies[k, 10] * y + bodies[k, 11] * z)  # fmt: skip


@njit(**INTERNAL)
@dated
def pushed(wrench, k, w, x, y, z, fx, fy, fz):  # type: ignore[no-untyped-def]
    """Add a force that acts at an arm from the centre of a body."""
    wrench[k, 0] += fx
    wrench[k, 1] += fy
    if w == 3:
        wrench[k, 2] += x * fy - y * fx
        return
    wrench[k, 2] += fz
    wrench[k, 3] += y * fz - z * fy
    wrench[k, 4] += z * fx - x * fz
    wrench[k, 5] += x * fy - y * fx


@njit(**INTERNAL)
@dated
def velocity_at(bodies, k, w, x, y, z):  # type: ignore[no-untyped-def]
    """The velocity of a point at an arm from the centre of a body."""
    if w == 3:
        return bodies[k, 5] - bodies[k, 7] * y, bodies[k, 6] + bodies[k, 7] * x, 0.0
    a, b, c = bodies[k, 15], bodies[k, 16], bodies[k, 17]
    return bodies[k, 12] + b * z - c * y, bodies[k, 13] + c * x - a * z, bodies[k, 14] + a * y - b * x


@njit(**INTERNAL)
@dated
def _spring(bodies, w, loads, numbers, i, wrench):  # type: ignore[no-untyped-def]
    one, two = loads[i, place.LOAD_FIRST], loads[i, place.LOAD_SECOND]
    x1, y1, z1 = carried(bodies, one, w, numbers, i, place.END_A)
    x2, y2, z2 = carried(bodies, two, w, numbers, i, place.END_B)
    dx, dy, dz = bodies[two, 0] + x2 - bodies[one, 0] - x1, bodies[two, 1] + y2 - bodies[one, 1] - y1, 0.0
    if w == 6:
        dz = bodies[two, 2] + z2 - bodies[one, 2] - z1
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    if length > 0.0:
        u1, v1, q1 = velocity_at(bodies, one, w, x1, y1, z1)
        u2, v2, q2 = velocity_at(bodies, two, w, x2, y2, z2)
        dx, dy, dz = dx / length, dy / length, dz / length
        rate = dx * (u2 - u1) + dy * (v2 - v1) + dz * (q2 - q1)
        f = numbers[i, place.STIFFNESS] * (length - numbers[i, place.REST]) + numbers[i, place.DAMPING] * rate
        pushed(wrench, one, w, x1, y1, z1, f * dx, f * dy, f * dz)
        pushed(wrench, two, w, x2, y2, z2, -f * dx, -f * dy, -f * dz)


@dated
def _loads(head_at):  # type: ignore[no-untyped-def]
    """Add forces, torques, springs, dampers and torsion springs."""
    head = carray(head_at, place.SIZE)
    n, w, count = head[place.COUNT], head[place.WIDTH], head[place.N_LOADS]
    bodies = carray(doubles(head[place.BODIES]), (n, code.BODY2 if w == 3 else code.BODY3))
    wrench = carray(doubles(head[place.WRENCH]), (n, w))
    loads = carray(integers(head[place.LOADS]), (count, place.LOAD_SIZE))
    numbers = carray(doubles(head[place.NUMBERS]), (count, place.LOAD_NUMBERS))
    turns, remembered = carray(doubles(head[place.TURNS]), FAR), carray(doubles(head[place.REMEMBERED]), FAR)
    values = carray(doubles(head[place.FUNCTIONS + 4]), FAR)
    joints = carray(integers(head[place.JOINTS]), joint_head.SIZE)
    joint_numbers = carray(doubles(joints[joint_head.NUMBERS]), (joints[joint_head.LINES], code.NUMBERS))
    d = 2 if w == 3 else 3
    for i in range(count):
        kind, one, two, f = loads[i, 0], loads[i, 1], loads[i, 2], 3 * loads[i, place.LOAD_FUNCTION]
        if kind == place.FORCE:
            x, y, z = carried(bodies, one, w, numbers, i, place.END_A)
            pushed(wrench, one, w, x, y, z, values[f], values[f + 3], values[f + 6] if d == 3 else 0.0)
        elif kind == place.TORQUE:
            for c in range(w - d):
                wrench[one, d + c] += values[f + 3 * c]
        elif kind == place.SPRING:
            _spring(bodies, w, loads, numbers, i, wrench)
        elif w == 3:
            turns[i] = bodies[two, 2] - bodies[one, 2] + remembered[i]
            torque = -numbers[i, place.STIFFNESS] * (turns[i] - numbers[i, place.REST])
            torque -= numbers[i, place.DAMPING] * (bodies[two, 7] - bodies[one, 7])
            wrench[two, 2] += torque
            wrench[one, 2] -= torque
        else:
            e = loads[i, place.LOAD_LINE]
            turns[i] = next_to(relative_turn(joint_numbers, e, bodies, one, two), remembered[i])
            x, y, z = carried(bodies, one, w, joint_numbers, e, code.AXIS_A)
            rate = x * (bodies[two, 15] - bodies[one, 15]) + y * (bodies[two, 16] - bodies[one, 16])
            rate += z * (bodies[two, 17] - bodies[one, 17])
            torque = -numbers[i, place.STIFFNESS] * (turns[i] - numbers[i, place.REST])
            torque -= numbers[i, place.DAMPING] * rate
            for c, part in enumerate((x, y, z)):
                wrench[two, 3 + c] += torque * part
                wrench[one, 3 + c] -= torque * part
    return 0


@njit(**OPTIONS)
@dated
def wrenches(head, t):  # type: ignore[no-untyped-def]
    """Weights, loads and, in space, less the gyroscopic moments: M ν̇ = wrench + Jᵀ λ; the inertia in global axes."""
    n, w = head[place.COUNT], head[place.WIDTH]
    bodies = carray(doubles(head[place.BODIES]), (n, code.BODY2 if w == 3 else code.BODY3))
    wrench = carray(doubles(head[place.WRENCH]), (n, w))
    mass, gravity = carray(doubles(head[place.MASS]), FAR), carray(doubles(head[place.GRAVITY]), 3)
    d = 2 if w == 3 else 3
    if w == 6:
        about, turned = carray(doubles(head[place.ABOUT]), (n, 9)), carray(doubles(head[place.INERTIA]), (n, 9))
        for k in range(1, n):
            turned_inertia(bodies, about, turned, k)
    for k in range(n):
        for c in range(w):
            wrench[k, c] = mass[k] * gravity[c] if c < d else 0.0
    if w == 6:
        for k in range(1, n):
            a, b, c = bodies[k, 15], bodies[k, 16], bodies[k, 17]
            x = turned[k, 0] * a + turned[k, 1] * b + turned[k, 2] * c
            y = turned[k, 3] * a + turned[k, 4] * b + turned[k, 5] * c
            z = turned[k, 6] * a + turned[k, 7] * b + turned[k, 8] * c
            wrench[k, 3] -= b * z - c * y
            wrench[k, 4] -= c * x - a * z
            wrench[k, 5] -= a * y - b * x
    if head[place.N_LOADS] > 0:
        if head[place.FUNCTION_CODE] != 0:
            carray(doubles(head[place.FUNCTIONS + 4]), FAR)[3 * head[place.FUNCTIONS + 5]] = t
            call1(head[place.FUNCTION_CODE], (head.ctypes.data,))
        call1(head[place.LOAD_CODE], (head.ctypes.data,))


@njit(**INTERNAL)
@dated
def turned_inertia(bodies, about, turned, k):  # type: ignore[no-untyped-def]
    """R J Rᵀ of a body."""
    for i in range(3):
        for j in range(i, 3):
            total = 0.0
            for p in range(3):
                part = 0.0
                for q in range(3):
                    part += about[k, 3 * p + q] * bodies[k, 3 + 3 * j + q]
                total += bodies[k, 3 + 3 * i + p] * part
            turned[k, 3 * i + j] = turned[k, 3 * j + i] = total


@njit(**OPTIONS)
@dated
def remember_turns(head):  # type: ignore[no-untyped-def]
    """Keep the turns of spatial torsion springs as those that the next ones are counted from."""
    if head[place.WIDTH] == 6:
        turns, remembered = carray(doubles(head[place.TURNS]), FAR), carray(doubles(head[place.REMEMBERED]), FAR)
        for i in range(head[place.N_LOADS]):
            remembered[i] = turns[i]


@functools.cache
def functions_address() -> int:
    """Return the address of what evaluates the functions of time."""
    return int(cfunc("int64(CPointer(int64))", **CALLED)(_functions).address)


@functools.cache
def loads_address() -> int:
    """Return the address of what adds all loads."""
    return int(cfunc("int64(CPointer(int64))", **CALLED)(_loads).address)
