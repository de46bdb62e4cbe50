"""Forces at instants where the branches of a group meet: from instants on both sides, as the motion is there.

At such an instant the group has no velocity transformation of its own, although motion and forces pass it smoothly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..mechanism.model import Array
from ..motion.run import BRIDGE_NODES, Solution, bridge_weights
from .reactions import Wrench
from .record import Record

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


def passed(record: Record, meeting: Meeting, records: Mapping[int, Record]) -> tuple[Record, bool]:
    """Return a record with forces between those of the nodes, and whether they grow without bound there."""
    nodes = [records[n] for n in meeting.nodes]
    return _between(record, nodes, meeting.weights), _grows(nodes)


def _between(record: Record, nodes: Sequence[Record], weights: Array) -> Record:
    def sums(pick: Callable[[Record], Mapping[str, float]]) -> dict[str, float]:
        pairs = list(zip(weights.tolist(), nodes, strict=True))
        return {name: sum(w * pick(n)[name] for w, n in pairs) for name in pick(record)}

    reactions = {}
    for joint in record.reactions:
        parts = [(w, n.reactions[joint]) for w, n in zip(weights, nodes, strict=True)]
        force, moment = (np.sum([w * getattr(r, name) for w, r in parts], axis=0) for name in ("force", "moment"))
        reactions[joint] = Wrench(force, moment)
    return replace(
        record, efforts=sums(lambda r: r.efforts), actuators=sums(lambda r: r.actuators), reactions=reactions
    )


def _grows(nodes: Sequence[Record]) -> bool:
    """Return whether the largest force grows towards the middle of the nodes."""
    sizes = [max([float(np.abs(r.force).max()) for r in n.reactions.values()], default=0.0) for n in nodes]
    inner, outer = max(sizes[3:5]), max(sizes[0], sizes[-1])
    return inner > GROWTH * outer > 0.0
