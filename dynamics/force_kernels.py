"""The small systems from which joint forces follow, compiled over lanes.

Imported only where it runs, because it loads Numba. Tables and arrays are those of `row_kernels`. Lanes are taken in
blocks, the innermost loops run over a block.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..codegen.joint_codes import ROW, ROWS
from ..runtime.sources import dated
from .row_kernels import OPTIONS, item_rows, moved, own_row, shared


# ---- square systems -----------------------------------------------------------------------------------------------
@njit(**OPTIONS)
@dated
def _exchange(M, used, k, i, m, count, swap):  # type: ignore[no-untyped-def]
    """Exchange rows k and i in the lanes where row i has the larger entry of column k."""
    pivot, other, swaps = M[k, k], M[i, k], 0
    for lane in range(np.uint64(count)):
        larger = 1 if abs(other[lane]) > abs(pivot[lane]) else 0
        swap[lane] = larger
        swaps += larger
    if swaps == 0:
        return
    for j in range(k, m):
        if used[k, j] or used[i, j]:
            used[k, j] = used[i, j] = True
            a, b = M[k, j], M[i, j]
            for lane in range(np.uint64(count)):
                x, y = a[lane], b[lane]
                a[lane] = y if swap[lane] else x
                b[lane] = x if swap[lane] else y


@njit(**OPTIONS)
@dated
def _eliminate(M, used, n, m, count, swap, least, most):  # type: ignore[no-untyped-def]
    """Solve n equations with m - n right-hand sides in every lane of a block; the solutions replace them.

    The pivot of each column is its largest entry, lane by lane: rows are exchanged by selection, without branches.
    `used` tells entries that are zero in all lanes: most of them, where a body has few joints.
    """
    for k in range(n):
        pivot = M[k, k]
        for i in range(k + 1, n):
            if used[i, k]:
                _exchange(M, used, k, i, m, count, swap)
        for lane in range(np.uint64(count)):
            size = abs(pivot[lane])
            least[lane] = min(least[lane], size) if size == size else 0.0
            most[lane] = max(most[lane], size)
            pivot[lane] = 1.0 / pivot[lane]
        for i in range(k + 1, n):
            if not used[i, k]:
                continue
            factor = M[i, k]
            for lane in range(np.uint64(count)):
                factor[lane] *= pivot[lane]
            for j in range(k + 1, m):
                if used[k, j]:
                    used[i, j] = True
                    a, b = M[i, j], M[k, j]
                    for lane in range(np.uint64(count)):
                        a[lane] -= factor[lane] * b[lane]
    for r in range(n, m):
        for k in range(n - 1, -1, -1):
            x = M[k, r]
            for j in range(k + 1, n):
                if used[k, j]:
                    a, b = M[k, j], M[j, r]
                    for lane in range(np.uint64(count)):
                        x[lane] -= a[lane] * b[lane]
            inverse = M[k, k]
            for lane in range(np.uint64(count)):
                x[lane] *= inverse[lane]


@njit(**OPTIONS)
@dated
def solve_groups(  # type: ignore[no-untyped-def]
    items, numbers, scales, long, sizes, body_start, bodies, item_start, listed, slots, block, origin, rotation, given,
    lack, drivers, wrenches, quality,
):  # fmt: skip
    """Joint forces group by group, in the order given: the last solved group of the motion comes first.

    `lack` (right-hand side x body x w x lane) is what joints and drivers must provide; it is used up: what a group
    exerts on bodies outside of it is taken from theirs. `slots` has for every item its line among the drivers, then
    among the joints, or -1: there the multipliers of drivers (right-hand side x driver x lane) are written, and the
    wrenches of joints (joint x w x lane) at their points for the first right-hand side. `quality` falls to the least
    pivot over the largest, of rows scaled by `sizes`, one for each group (`long` rows), or by their own scales.
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
            n, size = w * (body_start[g + 1] - body_start[g]), sizes[g]
            for b in range(body_start[g], body_start[g + 1]):
                inside[bodies[b]] = w * (b - body_start[g])
            used[:n, :n] = False
            used[:n, n : n + sides] = True
            M[:n, :n, :count] = 0.0
            column = 0
            for e in range(item_start[g], item_start[g + 1]):
                item, number, point = items[listed[e]], numbers[listed[e]], points[e - item_start[g]]
                mine = rows[column : column + item[ROWS]]
                item_rows(item, number, origin, rotation, given, lo, count, point, mine)
                for role in range(3):
                    k, factor = shared(item, number, role)
                    if k <= 0 or inside[k] < 0:
                        continue
                    own_row(item, number, rotation, role, lo, count, mine[0])
                    for r in range(item[ROWS]):
                        scaled = factor / (size if long[item[ROW] + r] else scales[item[ROW] + r])
                        moved(mine[r], scaled, point, origin, k, lo, count, arm, part)
                        _place(M, used, inside[k], column + r, part, size, d, count)
                column += item[ROWS]
            for b in range(body_start[g], body_start[g + 1]):
                _right_hand_sides(M, w * (b - body_start[g]), n, lack[:, bodies[b]], size, d, lo, count)
            least[:count], most[:count] = np.inf, 0.0
            _eliminate(M, used, n, n + sides, count, swap, least, most)
            for i in range(np.uint64(count)):
                quality[np.uint64(lo) + i] = min(quality[np.uint64(lo) + i], least[i] / most[i])
            column = 0
            for e in range(item_start[g], item_start[g + 1]):
                item, number, point = items[listed[e]], numbers[listed[e]], points[e - item_start[g]]
                for s in range(sides):
                    own_row(item, number, rotation, 1, lo, count, rows[column])
                    total[:, :count] = 0.0
                    for r in range(item[ROWS]):
                        factor = 1.0 / (size if long[item[ROW] + r] else scales[item[ROW] + r])
                        _add_row(total, M[column + r, n + s], rows[column + r], factor, count)
                        if slots[listed[e], 0] >= 0:
                            _note(drivers[s, slots[listed[e], 0]], M[column + r, n + s], factor, lo, count)
                    if s == 0 and slots[listed[e], 1] >= 0:
                        for c in range(w):
                            _note(wrenches[slots[listed[e], 1], c], total[c], 1.0, lo, count)
                    for role in range(3):
                        k, factor = shared(item, number, role)
                        if k <= 0 or inside[k] >= 0:
                            continue
                        _felt(item, number, rotation, role, lo, count, rows[column], M[column, n + s], scales, total)
                        moved(total, factor, point, origin, k, lo, count, arm, part)
                        _take(lack[s, k], part, lo, count)
                column += item[ROWS]
            for b in range(body_start[g], body_start[g + 1]):
                inside[bodies[b]] = -1


@njit(**OPTIONS)
@dated
def _felt(item, number, rotation, role, lo, count, row, f, scales, total):  # type: ignore[no-untyped-def]
    """Replace the second wheel's couple of a gear in space by that on the body with this role (wheel or carrier)."""
    if own_row(item, number, rotation, role, lo, count, row):
        total[:, :count] = 0.0
        _add_row(total, f, row, 1.0 / scales[item[ROW]], count)


@njit(**OPTIONS)
@dated
def _right_hand_sides(M, at, n, lack, size, d, lo, count):  # type: ignore[no-untyped-def]
    """Put what one body lacks to the right of its equations, forces times the size."""
    for s in range(lack.shape[0]):
        for c in range(lack.shape[1]):
            out, x, factor = M[at + c, n + s], lack[s, c], size if c < d else 1.0
            for i in range(np.uint64(count)):
                out[i] = factor * x[np.uint64(lo) + i]


@njit(**OPTIONS)
@dated
def _add_row(total, f, row, factor, count):  # type: ignore[no-untyped-def]
    """Add a row's wrench times its multiplier."""
    for c in range(total.shape[0]):
        out, x = total[c], row[c]
        for i in range(np.uint64(count)):
            out[i] += factor * f[i] * x[i]


@njit(**OPTIONS)
@dated
def _note(out, x, factor, lo, count):  # type: ignore[no-untyped-def]
    """Write the lanes of a block into those of all instants."""
    for i in range(np.uint64(count)):
        out[np.uint64(lo) + i] = factor * x[i]


@njit(**OPTIONS)
@dated
def _take(lack, part, lo, count):  # type: ignore[no-untyped-def]
    """Take from what a body lacks what a solved group exerts on it."""
    for c in range(part.shape[0]):
        out, x = lack[c], part[c]
        for i in range(np.uint64(count)):
            out[np.uint64(lo) + i] -= x[i]


@njit(**OPTIONS)
@dated
def _place(M, used, at, column, part, size, d, count):  # type: ignore[no-untyped-def]
    """Add the wrench of one row on one body to its equations, forces times the size; note what is not zero."""
    for c in range(part.shape[0]):
        factor, out, x, hits = size if c < d else 1.0, M[at + c, column], part[c], 0
        for i in range(np.uint64(count)):
            out[i] += factor * x[i]
            hits += 1 if x[i] != 0.0 else 0
        if hits:
            used[at + c, column] = True
