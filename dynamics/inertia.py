"""Masses and inertias of the bodies on their twists: mass matrices, inertia wrenches, kinetic energy."""

from __future__ import annotations

import numpy as np

from ..common.errors import InputError
from ..mechanism.geometry import on_line
from ..mechanism.model import Array, Body, Model, ends_of
from ..mechanism.numbers.arithmetic import is_zero
from .body_lanes import BodyLanes, one_lane
from .posture import Posture, width


class Inertia:
    """The constant inertia of every body, and what follows from it at a posture; all about the bodies' origins."""

    def __init__(self, model: Model) -> None:
        n, d = len(model.bodies), model.dimension
        self.width = width(model)
        self.mass = np.zeros(n)
        self.centre = np.zeros((n, d))
        self.about_centre = np.zeros(n) if d == 2 else np.zeros((n, 3, 3))
        for k, body in enumerate(model.bodies.values()):
            if body.mass is not None:
                self.mass[k], self.centre[k] = body.mass.mass, body.mass.centre
                about = np.asarray(body.mass.inertia, dtype=np.float64)
                self.about_centre[k] = float(about.reshape(-1)[0]) if d == 2 else about
                if body.rod:
                    self.centre[k], self.about_centre[k] = _as_rod(model, body, body.mass.centre, about)

    def matrices(self, posture: Posture) -> Array:
        """Return the mass matrix of each body on its twist, n x w x w."""
        return self._matrices(posture.rotation)

    def matrices_over(self, bodies: BodyLanes) -> Array:
        """Return the mass matrices over lanes, lane x n x w x w."""
        return self._matrices(np.moveaxis(bodies.rotation, 3, 0))

    def _matrices(self, rotation: Array) -> Array:
        """Return the mass matrices for rotations (... x n x d x d)."""
        r, m = (rotation @ self.centre[:, :, None])[..., 0], self.mass
        found = np.zeros((*r.shape[:-1], self.width, self.width))
        if r.shape[-1] == 2:
            x, y = r[..., 0], r[..., 1]
            found[..., 0, 0] = found[..., 1, 1] = m
            found[..., 0, 2] = found[..., 2, 0] = -m * y
            found[..., 1, 2] = found[..., 2, 1] = m * x
            found[..., 2, 2] = self.about_centre + m * (x * x + y * y)
            return found
        S = skew(r)
        mS = m[:, None, None] * S
        found[..., [0, 1, 2], [0, 1, 2]] = m[:, None]
        found[..., :3, 3:], found[..., 3:, :3] = -mS, mS
        found[..., 3:, 3:] = rotation @ self.about_centre @ rotation.swapaxes(-1, -2) - mS @ S
        return found

    def over(self, bodies: BodyLanes) -> tuple[Array, Array]:
        """Return the wrenches (n x w x lane) that the accelerations of the bodies need, and the kinetic energy."""
        from .body_kernels import planar_inertia, spatial_inertia

        wrench, kinetic = np.empty((len(self.mass), self.width, len(bodies))), np.empty(len(bodies))
        kernel = planar_inertia if bodies.planar else spatial_inertia
        kernel(bodies.origin, bodies.turn, bodies.rotation, self.mass, self.centre, self.about_centre, wrench, kinetic)
        return wrench, kinetic

    def wrenches(self, posture: Posture, acceleration: Array) -> Array:
        """Return the wrenches (n x w) that the accelerations (n x w, of the twists) need: M a + quadratic part."""
        return np.asarray(self.over(one_lane(posture, acceleration))[0][:, :, 0])


def _as_rod(model: Model, body: Body, centre: Array, about: Array) -> tuple[Array, Array]:
    """Return centre and inertia of a rod without spin, the inertia made equal in all directions across its line.

    A centre beside the line has no direction to be held in: wrong input.
    """
    end, line = line_of(model, body)
    if body.mass is not None and not is_zero(body.mass.mass) and not on_line(centre, end, end + line):
        raise InputError(
            f"{model.origin or model.name}: [bodies] {body.name}: its centre of mass lies beside the line of its two "
            "spherical joints, about which the body can spin freely - replace one S of the body by U, or put the "
            "centre on the line"
        )
    along = np.outer(line, line)
    across = np.eye(3) - along
    spin = float(line @ about @ line)
    return end + along @ (centre - end), 0.5 * (np.trace(about) - spin) * across + spin * along


def line_of(model: Model, body: Body) -> tuple[Array, Array]:
    """Return an end of a rod and the direction of its line, in its own axes."""
    first, second = ends_of(model.joints, body.name)
    return first, (second - first) / np.linalg.norm(second - first)


def skew(v: Array) -> Array:
    """Return the matrices of v ×, ... x 3 x 3."""
    found = np.zeros((*v.shape[:-1], 3, 3))
    found[..., 0, 1], found[..., 0, 2], found[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    found -= found.swapaxes(-1, -2)
    return found
