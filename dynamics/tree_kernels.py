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
def _null_space(J, r, n, N):  # type: ignore[no-untyped-def]
    """An orthonormal basis of what r independent rows of n columns map to zero, as rows of N; J is used up."""
    for k in range(r):
        size = 0.0
        for c in range(k, n):
            size += J[k, c] * J[k, c]
        size = np.sqrt(size)
        J[k, k] += size if J[k, k] > 0.0 else -size
        square = size * abs(J[k, k])  # half the square of the reflector, which stays in the row
        for i in range(k + 1, r):
            dot = 0.0
            for c in range(k, n):
                dot += J[k, c] * J[i, c]
            dot /= square
            for c in range(k, n):
                J[i, c] -= dot * J[k, c]
    for v in range(n - r):
        for c in range(n):
            N[v, c] = 0.0
        N[v, r + v] = 1.0
        for k in range(r - 1, -1, -1):
            dot, square = 0.0, 0.0
            for c in range(k, n):
                dot += J[k, c] * N[v, c]
                square += J[k, c] * J[k, c]
            dot *= 2.0 / square
            for c in range(k, n):
                N[v, c] -= dot * J[k, c]


@njit(**OPTIONS)
@dated
def _cholesky(G, n, ridge):  # type: ignore[no-untyped-def]
    for j in range(n):
        for k in range(j + 1):
            total = G[j, k] + (ridge if j == k else 0.0)
            for i in range(k):
                total -= G[j, i] * G[k, i]
            G[j, k] = np.sqrt(total) if j == k else total / G[k, k]


@njit(**OPTIONS)
@dated
def _square(G, n, c):  # type: ignore[no-untyped-def]
    """c G⁻¹ c with the triangle of G; c is used up."""
    found = 0.0
    for j in range(n):
        for i in range(j):
            c[j] -= G[j, i] * c[i]
        c[j] /= G[j, j]
        found += c[j] * c[j]
    return found


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
                        for lane in range(count):
                            total[lane] += x[lo + lane] * m[lo + lane] * y[lo + lane]


@njit(**OPTIONS)
@dated
def _tree_masses(N, masses, bodies, n, m, lane, MN, G):  # type: ignore[no-untyped-def]
    """The lower triangle of N M Nᵀ of a tree (N: m x n) in one lane into G; returns its trace."""
    w, trace = masses.shape[1], 0.0
    for v in range(m):
        for b in range(len(bodies)):
            body, at = masses[bodies[b]], w * b
            for i in range(w):
                total = 0.0
                for e in range(w):
                    total += body[i, e, lane] * N[v, at + e]
                MN[at + i] = total
        for u in range(v + 1):
            total = 0.0
            for i in range(n):
                total += N[u, i] * MN[i]
            G[v, u] = total
        trace += G[v, v]
    return trace


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
                for lane in range(count):
                    total[lane] += x[lane] * y[lo + lane]


@njit(**OPTIONS)
@dated
def _inside(row, N, n, free, lane, out):  # type: ignore[no-untyped-def]
    """A candidate's rate for the free motions of its tree, in one lane."""
    for v in range(free):
        total = 0.0
        for i in range(n):
            total += row[i, lane] * N[v, i]
        out[v] = total


@njit(**OPTIONS)
@dated
def cosines(  # type: ignore[no-untyped-def]
    items, numbers, body_start, bodies, tree_start, tree, candidate_start, candidates, ridge, block, origin, rotation,
    given, masses, columns, out,
):  # fmt: skip
    """Squared cosines (candidate x lane), in the order of `candidates`.

    Trees are (bodies, lines of their joints, lines of their candidates); masses n x w x w x lane, columns of the
    velocity transformation f x n x w x lane. Rows are found for a block of lanes, the small systems lane by lane.
    """
    f, n_bodies, w, lanes = columns.shape
    d, trees, widest, most = origin.shape[2], len(body_start) - 1, 1, 1
    for g in range(trees):
        widest = max(widest, w * (body_start[g + 1] - body_start[g]))
        most = max(most, candidate_start[g + 1] - candidate_start[g])
    spare = np.empty((d, block)), np.empty((d, block)), np.empty((6, w, block)), np.empty((w, block))
    rows, C = np.empty((widest + 6, widest, block)), np.empty((most, widest, block))
    J, N, MN = np.empty((widest, widest)), np.empty((widest, widest)), np.empty(widest)
    G, sizes, trace = np.zeros((block, trees, widest, widest)), np.zeros(trees, dtype=np.int64), np.zeros(block)
    CN, c = np.zeros((block, len(candidates), widest)), np.empty(max(f, widest))
    H, one, CR = np.empty((f, f, block)), np.empty((f, f)), np.empty((len(candidates), f, block))
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
            for lane in range(count):
                for i in range(r):
                    for k in range(n):
                        J[i, k] = rows[i, k, lane]
                _null_space(J, r, n, N)
                trace[lane] += _tree_masses(N, masses, mine, n, n - r, lo + lane, MN, G[lane, g])
                for e in range(first, candidate_start[g + 1]):
                    _inside(C[e - first], N, n, n - r, lane, CN[lane, e])
            for b in range(len(mine)):
                places[mine[b]] = -1
        for lane in range(count):
            for j in range(f):
                for k in range(j + 1):
                    one[j, k] = H[j, k, lane]
            _cholesky(one, f, 0.0)
            for g in range(trees):
                _cholesky(G[lane, g], sizes[g], ridge * trace[lane])
                for e in range(candidate_start[g], candidate_start[g + 1]):
                    for v in range(sizes[g]):
                        c[v] = CN[lane, e, v]
                    length = _square(G[lane, g], sizes[g], c)
                    for j in range(f):
                        c[j] = CR[e, j, lane]
                    out[e, lo + lane] = _square(one, f, c) / length
