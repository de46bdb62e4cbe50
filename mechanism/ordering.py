"""From an assignment to sets of bodies in order: components, without the parts that are not determined."""

from __future__ import annotations

from collections.abc import Callable

from ..common.graphs import components
from .constraint_network import Network
from .matching import Assignment, dependences, over, under


def ordered_components(
    network: Network, assignment: Assignment, names: Callable[[str], tuple[str, ...]]
) -> list[tuple[str, ...]]:
    """Return the bodies of each group, sorted; groups by level, then by the least of their bodies' `names`.

    Nothing that lies in an under- or overconstrained part, or depends on one, is returned: such components would
    depend on which maximum assignment was found.
    """
    needs = dependences(network.incidence, assignment)
    loose = over(network.incidence, assignment).nodes | under(network.incidence, assignment).nodes
    sound = [n for n in range(len(needs)) if n not in loose]
    wrong: set[int] = set(loose)
    kept: list[set[int]] = []
    for component in components(needs, sound):  # each after those that it needs
        if any(needs[n] & wrong for n in component):
            wrong.update(component)
        else:
            kept.append(set(component))
    n_bodies = len(network.bodies)
    placed = _placed(network, assignment) - {n for c in kept if min(c) < n_bodies for n in c}

    def key(component: set[int]) -> tuple[str, ...]:
        return min((names(network.bodies[n]) for n in component if n < n_bodies), default=())

    while True:
        levels = _levels(kept, needs, n_bodies)
        ranked = sorted(zip(levels, map(key, kept), range(len(kept)), strict=True))
        kept = [kept[k] for _, _, k in ranked]
        lonely = [c for c in kept if not c.isdisjoint(placed)]
        if not lonely:
            return [tuple(sorted(network.bodies[n] for n in c if n < n_bodies)) for c in kept if min(c) < n_bodies]
        _join(kept, lonely[-1], needs, n_bodies)
        placed -= lonely[-1]


def _levels(kept: list[set[int]], needs: list[set[int]], n_bodies: int) -> list[int]:
    """Return the level of each component: how many components with bodies, one needing the other, come before it."""
    level: dict[int, int] = {}
    of = {n: k for k, component in enumerate(kept) for n in component}
    for start in range(len(kept)):
        stack = [start]
        while stack:
            k = stack[-1]
            before = {of[m] for n in kept[k] for m in needs[n]} - {k}
            waiting = [b for b in before if b not in level]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            level[k] = max((level[b] for b in before), default=-1) + (min(kept[k]) < n_bodies)
    return [level[k] for k in range(len(kept))]


def _placed(network: Network, assignment: Assignment) -> set[int]:
    """Return the pins that are not simply a point of one body: drivers, or several bodies, place them."""
    holders: dict[int, list[str]] = {n: [] for n in range(len(network.bodies), len(network.incidence.capacity))}
    for unit, nodes, flow in zip(network.units, network.incidence.touches, assignment.flow, strict=True):
        for node, amount in zip(nodes, flow, strict=True):
            if amount and node in holders:
                holders[node].append(unit.sort)
    return {node for node, sorts in holders.items() if sorts != ["pin"]}


def _join(kept: list[set[int]], pin: set[int], needs: list[set[int]], n_bodies: int) -> None:
    """Join a pin that drivers place to the first group that needs it: no third one can lie between the two."""
    kept.remove(pin)
    for component in kept:
        if min(component) < n_bodies and any(needs[n] & pin for n in component):
            component |= pin
            return
