"""A model as free bodies for compiled code: masses, loads and joints on reference points at the centres of mass.

What the methods in absolute and in relative coordinates share. Compiled code reaches everything through `head`
(`body_head`); the arrays belong to this object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mechanism.model import Array, Function, Model, PointForce, Spring, Torque, TorsionSpring
from ..runtime.time_functions import write
from . import body_head as head
from .applied_loads import Applied
from .body_lanes import one_lane
from .inertia import Inertia
from .joint_system import JointSystem, place_functions
from .posture import Posture, width


class BodySystem:
    """Bodies of a model, the frame first, each moved by the place and the velocity of its centre of mass."""

    def __init__(self, model: Model, inertia: Inertia, applied: Applied) -> None:
        self.model, self.inertia, self.applied = model, inertia, applied
        n, self.w, self.d = len(model.bodies), width(model), model.dimension
        self.joints = JointSystem(model, inertia.centre)
        self.centre = inertia.centre
        self.bodies = self.joints.bodies
        self.acceleration, self.wrench = np.zeros((n, self.w)), np.zeros((n, self.w))
        self.about = np.zeros((n, 9))
        self.about[:, : 1 if self.d == 2 else 9] = inertia.about_centre.reshape(n, -1)
        self.global_inertia = np.zeros((n, 9))
        self.gravity = np.zeros(3)
        self.gravity[: self.d] = applied.gravity
        self.springs = tuple(s.name for s in model.loads if isinstance(s, TorsionSpring))
        self._write_loads()
        self.head = np.zeros(head.SIZE, dtype=np.int64)
        self._kept: list[object] = []
        self._connect()

    def _write_loads(self) -> None:
        model, index = self.model, {name: k for k, name in enumerate(self.model.bodies)}
        lines, functions = self.joints.table.joints(), list[Function]()
        self.loads = np.zeros((len(model.loads), head.LOAD_SIZE), dtype=np.int64)
        self.load_numbers = np.zeros((len(model.loads), head.LOAD_NUMBERS))
        self.turns, self.remembered = np.zeros(len(model.loads)), np.zeros(len(model.loads))
        for load, entry, number in zip(model.loads, self.loads, self.load_numbers, strict=True):
            entry[head.LOAD_FUNCTION] = len(functions)
            match load:
                case PointForce():
                    k = index[load.body]
                    entry[:2] = head.FORCE, k
                    number[: self.d] = load.point - self.centre[k]
                    functions += load.force
                case Torque():
                    entry[:2] = head.TORQUE, index[load.body]
                    functions += load.torque
                case Spring():
                    entry[:3] = head.SPRING, *(index[b] for b in load.bodies)
                    for at, body, end in zip((head.END_A, head.END_B), load.bodies, load.ends, strict=True):
                        number[at : at + self.d] = end - self.centre[index[body]]
                    number[head.STIFFNESS :] = load.stiffness, load.length, load.damping
                case TorsionSpring():
                    joint = model.joints[load.joint]
                    entry[:3] = head.TORSION, index[joint.first], index[joint.second]
                    entry[head.LOAD_LINE] = lines[load.joint]
                    number[head.STIFFNESS :] = load.stiffness, load.angle, load.damping
        self.functions = write(functions)

    def _connect(self) -> None:
        from . import body_forces

        h = self.head
        h[head.COUNT], h[head.WIDTH], h[head.N_LOADS] = len(self.bodies), self.w, len(self.loads)
        self.put({
            head.JOINTS: self.joints.head, head.BODIES: self.bodies, head.MASS: self.inertia.mass,
            head.ABOUT: self.about, head.GRAVITY: self.gravity, head.INERTIA: self.global_inertia,
            head.WRENCH: self.wrench, head.ACCELERATION: self.acceleration, head.LOADS: self.loads,
            head.NUMBERS: self.load_numbers, head.TURNS: self.turns, head.REMEMBERED: self.remembered,
        })  # fmt: skip
        self._kept += place_functions(h, head.FUNCTIONS, self.functions)
        if self.functions.count:
            h[head.FUNCTION_CODE] = body_forces.functions_address()
        if len(self.loads):
            h[head.LOAD_CODE] = body_forces.loads_address()

    def put(self, arrays: Mapping[int, NDArray[Any]]) -> None:
        """Write addresses of arrays to their places; they are kept as long as this object."""
        for place, array in arrays.items():
            assert array.flags.c_contiguous
            self._kept.append(array)
            self.head[place] = array.ctypes.data

    # ---- poses ----------------------------------------------------------------------------------------------------
    def enter(self, posture: Posture) -> None:
        """Put bodies, springs, screws and contacts of cams as they are at a posture."""
        d, bodies = self.d, self.bodies
        arm = np.einsum("nij,nj->ni", posture.rotation, self.centre)
        bodies[:, :d] = posture.origin + arm
        if d == 2:
            bodies[:, 2], bodies[:, 3], bodies[:, 4] = posture.angle, np.cos(posture.angle), np.sin(posture.angle)
            spin = posture.twist[:, 2]
            bodies[:, 5], bodies[:, 6] = (posture.twist[:, :2] + np.stack([-spin * arm[:, 1], spin * arm[:, 0]], 1)).T
            bodies[:, 7] = spin
        else:
            spin = posture.twist[:, 3:]
            bodies[:, 3:12], bodies[:, 15:] = posture.rotation.reshape(-1, 9), spin
            bodies[:, 12:15] = posture.twist[:, :3] + np.cross(spin, arm)
        self.joints.begin(posture)
        near = self.applied.turns_over(one_lane(posture))
        for k, load in enumerate(self.model.loads):
            if isinstance(load, TorsionSpring):
                joint = self.model.joints[load.joint]
                one, two = (list(self.model.bodies).index(b) for b in (joint.first, joint.second))
                value = float(near[load.name][0])
                self.turns[k] = value
                self.remembered[k] = value - (posture.angle[two] - posture.angle[one]) if d == 2 else value

    def posture(self, t: float) -> Posture:
        """Return what stands in `bodies` as a posture of the bodies' origins."""
        origin, turn, rotation = self.moved(self.bodies[None], np.zeros((1, *self.acceleration.shape)))
        twist = np.concatenate([origin[1, :, :, 0], turn[1, :, :, 0]], axis=1)
        return Posture(t, origin[0, :, :, 0], np.ascontiguousarray(rotation[..., 0]), turn[0, :, 0, 0].copy(), twist)

    def moved(self, bodies: Array, acceleration: Array) -> tuple[Array, Array, Array]:
        """Return origin, turn and rotation over lanes (as `BodyLanes` has them) from kept bodies (lane first)."""
        lanes, n = bodies.shape[:2]
        if self.d == 2:
            c, s = bodies[..., 3].T, bodies[..., 4].T
            rotation = np.ascontiguousarray(np.array([[c, -s], [s, c]]).transpose(2, 0, 1, 3))
            turn = np.stack([bodies[..., 2].T, bodies[..., 7].T, acceleration[..., 2].T])[:, :, None]
            place, velocity, bend = bodies[..., :2], bodies[..., 5:7], acceleration[..., :2]
        else:
            rotation = np.ascontiguousarray(bodies[..., 3:12].reshape(lanes, n, 3, 3).transpose(1, 2, 3, 0))
            spins = np.stack([np.zeros((lanes, n, 3)), bodies[..., 15:18], acceleration[..., 3:]])
            turn = np.ascontiguousarray(spins.transpose(0, 2, 3, 1))
            place, velocity, bend = bodies[..., :3], bodies[..., 12:15], acceleration[..., :3]
        arm = -np.einsum("nijl,nj->nil", rotation, self.centre)
        swung, spun = _swung(turn[1], arm), _swung(turn[2], arm)
        origin = np.stack([x.transpose(1, 2, 0) for x in (place, velocity, bend)])
        origin += np.stack([arm, swung, spun + _swung(turn[1], swung)])
        return origin, np.ascontiguousarray(turn), rotation


def _swung(spin: Array, arm: Array) -> Array:
    """Return ω × arm over lanes, n x d x lane."""
    if arm.shape[1] == 2:
        return np.stack([-spin[:, 0] * arm[:, 1], spin[:, 0] * arm[:, 0]], axis=1)
    return np.cross(spin, arm, axis=1)
