"""Run a program over time: assemble at the start, sweep group by group, stop cleanly where a group cannot go on."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import AssemblyError, InputError
from ..mechanism.model import Model
from ..status import MESSAGES, NO_ASSEMBLY, OK, SINGULAR
from .plan import Array
from .program import AngleStep, GroupStep, LinearStep, Program

LARGEST_TURN = 0.19  # rad (11 degrees) that a driver may move between two inner steps
LARGEST_STROKE = 0.1  # of the mechanism's size, likewise


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


@dataclass(eq=False)
class Solution:
    """The state over time, as far as it could be solved. `asked` are the steps that the user wants."""

    program: Program
    time: Array
    asked: NDArray[np.int64]
    state: Array  # (order, row, step)
    solved: int  # steps that are solved
    iterations: int = 0
    newton_steps: int = 0
    failure: Failure | None = None
    modes: dict[str, tuple[Mode, ...]] = field(default_factory=dict)
    chosen: dict[str, int] = field(default_factory=dict)


def driver_values(model: Model, time: Array) -> dict[str, Array]:
    """Return value and three derivatives of every driver, 4 x n; a value that is no number is wrong input."""
    found = {}
    for name, driver in model.drivers.items():
        values = np.asarray(driver.motion(time), dtype=np.float64)
        if not np.isfinite(values[:3]).all():
            t = time[int(np.argmax(~np.isfinite(values[:3]).all(axis=0)))]
            raise InputError(
                f"{model.origin or model.name}: [drivers] {name}: '{driver.motion.text}' or one of its first two "
                f"derivatives is not a finite number at t = {t:g} - correct the expression, or the times of the run"
            )
        found[name] = values
    return found


def inner_steps(model: Model, time: Array) -> tuple[Array, NDArray[np.int64]]:
    """Return times with inner steps where a driver would move too far at once, and where the asked times stand."""
    if len(time) < 2:
        return time, np.arange(len(time))
    splits = np.ones(len(time) - 1, dtype=np.int64)
    values = driver_values(model, time)
    for name, driver in model.drivers.items():
        largest = LARGEST_TURN if driver.kind in ("angle", "turn") else LARGEST_STROKE * model.size
        # the rate sees what a difference of values misses, such as a whole turn between two steps
        rate = np.abs(values[name][1])
        way = np.maximum(np.abs(np.diff(values[name][0])), np.maximum(rate[1:], rate[:-1]) * np.diff(time))
        splits = np.maximum(splits, np.ceil(way / largest * (1 - 1e-9)).astype(np.int64))
    splits = np.minimum(splits, 100_000)
    pieces = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(time[:-1], time[1:], splits, strict=True)]
    return np.append(np.concatenate(pieces), time[-1]), np.concatenate([[0], np.cumsum(splits)])


def solve(program: Program, time: Array, method: str = "td", modes: bool = False) -> Solution:
    """Return the motion at the asked times (increasing); `modes` lists the assembly modes of every group as well."""
    model = program.model
    grid, asked = inner_steps(model, time)
    n = len(grid)
    state = np.zeros((3, program.n_rows, n))
    for row, value in program.constants.items():
        state[0, row] = value
    for name, values in driver_values(model, grid).items():
        state[:, program.drivers[name]] = values[:3]
    solution = Solution(program, grid, asked, state, n)
    for step in program.steps:
        match step:
            case GroupStep():
                _sweep(solution, step, method, modes)
            case LinearStep(rows, terms):
                for row, parts in zip(rows, terms, strict=True):
                    state[:, row] = sum(c * state[:, r] for r, c in parts)
            case AngleStep():
                _follow_angle(state, step)
        if solution.solved == 0:
            break
    return solution


# ---- one group ----------------------------------------------------------------------------------------------------
def _sweep(solution: Solution, step: GroupStep, method: str, list_modes: bool) -> None:
    q, qdot, qddot = solution.state
    m, solver, n = step.solver.group.module, step.solver, solution.solved
    work = solver.group.work
    mode = _assemble(solution, step, list_modes)
    if mode is None:
        return
    q[step.phi_rows, 0] = mode.phi
    sweep = m.sweep if method == "td" else m.sweep_3ot
    time = solution.time
    failed, iterations = sweep(
        time, q, qdot, qddot, step.h_rows, solver.par, mode.signs, q, qdot, qddot, step.phi_rows, 0, n, work
    )
    solution.iterations += int(iterations)
    solution.newton_steps += 0 if solver.closed_form else n
    found = solution.state[:, step.phi_rows, :n]
    if failed and not solver.closed_form:
        _stop(solution, step, n - int(failed), NO_ASSEMBLY)
    elif not np.isfinite(found).all():
        first = int(np.argmax(~np.isfinite(found).all(axis=(0, 1))))
        _stop(solution, step, first, SINGULAR if np.isfinite(found[0, :, first]).all() else NO_ASSEMBLY)
    if step.point_rows is not None and solution.solved:
        buffer = np.empty((step.point_rows.shape[0], 3, step.point_rows.shape[1]))
        m.sweep_points(
            time, q, qdot, qddot, step.h_rows, solver.par, q, qdot, qddot, step.phi_rows, step.point_rows,
            0, solution.solved, buffer,
        )  # fmt: skip


def _stop(solution: Solution, step: GroupStep, first: int, status: int) -> None:
    plan = step.plan
    solution.solved = first
    solution.failure = Failure(plan.name, plan.bodies, plan.joints, float(solution.time[first]), status)


def _assemble(solution: Solution, step: GroupStep, list_modes: bool) -> Mode | None:
    """Return the assembly mode at the first step: the one asked for, or the one nearest to the sketch."""
    plan, model = step.plan, solution.program.model
    wanted = model.assembly.get(plan.name)
    modes = assembly_modes(solution, step, every=list_modes or wanted is not None)
    solution.modes[plan.name] = modes
    if not modes:
        _stop(solution, step, 0, NO_ASSEMBLY)
        return None
    mode = min(modes, key=lambda m: m.distance)
    if wanted is not None:
        named = [m for m in modes if m.number == wanted]
        if not named:
            raise InputError(
                f"{model.origin or model.name}: [assembly] {plan.name}: there is no mode {wanted} - "
                f"this group has the modes {', '.join(str(m.number) for m in modes)}"
            )
        mode = named[0]
    solution.chosen[plan.name] = mode.number
    return mode


def assembly_modes(solution: Solution, step: GroupStep, every: bool) -> tuple[Mode, ...]:
    """Return the ways to assemble a group at the first step; of a Newton type only the nearest unless `every`."""
    solver, q = step.solver, solution.state[0]
    m, t, h = solver.group.module, float(solution.time[0]), np.ascontiguousarray(q[step.h_rows, 0])
    size = solution.program.model.size
    scale = np.array([_scale(s, solver.group.module.COORDINATES, size) for s in solver.group.dependent])
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


def _scale(symbol: str, coordinates: dict[str, tuple[str, ...]], size: float) -> float:
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
    parts = f"bodies {', '.join(failure.bodies)}; joints {', '.join(failure.joints)}"
    return f"group {failure.group} ({parts}) at t = {failure.time:.9g} s: {MESSAGES[failure.status]}"


def raise_failure(failure: Failure) -> None:
    raise AssemblyError(failure_message(failure))
