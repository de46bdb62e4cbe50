"""Small dense systems as a compiled sweep needs them: of a given order, with a given number of right-hand sides.

Orders and numbers are constants of what is compiled, and every inner loop runs along a row: the compiler unrolls and
vectorises them, as a library of linear algebra does for larger ones. Right-hand sides are the columns of a matrix,
whose rows follow each other in one array.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import njit

SWEPT = {"error_model": "numpy", "fastmath": {"contract"}}
OPTIONS = {**SWEPT, "forceinline": True}  # of what a sweep calls: arrays are costly to hand over
Pair = tuple[Any, Any]  # factor(A, pivots), solve(A, pivots, B): both in place


@cache
def inverse_of_two(m: int) -> Pair:
    """The inverse itself of two equations, as Eq. 20 has it."""

    @njit(**OPTIONS)
    def factor(A: Any, pivots: Any) -> None:
        chi = 1.0 / (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])
        A[0, 0], A[1, 1] = chi * A[1, 1], chi * A[0, 0]
        A[0, 1] *= -chi
        A[1, 0] *= -chi

    @njit(**OPTIONS)
    def solve(A: Any, pivots: Any, B: Any) -> None:
        for j in range(m):
            B[j], B[m + j] = A[0, 0] * B[j] + A[0, 1] * B[m + j], A[1, 0] * B[j] + A[1, 1] * B[m + j]

    return factor, solve


@cache
def lu(n: int, m: int) -> Pair:
    """LU with partial pivoting, as LAPACK's getrf."""

    @njit(**OPTIONS)
    def factor(A: Any, pivots: Any) -> None:
        for k in range(n):
            best = k
            for i in range(k + 1, n):
                if abs(A[i, k]) > abs(A[best, k]):
                    best = i
            pivots[k] = best
            if best != k:
                for j in range(n):
                    A[k, j], A[best, j] = A[best, j], A[k, j]
            for i in range(k + 1, n):
                A[i, k] /= A[k, k]
                for j in range(k + 1, n):
                    A[i, j] -= A[i, k] * A[k, j]

    @njit(**OPTIONS)
    def solve(A: Any, pivots: Any, B: Any) -> None:
        for k in range(n):  # rows were exchanged whole, so the right-hand side is first
            if pivots[k] != k:
                for j in range(m):
                    B[m * k + j], B[m * pivots[k] + j] = B[m * pivots[k] + j], B[m * k + j]
        for k in range(n):
            for i in range(k + 1, n):
                for j in range(m):
                    B[m * i + j] -= A[i, k] * B[m * k + j]
        for k in range(n - 1, -1, -1):
            for i in range(k + 1, n):
                for j in range(m):
                    B[m * k + j] -= A[k, i] * B[m * i + j]
            inverse = 1.0 / A[k, k]
            for j in range(m):
                B[m * k + j] *= inverse

    return factor, solve


@cache
def cholesky(n: int, m: int) -> Pair:
    """Cholesky's L D Lᵀ without roots: 1/D on the diagonal, L below it, D Lᵀ above it."""

    @njit(**OPTIONS)
    def factor(A: Any, pivots: Any) -> None:
        for k in range(n):
            A[k, k] = 1.0 / A[k, k]
            for i in range(k + 1, n):
                f = A[k, i] * A[k, k]
                A[i, k] = f
                for j in range(i, n):
                    A[i, j] -= f * A[k, j]

    @njit(**OPTIONS)
    def solve(A: Any, pivots: Any, B: Any) -> None:
        for k in range(n):
            for j in range(m):
                B[m * k + j] *= A[k, k]
            for i in range(k + 1, n):
                f = A[k, i]
                for j in range(m):
                    B[m * i + j] -= f * B[m * k + j]
        for k in range(n - 1, 0, -1):
            for i in range(k):
                f = A[k, i]
                for j in range(m):
                    B[m * i + j] -= f * B[m * k + j]

    return factor, solve


@cache
def normal_matrix(p: int, r: int) -> Any:
    """The upper half of Pᵀ P for P of p x r; zeros of P, which groups have many of, are passed over."""

    @njit(**OPTIONS)
    def product(P: Any, A: Any) -> None:
        for i in range(r):
            for j in range(i, r):
                A[i, j] = 0.0
        for k in range(p):
            for i in range(r):
                f = P[k, i]
                if f != 0.0:
                    for j in range(i, r):
                        A[i, j] += f * P[k, j]

    return product


@cache
def add_transposed_times(p: int, r: int, m: int) -> Any:
    """B += Pᵀ C for P of p x r and C of p x m; zeros of P are passed over."""

    @njit(**OPTIONS)
    def product(P: Any, C: Any, B: Any) -> None:
        for k in range(p):
            for i in range(r):
                f = P[k, i]
                if f != 0.0:
                    for j in range(m):
                        B[m * i + j] += f * C[m * k + j]

    return product
