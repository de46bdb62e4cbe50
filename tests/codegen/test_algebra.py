"""Values of formulas: vector products, rotations and angles against matrices; the wording of type errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from assurgent.codegen.algebra import ELEMENTARY, Evaluator, Field
from assurgent.common import expressions as ex

FLOATS = Field(number=float, functions={f: getattr(math, f) for f in ELEMENTARY}, pi=math.pi)
# A dozen operations on products of numbers up to 10, at most 1000: each rounds by at most 1.1e-16 of that.
ROUNDING = 1e-12

numbers = st.floats(-10.0, 10.0, allow_subnormal=False)
angles = st.floats(-7.0, 7.0, allow_subnormal=False)
plane = st.tuples(numbers, numbers)
space = st.tuples(numbers, numbers, numbers)
units = space.filter(lambda v: math.hypot(*v) > 0.1).map(lambda v: tuple(c / math.hypot(*v) for c in v))
fixed = settings(max_examples=100, derandomize=True, deadline=None)


def value(text: str, dimension: int, **names: Any) -> Any:
    return Evaluator(names, FLOATS, dimension)(ex.parse(text))


def residual(text: str, dimension: int, **names: Any) -> tuple[Any, ...]:
    return Evaluator(names, FLOATS, dimension).residual(ex.parse_equation(text))


def turn(angle: float) -> np.ndarray:
    """The rotation matrix of the plane."""
    return np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])


def skew(axis: tuple[float, ...]) -> np.ndarray:
    x, y, z = axis
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def turn_about(axis: tuple[float, ...], angle: float) -> np.ndarray:
    """The rotation matrix about a unit axis, as the product of a change of basis and a turn about z."""
    n = np.array(axis)
    side = np.cross(n, [1.0, 0.0, 0.0] if abs(n[0]) < 0.7 else [0.0, 1.0, 0.0])
    side /= np.linalg.norm(side)
    basis = np.column_stack([side, np.cross(n, side), n])
    matrix = np.eye(3)
    matrix[:2, :2] = turn(angle)
    return basis @ matrix @ basis.T


@given(plane, plane)
@fixed
def test_products_of_the_plane(u: tuple[float, ...], v: tuple[float, ...]) -> None:
    """dot, cross, perp, |v|: scalar product, determinant, turn by +90 degrees, length."""
    assert_allclose(value("dot(u, v)", 2, u=u, v=v), np.dot(u, v), atol=ROUNDING)
    assert_allclose(value("cross(u, v)", 2, u=u, v=v), u[0] * v[1] - u[1] * v[0], atol=ROUNDING)
    assert_allclose(value("perp(v)", 2, v=v), turn(math.pi / 2) @ v, atol=ROUNDING)
    assert_allclose(value("|v|", 2, v=v), math.hypot(*v), atol=ROUNDING)
    assert_allclose(value("|v|^2", 2, v=v), np.dot(v, v), atol=ROUNDING)


@given(space, space)
@fixed
def test_products_of_space(u: tuple[float, ...], v: tuple[float, ...]) -> None:
    """In space cross is the vector product."""
    assert_allclose(value("dot(u, v)", 3, u=u, v=v), np.dot(u, v), atol=ROUNDING)
    assert_allclose(value("cross(u, v)", 3, u=u, v=v), skew(u) @ v, atol=ROUNDING)
    assert_allclose(value("|u - v|", 3, u=u, v=v), np.linalg.norm(np.subtract(u, v)), atol=ROUNDING)


@given(plane, angles)
@fixed
def test_rotation_in_the_plane(v: tuple[float, ...], angle: float) -> None:
    """rot(v, a) is the rotation matrix times v."""
    assert_allclose(value("rot(v, a)", 2, v=v, a=angle), turn(angle) @ v, atol=ROUNDING)


@given(space, angles, units)
@fixed
def test_rotation_in_space(v: tuple[float, ...], angle: float, axis: tuple[float, ...]) -> None:
    """rot(v, a, n) is the right-handed rotation matrix about n times v."""
    found = value("rot(v, a, n)", 3, v=v, a=angle, n=axis)
    assert_allclose(found, turn_about(axis, angle) @ v, atol=ROUNDING)


@given(plane, angles, st.floats(0.1, 10.0))
@fixed
def test_angle_equation_in_the_plane(u: tuple[float, ...], angle: float, stretch: float) -> None:
    """angle(u, v) = a holds for v turned from u by a, of any length; else sin(angle - a) |u| |v| is left."""
    v = tuple(stretch * (turn(angle) @ u))
    size = math.hypot(*u) * math.hypot(*v)
    (zero,) = residual("angle(u, v) = a", 2, u=u, v=v, a=angle)
    assert_allclose(zero, 0.0, atol=ROUNDING * max(1.0, size))
    (off,) = residual("angle(u, v) = a", 2, u=u, v=v, a=angle - 0.3)
    assert_allclose(off, math.sin(0.3) * size, atol=ROUNDING * max(1.0, size))


@given(space, angles, units)
@fixed
def test_angle_equation_in_space(u: tuple[float, ...], angle: float, axis: tuple[float, ...]) -> None:
    """angle(u, v, n) = a holds for v turned about n from a u that is perpendicular to n."""
    across = np.cross(axis, u)
    v = turn_about(axis, angle) @ across
    size = float(across @ across)
    (zero,) = residual("angle(u, v, n) = a", 3, u=tuple(across), v=tuple(v), n=axis, a=angle)
    assert_allclose(zero, 0.0, atol=ROUNDING * max(1.0, size))


def test_vector_equation_has_one_row_per_component() -> None:
    u, v, n = (1.0, 2.0), (3.0, 5.0), (0.5, 0.25, 4.0)
    assert residual("u = v", 2, u=u, v=v) == (-2.0, -3.0)
    assert residual("cross(n, n) = 0", 3, n=n) == (0.0, 0.0, 0.0)
    assert residual("u = 0.0", 2, u=u) == u
    assert residual("dot(u, v) = 13", 2, u=u, v=v) == (0.0,)


def test_constants_and_functions() -> None:
    """pi is a number of the field; every elementary function is the field's own."""
    assert value("pi", 2) == math.pi
    for function in ELEMENTARY:
        assert value(f"{function}(0.4)", 2) == getattr(math, function)(0.4)


U, V, S, X3 = (1.0, 2.0), (3.0, 4.0), 2.0, (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("text", "dimension", "column", "says"),
    [
        ("u + s", 2, 3, "a vector and a number cannot stand on both sides of '+'"),
        ("s - u", 2, 3, "a vector and a number cannot stand on both sides of '-'"),
        ("u*v", 2, 2, "two vectors are multiplied by dot(u, v) or cross(u, v)"),
        ("s/u", 2, 2, "two vectors are multiplied by dot(u, v) or cross(u, v)"),
        ("u^2", 2, 2, "a vector has no power; its squared length is |v|^2"),
        ("s.x", 2, 2, "'.x' needs a vector with that component"),
        ("u.z", 2, 2, "'.z' needs a vector with that component"),
        ("[s, s, s]", 2, 1, "a vector has 2 components here, not 3"),
        ("[s, s]", 3, 1, "a vector has 3 components here, not 2"),
        ("[u, s]", 2, 1, "the components of a vector are numbers"),
        ("dot(u, s)", 2, 1, "dot(u, v): scalar product; a number stands where a vector must"),
        ("s + dot(u)", 2, 5, "dot has 1 arguments; it is used as dot(u, v): scalar product"),
        ("cross(s, s)", 2, 1, "a number stands where a vector must"),
        ("perp(s)", 2, 1, "a number stands where a vector must"),
        ("perp(n)", 3, 1, "perp belongs to the plane"),
        ("rot(s, s)", 2, 1, "rot(v, angle), plane"),
        ("rot(u, u)", 2, 1, "rot(v, angle), plane"),
        ("rot(u, s, u)", 2, 1, "rot has 3 arguments"),
        ("rot(n, s)", 3, 1, "rot has 2 arguments"),
        ("rot(n, s, s)", 3, 1, "rot(v, angle, axis), space"),
        ("sin(u)", 2, 1, "sin takes a number, not a vector"),
        ("s*sin(s, s)", 2, 3, "sin has 2 arguments; it is used as sin(x)"),
        ("1 + angle(u, v)", 2, 5, "angle(u, v) stands alone on the left of its equation"),
        ("vv.x", 2, 1, "unknown symbol 'vv' - did you mean 'v'?"),
    ],
)
def test_type_error(text: str, dimension: int, column: int, says: str) -> None:
    """An operation that has no meaning is refused at its column, with the right use of it."""
    with pytest.raises(ex.FormulaError) as caught:
        value(text, dimension, u=U, v=V, s=S, n=X3)
    assert says in str(caught.value)
    assert caught.value.column == column


@pytest.mark.parametrize(
    ("text", "dimension", "column", "says"),
    [
        ("u = s", 2, 1, "one side of the equation is a vector, the other a number"),
        ("s = u", 2, 1, "one side of the equation is a vector, the other a number"),
        ("s = angle(u, v)", 2, 5, "angle(u, v) stands alone on the left of its equation"),
        ("angle(u, v) = u", 2, 1, "an angle is a number"),
        ("angle(u, s) = s", 2, 1, "a number stands where a vector must"),
        ("angle(u, v, u) = s", 2, 1, "angle has 3 arguments"),
        ("angle(n, n) = s", 3, 1, "angle has 2 arguments"),
    ],
)
def test_type_error_of_an_equation(text: str, dimension: int, column: int, says: str) -> None:
    with pytest.raises(ex.FormulaError) as caught:
        residual(text, dimension, u=U, v=V, s=S, n=X3)
    assert says in str(caught.value)
    assert caught.value.column == column
