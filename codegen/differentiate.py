"""Derivatives of values of a pool along a direction, without SymPy: each node once, in the order of its making.

Going along a direction keeps differences together: (x_C - x_A)² becomes 2 (x_C - x_A)(ẋ_C - ẋ_A). Nodes that several
rows share are differentiated once, so that the cost grows with the number of distinct operations and not with the
length of the formulas written out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import sympy as sp

from .orders import Orders
from .spec import GroupSpec
from .value_numbering import Pool, Value

# d f(u) / du as a value of the pool, given u and f(u)
_SLOPES: dict[str, Callable[[Pool, Value, Value], Value]] = {
    "sin": lambda pool, u, f: pool.call("cos", u),
    "cos": lambda pool, u, f: -pool.call("sin", u),
    "tan": lambda pool, u, f: 1 + f * f,
    "asin": lambda pool, u, f: 1 / pool.call("sqrt", 1 - u * u),
    "acos": lambda pool, u, f: -1 / pool.call("sqrt", 1 - u * u),
    "atan": lambda pool, u, f: 1 / (1 + u * u),
    "exp": lambda pool, u, f: f,
    "log": lambda pool, u, f: 1 / u,
    "sqrt": lambda pool, u, f: 1 / (2 * f),
}


def along(pool: Pool, values: Sequence[Value], direction: Mapping[Value, Value]) -> tuple[Value, ...]:
    """Return d/dτ f(x + τ dx) at τ = 0 for values f of a pool; `direction` gives dx for some of its symbols."""
    walk = _Walk(pool, direction)
    return tuple(walk(value) for value in values)


def pooled(pool: Pool, spec: GroupSpec, rows: Sequence[sp.Expr]) -> Orders:
    """Return the orders of the motion of a group with these rows Φ as values of a pool."""
    frozen = tuple(pool.freeze(e) for e in rows)
    return Orders(spec.phi, spec.h, spec.par, frozen, pool.symbol, pool.number, partial(along, pool))


class _Walk:
    """One direction: derivatives of nodes already met are kept."""

    def __init__(self, pool: Pool, direction: Mapping[Value, Value]) -> None:
        self.pool = pool
        self.known = {x.node: dx for x, dx in direction.items() if not dx.is_zero}

    def __call__(self, value: Value) -> Value:
        if value.constant is not None:
            return self.pool.number(0)
        slope = self._node(value.node)
        return slope if value.factor == 1 else slope * value.factor

    def _node(self, node: int) -> Value:
        if node not in self.known:
            self.known[node] = self._slope(node)
        return self.known[node]

    def _slope(self, node: int) -> Value:
        pool, key = self.pool, self.pool.keys[node]
        match key[0]:
            case "one" | "sym":
                return pool.number(0)
            case "sum":
                return pool.sum([self._node(n) * c for c, n in key[1]])  # type: ignore[attr-defined]
            case "product":
                return self._product(key[1])  # type: ignore[arg-type]
            case "call" if key[1] in _SLOPES:
                u = Value(pool, key[2], key[3])  # type: ignore[arg-type]
                du = self(u)
                return du if du.is_zero else _SLOPES[str(key[1])](pool, u, pool.of(node)) * du
        raise TypeError(f"{key[0]} {key[1]} has no derivative")

    def _product(self, factors: Sequence[tuple[int, int]]) -> Value:
        """Return Σ e x^(e-1) (Π others) dx over the factors x^e that change."""
        pool, terms = self.pool, []
        for i, (node, exponent) in enumerate(factors):
            slope = self._node(node)
            if not slope.is_zero:
                others = [(n, e - (i == j)) for j, (n, e) in enumerate(factors)]
                terms.append(pool.product([pool.powers(others), slope]) * exponent)
        return pool.sum(terms)
