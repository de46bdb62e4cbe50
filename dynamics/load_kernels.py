"""Compiled loads and rates of candidate coordinates: all from vectors that are linear in the rows.

A point, an axis or the way between two points is a linear combination of rows of the state, component by component,
and so are its rates and its entries of R. So a force on a point is a force on rows, and no pose is ever formed.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import carray, cfunc, njit

from ..runtime.items import next_to
from . import array_heads as chain

FORCE, TORQUE, SPRING, TORSION = range(4)
ANGULAR, LINEAR = range(2)
LOAD_SIZE = 10

FAR = 1 << 40
SIGNATURE = "int64(CPointer(int64), CPointer(float64))"
CALLED: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}
OPTIONS = {**CALLED, "no_cfunc_wrapper": True, "no_cpython_wrapper": True, "_nrt": False}


@njit(**OPTIONS)
@chain.dated
def component(ints, x, v, c, order):  # type: ignore[no-untyped-def]
    """Component c of the vector v; order 0, 1, 2: value, rate, c; 3 + j: column j of R."""
    e, o = v + 3 * c, order * ints[chain.ROWS]
    terms, count, factors = ints[e], ints[e + 1], ints[e + 2]
    total = 0.0
    for k in range(count):
        total += x[factors + k] * x[ints[terms + k] + o]
    return total


@njit(**OPTIONS)
@chain.dated
def dot(ints, x, v, order, w, other):  # type: ignore[no-untyped-def]
    total = 0.0
    for c in range(ints[chain.DIMENSION]):
        total += component(ints, x, v, c, order) * component(ints, x, w, c, other)
    return total


@njit(**OPTIONS)
@chain.dated
def spin(ints, x, body, n0, n1, n2, order):  # type: ignore[no-untyped-def]
    """Angular velocity of a body about a direction (ignored in the plane); `body` is (number of axes, vectors).

    ω is axis × its rate, for one axis (in the plane, and for rods), and half the sum of these for three.
    """
    if ints[chain.DIMENSION] == 2:
        e = ints[body + 1]
        ex, ey = component(ints, x, e, 0, 0), component(ints, x, e, 1, 0)
        return ex * component(ints, x, e, 1, order) - ey * component(ints, x, e, 0, order)
    total, count = 0.0, ints[body]
    for k in range(count):
        e = ints[body + 1 + k]
        a0, a1, a2 = component(ints, x, e, 0, 0), component(ints, x, e, 1, 0), component(ints, x, e, 2, 0)
        d0, d1 = component(ints, x, e, 0, order), component(ints, x, e, 1, order)
        d2 = component(ints, x, e, 2, order)
        total += n0 * (a1 * d2 - a2 * d1) + n1 * (a2 * d0 - a0 * d2) + n2 * (a0 * d1 - a1 * d0)
    return 0.5 * total if count == 3 else total


@njit(**OPTIONS)
@chain.dated
def pair(ints, x, v, w, order):  # type: ignore[no-untyped-def]
    """The rate of the product of two vectors."""
    return dot(ints, x, v, order, w, 0) + dot(ints, x, v, 0, w, order)


@njit(**OPTIONS)
@chain.dated
def angular(ints, x, o, order):  # type: ignore[no-untyped-def]
    """The rate of a joint's angle; at o + 1 to o + 3 two perpendicular directions of the first body, one of the second.

    Of the second body's direction they see the cosine and the sine of the angle.
    """
    u, w, v = ints[o + 1], ints[o + 2], ints[o + 3]
    c, s = dot(ints, x, u, 0, v, 0), dot(ints, x, w, 0, v, 0)
    return (c * pair(ints, x, w, v, order) - s * pair(ints, x, u, v, order)) / (c * c + s * s)


@njit(**OPTIONS)
@chain.dated
def turn(ints, x, o):  # type: ignore[no-untyped-def]
    """The angle of a joint with a torsion spring: of all values the one next to its prediction."""
    u, w, v, place = ints[o + 1], ints[o + 2], ints[o + 3], ints[o + 9]
    angle = np.arctan2(dot(ints, x, w, 0, v, 0), dot(ints, x, u, 0, v, 0))
    ahead = x[place] + (x[chain.TIME] - x[chain.BASE_TIME]) * x[place + 1]
    return next_to(angle, ahead)


@njit(**OPTIONS)
@chain.dated
def candidate_rate(ints, x, i, order):  # type: ignore[no-untyped-def]
    """The rate of a joint coordinate, order as for components."""
    o = ints[chain.CANDIDATE_AT] + 4 * i
    if ints[o] == LINEAR:  # axis of the first body times the way from its line to the point
        return pair(ints, x, ints[o + 1], ints[o + 2], order)
    return angular(ints, x, o, order)


@chain.dated
def _add(ints_at, x_at):  # type: ignore[no-untyped-def]
    """Add Rᵀ Q of the forces, torques, springs, dampers and torsion springs."""
    ints, x = carray(ints_at, FAR), carray(x_at, FAR)
    f, h, d = ints[chain.FREE], ints[chain.VECTOR], ints[chain.DIMENSION]
    for i in range(ints[chain.LOADS]):
        o = ints[chain.LOAD_AT] + LOAD_SIZE * i
        kind = ints[o]
        if kind == FORCE:
            for c in range(d):
                value = x[ints[chain.VALUES] + 3 * ints[o + 2 + c]]
                for j in range(f):
                    x[h + j] += value * component(ints, x, ints[o + 1], c, 3 + j)
        elif kind == TORQUE:
            n0, n1, n2 = x[ints[chain.VALUES] + 3 * ints[o + 2]], 0.0, 0.0
            if d == 3:
                n1, n2 = x[ints[chain.VALUES] + 3 * ints[o + 3]], x[ints[chain.VALUES] + 3 * ints[o + 4]]
            for j in range(f):
                power = spin(ints, x, ints[o + 1], n0, n1, n2, 3 + j)
                x[h + j] += power if d == 3 else n0 * power
        elif kind == SPRING:
            way, numbers = ints[o + 1], ints[o + 8]
            length = np.sqrt(dot(ints, x, way, 0, way, 0))
            if length > 0.0:
                rate = dot(ints, x, way, 0, way, 1) / length
                tension = x[numbers] * (length - x[numbers + 1]) + x[numbers + 2] * rate
                for j in range(f):
                    x[h + j] -= tension * dot(ints, x, way, 0, way, 3 + j) / length
        else:
            numbers = ints[o + 8]
            angle, rate = turn(ints, x, o), angular(ints, x, o, 1)
            torque = -(x[numbers] * (angle - x[numbers + 1]) + x[numbers + 2] * rate)
            for j in range(f):
                x[h + j] += torque * angular(ints, x, o, 3 + j)
    return 0


@chain.dated
def _follow(ints_at, x_at):  # type: ignore[no-untyped-def]
    """Follow the turns of torsion springs to an accepted state, before the base of predictions is renewed."""
    ints, x = carray(ints_at, FAR), carray(x_at, FAR)
    for i in range(ints[chain.LOADS]):
        o = ints[chain.LOAD_AT] + LOAD_SIZE * i
        if ints[o] == TORSION:
            angle = turn(ints, x, o)
            x[ints[o + 9]], x[ints[o + 9] + 1] = angle, angular(ints, x, o, 1)
    return 0


@functools.cache
def adding() -> Any:
    """Return the compiled function that adds all loads."""
    return cfunc(SIGNATURE, **CALLED)(_add)


@functools.cache
def following() -> Any:
    """Return the compiled function that follows the turns of torsion springs."""
    return cfunc(SIGNATURE, **CALLED)(_follow)
