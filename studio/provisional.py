"""An answer at once: the motion in absolute coordinates, without groups, while a type is made; and the bare sketch."""

from __future__ import annotations

import numpy as np

from ..mechanism.assembly import follow
from ..mechanism.body_motion import BodyMotion
from ..mechanism.model import FRAME, Array, Model
from ..motion.results import Results
from ..motion.series import BodySeries, DriverSeries, PointSeries

INSTANTS = 121  # of an answer that is soon replaced


def absolute_motion(model: Model) -> Results:
    """Return points and bodies over the run, by Newton-Raphson on all bodies at once."""
    s = model.simulation
    times = np.linspace(s.start, s.stop, INSTANTS)
    return _results(model, times, follow(model, times), "absolute")


def first_configuration(model: Model) -> Results:
    """Return the bodies where the sketch puts them, at one instant: what is drawn of a mechanism that cannot run."""
    motions = {}
    for name in model.movable:
        body = model.bodies[name]
        origin = np.zeros((3, model.dimension, 1))
        origin[0, :, 0] = body.origin
        if model.dimension == 2:
            motions[name] = BodyMotion(origin, angle=np.array([[float(body.angle)], [0.0], [0.0]]))
        else:
            still = np.zeros((3, 1))
            motions[name] = BodyMotion(origin, rotation=np.asarray(body.rotation)[None], omega=still, alpha=still)
    return _results(model, np.array([model.simulation.start]), motions, "sketch")


def _results(model: Model, times: Array, motions: dict[str, BodyMotion], method: str) -> Results:
    points: dict[str, PointSeries] = {}
    bodies: dict[str, BodySeries] = {}
    n = len(times)
    for name, motion in motions.items():
        body = model.bodies[name]
        for point, local in body.points.items():
            points[point] = PointSeries(*(np.ascontiguousarray(x.T) for x in motion.point(np.asarray(local))))
        for member in body.parts:
            bodies[member.name] = _body(motion, member.rotation)
    for point, local in model.bodies[FRAME].points.items():
        place = np.tile(model.bodies[FRAME].outside(local), (n, 1))
        points[point] = PointSeries(place, np.zeros_like(place), np.zeros_like(place))
    drivers = {name: DriverSeries(d.motion(times)[0]) for name, d in model.drivers.items()}
    return Results(model.name, method, model.space, times, points, bodies, {}, drivers)


def _body(motion: BodyMotion, turned: Array) -> BodySeries:
    if motion.angle is not None:
        own = float(np.arctan2(turned[1, 0], turned[0, 0]))
        return BodySeries(motion.angle[1], motion.angle[2], angle=motion.angle[0] + own)
    assert motion.rotation is not None
    assert motion.omega is not None
    assert motion.alpha is not None
    return BodySeries(motion.omega.T, motion.alpha.T, rotation=motion.rotation @ turned)
