"""Expression of the intermediate form -> text of a Numba expression: precedence, small powers, line breaks."""

from __future__ import annotations

from fractions import Fraction

from . import ir

WIDTH = 100
INDENT = 4
_SUM, _TERM, _UNARY, _ATOM = 0, 1, 2, 3


def number(value: Fraction) -> str:
    """Return the shortest text that reads back as the nearest double."""
    return repr(float(value))


def text(node: ir.Node) -> str:
    """Return the Python text of an expression."""
    return _print(node, _SUM)


def _wrap(body: str, own: int, outer: int) -> str:
    return f"({body})" if own < outer else body


def _print(node: ir.Node, outer: int) -> str:
    match node:
        case ir.Num(value):
            return _wrap(number(value), _SUM if value < 0 else _ATOM, outer)
        case ir.Sym(name):
            return name
        case ir.Scaled(factor, inner):
            return _scaled(factor, inner, outer)
        case ir.Sum(terms):
            return _wrap(_sum(terms), _SUM, outer)
        case ir.Product(factors):
            return _wrap(_product(factors), _TERM, outer)
        case ir.Call("abs", argument):
            return f"abs({text(argument)})"
        case ir.Call(function, argument):
            return f"math.{function}({text(argument)})"
        case ir.Select(less, greater, yes, no):
            return f"({text(yes)} if {text(less)} < {text(greater)} else {text(no)})"


def _scaled(factor: Fraction, inner: ir.Node, outer: int) -> str:
    if factor == -1:
        if isinstance(inner, ir.Sum):
            return _wrap(_sum(tuple((-c, n) for c, n in inner.terms)), _SUM, outer)
        return _wrap("-" + _print(inner, _TERM), _SUM, outer)
    if isinstance(inner, ir.Product) and all(e < 0 for _, e in inner.factors):
        return _wrap(_product(inner.factors, number(factor)), _SUM if factor < 0 else _TERM, outer)
    return _wrap(f"{number(factor)} * {_print(inner, _TERM)}", _SUM if factor < 0 else _TERM, outer)


def _sum(terms: tuple[tuple[Fraction, ir.Node], ...]) -> str:
    ordered = sorted(terms, key=lambda t: isinstance(t[1], ir.Num))
    first = next((i for i, (c, n) in enumerate(ordered) if c > 0 and not isinstance(n, ir.Num)), 0)
    ordered.insert(0, ordered.pop(first))  # begin with a positive term
    parts = []
    for i, (coefficient, node) in enumerate(ordered):
        sign = "-" if coefficient < 0 else "+"
        size = abs(coefficient)
        if isinstance(node, ir.Num):
            body = number(size * node.value)
        elif size == 1:
            body = _print(node, _TERM)
        else:
            body = f"{number(size)} * {_print(node, _TERM)}"
        parts.append(f" {sign} {body}" if i else f"-{body}" if sign == "-" else body)
    return "".join(parts)


def _product(factors: tuple[tuple[ir.Node, int], ...], one: str = "1.0") -> str:
    above = [_power(node, e) for node, e in factors if e > 0]
    below = [_power(node, -e) for node, e in factors if e < 0]
    top = " * ".join(above) if above else one
    if not below:
        return top
    single = len(below) == 1 and all(abs(e) == 1 for _, e in factors if e < 0)
    return f"{top} / {below[0]}" if single else f"{top} / ({' * '.join(below)})"


def _power(node: ir.Node, exponent: int) -> str:
    """Return a power as a product: Numba calls a function for `**`, which keeps a loop from being vectorised."""
    return " * ".join([_print(node, _UNARY)] * exponent)


def statement(assign: ir.Assign, indent: int) -> str:
    """Return `target = expression`, broken before an operator where it is longer than the line."""
    pad = " " * indent
    line = f"{pad}{assign.target} = {text(assign.value)}"
    return line if len(line) <= WIDTH else broken(f"{pad}{assign.target} = (", text(assign.value), pad)


def broken(head: str, body: str, pad: str) -> str:
    """Return `head` + body + `)` over several lines, broken before operators and after commas."""
    pieces: list[str] = []
    for word in body.split(" "):
        if pieces and pieces[-1] in ("+", "-", "*", "/", "**", "if", "else", "<"):
            pieces[-1] += f" {word}"
        else:
            pieces.append(word)
    lines, rest, room = [head], pieces, WIDTH - len(pad) - INDENT
    while len(" ".join(rest)) > room:
        count = _fitting(rest, room)
        lines.append(f"{pad}{' ' * INDENT}{' '.join(rest[:count])}")
        rest = rest[count:]
    return "\n".join([*lines, f"{pad}{' ' * INDENT}{' '.join(rest)}", f"{pad})"])


def _fitting(pieces: list[str], room: int) -> int:
    """Return how many pieces a line takes: broken where few brackets are open, rather at a sum than inside a product.

    A line is at least half full.
    """
    best, cost, depth, length = 1, (99, 0), 0, 0
    for i, piece in enumerate(pieces):
        here = (depth, piece.startswith(("* ", "/ ")))
        if i and (here <= cost or 2 * length < room):
            best, cost = i, here
        length += len(piece) + (i > 0)
        depth += piece.count("(") + piece.count("[") - piece.count(")") - piece.count("]")
        if length > room:
            break
    return best
