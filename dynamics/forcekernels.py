"""The small systems from which joint forces follow, compiled over lanes.

Imported only where it runs, because it loads Numba. Tables and arrays are those of `rowkernels`. Lanes are taken in
blocks, the innermost loops run over a block.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..codegen.jointcodes import ROW, ROWS
from ..runtime.sources import dated
from .rowkernels import OPTIONS, item_rows, moved, shared


# ---- square systems -----------------------------------------------------------------------------------------------
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
                    for r in range(item[ROWS]):
                        scaled = factor / (size if long[item[ROW] + r] else scales[item[ROW] + r])
                        moved(mine[r], scaled, point, origin, k, lo, count, arm, part)
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
                        f = M[column + r, n + s]
                        factor = 1.0 / (size if long[item[ROW] + r] else scales[item[ROW] + r])
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
                        k, factor = shared(item, number, role)
                        if k <= 0 or inside[k] >= 0:
                            continue
                        moved(total, factor, point, origin, k, lo, count, arm, part)
                        for c in range(w):
                            out, x = lack[s, k, c], part[c]
                            for i in range(count):
                                out[lo + i] -= x[i]
                column += item[ROWS]
            for b in range(body_start[g], body_start[g + 1]):
                inside[bodies[b]] = -1


@njit(**OPTIONS)
@dated
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
@dated
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
