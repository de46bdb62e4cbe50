"""A run compared with the same motion in absolute coordinates: an independent route, in NumPy, without groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..common.turns import next_to
from ..mechanism.absolute import Absolute
from ..mechanism.assembly import follow
from ..mechanism.body_motion import BodyMotion
from ..mechanism.joint_equations import Poses
from ..mechanism.model import FRAME, Model
from ..mechanism.plans.plan import Array
from ..motion.results import Results


@dataclass(frozen=True, eq=False)
class Difference:
    """Differences of positions, velocities and accelerations at each time, each of its largest value (3 x n).

    `least` is the least singular value of the scaled Jacobian at each time, as a share of the largest.
    """

    time: Array
    errors: Array
    least: Array

    @property
    def worst(self) -> tuple[float, float, float]:
        first, second, third = (float(x) for x in self.errors.max(axis=1, initial=0.0))
        return first, second, third


def against_absolute(model: Model, results: Results) -> Difference:
    """Return how far results are from the motion that absolute coordinates find, from the same first assembly."""
    motions = follow(model, results.time, first_poses(model, results))
    return Difference(results.time, differences(model, motions, results), least_singular(model, motions))


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


def least_singular(model: Model, motions: dict[str, BodyMotion]) -> Array:
    """Return the least singular value of the scaled Jacobian at each time, as a share of the largest."""
    system = Absolute(model)
    n = next(iter(motions.values())).origin.shape[2]
    least = np.ones(n)
    for k in range(n):
        places = {b: (m.origin[0, :, k], _pose(m, k)) for b, m in motions.items()}
        J = system.jacobian(system.posed(places)) / system.row_scale[:, None] * system.column_scale
        s = np.linalg.svd(J, compute_uv=False)
        least[k] = float(s[-1] / s[0])
    return least


def _pose(motion: BodyMotion, k: int) -> Array | float:
    if motion.angle is not None:
        return float(motion.angle[0, k])
    assert motion.rotation is not None
    found: Array = motion.rotation[k]
    return found


def point_motion(model: Model, motion: BodyMotion, local: Array) -> tuple[Array, Array, Array]:
    """Return position, velocity and acceleration (each n x d) of a point of a body."""
    origin = motion.origin.transpose(0, 2, 1)
    if motion.angle is not None:
        angle, w, alpha = (x[:, None] for x in motion.angle)
        r = np.hstack(
            [
                np.cos(angle) * local[0] - np.sin(angle) * local[1],
                np.sin(angle) * local[0] + np.cos(angle) * local[1],
            ]
        )
        across = np.stack([-r[:, 1], r[:, 0]], axis=1)
        return origin[0] + r, origin[1] + w * across, origin[2] + alpha * across - w**2 * r
    assert motion.rotation is not None
    assert motion.omega is not None
    assert motion.alpha is not None
    r, omega, alpha = motion.rotation @ local, motion.omega.T, motion.alpha.T
    v = np.cross(omega, r)
    return origin[0] + r, origin[1] + v, origin[2] + np.cross(alpha, r) + np.cross(omega, v)


def differences(model: Model, motions: dict[str, BodyMotion], results: Results) -> Array:
    """Return the largest differences of points and turns at each time, each order as a share of its largest value."""
    gaps = np.zeros((3, len(results.time)))
    scale = [1.0, 0.0, 0.0]  # of lengths divided by the size
    size = model.size

    def note(order: int, ours: Array, theirs: Array, unit: float) -> None:
        away = np.abs(ours - theirs).reshape(len(results.time), -1).max(axis=1) / unit
        gaps[order] = np.maximum(gaps[order], away)
        if order:
            scale[order] = max(scale[order], float(np.max(np.abs(theirs))) / unit)

    jointed = {j.at for j in model.joints.values()}
    for name, motion in motions.items():
        body = model.bodies[name]
        assert name != FRAME
        for point, local in body.points.items():
            if body.rod and point not in jointed:
                continue  # beside the line of a rod: its spin, and with it the point, is of no account
            series = results.points[point]
            ours = (series.position, series.velocity, series.acceleration)
            for order, theirs in enumerate(point_motion(model, motion, local)):
                note(order, ours[order], theirs, size)
        found = results.bodies[name]
        if motion.angle is not None:
            assert found.angle is not None
            # a run counts turns from its start, which may lie before the first of these instants
            angle = motion.angle[0] - motion.angle[0, 0] + next_to(motion.angle[0, 0], found.angle[0])
            note(0, found.angle, angle, 1.0)
            note(1, found.angular_velocity, motion.angle[1], 1.0)
            note(2, found.angular_acceleration, motion.angle[2], 1.0)
        elif not body.rod:
            assert found.rotation is not None
            assert motion.rotation is not None
            assert motion.omega is not None
            assert motion.alpha is not None
            note(0, found.rotation, motion.rotation, 1.0)
            note(1, found.angular_velocity, motion.omega.T, 1.0)
            note(2, found.angular_acceleration, motion.alpha.T, 1.0)
    scale[2] = max(scale[2], scale[1] ** 2)  # accelerations of a motion with this speed are of this order
    return gaps / np.maximum(scale, 1e-9)[:, None]
