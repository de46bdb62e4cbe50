"""Functions of time for compiled code: formulas as postfix programs on a stack of jets, tables as splines.

A formula was parsed by the mechanism's own grammar; here its steps become numbers (an operation each), which a small
compiled interpreter runs. Each entry of the stack holds value, first and second derivative.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numba import carray, cfunc, njit

from . import chain

FORMULA, TABLE = range(2)
NUMBER, VARIABLE = range(2)
OPERATIONS = (
    "+", "-", "*", "/", "^", "neg", "if", "atan2", "min", "max", "<", "<=", ">", ">=", "sin", "cos", "tan", "asin",
    "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "abs", "sign", "floor",
)  # fmt: skip
CODE = {name: 2 + i for i, name in enumerate(OPERATIONS)}
(
    ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, NEGATE, IF, ATAN2, MIN, MAX, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL,
    SIN, COS, TAN, ASIN, ACOS, ATAN, SINH, COSH, TANH, EXP, LOG, SQRT, ABS, SIGN, FLOOR,
) = (CODE[name] for name in OPERATIONS)  # fmt: skip
FAR = 1 << 40

OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy"}
INTERNAL = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}


@njit(**INTERNAL)
@chain.dated
def outer(code, x):  # type: ignore[no-untyped-def]
    """Value and two derivatives of a function of one argument."""
    if code == SIN:
        return math.sin(x), math.cos(x), -math.sin(x)
    if code == COS:
        return math.cos(x), -math.sin(x), -math.cos(x)
    if code == TAN:
        v = math.tan(x)
        return v, 1.0 + v * v, 2.0 * v * (1.0 + v * v)
    if code in (ASIN, ACOS):
        r = 1.0 / np.sqrt((1.0 - x) * (1.0 + x))
        sign = 1.0 if code == ASIN else -1.0
        return np.arcsin(x) if code == ASIN else np.arccos(x), sign * r, sign * x * r * r * r
    if code == ATAN:
        r = 1.0 / (1.0 + x * x)
        return math.atan(x), r, -2.0 * x * r * r
    if code == SINH:
        return np.sinh(x), np.cosh(x), np.sinh(x)
    if code == COSH:
        return np.cosh(x), np.sinh(x), np.cosh(x)
    if code == TANH:
        v = math.tanh(x)
        return v, 1.0 - v * v, -2.0 * v * (1.0 - v * v)
    if code == EXP:
        v = np.exp(x)
        return v, v, v
    if code == LOG:
        return np.log(x), 1.0 / x, -1.0 / (x * x)
    if code == SQRT:
        v = np.sqrt(x)
        return v, 0.5 / v, -0.25 / (v * v * v)
    if code == ABS:
        return abs(x), np.sign(x), 0.0
    if code == SIGN:
        return np.sign(x), 0.0, 0.0
    return np.floor(x), 0.0, 0.0


@njit(**INTERNAL)
@chain.dated
def power(a, a1, a2, b, b1, b2):  # type: ignore[no-untyped-def]
    """a ** b; with a constant exponent a series that ends: no 0 * inf where the base is 0."""
    value = a**b
    if b1 == 0.0 and b2 == 0.0:
        g1 = b * a ** (b - 1.0) if b != 0.0 else 0.0
        g2 = b * (b - 1.0) * a ** (b - 2.0) if b != 0.0 and b != 1.0 else 0.0
        return value, g1 * a1, g1 * a2 + g2 * a1 * a1
    log = np.log(a)
    e1 = b1 * log + b * a1 / a
    e2 = b2 * log + 2.0 * b1 * a1 / a + b * (a2 / a - a1 * a1 / (a * a))
    return value, value * e1, value * (e2 + e1 * e1)


@njit(**INTERNAL)
@chain.dated
def binary(code, a, a1, a2, b, b1, b2):  # type: ignore[no-untyped-def]
    """An operation of two arguments, each with two derivatives; a comparison gives 1 or 0."""
    if code == ADD:
        return a + b, a1 + b1, a2 + b2
    if code == SUBTRACT:
        return a - b, a1 - b1, a2 - b2
    if code == MULTIPLY:
        return a * b, a1 * b + a * b1, a2 * b + 2.0 * a1 * b1 + a * b2
    if code == DIVIDE:
        q = a / b
        q1 = (a1 - q * b1) / b
        return q, q1, (a2 - 2.0 * q1 * b1 - q * b2) / b
    if code == POWER:
        return power(a, a1, a2, b, b1, b2)
    if code == ATAN2:
        square = a * a + b * b
        rate = (b * a1 - a * b1) / square
        return math.atan2(a, b), rate, (b * a2 - a * b2 - 2.0 * rate * (a * a1 + b * b1)) / square
    if code in (MIN, MAX):
        if a != a or b != b:
            return np.nan, np.nan, np.nan
        if (a <= b) == (code == MIN) or a == b:
            return a, a1, a2
        return b, b1, b2
    if code == LESS:
        return (1.0 if a < b else 0.0), 0.0, 0.0
    if code == LESS_EQUAL:
        return (1.0 if a <= b else 0.0), 0.0, 0.0
    if code == GREATER:
        return (1.0 if a > b else 0.0), 0.0, 0.0
    return (1.0 if a >= b else 0.0), 0.0, 0.0


@njit(**INTERNAL)
@chain.dated
def formula(ints, x, at, count, t):  # type: ignore[no-untyped-def]
    """Run a postfix program; its steps are (operation, place of a number or count of arguments)."""
    s = ints[chain.STACK]  # the next free entry
    for k in range(count):
        code, argument = ints[at + 2 * k], ints[at + 2 * k + 1]
        if code == NUMBER:
            x[s], x[s + 1], x[s + 2] = x[argument], 0.0, 0.0
            s += 3
        elif code == VARIABLE:
            x[s], x[s + 1], x[s + 2] = t, 1.0, 0.0
            s += 3
        elif code == NEGATE:
            x[s - 3], x[s - 2], x[s - 1] = -x[s - 3], -x[s - 2], -x[s - 1]
        elif code == IF:
            s -= 6
            chosen = s if x[s - 3] != 0.0 else s + 3
            for i in range(3):
                x[s - 3 + i] = x[chosen + i]
        elif code >= SIN:
            g0, g1, g2 = outer(code, x[s - 3])
            d1, d2 = x[s - 2], x[s - 1]
            x[s - 3], x[s - 2], x[s - 1] = g0, g1 * d1, g1 * d2 + g2 * d1 * d1
        else:
            for _ in range(argument - 1):  # min and max of several: from the right, which changes nothing
                s -= 3
                v, d, e = binary(code, x[s - 3], x[s - 2], x[s - 1], x[s], x[s + 1], x[s + 2])
                x[s - 3], x[s - 2], x[s - 1] = v, d, e
    s = ints[chain.STACK]
    return x[s], x[s + 1], x[s + 2]


@njit(**INTERNAL)
@chain.dated
def spline(x, at, n, period, t):  # type: ignore[no-untyped-def]
    """A cubic spline: n knots, then four rows of n - 1 coefficients."""
    if period > 0.0:
        t = x[at] + (t - x[at]) % period
    low, high = 0, n - 1
    while high - low > 1:
        middle = (low + high) // 2
        if x[at + middle] <= t:
            low = middle
        else:
            high = middle
    s, c = t - x[at + low], at + n + low
    a, b, d, e = x[c], x[c + n - 1], x[c + 2 * (n - 1)], x[c + 3 * (n - 1)]
    return ((a * s + b) * s + d) * s + e, (3.0 * a * s + 2.0 * b) * s + d, 6.0 * a * s + 2.0 * b


@chain.dated
def _functions(ints_at, x_at):  # type: ignore[no-untyped-def]
    """Value and two derivatives of all functions of time, into the places from VALUES on."""
    ints, x = carray(ints_at, FAR), carray(x_at, FAR)
    t = x[chain.TIME]
    for i in range(ints[chain.N_FUNCTIONS]):
        o = ints[chain.FUNCTION] + 4 * i
        at, count = ints[o + 1], ints[o + 2]
        if ints[o] == FORMULA:
            v, d, e = formula(ints, x, at, count, t)
        else:
            v, d, e = spline(x, at + 1, count, x[at], t)
        place = ints[chain.VALUES] + 3 * i
        x[place], x[place + 1], x[place + 2] = v, d, e
    return 0


@functools.cache
def compiled() -> Any:
    """Return the compiled function that evaluates all functions of time; only loads and drivers need it."""
    return cfunc("int64(CPointer(int64), CPointer(float64))", **OPTIONS)(_functions)
