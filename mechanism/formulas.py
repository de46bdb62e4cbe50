"""The dialect of formulas in mechanism files: numbers only, `**` for powers, `if` with a comparison.

Grammar (lowest binding first)::

    sum        = term (("+" | "-") term)*
    term       = unary (("*" | "/") unary)*
    unary      = ("-" | "+") unary | power
    power      = atom ("**" unary)?                     binds to the right; -2**2 is -4
    atom       = number | name | name "(" sum ("," sum)* ")" | "(" sum ")" | "if" "(" condition "," sum "," sum ")"
    condition  = sum ("<" | "<=" | ">" | ">=") sum

It is read by precedence climbing, with one Python frame for each level: 200 levels stay within Python's own limit.
"""

from __future__ import annotations

from ..common import expressions as ex
from ..common.errors import nearest
from ..common.expressions import FormulaError

ONE_ARGUMENT = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
    *("exp", "log", "sqrt", "abs", "sign", "floor"),
)
MORE_ARGUMENTS = ("atan2", "min", "max")
FUNCTIONS = (*ONE_ARGUMENT, *MORE_ARGUMENTS, "if")
CONSTANTS = ("pi", "e")
RESERVED = frozenset((*FUNCTIONS, *CONSTANTS, "t"))

_BINDING = {"+": 10, "-": 10, "*": 20, "/": 20, "**": 30}
_SIGN = 25  # between products and powers
_REFUSED = {
    "^": "a power is written '**'",
    "|": "an absolute value is written 'abs(...)'",
    "[": "a vector is a list outside the quotes, each component a number or a formula",
    "]": "a vector is a list outside the quotes, each component a number or a formula",
    ".": "a name has no components here; give the number a name in [parameters]",
    "=": "a formula is a value, not an equation",
}


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = ex.tokens(text, comparisons=True)
        for token in self.tokens:
            if token.kind == "op" and token.text in _REFUSED:
                raise FormulaError(f"'{token.text}' has no meaning here: {_REFUSED[token.text]}", token.column)
        self.position = 0
        self.depth = -1  # the whole formula is no level

    def take(self) -> ex.Token:
        token = self.tokens[self.position]
        if token.kind != "end":
            self.position += 1
        return token

    def expect(self, text: str, opened: ex.Token) -> None:
        token = self.take()
        if token.text != text:
            found = token.text or "the end"
            raise FormulaError(
                f"'{opened.text}' opened in column {opened.column} needs '{text}', found '{found}'", token.column
            )

    def expression(self, binding: int = 0) -> ex.Node:
        self.depth += 1
        token = self.take()
        if self.depth > ex.MAX_DEPTH:
            raise FormulaError(f"more than {ex.MAX_DEPTH} levels of nesting", token.column)
        node: ex.Node
        if token.kind == "number":
            ex.in_range(token)
            node = ex.Number(token.text, token.column)
        elif token.kind == "name":
            opened = self.tokens[self.position]
            node = self.call(token) if opened.text == "(" else ex.Name(token.text, token.column)
        elif token.text == "-":
            node = ex.Negative(self.expression(_SIGN), token.column)
        elif token.text == "+":
            node = self.expression(_SIGN)
        elif token.text == "(":
            node = self.expression()
            self.expect(")", token)
        else:
            raise FormulaError(f"a value is expected, found '{token.text or 'the end'}'", token.column)
        while (strength := _BINDING.get(self.tokens[self.position].text, 0)) > binding:
            operator = self.take()
            right = self.expression(_SIGN if operator.text == "**" else strength)
            node = ex.Binary("^" if operator.text == "**" else operator.text, node, right, operator.column)
        self.depth -= 1
        return node

    def call(self, name: ex.Token) -> ex.Node:
        if name.text not in FUNCTIONS:
            raise FormulaError(f"unknown function '{name.text}'{nearest(name.text, FUNCTIONS)}", name.column)
        opened = self.take()
        arguments = [self.condition(name) if name.text == "if" else self.expression()]
        while self.tokens[self.position].text == ",":
            self.take()
            arguments.append(self.expression())
        self.expect(")", opened)
        allowed = {"if": 3, "atan2": 2}.get(name.text, 1)
        if name.text in ("min", "max"):
            right, asks = len(arguments) >= 2, "at least 2 values"
        else:
            right, asks = len(arguments) == allowed, f"{allowed} value{'s' * (allowed > 1)}"
        if not right:
            asks = "a condition and 2 values: if(t < 1, a, b)" if name.text == "if" else asks
            raise FormulaError(f"'{name.text}' takes {asks}, found {len(arguments)}", name.column)
        return ex.Call(name.text, tuple(arguments), name.column)

    def condition(self, name: ex.Token) -> ex.Node:
        left = self.expression()
        token = self.take()
        if token.kind != "comparison":
            found = token.text or "the end"
            raise FormulaError(
                f"'if' begins with a condition with < <= > or >=, as in if(t < 1, a, b); found '{found}'", token.column
            )
        return ex.Binary(token.text, left, self.expression(), token.column)


def parse(text: str) -> ex.Node:
    """Return the tree of a formula of a mechanism file, such as ``pi/2 + omega*t``."""
    parser = _Parser(text)
    node = parser.expression()
    token = parser.tokens[parser.position]
    if token.kind == "comparison":
        raise FormulaError(
            f"'{token.text}' has no meaning here: comparisons stand in if(condition, a, b)", token.column
        )
    if token.kind != "end":
        raise FormulaError(f"'{token.text}' is left over", token.column)
    return node
