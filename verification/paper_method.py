"""MOD_TD and MOD_3OT as Saura, Segado and Dopico have them, step by step, where `run` does it another way.

Positions by Newton-Raphson from the step before until |Φ| is small (Algorithm 2); for p > r the normal equations of
Eq. 21, 23, 28 and 32, where emitted solvers take a QR factorisation; MOD_3OT with velocities by Eq. 26 from all s
columns of K, and L by Eq. 39 or 43 as they stand, a matrix r x s for every entry of h that is not fixed (Tables 1 and
2 set fixed coordinates apart; section 5.1 gives L of 3R a third dimension of two). Time counts as one more entry of h
with rate one, which gives the term that Eq. 33 and 36 lack. The emitted formulas of a type are used, not its solvers.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from ..common.errors import AssemblyError
from ..mechanism.plans.plan import Array
from ..mechanism.structure import Structure
from ..motion.branches import follow
from ..motion.kinematics import Outcome, report
from ..runtime.program import ONE, ZERO, Program
from ..runtime.sequence import Sequence

METHODS = {"td-paper": "td", "3ot-paper": "3ot"}
POSITION, VELOCITY, ACCELERATION = 1, 2, 3  # how far a step goes
TOLERANCE = 1e-12  # of |Φ|, by the square of the size
MOST_ITERATIONS = 50
NOTHING_MORE: Mapping[str, Collection[str]] = {}


@dataclass(frozen=True)
class Stepped:
    """What a sweep in the paper's way took, and where it came apart: group and lane (None: nowhere)."""

    iterations: int
    lost: tuple[str, int] | None = None


def step_through(
    sequence: Sequence,
    time: Array,
    state: Array,
    numbers: Array,
    method: str,
    size: float,
    upto: int = ACCELERATION,
    counted: Mapping[str, Collection[str]] = NOTHING_MORE,
) -> Stepped:
    """Solve all lanes of a state again, group by group; φ of the first lane is where Newton starts.

    `counted` are entries of h, by type, that count as not fixed although nothing moves them.
    """
    edges, signs = np.array([0, len(time)], dtype=np.int64), np.zeros((1, max(sequence.n_signs, 1)))
    iterations, fixed = 0, {ZERO, ONE, *sequence.program.constants}
    for i, item in enumerate(sequence.items):
        step = item.group_step
        if item.kind == "group" and step is not None and not step.solver.group.module.PROFILES:
            par = np.array(sequence.numbers_of(step, numbers)[0])
            rows = (np.asarray(step.h_rows, dtype=np.int64), np.asarray(step.phi_rows, dtype=np.int64))
            module = step.solver.group.module
            more = counted.get(module.NAME, ())
            named = zip(module.INDEPENDENT, rows[0], strict=True)
            moving = [j for j, (name, row) in enumerate(named) if int(row) not in fixed or name in more]
            sweep = paper_sweep(module, METHODS[method] == "3ot")
            close = TOLERANCE * max(1.0, size) ** 2
            lost, taken = sweep(time, state, *rows, np.array(moving, dtype=np.int64), par, close, upto)
            iterations += int(taken)
            if lost < len(time):
                return Stepped(iterations, (step.plan.name, int(lost)))
        elif item.kind in ("combination", "angle", "points"):
            sequence.run("td", time, state, edges, signs, [i], numbers=numbers)
    return Stepped(iterations)


def run_paper(structure: Structure, program: Program, asked: Array, method: str) -> tuple[float, Outcome]:
    """Return the seconds and the outcome of a run in the paper's way; `run` gives its instants and its first step."""
    start = float(program.model.simulation.start)
    before = [start] if asked[0] > start else []
    begun = follow(program, np.concatenate([before, asked]))
    steps = begun.asked[len(before) :]
    if begun.failure is not None:
        results = report(begun, steps[steps < begun.solved], method, structure)
        return 0.0, Outcome(program.model, structure, results, begun.failure)
    found = replace(begun, state=begun.state.copy(), angled={}, coarse=[], fine=None)
    began = clock.perf_counter()
    done = step_through(program.sequence, found.time, found.state, found.numbers, method, found.size)
    if done.lost is not None:
        group, lane = done.lost
        raise AssemblyError(
            f"{method}: group {group}: Newton-Raphson from the step before, as the paper has it, does not converge at "
            f"t = {found.time[lane]:g} s - give smaller steps"
        )
    found.iterations = done.iterations
    results = report(found, steps, method, structure)
    return clock.perf_counter() - began, Outcome(program.model, structure, results, None)


# ---- compiled -----------------------------------------------------------------------------------------------------
@cache
def _algebra(two: bool) -> tuple[Any, Any]:
    """Factors and solutions of small dense systems in place: LU with pivots, or Cholesky of normal equations.

    Of two equations with two unknowns the inverse itself, as Eq. 20 has it.
    """
    from numba import njit

    if two:
        return _inverse()

    @njit(error_model="numpy")  # type: ignore[untyped-decorator]
    def factor(A: Any, pivots: Any, symmetric: Any) -> None:
        n = len(A)
        for k in range(n):
            if symmetric:
                for j in range(k):
                    A[k, k] -= A[k, j] * A[k, j]
                A[k, k] = np.sqrt(A[k, k])
                for i in range(k + 1, n):
                    for j in range(k):
                        A[i, k] -= A[i, j] * A[k, j]
                    A[i, k] /= A[k, k]
                continue
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

    @njit(error_model="numpy")  # type: ignore[untyped-decorator]
    def substitute(A: Any, pivots: Any, symmetric: Any, b: Any) -> None:
        n = len(A)
        for k in range(n):
            if not symmetric and pivots[k] != k:
                b[k], b[pivots[k]] = b[pivots[k]], b[k]
            if symmetric:
                b[k] /= A[k, k]
            for i in range(k + 1, n):
                b[i] -= A[i, k] * b[k]
        for k in range(n - 1, -1, -1):
            for j in range(k + 1, n):
                b[k] -= (A[j, k] if symmetric else A[k, j]) * b[j]
            b[k] /= A[k, k]

    return factor, substitute


def _inverse() -> tuple[Any, Any]:
    from numba import njit

    @njit(error_model="numpy")  # type: ignore[untyped-decorator]
    def factor(A: Any, pivots: Any, symmetric: Any) -> None:
        chi = 1.0 / (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])
        A[0, 0], A[1, 1] = chi * A[1, 1], chi * A[0, 0]
        A[0, 1] *= -chi
        A[1, 0] *= -chi

    @njit(error_model="numpy")  # type: ignore[untyped-decorator]
    def substitute(A: Any, pivots: Any, symmetric: Any, b: Any) -> None:
        first = A[0, 0] * b[0] + A[0, 1] * b[1]
        b[1] = A[1, 0] * b[0] + A[1, 1] * b[1]
        b[0] = first

    return factor, substitute


@cache
def paper_sweep(module: ModuleType, tensor: bool) -> Callable[..., tuple[int, int]]:
    """Return the compiled sweep of a type over lanes: the first lane that is lost, and Newton's iterations."""
    from numba import njit
    from numba.np.unsafe.ndarray import to_fixed_tuple

    p, r, s, n_par = (len(x) for x in (module.CONSTRAINTS, module.DEPENDENT, module.INDEPENDENT, module.PARAMETERS))
    redundant, rheonomic = p > r, bool(module.RHEONOMIC)
    factor, substitute = _algebra(p == r == 2)
    columns = s + 1 if rheonomic else s  # time is the last
    constraint_at, velocity_rhs, acceleration_rhs = module.constraint_at, module.velocity_rhs, module.acceleration_rhs
    jacobian, jacobian_h, curvature_at = (
        module.jacobian_dependent_at, module.jacobian_independent_at, module.curvature_at
    )  # fmt: skip

    @njit(error_model="numpy")  # type: ignore[untyped-decorator]
    def right_side(P: Any, rows: Any, b: Any) -> None:
        """b = Φ_φᵀ rows of least squares, or the rows themselves."""
        for i in range(r):
            if redundant:
                total = 0.0
                for k in range(p):
                    total += P[k, i] * rows[k]
                b[i] = total
            else:
                b[i] = rows[i]

    @njit(error_model="numpy")  # type: ignore[untyped-decorator]
    def system(x: Any, hs: Any, ps: Any, t: Any, P: Any, A: Any, pivots: Any) -> None:
        """Φ_φ, and the factors of it or of Φ_φᵀ Φ_φ."""
        jacobian(x, hs, ps, t, P)
        for i in range(r):
            for j in range(r):
                if redundant:
                    total = 0.0
                    for k in range(p):
                        total += P[k, i] * P[k, j]
                    A[i, j] = total
                else:
                    A[i, j] = P[i, j]
        factor(A, pivots, redundant)

    @njit(error_model="numpy")  # type: ignore[untyped-decorator]
    def coefficients(x: Any, hs: Any, ps: Any, t: Any, P: Any, H: Any, A: Any, pivots: Any, K: Any, b: Any) -> None:
        """Φ_h (with Φ_t) and the columns of K, Eq. 25a or 28a, solved one by one; S b is that of time."""
        jacobian_h(x, hs, ps, t, H[:, :s])
        if rheonomic:
            rows = velocity_rhs(x, hs, ps, to_fixed_tuple(np.zeros(s), s), t)
            for k in range(p):
                H[k, s] = -rows[k]
        for j in range(columns):
            right_side(P, -H[:, j], b)
            substitute(A, pivots, redundant, b)
            K[:, j] = b

    @njit(error_model="numpy")  # type: ignore[untyped-decorator]
    def derivative(
        i: Any, x: Any, hs: Any, ps: Any, t: Any, P: Any, H: Any, A: Any, pivots: Any, K: Any, D: Any, E: Any, G: Any,
        W: Any, L: Any, b: Any,
    ) -> None:  # fmt: skip
        """L_i by Eq. 39, or by Eq. 43: D = Φ_φ/h_i and E = Φ_h/h_i, G and W what stands in the bracket."""
        unit, still = np.zeros(r), np.zeros(s)
        along, moved = to_fixed_tuple(K[:, i].copy(), r), np.zeros(s)
        if i < s:
            moved[i] = 1.0
        u_h, u_t = to_fixed_tuple(moved, s), 1.0 if i == s else 0.0
        none_h, none = to_fixed_tuple(still, s), to_fixed_tuple(unit, r)
        for j in range(r):
            unit[j] = 1.0
            c = curvature_at(x, hs, ps, along, u_h, to_fixed_tuple(unit, r), none_h, t, u_t, 0.0)
            unit[j] = 0.0
            for k in range(p):
                D[k, j] = c[k]
        for j in range(columns):
            if j < s:
                still[j] = 1.0
            c = curvature_at(x, hs, ps, along, u_h, none, to_fixed_tuple(still, s), t, u_t, 1.0 if j == s else 0.0)
            if j < s:
                still[j] = 0.0
            for k in range(p):
                E[k, j] = c[k]
        if redundant:
            for a in range(r):
                for j in range(r):
                    total = 0.0
                    for k in range(p):
                        total += D[k, a] * P[k, j] + P[k, a] * D[k, j]
                    G[a, j] = total
                for j in range(columns):
                    total = 0.0
                    for k in range(p):
                        total += D[k, a] * H[k, j] + P[k, a] * E[k, j]
                    W[a, j] = total
        for j in range(columns):
            for a in range(r):
                total = W[a, j] if redundant else E[a, j]
                for k in range(r):
                    total += (G[a, k] if redundant else D[a, k]) * K[k, j]
                b[a] = -total
            substitute(A, pivots, redundant, b)
            L[i, :, j] = b

    @njit(error_model="numpy")  # type: ignore[untyped-decorator]
    def sweep(
        time: Any, q: Any, h_rows: Any, phi_rows: Any, moving: Any, par: Any, tolerance: Any, upto: Any
    ) -> tuple[int, int]:
        P, A, pivots, b = np.zeros((p, r)), np.zeros((r, r)), np.zeros(r, dtype=np.int64), np.zeros(r)
        K, H, L = np.zeros((r, columns)), np.zeros((p, columns)), np.zeros((columns, r, columns))
        D, E, G, W = np.zeros((p, r)), np.zeros((p, columns)), np.zeros((r, r)), np.zeros((r, columns))
        phi, h, hd, hdd, rate = np.zeros(r), np.zeros(s), np.zeros(s), np.zeros(s), np.zeros(columns)
        rows = np.zeros(p)
        ps = to_fixed_tuple(par, n_par)
        n_moving = len(moving) + columns - s
        iterations = 0
        for a in range(r):
            phi[a] = q[0, phi_rows[a], 0]
        for lane in range(len(time)):
            t = time[lane]
            for j in range(s):
                h[j], hd[j], hdd[j] = q[0, h_rows[j], lane], q[1, h_rows[j], lane], q[2, h_rows[j], lane]
                rate[j] = hd[j]
            if rheonomic:
                rate[s] = 1.0
            hs = to_fixed_tuple(h, s)
            left = MOST_ITERATIONS
            while True:
                x = to_fixed_tuple(phi, r)
                Phi = constraint_at(x, hs, ps, t)
                norm = 0.0
                for k in range(p):
                    rows[k] = Phi[k]
                    norm += Phi[k] * Phi[k]
                if np.sqrt(norm) <= tolerance:
                    break
                left -= 1
                if left < 0 or not np.isfinite(norm):
                    return lane, iterations
                system(x, hs, ps, t, P, A, pivots)
                right_side(P, rows, b)
                substitute(A, pivots, redundant, b)
                phi -= b
                iterations += 1
            for a in range(r):
                q[0, phi_rows[a], lane] = phi[a]
            if upto == POSITION:
                continue
            system(x, hs, ps, t, P, A, pivots)
            if tensor:
                coefficients(x, hs, ps, t, P, H, A, pivots, K, b)
                for a in range(r):
                    total = 0.0
                    for j in range(columns):
                        total += K[a, j] * rate[j]
                    b[a] = total
            else:
                Phi = velocity_rhs(x, hs, ps, to_fixed_tuple(hd, s), t)
                for k in range(p):
                    rows[k] = Phi[k]
                right_side(P, rows, b)
                substitute(A, pivots, redundant, b)
            for a in range(r):
                q[1, phi_rows[a], lane] = b[a]
            if upto == VELOCITY:
                continue
            if tensor:
                for m in range(n_moving):
                    i = moving[m] if m < len(moving) else s
                    derivative(i, x, hs, ps, t, P, H, A, pivots, K, D, E, G, W, L, b)
                for a in range(r):
                    total = 0.0
                    for j in range(columns):
                        total += K[a, j] * (hdd[j] if j < s else 0.0)
                        for m in range(n_moving):
                            i = moving[m] if m < len(moving) else s
                            total += rate[i] * L[i, a, j] * rate[j]
                    b[a] = total
            else:
                xd = to_fixed_tuple(b, r)
                Phi = acceleration_rhs(x, hs, ps, xd, to_fixed_tuple(hd, s), to_fixed_tuple(hdd, s), t)
                for k in range(p):
                    rows[k] = Phi[k]
                right_side(P, rows, b)
                substitute(A, pivots, redundant, b)
            for a in range(r):
                q[2, phi_rows[a], lane] = b[a]
        return len(time), iterations

    return sweep  # type: ignore[no-any-return]
