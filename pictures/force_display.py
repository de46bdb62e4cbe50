"""Forces along a motion, for pictures: where applied forces act, how large they are, and the powers of all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..dynamics.inertia import Inertia
from ..mechanism.mobility import COORDINATES
from ..mechanism.model import FRAME, Array, Function, Model, PointForce, Spring, Torque, TorsionSpring
from ..motion.results import Results
from .scene import poses


@dataclass(frozen=True, eq=False)
class Acting:
    """A force over time: the places where it acts and its components, each n x d, global axes."""

    name: str
    place: Array
    force: Array


class Moving:
    """The bodies of a model along results: places, velocities and accelerations of any point of any body."""

    def __init__(self, model: Model, results: Results) -> None:
        self.model, self.results = model, results
        self.poses = poses(model, results)
        self.inertia = Inertia(model)  # the centre of a rod without spin lies on its line

    def weights(self) -> list[tuple[str, Array, Array]]:
        """Return body, centre in its axes and weight of every body that has one."""
        held = zip(self.model.bodies, self.inertia.centre, self.inertia.mass, strict=True)
        if not np.any(self.model.gravity):
            return []
        return [(b, x, m * np.asarray(self.model.gravity)) for b, x, m in held if m > 0 and b in self.moved]

    @property
    def moved(self) -> set[str]:
        """The rigid bodies that move and whose places are known."""
        return self.poses.keys() - {FRAME}

    def arm(self, body: str, local: Array) -> Array:
        """Return a vector from the axes of a body in global axes, n x d."""
        return np.asarray(self.poses[body].rotation @ np.asarray(local, dtype=np.float64))

    def place(self, body: str, local: Array) -> Array:
        """Return where a point of a body is, n x d."""
        return np.asarray(self.poses[body].origin + self.arm(body, local))

    def turning(self, body: str) -> tuple[Array, Array]:
        """Return angular velocity and acceleration: n in the plane, n x 3 in space."""
        if body == FRAME:
            still = np.zeros(len(self.results) if self.model.dimension == 2 else (len(self.results), 3))
            return still, still
        series = self.results.bodies[self.model.bodies[body].parts[0].name]
        return series.angular_velocity, series.angular_acceleration

    def rates(self, body: str, local: Array) -> tuple[Array, Array]:
        """Return velocity and acceleration of a point of a body, each n x d."""
        if body == FRAME:
            still = np.zeros((len(self.results), self.model.dimension))
            return still, still
        points = self.model.bodies[body].points
        anchor = next(p for p in points if p in self.results.points)
        known, r = self.results.points[anchor], self.arm(body, local - points[anchor])
        omega, alpha = self.turning(body)
        spin = _cross(omega, r)
        return known.velocity + spin, known.acceleration + _cross(alpha, r) + _cross(omega, spin)

    def spring(self, spring: Spring) -> tuple[Array, Array, Array, tuple[Array, Array]]:
        """Return length and its rate (n), the direction from the first end to the second, and the places of both."""
        ends = [self.place(b, x) for b, x in zip(spring.bodies, spring.ends, strict=True)]
        one, two = (self.rates(b, x)[0] for b, x in zip(spring.bodies, spring.ends, strict=True))
        way = ends[1] - ends[0]
        length = np.linalg.norm(way, axis=1)
        unit = way / np.where(length > 0, length, 1.0)[:, None]
        return length, _dot(unit, two - one), unit, (ends[0], ends[1])

    def torsion(self, spring: TorsionSpring) -> tuple[Array, Array]:
        """Return the turn of a torsion spring from its rest, and its rate."""
        joint = self.results.joints[spring.joint]
        assert joint.angle is not None
        return joint.angle - self.model.joints[spring.joint].offset - spring.angle, joint.rate


def applied_forces(model: Model, results: Results) -> list[Acting]:
    """Return weights, forces of the file, springs at both ends, and drivers that push along a line; torques not."""
    moving, time, found = Moving(model, results), results.time, []
    for body, centre, weight in moving.weights():
        place = moving.place(body, centre)
        found.append(Acting(f"weight of {body}", place, np.broadcast_to(weight, place.shape)))
    for load in model.loads:
        if isinstance(load, PointForce):
            found.append(Acting(load.name, moving.place(load.body, load.point), _values(load.force, time)))
        elif isinstance(load, Spring):
            length, rate, unit, ends = moving.spring(load)
            tension = load.stiffness * (length - load.length) + load.damping * rate
            found += _pair(load.name, ends, unit, -tension)
    return found + _drivers(model, results, moving)


def _pair(name: str, ends: tuple[Array, Array], unit: Array, push: Array) -> list[Acting]:
    """Return the two forces of something that pushes two places apart along the direction between them."""
    force = push[:, None] * unit
    return [Acting(name, ends[0], -force), Acting(name, ends[1], force)]


def _drivers(model: Model, results: Results, moving: Moving) -> list[Acting]:
    found = []
    for name, driver in model.drivers.items():
        effort = results.drivers[name].effort
        if effort is None or not effort.any():
            continue
        if driver.kind == "distance" and driver.ends is not None:
            ends = tuple(moving.place(b, x) for b, x in zip(driver.bodies, driver.ends, strict=True))
            way = ends[1] - ends[0]
            unit = way / np.maximum(np.linalg.norm(way, axis=1), 1e-300)[:, None]
            found += _pair(name, (ends[0], ends[1]), unit, effort)
        elif driver.kind == "coordinate" and driver.ends is not None and driver.axis is not None:
            force = effort[:, None] * driver.axis
            found.append(Acting(name, moving.place(driver.bodies[1], driver.ends[1]), force))
        elif driver.kind == "displacement" and driver.joint is not None:
            found.append(_along(model, moving, name, driver.joint, effort))
    for actuator in model.actuators:
        given = (results.actuators or {}).get(actuator.name)
        if given is not None and COORDINATES[model.joints[actuator.joint].kind][0] == "displacement":
            found.append(_along(model, moving, actuator.name, actuator.joint, given.effort))
    return found


def _along(model: Model, moving: Moving, name: str, joint: str, effort: Array) -> Acting:
    j = model.joints[joint]
    return Acting(name, moving.place(j.second, j.b), effort[:, None] * moving.arm(j.first, j.axis_a))


def reaction_forces(model: Model, results: Results, joints: Iterable[str] | None = None) -> list[Acting]:
    """Return the reactions that are forces: what the first body of each joint exerts on the second, at its point."""
    moving, found = Moving(model, results), []
    held = results.reactions or {}
    for name in held if joints is None else joints:
        joint, force = model.joints[name], held[name].force
        # the reaction of a rack is given at the centre of its pinion
        body, local = (joint.first, joint.a) if joint.kind == "rack" else (joint.second, joint.b)
        if body in moving.poses and force.any() and len(local):
            found.append(Acting(name, moving.place(body, local), force))
    return found


def powers(model: Model, results: Results) -> dict[str, Array]:
    """Return the powers by what they come from, each n; the first, of inertia, is the sum of all others.

    Kinetic energy changes at the rate of the power of the weights, springs, dampers, forces and drivers; reactions of
    joints have none. Names without anything behind them are left out.
    """
    moving, time = Moving(model, results), results.time
    inertia = _kinetic_rate(model, moving, len(time))
    parts: dict[str, Array] = {}

    def add(name: str, power: Array) -> None:
        parts[name] = parts.get(name, np.zeros(len(time))) + power

    for body, centre, weight in moving.weights():
        add("weights", moving.rates(body, centre)[0] @ weight)
    for load in model.loads:
        if isinstance(load, PointForce):
            add("forces", _dot(_values(load.force, time), moving.rates(load.body, load.point)[0]))
        elif isinstance(load, Torque):
            torque, omega = _values(load.torque, time), moving.turning(load.body)[0]
            add("forces", torque[:, 0] * omega if omega.ndim == 1 else _dot(torque, omega))
        else:
            stretch, rate = moving.torsion(load) if isinstance(load, TorsionSpring) else moving.spring(load)[:2]
            if isinstance(load, Spring):
                stretch = stretch - load.length
            add("springs", -load.stiffness * stretch * rate)
            if load.damping:
                add("dampers", -load.damping * rate**2)
    for name, driver in model.drivers.items():
        effort = results.drivers[name].effort
        if effort is not None and not model.actuators:
            add("drivers", effort * driver.motion(time)[1])
    for actuator in model.actuators:
        given = (results.actuators or {}).get(actuator.name)
        if given is not None:
            add("actuators", given.effort * results.joints[actuator.joint].rate)
    return {"change of kinetic energy": inertia, **parts}


def imbalance(found: dict[str, Array]) -> float:
    """Return how far the powers miss each other at most, as a part of the largest of them."""
    inertia, *others = found.values()
    size = max(float(np.abs(power).max(initial=0.0)) for power in found.values())
    miss = float(np.abs(inertia - np.sum(others, axis=0)).max(initial=0.0))
    return miss / size if size > 0 else 0.0


def _kinetic_rate(model: Model, moving: Moving, n: int) -> Array:
    inertia, total = moving.inertia, np.zeros(n)
    for k, name in enumerate(model.bodies):
        if name not in moving.moved:
            continue
        velocity, acceleration = moving.rates(name, inertia.centre[k])
        omega, alpha = moving.turning(name)
        total += inertia.mass[k] * _dot(velocity, acceleration)
        if model.dimension == 2:
            total += float(inertia.about_centre[k]) * omega * alpha
        else:
            axes = moving.poses[name].rotation
            about = axes @ inertia.about_centre[k] @ axes.swapaxes(1, 2)
            total += _dot(omega, (about @ alpha[:, :, None])[:, :, 0])  # ω · (ω × J ω) is nothing
    return total


def _values(parts: tuple[Function, ...], time: Array) -> Array:
    return np.stack([part(time)[0] for part in parts], axis=1)


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.sum(a * b, axis=1))


def _cross(omega: Array, r: Array) -> Array:
    """Return ω × r, n x d."""
    if omega.ndim == 1:
        return np.stack([-omega * r[:, 1], omega * r[:, 0]], axis=1)
    return np.asarray(np.cross(omega, r))
