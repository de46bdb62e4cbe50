"""Rods between two balls: the oracle leaves out their spin, so what the product says of it must agree with itself.

Every point of a rod keeps its distances from the ends. Over a short step h a position and its rates are bound by
x1 - x0 = h/2 (v0 + v1) + h^2/12 (a0 - a1), which leaves h^5/720 of the fifth derivative. What is left is added up over
the run: a rotation that drifts does so by little in every step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .case import Answer
from .motion import Motion

Array = NDArray[np.float64]
BOUND = 1e-6  # of the size
LONGEST = 0.1  # step over the time in which the motion changes: what is left of the rule is 0.1^5 / 720 = 1e-8


def rods(oracle: Motion, answer: Answer, n: int) -> str:
    """Return the first contradiction in the motion of a rod, or nothing."""
    p, results = oracle.problem, answer.results
    if not p.rods or n < 2:
        return ""
    h = np.diff(results.time[:n])
    bend = h**2 * np.max(np.abs(np.diff(oracle.a[:n], axis=0)), axis=1)  # third order in the step
    turning = oracle.v[:n, : 6 * len(p.names)].reshape(n, -1, 6)[:, :, 3:]
    spin = np.max(np.linalg.norm(turning, axis=2), axis=1)  # where it is even, nothing else bends
    short = (bend < LONGEST**3 / 10) & (h * np.maximum(spin[1:], spin[:-1]) < LONGEST)
    for name, ends in p.rods.items():
        body = p.data["bodies"][name]
        for point in body["points"]:
            x, v, a = (getattr(results.points[point], q)[:n] for q in ("position", "velocity", "acceleration"))
            for end in ends:
                apart = np.linalg.norm(x - results.points[end].position[:n], axis=1)
                if np.max(np.abs(apart - apart[0])) > BOUND * p.size:
                    return f"distance of {point} from {end} on the rod {name} changes by {np.ptp(apart)!r}"
            if contradicts(h, short, x, v, a, p.size):
                return f"velocity of {point} on the rod {name} is not the rate of its position"
        series = results.bodies[name]
        R, w, alpha = series.rotation[:n], series.angular_velocity[:n, None], series.angular_acceleration[:n, None]
        columns = R.transpose(0, 2, 1)
        rates = np.cross(w, columns)
        second = np.cross(alpha, columns) + np.cross(w, rates)
        if contradicts(h, short, columns.reshape(n, 9), rates.reshape(n, 9), second.reshape(n, 9), 1.0):
            return f"angular velocity of the rod {name} is not that of its rotation"
    return ""


def contradicts(h: Array, short: NDArray[np.bool_], x: Array, v: Array, a: Array, size: float) -> bool:
    """Return whether a position and its rates do not agree over the short steps."""
    h = h[:, None]
    left = np.diff(x, axis=0) - h / 2 * (v[1:] + v[:-1]) + h**2 / 12 * np.diff(a, axis=0)
    return bool(np.max(np.abs(np.cumsum(left[short], axis=0)), initial=0.0) > BOUND * size)
