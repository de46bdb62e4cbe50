"""Text of a formula -> syntax tree, by a small grammar of our own; nothing here executes what it reads.

Grammar (lowest binding first)::

    equation   = sum "=" sum
    sum        = term (("+" | "-") term)*
    term       = unary (("*" | "/") unary)*
    unary      = ("-" | "+") unary | power
    power      = postfix (("^" | "**") unary)?          binds to the right; -2**2 is -4
    postfix    = atom ("." ("x" | "y" | "z"))?
    atom       = number | name | name "(" sum ("," sum)* ")" | "(" sum ")" | "|" sum "|" | "[" sum ("," sum)* "]"

The tree knows nothing of vectors or meanings: `codegen/algebra.py` gives it values. Mechanism files have a dialect
of numbers only, with comparisons; `mechanism/formulas.py` reads it from the same tokens into the same tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_LENGTH = 10_000
MAX_DEPTH = 200
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
class Call:
    """function(arguments); |v| is the call norm(v)."""

    function: str
    arguments: tuple[Node, ...]
    column: int


@dataclass(frozen=True, slots=True)
class Vector:
    """[components]."""

    components: tuple[Node, ...]
    column: int


@dataclass(frozen=True, slots=True)
class Component:
    """vector.x, .y or .z."""

    vector: Node
    axis: int
    column: int


Node = Number | Name | Binary | Negative | Call | Vector | Component


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


class _Parser:
    """Recursive descent over the tokens."""

    def __init__(self, text: str) -> None:
        self.tokens = tokens(text)
        self.position = 0
        self.depth = 0

    @property
    def current(self) -> Token:
        return self.tokens[self.position]

    def take(self, *texts: str) -> Token | None:
        token = self.current
        if token.kind == "op" and token.text in texts:
            self.position += 1
            return token
        return None

    def expect(self, text: str, opened: Token) -> None:
        if self.take(text) is None:
            found = self.current.text or "the end"
            raise FormulaError(
                f"'{opened.text}' opened in column {opened.column} needs '{text}', found '{found}'",
                self.current.column,
            )

    def descend(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise FormulaError(f"more than {MAX_DEPTH} levels of nesting", self.current.column)

    def sum(self) -> Node:
        self.descend()
        left = self.term()
        while token := self.take("+", "-"):
            left = Binary(token.text, left, self.term(), token.column)
        self.depth -= 1
        return left

    def term(self) -> Node:
        left = self.unary()
        while token := self.take("*", "/"):
            left = Binary(token.text, left, self.unary(), token.column)
        return left

    def unary(self) -> Node:
        self.descend()
        token = self.take("-", "+")
        if token is None:
            node = self.power()
        elif token.text == "-":
            node = Negative(self.unary(), token.column)
        else:
            node = self.unary()
        self.depth -= 1
        return node

    def power(self) -> Node:
        base = self.postfix()
        token = self.take("^", "**")
        return base if token is None else Binary("^", base, self.unary(), token.column)

    def postfix(self) -> Node:
        node = self.atom()
        token = self.take(".")
        if token is None:
            return node
        axis = self.current
        if axis.kind != "name" or axis.text not in ("x", "y", "z"):
            raise FormulaError("after '.' stands the component x, y or z", axis.column)
        self.position += 1
        if self.current.text == ".":
            raise FormulaError("a component is a number and has no components", self.current.column)
        return Component(node, "xyz".index(axis.text), token.column)

    def arguments(self, closing: str, opened: Token) -> tuple[Node, ...]:
        found = [self.sum()]
        while self.take(","):
            found.append(self.sum())
        self.expect(closing, opened)
        return tuple(found)

    def atom(self) -> Node:
        token = self.current
        if token.kind == "number":
            in_range(token)
            self.position += 1
            return Number(token.text, token.column)
        if token.kind == "name":
            self.position += 1
            opened = self.take("(")
            if opened is None:
                return Name(token.text, token.column)
            return Call(token.text, self.arguments(")", opened), token.column)
        if opened := self.take("("):
            node = self.sum()
            self.expect(")", opened)
            return node
        if opened := self.take("["):
            return Vector(self.arguments("]", opened), opened.column)
        if opened := self.take("|"):
            node = self.sum()
            self.expect("|", opened)
            return Call("norm", (node,), opened.column)
        raise FormulaError(f"a value is expected, found '{token.text or 'the end'}'", token.column)

    def end(self) -> None:
        if self.current.kind != "end":
            raise FormulaError(f"'{self.current.text}' is left over", self.current.column)


def parse(text: str) -> Node:
    """Return the tree of an expression such as ``A + L*rot(u, theta)``."""
    parser = _Parser(text)
    node = parser.sum()
    parser.end()
    return node


def parse_equation(text: str) -> Equation:
    """Return the two trees of ``left = right``."""
    parser = _Parser(text)
    left = parser.sum()
    if parser.take("=") is None:
        parser.end()
        raise FormulaError("a constraint is an equation: left = right", parser.current.column)
    right = parser.sum()
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
            case Call(_, arguments, _) | Vector(arguments, _):
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
