"""Kernels without the rates of constant coordinates: same values, nothing left of what is zero."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assurgent.codegen.specialise import common_factor, divided, specialised, with_larger_inverse
from assurgent.runtime.library import load

RATES = ("velocity_rhs", "acceleration_rhs", "acceleration_3ot_at")


def function(name: str, kernel: str, zeros: dict[str, frozenset[int]]):
    text = specialised(load(name).module, kernel, "made", zeros)
    scope: dict[str, object] = {"math": math}
    exec("\n".join(text.lines), scope)  # the text that is under test
    return scope["made"], text


def arguments(name: str, kernel: str, zero: frozenset[int]) -> tuple[object, ...]:
    m = load(name).module
    rng = np.random.default_rng(5)
    r, s = len(m.DEPENDENT), len(m.INDEPENDENT)

    def vector(n: int) -> tuple[float, ...]:
        return tuple(rng.uniform(0.5, 1.5, n))

    def rate() -> tuple[float, ...]:
        return tuple(0.0 if i in zero else v for i, v in enumerate(vector(s)))

    state = (vector(r), vector(s), vector(len(m.PARAMETERS)))
    if kernel == "velocity_rhs":
        return (*state, rate(), 0.3)
    if kernel == "acceleration_rhs":
        return (*state, vector(r), rate(), rate(), 0.3)
    return (*state, rate(), rate(), 0.3)


@pytest.mark.parametrize("kernel", RATES)
@pytest.mark.parametrize(("name", "zero"), [("RRR", {2, 3}), ("RRR", set()), ("RRP", {2, 3, 4, 5}), ("R", {0, 1})])
def test_same_values_as_the_kernel_it_comes_from(name: str, zero: set[int], kernel: str) -> None:
    constant = frozenset(zero)
    made, _ = function(name, kernel, {"hdot": constant, "hddot": constant})
    given = arguments(name, kernel, constant)
    expected = getattr(load(name).module, kernel).py_func(*given)
    # equal but for the sign of zeros: only additions of zero and products with zero are gone
    assert np.array_equal(np.abs(made(*given)), np.abs(expected))


def test_nothing_is_left_of_rates_that_are_zero() -> None:
    _, text = function("RRR", "acceleration_rhs", {"hdot": frozenset({2, 3}), "hddot": frozenset({2, 3})})
    body = [line for line in text.lines if "= hd" not in line]
    assert not any(name in line for name in ("x_B_dot", "y_B_dot", "x_B_ddot") for line in body)
    assert any("x_A_ddot" in line for line in body)


def test_a_value_that_is_not_finite_elsewhere_still_shows() -> None:
    made, _ = function("RRR", "velocity_rhs", {"hdot": frozenset({2, 3}), "hddot": frozenset({2, 3})})
    found = made((math.nan, 1.0), (0.0, 0.0, 3.0, 0.0), (2.0, 2.0), (1.0, 0.0, 0.0, 0.0), 0.0)
    assert math.isnan(found[0])


def test_lines_stay_readable() -> None:
    _, text = function("RSSR", "acceleration_3ot_at", {"hdot": frozenset({0})})
    assert max(len(line) for line in text.lines) <= 110


def test_a_number_that_all_right_hand_sides_share_goes_into_the_inverse() -> None:
    m, zeros = load("RRR").module, {"hdot": frozenset({2, 3}), "hddot": frozenset({2, 3})}
    rates = [specialised(m, kernel, "made", zeros) for kernel in RATES[:2]]
    assert common_factor(rates) == 2.0  # of |C - A|² and |C - B|²
    factors = with_larger_inverse(specialised(m, "factor_at", "made", {}), 2.0)
    assert factors is not None
    scope: dict[str, object] = {"math": math}
    state = ((4.0, 1.0), (0.0, 0.0, 3.0, -1.0), (2.0, 2.0))
    exec("\n".join(factors.lines), scope)  # the text that is under test
    larger = scope["made"](*state, 0.0)
    assert np.array_equal(larger, 2.0 * np.array(m.factor_at.py_func(*state, 0.0)))
    for kernel, name in zip(rates, RATES[:2], strict=True):
        exec("\n".join(divided(kernel, 2.0).lines), scope)
        given = arguments("RRR", name, frozenset({2, 3}))
        expected = 0.5 * np.array(getattr(m, name).py_func(*given))
        assert np.array_equal(np.abs(scope["made"](*given)), np.abs(expected))


def test_an_inverse_by_several_divisions_is_left_alone() -> None:
    m = load("triad-6R").module
    assert with_larger_inverse(specialised(m, "factor_at", "made", {}), 2.0) is None
