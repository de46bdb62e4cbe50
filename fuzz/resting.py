"""Instants at which all drivers rest where branches meet: no motion is determined behind them, a run has to stop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from . import following as fo

Array = NDArray[np.float64]
REST = 1e-6  # of the largest rate of a driver: it rests
SINGULAR = 1e7  # condition of a place at which branches may meet, to half of the digits
NEAR, APART = 0.01, 1e-3  # movement before the rest at which other branches are looked for, and how far they are apart
STEEP = 10.0  # by how much faster than the own one another branch may leave


def resting(model: tuple[Any, ...], keep: Array, nodes: tuple[Array, ...], looked: Array) -> list[float]:
    """Return those instants of a piece of the motion, told at `looked` times first."""
    T, Q, V, A, _ = nodes
    found = []
    for t in _rests(model, looked):
        moved = _before(nodes, t)
        if moved is None:
            continue
        earlier = np.array([t - 2 * moved, t - moved, t])
        q, _, _, condition = fo.sampled(model, keep, T, Q, V, A, earlier)
        slower = np.max(np.abs(q[0] - q[2])) > 3 * np.max(np.abs(q[1] - q[2]))  # the mechanism rests with its drivers
        if condition[2] > SINGULAR and slower and _another(model, keep, q[1], q[2], fo.drive_at(model, earlier[1])):
            found.append(t)
    return found


def _rests(model: tuple[Any, ...], looked: Array) -> list[float]:
    """Return the instants at which all drivers rest, however short, told from their fastest rate."""
    driven = fo.fastest_drive(model, looked)
    low = 1 + np.flatnonzero((driven[1:-1] <= driven[:-2]) & (driven[1:-1] <= driven[2:]) & (driven[1:-1] > 0))
    found = []
    for k in low[driven[low] < 0.03 * np.max(driven)].tolist():
        least = minimize_scalar(
            lambda t: float(fo.fastest_drive(model, np.array([t]))[0]), bounds=(looked[k - 1], looked[k + 1]),
            method="bounded", options={"xatol": 1e-12 * abs(looked[-1] - looked[0])},
        )  # fmt: skip
        if least.fun < REST * np.max(driven):
            found.append(float(least.x))
    return found


def _before(nodes: tuple[Array, ...], t: float) -> float | None:
    """Return how long before a time the mechanism is some way off the place that it has then."""
    T, Q = nodes[:2]
    here = Q[np.argmin(np.abs(T - t))]
    off = np.flatnonzero((t > T) & (np.max(np.abs(Q - here), axis=1) > NEAR))
    moved = t - float(T[off[-1]]) if len(off) else np.inf
    return moved if t - 2 * moved > T[0] else None


def _another(model: tuple[Any, ...], keep: Array, own: Array, q: Array, drive: Array) -> bool:
    """Whether the mechanism closes near to its own place in another one, looked for along what is free at the rest."""
    f = fo.freedoms(model)
    columns = f * model[1] + len(q) - (3 if model[0] == 2 else 12) * model[1]
    _, J, _ = fo.fill(model, q, np.zeros(columns), drive)
    free = np.zeros(columns)
    free[f:] = np.linalg.svd(J[keep][:, f:])[2][-1]
    free /= np.max(np.abs(free))
    way = np.max(np.abs(own - q))
    for share in (0.3, 1.0, 3.0):
        for sign in (-1.0, 1.0):
            other, _, last = fo.newton(model, keep, fo.moved(model, q, sign * share * way * free), drive, 40)
            if last < 1e-9 and np.max(np.abs(other - q)) < STEEP * way and np.max(np.abs(other - own)) > APART * way:
                return True
    return False
