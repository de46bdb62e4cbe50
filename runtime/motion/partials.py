"""Exact derivatives of functions of time by the constants in them: formulas again, for the same evaluator.

A derivative by a constant is a function of time like any other: its value, rate and acceleration are the derivatives
of value, rate and acceleration. So trees are differentiated here, once, and compiled code needs no second arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import expressions as ex
from ..mechanism.functions import Expression, postfix
from ..mechanism.model import Array, Function
from .timefunctions import Ints, Rows, TimeFunctions, write

ZERO, ONE, TWO = (ex.Number(text, 1) for text in ("0", "1", "2"))


@dataclass(frozen=True, eq=False)
class Partials:
    """The derivatives of functions by the rows of par: which function (`targets`) by which row (`sources`)."""

    functions: TimeFunctions
    targets: Ints
    sources: Ints

    def add(
        self, par: Array, instants: int, t: Array, outputs: Sequence[Array], rows: Ints, tangents: Array, work: Array
    ) -> None:
        """Add to outputs[order][column, row, lane] what parameters change in the rows of the functions.

        par is (row, design), tangents (row of par, column, design), t (lane or instant), all contiguous; `rows` the
        row of every function of the set. There are designs x instants lanes.
        """
        from .timekernels import differentiate

        if not len(self.targets):
            return
        designs = par.shape[1]
        columns, n_rows, lanes = outputs[0].shape
        flat = [part.reshape(-1) for part in outputs]
        assert all(np.shares_memory(a, b) for a, b in zip(flat, outputs, strict=True)), "the rows are contiguous"
        differentiate(
            self.functions.code, self.functions.numbers, par.ravel(), designs, instants, t, len(t),
            *flat, *[flat[-1]] * (4 - len(flat)), lanes, rows[self.targets], len(outputs) - 1, 0, lanes, work,
            columns, self.sources, tangents.ravel(), n_rows * lanes,
        )  # fmt: skip


def partials(functions: Sequence[Function], rows: Rows) -> Partials:
    """Return the derivatives by every row of par that stands in a formula; tables hold no constants."""
    found: list[Expression] = []
    targets: list[int] = []
    sources: list[int] = []
    for i, function in enumerate(functions):
        own = by_constants(function, rows)
        found += own.values()
        sources += own.keys()
        targets += [i] * len(own)
    written = write(found, rows, columns=True)
    return Partials(written, np.array(targets, dtype=np.int64), np.array(sources, dtype=np.int64))


def by_constants(function: Function, rows: Rows) -> dict[int, Expression]:
    """Return the derivatives of one function that do not vanish, by the row of the constant."""
    if not isinstance(function, Expression):
        return {}
    of_name = {name: rows(name, value) for name, value in function.constants.items()}
    found = {}
    for row in sorted({r for r in of_name.values() if r is not None}):
        derivative = by_names(function, frozenset(name for name, r in of_name.items() if r == row))
        if derivative is not None:
            found[row] = derivative
    return found


def by_names(function: Expression, names: frozenset[str]) -> Expression | None:
    """Return the derivative by names that change together, constants or the variable; None where it vanishes."""
    node = differentiated(function, names)
    text = f"derivative of {function.text} by {', '.join(sorted(names))}"
    return None if node is None else Expression(text, node, function.constants, function.variable, postfix(node))


# ---- trees --------------------------------------------------------------------------------------------------------
_Tree = ex.Node
_Slope = ex.Node | None  # None is zero, which leaves no trace


def differentiated(function: Expression, names: frozenset[str]) -> _Slope:
    """Return the tree of the derivative by constants that change together; None where it vanishes."""
    stack: list[tuple[_Tree, _Slope]] = []
    for what, item, count in function.steps:
        if what == "number":
            stack.append((_number(float(item)), None))
        elif what == "name":
            stack.append((ex.Name(item, 1), ONE if item in names else None))
        else:
            arguments = stack[-count:]
            del stack[-count:]
            trees, slopes = [a[0] for a in arguments], [a[1] for a in arguments]
            if item in ("min", "max") and count > 2:  # pairs from the left
                tree, slope = trees[0], slopes[0]
                for other, its in zip(trees[1:], slopes[1:], strict=True):
                    slope = _of_two(item, tree, other, slope, its) if slope or its else None
                    tree = ex.Call(item, (tree, other), 1)
                stack.append((tree, slope))
            else:
                slope = _slope(item, trees, slopes) if any(slopes) else None
                stack.append((_node(item, trees), slope))
    return stack[0][1]


def _number(value: float) -> _Tree:
    plain = ex.Number(repr(abs(value)), 1)
    return ex.Negative(plain, 1) if value < 0 else plain


def _node(name: str, trees: list[_Tree]) -> _Tree:
    if name == "neg":
        return ex.Negative(trees[0], 1)
    if name in ("+", "-", "*", "/", "^", "<", "<=", ">", ">="):
        return ex.Binary(name, trees[0], trees[1], 1)
    return ex.Call(name, tuple(trees), 1)


def _plus(a: _Slope, b: _Slope) -> _Slope:
    return ex.Binary("+", a, b, 1) if a and b else a or b


def _minus(a: _Slope, b: _Slope) -> _Slope:
    if b is None:
        return a
    return ex.Binary("-", a, b, 1) if a else ex.Negative(b, 1)


def _times(a: _Tree, slope: _Slope) -> _Slope:
    if slope is None or a is ONE:
        return slope
    return a if slope is ONE else ex.Binary("*", a, slope, 1)


def _over(slope: _Slope, b: _Tree) -> _Slope:
    return None if slope is None else ex.Binary("/", slope, b, 1)


def _square(a: _Tree) -> _Tree:
    return ex.Binary("*", a, a, 1)


def _slope(name: str, trees: list[_Tree], slopes: list[_Slope]) -> _Slope:
    if len(trees) == 1:
        return _of_one(name, trees[0], slopes[0])
    if name == "if":
        return ex.Call("if", (trees[0], slopes[1] or ZERO, slopes[2] or ZERO), 1) if slopes[1] or slopes[2] else None
    return _of_two(name, trees[0], trees[1], slopes[0], slopes[1])


def _of_two(name: str, a: _Tree, b: _Tree, da: _Slope, db: _Slope) -> _Slope:
    match name:
        case "+":
            return _plus(da, db)
        case "-":
            return _minus(da, db)
        case "*":
            return _plus(_times(b, da), _times(a, db))
        case "/":
            return _over(_minus(da, _times(ex.Binary("/", a, b, 1), db)), b)
        case "^":
            less = ex.Binary("^", a, ex.Binary("-", b, ONE, 1), 1)
            by_exponent = ex.Binary("*", ex.Binary("^", a, b, 1), ex.Call("log", (a,), 1), 1)
            return _plus(_times(ex.Binary("*", b, less, 1), da), _times(by_exponent, db))
        case "atan2":
            return _over(_minus(_times(b, da), _times(a, db)), ex.Binary("+", _square(b), _square(a), 1))
        case "min" | "max":
            first = ex.Binary("<=" if name == "min" else ">=", a, b, 1)
            return ex.Call("if", (first, da or ZERO, db or ZERO), 1)
    return None  # a comparison


def _of_one(name: str, a: _Tree, da: _Slope) -> _Slope:
    def call(function: str) -> _Tree:
        return ex.Call(function, (a,), 1)

    def sum_of(first: _Tree, second: _Tree) -> _Tree:
        return ex.Binary("+", first, second, 1)

    match name:
        case "neg":
            return _minus(None, da)
        case "sin":
            return _times(call("cos"), da)
        case "cos":
            return _minus(None, _times(call("sin"), da))
        case "tan":
            return _times(sum_of(ONE, _square(call("tan"))), da)
        case "asin" | "acos":
            inside = ex.Binary("*", ex.Binary("-", ONE, a, 1), sum_of(ONE, a), 1)
            found = _over(da, ex.Call("sqrt", (inside,), 1))
            return found if name == "asin" else _minus(None, found)
        case "atan":
            return _over(da, sum_of(ONE, _square(a)))
        case "sinh" | "cosh":
            return _times(call("cosh" if name == "sinh" else "sinh"), da)
        case "tanh":
            return _times(ex.Binary("-", ONE, _square(call("tanh")), 1), da)
        case "exp":
            return _times(call("exp"), da)
        case "log":
            return _over(da, a)
        case "sqrt":
            return _over(da, ex.Binary("*", TWO, call("sqrt"), 1))
        case "abs":
            return _times(call("sign"), da)
    return None  # sign, floor
