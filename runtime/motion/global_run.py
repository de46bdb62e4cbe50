"""The global methods of a run: all groups as one Newton system, on the branches on which the groups are followed."""

from __future__ import annotations

import numpy as np

from ..status import NOT_CONVERGED
from .continuity import follow
from .global_system import build
from .plan import Array
from .program import GroupStep, Program
from .run import Solution, begin, stop

ROUNDS = 12
NEAR_ENOUGH = 1e-6  # of the largest coordinate: farther from the groups' own solution is another branch


def follow_global(program: Program, time: Array, method: str, numbers: Array | None = None) -> Solution:
    """Return the motion at the asked times by one Newton system over all groups.

    Its instants are those of the groups, with more of them where it strays from their branches.
    """
    groups = follow(program, time, "td", numbers)
    grid, wrong = groups.time[: groups.solved], 0
    for _ in range(ROUNDS):
        solution, reached = _solved(groups, grid, method)
        lanes = np.searchsorted(grid, groups.time[: groups.solved])
        rows = np.concatenate([s.phi_rows for s in program.steps if isinstance(s, GroupStep)])
        own = groups.state[0, rows, : groups.solved]
        off = np.abs(solution.state[0, rows][:, lanes] - own).max(axis=0, initial=0.0)
        strayed = (lanes >= reached) | ~(off <= NEAR_ENOUGH * np.abs(own).max(initial=1e-300))
        if not strayed.any():
            break
        wrong = int(lanes[np.argmax(strayed)])
        if wrong == 0:
            break
        grid = np.union1d(grid, np.linspace(grid[wrong - 1], grid[wrong], 5)[1:-1])
    asked = groups.time[groups.asked]
    solution.asked = np.searchsorted(grid, asked)
    solution.solved = len(grid)
    solution.failure, solution.course = groups.failure, groups.course
    solution.modes, solution.chosen, solution.signs = groups.modes, groups.chosen, groups.signs
    if strayed.any():
        weakest = min(
            (s for s in program.steps if isinstance(s, GroupStep)),
            key=lambda s: float(groups.report[s.plan.name][0]),
        )
        stop(solution, weakest, wrong, NOT_CONVERGED)
    return solution


def _solved(groups: Solution, grid: Array, method: str) -> tuple[Solution, int]:
    """Solve the system over a grid that begins where the groups do; how far it came."""
    program = groups.program
    solution = begin(program, grid, groups.numbers)
    if len(grid) == 0:
        return solution, 0
    solution.state[:, :, 0] = groups.state[:, :, 0]
    skip = np.zeros(len(grid), dtype=np.bool_)
    for meeting in (m for found in groups.course.meetings.values() for m in found):
        skip[meeting.lanes(grid)] = True
    skip[0] = False
    start = solution.state[0, :, 0].copy()
    driven = list(program.drivers.values())
    system = build(program.sequence, driven, start, float(grid[0]), method, numbers=groups.numbers)
    try:
        reached, stats = system.run(grid, solution.state, skip, np.array([-1.0, 0.0, 0.0, 0.0]))
    finally:
        system.linear.release()
    # next to meetings the system is singular although the motion is smooth, as the groups found it
    bridged = np.flatnonzero(skip)
    lanes = np.searchsorted(groups.time, grid[bridged])
    there = groups.time[np.minimum(lanes, len(groups.time) - 1)] == grid[bridged]
    solution.state[:, :, bridged[there]] = groups.state[:, :, lanes[there]]
    solution.iterations = int(stats[0])
    solution.notes = {"linear_solver": system.linear.name, "equations": len(system.unknown)}
    return solution, int(reached)
