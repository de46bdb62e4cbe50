"""Forces at instants where the branches of a group meet: from instants on both sides, as the motion is there.

At such an instant the group has no velocity transformation of its own, although motion and forces pass it smoothly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..mechanism.model import Array
from ..motion.run import BRIDGE_NODES, Solution, bridge_weights

GROWTH = 2.0  # of forces from the outer to the inner nodes: more is a force that grows without bound


@dataclass(frozen=True)
class Meeting:
    """A step at which some group is bridged, the steps of its nodes, and what they weigh."""

    step: int
    nodes: tuple[int, ...]
    weights: Array


def meetings(solution: Solution) -> dict[int, Meeting]:
    """Return the bridged steps of a solution whose nodes are solved."""
    found: dict[int, Meeting] = {}
    for bridges in solution.course.bridges.values():
        for t, centre, spacing in bridges:
            nodes = np.searchsorted(solution.time, centre + BRIDGE_NODES * spacing)
            if nodes[0] > 0 and nodes[-1] < solution.solved:
                step = int(np.searchsorted(solution.time, t))
                found[step] = Meeting(step, tuple(nodes.tolist()), bridge_weights(t, centre, spacing))
    return found


def passed(efforts: Array, wrenches: Array, lane: int, nodes: NDArray[np.int64], weights: Array) -> bool:
    """Put forces between those of the nodes into a lane; return whether they grow without bound there.

    Efforts run over lanes last, and so do the wrenches of the joints (joint x w x lane).
    """
    efforts[..., lane] = efforts[..., nodes] @ weights
    wrenches[..., lane] = wrenches[..., nodes] @ weights
    d = 2 if wrenches.shape[1] == 3 else 3
    sizes = np.abs(wrenches[:, :d, nodes]).max(axis=(0, 1), initial=0.0)
    inner, outer = max(sizes[3:5]), max(sizes[0], sizes[-1])
    return bool(inner > GROWTH * outer > 0.0)
