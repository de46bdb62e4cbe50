"""The gradient of one objective by all parameters: a walk over the groups backwards, one transposed solve a group.

The worth of a number is the derivative of the objective by it. From the worth of the points it goes to that of the rows
they are made of, through the items of the program in the reverse order to that of every number, and from there by the
derivatives of the numbers to that of the parameters. The walk is the sequencer's own, over the steps backwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..mechanism.plans.plan import Array
from .sensitivities import ColumnCarrier, SolvedDesign

if TYPE_CHECKING:
    from .compiled_mechanism import CompiledMechanism


class Adjoint:
    """What the walk backwards of a compiled mechanism needs besides its motion."""

    def __init__(self, compiled: CompiledMechanism, carrier: ColumnCarrier) -> None:
        from ..runtime import adjoint_items
        from ..runtime.sequencer import address

        self.compiled, self.carrier = compiled, carrier
        sequence = compiled.mechanism.program.sequence
        items = [*sequence.of_kind("constants"), *compiled.solving]
        self.steps = np.ascontiguousarray(sequence.steps("adjoint", items)[::-1])
        lacking = [i for i in items if not len(sequence.steps("adjoint", [i]))]
        self.why = ", ".join({sequence.items[i].kind for i in lacking}) if lacking else ""
        self.why = f"cams and points of named types ({self.why})" if self.why else ""
        self.able = not self.why
        self.outputs = carrier.outputs.copy()
        self.outputs[:, 0] = address(adjoint_items.rows_worth)
        groups = [sequence.items[i].group for i in items]
        self.scratch = max([len(g.parameters) for g in groups if g is not None], default=0)

    def gradient(self, solved: SolvedDesign, slopes: Mapping[str, Array | None]) -> Array:
        """Return the derivatives by the parameters, from those by the positions of points."""
        from ..runtime.sequencer import BLOCK, CALL_SIZE, STRIDE, sequence

        c = self.compiled
        program, own, lanes = c.mechanism.program, solved.numbers, solved.lanes
        n, rows = len(solved.grid), program.n_rows
        size = max(rows * n, self.scratch * n, c.width)
        room = np.zeros((3, 1, size))
        given, worth = room[1, 0], np.zeros(len(own))
        for name, slope in slopes.items():
            if slope is not None:
                ((output, at),) = c.places["points", name]
                given[at : at + output.widths[0] * len(lanes)] = slope.ravel()
        call = np.zeros(CALL_SIZE, dtype=np.int64)
        call[STRIDE] = n
        none, signs = np.zeros((0, 0)), np.ones((1, max(program.sequence.n_signs, 1)))
        work, lost = program.sequence.scratch(), np.zeros(len(self.steps) + len(self.outputs), dtype=np.int64)
        changes = worth.reshape(1, -1)
        asked = np.concatenate([call, lanes])
        for steps, count, integers in ((self.outputs, len(lanes), asked), (self.steps, n, call)):
            sequence(
                steps, c.tables, own, changes, signs, np.array([0, count]), solved.grid, solved.state, room, integers,
                work, BLOCK, lost, lost[:0], none,
            )  # fmt: skip
        tangents = c.mechanism.numbers.tangents(solved.values)
        total = worth @ tangents[:, :, 0]
        if len(c.driver_rows) and len(self.carrier.partials.targets):
            driven = np.zeros((1, len(c.names), len(c.driver_rows), n))
            given = np.ascontiguousarray(tangents)
            partials, where = self.carrier.partials, np.arange(len(c.driver_rows))
            partials.add(own[:, None], n, solved.grid, list(driven), where, given, partials.functions.work())
            total += np.einsum("pdk,dk->p", driven[0], room[0, 0, : rows * n].reshape(rows, n)[c.driver_rows])
        return np.asarray(total)
