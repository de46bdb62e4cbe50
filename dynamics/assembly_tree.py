"""The assembly tree of a mechanism: in which order bodies are joined to larger ones, for divide and conquer.

A node stands for a set of bodies. It keeps those that have joints to bodies outside (`kept`: the ends of a chain), and
its equations hold no others: whoever has all its joints inside leaves. Two nodes that are tied become one, those first
that keep few bodies, of those the ones with few joints to others, of those the small ones: work decides, and balance
where it costs nothing. So a chain is assembled from both of its ends, because a piece of its middle would keep two
bodies in place of one; a ring in pairs and pairs of pairs; a loop that hangs on a body is condensed onto it; any other
topology follows by repetition. Joints with the ground tie nothing. They are taken into account where their body leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

EVEN = 1.05  # shares of a tree may be larger than an equal part by so much


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

    def shares(self, most: int) -> tuple[list[list[int]], list[int]]:
        """Return at most so many sets of whole subtrees that are about equal work, and the nodes above all of them."""
        size = [float(len(node.leaving) + len(node.kept)) ** 2 for node in self.nodes]
        whole = list(size)
        above = [-1] * len(self.nodes)
        for k, node in enumerate(self.nodes):
            for part in node.parts:
                if part >= self.bodies:
                    above[part - self.bodies] = k
                    whole[k] += whole[part - self.bodies]
        best = self._shared(1, size, whole, above)
        for count in range(2, most + 1):
            best = min(best, self._shared(count, size, whole, above), key=lambda found: found[0])
        return best[1:]

    def _shared(
        self, count: int, size: Sequence[float], whole: Sequence[float], above: Sequence[int]
    ) -> tuple[float, list[list[int]], list[int]]:
        """Return how long so many shares take, these, and the nodes above them."""
        limit = EVEN * sum(size) / count
        top = [w > limit for w in whole]
        sets: list[list[int]] = [[] for _ in range(count)]
        load, owner = [0.0] * count, [-1] * len(self.nodes)
        roots = [k for k in range(len(self.nodes)) if not top[k] and (above[k] < 0 or top[above[k]])]
        for k in sorted(roots, key=lambda k: -whole[k]):
            owner[k] = load.index(min(load))
            load[owner[k]] += whole[k]
        for k in range(len(self.nodes) - 1, -1, -1):
            if not top[k] and owner[k] < 0:
                owner[k] = owner[above[k]]
        for k, mine in enumerate(owner):
            if mine >= 0:
                sets[mine].append(k)
        rest = [k for k in range(len(self.nodes)) if top[k]]
        return max(load) + sum(size[k] for k in rest), sets, rest

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
        alive = {piece.number: piece for piece in self._piece}
        waiting = [rank for piece in self._piece for rank in self._pairs(piece) if rank[-2] == piece.number]
        heapify(waiting)
        while waiting:
            one, two = heappop(waiting)[-2:]
            if one in alive and two in alive:
                joined = self._join((alive.pop(one), alive.pop(two)))
                alive[joined.number] = joined
                for rank in self._pairs(joined):
                    heappush(waiting, rank)
        for piece in alive.values():
            while piece.kept:
                piece = self._join((piece,))

    def _pairs(self, piece: _Piece) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield the pairs of a piece with those that it is tied to, behind what ranks them.

        Both stay as long as nobody joins one of the two.
        """
        for other in {self._piece[b].number: self._piece[b] for k in piece.open_ties for b in self.ties[k]}.values():
            if other.number != piece.number:
                numbers = sorted((piece.number, other.number))
                later = [
                    k for k in piece.open_ties | other.open_ties
                    if any(self._piece[b].number not in numbers for b in self.ties[k])
                ]  # fmt: skip
                left = len({b for k in later for b in self.ties[k] if self._piece[b].number in numbers})
                yield left, len(later), piece.size + other.size, numbers[0], numbers[1]

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
