"""Compiled sweeps of a type in the paper's way: Newton-Raphson, normal equations, K and L column by column.

Sizes are constants of each compiled sweep. Work arrays travel together: P = Φ_φ, H = Φ_h (its last column is Φ_t where
time stands in the equations), A the factors, K, L, and D = Φ_φ/h_i, E = Φ_h/h_i of Eq. 39 and 43.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

from .small_systems import OPTIONS, SWEPT, add_transposed_times, cholesky, inverse_of_two, lu, normal_matrix

POSITION, VELOCITY, ACCELERATION = 1, 2, 3  # how far a step goes
MOST_ITERATIONS = 50


# ---- of a type ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class PaperSizes:
    """Numbers of rows, unknowns, known coordinates and parameters; `columns` counts time among the known."""

    p: int
    r: int
    s: int
    par: int
    columns: int

    @classmethod
    def of(cls, module: ModuleType) -> PaperSizes:
        p, r, s, par = (len(x) for x in (module.CONSTRAINTS, module.DEPENDENT, module.INDEPENDENT, module.PARAMETERS))
        return cls(p, r, s, par, s + bool(module.RHEONOMIC))


@cache
def _linear(module: ModuleType, m: int) -> tuple[Any, Any]:
    """Return what forms and factors Φ_φ or Φ_φᵀ Φ_φ, and what solves Φ_φ X = rows with m columns."""
    n = PaperSizes.of(module)
    p, r, redundant, jacobian = n.p, n.r, n.p > n.r, module.jacobian_dependent_at
    factor, substitute = inverse_of_two(m) if p == r == 2 else cholesky(r, m) if redundant else lu(r, m)
    normal, project = normal_matrix(p, r), add_transposed_times(p, r, m)

    @njit(**OPTIONS)
    def system(x: Any, hs: Any, ps: Any, t: Any, P: Any, A: Any, pivots: Any) -> None:
        jacobian(x, hs, ps, t, P)
        if redundant:
            normal(P, A)
        else:
            A[:] = P
        factor(A, pivots)

    @njit(**OPTIONS)
    def solve(P: Any, A: Any, pivots: Any, rows: Any, X: Any) -> None:
        if redundant:
            X[:] = 0.0
            project(P, rows, X)
        else:
            X[:] = rows
        substitute(A, pivots, X)

    return system, solve


@cache
def _columns(module: ModuleType) -> Any:
    """Return what finds Φ_h (with Φ_t) and the columns of K, Eq. 25a or 28a; that of time is S b."""
    n = PaperSizes.of(module)
    p, r, s, columns = n.p, n.r, n.s, n.columns
    jacobian_h, velocity_rhs = module.jacobian_independent_at, module.velocity_rhs
    _, solve = _linear(module, columns)

    @njit(**OPTIONS)
    def coefficients(x: Any, hs: Any, ps: Any, t: Any, P: Any, H: Any, A: Any, pivots: Any, K: Any) -> None:
        jacobian_h(x, hs, ps, t, H[:, :s])
        if columns > s:
            rows = velocity_rhs(x, hs, ps, to_fixed_tuple(np.zeros(s), s), t)
            for k in range(p):
                H[k, s] = -rows[k]
        solve(P, A, pivots, H.reshape(p * columns), K.reshape(r * columns))
        K[:] = -K

    return coefficients


@cache
def _moved(module: ModuleType) -> Any:
    """Return what finds D = Φ_φ/h_i and E = Φ_h/h_i, the total derivatives of Eq. 38, with φ moving along K_i."""
    n = PaperSizes.of(module)
    p, r, s, columns, curvature_at = n.p, n.r, n.s, n.columns, module.curvature_at

    @njit(**OPTIONS)
    def moved(i: Any, x: Any, hs: Any, ps: Any, t: Any, K: Any, D: Any, E: Any) -> None:
        unit, place, changed = np.zeros(r), np.zeros(s), np.zeros(s)
        if i < s:
            changed[i] = 1.0
        u_phi, u_h, u_t = to_fixed_tuple(K[:, i].copy(), r), to_fixed_tuple(changed, s), 1.0 if i == s else 0.0
        none_h, none = to_fixed_tuple(place, s), to_fixed_tuple(unit, r)
        for j in range(r):
            unit[j] = 1.0
            c = curvature_at(x, hs, ps, u_phi, u_h, to_fixed_tuple(unit, r), none_h, t, u_t, 0.0)
            unit[j] = 0.0
            for k in range(p):
                D[k, j] = c[k]
        for j in range(columns):
            place[min(j, s - 1)] = 1.0 if j < s else 0.0
            c = curvature_at(x, hs, ps, u_phi, u_h, none, to_fixed_tuple(place, s), t, u_t, 1.0 if j == s else 0.0)
            place[min(j, s - 1)] = 0.0
            for k in range(p):
                E[k, j] = c[k]

    return moved


@cache
def _derivative(module: ModuleType) -> Any:
    """Return what finds L_i: by Eq. 39, or by Eq. 43 with its bracket as it stands, for all columns of h."""
    n = PaperSizes.of(module)
    p, r, columns, redundant = n.p, n.r, n.columns, n.p > n.r
    moved, (_, solve) = _moved(module), _linear(module, columns)
    _, substitute = cholesky(r, columns)
    bracket, project = add_transposed_times(p, r, r), add_transposed_times(p, r, columns)

    @njit(**OPTIONS)
    def square(K: Any, D: Any, E: Any, P: Any, A: Any, pivots: Any, L: Any) -> None:
        for a in range(p):
            for k in range(r):
                f = D[a, k]
                for j in range(columns):
                    E[a, j] += f * K[k, j]
        solve(P, A, pivots, E.reshape(p * columns), L.reshape(r * columns))

    @njit(**OPTIONS)
    def normal(K: Any, D: Any, E: Any, P: Any, H: Any, A: Any, pivots: Any, G: Any, L: Any) -> None:
        G[:], L[:] = 0.0, 0.0
        flat = L.reshape(r * columns)
        bracket(D, P.reshape(p * r), G.reshape(r * r))
        project(D, H.reshape(p * columns), flat)
        project(P, E.reshape(p * columns), flat)
        for a in range(r):
            for k in range(r):
                f = G[a, k] + G[k, a]  # D'P + P'D
                for j in range(columns):
                    L[a, j] += f * K[k, j]
        substitute(A, pivots, flat)

    @njit(**OPTIONS)
    def derivative(
        i: Any, x: Any, hs: Any, ps: Any, t: Any, P: Any, H: Any, A: Any, pivots: Any, K: Any, D: Any, E: Any, G: Any,
        L: Any,
    ) -> None:  # fmt: skip
        moved(i, x, hs, ps, t, K, D, E)
        if redundant:
            normal(K, D, E, P, H, A, pivots, G, L[i])
        else:
            square(K, D, E, P, A, pivots, L[i])
        for a in range(r):
            for j in range(columns):
                L[i, a, j] = -L[i, a, j]

    return derivative


@cache
def _newton(module: ModuleType) -> Any:
    """Return what finds φ, Eq. 19a or 21, until |Φ| is small: the number of iterations, -1 where it does not."""
    n = PaperSizes.of(module)
    p, r, constraint_at = n.p, n.r, module.constraint_at
    system, solve = _linear(module, 1)

    @njit(**OPTIONS)
    def newton(
        phi: Any, hs: Any, ps: Any, t: Any, tolerance: Any, P: Any, A: Any, pivots: Any, rows: Any, b: Any
    ) -> int:
        for iteration in range(MOST_ITERATIONS):
            x = to_fixed_tuple(phi, r)
            Phi = constraint_at(x, hs, ps, t)
            norm = 0.0
            for k in range(p):
                rows[k] = Phi[k]
                norm += Phi[k] * Phi[k]
            if np.sqrt(norm) <= tolerance:
                return iteration
            if not np.isfinite(norm):
                break
            system(x, hs, ps, t, P, A, pivots)
            solve(P, A, pivots, rows, b)
            phi -= b
        return -1

    return newton


@cache
def _rates(module: ModuleType, tensor: bool) -> tuple[Any, Any]:
    """Return what finds φ̇ (Eq. 22c or 23; by the tensor Eq. 26) and φ̈ (Eq. 30b or 32; Eq. 36) into b."""
    n = PaperSizes.of(module)
    p, r, s, columns = n.p, n.r, n.s, n.columns
    velocity_rhs, acceleration_rhs = module.velocity_rhs, module.acceleration_rhs
    _, solve = _linear(module, 1)
    coefficients, derivative = _columns(module), _derivative(module)

    @njit(**OPTIONS)
    def first(x: Any, hs: Any, ps: Any, t: Any, rate: Any, P: Any, H: Any, A: Any, pivots: Any, K: Any, rows: Any,
              b: Any) -> None:  # fmt: skip
        if tensor:
            coefficients(x, hs, ps, t, P, H, A, pivots, K)
            for a in range(r):
                b[a] = 0.0
                for j in range(columns):
                    b[a] += K[a, j] * rate[j]
        else:
            found = velocity_rhs(x, hs, ps, to_fixed_tuple(rate, s), t)
            for k in range(p):
                rows[k] = found[k]
            solve(P, A, pivots, rows, b)

    @njit(**OPTIONS)
    def second(x: Any, hs: Any, ps: Any, t: Any, rate: Any, hdd: Any, moving: Any, P: Any, H: Any, A: Any, pivots: Any,
               K: Any, D: Any, E: Any, G: Any, L: Any, rows: Any, b: Any) -> None:  # fmt: skip
        if tensor:
            for i in moving:
                derivative(i, x, hs, ps, t, P, H, A, pivots, K, D, E, G, L)
            for a in range(r):
                total = 0.0
                for j in range(columns):
                    if j < s:
                        total += K[a, j] * hdd[j]
                    for i in moving:
                        total += rate[i] * L[i, a, j] * rate[j]
                b[a] = total
        else:
            xd = to_fixed_tuple(b, r)
            found = acceleration_rhs(x, hs, ps, xd, to_fixed_tuple(rate, s), to_fixed_tuple(hdd, s), t)
            for k in range(p):
                rows[k] = found[k]
            solve(P, A, pivots, rows, b)

    return first, second


@cache
def paper_sweep(module: ModuleType, tensor: bool) -> Callable[..., tuple[int, int]]:
    """Return the compiled sweep of a type over lanes: the first lane that is lost, and Newton's iterations.

    `moving` are the entries of h for which L is found; time, where it stands in the equations, is one more.
    """
    n = PaperSizes.of(module)
    p, r, s, n_par, columns = n.p, n.r, n.s, n.par, n.columns
    newton, (system, _), (first, second) = _newton(module), _linear(module, 1), _rates(module, tensor)

    @njit(**SWEPT)
    def sweep(
        time: Any, q: Any, h_rows: Any, phi_rows: Any, moving: Any, par: Any, tolerance: Any, upto: Any
    ) -> tuple[int, int]:
        P, A, pivots = np.zeros((p, r)), np.zeros((r, r)), np.zeros(r, dtype=np.int64)
        b, rows = np.zeros(r), np.zeros(p)
        K, H, L = np.zeros((r, columns)), np.zeros((p, columns)), np.zeros((columns, r, columns))
        D, E, G = np.zeros((p, r)), np.zeros((p, columns)), np.zeros((r, r))
        phi, h, hdd, rate = np.zeros(r), np.zeros(s), np.zeros(s), np.ones(columns)
        entries = np.append(moving, np.arange(s, columns))
        ps = to_fixed_tuple(par, n_par)
        iterations = 0
        for a in range(r):
            phi[a] = q[0, phi_rows[a], 0]
        for lane in range(len(time)):
            for j in range(s):
                h[j], rate[j], hdd[j] = q[0, h_rows[j], lane], q[1, h_rows[j], lane], q[2, h_rows[j], lane]
            hs, t = to_fixed_tuple(h, s), time[lane]
            taken = newton(phi, hs, ps, t, tolerance, P, A, pivots, rows, b)
            if taken < 0:
                return lane, iterations
            iterations += taken
            x = to_fixed_tuple(phi, r)
            if upto > POSITION:
                system(x, hs, ps, t, P, A, pivots)
                first(x, hs, ps, t, rate, P, H, A, pivots, K, rows, b)
            for a in range(r):
                q[0, phi_rows[a], lane] = phi[a]
                if upto > POSITION:
                    q[1, phi_rows[a], lane] = b[a]
            if upto > VELOCITY:
                second(x, hs, ps, t, rate, hdd, entries, P, H, A, pivots, K, D, E, G, L, rows, b)
                for a in range(r):
                    q[2, phi_rows[a], lane] = b[a]
        return len(time), iterations

    return sweep  # type: ignore[no-any-return]
