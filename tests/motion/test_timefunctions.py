"""The compiled evaluator of functions of time: the same as the jets in NumPy, design by design, and differentiated."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assurgent.mechanism import jets
from assurgent.mechanism.formulas import ONE_ARGUMENT
from assurgent.mechanism.functions import Expression, expression
from assurgent.mechanism.tables import Table
from assurgent.runtime.partials import partials
from assurgent.runtime.time_functions import LANES, LINEAR, TABLE, values, write
from assurgent.runtime.time_kernels import evaluate

CONSTANTS = {"a": 0.75, "b": -1.5, "n": 2.0, "omega": 3.5}
TIMES = np.concatenate([[-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0], np.linspace(-1.7, 2.9, 2 * LANES)])


def both(text: str, x: np.ndarray[Any, Any] = TIMES) -> tuple[Any, Any]:
    function = expression(text, CONSTANTS)
    return values([function], x)[0][:, 0], function(x)


# ---- the same as the jets -------------------------------------------------------------------------------------------
EXACT = (  # operations that are rounded correctly, so that every digit has to agree
    "t", "2.5", "pi/2 + omega*t", "omega*t - pi", "a - t", "-t", "-(omega*t)", "t*omega + a - 1", "2 - omega*t", "a*b",
    "t*t", "(t - 1)*(t + 2)/(3 + t*t)", "1/t", "t/0", "0/t", "a/(t - 1)", "(t - 1)/a", "t**2", "t**2 - t*t", "t - 1/t",
    "if(t < 1, t*t, 2*t - 1)", "if(t <= 1, 1/t, sqrt(t))", "if(a > b, t, 1/0)", "if(a < b, t, t*t)",
    "if(t > 0, 1/t, 0)", "if(t >= 0, sqrt(t), sqrt(-t))", "min(t, 1, a*t)", "max(t, -t, 1)", "min(t, 0/0*t)",
    "min(sqrt(t), 1)", "max(1, 2, t)", "abs(t)*t", "sign(t - 1)", "floor(3*t)", "floor(1e30*t)", "floor(1/t)",
    "sign(0/0 + t)", "sqrt(t)", "2*sqrt(t)", "1e308*10 + t", "t*(1e308*10)", "abs(1/t)", "t*0", "0*sqrt(t)",
    "min(a, b) + t*max(a, b)",
)  # fmt: skip


@pytest.mark.parametrize("text", EXACT)
def test_operations_have_the_digits_of_the_jets(text: str) -> None:
    found, expected = both(text)
    orders = 2 if "sqrt" in text else 4  # cubes of roots are powers in NumPy, products here
    np.testing.assert_array_equal(found[:orders], expected[:orders])
    np.testing.assert_allclose(found[orders:], expected[orders:], rtol=1e-15, atol=0)


ROUNDED = (
    "t**3", "t**7", "t**1", "t**0", "t**-1", "t**0.5", "t**1.5", "(t - 1)**3", "a**t", "t**t", "(t - 1)**(0*t + 2)",
    "t**n", "(t + 3)**b", "2**(t**0)", "(0*t)**0", "t**if(a > b, 2, t)", "sin(t)", "cos(omega*t)", "tan(t)", "asin(t)",
    "acos(t/3)", "atan(t)", "sinh(t)", "cosh(t)", "tanh(t)", "exp(t)", "log(t)", "log(t + 3)", "exp(1000*t)",
    "atan2(t, 1)", "atan2(1, t)", "atan2(t, t)", "atan2(t, 0*t)", "atan2(sin(t), cos(t))", "atan(2*(1e308*10 + t))",
    "a*sin(omega*t) + b", "sin(1e7*t)", "cos(1/t)", "exp(-t)*sqrt(1 + t*t)/(1 + t**4)", "sin(1e5*t)",
    "if(t < 1, a*(10*t**3 - 15*t**4 + 6*t**5), a)", "sqrt(2)*t + log(3)", "sin(a) + 0*t", "max(sin(t), cos(t), a)",
)  # fmt: skip


INEXACT = (
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "exp", "log", "power", "arctan2"),
)


@contextmanager
def disturbed(seed: int) -> Iterator[None]:
    """Let functions and chain rule of the jets err in their last digits, as those of another library would."""
    random, compose = np.random.default_rng(seed), jets._compose

    def erring(x: Any) -> Any:
        return x * (1 + 4e-16 * random.uniform(-1, 1, np.shape(x)))

    class Library:
        def __getattr__(self, name: str) -> Any:
            function = getattr(np, name)
            return (lambda *x: erring(function(*x))) if name in INEXACT else function

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jets, "np", Library())
        patch.setattr(jets, "_PLAIN", {n: getattr(jets.np, f.__name__) for n, f in jets._PLAIN.items()})
        patch.setattr(jets, "_compose", lambda u, g: compose(u, (g[0], *map(erring, g[1:]))))
        yield


def formulas() -> st.SearchStrategy[str]:
    leaves = st.sampled_from(["t", "t", "a", "b", "n", "omega", "0", "1", "2", "0.5", "3", "pi"])

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        one = st.sampled_from([*"+-*/", "**"])
        names = st.sampled_from([*ONE_ARGUMENT, "-"])
        return st.one_of(
            st.builds(lambda o, x, y: f"({x}){o}({y})", one, inner, inner),
            st.builds(lambda f, x: f"{f}({x})", names, inner),
            st.builds(lambda f, x, y: f"{f}({x}, {y})", st.sampled_from(["atan2", "min", "max"]), inner, inner),
            st.builds(lambda x, y, z: f"min({x}, {y}, {z})", inner, inner, inner),
            st.builds(
                lambda c, w, x, y, z: f"if({w} {c} {x}, {y}, {z})", st.sampled_from(["<", "<=", ">", ">="]),
                inner, inner, inner, inner,
            ),
        )  # fmt: skip

    return st.recursive(leaves, larger, max_leaves=12)


def agrees(text: str, x: np.ndarray[Any, Any]) -> None:
    """To 1e-14, or to what errors of 4e-16 in functions do to the result: what cannot be known better is not asked."""
    function = expression(text, CONSTANTS)
    found, expected = both(text, x)
    others = []
    for seed in range(6):
        with disturbed(seed):
            others.append(function(x))
    with np.errstate(all="ignore"):
        settled = np.all([np.isfinite(o) == np.isfinite(expected) for o in others], axis=0)
        spread = np.max([np.abs(o - expected) for o in others], axis=0)
        near = np.abs(found - expected) <= 1e-14 * np.abs(expected) + 40 * spread
    same = near | (found == expected) | (~np.isfinite(found) & ~np.isfinite(expected))
    assert np.all(same | ~settled), (text, x, found, expected)


@pytest.mark.parametrize("text", ROUNDED)
def test_functions_agree_to_a_few_roundings(text: str) -> None:
    agrees(text, TIMES)


@settings(max_examples=1500, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(formulas(), st.lists(st.floats(-50, 50), min_size=1, max_size=3))
def test_any_formula_agrees_with_the_jets(text: str, more: list[float]) -> None:
    agrees(text, np.array([*TIMES[:7], 0.3, *more]))


def test_parameters_that_are_objects_count_by_their_value() -> None:
    class Traced:
        value = 3.5

    plain = expression("a*sin(omega*t)", CONSTANTS)
    traced = Expression(plain.text, plain.node, {"a": 0.75, "omega": Traced()}, "t", plain.steps)  # type: ignore[dict-item]
    np.testing.assert_array_equal(values([traced], TIMES)[0], values([plain], TIMES)[0])


# ---- tables -------------------------------------------------------------------------------------------------------
def wave(period: float = 0.0) -> Table:
    from scipy.interpolate import CubicSpline

    knots = np.linspace(0, 2 * math.pi, 50)
    y = np.sin(knots)
    y[-1] = y[0]
    spline = CubicSpline(knots, y, bc_type="periodic" if period else "not-a-knot")
    return Table("wave", knots, np.ascontiguousarray(spline.c), period)


@pytest.mark.parametrize("period", [0.0, 2 * math.pi])
def test_tables_have_the_digits_of_the_reference(period: float) -> None:
    table = wave(period)
    x = np.concatenate([table.knots, np.random.default_rng(1).uniform(0, 2 * math.pi, 300)])
    x = np.concatenate([x, x - 20, x + 50]) if period else x
    found, bad = values([table], x)
    np.testing.assert_array_equal(found[:, 0], table(x))
    assert bad == 0


# ---- lanes --------------------------------------------------------------------------------------------------------
def test_only_the_asked_lanes_rows_and_orders_are_written() -> None:
    functions = [expression("a + omega*t", CONSTANTS), expression("sin(t)", CONSTANTS), wave()]
    written = write(functions)
    x = np.linspace(0, 5, 3 * LANES + 5)
    n = len(x)
    for order in range(4):
        state = np.full((4, 6, n), 7.0)
        rows = np.array([4, 0, 3])
        evaluate(
            written.code, written.numbers, np.zeros(1), 1, n, x, n, *(s.ravel() for s in state), n, rows, order, 3,
            n - 2, written.work(),
        )  # fmt: skip
        expected = np.full((4, 6, n), 7.0)
        for row, function in zip(rows, functions, strict=True):
            expected[: order + 1, row, 3 : n - 2] = function(x)[: order + 1, 3 : n - 2]
        np.testing.assert_allclose(state, expected, rtol=1e-15, atol=1e-15)


def test_kinds_take_their_ways() -> None:
    written = write([expression("pi/2 + omega*t - a", CONSTANTS), wave(), expression("omega*(t - 1)", CONSTANTS)])
    assert written.code[2] == LINEAR
    assert written.code[6] == TABLE
    assert written.code[10] not in (LINEAR, TABLE)  # as a line it would be rounded otherwise


def test_lanes_that_are_not_finite_are_counted() -> None:
    x = np.array([-1.0, 0.0, 1.0, 4.0])
    assert values([expression("sqrt(t)", {})], x)[1] == 3 + 2  # all of -1, the rate and acceleration of 0
    assert values([expression("1/0 + t", {})], x)[1] == 4
    assert values([expression("t**2.5", {})], x)[1] == 3  # the third derivative at 0 is infinite, and does not count


# ---- designs ------------------------------------------------------------------------------------------------------
DESIGNED = ("a + omega*t", "omega*t - 2", "a*sin(omega*t) + b", "t**n", "if(a < b, t, a*t)", "a**2*t + sqrt(n)",
            "min(a, t)*floor(n)", "atan2(a, b)*t", "t/a + a/(t + 4)", "n**t", "a", "sign(b)", "-omega")  # fmt: skip
NAMES = {"a": 0, "b": 1, "n": 3, "omega": 2}


@pytest.mark.parametrize("instants", [1, 7, LANES, 3 * LANES + 1])
def test_constants_of_designs(instants: int) -> None:
    """Every design gives what its own formulas give."""
    designs = 11
    random = np.random.default_rng(instants)
    par = random.uniform(0.5, 3.0, (4, designs))
    t = random.uniform(0, 2, instants)
    functions = [expression(text, CONSTANTS) for text in DESIGNED]
    written = write(functions, lambda name, _: NAMES[name])
    n = designs * instants
    state = np.empty((4, len(functions), n))
    evaluate(
        written.code, written.numbers, par.ravel(), designs, instants, t, instants, *(s.ravel() for s in state), n,
        np.arange(len(functions)), 3, 0, n, written.work(),
    )  # fmt: skip
    for design in range(designs):
        own = {name: par[row, design] for name, row in NAMES.items()}
        for i, text in enumerate(DESIGNED):
            expected = expression(text, own)(t)
            found = state[:, i, design * instants : (design + 1) * instants]
            np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


# ---- derivatives by constants ---------------------------------------------------------------------------------------
SMOOTH: list[tuple[str, Callable[..., Any]]] = [
    ("a + omega*t", lambda t, a, b, n, w: a + w * t),
    ("a*sin(omega*t) + b", lambda t, a, b, n, w: a * mpmath.sin(w * t) + b),
    ("a*cos(omega*t)*exp(-b*t)", lambda t, a, b, n, w: a * mpmath.cos(w * t) * mpmath.exp(-b * t)),
    ("(t + a)**n/b", lambda t, a, b, n, w: (t + a) ** n / b),
    ("(a*t + 1)**3 - tan(b*t/8)", lambda t, a, b, n, w: (a * t + 1) ** 3 - mpmath.tan(b * t / 8)),
    ("log(a + b*t*t)*sqrt(n + t)", lambda t, a, b, n, w: mpmath.log(a + b * t * t) * mpmath.sqrt(n + t)),
    ("atan2(a*sin(t), b + cos(t))", lambda t, a, b, n, w: mpmath.atan2(a * mpmath.sin(t), b + mpmath.cos(t))),
    ("asin(a*t/20) - acos(b*t/20)", lambda t, a, b, n, w: mpmath.asin(a * t / 20) - mpmath.acos(b * t / 20)),
    ("atan(a*t) + sinh(b*t) - cosh(a*t)", lambda t, a, b, n, w: mpmath.atan(a * t) + mpmath.sinh(b * t)
     - mpmath.cosh(a * t)),
    ("tanh(a*t)/(omega - t/9)", lambda t, a, b, n, w: mpmath.tanh(a * t) / (w - t / 9)),
    ("if(t < a, b*t, b*a + omega*(t - a))", lambda t, a, b, n, w: b * t if t < a else b * a + w * (t - a)),
    ("max(a*t, -b*t, omega*t)*abs(-a)", lambda t, a, b, n, w: max(a * t, -b * t, w * t) * a),
    ("-(a - omega)*floor(n)*sign(b)*t", lambda t, a, b, n, w: -(a - w) * mpmath.floor(n) * t),
    ("n**t", lambda t, a, b, n, w: n**t),
]  # fmt: skip


@pytest.mark.parametrize(("text", "same"), SMOOTH)
def test_derivatives_by_parameters(text: str, same: Callable[..., Any]) -> None:
    """d value, d rate and d acceleration along two parameters, against differences at 60 digits."""
    designs, columns = 3, 2
    t = np.array([0.2, 0.55, 1.3, 2.1])
    lanes = designs * len(t)
    random = np.random.default_rng(3)
    par = random.uniform(1.1, 2.4, (4, designs))
    tangents = random.uniform(-1, 1, (4, columns, designs))
    functions = [wave(), expression(text, CONSTANTS)]
    found = partials(functions, lambda name, _: NAMES[name])
    outputs = [np.zeros((columns, 5, lanes)) for _ in range(3)]
    found.add(par, len(t), t, outputs, np.array([1, 3]), tangents, found.functions.work())
    with mpmath.workdps(60):
        for design in range(designs):
            for j in range(columns):
                for i, time in enumerate(t.tolist()):

                    def along(s: Any, x: Any, d: int = design, c: int = j) -> Any:
                        of = {m: mpmath.mpf(par[r, d]) + s * mpmath.mpf(tangents[r, c, d]) for m, r in NAMES.items()}
                        return same(x, of["a"], of["b"], of["n"], of["omega"])

                    for order in range(3):
                        expected = mpmath.diff(along, (mpmath.mpf(0), mpmath.mpf(time)), (1, order))
                        value = outputs[order][j, 3, design * len(t) + i]
                        assert value == pytest.approx(float(expected), rel=1e-12, abs=1e-12)
    for part in outputs:
        assert not part[:, [0, 1, 2, 4]].any()


def test_a_function_without_constants_of_designs_has_no_derivatives() -> None:
    found = partials([expression("sin(t) + a", CONSTANTS), wave()], lambda name, _: None)
    assert len(found.targets) == 0
