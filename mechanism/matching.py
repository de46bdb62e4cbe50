"""Assignment of constraint units to the freedoms of nodes, and what follows from it: parts, components, order.

A node (a body, or a pin of several bodies) has a capacity: the number of its freedoms. A unit (a joint, a driver) has
a multiplicity: the number of freedoms that it takes, each from any one of the nodes that it touches. The decomposition
of Dulmage and Mendelsohn follows from one maximum assignment and does not depend on which one was found.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from ..common.graphs import DisjointSets


@dataclass(frozen=True)
class Incidence:
    """Capacities of the nodes, and for each unit its multiplicity and the nodes that it touches (each once)."""

    capacity: tuple[int, ...]
    multiplicity: tuple[int, ...]
    touches: tuple[tuple[int, ...], ...]

    def units_of_nodes(self) -> list[list[tuple[int, int]]]:
        """Return for each node the pairs (unit, place of the node among those that the unit touches)."""
        units: list[list[tuple[int, int]]] = [[] for _ in self.capacity]
        for unit, nodes in enumerate(self.touches):
            for place, node in enumerate(nodes):
                units[node].append((unit, place))
        return units


@dataclass(frozen=True)
class Assignment:
    """A maximum assignment: `flow[unit][place]` freedoms of the node at that place are taken by the unit."""

    flow: tuple[tuple[int, ...], ...]
    unplaced: tuple[int, ...]  # per unit: how much of its multiplicity found no freedom
    spare: tuple[int, ...]  # per node: freedoms that no unit takes

    @property
    def perfect(self) -> bool:
        """Whether every unit is placed and every freedom taken."""
        return not any(self.unplaced) and not any(self.spare)


@dataclass(frozen=True)
class MatchedPart:
    """Nodes and units of a part of the mechanism."""

    nodes: frozenset[int]
    units: frozenset[int]


def assign(incidence: Incidence) -> Assignment:
    """Return a maximum assignment: a greedy start, then phases of shortest augmenting paths (Dinic)."""
    search = _Search(incidence)
    search.greedy()
    while search.phase():
        pass
    return Assignment(tuple(map(tuple, search.flow)), tuple(search.unplaced), tuple(search.spare))


class _Search:
    """The state of the search for a maximum assignment."""

    def __init__(self, incidence: Incidence) -> None:
        self.touches = incidence.touches
        self.units_of = incidence.units_of_nodes()
        self.flow = [[0] * len(nodes) for nodes in incidence.touches]
        self.unplaced = list(incidence.multiplicity)
        self.spare = list(incidence.capacity)

    def greedy(self) -> None:
        """Place the most tightly bound unit first: the one whose nodes have the fewest freedoms beyond its need.

        A unit with one open node has no choice at all. On well-constrained mechanisms this follows the order of
        solution from the drivers outwards and leaves little for the phases.
        """
        touches, spare, unplaced = self.touches, self.spare, self.unplaced

        def room(unit: int) -> int:
            left = [spare[n] for n in touches[unit] if spare[n]]
            return sum(left) - unplaced[unit] if len(left) > 1 else 0

        heap = [(room(unit), unit) for unit in range(len(touches))]
        heapq.heapify(heap)
        done = [False] * len(touches)
        while heap:
            known, unit = heapq.heappop(heap)
            if done[unit] or known != room(unit):  # an old entry: a newer one of the same unit is in the heap
                continue
            done[unit] = True
            for _, place in sorted((spare[node], place) for place, node in enumerate(touches[unit])):
                node = touches[unit][place]
                taken = min(unplaced[unit], spare[node])
                if taken == 0:
                    continue
                self.flow[unit][place] += taken
                unplaced[unit] -= taken
                spare[node] -= taken
                for other, _ in self.units_of[node]:
                    if not done[other]:
                        heapq.heappush(heap, (room(other), other))

    def phase(self) -> bool:
        """Augment along a maximal set of shortest alternating paths; return whether there was any."""
        sources = [unit for unit, rest in enumerate(self.unplaced) if rest]
        self.unit_level = [-1] * len(self.touches)
        self.node_level = [-1] * len(self.spare)
        for unit in sources:
            self.unit_level[unit] = 0
        frontier, depth, reached = sources, 0, False
        while frontier and not reached:
            following: list[int] = []
            for unit in frontier:
                for node in self.touches[unit]:
                    if self.node_level[node] >= 0:
                        continue
                    self.node_level[node] = depth
                    reached = reached or self.spare[node] > 0
                    for other, place in self.units_of[node]:
                        if self.flow[other][place] and self.unit_level[other] < 0:
                            self.unit_level[other] = depth + 1
                            following.append(other)
            frontier, depth = following, depth + 1
        self.unit_arc, self.node_arc = [0] * len(self.touches), [0] * len(self.spare)
        for unit in sources if reached else ():
            while self.unplaced[unit] and self.augment(unit):
                pass
        return reached

    def augment(self, source: int) -> bool:
        """Push along one path of the level graph that starts at a unit; no dead end is entered twice."""
        takes: list[tuple[int, int]] = []  # (unit, place): takes a freedom of the node there ...
        gives: list[tuple[int, int]] = []  # ... which this (unit, place) gives up
        unit = source
        while True:
            nodes, arc = self.touches[unit], self.unit_arc[unit]
            if arc == len(nodes):
                if not gives:
                    return False
                other, place = gives.pop()
                self.node_arc[self.touches[other][place]] += 1
                unit, _ = takes.pop()
                continue
            node = nodes[arc]
            if self.node_level[node] == self.unit_level[unit]:
                if self.spare[node]:
                    takes.append((unit, arc))
                    break
                step = self.onward(node, self.unit_level[unit] + 1)
                if step is not None:
                    takes.append((unit, arc))
                    gives.append(step)
                    unit = step[0]
                    continue
            self.unit_arc[unit] += 1
        amount = min([self.unplaced[source], self.spare[node], *(self.flow[u][p] for u, p in gives)])
        for u, p in takes:
            self.flow[u][p] += amount
        for u, p in gives:
            self.flow[u][p] -= amount
        self.unplaced[source] -= amount
        self.spare[node] -= amount
        return True

    def onward(self, node: int, level: int) -> tuple[int, int] | None:
        """Return the next unit of that level which holds a freedom of the node, and its place there."""
        units = self.units_of[node]
        while self.node_arc[node] < len(units):
            other, place = units[self.node_arc[node]]
            if self.flow[other][place] and self.unit_level[other] == level:
                return other, place
            self.node_arc[node] += 1
        return None


def over(incidence: Incidence, assignment: Assignment) -> MatchedPart:
    """Return the part with too many constraints: all that alternating paths reach from units that are not placed."""
    units_of = incidence.units_of_nodes()
    units = {u for u, rest in enumerate(assignment.unplaced) if rest}
    nodes: set[int] = set()
    stack = list(units)
    while stack:
        for node in incidence.touches[stack.pop()]:
            if node not in nodes:
                nodes.add(node)
                fresh = {u for u, place in units_of[node] if assignment.flow[u][place]} - units
                units |= fresh
                stack.extend(fresh)
    return MatchedPart(frozenset(nodes), frozenset(units))


def under(incidence: Incidence, assignment: Assignment) -> MatchedPart:
    """Return the part that can still move: all that alternating paths reach from nodes with spare freedoms."""
    units_of = incidence.units_of_nodes()
    nodes = {n for n, rest in enumerate(assignment.spare) if rest}
    units: set[int] = set()
    stack = list(nodes)
    while stack:
        for unit, _ in units_of[stack.pop()]:
            if unit not in units:
                units.add(unit)
                held = zip(incidence.touches[unit], assignment.flow[unit], strict=True)
                fresh = {node for node, amount in held if amount} - nodes
                nodes |= fresh
                stack.extend(fresh)
    return MatchedPart(frozenset(nodes), frozenset(units))


def pieces(incidence: Incidence, part: MatchedPart) -> list[MatchedPart]:
    """Return the connected pieces of a part; a unit without a node is a piece of its own."""
    sets = DisjointSets(part.nodes)
    inside = {unit: [n for n in incidence.touches[unit] if n in part.nodes] for unit in part.units}
    for touched in inside.values():
        for node in touched[1:]:
            sets.join(node, touched[0])
    nodes: dict[int, set[int]] = {}
    units: dict[int, set[int]] = {}
    for node in part.nodes:
        nodes.setdefault(sets.find(node), set()).add(node)
    for unit, touched in inside.items():
        units.setdefault(sets.find(touched[0]) if touched else -1 - unit, set()).add(unit)
    keys = sorted(nodes.keys() | units.keys())
    return [MatchedPart(frozenset(nodes.get(k, ())), frozenset(units.get(k, ()))) for k in keys]


def dependences(incidence: Incidence, assignment: Assignment) -> list[set[int]]:
    """Return for each node the others that are touched by the units which take its freedoms."""
    needs: list[set[int]] = [set() for _ in incidence.capacity]
    for nodes, amounts in zip(incidence.touches, assignment.flow, strict=True):
        for node, amount in zip(nodes, amounts, strict=True):
            if amount:
                needs[node].update(nodes)
    for node, others in enumerate(needs):
        others.discard(node)
    return needs
