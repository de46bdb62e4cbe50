"""Printed expressions mean what their trees mean, with the parentheses that are needed and no others."""

from __future__ import annotations

import ast
import itertools
import math
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assurgent.codegen import ir, printer
from assurgent.codegen.value_numbering import Pool, Value

a, b, c = (ir.Sym(n) for n in "abc")
ONE = Fraction(1)


def minus(*nodes: ir.Node) -> ir.Sum:
    """first - second - third ..."""
    return ir.Sum(tuple((ONE if i == 0 else -ONE, n) for i, n in enumerate(nodes)))


def plus(*nodes: ir.Node) -> ir.Sum:
    return ir.Sum(tuple((ONE, n) for n in nodes))


def times(*nodes: ir.Node) -> ir.Product:
    return ir.Product(tuple((n, 1) for n in nodes))


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (ir.Num(Fraction(2)), "2.0"),
        (ir.Num(Fraction(-1, 2)), "-0.5"),
        (ir.Num(Fraction(1, 10)), "0.1"),
        (minus(a, b, c), "a - b - c"),
        (minus(a, minus(b, c)), "a - (b - c)"),
        (minus(a, plus(b, c)), "a - (b + c)"),
        (plus(a, times(b, c)), "a + b * c"),
        (minus(a, times(b, c)), "a - b * c"),
        (ir.Sum(((-ONE, a), (ONE, b))), "b - a"),
        (ir.Sum(((-ONE, a), (-ONE, b))), "-a - b"),
        (ir.Sum(((Fraction(2), a), (Fraction(-3), times(b, c)))), "2.0 * a - 3.0 * b * c"),
        (ir.Sum(((Fraction(3), ir.Num(ONE)), (ONE, a))), "a + 3.0"),
        (ir.Sum(((Fraction(-3), ir.Num(ONE)), (ONE, a))), "a - 3.0"),
        (ir.Scaled(-ONE, plus(a, b)), "-a - b"),
        (ir.Scaled(-ONE, ir.Sum(((ONE, a), (-ONE, b)))), "b - a"),
        (ir.Scaled(-ONE, times(a, b)), "-a * b"),
        (ir.Scaled(Fraction(2), times(a, b)), "2.0 * a * b"),
        (ir.Scaled(Fraction(2), plus(a, b)), "2.0 * (a + b)"),
        (ir.Scaled(Fraction(-2), a), "-2.0 * a"),
        (times(a, ir.Scaled(Fraction(-2), b)), "a * (-2.0 * b)"),
        (times(a, plus(b, c)), "a * (b + c)"),
        (ir.Product(((a, 1), (b, -1), (c, -1))), "a / (b * c)"),
        (ir.Product(((a, 1), (b, -1))), "a / b"),
        (ir.Product(((a, 1), (times(b, c), -1))), "a / (b * c)"),
        (ir.Product(((a, 1), (plus(b, c), -1))), "a / (b + c)"),
        (ir.Product(((a, 1), (ir.Product(((b, 1), (c, -1))), -1))), "a / (b / c)"),
        (ir.Product(((a, -1),)), "1.0 / a"),
        (ir.Product(((a, -2),)), "1.0 / (a * a)"),
        (ir.Product(((a, 1), (b, -3))), "a / (b * b * b)"),
        (ir.Product(((plus(a, b), 2),)), "(a + b) * (a + b)"),
        (ir.Product(((a, 2),)), "a * a"),
        (ir.Product(((a, 3), (b, 1))), "a * a * a * b"),
        (ir.Scaled(-ONE, ir.Product(((a, 3),))), "-a * a * a"),
        (ir.Product(((ir.Scaled(-ONE, a), 2),)), "(-a) * (-a)"),
        (ir.Product(((ir.Call("sin", a), 2),)), "math.sin(a) * math.sin(a)"),
        (ir.Call("abs", minus(a, b)), "abs(a - b)"),
        (ir.Call("sqrt", ir.Scaled(-ONE, a)), "math.sqrt(-a)"),
        (times(a, ir.Select(a, b, b, c)), "a * (b if a < b else c)"),
    ],
)
def test_precedence(node: ir.Node, expected: str) -> None:
    assert printer.text(node) == expected


def test_numbers_read_back_as_the_nearest_double() -> None:
    for value in (Fraction(1, 3), Fraction(-22, 7), Fraction(10**25), Fraction(1, 10**14)):
        assert float(printer.number(value)) == float(value)


def test_long_statement_is_broken_within_the_line() -> None:
    """A statement longer than the line is broken between operators, and stays the same expression."""
    names = [ir.Sym(f"a_rather_long_name_{i}") for i in range(12)]
    assign = ir.Assign("result", plus(*(times(n, m) for n, m in itertools.pairwise(names))))
    text = printer.statement(assign, 0)
    assert max(map(len, text.split("\n"))) <= printer.WIDTH
    assert text.count("\n") > 2
    short = f"result = {printer.text(assign.value)}"
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(short))


X, Y, Z = sp.symbols("x y z", real=True)
EVERYTHING = [
    X + Y - Z,
    2 * Y - 2 * X,
    X * Y / Z,
    (X + Y) ** 2 - (X - Y) ** 3 / 7,
    X**-2 + Y**-1,
    1 / (X * Y * Z) ** 2,
    -(X + Y) / (Z * (X - 3)),
    sp.sqrt(X**2 + Y**2),
    (X**2 + Y**2) ** sp.Rational(3, 2),
    1 / sp.sqrt(1 + Z**2),
    sp.sin(X) * sp.cos(Y) - sp.tan(Z / 4),
    sp.asin(X / 10) + sp.acos(Y / 10) + sp.atan(X * Y),
    sp.exp(-(X**2)) * sp.log(1 + Y**2),
    sp.Abs(X - Y) * 3,
    sp.pi * X + sp.E * Y,
    sp.sqrt(2) * X - sp.Rational(1, 3),
    sp.Rational(-5, 7) * X,
    X - (Y - (Z - X * (Y - 1))),
]


def select_by_pool(pool: Pool) -> Value:
    """x*y where x < y, otherwise 1 - z, as the pool writes it."""
    x, y, z = (pool.symbol(n) for n in "xyz")
    return pool.select(x, y, x * y, 1 - z)


def every_operation() -> str:
    """The text of one function with every operation that the printer knows."""
    pool = Pool(["x", "y", "z"])
    for i, expression in enumerate(EVERYTHING):
        pool.assign(f"r{i}", pool.freeze(expression))
    pool.assign("chosen", select_by_pool(pool))
    lines = [printer.statement(s, 4) for section in pool.sections() for s in section.statements]
    results = ", ".join([f"r{i}" for i in range(len(EVERYTHING))] + ["chosen"])
    return "\n".join(["import math", "def every(x, y, z):", *lines, f"    return ({results})"])


SCOPE: dict[str, object] = {}
exec(compile(every_operation(), "<every operation>", "exec"), SCOPE)  # text of this test alone


def exact_size(expression: sp.Expr, at: dict[sp.Symbol, sp.Expr]) -> tuple[float, float]:
    """The value at 40 digits, and the sum of the sizes of its terms."""
    terms = expression.args if expression.is_Add else (expression,)
    spread = sum(abs(float(t.subs(at).evalf(40))) for t in terms)
    return float(expression.subs(at).evalf(40)), spread


sixteenths = st.integers(-144, 144).filter(bool).map(lambda n: n / 16)


@given(sixteenths, sixteenths, sixteenths)
@settings(max_examples=60, derandomize=True, deadline=None)
def test_every_operation_evaluates_like_sympy(x: float, y: float, z: float) -> None:
    """Compiled text and SymPy at 40 digits agree to 1e-13 of the terms that are added.

    Differences of sixteenths are exact, so nothing cancels inside a term; it has some ten operations that
    round by 1.1e-16 each, and tan next to its pole makes that a few hundred times larger at most.
    """
    assume(x not in (y, -y, 3.0))
    found = SCOPE["every"](x, y, z)  # type: ignore[operator]
    at = dict(zip((X, Y, Z), (sp.Rational(v) for v in (x, y, z)), strict=True))
    for expression, value in zip(EVERYTHING, found, strict=False):
        exact, spread = exact_size(expression, at)
        assert math.isclose(value, exact, rel_tol=0.0, abs_tol=1e-13 * spread), expression
    assert math.isclose(found[-1], x * y if x < y else 1.0 - z, rel_tol=1e-13)


def test_every_function_of_the_pool_was_printed() -> None:
    """The list above has every function that the pool takes from SymPy, and the root."""
    text = every_operation()
    for function in ("sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "sqrt"):
        assert f"math.{function}(" in text
    assert "abs(" in text
    assert "math.pi" in text
    assert " if " in text
    assert " ** " not in text  # Numba calls a function for it
    assert " / " in text
