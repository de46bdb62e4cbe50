"""The dialect of formulas in mechanism files: numbers only, and `if` with a comparison.

The grammar is that of `expressions.py` without vectors, bars and components, and with::

    atom       = ... | "if" "(" condition "," sum "," sum ")"
    condition  = sum ("<" | "<=" | ">" | ">=") sum
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
KNOWN = (*FUNCTIONS, *ex.ANGLES)  # a parameter may have the names `radians` and `degrees` all the same
CONSTANTS = ("pi", "e")
RESERVED = frozenset((*FUNCTIONS, *CONSTANTS, "t"))

_REFUSED = {
    "|": "an absolute value is written 'abs(...)'",
    "[": "a vector is a list outside the quotes, each component a number or a formula",
    "]": "a vector is a list outside the quotes, each component a number or a formula",
    ".": "a name has no components here; give the number a name in [parameters]",
    "=": "a formula is a value, not an equation",
}


class _Parser(ex.Parser):
    bracket_levels = 1

    def __init__(self, text: str) -> None:
        super().__init__(text, comparisons=True)
        for token in self.tokens:
            if token.kind == "op" and token.text in _REFUSED:
                raise FormulaError(f"'{token.text}' has no meaning here: {_REFUSED[token.text]}", token.column)

    def call(self, name: ex.Token) -> ex.Node:
        if name.text not in KNOWN:
            raise FormulaError(f"unknown function '{name.text}'{nearest(name.text, KNOWN)}", name.column)
        opened = self.take()
        arguments = [self.condition(name) if name.text == "if" else self.expression()]
        while self.taken(","):
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
        return ex.called(name, tuple(arguments))

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
    parser.end()
    return node
