"""The intermediate form after SymPy: frozen expression trees, statements and kernels, with operation counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Num:
    """A rational constant."""

    value: Fraction


@dataclass(frozen=True)
class Sym:
    """A named scalar: an input, a temporary or an earlier result."""

    name: str


@dataclass(frozen=True)
class Scaled:
    """factor * node."""

    factor: Fraction
    node: Node


@dataclass(frozen=True)
class Sum:
    """Σ coefficient * node."""

    terms: tuple[tuple[Fraction, Node], ...]


@dataclass(frozen=True)
class Product:
    """Π node ** exponent, exponents whole numbers, negative ones below the line."""

    factors: tuple[tuple[Node, int], ...]


@dataclass(frozen=True)
class Call:
    """An elementary function of one argument."""

    function: str
    argument: Node


@dataclass(frozen=True)
class Select:
    """`yes` where less < greater, otherwise `no`: a choice without a branch, so that lanes stay together."""

    less: Node
    greater: Node
    yes: Node
    no: Node


Node = Num | Sym | Scaled | Sum | Product | Call | Select


@dataclass(frozen=True)
class Assign:
    """target = value."""

    target: str
    value: Node


@dataclass(frozen=True)
class Section:
    """Statements under one comment line."""

    comment: str
    statements: tuple[Assign, ...]


@dataclass(frozen=True)
class Argument:
    """A vector argument of a kernel with the scalar names of its entries; `used` are those that the body reads."""

    name: str
    symbols: tuple[str, ...]
    used: frozenset[str]


@dataclass(frozen=True)
class Kernel:
    """A straight-line function of vectors: unpack, sections of statements, results as a tuple or into an array."""

    name: str
    doc: str
    arguments: tuple[Argument, ...]
    scalars: tuple[str, ...]
    sections: tuple[Section, ...]
    results: tuple[str, ...]
    output: str | None
    operations: int


def operations(node: Node) -> int:
    """Return the number of arithmetic operations of a tree (a function counts as one)."""
    match node:
        case Num() | Sym():
            return 0
        case Scaled(factor, inner):
            return operations(inner) + (0 if abs(factor) == 1 else 1)
        case Sum(terms):
            scaled = sum(abs(c) != 1 and not isinstance(n, Num) for c, n in terms)
            return len(terms) - 1 + scaled + sum(operations(n) for _, n in terms)
        case Product(factors):
            return (
                len(factors)
                - 1
                + sum(operations(n) + abs(e) - 1 for n, e in factors)
                + (1 if all(e < 0 for _, e in factors) else 0)
            )
        case Call(_, argument):
            return operations(argument) + 1
        case Select(less, greater, yes, no):
            return 1 + operations(less) + operations(greater) + operations(yes) + operations(no)


def names(node: Node) -> set[str]:
    """Return the names that an expression reads."""
    match node:
        case Sym(name):
            return {name}
        case Num():
            return set()
        case Scaled(_, inner) | Call(_, inner):
            return names(inner)
        case Sum(terms):
            return set().union(*(names(n) for _, n in terms))
        case Product(factors):
            return set().union(*(names(n) for n, _ in factors))
        case Select(less, greater, yes, no):
            return names(less) | names(greater) | names(yes) | names(no)
