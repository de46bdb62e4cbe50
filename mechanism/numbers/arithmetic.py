"""Arithmetic of geometry for plain and for traced numbers.

What the reader and the planner compute goes through these functions wherever NumPy or `math` would turn a traced number
into a plain one. For plain numbers each does what its body says, to the last bit. Arrays that hold a traced number are
arrays of objects; annotations say `float` and `Array` for both.
"""

from __future__ import annotations

import cmath
import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .traced import Traced
from .value_tape import wrapped

Array = NDArray[np.float64]
Scalar: TypeAlias = Any  # a float, or traced


def is_traced(x: Any) -> bool:
    """Tell whether a number, or the type of an array, may be traced."""
    return isinstance(x, Traced) or (isinstance(x, np.ndarray) and x.dtype == object)


def is_zero(x: Scalar) -> bool:
    """Tell whether a number is zero, a traced one for every design: that it is zero at one decides nothing."""
    return x.zero if isinstance(x, Traced) else x == 0.0


def is_one(x: Scalar) -> bool:
    """Tell whether a number is one for every design."""
    return not isinstance(x, Traced) and x == 1.0


def scalar(x: Any) -> Scalar:
    """Return a number that NumPy computed as a Python float, or as it is traced."""
    return x if isinstance(x, Traced) else float(x)


def scalars(values: Any) -> list[Scalar]:
    """Return the entries of a number or a vector."""
    return [scalar(v) for v in np.atleast_1d(values)]


def array(values: Sequence[Any]) -> Array:
    """Return numbers as an array of doubles, or of objects where one is traced."""
    if any(isinstance(v, Traced) for v in values):
        return np.array(values, dtype=object)
    return np.array(values, dtype=np.float64)


def identity(x: Array) -> object:
    """Return a key that is the same for vectors that are equal for every design."""
    if not is_traced(x):
        return x.tobytes()
    flat: list[Any] = [0.0 if is_zero(v) else v for v in x.ravel().tolist()]
    return tuple(("node", v.index) if isinstance(v, Traced) else v for v in flat)


# ---- functions -----------------------------------------------------------------------------------------------------
def finite(x: Scalar) -> bool:
    """Tell whether a number is finite."""
    return x.finite() if isinstance(x, Traced) else math.isfinite(x)


def square_root(x: Scalar) -> Scalar:
    return x.sqrt() if isinstance(x, Traced) else math.sqrt(x)


def wrap(angle: Scalar) -> Scalar:
    """Return the same direction in (-pi, pi]."""
    return angle.unary("wrap") if isinstance(angle, Traced) else wrapped(angle)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Return the angle of a direction."""
    if isinstance(y, Traced):
        if y.zero and x > 0:
            return y
        if isinstance(x, Traced) or x != 0 or y.zero:
            return y.arctan2(x)
        return math.atan2(1.0 if y > 0 else -1.0, x)  # along the y axis
    if not isinstance(x, Traced):
        return math.atan2(y, x)
    if y == 0:
        return math.atan2(y, 1.0 if x > 0 else -1.0)  # along the x axis
    return Traced(x.tape, x.tape.node("atan2", x.tape.constant(float(y)), x.index))


def arctan2(y: Scalar, x: Scalar) -> Scalar:
    """Return the same by NumPy, which may differ from `math` in the last bit."""
    return atan2(y, x) if isinstance(y, Traced) or isinstance(x, Traced) else float(np.arctan2(y, x))


def hypot(x: Scalar, y: Scalar) -> Scalar:
    if isinstance(x, Traced):
        return x.hypot(y)
    return y.hypot(x) if isinstance(y, Traced) else float(np.hypot(x, y))


def _larger(a: Any, b: Any) -> Any:
    if isinstance(a, Traced):
        return a.larger(b)
    return b.larger(a) if isinstance(b, Traced) else max(a, b)


def _smaller(a: Any, b: Any) -> Any:
    if isinstance(a, Traced):
        return a.smaller(b)
    return b.smaller(a) if isinstance(b, Traced) else min(a, b)


def larger(values: Iterable[Scalar], otherwise: Scalar = 0.0) -> Scalar:
    """Return the largest of some numbers; which one it is, is no decision."""
    found = list(values)
    if any(isinstance(v, Traced) for v in found):
        return functools.reduce(_larger, found)
    return max(found, default=otherwise)


# ---- vectors -------------------------------------------------------------------------------------------------------
def largest(x: Array) -> Scalar:
    """Return the largest absolute value of the entries."""
    return larger(map(abs, x.ravel().tolist())) if is_traced(x) else float(np.max(np.abs(x)))


def norm(x: Array) -> Scalar:
    """Return the length of a vector."""
    return square_root(x @ x) if is_traced(x) else float(np.linalg.norm(x))


def vanishes(x: Array) -> bool:
    """Tell whether all entries are zero: one decision on a traced vector, not one on each entry."""
    return bool(largest(x) == 0.0) if is_traced(x) else not np.any(x)


def spread(places: Array) -> Scalar:
    """Return the largest extent of points (rows) along an axis."""
    if not is_traced(places):
        return float(np.max(np.ptp(places, axis=0)))
    columns = places.T.tolist()
    return larger(functools.reduce(_larger, c) - functools.reduce(_smaller, c) for c in columns)


# ---- numbers of the plane ------------------------------------------------------------------------------------------
class PlaneNumber:
    """A complex number with a traced part; it works beside Python's own."""

    __slots__ = ("imag", "real")

    def __init__(self, real: Scalar, imag: Scalar) -> None:
        self.real, self.imag = real, imag

    def __repr__(self) -> str:
        return f"({self.real!r}, {self.imag!r})"

    def __neg__(self) -> Any:
        return PlaneNumber(-self.real, -self.imag)

    def __add__(self, other: Any) -> Any:
        return plane(self.real + other.real, self.imag + other.imag)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return plane(self.real - other.real, self.imag - other.imag)

    def __rsub__(self, other: Any) -> Any:
        return plane(other.real - self.real, other.imag - self.imag)

    def __mul__(self, other: Any) -> Any:
        a, b, c, d = self.real, self.imag, other.real, other.imag
        return plane(a * c - b * d, a * d + b * c)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return _quotient(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _quotient(other, self)

    def __abs__(self) -> Scalar:
        return hypot(self.real, self.imag)

    def conjugate(self) -> Any:
        return PlaneNumber(self.real, -self.imag)


def _quotient(x: Any, y: Any) -> Any:
    a, b, c, d = x.real, x.imag, y.real, y.imag
    if is_zero(d):
        return plane(a / c, b / c)
    square = c * c + d * d
    return plane((a * c + b * d) / square, (b * c - a * d) / square)


def plane(x: Scalar, y: Scalar) -> Any:
    """Return a complex number."""
    return PlaneNumber(x, y) if isinstance(x, Traced) or isinstance(y, Traced) else complex(x, y)


def turned(angle: Scalar) -> Any:
    """Return exp(i angle)."""
    return plane(angle.cos(), angle.sin()) if isinstance(angle, Traced) else cmath.exp(1j * angle)


def phase(z: Any) -> Scalar:
    """Return the angle of a complex number."""
    return atan2(z.imag, z.real) if isinstance(z, PlaneNumber) else cmath.phase(z)


# ---- formulas ------------------------------------------------------------------------------------------------------
def apply(name: str, arguments: Sequence[Any]) -> Any:
    """Return the value of an operator or function of a formula in the parameters, one of the arguments being traced."""
    match name, arguments:
        case "+", (a, b):
            return a + b
        case "-", (a, b):
            return a - b
        case "*", (a, b):
            return a * b
        case "/", (a, b):
            return a / b
        case "^", (a, b):
            return a**b
        case "neg", (a,):
            return -a
        case "abs", (a,):
            return abs(a)
        case "sqrt", (a,):
            return a.sqrt()
        case "atan2", (a, b):
            return atan2(a, b)
        case "max", _:
            return functools.reduce(_larger, arguments)
        case "min", _:
            return functools.reduce(_smaller, arguments)
    return arguments[0].unary(name)
