"""A mechanism compiled once and run many times: one design after the other, many at once, and their sensitivities.

Structure, plan and program are made at the nominal design, with a trace of how every number follows from the
parameters. A design is then a vector of numbers. One for which reading or planning would decide otherwise, or whose
motion needs a closer look (change points, dead points, lost branches), is found and run on its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..common.errors import AssemblyError, AssurgentError, InputError, nearest
from ..common.lines import aligned, whole_lines
from ..common.status import MESSAGES, NO_ASSEMBLY
from ..mechanism.arguments import names as names_in
from ..mechanism.arguments import times_of
from ..mechanism.numbers.traced import Traced
from ..mechanism.plans.plan import Array
from ..motion.branches import follow
from ..motion.kinematics import run
from ..motion.outcome import Stop, no_solution
from ..motion.reported import steps_of
from ..motion.results import Results
from ..motion.series import DriverSeries
from ..runtime.outputs import Output
from ..runtime.parallel import each, thread_count
from ..runtime.parallel import threads as using_threads
from ..runtime.program import GroupStep
from ..runtime.sequence import SOLVED_KINDS, Ints
from ..runtime.time_functions import check_times
from .batch import Batch, arrays_of, parts_of, series_of
from .design_times import DesignTimes
from .gradients import Gradients
from .positions_alone import PositionsAlone
from .traceable import Traceable

if TYPE_CHECKING:
    import pandas

RESIDUAL_BOUND = 1e-9  # relative; above, a linkage that is closed by special lengths only is none at this design


class CompiledMechanism(Gradients):
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
                "give the times"
            )
        self.time = times_of(model, times)
        check_times(model, self.time)
        self.names = self.mechanism.traced.names
        self.nominal = self.mechanism.traced.nominal
        self.wanted: list[tuple[str, str]] = []
        given = {"points": points, "bodies": bodies, "joints": joints}
        every = all(names is None for names in given.values())
        for table, names in given.items():
            known = [name for kind, name in sequence.written if kind == table]
            for name in known if every else names_in(f"compile({table}=...)", names or ()):
                if name not in known:
                    raise InputError(f"{origin}: [{table}] {name}: there is no such series{nearest(name, known)}")
                self.wanted.append((table, name))
        self._prepare()

    def __repr__(self) -> str:
        shown = ", ".join(name for _, name in self.wanted[:6]) + (", ..." if len(self.wanted) > 6 else "")
        name, parameters = self.mechanism.traced.model.name, ", ".join(self.names)
        return f"<compiled {name!r}: {parameters}; {shown}; {len(self.time)} times>"

    supported: bool
    width: int
    tables: Ints
    outputs: Ints
    solving: list[int]
    times: DesignTimes
    reported = 0  # how outputs are written: see ALONE and APART of output_items
    lean: PositionsAlone | None = None

    def ask_components_apart(self) -> None:
        """Write the components of points one behind the other from now on, for those who reduce them."""
        from ..runtime.output_items import APART

        self.reported |= APART
        for (table, name), places in self.apart()[0].items():
            written = filter(None, self.mechanism.program.sequence.written[table, name])
            for (_, place), at in zip(written, places, strict=True):
                self.tables[place : place + 3] = at

    def apart(self) -> tuple[dict[tuple[str, str], list[int]], int]:
        """Return the places of all series, of which every component begins with a line of the cache, and their room."""
        found: dict[tuple[str, str], list[int]] = {}
        width = 0
        for name, places in self.places.items():
            found[name] = []
            for output, _ in places:
                found[name].append(width)
                width += max(output.widths) * whole_lines(len(self.time))
        return found, width

    def ask_positions_alone(self) -> None:
        """Write no rates from now on, and find none where groups are closed forms."""
        from ..runtime.output_items import ALONE

        self.reported |= ALONE
        if self.supported and PositionsAlone.able(self):
            self.lean = PositionsAlone(self)
            self.tables, self.n_rows = self.lean.tables, self.lean.n_rows

    # ---- preparation ----------------------------------------------------------------------------------------------
    def _prepare(self) -> None:
        """Lay out the results of a design, and the steps of all phases."""
        m, sequence = self.mechanism, self.mechanism.program.sequence
        self._lanes = self.time
        self.supported = m.reusable
        n = len(self.time)
        self.tables = sequence.tables.copy()
        width, outputs, bodies = 0, [], []
        self.places: dict[tuple[str, str], list[tuple[Output, int]]] = {}
        for table, name in self.wanted:
            self.places[table, name] = []
            for output, place in filter(None, sequence.written[table, name]):
                self.tables[place : place + 3] = width
                self.places[table, name].append((output, width))
                width += max(output.widths) * n
                outputs.append([*steps_of(output.function)[0, :2], place, 0, -1, 0])
                bodies += [b for b in output.angles if b not in bodies]
        self.width = width
        if not self.supported:
            return
        self.solving = sequence.of_kind(*SOLVED_KINDS)
        # a group that is never singular has nothing to be looked at unless it may not close
        self.watched = [
            i for i in sequence.groups.values()
            if m.structure.redundant or not sequence.items[i].group.steady  # type: ignore[union-attr]
        ]  # fmt: skip
        self.groups = [sequence.items[i].group_step for i in self.solving]
        self.unknowns = np.array([0 if g is None else len(g.phi_rows) for g in self.groups], dtype=np.int64)
        self.unknowns[[sequence.items[i].kind == "angle" for i in self.solving]] = -1
        self.angle_items = [sequence.body_angles[b] for b in bodies]
        self.outputs = np.array(outputs, dtype=np.int64).reshape(-1, 6)
        functions = sequence.motions
        assert functions is not None
        self.functions = functions
        self.driver_rows = np.array(list(m.program.drivers.values()), dtype=np.int64)
        self.times = DesignTimes(m, self.time, self.wanted, self.functions, self.driver_rows)
        self._steps: dict[bool, tuple[Ints, ...]] = {}
        self._spare: dict[bytes, list[Any]] = {}
        self.n_rows = m.program.n_rows

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
            sequence.steps("quality" if self.lean is None else "td", self.watched),
            sequence.steps("angles", self.angle_items),
            self.outputs,
            sequence.steps("positions", [])[:0] if self.lean is None else self.lean.steps(folded),
        )

    def _functions(self) -> tuple[Ints, Array, Array]:
        return self.functions.code, self.functions.numbers, self.functions.work()

    # ---- designs --------------------------------------------------------------------------------------------------
    def __call__(self, **design: float) -> Results:
        """Return the series of one design; AssemblyError, with what was solved, where it cannot be followed."""
        values = self.mechanism.traced.design(design)
        out, answers, apart = self._solved(values, 1)
        solved = int(answers[0, 1])
        if 0 in apart:
            error = apart[0]
            if isinstance(error, AssurgentError) and not isinstance(error, AssemblyError):
                raise error
        results = self._results(out[0], solved, values)
        if answers[0, 0] != 0:
            why = apart[0] if 0 in apart else self._stop(answers[0], values[:, 0], self._lanes)
            raise AssemblyError(self._message(why), results)
        return results

    def batch(self, designs: Mapping[str, Any] | pandas.DataFrame, threads: int = 1) -> Batch:
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
        grid = self._lanes

        def losses() -> tuple[Array, tuple[str, ...]]:
            lost_at, messages = np.full(len(answers), np.nan), [""] * len(answers)
            for i in np.flatnonzero(answers[:, 0]).tolist():
                why = apart[i] if i in apart else self._stop(answers[i], values[:, i], grid)
                lost_at[i] = why.time if isinstance(why, Stop) else grid[0]
                messages[i] = self._message(why)
            return lost_at, tuple(messages)

        own = np.zeros(len(answers), dtype=np.bool_)
        own[list(apart)] = True
        return Batch(
            dict(zip(self.names, values, strict=True)), self.time, tables["points"], tables["bodies"], tables["joints"],
            answers[:, 0], answers[:, 1], own, losses,
        )  # fmt: skip

    def _solved(self, values: Array, threads: int) -> tuple[Array, Ints, dict[int, Any]]:
        """Return results (design, order, place), answers, and what became of designs that were run on their own."""
        count = values.shape[1]
        answers = np.full((count, 5), 3, dtype=np.int64)
        out = np.empty((count, 3, self.width))
        if self.supported:
            numbers = np.empty((count, self.mechanism.numbers.n_wanted))
            kept = np.empty(count, dtype=np.bool_)

            def evaluate(part: slice) -> None:
                found, kept[part] = self.mechanism.numbers.evaluate(values[:, part])
                numbers[part] = found.T

            def solve(part: slice) -> None:
                self._run(numbers[part], kept[part], grid, lanes, phases, out[part], answers[part])

            with using_threads(threads):
                edges = np.linspace(0, count, min(thread_count(), count) + 1).astype(int).tolist()
                parts = [slice(a, b) for a, b in itertools.pairwise(edges)]
                each(evaluate, parts)
                grid, lanes = self.times.grid(numbers)
                phases = self._phases(count * len(grid))
                self._lanes = grid
                each(solve, parts)
            if self.times.closer(numbers, answers, grid):
                return self._solved(values, threads)
        apart: dict[int, Any] = {}
        for i in np.flatnonzero(answers[:, 0] == 3).tolist():
            apart[i] = self._alone(dict(zip(self.names, values[:, i].tolist(), strict=True)), out[i], answers[i])
        return out, answers, apart

    def _run(
        self, numbers: Array, kept: NDArray[np.bool_], grid: Array, lanes: Ints, phases: tuple[Ints, ...], out: Array,
        answers: Ints,
    ) -> Array:  # fmt: skip
        """Run designs one after the other; the state of the last one, which the next call uses again."""
        from .design_kernels import OWN_WAY, run_designs

        held = self.held(grid, lanes, phases)
        state = held[0]
        run_designs(numbers, kept, *self.fixed(held, phases, grid), out, *self.varied(held, lanes), answers)
        if self.mechanism.program.wheels:  # of which groups count the turns one after the other
            answers[:, 0] = OWN_WAY
        self.give_back(held, grid)
        return np.asarray(state)

    def held(self, grid: Array, lanes: Ints, phases: tuple[Ints, ...]) -> Any:
        """Return the state and scratch of a run, one that nobody else uses; to be given back to the spare ones."""
        from ..runtime.sequencer import CALL_SIZE, COLUMNS, ORDERS, REPORT_SIZE, STRIDE

        sequence, n = self.mechanism.program.sequence, len(grid)
        key = grid.tobytes()  # what is held has the drivers and the asked lanes of these very instants
        try:
            return self._spare[key].pop()
        except (KeyError, IndexError):
            stride = n if self.lean is None else whole_lines(n)
            call = np.zeros(CALL_SIZE, dtype=np.int64)
            call[STRIDE], call[COLUMNS] = stride, 1
            asked = np.concatenate([call, lanes])
            asked[ORDERS] = self.reported
            held = (
                aligned(3, self.n_rows, stride), call, asked,
                (
                    np.ones((1, sequence.n_signs)), sequence.scratch(), np.zeros((0, 0)),
                    np.zeros(max(map(len, phases)), dtype=np.int64), np.zeros(len(phases[1]), dtype=np.int64),
                    np.zeros((len(phases[2]), REPORT_SIZE)), np.empty((3, 1, n)),
                    np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64),
                ),
                self._functions(),
            )  # fmt: skip
            edges, constants = np.array([0, n]), sequence.of_kind("constants")
            sequence.run("constants", grid, held[0], edges, np.zeros((1, 0)), constants)
            if not sequence.moving and len(self.driver_rows):
                held[0][:, self.driver_rows, :n] = sequence.drive(grid, sequence.numbers)[:3]
            if self.lean is not None:
                self.lean.fill(grid, held[0])
        return held

    def give_back(self, held: Any, grid: Array) -> None:
        """Let the next run at the same instants use what this one held; what is of other instants is dropped."""
        key = grid.tobytes()
        spare = self._spare.get(key)
        if spare is None:
            self._spare = {key: (spare := [])}
        spare.append(held)

    def fixed(self, held: Any, phases: tuple[Ints, ...], grid: Array) -> tuple[Any, ...]:
        """Return what all designs have in common, as compiled code takes it."""
        rows = self.driver_rows if self.mechanism.program.sequence.moving else self.driver_rows[:0]
        return held[4], rows, phases, self.unknowns, self.tables, grid, held[0]

    def varied(self, held: Any, lanes: Ints) -> tuple[Any, ...]:
        """Return what every design uses again."""
        return (held[1], held[2]), lanes, held[3], RESIDUAL_BOUND

    def _alone(self, design: Mapping[str, float], out: Array, answer: Ints) -> Stop | AssurgentError | None:
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
        answer[0] = 0 if outcome.stop is None else 2 if solved == 0 else 1
        answer[1] = solved
        return outcome.stop

    # ---- what is said ---------------------------------------------------------------------------------------------
    def _results(self, out: Array, solved: int, values: Array) -> Results:
        model, n = self.mechanism.traced.model, len(self.time)
        tables: dict[str, dict[str, Any]] = {"points": {}, "bodies": {}, "joints": {}}
        for (table, name), places in self.places.items():
            parts = [parts_of(out, output, at, n, solved) for output, at in places]
            tables[table][name] = series_of(table, places, parts)
        drivers: dict[str, DriverSeries] = {}
        return Results(
            model.name, "td", model.space, self.time[:solved], tables["points"], tables["bodies"], tables["joints"],
            drivers, parameters=dict(zip(self.mechanism.traced.names, values[:, 0].tolist(), strict=True)),
        )  # fmt: skip

    def _stop(self, answer: Ints, values: Array, grid: Array) -> Stop | None:
        """Return where a design was lost that the compiled run gave up: the time of the loss, not of a lane."""
        group: GroupStep | None = self.groups[int(answer[2])] if self.supported and answer[2] >= 0 else None
        if group is None:
            return None
        lane, plan = int(answer[4]), group.plan
        if answer[0] != 2:
            numbers = np.ascontiguousarray(self.mechanism.numbers.evaluate(values[:, None])[0][:, 0])
            found = follow(self.mechanism.program, grid[: lane + 1], numbers=numbers).stop
            if found is not None:
                return found
        return no_solution(plan, float(grid[min(lane, len(grid) - 1)]), NO_ASSEMBLY)

    def _message(self, why: Any) -> str:
        if isinstance(why, Stop):
            return why.message
        return MESSAGES[NO_ASSEMBLY] if why is None else str(why)
