"""From the rows of a solved state to the bodies: posture, velocity transformation and accelerations of one instant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..mechanism.geometry import rotation_between
from ..mechanism.model import Array, Model
from ..motion.program import Program, Terms
from .posture import Posture, width


@dataclass(frozen=True, eq=False)
class Instant:
    """One evaluation: posture, R (n x w x k, a column per driver) and the acceleration c (n x w) without free z̈."""

    posture: Posture
    R: Array
    c: Array


@dataclass(frozen=True, eq=False)
class Combination:
    """Rows as linear combinations: of the i-th, the columns and factors from start[i] to start[i + 1]."""

    start: NDArray[np.int64]
    columns: NDArray[np.int64]
    factors: Array


def combination(parts: Sequence[Terms]) -> Combination:
    """Return combinations of rows in the form that compiled code reads."""
    start = np.concatenate([[0], np.cumsum([len(terms) for terms in parts])]).astype(np.int64)
    columns = np.array([row for terms in parts for row, _ in terms], dtype=np.int64)
    factors = np.array([c for terms in parts for _, c in terms], dtype=np.float64)
    return Combination(start, columns, factors)


class Carriers:
    """Origins and axes of all bodies as linear combinations of rows, and what follows from them."""

    def __init__(self, model: Model, program: Program) -> None:
        self.model, d = model, model.dimension
        self.n, self.d, self.width = len(model.bodies), d, width(model)
        parts: list[Terms] = []
        carriers = [program.carriers[b] for b in model.bodies]
        for carrier in carriers:
            parts += carrier.origin
        for carrier in carriers:
            parts += carrier.axes[0]
        if d == 3:
            for axis in (1, 2):
                for carrier in carriers:
                    parts += carrier.axes[axis] if carrier.line is None else ((), (), ())
        self.matrix = np.zeros((len(parts), program.n_rows))
        for i, terms in enumerate(parts):
            for row, c in terms:
                self.matrix[i, row] += c
        self.rods = [(k, c.line) for k, c in enumerate(carriers) if c.line is not None]
        self.rod_bodies = tuple(model.bodies.values())

    def miss(self, state: Array, posture: Posture, bodies: Sequence[str]) -> float:
        """Return how far the rows put bodies from a posture, lengths relative to the mechanism."""
        found = (self.matrix @ state[0, :, -1]).reshape(-1, self.n, self.d)
        wanted = np.empty_like(found)
        wanted[0] = posture.origin
        wanted[1:] = np.moveaxis(posture.rotation, 2, 0)[: len(found) - 1]
        for k, (point, line) in self.rods:
            wanted[:, k] = 0.0
            wanted[0, k] = posture.origin[k] + posture.carried(k, point)
            wanted[1, k] = posture.carried(k, line)
        gap = found - wanted
        gap[0] /= self.model.size
        names = list(self.model.bodies)
        return float(np.linalg.norm(gap[:, [names.index(b) for b in bodies]]))

    def angles(self, state: Array, near: Array) -> Array:
        """Return the angles of planar bodies in the last lane, followed from those that are near in the first one."""
        if self.d == 3:
            return near
        x, y = np.moveaxis((self.matrix @ state[0])[2 * self.n :].reshape(self.n, 2, -1), 1, 0)
        return np.asarray(np.unwrap(np.column_stack([near, np.arctan2(y, x)]))[:, -1])

    def __call__(self, state: Array, t: float) -> Instant:
        lanes = state.shape[2]
        found = np.matmul(self.matrix, state).reshape(3, -1, self.n, self.d, lanes)
        origin, ex = found[:, 0], found[:, 1]
        if self.d == 2:
            x, y = ex[0, :, 0], ex[0, :, 1]
            twist = np.empty((self.n, 3, lanes))
            twist[:, :2] = origin[1]
            twist[:, 2] = x * ex[1, :, 1] - y * ex[1, :, 0]
            c = np.empty((self.n, 3))
            c[:, :2] = origin[2, :, :, -1]
            x, y = x[:, -1], y[:, -1]
            c[:, 2] = x * ex[2, :, 1, -1] - y * ex[2, :, 0, -1]
            rotation = np.empty((self.n, 2, 2))
            rotation[:, 0, 0] = rotation[:, 1, 1] = x
            rotation[:, 1, 0], rotation[:, 0, 1] = y, -y
            posture = Posture(t, origin[0, :, :, -1].copy(), rotation, np.arctan2(y, x), twist[:, :, -1].copy())
            return Instant(posture, np.ascontiguousarray(twist[:, :, :-1]), c)
        return self._spatial(found, t)

    def _spatial(self, found: Array, t: float) -> Instant:
        origin, axes = found[:, 0].copy(), found[:, 1:]  # order, axis, body, component, lane
        omega = 0.5 * np.cross(axes[0], axes[1], axis=2).sum(axis=0)
        alpha = 0.5 * np.cross(axes[0], axes[2], axis=2).sum(axis=0)
        rotation = np.ascontiguousarray(axes[0, :, :, :, -1].transpose(1, 2, 0))
        for k, (point, line) in self.rods:
            d = axes[:, 0, k]  # order, component, lane
            body = self.rod_bodies[k]
            rotation[k] = rotation_between(body.rotation @ line, d[0].T[-1]) @ body.rotation
            omega[k], alpha[k] = np.cross(d[0], d[1], axis=0), np.cross(d[0], d[2], axis=0)
            r = np.repeat((rotation[k] @ -point)[:, None], d.shape[2], axis=1)
            v = np.cross(omega[k], r, axis=0)
            origin[0, k] += r
            origin[1, k] += v
            origin[2, k] += np.cross(alpha[k], r, axis=0) + np.cross(omega[k], v, axis=0)
        twist = np.concatenate([origin[1], omega], axis=1)
        c = np.concatenate([origin[2, :, :, -1], alpha[:, :, -1]], axis=1)
        place = origin[0, :, :, -1].copy()
        posture = Posture(t, place, rotation, np.zeros(self.n), twist[:, :, -1].copy())
        return Instant(posture, np.ascontiguousarray(twist[:, :, :-1]), c)
