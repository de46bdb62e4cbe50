"""From a mechanism and its results to the scene that is drawn: where bodies are, their symbols, and the limits."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

import numpy as np

from ..mechanism.model import FRAME, Array, Model, Spring
from ..motion.results import Results
from .centres import placed, shown_centres
from .shapes import COLOURS, GROUND, PAPER, Dot, DrawnPose, Scene, Shape, Tie
from .symbols import planar_symbols, spatial_symbols, tied_points
from .telescopes import driven_distances


def poses(model: Model, results: Results) -> dict[str, DrawnPose]:
    """Return where the rigid bodies are over time, from their angles or rotations and one point of each."""
    n, d = len(results), model.dimension
    frame = model.bodies[FRAME]
    found = {FRAME: DrawnPose(np.broadcast_to(frame.origin, (n, d)), np.broadcast_to(frame.rotation, (n, d, d)))}
    for body in model.bodies.values():
        anchor = next((p for p in body.points if p in results.points), None)
        if body.name == FRAME or anchor is None:
            continue
        member = body.parts[0]
        series = results.bodies[member.name]
        if series.angle is not None:
            c, s = np.cos(series.angle), np.sin(series.angle)
            rotation = np.moveaxis(np.array([[c, -s], [s, c]]), 2, 0) @ member.rotation.T
        else:
            assert series.rotation is not None
            rotation = series.rotation @ member.rotation.T
        found[body.name] = DrawnPose(results.points[anchor].position - rotation @ body.points[anchor], rotation)
    return found


def body_colours(model: Model) -> dict[str, str]:
    """Return a colour for each rigid body, the same in every picture of the mechanism."""
    palette = cycle(COLOURS)
    return {name: GROUND if name == FRAME else next(palette) for name in model.bodies}


def symbol_size(model: Model, results: Results) -> float:
    """Return half the width of a link: small against the mechanism, and against its shortest link."""
    places = np.concatenate([point.position for point in results.points.values()])
    span = float(np.nanmax(np.nanmax(places, axis=0) - np.nanmin(places, axis=0)))
    bodies = [list(body.points.values()) for body in model.bodies.values() if body.name != FRAME]
    links = [max((float(np.linalg.norm(p - q)) for p in points for q in points), default=0.0) for points in bodies]
    shortest = min((length for length in links if length > 1e-6 * span), default=span)
    return max(min(0.017 * span, 0.2 * shortest), 0.006 * span) or 1.0


def build(model: Model, results: Results, colours: Mapping[str, str] | None = None, centres: bool = False) -> Scene:
    """Return the scene of a mechanism and its results; `colours` of its rigid bodies, where not the usual ones.

    `centres` asks for the instant centres of a planar mechanism.
    """
    where = poses(model, results)
    unit, colours = symbol_size(model, results), dict(colours or body_colours(model))
    symbols = planar_symbols if model.dimension == 2 else spatial_symbols
    shapes, dots = symbols(model, results, where, colours, unit)
    more = driven_distances(model, results, unit)
    shapes, dots, where = shapes + more[0], dots + more[1], where | more[2]
    shapes = [shape for shape in shapes if shape.body in where]
    dots = [dot for dot in dots if dot.body in where]
    ties = tuple(Tie(load.bodies, load.ends) for load in model.loads if isinstance(load, Spring))
    ends = [end for tie in ties for end in zip(tie.bodies, tie.ends, strict=True)]
    dots += [Dot(body, place, 0.55 * unit, PAPER, GROUND, 5) for body, place in ends]
    low, high = _limits(shapes, dots, where, len(results))
    marked = _marked(model, where)
    if centres:
        poles = shown_centres(model, results)
        at, more_dots, low, high = placed(poles, low, high, unit)
        where, dots = where | at, dots + more_dots
        marked |= {name: (f" centre {name}", np.zeros(2)) for name in poles}
    return Scene(
        model.name,
        model.dimension,
        results.time,
        unit,
        tuple(sorted(shapes, key=lambda s: s.layer)),
        tuple(sorted(dots, key=lambda d: d.layer)),
        where,
        colours,
        marked,
        low,
        high,
        ties,
    )


def _marked(model: Model, where: dict[str, DrawnPose]) -> dict[str, tuple[str, Array]]:
    """Points worth a name: those in joints, and those that only mark a place on a moving body."""
    tied = tied_points(model)
    found: dict[str, tuple[str, Array]] = {}
    for body in sorted(model.bodies.values(), key=lambda b: b.name == FRAME):
        for point, local in body.points.items():
            # a point that two bodies share is on the frame if the frame has it
            if body.name in where and (body.name != FRAME or point in tied):
                found[point] = (body.name, local)
    return {point: found[point] for point in model.points if point in found} | found


def _limits(shapes: list[Shape], dots: list[Dot], where: dict[str, DrawnPose], n: int) -> tuple[Array, Array]:
    steps = np.unique(np.linspace(0, n - 1, min(n, 150)).astype(int))
    dimension = where[FRAME].origin.shape[1]
    low, high = np.full(dimension, np.inf), np.full(dimension, -np.inf)
    for body, pose in where.items():
        locals_ = [shape.outline for shape in shapes if shape.body == body]
        locals_ += [dot.place + sign * dot.radius for dot in dots if dot.body == body for sign in (-1, 1)]
        if locals_:
            outline = np.concatenate([np.atleast_2d(x) for x in locals_])
            some = steps if body != FRAME else steps[:1]
            for axis in range(dimension):  # each coordinate on its own: a reduction over contiguous memory
                way = outline @ pose.rotation[some, axis].T + pose.origin[some, axis]
                low[axis] = min(low[axis], np.fmin.reduce(way, axis=None))
                high[axis] = max(high[axis], np.fmax.reduce(way, axis=None))
    margin = 0.04 * float(np.max(high - low))
    return low - margin, high + margin
