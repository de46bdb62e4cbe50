"""The acceleration by the third-order tensor as a kernel: K by columns, L by pairs, then the sum of Eq. 36."""

from __future__ import annotations

import sympy as sp

from .derive import Derivation, symbol
from .linear import BlockSolver, solve_blocks
from .pool import Pool, Value

TIME = "t"
Which = int | str  # an entry of h, or explicit time
Columns = dict[Which, list[sp.Expr]]


def tensor_acceleration(pool: Pool, derivation: Derivation, solver: BlockSolver) -> list[str]:
    """Ask a pool for φ̈ by Eq. 36 with the missing K_t; K from Eq. 25a, L from Eq. 39, symmetric in i and k."""
    d, r = derivation, derivation.n_dependent
    directions: list[Which] = [*d.active, *([TIME] if d.rheonomic else [])]
    columns: Columns = {}
    for i in directions:
        pool.section = "S b, Eq. 25" if i == TIME else f"K[:, {i}], Eq. 25a"
        side = d.Phi_t if i == TIME else [d.Phi_h[row, i] for row in range(r)]
        columns[i] = _column(pool, solver, [-pool.freeze(e) for e in side], f"K{i}_")
    total = [pool.number(0)] * r
    for a, i in enumerate(directions):
        for k in directions[a:]:
            along = _unit(d, "u", i, columns) | _unit(d, "v", k, columns)
            side = [-pool.freeze(e.xreplace(along)) for e in d.curvature]
            if all(v.is_zero for v in side):
                continue
            pool.section = f"L[{i}][:, {k}], Eq. 39"
            column = _column(pool, solver, side, f"L{i}_{k}_")
            rate = _rate(pool, d, i) * _rate(pool, d, k) * (1 if i == k else 2)
            total = [s + rate * pool.freeze(e) for s, e in zip(total, column, strict=True)]
    pool.section = "φ̈ = K ḧ + Σ ḣ_i L_i ḣ (+ K_t ḣ + d(Sb)/dt), Eq. 36"
    second = d.h.rate(2)
    sums = [[pool.freeze(columns[i][j]) * pool.symbol(second[i].name) for i in d.active] for j in range(r)]
    return [pool.assign(pool.fresh(f"x{j}"), pool.sum([total[j], *sums[j]])).name for j in range(r)]


def _unit(d: Derivation, prefix: str, which: Which, columns: Columns) -> dict[sp.Symbol, sp.Expr]:
    """Return the direction (K e_i, e_i, 0), or (S b, 0, 1) for explicit time, as values of the curvature's symbols."""
    values = dict.fromkeys(d.h.named(prefix), sp.Integer(0))
    values[symbol(f"_{prefix}_t")] = sp.Integer(int(which == TIME))
    if which != TIME:
        values[d.h.named(prefix)[int(which)]] = sp.Integer(1)
    return values | dict(zip(d.phi.named(prefix), columns[which], strict=True))


def _rate(pool: Pool, d: Derivation, which: Which) -> Value:
    return pool.number(1) if which == TIME else pool.symbol(d.h.rate(1)[int(which)].name)


def _column(pool: Pool, solver: BlockSolver, side: list[Value], prefix: str) -> list[sp.Expr]:
    """Solve for one column; return its entries as SymPy symbols (or numbers) for further substitution."""

    def name(hint: str, value: Value) -> Value:
        return pool.name(prefix + hint.removeprefix("x"), value)

    found = []
    for value in solve_blocks(solver, side, pool, name):
        factor = sp.Rational(value.factor.numerator, value.factor.denominator)
        found.append(factor if value.constant is not None else factor * symbol(value.name))
    return found
