"""Whole turns: the one rule by which a continuous angle follows from a direction and its rates.

The first configuration fixes every turn; from there an angle follows its own rates, from instant to instant, and these
must lie so near to each other that the rates leave no doubt. Plain functions of numbers or arrays; compiled code
compiles them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

TURN = 2.0 * np.pi
LARGEST_WAY = 1.0  # rad that an angle may go between two lanes
LARGEST_MISS = 0.2  # rad by which it may end elsewhere than where its rates say
MOST_SPLITS = 64  # inner steps at once; what they show decides on further ones
DEEPEST = 8  # rounds of inner steps: next to a dead point rates grow without bound


def next_to(angle: Any, near: Any) -> Any:
    """Return an angle with whole turns added so that it is nearest to another."""
    return angle + TURN * np.round((near - angle) / TURN)


def begun(angle: Any) -> Any:
    """Return an angle with whole turns added so that it lies in (-π, π]: as one that nothing drives begins."""
    return angle - TURN * np.ceil((angle - np.pi) / TURN - 1e-12)  # -π but for rounding is π


def way(dt: Any, rate: Any, bend: Any, rate_after: Any, bend_after: Any) -> Any:
    """Return how far an angle goes in dt, from rates and accelerations at both ends (Euler-Maclaurin, order 5)."""
    return dt * (0.5 * (rate + rate_after) + dt / 12.0 * (bend - bend_after))


def splits(time: Any, angle: Any, rate: Any, bend: Any) -> Any:
    """Return into how many inner steps each interval must be split for its rates to leave no doubt."""
    dt = np.diff(time)
    with np.errstate(all="ignore"):
        far = way(dt, rate[:-1], bend[:-1], rate[1:], bend[1:])
        miss = np.abs(np.diff(angle) - far)
        fastest = dt * np.maximum(np.abs(rate[:-1]), np.abs(rate[1:]))
        wanted = np.maximum(np.ceil(2.0 * fastest / LARGEST_WAY), 4.0)
        coarse = (np.abs(far) > LARGEST_WAY) | (fastest > LARGEST_WAY) | (miss > LARGEST_MISS)
    return np.where(coarse, np.minimum(np.nan_to_num(wanted, nan=4.0), MOST_SPLITS), 1.0).astype(np.int64)
