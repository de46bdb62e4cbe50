"""The velocity transformation over lanes: the motion of all bodies for the unit rate of each driver."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..mechanism.model import Array
from ..motion.run import Solution
from .body_lanes import body_lanes
from .joint_forces import RANK, Forces, portions


def velocity_columns(solution: Solution, lanes: NDArray[np.int64]) -> Array:
    """Return R, driver x n x w x lane, at some lanes of a solution.

    From the rows of all joints and drivers at the poses of the bodies; of several motions the smallest.
    """
    from .least_norm_kernels import least_norm

    forces, bodies = Forces(solution.program.model), body_lanes(solution, lanes)
    n, w, k = len(forces.index), forces.w, len(forces.driver_lines)
    R = np.zeros((k, n, w, len(bodies)))
    for part in portions(np.arange(len(bodies)), (w * n) ** 2):
        A, scales, columns = forces.all_rows(bodies.at(part))
        rhs = np.zeros((len(part), len(scales), k))
        rhs[:, len(scales) - k + np.arange(k), np.arange(k)] = 1.0 / scales[len(scales) - k :]
        x, free = np.empty((len(part), len(columns), k)), np.empty((len(part), len(columns)))
        least_norm(A, rhs, RANK, x, free)
        R[:, 1:, :, part] = (x * columns[:, None]).reshape(len(part), n - 1, w, k).transpose(3, 1, 2, 0)
    return R
