"""Where bodies lie in the first configuration: best fits without reflection, rotations, axes and angles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .model import Array

_PARALLEL = 1e-9  # relative size of the second singular value below which points lie on one line


class GeometryError(ValueError):
    """A placement that the points do not determine."""


@dataclass(eq=False, slots=True)
class Pose:
    """Axes of a body in the first configuration: x of the body lies at origin + rotation @ x."""

    origin: Array
    rotation: Array

    def outside(self, local: Array) -> Array:
        return self.origin + self.rotation @ local

    def inside(self, place: Array) -> Array:
        return self.rotation.T @ (place - self.origin)


def identity(dimension: int) -> Pose:
    """Return the global axes."""
    return Pose(np.zeros(dimension), np.eye(dimension))


def unit(vector: Array) -> Array:
    """Return the direction of a vector that is not zero; neither tiny nor huge components are lost."""
    scale = max(map(abs, vector.tolist()))
    if scale == 0.0:
        raise GeometryError("the vector is zero and has no direction")
    scaled = vector / scale
    return np.asarray(scaled / math.sqrt(float(scaled @ scaled)))


def perpendicular(axis: Array) -> Array:
    """Return a unit vector perpendicular to a unit vector of space, always the same one for the same axis."""
    helper = np.zeros(3)
    helper[int(np.argmin(np.abs(axis)))] = 1.0
    return unit(helper - axis * float(axis @ helper))


def wrap(angle: float) -> float:
    """Return the same direction in (-pi, pi]."""
    turned = math.remainder(angle, 2 * math.pi)
    return math.pi if turned <= -math.pi else turned


def turn(rotation: Array) -> float:
    """Return the angle of a planar rotation."""
    return math.atan2(rotation[1, 0], rotation[0, 0])


def planar_rotation(direction: Array) -> Array:
    """Return the axes whose x axis runs along a direction of the plane."""
    x, y = direction.tolist()
    scale = max(abs(x), abs(y))
    if scale == 0.0:
        raise GeometryError("the vector is zero and has no direction")
    x, y = x / scale, y / scale
    length = math.sqrt(x * x + y * y)
    return np.array([[x / length, -y / length], [y / length, x / length]])


def rotation_between(start: Array, end: Array) -> Array:
    """Return the smallest rotation that takes one unit vector of space to another (Rodrigues)."""
    cosine = float(start @ end)
    if cosine < -1 + 1e-12:  # opposite: half a turn about any perpendicular axis
        axis = perpendicular(start)
        return np.asarray(2.0 * np.outer(axis, axis) - np.eye(3))
    w = np.cross(start, end)
    skew = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
    return np.asarray(np.eye(3) + skew + skew @ skew / (1.0 + cosine))


def fit(local: Sequence[Array], places: Sequence[Array]) -> Pose:
    """Return the axes that bring points given in a body nearest to their places (least squares, no reflection).

    Kabsch's solution: the centroids coincide, and the rotation maximises Σ yᵢ·R xᵢ. In space points on one line
    leave the spin about it open; it is the one nearest to the global axes. One point leaves the axes parallel.
    """
    X, Y = np.array(local), np.array(places)
    x_mean, y_mean = X.mean(axis=0), Y.mean(axis=0)
    X, Y = X - x_mean, Y - y_mean
    x_size, y_size = float(np.max(np.abs(X))), float(np.max(np.abs(Y)))
    dimension = X.shape[1]
    if x_size == 0.0:
        rotation = np.eye(dimension)
    elif y_size == 0.0:
        raise GeometryError("its points lie at one place in [points], so that the direction of the body is open")
    else:
        rotation = _best_rotation(X / x_size, Y / y_size)
    return Pose(y_mean - rotation @ x_mean, rotation)


def _best_rotation(X: Array, Y: Array) -> Array:
    if X.shape[1] == 2:
        dot = float(np.sum(X * Y))
        cross = float(np.sum(X[:, 0] * Y[:, 1] - X[:, 1] * Y[:, 0]))
        if math.hypot(dot, cross) <= 1e-12:
            raise GeometryError(
                "its points lie in [points] as a mirror image of `local` that no turn brings nearer - "
                "check the order and the signs of its coordinates"
            )
        return planar_rotation(np.array([dot, cross]))
    U, S, Vt = np.linalg.svd(Y.T @ X)
    if S[0] <= 1e-12:
        raise GeometryError("its points lie in [points] so that no rotation of `local` is nearer than any other")
    if S[1] <= _PARALLEL * S[0]:
        return rotation_between(Vt[0], U[:, 0])
    handed = np.sign(np.linalg.det(U @ Vt))
    return np.asarray(U @ np.diag([1.0, 1.0, handed]) @ Vt)


def stretched(first: Array, second: Array, length: float) -> tuple[Array, Array]:
    """Return the direction from one place to another, and where a length about their middle begins."""
    difference = second - first
    if not np.any(difference):
        raise GeometryError("its two points lie at one place in [points], so that its direction is open")
    direction = unit(difference)
    return direction, (first + second) / 2 - direction * (length / 2)


def on_line(point: Array, first: Array, second: Array) -> bool:
    """Tell whether a point lies on the line through two others."""
    line = second - first
    scale = max(float(np.max(np.abs(line))), float(np.max(np.abs(point - first))))
    if scale == 0.0 or not np.any(line):
        return False
    return bool(np.linalg.norm(np.cross(unit(line), point - first)) <= 1e-9 * scale)
