"""Spatial bodies as formulas: base point and triad, from which every other point and direction follows.

A body that is carried by a joint has a right-handed triad e, f, g of expressions and a base point; any further point
or direction of it is a combination with constant coefficients. Where an equation needs it, these are parameters; the
body's own origin and axes need no equation, and so no parameter: its placement gives the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .plan import Axes, PointOf, VectorOf
from .spatial_draft import Draft

Array = NDArray[np.float64]
Key = tuple[str, int]  # what a point of a body is for: ("joint", 2), ("node", 0), ("driver", 1)


@dataclass(frozen=True)
class Place:
    """A point as base + arm; `square` is the arm's squared length as an expression in parameters."""

    base: str
    arm: str = ""
    square: str = ""

    @property
    def text(self) -> str:
        return f"{self.base} + {self.arm}" if self.arm else self.base


class Carrier(Protocol):
    """A body whose points and directions can be written down."""

    known: bool

    def place(self, key: Key, local: Array) -> Place: ...

    def vector(self, local: Array) -> str: ...

    def triad(self, n: Array, v: Array) -> tuple[str, str, str]: ...

    def anchor(self) -> tuple[str, Array]:
        """Return a point without an arm, and the same point in the body's axes."""
        ...


@dataclass
class Known:
    """A body that is solved already: its points and directions are known coordinates."""

    draft: Draft
    name: str
    known: bool = True

    def place(self, key: Key, local: Array) -> Place:
        return Place(self.draft.point_of(self.name, local))

    def vector(self, local: Array) -> str:
        return self.draft.vector_of(self.name, local)

    def triad(self, n: Array, v: Array) -> tuple[str, str, str]:
        """Return two perpendicular directions and their product: all three known, which keeps formulas linear."""
        v_, w_, n_ = self.vector(v), self.vector(np.cross(n, v)), self.vector(n)  # the last is often left out
        for one, two in ((v_, w_), (v_, n_), (w_, n_)):
            self.draft.assume(f"dot({one}, {two}) = 0")
        return n_, v_, w_

    def anchor(self) -> tuple[str, Array]:
        return self.draft.point_of(self.name, np.zeros(3)), np.zeros(3)


@dataclass
class Framed:
    """A body with a triad; the columns of `axes` are the triad in the body's own axes, `base_local` its base point.

    `seat` and `spine` are the base point and the first vector as seen from the body's parent, where they rest in it.
    """

    draft: Draft
    base: str
    base_local: Array
    basis: tuple[str, str, str]
    axes: Array
    mark: Key | None = None
    mark_parts: str = "efg"  # vectors of the triad in the marked point's arm
    seat: PointOf | None = None
    spine: VectorOf | None = None
    known: bool = False
    _places: dict[Key, Place] = field(default_factory=dict)

    def place(self, key: Key, local: Array) -> Place:
        if key not in self._places:
            self._places[key] = self._place(self.axes.T @ (local - self.base_local), key == self.mark)
        return self._places[key]

    def _place(self, k: Array, marked: bool) -> Place:
        parts = self.mark_parts if marked else "efg"
        if parts == "efg":
            name = self.draft.parameter("k", "vector", k)
            return Place(self.base, self.draft.let("a", self._combination(name)), f"|{name}|^2")
        if not parts:
            return Place(self.base)
        terms, squares = [], []
        for part in parts:
            i = "efg".index(part)
            kind, prefix = ("length", "r") if part == "f" else ("offset", "q")
            name = self.draft.parameter(prefix, kind, k[i])
            terms.append(f"{name}*{self.basis[i]}")
            squares.append(f"{name}^2")
        return Place(self.base, " + ".join(terms), " + ".join(squares))

    def _combination(self, name: str) -> str:
        return " + ".join(f"{name}.{axis}*{unit}" for axis, unit in zip("xyz", self.basis, strict=True))

    def vector(self, local: Array) -> str:
        name = self.draft.parameter("k", "vector", self.axes.T @ local)
        return self.draft.let("u", self._combination(name))

    def triad(self, n: Array, v: Array) -> tuple[str, str, str]:
        return self.vector(n), self.vector(v), self.vector(np.cross(n, v))

    def anchor(self) -> tuple[str, Array]:
        return self.base, self.base_local

    def placement(self, i: int) -> Axes:
        """Return how the i-th body follows from its base point and triad."""
        draft, (e, f, g) = self.draft, self.basis
        axes = draft.vector(f"E{i}", e, self.spine), draft.vector(f"F{i}", f), draft.vector(f"G{i}", g)
        return Axes(draft.point(f"O{i}", self.base, self.seat), axes, self.base_local, self.axes.T)


@dataclass
class Sliding:
    """A body that slides along another: the other's points and directions, moved by slide * axis."""

    draft: Draft
    parent: Carrier
    rail: str  # the parent's name
    turn: Array  # its axes in the parent's
    origin: Array  # its origin in the parent's axes where the slide is zero
    shift: str
    slot: str  # tells its points from the parent's own
    known: bool = False
    _anchor: tuple[str, Array] | None = None
    _moved: dict[str, str] = field(default_factory=dict)

    def place(self, key: Key, local: Array) -> Place:
        place = self.parent.place((f"{self.slot}/{key[0]}", key[1]), self.origin + self.turn @ local)
        base = self._move(place.base)
        if self._anchor is None and not place.arm:
            self._anchor = base, local
        return Place(base, place.arm, place.square)

    def _move(self, base: str) -> str:
        if base not in self._moved:
            self._moved[base] = self.draft.let("B", f"{base} + {self.shift}")
        return self._moved[base]

    def vector(self, local: Array) -> str:
        return self.parent.vector(self.turn @ local)

    def triad(self, n: Array, v: Array) -> tuple[str, str, str]:
        return self.parent.triad(self.turn @ n, self.turn @ v)

    def anchor(self) -> tuple[str, Array]:
        if self._anchor is None:
            base, local = self.parent.anchor()
            self._anchor = self._move(base), self.turn.T @ (local - self.origin)
        return self._anchor

    def placement(self, i: int) -> Axes:
        """Return how the i-th body follows: the axes rest in the parent, one point moves."""
        base, local = self.anchor()
        axes = tuple(VectorOf(self.rail, axis) for axis in self.turn.T)
        return Axes(self.draft.point(f"O{i}", base), axes, local)
