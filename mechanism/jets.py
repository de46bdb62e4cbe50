"""Taylor arithmetic of order 3: exact derivatives of formulas, for many values of the variable at once.

A quantity is a *jet*, an array 4 x n whose row k holds f⁽ᵏ⁾/k! for n values of the variable; a constant is a plain
double (np.float64, so that 1/0 is infinite and no exception).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from . import formulas
from .model import Array

ORDER = 3


def _is_jet(x: Any) -> bool:
    return getattr(x, "ndim", 0) == 2


def lift(x: Any, like: Array) -> Array:
    """Return a constant as a jet."""
    if _is_jet(x):
        return np.asarray(x)
    jet = np.zeros_like(like)
    jet[0] = x
    return jet


def _add(a: Any, b: Any) -> Any:
    if _is_jet(a) == _is_jet(b):
        return a + b
    jet, constant = (a, b) if _is_jet(a) else (b, a)
    found = jet.copy()
    found[0] += constant
    return found


def _multiply(a: Any, b: Any) -> Any:
    if not (_is_jet(a) and _is_jet(b)):
        return a * b
    return np.array([sum(a[j] * b[k - j] for j in range(k + 1)) for k in range(len(a))])


def _divide(a: Any, b: Any) -> Any:
    if not _is_jet(b):
        return a / b
    a = lift(a, b)
    found = np.empty_like(a)
    for k in range(len(a)):
        found[k] = (a[k] - sum(found[j] * b[k - j] for j in range(k))) / b[0]
    return found


def _compose(u: Array, g: tuple[Any, Any, Any, Any]) -> Array:
    """Return the jet of g(u) from the derivatives g of the outer function at u (Faà di Bruno)."""
    g0, g1, g2, g3 = g
    found = np.empty_like(u)
    found[0] = g0
    found[1] = g1 * u[1]
    found[2] = g1 * u[2] + g2 / 2 * u[1] ** 2
    found[3] = g1 * u[3] + g2 * u[1] * u[2] + g3 / 6 * u[1] ** 3
    return found


def _power(a: Any, b: Any) -> Any:
    if not _is_jet(b):
        if not _is_jet(a):
            return np.power(a, b)
        derivatives, factor = [], 1.0
        for k in range(ORDER + 1):
            # a whole exponent ends the series: no 0*inf where the base is 0
            derivatives.append(factor * np.power(a[0], b - k) if factor else np.zeros_like(a[0]))
            factor *= float(b) - k
        return _compose(a, (derivatives[0], derivatives[1], derivatives[2], derivatives[3]))
    a = lift(a, b)
    exponent = _multiply(b, _call("log", a))
    value = np.power(a[0], b[0])
    return _compose(exponent, (value, value, value, value))


def _atan2(y: Any, x: Any) -> Any:
    if not (_is_jet(y) or _is_jet(x)):
        return np.arctan2(y, x)
    y, x = lift(y, x if _is_jet(x) else y), lift(x, y if _is_jet(y) else x)
    count = np.arange(1.0, ORDER + 1)[:, np.newaxis]
    dy, dx, y0, x0 = count * y[1:], count * x[1:], y[:-1], x[:-1]
    rate = _divide(_multiply(x0, dy) - _multiply(y0, dx), _multiply(x0, x0) + _multiply(y0, y0))
    return np.vstack([np.arctan2(y[:1], x[:1]), rate / count])


def _select(choice: Any, a: Any, b: Any) -> Any:
    """Return a where `choice` is true, else b; `choice` is one truth value, or one for each value of the variable."""
    if np.ndim(choice) == 0:
        return a if choice else b
    like = np.empty((ORDER + 1, len(choice)))
    return np.where(choice, lift(a, like), lift(b, like))


def _value(x: Any) -> Any:
    return x[0] if _is_jet(x) else x


def _extreme(a: Any, b: Any, smaller: bool) -> Any:
    first, second = _value(a), _value(b)
    undefined = np.isnan(first) | np.isnan(second)
    chosen = _select(first <= second if smaller else first >= second, a, b)
    return _select(undefined, np.float64(np.nan), chosen)


def _outer(name: str, x: Array) -> tuple[Any, Any, Any, Any]:
    """Return value and three derivatives of a function of one argument."""
    zero = np.zeros_like(x)
    match name:
        case "sin":
            s, c = np.sin(x), np.cos(x)
            return s, c, -s, -c
        case "cos":
            s, c = np.sin(x), np.cos(x)
            return c, -s, -c, s
        case "tan":
            t = np.tan(x)
            q = 1 + t * t
            return t, q, 2 * t * q, (2 + 6 * t * t) * q
        case "asin" | "acos":
            r = 1 / np.sqrt((1 - x) * (1 + x))
            sign, value = (1.0, np.arcsin(x)) if name == "asin" else (-1.0, np.arccos(x))
            return value, sign * r, sign * x * r**3, sign * (1 + 2 * x * x) * r**5
        case "atan":
            r = 1 / (1 + x * x)
            return np.arctan(x), r, -2 * x * r**2, (6 * x * x - 2) * r**3
        case "sinh" | "cosh":
            s, c = np.sinh(x), np.cosh(x)
            return (s, c, s, c) if name == "sinh" else (c, s, c, s)
        case "tanh":
            t = np.tanh(x)
            q = 1 - t * t
            return t, q, -2 * t * q, (6 * t * t - 2) * q
        case "exp":
            v = np.exp(x)
            return v, v, v, v
        case "log":
            return np.log(x), 1 / x, -1 / x**2, 2 / x**3
        case "sqrt":
            s = np.sqrt(x)
            return s, 1 / (2 * s), -1 / (4 * s**3), 3 / (8 * s**5)
        case "abs":
            return np.abs(x), np.sign(x), zero, zero
        case "sign":
            return np.sign(x), zero, zero, zero
        case _:
            return np.floor(x), zero, zero, zero


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    **{n: getattr(np, n) for n in formulas.ONE_ARGUMENT if n not in ("asin", "acos", "atan")},
}


def _call(name: str, x: Any) -> Any:
    return _compose(x, _outer(name, x[0])) if _is_jet(x) else _PLAIN[name](x)


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def apply(name: str, arguments: list[Any]) -> Any:
    """Return the value of an operator or function: a jet, a constant, or the truth of a comparison."""
    match name:
        case "+":
            return _add(*arguments)
        case "-":
            return _add(arguments[0], -arguments[1])
        case "*":
            return _multiply(*arguments)
        case "/":
            return _divide(*arguments)
        case "^":
            return _power(*arguments)
        case "neg":
            return -arguments[0]
        case "if":
            return _select(*arguments)
        case "atan2":
            return _atan2(*arguments)
        case "min" | "max":
            return functools.reduce(lambda a, b: _extreme(a, b, name == "min"), arguments)
        case "<" | "<=" | ">" | ">=":
            return _COMPARE[name](_value(arguments[0]), _value(arguments[1]))
    return _call(name, arguments[0])
