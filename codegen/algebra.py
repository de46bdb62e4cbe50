"""Syntax tree -> value, over any field: SymPy symbols, floats, complex numbers or balls of 90 digits.

A value is a scalar or a tuple of scalars (a vector of the plane or of space). All vector operations
reduce to + - * / of scalars, so one evaluator serves the derivation and the independent numeric route.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..common import expressions as ex
from ..common.errors import nearest

Scalar = Any
Value = Any  # Scalar | tuple[Scalar, ...]

ELEMENTARY = ("sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "sqrt")
EXPONENTS = "the exponent is a whole number from -8 to 8 (for roots: sqrt; for more: (x^8)^8)"
VECTOR_FUNCTIONS = {
    "dot": "dot(u, v): scalar product",
    "cross": "cross(u, v): in the plane the scalar u.x*v.y - u.y*v.x, in space the vector product",
    "norm": "|v|: length; |v|^2 is dot(v, v) without a root",
    "perp": "perp(v), plane: v turned by +90 degrees",
    "rot": "rot(v, angle), plane: v turned by the angle; rot(v, angle, axis), space: about a unit axis",
    "angle": "angle(u, v) = a, plane: the angle from u to v; angle(u, v, axis) = a, space: about the axis",
    "slope": "slope(f, x): derivative of the profile f at the unknown x",
}


@dataclass(frozen=True)
class Field:
    """How numbers and elementary functions are made in the field of the evaluation."""

    number: Callable[[Fraction], Scalar]
    functions: Mapping[str, Callable[[Scalar], Scalar]]
    pi: Scalar
    power: Callable[[Scalar, int], Scalar] = operator.pow


@dataclass(frozen=True)
class Profile:
    """A function of one number as a specification sees it: its Taylor polynomial of degree four about a place.

    Whoever runs a type with the polynomial developed at the number itself has the function and its derivatives exactly.
    """

    at: Scalar
    coefficients: tuple[Scalar, ...]

    def __call__(self, x: Scalar) -> Scalar:
        return self._sum(x, self.coefficients)

    def slope(self, x: Scalar) -> Scalar:
        return self._sum(x, tuple(k * c for k, c in enumerate(self.coefficients) if k > 0))

    def _sum(self, x: Scalar, coefficients: tuple[Scalar, ...]) -> Scalar:
        total = coefficients[-1]
        for c in coefficients[-2::-1]:
            total = c + (x - self.at) * total
        return total


def _is_vector(value: Value) -> bool:
    return isinstance(value, tuple)


class Evaluator:
    """Evaluates trees with the values of `names`; `dimension` is 2 (plane) or 3 (space)."""

    def __init__(self, names: Mapping[str, Value], field: Field, dimension: int) -> None:
        self.names = names
        self.field = field
        self.dimension = dimension

    def __call__(self, node: ex.Node) -> Value:
        match node:
            case ex.Number(text, _):
                return self.field.number(Fraction(text))
            case ex.Name(name, column):
                return self._name(name, column)
            case ex.Negative(operand, _):
                value = self(operand)
                return tuple(-c for c in value) if _is_vector(value) else -value
            case ex.Binary("^", left, right, column):
                return self._power(left, right, column)
            case ex.Binary():
                return self._chain(node)
            case ex.VectorLiteral(components, column):
                return self._vector(components, column)
            case ex.Component(vector, axis, column):
                value = self(vector)
                if not _is_vector(value) or axis >= len(value):
                    raise ex.FormulaError(f"'.{'xyz'[axis]}' needs a vector with that component", column)
                return value[axis]
            case ex.FunctionCall(function, arguments, column):
                return self._call(function, arguments, column)
        raise AssertionError(node)

    def residual(self, equation: ex.Equation) -> tuple[Scalar, ...]:
        """Return left - right as scalar rows: one for a scalar equation, one per component for a vector equation."""
        if isinstance(equation.left, ex.FunctionCall) and equation.left.function == "angle":
            return (self._angle(equation.left, self(equation.right)),)
        left, right = self(equation.left), self(equation.right)
        if _is_vector(left) and not _is_vector(right) and _is_zero(equation.right):
            return tuple(left)
        if _is_vector(left) != _is_vector(right):
            raise ex.FormulaError("one side of the equation is a vector, the other a number", 1)
        if _is_vector(left):
            return tuple(a - b for a, b in zip(left, right, strict=True))
        return (left - right,)

    def turn(self, equation: ex.Equation) -> tuple[Scalar, Scalar, Scalar] | None:
        """Return sine and cosine of an angle, each by |u| |v|, and what it equals; None of any other equation."""
        if isinstance(equation.left, ex.FunctionCall) and equation.left.function == "angle":
            return (*self._directions(equation.left), self(equation.right))
        return None

    def _name(self, name: str, column: int) -> Value:
        if name in self.names:
            if isinstance(self.names[name], Profile):
                raise ex.FormulaError(f"a profile is a function: {name}(x), slope({name}, x)", column)
            return self.names[name]
        if name == "pi":
            return self.field.pi
        raise UnknownName(name, self.names, column)

    def _vector(self, components: tuple[ex.Node, ...], column: int) -> Value:
        if len(components) != self.dimension:
            raise ex.FormulaError(f"a vector has {self.dimension} components here, not {len(components)}", column)
        values = tuple(self(c) for c in components)
        if any(_is_vector(v) for v in values):
            raise ex.FormulaError("the components of a vector are numbers", column)
        return values

    def _chain(self, node: ex.Node) -> Value:
        """Fold a + b - c * d ... from the left without recursion: a sum may have thousands of terms."""
        links: list[ex.Binary] = []
        while isinstance(node, ex.Binary) and node.operator != "^":
            links.append(node)
            node = node.left
        value = self(node)
        for link in reversed(links):
            value = self._binary(link.operator, value, self(link.right), link.column)
        return value

    def _binary(self, operator: str, a: Value, b: Value, column: int) -> Value:
        if operator in "+-":
            if _is_vector(a) != _is_vector(b):
                raise ex.FormulaError(f"a vector and a number cannot stand on both sides of '{operator}'", column)
            if _is_vector(a):
                return tuple(p + q if operator == "+" else p - q for p, q in zip(a, b, strict=True))
            return a + b if operator == "+" else a - b
        if _is_vector(b) and (operator == "/" or _is_vector(a)):
            raise ex.FormulaError("two vectors are multiplied by dot(u, v) or cross(u, v)", column)
        if _is_vector(a):
            return tuple(c * b if operator == "*" else c / b for c in a)
        if _is_vector(b):
            return tuple(a * c for c in b)
        return a * b if operator == "*" else a / b

    def _power(self, base: ex.Node, exponent: ex.Node, column: int) -> Value:
        sign = 1
        if isinstance(exponent, ex.Negative):
            exponent, sign = exponent.operand, -1
        if not isinstance(exponent, ex.Number) or Fraction(exponent.text).denominator != 1:
            raise ex.FormulaError(f"{EXPONENTS}, not a formula", column)
        n = sign * int(Fraction(exponent.text))
        if not -8 <= n <= 8:
            raise ex.FormulaError(f"{EXPONENTS}, not {n}", column)
        if isinstance(base, ex.FunctionCall) and base.function == "norm" and n == 2:  # |v|^2 without a root
            value = self._arguments(base, 1)[0]
            return _dot(value, value) if _is_vector(value) else self.field.power(value, 2)
        value = self(base)
        if _is_vector(value):
            raise ex.FormulaError("a vector has no power; its squared length is |v|^2", column)
        return self.field.power(value, n)

    def _arguments(self, call: ex.FunctionCall, *counts: int) -> list[Value]:
        if len(call.arguments) not in counts:
            usage = VECTOR_FUNCTIONS.get(call.function, f"{call.function}(x)")
            raise ex.FormulaError(
                f"{call.function} has {len(call.arguments)} arguments; it is used as {usage}", call.column
            )
        return [self(a) for a in call.arguments]

    def _vectors(self, call: ex.FunctionCall, *counts: int) -> list[Value]:
        values = self._arguments(call, *counts)
        if not all(_is_vector(v) for v in values):
            raise ex.FormulaError(
                f"{VECTOR_FUNCTIONS[call.function]}; a number stands where a vector must", call.column
            )
        return values

    def _call(self, function: str, arguments: tuple[ex.Node, ...], column: int) -> Value:
        call = ex.FunctionCall(function, arguments, column)
        if isinstance(self.names.get(function), Profile):
            (x,) = self._arguments(call, 1)
            return self.names[function](x)
        match function:
            case "slope":
                profile = self.names.get(getattr(arguments[0], "name", "")) if len(arguments) == 2 else None
                if not isinstance(profile, Profile):
                    raise ex.FormulaError(VECTOR_FUNCTIONS["slope"], column)
                return profile.slope(self(arguments[1]))
            case "dot":
                u, v = self._vectors(call, 2)
                return _dot(u, v)
            case "cross":
                u, v = self._vectors(call, 2)
                return _cross(u, v)
            case "norm":
                (v,) = self._arguments(call, 1)
                return self.field.functions["sqrt"](_dot(v, v) if _is_vector(v) else self.field.power(v, 2))
            case "perp":
                self._plane_only(call)
                (v,) = self._vectors(call, 1)
                return (-v[1], v[0])
            case "rot":
                return self._rotate(call)
            case "angle":
                raise ex.FormulaError("angle(u, v) stands alone on the left of its equation: angle(u, v) = a", column)
        if function in ELEMENTARY:
            (x,) = self._arguments(call, 1)
            if _is_vector(x):
                raise ex.FormulaError(f"{function} takes a number, not a vector", column)
            return self.field.functions[function](x)
        raise ex.FormulaError(
            f"unknown function '{function}'{nearest(function, [*ELEMENTARY, *VECTOR_FUNCTIONS])}", column
        )

    def _plane_only(self, call: ex.FunctionCall) -> None:
        if self.dimension != 2:
            raise ex.FormulaError(
                f"{call.function} belongs to the plane: {VECTOR_FUNCTIONS[call.function]}", call.column
            )

    def _rotate(self, call: ex.FunctionCall) -> Value:
        values = self._arguments(call, 2 if self.dimension == 2 else 3)
        vector, angle = values[0], values[1]
        if not _is_vector(vector) or _is_vector(angle) or not all(_is_vector(v) for v in values[2:]):
            raise ex.FormulaError(VECTOR_FUNCTIONS["rot"], call.column)
        c, s = self.field.functions["cos"](angle), self.field.functions["sin"](angle)
        if self.dimension == 2:
            return (c * vector[0] - s * vector[1], s * vector[0] + c * vector[1])
        axis = values[2]
        along, across = _dot(axis, vector), _cross(axis, vector)  # Rodrigues' formula
        return tuple(c * v + s * w + (1 - c) * along * a for v, w, a in zip(vector, across, axis, strict=True))

    def _angle(self, call: ex.FunctionCall, angle: Value) -> Scalar:
        """Residual of angle(u, v[, axis]) = a: sin(angle(u, v) - a) |u| |v|, smooth and never rank-deficient.

        It is zero half a turn away as well: where a group is assembled, that is looked after.
        """
        if _is_vector(angle):
            raise ex.FormulaError("an angle is a number; a vector stands on the right of it", call.column)
        sine, cosine = self._directions(call)
        c, s = self.field.functions["cos"](angle), self.field.functions["sin"](angle)
        return c * sine - s * cosine

    def _directions(self, call: ex.FunctionCall) -> tuple[Scalar, Scalar]:
        """Return sine and cosine of angle(u, v[, axis]), each by |u| |v|."""
        values = self._vectors(call, 2 if self.dimension == 2 else 3)
        u, v = values[0], values[1]
        return _cross(u, v) if self.dimension == 2 else _dot(values[2], _cross(u, v)), _dot(u, v)


class UnknownName(ex.FormulaError):
    """A name that the specification does not declare."""

    def __init__(self, name: str, known: Mapping[str, Value], column: int) -> None:
        super().__init__(f"unknown symbol '{name}'{nearest(name, known)}", column)
        self.name = name


def _is_zero(node: ex.Node) -> bool:
    return isinstance(node, ex.Number) and Fraction(node.text) == 0


def _dot(u: Value, v: Value) -> Scalar:
    total = u[0] * v[0]
    for a, b in zip(u[1:], v[1:], strict=True):
        total = total + a * b
    return total


def _cross(u: Value, v: Value) -> Value:
    if len(u) == 2:
        return u[0] * v[1] - u[1] * v[0]
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
