"""Traced numbers: what the reader and the planner compute with, so that every number tells how parameters make it.

A traced number has its nominal value and a node of a tape. Arithmetic on it, alone or inside NumPy's arrays of objects,
makes new nodes. Every decision on it (a comparison, a truth value, a conversion to a plain number) goes by the nominal
value and leaves a guard on the tape: nothing that depends on a parameter gets lost without being found.

Code that takes traced numbers is written for floats and annotated so; `arithmetic` has what differs between the two.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .value_tape import Tape

_PLAIN = (float, int, np.floating, np.integer)
_KEEP_ZERO = frozenset(("sin", "tan", "asin", "atan", "sinh", "tanh", "sqrt", "sign", "floor", "wrap"))


class Traced:
    """A number that depends on parameters."""

    __slots__ = ("index", "tape")

    def __init__(self, tape: Tape, index: int) -> None:
        self.tape, self.index = tape, index

    @classmethod
    def parameter(cls, tape: Tape, value: float) -> Traced:
        """Return a new parameter of a tape."""
        return cls(tape, tape.input(value))

    @property
    def value(self) -> float:
        """The nominal value; to decide by it without a guard is to hide the decision."""
        return self.tape.values[self.index]

    @property
    def zero(self) -> bool:
        """Whether it is zero for every design."""
        return self.index in self.tape.zeros

    def __repr__(self) -> str:
        return f"traced {self.value!r}"

    # ---- nodes ----
    def _lift(self, other: Any) -> int | None:
        if isinstance(other, Traced):
            return other.index
        return self.tape.constant(float(other)) if isinstance(other, _PLAIN) else None

    def _node(self, operation: str, a: int, b: int = 0, zero: bool = False) -> Traced:
        index = self.tape.node(operation, a, b)
        if zero:
            self.tape.zeros.add(index)
        return Traced(self.tape, index)

    def _either(self, operation: str, b: int, zero: bool = False) -> Traced:
        """Return the node of an operation for which the order of its operands does not matter."""
        return self._node(operation, min(self.index, b), max(self.index, b), zero)

    def _of(self, operation: str) -> int | None:
        """Return the operand where this number is such a function of one."""
        name, a, _ = self.tape.nodes[self.index]
        return a if name == operation else None

    def unary(self, operation: str) -> Any:
        """Return a function of this number."""
        if self.zero and operation in _KEEP_ZERO:
            return self
        return 1.0 if self.zero and operation in ("cos", "cosh", "exp") else self._node(operation, self.index)

    # ---- arithmetic ----
    def __neg__(self) -> Traced:
        inner = self._of("neg")
        if inner is not None:
            return Traced(self.tape, inner)
        name, a, b = self.tape.nodes[self.index]
        if name == "-":  # so that p - q and q - p know of each other
            return self._node("-", b, a, self.zero)
        return self._node("neg", self.index, 0, self.zero)

    def __pos__(self) -> Traced:
        return self

    def __add__(self, other: Any) -> Any:
        b = self._lift(other)
        if b is None:
            return NotImplemented
        if _is_zero(other):
            return self
        if self.zero:
            return other
        if isinstance(other, Traced):
            name, p, q = self.tape.nodes[self.index]
            if name == "-" and self.tape.nodes[b] == ("-", q, p):
                return 0.0
            negated = other._of("neg")
            if negated is not None:
                return self - Traced(self.tape, negated)
            negated = self._of("neg")
            if negated is not None:
                return other - Traced(self.tape, negated)
        return self._either("+", b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        b = self._lift(other)
        if b is None:
            return NotImplemented
        if not isinstance(other, Traced):
            return self + (-other)
        if self.index == b:
            return 0.0
        if other.zero:
            return self
        if self.zero:
            return -other
        negated = other._of("neg")
        if negated is not None:
            return self + Traced(self.tape, negated)
        return self._node("-", self.index, b)

    def __rsub__(self, other: Any) -> Any:
        if isinstance(other, _PLAIN):
            return -self if other == 0 else self._node("-", self.tape.constant(float(other)), self.index)
        return NotImplemented

    def __mul__(self, other: Any) -> Any:
        b = self._lift(other)
        if b is None:
            return NotImplemented
        if self.zero or _is_zero(other):
            return self._either("*", b, zero=True)
        if not isinstance(other, Traced):
            if other == 1:
                return self
            if other == -1:
                return -self
        negated = self._of("neg")
        if negated is not None:
            return Traced(self.tape, negated) * (-other)
        if isinstance(other, Traced):
            negated = other._of("neg")
            if negated is not None:
                return -(self * Traced(self.tape, negated))
            if self._inverts(other) or other._inverts(self):
                self._decide("!=", 0.0)
                return 1.0
        return self._either("*", b)

    __rmul__ = __mul__

    def _inverts(self, other: Traced) -> bool:
        """Tell whether this number is 1/other: then their product is 1, from which rounding would take the last bit."""
        name, a, b = self.tape.nodes[self.index]
        return name == "/" and b == other.index and self.tape.nodes[a][0] == "constant" and self.tape.values[a] == 1.0

    def __truediv__(self, other: Any) -> Any:
        b = self._lift(other)
        if b is None:
            return NotImplemented
        if not isinstance(other, Traced):
            if other == 1:
                return self
            if other == -1:
                return -self
            return self._node("/", self.index, b, self.zero)
        if self.index == b:
            self._decide("!=", 0.0)
            return 1.0
        size = other._of("abs")
        if size == self.index or (size is not None and size == self._of("neg")):
            return 1.0 if self > 0 else -1.0  # a direction along an axis; zero has none
        negated = self._of("neg")
        if negated is not None:
            return -(Traced(self.tape, negated) / other)
        negated = other._of("neg")
        if negated is not None:
            return -(self / Traced(self.tape, negated))
        return self._node("/", self.index, b, self.zero)

    def __rtruediv__(self, other: Any) -> Any:
        if not isinstance(other, _PLAIN):
            return NotImplemented
        negated = self._of("neg")
        if negated is not None:
            return -other / Traced(self.tape, negated)
        if other < 0:  # the sign outside: numbers that differ by it know of each other
            return -(-other / self)
        return self._node("/", self.tape.constant(float(other)), self.index, other == 0)

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, _PLAIN) and other in (1, 2):
            return self if other == 1 else self * self
        b = self._lift(other)
        return NotImplemented if b is None else self._node("^", self.index, b)

    def __rpow__(self, other: Any) -> Any:
        a = self._lift(other)
        return NotImplemented if a is None else self._node("^", a, self.index)

    def __abs__(self) -> Traced:
        if self.tape.nodes[self.index][0] in ("abs", "sqrt", "hypot"):
            return self
        negated = self._of("neg")
        return self._node("abs", self.index if negated is None else negated, 0, self.zero)

    # ---- functions, by the names under which NumPy asks objects for them ----
    def sqrt(self) -> Any:
        name, a, b = self.tape.nodes[self.index]
        if name == "*" and a == b:  # the root of a rounded square is exact
            return abs(Traced(self.tape, a))
        return self.unary("sqrt")

    def arctan2(self, other: Any) -> Any:
        b = self._lift(other)
        return NotImplemented if b is None else self._node("atan2", self.index, b)

    def hypot(self, other: Any) -> Any:
        b = self._lift(other)
        if b is None:
            return NotImplemented
        return abs(self) if _is_zero(other) else self._node("hypot", self.index, b)

    def larger(self, other: Any) -> Any:
        """Return the larger of two numbers; which one it is, is no decision."""
        return self._extreme("max", other)

    def smaller(self, other: Any) -> Any:
        """Return the smaller of two numbers."""
        return self._extreme("min", other)

    def _extreme(self, operation: str, other: Any) -> Any:
        b = self._lift(other)
        if b is None:
            return NotImplemented
        if b == self.index:
            return self
        if self.zero and not (isinstance(other, Traced) and other.zero):  # for every design
            if isinstance(other, Traced):
                return other._extreme(operation, 0.0)
            return max(0.0, other) if operation == "max" else min(0.0, other)
        if _is_zero(other) and self.tape.nodes[self.index][0] == "abs":
            return self if operation == "max" else 0.0
        return self._either(operation, b)

    def sin(self) -> Any:
        return self.unary("sin")

    def cos(self) -> Any:
        return self.unary("cos")

    def conjugate(self) -> Traced:
        return self

    @property
    def real(self) -> Traced:
        return self

    @property
    def imag(self) -> float:
        return 0.0

    # ---- decisions ----
    def _decide(self, relation: str, other: Any) -> None:
        b = self._lift(other)
        assert b is not None
        if not (self.zero and _is_zero(other)):
            self.tape.guard(relation, self.index, b)

    def _compare(self, other: Any, relation: str, contrary: str, held: bool) -> bool:
        self._decide(relation if held else contrary, other)
        return held

    def __lt__(self, other: Any) -> bool:
        return self._compare(other, "<", ">=", self.value < _nominal(other))

    def __le__(self, other: Any) -> bool:
        return self._compare(other, "<=", ">", self.value <= _nominal(other))

    def __gt__(self, other: Any) -> bool:
        return self._compare(other, ">", "<=", self.value > _nominal(other))

    def __ge__(self, other: Any) -> bool:
        return self._compare(other, ">=", "<", self.value >= _nominal(other))

    def __eq__(self, other: object) -> bool:
        if self._lift(other) is None:
            return False
        return self._compare(other, "==", "!=", self.value == _nominal(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return self != 0.0

    def finite(self) -> bool:
        """Tell whether it is a finite number."""
        self.tape.guard("finite", self.index)
        return math.isfinite(self.value)

    def held(self) -> float:
        """Return the nominal value as a plain number; designs with another one are not read alike."""
        self._decide("==", self.value)
        return self.value

    def __float__(self) -> float:
        return self.held()

    def __int__(self) -> int:
        return int(self.held())

    def __round__(self, digits: int | None = None) -> float:
        return round(self.held(), digits)

    def __floor__(self) -> int:
        return math.floor(self.held())

    def __ceil__(self) -> int:
        return math.ceil(self.held())

    def __hash__(self) -> int:
        return hash(self.held())

    def __format__(self, form: str) -> str:
        return format(self.value, form)  # for messages


def _nominal(x: Any) -> Any:
    return x.value if isinstance(x, Traced) else x


def _is_zero(x: Any) -> bool:
    return x.zero if isinstance(x, Traced) else x == 0
