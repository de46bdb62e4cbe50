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
from .plan import Array
from .program import GroupStep, NumericStep, Program
from .sequence import SOLVED_KINDS, Ints
from .solvers import Solver
from .threads import each, thread_count
from .timefunctions import values as time_values

LARGEST_TURN = 0.19  # rad (11 degrees) that a driver may move between two inner steps
LARGEST_STROKE = 0.1  # of the mechanism's size, likewise
MOST_INNER = 100_000  # inner steps between two asked times


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


@dataclass
class Course:
    """What is known of the way of a run beforehand: inner times, branch changes, and instants to be passed smoothly.

    `flips` are (time, number of the sign) per group: from that time on the sign is the opposite one. `bridges` are
    (time, centre, spacing) per group: instants next to a centre at which the group is singular although its motion
    is smooth, and the spacing of the inner times about the centre from which their values follow.
    """

    extra: list[float] = field(default_factory=list)
    flips: dict[str, list[tuple[float, int]]] = field(default_factory=dict)
    bridges: dict[str, list[tuple[float, float, float]]] = field(default_factory=dict)
    meetings: dict[str, list[float]] = field(default_factory=dict)  # instants at which branches meet, crossed or not


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
    residuals: dict[str, float] = field(default_factory=dict)  # largest, scaled, of groups in absolute coordinates

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
                _bridge(self, last, out[:1])
        return out

    @property
    def size(self) -> float:
        """A length of the mechanism's order of size."""
        return float(self.numbers[self.program.sequence.size_place])

    def solver(self, step: GroupStep) -> Solver:
        """Return the solver of a group with the numbers of the design."""
        par, start = self.program.sequence.numbers_of(step, self.numbers)
        return replace(step.solver, par=par, start=start)

    angled: set[str] = field(default_factory=set)  # bodies whose continuous angles stand in their rows

    def follow_angle(self, body: str) -> None:
        """Write the continuous angle of a body into its row, unless it stands there."""
        if body not in self.angled:
            self.angled.add(body)
            sequence, edges = self.program.sequence, np.array([0, self.solved], dtype=np.int64)
            if self.solved:
                items = [sequence.body_angles[body]]
                sequence.run(
                    "angles", self.time, self.state, edges, np.zeros((1, 0)), items, numbers=self.numbers
                )

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
    if len(time) < 2:
        return time
    splits = np.ones(len(time) - 1, dtype=np.int64)
    sequence, drivers = program.sequence, program.model.drivers
    values = dict(zip(drivers, sequence.drive(time, numbers).swapaxes(0, 1), strict=True))
    size = float(numbers[sequence.size_place])
    for name, driver in drivers.items():
        largest = LARGEST_TURN if driver.kind in ("angle", "turn") else LARGEST_STROKE * size
        # the rate sees what a difference of values misses, such as a whole turn between two steps
        rate = np.abs(values[name][1])
        way = np.maximum(np.abs(np.diff(values[name][0])), np.maximum(rate[1:], rate[:-1]) * np.diff(time))
        splits = np.maximum(splits, np.minimum(np.ceil(way / largest * (1 - 1e-9)), MOST_INNER).astype(np.int64))
    if splits.max() == 1:
        return time
    return refined(time, splits)


def refined(time: Array, splits: Ints) -> Array:
    """Return times with each interval split into so many equal steps."""
    splits = np.minimum(splits, MOST_INNER)
    pieces = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(time[:-1], time[1:], splits, strict=True)]
    return np.append(np.concatenate(pieces), time[-1])


def grid_of(program: Program, time: Array, course: Course, numbers: Array | None = None) -> Array:
    """Return the times to be solved: the asked ones, inner ones, and those that the course adds."""
    grid = inner_steps(program, time, program.sequence.numbers if numbers is None else numbers)
    if course.extra:
        grid = np.union1d(grid, [t for t in course.extra if grid[0] < t < grid[-1]])
    return grid


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
    if method.startswith("global"):
        from .global_run import solve_global

        return solve_global(program, time, method, course, numbers)
    grid = grid_of(program, time, course, numbers)
    solution = begin(program, grid, numbers)
    solution.asked, solution.course = np.searchsorted(grid, time), course
    for items in segments(solution):
        advance(solution, items, method, modes)
        if solution.solved == 0:
            break
    return solution


def segments(solution: Solution, last: GroupStep | None = None) -> list[list[int]]:
    """Return the items in order, in one piece but for groups that Python looks after: cams, bridges.

    A bridge is built of lanes on both sides, so that what builds on its group must wait for it. `last` is the group
    at which to end.
    """
    bridged = solution.course.bridges
    found: list[list[int]] = [[]]
    for i, item in enumerate(solution.program.sequence.items):
        if item.kind not in SOLVED_KINDS:
            continue
        alone = isinstance(item.step, NumericStep)
        if alone and found[-1]:
            found.append([])
        found[-1].append(i)
        group = item.group_step
        if group is not None and group is last:
            break
        if alone or (group is not None and group.plan.name in bridged):
            found.append([])
    return [items for items in found if items]


def advance(
    solution: Solution, items: Sequence[int], method: str, modes: bool = False, assembled: bool = False
) -> None:
    """Solve a segment over all lanes; groups that are not `assembled` yet are closed at the first lane before."""
    sequence = solution.program.sequence
    step = sequence.items[items[0]].step
    if isinstance(step, NumericStep):
        from .numeric import sweep_numeric

        with np.errstate(all="ignore"):  # what is not finite does not converge
            sweep_numeric(solution, step)
        return
    if not assembled and not _assemble(solution, items, method, modes):
        return
    n = solution.solved
    edges, signs = _stretches(solution, n)
    lost = _swept(solution, items, method, edges, signs)
    last = sequence.items[items[-1]].group_step
    if last is not None:
        _bridge(solution, last)
    _check(solution, items, lost, n)


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
        for t, which in solution.course.flips.get(name, []):
            changes.append((min(n, int(np.searchsorted(solution.time, t))), at + which))
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


BRIDGE_NODES = np.array([-4.0, -3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0])


def _bridge(solution: Solution, step: GroupStep, state: Array | None = None) -> None:
    """Interpolate (order seven) at instants where the group is singular but smooth, from inner times on both sides."""
    state = solution.state if state is None else state
    for t, centre, spacing in solution.course.bridges.get(step.plan.name, []):
        lanes = np.searchsorted(solution.time, centre + BRIDGE_NODES * spacing)
        lane = int(np.searchsorted(solution.time, t))
        if lanes[0] > 0 and lanes[-1] < solution.solved:
            weights = bridge_weights(t, centre, spacing)
            state[:, step.phi_rows, lane] = state[:, step.phi_rows[:, None], lanes[None, :]] @ weights


def bridge_weights(t: float, centre: float, spacing: float) -> Array:
    """Return what the values at the nodes about a centre weigh in the value at t (polynomial of order seven)."""
    x = (t - centre) / spacing
    others = [np.delete(BRIDGE_NODES, i) for i in range(len(BRIDGE_NODES))]
    return np.array([np.prod((x - o) / (n - o)) for n, o in zip(BRIDGE_NODES, others, strict=True)])


def stop(solution: Solution, step: GroupStep | NumericStep, first: int, status: int) -> None:
    """End a run before step `first`, at which a group has no solution."""
    plan = step.plan
    solution.solved = first
    solution.failure = Failure(plan.name, plan.bodies, plan.joints, float(solution.time[first]), status)


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

    return newton_modes(solver, h, t, scale, every)


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
