"""Compiled joints over lanes: their rows as wrenches.

Imported only where it runs, because it loads Numba. A row of a joint or driver is a wrench that its multiplier exerts
on the second body at the joint's point: a force e and a couple m (planar: ex, ey, m; spatial: six components); the
first body feels the opposite. `items` (integers) and `numbers` hold one line per joint or driver, see `joint_lanes`.
Arrays of bodies are those of `body_kernels`. Lanes are taken in blocks, the innermost loops run over a block.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ..codegen.joint_codes import (
    AXIS_A,
    AXIS_B,
    C3,
    CAM2,
    DISTANCE3,
    FIRST,
    FLAT2,
    GEAR2,
    GEAR3,
    GIVEN,
    H3,
    KIND,
    NORMAL_A,
    NORMAL_B,
    NUMBER,
    ON_CYLINDER3,
    ON_FIRST,
    ON_PLANE3,
    ON_THIRD,
    P2,
    P3,
    PLANAR3,
    R2,
    R3,
    RACK2,
    ROW,
    ROWS,
    S3,
    SECOND,
    SLIDE2,
    SLIDE3,
    SLOT2,
    SPIN3,
    THIRD,
    TURN2,
    TURN3,
    U3,
    A,
    B,
)  # fmt: skip
from ..runtime.sources import dated

# Lanes are counted by unsigned numbers: a signed one might count from the end, which hinders vectors.
OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}


# ---- rows ---------------------------------------------------------------------------------------------------------
@njit(**OPTIONS)
@dated
def _point(item, number, origin, rotation, lo, count, point):  # type: ignore[no-untyped-def]
    """The place of a joint: b on the second body, of a rack the pinion's centre on the first."""
    rack = item[KIND] == RACK2
    k, at = (item[FIRST], A) if rack else (item[SECOND], B)
    for c in range(origin.shape[2]):
        out, o = point[c], origin[0, k, c]
        for i in range(np.uint64(count)):
            out[i] = o[np.uint64(lo) + i]
        for j in range(origin.shape[2]):
            local, R = number[at + j], rotation[k, c, j]
            if local != 0.0:
                for i in range(np.uint64(count)):
                    out[i] += local * R[np.uint64(lo) + i]


@njit(**OPTIONS)
@dated
def _planar_rows(item, number, origin, rotation, given, lo, count, point, rows):  # type: ignore[no-untyped-def]
    """Write the rows of one planar item (rows x 3 x lane) and its point (2 x lane)."""
    kind, k, n, here = item[KIND], item[FIRST], item[SECOND], np.uint64(lo)
    _point(item, number, origin, rotation, lo, count, point)
    for r in range(item[ROWS]):
        for c in range(rows.shape[1]):
            for i in range(np.uint64(count)):
                rows[r, c, i] = 0.0
    if kind == R2:
        for i in range(np.uint64(count)):
            rows[0, 0, i] = rows[1, 1, i] = 1.0
    elif kind in (P2, SLOT2, SLIDE2):
        at = AXIS_A if kind == SLIDE2 else NORMAL_A
        x, y, c, s = number[at], number[at + 1], rotation[k, 0, 0], rotation[k, 1, 0]
        for i in range(np.uint64(count)):
            rows[0, 0, i], rows[0, 1, i] = c[here + i] * x - s[here + i] * y, s[here + i] * x + c[here + i] * y
        if kind == P2:
            for i in range(np.uint64(count)):
                rows[1, 2, i] = 1.0
    elif kind in (GEAR2, TURN2):
        for i in range(np.uint64(count)):
            rows[0, 2, i] = 1.0
    elif kind == RACK2:
        x, y, c, s = number[AXIS_B], number[AXIS_B + 1], rotation[n, 0, 0], rotation[n, 1, 0]
        for i in range(np.uint64(count)):
            rows[0, 0, i], rows[0, 1, i] = s[here + i] * y - c[here + i] * x, -s[here + i] * x - c[here + i] * y
            rows[0, 2, i] = -number[NUMBER]
    elif kind in (CAM2, FLAT2):
        for c in range(3):
            for i in range(np.uint64(count)):
                rows[0, c, i] = given[item[GIVEN], c, here + i]
    else:
        x, y, c, s = number[A], number[A + 1], rotation[k, 0, 0], rotation[k, 1, 0]
        for i in range(np.uint64(count)):
            dx = point[0, i] - origin[0, k, 0, here + i] - c[here + i] * x + s[here + i] * y
            dy = point[1, i] - origin[0, k, 1, here + i] - s[here + i] * x - c[here + i] * y
            length = np.sqrt(dx * dx + dy * dy)
            scale = 1.0 / length if length > 0.0 else 0.0
            rows[0, 0, i], rows[0, 1, i] = dx * scale, dy * scale


@njit(**OPTIONS)
@dated
def _turned(rotation, k, local, lane):  # type: ignore[no-untyped-def]
    x, y, z, R = local[0], local[1], local[2], rotation[k]
    return (R[0, 0, lane] * x + R[0, 1, lane] * y + R[0, 2, lane] * z,
            R[1, 0, lane] * x + R[1, 1, lane] * y + R[1, 2, lane] * z,
            R[2, 0, lane] * x + R[2, 1, lane] * y + R[2, 2, lane] * z)  # fmt: skip


@njit(**OPTIONS)
@dated
def _cross(a, b):  # type: ignore[no-untyped-def]
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(**OPTIONS)
@dated
def _set(row, i, v, factor):  # type: ignore[no-untyped-def]
    row[0, i], row[1, i], row[2, i] = factor * v[0], factor * v[1], factor * v[2]


@njit(**OPTIONS)
@dated
def _turn_couple(normal, binormal, other):  # type: ignore[no-untyped-def]
    """The couple on the second body that does work on the turn of `other` against normal and binormal."""
    c = normal[0] * other[0] + normal[1] * other[1] + normal[2] * other[2]
    s = binormal[0] * other[0] + binormal[1] * other[1] + binormal[2] * other[2]
    x, y, square = _cross(normal, other), _cross(binormal, other), c * c + s * s
    return ((s * x[0] - c * y[0]) / square, (s * x[1] - c * y[1]) / square, (s * x[2] - c * y[2]) / square)


@njit(**OPTIONS)
@dated
def _spatial_rows(item, number, origin, rotation, lo, count, point, rows):  # type: ignore[no-untyped-def]
    """Write the rows of one spatial item (rows x 6 x lane) and its point (3 x lane)."""
    kind, k, n = item[KIND], item[FIRST], item[SECOND]
    _point(item, number, origin, rotation, lo, count, point)
    for r in range(item[ROWS]):
        for c in range(rows.shape[1]):
            for i in range(np.uint64(count)):
                rows[r, c, i] = 0.0
    if kind == GEAR3:
        own_row(item, number, rotation, np.int64(1), lo, count, rows[0])
        return
    r = 0
    if kind in (R3, S3, U3):
        for c in range(3):
            for i in range(np.uint64(count)):
                rows[c, c, i] = 1.0
        r = 3
        if kind == S3:
            return
    for i in range(np.uint64(count)):
        lane = np.uint64(lo) + i
        if kind == SPIN3:
            _set(rows[0, 3:], i, _turned(rotation, n, number[AXIS_B:], lane), 1.0)
            continue
        if kind == DISTANCE3:
            a = _turned(rotation, k, number[A:], lane)
            x = point[0, i] - origin[0, k, 0, lane] - a[0]
            y = point[1, i] - origin[0, k, 1, lane] - a[1]
            z = point[2, i] - origin[0, k, 2, lane] - a[2]
            length = np.sqrt(x * x + y * y + z * z)
            _set(rows[0, 0:], i, (x, y, z), 1.0 / length if length > 0.0 else 0.0)
            continue
        axis = _turned(rotation, k, number[AXIS_A:], lane)
        if kind in (SLIDE3, ON_PLANE3):
            _set(rows[0, 0:], i, axis, 1.0)
            continue
        if kind == ON_CYLINDER3:
            a = _turned(rotation, k, number[A:], lane)
            x = point[0, i] - origin[0, k, 0, lane] - a[0]
            y = point[1, i] - origin[0, k, 1, lane] - a[1]
            z = point[2, i] - origin[0, k, 2, lane] - a[2]
            along = x * axis[0] + y * axis[1] + z * axis[2]
            x, y, z = x - along * axis[0], y - along * axis[1], z - along * axis[2]
            length = np.sqrt(x * x + y * y + z * z)
            _set(rows[0, 0:], i, (x, y, z), 1.0 / length if length > 0.0 else 0.0)
            continue
        other = _turned(rotation, n, number[AXIS_B:], lane)
        if kind == U3:
            _set(rows[3, 3:], i, _cross(axis, other), -1.0)
            continue
        normal = _turned(rotation, k, number[NORMAL_A:], lane)
        binormal = _cross(axis, normal)
        if kind == TURN3:
            _set(rows[0, 3:], i, _turn_couple(normal, binormal, _turned(rotation, n, number[NORMAL_B:], lane)), 1.0)
            continue
        if kind in (P3, C3, H3):
            _set(rows[0, 0:], i, normal, 1.0)
            _set(rows[1, 0:], i, binormal, 1.0)
            r = 2
        elif kind == PLANAR3:
            _set(rows[0, 0:], i, axis, 1.0)
            r = 1
        _set(rows[r, 3:], i, _cross(normal, other), -1.0)
        _set(rows[r + 1, 3:], i, _cross(binormal, other), -1.0)
        if kind == P3:
            _set(rows[4, 3:], i, _cross(binormal, _turned(rotation, n, number[NORMAL_B:], lane)), -1.0)
        elif kind == H3:
            couple = _turn_couple(normal, binormal, _turned(rotation, n, number[NORMAL_B:], lane))
            _set(rows[4, 0:], i, axis, 1.0)
            _set(rows[4, 3:], i, couple, -number[NUMBER])


@njit(**OPTIONS)
@dated
def own_row(item, number, rotation, role, lo, count, row):  # type: ignore[no-untyped-def]
    """Write what the body of a role feels of a gear in space (6 x lane): a couple about its own axis on the carrier.

    The wheels feel u2 and -i u1, the carrier the rest. Axes of bearings are held, so that the rates of the turns are
    those about the axes. Every other joint has one wrench for all its bodies, see `shared`: then nothing is written.
    """
    if item[KIND] != GEAR3:
        return False
    carrier = item[THIRD]
    for i in range(np.uint64(count)):
        for c in range(3):
            row[c, i] = 0.0
        one, two = (
            _turned(rotation, carrier, number[AXIS_A:], np.uint64(lo) + i),
            _turned(rotation, carrier, number[AXIS_B:], np.uint64(lo) + i),
        )
        f, g = (-number[NUMBER], 0.0) if role == 0 else (0.0, 1.0) if role == 1 else (number[NUMBER], -1.0)
        for c in range(3):
            row[3 + c, i] = f * one[c] + g * two[c]
    return True


@njit(**OPTIONS)
@dated
def item_rows(item, number, origin, rotation, given, lo, count, point, rows):  # type: ignore[no-untyped-def]
    """Write the rows of one item; of which space tells the type of `given`: the others are not compiled."""
    if given.ndim == 3:
        _planar_rows(item, number, origin, rotation, given, lo, count, point, rows)
    else:
        _spatial_rows(item, number, origin, rotation, lo, count, point, rows)


@njit(**OPTIONS)
@dated
def shared(item, number, role):  # type: ignore[no-untyped-def]
    """The body of a role (0 to 2) and the part of the wrench that it feels; -1 where there is none."""
    if role == 0:
        return item[FIRST], number[ON_FIRST]
    if role == 1:
        return item[SECOND], 1.0
    return (item[THIRD], number[ON_THIRD]) if number[ON_THIRD] != 0.0 else (np.int64(-1), 0.0)


@njit(**OPTIONS)
@dated
def moved(row, factor, point, origin, k, lo, count, arm, out):  # type: ignore[no-untyped-def]
    """A wrench at a point (w x lane), times a factor, about the origin of body k: into out (w x lane)."""
    d = origin.shape[2]
    for c in range(d):
        a, p, o = arm[c], point[c], origin[0, k, c]
        for i in range(np.uint64(count)):
            a[i] = p[i] - o[np.uint64(lo) + i]
    if d == 2:
        x, y, ex, ey, m = arm[0], arm[1], row[0], row[1], row[2]
        fx, fy, moment = out[0], out[1], out[2]
        for i in range(np.uint64(count)):
            fx[i], fy[i] = factor * ex[i], factor * ey[i]
            moment[i] = factor * (m[i] + x[i] * ey[i] - y[i] * ex[i])
        return
    for c in range(3):
        one, two = (c + 1) % 3, (c + 2) % 3
        x, y, ex, ey, e, m = arm[one], arm[two], row[one], row[two], row[c], row[3 + c]
        force, moment = out[c], out[3 + c]
        for i in range(np.uint64(count)):
            force[i] = factor * e[i]
            moment[i] = factor * (m[i] + x[i] * ey[i] - y[i] * ex[i])


@njit(**OPTIONS)
@dated
def exerted(items, numbers, which, origin, rotation, given, multipliers, wrench):  # type: ignore[no-untyped-def]
    """Add what items exert on the bodies; `multipliers` has one line per row of these items, in order."""
    d, w, lanes, block = origin.shape[2], wrench.shape[1], origin.shape[3], 256
    point, arm, rows = np.empty((d, block)), np.empty((d, block)), np.empty((6, w, block))
    total, part = np.empty((w, block)), np.empty((w, block))
    for lo in range(0, lanes, block):
        count = min(block, lanes - lo)
        at = 0
        for e in which:
            item, number = items[e], numbers[e]
            item_rows(item, number, origin, rotation, given, lo, count, point, rows)
            _summed(rows, item[ROWS], multipliers, at, lo, count, total)
            at += item[ROWS]
            for role in range(3):
                k, factor = shared(item, number, role)
                if k > 0:
                    if own_row(item, number, rotation, role, lo, count, rows[0]):
                        _summed(rows, 1, multipliers, at - 1, lo, count, total)
                    moved(total, factor, point, origin, k, lo, count, arm, part)
                    for c in range(w):
                        out, x = wrench[k, c], part[c]
                        for i in range(np.uint64(count)):
                            out[np.uint64(lo) + i] += x[i]


@njit(**OPTIONS)
@dated
def item_wrenches(items, numbers, which, origin, rotation, given, multipliers, wrenches):  # type: ignore[no-untyped-def]
    """The wrenches (item x w x lane) of some items at their points; `multipliers` has one line per row of all items."""
    d, w, lanes, block = origin.shape[2], wrenches.shape[1], origin.shape[3], 256
    point, rows, total = np.empty((d, block)), np.empty((6, w, block)), np.empty((w, block))
    for lo in range(0, lanes, block):
        count = min(block, lanes - lo)
        for e in which:
            item = items[e]
            item_rows(item, numbers[e], origin, rotation, given, lo, count, point, rows)
            _summed(rows, item[ROWS], multipliers, item[ROW], lo, count, total)
            for c in range(w):
                out, x = wrenches[e, c], total[c]
                for i in range(np.uint64(count)):  # slices would bring the texts of their messages along
                    out[np.uint64(lo) + i] = x[i]


@njit(**OPTIONS)
@dated
def sum_wrenches(start, columns, factors, wrenches, out):  # type: ignore[no-untyped-def]
    """Wrenches as sums of others, all components and lanes."""
    for k in range(len(start) - 1):
        for c in range(out.shape[1]):
            total = out[k, c]
            total[:] = 0.0
            for e in range(start[k], start[k + 1]):
                factor, x = factors[e], wrenches[columns[e], c]
                for lane in range(len(total)):
                    total[lane] += factor * x[lane]


@njit(**OPTIONS)
@dated
def _summed(rows, n, multipliers, at, lo, count, total):  # type: ignore[no-untyped-def]
    """The wrench of all rows of an item with their multipliers."""
    for c in range(total.shape[0]):
        out = total[c]
        for i in range(np.uint64(count)):
            out[i] = 0.0
        for r in range(n):
            f, x = multipliers[at + r], rows[r, c]
            for i in range(np.uint64(count)):
                out[i] += f[np.uint64(lo) + i] * x[i]


@njit(**OPTIONS)
@dated
def dense_rows(items, numbers, which, places, lanes, origin, rotation, given, out):  # type: ignore[no-untyped-def]
    """Rows on the twists of bodies as dense matrices (lane x row x column); body k begins at column places[k]."""
    d, w = origin.shape[2], 3 if origin.shape[2] == 2 else 6
    point, arm, rows, part = np.empty((d, 1)), np.empty((d, 1)), np.empty((6, w, 1)), np.empty((w, 1))
    one = np.int64(1)  # a literal would be compiled for anew
    for n in range(len(lanes)):
        lane, at = lanes[n], 0
        for e in which:
            item, number = items[e], numbers[e]
            item_rows(item, number, origin, rotation, given, lane, one, point, rows)
            for r in range(item[ROWS]):
                for role in range(3):
                    k, factor = shared(item, number, role)
                    if k > 0 and places[k] >= 0:
                        own_row(item, number, rotation, role, lane, one, rows[r])
                        moved(rows[r], factor, point, origin, k, lane, one, arm, part)
                        for c in range(w):
                            out[n, at + r, places[k] + c] += part[c, 0]
            at += item[ROWS]
