"""The tape: every number of a design as a value graph over the parameters, with the decisions that were taken on it.

Equal operations on equal values are one node (value numbering), so that what cancels in floating point cancels here.
A guard is a relation that held at the nominal design; a design for which one fails would have been read or planned
otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .design_evaluation import Numbers

Node = tuple[str, int, int]  # operation and two nodes; of a constant or a parameter nothing more


class Tape:
    """A value graph in the making; nodes are numbered in the order in which they can be evaluated."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.values: list[float] = []  # at the nominal design
        self.zeros: set[int] = set()  # nodes that are zero for every design: products with a zero, which has a sign
        self.inputs: list[int] = []  # the parameters
        self.guards: dict[Node, None] = {}
        self.wide: list[tuple[int, ...]] = []  # nodes that a fit works on
        self._made: dict[object, int] = {}

    def _new(self, node: Node, value: float) -> int:
        self.nodes.append(node)
        self.values.append(value)
        return len(self.nodes) - 1

    def input(self, value: float) -> int:
        """Return a new parameter."""
        self.inputs.append(self._new(("input", 0, 0), value))
        return self.inputs[-1]

    def constant(self, value: float) -> int:
        """Return the node of a plain number."""
        key = value if value else math.copysign(1.0, value).hex()
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._new(("constant", 0, 0), value)
        return found

    def node(self, operation: str, a: int, b: int = 0) -> int:
        """Return the node of an operation, a new one unless it is there already."""
        key = (operation, a, b)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._new(key, nominal_value(operation, self.values[a], self.values[b]))
        return found

    def fit(self, matrix: Sequence[int], rotation: Sequence[float]) -> tuple[int, ...]:
        """Return nine nodes: the rotation R (by rows) that maximises tr(RᵀM), given at the nominal design."""
        self.wide.append((*matrix, *(self.constant(r) for r in rotation)))
        head = self._new(("fit", len(self.wide) - 1, 0), rotation[0])
        return (head, *(self._new(("part", head, 0), r) for r in rotation[1:]))

    def guard(self, relation: str, a: int, b: int = 0) -> None:
        """Note that a relation held."""
        if self.nodes[a][0] != "constant" or (relation != "finite" and self.nodes[b][0] != "constant"):
            self.guards[relation, a, b] = None

    def operands(self, index: int) -> tuple[int, ...]:
        """Return the nodes that a node needs."""
        operation, a, b = self.nodes[index]
        if operation in ("constant", "input"):
            return ()
        if operation == "fit":
            return self.wide[a]
        return (a, b) if operation in BINARY else (a,)

    def compiled(self, wanted: Sequence[Any]) -> Numbers:
        """Return the function from parameters to the wanted numbers, each traced on this tape or plain."""
        from .design_evaluation import Numbers

        return Numbers(self, wanted)


# ---- operations at the nominal design -------------------------------------------------------------------------------
BINARY: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": lambda a, b: a**b,
    "atan2": math.atan2,
    "hypot": math.hypot,
    "min": lambda a, b: a if a <= b else b,
    "max": lambda a, b: a if a >= b else b,
}
UNARY: dict[str, Callable[[float], float]] = {
    **{n: getattr(math, n) for n in ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "exp", "log")},
    **{n: getattr(math, n) for n in ("sinh", "cosh", "tanh")},
    "neg": lambda a: -a,
    "abs": abs,
    "sign": lambda a: math.copysign(1.0, a) if a else a,
    "floor": lambda a: float(math.floor(a)),
    "wrap": lambda a: wrapped(a),
}


def wrapped(angle: float) -> float:
    """Return the same direction in (-pi, pi]."""
    turned = math.remainder(angle, 2 * math.pi)
    return math.pi if turned <= -math.pi else turned


def nominal_value(operation: str, a: float, b: float) -> float:
    """Return the value of an operation; NaN where it has none, which no test of finite numbers lets pass."""
    try:
        found: Any = BINARY[operation](a, b) if operation in BINARY else UNARY[operation](a)
    except (ArithmeticError, ValueError):
        return math.nan
    return found if isinstance(found, float) else math.nan
