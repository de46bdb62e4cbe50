"""Which joints are cut: those whose motion is farthest from what the mechanism can do.

Blajer, Schiehlen, Schirm (1994), section 3: the projective criterion also tells good cuts from bad ones. That is for
relative coordinates, which keep their tree. Partitioning opens nothing: its groups are closed, and a cut only says
which coordinates are weighed. There the joints near the ground stay, whatever is best at the start.
"""

from __future__ import annotations

import numpy as np

from ..mechanism.model import Model
from .coordinates import RIDGE, Gauge, cut_joints
from .inertia import Inertia
from .nullspace import RANK
from .posture import Posture, poses_of

WEIGHED = 300  # bodies: of larger mechanisms the criterion would cost more than it saves


def best_cut(model: Model, posture: Posture) -> tuple[str, ...]:
    """Return the joints to open: those of the file, or those that the criterion likes least at a posture."""
    cut = cut_joints(model)
    if not cut or model.simulation.cut or len(model.bodies) > WEIGHED:
        return cut
    return cut_joints(model, preferred_joints(Gauge(model), posture))


def preferred_joints(gauge: Gauge, posture: Posture) -> list[str]:
    """Return the joints in the order of their projective criterion (Eq. 23a), the best first.

    It is taken in the coordinates of all bodies: the squared cosine between a joint's own motion and what the closed
    mechanism can do, R, all drivers held.
    """
    system, n = gauge.system, gauge.n
    J = system.jacobian(poses_of(system, posture))
    held = np.delete(np.arange(len(J)), gauge.coordinate_rows)
    _, s, Vt = np.linalg.svd(J[held] / system.row_scale[held, None] * system.column_scale)
    rank = int(np.sum(s > RANK * s[0])) if len(s) else 0
    R = (Vt[rank:] * system.column_scale).T[:n]
    M = Inertia(gauge.model).matrices(posture)[1:]
    width = M.shape[1]
    MR = (M @ R.reshape(len(M), width, -1)).reshape(n, -1)
    C = J[gauge.coordinate_rows, :n]
    blocks = M + RIDGE * max(float(np.abs(M).max()), 1e-300) * np.eye(width)
    parts = C.reshape(len(C), len(M), width)
    free = np.einsum("ckw,ckw->c", parts, np.linalg.solve(blocks, parts[..., None])[..., 0])
    seen = C @ R
    cosines = np.einsum("cf,fg,cg->c", seen, np.linalg.pinv(R.T @ MR), seen) / np.where(free > 0, free, 1.0)
    best: dict[str, float] = {}
    for coordinate, value in zip(gauge.all, cosines.tolist(), strict=True):
        best[coordinate.joint] = max(best.get(coordinate.joint, 0.0), round(value, 9))
    return sorted(best, key=lambda name: (-best[name], name))
