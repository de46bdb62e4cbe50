"""Elimination in loops, compiled: square systems of which rows may be in excess.

Imported only where it runs, because it loads Numba.
"""

from __future__ import annotations

import math

from numba import njit

from ..runtime.sources import dated
from .joint_kernels import OPTIONS

RANK = 1e-10  # of the scaled augmented matrix: below, rows are in excess


@njit(**OPTIONS)
@dated
def eliminate(A, b, order, n, whole, least=False):  # type: ignore[no-untyped-def]
    """Solve A x = b in place, with row pivots, or, where rows may be in excess (`whole`), with pivots anywhere.

    Then what no pivot is left for becomes zero: of the augmented system these are multipliers, never accelerations;
    `least` makes the multipliers those of smallest norm instead.
    """
    for i in range(n):
        order[i] = i
    rank, largest = n, 0.0
    for k in range(n):
        row, column, best = k, k, 0.0
        for i in range(k, n):
            for j in range(k, n if whole else k + 1):
                if abs(A[i, j]) > best:
                    row, column, best = i, j, abs(A[i, j])
        largest = max(largest, best)
        if not best > (RANK * largest if whole else 0.0):
            if not whole:
                return -1
            rank = k
            break
        if row != k:
            for j in range(n):
                A[k, j], A[row, j] = A[row, j], A[k, j]
            b[k], b[row] = b[row], b[k]
        if column != k:
            for i in range(n):
                A[i, k], A[i, column] = A[i, column], A[i, k]
            order[k], order[column] = order[column], order[k]
        for i in range(k + 1, n):
            if A[i, k] != 0.0:
                f = A[i, k] / A[k, k]
                for j in range(k + 1, n):
                    A[i, j] -= f * A[k, j]
                b[i] -= f * b[k]
    for i in range(rank, n):
        b[i] = 0.0
    for i in range(rank - 1, -1, -1):
        total = b[i]
        for j in range(i + 1, rank):
            total -= A[i, j] * b[j]
        b[i] = total / A[i, i]
    if whole and least:
        make_smallest(A, b, rank, n)
    if whole:
        put_back(A, b, order, n)
    return rank


@njit(**OPTIONS)
@dated
def make_smallest(A, b, rank, n):  # type: ignore[no-untyped-def]
    """Take from a solution of an eliminated system what the equations leave open; the rows without a pivot are room."""
    for v in range(rank, n):
        z = A[v]
        for j in range(rank, n):
            z[j] = 1.0 if j == v else 0.0
        for i in range(rank - 1, -1, -1):
            total = -A[i, v]
            for j in range(i + 1, rank):
                total -= A[i, j] * z[j]
            z[i] = total / A[i, i]
        for _ in range(2):  # once more for what rounding leaves
            for other in range(rank, v):
                take_from(z, A[other], n)
        length = 0.0
        for i in range(n):
            length += z[i] * z[i]
        for i in range(n):
            z[i] /= math.sqrt(length)
        take_from(b, z, n)


@njit(**OPTIONS)
@dated
def take_from(x, unit, n):  # type: ignore[no-untyped-def]
    """Take the part along a unit vector from a vector."""
    dot = 0.0
    for i in range(n):
        dot += x[i] * unit[i]
    for i in range(n):
        x[i] -= dot * unit[i]


@njit(**OPTIONS)
@dated
def put_back(A, b, order, n):  # type: ignore[no-untyped-def]
    """Bring a solution back into the order of the unknowns, the matrix as room."""
    for i in range(n):
        A[0, order[i]] = b[i]
    for i in range(n):
        b[i] = A[0, i]
