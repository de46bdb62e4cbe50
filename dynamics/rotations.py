"""Rotations in other forms: Euler parameters."""

from __future__ import annotations

import numpy as np

from ..mechanism.model import Array


def euler_parameters(rotation: Array) -> Array:
    """Return the Euler parameters (n x 4, the scalar first) of rotations (n x 3 x 3), by the largest of them."""
    R = rotation
    diagonal = np.stack([R[:, i, i] for i in range(3)], axis=1)
    trace = diagonal.sum(axis=1)
    found = np.empty((len(R), 4))
    for n, (matrix, t, own) in enumerate(zip(R, trace, diagonal, strict=True)):
        squares = np.array([1.0 + t, *(1.0 + 2.0 * own - t)]) / 4.0  # e₀², e₁², e₂², e₃²
        k = int(np.argmax(squares))
        e = np.empty(4)
        e[k] = np.sqrt(squares[k])
        odd = matrix - matrix.T
        even = matrix + matrix.T
        if k == 0:
            e[1:] = np.array([odd[2, 1], odd[0, 2], odd[1, 0]]) / (4.0 * e[0])
        else:
            i = k - 1
            e[0] = (odd[2, 1], odd[0, 2], odd[1, 0])[i] / (4.0 * e[k])
            for j in range(3):
                if j != i:
                    e[1 + j] = even[i, j] / (4.0 * e[k])
        found[n] = e / np.linalg.norm(e)
    return found
