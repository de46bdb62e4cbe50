"""Applied loads as wrenches on the bodies: gravity, forces, torques, springs, dampers, torsion springs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..mechanism.model import Array, Function, Joint, Load, Model, PointForce, Spring, Torque, TorsionSpring
from .inertia import Inertia, line_of
from .posture import Posture, width


class Applied:
    """The loads of a model at a posture: wrenches about the bodies' origins, and the energy that can be stored."""

    def __init__(self, model: Model, inertia: Inertia) -> None:
        self.model, self.inertia = replace(model, loads=tuple(_on_line(model, load) for load in model.loads)), inertia
        self.index = {name: k for k, name in enumerate(model.bodies)}
        d = model.dimension
        self.gravity = np.asarray(model.gravity, dtype=np.float64) if len(model.gravity) else np.zeros(d)
        self.width = width(model)
        self.turns: dict[str, float] = {}  # torsion springs: the last known turn, for whole turns in space
        self._whole: dict[str, float] = {}  # the same in the plane: what whole turns add to the continuous angles
        self._given = {i.joint: i.value for i in model.initial if i.coordinate == "angle"}
        self._driven = {d.joint: d for d in model.drivers.values() if d.joint is not None and d.kind == "angle"}

    def wrenches(self, posture: Posture, weight: bool = True) -> Array:
        """Return all applied wrenches, n x w; without the weights where these are counted elsewhere."""
        found = np.zeros((len(self.index), self.width))
        d = self.model.dimension
        if weight and self.gravity.any():
            force = self.inertia.mass[:, None] * self.gravity
            found[:, :d] = force
            found[:, d:] = _moment(self.inertia.arms(posture), force)
        for load in self.model.loads:
            match load:
                case PointForce():
                    k = self.index[load.body]
                    self._push(found, posture, k, posture.carried(k, load.point), _values(load.force, posture.time))
                case Torque():
                    found[self.index[load.body], d:] += _values(load.torque, posture.time)
                case Spring():
                    self._spring(found, posture, load)
                case TorsionSpring():
                    self._torsion(found, posture, load)
        found[0] = 0.0  # what the ground takes moves nothing
        return found

    def potential(self, posture: Posture) -> float:
        """Return the potential energy: of the weights from the global origin, and of the springs."""
        energy = -float(np.sum(self.inertia.mass * (self.inertia.centres(posture) @ self.gravity)))
        for load in self.model.loads:
            if isinstance(load, Spring):
                energy += 0.5 * load.stiffness * (self._reach(posture, load)[0] - load.length) ** 2
            elif isinstance(load, TorsionSpring):
                energy += 0.5 * load.stiffness * (self._turn(posture, load)[0] - load.angle) ** 2
        return energy

    def remember(self, posture: Posture) -> None:
        """Note the turns of torsion springs, from which the next ones are counted."""
        for load in self.model.loads:
            if isinstance(load, TorsionSpring):
                self.turns[load.name] = self._turn(posture, load)[0]

    # ---- one load -------------------------------------------------------------------------------------------------
    def _push(self, found: Array, posture: Posture, body: int, arm: Array, force: Array) -> None:
        d = len(force)
        found[body, :d] += force
        found[body, d:] += _moment(arm[None], force[None])[0]

    def _reach(self, posture: Posture, spring: Spring) -> tuple[float, float, Array, tuple[Array, Array]]:
        """Return length, its rate, the direction from the first end to the second, and the arms of both."""
        one, two = (self.index[b] for b in spring.bodies)
        arms = posture.carried(one, spring.ends[0]), posture.carried(two, spring.ends[1])
        way = posture.origin[two] + arms[1] - posture.origin[one] - arms[0]
        length = float(np.linalg.norm(way))
        unit = way / length if length > 0 else np.zeros_like(way)
        rate = float(unit @ (posture.velocity(two, arms[1]) - posture.velocity(one, arms[0])))
        return length, rate, unit, arms

    def _spring(self, found: Array, posture: Posture, spring: Spring) -> None:
        length, rate, unit, arms = self._reach(posture, spring)
        tension = spring.stiffness * (length - spring.length) + spring.damping * rate
        one, two = (self.index[b] for b in spring.bodies)
        self._push(found, posture, one, arms[0], tension * unit)
        self._push(found, posture, two, arms[1], -tension * unit)

    def _turn(self, posture: Posture, spring: TorsionSpring) -> tuple[float, float, Array]:
        """Return the joint's angle, its rate, and its axis."""
        joint: Joint = self.model.joints[spring.joint]
        one, two = self.index[joint.first], self.index[joint.second]
        if posture.planar:
            rate = float(posture.twist[two, 2] - posture.twist[one, 2])
            return self._planar_turn(posture, spring, float(posture.angle[two] - posture.angle[one])), rate, np.ones(1)
        axis, normal = posture.carried(one, joint.axis_a), posture.carried(one, joint.normal_a)
        other = posture.carried(two, joint.normal_b)
        angle = float(np.arctan2(axis @ np.cross(normal, other), normal @ other))
        near = self._prescribed(posture, spring)
        if near is None:
            near = self.turns.get(spring.name, self._given.get(spring.joint, 0.0))
        angle += _whole_turns(near - angle)
        return angle, float(axis @ (posture.twist[two, 3:] - posture.twist[one, 3:])), axis

    def _planar_turn(self, posture: Posture, spring: TorsionSpring, angle: float) -> float:
        """Return a continuous angle with the whole turns of its driver, or those that [initial] gives at the start."""
        near = self._prescribed(posture, spring)
        if near is not None:
            return angle + _whole_turns(near - angle)
        if spring.name not in self._whole:
            self._whole[spring.name] = _whole_turns(self._given.get(spring.joint, angle) - angle)
        return angle + self._whole[spring.name]

    def _prescribed(self, posture: Posture, spring: TorsionSpring) -> float | None:
        driver = self._driven.get(spring.joint)
        return None if driver is None else float(driver.motion(np.array([posture.time]))[0, 0])

    def _torsion(self, found: Array, posture: Posture, spring: TorsionSpring) -> None:
        angle, rate, axis = self._turn(posture, spring)
        torque = -(spring.stiffness * (angle - spring.angle) + spring.damping * rate) * axis
        joint, d = self.model.joints[spring.joint], self.model.dimension
        found[self.index[joint.second], d:] += torque
        found[self.index[joint.first], d:] -= torque


def _on_line(model: Model, load: Load) -> Load:
    """Return a load with its points on rods moved to their lines: beside them they have no direction to be held in."""

    def moved(body: str, point: Array) -> Array:
        if not model.bodies[body].rod:
            return point
        end, line = line_of(model, model.bodies[body])
        return np.asarray(end + line * (line @ (point - end)))

    if isinstance(load, PointForce):
        return replace(load, point=moved(load.body, load.point))
    if isinstance(load, Spring):
        one, two = (moved(b, p) for b, p in zip(load.bodies, load.ends, strict=True))
        return replace(load, ends=(one, two))
    return load


def _whole_turns(angle: float) -> float:
    """Return the whole turns next to an angle, in radians."""
    return 2 * np.pi * round(angle / (2 * np.pi))


def _values(parts: tuple[Function, ...], t: float) -> Array:
    at = np.array([t])
    return np.array([float(part(at)[0, 0]) for part in parts])


def _moment(arm: Array, force: Array) -> Array:
    """Return arm × force, m x 1 in the plane and m x 3 in space."""
    if arm.shape[1] == 2:
        return np.asarray(arm[:, :1] * force[:, 1:] - arm[:, 1:] * force[:, :1])
    return np.cross(arm, force)
