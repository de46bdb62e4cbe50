"""Derivatives made in a pool against SymPy's, at random points with 40 digits."""

from __future__ import annotations

import math
import random

import pytest
import sympy as sp

from assurgent.codegen.derive import symbol
from assurgent.codegen.differentiate import along
from assurgent.codegen.doubles import function
from assurgent.codegen.value_numbering import Pool, Value

X, Y, Z, U = (symbol(n) for n in "xyzu")
FORMULAS = [
    X * Y - Z,
    (X - Y) ** 2 + (Z - 3) ** 2,
    X**3 * Y / (Z + 2),
    -(X + Y) / (Z * (X - 3)),
    sp.sqrt(X**2 + Y**2 + 1),
    (X**2 + Y**2) ** sp.Rational(3, 2),
    sp.sin(X * Y) * sp.cos(Z) - sp.tan(Z / 4),
    sp.asin(X / 10) + sp.acos(Y / 10) + sp.atan(X * Y),
    sp.exp(-(X**2)) * sp.log(1 + Y**2),
    sp.Integer(7),
]


def second(expression: sp.Expr) -> sp.Expr:
    """The derivative along (1, u, 0), then along (x, 0, y): x moves by itself, so that its own change counts, too."""
    first = sp.diff(expression, X) + U * sp.diff(expression, Y)
    return X * sp.diff(first, X) + Y * sp.diff(first, Z)


def in_the_pool(pool: Pool) -> list[Value]:
    x, y, z, u = (pool.symbol(n) for n in "xyzu")
    rows = [pool.freeze(e) for e in FORMULAS]
    return list(along(pool, along(pool, rows, {x: pool.number(1), y: u}), {x: x, z: y}))


@pytest.mark.parametrize("seed", range(5))
def test_second_derivatives_are_those_of_sympy(seed: int) -> None:
    draw = random.Random(seed)
    place = {s: draw.uniform(0.2, 1.8) for s in (X, Y, Z, U)}
    found = function("xyzu", in_the_pool)(*place.values())
    exact = {s: sp.Rational(v) for s, v in place.items()}
    for expression, value in zip(FORMULAS, found, strict=True):
        truth = float(second(expression).subs(exact).evalf(40))
        assert math.isclose(value, truth, rel_tol=1e-12, abs_tol=1e-13), expression


def test_like_terms_of_a_derivative_are_collected() -> None:
    """(x + 1)² - x² - 2 x changes with nothing."""
    pool = Pool(["x"])
    x = pool.symbol("x")
    (slope,) = along(pool, [(x + 1) * (x + 1) - x * x - 2 * x], {x: pool.number(1)})
    assert slope.is_zero


def test_a_choice_has_no_derivative() -> None:
    pool = Pool(["x", "y"])
    x, y = pool.symbol("x"), pool.symbol("y")
    with pytest.raises(TypeError, match="select"):
        along(pool, [pool.select(x, y, x, y)], {x: pool.number(1)})
