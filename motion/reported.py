"""The series of a run by name, each written from the rows by compiled code when it is first asked for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from ..common.turns import begun
from ..mechanism.plans.plan import Array
from ..runtime.outputs import JOINT_KINDS, Output
from ..runtime.sequence import Ints
from .run import Solution
from .series import BodySeries, DriverSeries, JointSeries, PointSeries

Value = TypeVar("Value")
CHUNK = 1 << 22  # numbers
NO_INTS, NONE = np.zeros(0, dtype=np.int64), np.zeros(1)
NONE_2, NONE_2_1 = np.zeros((0, 0)), np.zeros((1, 0))


@functools.cache
def steps_of(function: str) -> Ints:
    """Return the table of steps of one function that writes results."""
    from ..runtime import output_items, rod_items
    from ..runtime.sequencer import address

    room = rod_items if function == "write_rod" else output_items
    return np.array([[address(getattr(room, function)), 0, 0, 0, -1, 0]], dtype=np.int64)


class Lazy(Mapping[str, Value]):
    """Entries by name, each made when it is first asked for, and kept."""

    def __init__(self, names: Sequence[str], make: Callable[[str], Value]) -> None:
        self._names, self._make = dict.fromkeys(names), make
        self._made: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        if name not in self._made:
            if name not in self._names:
                raise KeyError(name)
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Reporter:
    """The series of a solution at chosen lanes."""

    def __init__(self, solution: Solution, lanes: Ints, every: bool = False) -> None:
        from ..runtime.sequencer import CALL_SIZE, STRIDE

        self.solution, self.lanes, self.every = solution, lanes, every
        self.outputs, self.written = solution.program.outputs, solution.program.sequence.written
        self.call = np.concatenate([np.zeros(CALL_SIZE, dtype=np.int64), lanes])
        self.call[STRIDE] = solution.state.shape[2]
        self._room = np.zeros(0)
        self.edges, self.lost = np.array([0, len(lanes)]), np.zeros(1, dtype=np.int64)

    def series(self, written: tuple[Output, int], state: Array | None = None) -> tuple[Array, Array, Array]:
        """Return value, rate and acceleration of an output, lane by lane; of another state where one is given."""
        from ..runtime.sequencer import sequence

        output, place = written
        n, widest, solution = len(self.lanes), max(output.widths), self.solution
        unsure = [body for body in output.angles if not solution.follow_angle(body)]
        if unsure:
            rows = [solution.program.angle_rows[body] for body in unsure]
            finer = solution.finer([solution.state[:, row] for row in rows], self._needed)
            if finer is not None:
                return self._through(finer).series(written)
        held = solution.state[:, output.row]
        if output.row >= 0 and 0 < n == held.shape[1] and begun(held[0, 0]) == held[0, 0]:
            held.flags.writeable = False  # other series are computed from these rows
            return held[0], held[1], held[2]
        out = self._taken(3 * n * widest).reshape(3, 1, n * widest)
        self.lost[0] = n
        if n:
            sequence(
                steps_of(output.function), solution.program.sequence.tables[place:], solution.numbers, NONE_2, NONE_2_1,
                self.edges, solution.time, solution.state if state is None else state, out, self.call, NONE, n,
                self.lost, NO_INTS, NONE_2,
            )  # fmt: skip
        if self.lost[0] < n and not self.every:  # lanes too far apart for a joint's angle, or a rod's rotation
            every = Reporter(solution, np.arange(self._needed), every=True)
            finer = solution.finer([] if output.widths[0] > 1 else [np.stack(every.series(written))], self._needed)
            if finer is not None:
                return self._through(finer).series(written)
        first, second, third = (
            out[i, 0, : n * w].reshape(n, w) if w > 1 else out[i, 0, :n] for i, w in enumerate(output.widths)
        )
        return first, second, third

    @property
    def _needed(self) -> int:
        """How many lanes lead to the last one that is reported."""
        return int(self.lanes[-1]) + 1 if len(self.lanes) else 0

    def _through(self, finer: Solution) -> Reporter:
        """Return the reporter of the same instants through a solution with further inner steps."""
        return Reporter(finer, np.searchsorted(finer.time, self.solution.time[self.lanes]))

    def _taken(self, size: int) -> Array:
        """Return room for numbers, a piece of a large array: the system gives memory in large pages at once."""
        if len(self._room) < size:
            self._room = np.empty(max(size, min(64 * size, CHUNK)))
        found, self._room = self._room[:size], self._room[size:]
        return found

    # ---- tables ----
    def points(self, jerk: bool = False) -> Lazy[PointSeries]:
        """Return the points, with their jerks where these are asked for."""

        def make(name: str) -> PointSeries:
            (output,) = self.written["points", name]
            assert output is not None
            third = self.series(output, self.solution.jerks)[0] if jerk else None
            return PointSeries(*self.series(output), third)

        return Lazy(list(self.outputs.point_bodies), make)

    def bodies(self) -> Lazy[BodySeries]:
        def make(name: str) -> BodySeries:
            (output,) = self.written["bodies", name]
            assert output is not None
            value, rate, bend = self.series(output)
            if output[0].widths[0] == 1:
                return BodySeries(angle=value, angular_velocity=rate, angular_acceleration=bend)
            rotation = value.reshape(-1, 3, 3)
            return BodySeries(rotation=rotation, angular_velocity=rate, angular_acceleration=bend)

        return Lazy(list(self.outputs.homes), make)

    def joints(self) -> Lazy[JointSeries]:
        joints = self.solution.program.model.joints

        def make(name: str) -> JointSeries:
            angle, displacement = self.written["joints", name]
            turn = None if angle is None else self.series(angle)
            slide = None if displacement is None else self.series(displacement)
            if turn is None:
                assert slide is not None
                return JointSeries(displacement=slide[0], rate=slide[1], acceleration=slide[2])
            if slide is None:
                return JointSeries(angle=turn[0], rate=turn[1], acceleration=turn[2])
            return JointSeries(
                angle=turn[0], rate=turn[1], acceleration=turn[2], displacement=slide[0], displacement_rate=slide[1],
                displacement_acceleration=slide[2],
            )  # fmt: skip

        return Lazy([name for name, joint in joints.items() if joint.kind in JOINT_KINDS], make)

    def drivers(self) -> dict[str, DriverSeries]:
        program, state = self.solution.program, self.solution.state
        return {
            name: DriverSeries(state[0, program.drivers[name], self.lanes] + d.offset)
            for name, d in program.model.drivers.items()
        }


def followed_times(solution: Solution, outputs: Sequence[tuple[Output, int]]) -> Array:
    """Return the times of a solution with the inner ones between which whole turns of some outputs are certain."""
    reporter = Reporter(solution, np.arange(solution.solved))
    for written in outputs:
        reporter.series(written)
    while solution.fine is not None:
        solution = solution.fine
    return solution.time


def reported(
    solution: Solution, lanes: Ints, jerk: bool = False
) -> tuple[Lazy[PointSeries], Lazy[BodySeries], Lazy[JointSeries], dict[str, DriverSeries]]:
    """Return points, bodies, joints and drivers of a run at some of its lanes; points with jerks if asked."""
    reporter = Reporter(solution, np.ascontiguousarray(lanes, dtype=np.int64))
    return reporter.points(jerk), reporter.bodies(), reporter.joints(), reporter.drivers()
