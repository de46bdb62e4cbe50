"""The projective criterion over lanes, compiled: squared cosines of joint coordinates, see `coordinates`.

Imported only where it runs, because it loads Numba. With the cut joints open the bodies fall into trees that stand on
the ground, each with a small mass matrix of its own.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..codegen.joint_codes import ROWS
from ..runtime.sources import dated
from .row_kernels import OPTIONS, item_rows, moved, own_row, shared


@njit(**OPTIONS)
@dated
def _put_rows(item, number, origin, rotation, given, lo, count, places, J, spare):  # type: ignore[no-untyped-def]
    """Write the rows of an item on the columns of the bodies with places: row x column x lane."""
    point, arm, rows, part = spare
    item_rows(item, number, origin, rotation, given, lo, count, point, rows)
    J[: item[ROWS], :, :count] = 0.0
    for r in range(item[ROWS]):
        for role in range(3):
            k, factor = shared(item, number, role)
            if k > 0 and places[k] >= 0:
                own_row(item, number, rotation, role, lo, count, rows[r])
                moved(rows[r], factor, point, origin, k, lo, count, arm, part)
                for c in range(part.shape[0]):
                    out, x = J[r, places[k] + c], part[c]
                    for i in range(count):
                        out[i] += x[i]


@njit(**OPTIONS)
@dated
def _null_space(J, r, n, count, N, spare):  # type: ignore[no-untyped-def]
    """An orthonormal basis of what r independent rows of n columns map to zero, as rows of N; J is used up.

    By reflectors, which stay in the rows of J; halves[k] is half the square of the k-th one.
    """
    halves, dot = spare
    for k in range(r):
        half, pivot = halves[k], J[k, k]
        half[:count] = 0.0
        for c in range(k, n):
            x = J[k, c]
            for lane in range(np.uint64(count)):
                half[lane] += x[lane] * x[lane]
        for lane in range(np.uint64(count)):
            size = np.sqrt(half[lane])
            pivot[lane] += size if pivot[lane] > 0.0 else -size
            half[lane] = size * abs(pivot[lane])
        for i in range(k + 1, r):
            _reflect(J[k], J[i], k, n, count, half, dot)
    for v in range(n - r):
        N[v, :n, :count] = 0.0
        N[v, r + v, :count] = 1.0
        for k in range(r - 1, -1, -1):
            _reflect(J[k], N[v], k, n, count, halves[k], dot)


@njit(**OPTIONS)
@dated
def _reflect(reflector, row, k, n, count, half, dot):  # type: ignore[no-untyped-def]
    dot[:count] = 0.0
    for c in range(k, n):
        x, y = reflector[c], row[c]
        for lane in range(np.uint64(count)):
            dot[lane] += x[lane] * y[lane]
    for lane in range(np.uint64(count)):
        dot[lane] /= half[lane]
    for c in range(k, n):
        x, y = reflector[c], row[c]
        for lane in range(np.uint64(count)):
            y[lane] -= dot[lane] * x[lane]


@njit(**OPTIONS)
@dated
def _cholesky(G, n, count, ridge):  # type: ignore[no-untyped-def]
    """The triangle of symmetric n x n x lane with `ridge` (a number a lane) on its diagonal, in place."""
    for j in range(n):
        for k in range(j + 1):
            total, pivot = G[j, k], G[k, k]
            for i in range(k):
                x, y = G[j, i], G[k, i]
                for lane in range(np.uint64(count)):
                    total[lane] -= x[lane] * y[lane]
            if j == k:
                for lane in range(np.uint64(count)):
                    total[lane] = np.sqrt(total[lane] + ridge[lane])
            else:
                for lane in range(np.uint64(count)):
                    total[lane] /= pivot[lane]


@njit(**OPTIONS)
@dated
def _square(G, n, c, count, found):  # type: ignore[no-untyped-def]
    """found[lane] = c G⁻¹ c with the triangle of G; c is used up."""
    found[:count] = 0.0
    for j in range(n):
        x, pivot = c[j], G[j, j]
        for i in range(j):
            factor, y = G[j, i], c[i]
            for lane in range(np.uint64(count)):
                x[lane] -= factor[lane] * y[lane]
        for lane in range(np.uint64(count)):
            x[lane] /= pivot[lane]
            found[lane] += x[lane] * x[lane]


@njit(**OPTIONS)
@dated
def _reduced(masses, columns, lo, count, H):  # type: ignore[no-untyped-def]
    """Rᵀ M R of a block of lanes, f x f x lane."""
    f, n, w = columns.shape[:3]
    H[:, :, :count] = 0.0
    for j in range(f):
        for k in range(j + 1):
            total = H[j, k]
            for b in range(1, n):
                for i in range(w):
                    for e in range(w):
                        m, x, y = masses[b, i, e], columns[j, b, i], columns[k, b, e]
                        for lane in range(np.uint64(count)):
                            total[lane] += x[np.uint64(lo) + lane] * m[np.uint64(lo) + lane] * y[np.uint64(lo) + lane]


@njit(**OPTIONS)
@dated
def _tree_masses(N, masses, bodies, n, m, lo, count, MN, G, trace):  # type: ignore[no-untyped-def]
    """The lower triangle of N M Nᵀ of a tree (N: m x n x lane) into G; its diagonal is added to the trace."""
    w = masses.shape[1]
    for v in range(m):
        MN[:n, :count] = 0.0
        for b in range(len(bodies)):
            body, at = masses[bodies[b]], w * b
            for i in range(w):
                total = MN[at + i]
                for e in range(w):
                    x, y = body[i, e], N[v, at + e]
                    for lane in range(np.uint64(count)):
                        total[lane] += x[np.uint64(lo) + lane] * y[lane]
        for u in range(v + 1):
            total = G[v, u]
            _dot(N[u], MN, n, count, total)
        for lane in range(np.uint64(count)):
            trace[lane] += G[v, v, lane]


@njit(**OPTIONS)
@dated
def _dot(a, b, n, count, total):  # type: ignore[no-untyped-def]
    total[:count] = 0.0
    for i in range(n):
        x, y = a[i], b[i]
        for lane in range(np.uint64(count)):
            total[lane] += x[lane] * y[lane]


@njit(**OPTIONS)
@dated
def _along(row, columns, mine, lo, count, out):  # type: ignore[no-untyped-def]
    """A candidate's rate for the columns of the velocity transformation."""
    w = columns.shape[2]
    for j in range(columns.shape[0]):
        total = out[j]
        total[:] = 0.0
        for b in range(len(mine)):
            for i in range(w):
                x, y = row[w * b + i], columns[j, mine[b], i]
                for lane in range(np.uint64(count)):
                    total[lane] += x[lane] * y[np.uint64(lo) + lane]


@njit(**OPTIONS)
@dated
def cosines(  # type: ignore[no-untyped-def]
    items, numbers, body_start, bodies, tree_start, tree, candidate_start, candidates, ridge, block, origin, rotation,
    given, masses, columns, out,
):  # fmt: skip
    """Squared cosines (candidate x lane), in the order of `candidates`.

    Trees are (bodies, lines of their joints, lines of their candidates); masses n x w x w x lane, columns of the
    velocity transformation f x n x w x lane. All is done for a block of lanes at once.
    """
    f, n_bodies, w, lanes = columns.shape
    d, trees, widest, most = origin.shape[2], len(body_start) - 1, 1, 1
    for g in range(trees):
        widest = max(widest, w * (body_start[g + 1] - body_start[g]))
        most = max(most, candidate_start[g + 1] - candidate_start[g])
    spare = np.empty((d, block)), np.empty((d, block)), np.empty((6, w, block)), np.empty((w, block))
    rows, C = np.empty((widest + 6, widest, block)), np.empty((most, widest, block))
    N, MN, halves, dot = (
        np.empty((widest, widest, block)),
        np.empty((widest, block)),
        np.empty((widest, block)),
        np.empty(block),
    )
    G, sizes, trace = np.empty((trees, widest, widest, block)), np.zeros(trees, dtype=np.int64), np.empty(block)
    CN = np.empty((len(candidates), widest, block))
    H, CR, none = np.empty((f, f, block)), np.empty((len(candidates), f, block)), np.zeros(block)
    share, length = np.empty(block), np.empty(block)
    places = np.full(n_bodies, -1)
    for lo in range(0, lanes, block):
        count = min(block, lanes - lo)
        _reduced(masses, columns, lo, count, H)
        trace[:] = 0.0
        for g in range(trees):
            mine, n, r = bodies[body_start[g] : body_start[g + 1]], w * (body_start[g + 1] - body_start[g]), 0
            for b in range(len(mine)):
                places[mine[b]] = w * b
            for e in range(tree_start[g], tree_start[g + 1]):
                line = tree[e]
                _put_rows(items[line], numbers[line], origin, rotation, given, lo, count, places, rows[r:], spare)
                r += items[line, ROWS]
            first = candidate_start[g]
            for e in range(first, candidate_start[g + 1]):
                line = candidates[e]
                _put_rows(items[line], numbers[line], origin, rotation, given, lo, count, places, C[e - first :], spare)
                _along(C[e - first], columns, mine, lo, count, CR[e])
            sizes[g] = n - r
            _null_space(rows, r, n, count, N, (halves, dot))
            _tree_masses(N, masses, mine, n, n - r, lo, count, MN, G[g], trace)
            for e in range(first, candidate_start[g + 1]):
                for v in range(n - r):
                    _dot(C[e - first], N[v], n, count, CN[e, v])
            for b in range(len(mine)):
                places[mine[b]] = -1
        for lane in range(np.uint64(count)):
            trace[lane] *= ridge
        _cholesky(H, f, count, none)
        for g in range(trees):
            _cholesky(G[g], sizes[g], count, trace)
            for e in range(candidate_start[g], candidate_start[g + 1]):
                _square(G[g], sizes[g], CN[e], count, length)
                _square(H, f, CR[e], count, share)
                for lane in range(np.uint64(count)):
                    out[e, np.uint64(lo) + lane] = share[lane] / length[lane]
