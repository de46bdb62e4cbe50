"""Canonical descriptions: the same for every naming, different for different graphs."""

from __future__ import annotations

import itertools
import random

import pytest

from assurgent.mechanism.canonical import Canonical, Graph, canonical


def relabelled(graph: Graph, r: random.Random) -> Graph:
    place = list(range(len(graph.colours)))
    r.shuffle(place)
    colours = [""] * len(place)
    for vertex, colour in enumerate(graph.colours):
        colours[place[vertex]] = colour
    edges = [(place[a], place[b], s) if r.random() < 0.5 else (place[b], place[a], s) for a, b, s in graph.edges]
    r.shuffle(edges)
    return Graph(tuple(colours), tuple(edges))


def random_graph(r: random.Random, n: int) -> Graph:
    pairs = list(itertools.combinations(range(n), 2))
    edges = r.sample(pairs, r.randint(0, len(pairs)))
    return Graph(tuple(r.choice("aab") for _ in range(n)), tuple((a, b, r.choice(("", "", "x"))) for a, b in edges))


def isomorphic(one: Graph, other: Graph) -> bool:
    """Every bijection is tried."""
    if sorted(one.colours) != sorted(other.colours) or len(one.edges) != len(other.edges):
        return False
    wanted = {(frozenset((a, b)), s) for a, b, s in other.edges}
    n = len(one.colours)
    for image in itertools.permutations(range(n)):
        if all(one.colours[v] == other.colours[image[v]] for v in range(n)) and all(
            (frozenset((image[a], image[b])), s) in wanted for a, b, s in one.edges
        ):
            return True
    return False


def described(graph: Graph, found: Canonical) -> str:
    """Rebuild the key from the order alone: it must hold the whole graph."""
    at = {vertex: k for k, vertex in enumerate(found.order)}
    edges = sorted((min(at[a], at[b]), max(at[a], at[b]), s) for a, b, s in graph.edges)
    text = ",".join(f"{a}-{b}{':' + s if s else ''}" for a, b, s in edges)
    return ",".join(graph.colours[v] for v in found.order) + ";" + text


def cubic(r: random.Random, n: int) -> Graph:
    while True:
        stubs = [v for v in range(n) for _ in range(3)]
        r.shuffle(stubs)
        edges = {tuple(sorted(p)) for p in zip(stubs[::2], stubs[1::2], strict=True)}
        if len(edges) == 3 * n // 2 and all(a != b for a, b in edges):
            return Graph(("",) * n, tuple((a, b, "") for a, b in sorted(edges)))


@pytest.mark.parametrize("seed", range(40))
def test_key_is_the_same_for_every_naming(seed: int) -> None:
    r = random.Random(seed)
    graph = random_graph(r, r.randint(1, 9)) if seed % 2 else cubic(r, 10)
    found = canonical(graph)
    assert sorted(found.order) == list(range(len(graph.colours)))
    assert described(graph, found) == found.key
    for _ in range(6):
        other = relabelled(graph, r)
        assert canonical(other).key == found.key


def test_equal_keys_mean_equal_graphs() -> None:
    r = random.Random(3)
    graphs = [random_graph(r, 5) for _ in range(60)]
    graphs += [relabelled(random_graph(random.Random(k), 5), r) for k in range(20)]
    graphs += [random_graph(random.Random(k), 5) for k in range(20)]
    equal = 0
    for one, other in itertools.combinations(graphs, 2):
        same = isomorphic(one, other)
        equal += same
        assert (canonical(one).key == canonical(other).key) is same
    assert equal >= 20


def test_against_networkx_on_cubic_graphs() -> None:
    networkx = pytest.importorskip("networkx")
    r = random.Random(5)
    graphs = [cubic(r, 10) for _ in range(25)]
    plain = [networkx.Graph([(a, b) for a, b, _ in g.edges]) for g in graphs]
    keys = [canonical(g).key for g in graphs]
    for i, j in itertools.combinations(range(len(graphs)), 2):
        assert (keys[i] == keys[j]) == networkx.is_isomorphic(plain[i], plain[j])


def test_regular_graphs_that_refinement_alone_cannot_tell_apart() -> None:
    hexagon = Graph(("",) * 6, tuple((k, (k + 1) % 6, "") for k in range(6)))
    triangles = Graph(("",) * 6, tuple((3 * t + k, 3 * t + (k + 1) % 3, "") for t in range(2) for k in range(3)))
    assert canonical(hexagon).key != canonical(triangles).key


def test_symmetric_vertices_keep_the_order_of_their_numbers() -> None:
    star = Graph(("hub", *("leaf",) * 30), tuple((0, k, "") for k in range(1, 31)))
    assert canonical(star).order == tuple(range(31))
