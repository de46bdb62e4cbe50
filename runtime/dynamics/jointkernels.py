"""Compiled joints over lanes: their rows as wrenches, and the small systems from which joint forces follow.

Imported only where it runs, because it loads Numba. A row of a joint or driver is a wrench that its multiplier exerts
on the second body at the joint's point: a force e and a couple m (planar: ex, ey, m; spatial: six components); the
first body feels the opposite. `items` (integers) and `numbers` hold one line per joint or driver, see `jointlanes`.
Arrays of bodies are those of `bodykernels`. Lanes are taken in blocks, the innermost loops run over a block.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from .jointcodes import (  # a change of these numbers needs a change of this file: Numba's cache sees no other
    AXIS_A,
    AXIS_B,
    C3,
    CAM2,
    DISTANCE3,
    FIRST,
    GEAR2,
    GIVEN,
    H3,
    KIND,
    NORMAL_A,
    NORMAL_B,
    NUMBER,
    ON_FIRST,
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

OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}

# ---- rows ---------------------------------------------------------------------------------------------------------
@njit(**OPTIONS)
def _point(item, number, origin, rotation, lo, count, point):  # type: ignore[no-untyped-def]
    """The place of a joint: b on the second body, of a rack the pinion's centre on the first."""
    rack = item[KIND] == RACK2
    k, at = (item[FIRST], A) if rack else (item[SECOND], B)
    for c in range(origin.shape[2]):
        out, o = point[c], origin[0, k, c]
        for i in range(count):
            out[i] = o[lo + i]
        for j in range(origin.shape[2]):
            local, R = number[at + j], rotation[k, c, j]
            if local != 0.0:
                for i in range(count):
                    out[i] += local * R[lo + i]


@njit(**OPTIONS)
def _planar_rows(item, number, origin, rotation, given, lo, count, point, rows):  # type: ignore[no-untyped-def]
    """Write the rows of one planar item (rows x 3 x lane) and its point (2 x lane)."""
    kind, k, n = item[KIND], item[FIRST], item[SECOND]
    _point(item, number, origin, rotation, lo, count, point)
    rows[: item[ROWS], :, :count] = 0.0
    if kind == R2:
        for i in range(count):
            rows[0, 0, i] = rows[1, 1, i] = 1.0
    elif kind in (P2, SLOT2, SLIDE2):
        at = AXIS_A if kind == SLIDE2 else NORMAL_A
        x, y, c, s = number[at], number[at + 1], rotation[k, 0, 0], rotation[k, 1, 0]
        for i in range(count):
            rows[0, 0, i], rows[0, 1, i] = c[lo + i] * x - s[lo + i] * y, s[lo + i] * x + c[lo + i] * y
        if kind == P2:
            for i in range(count):
                rows[1, 2, i] = 1.0
    elif kind in (GEAR2, TURN2):
        for i in range(count):
            rows[0, 2, i] = 1.0
    elif kind == RACK2:
        x, y, c, s = number[AXIS_B], number[AXIS_B + 1], rotation[n, 0, 0], rotation[n, 1, 0]
        for i in range(count):
            rows[0, 0, i], rows[0, 1, i] = s[lo + i] * y - c[lo + i] * x, -s[lo + i] * x - c[lo + i] * y
            rows[0, 2, i] = -number[NUMBER]
    elif kind == CAM2:
        for c in range(3):
            for i in range(count):
                rows[0, c, i] = given[item[GIVEN], c, lo + i]
    else:
        x, y, c, s = number[A], number[A + 1], rotation[k, 0, 0], rotation[k, 1, 0]
        for i in range(count):
            dx = point[0, i] - origin[0, k, 0, lo + i] - c[lo + i] * x + s[lo + i] * y
            dy = point[1, i] - origin[0, k, 1, lo + i] - s[lo + i] * x - c[lo + i] * y
            length = np.sqrt(dx * dx + dy * dy)
            scale = 1.0 / length if length > 0.0 else 0.0
            rows[0, 0, i], rows[0, 1, i] = dx * scale, dy * scale


@njit(**OPTIONS)
def _turned(rotation, k, number, at, lane):  # type: ignore[no-untyped-def]
    x, y, z, R = number[at], number[at + 1], number[at + 2], rotation[k]
    return (R[0, 0, lane] * x + R[0, 1, lane] * y + R[0, 2, lane] * z,
            R[1, 0, lane] * x + R[1, 1, lane] * y + R[1, 2, lane] * z,
            R[2, 0, lane] * x + R[2, 1, lane] * y + R[2, 2, lane] * z)  # fmt: skip


@njit(**OPTIONS)
def _cross(a, b):  # type: ignore[no-untyped-def]
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(**OPTIONS)
def _set(rows, r, at, i, v, factor):  # type: ignore[no-untyped-def]
    rows[r, at, i], rows[r, at + 1, i], rows[r, at + 2, i] = factor * v[0], factor * v[1], factor * v[2]


@njit(**OPTIONS)
def _turn_couple(normal, binormal, other):  # type: ignore[no-untyped-def]
    """The couple on the second body that does work on the turn of `other` against normal and binormal."""
    c = normal[0] * other[0] + normal[1] * other[1] + normal[2] * other[2]
    s = binormal[0] * other[0] + binormal[1] * other[1] + binormal[2] * other[2]
    x, y, square = _cross(normal, other), _cross(binormal, other), c * c + s * s
    return ((s * x[0] - c * y[0]) / square, (s * x[1] - c * y[1]) / square, (s * x[2] - c * y[2]) / square)


@njit(**OPTIONS)
def _spatial_rows(item, number, origin, rotation, lo, count, point, rows):  # type: ignore[no-untyped-def]
    """Write the rows of one spatial item (rows x 6 x lane) and its point (3 x lane)."""
    kind, k, n = item[KIND], item[FIRST], item[SECOND]
    _point(item, number, origin, rotation, lo, count, point)
    rows[: item[ROWS], :, :count] = 0.0
    r = 0
    if kind in (R3, S3, U3):
        for c in range(3):
            for i in range(count):
                rows[c, c, i] = 1.0
        r = 3
        if kind == S3:
            return
    for i in range(count):
        lane = lo + i
        if kind == SPIN3:
            _set(rows, 0, 3, i, _turned(rotation, n, number, AXIS_B, lane), 1.0)
            continue
        if kind == DISTANCE3:
            a = _turned(rotation, k, number, A, lane)
            x = point[0, i] - origin[0, k, 0, lane] - a[0]
            y = point[1, i] - origin[0, k, 1, lane] - a[1]
            z = point[2, i] - origin[0, k, 2, lane] - a[2]
            length = np.sqrt(x * x + y * y + z * z)
            _set(rows, 0, 0, i, (x, y, z), 1.0 / length if length > 0.0 else 0.0)
            continue
        axis = _turned(rotation, k, number, AXIS_A, lane)
        if kind == SLIDE3:
            _set(rows, 0, 0, i, axis, 1.0)
            continue
        other = _turned(rotation, n, number, AXIS_B, lane)
        if kind == U3:
            _set(rows, 3, 3, i, _cross(axis, other), -1.0)
            continue
        normal = _turned(rotation, k, number, NORMAL_A, lane)
        binormal = _cross(axis, normal)
        if kind == TURN3:
            _set(rows, 0, 3, i, _turn_couple(normal, binormal, _turned(rotation, n, number, NORMAL_B, lane)), 1.0)
            continue
        if kind in (P3, C3, H3):
            _set(rows, 0, 0, i, normal, 1.0)
            _set(rows, 1, 0, i, binormal, 1.0)
            r = 2
        elif kind == PLANAR3:
            _set(rows, 0, 0, i, axis, 1.0)
            r = 1
        _set(rows, r, 3, i, _cross(normal, other), -1.0)
        _set(rows, r + 1, 3, i, _cross(binormal, other), -1.0)
        if kind == P3:
            _set(rows, 4, 3, i, _cross(binormal, _turned(rotation, n, number, NORMAL_B, lane)), -1.0)
        elif kind == H3:
            couple = _turn_couple(normal, binormal, _turned(rotation, n, number, NORMAL_B, lane))
            _set(rows, 4, 0, i, axis, 1.0)
            _set(rows, 4, 3, i, couple, -number[NUMBER])


@njit(**OPTIONS)
def _rows(item, number, origin, rotation, given, lo, count, point, rows):  # type: ignore[no-untyped-def]
    if origin.shape[2] == 2:
        _planar_rows(item, number, origin, rotation, given, lo, count, point, rows)
    else:
        _spatial_rows(item, number, origin, rotation, lo, count, point, rows)


@njit(**OPTIONS)
def _share(item, number, role):  # type: ignore[no-untyped-def]
    """The body of a role (0 to 2) and the part of the wrench that it feels; -1 where there is none."""
    if role == 0:
        return item[FIRST], number[ON_FIRST]
    if role == 1:
        return item[SECOND], 1.0
    return (item[THIRD], number[ON_THIRD]) if number[ON_THIRD] != 0.0 else (np.int64(-1), 0.0)


@njit(**OPTIONS)
def _moved(row, factor, point, origin, k, lo, count, arm, out):  # type: ignore[no-untyped-def]
    """A wrench at a point (w x lane), times a factor, about the origin of body k: into out (w x lane)."""
    d = origin.shape[2]
    for c in range(d):
        a, p, o = arm[c], point[c], origin[0, k, c]
        for i in range(count):
            a[i] = p[i] - o[lo + i]
    if d == 2:
        x, y, ex, ey, m = arm[0], arm[1], row[0], row[1], row[2]
        fx, fy, moment = out[0], out[1], out[2]
        for i in range(count):
            fx[i], fy[i] = factor * ex[i], factor * ey[i]
            moment[i] = factor * (m[i] + x[i] * ey[i] - y[i] * ex[i])
        return
    for c in range(3):
        one, two = (c + 1) % 3, (c + 2) % 3
        x, y, ex, ey, e, m = arm[one], arm[two], row[one], row[two], row[c], row[3 + c]
        force, moment = out[c], out[3 + c]
        for i in range(count):
            force[i] = factor * e[i]
            moment[i] = factor * (m[i] + x[i] * ey[i] - y[i] * ex[i])


@njit(**OPTIONS)
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
            _rows(item, number, origin, rotation, given, lo, count, point, rows)
            _summed(rows, item[ROWS], multipliers, at, lo, count, total)
            at += item[ROWS]
            for role in range(3):
                k, factor = _share(item, number, role)
                if k > 0:
                    _moved(total, factor, point, origin, k, lo, count, arm, part)
                    for c in range(w):
                        out, x = wrench[k, c], part[c]
                        for i in range(count):
                            out[lo + i] += x[i]


@njit(**OPTIONS)
def item_wrenches(items, numbers, which, origin, rotation, given, multipliers, wrenches):  # type: ignore[no-untyped-def]
    """The wrenches (item x w x lane) of some items at their points; `multipliers` has one line per row of all items."""
    d, w, lanes, block = origin.shape[2], wrenches.shape[1], origin.shape[3], 256
    point, rows, total = np.empty((d, block)), np.empty((6, w, block)), np.empty((w, block))
    for lo in range(0, lanes, block):
        count = min(block, lanes - lo)
        for e in which:
            item = items[e]
            _rows(item, numbers[e], origin, rotation, given, lo, count, point, rows)
            _summed(rows, item[ROWS], multipliers, item[ROW], lo, count, total)
            wrenches[e, :, lo : lo + count] = total[:, :count]


@njit(**OPTIONS)
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
def _summed(rows, n, multipliers, at, lo, count, total):  # type: ignore[no-untyped-def]
    """The wrench of all rows of an item with their multipliers."""
    total[:, :count] = 0.0
    for r in range(n):
        f = multipliers[at + r]
        for c in range(total.shape[0]):
            out, x = total[c], rows[r, c]
            for i in range(count):
                out[i] += f[lo + i] * x[i]


@njit(**OPTIONS)
def dense_rows(items, numbers, which, places, lanes, origin, rotation, given, out):  # type: ignore[no-untyped-def]
    """Rows on the twists of bodies as dense matrices (lane x row x column); body k begins at column places[k]."""
    d, w = origin.shape[2], 3 if origin.shape[2] == 2 else 6
    point, arm, rows, part = np.empty((d, 1)), np.empty((d, 1)), np.empty((6, w, 1)), np.empty((w, 1))
    for n in range(len(lanes)):
        lane, at = lanes[n], 0
        for e in which:
            item, number = items[e], numbers[e]
            _rows(item, number, origin, rotation, given, lane, 1, point, rows)
            for r in range(item[ROWS]):
                for role in range(3):
                    k, factor = _share(item, number, role)
                    if k > 0 and places[k] >= 0:
                        _moved(rows[r], factor, point, origin, k, lane, 1, arm, part)
                        for c in range(w):
                            out[n, at + r, places[k] + c] += part[c, 0]
            at += item[ROWS]


# ---- square systems -----------------------------------------------------------------------------------------------
@njit(**OPTIONS)
def _eliminate(M, used, n, m, count, swap, least, most):  # type: ignore[no-untyped-def]
    """Solve n equations with m - n right-hand sides in every lane of a block; the solutions replace them.

    The pivot of each column is its largest entry, lane by lane: rows are exchanged by selection, without branches.
    `used` tells entries that are zero in all lanes: most of them, where a body has few joints.
    """
    for k in range(n):
        pivot = M[k, k]
        for i in range(k + 1, n):
            if not used[i, k]:
                continue
            other, swaps = M[i, k], 0
            for lane in range(count):
                larger = 1 if abs(other[lane]) > abs(pivot[lane]) else 0
                swap[lane] = larger
                swaps += larger
            if swaps == 0:
                continue
            for j in range(k, m):
                if used[k, j] or used[i, j]:
                    used[k, j] = used[i, j] = True
                    a, b = M[k, j], M[i, j]
                    for lane in range(count):
                        x, y = a[lane], b[lane]
                        a[lane] = y if swap[lane] else x
                        b[lane] = x if swap[lane] else y
        for lane in range(count):
            size = abs(pivot[lane])
            least[lane] = min(least[lane], size) if size == size else 0.0
            most[lane] = max(most[lane], size)
            pivot[lane] = 1.0 / pivot[lane]
        for i in range(k + 1, n):
            if not used[i, k]:
                continue
            factor = M[i, k]
            for lane in range(count):
                factor[lane] *= pivot[lane]
            for j in range(k + 1, m):
                if used[k, j]:
                    used[i, j] = True
                    a, b = M[i, j], M[k, j]
                    for lane in range(count):
                        a[lane] -= factor[lane] * b[lane]
    for r in range(n, m):
        for k in range(n - 1, -1, -1):
            x = M[k, r]
            for j in range(k + 1, n):
                if used[k, j]:
                    a, b = M[k, j], M[j, r]
                    for lane in range(count):
                        x[lane] -= a[lane] * b[lane]
            inverse = M[k, k]
            for lane in range(count):
                x[lane] *= inverse[lane]


@njit(**OPTIONS)
def solve_groups(  # type: ignore[no-untyped-def]
    items, numbers, scales, size, body_start, bodies, item_start, listed, slots, block, origin, rotation, given, lack,
    drivers, wrenches, quality,
):  # fmt: skip
    """Joint forces group by group, in the order given: the last solved group of the motion comes first.

    `lack` (right-hand side x body x w x lane) is what joints and drivers must provide; it is used up: what a group
    exerts on bodies outside of it is taken from theirs. `slots` has for every item its line among the drivers, then
    among the joints, or -1: there the multipliers of drivers (right-hand side x driver x lane) are written, and the
    wrenches of joints (joint x w x lane) at their points for the first right-hand side. `quality` falls to the least
    pivot over the largest, of rows scaled by the size.
    """
    sides, n_bodies, w, lanes = lack.shape
    d = origin.shape[2]
    largest, most_items = 0, 0
    for g in range(len(body_start) - 1):
        largest = max(largest, w * (body_start[g + 1] - body_start[g]))
        most_items = max(most_items, item_start[g + 1] - item_start[g])
    M = np.empty((largest, largest + sides, block))
    used = np.zeros((largest, largest + sides), dtype=np.bool_)
    rows, points = np.empty((largest, w, block)), np.empty((most_items, d, block))
    arm, part, total = np.empty((d, block)), np.empty((w, block)), np.empty((w, block))
    swap, least, most = np.empty(block, dtype=np.int64), np.empty(block), np.empty(block)
    inside = np.full(n_bodies, -1)
    for lo in range(0, lanes, block):
        count = min(block, lanes - lo)
        for g in range(len(body_start) - 1):
            n = w * (body_start[g + 1] - body_start[g])
            for b in range(body_start[g], body_start[g + 1]):
                inside[bodies[b]] = w * (b - body_start[g])
            used[:n, :n] = False
            used[:n, n : n + sides] = True
            M[:n, :n, :count] = 0.0
            column = 0
            for e in range(item_start[g], item_start[g + 1]):
                item, number, point = items[listed[e]], numbers[listed[e]], points[e - item_start[g]]
                mine = rows[column : column + item[ROWS]]
                _rows(item, number, origin, rotation, given, lo, count, point, mine)
                for role in range(3):
                    k, factor = _share(item, number, role)
                    if k <= 0 or inside[k] < 0:
                        continue
                    for r in range(item[ROWS]):
                        scaled = factor / scales[item[ROW] + r]
                        _moved(mine[r], scaled, point, origin, k, lo, count, arm, part)
                        _place(M, used, inside[k], column + r, part, size, d, count)
                column += item[ROWS]
            for b in range(body_start[g], body_start[g + 1]):
                for s in range(sides):
                    for c in range(w):
                        out, x = M[w * (b - body_start[g]) + c, n + s], lack[s, bodies[b], c]
                        factor = size if c < d else 1.0
                        for i in range(count):
                            out[i] = factor * x[lo + i]
            least[:count], most[:count] = np.inf, 0.0
            _eliminate(M, used, n, n + sides, count, swap, least, most)
            for i in range(count):
                quality[lo + i] = min(quality[lo + i], least[i] / most[i])
            column = 0
            for e in range(item_start[g], item_start[g + 1]):
                item, number, point = items[listed[e]], numbers[listed[e]], points[e - item_start[g]]
                for s in range(sides):
                    total[:, :count] = 0.0
                    for r in range(item[ROWS]):
                        f, factor = M[column + r, n + s], 1.0 / scales[item[ROW] + r]
                        for c in range(w):
                            out, x = total[c], rows[column + r, c]
                            for i in range(count):
                                out[i] += factor * f[i] * x[i]
                        if slots[listed[e], 0] >= 0:
                            out = drivers[s, slots[listed[e], 0]]
                            for i in range(count):
                                out[lo + i] = factor * f[i]
                    if s == 0 and slots[listed[e], 1] >= 0:
                        for c in range(w):
                            out, x = wrenches[slots[listed[e], 1], c], total[c]
                            for i in range(count):
                                out[lo + i] = x[i]
                    for role in range(3):
                        k, factor = _share(item, number, role)
                        if k <= 0 or inside[k] >= 0:
                            continue
                        _moved(total, factor, point, origin, k, lo, count, arm, part)
                        for c in range(w):
                            out, x = lack[s, k, c], part[c]
                            for i in range(count):
                                out[lo + i] -= x[i]
                column += item[ROWS]
            for b in range(body_start[g], body_start[g + 1]):
                inside[bodies[b]] = -1


@njit(**OPTIONS)
def _place(M, used, at, column, part, size, d, count):  # type: ignore[no-untyped-def]
    """Add the wrench of one row on one body to its equations, forces times the size; note what is not zero."""
    for c in range(part.shape[0]):
        factor, out, x, hits = size if c < d else 1.0, M[at + c, column], part[c], 0
        for i in range(count):
            out[i] += factor * x[i]
            hits += 1 if x[i] != 0.0 else 0
        if hits:
            used[at + c, column] = True


# ---- systems with more unknowns than they need --------------------------------------------------------------------
@njit(**OPTIONS)
def least_norm(A, rhs, rank_tolerance, x, free):  # type: ignore[no-untyped-def]
    """The smallest x with A x = rhs (least squares) in every lane, by Householder steps with exchanged columns.

    A (lane x n x m) and rhs (lane x n x side) are used up; x (lane x m x side). `free` (lane x m) becomes the share of
    each unknown in what the equations leave open. Returns the pivots over the largest, lane x 2: the least that
    counts, and the largest that does not.
    """
    lanes, n, m = A.shape
    sides, most = rhs.shape[2], min(n, m)
    order, norms, N = np.empty(m, dtype=np.int64), np.empty(m), np.empty((m, m))
    found = np.zeros((lanes, 2))
    for lane in range(lanes):
        a, b = A[lane], rhs[lane]
        for j in range(m):
            order[j] = j
            norms[j] = 0.0
            for i in range(n):
                norms[j] += a[i, j] * a[i, j]
        rank, first, kept, left = 0, 0.0, 1.0, 0.0
        for k in range(most):
            best = k
            for j in range(k, m):
                total = 0.0
                for i in range(k, n):
                    total += a[i, j] * a[i, j]
                norms[j] = total
                if total > norms[best]:
                    best = j
            size = np.sqrt(norms[best])
            if k == 0:
                first = size
            if first == 0.0 or not size > rank_tolerance * first:
                left = size / first if first > 0.0 else 0.0
                break
            kept = size / first
            if best != k:
                order[k], order[best] = order[best], order[k]
                for i in range(n):
                    a[i, k], a[i, best] = a[i, best], a[i, k]
            alpha = -size if a[k, k] > 0.0 else size
            head = a[k, k] - alpha
            square = size * size - alpha * a[k, k]  # half the square of the reflector (head, rest of the column)
            for j in range(k + 1, m):
                dot = head * a[k, j]
                for i in range(k + 1, n):
                    dot += a[i, k] * a[i, j]
                dot /= square
                a[k, j] -= dot * head
                for i in range(k + 1, n):
                    a[i, j] -= dot * a[i, k]
            for s in range(sides):
                dot = head * b[k, s]
                for i in range(k + 1, n):
                    dot += a[i, k] * b[i, s]
                dot /= square
                b[k, s] -= dot * head
                for i in range(k + 1, n):
                    b[i, s] -= dot * a[i, k]
            a[k, k] = alpha
            rank = k + 1
        found[lane, 0], found[lane, 1] = kept, left
        for s in range(sides):
            for k in range(rank - 1, -1, -1):
                total = b[k, s]
                for j in range(k + 1, rank):
                    total -= a[k, j] * b[j, s]
                b[k, s] = total / a[k, k]
        for v in range(m - rank):  # motions of the unknowns that change nothing, orthonormal
            for i in range(m):
                N[v, i] = 0.0
            for k in range(rank - 1, -1, -1):
                total = -a[k, rank + v]
                for j in range(k + 1, rank):
                    total -= a[k, j] * N[v, j]
                N[v, k] = total / a[k, k]
            N[v, rank + v] = 1.0
            for _ in range(2):
                for u in range(v):
                    dot = 0.0
                    for i in range(m):
                        dot += N[u, i] * N[v, i]
                    for i in range(m):
                        N[v, i] -= dot * N[u, i]
                total = 0.0
                for i in range(m):
                    total += N[v, i] * N[v, i]
                total = 1.0 / np.sqrt(total)
                for i in range(m):
                    N[v, i] *= total
        for s in range(sides):
            for i in range(m):
                x[lane, order[i], s] = b[i, s] if i < rank else 0.0
            for v in range(m - rank):
                dot = 0.0
                for i in range(m):
                    dot += N[v, i] * x[lane, order[i], s]
                for i in range(m):
                    x[lane, order[i], s] -= dot * N[v, i]
        for i in range(m):
            total = 0.0
            for v in range(m - rank):
                total += N[v, i] * N[v, i]
            free[lane, order[i]] = np.sqrt(total)
    return found
