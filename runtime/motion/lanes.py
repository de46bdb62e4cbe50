"""Seeds of Newton in lanes: the first lanes are solved one after the other, and seed all lanes of the same phase."""

from __future__ import annotations

from typing import Any

import numpy as np

from .plan import Array

SERIAL = 720  # lanes of the serial pass: some turns of a driver
FARTHEST = 0.2  # rad from a lane to the one that seeds it


def seeds(angle: Array, rate: Array) -> tuple[int, Any, Array]:
    """Return the number of serial lanes, and for every lane the serial one next to its phase and the shift in time.

    Where no serial lane is near, all lanes are serial.
    """
    n = len(angle)
    serial = min(SERIAL, n)
    phase = np.mod(angle, 2 * np.pi)
    order = np.argsort(phase[:serial], kind="stable")
    ring = np.concatenate([[phase[order[-1]] - 2 * np.pi], phase[order], [phase[order[0]] + 2 * np.pi]])
    lanes = np.concatenate([[order[-1]], order, [order[0]]])
    after = np.clip(np.searchsorted(ring, phase), 1, len(ring) - 1)
    near = np.where(phase - ring[after - 1] < ring[after] - phase, after - 1, after)
    distance = phase - ring[near]
    seed = lanes[near].astype(np.int64)
    if np.abs(distance[serial:]).max(initial=0.0) > FARTHEST or not np.all(rate[seed] != 0.0):
        return n, np.arange(n), np.zeros(n)
    return serial, seed, distance / rate[seed]
