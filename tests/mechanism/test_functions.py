"""Formulas of mechanism files: values, three exact derivatives, limits; tables: C2 splines and their range."""

from __future__ import annotations

import math
from pathlib import Path

import mpmath
import numpy as np
import pytest

from assurgent.common import expressions as ex
from assurgent.common.errors import InputError
from assurgent.common.expressions import FormulaError
from assurgent.mechanism.functions import evaluate, expression
from assurgent.mechanism.tables import read_table

PARAMETERS = {"omega": 3.5, "L": 0.25}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-2**2", -4.0),
        ("2**3**2", 512.0),
        ("2^3^2", 512.0),
        ("30 deg", 30 * math.pi / 180),
        ("1500 rpm", 1500 * math.pi / 30),
        ("50 mm / 2 s", 0.025),
        ("degrees(radians(30))", 30.0),
        ("2**-1", 0.5),
        ("2**-2**2", 2.0**-4),
        ("-2*3", -6.0),
        ("8/4/2", 1.0),
        ("7 - 2 - 1", 4.0),
        ("--+-3", -3.0),
        ("4**0.5", 2.0),
        ("omega*L", 0.875),
        ("pi/2 + e", math.pi / 2 + math.e),
        ("atan2(-1, -1)", -0.75 * math.pi),
        ("min(3, 1, 2) + max(3, 1, 2)*10", 31.0),
        ("sign(-2) + floor(-0.5)*10 + abs(-3)*100", 289.0),
        ("asin(1) + acos(1) + atan(1)", 0.75 * math.pi),
        ("sinh(1) - cosh(1) + tanh(0) + exp(-1)", 0.0),
        ("log(e**2) + sqrt(9) + sin(0) + cos(0) + tan(0)", 6.0),
        ("1e-3*1.5E2", 0.15),
        ("(" * 200 + "1" + ")" * 200, 1.0),
        ("+".join(["1"] * 4999), 4999.0),
    ],
)
def test_value(text: str, expected: float) -> None:
    """Precedence and functions are those of the format; 1e-14 leaves room for a few roundings."""
    assert evaluate(text, PARAMETERS) == pytest.approx(expected, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("9**9**9", 1, "is not a finite number"),
        ("1/0", 1, "is not a finite number"),
        ("sqrt(-1)", 1, "is not a finite number"),
        ("2 mm/s", 6, "unknown name 's' - a unit stands directly after a number: 1 s"),
        ("|L|", 1, "abs(...)"),
        ("[1, 2]", 1, "list outside the quotes"),
        ("L.x", 2, "no components"),
        ("L = 2", 3, "not an equation"),
        ("1 < 2", 3, "comparisons stand in if(condition, a, b)"),
        ("if(1 < 2, 1, 2)", 1, "drivers and forces only"),
        ("omgea", 1, "did you mean 'omega'?"),
        ("sim(1)", 1, "did you mean 'sin'?"),
        ("fast", 1, "unknown name 'fast' - declare it in [parameters]"),
        ("2*x", 3, "unknown name 'x' - declare it in [parameters]"),
        ("time", 1, "unknown name 'time' - time, written t, stands in drivers and forces only"),
        ("sin", 1, "needs its values in parentheses"),
        ("t", 1, "drivers and forces only"),
        ("atan2(1)", 1, "takes 2 values, found 1"),
        ("sin(1, 2)", 1, "takes 1 value, found 2"),
        ("min(1)", 1, "at least 2 values, found 1"),
        ("(1 + 2", 7, "needs ')', found 'the end'"),
        ("1 2", 3, "'2' is left over"),
        ("", 1, "a value is expected, found 'the end'"),
        ("1e999", 1, "beyond the range of numbers"),
        ("__import__('os')", 1, "'_' has no meaning"),
        ("(" * 201 + "1" + ")" * 201, 202, "more than 200 levels"),
        ("-" * 201 + "1", 202, "more than 200 levels"),
        ("sin(" * 2000, 805, "more than 200 levels"),
        ("1" + "+1" * 5000, 1, "10000 are allowed"),
    ],
)
def test_refusal(text: str, column: int, says: str) -> None:
    with pytest.raises(FormulaError) as caught:
        evaluate(text, PARAMETERS)
    assert says in str(caught.value)
    assert caught.value.column == column


@pytest.mark.parametrize(
    "text", ["if(t, 1, 2)", "if(1, 2)", "if(t < 1, 2)", "if(t < 1 < 2, 1, 2)", "if(t < 1, 1, 2, 3)"]
)
def test_if_needs_a_condition_and_two_values(text: str) -> None:
    with pytest.raises(FormulaError):
        expression(text, {})


def test_hostile_towers_are_floats() -> None:
    """A thousand powers of powers end at once; as exact integers one alone would not end at all."""
    with pytest.raises(FormulaError, match="finite"):
        evaluate("*".join(["9**9**9"] * 1200), {})


# formula, the same for mpmath, times
SMOOTH = [
    ("3*t**3 - t**2 + 2*t - 1", lambda t: 3 * t**3 - t**2 + 2 * t - 1),
    ("sin(omega*t)*cos(t)", lambda t: mpmath.sin(3.5 * t) * mpmath.cos(t)),
    ("tan(t/2) + tanh(t)", lambda t: mpmath.tan(t / 2) + mpmath.tanh(t)),
    ("asin(t/3) - acos(t/4)", lambda t: mpmath.asin(t / 3) - mpmath.acos(t / 4)),
    ("atan(t**2)", lambda t: mpmath.atan(t**2)),
    ("atan2(sin(t), 2 + cos(t))", lambda t: mpmath.atan2(mpmath.sin(t), 2 + mpmath.cos(t))),
    ("atan2(1, t) + atan2(t, 2)", lambda t: mpmath.atan2(1, t) + mpmath.atan2(t, 2)),
    ("sinh(t)/cosh(2*t)", lambda t: mpmath.sinh(t) / mpmath.cosh(2 * t)),
    ("exp(-t)*log(1 + t)", lambda t: mpmath.exp(-t) * mpmath.log(1 + t)),
    ("sqrt(1 + t**2)/(2 - t)", lambda t: mpmath.sqrt(1 + t**2) / (2 - t)),
    ("1/(1 + t)", lambda t: 1 / (1 + t)),
    ("(1 + t)**2.7", lambda t: (1 + t) ** mpmath.mpf("2.7")),
    ("(t - 5)**-3", lambda t: (t - 5) ** -3),
    ("2**t", lambda t: mpmath.mpf(2) ** t),
    ("(1 + t)**sin(t)", lambda t: (1 + t) ** mpmath.sin(t)),
    ("abs(sin(t) - 2)", lambda t: 2 - mpmath.sin(t)),
    ("min(t**2, t**2 + 1, 9) - max(-t, -8)", lambda t: t**2 + t),
    ("sign(t + 1)*t + floor(0.5)", lambda t: t),
    ("if(t + 1 > 0, exp(t), log(-1))", lambda t: mpmath.exp(t)),
    ("if(1 <= 0, sqrt(t - 9), -t*t)", lambda t: -t * t),
    ("7", lambda t: mpmath.mpf(7)),
]


@pytest.mark.parametrize(("text", "same"), SMOOTH, ids=[s[0] for s in SMOOTH])
def test_three_derivatives_against_40_digits(text: str, same: object) -> None:
    """Taylor arithmetic against mpmath's differences in 40 digits; 1e-12 is for the roundings of ~50 operations."""
    times = np.array([0.15, 0.7, 1.4])
    found = expression(text, PARAMETERS)(times)
    assert found.shape == (4, 3)
    with mpmath.workdps(40):
        for column, t in enumerate(times):
            for order in range(4):
                expected = float(mpmath.diff(same, mpmath.mpf(float(t)), order))
                assert found[order, column] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_whole_powers_have_derivatives_at_zero() -> None:
    found = expression("t**2 + t**3 + t**1 + t**0", {})(np.zeros(1))
    assert found[:, 0].tolist() == [1.0, 1.0, 2.0, 6.0]


def test_if_switches_value_and_derivatives_together() -> None:
    f = expression("if(t < 1, t**2, 2*t - 1)", {})
    assert f(np.array([0.5, 1.0, 1.5])).tolist() == [[0.25, 1.0, 2.0], [1.0, 2.0, 2.0], [2.0, 0.0, 0.0], [0, 0, 0]]
    equal = expression("if(t <= 1, 0, 1)", {})(np.array([1.0, 1.1]))
    assert equal[0].tolist() == [0.0, 1.0]


def test_expression_keeps_tree_and_constants() -> None:
    f = expression("pi/2 + omega*t", PARAMETERS)
    assert f.constants == {"pi": math.pi, "omega": 3.5}
    assert f.text == "pi/2 + omega*t"
    assert list(ex.names(f.node)) == ["pi", "omega", "t"]


def test_minus_and_turned_are_what_they_say() -> None:
    """Shifts rewrite tree and steps alike; equal operations give equal doubles up to one rounding."""
    x = np.linspace(-1, 2, 7)
    f = expression("if(u < 1, sin(u)*-omega, u**2)", PARAMETERS, "u")
    assert f.minus(-0.75)(x)[0] == pytest.approx(f(x)[0] + 0.75, rel=1e-15)
    turned = f.turned(-0.4)
    assert turned(x) == pytest.approx(f(x + 0.4), rel=1e-14, abs=1e-14)
    assert list(ex.names(turned.node)) == ["u", "omega"]


def test_check_names_driver_and_time() -> None:
    f = expression("sqrt(1 - t)", {})
    f.check(np.array([0.0, 0.5]), "f.toml: [drivers] theta")
    with pytest.raises(InputError, match=r"f.toml: \[drivers\] theta: the rate of .sqrt.* at t = 1 "):
        f.check(np.array([0.0, 1.0]), "f.toml: [drivers] theta")
    with pytest.raises(InputError, match=r"the value of .* at t = 2 "):
        f.check(np.array([0.0, 2.0]), "x")


# ---- tables ----
def table(folder: Path, rows: str, **options: object) -> object:
    (folder / "cam.csv").write_text(rows)
    return read_table(folder / "cam.csv", "f.toml: [drivers] theta", "cam.csv", **options)  # type: ignore[arg-type]


def test_not_a_knot_spline_reproduces_a_cubic(tmp_path: Path) -> None:
    """A cubic is its own not-a-knot spline, derivatives included; 1e-11: differences of values over spacings of 0.3."""
    t = np.array([0.0, 0.3, 0.9, 1.0, 1.7, 2.2])
    rows = "t,value\n" + "".join(f"{x!r},{2 * x**3 - x**2 + 5!r}\n" for x in t.tolist())
    x = np.linspace(0, 2.2, 23)
    found = table(tmp_path, rows)(x)  # type: ignore[operator]
    assert found == pytest.approx(np.array([2 * x**3 - x**2 + 5, 6 * x**2 - 2 * x, 12 * x - 2, 12 + 0 * x]), abs=1e-11)


def test_spline_is_c2_at_its_knots(tmp_path: Path) -> None:
    knots = np.linspace(0, 5, 11)
    f = table(tmp_path, "".join(f"{x},{math.sin(x)}\n" for x in knots))
    left, right = f(knots[1:-1] - 1e-9), f(knots[1:-1] + 1e-9)  # type: ignore[operator]
    assert left[:3] == pytest.approx(right[:3], abs=1e-7)  # third derivatives of order 1 over 2e-9
    assert f(knots)[0] == pytest.approx(np.sin(knots), abs=1e-15)  # type: ignore[operator]


def test_out_of_range_names_table_and_range(tmp_path: Path) -> None:
    f = table(tmp_path, "0,0\n1,1\n2,4\n3,9\n")
    assert f(np.array([3.0 + 1e-12]))[0, 0] == pytest.approx(9)  # type: ignore[operator]
    with pytest.raises(InputError, match=r'table "cam.csv" reaches from t = 0 to 3; t = 3.5 is outside'):
        f(np.array([1.0, 3.5]))  # type: ignore[operator]


@pytest.mark.parametrize("closing", ["", f"{2 * math.pi!r},3.0\n"])
def test_periodic_table(tmp_path: Path, closing: str) -> None:
    """One turn of 2 + cos(u), with or without the closing row, repeats with all of its first two derivatives."""
    u = np.arange(36) * math.pi / 18
    rows = "u,radius\n" + "".join(f"{x!r},{2 + math.cos(x)!r}\n" for x in u.tolist()) + closing
    f = table(tmp_path, rows, variable="u", period=2 * math.pi)
    x = np.linspace(-7, 14, 50)
    found = f(x)  # type: ignore[operator]
    assert found[0] == pytest.approx(2 + np.cos(x), abs=3e-5)  # h^4/384 with h = 0.17 is 2.4e-6
    assert found[:3] == pytest.approx(f(x + 2 * math.pi)[:3], abs=1e-12)  # type: ignore[operator]
    assert f.turned(0.5)(x)[0] == pytest.approx(f(x - 0.5)[0], abs=1e-13)  # type: ignore[attr-defined, operator]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("", "has 0 rows"),
        ("t,value\n1,2\n", "has 1 rows"),
        ("0,0\n0,1\n", "must grow from row to row"),
        ("0,0\n1,x\n", "line 2: '1,x'"),
        ("0,0\n1,nan\n", "line 2"),
        ("0,0,0\n1,1,1\n", "line 1"),
        ("0;0\n1;1\n", "has 0 rows|line 2"),
    ],
)
def test_wrong_tables(tmp_path: Path, rows: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        table(tmp_path, rows)


def test_wrong_periodic_tables(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="after a full turn"):
        table(tmp_path, f"0,1\n3,2\n{2 * math.pi!r},1.5\n", variable="u", period=2 * math.pi)
    with pytest.raises(InputError, match="keep the rows of one turn"):
        table(tmp_path, "0,1\n3,2\n7,1\n", variable="u", period=2 * math.pi)
    with pytest.raises(InputError, match=r"cannot be read: No such file .* relative to the mechanism file"):
        read_table(tmp_path / "none.csv", "f", "none.csv")
