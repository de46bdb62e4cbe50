"""Exact derivatives of a motion by the parameters of its file, carried through the groups with the factors at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.errors import AssemblyError, InputError
from ..mechanism.plans.plan import Array
from ..motion.results import Results
from ..runtime.partials import Partials, partials
from ..runtime.sequence import Ints

if TYPE_CHECKING:
    from .compiled_mechanism import CompiledMechanism


@dataclass(frozen=True, eq=False)
class PointChanges:
    """Derivatives of position, velocity and acceleration of a point: parameter x instant x component."""

    position: Array
    velocity: Array | None = None
    acceleration: Array | None = None


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """Derivatives of points by the parameters, in the order of `names`, at one design."""

    names: tuple[str, ...]
    design: Mapping[str, float]
    time: Array
    points: Mapping[str, PointChanges]


@dataclass(frozen=True, eq=False)
class SolvedDesign:
    """One design: its parameters, the numbers of its program, its state over the lanes of `grid`, and its results."""

    values: Array
    numbers: Array
    state: Array
    grid: Array
    lanes: Ints  # those that are asked for
    results: Results


class ColumnCarrier:
    """What the sensitivities of a compiled mechanism need besides its motion."""

    def __init__(self, compiled: CompiledMechanism) -> None:
        self.compiled = compiled
        sequence = compiled.mechanism.program.sequence
        functions = [d.motion for d in compiled.mechanism.traced.model.drivers.values()]
        self.partials: Partials = partials(functions, sequence.constant_place)
        self.points = [name for table, name in compiled.places if table == "points"]
        if not self.points:
            raise InputError("sensitivities are those of points - name some: compile(points=[...])")
        wanted = {place for name in self.points for _, place in compiled.places["points", name]}
        chosen = [k for k, row in enumerate(compiled.outputs) if compiled.tables[row[2]] in wanted]
        self.outputs = np.ascontiguousarray(compiled.outputs[chosen])

    def at(self, solved: SolvedDesign, orders: int) -> Sensitivities:
        """Return the derivatives at a design."""
        from ..runtime.sequencer import (  # fmt: skip
            BLOCK,
            CALL_SIZE,
            CHANGE_STRIDE,
            COLUMN_STRIDE,
            COLUMNS,
            ORDERS,
            STRIDE,
        )
        from .design_kernels import carry_changes

        c = self.compiled
        m, sequence = c.mechanism, c.mechanism.program.sequence
        values, own, state, grid, lanes = solved.values, solved.numbers, solved.state, solved.grid, solved.lanes
        tangents = m.numbers.tangents(values)
        changes = np.ascontiguousarray(tangents[:, :, 0].T)
        columns, rows, n = len(c.names), m.program.n_rows, len(grid)
        D = np.empty((orders, columns * rows, n))
        split = D.reshape(orders, columns, rows, n)
        if len(c.driver_rows):
            split[:, :, c.driver_rows] = 0.0
            given = np.ascontiguousarray(tangents)
            self.partials.add(own[:, None], n, grid, list(split), c.driver_rows, given, self.partials.functions.work())
        steps = sequence.steps(
            "tangents" if orders == 1 else "tangents-3", [*sequence.of_kind("constants"), *c.solving]
        )
        call = np.zeros(CALL_SIZE, dtype=np.int64)
        call[STRIDE], call[COLUMNS], call[COLUMN_STRIDE] = n, columns, rows * n
        call[CHANGE_STRIDE], call[ORDERS] = len(own), 1 if orders == 1 else 3
        out, spare = np.zeros((columns, 3, c.width)), np.zeros((3, c.width))
        carry_changes(
            steps, self.outputs, c.tables, own, changes, np.ones((1, max(sequence.n_signs, 1))),
            np.array([0, n]), grid, state, D, out, spare, call, np.concatenate([call, lanes]), len(lanes),
            sequence.scratch(), BLOCK, np.zeros(len(steps), dtype=np.int64),
        )  # fmt: skip
        found: dict[str, PointChanges] = {}
        for name in self.points:
            ((output, at),) = c.places["points", name]
            width, size = output.widths[0], len(lanes)
            parts: list[Any] = [
                out[:, order, at : at + width * size].reshape(columns, size, width) for order in range(orders)
            ]
            found[name] = PointChanges(*parts)
        return Sensitivities(c.names, dict(zip(c.names, values[:, 0].tolist(), strict=True)), c.time, found)


def not_whole(message: str) -> AssemblyError:
    """Return the error of a design that cannot be followed to the end."""
    return AssemblyError(f"{message} - sensitivities are those of a whole motion")
