"""What a sweep finds design by design, from a model that is read anew: values of drivers, efforts by inverse dynamics.

Of a design that is lost on the way, they are those up to the loss.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..common.errors import AssurgentError
from ..mechanism.model import Array
from ..runtime.driver_motions import driver_values
from .compiled_mechanism import CompiledMechanism
from .sweep_plan import Want

# table of what is wanted, dimension, variable of the dataset
VARIABLES = (
    ("drivers", "driver", "driver_value"),
    ("efforts", "driver", "driver_effort"),
    ("actuators", "actuator", "actuator_effort"),
)
NUMBERS: Mapping[str, Callable[..., Array]] = {"max": np.max, "min": np.min, "range": np.ptp, "mean": np.mean}


class Efforts:
    """Drivers and actuators in a sweep: their series, and numbers of these."""

    def __init__(self, compiled: CompiledMechanism, names: Sequence[str], wants: Sequence[Want]) -> None:
        self.compiled, self.names, self.wants = compiled, names, wants
        self._dynamic = any(w.table != "drivers" for w in wants)

    def labels(self) -> dict[str, list[str]]:
        """Return the names along the dimensions of the series that are kept."""
        found: dict[str, list[str]] = {"driver": [], "actuator": []}
        for table, dimension, _ in VARIABLES:
            found[dimension] += [w.name for w in self.wants if w.table == table and not w.how]
        return {dimension: list(dict.fromkeys(names)) for dimension, names in found.items()}

    def add(self, values: Array, found: dict[str, Array]) -> None:
        """Add to what was found of some designs (design, parameter)."""
        blank = np.full((len(values), len(self.compiled.time)), np.nan)
        series = {(w.table, w.name): blank.copy() for w in self.wants}
        for i in np.flatnonzero(found["solved"]).tolist():
            solved = int(found["solved"][i])
            for key, one in self._design(values[i].tolist()).items():
                if key in series:
                    series[key][i, : len(one[:solved])] = one[:solved]
        labels = self.labels()
        for table, dimension, variable in VARIABLES:
            if any(w.table == table and not w.how for w in self.wants):
                found[variable] = np.stack([series.get((table, n), blank) for n in labels[dimension]], axis=2)
        for w in self.wants:
            if w.how:  # of a design that is whole: what is not solved is NaN, and so is its number
                found[w.text] = NUMBERS[w.how](series[w.table, w.name], axis=1)

    def _design(self, values: Sequence[float]) -> dict[tuple[str, str], Array]:
        """Return the series of one design, as far as there are some."""
        from ..dynamics.computed import inverse_dynamics

        time, found = self.compiled.time, dict[tuple[str, str], Any]()
        with contextlib.suppress(AssurgentError):  # the design has none then
            model = self.compiled.mechanism.model(dict(zip(self.names, values, strict=True)))
            motions = driver_values(model, time)
            found.update({("drivers", n): motions[n][0] + d.offset for n, d in model.drivers.items()})
            if self._dynamic:
                results = inverse_dynamics(model, time).results
                found.update({("efforts", n): d.effort for n, d in results.drivers.items()})
                found.update({("actuators", n): a.effort for n, a in (results.actuators or {}).items()})
        return found
