"""Joint reactions from the residual wrenches of bodies: three schemes of Blajer, Schiehlen, Schirm (1994), section 5.

The rows B of the joints act on the twists of the bodies, so that a multiplier of a row is the force (or moment) along
it that the first body exerts on the second. With D' = R and the mass matrix M of all bodies:

    inverse (35):     f = (B M⁻¹ Bᵀ)⁻¹ B (q̈ - M⁻¹ h)
    tangent (37):     [Bᵀ  M R] (f, 0) = M q̈ - h
    direct  (38):     Bᵀ f = M q̈ - h, group by group; of smallest norm where the joints hold more than they need

The direct one is `joint_forces`; here are the other two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..mechanism.model import Array
from .body_lanes import BodyLanes
from .inertia import Inertia
from .joint_forces import RANK, Forces, Solved, portions

SCHEMES = ("direct", "tangent", "inverse")


def by_scheme(
    scheme: str, forces: Forces, bodies: BodyLanes, lack: Array, inertia: Inertia, chosen: NDArray[np.bool_],
    wrenches: Array, columns: Array | None = None,
) -> Array:  # fmt: skip
    """Return the wrenches of the joints (joint x w x lane) by `tangent` or `inverse` at the chosen lanes.

    At the others they are the given ones. `tangent` takes the columns R of the velocity transformation (driver x n x w
    x lane), without them any basis of the motions that the joints allow. A singular system is a LinAlgError.
    """
    w, n = lack.shape[1], len(lack) - 1
    found = wrenches.copy()
    for lanes in portions(np.flatnonzero(chosen), 3 * (w * n) ** 2):
        few = bodies.at(lanes)
        rhs = lack[1:, :, lanes].reshape(w * n, -1).T
        B, M = forces.joint_rows(few), _block_diagonal(inertia.matrices_over(few)[:, 1:])
        if _in_excess(B):
            raise np.linalg.LinAlgError("joints that hold more than they need have no rows that are all independent")
        if scheme == "tangent":
            R = _allowed(B) if columns is None else _stacked(columns[:, 1:, :, lanes])
            A = np.concatenate([B.swapaxes(1, 2), M @ R], axis=2)
            multipliers = np.linalg.solve(A, rhs[:, :, None])[:, : B.shape[1], 0]
        else:
            Y = np.linalg.solve(M, np.concatenate([B.swapaxes(1, 2), rhs[:, :, None]], axis=2))
            multipliers = np.linalg.solve(B @ Y[:, :, :-1], B @ Y[:, :, -1:])[:, :, 0]
        found[..., lanes] = forces.joint_wrenches(few, np.ascontiguousarray(multipliers.T))
    return found


def free_reactions(
    scheme: str, forces: Forces, bodies: BodyLanes, lack: Array, inertia: Inertia, found: Solved
) -> Array:
    """Return the wrenches of the joints in a motion under loads, from those and the efforts that `direct` found."""
    if scheme == SCHEMES[0]:
        return found.wrenches
    rest = lack - forces.exerted(bodies, np.ascontiguousarray(found.drivers[0]))
    return by_scheme(scheme, forces, bodies, rest, inertia, np.ones(len(bodies), dtype=bool), found.wrenches)


def _in_excess(B: Array) -> bool:
    """Return whether rows (lane x row x column) depend on each other in any lane."""
    if B.shape[1] == 0:
        return False
    s = np.linalg.svd(B / np.linalg.norm(B, axis=2, keepdims=True), compute_uv=False)
    return B.shape[1] > B.shape[2] or bool((s[:, -1] <= RANK * s[:, 0]).any())


def _stacked(columns: Array) -> Array:
    """Return columns of the velocity transformation (f x n x w x lane) as matrices (lane x n w x f)."""
    return np.ascontiguousarray(columns.reshape(len(columns), -1, columns.shape[3]).transpose(2, 1, 0))


def _allowed(B: Array) -> Array:
    """Return a basis of what rows (lane x row x column), all independent, map to zero: lane x column x basis."""
    return np.ascontiguousarray(np.linalg.svd(B)[2][:, B.shape[1] :].swapaxes(1, 2))


def _block_diagonal(matrices: Array) -> Array:
    """Return blocks (lane x n x w x w) as matrices (lane x n w x n w)."""
    lanes, n, w, _ = matrices.shape
    found = np.zeros((lanes, n, w, n, w))
    found[:, np.arange(n), :, np.arange(n)] = matrices.swapaxes(0, 1)
    return found.reshape(lanes, n * w, n * w)
