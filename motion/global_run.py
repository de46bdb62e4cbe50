"""The global methods of a run: all groups as one Newton system, on the branches on which the groups are followed."""

from __future__ import annotations

import numpy as np

from ..common.status import NOT_CONVERGED
from ..mechanism.plans.plan import Array
from ..runtime.program import GroupStep, Program
from .branches import follow
from .global_system import build
from .run import Solution, begin, solve
from .sweeps import stop

ROUNDS = 40
NEAR_ENOUGH = 1e-6  # of the largest coordinate: farther from the groups' own solution is another branch


def follow_global(program: Program, time: Array, method: str, numbers: Array | None = None) -> Solution:
    """Return the motion at the asked times by one Newton system over all groups.

    Its instants are those of the groups, with more of them where it strays from their branches. Next to change points,
    where the system is as singular as its groups, the motion is that of the groups, the first instant included.
    """
    groups = follow(program, time, "td", numbers)
    rows = np.concatenate([s.phi_rows for s in program.steps if isinstance(s, GroupStep)])
    ended, course = groups.stop, groups.course
    end = groups.time[groups.solved] if groups.solved < len(groups.time) else np.inf
    for _ in range(ROUNDS):
        n = int(np.searchsorted(groups.time, end))
        solution, reached = _solved(groups, n, method)
        own = groups.state[0, rows, :n]
        off = np.abs(solution.state[0, rows, :n] - own).max(axis=0, initial=0.0)
        strayed = np.flatnonzero((np.arange(n) >= reached) | ~(off <= NEAR_ENOUGH * np.abs(own).max(initial=1e-300)))
        if len(strayed) == 0 or strayed[0] == 0:
            break
        before, there = groups.time[strayed[0] - 1 : strayed[0] + 1].tolist()
        course.extra += np.linspace(before, there, 5)[1:-1].tolist()
        groups = solve(program, time, "td", course=course, numbers=numbers)
    solution.asked, solution.solved = groups.asked, n
    solution.stop, solution.course = ended, course
    solution.modes, solution.chosen, solution.signs = groups.modes, groups.chosen, groups.signs
    if len(strayed):
        steps = [s for s in program.steps if isinstance(s, GroupStep)]
        weakest = min(steps, key=lambda s: float(groups.report[s.plan.name][0]))
        stop(solution, weakest, int(strayed[0]), NOT_CONVERGED)
    return solution


def _solved(groups: Solution, n: int, method: str) -> tuple[Solution, int]:
    """Solve the system at the first n instants of the groups; how far it came."""
    program, grid = groups.program, groups.time
    solution = begin(program, grid, groups.numbers, groups.course)
    if n == 0:
        return solution, 0
    solution.state[:, :, 0] = groups.state[:, :, 0]
    skip = np.zeros(n, dtype=np.bool_)
    for change_point in (m for found in groups.course.change_points.values() for m in found):
        skip[change_point.lanes(grid[:n])] = True
    regular = np.flatnonzero(~skip) if not skip.all() else np.arange(n)  # where rows and pivots can be chosen
    first = int(regular[0])
    start, driven = groups.state[0, :, first].copy(), list(program.drivers.values())
    system = build(
        program.sequence, driven, start, float(grid[first]), method, numbers=groups.numbers,
        poses=groups.state[0][:, regular],
    )  # fmt: skip
    state = np.ascontiguousarray(solution.state[:, :, :n])
    state[:, :, skip] = groups.state[:, :, :n][:, :, skip]  # singular there, although the motion is smooth
    try:
        reached, stats = system.run(grid[:n], state, skip, np.array([-1.0, 0.0, 0.0, 0.0]))
    finally:
        system.linear.release()
    solution.state[:, :, :n] = state
    solution.iterations = int(stats[0])
    solution.notes = {"linear_solver": system.linear.name, "equations": len(system.unknown)}
    return solution, int(reached)
