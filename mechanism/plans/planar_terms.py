"""Vectors of a planar group as sums of terms: constants, turned by driven angles, stretched by driven slides."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Term:
    """coefficient · exp(i Σ ± driven angles) · driven slide: one part of a vector in the frame of its class.

    `origin` says where the part comes from. The same part taken there and back drops out by that, never by its value:
    numbers must not decide what is written down.
    """

    coefficient: complex
    turns: tuple[tuple[str, int], ...] = ()
    slide: str | None = None
    origin: tuple[str, ...] = ()
    back: bool = False


Vector = tuple[Term, ...]


def constant(vector: Vector) -> complex | None:
    """Return the number that a vector is, or None where a driver changes it."""
    if any(t.turns or t.slide for t in vector):
        return None
    return sum((t.coefficient for t in vector), 0j)


def add(*vectors: Vector) -> Vector:
    """Return the sum without the parts that go there and back."""
    found: list[Term] = []
    for t in itertools.chain(*vectors):
        opposite = next((o for o in found if o.origin == t.origin and o.back != t.back), None)
        if opposite is None:
            found.append(t)
        else:
            found.remove(opposite)
    return tuple(found)


def negative(vector: Vector) -> Vector:
    return tuple(replace(t, coefficient=-t.coefficient, back=not t.back) for t in vector)


def collected(vector: Vector) -> Vector:
    """Return the vector with terms of the same kind in one."""
    found: dict[tuple[tuple[tuple[str, int], ...], str | None], Term] = {}
    for t in vector:
        key = (t.turns, t.slide)
        before = found[key].coefficient if key in found else 0j
        found[key] = replace(found.get(key, t), coefficient=before + t.coefficient)
    return tuple(found.values())


@dataclass(frozen=True)
class Orientation:
    """A body's direction relative to its class: exp(i (offset + Σ ± driven angles))."""

    unit: complex
    turns: tuple[tuple[str, int], ...] = ()

    def vector(self, local: complex, *origin: str) -> Vector:
        return (Term(self.unit * local, self.turns, None, origin),)
