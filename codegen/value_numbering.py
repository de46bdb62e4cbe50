"""Common subexpressions by value numbering: equal values get one node, in an order that never depends on hashing.

`sympy.cse` does not promise its order; here a node's number is the moment of its creation, inputs come first in
the declared order, and a kernel's statements are printed in the order in which its results were asked for.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING

import sympy as sp

from . import ir

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_FUNCTIONS = {
    sp.sin: "sin",
    sp.cos: "cos",
    sp.tan: "tan",
    sp.asin: "asin",
    sp.acos: "acos",
    sp.atan: "atan",
    sp.exp: "exp",
    sp.log: "log",
    sp.Abs: "abs",
}


def _content(coefficients: Sequence[Fraction]) -> Fraction:
    """Return the common factor to take out of a sum: it saves a product, and most terms become positive."""
    sizes = [abs(c) for c in coefficients]
    divisor = Fraction(gcd(*(c.numerator for c in sizes)), lcm(*(c.denominator for c in sizes)))
    negative = sum(c < 0 for c in coefficients)
    minus = 2 * negative > len(sizes) or (2 * negative == len(sizes) and coefficients[0] < 0)
    worth = sizes.count(divisor) > sizes.count(Fraction(1)) or divisor == 1
    return (divisor if worth else Fraction(1)) * (-1 if minus else 1)


@dataclass(frozen=True, slots=True)
class Value:
    """factor * node: numeric factors travel outside, so that x - y and 2*y - 2*x share one node."""

    pool: Pool
    factor: Fraction
    node: int

    def __add__(self, other: Value | int) -> Value:
        return self.pool.sum([self, self.pool.lift(other)])

    __radd__ = __add__

    def __sub__(self, other: Value | int) -> Value:
        return self.pool.sum([self, -self.pool.lift(other)])

    def __rsub__(self, other: int) -> Value:
        return self.pool.lift(other) - self

    def __neg__(self) -> Value:
        return Value(self.pool, -self.factor, self.node)

    def __mul__(self, other: Value | Fraction | int) -> Value:
        return self.pool.product([self, self.pool.lift(other)])

    __rmul__ = __mul__

    def __truediv__(self, other: Value | int) -> Value:
        return self * self.pool.power(self.pool.lift(other), -1)

    def __rtruediv__(self, other: int) -> Value:
        return self.pool.lift(other) * self.pool.power(self, -1)

    @property
    def name(self) -> str:
        """The name that a named value carries."""
        return str(self.pool.keys[self.node][1])

    @property
    def is_zero(self) -> bool:
        return self.factor == 0

    @property
    def constant(self) -> Fraction | None:
        """The value where it is a number, else None."""
        return self.factor if self.node == 0 or self.factor == 0 else None


class Pool:
    """All values of one kernel. Node 0 is the number one.

    Sums begin with what is made of `steady` symbols alone, so that a loop over lanes computes it once.
    """

    def __init__(self, symbols: Iterable[str], steady: Iterable[str] = ()) -> None:
        self.steady = frozenset(steady)
        self.keys: list[tuple[object, ...]] = [("one",)]
        self.index: dict[tuple[object, ...], int] = {("one",): 0}
        self.roots: list[tuple[str, str, Value]] = []
        self.section = ""
        self._taken: dict[str, int] = {}
        self._memo: dict[sp.Basic, Value] = {}
        self._named: dict[tuple[Fraction, int], Value] = {}
        self._squares: set[int] = set()  # names of values that are never negative
        for name in symbols:
            self._taken[name] = 1  # an input keeps its name to itself
            self.symbol(name)

    # ---- building -------------------------------------------------------------------------------------------
    def _node(self, *key: object) -> int:
        if key not in self.index:
            self.index[key] = len(self.keys)
            self.keys.append(key)
        return self.index[key]

    def symbol(self, name: str) -> Value:
        return Value(self, Fraction(1), self._node("sym", name))

    def number(self, value: Fraction | int) -> Value:
        return Value(self, Fraction(value), 0)

    def lift(self, value: Value | int | Fraction) -> Value:
        return value if isinstance(value, Value) else self.number(value)

    def sum(self, values: Sequence[Value]) -> Value:
        """Return Σ values: like terms collected, content and sign taken outside."""
        terms: dict[int, Fraction] = {}
        for value in values:
            if value.factor == 0:
                continue
            key = self.keys[value.node]
            parts = key[1] if key[0] == "sum" else ((Fraction(1), value.node),)
            for factor, node in parts:  # type: ignore[attr-defined]
                terms[node] = terms.get(node, Fraction(0)) + value.factor * factor
        left = sorted((n, c) for n, c in terms.items() if c != 0)
        if not left:
            return self.number(0)
        if len(left) == 1:
            return Value(self, left[0][1], left[0][0])
        content = _content([c for _, c in left])
        return Value(self, content, self._node("sum", tuple((c / content, n) for n, c in left)))

    def product(self, values: Sequence[Value]) -> Value:
        factor = Fraction(1)
        powers: dict[int, int] = {}
        for value in values:
            factor *= value.factor
            key = self.keys[value.node]
            parts = key[1] if key[0] == "product" else ((value.node, 1),)
            for node, exponent in parts:  # type: ignore[attr-defined]
                powers[node] = powers.get(node, 0) + exponent
        left = sorted((n, e) for n, e in powers.items() if n != 0 and e != 0)
        if factor == 0 or not left:
            return self.number(factor)
        if len(left) == 1 and left[0][1] == 1:
            return Value(self, factor, left[0][0])
        return Value(self, factor, self._node("product", tuple(left)))

    def of(self, node: int) -> Value:
        """Return a node as a value."""
        return Value(self, Fraction(1), node)

    def powers(self, factors: Sequence[tuple[int, int]]) -> Value:
        """Return Π node ** exponent."""
        return self.product([self.power(self.of(n), e) for n, e in factors if e])

    def power(self, base: Value, exponent: int) -> Value:
        if exponent == 0:
            return self.number(1)
        if base.factor == 0:
            raise ZeroDivisionError("a group's equations divide by a quantity that is always zero")
        key = self.keys[base.node]
        parts = key[1] if key[0] == "product" else ((base.node, 1),)
        left = tuple((n, e * exponent) for n, e in parts if n != 0)  # type: ignore[attr-defined]
        node = 0 if not left else left[0][0] if left[0][1] == 1 and len(left) == 1 else self._node("product", left)
        return Value(self, base.factor**exponent, node)

    def call(self, function: str, argument: Value) -> Value:
        if function == "sqrt" and argument.constant == 1:
            return self.number(1)
        if function == "abs":
            size = abs(argument.factor)
            if self._never_negative(argument.node):
                return Value(self, size, argument.node)
            return Value(self, size, self._node("call", "abs", Fraction(1), argument.node))
        return Value(self, Fraction(1), self._node("call", function, argument.factor, argument.node))

    def _never_negative(self, node: int) -> bool:
        """Return whether a node is a square, a root, or made of such ones only."""
        key = self.keys[node]
        match key[0]:
            case "one":
                return True
            case "sum":
                return all(c > 0 and self._never_negative(n) for c, n in key[1])  # type: ignore[attr-defined]
            case "product":
                return all(e % 2 == 0 or self._never_negative(n) for n, e in key[1])  # type: ignore[attr-defined]
            case "call":
                return key[1] in ("sqrt", "abs")
        return node in self._squares

    def select(self, less: Value, greater: Value, yes: Value, no: Value) -> Value:
        if yes == no:
            return yes
        key = tuple((v.factor, v.node) for v in (less, greater, yes, no))
        return Value(self, Fraction(1), self._node("select", key))

    def extreme(self, values: Sequence[Value], *, smallest: bool) -> Value:
        """Return the smallest or the largest of some values."""
        best = values[0]
        for v in values[1:]:
            best = self.select(v, best, v, best) if smallest else self.select(best, v, v, best)
        return best

    # ---- from SymPy -----------------------------------------------------------------------------------------
    def freeze(self, expression: sp.Expr) -> Value:
        """Return the value of a SymPy expression."""
        if expression not in self._memo:
            self._memo[expression] = self._freeze(expression)
        return self._memo[expression]

    def _freeze(self, e: sp.Expr) -> Value:
        if e.is_Rational:
            return self.number(Fraction(int(e.p), int(e.q)))
        if e.is_Symbol:
            return self.symbol(e.name)
        if e is sp.pi:
            return self.symbol("math.pi")
        if e is sp.E:
            return self.call("exp", self.number(1))
        if e.is_Add:
            return self.sum([self.freeze(a) for a in e.as_ordered_terms()])
        if e.is_Mul:
            return self.product([self.freeze(a) for a in e.as_ordered_factors()])
        if e.is_Pow:
            base, exponent = self.freeze(e.base), e.exp
            if exponent.is_Integer:
                return self.power(base, int(exponent))
            if exponent.is_Rational and exponent.q & (exponent.q - 1) == 0:  # roots of roots: x^(3/4)
                for _ in range(int(exponent.q).bit_length() - 1):
                    base = self.call("sqrt", base)
                return self.power(base, int(exponent.p))
            return self.call("exp", self.freeze(exponent) * self.call("log", base))  # what SymPy made a power of
        if e.func in _FUNCTIONS:
            return self.call(_FUNCTIONS[e.func], self.freeze(e.args[0]))
        raise TypeError(f"no code for {e.func.__name__}")

    # ---- results --------------------------------------------------------------------------------------------
    def assign(self, target: str, value: Value) -> Value:
        """Ask for `target = value` in the current section; return the target as a new named value."""
        self.roots.append((self.section, target, value))
        return self.symbol(target)

    @contextmanager
    def part(self, comment: str) -> Iterator[None]:
        """Put what is asked for inside under a comment of its own, unless the caller has named the section."""
        outer = self.section
        self.section = outer or comment
        yield
        self.section = outer

    def name(self, hint: str, value: Value) -> Value:
        """Give a value a name of its own where that saves work; numbers and names pass unchanged, signs outside."""
        if value.constant is not None or self.keys[value.node][0] == "sym":
            return value
        if value.factor < 0:
            return -self.name(hint, -value)
        if (value.factor, value.node) not in self._named:
            self._named[value.factor, value.node] = self.assign(self.fresh(hint), value)
            if self._never_negative(value.node):
                self._squares.add(self._named[value.factor, value.node].node)
        return self._named[value.factor, value.node]

    def label(self, hint: str, value: Value) -> Value:
        """Print a value under a name where it is first needed; unlike a named one it stays open to collecting terms."""
        if value.factor == 1 and value.constant is None and self.keys[value.node][0] != "sym":
            self.assign(self.fresh(hint), value)
        return value

    def terms(self, value: Value) -> int:
        """Return the number of terms of a sum, one for anything else."""
        key = self.keys[value.node]
        return len(key[1]) if key[0] == "sum" else 1  # type: ignore[arg-type]

    def fresh(self, hint: str) -> str:
        """Return the hint as a name, numbered where it is taken."""
        count = self._taken.get(hint, 0) + 1
        name = hint if count == 1 else f"{hint}_{count}"
        while name in self._taken and name != hint:  # somebody else's name may end in a number, too
            count += 1
            name = f"{hint}_{count}"
        self._taken[hint] = count
        self._taken.setdefault(name, 1)
        return name

    def sections(self) -> tuple[ir.Section, ...]:
        """Return the asked-for results in order, values used more than once first put into _t0, _t1, ..."""
        return _Emission(self).sections()


class _Emission:
    """The walk over a pool that decides which values become temporaries and prints each before its first use."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.uses = [0] * len(pool.keys)
        self.names: dict[int, str] = {}
        self.temporaries = 0
        self.out: list[tuple[str, ir.Assign]] = []
        seen: set[int] = set()
        for _, _, value in pool.roots:
            self._count(value.node, seen)

    def _children(self, node: int) -> list[int]:
        key = self.pool.keys[node]
        match key[0]:
            case "sum":
                return [n for _, n in key[1]]  # type: ignore[attr-defined]
            case "product":
                return [n for n, _ in key[1]]  # type: ignore[attr-defined]
            case "call":
                return [key[3]]  # type: ignore[list-item]
            case "select":
                return [n for _, n in key[1]]  # type: ignore[attr-defined]
        return []

    def _count(self, node: int, seen: set[int]) -> None:
        self.uses[node] += 1
        if node not in seen:
            seen.add(node)
            for child in self._children(node):
                self._count(child, seen)
            if self.pool.keys[node][0] == "product":  # a power is printed as a product: its base is used again
                for base, exponent in self.pool.keys[node][1]:  # type: ignore[attr-defined]
                    self.uses[base] += abs(exponent) - 1

    def _steady(self, node: int) -> bool:
        key = self.pool.keys[node]
        return key[1] in self.pool.steady if key[0] == "sym" else all(self._steady(n) for n in self._children(node))

    def sections(self) -> tuple[ir.Section, ...]:
        for section, target, value in self.pool.roots:
            if value.factor == 1 and value.node not in self.names and target.isidentifier():
                tree = self._build(value.node, section)
                if not isinstance(tree, ir.Sym | ir.Num):
                    self.names[value.node] = target  # from here on, the same value goes by this name
            else:
                tree = self._tree(value, section)
            self.out.append((section, ir.Assign(target, tree)))
        grouped: list[ir.Section] = []
        for section, statement in self.out:
            if grouped and grouped[-1].comment == section:
                grouped[-1] = ir.Section(section, (*grouped[-1].statements, statement))
            else:
                grouped.append(ir.Section(section, (statement,)))
        return tuple(grouped)

    def _tree(self, value: Value, section: str) -> ir.Node:
        if value.constant is not None:
            return ir.Num(value.constant)
        node = self._node(value.node, section)
        return node if value.factor == 1 else ir.Scaled(value.factor, node)

    def _node(self, node: int, section: str) -> ir.Node:
        if node in self.names:
            return ir.Sym(self.names[node])
        tree = self._build(node, section)
        if self.uses[node] > 1 and not isinstance(tree, ir.Sym | ir.Num):
            self.names[node] = f"_t{self.temporaries}"
            self.temporaries += 1
            self.out.append((section, ir.Assign(self.names[node], tree)))
            return ir.Sym(self.names[node])
        return tree

    def _build(self, node: int, section: str) -> ir.Node:
        key = self.pool.keys[node]
        match key[0]:
            case "one":
                return ir.Num(Fraction(1))
            case "sym":
                return ir.Sym(str(key[1]))
            case "sum":
                terms = sorted(key[1], key=lambda term: not self._steady(term[1]))  # type: ignore[call-overload]
                return ir.Sum(tuple((c, self._node(n, section)) for c, n in terms))
            case "product":
                return ir.Product(tuple((self._node(n, section), e) for n, e in key[1]))  # type: ignore[attr-defined]
            case "call":
                argument = self._tree(Value(self.pool, key[2], key[3]), section)  # type: ignore[arg-type]
                return ir.Call(str(key[1]), argument)
        parts = [self._tree(Value(self.pool, f, n), section) for f, n in key[1]]  # type: ignore[attr-defined]
        return ir.Select(*parts)
