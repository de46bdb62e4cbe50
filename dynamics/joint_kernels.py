"""Compiled joints in absolute coordinates, one lane: bodies from coordinates, what changes with the motion, all rows.

Imported only where it runs, because it loads Numba. `head` is the array of a `JointSystem`.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numba import carray, cfunc, njit, types
from numba.extending import intrinsic

from ..codegen import joint_codes as code
from ..runtime.items import next_to
from ..runtime.sequencer import caller
from ..runtime.sources import dated
from ..runtime.time_kernels import evaluate as evaluate_functions
from . import joint_head as place

FAR = 1 << 40
CALLED: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}
OPTIONS = {**CALLED, "no_cfunc_wrapper": True}
INTERNAL = {**OPTIONS, "no_cpython_wrapper": True}
call1, call10 = caller(1), caller(10)
CONTACT_STEPS = 30


@intrinsic
def doubles(typing_context, address):  # type: ignore[no-untyped-def]
    """A pointer to doubles from an address."""
    pointer = types.CPointer(types.float64)

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        return builder.inttoptr(values[0], context.get_value_type(pointer))

    return pointer(types.int64), generate


@intrinsic
def integers(typing_context, address):  # type: ignore[no-untyped-def]
    """A pointer to integers from an address."""
    pointer = types.CPointer(types.int64)

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        return builder.inttoptr(values[0], context.get_value_type(pointer))

    return pointer(types.int64), generate


# ---- bodies -------------------------------------------------------------------------------------------------------
@njit(**OPTIONS)
@dated
def put_planar(bodies, k, x, y, angle, vx, vy, omega):  # type: ignore[no-untyped-def]
    """A planar body from coordinates and velocities."""
    bodies[k, 0], bodies[k, 1], bodies[k, 2] = x, y, angle
    bodies[k, 3], bodies[k, 4] = math.cos(angle), math.sin(angle)
    bodies[k, 5], bodies[k, 6], bodies[k, 7] = vx, vy, omega


@njit(**OPTIONS)
@dated
def put_rotation(bodies, k, e0, e1, e2, e3):  # type: ignore[no-untyped-def]
    """The rotation matrix of a spatial body from Euler parameters, which need not be of unit length."""
    f = 2.0 / (e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
    bodies[k, 3], bodies[k, 4], bodies[k, 5] = (
        1.0 - f * (e2 * e2 + e3 * e3), f * (e1 * e2 - e0 * e3), f * (e1 * e3 + e0 * e2),
    )  # fmt: skip
    bodies[k, 6], bodies[k, 7], bodies[k, 8] = (
        f * (e1 * e2 + e0 * e3), 1.0 - f * (e1 * e1 + e3 * e3), f * (e2 * e3 - e0 * e1),
    )  # fmt: skip
    bodies[k, 9], bodies[k, 10], bodies[k, 11] = (
        f * (e1 * e3 - e0 * e2), f * (e2 * e3 + e0 * e1), 1.0 - f * (e1 * e1 + e2 * e2),
    )  # fmt: skip


@njit(**OPTIONS)
@dated
def euler_columns(J, row, role, p, out):  # type: ignore[no-untyped-def]
    """A row's derivatives by centre and Euler parameters (7 columns) from those on the twist: ω = 2 G ṗ.

    γ is the same: Ġ ṗ = 0.
    """
    e0, e1, e2, e3 = p[0], p[1], p[2], p[3]
    x, y, z = 2.0 * J[row, role, 3], 2.0 * J[row, role, 4], 2.0 * J[row, role, 5]
    for c in range(3):
        out[c] = J[row, role, c]
    out[3] = -x * e1 - y * e2 - z * e3
    out[4] = x * e0 + y * e3 - z * e2
    out[5] = y * e0 + z * e1 - x * e3
    out[6] = z * e0 + x * e2 - y * e1


# ---- what changes with the motion ---------------------------------------------------------------------------------
@dated
def _drive(head_at):  # type: ignore[no-untyped-def]
    """Value, rate and acceleration of all drivers at the time that stands behind their values."""
    head = carray(head_at, place.SIZE)
    f = place.DRIVER_FUNCTIONS
    values, n = carray(doubles(head[f + 4]), FAR), head[place.N_DRIVERS]
    extras, lines = carray(doubles(head[place.EXTRAS]), FAR), carray(integers(head[place.DRIVER_LINES]), FAR)
    evaluate_functions(
        carray(integers(head[f]), FAR), carray(doubles(head[f + 1]), FAR), values, 1, 1, values[3 * n :], 1, values,
        values[1:], values[2:], values, 3, carray(integers(head[f + 3]), FAR), 2, 0, 1,
        carray(doubles(head[f + 2]), FAR),
    )  # fmt: skip
    for i in range(n):
        for k in range(3):
            extras[lines[i] * code.EXTRAS + code.DRIVEN + k] = values[3 * i + k]
    return 0


@njit(**INTERNAL)
@dated
def _profile(head, cam, u):  # type: ignore[no-untyped-def]
    """Radius of a cam with two derivatives; all profiles are evaluated at once, and this one read."""
    f = place.PROFILES
    values = carray(doubles(head[f + 4]), FAR)
    at = values[3 * head[place.N_CAMS] :]
    at[0] = u
    evaluate_functions(
        carray(integers(head[f]), FAR), carray(doubles(head[f + 1]), FAR), values, 1, 1, at, 1, values,
        values[1:], values[2:], values, 3, carray(integers(head[f + 3]), FAR), 2, 0, 1,
        carray(doubles(head[f + 2]), FAR),
    )  # fmt: skip
    return values[3 * cam], values[3 * cam + 1], values[3 * cam + 2]


@dated
def _touch(head_at):  # type: ignore[no-untyped-def]
    """Where every cam touches, by Newton from the remembered place, and what its row needs there."""
    head = carray(head_at, place.SIZE)
    lines = carray(integers(head[place.CAM_LINES]), FAR)
    items = carray(integers(head[place.ITEMS]), (head[place.LINES], code.ITEM_SIZE))
    numbers = carray(doubles(head[place.NUMBERS]), (head[place.LINES], code.NUMBERS))
    extras = carray(doubles(head[place.EXTRAS]), (head[place.LINES], code.EXTRAS))
    bodies = carray(doubles(head[place.BODIES]), (head[place.BODIES_N], code.BODY2))
    memory = carray(doubles(head[place.MEMORY]), FAR)
    for cam in range(head[place.N_CAMS]):
        e = lines[cam]
        i, j, number = items[e, code.FIRST], items[e, code.SECOND], numbers[e]
        c1, s1, c2, s2 = bodies[i, 3], bodies[i, 4], bodies[j, 3], bodies[j, 4]
        x = bodies[j, 0] + c2 * number[code.B] - s2 * number[code.B + 1] - bodies[i, 0]
        y = bodies[j, 1] + s2 * number[code.B] + c2 * number[code.B + 1] - bodies[i, 1]
        px, py = c1 * x + s1 * y - number[code.A], c1 * y - s1 * x - number[code.A + 1]  # in the axes of the cam
        dx, dy = number[code.AXIS_B], number[code.AXIS_B + 1]
        ax, ay = -(s2 * dx + c2 * dy), c2 * dx - s2 * dy  # across a flat face
        wx, wy = c1 * ax + s1 * ay, c1 * ay - s1 * ax
        u, roller, side = memory[e], number[code.NUMBER], 1.0
        flat = items[e, code.KIND] == code.FLAT2
        r, r1, r2, cu, su = 0.0, 0.0, 0.0, 1.0, 0.0
        for step in range(CONTACT_STEPS):
            r, r1, r2 = _profile(head, cam, u)
            cu, su = math.cos(u), math.sin(u)
            tx, ty = r1 * cu - r * su, r1 * su + r * cu
            bx, by = (r2 - r) * cu - 2.0 * r1 * su, (r2 - r) * su + 2.0 * r1 * cu
            if flat:
                change = -(wx * tx + wy * ty) / (wx * bx + wy * by)
            else:
                size = math.sqrt(tx * tx + ty * ty)
                tx, ty = tx / size, ty / size
                along = tx * bx + ty * by
                ex, ey = (bx - along * tx) / size, (by - along * ty) / size  # how the unit tangent turns
                gx, gy = px - r * cu - roller * ty, py - r * su + roller * tx
                sx, sy = size * tx + roller * ey, size * ty - roller * ex
                side = 1.0 if sx * tx + sy * ty >= 0.0 else -1.0
                change = (tx * gx + ty * gy) / (tx * sx + ty * sy - ex * gx - ey * gy)
            change = min(max(change, -0.5), 0.5)
            if step == CONTACT_STEPS - 1 or abs(change) < 1e-15:
                break
            u += change
        extras[e, 0], extras[e, 1], extras[e, 2], extras[e, 3], extras[e, 4], extras[e, 5] = cu, su, r, r1, r2, side
        for k in range(3):
            extras[e, code.DRIVEN + k] = 0.0
        extras[e, code.DRIVEN] = u
    return 0


@njit(**INTERNAL)
@dated
def _turns(head):  # type: ignore[no-untyped-def]
    """The turns of screws and first wheels, next to the remembered ones, of second wheels, next to what the first says,
    and of driven joints, next to their drivers."""
    items = carray(integers(head[place.ITEMS]), (head[place.LINES], code.ITEM_SIZE))
    numbers = carray(doubles(head[place.NUMBERS]), (head[place.LINES], code.NUMBERS))
    extras = carray(doubles(head[place.EXTRAS]), (head[place.LINES], code.EXTRAS))
    bodies = carray(doubles(head[place.BODIES]), (head[place.BODIES_N], code.BODY3))
    memory, turning = carray(doubles(head[place.MEMORY]), FAR), carray(integers(head[place.TURNING]), FAR)
    for n in range(head[place.N_TURNING]):
        e = turning[n]
        i, j = items[e, code.FIRST], items[e, code.SECOND]
        if items[e, code.KIND] == code.GEAR3:
            k = items[e, code.THIRD]
            turn = next_to(_turn_from(numbers, e, code.A, code.AXIS_A, code.NORMAL_A, bodies, k, i), memory[e])
            extras[e, code.TURNED] = turn
            second = _turn_from(numbers, e, code.A, code.AXIS_B, code.NORMAL_B, bodies, k, j)
            extras[e, code.TURNED + 1] = next_to(second, numbers[e, code.NUMBER] * turn)
            continue
        angle = relative_turn(numbers, e, bodies, i, j)
        near = extras[e, code.DRIVEN] if items[e, code.KIND] == code.TURN3 else memory[e]
        extras[e, code.TURNED] = next_to(angle, near)


@njit(**INTERNAL)
@dated
def relative_turn(numbers, e, bodies, i, j):  # type: ignore[no-untyped-def]
    """The spatial angle from normal_a of body i to normal_b of body j about axis_a."""
    return _turn_from(numbers, e, code.NORMAL_A, code.AXIS_A, code.NORMAL_B, bodies, i, j)


@njit(**INTERNAL)
@dated
def _turn_from(numbers, e, normal, axis, other_at, bodies, i, j):  # type: ignore[no-untyped-def]
    """The angle from a normal of body i to one of body j about an axis of i, by their columns."""
    C, S = 0.0, 0.0
    n0, n1, n2 = numbers[e, normal], numbers[e, normal + 1], numbers[e, normal + 2]
    a0, a1, a2 = numbers[e, axis], numbers[e, axis + 1], numbers[e, axis + 2]
    b0, b1, b2 = a1 * n2 - a2 * n1, a2 * n0 - a0 * n2, a0 * n1 - a1 * n0
    m0, m1, m2 = numbers[e, other_at], numbers[e, other_at + 1], numbers[e, other_at + 2]
    for c in range(3):
        q, o = 3 + 3 * c, 3 + 3 * c
        other = bodies[j, o] * m0 + bodies[j, o + 1] * m1 + bodies[j, o + 2] * m2
        C += (bodies[i, q] * n0 + bodies[i, q + 1] * n1 + bodies[i, q + 2] * n2) * other
        S += (bodies[i, q] * b0 + bodies[i, q + 1] * b1 + bodies[i, q + 2] * b2) * other
    return math.atan2(S, C)


# ---- all rows -----------------------------------------------------------------------------------------------------
@njit(**OPTIONS)
@dated
def prepare(head, t):  # type: ignore[no-untyped-def]
    """Drivers at a time, turns and contacts of the bodies as they stand: what all lines need before their rows."""
    if head[place.N_DRIVERS] > 0:
        carray(doubles(head[place.DRIVER_FUNCTIONS + 4]), FAR)[3 * head[place.N_DRIVERS]] = t
        call1(head[place.DRIVE], (head.ctypes.data,))
    if head[place.N_TURNING] > 0:
        _turns(head)
    if head[place.N_CAMS] > 0:
        call1(head[place.TOUCH], (head.ctypes.data,))


@njit(**OPTIONS)
@dated
def lines(head, first, last, work):  # type: ignore[no-untyped-def]
    """Φ, J and γ of some lines, after `prepare`; `work` (6 x (2 + 3 w)) is the caller's, so that threads may call."""
    call10(head[place.CONSTRAINTS], (
        head[place.ITEMS], head[place.NUMBERS], head[place.EXTRAS], first, last, head[place.BODIES], head[place.PHI],
        head[place.J], head[place.GAMMA], work.ctypes.data,
    ))  # fmt: skip


@njit(**OPTIONS)
@dated
def evaluate(head, t):  # type: ignore[no-untyped-def]
    """Φ, Φ̇, J and γ of all lines."""
    prepare(head, t)
    w, first = head[place.WIDTH], np.int64(0)  # a literal would be compiled for anew
    lines(head, first, head[place.LINES], carray(doubles(head[place.WORK]), (6, 2 + 3 * w)))
    rates(head, first, head[place.LINES])


@njit(**OPTIONS)
@dated
def rates(head, first, last):  # type: ignore[no-untyped-def]
    """Φ̇ = J ν less the rate of a driver, of some lines."""
    w, n = head[place.WIDTH], head[place.BODIES_N]
    columns, at = (code.BODY2, code.VELOCITY2) if w == 3 else (code.BODY3, code.VELOCITY3)
    items = carray(integers(head[place.ITEMS]), (head[place.LINES], code.ITEM_SIZE))
    extras = carray(doubles(head[place.EXTRAS]), (head[place.LINES], code.EXTRAS))
    bodies = carray(doubles(head[place.BODIES]), (n, columns))
    J, rate = carray(doubles(head[place.J]), (head[place.ROWS], 3, w)), carray(doubles(head[place.RATE]), FAR)
    for e in range(first, last):
        driven = extras[e, code.DRIVEN + 1]
        for row in range(items[e, code.ROW], items[e, code.ROW] + items[e, code.ROWS]):
            total = -driven
            for role in range(3):
                k = items[e, code.FIRST + role]
                for c in range(w):
                    total += J[row, role, c] * bodies[k, at + c]
            rate[row] = total


@njit(**OPTIONS)
@dated
def remember(head):  # type: ignore[no-untyped-def]
    """Keep turns and contacts as those that the next evaluations are counted from."""
    memory, extras = carray(doubles(head[place.MEMORY]), FAR), carray(doubles(head[place.EXTRAS]), FAR)
    turning, cams = carray(integers(head[place.TURNING]), FAR), carray(integers(head[place.CAM_LINES]), FAR)
    for n in range(head[place.N_TURNING]):
        memory[turning[n]] = extras[turning[n] * code.EXTRAS + code.TURNED]
    for n in range(head[place.N_CAMS]):
        memory[cams[n]] = extras[cams[n] * code.EXTRAS + code.DRIVEN]


# ---- addresses ----------------------------------------------------------------------------------------------------
@functools.cache
def constraints_address(planar: bool) -> int:
    """Return the address of the emitted rows of a space, compiled at first use."""
    from importlib import import_module

    package = __name__.partition(".")[0]
    module = import_module(f"{package}.generated.joints.{'planar' if planar else 'spatial'}")
    words = ("CPointer(int64)", *["CPointer(float64)"] * 2, "int64", "int64", *["CPointer(float64)"] * 5)
    return int(cfunc(f"int64({', '.join(words)})", **CALLED)(module.at_addresses).address)


@functools.cache
def driving_address() -> int:
    """Return the address of what evaluates the drivers."""
    return int(cfunc("int64(CPointer(int64))", **CALLED)(_drive).address)


@functools.cache
def touching_address() -> int:
    """Return the address of what finds the contacts of cams."""
    return int(cfunc("int64(CPointer(int64))", **CALLED)(_touch).address)
