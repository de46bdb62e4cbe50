"""Where all bodies are at one instant and how they move; the form that every part of the dynamics shares.

Bodies stand in the order of the model, the frame first. A twist is the velocity of a body's origin and its angular
velocity in global axes: three numbers (vx, vy, ω) in the plane, six in space; a wrench is a force and its moment about
the same origin. So twist · wrench is power, and the rows of `Absolute` act on the same columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..mechanism.absolute import Absolute
from ..mechanism.joint_equations import Poses
from ..mechanism.model import FRAME, Array, Model

CONTACT_ITERATIONS = 20


@dataclass(frozen=True, eq=False)
class Posture:
    """Poses and twists of n bodies: origin n x d, rotation n x d x d, angle n (planar, continuous), twist n x w.

    `turn`, where it is known, are the turns of joints in space that the rows in absolute coordinates count.
    """

    time: float
    origin: Array
    rotation: Array
    angle: Array
    twist: Array
    turn: Array | None = None

    @property
    def planar(self) -> bool:
        return bool(self.origin.shape[1] == 2)

    def carried(self, body: int, local: Array) -> Array:
        """Return a vector from the axes of a body in global axes."""
        return np.asarray(self.rotation[body] @ local)


def width(model: Model) -> int:
    """Return the number of components of a twist."""
    return 3 if model.dimension == 2 else 6


def poses_of(system: Absolute, posture: Posture) -> Poses:
    """Return a posture as the poses of the rows in absolute coordinates."""
    poses = posture.angle if posture.planar else posture.rotation
    names = [b for b in system.index if b != FRAME]
    found = system.posed({b: (posture.origin[system.index[b]], poses[system.index[b]]) for b in names})
    return touching(system, found if posture.turn is None else replace(found, turn=posture.turn.copy()))


def touching(system: Absolute, poses: Poses) -> Poses:
    """Return the poses with the contacts of cams, found on a grid, refined to rounding; the bodies stay in place."""
    mine = np.flatnonzero(system.contact_column >= 0)
    if len(mine) == 0:
        return poses
    columns = system.contact_column[mine]
    values = system.measured(poses)  # of the drivers: they are not asked here
    for _ in range(CONTACT_ITERATIONS):
        change = np.linalg.lstsq(system.jacobian(poses)[:, columns], -system.rows(poses, values), rcond=None)[0]
        contact = poses.contact.copy()
        contact[mine] += change
        poses = replace(poses, contact=contact)
        if np.abs(change).max() < 1e-15:
            break
    return poses


def posture_of(poses: Poses, twist: Array, time: float) -> Posture:
    """Return poses and twists (n x 6) of all bodies as a posture."""
    if poses.planar:
        planar = np.ascontiguousarray(poses.rotation[:, :2, :2])
        return Posture(time, poses.origin[:, :2].copy(), planar, poses.angle.copy(), twist[:, [0, 1, 5]])
    turn = poses.turn.copy()
    return Posture(time, poses.origin.copy(), poses.rotation.copy(), poses.angle.copy(), twist.copy(), turn)
