"""The motion of a rigid body's axes over time, and of its points and directions with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .model import Array

Motion = tuple[Array, Array, Array]  # value, first and second derivative, each (components x) n


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """The motion of a rigid body's axes over n instants.

    origin: 3 x 2 x n or 3 x 3 x n, position, velocity and acceleration of the origin. Planar: angle 3 x n, the
    continuous angle, its rate and acceleration. Spatial: rotation n x 3 x 3, its columns the body's axes in global
    axes; omega and alpha 3 x n in global axes.
    """

    origin: Array
    angle: Array | None = None
    rotation: Array | None = None
    omega: Array | None = None
    alpha: Array | None = None

    def vector(self, local: Array) -> Motion:
        """Return a direction of the body, given in its axes, in global axes with its first two derivatives."""
        if self.angle is not None:
            theta, omega, alpha = self.angle
            c, s = np.cos(theta), np.sin(theta)
            r = np.stack([c * local[0] - s * local[1], s * local[0] + c * local[1]])
            across = np.stack([-r[1], r[0]])
            return r, omega * across, alpha * across - omega**2 * r
        assert self.rotation is not None
        assert self.omega is not None
        assert self.alpha is not None
        r = (self.rotation @ local).T
        v = cross(self.omega, r)
        return r, v, cross(self.alpha, r) + cross(self.omega, v)

    def point(self, local: Array) -> Motion:
        """Return the place, velocity and acceleration of a point given in the body's axes."""
        r, v, a = self.vector(local)
        return self.origin[0] + r, self.origin[1] + v, self.origin[2] + a


def cross(a: Array, b: Array) -> Array:
    """Return the vector products of 3 x n vectors."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
