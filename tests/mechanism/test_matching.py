"""Assignment, parts and components against exhaustive search on small random graphs."""

from __future__ import annotations

import itertools
import random

import pytest

from assurgent.common.graphs import components
from assurgent.mechanism.matching import Incidence, MatchedPart, assign, dependences, over, pieces, under


def random_incidence(r: random.Random, n_nodes: int) -> Incidence:
    capacity = tuple(r.choice((2, 3, 3, 3)) for _ in range(n_nodes))
    units = []
    left = sum(capacity) + r.choice((-1, 0, 0, 0, 1))
    while left > 0:
        rows = min(left, r.choice((1, 2, 2)))
        units.append((rows, tuple(sorted(r.sample(range(n_nodes), min(n_nodes, r.choice((1, 2, 2, 2, 3))))))))
        left -= rows
    return Incidence(capacity, tuple(m for m, _ in units), tuple(t for _, t in units))


def inner_rows(incidence: Incidence, nodes: frozenset[int]) -> int:
    """Rows of the units all of whose nodes lie in the set: C(S) of Eq. 14."""
    return sum(m for m, t in zip(incidence.multiplicity, incidence.touches, strict=True) if nodes.issuperset(t))


def subsets(n: int) -> list[frozenset[int]]:
    return [frozenset(s) for k in range(n + 1) for s in itertools.combinations(range(n), k)]


def peeled(incidence: Incidence) -> list[frozenset[int]]:
    """Return the groups of the search by Eq. 14: the least tight sets, taken away one after another."""
    n, known, groups = len(incidence.capacity), frozenset[int](), []
    while len(known) < n:
        for extra in sorted(subsets(n), key=len):
            if extra and not extra & known:
                room = sum(incidence.capacity[v] for v in known | extra)
                if inner_rows(incidence, known | extra) == room:
                    groups.append(extra)
                    known |= extra
                    break
        else:
            raise AssertionError("no tight set")
    return groups


@pytest.mark.parametrize("seed", range(120))
def test_assignment_is_maximum_and_parts_are_those_of_hall(seed: int) -> None:
    r = random.Random(seed)
    incidence = random_incidence(r, r.randint(2, 6))
    found = assign(incidence)
    room = list(found.spare)
    units = zip(incidence.touches, found.flow, found.unplaced, incidence.multiplicity, strict=True)
    for nodes, flow, rest, rows in units:
        assert sum(flow) + rest == rows
        assert all(amount >= 0 for amount in flow)
        for node, amount in zip(nodes, flow, strict=True):
            room[node] += amount
    assert tuple(room) == incidence.capacity
    # Hall: what cannot be placed is the largest excess of any set of nodes, and the least such set is the over part
    excess = {s: inner_rows(incidence, s) - sum(incidence.capacity[v] for v in s) for s in subsets(len(room))}
    worst = max(excess.values())
    assert sum(found.unplaced) == worst
    assert over(incidence, found).nodes == frozenset.intersection(*(s for s, e in excess.items() if e == worst))
    # and the largest such set leaves exactly the under part
    assert under(incidence, found).nodes == frozenset(range(len(room))) - frozenset.union(
        *(s for s, e in excess.items() if e == worst)
    )


def test_components_are_the_least_tight_sets() -> None:
    r = random.Random(7)
    seen = 0
    for _ in range(1500):
        incidence = random_incidence(r, r.randint(2, 7))
        found = assign(incidence)
        if not found.perfect:
            continue
        seen += 1
        sets = components(dependences(incidence, found), range(len(incidence.capacity)))
        assert {frozenset(c) for c in sets} == set(peeled(incidence))
        known: set[int] = set()
        for component in sets:  # in an order in which they can be solved
            known.update(component)
            assert inner_rows(incidence, frozenset(known)) == sum(incidence.capacity[v] for v in known)
    assert seen > 200


def test_pieces_are_connected() -> None:
    incidence = Incidence((3, 3, 3), (1, 1, 2), ((0, 1), (2,), ()))
    parts = pieces(incidence, MatchedPart(frozenset({0, 1, 2}), frozenset({0, 1, 2})))
    found = {(tuple(sorted(p.nodes)), tuple(sorted(p.units))) for p in parts}
    assert found == {((0, 1), (0,)), ((2,), (1,)), ((), (2,))}


def test_long_chains_need_no_recursion() -> None:
    n = 4000
    touches = [(0,)] + [(k, k + 1) for k in range(n - 1)]
    incidence = Incidence((2,) * n, (2,) * n, tuple(touches[::-1]))
    found = assign(incidence)
    assert found.perfect
    assert components(dependences(incidence, found), range(n)) == [(k,) for k in range(n)]
