"""Run a program over time: assemble at the start, sweep group by group, stop cleanly where a group cannot go on."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import AssemblyError, InputError
from ..mechanism.model import Model
from ..status import MESSAGES, NO_ASSEMBLY, OK, SINGULAR
from ..turns import DEEPEST, splits
from .plan import Array
from .program import GroupStep, Program
from .sequence import SOLVED_KINDS, Ints
from .solvers import Solver
from .threads import each, thread_count
from .timefunctions import values as time_values

LARGEST_TURN = 0.19  # rad (11 degrees) that a driver may move between two inner steps
LARGEST_STROKE = 0.1  # of the mechanism's size, likewise
LARGEST_SWING = 0.5  # of its largest rate that a driver's rate may change between two inner steps
MOST_INNER = 100_000  # inner steps between two asked times
MOST_LANES = 20_000_000  # of a run that follows turns


@dataclass(frozen=True)
class Failure:
    """Where a run had to stop: the group, the time of the first step that has no solution, and why."""

    group: str
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    time: float
    status: int


@dataclass(frozen=True)
class Mode:
    """One way to assemble a group at the start: its number, its φ, and the branch signs (none for Newton)."""

    number: int
    phi: Array
    signs: Array
    distance: float  # from the sketch


@dataclass(frozen=True)
class Meeting:
    """An instant at which branches of a group meet while its motion goes on smoothly.

    Lanes nearer to it than a spacing, where digits are lost, follow from the values at eight nodes (order seven):
    from both sides, or next to an end of the run from one.
    """

    centre: float
    spacing: float
    offsets: tuple[int, ...]  # of the nodes from the centre, in spacings, the nearest first
    sign: int = -1  # number of the branch sign that is the opposite one from there on

    @property
    def nodes(self) -> Array:
        return self.centre + self.spacing * np.array(self.offsets, dtype=np.float64)

    def lanes(self, time: Array) -> Ints:
        """Return the lanes that follow from the nodes."""
        return np.flatnonzero(np.abs(time - self.centre) < 0.99 * self.spacing)

    def weights(self, time: Array) -> Array:
        """Return what the values at the nodes weigh in those at some times, node x time."""
        x, nodes = (time - self.centre) / self.spacing, np.array(self.offsets, dtype=np.float64)
        others = [np.delete(nodes, i)[:, None] for i in range(len(nodes))]
        return np.array([np.prod((x - o) / (n - o), axis=0) for n, o in zip(nodes, others, strict=True)])

    def found(self, time: Array) -> Ints:
        """Return the lanes of the nodes; none where one is missing among the times."""
        lanes = np.minimum(np.searchsorted(time, self.nodes), len(time) - 1)
        return lanes if (time[lanes] == self.nodes).all() else lanes[:0]


@dataclass
class Course:
    """What is known of the way of a run beforehand: inner times, and the instants at which branches of groups meet.

    `clear` are stretches of time, by group, that were looked at closely and need nothing.
    """

    extra: list[float] = field(default_factory=list)
    meetings: dict[str, list[Meeting]] = field(default_factory=dict)
    clear: dict[str, list[tuple[float, float]]] = field(default_factory=dict)


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
    failure: Failure | None = None
    modes: dict[str, tuple[Mode, ...]] = field(default_factory=dict)
    chosen: dict[str, int] = field(default_factory=dict)
    signs: dict[str, Array] = field(default_factory=dict)  # of the first step
    course: Course = field(default_factory=Course)
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
            sequence.run(
                "jerks", self.time, self.state, edges, signs, items, out=out, columns=1, numbers=self.numbers
            )
            last = sequence.items[items[-1]].group_step
            if last is not None:
                bridge(self, last, out[:1])
        return out

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

    def finer(self, angles: Sequence[Array]) -> Solution | None:
        """Return the same motion with inner steps where angles (each: value, rate, acceleration) turn too far at once.

        Without angles all steps are halved. None where there are enough, or where no steps are small enough.
        """
        if self.fine is None and self.depth < DEEPEST:
            grid = _between(self, angles)
            if len(grid) > self.solved:
                self.fine = solve(self.program, grid, course=self.course, numbers=self.numbers)
                self.fine.depth = self.depth + 1
        return self.fine if self.fine is not None and self.fine.solved == len(self.fine.time) else None

    @cached_property
    def report(self) -> dict[str, Array]:
        """What the lanes say about every group: least conditioning and its lane, largest residual, suspicious lanes."""
        from ..sequencer import REPORT_SIZE

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


def driver_values(model: Model, time: Array) -> dict[str, Array]:
    """Return value and three derivatives of every driver, 4 x n; a value that is no number is wrong input."""
    values, bad = time_values([driver.motion for driver in model.drivers.values()], time)
    for i, (name, driver) in enumerate(model.drivers.items() if bad else ()):
        finite = np.isfinite(values[:3, i]).all(axis=0)
        if not finite.all():
            raise InputError(
                f"{model.origin or model.name}: [drivers] {name}: '{driver.motion.text}' or one of its first two "
                f"derivatives is not a finite number at t = {time[int(np.argmin(finite))]:g} - correct the expression, "
                "or the times of the run"
            )
    return {name: values[:, i] for i, name in enumerate(model.drivers)}


def inner_steps(program: Program, time: Array, numbers: Array) -> Array:
    """Return times with inner ones where a driver would move too far at once."""
    sequence, drivers = program.sequence, program.model.drivers
    if len(time) < 2 or not drivers:
        return time
    looked = probes(time)
    values = sequence.drive(looked, numbers)
    size, counts = float(numbers[sequence.size_place]), np.ones(len(time) - 1)
    for driver, value, rate, bend in zip(drivers.values(), values[0], *np.abs(values[1:3]), strict=True):
        largest = LARGEST_TURN if driver.kind in ("angle", "turn") else LARGEST_STROKE * size
        # the rate sees what a difference of values misses, such as a whole turn between two steps
        ways = np.maximum(np.abs(np.diff(value)), np.maximum(rate[1:], rate[:-1]) * np.diff(looked)) / largest
        swings = np.diff(looked) * (bend.max() / (LARGEST_SWING * max(rate.max(), 1e-300)))
        counts = np.fmax(counts, steps_for(np.maximum(ways, swings), len(time) - 1))
    return refined(time, counts.astype(np.int64))


def probes(time: Array) -> Array:
    """Return times with others between them at which drivers are looked at: they may swing between two asked times."""
    return refined(time, np.full(len(time) - 1, max(3, 4096 // (len(time) - 1))))


def steps_for(ways: Array, intervals: int) -> Array:
    """Return the inner steps of each interval, from ways between probes as shares of the largest one at once."""
    return np.asarray(np.minimum(np.ceil(ways.reshape(intervals, -1).sum(axis=1) * (1 - 1e-9)), MOST_INNER))


def refined(time: Array, counts: Ints) -> Array:
    """Return times with each interval split into so many equal steps."""
    counts = np.clip(counts, 1, MOST_INNER)
    if counts.max(initial=1) == 1:
        return time
    at = np.repeat(np.arange(len(counts)), counts)
    part = np.arange(len(at)) - (np.cumsum(counts) - counts)[at]
    return np.append(time[at] + part * (np.diff(time) / counts)[at], time[-1])


def turning(solution: Solution) -> Array:
    """Return times between lanes from one to the other of which a gear or the like turns too far for what it drives."""
    rows, n = solution.program.turning_rows, solution.solved
    if not rows or n < 2:
        return np.zeros(0)
    rate, time = np.abs(solution.state[1, rows, :n]).max(axis=0), solution.time[:n]
    splits = np.ceil(np.maximum(rate[1:], rate[:-1]) * np.diff(time) / LARGEST_TURN * (1 - 1e-9)).astype(np.int64)
    return refined(time, splits) if splits.max() > 1 else np.zeros(0)


def grid_of(program: Program, time: Array, course: Course, numbers: Array | None = None) -> Array:
    """Return the times to be solved: the asked ones, inner ones, and those that the course adds."""
    grid = inner_steps(program, time, program.sequence.numbers if numbers is None else numbers)
    more = np.concatenate([np.array(course.extra), *(m.nodes for found in course.meetings.values() for m in found)])
    return np.union1d(grid, more[(grid[0] < more) & (more < grid[-1])]) if len(more) else grid


def begin(program: Program, grid: Array, numbers: Array | None = None) -> Solution:
    """Return an unsolved state over a grid of times: constants and drivers in their rows, with a design's numbers."""
    state = _lined_up((3, program.n_rows, len(grid)))
    sequence = program.sequence
    numbers = sequence.numbers if numbers is None else numbers
    edges, items = np.array([0, len(grid)]), sequence.of_kind("constants")
    sequence.run("values", grid, state, edges, np.zeros((1, 0)), items, numbers=numbers)  # their rates are zeros
    if program.drivers:
        state[:, list(program.drivers.values())] = sequence.drive(grid, numbers)[:3]
    return Solution(program, grid, np.arange(len(grid)), state, len(grid), numbers)


def _lined_up(shape: tuple[int, ...]) -> Array:
    """Return zeros that begin on a line of the cache, so that fewer vectors of lanes straddle two.

    Of a large array the system gives a page when it is first written: rows that nobody writes cost nothing.
    """
    count = int(np.prod(shape))
    room = np.zeros(count + 8)
    skip = (-room.ctypes.data % 64) // 8
    return room[skip : skip + count].reshape(shape)


def solve(
    program: Program,
    time: Array,
    method: str = "td",
    modes: bool = False,
    course: Course | None = None,
    numbers: Array | None = None,
) -> Solution:
    """Return the motion at the asked times (increasing); `modes` lists the assembly modes of every group as well.

    `numbers` are those of a design, the nominal ones by default.
    """
    course = course or Course()
    for _ in range(DEEPEST):
        grid = grid_of(program, time, course, numbers)
        solution = begin(program, grid, numbers)
        solution.asked, solution.course = np.searchsorted(grid, time), course
        for items in segments(solution):
            advance(solution, items, method, modes)
            if solution.solved == 0:
                break
        if not solution.coarse:
            break
        inner = _between(solution, [solution.state[:, row] for row in solution.coarse])
        course.extra += np.setdiff1d(inner, grid).tolist()
    return solution


def _between(solution: Solution, angles: Sequence[Array]) -> Array:
    """Return the times of a run with inner ones where angles turn so far at once that whole turns are not certain."""
    time = solution.time[: angles[0].shape[1] if angles else solution.solved]
    counts = np.max([splits(time, *angle) for angle in angles], axis=0) if angles else np.full(len(time) - 1, 2)
    if counts.sum() > MOST_LANES:
        model = solution.program.model
        raise InputError(
            f"{model.origin or model.name}: between two of the asked times angles make more turns than can be followed "
            "- ask for a time that is nearer to the start"
        )
    return refined(time, counts)


def segments(solution: Solution, last: GroupStep | None = None) -> list[list[int]]:
    """Return the items in order, in one piece but for groups whose branches meet; `last` is the group at which to end.

    A bridge is built of lanes on both sides, so that what builds on its group must wait for it; Newton leaps over it,
    on its own.
    """
    found: list[list[int]] = [[]]
    for i, item in enumerate(solution.program.sequence.items):
        if item.kind not in SOLVED_KINDS:
            continue
        group = item.group_step
        bridged = group is not None and group.plan.name in solution.course.meetings
        if bridged and not item.closed:
            found.append([])
        found[-1].append(i)
        if group is not None and group is last:
            break
        if bridged:
            found.append([])
    return [items for items in found if items]


def advance(
    solution: Solution, items: Sequence[int], method: str, modes: bool = False, assembled: bool = False
) -> None:
    """Solve a segment over all lanes; groups that are not `assembled` yet are closed at the first lane before."""
    sequence = solution.program.sequence
    if not assembled and not _assemble(solution, items, method, modes):
        return
    n = solution.solved
    last = sequence.items[items[-1]].group_step
    if last is not None and not last.solver.closed_form and last.plan.name in solution.course.meetings:
        lost = _leaping(solution, last, items, method, n)
    else:
        lost = _swept(solution, items, method, *_stretches(solution, n))
    solution.coarse += [sequence.tables[sequence.items[i].place] for i in lost if sequence.items[i].kind == "angle"]
    if last is not None:
        bridge(solution, last)
    _check(solution, items, lost, n)


def _leaping(solution: Solution, step: GroupStep, items: Sequence[int], method: str, n: int) -> dict[int, int]:
    """Sweep a Newton group from meeting to meeting: beyond each it starts from the prediction of the lane before."""
    state, t, rows = solution.state, solution.time, step.phi_rows
    gaps = [(n, n)]
    for meeting in solution.course.meetings[step.plan.name]:
        at = int(np.searchsorted(t[:n], meeting.centre))
        lanes = meeting.lanes(t[:n])
        gaps.append((int(lanes[0]), int(lanes[-1]) + 1) if len(lanes) else (at, at))
    first = 0
    for end, beyond in sorted(gaps):
        if first < end:
            edges = np.array([first, end], dtype=np.int64)
            lost, iterations = solution.program.sequence.run(
                method, t, state, edges, np.ones((1, 0)), items, numbers=solution.numbers, start=first
            )
            solution.iterations += iterations
            if lost[0] < n:
                return {items[0]: int(lost[0])}
        if end > 0 and beyond < n:
            x, v, a = state[:, rows, end - 1]
            dt = t[beyond] - t[end - 1]
            state[0, rows, beyond] = x + dt * (v + 0.5 * dt * a)
        first = beyond
    return {}


def _swept(solution: Solution, items: Sequence[int], method: str, edges: Ints, signs: Array) -> dict[int, int]:
    """Run the items over all lanes; the first lane lost of each that loses any (or that of its block).

    With several threads runs of items that need no other lane are done by blocks of lanes side by side.
    """
    sequence, state, t, numbers = solution.program.sequence, solution.state, solution.time, solution.numbers
    count = thread_count()
    if count == 1 or edges[-1] < 2 * count:
        lost, iterations = sequence.run(method, t, state, edges, signs, items, numbers=numbers)
        solution.iterations += iterations
        return {i: int(k) for i, k in zip(items, lost.tolist(), strict=True) if k < edges[-1]}
    found: dict[int, int] = {}
    parts = np.unique(np.concatenate([np.linspace(0, edges[-1], count + 1).astype(np.int64), edges]))

    def part(arguments: tuple[list[int], int]) -> tuple[Ints, int]:
        chosen, i = arguments
        stretch = int(np.searchsorted(edges, parts[i], side="right")) - 1
        return sequence.run(
            method, t, state, parts[i : i + 2], signs[stretch : stretch + 1], chosen,
            call=np.zeros_like(sequence.call), work=np.zeros_like(sequence.work), numbers=numbers,
        )  # fmt: skip

    for serial, group in itertools.groupby(items, key=lambda i: sequence.items[i].serial):
        chosen = list(group)
        if serial:
            lost, iterations = sequence.run(method, t, state, edges, signs, chosen, numbers=numbers)
            results = [(lost, iterations)]
        else:
            results = each(part, [(chosen, i) for i in range(len(parts) - 1)])
        for lost, iterations in results:
            solution.iterations += iterations
            for i, k in zip(chosen, lost.tolist(), strict=True):
                if k < edges[-1]:
                    found[i] = min(found.get(i, k), k)
    return found


def _check(solution: Solution, items: Sequence[int], lost: dict[int, int], n: int) -> None:
    """Stop a run where a group could not be solved: at the first lane of all, of several groups in the first one."""
    worst: tuple[int, GroupStep, int] | None = None
    for i in items:
        step = solution.program.sequence.items[i].group_step
        if i not in lost or step is None:
            continue
        found = np.isfinite(solution.state[:, step.phi_rows, lost[i] : n])
        lane = lost[i] + int(np.argmin(found.all(axis=(0, 1))))
        if not found.all() and (worst is None or lane < worst[0]):
            closed = bool(found[0, :, lane - lost[i]].all())
            worst = lane, step, SINGULAR if closed else NO_ASSEMBLY
    if worst is not None:
        stop(solution, worst[1], worst[0], worst[2])


def _stretches(solution: Solution, n: int) -> tuple[Ints, Array]:
    """Return the lanes at which the branch of a group changes, with the ends, and the signs of each stretch."""
    sequence = solution.program.sequence
    signs = np.ones(sequence.n_signs)
    changes = []
    for name, found in solution.signs.items():
        at = sequence.items[sequence.groups[name]].sign_place
        signs[at : at + len(found)] = found
        for meeting in solution.course.meetings.get(name, []):
            if meeting.sign >= 0:
                changes.append((min(n, int(np.searchsorted(solution.time, meeting.centre))), at + meeting.sign))
    edges, rows = [0], [signs.copy()]
    for lane, place in sorted(changes):
        signs[place] *= -1.0
        if lane == edges[-1]:
            rows[-1] = signs.copy()
        else:
            edges.append(lane)
            rows.append(signs.copy())
    if edges[-1] == n and len(edges) > 1:
        edges.pop()
        rows.pop()
    return np.array([*edges, n], dtype=np.int64), np.array(rows).reshape(len(rows), -1)


def bridge(solution: Solution, step: GroupStep, state: Array | None = None) -> None:
    """Interpolate next to instants at which the group is singular although its motion is smooth."""
    state, t, rows = solution.state if state is None else state, solution.time, step.phi_rows[:, None]
    for meeting in solution.course.meetings.get(step.plan.name, []):
        lanes, nodes = meeting.lanes(t), meeting.found(t)
        if len(lanes) and len(nodes) and nodes.max() < solution.solved:
            state[:, rows, lanes] = state[:, rows, nodes] @ meeting.weights(t[lanes])


def stop(solution: Solution, step: GroupStep, first: int, status: int, time: float | None = None) -> None:
    """End a run before step `first`, at which, or since a time before it, a group has no solution."""
    plan = step.plan
    solution.solved = first
    solution.__dict__.pop("report", None)  # of lanes that are no longer among the solved ones
    time = float(solution.time[first]) if time is None else time
    solution.failure = Failure(plan.name, plan.bodies, plan.joints, time, status)


def _assemble(solution: Solution, items: Sequence[int], method: str, list_modes: bool) -> bool:
    """Close the groups of a segment at the first lane, nearest to the sketch; False where one cannot be."""
    sequence, wanted = solution.program.sequence, solution.program.model.assembly
    groups = {i: step for i in items if (step := sequence.items[i].group_step) is not None}
    first = np.array([0, 1], dtype=np.int64)
    signs = _stretches(solution, 1)[1]
    if not list_modes and not any(s.plan.name in wanted for s in groups.values()):
        modes = np.zeros(len(items), dtype=np.int64)
        _, iterations = sequence.run(
            method, solution.time, solution.state, first, signs, items, modes=modes, numbers=solution.numbers
        )
        solution.iterations += iterations
        if all(modes[k] for k, i in enumerate(items) if i in groups):
            for i, step in groups.items():
                _remember(solution, step, signs[0, sequence.items[i].sign_place :])
            return True
    for i in items:  # one after the other: a mode is asked for by its number, or Newton needs another start
        step = groups.get(i)
        if step is not None and not assemble(solution, step, list_modes):
            return False
        here = _stretches(solution, 1)[1]
        sequence.run(method, solution.time, solution.state, first, here, [i], numbers=solution.numbers)
    return True


def _remember(solution: Solution, step: GroupStep, signs: Array) -> None:
    """Note the branch of a group at the first lane; modes are numbered in the order of their signs, + before -."""
    found = signs[: len(step.solver.group.branches)].copy()
    number = 1
    for sign in found:
        number = 2 * number - (1 if sign > 0 else 0)
    solution.signs[step.plan.name], solution.chosen[step.plan.name] = found, number


def assemble(solution: Solution, step: GroupStep, list_modes: bool) -> bool:
    """Close a group at the first step in the mode asked for, or the one nearest to the sketch; False if it cannot."""
    plan, model = step.plan, solution.program.model
    wanted = model.assembly.get(plan.name)
    modes = assembly_modes(solution, step, every=list_modes or wanted is not None)
    solution.modes[plan.name] = modes
    if not modes:
        stop(solution, step, 0, NO_ASSEMBLY)
        return False
    mode = min(modes, key=lambda m: (round(m.distance, 9), m.number))  # of equally near ones the first, not rounding
    if wanted is not None:
        named = [m for m in modes if m.number == wanted]
        if not named:
            raise InputError(
                f"{model.origin or model.name}: [assembly] {plan.name}: there is no mode {wanted} - "
                f"this group has the modes {', '.join(str(m.number) for m in modes)}"
            )
        mode = named[0]
    solution.chosen[plan.name] = mode.number
    solution.state[0, step.phi_rows, 0] = mode.phi
    solution.signs[plan.name] = mode.signs
    return True


def assembly_modes(
    solution: Solution, step: GroupStep, every: bool, start: Array | None = None
) -> tuple[Mode, ...]:
    """Return the ways to assemble a group at the first step; of a Newton type only the nearest unless `every`.

    They are numbered and compared by their distance from the sketch, or from `start`.
    """
    solver, q = solution.solver(step), solution.state[0]
    solver = solver if start is None else replace(solver, start=start)
    m, t, h = solver.group.module, float(solution.time[0]), np.ascontiguousarray(q[step.h_rows, 0])
    size = solution.size
    scale = np.array([_scale(s, size) for s in solver.group.dependent])
    if solver.closed_form:
        found = []
        for number, signs in enumerate(itertools.product((1.0, -1.0), repeat=len(m.BRANCHES)), 1):
            phi = np.zeros(len(solver.group.dependent))
            if m.position(phi, h, solver.par, t, np.array(signs), solver.group.work) == OK:
                with np.errstate(over="ignore"):  # farther away than numbers go
                    distance = float(np.linalg.norm((phi - solver.start) / scale))
                found.append(Mode(number, phi, np.array(signs), distance))
        return tuple(found)
    from .modes import newton_modes

    return newton_modes(solution, step, solver.start, scale, every)


def _scale(symbol: str, size: float) -> float:
    """Return the size that a change of a coordinate is measured by: lengths by the mechanism, directions by one."""
    return size if symbol.startswith(("x_", "y_", "z_")) else 1.0


# ---- what the user hears ------------------------------------------------------------------------------------------
def failure_message(failure: Failure) -> str:
    """Return the message of a run that had to stop."""
    parts = f"bodies {', '.join(sorted(failure.bodies))}; joints {', '.join(sorted(failure.joints))}"
    return f"group {failure.group} ({parts}) at t = {failure.time:.9g} s: {MESSAGES[failure.status]}"


def raise_failure(failure: Failure, results: object = None) -> NoReturn:
    """Raise the error of a run that had to stop; `results` travel with it."""
    raise AssemblyError(failure_message(failure), results)
