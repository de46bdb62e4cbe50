"""Items that write results: points, angles, displacements, rotations, straight from the rows into users' arrays.

They have the signature of all items. The first three entries of a table are the places in out, outdot and outddot at
which the result begins; behind the integers of a call stand the lanes that are asked for. A combination is written as
its number of terms, then row and place of the factor of each. Imported only where something runs: it loads Numba.
"""

from __future__ import annotations

import numpy as np
from numba import carray, njit

from ..common.turns import LARGEST_MISS, LARGEST_WAY
from .items import begun, next_to, way
from .sequencer import CALL_SIZE, FAR, INTERNAL, ORDERS, STRIDE
from .sources import dated

# in the place ORDERS of a call: positions alone; the components of a point one behind the other, not side by side, each
# from a whole number of eights on
ALONE, APART = 1, 4


@njit(**INTERNAL)
@dated
def component(item, e, numbers, q, n, k):  # type: ignore[no-untyped-def]
    """The value of the combination at item[e] in lane k."""
    total = 0.0
    for j in range(item[e]):
        total += numbers[item[e + 2 + 2 * j]] * q[item[e + 1 + 2 * j] * n + k]
    return total


@njit(**INTERNAL)
@dated
def behind(item, e, count):  # type: ignore[no-untyped-def]
    """Where what follows `count` combinations begins."""
    for _ in range(count):
        e += 1 + 2 * item[e]
    return e


@njit(**INTERNAL)
@dated
def term(item, e, j, numbers, n, begin):  # type: ignore[no-untyped-def]
    """Row and factor of term j of the combination at item[e]; where there is none, the first with the factor zero."""
    if j < item[e]:
        return np.uint64(item[e + 1 + 2 * j] * n) + begin, numbers[item[e + 2 + 2 * j]]
    return np.uint64(item[e + 1] * n) + begin, 0.0


@njit(**INTERNAL)
@dated
def write_plane(item, e, f, numbers, q, n, call, first, last, out, at):  # type: ignore[no-untyped-def]
    """Write two components of at most four terms each at asked lanes that follow each other."""
    begin, o, two = np.uint64(call[CALL_SIZE + first] - first), np.uint64(at), np.uint64(2)
    x0, a0 = term(item, e, 0, numbers, n, begin)
    y0, b0 = term(item, f, 0, numbers, n, begin)
    if item[e] == 1 and item[f] == 1:
        for i in range(np.uint64(first), np.uint64(last)):
            out[o + two * i] = a0 * q[x0 + i]
            out[o + two * i + np.uint64(1)] = b0 * q[y0 + i]
        return
    x1, a1 = term(item, e, 1, numbers, n, begin)
    x2, a2 = term(item, e, 2, numbers, n, begin)
    x3, a3 = term(item, e, 3, numbers, n, begin)
    y1, b1 = term(item, f, 1, numbers, n, begin)
    y2, b2 = term(item, f, 2, numbers, n, begin)
    y3, b3 = term(item, f, 3, numbers, n, begin)
    for i in range(np.uint64(first), np.uint64(last)):
        out[o + two * i] = (a0 * q[x0 + i] + a1 * q[x1 + i]) + (a2 * q[x2 + i] + a3 * q[x3 + i])
        out[o + two * i + np.uint64(1)] = (b0 * q[y0 + i] + b1 * q[y1 + i]) + (b2 * q[y2 + i] + b3 * q[y3 + i])


@njit(**INTERNAL)
@dated
def write_one(item, e, numbers, q, n, call, first, last, out, at, width):  # type: ignore[no-untyped-def]
    """Write one component at asked lanes that follow each other, `width` apart, four terms at a time."""
    begin, o, w = np.uint64(call[CALL_SIZE + first] - first), np.uint64(at), np.uint64(width)
    x0, a0 = term(item, e, 0, numbers, n, begin)
    x1, a1 = term(item, e, 1, numbers, n, begin)
    x2, a2 = term(item, e, 2, numbers, n, begin)
    x3, a3 = term(item, e, 3, numbers, n, begin)
    for i in range(np.uint64(first), np.uint64(last)):
        out[o + w * i] = (a0 * q[x0 + i] + a1 * q[x1 + i]) + (a2 * q[x2 + i] + a3 * q[x3 + i])
    for j in range(4, item[e]):
        x0, a0 = term(item, e, j, numbers, n, begin)
        for i in range(np.uint64(first), np.uint64(last)):
            out[o + w * i] += a0 * q[x0 + i]


@njit(**INTERNAL)
@dated
def write_row(item, e, numbers, q, n, call, first, last, out, at):  # type: ignore[no-untyped-def]
    """Write one component of at most four terms at asked lanes that follow each other, side by side."""
    begin, o = np.uint64(call[CALL_SIZE + first] - first), np.uint64(at)
    x0, a0 = term(item, e, 0, numbers, n, begin)
    x1, a1 = term(item, e, 1, numbers, n, begin)
    x2, a2 = term(item, e, 2, numbers, n, begin)
    x3, a3 = term(item, e, 3, numbers, n, begin)
    for i in range(np.uint64(first), np.uint64(last)):
        out[o + i] = (a0 * q[x0 + i] + a1 * q[x1 + i]) + (a2 * q[x2 + i] + a3 * q[x3 + i])


@njit(**INTERNAL)
@dated
def write_components(item, width, numbers, q, n, call, first, last, out, at):  # type: ignore[no-untyped-def]
    """Write the combinations from item[4] on at all asked lanes."""
    whole = call[CALL_SIZE + last - 1] - call[CALL_SIZE + first] == last - 1 - first
    e, apart = 4, call[ORDERS] & APART != 0
    if whole and width == 2 and not apart:
        f = behind(item, e, 1)
        if 0 < item[e] <= 4 and 0 < item[f] <= 4:
            write_plane(item, e, f, numbers, q, n, call, first, last, out, at)
            return
    for c in range(width):
        place, step = (at + c * ((last + 7) // 8 * 8), 1) if apart else (at + c, width)
        if whole and apart and 0 < item[e] <= 4:
            write_row(item, e, numbers, q, n, call, first, last, out, place)
        elif whole and item[e] > 0:
            write_one(item, e, numbers, q, n, call, first, last, out, place, step)
        else:
            for i in range(first, last):
                out[place + i * step] = component(item, e, numbers, q, n, call[CALL_SIZE + i])
        e = behind(item, e, 1)


def write_rows(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Combinations of rows with their rates. item: places, number of components, the combinations."""
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    q, qdot, qddot = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    n, width = call[STRIDE], item[3]
    write_components(item, width, numbers, q, n, call, first, last, out, item[0])
    if call[ORDERS] & 3 == ALONE:
        return 0
    write_components(item, width, numbers, qdot, n, call, first, last, outdot, item[1])
    write_components(item, width, numbers, qddot, n, call, first, last, outddot, item[2])
    return 0


@njit(**INTERNAL)
@dated
def whole_turns(item, numbers, q, n, k, value):  # type: ignore[no-untyped-def]
    """What whole turns add to an angle at the first lane: next to its driver, or so that it starts in (-π, π].

    item[3:6]: row of the driver (-1: none), sign, place of what to add to the driver's value.
    """
    if value - value != 0.0:
        return 0.0
    if item[3] >= 0:
        return next_to(value, item[4] * q[item[3] * n + k] + numbers[item[5]]) - value
    return begun(value) - value


def write_angle(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """The angle of a planar body relative to another. item: places, driver, place of what to add, rows of both angles.

    A row below zero is the frame, which stands still.
    """
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    q, qdot, qddot = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    n, shift = call[STRIDE], numbers[item[6]]
    start = shift + (q[item[8] * n] if item[8] >= 0 else 0.0) - (q[item[7] * n] if item[7] >= 0 else 0.0)
    shift += whole_turns(item, numbers, q, n, 0, start)
    write_difference(item[8], item[7], shift, q, n, call, first, last, out, item[0])
    write_difference(item[8], item[7], 0.0, qdot, n, call, first, last, outdot, item[1])
    write_difference(item[8], item[7], 0.0, qddot, n, call, first, last, outddot, item[2])
    return 0


@njit(**INTERNAL)
@dated
def write_difference(row, other, shift, q, n, call, first, last, out, at):  # type: ignore[no-untyped-def]
    """Write the difference of two rows (of which one may be missing: below zero) plus a number at the asked lanes."""
    whole = call[CALL_SIZE + last - 1] - call[CALL_SIZE + first] == last - 1 - first
    begin, o = np.uint64(call[CALL_SIZE + first] - first), np.uint64(at)
    f, g = (1.0 if row >= 0 else 0.0), (1.0 if other >= 0 else 0.0)
    a, b = np.uint64(max(row, 0) * n), np.uint64(max(other, 0) * n)
    if whole and other < 0:
        for i in range(np.uint64(first), np.uint64(last)):
            out[o + i] = q[a + begin + i] + shift
    elif whole and row >= 0:
        for i in range(np.uint64(first), np.uint64(last)):
            out[o + i] = q[a + begin + i] - q[b + begin + i] + shift
    else:
        for i in range(first, last):
            k = np.uint64(call[CALL_SIZE + i])
            out[at + i] = f * q[a + k] - g * q[b + k] + shift


def write_displacement(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Distance along an axis: u·r with rates. item: places, dimension, components of the axis, then of the way."""
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    q, qdot, qddot = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    n, d = call[STRIDE], item[3]
    way = behind(item, 4, d)
    for i in range(first, last):
        k = call[CALL_SIZE + i]
        value = rate = bend = 0.0
        e, w = 4, way
        for _ in range(d):
            u, r = component(item, e, numbers, q, n, k), component(item, w, numbers, q, n, k)
            ud, rd = component(item, e, numbers, qdot, n, k), component(item, w, numbers, qdot, n, k)
            udd, rdd = component(item, e, numbers, qddot, n, k), component(item, w, numbers, qddot, n, k)
            value += u * r
            rate += ud * r + u * rd
            bend += udd * r + 2.0 * ud * rd + u * rdd
            e, w = behind(item, e, 1), behind(item, w, 1)
        out[item[0] + i], outdot[item[1] + i], outddot[item[2] + i] = value, rate, bend
    return 0


@njit(**INTERNAL)
@dated
def vector(item, e, numbers, q, n, k):  # type: ignore[no-untyped-def]
    """Three components at item[e]."""
    f = behind(item, e, 1)
    g = behind(item, f, 1)
    x, y = component(item, e, numbers, q, n, k), component(item, f, numbers, q, n, k)
    return x, y, component(item, g, numbers, q, n, k)


@njit(**INTERNAL)
@dated
def spin(item, e, numbers, q, rates, n, k):  # type: ignore[no-untyped-def]
    """Half the sum of axis × rate over three axes at item[e], with the rates of either order: ω, or α."""
    w0 = w1 = w2 = 0.0
    for _ in range(3):
        f = behind(item, e, 1)
        g = behind(item, f, 1)
        a0, a1, a2 = vector(item, e, numbers, q, n, k)
        d0, d1, d2 = vector(item, e, numbers, rates, n, k)
        w0 += a1 * d2 - a2 * d1
        w1 += a2 * d0 - a0 * d2
        w2 += a0 * d1 - a1 * d0
        e = behind(item, g, 1)
    return 0.5 * w0, 0.5 * w1, 0.5 * w2


def write_turning(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """Rotation (3 x 3, its columns the axes), ω and α of a spatial body. item: places, components of three axes."""
    item, numbers, call = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR)
    q, qdot, qddot = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    n = call[STRIDE]
    for i in range(first, last):
        k = call[CALL_SIZE + i]
        e = 3
        for axis in range(3):
            for c in range(3):
                out[item[0] + 9 * i + 3 * c + axis] = component(item, e, numbers, q, n, k)
                e = behind(item, e, 1)
        at = item[1] + 3 * i
        outdot[at], outdot[at + 1], outdot[at + 2] = spin(item, 3, numbers, q, qdot, n, k)
        at = item[2] + 3 * i
        outddot[at], outddot[at + 1], outddot[at + 2] = spin(item, 3, numbers, q, qddot, n, k)
    return 0


def write_spatial_angle(  # type: ignore[no-untyped-def]
    item_at, numbers_at, changes_at, signs_at, t_at, q_at, qdot_at, qddot_at,
    out_at, outdot_at, outddot_at, call_at, first, last, work_at
):  # fmt: skip
    """The angle of a spatial joint. item: places, driver, axis and normals, axes of the first and the second body.

    Returns the number of lanes too far from the one before them.
    """
    item, numbers, call, t = carray(item_at, FAR), carray(numbers_at, FAR), carray(call_at, FAR), carray(t_at, FAR)
    q, qdot, qddot = carray(q_at, FAR), carray(qdot_at, FAR), carray(qddot_at, FAR)
    out, outdot, outddot = carray(out_at, FAR), carray(outdot_at, FAR), carray(outddot_at, FAR)
    n, axis = call[STRIDE], 6
    one = behind(item, axis, 3)
    two = behind(item, one, 3)
    first_body = behind(item, two, 3)
    second_body = behind(item, first_body, 9)
    angle, before, bend_before, shift = 0.0, 0.0, 0.0, 0.0
    i, coarse = 0, 0
    for k in range(call[CALL_SIZE + last - 1] + 1):
        u0, u1, u2 = vector(item, axis, numbers, q, n, k)
        a0, a1, a2 = vector(item, one, numbers, q, n, k)
        b0, b1, b2 = vector(item, two, numbers, q, n, k)
        sine = u0 * (a1 * b2 - a2 * b1) + u1 * (a2 * b0 - a0 * b2) + u2 * (a0 * b1 - a1 * b0)
        value = np.arctan2(sine, a0 * b0 + a1 * b1 + a2 * b2)
        v0, v1, v2 = spin(item, first_body, numbers, q, qdot, n, k)
        w0, w1, w2 = spin(item, second_body, numbers, q, qdot, n, k)
        w0, w1, w2 = w0 - v0, w1 - v1, w2 - v2
        rate = u0 * w0 + u1 * w1 + u2 * w2
        v0, v1, v2 = spin(item, first_body, numbers, q, qddot, n, k)
        c0, c1, c2 = spin(item, second_body, numbers, q, qddot, n, k)
        d0, d1, d2 = vector(item, axis, numbers, qdot, n, k)
        bend = u0 * (c0 - v0) + u1 * (c1 - v1) + u2 * (c2 - v2) + d0 * w0 + d1 * w1 + d2 * w2
        if k == 0:
            angle, shift = value, whole_turns(item, numbers, q, n, k, value)
        else:
            dt = t[k] - t[k - 1]
            far = way(dt, before, bend_before, rate, bend)
            far = far if far - far == 0.0 else 0.0
            ahead = angle + far
            angle = next_to(value, ahead)
            fastest = dt * max(abs(before), abs(rate))
            if abs(angle - ahead) > LARGEST_MISS or abs(far) > LARGEST_WAY or fastest > LARGEST_WAY:
                coarse += 1
        before, bend_before = rate, bend
        if k == call[CALL_SIZE + i]:
            out[item[0] + i], outdot[item[1] + i], outddot[item[2] + i] = angle + shift, rate, bend
            i += 1
    return coarse
