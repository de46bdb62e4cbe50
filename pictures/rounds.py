"""Round things of mechanisms in space: cylinders that points stay on, and the pitch circles of gears."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..mechanism.geometry import perpendicular
from ..mechanism.model import FRAME, Array, Joint, Model
from .shapes import Shape

CORNERS = 48  # of a circle
_MEET = 1e-6  # of the size: axes nearer than this meet; sine of the angle between parallel ones


def circle(centre: Array, axis: Array, radius: float) -> Array:
    """Return the corners of a circle about an axis."""
    x = perpendicular(axis)
    y, angle = np.cross(axis, x), np.linspace(0, 2 * np.pi, CORNERS, endpoint=False)[:, None]
    return np.asarray(centre + radius * (np.cos(angle) * x + np.sin(angle) * y))


def cylinder(joint: Joint, colour: str, unit: float) -> list[Shape]:
    """Return two rims of the cylinder that a point stays on, about where it begins, and lines between them."""
    ends = [circle(joint.a + k * 4 * unit * joint.axis_a, joint.axis_a, joint.radius) for k in (-1, 1)]
    rims = [Shape(joint.first, rim, True, colour, 0.8, colour, 0.06, layer=1) for rim in ends]
    lines = [np.array([ends[0][k], ends[1][k]]) for k in range(0, CORNERS, CORNERS // 8)]
    return rims + [Shape(joint.first, line, False, colour, 0.5, layer=1) for line in lines]


def wheels(model: Model, joint: Joint, colours: Mapping[str, str], unit: float) -> list[Shape]:
    """Return the pitch circles of a gear where its axes meet or are parallel; they touch each other."""
    carrier = model.bodies[joint.carrier or FRAME]
    pivots = [_pivot(model, joint, k) for k in (0, 1)]
    if pivots[0] is None or pivots[1] is None:
        return []
    axes = [carrier.rotation @ joint.axis_a, carrier.rotation @ joint.axis_b]
    placed = _placed(model, pivots, axes, joint.ratio, unit)
    shapes = []
    for name, (centre, axis, radius) in zip((joint.first, joint.second), placed, strict=False):
        body = model.bodies[name]
        rim = np.array([body.inside(p) for p in circle(centre, axis, radius)])
        shapes.append(Shape(name, rim, True, colours[name], 1.4, colours[name], 0.15, layer=1))
        spoke = np.array([body.inside(centre), rim[0]])
        shapes.append(Shape(name, spoke, False, colours[name], 1.0, layer=1))
    return shapes


def _pivot(model: Model, joint: Joint, wheel: int) -> Array | None:
    """Return a point of the axis of a wheel in the first configuration: where it has a hinge about it."""
    carrier, name = model.bodies[joint.carrier or FRAME], (joint.first, joint.second)[wheel]
    axis = carrier.rotation @ (joint.axis_a, joint.axis_b)[wheel]
    for hinge in model.joints.values():
        if hinge.kind in ("R", "C", "H") and name in (hinge.first, hinge.second):
            first = model.bodies[hinge.first]
            if np.linalg.norm(np.cross(first.rotation @ hinge.axis_a, axis)) < _MEET:
                return model.bodies[hinge.second].outside(hinge.b)
    return None


def _placed(
    model: Model, pivots: list[Array | None], axes: list[Array], ratio: float, unit: float
) -> list[tuple[Array, Array, float]]:
    """Return centre, axis and radius of both wheels; none where the axes neither meet nor are parallel."""
    one, two = (np.asarray(p) for p in pivots)
    u, w, i = axes[0], axes[1] if ratio < 0 else -axes[1], abs(ratio)
    across = np.cross(u, w)
    sine, way = float(np.linalg.norm(across)), two - one
    if sine < _MEET:
        way = way - (way @ u) * u
        distance = float(np.linalg.norm(way))
        outside = float(u @ w) > 0
        if distance < unit or (not outside and abs(i - 1) < _MEET):
            return []
        second = distance / (1 + i if outside else abs(1 - i))
        return [(one, u, i * second), (two, u, second)]
    if abs(way @ across) / sine > _MEET * model.size:
        return []
    apex = one + (np.cross(way, w) @ across) / sine**2 * u
    first = math.atan2(i * sine, 1 + i * float(u @ w))  # half the angles of the cones: sin a = i sin b
    halves = first, math.atan2(sine, float(u @ w)) - first
    reaches = [
        float((p - apex) @ v) / math.cos(half)
        for p, v, half in zip((one, two), (u, w), halves, strict=True)
        if abs(math.cos(half)) > _MEET
    ]
    reach = next((r for r in reaches if abs(r) > unit), 6 * unit)
    return [
        (apex + reach * math.cos(half) * v, v, abs(reach * math.sin(half)))
        for v, half in zip((u, w), halves, strict=True)
    ]
