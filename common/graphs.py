"""Graphs, each algorithm once: sets that grow together, and strongly connected components in an order of solution.

SciPy and networkx have both; importing SciPy's takes a third of the time of a warm run of a small mechanism.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class DisjointSets(Generic[T]):
    """Sets that are joined and never parted; each is known by one of its members."""

    def __init__(self, members: Iterable[T]) -> None:
        self._leader = {member: member for member in members}

    def __contains__(self, member: T) -> bool:
        return member in self._leader

    def find(self, member: T) -> T:
        """Return the member that stands for the set of this one."""
        leader = self._leader
        while leader[member] != member:
            leader[member] = leader[leader[member]]
            member = leader[member]
        return member

    def join(self, one: T, two: T) -> bool:
        """Make the sets of two members one, led as that of the second; False where they were one already."""
        first, second = self.find(one), self.find(two)
        self._leader[first] = second
        return first != second


def components(needs: Sequence[Collection[int]], nodes: Iterable[int]) -> list[tuple[int, ...]]:
    """Return the strongly connected components among the nodes, each after those it needs (Tarjan, with own stack)."""
    inside = set(nodes)
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    open_nodes: list[int] = []
    is_open: set[int] = set()
    found: list[tuple[int, ...]] = []
    for start in sorted(inside):
        if start in index:
            continue
        index[start] = low[start] = len(index)
        open_nodes.append(start)
        is_open.add(start)
        calls = [(start, iter(sorted(inside.intersection(needs[start]))))]
        while calls:
            node, onward = calls[-1]
            for other in onward:
                if other not in index:
                    index[other] = low[other] = len(index)
                    open_nodes.append(other)
                    is_open.add(other)
                    calls.append((other, iter(sorted(inside.intersection(needs[other])))))
                    break
                if other in is_open:
                    low[node] = min(low[node], index[other])
            else:
                calls.pop()
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[node])
                if low[node] == index[node]:
                    at = len(open_nodes) - 1
                    while open_nodes[at] != node:
                        at -= 1
                    found.append(tuple(sorted(open_nodes[at:])))
                    is_open.difference_update(open_nodes[at:])
                    del open_nodes[at:]
    return found
