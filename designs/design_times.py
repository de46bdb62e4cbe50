"""At which instants designs are solved: the asked ones, and inner ones fine enough for the fastest design."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..common.errors import InputError
from ..common.turns import DEEPEST
from ..mechanism.plans.plan import Array
from ..motion.branches import follow
from ..motion.inner_times import LARGEST_STROKE, LARGEST_SWING, LARGEST_TURN, probes, refined, steps_for, turning
from ..motion.reported import followed_times
from ..motion.run import solve
from ..runtime.sequence import Ints
from ..runtime.time_functions import TimeFunctions
from .traceable import Traceable

RODS = 12  # so many times more inner steps where the rotation of a rod is asked for, which follows from all of them


class DesignTimes:
    """The instants of all designs of a compiled mechanism, and what is learnt of them from run to run."""

    def __init__(
        self,
        mechanism: Traceable,
        time: Array,
        wanted: Sequence[tuple[str, str]],
        functions: TimeFunctions,
        driver_rows: Ints,
    ) -> None:
        self.mechanism, self.time, self.functions, self.driver_rows = mechanism, time, functions, driver_rows
        written = mechanism.program.sequence.written
        self._parts = [part for name in wanted for part in written[name] if part is not None]
        self._inner, self._rounds = np.zeros(0), 0  # further inner instants, for what turns faster than its driver
        self._still: tuple[Array, Ints] | None = None  # grid and asked lanes where no driver depends on the design

    def grid(self, numbers: Array) -> tuple[Array, Ints]:
        """Return the asked instants with inner ones, fine enough for the fastest design, and the asked lanes."""
        if self._still is not None:
            return self._still
        grid = np.union1d(self._refined(numbers), self._inner)
        program = self.mechanism.program
        try:
            while program.turning_rows and len(more := turning(solve(program, grid, numbers=numbers[0]))):
                grid = np.union1d(grid, more)
        except InputError:  # it changes its branch where branches meet, and seems to turn at once
            grid = np.union1d(grid, self._followed(grid, numbers[0]))
        found = grid, np.searchsorted(grid, self.time)
        if not program.sequence.moving:
            self._still = found
        return found

    def _followed(self, grid: Array, numbers: Array) -> Array:
        """Return the inner times of a design that is followed on its branch; none where it cannot be."""
        try:
            return followed_times(follow(self.mechanism.program, grid, numbers=numbers), self._parts)
        except InputError:  # said of that design when it is run on its own
            return np.zeros(0)

    def _refined(self, numbers: Array) -> Array:
        from .design_kernels import longest_ways

        m, time = self.mechanism, self.time
        start = float(m.nominal.simulation.start)
        time = time if time[0] == start else np.concatenate([[start], time])
        largest = np.array(
            [
                LARGEST_TURN if d.kind in ("angle", "turn") else LARGEST_STROKE * m.nominal.size
                for d in m.traced.model.drivers.values()
            ]
        )
        if any(output.function == "write_rod" for output, _ in self._parts):
            largest /= RODS
        if len(time) < 2 or not len(self.driver_rows):
            return time
        looked = probes(time)
        state, ways = np.empty((3, m.program.n_rows, len(looked))), np.zeros(len(looked) - 1)
        few = numbers if m.program.sequence.moving else numbers[:1]
        functions = self.functions.code, self.functions.numbers, self.functions.work()
        longest_ways(functions, few, looked, state, self.driver_rows, largest, LARGEST_SWING, ways)
        return refined(time, steps_for(ways, len(time) - 1).astype(np.int64))

    def closer(self, numbers: Array, answers: Ints, grid: Array) -> bool:
        """Have inner instants between which the first design that turns too far does not; False where none does."""
        from .design_kernels import TOO_FAR

        which = np.flatnonzero(answers[:, 2] == TOO_FAR)
        if len(which) == 0 or self._rounds == DEEPEST:
            return False
        self._inner, self._still = np.union1d(self._inner, self._followed(grid, numbers[which[0]])), None
        self._rounds += 1
        return True
