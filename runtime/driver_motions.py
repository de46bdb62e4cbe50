"""Value and derivatives of the drivers of a mechanism at some times; one that is no number is wrong input."""

from __future__ import annotations

import numpy as np

from ..common.errors import InputError
from ..mechanism.model import Model
from ..mechanism.plans.plan import Array
from .time_functions import values as time_values


def driver_values(model: Model, time: Array) -> dict[str, Array]:
    """Return value and three derivatives of every driver, 4 x n."""
    values, bad = time_values([driver.motion for driver in model.drivers.values()], time)
    if bad:
        refuse(model, values, time)
    return {name: values[:, i] for i, name in enumerate(model.drivers)}


def refuse(model: Model, values: Array, time: Array) -> None:
    """Raise the error that names the first driver (order, driver, lane) and the time at which it has no value."""
    for i, (name, driver) in enumerate(model.drivers.items()):
        finite = np.isfinite(values[:3, i]).all(axis=0)
        if not finite.all():
            raise InputError(
                f"{model.origin or model.name}: [drivers] {name}: '{driver.motion.text}' or one of its first two "
                f"derivatives is not a finite number at t = {time[int(np.argmin(finite))]:g} - correct the expression, "
                "or the times of the run"
            )
