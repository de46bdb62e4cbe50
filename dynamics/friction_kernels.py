"""Dry friction of joints in absolute coordinates, compiled, one lane: from the multipliers of their rows.

Imported only where it runs, because it loads Numba. `laws` holds for each joint with friction coefficient times lever,
speed, the last known force across its coordinate, and the effort that stands in the wrenches now; see `joint_friction`.
"""

from __future__ import annotations

import math

from numba import njit

from ..codegen import joint_codes as code
from ..runtime.sources import dated
from .joint_kernels import INTERNAL

FACTOR, SPEED, FORCE, EFFORT, LAW_SIZE = range(5)


@njit(**INTERNAL)
@dated
def _carried(bodies, k, x, y, z):  # type: ignore[no-untyped-def]
    """A vector of a body in global axes."""
    if bodies.shape[1] == code.BODY2:
        c, s = bodies[k, 3], bodies[k, 4]
        return c * x - s * y, s * x + c * y, 0.0
    return (bodies[k, 3] * x + bodies[k, 4] * y + bodies[k, 5] * z,
            bodies[k, 6] * x + bodies[k, 7] * y + bodies[k, 8] * z,
            bodies[k, 9] * x + bodies[k, 10] * y + bodies[k, 11] * z)  # fmt: skip


@njit(**INTERNAL)
@dated
def _motion(bodies, k):  # type: ignore[no-untyped-def]
    """Place, velocity and angular velocity of a body, in the plane with zeros."""
    if bodies.shape[1] == code.BODY2:
        return (bodies[k, 0], bodies[k, 1], 0.0), (bodies[k, 5], bodies[k, 6], 0.0), (0.0, 0.0, bodies[k, 7])
    return ((bodies[k, 0], bodies[k, 1], bodies[k, 2]), (bodies[k, 12], bodies[k, 13], bodies[k, 14]),
            (bodies[k, 15], bodies[k, 16], bodies[k, 17]))  # fmt: skip


@njit(**INTERNAL)
@dated
def _cross(a, b):  # type: ignore[no-untyped-def]
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(**INTERNAL)
@dated
def _push(wrench, k, force, moment, factor):  # type: ignore[no-untyped-def]
    """Add a force and a moment about the centre of a body."""
    if wrench.shape[1] == 3:
        wrench[k, 0] += factor * force[0]
        wrench[k, 1] += factor * force[1]
        wrench[k, 2] += factor * moment[2]
        return
    for c in range(3):
        wrench[k, c] += factor * force[c]
        wrench[k, 3 + c] += factor * moment[c]


@njit(**INTERNAL)
@dated
def brake(items, numbers, bodies, lines, laws, wrench):  # type: ignore[no-untyped-def]
    """Put the friction that follows from the last known forces into the wrenches, in place of what stands there."""
    planar = bodies.shape[1] == code.BODY2
    for m in range(len(lines)):
        e = lines[m]
        one, two, number = items[e, code.FIRST], items[e, code.SECOND], numbers[e]
        place1, v1, w1 = _motion(bodies, one)
        place2, v2, w2 = _motion(bodies, two)
        hinge = items[e, code.KIND] == code.R2 or items[e, code.KIND] == code.R3
        at = code.AXIS_A
        u = (0.0, 0.0, 1.0)
        if not (planar and hinge):
            u = _carried(bodies, one, number[at], number[at + 1], number[at + 2])
        if hinge:
            rate = (w2[0] - w1[0]) * u[0] + (w2[1] - w1[1]) * u[1] + (w2[2] - w1[2]) * u[2]
        else:
            arm2 = _carried(bodies, two, number[code.B], number[code.B + 1], number[code.B + 2])
            arm1 = (place2[0] + arm2[0] - place1[0], place2[1] + arm2[1] - place1[1], place2[2] + arm2[2] - place1[2])
            c1, c2 = _cross(w1, arm1), _cross(w2, arm2)
            rate = 0.0
            for c in range(3):
                rate += u[c] * (v2[c] + c2[c] - v1[c] - c1[c])
        effort = -laws[m, FACTOR] * laws[m, FORCE] * math.tanh(rate / laws[m, SPEED])
        more = effort - laws[m, EFFORT]
        laws[m, EFFORT] = effort
        if hinge:
            zero = (0.0, 0.0, 0.0)
            _push(wrench, two, zero, u, more)
            _push(wrench, one, zero, u, -more)
        else:
            _push(wrench, two, u, _cross(arm2, u), more)
            _push(wrench, one, u, _cross(arm1, u), -more)


@njit(**INTERNAL)
@dated
def note_forces(items, lines, laws, multipliers, scales, weight):  # type: ignore[no-untyped-def]
    """Keep the forces across the coordinates, from the scaled multipliers; by how much they changed, and their size."""
    change, largest = 0.0, 0.0
    for m in range(len(lines)):
        e = lines[m]
        kind, row = items[e, code.KIND], items[e, code.ROW]
        count = 3 if kind == code.R3 else 1 if kind == code.P2 else 2
        square = 0.0
        for i in range(row, row + count):
            square += (multipliers[i] * weight / scales[i]) ** 2
        force = math.sqrt(square)
        change = max(change, abs(force - laws[m, FORCE]))
        largest = max(largest, force)
        laws[m, FORCE] = force
    return change, largest
