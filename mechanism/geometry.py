"""Where bodies lie in the first configuration: best fits without reflection, rotations, axes and angles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .numbers import arithmetic as ar
from .numbers.arithmetic import Array
from .numbers.arithmetic import wrap as wrap
from .numbers.nominal import nominal
from .numbers.traced import Traced

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
    scale = ar.larger(map(abs, vector.tolist()))
    if scale == 0.0:
        raise GeometryError("the vector is zero and has no direction")
    scaled = vector / scale
    return np.asarray(scaled / ar.square_root(ar.scalar(scaled @ scaled)))


def perpendicular(axis: Array) -> Array:
    """Return a unit vector perpendicular to a unit vector of space, always the same one for the same axis."""
    helper = np.zeros(3)
    helper[int(np.argmin(np.abs(axis)))] = 1.0
    return unit(helper - axis * ar.scalar(axis @ helper))


def turn(rotation: Array) -> float:
    """Return the angle of a planar rotation."""
    found: float = ar.atan2(rotation[1, 0], rotation[0, 0])
    return found


def planar_rotation(direction: Array) -> Array:
    """Return the axes whose x axis runs along a direction of the plane."""
    x, y = direction.tolist()
    scale = ar.larger((abs(x), abs(y)))
    if scale == 0.0:
        raise GeometryError("the vector is zero and has no direction")
    x, y = x / scale, y / scale
    length = ar.square_root(x * x + y * y)
    return np.array([[x / length, -y / length], [y / length, x / length]])


def rotation_between(start: Array, end: Array) -> Array:
    """Return the smallest rotation that takes one unit vector of space to another (Rodrigues)."""
    cosine = ar.scalar(start @ end)
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
    x_size, y_size = ar.largest(X), ar.largest(Y)
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
        dot = ar.scalar(np.sum(X * Y))
        cross = ar.scalar(np.sum(X[:, 0] * Y[:, 1] - X[:, 1] * Y[:, 0]))
        if ar.hypot(dot, cross) <= 1e-12:
            raise GeometryError(
                "its points lie in [points] as a mirror image of `local` that no turn brings nearer - "
                "check the order and the signs of its coordinates"
            )
        return planar_rotation(np.array([dot, cross]))
    M = Y.T @ X
    return _traced_kabsch(M) if ar.is_traced(M) else _kabsch(M)


def _kabsch(M: Array) -> Array:
    """Return the rotation R that maximises tr(RᵀM) in space."""
    U, S, Vt = np.linalg.svd(M)
    if S[0] <= 1e-12:
        raise GeometryError("its points lie in [points] so that no rotation of `local` is nearer than any other")
    if S[1] <= _PARALLEL * S[0]:
        return rotation_between(Vt[0], U[:, 0])
    handed = np.sign(np.linalg.det(U @ Vt))
    return np.asarray(U @ np.diag([1.0, 1.0, handed]) @ Vt)


def _traced_kabsch(M: Array) -> Array:
    """Return the same for a traced M: the size of its minors, s1 s2 of its singular values, tells points on a line."""
    minors = np.array([np.cross(M[i - 2], M[i - 1]) for i in range(3)])
    if ar.largest(M) <= 1e-12:
        raise GeometryError("its points lie in [points] so that no rotation of `local` is nearer than any other")
    if ar.norm(minors.ravel()) <= _PARALLEL * ar.scalar(M.ravel() @ M.ravel()):
        direction = unit(M[int(np.argmax(np.abs(nominal(M)).max(axis=1)))])  # any row of such a matrix has it
        return rotation_between(direction, unit(M @ direction))
    best = _kabsch(nominal(M))
    entries: list[Any] = M.ravel().tolist()
    tape = next((x.tape for x in entries if isinstance(x, Traced)), None)
    if tape is None:
        return best
    nodes = [x.index if isinstance(x, Traced) else tape.constant(x) for x in entries]
    found = [Traced(tape, i) for i in tape.fit(nodes, best.ravel().tolist())]
    return np.array(found, dtype=object).reshape(3, 3)


def stretched(first: Array, second: Array, length: float) -> tuple[Array, Array]:
    """Return the direction from one place to another, and where a length about their middle begins."""
    difference = second - first
    if ar.vanishes(difference):
        raise GeometryError("its two points lie at one place in [points], so that its direction is open")
    direction = unit(difference)
    return direction, (first + second) / 2 - direction * (length / 2)


def on_line(point: Array, first: Array, second: Array) -> bool:
    """Tell whether a point lies on the line through two others."""
    line = second - first
    scale = ar.larger((ar.largest(line), ar.largest(point - first)))
    if scale == 0.0 or ar.vanishes(line):
        return False
    return bool(ar.norm(np.cross(unit(line), point - first)) <= 1e-9 * scale)
