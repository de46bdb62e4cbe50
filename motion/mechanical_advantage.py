"""Mechanical advantage: what a mechanism makes of the force or torque of its driver, at every joint on the frame."""

from __future__ import annotations

import numpy as np

from ..mechanism.model import FRAME, Model
from .results import Results
from .series import Array

STILL = 1e-9  # of the largest rate: below it a joint stands, and the advantage has no bound


def mechanical_advantage(model: Model, results: Results) -> dict[str, Array]:
    """Return, for every joint on the frame but the driven one, its effort over that of the driver, without losses.

    Power in is power out, so that it is the rate of the driven joint over the joint's own (n; infinite where that
    stands still, at a toggle). None of a mechanism with several drivers, or one that drives no joint.
    """
    drivers = list(model.drivers.values())
    if len(drivers) != 1 or drivers[0].joint is None or drivers[0].joint not in results.joints:
        return {}
    rate = results.joints[drivers[0].joint].rate
    found = {}
    for name, series in results.joints.items():
        joint = model.joints[name]
        if name == drivers[0].joint or FRAME not in (joint.first, joint.second):
            continue
        largest = float(np.nanmax(np.abs(series.rate), initial=0.0))
        still = np.abs(series.rate) <= STILL * largest
        if largest > 0:
            found[name] = np.where(still, np.inf, rate / np.where(still, 1.0, series.rate))
    return found
