"""Instant centres in a drawing: dots on poses of their own, out of sight where they are far away."""

from __future__ import annotations

import numpy as np

from ..common.errors import InputError
from ..mechanism.model import FRAME, Array, Model
from ..motion.instant_centres import instant_centres
from ..motion.results import Results
from .shapes import INK, Dot, DrawnPose

COLOUR = "#c4302b"
MOST_BODIES = 6  # for more only the centres on the frame are shown
REACH = 0.6  # of the drawing's size, by which it may grow for them
FAR = 50.0  # drawings away: out of sight


def shown_centres(model: Model, results: Results) -> dict[str, Array]:
    """Return the instant centres that are no pins, by the names of their bodies: `frame/rod`."""
    if model.dimension != 2:
        raise InputError(f"centres: {model.name} is spatial; instant centres are those of planar motions")
    pins = {frozenset((j.first, j.second)) for j in model.joints.values() if j.kind == "R"}
    every = len(model.bodies) <= MOST_BODIES
    return {
        f"{one}/{two}": place
        for (one, two), place in instant_centres(model, results).items()
        if frozenset((one, two)) not in pins and (every or one == FRAME) and np.isfinite(place).any()
    }


def placed(
    centres: dict[str, Array], low: Array, high: Array, unit: float
) -> tuple[dict[str, DrawnPose], list[Dot], Array, Array]:
    """Return poses and dots of the centres, and the limits of a drawing that holds those that are near."""
    span = float(np.max(high - low))
    poses: dict[str, DrawnPose] = {}
    dots = []
    lows, highs = [low], [high]
    for name, path in centres.items():
        near = np.all((path > low - REACH * span) & (path < high + REACH * span), axis=1)
        place = np.where(near[:, None], path, high + FAR * span)
        if near.any():
            lows.append(path[near].min(axis=0) - 2 * unit)
            highs.append(path[near].max(axis=0) + 2 * unit)
        poses[f" centre {name}"] = DrawnPose(place, np.broadcast_to(np.eye(2), (len(path), 2, 2)))
        dots.append(Dot(f" centre {name}", np.zeros(2), 0.85 * unit, COLOUR, INK, 7))
    return poses, dots, np.min(lows, axis=0), np.max(highs, axis=0)
