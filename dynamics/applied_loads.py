"""Applied loads as wrenches on the bodies: gravity, forces, torques, springs, dampers, torsion springs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..common.turns import begun, next_to
from ..mechanism.model import Array, Function, Joint, Model, PointForce, Spring, Torque, TorsionSpring
from ..runtime.outputs import angle_driver
from .body_lanes import BodyLanes, one_lane
from .inertia import Inertia
from .posture import Posture, width


class Applied:
    """The loads of a model over lanes: wrenches about the bodies' origins, and the energy that can be stored.

    Torsion springs see the continuous angle of their joint: that of its driver, one that somebody has followed
    (`near`), or at one posture the one next to what was last remembered.
    """

    def __init__(self, model: Model, inertia: Inertia) -> None:
        self.model, self.inertia = model, inertia
        self.index = {name: k for k, name in enumerate(model.bodies)}
        d = model.dimension
        self.gravity = np.asarray(model.gravity, dtype=np.float64) if len(model.gravity) else np.zeros(d)
        self.width = width(model)
        self.turns: dict[str, float] = {}  # torsion springs: the last known turn, for whole turns in space
        self._whole: dict[str, float] = {}  # the same in the plane: what whole turns add to the continuous angles
        self._given = {i.joint: i.value for i in model.initial if i.coordinate == "angle"}

    # ---- over lanes -----------------------------------------------------------------------------------------------
    def over(self, bodies: BodyLanes, weight: bool = True, near: Mapping[str, Array] | None = None) -> Array:
        """Return all applied wrenches, n x w x lane; without the weights where these are counted elsewhere.

        `near` has values next to the angles of torsion springs.
        """
        from .body_kernels import add_force, add_spring

        found = np.zeros((len(self.index), self.width, len(bodies)))
        d, mass, centre = self.model.dimension, self.inertia.mass, self.inertia.centre
        if weight and self.gravity.any():
            for k in np.flatnonzero(mass).tolist():
                add_force(bodies.rotation, k, centre[k], (mass[k] * self.gravity)[:, None], found)
        for load in self.model.loads:
            match load:
                case PointForce():
                    force = _values(load.force, bodies.time)
                    add_force(bodies.rotation, self.index[load.body], load.point, force, found)
                case Torque():
                    found[self.index[load.body], d:] += _values(load.torque, bodies.time)
                case Spring():
                    add_spring(bodies.origin, bodies.turn, bodies.rotation, *self._ends(load), found)
                case TorsionSpring():
                    self._torsion(found, bodies, load, near)
        found[0] = 0.0  # what the ground takes moves nothing
        return found

    def potential_over(self, bodies: BodyLanes, near: Mapping[str, Array] | None = None) -> Array:
        """Return the potential energy: of the weights from the global origin, and of the springs."""
        from .body_kernels import add_spring_energy, add_weight_energy

        energy = np.zeros(len(bodies))
        mass, centre = self.inertia.mass, self.inertia.centre
        add_weight_energy(bodies.origin, bodies.rotation, mass, centre, self.gravity, energy)
        for load in self.model.loads:
            if isinstance(load, Spring):
                add_spring_energy(bodies.origin, bodies.turn, bodies.rotation, *self._ends(load), energy)
            elif isinstance(load, TorsionSpring):
                energy += 0.5 * load.stiffness * (self.turn(bodies, load, near)[0] - load.angle) ** 2
        return energy

    # ---- at one posture -------------------------------------------------------------------------------------------
    def wrenches(self, posture: Posture, weight: bool = True) -> Array:
        """Return all applied wrenches, n x w."""
        return np.asarray(self.over(one_lane(posture), weight)[:, :, 0])

    def potential(self, posture: Posture) -> float:
        """Return the potential energy."""
        return float(self.potential_over(one_lane(posture))[0])

    def remember(self, posture: Posture) -> None:
        """Note the angles of torsion springs, from which the next ones are counted."""
        self.turns.update({name: float(turn[0]) for name, turn in self.turns_over(one_lane(posture)).items()})

    # ---- one load -------------------------------------------------------------------------------------------------
    def _ends(self, spring: Spring) -> tuple[int, int, Array, Array, Array]:
        """Return bodies, ends and numbers of a spring, as compiled code takes them."""
        one, two = (self.index[b] for b in spring.bodies)
        return one, two, *spring.ends, np.array([spring.stiffness, spring.length, spring.damping])

    def turns_over(self, bodies: BodyLanes) -> dict[str, Array]:
        """Return the turns of torsion springs."""
        return {s.name: self.turn(bodies, s)[0] for s in self.model.loads if isinstance(s, TorsionSpring)}

    def turn(
        self, bodies: BodyLanes, spring: TorsionSpring, ahead: Mapping[str, Array] | None = None
    ) -> tuple[Array, Array, Array]:
        """Return the joint's angle and its rate (each over lanes), and its axis (s x lane)."""
        joint: Joint = self.model.joints[spring.joint]
        one, two = self.index[joint.first], self.index[joint.second]
        rates = bodies.turn[1, two] - bodies.turn[1, one]
        near = (ahead or {}).get(spring.name)
        driver = angle_driver(self.model, joint) if near is None else None
        if driver is not None:
            near = driver[1] * self.model.drivers[driver[0]].motion(bodies.time)[0]
        if bodies.planar and near is None:
            angle = bodies.turn[0, two, 0] - bodies.turn[0, one, 0]
            if spring.name not in self._whole:
                self._whole[spring.name] = float(self._begun(joint, angle[0]) - angle[0])
            return angle + self._whole[spring.name], rates[0], np.ones((1, 1))
        if bodies.planar:
            turned = np.einsum("ikn,ijn->kjn", bodies.rotation[one], bodies.rotation[two])
            return next_to(np.arctan2(turned[1, 0], turned[0, 0]), near), rates[0], np.ones((1, 1))
        axis, normal = (np.einsum("ijn,j->in", bodies.rotation[one], v) for v in (joint.axis_a, joint.normal_a))
        other = np.einsum("ijn,j->in", bodies.rotation[two], joint.normal_b)
        sine = np.einsum("in,in->n", axis, np.cross(normal, other, axis=0))
        angle = np.arctan2(sine, np.einsum("in,in->n", normal, other))
        if near is None and joint.kind == "H" and joint.pitch != 0.0:  # its slide tells its turns
            ends = [bodies.origin[0, k] + np.einsum("ijn,j->in", bodies.rotation[k], x)
                    for k, x in ((one, joint.a), (two, joint.b))]  # fmt: skip
            near = np.einsum("in,in->n", axis, ends[1] - ends[0]) / joint.pitch
        if near is None:
            near = np.asarray(self.turns.get(spring.name, self._begun(joint, angle[0])))
        return next_to(angle, near), np.einsum("in,in->n", axis, rates), axis

    def _begun(self, joint: Joint, angle: float) -> float:
        """Return the angle with which a simulation begins: next to the given one, or as reported angles begin."""
        given = self._given.get(joint.name)
        return float(begun(angle + joint.offset) - joint.offset if given is None else next_to(angle, given))

    def _torsion(
        self, found: Array, bodies: BodyLanes, spring: TorsionSpring, near: Mapping[str, Array] | None
    ) -> None:
        angle, rate, axis = self.turn(bodies, spring, near)
        torque = -(spring.stiffness * (angle - spring.angle) + spring.damping * rate) * axis
        joint, d = self.model.joints[spring.joint], self.model.dimension
        found[self.index[joint.second], d:] += torque
        found[self.index[joint.first], d:] -= torque


def _values(parts: tuple[Function, ...], times: Array) -> Array:
    """Return the components of a load over time."""
    return np.array([part(times)[0] for part in parts])
