"""Formulas and tables of the oracle: text -> a tape of postfix instructions, evaluated with two derivatives in time.

Written anew on Python's own grammar (`ast`, never `eval`): nothing is shared with the expressions of the product.
"""

from __future__ import annotations

import ast
import csv
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

Array = NDArray[np.float64]
CONSTANT, TIME, TABLE, NEGATE, ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, CHOOSE, LESS, LESS_EQUAL = range(12)
FUNCTIONS = {
    name: 20 + k
    for k, name in enumerate(("sin", "cos", "tan", "exp", "log", "sqrt", "abs", "atan", "tanh", "sign", "floor"))
}
PAIRS = {"min": 40, "max": 41, "atan2": 42}
OPERATORS: dict[type, int] = {
    ast.Add: ADD, ast.Sub: SUBTRACT, ast.Mult: MULTIPLY, ast.Div: DIVIDE, ast.Pow: POWER,
}  # fmt: skip
DEPTH = 64


class Tapes:
    """Formulas of one file, in the arrays that the kernels read."""

    def __init__(self, parameters: Mapping[str, Any], folder: Path) -> None:
        self.folder = folder
        self.codes: list[tuple[int, int]] = []
        self.numbers: list[float] = []
        self.starts = [0]
        self.knots: list[Array] = []
        self.pieces: list[Array] = []
        self.breaks: set[float] = set()
        self.names = {"pi": math.pi, "e": math.e}
        for name, value in parameters.items():
            self.names[name] = self.number(value)

    def number(self, value: Any) -> float:
        """Return a number of the file, which may be a formula of the parameters."""
        if not isinstance(value, str):
            return float(value)
        scratch = Tapes({}, self.folder)
        scratch.names = self.names
        scratch.add(value)
        return float(evaluate(*scratch.arrays(), 0, 0.0)[0])

    def add(self, value: Any) -> int:
        """Return the number of a new tape of a formula, a number or {table = ..}."""
        if isinstance(value, dict):
            self.table(value["table"])
        elif isinstance(value, str):
            self.write(ast.parse(re.sub(r"\bif\s*\(", "choose(", value.strip()), mode="eval").body)
        else:
            self.constant(float(value))
        self.starts.append(len(self.codes))
        return len(self.starts) - 2

    def table(self, name: str) -> None:
        with (self.folder / name).open() as file:
            rows = [row for row in csv.reader(file) if row]
        if not rows[0][0].strip().lstrip("+-").replace(".", "").replace("e", "").replace("-", "").isdigit():
            rows = rows[1:]
        data = np.array(rows, dtype=float)
        spline = CubicSpline(data[:, 0], data[:, 1], bc_type="not-a-knot")
        self.codes.append((TABLE, len(self.knots)))
        self.knots.append(data[:, 0])
        self.pieces.append(np.ascontiguousarray(spline.c.T))

    def constant(self, value: float) -> None:
        self.codes.append((CONSTANT, len(self.numbers)))
        self.numbers.append(value)

    def write(self, node: ast.expr) -> None:
        """Append the instructions of a node of the grammar."""
        match node:
            case ast.Constant(value=int() | float() as value):
                self.constant(float(value))
            case ast.Name(id="t"):
                self.codes.append((TIME, 0))
            case ast.Name(id=name):
                self.constant(self.names[name])
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                self.write(inner)
                self.codes.append((NEGATE, 0))
            case ast.UnaryOp(op=ast.UAdd(), operand=inner):
                self.write(inner)
            case ast.BinOp(left=left, op=op, right=right):
                self.write(left)
                self.write(right)
                self.codes.append((OPERATORS[type(op)], 0))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                if isinstance(op, ast.Gt | ast.GtE):
                    left, right = right, left
                self.write(left)
                self.write(right)
                self.codes.append((LESS if isinstance(op, ast.Lt | ast.Gt) else LESS_EQUAL, 0))
                for side in (left, right):  # `t < 0.7`: the time at which the formula changes
                    if not any(isinstance(n, ast.Name) and n.id == "t" for n in ast.walk(side)):
                        self.breaks.add(self.number(ast.unparse(side)))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                for argument in arguments:
                    self.write(argument)
                self.codes.append((CHOOSE if name == "choose" else {**FUNCTIONS, **PAIRS}[name], 0))
            case _:
                raise ValueError(f"the oracle does not read {ast.unparse(node)}")

    def arrays(self) -> tuple[NDArray[np.int64], Array, NDArray[np.int64], Array, Array, NDArray[np.int64]]:
        """Return the tapes as the kernels take them."""
        ends = np.cumsum([0, *(len(k) for k in self.knots)])
        pieces = [np.vstack([p, p[-1:]]) for p in self.pieces]  # as many rows as knots
        return (
            np.array(self.codes, dtype=np.int64).reshape(-1, 2),
            np.array([*self.numbers, 0.0]),
            np.array(self.starts, dtype=np.int64),
            np.concatenate([*self.knots, [0.0]]),
            np.vstack([*pieces, np.zeros((1, 4))]),
            ends.astype(np.int64),
        )


@njit(cache=True)
def outer(a, f0, f1, f2, out):  # type: ignore[no-untyped-def]
    """Chain rule: f(a) with f, f', f'' at a."""
    out[0], out[1], out[2] = f0, f1 * a[1], f1 * a[2] + f2 * a[1] * a[1]


@njit(cache=True)
def evaluate(codes, numbers, starts, knots, pieces, ends, which, t):  # type: ignore[no-untyped-def]
    """Return value, rate and acceleration of one tape at a time."""
    stack = np.zeros((DEPTH, 3))
    top = -1
    for at in range(starts[which], starts[which + 1]):
        code, argument = codes[at, 0], codes[at, 1]
        if code <= TABLE:
            top += 1
            stack[top] = 0.0
            if code == CONSTANT:
                stack[top, 0] = numbers[argument]
            elif code == TIME:
                stack[top, 0], stack[top, 1] = t, 1.0
            else:
                first, last = ends[argument], ends[argument + 1]
                k = min(max(np.searchsorted(knots[first:last], t) - 1, 0), last - first - 2) + first
                c, x = pieces[k], t - knots[k]
                stack[top, 0] = ((c[0] * x + c[1]) * x + c[2]) * x + c[3]
                stack[top, 1] = (3 * c[0] * x + 2 * c[1]) * x + c[2]
                stack[top, 2] = 6 * c[0] * x + 2 * c[1]
        elif code == NEGATE:
            stack[top] = -stack[top]
        elif code < CHOOSE or code >= 40 or code in (LESS, LESS_EQUAL):
            b = stack[top].copy()
            top -= 1
            a = stack[top].copy()
            binary(code, a, b, stack[top])
        elif code == CHOOSE:
            top -= 2
            stack[top] = stack[top + 1].copy() if stack[top, 0] != 0.0 else stack[top + 2].copy()
        else:
            unary(code, stack[top].copy(), stack[top])
    return stack[0]


@njit(cache=True)
def binary(code, a, b, out):  # type: ignore[no-untyped-def]
    if code == ADD:
        out[:] = a + b
    elif code == SUBTRACT:
        out[:] = a - b
    elif code == MULTIPLY:
        out[0], out[1] = a[0] * b[0], a[1] * b[0] + a[0] * b[1]
        out[2] = a[2] * b[0] + 2 * a[1] * b[1] + a[0] * b[2]
    elif code == DIVIDE:
        out[0] = a[0] / b[0]
        out[1] = (a[1] - out[0] * b[1]) / b[0]
        out[2] = (a[2] - 2 * out[1] * b[1] - out[0] * b[2]) / b[0]
    elif code == POWER:
        n = b[0]  # a constant power is all that the families write
        f1 = n * a[0] ** (n - 1) if n != 0.0 else 0.0
        f2 = n * (n - 1) * a[0] ** (n - 2) if n != 0.0 and n != 1.0 else 0.0
        outer(a, a[0] ** n, f1, f2, out)
    elif code == LESS:
        out[:] = 0.0
        out[0] = 1.0 if a[0] < b[0] else 0.0
    elif code == LESS_EQUAL:
        out[:] = 0.0
        out[0] = 1.0 if a[0] <= b[0] else 0.0
    elif code == 40:
        out[:] = a if a[0] <= b[0] else b
    elif code == 41:
        out[:] = a if a[0] >= b[0] else b
    else:
        square = a[0] * a[0] + b[0] * b[0]
        out[0] = math.atan2(a[0], b[0])
        out[1] = (a[1] * b[0] - a[0] * b[1]) / square
        out[2] = (a[2] * b[0] - a[0] * b[2] - 2 * out[1] * (a[0] * a[1] + b[0] * b[1])) / square


@njit(cache=True)
def unary(code, a, out):  # type: ignore[no-untyped-def]
    x = a[0]
    if code == 20:
        outer(a, math.sin(x), math.cos(x), -math.sin(x), out)
    elif code == 21:
        outer(a, math.cos(x), -math.sin(x), -math.cos(x), out)
    elif code == 22:
        y = math.tan(x)
        outer(a, y, 1 + y * y, 2 * y * (1 + y * y), out)
    elif code == 23:
        y = math.exp(x)
        outer(a, y, y, y, out)
    elif code == 24:
        outer(a, math.log(x), 1 / x, -1 / (x * x), out)
    elif code == 25:
        y = math.sqrt(x)
        outer(a, y, 0.5 / y, -0.25 / (y * x), out)
    elif code == 26:
        outer(a, abs(x), 1.0 if x >= 0 else -1.0, 0.0, out)
    elif code == 27:
        outer(a, math.atan(x), 1 / (1 + x * x), -2 * x / (1 + x * x) ** 2, out)
    elif code == 28:
        y = math.tanh(x)
        outer(a, y, 1 - y * y, -2 * y * (1 - y * y), out)
    elif code == 29:
        outer(a, np.sign(x), 0.0, 0.0, out)
    else:
        outer(a, math.floor(x), 0.0, 0.0, out)
