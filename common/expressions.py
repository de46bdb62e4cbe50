"""Text of a formula -> syntax tree, by a small grammar of our own; nothing here executes what it reads.

Grammar (lowest binding first)::

    equation   = sum "=" sum
    sum        = term (("+" | "-") term)*
    term       = unary (("*" | "/") unary)*
    unary      = ("-" | "+") unary | power
    power      = postfix (("^" | "**") unary)?          binds to the right; -2**2 is -4
    postfix    = atom ("." ("x" | "y" | "z"))?
    atom       = number unit? | name | name "(" sum ("," sum)* ")" | "(" sum ")" | "|" sum "|" | "[" sum ("," sum)* "]"

The tree knows nothing of vectors or meanings: `codegen/algebra.py` gives it values. A unit is a factor to SI, gone
when the tree is made. Mechanism files have a dialect of numbers only, with comparisons: `mechanism/formulas.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from . import si_units as units

MAX_LENGTH = 10_000
MAX_DEPTH = 200
ANGLES = ("radians", "degrees")
_BINDING = {"+": 10, "-": 10, "*": 20, "/": 20, "**": 30, "^": 30}
_SIGN = 25  # between products and powers
_POWER = 30
_BRACKETS = {"(": ")", "[": "]", "|": "|"}
MAX_DIGITS = 100  # characters of one number; more say nothing that a double could hold


class FormulaError(ValueError):
    """A formula that the grammar does not accept; `column` (from 1) says where."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column


@dataclass(frozen=True, slots=True)
class Number:
    """A decimal number, kept as text so that 0.1 stays exact."""

    text: str
    column: int


@dataclass(frozen=True, slots=True)
class Name:
    """A coordinate, parameter or constant."""

    name: str
    column: int


@dataclass(frozen=True, slots=True)
class Binary:
    """left operator right, operator one of + - * / ^, or a comparison in the condition of a mechanism file's `if`."""

    operator: str
    left: Node
    right: Node
    column: int


@dataclass(frozen=True, slots=True)
class Negative:
    """-operand."""

    operand: Node
    column: int


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """function(arguments); |v| is the call norm(v)."""

    function: str
    arguments: tuple[Node, ...]
    column: int


@dataclass(frozen=True, slots=True)
class VectorLiteral:
    """[components]."""

    components: tuple[Node, ...]
    column: int


@dataclass(frozen=True, slots=True)
class Component:
    """vector.x, .y or .z."""

    vector: Node
    axis: int
    column: int


Node = Number | Name | Binary | Negative | FunctionCall | VectorLiteral | Component


@dataclass(frozen=True, slots=True)
class Equation:
    """left = right."""

    left: Node
    right: Node


_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z][A-Za-z0-9_]*)|"
    r"(?P<op>\*\*|[-+*/^()|\[\],.=])|(?P<comparison>[<>]=?)|(?P<bad>_\w*|\S))",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a formula: kind is number, name, op, comparison or end."""

    kind: str
    text: str
    column: int


def tokens(text: str, comparisons: bool = False) -> list[Token]:
    """Return the words of a formula and an `end`; < <= > >= are words only where `comparisons` are allowed."""
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"the formula has {len(text)} characters; {MAX_LENGTH} are allowed", 1)
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "bad"
        column = match.start(kind) + 1
        if kind == "bad" or (kind == "comparison" and not comparisons):
            word = match.group(kind)
            if word.startswith("_"):
                message = f"'_' has no meaning in a formula at the start of '{word}' - a name begins with a letter"
                raise FormulaError(message, column)
            raise FormulaError(f"'{word}' has no meaning in a formula", column)
        found.append(Token(kind, match.group(kind), column))
    found.append(Token("end", "", len(text) + 1))
    return found


def in_range(token: Token) -> None:
    """Refuse a number that no double holds, before anything tries to make it exact."""
    if len(token.text) > MAX_DIGITS:
        message = f"a number has at most {MAX_DIGITS} characters, not {len(token.text)}"
        raise FormulaError(message, token.column)
    value = float(token.text)
    mantissa = token.text.lower().partition("e")[0]
    if value == float("inf") or (value == 0.0 and mantissa.strip("0.")):
        raise FormulaError(f"{token.text} is beyond the range of numbers", token.column)


class Parser:
    """Precedence climbing, with few Python frames for each level: nesting stays within Python's own limit.

    A dialect says by `call` which calls there are, and by `bracket_levels` for how many levels a bracket counts: the
    algebra of types needs more frames for it than the parser.
    """

    bracket_levels = 2

    def __init__(self, text: str, comparisons: bool = False) -> None:
        self.tokens = tokens(text, comparisons)
        self.position = 0
        self.depth = -1  # the whole formula is no level

    @property
    def current(self) -> Token:
        return self.tokens[self.position]

    def take(self) -> Token:
        token = self.tokens[self.position]
        if token.kind != "end":
            self.position += 1
        return token

    def taken(self, text: str) -> bool:
        """Return whether a sign comes next, and leave it behind."""
        found = self.current.kind == "op" and self.current.text == text
        self.position += found
        return found

    def expect(self, text: str, opened: Token) -> None:
        if not self.taken(text):
            found = self.current.text or "the end"
            raise FormulaError(
                f"'{opened.text}' opened in column {opened.column} needs '{text}', found '{found}'",
                self.current.column,
            )

    def expression(self, binding: int = 0) -> Node:
        """Return what follows, up to an operator that binds no more than the one before it."""
        self.depth += 1
        token = self.take()
        if self.depth > MAX_DEPTH:
            raise FormulaError(f"more than {MAX_DEPTH} levels of nesting", token.column)
        node: Node
        if token.kind == "number":
            in_range(token)
            node = self.measured(token)
        elif token.kind == "name":
            node = self.call(token) if self.current.text == "(" else Name(token.text, token.column)
        elif token.text in ("-", "+"):
            node = self.expression(_SIGN)
            node = Negative(node, token.column) if token.text == "-" else node
        elif token.text in _BRACKETS:
            node = self.bracket(token)
        else:
            raise FormulaError(f"a value is expected, found '{token.text or 'the end'}'", token.column)
        if self.current.text == "." and token.text not in ("-", "+"):
            node = self.component(node)
        while (strength := _BINDING.get(self.current.text, 0)) > binding:
            operator = self.take()
            power = strength == _POWER
            right = self.expression(_SIGN if power else strength)
            node = Binary("^" if power else operator.text, node, right, operator.column)
        self.depth -= 1
        return node

    def measured(self, number: Token) -> Node:
        """Return a number with the unit that may follow it: `30 deg`, `25 mm`."""
        unit = self.current
        if unit.kind != "name" or unit.text not in units.NAMES or self.tokens[self.position + 1].text == "(":
            return Number(number.text, number.column)
        self.position += 1
        if _BINDING.get(self.current.text) == _POWER:
            written = f"{number.text} {unit.text}"
            raise FormulaError(
                f"a power after '{written}' could mean the unit or the whole: write ({written})^2, or leave the unit "
                "out and give the number in SI units",
                self.current.column,
            )
        if unit.text not in units.HALF_TURN:
            return Number(units.in_si(number.text, unit.text), number.column)
        half_turns = Binary("*", Number(number.text, number.column), Name("pi", unit.column), unit.column)
        return Binary("/", half_turns, Number(units.HALF_TURN[unit.text], unit.column), unit.column)

    def bracket(self, opened: Token) -> Node:
        inside = self.arguments(_BRACKETS[opened.text], opened, several=opened.text == "[")
        if opened.text == "[":
            return VectorLiteral(inside, opened.column)
        return FunctionCall("norm", inside, opened.column) if opened.text == "|" else inside[0]

    def component(self, node: Node) -> Node:
        dot, axis = self.take(), self.take()
        if axis.kind != "name" or axis.text not in ("x", "y", "z"):
            raise FormulaError("after '.' stands the component x, y or z", axis.column)
        if self.current.text == ".":
            raise FormulaError("a component is a number and has no components", self.current.column)
        return Component(node, "xyz".index(axis.text), dot.column)

    def arguments(self, closing: str, opened: Token, several: bool = True) -> tuple[Node, ...]:
        self.depth += self.bracket_levels - 1
        found = [self.expression()]
        while several and self.taken(","):
            found.append(self.expression())
        self.depth -= self.bracket_levels - 1
        self.expect(closing, opened)
        return tuple(found)

    def call(self, name: Token) -> Node:
        """Return a call; the functions of types are known by the algebra that gives them values."""
        opened = self.take()
        return called(name, self.arguments(")", opened))

    def end(self) -> None:
        token = self.current
        if token.kind == "comparison":
            message = f"'{token.text}' has no meaning here: comparisons stand in if(condition, a, b)"
            raise FormulaError(message, token.column)
        if token.kind == "name" and self.tokens[self.position - 1].kind == "number":
            raise FormulaError(
                f"'{token.text}' is left over: after a number stands an operator or a unit ({' '.join(units.NAMES)})",
                token.column,
            )
        if token.kind != "end":
            factor = token.kind in ("name", "number") or token.text == "("
            hint = " - a product is written with *" if factor else ""
            raise FormulaError(f"'{token.text}' is left over{hint}", token.column)


def called(name: Token, arguments: tuple[Node, ...]) -> Node:
    """Return a call, or what it stands for: radians(x) is x*pi/180, degrees(x) is x*180/pi."""
    if name.text not in ANGLES:
        return FunctionCall(name.text, arguments, name.column)
    if len(arguments) != 1:
        raise FormulaError(f"'{name.text}' takes 1 value, found {len(arguments)}", name.column)
    pi, half = Name("pi", name.column), Number("180", name.column)
    over, under = (pi, half) if name.text == "radians" else (half, pi)
    return Binary("/", Binary("*", arguments[0], over, name.column), under, name.column)


def parse(text: str) -> Node:
    """Return the tree of an expression such as ``A + L*rot(u, theta)``."""
    parser = Parser(text)
    node = parser.expression()
    parser.end()
    return node


def parse_equation(text: str) -> Equation:
    """Return the two trees of ``left = right``."""
    parser = Parser(text)
    left = parser.expression()
    if not parser.taken("="):
        parser.end()
        raise FormulaError("a constraint is an equation: left = right", parser.current.column)
    right = parser.expression()
    parser.end()
    return Equation(left, right)


def walk(node: Node | Equation) -> Iterator[Node]:
    """Yield all nodes of a tree, in order of appearance."""
    stack: list[Node] = [node.right, node.left] if isinstance(node, Equation) else [node]
    while stack:
        item = stack.pop()
        yield item
        match item:
            case Binary(_, left, right, _):
                stack += [right, left]
            case Negative(operand, _):
                stack.append(operand)
            case FunctionCall(_, arguments, _) | VectorLiteral(arguments, _):
                stack += reversed(arguments)
            case Component(vector, _, _):
                stack.append(vector)


def names(node: Node | Equation) -> dict[str, int]:
    """Return every name used, with the column where it stands first, in order of appearance."""
    found: dict[str, int] = {}
    for item in walk(node):
        if isinstance(item, Name):
            found.setdefault(item.name, item.column)
    return found
