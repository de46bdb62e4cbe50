"""The equations of motion in independent coordinates: Rᵀ M R z̈ = Rᵀ (Q - M c), and what the drivers must apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..common.errors import InputError
from ..mechanism.model import Array, Model
from .applied_loads import Applied
from .inertia import Inertia
from .instant_kinematics import Instant, Mechanics


@dataclass(frozen=True, eq=False)
class Moved:
    """An instant with everything that the equations of motion say about it.

    `acceleration` (n x w) is that of the bodies; `lack` (n x w) the wrenches that joints and drivers together must
    provide: inertia less applied loads.
    """

    instant: Instant
    zddot: Array
    acceleration: Array
    lack: Array


class Equations:
    """The equations of motion of a model in one set of coordinates."""

    def __init__(self, model: Model, inertia: Inertia, applied: Applied, mechanics: Mechanics) -> None:
        self.model, self.inertia, self.applied = model, inertia, applied
        self.enter(mechanics)

    def enter(self, mechanics: Mechanics) -> None:
        """Take the mechanics of another set of coordinates."""
        self.mechanics = mechanics
        names: Sequence[str] = mechanics.drivers
        self.driven = [d for d in names if d in self.model.drivers]
        self.motions = [self.model.drivers[d].motion for d in self.driven]
        self.free: NDArray[np.int64] = np.array(
            [i for i, d in enumerate(names) if d not in self.model.drivers], dtype=np.int64
        )
        self.f = len(self.free)

    def prescribed(self, t: float) -> Array:
        """Return value, rate and acceleration of the real drivers, 3 x m."""
        if not self.motions:
            return np.zeros((3, 0))
        at = np.array([t])
        return np.array([motion(at)[:3, 0] for motion in self.motions]).T

    def instant(self, t: float, z: Array, zdot: Array) -> Instant | None:
        """Return the kinematics with z̈ = 0; None where the groups have no solution."""
        return self.mechanics.read() if self._solved(t, z, zdot) else None

    def _solved(self, t: float, z: Array, zdot: Array) -> bool:
        m = len(self.driven)
        held = self.prescribed(t)
        values, rates, bends = np.empty((3, self.mechanics.k))
        values[:m], rates[:m], bends[:m] = held
        values[m:], rates[m:], bends[m:] = z, zdot, 0.0
        return self.mechanics.solve(t, values, rates, bends)

    def moved(self, t: float, z: Array, zdot: Array) -> Moved | None:
        """Return the motion under the applied loads; None where there is none."""
        instant = self.instant(t, z, zdot)
        return None if instant is None else self.solve(instant)

    def solve(self, instant: Instant) -> Moved:
        """Return z̈ and what follows from it."""
        posture = instant.posture
        M = self.inertia.matrices(posture)
        lack = self.inertia.wrenches(posture, instant.c) - self.applied.wrenches(posture)
        R = instant.R[:, :, self.free]
        flat = R.reshape(-1, self.f)
        MR = M @ R
        Md = flat.T @ MR.reshape(-1, self.f)
        zddot = -self._solve(Md, flat.T @ lack.ravel())
        return Moved(instant, zddot, instant.c + R @ zddot, lack + MR @ zddot)

    def _solve(self, Md: Array, hd: Array) -> Array:
        try:
            return np.asarray(np.linalg.solve(Md, hd))
        except np.linalg.LinAlgError:
            raise InputError(
                f"{self.model.origin or self.model.name}: [bodies]: a free motion of the mechanism moves no mass and "
                "no inertia, so that its acceleration is not determined - give the bodies that move a mass"
            ) from None

    def efforts(self, moved: Moved) -> Array:
        """Return the efforts of the real drivers by virtual power: a column of R times what the bodies lack."""
        m = len(self.driven)
        return np.asarray(np.einsum("nwk,nw->k", moved.instant.R[:, :, :m], moved.lack))
