"""The assembly tree of a mechanism: in which order bodies are joined to larger ones, for divide and conquer.

A node stands for a set of bodies. It keeps those that have joints to bodies outside (`kept`: the ends of a chain), and
its equations hold no others: whoever has all its joints inside leaves. Two nodes that are tied become one, and in every
round all nodes try to find a partner, those first that leave few bodies: so a chain of n bodies has about log2 n
levels, a loop that hangs on a body is condensed onto it, and any other topology follows by repetition.
Joints with the ground tie nothing. They are taken into account where their body leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Node:
    """One step of the assembly: parts become one, ties close, bodies leave.

    `parts` are numbers of bodies (below the number of bodies) or of earlier nodes (from there on).
    """

    parts: tuple[int, ...]
    ties: tuple[int, ...]
    leaving: tuple[int, ...]
    kept: tuple[int, ...]
    level: int


@dataclass
class _Piece:
    """A set of bodies while the tree grows."""

    number: int
    kept: tuple[int, ...]
    level: int
    size: int
    open_ties: set[int] = field(default_factory=set)


class AssemblyTree:
    """The nodes in an order in which they can be assembled; a node's level is above those of its parts.

    `ties` are the bodies that each joint or driver holds together (the frame left out; none or one where it is a joint
    with the frame). A light body, which cannot be told its acceleration by its own inertia, leaves one node later than
    its last tie is closed.
    """

    def __init__(self, bodies: int, ties: Sequence[tuple[int, ...]], light: Sequence[bool]) -> None:
        self.bodies, self.ties, self.light = bodies, [tuple(sorted(set(t))) for t in ties], light
        self.nodes: list[Node] = []
        self._closed = [False] * len(ties)
        self._at: list[list[int]] = [[] for _ in range(bodies)]  # the ties of every body
        for k, tie in enumerate(self.ties):
            for b in tie:
                self._at[b].append(k)
        self._piece = [
            _Piece(b, (b,), 0, 1, {k for k in self._at[b] if len(self.ties[k]) > 1}) for b in range(bodies)
        ]  # by body: the piece that it is part of
        self._grow()

    @property
    def levels(self) -> list[list[int]]:
        """The nodes of every level, the lowest first."""
        found: list[list[int]] = [[] for _ in range(max((n.level for n in self.nodes), default=0))]
        for k, node in enumerate(self.nodes):
            found[node.level - 1].append(k)
        return found

    def described(self, names: Sequence[str]) -> str:
        """Return the tree in brackets: what stands together in one is joined there."""
        texts = list(names)
        inner: set[int] = set()
        for node in self.nodes:
            parts = [texts[p] for p in node.parts]
            texts.append(f"({' '.join(parts)})" if len(parts) > 1 else parts[0])
            inner.update(p for p in node.parts if p >= self.bodies)
        roots = [k for k in range(len(self.nodes)) if self.bodies + k not in inner]
        return " ".join(texts[self.bodies + k] for k in roots)

    # ---- growing --------------------------------------------------------------------------------------------------
    def _grow(self) -> None:
        pieces = list(self._piece)
        while True:
            pairs = self._pairs(pieces)
            if not pairs:
                break
            taken: set[int] = set()
            merged: list[_Piece] = []
            for one, two in pairs:
                if one.number not in taken and two.number not in taken:
                    taken |= {one.number, two.number}
                    merged.append(self._join((one, two)))
            pieces = [p for p in pieces if p.number not in taken] + merged
        for piece in pieces:
            while piece.kept:
                piece = self._join((piece,))

    def _pairs(self, pieces: Sequence[_Piece]) -> list[tuple[_Piece, _Piece]]:
        """Return the pairs that are tied, those first that would keep few bodies and are small."""
        found = {}
        for piece in pieces:
            for k in piece.open_ties:
                for b in self.ties[k]:
                    other = self._piece[b]
                    if other.number > piece.number:
                        found[piece.number, other.number] = (piece, other)
        ranked = [(self._left(*pair), pair[0].size + pair[1].size, key) for key, pair in found.items()]
        return [found[key] for _, _, key in sorted(ranked)]

    def _left(self, one: _Piece, two: _Piece) -> int:
        """Return how many bodies two pieces would keep."""
        numbers = (one.number, two.number)
        return sum(
            any(self._piece[o].number not in numbers for k in self._at[b] if not self._closed[k] for o in self.ties[k])
            for b in (*one.kept, *two.kept)
        )

    def _join(self, parts: tuple[_Piece, ...]) -> _Piece:
        """Make a node of pieces."""
        numbers = {p.number for p in parts}
        bodies = [b for p in parts for b in p.kept]
        closing = set()
        for p in parts:
            closing |= {k for k in p.open_ties if all(self._piece[b].number in numbers for b in self.ties[k])}
        later = set().union(*(p.open_ties for p in parts)) - closing
        for b in bodies:
            if self.light[b]:
                closing |= {k for k in self._at[b] if not self._closed[k] and len(self.ties[k]) == 1}
        waiting = {b for k in closing for b in self.ties[k] if self.light[b]} | {b for k in later for b in self.ties[k]}
        leaving = tuple(b for b in bodies if b not in waiting)
        for b in leaving:
            closing |= {k for k in self._at[b] if not self._closed[k]}
        kept = tuple(b for b in bodies if b in waiting)
        for k in closing:
            self._closed[k] = True
        level = 1 + max(p.level for p in parts)
        number = self.bodies + len(self.nodes)
        self.nodes.append(Node(tuple(p.number for p in parts), tuple(sorted(closing)), leaving, kept, level))
        piece = _Piece(number, kept, level, sum(p.size for p in parts), later)
        for b in kept:
            self._piece[b] = piece
        return piece
