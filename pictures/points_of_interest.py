"""The points of a mechanism that a designer would look at first."""

from __future__ import annotations

import numpy as np

from ..mechanism.model import FRAME, Array, Model
from ..motion.results import Results
from .symbols import tied_points


def default_names(results: Results, model: Model) -> list[str]:
    """Return the points that say most: free ends and coupler points first, then joints that trace no circle.

    Never one that stands still, nor two that move alike; at most four, in space two.
    """
    most = 4 if model.dimension == 2 else 2
    simple = set(model.bodies[FRAME].points)
    for joint in model.joints.values():
        if joint.kind == "R" and FRAME in (joint.first, joint.second):
            simple |= set(model.bodies[joint.second if joint.first == FRAME else joint.first].points)
    tied = tied_points(model) | _of_cylinders(model)
    simple |= _of_cylinders(model)
    way = travelled(results)

    # what is driven is known beforehand
    cranks = {b for d in model.drivers.values() if d.joint for b in model.joints[d.joint].bodies}
    driven = {p for name in cranks - {FRAME} for p in model.bodies[name].points}

    def rank(name: str) -> tuple[int, float]:
        plain = 3 if name in driven else 2
        return (0 if name not in tied else 1 if name not in simple else plain), -way[name]

    chosen: list[str] = []
    for name in sorted(way, key=rank):
        first = rank(name)[0]
        if len(chosen) == most or (first > 1 and chosen) or (first == 1 and len(chosen) > 1):
            break
        velocity = results.points[name].velocity
        if all(_unlike(velocity, results.points[other].velocity) for other in chosen):
            chosen.append(name)
    return chosen


def _of_cylinders(model: Model) -> set[str]:
    """Return the points of barrels and rods: bodies of a slide that else have one pin each."""
    held = [name for joint in model.joints.values() for name in joint.bodies]
    slides = [joint.bodies for joint in model.joints.values() if joint.kind == "P" and FRAME not in joint.bodies]
    pairs = [pair for pair in slides if all(held.count(name) == 2 for name in pair)]
    return {point for pair in pairs for name in pair for point in model.bodies[name].points}


def _unlike(one: Array, other: Array) -> bool:
    """Return whether two points of one run do not move alike."""
    return bool(np.nanmax(np.abs(one - other), initial=0.0) > 1e-6 * np.nanmax(np.abs(one), initial=0.0))


def travelled(results: Results) -> dict[str, float]:
    """Return the points that move, with the lengths of their ways."""
    ways = {
        name: float(np.nansum(np.hypot.reduce(np.diff(point.position, axis=0), axis=1)))
        for name, point in results.points.items()
    }
    least = 1e-6 * max(ways.values(), default=0.0)
    return {name: way for name, way in ways.items() if way > least}
