"""Compiled loads in absolute coordinates, one lane: all applied wrenches about the bodies' reference points.

Imported only where it runs, because it loads Numba. In the plane a wrench is fx, fy and the moment.
"""

from __future__ import annotations

import functools
import math

from numba import carray, cfunc, njit

from ..codegen import jointcodes as code
from ..runtime.items import next_to
from ..runtime.timekernels import evaluate as evaluate_functions
from ..runtime.sources import dated
from .bodyloads import (
    DAMPING, EVALUATE, FORCE, FREE, FUNCTION, KIND, ONE, SPRING, STIFFNESS, TORQUE, TORSION, TURN, TWO,
)  # fmt: skip
from .jointkernels import CALLED, FAR, INTERNAL, OPTIONS, call1, doubles, integers, relative_turn


@njit(**INTERNAL)
@dated
def carried(bodies, k, x, y, z):  # type: ignore[no-untyped-def]
    """A vector of a body in global axes."""
    b = bodies[k]
    if len(b) == code.BODY2:
        c, s = b[code.COSINE2], b[code.SINE2]
        return c * x - s * y, s * x + c * y, 0.0
    R = code.ROTATION3
    return (b[R] * x + b[R + 1] * y + b[R + 2] * z, b[R + 3] * x + b[R + 4] * y + b[R + 5] * z,
            b[R + 6] * x + b[R + 7] * y + b[R + 8] * z)  # fmt: skip


@njit(**INTERNAL)
@dated
def velocity(bodies, k, x, y, z):  # type: ignore[no-untyped-def]
    """The velocity of a point of a body at an arm from its reference point."""
    b = bodies[k]
    if len(b) == code.BODY2:
        w = b[code.SPIN2]
        return b[code.VELOCITY2] - w * y, b[code.VELOCITY2 + 1] + w * x, 0.0
    v, o = code.VELOCITY3, code.OMEGA3
    return (b[v] + b[o + 1] * z - b[o + 2] * y, b[v + 1] + b[o + 2] * x - b[o] * z,
            b[v + 2] + b[o] * y - b[o + 1] * x)  # fmt: skip


@njit(**INTERNAL)
@dated
def push(wrench, k, x, y, z, fx, fy, fz):  # type: ignore[no-untyped-def]
    """Add a force at an arm."""
    out = wrench[k]
    out[0] += fx
    out[1] += fy
    if len(out) == 3:
        out[2] += x * fy - y * fx
        return
    out[2] += fz
    out[3] += y * fz - z * fy
    out[4] += z * fx - x * fz
    out[5] += x * fy - y * fx


@njit(**INTERNAL)
@dated
def _spring(item, number, bodies, wrench):  # type: ignore[no-untyped-def]
    one, two = item[ONE], item[TWO]
    x1, y1, z1 = carried(bodies, one, number[code.A], number[code.A + 1], number[code.A + 2])
    x2, y2, z2 = carried(bodies, two, number[code.B], number[code.B + 1], number[code.B + 2])
    dx, dy, dz = bodies[two, 0] + x2 - bodies[one, 0] - x1, bodies[two, 1] + y2 - bodies[one, 1] - y1, 0.0
    if wrench.shape[1] == 6:
        dz = bodies[two, 2] + z2 - bodies[one, 2] - z1
    ux, uy, uz = velocity(bodies, one, x1, y1, z1)
    vx, vy, vz = velocity(bodies, two, x2, y2, z2)
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    if length > 0.0:
        dx, dy, dz = dx / length, dy / length, dz / length
        rate = dx * (vx - ux) + dy * (vy - uy) + dz * (vz - uz)
        tension = number[STIFFNESS] * (length - number[FREE]) + number[DAMPING] * rate
        push(wrench, one, x1, y1, z1, tension * dx, tension * dy, tension * dz)
        push(wrench, two, x2, y2, z2, -tension * dx, -tension * dy, -tension * dz)


@njit(**INTERNAL)
@dated
def turn_of(item, numbers, k, bodies):  # type: ignore[no-untyped-def]
    """The continuous turn of a torsion spring's joint."""
    one, two = item[ONE], item[TWO]
    if bodies.shape[1] == code.BODY2:
        return next_to(bodies[two, code.ANGLE2] - bodies[one, code.ANGLE2], numbers[k, TURN])
    return next_to(relative_turn(numbers, k, bodies, one, two), numbers[k, TURN])


@njit(**INTERNAL)
@dated
def _torsion(item, numbers, k, bodies, wrench):  # type: ignore[no-untyped-def]
    one, two, number = item[ONE], item[TWO], numbers[k]
    angle = turn_of(item, numbers, k, bodies)
    if bodies.shape[1] == code.BODY2:
        rate = bodies[two, code.SPIN2] - bodies[one, code.SPIN2]
        torque = number[STIFFNESS] * (angle - number[FREE]) + number[DAMPING] * rate
        wrench[two, 2] -= torque
        wrench[one, 2] += torque
        return
    a = code.AXIS_A
    x, y, z = carried(bodies, one, number[a], number[a + 1], number[a + 2])
    o = code.OMEGA3
    rate = x * (bodies[two, o] - bodies[one, o]) + y * (bodies[two, o + 1] - bodies[one, o + 1])
    rate += z * (bodies[two, o + 2] - bodies[one, o + 2])
    torque = number[STIFFNESS] * (angle - number[FREE]) + number[DAMPING] * rate
    wrench[two, 3] -= torque * x
    wrench[two, 4] -= torque * y
    wrench[two, 5] -= torque * z
    wrench[one, 3] += torque * x
    wrench[one, 4] += torque * y
    wrench[one, 5] += torque * z


@njit(**OPTIONS)
@dated
def put_loads(loads, t, bodies, wrench):  # type: ignore[no-untyped-def]
    """All applied wrenches of the tables at a time, in place of what stands there."""
    items, numbers, weights, head, values = loads
    w = wrench.shape[1]
    for k in range(len(wrench)):
        for i in range(w):
            wrench[k, i] = 0.0
        x, y, z = carried(bodies, k, weights[k, 3], weights[k, 4], weights[k, 5])
        push(wrench, k, x, y, z, weights[k, 0], weights[k, 1], weights[k, 2])
    if head[EVALUATE] != 0:
        values[0] = t
        call1(head[EVALUATE], (head.ctypes.data,))
    for k in range(len(items)):
        item, f = items[k], 3 * items[k, FUNCTION]
        if item[KIND] == FORCE:
            x, y, z = carried(bodies, item[ONE], numbers[k, 0], numbers[k, 1], numbers[k, 2])
            push(wrench, item[ONE], x, y, z, values[f], values[f + 3], values[f + 6] if w == 6 else 0.0)
        elif item[KIND] == TORQUE:
            for i in range(w // 2 if w == 6 else 1):
                wrench[item[ONE], (3 if w == 6 else 2) + i] += values[f + 3 * i]
        elif item[KIND] == SPRING:
            _spring(item, numbers[k], bodies, wrench)
        else:
            _torsion(item, numbers, k, bodies, wrench)


@njit(**OPTIONS)
@dated
def follow_turns(loads, bodies):  # type: ignore[no-untyped-def]
    """Remember the turns of torsion springs as they are now."""
    for k in range(len(loads.items)):
        if loads.items[k, KIND] == TORSION:
            loads.numbers[k, TURN] = turn_of(loads.items[k], loads.numbers, k, bodies)


@dated
def _evaluate(head_at):  # type: ignore[no-untyped-def]
    """All functions of time of loads, at the time in the last of their values."""
    head = carray(head_at, EVALUATE + 1)
    values = carray(doubles(head[4]), FAR)
    work = carray(doubles(head[2]), FAR)
    codes, rows = carray(integers(head[0]), FAR), carray(integers(head[3]), FAR)
    time = values[3 * codes[0] :]
    time[0] = values[0]
    evaluate_functions(
        codes, carray(doubles(head[1]), FAR), values, 1, 1, time, 1, values, values[1:], values[2:], values, 3, rows, 2,
        0, 1, work,
    )  # fmt: skip
    return 0


@functools.cache
def evaluating_address() -> int:
    """Return the address of what evaluates the functions of time."""
    return int(cfunc("int64(CPointer(int64))", **CALLED)(_evaluate).address)
