"""The one interpreter of tapes: numbers of many designs, their guards, and exact forward derivatives, compiled once.

Tapes name operations and relations; their numbers stand here, in the file that is compiled, so that a change of any of
them renews the compiled code.

Values are rows of `work`, one lane per design of a block: constants first, then the parameters, then one row per
operation in order. Nothing is allocated here.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, NEGATE, ABSOLUTE, SQUARE_ROOT = 0, 1, 2, 3, 4, 5, 6, 7
SIN, COS, TAN, ASIN, ACOS, ATAN, ATAN2, HYPOT = 8, 9, 10, 11, 12, 13, 14, 15
EXP, LOG, SINH, COSH, TANH, SIGN, FLOOR, MINIMUM, MAXIMUM, WRAP = 16, 17, 18, 19, 20, 21, 22, 23, 24, 25
FIT, PART = 26, 27  # nine rows, a FIT and eight PARTs: the rotation R that maximises tr(RᵀM)
OPERATIONS = {
    "+": ADD,
    "-": SUBTRACT,
    "*": MULTIPLY,
    "/": DIVIDE,
    "^": POWER,
    "neg": NEGATE,
    "abs": ABSOLUTE,
    "sqrt": SQUARE_ROOT,
    "sin": SIN,
    "cos": COS,
    "tan": TAN,
    "asin": ASIN,
    "acos": ACOS,
    "atan": ATAN,
    "atan2": ATAN2,
    "hypot": HYPOT,
    "exp": EXP,
    "log": LOG,
    "sinh": SINH,
    "cosh": COSH,
    "tanh": TANH,
    "sign": SIGN,
    "floor": FLOOR,
    "min": MINIMUM,
    "max": MAXIMUM,
    "wrap": WRAP,
    "fit": FIT,
    "part": PART,
}
LESS, AT_MOST, MORE, AT_LEAST, EQUAL, UNEQUAL, FINITE = 0, 1, 2, 3, 4, 5, 6
RELATIONS = {"<": LESS, "<=": AT_MOST, ">": MORE, ">=": AT_LEAST, "==": EQUAL, "!=": UNEQUAL, "finite": FINITE}

# Without Numba's run-time (_nrt) nothing here can allocate: code that tried would not compile.
OPTIONS = {"cache": True, "error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True, "_nrt": False}
_TABLE, _ROWS, _ROW = "int64[:, ::1]", "float64[:, ::1]", "int64[::1]"
_TURN = 2 * math.pi
_STEPS = 60  # of Newton's method for a rotation
_SETTLED = 1e-9  # radians: the step after such a one is below rounding


@njit(**OPTIONS)
def solve_turn(s00, s11, s22, s01, s02, s12, gx, gy, gz):  # type: ignore[no-untyped-def]
    """Return w of (tr(S) I - S) w = g for symmetric S; NaN where the matrix is not positive definite."""
    a, b, c = s11 + s22, s00 + s22, s00 + s11
    cx, cy, cz = b * c - s12 * s12, s02 * s12 + s01 * c, s01 * s12 + s02 * b
    determinant = a * cx - s01 * cy - s02 * cz
    if not (a > 0.0 and a * b - s01 * s01 > 0.0 and determinant > 0.0):
        return math.nan, math.nan, math.nan
    dy, dz, ez = a * c - s02 * s02, a * s12 + s01 * s02, a * b - s01 * s01
    return (
        (cx * gx + cy * gy + cz * gz) / determinant,
        (cy * gx + dy * gy + dz * gz) / determinant,
        (cz * gx + dz * gy + ez * gz) / determinant,
    )


@njit(**OPTIONS)
def fit_rotation(work, wide, at, o, k):  # type: ignore[no-untyped-def]
    """Write the rotation R that maximises tr(RᵀM), by Newton's method on rotations; NaN where it finds no maximum.

    With S = RᵀM the slope along a turn w of the body is its axial vector g, the curvature -(tr(S) I - S). On
    rotations this function has one maximum only, so that a positive definite tr(S) I - S proves it.
    """
    r00, r01, r02 = work[wide[at + 9], k], work[wide[at + 10], k], work[wide[at + 11], k]
    r10, r11, r12 = work[wide[at + 12], k], work[wide[at + 13], k], work[wide[at + 14], k]
    r20, r21, r22 = work[wide[at + 15], k], work[wide[at + 16], k], work[wide[at + 17], k]
    m00, m01, m02 = work[wide[at], k], work[wide[at + 1], k], work[wide[at + 2], k]
    m10, m11, m12 = work[wide[at + 3], k], work[wide[at + 4], k], work[wide[at + 5], k]
    m20, m21, m22 = work[wide[at + 6], k], work[wide[at + 7], k], work[wide[at + 8], k]
    found = False
    for _ in range(_STEPS):
        s00, s01 = r00 * m00 + r10 * m10 + r20 * m20, r00 * m01 + r10 * m11 + r20 * m21
        s02, s10 = r00 * m02 + r10 * m12 + r20 * m22, r01 * m00 + r11 * m10 + r21 * m20
        s11, s12 = r01 * m01 + r11 * m11 + r21 * m21, r01 * m02 + r11 * m12 + r21 * m22
        s20, s21 = r02 * m00 + r12 * m10 + r22 * m20, r02 * m01 + r12 * m11 + r22 * m21
        s22 = r02 * m02 + r12 * m12 + r22 * m22
        x, y, z = solve_turn(s00, s11, s22, 0.5 * (s01 + s10), 0.5 * (s02 + s20), 0.5 * (s12 + s21),
                             s21 - s12, s02 - s20, s10 - s01)  # fmt: skip
        size = math.sqrt(x * x + y * y + z * z)
        if not size < math.inf:  # far from the maximum: half a radian uphill
            x, y, z = s21 - s12, s02 - s20, s10 - s01
            slope = math.sqrt(x * x + y * y + z * z)
            if not slope > 0.0:
                break
            x, y, z, size = x / slope, y / slope, z / slope, 1.0
        if size > 0.5:
            x, y, z, size = 0.5 * x / size, 0.5 * y / size, 0.5 * z / size, 0.5
        # Rodrigues: exp(W) = I + p W + q W²
        p = math.sin(size) / size if size > 1e-4 else 1.0 - size * size / 6.0
        h = math.sin(0.5 * size) / (0.5 * size) if size > 1e-4 else 1.0 - size * size / 24.0
        q = 0.5 * h * h
        e00, e11, e22 = 1.0 - q * (y * y + z * z), 1.0 - q * (x * x + z * z), 1.0 - q * (x * x + y * y)
        e01, e10 = q * x * y - p * z, q * x * y + p * z
        e02, e20 = q * x * z + p * y, q * x * z - p * y
        e12, e21 = q * y * z - p * x, q * y * z + p * x
        r00, r01, r02 = (r00 * e00 + r01 * e10 + r02 * e20, r00 * e01 + r01 * e11 + r02 * e21,
                         r00 * e02 + r01 * e12 + r02 * e22)  # fmt: skip
        r10, r11, r12 = (r10 * e00 + r11 * e10 + r12 * e20, r10 * e01 + r11 * e11 + r12 * e21,
                         r10 * e02 + r11 * e12 + r12 * e22)  # fmt: skip
        r20, r21, r22 = (r20 * e00 + r21 * e10 + r22 * e20, r20 * e01 + r21 * e11 + r22 * e21,
                         r20 * e02 + r21 * e12 + r22 * e22)  # fmt: skip
        if size < _SETTLED:
            found = True
            break
    if not found:
        r00 = r01 = r02 = r10 = r11 = r12 = r20 = r21 = r22 = math.nan
    work[o, k], work[o + 1, k], work[o + 2, k] = r00, r01, r02
    work[o + 3, k], work[o + 4, k], work[o + 5, k] = r10, r11, r12
    work[o + 6, k], work[o + 7, k], work[o + 8, k] = r20, r21, r22


@njit(**OPTIONS)
def value(op, x, y):  # type: ignore[no-untyped-def]
    """Return an operation that is rare and not for vectors."""
    if op == SIN:
        return math.sin(x)
    if op == COS:
        return math.cos(x)
    if op == TAN:
        return math.tan(x)
    if op == ASIN:
        return math.asin(x)
    if op == ACOS:
        return math.acos(x)
    if op == ATAN:
        return math.atan(x)
    if op == ATAN2:
        return math.atan2(x, y)
    if op == HYPOT:
        return math.hypot(x, y)
    if op == POWER:
        return x**y
    if op == EXP:
        return math.exp(x)
    if op == LOG:
        return math.log(x)
    if op == SINH:
        return math.sinh(x)
    if op == COSH:
        return math.cosh(x)
    if op == TANH:
        return math.tanh(x)
    if op == SIGN:
        return 1.0 if x > 0.0 else -1.0 if x < 0.0 else x
    if op == FLOOR:
        return np.floor(x)
    turned = x - _TURN * np.rint(x / _TURN)  # WRAP
    return math.pi if turned <= -math.pi else turned


@njit(**OPTIONS)
def combine(op, x, y, out, m):  # type: ignore[no-untyped-def]
    """The operations that go in vectors, of m designs: arithmetic, absolute value, root, the lesser and the larger."""
    if op == ADD:
        for k in range(np.uint64(m)):
            out[k] = x[k] + y[k]
    elif op == SUBTRACT:
        for k in range(np.uint64(m)):
            out[k] = x[k] - y[k]
    elif op == MULTIPLY:
        for k in range(np.uint64(m)):
            out[k] = x[k] * y[k]
    elif op == DIVIDE:
        for k in range(np.uint64(m)):
            out[k] = x[k] / y[k]
    elif op == ABSOLUTE:
        for k in range(np.uint64(m)):
            out[k] = abs(x[k])
    elif op == SQUARE_ROOT:
        for k in range(np.uint64(m)):
            out[k] = math.sqrt(x[k])
    elif op == MINIMUM:
        for k in range(np.uint64(m)):
            out[k] = x[k] if x[k] <= y[k] else y[k]
    elif op == MAXIMUM:
        for k in range(np.uint64(m)):
            out[k] = x[k] if x[k] >= y[k] else y[k]
    else:
        for k in range(np.uint64(m)):
            out[k] = -x[k]


@njit(**OPTIONS)
def forward(code, wide, designs, work, first, m):  # type: ignore[no-untyped-def]
    """Fill the rows of m designs from `first` on."""
    base = work.shape[0] - code.shape[0]
    given = base - designs.shape[0]
    for i in range(designs.shape[0]):
        for k in range(m):
            work[given + i, k] = designs[i, first + k]
    for n in range(code.shape[0]):
        op, a, b, o = code[n, 0], code[n, 1], code[n, 2], base + n
        if op in (ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE, ABSOLUTE, SQUARE_ROOT, MINIMUM, MAXIMUM):
            combine(op, work[a], work[b], work[o], m)
        elif op == FIT:
            for k in range(m):
                fit_rotation(work, wide, a, o, k)
        elif op != PART:
            for k in range(m):
                work[o, k] = value(op, work[a, k], work[b, k])


@njit(**OPTIONS)
def decide(relation, x, y, kept, m):  # type: ignore[no-untyped-def]
    """Keep those of m designs in which a relation holds; none does where one of its sides is no number."""
    if relation == LESS:
        for k in range(np.uint64(m)):
            kept[k] &= x[k] < y[k]
    elif relation == AT_MOST:
        for k in range(np.uint64(m)):
            kept[k] &= x[k] <= y[k]
    elif relation == MORE:
        for k in range(np.uint64(m)):
            kept[k] &= x[k] > y[k]
    elif relation == AT_LEAST:
        for k in range(np.uint64(m)):
            kept[k] &= x[k] >= y[k]
    elif relation == EQUAL:
        for k in range(np.uint64(m)):
            kept[k] &= x[k] == y[k]
    elif relation == UNEQUAL:
        for k in range(np.uint64(m)):
            kept[k] &= (x[k] < y[k]) | (x[k] > y[k])
    else:
        for k in range(np.uint64(m)):
            kept[k] &= abs(x[k]) < math.inf


@njit(f"void({_TABLE}, {_ROW}, {_TABLE}, {_ROW}, {_ROWS}, {_ROWS}, {_ROWS}, boolean[::1])", **OPTIONS)
def evaluate(code, wide, guards, wanted, designs, work, values, kept):  # type: ignore[no-untyped-def]
    """Write values[design, number], and whether every guard of a design holds and every number of it is finite."""
    for first in range(0, designs.shape[1], work.shape[1]):
        m = min(work.shape[1], designs.shape[1] - first)
        forward(code, wide, designs, work, first, m)
        here = kept[first : first + m]
        for k in range(m):
            here[k] = True
        for g in range(guards.shape[0]):
            decide(guards[g, 0], work[guards[g, 1]], work[guards[g, 2]], here, m)
        for i in range(wanted.shape[0]):
            decide(FINITE, work[wanted[i]], work[wanted[i]], here, m)
        for k in range(m):
            for i in range(wanted.shape[0]):
                values[first + k, i] = work[wanted[i], k]


@njit(**OPTIONS)
def fit_rates(work, rates, wide, at, o, k):  # type: ignore[no-untyped-def]
    """Write the rate of a fitted rotation: RᵀM stays symmetric, so (tr(S) I - S) w is the axial vector of RᵀdM."""
    s00 = s01 = s02 = s10 = s11 = s12 = s20 = s21 = s22 = 0.0
    gx = gy = gz = 0.0
    for i in range(3):
        m0, m1, m2 = work[wide[at + 3 * i], k], work[wide[at + 3 * i + 1], k], work[wide[at + 3 * i + 2], k]
        d0, d1, d2 = rates[wide[at + 3 * i], k], rates[wide[at + 3 * i + 1], k], rates[wide[at + 3 * i + 2], k]
        r0, r1, r2 = work[o + 3 * i, k], work[o + 3 * i + 1, k], work[o + 3 * i + 2, k]
        s00, s01, s02 = s00 + r0 * m0, s01 + r0 * m1, s02 + r0 * m2
        s10, s11, s12 = s10 + r1 * m0, s11 + r1 * m1, s12 + r1 * m2
        s20, s21, s22 = s20 + r2 * m0, s21 + r2 * m1, s22 + r2 * m2
        gx, gy, gz = gx + r2 * d1 - r1 * d2, gy + r0 * d2 - r2 * d0, gz + r1 * d0 - r0 * d1
    x, y, z = solve_turn(s00, s11, s22, 0.5 * (s01 + s10), 0.5 * (s02 + s20), 0.5 * (s12 + s21), gx, gy, gz)
    for i in range(3):
        r0, r1, r2 = work[o + 3 * i, k], work[o + 3 * i + 1, k], work[o + 3 * i + 2, k]
        rates[o + 3 * i, k] = r1 * z - r2 * y
        rates[o + 3 * i + 1, k] = r2 * x - r0 * z
        rates[o + 3 * i + 2, k] = r0 * y - r1 * x


@njit(**OPTIONS)
def rate(op, x, y, z, dx, dy):  # type: ignore[no-untyped-def]
    """Return the rate of an operation like `value`, z of x and y."""
    if op == ATAN2:
        return (y * dx - x * dy) / (x * x + y * y)
    if op == HYPOT:
        return (x * dx + y * dy) / z
    if op == POWER:
        found = 0.0 if dx == 0.0 else y * x ** (y - 1.0) * dx
        return found if dy == 0.0 else found + z * math.log(x) * dy
    if dx == 0.0 or op in (SIGN, FLOOR):
        return 0.0
    if op == SIN:
        return math.cos(x) * dx
    if op == COS:
        return -math.sin(x) * dx
    if op == TAN:
        return (1.0 + z * z) * dx
    if op == ASIN:
        return dx / math.sqrt((1.0 - x) * (1.0 + x))
    if op == ACOS:
        return -dx / math.sqrt((1.0 - x) * (1.0 + x))
    if op == ATAN:
        return dx / (1.0 + x * x)
    if op == EXP:
        return z * dx
    if op == LOG:
        return dx / x
    if op == SINH:
        return math.cosh(x) * dx
    if op == COSH:
        return math.sinh(x) * dx
    if op == TANH:
        return (1.0 - z * z) * dx
    return dx  # WRAP


@njit(**OPTIONS)
def combined_rates(op, work, rates, a, b, o, m):  # type: ignore[no-untyped-def]
    """The rates of operations whose rates depend on their values, of m designs."""
    if op == MULTIPLY:
        for k in range(m):
            rates[o, k] = rates[a, k] * work[b, k] + work[a, k] * rates[b, k]
    elif op == DIVIDE:
        for k in range(m):
            rates[o, k] = (rates[a, k] - work[o, k] * rates[b, k]) / work[b, k]
    elif op == ABSOLUTE:
        for k in range(m):
            rates[o, k] = rates[a, k] if work[a, k] >= 0.0 else -rates[a, k]
    elif op == SQUARE_ROOT:
        for k in range(m):
            rates[o, k] = 0.0 if rates[a, k] == 0.0 else rates[a, k] / (2.0 * work[o, k])
    elif op == MINIMUM:
        for k in range(m):
            rates[o, k] = rates[a, k] if work[a, k] <= work[b, k] else rates[b, k]
    else:
        for k in range(m):
            rates[o, k] = rates[a, k] if work[a, k] >= work[b, k] else rates[b, k]


@njit(**OPTIONS)  # not before somebody asks for derivatives
def tangents(code, wide, wanted, designs, work, rates, found):  # type: ignore[no-untyped-def]
    """Write the derivatives of the wanted numbers by every parameter: `found` is (number, parameter, design).

    `rates` has one row per row of `work`, those of the constants zero.
    """
    base = work.shape[0] - code.shape[0]
    given = base - designs.shape[0]
    for first in range(0, designs.shape[1], work.shape[1]):
        m = min(work.shape[1], designs.shape[1] - first)
        forward(code, wide, designs, work, first, m)
        for j in range(found.shape[1]):
            for i in range(found.shape[1]):
                for k in range(m):
                    rates[given + i, k] = 1.0 if i == j else 0.0
            for n in range(code.shape[0]):
                op, a, b, o = code[n, 0], code[n, 1], code[n, 2], base + n
                if op in (ADD, SUBTRACT, NEGATE):
                    combine(op, rates[a], rates[b], rates[o], m)
                elif op in (MULTIPLY, DIVIDE, ABSOLUTE, SQUARE_ROOT, MINIMUM, MAXIMUM):
                    combined_rates(op, work, rates, a, b, o, m)
                elif op == FIT:
                    for k in range(m):
                        fit_rates(work, rates, wide, a, o, k)
                elif op != PART:
                    for k in range(m):
                        rates[o, k] = rate(op, work[a, k], work[b, k], work[o, k], rates[a, k], rates[b, k])
            for i in range(wanted.shape[0]):
                row = wanted[i]
                for k in range(m):
                    found[i, j, first + k] = rates[row, k]
