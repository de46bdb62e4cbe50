"""Forces at instants where the branches of a group meet.

Motion passes such an instant smoothly, while the system of the forces is singular there: they pass it as well, or have
a pole. Beside it they follow from the balance of the bodies, as everywhere. Towards it that loses its digits, and a
limit is taken from both sides where forces are smooth; where they are not, balance has the word as long as it has any.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..mechanism.model import Array
from ..motion.course import ChangePoint
from ..motion.run import Solution, solve
from ..runtime.sequence import Ints
from .body_lanes import body_lanes
from .joint_forces import RANK, Forces

FINE = 0.05  # of the spacing of a change point: where a limit is taken from, with digits enough and near enough
BLIND = 1e-8  # least singular value over the largest: positions, right to 1e-13 at best, say nothing of forces there
SMOOTH = 1e-5  # of the largest force: what instants farther away may miss nearer ones by; rounding is below 1e-6


@dataclass(frozen=True, eq=False)
class Bridged:
    """Steps of a solution that are bridged over a change point and next to it, and those that are blind there."""

    point: ChangePoint
    steps: Ints
    blind: Ints


def bridged(solution: Solution, steps: Ints) -> dict[int, ChangePoint]:
    """Return the change points over which some steps of a solution are bridged; the nearest for each step."""
    found: dict[int, ChangePoint] = {}
    times = solution.time[steps]
    for point in (m for of_group in solution.course.change_points.values() for m in of_group):
        for j in point.lanes(times).tolist():
            k = int(steps[j])
            if k not in found or abs(times[j] - point.centre) < abs(times[j] - found[k].centre):
                found[k] = point
    return found


def near_singular(solution: Solution, steps: Ints, forces: Forces) -> list[Bridged]:
    """Return the steps next to change points, by what is left there of the independence of all rows."""
    lanes_of: dict[ChangePoint, list[int]] = {}
    for k, point in bridged(solution, steps).items():
        lanes_of.setdefault(point, []).append(k)
    found = []
    for point, own in lanes_of.items():
        mine = np.array(own, dtype=np.int64)
        nodes = point.found(solution.time)[:2]
        nodes = nodes[nodes < solution.solved]
        lanes = np.union1d(mine, nodes)
        left = forces.independence(body_lanes(solution, lanes))
        if len(nodes) == 0:  # the run ends before: nothing tells how many rows are independent elsewhere
            continue
        beside = left[np.searchsorted(lanes, nodes)]
        last = int((beside > RANK).sum(axis=1).min()) - 1
        least = left[np.searchsorted(lanes, mine), last]
        near = (least < FINE * beside[:, last].min()) | (least < BLIND)
        found.append(Bridged(point, mine[near], mine[least < BLIND]))
    return [b for b in found if len(b.steps)]


def finer(solution: Solution, found: list[Bridged]) -> tuple[Solution, list[ChangePoint]]:
    """Return the same motion with instants nearer to change points, from which limits are taken."""
    points = [replace(b.point, spacing=FINE * b.point.spacing) for b in found]
    grid = np.union1d(solution.time[: solution.solved], np.concatenate([p.nodes for p in points]))
    grid = grid[(grid >= solution.time[0]) & (grid <= solution.time[solution.solved - 1])]
    return solve(solution.program, grid, course=solution.course, numbers=solution.numbers), points


def limits(point: ChangePoint, time: Array, values: Array) -> Array | None:
    """Return the values (row x node, of one size) between those of the nodes; None where these are not smooth."""
    inner = point.nodes[:2]
    outer = replace(point, offsets=point.offsets[2:]).weights(inner)
    miss = np.abs(values[:, 2:] @ outer - values[:, :2]).max(initial=0.0)
    return values @ point.weights(time) if miss <= SMOOTH * np.abs(values).max(initial=0.0) else None
