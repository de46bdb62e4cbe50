"""From the motion of the rigid bodies to what a result reports: points, bodies as the user named them, joints, drivers.

Everything is exact at each instant: rates follow from the bodies' angular velocities and accelerations, never from
differences between instants. Arrays run over time last inside this module and first in what it returns.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..common.turns import LARGEST_MISS, MOST_SPLITS, TURN, begun, next_to, splits, way
from ..mechanism.body_motion import BodyMotion, Motion, cross
from ..mechanism.model import FRAME, Array, Joint, Model
from ..runtime.outputs import angle_driver, homes, point_bodies, small_to_zero, turn_driver
from ..runtime.parallel import each
from ..runtime.sequence import Ints
from .series import BodySeries, DriverSeries, JointSeries, PointSeries


def still(model: Model, n: int) -> BodyMotion:
    """Return the motion of the frame: none."""
    frame = model.bodies.get(FRAME)
    d = model.dimension
    origin = np.zeros((3, d, n))
    if frame is not None:
        origin[0] = frame.origin[:, None]
    if d == 2:
        angle = np.zeros((3, n))
        angle[0] = frame.angle if frame is not None else 0.0
        return BodyMotion(origin, angle=angle)
    rotation = np.broadcast_to(frame.rotation if frame is not None else np.eye(3), (n, 3, 3))
    return BodyMotion(origin, rotation=rotation, omega=np.zeros((3, n)), alpha=np.zeros((3, n)))


def measure(
    model: Model, motions: Mapping[str, BodyMotion], times: Array, driver_values: Mapping[str, Array]
) -> tuple[dict[str, PointSeries], dict[str, BodySeries], dict[str, JointSeries], dict[str, DriverSeries]]:
    """Return points, bodies, joints and drivers of a result.

    `motions` has every movable rigid body by its name in the model (the frame may be left out); `driver_values` the
    value and first three derivatives of every driver, 4 x n. Bodies are those that the user named, the frame left
    out. U, S, planar, gear, rack and cam joints have no coordinate to report.
    """
    motions = {FRAME: still(model, len(times)), **motions}
    points = _points(model, motions)
    bodies = _bodies(model, motions, driver_values)
    series = each(lambda joint: _joint(model, joint, motions, times, driver_values), model.joints.values())
    joints = {name: s for name, s in zip(model.joints, series, strict=True) if s is not None}
    drivers = {name: DriverSeries(driver_values[name][0] + d.offset) for name, d in model.drivers.items()}
    return points, bodies, joints, drivers


# ---- points and bodies --------------------------------------------------------------------------------------------
def _points(model: Model, motions: Mapping[str, BodyMotion]) -> dict[str, PointSeries]:
    carriers = point_bodies(model)

    def series(point: str) -> PointSeries:
        body = model.bodies[carriers[point]]
        x, v, a = motions[body.name].point(body.points[point])
        return PointSeries(_rows(x), _rows(v), _rows(a))

    return dict(zip(carriers, each(series, carriers), strict=True))


def _bodies(
    model: Model, motions: Mapping[str, BodyMotion], driver_values: Mapping[str, Array]
) -> dict[str, BodySeries]:
    found = {}
    for name, (home, member) in homes(model).items():
        motion = motions[home]
        if motion.angle is not None:
            offset = small_to_zero(np.arctan2(member.rotation[1, 0], member.rotation[0, 0]))
            driven = _driven(turn_driver(model, FRAME, home), offset, driver_values)
            found[name] = BodySeries(
                angle=_whole_turns(motion.angle[0] + offset, driven),
                angular_velocity=motion.angle[1].copy(),
                angular_acceleration=motion.angle[2].copy(),
            )
        else:
            assert motion.rotation is not None
            assert motion.omega is not None
            assert motion.alpha is not None
            found[name] = BodySeries(
                rotation=motion.rotation @ member.rotation,
                angular_velocity=_rows(motion.omega),
                angular_acceleration=_rows(motion.alpha),
            )
    return found


# ---- joints -------------------------------------------------------------------------------------------------------
def _joint(
    model: Model, joint: Joint, motions: Mapping[str, BodyMotion], times: Array, driver_values: Mapping[str, Array]
) -> JointSeries | None:
    first, second = motions[joint.first], motions[joint.second]
    if joint.kind in ("P", "slot"):
        d, d_rate, d_acceleration = _displacement(joint, first, second)
        return JointSeries(displacement=d, rate=d_rate, acceleration=d_acceleration)
    if joint.kind not in ("R", "C", "H"):
        return None
    if model.dimension == 2:
        angle, rate, acceleration = _planar_angle(model, joint, first, second, driver_values)
    else:
        angle, rate, acceleration = _spatial_angle(model, joint, first, second, times, driver_values)
    if joint.kind == "R":
        return JointSeries(angle=angle, rate=rate, acceleration=acceleration)
    d, d_rate, d_acceleration = _displacement(joint, first, second)
    return JointSeries(
        angle=angle,
        rate=rate,
        acceleration=acceleration,
        displacement=d,
        displacement_rate=d_rate,
        displacement_acceleration=d_acceleration,
    )


def _displacement(joint: Joint, first: BodyMotion, second: BodyMotion) -> Motion:
    """Distance from a to b along the axis of the first body: u·r and its derivatives, the axis' own motion included."""
    start, end = first.point(joint.a), second.point(joint.b)
    r, v, a = (q - p for p, q in zip(start, end, strict=True))
    u, u_dot, u_ddot = first.vector(joint.axis_a)
    return _dot(u, r), _dot(u_dot, r) + _dot(u, v), _dot(u_ddot, r) + 2 * _dot(u_dot, v) + _dot(u, a)


def _planar_angle(
    model: Model, joint: Joint, first: BodyMotion, second: BodyMotion, driver_values: Mapping[str, Array]
) -> Motion:
    assert first.angle is not None
    assert second.angle is not None
    turn, rate, acceleration = second.angle - first.angle
    driven = _driven(angle_driver(model, joint), joint.offset, driver_values)
    return _whole_turns(turn + joint.offset, _given(model, joint) if driven is None else driven), rate, acceleration


def _spatial_angle(
    model: Model, joint: Joint, first: BodyMotion, second: BodyMotion, times: Array, driver_values: Mapping[str, Array]
) -> Motion:
    angle, rate, acceleration = _angle_between(joint, first, second)
    driven = _driven(angle_driver(model, joint), 0.0, driver_values)
    if driven is not None:
        return next_to(angle, driven), rate, acceleration
    given = _given(model, joint)
    if joint.kind == "H" and joint.pitch != 0.0:
        given = _displacement(joint, first, second)[0] / joint.pitch
    return _whole_turns(_continuous(angle, rate, acceleration, times), given), rate, acceleration


def _angle_between(joint: Joint, first: BodyMotion, second: BodyMotion) -> Motion:
    """Return the angle of a spatial joint, in (-π, π], with its rates."""
    assert first.omega is not None
    assert first.alpha is not None
    assert second.omega is not None
    assert second.alpha is not None
    axis, axis_dot, _ = first.vector(joint.axis_a)
    n_a, n_b = first.vector(joint.normal_a)[0], second.vector(joint.normal_b)[0]
    angle = np.arctan2(_dot(axis, cross(n_a, n_b)), _dot(n_a, n_b))
    relative = second.omega - first.omega
    acceleration = _dot(axis, second.alpha - first.alpha) + _dot(axis_dot, relative)
    return angle, _dot(axis, relative), acceleration


def splits_of(model: Model, motions: Mapping[str, BodyMotion], times: Array) -> Ints:
    """Return into how many parts each interval must be split for the whole turns of spatial joints to be certain."""
    motions = {FRAME: still(model, len(times)), **motions}
    counts = np.ones(max(len(times) - 1, 0), dtype=np.int64)
    for joint in model.joints.values() if model.dimension == 3 else ():
        if joint.kind in ("R", "C", "H") and angle_driver(model, joint) is None:
            angle, rate, bend = _angle_between(joint, motions[joint.first], motions[joint.second])
            own = splits(times, _continuous(angle, rate, bend, times), rate, bend)
            # where a push ends accelerations say nothing of the way: as many parts as make them harmless
            bent = np.ceil(np.diff(times) * np.sqrt(np.nan_to_num(np.abs(np.diff(bend)) / (6 * LARGEST_MISS))))
            own = np.where(own > 1, np.clip(bent, own, MOST_SPLITS), own).astype(np.int64)
            counts = np.maximum(counts, own)
    return counts


def _continuous(angle: Array, rate: Array, acceleration: Array, times: Array) -> Array:
    """Return the angle without jumps, whole turns added so that it follows its own rates."""
    step = way(np.diff(times), rate[:-1], acceleration[:-1], rate[1:], acceleration[1:])
    jumps = np.nan_to_num(np.round((np.diff(angle) - step) / TURN))
    return angle - TURN * np.concatenate([np.zeros(min(len(angle), 1)), np.cumsum(jumps)])


# ---- whole turns ----------------------------------------------------------------------------------------------------
def _driven(driver: tuple[str, int] | None, offset: float, driver_values: Mapping[str, Array]) -> Array | None:
    """Return the angle that a driver with its sign prescribes, n, or None."""
    return None if driver is None else driver[1] * driver_values[driver[0]][0] + offset


def _given(model: Model, joint: Joint) -> Array | None:
    """Return the angle at which [initial] has a joint, as the only one of an array, or None."""
    values = [i.value + joint.offset for i in model.initial if (i.joint, i.coordinate) == (joint.name, "angle")]
    return np.array(values) if values else None


def _whole_turns(angle: Array, stated: Array | None) -> Array:
    """Return a continuous angle with whole turns added: beginning as somebody states it, or else in (-π, π]."""
    if len(angle) == 0 or not np.isfinite(angle[0]):
        return angle
    first = begun(angle[0]) if stated is None else next_to(angle[0], stated[0])
    return angle + float(first - angle[0])


# ---- small algebra --------------------------------------------------------------------------------------------------
def _rows(x: Array) -> Array:
    return np.ascontiguousarray(x.T)


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.sum(a * b, axis=0))
