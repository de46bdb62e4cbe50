"""Exact derivatives of functions of time by the constants in them: formulas again, for the same evaluator.

A derivative by a constant is a function of time like any other: its value, rate and acceleration are the derivatives
of value, rate and acceleration. So trees are differentiated here, once, and compiled code needs no second arithmetic.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ..mechanism.formulas import parse
from ..mechanism.functions import Expression, postfix, tree
from ..mechanism.model import Array, Function
from .time_functions import Ints, Rows, TimeFunctions, write


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
        from .time_kernels import differentiate

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
    steps = differentiated(function, names)
    text = f"derivative of {function.text} by {', '.join(sorted(names))}"
    return None if steps is None else Expression(text, tree(steps), function.constants, function.variable, steps)


# ---- derivatives of formulas, as steps in the order of evaluation ----------------------------------------------------
Steps = tuple[tuple[str, Any, int], ...]
ONE, ZERO = ((("number", np.float64(x), 0),) for x in (1.0, 0.0))
NEG = (("call", "neg", 1),)
# derivatives by the arguments a and b
RULES: dict[str, tuple[str, ...]] = {
    "+": ("1", "1"), "-": ("1", "-1"), "*": ("b", "a"), "/": ("1/b", "-a/b/b"), "neg": ("-1",),
    "^": ("b*a**(b - 1)", "a**b*log(a)"), "atan2": ("b/(b*b + a*a)", "-a/(b*b + a*a)"),
    "sin": ("cos(a)",), "cos": ("-sin(a)",), "tan": ("1 + tan(a)*tan(a)",),
    "asin": ("1/sqrt((1 - a)*(1 + a))",), "acos": ("-1/sqrt((1 - a)*(1 + a))",), "atan": ("1/(1 + a*a)",),
    "sinh": ("cosh(a)",), "cosh": ("sinh(a)",), "tanh": ("1 - tanh(a)*tanh(a)",),
    "exp": ("exp(a)",), "log": ("1/a",), "sqrt": ("1/(2*sqrt(a))",), "abs": ("sign(a)",),
}  # fmt: skip  # sign, floor and comparisons have none


def differentiated(function: Expression, names: frozenset[str]) -> Steps | None:
    """Return the derivative by constants that change together; None where it vanishes."""
    stack: list[tuple[Steps, Steps | None]] = []
    for what, name, count in function.steps:
        if count == 0:
            stack.append((((what, name, 0),), ONE if what == "name" and name in names else None))
            continue
        arguments = stack[-count:]
        del stack[-count:]
        if name in ("min", "max"):  # pairs from the left
            stack.append(functools.reduce(lambda one, two, name=name: _applied(name, [one, two]), arguments))  # type: ignore[misc]
        else:
            stack.append(_applied(name, arguments))
    return stack[0][1]


def _applied(name: str, arguments: Sequence[tuple[Steps, Steps | None]]) -> tuple[Steps, Steps | None]:
    return (*chain.from_iterable(x for x, _ in arguments), ("call", name, len(arguments))), _slope(name, arguments)


def _slope(name: str, arguments: Sequence[tuple[Steps, Steps | None]]) -> Steps | None:
    """Return the derivative of an operator or function; None where that of every argument vanishes."""
    values, slopes = [x for x, _ in arguments], [dx for _, dx in arguments]
    if name in ("if", "min", "max"):
        if not any(slopes[-2:]):
            return None
        first = values[0] if name == "if" else values[0] + values[1] + (("call", "<=" if name == "min" else ">=", 2),)
        return first + (slopes[-2] or ZERO) + (slopes[-1] or ZERO) + (("call", "if", 3),)
    total: Steps | None = None
    for rule, slope in zip(RULES.get(name, ()), slopes, strict=False):
        if slope is None:
            continue
        if rule in ("1", "-1"):
            part = slope if rule == "1" else slope + NEG
        else:
            given = dict(zip("ab", values, strict=False))
            part = tuple(chain.from_iterable(given[x[1]] if x[0] == "name" else (x,) for x in _rule(rule)))
            part = part if slope is ONE else part + slope + (("call", "*", 2),)
        total = part if total is None else total + part + (("call", "+", 2),)
    return total


@functools.cache
def _rule(text: str) -> Steps:
    return postfix(parse(text))
