"""Run a program over time: assemble at the start, sweep group by group, stop cleanly where a group cannot go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..common.lines import lined_up
from ..common.status import NO_ASSEMBLY
from ..common.turns import DEEPEST, splits
from ..mechanism.plans.plan import Array
from ..runtime.program import GroupStep, Program
from ..runtime.solvers import Solver
from .course import Course
from .inner_times import grid_of, keep_within_memory, refined, turning
from .jumps import driven
from .modes import AssemblyMode, assemble, remember
from .outcome import Stop
from .sweeps import bridge, check, leaping, segments, stop, stretches, swept


@dataclass(eq=False)
class Solution:
    """The state over time, as far as it could be solved. `asked` are the steps that the user wants."""

    program: Program
    time: Array
    asked: NDArray[np.int64]
    state: Array  # (order, row, step)
    solved: int  # steps that are solved
    numbers: Array  # of the design
    iterations: int = 0
    stop: Stop | None = None
    modes: dict[str, tuple[AssemblyMode, ...]] = field(default_factory=dict)
    chosen: dict[str, int] = field(default_factory=dict)
    signs: dict[str, Array] = field(default_factory=dict)  # of the first step
    course: Course = field(default_factory=Course)
    whole: tuple[float, float] | None = None  # the ends of the run of which this is a stretch
    notes: dict[str, object] = field(default_factory=dict)  # of the method, for the diagnostics

    @cached_property
    def jerks(self) -> Array:
        """The third derivative of every row, in the first of three orders, by the types' own kernels."""
        program, sequence, n = self.program, self.program.sequence, self.solved
        out = np.zeros_like(self.state)
        if program.drivers:
            out[0, list(program.drivers.values())] = sequence.drive(self.time, self.numbers)[3]
        edges, signs = np.array([0, n], dtype=np.int64), np.zeros((1, 0))
        for items in segments(self):
            sequence.run("jerks", self.time, self.state, edges, signs, items, out=out, columns=1, numbers=self.numbers)
            last = sequence.items[items[-1]].group_step
            if last is not None:
                bridge(self, last, out[:1])
        return out

    @property
    def span(self) -> tuple[float, float]:
        """The ends of the run, of which this may be a stretch."""
        return self.whole or (float(self.time[0]), float(self.time[-1]))

    @property
    def size(self) -> float:
        """A length of the mechanism's order of size."""
        return float(self.numbers[self.program.sequence.size_place])

    def solver(self, step: GroupStep) -> Solver:
        """Return the solver of a group with the numbers of the design."""
        par, start = self.program.sequence.numbers_of(step, self.numbers)
        return replace(step.solver, par=par, start=start)

    angled: dict[str, bool] = field(default_factory=dict)  # bodies whose angles stand in their rows: surely?
    coarse: list[int] = field(default_factory=list)  # rows of angles on which groups build, between lanes too far apart
    depth: int = 0  # how many rounds of inner steps lie behind
    fine: Solution | None = None

    def follow_angle(self, body: str) -> bool:
        """Write the continuous angle of a body into its row, unless it stands there; False where lanes are too far
        apart for its whole turns to be certain."""
        if body not in self.angled:
            sequence, edges = self.program.sequence, np.array([0, self.solved], dtype=np.int64)
            items, self.angled[body] = [sequence.body_angles[body]], True
            if self.solved:
                lost, _ = sequence.run(
                    "angles", self.time, self.state, edges, np.zeros((1, 0)), items, numbers=self.numbers
                )
                self.angled[body] = bool(lost[0] >= self.solved)
        return self.angled[body]

    def finer(self, angles: Sequence[Array], lanes: int) -> Solution | None:
        """Return the same motion with inner steps where angles (each: value, rate, acceleration) turn too far at once.

        Without angles all steps are halved. None where there are enough, or where no steps are small enough. Lanes
        behind the last that is reported are left out: towards a dead point no steps are small enough.
        """
        if self.fine is None and self.depth < DEEPEST:
            grid = _between(self, [angle[:, :lanes] for angle in angles], lanes)
            if len(grid) > lanes:
                self.fine = solve(self.program, grid, course=self.course, numbers=self.numbers)
                self.fine.depth = self.depth + 1
        return self.fine if self.fine is not None and self.fine.solved == len(self.fine.time) else None

    @cached_property
    def report(self) -> dict[str, Array]:
        """What the lanes say about every group: least conditioning and its lane, largest residual, suspicious lanes."""
        from ..runtime.sequencer import REPORT_SIZE

        sequence, n = self.program.sequence, self.solved
        if n == 0:
            return {}
        found = np.zeros((len(sequence.groups), REPORT_SIZE))
        found[:, 0] = np.inf
        self.qualities(list(sequence.groups.values()), np.empty((3, 1, len(self.time))), found)
        return dict(zip(sequence.groups, found, strict=True))

    def qualities(self, items: Sequence[int], out: Array, report: Array) -> None:
        """Write conditioning and residual of groups into out[0] and out[1], and what they say into the report."""
        n = self.solved
        edges, signs = np.array([0, n], dtype=np.int64), np.zeros((1, 0))
        self.program.sequence.run(
            "quality", self.time, self.state, edges, signs, items, out=out, report=report, block=max(n, 1),
            numbers=self.numbers,
        )  # fmt: skip


def begin(program: Program, grid: Array, numbers: Array | None = None, course: Course | None = None) -> Solution:
    """Return an unsolved state over a grid of times: constants and drivers in their rows, with a design's numbers."""
    course = course or Course()
    state = lined_up(3, program.n_rows, len(grid))
    sequence = program.sequence
    numbers = sequence.numbers if numbers is None else numbers
    edges, items = np.array([0, len(grid)]), sequence.of_kind("constants")
    sequence.run("values", grid, state, edges, np.zeros((1, 0)), items, numbers=numbers)  # their rates are zeros
    if program.drivers:
        state[:, list(program.drivers.values())] = driven(program, grid, numbers, course.ramps)[:3]
    return Solution(program, grid, np.arange(len(grid)), state, len(grid), numbers, course=course)


@dataclass(frozen=True)
class Before:
    """Where a stretch of a run goes on from: a lane, the signs of the branches there, and the ends of the whole run."""

    solution: Solution
    lane: int
    signs: dict[str, Array]
    whole: tuple[float, float]


def resumed(before: Before, grid: Array, course: Course) -> Solution:
    """Return an unsolved state over a grid of times that goes on from a lane of another one."""
    solution, sequence = before.solution, before.solution.program.sequence
    numbers = solution.numbers.copy()
    for i in sequence.of_kind("angle"):  # continuous angles go on from where they are
        row, start = sequence.tables[sequence.items[i].place :][:2]
        numbers[start] = solution.state[0, row, before.lane]
    found = begin(solution.program, grid, numbers, course)
    found.signs, found.whole = before.signs, before.whole
    for i in sequence.groups.values():
        step = sequence.items[i].group_step
        assert step is not None
        found.state[:, step.phi_rows, 0] = solution.state[:, step.phi_rows, before.lane]
    return found


def signs_at(solution: Solution, lane: int) -> dict[str, Array]:
    """Return the signs of the branches of all groups at a lane."""
    sequence = solution.program.sequence
    edges, signs = stretches(solution, solution.solved)
    here = signs[np.searchsorted(edges, lane, side="right") - 1]
    places = {name: sequence.items[sequence.groups[name]].sign_place for name in solution.signs}
    return {name: here[places[name] :][: len(own)].copy() for name, own in solution.signs.items()}


def solve(
    program: Program,
    time: Array,
    method: str = "td",
    modes: bool = False,
    course: Course | None = None,
    numbers: Array | None = None,
    before: Before | None = None,
) -> Solution:
    """Return the motion at the asked times (increasing); `modes` lists the assembly modes of every group as well.

    `numbers` are those of a design, the nominal ones by default; `before` is where it goes on from, the sketch by
    default.
    """
    course = course or Course()
    for _ in range(DEEPEST):
        grid = grid_of(program, time, course, numbers)
        solution = begin(program, grid, numbers, course) if before is None else resumed(before, grid, course)
        solution.asked = np.searchsorted(grid, time)
        for items in segments(solution):
            advance(solution, items, method, modes, before is not None)
            if solution.solved == 0:
                break
        if not solution.coarse:
            break
        inner = _between(solution, [solution.state[:, row] for row in solution.coarse], len(grid))
        course.extra += np.setdiff1d(inner, grid).tolist()
    return solution


def wound(program: Program, time: Array, method: str, known: Course, numbers: Array) -> Array:
    """Return the times to be solved at least: near enough to each other for drivers and for what gears make fast."""
    course = Course(list(known.extra), ramps=known.ramps)
    for _ in range(DEEPEST if program.turning_rows else 0):
        more = turning(solve(program, time, method, course=course, numbers=numbers))
        if not len(more):
            break
        course.extra = [*known.extra, *more.tolist()]
    return grid_of(program, time, course, numbers)


def _between(solution: Solution, angles: Sequence[Array], lanes: int) -> Array:
    """Return times of a run with inner ones where angles turn so far at once that whole turns are not certain."""
    time = solution.time[:lanes]
    counts = np.max([splits(time, *angle) for angle in angles], axis=0) if angles else np.full(len(time) - 1, 2)
    keep_within_memory(solution.program, len(time), counts.sum())
    return refined(time, counts)


def advance(
    solution: Solution, items: Sequence[int], method: str, modes: bool = False, assembled: bool = False
) -> None:
    """Solve a segment over all lanes; groups that are not `assembled` yet are closed at the first lane before."""
    sequence = solution.program.sequence
    if not assembled and not _assemble(solution, items, method, modes):
        return
    n = solution.solved
    last = sequence.items[items[-1]].group_step
    if last is not None and not last.solver.closed_form and last.plan.name in solution.course.change_points:
        lost = leaping(solution, last, items, method, n)
    else:
        lost = swept(solution, items, method, *stretches(solution, n))
    solution.coarse += [sequence.tables[sequence.items[i].place] for i in lost if sequence.items[i].kind == "angle"]
    if last is not None:
        bridge(solution, last)
    check(solution, items, lost, n)


def _assemble(solution: Solution, items: Sequence[int], method: str, list_modes: bool) -> bool:
    """Close the groups of a segment at the first lane, nearest to the sketch; False where one cannot be."""
    sequence, wanted = solution.program.sequence, solution.program.model.assembly
    groups = {i: step for i in items if (step := sequence.items[i].group_step) is not None}
    first = np.array([0, 1], dtype=np.int64)
    signs = stretches(solution, 1)[1]
    apart = {*wanted, *solution.program.wheels}
    if not list_modes and not any(s.plan.name in apart for s in groups.values()):
        modes = np.zeros(len(items), dtype=np.int64)
        _, iterations = sequence.run(
            method, solution.time, solution.state, first, signs, items, modes=modes, numbers=solution.numbers
        )
        solution.iterations += iterations
        if all(modes[k] for k, i in enumerate(items) if i in groups):
            for i, step in groups.items():
                remember(solution, step, signs[0, sequence.items[i].sign_place :])
            return True
    for i in items:  # one after the other: a mode is asked for by its number, or Newton needs another start
        step = groups.get(i)
        if step is not None and not assemble(solution, step, list_modes):
            stop(solution, step, 0, NO_ASSEMBLY)
            return False
        here = stretches(solution, 1)[1]
        sequence.run(method, solution.time, solution.state, first, here, [i], numbers=solution.numbers)
    return True
