"""Run a program over time: assemble at the start, sweep group by group, stop cleanly where a group cannot go on."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import AssemblyError, InputError
from ..mechanism.model import Model
from ..status import MESSAGES, NO_ASSEMBLY, OK, SINGULAR
from .plan import Array
from .program import AngleStep, GroupStep, LinearStep, NumericStep, Program, Step
from .threads import thread_count
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
    iterations: int = 0
    failure: Failure | None = None
    modes: dict[str, tuple[Mode, ...]] = field(default_factory=dict)
    chosen: dict[str, int] = field(default_factory=dict)
    signs: dict[str, Array] = field(default_factory=dict)  # of the first step
    course: Course = field(default_factory=Course)
    notes: dict[str, object] = field(default_factory=dict)  # of the method, for the diagnostics
    residuals: dict[str, float] = field(default_factory=dict)  # largest, scaled, of groups in absolute coordinates


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


def inner_steps(model: Model, time: Array) -> Array:
    """Return times with inner ones where a driver would move too far at once."""
    if len(time) < 2:
        return time
    splits = np.ones(len(time) - 1, dtype=np.int64)
    values = driver_values(model, time)
    for name, driver in model.drivers.items():
        largest = LARGEST_TURN if driver.kind in ("angle", "turn") else LARGEST_STROKE * model.size
        # the rate sees what a difference of values misses, such as a whole turn between two steps
        rate = np.abs(values[name][1])
        way = np.maximum(np.abs(np.diff(values[name][0])), np.maximum(rate[1:], rate[:-1]) * np.diff(time))
        splits = np.maximum(splits, np.ceil(way / largest * (1 - 1e-9)).astype(np.int64))
    if splits.max() == 1:
        return time
    splits = np.minimum(splits, MOST_INNER)
    pieces = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(time[:-1], time[1:], splits, strict=True)]
    return np.append(np.concatenate(pieces), time[-1])


def grid_of(program: Program, time: Array, course: Course) -> Array:
    """Return the times to be solved: the asked ones, inner ones, and those that the course adds."""
    grid = inner_steps(program.model, time)
    if course.extra:
        grid = np.union1d(grid, [t for t in course.extra if grid[0] < t < grid[-1]])
    return grid


def begin(program: Program, grid: Array) -> Solution:
    """Return an unsolved state over a grid of times: constants and drivers in their rows."""
    state = np.zeros((3, program.n_rows, len(grid)))
    for row, value in program.constants.items():
        state[0, row] = value
    for name, values in driver_values(program.model, grid).items():
        state[:, program.drivers[name]] = values[:3]
    return Solution(program, grid, np.arange(len(grid)), state, len(grid))


def solve(
    program: Program, time: Array, method: str = "td", modes: bool = False, course: Course | None = None
) -> Solution:
    """Return the motion at the asked times (increasing); `modes` lists the assembly modes of every group as well."""
    course = course or Course()
    if method.startswith("global"):
        from .global_run import solve_global

        return solve_global(program, time, method, course)
    grid = grid_of(program, time, course)
    solution = begin(program, grid)
    solution.asked, solution.course = np.searchsorted(grid, time), course
    if thread_count() > 1:
        from .together import solve_together

        solve_together(solution, method, modes)
        return solution
    for step in program.steps:
        take(solution, step, method, modes)
        if solution.solved == 0:
            break
    return solution


def take(solution: Solution, step: Step, method: str, modes: bool) -> None:
    """Do one step of a program over all instants."""
    if isinstance(step, GroupStep):
        if assemble(solution, step, modes):
            sweep(solution, step, method)
    elif isinstance(step, NumericStep):
        from .numeric import sweep_numeric

        sweep_numeric(solution, step)
    else:
        combine(solution, step)


EVERY = slice(None)


def combine(solution: Solution, step: LinearStep | AngleStep, lanes: slice = EVERY) -> None:
    """Fill the rows of a step that only combines what is known; an angle is followed through all instants."""
    state = solution.state
    if isinstance(step, AngleStep):
        _follow_angle(state, step)
        return
    for row, parts in zip(step.rows, step.terms, strict=True):
        state[:, row, lanes] = sum(c * state[:, r, lanes] for r, c in parts)


# ---- one group ----------------------------------------------------------------------------------------------------
def sweep(solution: Solution, step: GroupStep, method: str) -> None:
    """Solve one group over all steps, from the φ in its rows at the first step and the signs found there."""
    n, work = solution.solved, step.solver.group.work
    failed = 0
    for first, last, signs in _stretches(solution, step, n):
        lost, iterations = solve_lanes(solution, step, method, signs, first, last, work)
        failed += lost
        solution.iterations += iterations
    _bridge(solution, step)
    check(solution, step, n - failed)
    find_points(solution, step, 0, solution.solved)


def solve_lanes(
    solution: Solution, step: GroupStep, method: str, signs: Array, first: int, last: int, work: Array
) -> tuple[int, int]:
    """Solve one group at the instants first to last - 1; the number of lanes that failed, and of iterations."""
    m, (q, qdot, qddot) = step.solver.group.module, solution.state
    kernel = m.sweep if method == "td" else m.sweep_3ot
    lost, iterations = kernel(
        solution.time, q, qdot, qddot, step.h_rows, step.solver.par, signs, q, qdot, qddot, step.phi_rows, first, last,
        work,
    )  # fmt: skip
    return int(lost), int(iterations)


def check(solution: Solution, step: GroupStep, reached: int) -> None:
    """Stop a run where a group could not be solved; `reached`: the first lane that Newton could not close."""
    n = solution.solved
    found = solution.state[:, step.phi_rows, :n]
    if reached < n and not step.solver.closed_form:
        stop(solution, step, reached, NO_ASSEMBLY)
    elif not np.isfinite(found).all():
        first = int(np.argmax(~np.isfinite(found).all(axis=(0, 1))))
        stop(solution, step, first, SINGULAR if np.isfinite(found[0, :, first]).all() else NO_ASSEMBLY)


def find_points(solution: Solution, step: GroupStep, first: int, last: int) -> None:
    """Fill the rows of a group's points of interest at the instants first to last - 1."""
    if step.point_rows is None or first >= last:
        return
    q, qdot, qddot = solution.state
    buffer = np.empty((step.point_rows.shape[0], 3, step.point_rows.shape[1]))
    step.solver.group.module.sweep_points(
        solution.time, q, qdot, qddot, step.h_rows, step.solver.par, q, qdot, qddot, step.phi_rows, step.point_rows,
        first, last, buffer,
    )  # fmt: skip


def _stretches(solution: Solution, step: GroupStep, n: int) -> list[tuple[int, int, Array]]:
    """Return (first, last, signs) of the stretches between two changes of branch."""
    signs = solution.signs[step.plan.name].copy()
    found, first = [], 0
    for t, which in solution.course.flips.get(step.plan.name, []):
        last = min(n, int(np.searchsorted(solution.time, t)))
        found.append((first, last, signs.copy()))
        signs[which] *= -1.0
        first = last
    return [*found, (first, n, signs)]


BRIDGE_NODES = np.array([-4.0, -3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0])


def _bridge(solution: Solution, step: GroupStep) -> None:
    """Interpolate (order seven) at instants where the group is singular but smooth, from inner times on both sides."""
    for t, centre, spacing in solution.course.bridges.get(step.plan.name, []):
        lanes = np.searchsorted(solution.time, centre + BRIDGE_NODES * spacing)
        lane = int(np.searchsorted(solution.time, t))
        if lanes[0] > 0 and lanes[-1] < solution.solved:
            weights = bridge_weights(t, centre, spacing)
            solution.state[:, step.phi_rows, lane] = solution.state[:, step.phi_rows[:, None], lanes[None, :]] @ weights


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


def assembly_modes(solution: Solution, step: GroupStep, every: bool) -> tuple[Mode, ...]:
    """Return the ways to assemble a group at the first step; of a Newton type only the nearest unless `every`."""
    solver, q = step.solver, solution.state[0]
    m, t, h = solver.group.module, float(solution.time[0]), np.ascontiguousarray(q[step.h_rows, 0])
    size = solution.program.model.size
    scale = np.array([_scale(s, size) for s in solver.group.dependent])
    if solver.closed_form:
        found = []
        for number, signs in enumerate(itertools.product((1.0, -1.0), repeat=len(m.BRANCHES)), 1):
            phi = np.zeros(len(solver.group.dependent))
            if m.position(phi, h, solver.par, t, np.array(signs), solver.group.work) == OK:
                distance = float(np.linalg.norm((phi - solver.start) / scale))
                found.append(Mode(number, phi, np.array(signs), distance))
        return tuple(found)
    from .modes import newton_modes

    return newton_modes(solver, h, t, scale, every)


def _scale(symbol: str, size: float) -> float:
    """Return the size that a change of a coordinate is measured by: lengths by the mechanism, directions by one."""
    return size if symbol.startswith(("x_", "y_", "z_")) else 1.0


def _follow_angle(state: Array, step: AngleStep) -> None:
    x, y = state[:, step.x], state[:, step.y]
    square = x[0] ** 2 + y[0] ** 2
    angle = np.unwrap(np.arctan2(y[0], x[0]))
    angle += 2 * np.pi * np.round((step.near - angle[0]) / (2 * np.pi))
    rate = (x[0] * y[1] - y[0] * x[1]) / square
    state[0, step.row], state[1, step.row] = angle, rate
    state[2, step.row] = (x[0] * y[2] - y[0] * x[2]) / square - 2 * rate * (x[0] * x[1] + y[0] * y[1]) / square


# ---- what the user hears ------------------------------------------------------------------------------------------
def failure_message(failure: Failure) -> str:
    """Return the message of a run that had to stop."""
    parts = f"bodies {', '.join(sorted(failure.bodies))}; joints {', '.join(sorted(failure.joints))}"
    return f"group {failure.group} ({parts}) at t = {failure.time:.9g} s: {MESSAGES[failure.status]}"


def raise_failure(failure: Failure, results: object = None) -> NoReturn:
    """Raise the error of a run that had to stop; `results` travel with it."""
    raise AssemblyError(failure_message(failure), results)
