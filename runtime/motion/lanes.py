"""Seeds of Newton in lanes: the first lanes are solved one after the other, and seed all lanes of the same phase.

Lanes come in chunks, and a chunk is seeded by as many lanes in a row: reading them one by one from anywhere would
cost more than the Newton steps. So a driver must turn evenly enough for a chunk to stay beside its source.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .kernels import CHUNK
from .plan import Array

SERIAL = 768  # lanes of the serial pass, whole chunks: some turns of a driver
FARTHEST = 0.2  # rad from a lane to the one that seeds it


def seeds(angle: Array, rate: Array) -> tuple[int, Any, Array]:
    """Return the number of serial lanes, for every chunk the serial lane that seeds its first, and the shifts in time.

    Where no serial lanes are near, all lanes are serial.
    """
    n = len(angle)
    alone = n, np.zeros(-(-n // CHUNK), dtype=np.int64), np.zeros(n)
    if n <= SERIAL or not (rate[:SERIAL] != 0.0).all():
        return alone
    starts = angle[::CHUNK]
    ring = np.mod(angle[: SERIAL - CHUNK + 1], 2 * np.pi)
    order = np.argsort(ring, kind="stable")
    after = np.searchsorted(ring[order], np.mod(starts, 2 * np.pi))
    below, above = order[after - 1], order[after % len(order)]
    nearer = np.abs(_turned(starts - angle[below])) < np.abs(_turned(starts - angle[above]))
    sources = np.where(nearer, below, above)
    lanes = (sources[:, None] + np.arange(CHUNK)).ravel()[:n]
    distance = _turned(angle - angle[lanes])
    if np.abs(distance[SERIAL:]).max(initial=0.0) > FARTHEST:
        return alone
    return SERIAL, sources, distance / rate[lanes]


def _turned(angle: Array) -> Array:
    """Return angles without their whole turns, from -π to π."""
    return angle - 2 * np.pi * np.round(angle / (2 * np.pi))
