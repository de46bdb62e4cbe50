"""Small systems of a given order against NumPy, for one and for several right-hand sides."""

from __future__ import annotations

import numpy as np
import pytest

from assurgent.verification.small_systems import (
    add_transposed_times,
    cholesky,
    inverse_of_two,
    lu,
    normal_matrix,
)


def test_systems_of_several_sides() -> None:
    rng = np.random.default_rng(2)
    for n, m in ((2, 3), (5, 1)):
        M, B = rng.normal(size=(n, n)), rng.normal(size=(n, m))
        M[0, 0] = 0.0  # a pivot must be looked for
        ways = [(M, lu(n, m)), (M.T @ M, cholesky(n, m)), *([(M, inverse_of_two(m))] if n == 2 else [])]
        for A, (factor, solve) in ways:
            factors, X, pivots = A.copy(), B.ravel().copy(), np.zeros(n, dtype=np.int64)
            factor(factors, pivots)
            solve(factors, pivots, X)
            assert A @ X.reshape(n, m) == pytest.approx(B, rel=1e-9)


def test_products_pass_over_zeros_only() -> None:
    rng = np.random.default_rng(3)
    P, C = rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
    P[0, 1] = P[2, 0] = 0.0
    A, B = np.full((3, 3), np.nan), np.ones(6)
    normal_matrix(4, 3)(P, A)
    add_transposed_times(4, 3, 2)(P, C.ravel(), B)
    assert A[np.triu_indices(3)] == pytest.approx((P.T @ P)[np.triu_indices(3)], rel=1e-14)
    assert B.reshape(3, 2) == pytest.approx(1.0 + P.T @ C, rel=1e-14)
