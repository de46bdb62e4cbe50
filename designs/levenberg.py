"""Levenberg-Marquardt for many starts at once, within bounds: every start is a lane of the same array operations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# residuals (start, m) and their derivatives (start, m, unknown) at (start, unknown); NaN where there are none
Residuals = Callable[[Array], tuple[Array, Array]]
FLATTEST = 1e14  # damping at which a start has come to rest


@dataclass(frozen=True, eq=False)
class Descent:
    """Where the starts came to rest: unknowns (start, unknown) and the sums of squared residuals."""

    unknowns: Array
    cost: Array


def descend(
    residuals: Residuals, starts: Array, lower: Array, upper: Array, iterations: int, small: float = 0.0
) -> Descent:
    """Go downhill from every start until it rests, its cost is at most `small`, or the iterations are used up.

    An unknown at its bound that would leave it is held there; a step that leads nowhere is taken shorter.
    """
    x = np.clip(starts, lower, upper)
    r, J = residuals(x)
    cost = _squares(r)
    best, found = x.copy(), cost.copy()
    which = np.flatnonzero(np.isfinite(cost))
    x, r, J, cost = x[which], r[which], J[which], cost[which]
    damping, growth = np.full(len(which), 1e-2), np.full(len(which), 2.0)
    idle = np.zeros(len(which), dtype=np.int64)
    for _ in range(iterations):
        if not len(which):
            break
        trial = np.clip(x + _steps(x, r, J, damping, lower, upper), lower, upper)
        r2, J2 = residuals(trial)
        cost2 = _squares(r2)
        better = cost2 < cost
        gained = np.where(better, (cost - cost2) / np.maximum(cost, 1e-300), 0.0)
        idle = np.where(better & (gained < 1e-7), idle + 1, np.where(better, 0, idle))
        x[better], r[better], J[better], cost[better] = trial[better], r2[better], J2[better], cost2[better]
        damping = np.where(better, np.maximum(damping / 5.0, 1e-15), damping * growth)
        growth = np.where(better, 2.0, np.minimum(growth * 2.0, 1e4))
        rest = (damping > FLATTEST) | (idle > 8) | (cost <= small)
        if rest.any():
            best[which[rest]], found[which[rest]] = x[rest], cost[rest]
            go = ~rest
            which, x, r, J, cost = which[go], x[go], r[go], J[go], cost[go]
            damping, growth, idle = damping[go], growth[go], idle[go]
    best[which], found[which] = x, cost
    return Descent(best, np.where(np.isfinite(found), found, np.inf))


def _squares(r: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        total: Array = np.einsum("sm,sm->s", r, r)
    return np.where(np.isfinite(total), total, np.inf)


def _steps(x: Array, r: Array, J: Array, damping: Array, lower: Array, upper: Array) -> Array:
    """Return the damped Gauss-Newton steps of the unknowns that are free to move."""
    gradient = np.matmul(r[:, None], J)[:, 0]
    held = ((x <= lower) & (gradient > 0)) | ((x >= upper) & (gradient < 0))
    free = np.where(held, 0.0, 1.0)
    Jf = J * free[:, None, :]
    H = np.matmul(Jf.transpose(0, 2, 1), Jf)
    diagonal = np.einsum("suu->su", H)
    scale = np.maximum(diagonal, 1e-12 * diagonal.max(axis=1, keepdims=True) + 1e-300)
    u = np.arange(x.shape[1])
    H[:, u, u] += damping[:, None] * scale + np.where(held, 1.0, 0.0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        try:
            step = np.linalg.solve(H, -(gradient * free)[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:  # one singular matrix refuses them all
            step = -(gradient * free) / (scale * (1.0 + damping[:, None]))
    return np.asarray(np.nan_to_num(step * free, nan=0.0, posinf=0.0, neginf=0.0))
