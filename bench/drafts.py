"""Programs written by hand: for groups that no mechanism file can hold, such as the paper's own redundant ones.

What comes out is a Program like any other and runs through the same sequence as those of mechanism files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..mechanism.model import Model
from ..mechanism.plans.plan import GroupPlan
from ..runtime.group_type import GroupType
from ..runtime.library import load
from ..runtime.program import ONE, ZERO, GroupStep, LinearStep, Program, Terms
from ..runtime.solvers import Solver


class ProgramDraft:
    """A program under construction; one row, `driver`, is given over time, and so are those of `given`."""

    def __init__(self, name: str, space: str = "planar") -> None:
        self.program = Program(Model(name, space, {}, {}, {}, {}))
        self.driver = self.row()

    def row(self) -> int:
        return int(self.program.new(1)[0])

    def rows(self, count: int) -> tuple[int, ...]:
        return tuple(int(r) for r in self.program.new(count))

    def constant(self, value: float) -> int:
        """Return a row that holds a number."""
        if value in (0.0, 1.0):
            return ONE if value else ZERO
        row = self.row()
        self.program.constants[row] = float(value)
        return row

    def constants(self, values: Iterable[float]) -> tuple[int, ...]:
        return tuple(self.constant(float(x)) for x in values)

    def group(
        self, kind: str | GroupType, known: Sequence[int], par: Sequence[float], start: Sequence[float]
    ) -> tuple[int, ...]:
        """Add a group of a type and return the rows of what it finds; `start` is the sketch's φ."""
        group = load(kind) if isinstance(kind, str) else kind
        sizes, sketch = np.array(par, dtype=np.float64), np.array(start, dtype=np.float64)
        assert (len(known), len(sketch)) == (len(group.independent), len(group.dependent))
        name = f"g{len(self.program.steps)}"
        plan = GroupPlan(name, group.module.NAME, (), (), (), "", (), (), sizes, sketch, {})
        found = self.rows(len(sketch))
        h_rows, phi_rows = (np.array(rows, dtype=np.int64) for rows in (known, found))
        self.program.steps.append(GroupStep(plan, Solver(group, {}, {}, sizes, sketch), h_rows, phi_rows, None))
        return found

    def combine(self, terms: Sequence[Terms]) -> tuple[int, ...]:
        """Add rows that are combinations of rows."""
        found = self.rows(len(terms))
        self.program.steps.append(LinearStep(found, tuple(terms)))
        return found
