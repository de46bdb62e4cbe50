"""Joint reactions from what the bodies lack: three schemes of Blajer, Schiehlen, Schirm (1994), section 5.

The rows B of the joints act on the twists of the bodies, so that a multiplier of a row is the force (or moment) along
it that the first body exerts on the second. With D' = R and the mass matrix M of all bodies:

    inverse (35):     f = (B M⁻¹ Bᵀ)⁻¹ B (q̈ - M⁻¹ h)
    tangent (37):     [Bᵀ  M R] (f, 0) = M q̈ - h
    direct  (38):     Bᵀ f = M q̈ - h, by least squares; of smallest norm where the joints hold more than they need
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..mechanism.absolute import Absolute
from ..mechanism.model import Array, Model
from ..mechanism.rows import Pair, Poses
from .posture import Posture, poses_of

RANK = 1e-9  # singular values of the scaled rows below this part of the largest count as zero
CLEAR = 1e-5  # pivots of the scaled rows above this part of the largest leave no doubt that all are independent
TOUCHED = 1e-7  # share of a self-stress in a joint from which its reaction counts as not unique
SCHEMES = ("direct", "tangent", "inverse")


@dataclass(frozen=True, eq=False)
class Wrench:
    """A reaction: force and moment about the joint's point, global axes, on the second body."""

    force: Array
    moment: Array


class Reactions:
    """The joints of a model as rows on the twists of the bodies; multipliers become forces and moments."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.system = Absolute(replace(model, drivers={}))
        self.n = len(model.movable) * len(self.system.components)
        self.names = np.array(self.system.names)
        self.not_unique: set[str] = set()

    def solve(self, posture: Posture, lack: Array, scheme: str = "direct", R: Array | None = None,
              matrices: Array | None = None) -> dict[str, Wrench]:  # fmt: skip
        """Return the reaction of every joint. `lack` (n x w) is inertia less applied loads less efforts of drivers."""
        poses = poses_of(self.system, posture)
        multipliers = self.multipliers(poses, lack, scheme, R, matrices)
        return self._wrenches(poses, multipliers)

    def multipliers(self, poses: Poses, lack: Array, scheme: str = "direct", R: Array | None = None,
                    matrices: Array | None = None) -> Array:  # fmt: skip
        """Return one multiplier per row by the scheme asked for; tangent and inverse need R and the mass matrices."""
        rhs = lack[1:].ravel()
        J = self.system.jacobian(poses)
        if scheme == "direct":
            return self._direct(J, rhs)
        assert R is not None
        assert matrices is not None
        B = J[:, : self.n]
        flat = R[1:].reshape(self.n, -1)
        M = np.zeros((self.n, self.n))
        w = matrices.shape[1]
        for k, block in enumerate(matrices[1:]):
            M[w * k : w * k + w, w * k : w * k + w] = block
        if scheme == "tangent":
            return np.asarray(np.linalg.solve(np.hstack([B.T, M @ flat]), rhs)[: len(B)])
        return np.asarray(np.linalg.solve(B @ np.linalg.solve(M, B.T), B @ np.linalg.solve(M, rhs)))

    def _direct(self, J: Array, rhs: Array) -> Array:
        """Bᵀ f = rhs in scaled rows and columns; contacts of cams have no inertia: their rows are balanced by zero.

        Singular values, several times as costly as pivots, are asked only where rows may depend on each other.
        """
        from scipy.linalg import qr, solve_triangular

        rows, columns = self.system.row_scale, self.system.column_scale
        if len(rows) == 0:
            return np.zeros(0)
        scaled = (J / rows[:, None] * columns).T
        wanted = np.zeros(self.system.n_columns)
        wanted[: self.n] = rhs * columns[: self.n]
        Q, r, order = qr(scaled, mode="economic", pivoting=True, check_finite=False)
        sizes = np.abs(np.diag(r))
        if len(sizes) == len(rows) and sizes.min(initial=1.0) > CLEAR * sizes.max(initial=1.0):
            found = np.empty(len(rows))
            found[order] = solve_triangular(r, Q.T @ wanted, check_finite=False)
            return np.asarray(found / rows)
        U, s, Vt = np.linalg.svd(scaled, full_matrices=True)
        rank = int(np.sum(s > RANK * s[0])) if len(s) else 0
        for stress in Vt[rank:]:
            self.not_unique.update(self.names[np.abs(stress) > TOUCHED * np.abs(stress).max()].tolist())
        return np.asarray(Vt[:rank].T @ ((U[:, :rank].T @ wanted) / s[:rank]) / rows)

    def _wrenches(self, poses: Poses, multipliers: Array) -> dict[str, Wrench]:
        found: dict[str, Wrench] = {}
        planar = self.model.dimension == 2
        for batch, terms in self.system.terms_at(poses):
            if batch.names[0] not in self.model.joints:  # spins of rods
                continue
            rows = batch.start + np.arange(len(batch.names) * len(terms)).reshape(-1, len(terms))
            second = np.stack([t.second for t in terms], axis=1)
            wrench = np.einsum("mr,mrk->mk", multipliers[rows], second)
            arm = self._arms(Pair(batch, poses))
            moment = wrench[:, 3:] - np.cross(arm, wrench[:, :3])
            for k, name in enumerate(batch.names):
                force, turn = wrench[k, :3], moment[k]
                found[name] = Wrench(force[:2], turn[2:]) if planar else Wrench(force, turn)
        return {name: found[name] for name in self.model.joints if name in found}

    def _arms(self, pair: Pair) -> Array:
        """Return the way from the second body's origin to the joint's point, m x 3."""
        if pair.batch.kind == "rack":  # at the pinion's centre
            return np.asarray(pair.rb - pair.d)
        return np.asarray(pair.rb)
