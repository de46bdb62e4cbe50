"""A mechanism read and planned once, with a trace of how every number follows from the parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..mechanism.model import Model
from ..mechanism.numbers.design_evaluation import Numbers
from ..mechanism.numbers.nominal import nominal
from ..mechanism.numbers.tracing import TracedModel, free_parameters, trace
from ..mechanism.plans.plan import Array
from ..mechanism.reader import from_data
from ..mechanism.structure import Structure
from ..mechanism.tables import Table
from ..motion.kinematics import prepare
from ..runtime.program import Program
from .named_designs import hold_misfitting


class Traceable:
    """A mechanism read and planned once: its traced model, its program, and the function from designs to numbers."""

    def __init__(
        self, data: Mapping[str, Any], origin: str, folder: Path | None, names: Sequence[str] | None = None
    ) -> None:
        self.data, self.origin, self.folder = data, origin, folder
        self.traced: TracedModel = trace(data, free_parameters(data) if names is None else names, origin, None, folder)
        self.structure: Structure
        self.program: Program
        self.structure, self.program = prepare(self.traced.model)
        self.held = hold_misfitting(self.traced, self.model) if self.traced.model.groups else ()
        self.numbers = self.traced.tape.compiled(self.program.sequence.values)
        self.nominal: Model = nominal(self.traced.model)

    @property
    def reusable(self) -> bool:
        """Whether results follow from the rows alone: drivers in Python are computed from the model."""
        return self.program.sequence.motions is not None

    @property
    def repeatable(self) -> bool:
        """Whether another design's motion follows by its numbers alone, with the checks of a run of its own."""
        tables = any(isinstance(d.motion, Table) for d in self.traced.model.drivers.values())
        return self.reusable and not tables and not self.structure.redundant

    @cached_property
    def _parameters(self) -> Numbers:
        return self.traced.tape.compiled(list(self.traced.model.parameters.values()))

    def parameters(self, design: Mapping[str, float]) -> dict[str, float]:
        """Return all parameters of a design: formulas follow those that are free."""
        values = self._parameters.evaluate(self.traced.design(design))[0][:, 0]
        return dict(zip(self.traced.model.parameters, values.tolist(), strict=True))

    def at(self, design: Mapping[str, float]) -> tuple[Array, bool]:
        """Return the numbers of one design, and whether it is read and planned alike."""
        values, kept = self.numbers.evaluate(self.traced.design(design))
        return np.ascontiguousarray(values[:, 0]), bool(kept[0])

    def model(self, design: Mapping[str, float]) -> Model:
        """Return the model of a design, read anew."""
        return from_data(self.data, self.origin, design, self.folder)
