"""Cylinders: driven distances and slides between bodies as barrel and rod, with the stroke of the run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..mechanism.model import FRAME, Array, Joint, Model
from ..motion.results import Results
from . import outlines
from .outlines import across
from .shapes import GROUND, INK, PAPER, Dot, DrawnPose, Shape

BARREL, ROD = 1.05, 0.42  # half the widths in the plane, in units
THICK, THIN = 8.0, 3.2  # widths of the lines in space, in points
TELESCOPIC = 0.2  # a slide whose shortest length is less of its longest runs on a guide instead
TINT = "#c3c8d0"


def lengths(least: float, most: float) -> tuple[float, float]:
    """Return how long barrel and rod are, so that both ends of the stroke can be reached and neither sticks out."""
    barrel = min(0.9 * least, 0.62 * most)
    return barrel, min(most - barrel + 0.1 * least, 0.97 * least)


def driven_distances(
    model: Model, results: Results, unit: float
) -> tuple[list[Shape], list[Dot], dict[str, DrawnPose]]:
    """Return barrels and rods of the drivers that prescribe a distance, on poses of their own along the line."""
    shapes: list[Shape] = []
    dots: list[Dot] = []
    poses: dict[str, DrawnPose] = {}
    for driver in model.drivers.values():
        if driver.kind != "distance" or driver.points is None:
            continue
        foot, head = (results.points[name].position for name in driver.points)
        way = head - foot
        distance = np.hypot.reduce(way, axis=1)
        if not len(distance) or np.nanmin(distance) <= 0:
            continue
        rotation = _along(way / distance[:, None])
        # a blank at the front: no body has such a name
        names = f" barrel {driver.name}", f" rod {driver.name}"
        poses |= {names[0]: DrawnPose(foot, rotation), names[1]: DrawnPose(head, rotation)}
        axis, origin = np.eye(model.dimension)[0], np.zeros(model.dimension)
        parts = lengths(float(np.nanmin(distance)), float(np.nanmax(distance)))
        shapes += _parts(names, (origin, origin), (axis, axis), parts, unit, GROUND)
        dots += [Dot(name, origin, 0.52 * unit, PAPER, INK) for name in names]
    return shapes, dots, poses


def slide(
    model: Model, joint: Joint, least: float, most: float, colours: Mapping[str, str], unit: float
) -> list[Shape]:
    """Return barrel and rod of a slide from its line's point to the sliding point; none where it is no telescope.

    It is none where the sliding point passes the line's point, or runs along a link that reaches farther.
    """
    sign = 1.0 if least > 0 else -1.0
    if least * most <= 0 or joint.first == FRAME:
        return []
    short, long = sorted((abs(least), abs(most)))
    along = [sign * float((p - joint.a) @ joint.axis_a) for p in model.bodies[joint.first].points.values()]
    if short < max(TELESCOPIC * long, 4 * unit, max(along, default=0.0)):
        return []
    bodies, ends = (joint.first, joint.second), (joint.a, joint.b)
    axes = sign * joint.axis_a, sign * joint.axis_b
    return _parts(bodies, ends, axes, lengths(short, long), unit, colours[joint.first], colours[joint.second])


def _parts(
    bodies: tuple[str, str],
    ends: tuple[Array, Array],
    axes: tuple[Array, Array],
    parts: tuple[float, float],
    unit: float,
    barrel: str,
    rod: str = "",
) -> list[Shape]:
    near, far = np.array([[0.0], [parts[0]]]) * axes[0] + ends[0], np.array([[-parts[1]], [0.0]]) * axes[1] + ends[1]
    rod = rod or INK
    if len(ends[0]) == 3:
        return [
            Shape(bodies[1], far, False, rod, THIN, layer=1),
            Shape(bodies[0], near, False, barrel, THICK, layer=2),
        ]
    return [
        Shape(bodies[1], _bar(far, ROD * unit), True, rod, 0.9, "#eceef1", 1.0, layer=1),
        Shape(bodies[0], _bar(near, BARREL * unit), True, barrel, 1.2, TINT, 1.0, layer=2),
    ]


def _bar(ends: Array, half: float) -> Array:
    """Return a rectangle about a line."""
    way = ends[1] - ends[0]
    side = across(way / float(np.hypot.reduce(way))) * half
    return outlines.hull(np.array([ends[0] - side, ends[1] - side, ends[1] + side, ends[0] + side]))


def _along(axis: Array) -> Array:
    """Return rotations whose first columns are the given unit vectors (n x d)."""
    if axis.shape[1] == 2:
        return np.stack([axis, np.stack([-axis[:, 1], axis[:, 0]], axis=1)], axis=2)
    least = np.eye(3)[int(np.argmin(np.nanmax(np.abs(axis), axis=0)))]
    second = np.cross(least, axis)
    second /= np.linalg.norm(second, axis=1)[:, None]
    return np.stack([axis, second, np.cross(axis, second)], axis=2)
