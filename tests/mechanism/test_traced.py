"""Traced numbers and their tape: values against plain arithmetic, derivatives against complex steps, guards."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from assurgent.common.errors import InputError
from assurgent.mechanism import functions, geometry
from assurgent.mechanism.numbers import arithmetic
from assurgent.mechanism.numbers.nominal import nominal, replaced
from assurgent.mechanism.numbers.traced import Traced
from assurgent.mechanism.numbers.tracing import free_parameters, trace
from assurgent.mechanism.numbers.value_tape import Tape

NOMINAL = (0.3, 0.7, 1.9)
OTHER = (0.35, 0.62, 2.1)
STEP = 1e-30  # of complex steps: no digits are lost


def inputs(values: Sequence[float] = NOMINAL) -> tuple[Tape, list[Any]]:
    tape = Tape()
    return tape, [Traced.parameter(tape, v) for v in values]


def column(values: Sequence[float]) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


def kept(tape: Tape, *values: float) -> bool:
    return bool(tape.compiled([]).evaluate(column(values))[1][0])


# ---- values and derivatives -----------------------------------------------------------------------------------------
# each formula as plain or complex arithmetic has it, and as the tape has it
ANALYTIC: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sums": lambda a, b, c: a + 2 * b - c + (1 - a) - (b - c) * 3 - 4.5,
    "products": lambda a, b, c: -a * b / c + 2 / a - c / 3 * (-b) / (-a),
    "powers": lambda a, b, c: a**2 + b**3 + c**-1.5 + a**b + 2.0**c,
}
ONE: dict[str, tuple[Callable[[Any], Any], Callable[[float], float]]] = {
    name: (getattr(np, numpy_name), getattr(math, name))
    for name, numpy_name in {
        **{n: n for n in ("sqrt", "sin", "cos", "tan", "exp", "log", "sinh", "cosh", "tanh")},
        "asin": "arcsin",
        "acos": "arccos",
        "atan": "arctan",
    }.items()
}


@pytest.mark.parametrize("name", ANALYTIC)
def test_arithmetic_is_that_of_plain_numbers(name: str) -> None:
    tape, parameters = inputs()
    numbers = tape.compiled([ANALYTIC[name](*parameters)])
    assert numbers.evaluate(column(NOMINAL))[0] == pytest.approx(ANALYTIC[name](*NOMINAL), rel=1e-15)
    assert numbers.evaluate(column(OTHER))[0] == pytest.approx(ANALYTIC[name](*OTHER), rel=4e-16)
    found = numbers.tangents(column(OTHER))[0, :, 0]
    for j in range(3):
        shifted = [v + 1j * STEP * (i == j) for i, v in enumerate(OTHER)]
        assert found[j] == pytest.approx(ANALYTIC[name](*shifted).imag / STEP, rel=1e-14)


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number(name: str) -> None:
    of_complex, plain = ONE[name]
    tape, (a, *_) = inputs()
    numbers = tape.compiled([a.unary(name) if name != "sqrt" else a.sqrt()])
    assert numbers.evaluate(column(OTHER))[0] == pytest.approx(plain(OTHER[0]), rel=4e-16)
    assert numbers.tangents(column(OTHER))[0, 0, 0] == pytest.approx(
        of_complex(OTHER[0] + 1j * STEP).imag / STEP, rel=1e-14
    )
    assert not numbers.tangents(column(OTHER))[0, 1:].any()


@pytest.mark.parametrize("values", [(0.3, -0.7, 1.9), (-0.3, -0.7, -1.9), (-2.3, 0.7, 1.0)])
def test_functions_with_corners(values: tuple[float, float, float]) -> None:
    tape, (a, b, c) = inputs()
    wanted = [
        abs(a * b), a.unary("sign"), (4 * a).unary("floor"), arithmetic.atan2(a, b), arithmetic.hypot(a, c),
        arithmetic.larger([a, b, c]), a.smaller(b), arithmetic.wrap(5 * c + a), arithmetic.atan2(b, -1.0),
    ]  # fmt: skip

    def plain(a: float, b: float, c: float) -> list[float]:
        return [
            abs(a * b), np.sign(a), math.floor(4 * a), math.atan2(a, b), math.hypot(a, c), max(a, b, c), min(a, b),
            math.remainder(5 * c + a, 2 * math.pi), math.atan2(b, -1.0),
        ]  # fmt: skip

    numbers = tape.compiled(wanted)
    np.testing.assert_allclose(numbers.evaluate(column(values))[0][:, 0], plain(*values), rtol=4e-16, atol=1e-15)
    found = numbers.tangents(column(values))[:, :, 0]
    for j in range(3):
        ends = [plain(*(v + s * 1e-6 * (i == j) for i, v in enumerate(values))) for s in (1, -1)]
        np.testing.assert_allclose(found[:, j], (np.array(ends[0]) - ends[1]) / 2e-6, atol=1e-8)


@pytest.mark.parametrize("text", [
    "sin(a)*cos(b) - tan(a/2) + asin(a) + acos(b) + atan(c)", "sqrt(a**2 + b**2)/c + exp(-a)*log(c)",
    "sinh(a) + cosh(b)*tanh(c) - abs(a - c)", "min(a, b, c, 0.5) + max(a, 0.1, b)",
    "atan2(a, b) + sign(c) + floor(3*c)",
    "-a**2 + (b - c)/(1 + a) + pi*e", "2**a + b**c - c**-2",
])  # fmt: skip
def test_formulas_of_files_trace(text: str) -> None:
    tape, parameters = inputs()
    names = dict(zip("abc", parameters, strict=True))
    numbers = tape.compiled([functions.evaluate(text, names)])
    for values in (NOMINAL, OTHER):
        expected = functions.evaluate(text, dict(zip("abc", values, strict=True)))
        found, decided = numbers.evaluate(column(values))
        assert found[0, 0] == pytest.approx(expected, rel=1e-15, abs=1e-16)
        assert decided[0]


def test_arrays_of_objects() -> None:
    """What the reader does with arrays, done with traced ones."""

    def work(x: Any, y: Any, M: Any) -> list[Any]:
        return [
            x @ y, *(M @ x), *(M.T @ (y - x)), *np.cross(x, y), *np.outer(x, y).ravel(), *np.mean([x, y], axis=0),
            np.sum(x * y), *(2.0 * x / 3.0), *np.column_stack([x, y]).ravel(), *abs(x),
        ]  # fmt: skip

    tape, (a, b, c) = inputs()
    M = np.array([[a, 0, 1], [1, b, c], [0, 0, a]])
    numbers = tape.compiled(work(np.array([a, 1.0, b]), np.array([c, a * b, 2.0]), M))
    a, b, c = OTHER
    expected = work(np.array([a, 1.0, b]), np.array([c, a * b, 2.0]), np.array([[a, 0, 1], [1, b, c], [0, 0, a]]))
    found, decided = numbers.evaluate(column(OTHER))
    np.testing.assert_allclose(found[:, 0], np.array(expected, float), rtol=1e-15, atol=1e-15)
    assert decided[0]
    assert not tape.guards


def test_complex_numbers_of_the_plane() -> None:
    def work(z: Any, w: Any, turn: float) -> list[Any]:
        found = [z * w, z / w, (2 - 1j) * z - w, z / (1 + 2j), (1 + 2j) / w, -z + 3j, z.conjugate()]
        found.append(arithmetic.turned(turn))
        return [part for x in found for part in (x.real, x.imag)] + [abs(z), arithmetic.phase(w)]

    tape, (a, b, c) = inputs()
    numbers = tape.compiled(work(arithmetic.plane(a, b), arithmetic.plane(c, 0.5), a))
    a, b, c = OTHER
    np.testing.assert_allclose(
        numbers.evaluate(column(OTHER))[0][:, 0], work(complex(a, b), complex(c, 0.5), a), rtol=1e-15
    )


def test_many_designs_are_each_as_alone() -> None:
    tape, (a, b, c) = inputs()
    assert a * c < 1
    numbers = tape.compiled([a.sin() / b, arithmetic.hypot(a, c) ** b, 1.5, c])
    designs = np.array(NOMINAL)[:, None] * np.random.default_rng(3).uniform(0.2, 3, (3, 1000))
    values, stays = numbers.evaluate(designs)
    rates = numbers.tangents(designs)
    assert (values[2] == 1.5).all()
    np.testing.assert_array_equal(stays, designs[0] * designs[2] < 1)
    assert 0 < stays.sum() < 1000
    for k in (0, 255, 256, 999):
        one, alone = numbers.evaluate(designs[:, k : k + 1])
        np.testing.assert_array_equal(one[:, 0], values[:, k])
        assert alone[0] == stays[k]
        np.testing.assert_array_equal(numbers.tangents(designs[:, k : k + 1])[:, :, 0], rates[:, :, k])


def test_dead_operations_are_left_out() -> None:
    tape, (a, b, c) = inputs()
    wanted = a + b
    for _ in range(50):
        c = c.sin() * a
    assert tape.compiled([wanted]).n_operations == 1


# ---- what is the same for every design ------------------------------------------------------------------------------
def test_what_cancels_is_nothing() -> None:
    _, (a, b, _) = inputs()
    for zero in (a - a, a * b - b * a, (a - b) + (b - a), -a + a):
        assert zero == 0.0
        assert isinstance(zero, float)
    for one in (a / a, b * (1 / b), -b * (-1 / b)):
        assert one == 1.0
        assert isinstance(one, float)
    assert arithmetic.is_zero(0.0 * a)
    assert arithmetic.is_zero(-(0.0 * a) * b)
    assert not arithmetic.is_zero(a - 0.3)  # at the nominal design only
    assert arithmetic.is_one(1.0)
    assert not arithmetic.is_one(a / 0.3)


def test_the_sign_of_zero_is_that_of_its_design() -> None:
    tape, (a, _, _) = inputs()
    numbers = tape.compiled([arithmetic.atan2(0.0 * a, -1.0)])
    assert numbers.evaluate(column(NOMINAL))[0][0, 0] == math.pi
    assert numbers.evaluate(column((-0.3, 1, 1)))[0][0, 0] == -math.pi


def test_points_that_meet_at_one_design_have_keys_of_their_own() -> None:
    _, (a, b, _) = inputs((0.3, 0.3, 1.0))
    first, second = np.array([a, 1.0], dtype=object), np.array([b, 1.0], dtype=object)
    assert arithmetic.identity(first) != arithmetic.identity(second)
    assert arithmetic.identity(first) == arithmetic.identity(np.array([a + 0.0, 1.0], dtype=object))
    plain = np.array([0.3, 1.0])
    assert arithmetic.identity(plain) == plain.tobytes()


# ---- decisions ------------------------------------------------------------------------------------------------------
DECISIONS: dict[str, tuple[Callable[[Any, Any], Any], tuple[float, float], tuple[float, float]]] = {
    # a decision on a = 0.3 and b = 0.7, a design that keeps it, one that does not
    "<": (lambda a, b: a < b, (0.5, 0.6), (0.6, 0.6)),
    "<=": (lambda a, b: a <= b, (0.6, 0.6), (0.7, 0.6)),
    "> false": (lambda a, b: a > b, (0.6, 0.6), (0.7, 0.6)),
    ">= false": (lambda a, b: a >= b, (0.5, 0.6), (0.6, 0.6)),
    "== false": (lambda a, b: a == b, (0.5, 0.6), (0.6, 0.6)),
    "!=": (lambda a, b: a != 0.5, (0.6, 0.6), (0.5, 0.6)),
    "plain on the left": (lambda a, b: np.float64(0.5) > a, (0.4, 0.6), (0.5, 0.6)),
    "truth": (lambda a, b: bool(a), (-0.4, 0.6), (0.0, 0.6)),
    "sorting": (lambda a, b: sorted([b, 0.5, a]), (0.4, 0.6), (0.55, 0.6)),
    "the largest": (lambda a, b: max(a, b), (0.5, 0.6), (0.7, 0.6)),
    "the place of the largest": (lambda a, b: int(np.argmax(np.array([a, b]))), (0.5, 0.6), (0.7, 0.6)),
    "a plain number": (lambda a, b: float(a), (0.3, 0.6), (0.3000001, 0.6)),
    "a whole number": (lambda a, b: int(b), (0.4, 0.7), (0.4, 0.70001)),
    "rounding": (lambda a, b: round(b, 1), (0.4, 0.7), (0.4, 0.70001)),
    "a key": (lambda a, b: {a: 1}, (0.3, 0.6), (0.31, 0.6)),
    "an array of doubles": (lambda a, b: np.asarray([a, b], dtype=np.float64), (0.3, 0.7), (0.3, 0.71)),
    "into an array of doubles": (lambda a, b: np.zeros(2).__setitem__(0, a), (0.3, 0.6), (0.31, 0.6)),
    "a function of math": (lambda a, b: math.sin(a), (0.3, 0.6), (0.31, 0.6)),
    "finite": (lambda a, b: arithmetic.finite(1 / a), (-0.3, 0.6), (0.0, 0.6)),
    "a direction along an axis": (lambda a, b: geometry.unit(np.array([a, 0.0])), (2.0, 0.6), (-0.3, 0.6)),
    "a vector that vanishes": (lambda a, b: arithmetic.vanishes(np.array([a, b])), (0.0, 0.6), (0.0, 0.0)),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_a_decision_that_falls_otherwise_is_found(name: str) -> None:
    decide, keeps, flips = DECISIONS[name]
    tape, (a, b) = inputs((0.3, 0.7))
    decide(a, b)
    assert kept(tape, 0.3, 0.7)
    assert kept(tape, *keeps)
    assert not kept(tape, *flips)


def test_no_number_is_kept() -> None:
    tape, (a, b) = inputs((0.3, 0.7))
    numbers = tape.compiled([a.sqrt() + b])
    _, stays = numbers.evaluate(np.array([[0.5, -0.5, np.nan, np.inf], [0.1, 0.1, 0.1, 0.1]]))
    assert stays.tolist() == [True, False, False, False]
    assert a != b
    assert not kept(tape, np.nan, 0.7)


# ---- structures -----------------------------------------------------------------------------------------------------
def test_structures_at_the_nominal_design() -> None:
    tape, (a, b) = inputs((0.3, 0.7))
    untouched = {"x": np.ones(2), "y": (1, "text")}
    structure = {"array": np.array([a, 1.0]), "nested": (untouched, [a + b]), "plain": 4.0}
    found = nominal(structure)
    assert found["array"].dtype == np.float64
    assert found["array"].tolist() == [0.3, 1.0]
    assert found["nested"][1] == [1.0]
    assert found["nested"][0] is untouched
    assert replaced(untouched, lambda x: 0.0) is untouched
    assert not tape.guards


# ---- rotations that fit points --------------------------------------------------------------------------------------
def fitted(local: Any, places: Any) -> Any:
    pose = geometry.fit(local, places)
    return np.concatenate([pose.origin, np.asarray(pose.rotation).ravel()])


def sketch(p: Any, q: Any, r: Any) -> tuple[list[Any], list[Any]]:
    """Four points in a body and a sketch of them, not quite the same, by parameters."""
    local = [np.array(x) for x in ([0, 0, 0], [p, 0.1, 0], [0.3, q, 0.2], [r, 0.1, 0.4])]
    places = [np.array(x) for x in ([0.1, 0, r], [0.9, p, 0.8], [0.2, 1.1 + q, 0.3], [0.0, 0.7, r + p])]
    return local, places


@pytest.mark.parametrize("count", [3, 4])
def test_fitted_rotations_trace(count: int) -> None:
    nominal_values, other = (0.9, 0.8, 0.25), np.array((0.94, 0.75, 0.27))

    def plain(values: Any) -> Any:
        local, places = sketch(*values)
        return fitted(local[:count], places[:count])

    tape, parameters = inputs(nominal_values)
    numbers = tape.compiled(plain(parameters))
    assert len(tape.wide) == 1
    np.testing.assert_allclose(numbers.evaluate(column(nominal_values))[0][:, 0], plain(nominal_values), atol=2e-15)
    found, stays = numbers.evaluate(column(other))
    assert stays[0]
    np.testing.assert_allclose(found[:, 0], plain(other), atol=2e-15)
    rates = numbers.tangents(column(other))[:, :, 0]
    for j in range(3):
        h = 1e-3 * (np.arange(3) == j)
        one, two = ((plain(other + k * h) - plain(other - k * h)) / (2e-3 * k) for k in (1, 2))
        np.testing.assert_allclose(rates[:, j], (4 * one - two) / 3, atol=1e-9)


def test_far_designs_are_fitted_too() -> None:
    """Newton's method from the nominal rotation finds the best one, or says that it did not."""
    tape, parameters = inputs((0.9, 0.8, 0.25))
    numbers = tape.compiled(fitted(*sketch(*parameters)))
    designs = np.random.default_rng(5).uniform(-2, 2, (3, 200))
    found, stays = numbers.evaluate(designs)
    for k in np.flatnonzero(stays):
        np.testing.assert_allclose(found[:, k], fitted(*sketch(*designs[:, k])), atol=1e-11)
    assert stays.mean() > 0.5


def test_two_points_in_space_trace_and_the_line_is_a_decision() -> None:
    def plain(a: Any, b: Any, third: Any) -> Any:
        local = [np.array([0.0, 0, 0]), np.array([a, 0.0, 0.0]), np.array([2 * a, third, 0.0])]
        return fitted(local, [np.array([0.0, 1, b]), np.array([b, 0.5, 1.0]), np.array([2 * b, 0.0, 2.5])])

    tape, (a, b, third) = inputs((1.0, 0.6, 0.0))
    numbers = tape.compiled(plain(a, b, third))
    assert not tape.wide
    values, stays = numbers.evaluate(np.array([[1.2, 1.2], [0.5, 0.5], [0.0, 0.1]]))
    np.testing.assert_allclose(values[:, 0], plain(1.2, 0.5, 0.0), atol=1e-15)
    assert stays.tolist() == [True, False]


# ---- files ----------------------------------------------------------------------------------------------------------
DATA: dict[str, Any] = {
    "format": 1, "space": "planar", "name": "crank",
    "parameters": {"a": 2.0, "k": 3, "twice": "2*a", "omega": 1.5},
    "points": {"A": [0, 0], "B": ["a", 0]},
    "bodies": {"frame": {"points": ["A"]}, "crank": {"points": ["A", "B"], "length": "twice"}},
    "joints": {"A": {"type": "R", "bodies": ["frame", "crank"], "at": "A"}},
    "drivers": {"theta": {"joint": "A", "angle": "omega*t"}},
    "simulation": {"stop": "2*pi/omega", "step": 0.1},
}  # fmt: skip


def test_parameters_of_a_file() -> None:
    assert free_parameters(DATA) == ("a", "k", "omega")
    found = trace(DATA)
    assert found.names == ("a", "k", "omega")
    assert found.nominal.tolist() == [2.0, 3.0, 1.5]
    assert found.designs({"omega": [1.0, 2.0]}).tolist() == [[2.0, 2.0], [3.0, 3.0], [1.0, 2.0]]
    assert trace(DATA, settings={"a": 5.0}).nominal[0] == 5.0
    length = found.model.bodies["crank"].points["B"][0]
    motion = found.model.drivers["theta"].motion.constants["omega"]  # type: ignore[attr-defined]
    numbers = found.tape.compiled([length, motion, found.model.simulation.stop])
    assert numbers.evaluate(found.designs({"a": 2.5, "omega": 2.0}))[0][:, 0].tolist() == [5.0, 2.0, math.pi]
    held = trace(DATA, ["twice"])  # a formula can be overridden by a number
    assert held.nominal.tolist() == [4.0]
    assert held.model.parameters["a"] == 2.0
    with pytest.raises(InputError, match="there is no such parameter"):
        trace(DATA, ["b"])
    with pytest.raises(InputError, match="no parameter 'b'"):
        found.designs({"b": 1})


def test_a_length_that_the_reader_refuses_is_not_kept() -> None:
    found = trace(DATA)
    numbers = found.tape.compiled(list(found.model.bodies["crank"].points["B"]))
    assert numbers.evaluate(found.designs({"a": [1.0, 0.0, -1.0]}))[1].tolist() == [True, False, False]


def test_tracing_needs_no_compiler_until_it_is_compiled() -> None:
    code = (
        "import sys; from assurgent.mechanism.numbers import tracing;"
        "assert 'numba' not in sys.modules and 'sympy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
