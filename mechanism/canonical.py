"""Canonical order of a small coloured graph: the same for every naming of its vertices, up to its symmetries.

Individualisation and refinement: vertices are sorted by what they are joined to until nothing changes; where some
remain alike, each in turn is told apart and the least resulting description is kept. A symmetry that is found on the
way saves the branches which it maps to ones already seen.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

# Vertices looked at before the search contents itself with the best description found so far. Such a key still
# describes its graph completely; it only may differ from that of the same graph with other names.
BUDGET = 400_000


@dataclass(frozen=True)
class Graph:
    """Colours of the vertices, and edges (vertex, vertex, label). Where vertices are alike, low numbers come first."""

    colours: tuple[str, ...]
    edges: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True)
class Canonical:
    """The description, equal for equal graphs and only for those, and the vertices in canonical order."""

    key: str
    order: tuple[int, ...]


Certificate = tuple[tuple[int, int, int], ...]


class _Partition:
    """An ordered partition of the vertices: cells by the position at which they start."""

    def __init__(self, cells: dict[int, list[int]], start: list[int]) -> None:
        self.cells = cells
        self.start = start

    def individualised(self, vertex: int) -> tuple[_Partition, list[int]]:
        """Return a copy in which the vertex stands alone before the rest of its cell, and the cells that changed."""
        at = self.start[vertex]
        cells, start = dict(self.cells), list(self.start)
        rest = [v for v in cells[at] if v != vertex]
        cells[at], cells[at + 1] = [vertex], rest
        for v in rest:
            start[v] = at + 1
        return _Partition(cells, start), [at]

    def refine(self, beside: list[list[tuple[int, int]]], splitters: list[int]) -> None:
        """Split cells until all vertices of a cell have the same edges, by label, into every other cell."""
        queue, queued = deque(splitters), set(splitters)
        while queue:
            splitter = queue.popleft()
            queued.discard(splitter)
            seen: dict[int, list[int]] = {}
            for vertex in self.cells[splitter]:
                for other, label in beside[vertex]:
                    seen.setdefault(other, []).append(label)
            for at in sorted({self.start[v] for v in seen}):
                cell = self.cells[at]
                if len(cell) == 1:
                    continue
                kinds: dict[tuple[int, ...], list[int]] = {}
                for v in cell:
                    kinds.setdefault(tuple(sorted(seen.get(v, ()))), []).append(v)
                if len(kinds) > 1:
                    self._split(at, [kinds[kind] for kind in sorted(kinds)], queue, queued)

    def _split(self, at: int, parts: list[list[int]], queue: deque[int], queued: set[int]) -> None:
        """Replace a cell by its parts; all but one largest part have to be looked at (all, if the cell waited)."""
        largest = max(range(len(parts)), key=lambda k: (len(parts[k]), -k))
        waited, position = at in queued, at
        for k, part in enumerate(parts):
            self.cells[position] = part
            for v in part:
                self.start[v] = position
            if position not in queued and (waited or k != largest):
                queue.append(position)
                queued.add(position)
            position += len(part)

    def target(self) -> list[int]:
        """Return the first of the smallest cells with more than one vertex, in the order of the numbers."""
        several = [(len(cell), at) for at, cell in self.cells.items() if len(cell) > 1]
        return sorted(self.cells[min(several)[1]]) if several else []

    def shape(self) -> tuple[int, ...]:
        """Return where the cells start: the same for branches that a symmetry maps to each other."""
        return tuple(sorted(self.cells))


@dataclass
class _Branch:
    """A node of the search tree: the vertices told apart so far, the partition, and the choices that remain."""

    prefix: tuple[int, ...]
    partition: _Partition
    choices: list[int]
    tried: list[int]


class _Search:
    def __init__(self, graph: Graph) -> None:
        labels = {label: k for k, label in enumerate(sorted({label for _, _, label in graph.edges}))}
        self.edges = [(a, b, labels[label]) for a, b, label in graph.edges]
        self.beside: list[list[tuple[int, int]]] = [[] for _ in graph.colours]
        for a, b, label in self.edges:
            self.beside[a].append((b, label))
            self.beside[b].append((a, label))
        self.graph = graph
        self.best: tuple[Certificate, tuple[int, ...], tuple[int, ...]] | None = None  # with order and prefix
        self.best_shapes: list[tuple[int, ...]] = []
        self.symmetries: list[list[int]] = []

    def start(self) -> _Partition:
        cells: dict[int, list[int]] = {}
        start = [0] * len(self.graph.colours)
        by_colour: dict[str, list[int]] = {}
        for vertex, colour in enumerate(self.graph.colours):
            by_colour.setdefault(colour, []).append(vertex)
        position = 0
        for colour in sorted(by_colour):
            cells[position] = by_colour[colour]
            for vertex in by_colour[colour]:
                start[vertex] = position
            position += len(by_colour[colour])
        partition = _Partition(cells, start)
        partition.refine(self.beside, sorted(cells))
        return partition

    def run(self) -> tuple[int, ...]:
        """Return the order of the least leaf; of equal ones the first met, which tells apart the lowest numbers."""
        root = self.start()
        path = [_Branch((), root, root.target(), [])]
        shapes = [root.shape()]
        if not path[0].choices:
            return self.leaf(root, ())[1]
        spent = 0
        while path:
            branch = path[-1]
            vertex = self.choose(branch)
            if vertex is None or (spent > BUDGET and self.best is not None):
                path.pop()
                shapes.pop()
                continue
            spent += len(self.beside)
            branch.tried.append(vertex)
            partition, changed = branch.partition.individualised(vertex)
            partition.refine(self.beside, changed)
            prefix, shape = (*branch.prefix, vertex), partition.shape()
            if self.best is not None and [*shapes, shape] > self.best_shapes[: len(shapes) + 1]:
                continue
            choices = partition.target()
            if choices:
                path.append(_Branch(prefix, partition, choices, []))
                shapes.append(shape)
                continue
            common = self.compare(self.leaf(partition, prefix), [*shapes, shape])
            del path[common + 1 :], shapes[common + 1 :]
        assert self.best is not None
        return self.best[1]

    def compare(
        self, found: tuple[Certificate, tuple[int, ...], tuple[int, ...]], shapes: list[tuple[int, ...]]
    ) -> int:
        """Keep the better leaf; return the depth of the branch to go on from (above a symmetric one)."""
        certificate, order, prefix = found
        deepest = len(prefix) - 1
        if self.best is None or (shapes, certificate) < (self.best_shapes, self.best[0]):
            self.best, self.best_shapes = found, shapes
        elif (shapes, certificate) == (self.best_shapes, self.best[0]):
            image = [0] * len(order)
            for a, b in zip(self.best[1], order, strict=True):
                image[a] = b
            self.symmetries.append(image)
            return next(k for k, (a, b) in enumerate(zip(self.best[2], prefix, strict=True)) if a != b)
        return deepest

    def choose(self, branch: _Branch) -> int | None:
        """Return the next vertex to tell apart that no known symmetry maps to one already tried."""
        fixing = [s for s in self.symmetries if all(s[v] == v for v in branch.prefix)]
        while branch.choices:
            vertex = branch.choices.pop(0)
            orbit, stack = {vertex}, [vertex]
            while stack:
                v = stack.pop()
                fresh = {s[v] for s in fixing} - orbit
                orbit |= fresh
                stack.extend(fresh)
            if orbit.isdisjoint(branch.tried):
                return vertex
        return None

    def leaf(
        self, partition: _Partition, prefix: tuple[int, ...]
    ) -> tuple[Certificate, tuple[int, ...], tuple[int, ...]]:
        at = partition.start
        order = sorted(range(len(at)), key=at.__getitem__)
        edges = sorted((min(at[a], at[b]), max(at[a], at[b]), label) for a, b, label in self.edges)
        return tuple(edges), tuple(order), prefix


def canonical(graph: Graph) -> Canonical:
    """Return the canonical description and order of a coloured graph."""
    order = _Search(graph).run()
    at = {vertex: k for k, vertex in enumerate(order)}
    edges = sorted((min(at[a], at[b]), max(at[a], at[b]), label) for a, b, label in graph.edges)
    colours = ",".join(graph.colours[v] for v in order)
    return Canonical(colours + ";" + ",".join(f"{a}-{b}{':' + label if label else ''}" for a, b, label in edges), order)
