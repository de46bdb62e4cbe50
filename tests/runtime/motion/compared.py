"""A run compared with the same motion in absolute coordinates: an independent route, in NumPy, without groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assurgent.runtime.errors import AssemblyError
from assurgent.runtime.mechanism.absolute import Absolute
from assurgent.runtime.mechanism.assembly import BodyMotion, follow
from assurgent.runtime.mechanism.model import FRAME, Array, Model
from assurgent.runtime.mechanism.rows import Poses
from assurgent.runtime.motion.kinematics import Outcome, run
from assurgent.runtime.motion.results import Results

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
    results, failure = outcome.results, outcome.failure
    start = first_poses(model, results) if len(results.time) else None
    errors, least, reason = (0.0,) * 3, np.inf, ""
    if len(results.time):
        try:
            motions = follow(model, results.time, start)
        except AssemblyError as error:
            return Comparison((np.inf,) * 3, 0.0, outcome, f"only the oracle stops: {error}")
        errors, least = differences(model, motions, results), least_singular(model, motions)
    if failure is not None:
        stop = np.linspace(float(times[0]), failure.time, 40) if failure.time > times[0] else times[:1]
        try:
            motions = follow(model, stop, start)
            near = least_singular(model, motions)
            if start is None and from_sketch(model, motions) > ELSEWHERE:
                reason, near = f"the assembly of the sketch cannot be closed: {failure}", 0.0
        except AssemblyError as error:
            reason, near = f"both stop: {failure}; {error}", 0.0
        if near > NEARLY_SINGULAR:
            errors, reason = (np.inf,) * 3, f"only the run stops: {failure}; least singular value {near:.2e}"
        reason = reason or f"the run stops next to a singular pose ({near:.2e}): {failure}"
    return Comparison(errors, least, outcome, reason)


def first_poses(model: Model, results: Results) -> Poses:
    """Return the poses of a run at its first time, from the reported points and angles."""
    system, places = Absolute(model), {}
    for name in model.movable:
        body, found = model.bodies[name], results.bodies[name]
        if model.dimension == 2:
            assert found.angle is not None
            turn = float(found.angle[0])  # gears and racks count from the first configuration
            turn += 2 * np.pi * round((body.angle - turn) / (2 * np.pi))
            R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
            pose: Array | float = turn
        else:
            assert found.rotation is not None
            pose = R = found.rotation[0]
        point, local = next(iter(body.points.items()))
        places[name] = (results.points[point].position[0] - R @ local, pose)
    return system.posed(places)


def least_singular(model: Model, motions: dict[str, BodyMotion]) -> float:
    """Return the least singular value of the scaled Jacobian over all times, as a share of the largest."""
    system = Absolute(model)
    n = next(iter(motions.values())).origin.shape[2]
    least = np.inf
    for k in range(n):
        pose = {b: m.angle[0, k] if model.dimension == 2 else m.rotation[k] for b, m in motions.items()}
        poses = system.posed({b: (m.origin[0, :, k], pose[b]) for b, m in motions.items()})
        J = system.jacobian(poses) / system.row_scale[:, None] * system.column_scale
        s = np.linalg.svd(J, compute_uv=False)
        least = min(least, float(s[-1] / s[0]))
    return least


def from_sketch(model: Model, motions: dict[str, BodyMotion]) -> float:
    """Return how far the first poses are from the sketch, as a share of the size."""
    return max(
        float(np.max(np.abs(point_motion(model, m, local)[0][0] - model.points[p])))
        for b, m in motions.items()
        for p, local in model.bodies[b].points.items()
    ) / model.size


def point_motion(model: Model, motion: BodyMotion, local: Array) -> tuple[Array, Array, Array]:
    """Return position, velocity and acceleration (each n x d) of a point of a body."""
    origin = motion.origin.transpose(0, 2, 1)
    if model.dimension == 2:
        angle, w, alpha = (x[:, None] for x in motion.angle)
        r = np.hstack([np.cos(angle) * local[0] - np.sin(angle) * local[1],
                       np.sin(angle) * local[0] + np.cos(angle) * local[1]])
        across = np.stack([-r[:, 1], r[:, 0]], axis=1)
        return origin[0] + r, origin[1] + w * across, origin[2] + alpha * across - w**2 * r
    r, omega, alpha = motion.rotation @ local, motion.omega.T, motion.alpha.T
    v = np.cross(omega, r)
    return origin[0] + r, origin[1] + v, origin[2] + np.cross(alpha, r) + np.cross(omega, v)


def differences(model: Model, motions: dict[str, BodyMotion], results: Results) -> tuple[float, float, float]:
    """Return the largest differences of points and turns, each order as a share of its largest value."""
    gaps: list[list[float]] = [[], [], []]
    scale = [1.0, 0.0, 0.0]  # of lengths divided by the size
    size = model.size

    def note(order: int, ours: Array, theirs: Array, unit: float) -> None:
        gaps[order].append(float(np.max(np.abs(ours - theirs))) / unit)
        if order:
            scale[order] = max(scale[order], float(np.max(np.abs(theirs))) / unit)

    for name, motion in motions.items():
        body = model.bodies[name]
        assert name != FRAME
        jointed = {j.at for j in model.joints.values()}
        for point, local in body.points.items():
            if body.rod and point not in jointed:
                continue  # beside the line of a rod: its spin, and with it the point, is of no account
            series = results.points[point]
            ours = (series.position, series.velocity, series.acceleration)
            for order, theirs in enumerate(point_motion(model, motion, local)):
                note(order, ours[order], theirs, size)
        found = results.bodies[name]
        if model.dimension == 2:
            assert found.angle is not None
            note(0, found.angle, motion.angle[0], 1.0)
            note(1, found.angular_velocity, motion.angle[1], 1.0)
            note(2, found.angular_acceleration, motion.angle[2], 1.0)
        elif not body.rod:
            assert found.rotation is not None
            note(0, found.rotation, motion.rotation, 1.0)
            note(1, found.angular_velocity, motion.omega.T, 1.0)
            note(2, found.angular_acceleration, motion.alpha.T, 1.0)
    scale[2] = max(scale[2], scale[1] ** 2)  # accelerations of a motion with this speed are of this order
    return tuple(max(g) / max(s, 1e-9) for g, s in zip(gaps, scale, strict=True))  # type: ignore[return-value]
