"""The acceleration by the third-order tensor as a kernel: K by columns, L by pairs, then the sum of Eq. 36."""

from __future__ import annotations

from .derive import Derivation
from .linear import BlockSolver, solve_blocks
from .orders import Orders, rate_names
from .value_numbering import Pool, Value

TIME = "t"
Which = int | str  # an entry of h, or explicit time
Columns = dict[Which, list[Value]]


def tensor_acceleration(pool: Pool, derivation: Derivation, orders: Orders, solver: BlockSolver) -> list[str]:
    """Ask a pool for φ̈ by Eq. 36 with the missing K_t; K from Eq. 25a, L from Eq. 39, symmetric in i and k."""
    d, r = derivation, derivation.n_dependent
    directions: list[Which] = [*d.active, *([TIME] if d.rheonomic else [])]
    columns: Columns = {}
    for i in directions:
        pool.section = "S b, Eq. 25" if i == TIME else f"K[:, {i}], Eq. 25a"
        column = orders.column(TIME if i == TIME else orders.h[int(i)])
        columns[i] = _column(pool, orders, solver, [-e for e in column], f"K{i}_")
    total = [pool.number(0)] * r
    for a, i in enumerate(directions):
        for k in directions[a:]:
            side = [-e for e in orders.bend(_unit(orders, i, columns), _unit(orders, k, columns))]
            if all(v.is_zero for v in side):
                continue
            pool.section = f"L[{i}][:, {k}], Eq. 39"
            bend = _column(pool, orders, solver, side, f"L{i}_{k}_")
            rate = _rate(pool, orders, i) * _rate(pool, orders, k) * (1 if i == k else 2)
            total = [s + rate * e for s, e in zip(total, bend, strict=True)]
    pool.section = "φ̈ = K ḧ + Σ ḣ_i L_i ḣ (+ K_t ḣ + d(Sb)/dt), Eq. 36"
    second = rate_names(orders.h, 2)
    sums = [[columns[i][j] * pool.symbol(second[i]) for i in d.active] for j in range(r)]
    return [pool.assign(pool.fresh(f"x{j}"), pool.sum([total[j], *sums[j]])).name for j in range(r)]


def _unit(orders: Orders, which: Which, columns: Columns) -> dict[Value, Value]:
    """Return the direction (K e_i, e_i, 0), or (S b, 0, 1) for explicit time."""
    own = orders.symbol(TIME if which == TIME else orders.h[int(which)])
    phi = (orders.symbol(name) for name in orders.phi)
    return {own: orders.number(1), **dict(zip(phi, columns[which], strict=True))}


def _rate(pool: Pool, orders: Orders, which: Which) -> Value:
    return pool.number(1) if which == TIME else pool.symbol(rate_names(orders.h, 1)[int(which)])


def _column(pool: Pool, orders: Orders, solver: BlockSolver, side: list[Value], prefix: str) -> list[Value]:
    """Solve for one column; its entries are numbers or names of their own, which stay when something moves."""
    moving = {*orders.phi, *orders.h, TIME}

    def name(hint: str, value: Value) -> Value:
        return pool.name(prefix + hint.removeprefix("x"), value)

    def own(i: int, value: Value) -> Value:
        if value.constant is not None or value.name not in moving:
            return value
        return pool.assign(pool.fresh(f"{prefix}{i}"), pool.of(value.node)) * value.factor

    return [own(i, value) for i, value in enumerate(solve_blocks(solver, side, pool, name))]
