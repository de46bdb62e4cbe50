"""Formulas are read as the grammar says, refused with a column and a reason, and never executed."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assurgent.codegen.algebra import Evaluator, Field
from assurgent.common import expressions as ex

RATIONAL = Field(number=lambda f: f, functions={}, pi=Fraction(22, 7))
NAMES: dict[str, Any] = {
    "a": Fraction(3),
    "b": Fraction(5, 2),
    "c": Fraction(-7, 3),
    "u": (Fraction(1, 2), Fraction(-4)),
    "v": (Fraction(3), Fraction(2, 5)),
}


def value(text: str) -> Any:
    """The value of a formula over exact fractions."""
    return Evaluator(NAMES, RATIONAL, 2)(ex.parse(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-2**2", Fraction(-4)),
        ("-2^2", Fraction(-4)),
        ("(-2)^2", Fraction(4)),
        ("2^-2", Fraction(1, 4)),
        ("a - b - c", Fraction(3) - Fraction(5, 2) + Fraction(7, 3)),
        ("a - (b - c)", Fraction(3) - (Fraction(5, 2) + Fraction(7, 3))),
        ("a/b/c", Fraction(3) / Fraction(5, 2) / Fraction(-7, 3)),
        ("a/(b*c)", Fraction(3) / (Fraction(5, 2) * Fraction(-7, 3))),
        ("a/b*c", Fraction(3) / Fraction(5, 2) * Fraction(-7, 3)),
        ("a + b*c", Fraction(3) + Fraction(5, 2) * Fraction(-7, 3)),
        ("2*a^2", Fraction(18)),
        ("a*-b", Fraction(-15, 2)),
        ("--+-a", Fraction(-3)),
        ("- a + b", Fraction(-1, 2)),
        ("0.1 + 0.2", Fraction(3, 10)),
        (".5e1", Fraction(5)),
        ("1.", Fraction(1)),
        ("2E-2", Fraction(1, 50)),
        ("|u|^2", Fraction(1, 4) + 16),
        ("|u|**2", Fraction(1, 4) + 16),
        ("|u - |v|^2*u|^2", (Fraction(65, 4)) * (1 - Fraction(229, 25)) ** 2),
        ("||u|^2 - |v|^2|^2", (Fraction(65, 4) - Fraction(229, 25)) ** 2),
        ("u.x*v.y - u.y*v.x", Fraction(1, 5) + 12),
        ("(u + v).x", Fraction(7, 2)),
        ("[a, b].y", Fraction(5, 2)),
        ("-u", (Fraction(-1, 2), Fraction(4))),
        ("u - v - u", (Fraction(-3), Fraction(-2, 5))),
        ("2*u/4", (Fraction(1, 4), Fraction(-2))),
        ("[a + b, -c]", (Fraction(11, 2), Fraction(7, 3))),
        ("cross(u, v)", Fraction(1, 5) + 12),
        ("dot(u, perp(u))", Fraction(0)),
    ],
)
def test_value(text: str, expected: Any) -> None:
    """Precedence, associativity, bars, components and vectors are those of the grammar."""
    assert value(text) == expected


def test_power_binds_to_the_right_and_a_tower_is_refused() -> None:
    """2^3^2 reads as 2^(3^2); as an exponent only a plain whole number has a value."""
    tree = ex.parse("2^3^2")
    assert isinstance(tree, ex.Binary)
    assert isinstance(tree.left, ex.Number)
    assert isinstance(tree.right, ex.Binary)
    with pytest.raises(ex.FormulaError, match="the exponent is a whole number") as caught:
        value("2^3^2")
    assert caught.value.column == 2


def test_equation_has_two_sides() -> None:
    equation = ex.parse_equation("|C - A|^2 = L^2")
    assert isinstance(equation.left, ex.Binary)
    assert isinstance(equation.right, ex.Binary)
    assert ex.names(equation) == {"C": 2, "A": 6, "L": 13}


def test_names_stand_in_order_of_appearance() -> None:
    """Every name is found once, where it stands first; functions are not names."""
    found = ex.names(ex.parse("b + sin(a)*[c, b].x - |u|^2 + a"))
    assert list(found.items()) == [("b", 1), ("a", 9), ("c", 13), ("u", 24)]


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("", 1, "a value is expected, found 'the end'"),
        ("a +", 4, "a value is expected, found 'the end'"),
        ("a + * b", 5, "a value is expected, found '*'"),
        ("(a + b", 7, "'(' opened in column 1 needs ')', found 'the end'"),
        ("a*(b]", 5, "'(' opened in column 3 needs ')', found ']'"),
        ("|u", 3, "'|' opened in column 1 needs '|'"),
        ("[a, b", 6, "'[' opened in column 1 needs ']'"),
        ("[]", 2, "a value is expected, found ']'"),
        ("sin()", 5, "a value is expected, found ')'"),
        ("2 a", 3, "'a' is left over"),
        ("a b", 3, "'b' is left over"),
        ("a)", 2, "')' is left over"),
        ("a = b", 3, "'=' is left over"),
        ("u.w", 3, "after '.' stands the component x, y or z"),
        ("u.", 3, "after '.' stands the component x, y or z"),
        ("u.x.y", 4, "a component is a number and has no components"),
        ("a $ b", 3, "'$' has no meaning in a formula"),
        ("a; b", 2, "';' has no meaning in a formula"),
        ("_a", 1, "'_' has no meaning in a formula"),
        ("a − b", 3, "'−' has no meaning in a formula"),
        ("α + 1", 1, "'α' has no meaning in a formula"),
        ("a + ٣", 5, "'٣' has no meaning in a formula"),
        ("a\u00a0+ b", 2, "has no meaning in a formula"),
        ("1e999999", 1, "1e999999 is beyond the range of numbers"),
        ("a + 1e-999999", 5, "1e-999999 is beyond the range of numbers"),
        ("1e" + "9" * 9_000, 1, "a number has at most 100 characters, not 9002"),
        ("9" * 9_000, 1, "a number has at most 100 characters, not 9000"),
        ('__import__("os")', 1, "'_' has no meaning in a formula at the start of '__import__'"),
        ('import("os")', 8, "'\"' has no meaning in a formula"),
        ("a" + "+a" * 5_000, 1, "the formula has 10001 characters; 10000 are allowed"),
        ("(" * 201 + "a" + ")" * 201, 102, "more than 200 levels of nesting"),
        ("[" * 201, 102, "more than 200 levels of nesting"),
        ("|" * 9_999, 102, "more than 200 levels of nesting"),
        ("sin(" * 201, 405, "more than 200 levels of nesting"),
        ("-" * 9_999 + "a", 202, "more than 200 levels of nesting"),
        ("2^" * 4_999 + "2", 403, "more than 200 levels of nesting"),
        ("a" + ".x" * 4_000, 4, "a component is a number and has no components"),
    ],
)
def test_error_says_where_and_what(text: str, column: int, says: str) -> None:
    """A text outside the grammar is refused at its column (from 1), with a reason."""
    with pytest.raises(ex.FormulaError) as caught:
        ex.parse(text)
    assert says in str(caught.value)
    assert caught.value.column == column


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("a + b", 6, "a constraint is an equation: left = right"),
        ("a b = c", 3, "'b' is left over"),
        ("a == b", 4, "a value is expected, found '='"),
        ("a = b = c", 7, "'=' is left over"),
        ("= a", 1, "a value is expected, found '='"),
        ("a =", 4, "a value is expected, found 'the end'"),
    ],
)
def test_equation_error(text: str, column: int, says: str) -> None:
    with pytest.raises(ex.FormulaError) as caught:
        ex.parse_equation(text)
    assert says in str(caught.value)
    assert caught.value.column == column


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("9**9**9", 2, "the exponent is a whole number from -8 to 8 (for roots: sqrt"),
        ("9^9", 2, "the exponent is a whole number from -8 to 8 (for roots: sqrt; for more: (x^8)^8), not 9"),
        ("a^0.5", 2, "the exponent is a whole number from -8 to 8 (for roots: sqrt"),
        ("a^b", 2, "the exponent is a whole number from -8 to 8 (for roots: sqrt"),
        ("import(a)", 1, "unknown function 'import'"),
        ("sim(a)", 1, "unknown function 'sim' - did you mean 'sin'?"),
        ("a + q", 5, "unknown symbol 'q'"),
    ],
)
def test_value_error(text: str, column: int, says: str) -> None:
    """What the grammar accepts and has no value is refused at its column, too."""
    with pytest.raises(ex.FormulaError) as caught:
        value(text)
    assert says in str(caught.value)
    assert caught.value.column == column


def test_sum_of_5000_terms() -> None:
    """Length alone is no reason to refuse: a chain is read and evaluated without recursion."""
    text = "+".join(["1"] * 5_000)
    assert len(text) == 9_999
    assert value(text) == 5_000
    assert value("-".join(["1"] * 5_000)) == 1 - 4_999
    assert value("*".join(["1"] * 5_000)) == 1


def test_100_levels_of_parentheses() -> None:
    """What is within the limit of nesting is read."""
    assert value("(" * 99 + "a" + ")" * 99) == NAMES["a"]
    assert value("-(" * 66 + "a" + ")" * 66) == NAMES["a"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90 deg", Fraction(11, 7)),
        ("1 turn", 2 * Fraction(22, 7)),
        ("60 rpm", 2 * Fraction(22, 7)),
        ("radians(90)", Fraction(11, 7)),
        ("degrees(22/7)", Fraction(180)),
        ("25 mm", Fraction(1, 40)),
        ("2 in", Fraction(254, 5000)),
        ("a*2 ft", 3 * Fraction(6096, 10000)),
        ("1/2 min", Fraction(1, 120)),
        ("-1.5kN", Fraction(-1500)),
        ("3e2 g + 1 lb", Fraction(75359237, 10**8)),
        ("[10 cm, 1 km].y", Fraction(1000)),
        ("(2 mm)^2", Fraction(4, 10**6)),
    ],
)
def test_units(text: str, expected: Any) -> None:
    """A unit behind a number is its exact factor to SI; pi stands for half a turn."""
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("2 mm^2", 5, "write (2 mm)^2"),
        ("2 furlongs", 3, "after a number stands an operator or a unit (rad deg turn rpm m mm"),
        ("2 min(3, 4)", 3, "'min' is left over"),
        ("radians(1, 2)", 1, "'radians' takes 1 value, found 2"),
    ],
)
def test_unit_errors(text: str, column: int, says: str) -> None:
    with pytest.raises(ex.FormulaError) as caught:
        ex.parse(text)
    assert says in str(caught.value)
    assert caught.value.column == column


# ---- printed and read again ----
SCALARS = ("a", "b", "c")


def scalars() -> st.SearchStrategy[ex.Node]:
    """Random trees of numbers, with positive numbers as leaves: a minus sign is a node of its own."""
    digits = st.integers(0, 99)
    leaf: st.SearchStrategy[ex.Node] = st.one_of(
        st.builds(lambda w, f: ex.Number(f"{w}.{f}", 0), digits, digits),
        st.builds(lambda w: ex.Number(str(w), 0), digits),
        st.sampled_from(SCALARS).map(lambda n: ex.Name(n, 0)),
    )

    def extend(inner: st.SearchStrategy[ex.Node]) -> st.SearchStrategy[ex.Node]:
        vector: st.SearchStrategy[ex.Node] = st.one_of(
            st.sampled_from(("u", "v")).map(lambda n: ex.Name(n, 0)),
            st.builds(lambda p, q: ex.VectorLiteral((p, q), 0), inner, inner),
        )
        products = st.sampled_from(("dot", "cross"))
        exponent = st.integers(0, 3).map(lambda n: ex.Number(str(n), 0))
        return st.one_of(
            st.builds(lambda o, p, q: ex.Binary(o, p, q, 0), st.sampled_from("+-*/"), inner, inner),
            st.builds(lambda p, n: ex.Binary("^", p, n, 0), inner, exponent),
            st.builds(lambda p: ex.Negative(p, 0), inner),
            st.builds(lambda p, k: ex.Component(p, k, 0), vector, st.integers(0, 1)),
            st.builds(lambda p: ex.Binary("^", ex.FunctionCall("norm", (p,), 0), ex.Number("2", 0), 0), vector),
            st.builds(lambda f, p, q: ex.FunctionCall(f, (p, q), 0), products, vector, vector),
        )

    return st.recursive(leaf, extend, max_leaves=12)


SUM, TERM, UNARY, POSTFIX = range(4)


def printed(node: ex.Node, outer: int, spaces: itertools.cycle[str]) -> str:
    """The text of a tree with as few parentheses as the grammar asks for."""
    space = next(spaces)
    match node:
        case ex.Number(text, _) | ex.Name(text, _):
            return text
        case ex.Negative(operand, _):
            own, body = UNARY, f"-{space}{printed(operand, UNARY, spaces)}"
        case ex.Binary("^", left, right, _):
            power = "**" if next(spaces) else "^"
            own = UNARY
            body = f"{printed(left, POSTFIX, spaces)}{power}{printed(right, UNARY, spaces)}"
        case ex.Binary(operator, left, right, _):
            own = SUM if operator in "+-" else TERM
            body = f"{printed(left, own, spaces)}{space}{operator}{space}{printed(right, own + 1, spaces)}"
        case ex.Component(vector, axis, _):
            return f"{printed(vector, POSTFIX, spaces)}.{'xyz'[axis]}"
        case ex.VectorLiteral(components, _):
            return f"[{', '.join(printed(c, SUM, spaces) for c in components)}]"
        case ex.FunctionCall("norm", (argument,), _):
            return f"|{space}{printed(argument, SUM, spaces)}|"
        case ex.FunctionCall(function, arguments, _):
            return f"{function}({', '.join(printed(a, SUM, spaces) for a in arguments)})"
    return f"({body})" if own < outer else body


@given(scalars(), st.lists(st.sampled_from(("", " ")), min_size=1, max_size=7))
@settings(max_examples=400, derandomize=True, deadline=None)
def test_printed_tree_reads_as_itself(tree: ex.Node, spaces: list[str]) -> None:
    """A tree printed with the fewest parentheses and read again has the same exact value."""
    evaluate = Evaluator(NAMES, RATIONAL, 2)
    try:
        expected = evaluate(tree)
    except ZeroDivisionError:
        assume(False)
    assert value(printed(tree, SUM, itertools.cycle(spaces))) == expected


@given(st.text(max_size=60) | st.text(alphabet="abuv.xyz0123456789eE+-*/^()|[],= ", max_size=60))
@settings(max_examples=400, derandomize=True, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    """A text gives a tree, or an error with a column inside the text or at its end, and nothing else."""
    for read in (ex.parse, ex.parse_equation):
        column = 1
        try:
            read(text)
        except ex.FormulaError as error:
            column = error.column
        assert 1 <= column <= len(text) + 1
