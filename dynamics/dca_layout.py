"""The assembly tree laid out in flat arrays for compiled code: share after share, then the nodes above them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..mechanism.model import Array
from .assembly_tree import AssemblyTree

Ints = NDArray[np.int64]
# columns of nodes: numbers of unknowns that leave and are kept, number of rows; places of L, X, Y, K, G, M in the
# matrices; places of u, h, Q in the vectors; first and last of its parts, its ties, its leaving and kept bodies
(
    LEAVE, KEEP, ROWS, AT_L, AT_X, AT_Y, AT_K, AT_G, AT_M, AT_U, AT_H, AT_Q, PART, PART_END, TIE, TIE_END, GONE,
    GONE_END, STAY, STAY_END, NODE_SIZE,
) = range(21)  # fmt: skip
# columns of parts: a body or (second) a node, number of bodies, place of their destinations
SOURCE, IS_NODE, COUNT, DESTINATION, PART_SIZE = range(5)
# columns of ties: first row and number of rows, first row within the node, destinations of up to three bodies (or -1)
FIRST_ROW, N_ROWS, WITHIN, BODY_1, TIE_SIZE = 0, 1, 2, 3, 6

PLACE_ALIGNED = 8  # numbers: nodes begin at multiples of a cache line, so that threads do not share one


class Layout(NamedTuple):
    """Tables of the tree and room for its matrices and vectors.

    `shares` are where the nodes of each share begin, those above all shares, and the end.
    """

    nodes: Ints
    parts: Ints
    destinations: Ints
    ties: Ints
    gone: Ints
    shares: Ints
    matrices: Array
    vectors: Array


def lay_out(
    tree: AssemblyTree,
    width: int,
    rows: Sequence[tuple[int, int]],
    roles: Sequence[tuple[int, int, int]],
    threads: int = 1,
) -> Layout:
    """Return the tables; `rows` are first row and number of rows of each tie, `roles` its bodies (-1: none)."""
    shares, top = tree.shares(threads)
    order = [k for share in (*shares, top) for k in share]
    where = {tree.bodies + k: i for i, k in enumerate(order)}
    nodes = np.zeros((len(order), NODE_SIZE), dtype=np.int64)
    parts: list[tuple[int, ...]] = []
    ties: list[tuple[int, ...]] = []
    destinations: list[int] = []
    gone: list[int] = []
    matrices = vectors = 0
    for i, k in enumerate(order):
        node = tree.nodes[k]
        e, r = width * len(node.leaving), width * len(node.kept)
        place = {b: width * n for n, b in enumerate((*node.leaving, *node.kept))}
        first_part, first_tie, within = len(parts), len(ties), 0
        for part in node.parts:
            inner = part >= tree.bodies
            bodies = tree.nodes[part - tree.bodies].kept if inner else (part,)
            parts.append((where[part] if inner else part, int(inner), len(bodies), len(destinations)))
            destinations += [place[b] for b in bodies]
        for tie in node.ties:
            ties.append((*rows[tie], within, *(place.get(b, -1) for b in roles[tie])))
            within += rows[tie][1]
        sizes = (e * e, e * r, e * within, within * within, within * r, r * r)
        starts = [matrices + int(n) for n in np.cumsum((0, *sizes))]
        places = (vectors, vectors + e, vectors + e + within)
        matrices = -(-starts[-1] // PLACE_ALIGNED) * PLACE_ALIGNED
        vectors = -(-(places[2] + r) // PLACE_ALIGNED) * PLACE_ALIGNED
        first_gone = len(gone)
        gone += [*node.leaving, *node.kept]
        middle = first_gone + len(node.leaving)
        nodes[i] = (
            e, r, within, *starts[:6], *places, first_part, len(parts), first_tie, len(ties), first_gone, middle,
            middle, len(gone),
        )  # fmt: skip
    begin = np.cumsum([0, *(len(share) for share in shares), len(top)], dtype=np.int64)
    return Layout(
        nodes, np.array(parts, dtype=np.int64).reshape(-1, PART_SIZE), np.array(destinations, dtype=np.int64),
        np.array(ties, dtype=np.int64).reshape(-1, TIE_SIZE), np.array(gone, dtype=np.int64), begin,
        np.zeros(matrices), np.zeros(vectors),
    )  # fmt: skip
