"""Free motions of a posture from the rows of all joints and drivers: the velocity transformation without any group."""

from __future__ import annotations

import numpy as np

from ..common.errors import InputError
from ..mechanism.absolute import Absolute
from ..mechanism.joint_equations import Poses
from ..mechanism.model import Array, Model
from .inertia import Inertia
from .initial_state import Start
from .posture import width

RANK = 1e-9  # singular values below this part of the largest count as zero
MASSLESS = 1e-14  # least inertia of a free motion, of the largest


def check_inertia(model: Model, start: Start) -> None:
    """Refuse a mechanism of which a free motion moves no mass: its acceleration would not be determined."""
    R = free_motions(model, start.poses)
    if R.shape[2] < start.free:
        raise InputError(
            f"{model.origin or model.name}: [points]: the free motions cannot be told from rounding errors, because "
            f"the sketch (about {model.size:.1g} m) is so much larger than the bodies - correct the places of points"
        )
    M = np.einsum("nwi,nwv,nvj->ij", R, Inertia(model).matrices(start.posture), R)
    values = np.linalg.eigvalsh(M)
    if values[-1] <= 0.0 or values[0] <= MASSLESS * values[-1]:
        raise InputError(
            f"{model.origin or model.name}: [bodies]: a free motion of the mechanism moves no mass and no inertia, so "
            "that its acceleration is not determined - give the bodies that move `mass`, `inertia` and `centre` "
            "(default: the middle of their joints)"
        )


def free_motions(model: Model, poses: Poses) -> Array:
    """Return a basis of the motions with all drivers held, n x w x f."""
    n, w = len(model.bodies), width(model)
    system, J = _scaled(model, poses)
    _, s, Vt = np.linalg.svd(J, full_matrices=True)
    rank = int(np.sum(s > RANK * s[0])) if len(s) else 0
    N = (Vt[rank:] * system.column_scale).T[: w * (n - 1)]
    R = np.zeros((n, w, N.shape[1]))
    R[1:] = N.reshape(n - 1, w, -1)
    return R


def regularity(model: Model, poses: Poses, free: int) -> float:
    """Return how far all joints and drivers are from leaving more motions free: least singular value over largest."""
    J = _scaled(model, poses)[1]
    s, rank = np.linalg.svd(J, compute_uv=False), J.shape[1] - free
    return float(s[rank - 1] / s[0]) if 0 < rank <= len(s) else 0.0


def _scaled(model: Model, poses: Poses) -> tuple[Absolute, Array]:
    system = Absolute(model)
    return system, np.asarray(system.jacobian(poses) / system.row_scale[:, None] * system.column_scale)
