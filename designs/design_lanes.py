"""Points of many designs at times of their own, with exact derivatives by the parameters: what searches are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common.errors import InputError
from ..mechanism.plans.plan import Array
from ..motion.reported import steps_of
from ..runtime.partials import partials
from ..runtime.sequence import SOLVED_KINDS, Ints
from .traceable import Traceable

BLOCK = 128  # designs at once: their numbers and changes stay near


@dataclass(frozen=True, eq=False)
class Places:
    """Points of designs: position and velocity are (design, point, lane, component), NaN where there is none.

    changes: derivatives of the positions by the variables, (design, variable, point, lane, component).
    """

    position: Array
    velocity: Array
    coordinate: Array  # of joints, (design, joint, lane), with its rate
    rate: Array
    changes: Array | None = None
    coordinate_changes: Array | None = None


class DesignLanes:
    """A mechanism whose `variables` change from design to design, and some points of it.

    Closed forms stay on the branch of `signs` at every lane. Where a group needs Newton, a design begins at `begin`
    with the sketch and is followed through `inner` further lanes.
    """

    def __init__(
        self,
        data: Mapping[str, Any],
        origin: str,
        folder: Path | None,
        variables: Sequence[str],
        points: Sequence[str],
        joints: Sequence[tuple[str, int]] = (),
    ) -> None:
        self.mechanism = Traceable(data, origin, folder, variables)
        if not self.mechanism.reusable:
            raise InputError(f"{origin}: a driver is a Python function - designs need a formula or a table")
        self.program, self.sequence = self.mechanism.program, self.mechanism.program.sequence
        self.variables, self.points, self.joints = tuple(variables), tuple(points), tuple(joints)
        self.dimension = self.mechanism.nominal.dimension
        items = self.sequence.items
        self.solving = self.sequence.of_kind(*SOLVED_KINDS)
        self.newton = any(items[i].kind == "group" and not items[i].closed for i in self.solving)
        self.signs = self._nominal_signs()
        functions = self.sequence.motions
        assert functions is not None
        self.functions = functions
        self.driver_rows = np.array(list(self.program.drivers.values()), dtype=np.int64)
        found = partials([d.motion for d in self.mechanism.traced.model.drivers.values()], self.sequence.constant_place)
        self.partials = found
        self._phases = self._steps()
        self._layouts: dict[tuple[int, int], Any] = {}

    def _nominal_signs(self) -> Array:
        """Return the branch of the nominal design at the start: the mode of [assembly], or nearest to the sketch."""
        from ..motion.run import solve

        m = self.mechanism
        start = np.array([float(m.nominal.simulation.start)])
        solution = solve(m.program, start, numbers=self.sequence.numbers)
        signs = np.ones((1, max(self.sequence.n_signs, 1)))
        for name, i in self.sequence.groups.items():
            found = solution.signs.get(name)
            if found is not None and len(found):
                place = self.sequence.items[i].sign_place
                signs[0, place : place + len(found)] = found
        return signs

    def _steps(self) -> tuple[Ints, ...]:
        sequence = self.sequence
        solving = sequence.steps("td", self.solving).copy()
        solving[solving[:, 4] < 0, 1] = 0  # closed forms are assembled by their signs
        points = [sequence.written["points", name][0] for name in self.points]
        joints = [sequence.written["joints", name][part] for name, part in self.joints]
        tangents = sequence.steps("tangents", [*sequence.of_kind("constants"), *self.solving])
        return (
            sequence.steps("constants", sequence.of_kind("own constants")), solving, tangents,
            _outputs(points), _outputs(joints),
        )  # fmt: skip

    def _layout(self, n: int, count: int) -> Any:
        """Return what all designs with n lanes, `count` of them asked, use again."""
        from ..runtime.sequencer import CALL_SIZE, CHANGE_STRIDE, COLUMN_STRIDE, COLUMNS, STRIDE

        if (n, count) in self._layouts:
            return self._layouts[n, count]
        sequence, columns, rows = self.sequence, len(self.variables), self.program.n_rows
        tables = sequence.tables.copy()
        width = 0
        for outputs, components in zip(self._phases[3:], (self.dimension, 1), strict=True):
            for step in outputs:
                tables[step[2] : step[2] + 3] = width
                width += components * count
        state = np.zeros((3, rows, n))
        grid = np.linspace(0.0, 1.0, n)
        sequence.run("constants", grid, state, np.array([0, n]), np.zeros((1, 0)), sequence.of_kind("constants"))
        call = np.zeros(CALL_SIZE, dtype=np.int64)
        call[STRIDE], call[COLUMNS], call[COLUMN_STRIDE] = n, columns, rows * n
        call[CHANGE_STRIDE] = len(sequence.values)
        solving, tangents = self._phases[1:3]
        modes = np.zeros(len(solving) if self.newton else 0, dtype=np.int64)
        scratch = (
            sequence.scratch(), np.zeros(max(len(solving), len(tangents), 1), dtype=np.int64), modes,
            np.zeros((0, 0)), np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64), np.zeros((4, width)),
            np.zeros(len(sequence.values) * columns), np.zeros(len(sequence.values)),
        )  # fmt: skip
        carried = np.zeros((1, columns * rows, n))
        asked = np.concatenate([call, np.zeros(count, dtype=np.int64)])
        self._layouts[n, count] = tables, state, width, (call, asked), scratch, carried
        return self._layouts[n, count]

    def at(
        self, designs: Array, times: Array, asked: Ints | None = None, changes: bool = False, signs: Array | None = None
    ) -> Places:
        """Return the points of designs (design, variable) at times (design, lane), at the asked lanes of each."""
        designs, times = np.atleast_2d(designs), np.atleast_2d(times)
        d, n = times.shape
        asked = np.broadcast_to(np.arange(n), (d, n)) if asked is None else asked
        count = asked.shape[1]
        outs, moved = [], []
        for first in range(0, d, BLOCK):
            part = slice(first, min(first + BLOCK, d))
            out, changed = self._block(designs[part], times[part], asked[part], changes, signs)
            outs.append(out[:, :2])
            moved.append(changed[:, :, 0])
        out, changed = np.concatenate(outs), np.concatenate(moved)
        points, joints = (len(self.points), count, self.dimension), (len(self.joints), count)
        split, columns = points[0] * points[1] * points[2], len(self.variables)
        position, rates = (out[:, order, :split].reshape(d, *points) for order in (0, 1))
        coordinate, rate = (out[:, order, split:].reshape(d, *joints) for order in (0, 1))
        if not changes:
            return Places(position, rates, coordinate, rate)
        moves = changed[:, :, :split].reshape(d, columns, *points), changed[:, :, split:].reshape(d, columns, *joints)
        return Places(position, rates, coordinate, rate, *moves)

    def _block(self, designs: Array, times: Array, asked: Ints, changes: bool, signs: Array | None) -> Any:
        from .lane_kernels import solve_designs

        d, n = times.shape
        tables, state, width, calls, scratch, carried = self._layout(n, asked.shape[1])
        values = np.ascontiguousarray(designs.T)
        numbers, kept = self.mechanism.numbers.evaluate(values)
        columns = len(self.variables)
        tangents = np.zeros((d, columns, 0))
        changed = np.empty((0, columns, 3, width))
        if changes:
            tangents = np.ascontiguousarray(self.mechanism.numbers.tangents(values).transpose(2, 1, 0))
            changed = np.empty((d, columns, 3, width))
        out = np.empty((d, 3, width))
        p, functions = self.partials, self.functions
        solve_designs(
            np.ascontiguousarray(numbers.T), kept, np.ascontiguousarray(times, dtype=np.float64),
            np.ascontiguousarray(asked, dtype=np.int64), (functions.code, functions.numbers, functions.work()),
            self.driver_rows, self._phases, tables, self.signs if signs is None else signs, state, calls, scratch, out,
            tangents, (p.functions.code, p.functions.numbers, p.functions.work(), self._targets(), p.sources),
            carried, changed,
        )  # fmt: skip
        return out, changed

    def _targets(self) -> NDArray[np.int64]:
        return np.ascontiguousarray(self.driver_rows[self.partials.targets])


def _outputs(places: Sequence[Any]) -> Ints:
    """Return the steps of outputs."""
    found = [[*steps_of(output.function)[0, :2], place, 0, -1, 0] for output, place in places]
    return np.array(found, dtype=np.int64).reshape(-1, 6)
