"""A mechanism compiled once and run many times: one design after the other, many at once, and their sensitivities.

Structure, plan and program are made at the nominal design, with a trace of how every number follows from the
parameters. A design is then a vector of numbers. One for which reading or planning would decide otherwise, or whose
motion needs a closer look (change points, dead points, lost branches), is found and run on its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import names as names_in
from ..arguments import times_of
from ..errors import AssemblyError, AssurgentError, InputError, nearest
from ..mechanism.model import Model
from ..mechanism.nominal import nominal
from ..mechanism.reader import from_data
from ..mechanism.structure import Structure
from ..mechanism.traced import Traced
from ..mechanism.tracing import TracedModel, free_parameters, trace
from ..status import MESSAGES, NO_ASSEMBLY
from .batch import Batch, arrays_of, parts_of, series_of
from .continuity import follow
from .kinematics import prepare, run
from .outputs import Output
from .plan import Array
from .program import GroupStep, NumericStep, Program
from .results import DriverSeries, Results
from .run import LARGEST_STROKE, LARGEST_TURN, Failure, failure_message, refined
from .sensitivities import Carrier, Sensitivities, not_whole
from .sequence import SOLVED_KINDS, Ints
from .threads import each, thread_count
from .threads import threads as using_threads
from .timefunctions import check_times

if TYPE_CHECKING:
    import pandas

RESIDUAL_BOUND = 1e-9  # relative; above, a linkage that is closed by special lengths only is none at this design


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
        self.numbers = self.traced.tape.compiled(self.program.sequence.values)
        self.nominal: Model = nominal(self.traced.model)

    @property
    def reusable(self) -> bool:
        """Whether results follow from the rows alone: cams and the turning of rods are computed from the model."""
        sequence = self.program.sequence
        if any(isinstance(step, NumericStep) for step in self.program.steps) or sequence.motions is None:
            return False
        return all(None not in self.parts(table, name) for table, name in sequence.written)

    def parts(self, table: str, name: str) -> list[Any]:
        """Return the outputs of a series with their places; None where it does not follow from the rows alone."""
        parts = self.program.sequence.written[table, name]
        if table != "joints":
            return list(parts)
        kind = self.traced.model.joints[name].kind
        return [part for part, has in zip(parts, (kind in ("R", "C", "H"), kind != "R"), strict=True) if has]

    def at(self, design: Mapping[str, float]) -> tuple[Array, bool]:
        """Return the numbers of one design, and whether it is read and planned alike."""
        values, kept = self.numbers.evaluate(self.traced.design(design))
        return np.ascontiguousarray(values[:, 0]), bool(kept[0])

    def model(self, design: Mapping[str, float]) -> Model:
        """Return the model of a design, read anew."""
        return from_data(self.data, self.origin, design, self.folder)


class CompiledMechanism:
    """A mechanism with its times and the series that are asked for, compiled.

    >>> c = Mechanism.load("four-bar.toml").compile(points=["P"])
    >>> c(a=2.1, b=6.3).points["P"].velocity              # n x 2
    >>> c.batch({"a": np.linspace(1, 3, 1000)}).points["P"].position    # 1000 x n x 2
    """

    def __init__(
        self,
        data: Mapping[str, Any],
        origin: str,
        folder: Path | None,
        times: Sequence[float] | Array | None,
        points: Sequence[str] | None,
        bodies: Sequence[str] | None,
        joints: Sequence[str] | None,
        parameters: Sequence[str] | None = None,
    ) -> None:
        self.mechanism = Traceable(data, origin, folder, parameters)
        model, sequence = self.mechanism.nominal, self.mechanism.program.sequence
        simulation = self.mechanism.traced.model.simulation
        if times is None and any(isinstance(x, Traced) for x in (simulation.start, simulation.stop, simulation.step)):
            raise InputError(
                f"{origin}: [simulation]: its times depend on parameters, so that designs would have different ones - "
                "give compile(times=...)"
            )
        self.time = times_of(model, times)
        check_times(model, self.time)
        self.names = self.mechanism.traced.names
        self.nominal = self.mechanism.traced.nominal
        self.wanted: list[tuple[str, str]] = []
        given = {"points": points, "bodies": bodies, "joints": joints}
        every = all(names is None for names in given.values())
        for table, names in given.items():
            # the turning of a rod does not follow from the rows
            known = [n for kind, n in sequence.written if kind == table and None not in self.mechanism.parts(kind, n)]
            for name in known if every else names_in(f"compile({table}=...)", names or ()):
                if name not in known:
                    raise InputError(f"{origin}: [{table}] {name}: there is no such series{nearest(name, known)}")
                self.wanted.append((table, name))
        self._prepare()

    def __repr__(self) -> str:
        shown = ", ".join(name for _, name in self.wanted[:6]) + (", ..." if len(self.wanted) > 6 else "")
        name, parameters = self.mechanism.traced.model.name, ", ".join(self.names)
        return f"<compiled {name!r}: {parameters}; {shown}; {len(self.time)} times>"

    # ---- preparation ----------------------------------------------------------------------------------------------
    def _prepare(self) -> None:
        """Lay out the results of a design, and the steps of all phases."""
        from .reported import steps_of

        m, sequence = self.mechanism, self.mechanism.program.sequence
        self._lanes = self.time
        self.supported = sequence.motions is not None and not any(
            isinstance(step, NumericStep) for step in m.program.steps
        )
        n = len(self.time)
        self.tables = sequence.tables.copy()
        width, outputs, bodies = 0, [], []
        self.places: dict[tuple[str, str], list[tuple[Output, int]]] = {}
        for table, name in self.wanted:
            self.places[table, name] = []
            for output, place in m.parts(table, name):
                self.tables[place : place + 3] = width
                self.places[table, name].append((output, width))
                width += max(output.widths) * n
                outputs.append([*steps_of(output.function)[0, :2], place, 0, -1, 0])
                bodies += [b for b in output.angles if b not in bodies]
        self.width = width
        if not self.supported:
            return
        self.solving = sequence.of_kind(*SOLVED_KINDS)
        # a group without branches, solved in closed form, has nothing to be looked at unless it may not close
        self.watched = [
            i for i in sequence.groups.values()
            if m.structure.redundant or not sequence.items[i].closed or sequence.items[i].group.branches  # type: ignore[union-attr]
        ]  # fmt: skip
        self.groups = [sequence.items[i].group_step for i in self.solving]
        self.unknowns = np.array([0 if g is None else len(g.phi_rows) for g in self.groups], dtype=np.int64)
        self.angle_items = [sequence.body_angles[b] for b in bodies]
        self.outputs = np.array(outputs, dtype=np.int64).reshape(-1, 6)
        functions = sequence.motions
        assert functions is not None
        self.functions = functions
        self.driver_rows = np.array(list(m.program.drivers.values()), dtype=np.int64)
        self._still: tuple[Array, Ints] | None = None  # grid and asked lanes where no driver depends on the design
        self._steps: dict[bool, tuple[Ints, ...]] = {}
        self._spare: dict[int, list[Any]] = {}
        self._carrier: Carrier | None = None

    def _phases(self, lanes: int) -> tuple[Ints, ...]:
        sequence = self.mechanism.program.sequence
        folded = lanes * len(sequence.groups) >= 100_000
        if folded not in self._steps:
            self._steps[folded] = self._phase_steps(folded)
        return self._steps[folded]

    def _phase_steps(self, folded: bool) -> tuple[Ints, ...]:
        sequence = self.mechanism.program.sequence
        return (
            sequence.steps("constants", sequence.of_kind("own constants")),
            sequence.steps("td", self.solving, folded),
            sequence.steps("quality", self.watched),
            sequence.steps("angles", self.angle_items),
            self.outputs,
        )

    def _grid(self, numbers: Array) -> tuple[Array, Ints]:
        """Return the asked instants with inner ones, fine enough for the fastest design, and the asked lanes."""
        if self._still is not None:
            return self._still
        grid = self._refined(numbers)
        found = grid, np.searchsorted(grid, self.time)
        if not self.mechanism.program.sequence.moving:
            self._still = found
        return found

    def _refined(self, numbers: Array) -> Array:
        from .design_kernels import most_splits

        m, time = self.mechanism, self.time
        start = float(m.nominal.simulation.start)
        time = time if time[0] == start else np.concatenate([[start], time])
        sequence = m.program.sequence
        splits = np.ones(max(len(time) - 1, 0), dtype=np.int64)
        largest = np.array(
            [
                LARGEST_TURN if d.kind in ("angle", "turn") else LARGEST_STROKE * m.nominal.size
                for d in m.traced.model.drivers.values()
            ]
        )
        if len(time) > 1 and len(self.driver_rows):
            state = np.empty((3, m.program.n_rows, len(time)))
            few = numbers if sequence.moving else numbers[:1]
            most_splits(self._functions(), few, time, state, self.driver_rows, largest, splits)
        return time if splits.max(initial=1) == 1 else refined(time, splits)

    def _functions(self) -> tuple[Ints, Array, Array]:
        return self.functions.code, self.functions.numbers, self.functions.work()

    # ---- designs --------------------------------------------------------------------------------------------------
    def __call__(self, **design: float) -> Results:
        """Return the series of one design; AssemblyError, with what was solved, where it cannot be followed."""
        out, answers, apart = self._solved(self.mechanism.traced.design(design), 1)
        solved = int(answers[0, 1])
        if 0 in apart:
            error = apart[0]
            if isinstance(error, AssurgentError) and not isinstance(error, AssemblyError):
                raise error
        results = self._results(out[0], solved)
        if answers[0, 0] != 0:
            raise AssemblyError(self._message(answers[0], apart.get(0)), results)
        return results

    def batch(
        self, designs: Mapping[str, Any] | pandas.DataFrame, threads: int = 1
    ) -> Batch:
        """Return the series of many designs: arrays by parameter, or a table with a column per parameter.

        No bad design stops the others: `status`, `solved`, `lost_at` and `message` tell of each how far it came.
        """
        values = self.mechanism.traced.designs(designs)
        out, answers, apart = self._solved(values, threads)
        n = len(self.time)
        tables: dict[str, dict[str, Any]] = {"points": {}, "bodies": {}, "joints": {}}
        for (table, name), places in self.places.items():
            parts = [parts_of(out, output, at, n) for output, at in places]
            tables[table][name] = series_of(table, places, parts)
        lost_at = np.full(len(answers), np.nan)
        messages = [""] * len(answers)
        for i in np.flatnonzero(answers[:, 0]):
            messages[i] = self._message(answers[i], apart.get(int(i)))
            lost_at[i] = self._lost_at(answers[i], apart.get(int(i)))
        own = np.zeros(len(answers), dtype=np.bool_)
        own[list(apart)] = True
        return Batch(
            dict(zip(self.names, values, strict=True)), self.time, tables["points"], tables["bodies"], tables["joints"],
            answers[:, 0], answers[:, 1], lost_at, tuple(messages), own,
        )  # fmt: skip

    def sensitivities(self, orders: int = 3, **design: float) -> Sensitivities:
        """Return the exact derivatives of the points by all parameters at a design.

        >>> c.sensitivities(a=2.1).points["P"].velocity       # parameter x instant x component, in the order of c.names

        `orders=1` gives those of the positions alone.
        """
        if not self.supported:
            raise InputError(
                f"{self.mechanism.origin}: a mechanism with a cam, or points beside the line of a rod, has no "
                "sensitivities - leave these points out of compile(points=[...])"
            )
        if self._carrier is None:
            self._carrier = Carrier(self)
        if orders not in (1, 3):
            raise InputError(f"orders = {orders!r}: is 1 (positions) or 3 (velocities and accelerations, too)")
        return self._carrier.at(design, orders)

    def solved_state(self, values: Array) -> tuple[Array, Array, Ints]:
        """Return the state of one design over its lanes, their times, and the asked ones."""
        out, answers = np.empty((1, 3, self.width)), np.zeros((1, 5), dtype=np.int64)
        numbers, kept = self.mechanism.numbers.evaluate(values)
        numbers = np.ascontiguousarray(numbers.T)
        grid, lanes = self._grid(numbers)
        self._lanes = grid
        state = self._run(numbers, kept, grid, lanes, self._phases(len(grid)), out, answers)
        if answers[0, 0] == 0:
            return state, grid, lanes
        if answers[0, 0] != 3 or not kept[0]:
            reason = "" if kept[0] else " (reading or planning decides otherwise there: compile it at this design)"
            raise not_whole(f"{self._message(answers[0], None)}{reason}")
        solution = follow(self.mechanism.program, grid, numbers=numbers[0])  # change points, dead points
        if solution.failure is not None:
            raise not_whole(failure_message(solution.failure))
        return solution.state, solution.time, np.searchsorted(solution.time, self.time)

    def _solved(self, values: Array, threads: int) -> tuple[Array, Ints, dict[int, Any]]:
        """Return results (design, order, place), answers, and what became of designs that were run on their own."""
        count = values.shape[1]
        answers = np.full((count, 5), 3, dtype=np.int64)
        out = np.empty((count, 3, self.width))
        if self.supported:
            numbers, kept = self.mechanism.numbers.evaluate(values)
            numbers = np.ascontiguousarray(numbers.T)
            grid, lanes = self._grid(numbers)
            phases = self._phases(count * len(grid))
            self._lanes = grid
            with using_threads(threads):
                self._runparts_of(numbers, kept, grid, lanes, phases, out, answers)
        apart: dict[int, Any] = {}
        for i in np.flatnonzero(answers[:, 0] == 3).tolist():
            apart[i] = self._alone(dict(zip(self.names, values[:, i].tolist(), strict=True)), out[i], answers[i])
        return out, answers, apart

    def _runparts_of(
        self, numbers: Array, kept: NDArray[np.bool_], grid: Array, lanes: Ints, phases: tuple[Ints, ...], out: Array,
        answers: Ints,
    ) -> None:  # fmt: skip
        """Run designs by as many threads as may be used, each a share of them with a state of its own."""
        threads = min(thread_count(), len(numbers))
        parts = np.linspace(0, len(numbers), threads + 1).astype(int)

        def part(i: int) -> None:
            a, b = int(parts[i]), int(parts[i + 1])
            self._run(numbers[a:b], kept[a:b], grid, lanes, phases, out[a:b], answers[a:b])

        each(part, range(threads))

    def _run(
        self, numbers: Array, kept: NDArray[np.bool_], grid: Array, lanes: Ints, phases: tuple[Ints, ...], out: Array,
        answers: Ints,
    ) -> Array:  # fmt: skip
        """Run designs one after the other; the state of the last one, which the next call uses again."""
        from ..sequencer import CALL_SIZE, REPORT_SIZE, STRIDE
        from .design_kernels import run_designs

        sequence, n = self.mechanism.program.sequence, len(grid)
        if n not in self._spare:
            self._spare.clear()
        spare = self._spare.setdefault(n, [])
        held = spare.pop() if spare else None
        if held is None:
            call = np.zeros(CALL_SIZE, dtype=np.int64)
            call[STRIDE] = n
            held = (
                np.empty((3, self.mechanism.program.n_rows, n)), call, np.concatenate([call, lanes]),
                (
                    np.ones((1, sequence.n_signs)), np.zeros_like(sequence.work), np.zeros((0, 0)),
                    np.zeros(len(phases[1]), dtype=np.int64), np.zeros(len(phases[1]), dtype=np.int64),
                    np.zeros((len(phases[2]), REPORT_SIZE)), np.empty((3, 1, n)),
                    np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64),
                ),
                self._functions(),
            )  # fmt: skip
            edges, constants = np.array([0, n]), sequence.of_kind("constants")
            sequence.run("constants", grid, held[0], edges, np.zeros((1, 0)), constants)
            if not sequence.moving and len(self.driver_rows):
                held[0][:, self.driver_rows] = sequence.drive(grid, sequence.numbers)[:3]
        state, call, asked, scratch, functions = held
        rows = self.driver_rows if sequence.moving else self.driver_rows[:0]
        run_designs(
            numbers, kept, functions, rows, phases, self.unknowns, self.tables, grid, state, out, (call, asked), lanes,
            scratch, RESIDUAL_BOUND, answers,
        )  # fmt: skip
        spare.append(held)
        return np.asarray(state)

    def _alone(self, design: Mapping[str, float], out: Array, answer: Ints) -> Failure | AssurgentError | None:
        """Run one design on its own into its place; why it stopped, if it did."""
        out[:] = np.nan
        answer[:] = 3, 0, -1, 0, 0
        try:
            outcome = run(self.mechanism.model(design), self.time)
        except AssurgentError as error:
            return error
        solved = len(outcome.results.time)
        for (table, name), places in self.places.items():
            series = getattr(outcome.results, table)[name]
            for (output, at), arrays in zip(places, arrays_of(series), strict=True):
                for order, (width, values) in enumerate(zip(output.widths, arrays, strict=True)):
                    out[order, at : at + width * solved] = np.asarray(values).ravel()
        failure = outcome.failure
        answer[0] = 0 if failure is None else 2 if solved == 0 else 1
        answer[1] = solved
        return failure

    # ---- what is said ---------------------------------------------------------------------------------------------
    def _results(self, out: Array, solved: int) -> Results:
        model, n = self.mechanism.traced.model, len(self.time)
        tables: dict[str, dict[str, Any]] = {"points": {}, "bodies": {}, "joints": {}}
        for (table, name), places in self.places.items():
            parts = [parts_of(out, output, at, n, solved) for output, at in places]
            tables[table][name] = series_of(table, places, parts)
        drivers: dict[str, DriverSeries] = {}
        return Results(
            model.name, "td", model.space, self.time[:solved], tables["points"], tables["bodies"], tables["joints"],
            drivers,
        )  # fmt: skip

    def _failure(self, answer: Ints) -> Failure | None:
        group: GroupStep | None = self.groups[int(answer[2])] if self.supported and answer[2] >= 0 else None
        if group is None:
            return None
        plan = group.plan
        return Failure(plan.name, plan.bodies, plan.joints, self._lost_at(answer, None), NO_ASSEMBLY)

    def _lost_at(self, answer: Ints, apart: Any) -> float:
        if isinstance(apart, Failure):
            return apart.time
        if answer[0] == 2:
            return float(self.mechanism.nominal.simulation.start)
        return float(self._lanes[min(int(answer[4]), len(self._lanes) - 1)])

    def _message(self, answer: Ints, apart: Any) -> str:
        if isinstance(apart, Failure):
            return failure_message(apart)
        if isinstance(apart, Exception):
            return str(apart)
        failure = self._failure(answer)
        return MESSAGES[NO_ASSEMBLY] if failure is None else failure_message(failure)
