"""Jerk of points on request: fourth-order differences of exact accelerations at inner times next to each asked one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..mechanism.model import Model
from .plan import Array
from .results import Results
from .run import driver_values

TURN = 0.01  # rad that the fastest driver moves between two inner times: truncation and rounding are both below 1e-9
CENTRAL = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12.0
FORWARD = np.array([-25.0, 48.0, -36.0, 16.0, -3.0]) / 12.0
BACKWARD = -FORWARD[::-1]


def spacing(model: Model, time: Array) -> float:
    """Return the distance of the inner times: a small turn of the fastest driver."""
    fastest = 0.0
    for name, values in driver_values(model, time).items():
        unit = 1.0 if model.drivers[name].kind in ("angle", "turn") else model.size
        fastest = max(fastest, float(np.max(np.abs(values[1]))) / unit)
    span = float(time[-1] - time[0]) or 1.0
    return min(TURN / fastest, span) if fastest > 0 else 1e-3 * span


def inner_times(time: Array, first: float, delta: float) -> Array:
    """Return the asked times with those from which their jerks follow.

    None lies before `first`, nor after the last asked time where that can be helped: a driver's table may end there.
    """
    around = time[:, None] + delta * _offsets(time, first, delta)
    return np.unique(np.concatenate([time, around.ravel()]))


def _offsets(time: Array, first: float, delta: float) -> Array:
    offsets = np.tile(np.arange(-2.0, 3.0), (len(time), 1))
    offsets[time - 2 * delta < first] = np.arange(5.0)
    offsets[(time + 2 * delta > time[-1]) & (time - 4 * delta >= first)] = np.arange(-4.0, 1.0)
    return offsets


def with_jerk(results: Results, time: Array, first: float, delta: float) -> Results:
    """Return the results at the asked times, their points with jerks; `results` holds the inner times as well."""
    offsets = _offsets(time, first, delta)
    solved = results.time[-1] if len(results.time) else -np.inf
    kept = time + delta * offsets[:, -1] <= solved
    time, offsets = time[kept], offsets[kept]
    places = np.searchsorted(results.time, time)
    around = np.searchsorted(results.time, time[:, None] + delta * offsets)
    by_first = {-2.0: CENTRAL, 0.0: FORWARD, -4.0: BACKWARD}
    weights = np.array([by_first[o] for o in offsets[:, 0]]).reshape(-1, 5) / delta
    chosen = results.at(places)
    points = {
        name: replace(chosen.points[name], jerk=np.einsum("kn,knd->kd", weights, series.acceleration[around]))
        for name, series in results.points.items()
    }
    return replace(chosen, points=points)
