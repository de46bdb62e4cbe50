"""Operations of formulas, and tables, over the lanes of a block: values with three derivatives by Taylor arithmetic.

Each operation is one loop over the lanes of a block, straight-line where its functions allow it, so that it
vectorises. All orders are computed together: they are what a loop has in its registers anyway.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from . import lanemath
from .time_functions import CODE, OPERATIONS, REGISTER, SPARE, VARIABLE
from .time_functions import LANES as BLOCK
from .time_kernels import quotient

(
    NUMBER, ROW, LEVEL, SHIFT, SCALE, ADD, SUBTRACT, MULTIPLY, DIVIDE, SCALE_BY, DIVIDE_BY, NEGATE, IF, ATAN2, MIN,
    MAX, RAISE, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, POWER, WHOLE,
    SIN, COS, TAN, ASIN, ACOS, ATAN, SINH, COSH, TANH, EXP, LOG, SQRT, ABS, SIGN, FLOOR,
) = (CODE[name] for name in OPERATIONS)  # fmt: skip
R1, R2, R3 = (np.uint64(k * BLOCK) for k in (1, 2, 3))  # rows of a register
G = np.uint64(SPARE)
END = 1 << 40  # length of arrays that come as addresses
FAR = 1.6e6  # up to here the sine and cosine of `lanemath` are as good as the C library's

# No contraction: sums of products are rounded as in `mechanism/jets.py`.
INTERNAL: dict[str, Any] = {
    "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False,
}  # fmt: skip


# ---- operations of one argument: the outer function's derivatives, then the chain rule ------------------------------
@njit(forceinline=True, **INTERNAL)
def compose(x, d, u, n):  # type: ignore[no-untyped-def]
    """The jets of g(u) from the derivatives of g in the spare register (Faà di Bruno)."""
    for k in range(n):
        g1, g2, g3 = x[G + R1 + k], x[G + R2 + k], x[G + R3 + k]
        u1, u2, u3 = x[u + R1 + k], x[u + R2 + k], x[u + R3 + k]
        x[d + k] = x[G + k]
        x[d + R1 + k] = g1 * u1
        x[d + R2 + k] = g1 * u2 + g2 / 2.0 * (u1 * u1)
        x[d + R3 + k] = g1 * u3 + g2 * u1 * u2 + g3 / 6.0 * (u1 * u1 * u1)


@njit(forceinline=True, **INTERNAL)
def waves(op, x, u, n):  # type: ignore[no-untyped-def]
    """Sine or cosine; the polynomials of lanes only where all arguments of the block are in their range."""
    outside = 0
    for k in range(n):
        outside += 0 if abs(x[u + k]) < FAR else 1
    if outside == 0:
        for k in range(n):
            v = x[u + k]
            s, c = lanemath.sin(v), lanemath.cos(v)
            x[G + k] = s if op == SIN else c
            x[G + R1 + k] = c if op == SIN else -s
    else:
        for k in range(n):
            v = x[u + k]
            s, c = math.sin(v), math.cos(v)
            x[G + k] = s if op == SIN else c
            x[G + R1 + k] = c if op == SIN else -s
    for k in range(n):
        x[G + R2 + k], x[G + R3 + k] = -x[G + k], -x[G + R1 + k]


@njit(**INTERNAL)
def derivatives(op, v):  # type: ignore[no-untyped-def]
    """Value and three derivatives of a function of one argument, those that no loop vectorises."""
    if op == TAN:
        t = math.tan(v)
        q = 1.0 + t * t
        return t, q, 2.0 * t * q, (2.0 + 6.0 * t * t) * q
    if op in (ASIN, ACOS):
        r = 1.0 / math.sqrt((1.0 - v) * (1.0 + v))
        value = math.asin(v) if op == ASIN else math.acos(v)
        sign = 1.0 if op == ASIN else -1.0
        return value, sign * r, sign * v * (r * r * r), sign * (1.0 + 2.0 * v * v) * (r * r * r * r * r)
    if op == ATAN:
        r = 1.0 / (1.0 + v * v)
        return math.atan(v), r, -2.0 * v * (r * r), (6.0 * v * v - 2.0) * (r * r * r)
    if op in (SINH, COSH):
        s, c = math.sinh(v), math.cosh(v)
        if op == SINH:
            return s, c, s, c
        return c, s, c, s
    if op == TANH:
        t = math.tanh(v)
        q = 1.0 - t * t
        return t, q, -2.0 * t * q, (6.0 * t * t - 2.0) * q
    if op == EXP:
        e = math.exp(v)
        return e, e, e, e
    if op == LOG:
        return math.log(v), 1.0 / v, -1.0 / (v * v), 2.0 / (v * v * v)
    if op == SQRT:
        s = math.sqrt(v)
        return s, 1.0 / (2.0 * s), -1.0 / (4.0 * (s * s * s)), 3.0 / (8.0 * (s * s * s * s * s))
    if op == ABS:
        return abs(v), np.sign(v), 0.0, 0.0
    if op == SIGN:
        return np.sign(v), 0.0, 0.0, 0.0
    return np.floor(v), 0.0, 0.0, 0.0


@njit(**INTERNAL)
def outer(op, x, u, n):  # type: ignore[no-untyped-def]
    """A function of one argument and its derivatives, into the spare register."""
    for k in range(n):
        g0, g1, g2, g3 = derivatives(op, x[u + k])
        x[G + k], x[G + R1 + k], x[G + R2 + k], x[G + R3 + k] = g0, g1, g2, g3


@njit(**INTERNAL)
def power(x, u, b, n):  # type: ignore[no-untyped-def]
    """u to a constant exponent; a whole one ends the series: no 0 * inf where the base is 0."""
    for k in range(n):
        v, e = x[u + k], x[b + k]
        f2 = e * (e - 1.0)
        f3 = f2 * (e - 2.0)
        x[G + k] = v**e
        x[G + R1 + k] = e * v ** (e - 1.0) if e != 0.0 else 0.0
        x[G + R2 + k] = f2 * v ** (e - 2.0) if f2 != 0.0 else 0.0
        x[G + R3 + k] = f3 * v ** (e - 3.0) if f3 != 0.0 else 0.0


@njit(**INTERNAL)
def whole(x, u, exponent, n):  # type: ignore[no-untyped-def]
    """The same for exponents 2, 3, ... by products."""
    if exponent == 2:
        for k in range(n):
            v = x[u + k]
            x[G + k], x[G + R1 + k], x[G + R2 + k], x[G + R3 + k] = v * v, 2.0 * v, 2.0, 0.0
        return
    for k in range(n):
        x[G + R3 + k] = 1.0
    for _ in range(exponent - 3):
        for k in range(n):
            x[G + R3 + k] *= x[u + k]
    f1, f2 = float(exponent), float(exponent * (exponent - 1))
    f3 = f2 * float(exponent - 2)
    for k in range(n):
        v, p = x[u + k], x[G + R3 + k]
        x[G + R3 + k] = f3 * p
        x[G + R2 + k] = f2 * (p * v)
        x[G + R1 + k] = f1 * (p * v * v)
        x[G + k] = p * v * v * v


# ---- operations of two arguments ------------------------------------------------------------------------------------
@njit(**INTERNAL)
def multiply(x, d, a, b, n):  # type: ignore[no-untyped-def]
    for k in range(n):
        a0, a1, a2, a3 = x[a + k], x[a + R1 + k], x[a + R2 + k], x[a + R3 + k]
        b0, b1, b2, b3 = x[b + k], x[b + R1 + k], x[b + R2 + k], x[b + R3 + k]
        x[d + k] = a0 * b0
        x[d + R1 + k] = a0 * b1 + a1 * b0
        x[d + R2 + k] = a0 * b2 + a1 * b1 + a2 * b0
        x[d + R3 + k] = a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0


@njit(**INTERNAL)
def divide(x, d, a, b, n):  # type: ignore[no-untyped-def]
    for k in range(n):
        b0, b1, b2, b3 = x[b + k], x[b + R1 + k], x[b + R2 + k], x[b + R3 + k]
        q0 = x[a + k] / b0
        q1 = (x[a + R1 + k] - q0 * b1) / b0
        q2 = (x[a + R2 + k] - (q0 * b2 + q1 * b1)) / b0
        x[d + k], x[d + R1 + k], x[d + R2 + k] = q0, q1, q2
        x[d + R3 + k] = (x[a + R3 + k] - (q0 * b3 + q1 * b2 + q2 * b1)) / b0


@njit(**INTERNAL)
def raised(x, d, a, b, n):  # type: ignore[no-untyped-def]
    """a to an exponent that moves: exp(b log a), its value by the power itself."""
    for k in range(n):
        a0 = x[a + k]
        g0, g1, g2, g3 = math.log(a0), 1.0 / a0, -1.0 / (a0 * a0), 2.0 / (a0 * a0 * a0)
        u1, u2, u3 = x[a + R1 + k], x[a + R2 + k], x[a + R3 + k]
        l1, l2 = g1 * u1, g1 * u2 + g2 / 2.0 * (u1 * u1)
        l3 = g1 * u3 + g2 * u1 * u2 + g3 / 6.0 * (u1 * u1 * u1)
        b0, b1, b2, b3 = x[b + k], x[b + R1 + k], x[b + R2 + k], x[b + R3 + k]
        e1, e2 = b0 * l1 + b1 * g0, b0 * l2 + b1 * l1 + b2 * g0
        e3 = b0 * l3 + b1 * l2 + b2 * l1 + b3 * g0
        v = a0**b0
        x[d + k], x[d + R1 + k] = v, v * e1
        x[d + R2 + k] = v * e2 + v / 2.0 * (e1 * e1)
        x[d + R3 + k] = v * e3 + v * e1 * e2 + v / 6.0 * (e1 * e1 * e1)


@njit(**INTERNAL)
def arctangent(x, d, a, b, n):  # type: ignore[no-untyped-def]
    """atan2(a, b), by the quotient (b a' - a b') / (b² + a²)."""
    for k in range(n):
        y0, y1, y2 = x[a + k], x[a + R1 + k], x[a + R2 + k]
        x0, x1, x2 = x[b + k], x[b + R1 + k], x[b + R2 + k]
        dy1, dy2, dx1, dx2 = 2.0 * y2, 3.0 * x[a + R3 + k], 2.0 * x2, 3.0 * x[b + R3 + k]
        n0 = x0 * y1 - y0 * x1
        n1 = (x0 * dy1 + x1 * y1) - (y0 * dx1 + y1 * x1)
        n2 = (x0 * dy2 + x1 * dy1 + x2 * y1) - (y0 * dx2 + y1 * dx1 + y2 * x1)
        m0, m1 = x0 * x0 + y0 * y0, (x0 * x1 + x1 * x0) + (y0 * y1 + y1 * y0)
        m2 = (x0 * x2 + x1 * x1 + x2 * x0) + (y0 * y2 + y1 * y1 + y2 * y0)
        q0 = n0 / m0
        q1 = (n1 - q0 * m1) / m0
        x[d + k], x[d + R1 + k], x[d + R2 + k] = math.atan2(y0, x0), q0, q1 / 2.0
        x[d + R3 + k] = (n2 - (q0 * m2 + q1 * m1)) / m0 / 3.0


@njit(**INTERNAL)
def add(op, x, d, a, b, n):  # type: ignore[no-untyped-def]
    sign = 1.0 if op == ADD else -1.0
    for k in range(n):
        x[d + k] = x[a + k] + sign * x[b + k]
        x[d + R1 + k] = x[a + R1 + k] + sign * x[b + R1 + k]
        x[d + R2 + k] = x[a + R2 + k] + sign * x[b + R2 + k]
        x[d + R3 + k] = x[a + R3 + k] + sign * x[b + R3 + k]


@njit(forceinline=True, **INTERNAL)
def affine(op, x, d, a, value, n):  # type: ignore[no-untyped-def]
    """A jet plus, or times, a number."""
    shift, factor = (value, 1.0) if op == SHIFT else (-0.0, value)
    for k in range(n):
        x[d + k], x[d + R1 + k] = factor * x[a + k] + shift, factor * x[a + R1 + k]
        x[d + R2 + k], x[d + R3 + k] = factor * x[a + R2 + k], factor * x[a + R3 + k]


@njit(**INTERNAL)
def scale(op, x, d, a, b, n):  # type: ignore[no-untyped-def]
    """A jet times, or by, the constants of its lanes; or its negative."""
    if op == DIVIDE_BY:
        for k in range(n):
            v = x[b + k]
            x[d + k], x[d + R1 + k] = x[a + k] / v, x[a + R1 + k] / v
            x[d + R2 + k], x[d + R3 + k] = x[a + R2 + k] / v, x[a + R3 + k] / v
        return
    for k in range(n):
        v = x[b + k] if op == SCALE_BY else -1.0
        x[d + k], x[d + R1 + k] = v * x[a + k], v * x[a + R1 + k]
        x[d + R2 + k], x[d + R3 + k] = v * x[a + R2 + k], v * x[a + R3 + k]


@njit(**INTERNAL)
def extreme(op, x, d, a, b, n):  # type: ignore[no-untyped-def]
    """The smaller or larger one, the first where they are equal; undefined where either is."""
    sign = 1.0 if op == MIN else -1.0
    for k in range(n):
        first = sign * x[a + k] <= sign * x[b + k]
        undefined = x[a + k] != x[a + k] or x[b + k] != x[b + k]
        x[d + k] = np.nan if undefined else (x[a + k] if first else x[b + k])
        x[d + R1 + k] = 0.0 if undefined else (x[a + R1 + k] if first else x[b + R1 + k])
        x[d + R2 + k] = 0.0 if undefined else (x[a + R2 + k] if first else x[b + R2 + k])
        x[d + R3 + k] = 0.0 if undefined else (x[a + R3 + k] if first else x[b + R3 + k])


@njit(**INTERNAL)
def compare(op, x, d, a, b, n):  # type: ignore[no-untyped-def]
    """The truth of a comparison, 1 or 0; nothing else is read of it."""
    if op in (LESS, GREATER):
        a, b = (a, b) if op == LESS else (b, a)
        for k in range(n):
            x[d + k] = 1.0 if x[a + k] < x[b + k] else 0.0
    else:
        a, b = (a, b) if op == LESS_EQUAL else (b, a)
        for k in range(n):
            x[d + k] = 1.0 if x[a + k] <= x[b + k] else 0.0


@njit(**INTERNAL)
def select(x, d, c, a, b, n):  # type: ignore[no-untyped-def]
    for k in range(n):
        chosen = x[c + k] != 0.0
        x[d + k] = x[a + k] if chosen else x[b + k]
        x[d + R1 + k] = x[a + R1 + k] if chosen else x[b + R1 + k]
        x[d + R2 + k] = x[a + R2 + k] if chosen else x[b + R2 + k]
        x[d + R3 + k] = x[a + R3 + k] if chosen else x[b + R3 + k]


# ---- constants, the variable ----------------------------------------------------------------------------------------
@njit(**INTERNAL)
def fill(op, x, d, value, n):  # type: ignore[no-untyped-def]
    """A number as the value, or zeros as the derivatives, of a register."""
    if op == NUMBER:
        for k in range(n):
            x[d + k] = value
    else:
        for k in range(n):
            x[d + R1 + k], x[d + R2 + k], x[d + R3 + k] = 0.0, 0.0, 0.0


@njit(**INTERNAL)
def spread(x, d, source, at, instants, first, n):  # type: ignore[no-untyped-def]
    """A constant of designs into lanes: lane = design * instants + instant."""
    k, design = np.uint64(0), quotient(first, instants)
    left = (design + np.uint64(1)) * instants - first
    while k < n:
        run = min(left, n - k)
        value = source[at + design]
        for i in range(run):
            x[d + k + i] = value
        k, design, left = k + run, design + np.uint64(1), instants


@njit(forceinline=True, **INTERNAL)
def take(x, t, period, first, n):  # type: ignore[no-untyped-def]
    """The variable of a block; t repeats after `period` lanes."""
    d, k, place = np.uint64(VARIABLE), np.uint64(0), first - period * quotient(first, period)
    while k < n:
        run = min(period - place, n - k)
        for i in range(run):
            x[d + k + i] = t[place + i]
        k, place = k + run, np.uint64(0)
    for i in range(n):
        x[d + R1 + i], x[d + R2 + i], x[d + R3 + i] = 1.0, 0.0, 0.0


# ---- tables and lines ------------------------------------------------------------------------------------------------
@njit(forceinline=True, **INTERNAL)
def spline(numbers, own, size, x, n):  # type: ignore[no-untyped-def]
    """A cubic spline at the variable: period, knots, four rows of coefficients; the register of its result."""
    u, d, one = np.uint64(VARIABLE), np.uint64(2 * REGISTER), np.uint64(1)
    period, knots = numbers[own], own + one
    origin, pieces = numbers[knots], size - one
    low = np.uint64(0)
    for k in range(n):
        v = x[u + k]
        if period > 0.0:
            v = origin + (v - origin) % period
        if not (numbers[knots + low] <= v < numbers[knots + low + one]):  # most lanes lie where the last one did
            low, high = np.uint64(0), pieces
            while high - low > one:
                middle = (low + high) // np.uint64(2)
                if numbers[knots + middle] <= v:
                    low = middle
                else:
                    high = middle
        s, c = v - numbers[knots + low], knots + size + low
        c1 = c + pieces
        c2 = c1 + pieces
        a3, a2, a1, a0 = numbers[c], numbers[c1], numbers[c2], numbers[c2 + pieces]
        x[d + k] = ((a3 * s + a2) * s + a1) * s + a0
        x[d + R1 + k] = (3.0 * a3 * s + 2.0 * a2) * s + a1
        x[d + R2 + k] = 0.5 * (6.0 * a3 * s + 2.0 * a2)
        x[d + R3 + k] = a3
    return d


@njit(**INTERNAL)
def lifted_line(code, at, numbers, own, par, designs, instants, first, n, x):  # type: ignore[no-untyped-def]
    """A line as jets; the register of its result."""
    d, u = np.uint64(2 * REGISTER), np.uint64(VARIABLE)
    for j in range(3):
        into, place = G + np.uint64(j * BLOCK), code[at + np.uint64(j)]
        if place >= 0:
            for k in range(n):
                x[into + k] = numbers[own + np.uint64(place)]
        else:
            spread(x, into, par, np.uint64(-1 - place) * designs, instants, first, n)
    for k in range(n):
        b = x[G + R1 + k]
        x[d + k] = (x[G + k] + b * x[u + k]) + x[G + R2 + k]
        x[d + R1 + k], x[d + R2 + k], x[d + R3 + k] = b, 0.0, 0.0
    return d


# ---- results --------------------------------------------------------------------------------------------------------
@njit(forceinline=True, **INTERNAL)
def store(x, at, factor, out, o, n):  # type: ignore[no-untyped-def]
    """One derivative of a block into its row; the number of lanes that are not finite."""
    bad = 0
    for k in range(n):
        v = factor * x[at + k]
        out[o + k] = v
        bad += 0 if v - v == 0.0 else 1
    return bad


@njit(**INTERNAL)
def gather(x, at, factor, out, o, n):  # type: ignore[no-untyped-def]
    """Add one derivative of a block, times the lanes of the spare register, to its row."""
    for k in range(n):
        out[o + k] += factor * (x[G + k] * x[at + k])
