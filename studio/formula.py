"""A driver's formula while it is typed: whether it can be read, its derivatives as formulas, and its first values."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np

from ..common import expressions as ex
from ..common.errors import AssurgentError, InputError
from ..mechanism.formulas import parse
from ..mechanism.functions import expression

MOST_SHOWN = 400  # characters of a derivative
MOST_NODES = 150  # of a formula that is differentiated for show
MOST_CASES = 4  # of `if`, `min`, `max` in it: each doubles what SymPy must look at
MOST_NESTED = 13  # functions and powers in one another: the derivative of more has above MOST_SHOWN characters
MOST_DIGITS = 30  # of a power that is kept as an exact number: those of powers of powers would fill the memory


def feedback(text: object, parameters: Mapping[str, float], start: float) -> dict[str, Any]:
    """Return F', F'' as formulas, and the values of all three at the start; or what is wrong with the formula."""
    if not isinstance(text, str) or len(text) > ex.MAX_LENGTH:
        raise InputError(f"a formula of at most {ex.MAX_LENGTH:,} characters is expected")
    try:
        tree = parse(text)
        values = expression(text, parameters)(np.array([start]))[:3, 0]
    except (AssurgentError, ValueError, ArithmeticError) as error:
        return {"problem": str(error)}
    found: dict[str, Any] = {"values": [float(x) if np.isfinite(x) else None for x in values]}
    first, second = derivatives(tree)
    return {**found, "first": first, "second": second}


def derivatives(tree: ex.Node) -> tuple[str | None, str | None]:
    """Return the first and second derivative by t as text; None where they are too long to be read."""
    import sympy as sp

    try:
        F = _symbolic(tree, sp.Symbol("t", real=True))
        first = sp.diff(F, sp.Symbol("t", real=True))
        text = _text(first)
        return text, None if text is None else _text(sp.diff(first, sp.Symbol("t", real=True)))
    except (_TooLargeError, RecursionError, ArithmeticError):
        return None, None


class _TooLargeError(Exception):
    pass


def _text(value: Any) -> str | None:
    import sympy as sp

    nodes = list(islice(sp.preorder_traversal(value), MOST_SHOWN))  # each is written with a character at least
    unknown = sp.Derivative | sp.Subs | sp.Integral | sp.DiracDelta
    if len(nodes) == MOST_SHOWN or any(isinstance(node, unknown) for node in nodes):
        return None
    text = sp.sstr(value, full_prec=False).replace("**", "^")  # as the files write it
    return text if len(text) <= MOST_SHOWN else None


def _symbolic(node: ex.Node, t: Any, room: list[int] | None = None) -> Any:
    """Return the SymPy expression of a tree; numbers stay numbers, every name but t, pi and e a symbol."""
    room = [MOST_NODES, MOST_CASES, MOST_NESTED] if room is None else room
    nests = isinstance(node, ex.FunctionCall) or (isinstance(node, ex.Binary) and node.operator == "^")
    room[0] -= 1
    room[2] -= nests
    room[1] -= isinstance(node, ex.FunctionCall) and node.function in ("if", "min", "max")
    if min(room) < 0:
        raise _TooLargeError
    value = _converted(node, t, room)
    room[2] += nests
    return value


def _converted(node: ex.Node, t: Any, room: list[int]) -> Any:
    import sympy as sp

    match node:
        case ex.Number(text, _):
            return sp.Integer(text) if text.isdigit() and len(text) < 16 else sp.Float(text, 15)
        case ex.Name(name, _):
            return {"t": t, "pi": sp.pi, "e": sp.E}.get(name, sp.Symbol(name, real=True))
        case ex.Negative(operand, _):
            return -_symbolic(operand, t, room)
        case ex.Binary(operator, left, right, _):
            a, b = _symbolic(left, t, room), _symbolic(right, t, room)
            return _binary(operator, a, b)
        case ex.FunctionCall(name, arguments, _):
            values = [_symbolic(argument, t, room) for argument in arguments]
            if name == "if":
                return sp.Piecewise((values[1], values[0]), (values[2], True))
            known = {
                "abs": sp.Abs,
                "min": sp.Min,
                "max": sp.Max,
                "radians": lambda x: x * sp.pi / 180,
                "degrees": lambda x: x * 180 / sp.pi,
            }
            return (known.get(name) or getattr(sp, name, None) or _missing(name))(*values)
    raise _TooLargeError


def _missing(name: str) -> Any:
    raise _TooLargeError(name)


def _binary(operator: str, a: Any, b: Any) -> Any:
    import sympy as sp

    if operator == "^":
        if b.is_number and abs(b) > 1000:
            raise _TooLargeError
        if a.is_Rational and b.is_Rational and abs(b) * max(len(str(abs(a.p))), len(str(a.q))) > MOST_DIGITS:
            a = sp.Float(a, 15)
        return a**b
    simple = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}
    if operator in simple:
        return simple[operator]()
    return {"<": sp.Lt, "<=": sp.Le, ">": sp.Gt, ">=": sp.Ge}[operator](a, b)
