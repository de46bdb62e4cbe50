"""Instant centres of planar motions: of every pair of bodies over time, from their velocities."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from ..mechanism.model import FRAME, Model
from .results import Results
from .series import Array

PARALLEL = 1e-9  # of the fastest turning: bodies that turn alike have their centre at infinity


def instant_centres(model: Model, results: Results) -> dict[tuple[str, str], Array]:
    """Return the instant centre of every pair of rigid bodies (n x 2, NaN at infinity), the frame among them.

    A body moves as v(r) = v0 + omega k x (r - r0); the centre of two is where their velocities agree:
    (omega2 - omega1) k x r = c1 - c2 with c = v0 - omega k x r0. With Kennedy's theorem the three centres of three
    bodies lie on a line.
    """
    rates = _rates(model, results)
    fastest = max((float(np.nanmax(np.abs(w), initial=0.0)) for w, _ in rates.values()), default=0.0)
    found = {}
    for one, two in combinations(rates, 2):
        (w1, c1), (w2, c2) = rates[one], rates[two]
        spin, shift = w2 - w1, c1 - c2
        turning = np.abs(spin) > PARALLEL * fastest
        divisor = np.where(turning, spin, 1.0)[:, None]
        place = np.stack([shift[:, 1], -shift[:, 0]], axis=1) / divisor
        found[one, two] = np.where(turning[:, None], place, np.nan)
    return found


def _rates(model: Model, results: Results) -> Mapping[str, tuple[Array, Array]]:
    """Return angular velocity (n) and velocity at the origin (n x 2) of every rigid body that has a point."""
    n = len(results)
    found = {FRAME: (np.zeros(n), np.zeros((n, 2)))}
    for name, body in model.bodies.items():
        point = next((p for p in body.points if p in results.points), None)
        if name == FRAME or point is None:
            continue
        series = results.points[point]
        spin = results.bodies[body.parts[0].name].angular_velocity
        arm = np.stack([-series.position[:, 1], series.position[:, 0]], axis=1)
        found[name] = spin, series.velocity - spin[:, None] * arm
    return found
