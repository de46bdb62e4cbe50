"""Formulas with values: numbers in the parameters, and functions of t or u with three exact derivatives.

A tree is flattened once to postfix order and evaluated on a stack, so that neither a sum of thousands of terms nor
hundreds of levels meets Python's limit of recursion.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..common import expressions as ex
from ..common import si_units as units
from ..common.errors import InputError, nearest
from ..common.expressions import FormulaError
from . import formulas, jets
from .model import Array, Function
from .numbers import arithmetic
from .numbers.traced import Traced

CONSTANTS: dict[str, float] = {"pi": math.pi, "e": math.e}
_FACTORIALS = np.array([[1.0], [1.0], [2.0], [6.0]])
_RATES = ("value", "rate", "acceleration")
STEADY = ("+", "-", "*", "neg", "sin", "cos")  # of continuous arguments continuous, and never faster than its rates say
LARGEST = 1e100  # far beyond every mechanism in SI units; its cube is still a number
_Step = tuple[str, Any, int]  # what, its name or value, number of arguments


@functools.lru_cache(maxsize=4096)
def _parse(text: str) -> tuple[ex.Node, tuple[_Step, ...], dict[str, int]]:
    """Return the tree of a formula, its steps, and the names in it with their columns."""
    node = formulas.parse(text)
    return node, postfix(node), ex.names(node)


def postfix(node: ex.Node) -> tuple[_Step, ...]:
    """Return the steps of the tree in the order of evaluation."""
    steps: list[_Step] = []
    stack = [node]  # leaves the tree root first, right to left: the reverse of postfix
    while stack:
        item = stack.pop()
        match item:
            case ex.Number(text, _):
                steps.append(("number", np.float64(text), 0))
            case ex.Name(name, _):
                steps.append(("name", name, 0))
            case ex.Negative(operand, _):
                steps.append(("call", "neg", 1))
                stack.append(operand)
            case ex.Binary(operator, left, right, _):
                steps.append(("call", operator, 2))
                stack += [left, right]
            case ex.FunctionCall(function, arguments, _):
                steps.append(("call", function, len(arguments)))
                stack += arguments
            case _:
                raise TypeError(f"no value for {type(item).__name__}")
    return tuple(reversed(steps))


def _number(value: float) -> ex.Node:
    """Return the node of a number; the grammar has no negative ones."""
    plain = ex.Number(repr(abs(float(value))), 1)
    return ex.Negative(plain, 1) if value < 0 else plain


def tree(steps: Sequence[_Step]) -> ex.Node:
    """Return the tree that gives these steps."""
    stack: list[ex.Node] = []
    for what, item, count in steps:
        arguments = stack[len(stack) - count :]
        del stack[len(stack) - count :]
        if what == "number":
            stack.append(_number(item))
        elif what == "name":
            stack.append(ex.Name(item, 1))
        elif item == "neg":
            stack.append(ex.Negative(arguments[0], 1))
        elif item in formulas.FUNCTIONS:
            stack.append(ex.FunctionCall(item, tuple(arguments), 1))
        else:
            stack.append(ex.Binary(item, arguments[0], arguments[1], 1))
    return stack[0]


def _run(steps: tuple[_Step, ...], names: Mapping[str, Any]) -> Any:
    stack: list[Any] = []
    with np.errstate(all="ignore"):  # what is not finite is found at the end, unless an `if` leaves it out
        for what, item, count in steps:
            if what == "number":
                stack.append(item)
            elif what == "name":
                stack.append(names[item])
            else:
                arguments = stack[-count:]
                del stack[-count:]
                traced = any(isinstance(a, Traced) for a in arguments)
                stack.append(arithmetic.apply(item, arguments) if traced else jets.apply(item, arguments))
    return stack[0]


# ---- what the reader uses ------------------------------------------------------------------------------------------
def _known(names: Mapping[str, int], parameters: Mapping[str, float], variable: str | None) -> dict[str, float]:
    """Return the constants that a formula uses; a name that means nothing is refused at its column."""
    used: dict[str, float] = {}
    for name, column in names.items():
        if name == variable:
            continue
        if name in CONSTANTS:
            used[name] = CONSTANTS[name]
        elif name in parameters:
            used[name] = parameters[name]
        elif name == "t":
            raise FormulaError("'t' has no meaning here: time stands in drivers and forces only", column)
        elif name == "time":
            meant = "time is written t" if variable == "t" else "time, written t, stands in drivers and forces only"
            raise FormulaError(f"unknown name 'time' - {meant}", column)
        elif name in formulas.KNOWN:
            raise FormulaError(f"the function '{name}' needs its values in parentheses: {name}(...)", column)
        elif name in units.NAMES:
            raise FormulaError(f"unknown name '{name}' - a unit stands directly after a number: 1 {name}", column)
        else:
            near = nearest(name, [*parameters, *CONSTANTS, *([variable] if variable else []), *formulas.KNOWN])
            raise FormulaError(f"unknown name '{name}'{near or ' - declare it in [parameters]'}", column)
    return used


def evaluate(text: str, parameters: Mapping[str, float]) -> float:
    """Return the value of a formula in the parameters; what is not finite is a FormulaError."""
    _, steps, used = _parse(text)
    return _constant(text) if used.keys() <= CONSTANTS.keys() else _value(steps, _known(used, parameters, None))


@functools.lru_cache(maxsize=4096)
def _constant(text: str) -> float:
    """Return the value of a formula without parameters."""
    _, steps, used = _parse(text)
    return _value(steps, _known(used, {}, None))


def _value(steps: tuple[_Step, ...], known: Mapping[str, float]) -> float:
    for what, name, _ in steps:
        if what == "call" and name == "if":
            raise FormulaError("'if' has no meaning here: it stands in drivers and forces only", 1)
    names = {n: v if arithmetic.is_traced(v) else np.float64(v) for n, v in known.items()}
    value: float = arithmetic.scalar(_run(steps, names))
    if not arithmetic.finite(value):
        raise FormulaError(f"is not a finite number ({value})", 1)
    return value


@dataclass(eq=False)  # not frozen: the protocol Function asks for a plain attribute `text`
class Expression:
    """A function of one variable given by a formula.

    `node` is its syntax tree and `constants` the value of every parameter (and of pi and e) that stands in it, so
    that generated code can be made from it; `variable` is `t`, or `u` for the profile of a cam.
    """

    text: str
    node: ex.Node = field(repr=False)
    constants: Mapping[str, float]
    variable: str
    steps: tuple[_Step, ...] = field(repr=False)

    def __call__(self, x: Array) -> Array:
        """Return value and first three derivatives, an array 4 x n for n values."""
        places = np.atleast_1d(np.asarray(x, dtype=np.float64)).ravel()
        jet = np.zeros((jets.ORDER + 1, len(places)))
        jet[0], jet[1] = places, 1.0
        names: dict[str, Any] = {n: np.float64(v) for n, v in self.constants.items()}
        names[self.variable] = jet
        with np.errstate(all="ignore"):
            return _FACTORIALS * jets.lift(_run(self.steps, names), jet)

    def minus(self, constant: float) -> Expression:
        """Return the function less a constant."""
        if arithmetic.is_zero(constant):
            return self
        if arithmetic.is_traced(constant):
            name, constants = self._named(constant)
            text, node = f"({self.text}) - ({constant:.17g})", ex.Binary("-", self.node, ex.Name(name, 1), 1)
            return Expression(text, node, constants, self.variable, postfix(node))
        text, node = f"({self.text}) - ({constant!r})", ex.Binary("-", self.node, _number(constant), 1)
        return Expression(text, node, self.constants, self.variable, postfix(node))

    def turned(self, angle: float) -> Expression:
        """Return the function of (variable - angle): the profile of a cam whose x axis is turned by an angle."""
        if arithmetic.is_zero(angle):
            return self
        constants = self.constants
        amount: _Step = ("number", angle, 0)
        if arithmetic.is_traced(angle):
            name, constants = self._named(angle)
            amount = ("name", name, 0)
        else:
            amount = ("number", np.float64(angle), 0)
        shift: list[_Step] = [("name", self.variable, 0), amount, ("call", "-", 2)]
        steps: list[_Step] = []
        for step in self.steps:
            steps += shift if step[:2] == ("name", self.variable) else [step]
        text = f"{self.text} at {self.variable} - ({angle!r})"
        return Expression(text, tree(steps), constants, self.variable, tuple(steps))

    def _named(self, value: float) -> tuple[str, Mapping[str, float]]:
        """Return a name that no formula can have for a traced number, and the constants with it."""
        name = f"_{len(self.constants)}"
        return name, {**self.constants, name: value}

    def check(self, x: Array, where: str) -> None:
        """Refuse values of the variable at which the function or one of two derivatives is none, or too large."""
        places = np.atleast_1d(np.asarray(x, dtype=np.float64)).ravel()
        values = self(places)[:3]
        bad = ~(np.abs(values) <= LARGEST)
        if bad.any():
            column = int(np.argmax(bad.any(axis=0)))
            row = int(np.argmax(bad[:, column]))
            finite = np.isfinite(values[row, column])
            raise InputError(
                f'{where}: the {_RATES[row]} of "{excerpt(self.text)}" is '
                f"{f'out of range (numbers go up to {LARGEST:g})' if finite else 'not a finite number'} at "
                f"{self.variable} = {places[column]:.12g} - correct the formula, or leave that value out"
            )


def expression(text: str, parameters: Mapping[str, float], variable: str = "t") -> Expression:
    """Return the function of t (or u) that a formula describes."""
    node, steps, used = _parse(text)
    return Expression(text, node, _known(used, parameters, variable), variable, steps)


def may_jump(motion: Function) -> bool:
    """Whether the value of a formula may jump, or change in a time in which its rates are not looked at.

    Other functions do so where they meet infinity inside (atan(tan(t))), turn back (atan2) or are steep (tanh).
    """
    if not isinstance(motion, Expression):
        return False
    moving: list[bool] = []  # what stands on the stack: does it depend on the variable?
    for what, item, count in motion.steps:
        if what != "call":
            moving.append(what == "name" and item == motion.variable)
            continue
        arguments = moving[-count:]
        del moving[-count:]
        moving.append(any(arguments))
        if moving[-1] and item not in STEADY and not (item == "/" and not arguments[1]):
            return True
    return False


def starting(motion: Function, start: float) -> Any:
    """Return the value of a driver at the start of a run; it knows its parameters where the formula does."""
    traced = isinstance(motion, Expression) and any(isinstance(v, Traced) for v in motion.constants.values())
    if isinstance(motion, Expression) and traced and ("call", "if") not in (step[:2] for step in motion.steps):
        return _run(motion.steps, {**motion.constants, motion.variable: np.float64(start)})
    return float(motion(np.array([start]))[0, 0])


def excerpt(text: str) -> str:
    """Return a text short enough for a message."""
    return text if len(text) <= 120 else text[:117] + "..."
