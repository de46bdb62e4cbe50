"""Joint reactions from what the bodies lack: three schemes of Blajer, Schiehlen, Schirm (1994), section 5.

The rows B of the joints act on the twists of the bodies, so that a multiplier of a row is the force (or moment) along
it that the first body exerts on the second. With D' = R and the mass matrix M of all bodies:

    inverse (35):     f = (B M⁻¹ Bᵀ)⁻¹ B (q̈ - M⁻¹ h)
    tangent (37):     [Bᵀ  M R] (f, 0) = M q̈ - h
    direct  (38):     Bᵀ f = M q̈ - h, group by group; of smallest norm where the joints hold more than they need

The direct one is `forces`; here are the other two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..mechanism.model import Array
from .bodylanes import BodyLanes
from .inertia import Inertia
from .joint_forces import Forces, portions

SCHEMES = ("direct", "tangent", "inverse")


def by_scheme(
    scheme: str, forces: Forces, bodies: BodyLanes, lack: Array, inertia: Inertia, chosen: NDArray[np.bool_],
    wrenches: Array, columns: Array | None = None,
) -> Array:  # fmt: skip
    """Return the wrenches of the joints (joint x w x lane) by `tangent` or `inverse` at the chosen lanes.

    At the others they are the given ones. `tangent` needs the columns R of the velocity transformation (driver x n x w
    x lane). A singular system is a LinAlgError.
    """
    w, n = lack.shape[1], len(lack) - 1
    if forces.parts:
        raise np.linalg.LinAlgError("joints that hold more than they need have no rows that are all independent")
    found = wrenches.copy()
    for lanes in portions(np.flatnonzero(chosen), 3 * (w * n) ** 2):
        few = bodies.at(lanes)
        rhs = lack[1:, :, lanes].reshape(w * n, -1).T
        B, M = forces.joint_rows(few), _block_diagonal(inertia.matrices_over(few)[:, 1:])
        if scheme == "tangent":
            assert columns is not None
            R = columns[:, 1:, :, lanes].reshape(-1, w * n, len(lanes)).transpose(2, 1, 0)
            A = np.concatenate([B.swapaxes(1, 2), M @ R], axis=2)
            multipliers = np.linalg.solve(A, rhs[:, :, None])[:, : B.shape[1], 0]
        else:
            Y = np.linalg.solve(M, np.concatenate([B.swapaxes(1, 2), rhs[:, :, None]], axis=2))
            multipliers = np.linalg.solve(B @ Y[:, :, :-1], B @ Y[:, :, -1:])[:, :, 0]
        found[..., lanes] = forces.joint_wrenches(few, np.ascontiguousarray(multipliers.T))
    return found


def _block_diagonal(matrices: Array) -> Array:
    """Return blocks (lane x n x w x w) as matrices (lane x n w x n w)."""
    lanes, n, w, _ = matrices.shape
    found = np.zeros((lanes, n, w, n, w))
    found[:, np.arange(n), :, np.arange(n)] = matrices.swapaxes(0, 1)
    return found.reshape(lanes, n * w, n * w)
