"""The global methods of a run: all groups as one Newton system, followed from the assembly of the groups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..status import MESSAGES
from .continuity import quality
from .global_system import build
from .plan import Array
from .program import GroupStep, Program
from .run import BRIDGE_NODES, Course, Solution, begin, bridge_weights, grid_of, solve, stop


def solve_global(
    program: Program, time: Array, method: str, course: Course, numbers: Array | None = None
) -> Solution:
    """Return the motion at the asked times by one Newton system over all groups."""
    first = solve(program, time[:1], "td", numbers=numbers)
    grid = grid_of(program, time, course, numbers)
    solution = begin(program, grid, numbers)
    solution.asked, solution.course = np.searchsorted(grid, time), course
    solution.modes, solution.chosen, solution.signs = first.modes, first.chosen, first.signs
    if first.failure is not None:
        solution.solved, solution.failure = 0, replace(first.failure, time=float(grid[0]))
        return solution
    solution.state[:, :, 0] = first.state[:, :, 0]
    driven = list(program.drivers.values())
    start = solution.state[0, :, 0].copy()
    system = build(program.sequence, driven, start, float(grid[0]), method, numbers=solution.numbers)
    skip = np.zeros(len(grid), dtype=np.bool_)
    bridges = [b for found in course.bridges.values() for b in found]
    skip[[int(np.searchsorted(grid, t)) for t, _, _ in bridges]] = True
    skip[0] = False
    try:
        solved, stats = system.run(grid, solution.state, skip, np.array([-1.0, 0.0, 0.0, 0.0]))
    finally:
        system.linear.release()
    solution.solved, solution.iterations = solved, int(stats[0])
    solution.notes = {"linear_solver": system.linear.name, "equations": len(system.unknown)}
    if solved < len(grid):
        stop(solution, _weakest(solution), solved, int(stats[2]) if int(stats[2]) in MESSAGES else 1)
    _bridge(solution, bridges)
    return solution


def _weakest(solution: Solution) -> GroupStep:
    """Return the group that was nearest to singularity at the last solved step; without one, the largest."""
    groups = [s for s in solution.program.steps if isinstance(s, GroupStep)]
    if not solution.solved:
        return max(groups, key=lambda step: len(step.phi_rows))
    return min(groups, key=lambda step: float(quality(solution, step)[0][-1]))


def _bridge(solution: Solution, bridges: list[tuple[float, float, float]]) -> None:
    """Interpolate all rows at instants where a group is singular but smooth, from inner times on both sides."""
    driven = np.array([*solution.program.drivers.values(), *solution.program.constants], dtype=np.int64)
    for t, centre, spacing in bridges:
        lanes = np.searchsorted(solution.time, centre + BRIDGE_NODES * spacing)
        lane = int(np.searchsorted(solution.time, t))
        if lanes[0] > 0 and lanes[-1] < solution.solved:
            known = solution.state[:, driven, lane].copy()
            solution.state[:, :, lane] = solution.state[:, :, lanes] @ bridge_weights(t, centre, spacing)
            solution.state[:, driven, lane] = known
