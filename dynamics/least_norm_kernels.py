"""Smallest solutions of systems with more unknowns than they need, compiled over lanes: redundant joint forces."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..runtime.sources import dated
from .row_kernels import OPTIONS


@njit(**OPTIONS)
@dated
def least_norm(A, rhs, rank_tolerance, x, free):  # type: ignore[no-untyped-def]
    """The smallest x with A x = rhs (least squares) in every lane, by Householder steps with exchanged columns.

    A (lane x n x m) and rhs (lane x n x side) are used up; x (lane x m x side). `free` (lane x m) becomes the share of
    each unknown in what the equations leave open. Returns the pivots over the largest, lane x 2: the least that
    counts, and the largest that does not.
    """
    lanes, _, m = A.shape
    sides = rhs.shape[2]
    order, norms, N = np.empty(m, dtype=np.int64), np.empty(m), np.empty((m, m))
    found = np.zeros((lanes, 2))
    for lane in range(lanes):
        a, b = A[lane], rhs[lane]
        rank = _triangular(a, b, rank_tolerance, order, norms, found[lane])
        for s in range(sides):
            for k in range(rank - 1, -1, -1):
                total = b[k, s]
                for j in range(k + 1, rank):
                    total -= a[k, j] * b[j, s]
                b[k, s] = total / a[k, k]
        _open_motions(a, rank, N)
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


@njit(**OPTIONS)
@dated
def _triangular(a, b, rank_tolerance, order, norms, pivots):  # type: ignore[no-untyped-def]
    """Bring a to triangular form, the largest column first, and b along; the rank, and the pivots beside it."""
    n, m = a.shape
    rank, first = 0, 0.0
    pivots[0], pivots[1] = 1.0, 0.0
    for j in range(m):
        order[j] = j
    for k in range(min(n, m)):
        best = _largest_column(a, k, norms)
        size = np.sqrt(norms[best])
        if k == 0:
            first = size
        if first == 0.0 or not size > rank_tolerance * first:
            pivots[1] = size / first if first > 0.0 else 0.0
            break
        pivots[0] = size / first
        if best != k:
            order[k], order[best] = order[best], order[k]
            for i in range(n):
                a[i, k], a[i, best] = a[i, best], a[i, k]
        alpha = -size if a[k, k] > 0.0 else size
        head = a[k, k] - alpha
        square = size * size - alpha * a[k, k]  # half the square of the reflector (head, rest of the column)
        for j in range(k + 1, m):
            _reflect(a, k, head, square, a[:, j])
        for s in range(b.shape[1]):
            _reflect(a, k, head, square, b[:, s])
        a[k, k] = alpha
        rank = k + 1
    return rank


@njit(**OPTIONS)
@dated
def _largest_column(a, k, norms):  # type: ignore[no-untyped-def]
    """The column from k on that is largest below row k; the squares of all of them."""
    best = k
    for j in range(k, a.shape[1]):
        total = 0.0
        for i in range(k, a.shape[0]):
            total += a[i, j] * a[i, j]
        norms[j] = total
        if total > norms[best]:
            best = j
    return best


@njit(**OPTIONS)
@dated
def _reflect(a, k, head, square, column):  # type: ignore[no-untyped-def]
    """Reflect a column by the reflector (head, rest of column k of a)."""
    dot = head * column[k]
    for i in range(k + 1, len(column)):
        dot += a[i, k] * column[i]
    dot /= square
    column[k] -= dot * head
    for i in range(k + 1, len(column)):
        column[i] -= dot * a[i, k]


@njit(**OPTIONS)
@dated
def _open_motions(a, rank, N):  # type: ignore[no-untyped-def]
    """Changes of the unknowns that change nothing in the equations, orthonormal, into rows of N."""
    m = a.shape[1]
    for v in range(m - rank):
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
