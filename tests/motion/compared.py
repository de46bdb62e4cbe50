"""A run compared with the same motion in absolute coordinates: an independent route, in NumPy, without groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assurgent.common.errors import AssemblyError
from assurgent.mechanism.assembly import BodyMotion, follow
from assurgent.mechanism.model import Array, Model
from assurgent.motion.kinematics import run
from assurgent.motion.outcome import Outcome
from assurgent.verification.against_absolute import differences, first_poses, least_singular, point_motion

ELSEWHERE = 0.2  # of the size: so far from the sketch, the oracle has found another way of assembly
NEARLY_SINGULAR = 1e-4  # least singular value: the pose is a dead point to all the digits that a step can resolve


@dataclass(frozen=True)
class Comparison:
    """Largest differences of positions, velocities, accelerations (of their scales), and the least singular value."""

    errors: tuple[float, float, float]
    least: float
    outcome: Outcome
    reason: str = ""  # why the run stopped, or the oracle

    def excess(self) -> float:
        """Return the largest error as a share of what rounding may make of it.

        The oracle closes its rows to 1e-13 of the size; a least singular value s makes 1e-13/s of that in the
        positions. Each derivative solves with the same matrix once more and has the one before on its right-hand
        side: 1/s² and 1/s³.
        """
        return max(e * min(self.least, 1.0) ** k / 1e-13 for k, e in enumerate(self.errors, 1))


def compare(model: Model, times: Array, method: str = "td") -> Comparison:
    """Return how far a run is from the oracle, which starts in the assembly that the run has chosen."""
    outcome = run(model, times, method)
    results, failure = outcome.results, outcome.stop
    start = first_poses(model, results) if len(results.time) else None
    errors, least, reason = (0.0,) * 3, np.inf, ""
    if len(results.time):
        try:
            motions = follow(model, results.time, start)
        except AssemblyError as error:
            return Comparison((np.inf,) * 3, 0.0, outcome, f"only the oracle stops: {error}")
        errors = tuple(map(float, differences(model, motions, results).max(axis=1)))
        least = float(least_singular(model, motions).min())
    if failure is not None:
        stop = np.linspace(float(times[0]), failure.time, 40) if failure.time > times[0] else times[:1]
        try:
            motions = follow(model, stop, start)
            near = float(least_singular(model, motions).min())
            if start is None and from_sketch(model, motions) > ELSEWHERE:
                reason, near = f"the assembly of the sketch cannot be closed: {failure}", 0.0
        except AssemblyError as error:
            reason, near = f"both stop: {failure}; {error}", 0.0
        if near > NEARLY_SINGULAR:
            errors, reason = (np.inf,) * 3, f"only the run stops: {failure}; least singular value {near:.2e}"
        reason = reason or f"the run stops next to a singular pose ({near:.2e}): {failure}"
    return Comparison(errors, least, outcome, reason)


def from_sketch(model: Model, motions: dict[str, BodyMotion]) -> float:
    """Return how far the first poses are from the sketch, as a share of the size."""
    return (
        max(
            float(np.max(np.abs(point_motion(model, m, local)[0][0] - model.points[p])))
            for b, m in motions.items()
            for p, local in model.bodies[b].points.items()
        )
        / model.size
    )
