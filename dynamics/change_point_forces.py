"""Forces at instants where the branches of a group meet: from instants on both sides, as the motion is there.

At such an instant the group has no velocity transformation of its own, although motion and forces pass it smoothly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..mechanism.model import Array
from ..motion.run import Solution

GROWTH = 2.0  # of forces from the outer to the inner nodes: more is a force that grows without bound


@dataclass(frozen=True)
class BridgedStep:
    """A step at which some group is bridged, the steps of its nodes, and what they weigh."""

    step: int
    nodes: tuple[int, ...]
    weights: Array


def change_points(solution: Solution) -> dict[int, BridgedStep]:
    """Return the bridged steps of a solution whose nodes are solved."""
    found: dict[int, BridgedStep] = {}
    for change_point in (m for of_group in solution.course.change_points.values() for m in of_group):
        nodes, lanes = change_point.found(solution.time), change_point.lanes(solution.time)
        if len(nodes) and nodes.max() < solution.solved:
            weights = change_point.weights(solution.time[lanes])
            for i, step in enumerate(lanes.tolist()):
                found[step] = BridgedStep(step, tuple(nodes.tolist()), weights[:, i])
    return found


def passed(efforts: Array, wrenches: Array, lane: int, nodes: NDArray[np.int64], weights: Array) -> bool:
    """Put forces between those of the nodes (nearest first) into a lane; return whether they grow without bound there.

    Efforts run over lanes last, and so do the wrenches of the joints (joint x w x lane).
    """
    efforts[..., lane] = efforts[..., nodes] @ weights
    wrenches[..., lane] = wrenches[..., nodes] @ weights
    d = 2 if wrenches.shape[1] == 3 else 3
    sizes = np.abs(wrenches[:, :d, nodes]).max(axis=(0, 1), initial=0.0)
    inner, outer = max(sizes[:2]), max(sizes[-2:])
    return bool(inner > GROWTH * outer > 0.0)
