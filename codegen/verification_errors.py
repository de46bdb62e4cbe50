"""The outcome of a verification: errors by quantity and route; and what is asked of a compiled type to be verified."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BOUND = 1e-12  # relative, at configurations with a condition number below sampling.WELL_CONDITIONED


@dataclass
class Errors:
    """Largest relative error of one quantity against each route; None where the route does not apply."""

    symbolic: float | None = None
    independent: float | None = None

    def add(self, route: str, error: float) -> None:
        before = getattr(self, route)
        value = float("inf") if not np.isfinite(error) else error
        setattr(self, route, value if before is None else max(before, value))

    @property
    def worst(self) -> float:
        return max(v for v in (self.symbolic, self.independent, 0.0) if v is not None)


@dataclass
class Verification:
    """The outcome for one type: errors by quantity, in the order of the pipeline."""

    name: str
    configurations: int
    errors: dict[str, Errors] = field(default_factory=dict)
    seconds: float = 0.0
    bound: float = BOUND
    allowance: float = 1.0  # by which errors are divided: near a dead point digits are lost as they must be

    def add(self, quantity: str, route: str, error: float) -> None:
        self.errors.setdefault(quantity, Errors()).add(route, error / self.allowance)

    @property
    def passed(self) -> bool:
        return all(e.worst <= self.bound for e in self.errors.values())

    @property
    def headline(self) -> str:
        quantity, errors = max(self.errors.items(), key=lambda item: item[1].worst)
        return f"{self.configurations} configurations, largest relative error {errors.worst:.1e} ({quantity})"


def relative(value: Array, truth: Array, terms: float = 0.0) -> float:
    """Return the largest error relative to the largest entry of the truth (absolute where that is zero).

    `terms` is the size of the terms whose sum the quantity is: a rate may pass through zero, its terms do not, and
    no sum can be more exact than its terms.
    """
    scale = max(float(np.max(np.abs(truth))) if truth.size else 0.0, terms)
    error = float(np.max(np.abs(value - truth))) if truth.size else 0.0
    return error / scale if scale > 0 else error


class CompiledType(Protocol):
    """What is asked of a compiled type: the runtime's wrapper of an emitted module has it."""

    name: str
    module: Any
    points_of_interest: tuple[str, ...]

    def constraint(self, phi: Any, h: Any, par: Any, t: float = 0.0) -> Array: ...

    def jacobians(self, phi: Any, h: Any, par: Any, t: float = 0.0) -> tuple[Array, Array]: ...

    def conditioning(self, phi: Any, h: Any, par: Any, t: float = 0.0) -> float: ...

    def points(self, *values: Any) -> dict[str, Array]: ...

    def over_lanes(
        self,
        function: str,
        t: Array,
        state: Array,
        par: Array,
        signs: Array,
        argument: int | None = None,
        out: Array | None = None,
        columns: int = 0,
        changes: Array | None = None,
        start: Array | None = None,
        size: float = 1.0,
    ) -> int: ...
