"""A program by several threads: closed forms by blocks of instants, Newton's groups side by side.

A closed form needs no other instant, so that a row of such steps runs through each block of instants on its own.
Newton goes on from the instant before; groups that do not build on each other run at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .program import GroupStep, LinearStep, Step
from .run import Solution, assemble, check, combine, find_points, solve_lanes, take
from .threads import each, thread_count


def solve_together(solution: Solution, method: str, modes: bool) -> None:
    """Do all steps of a solution's program by the threads that may be used."""
    for steps in parts(solution):
        if len(steps) == 1 and not in_blocks(solution, steps[0]):
            take(solution, steps[0], method, modes)
        elif in_blocks(solution, steps[0]):
            _by_blocks(solution, steps, method, modes)
        else:
            _side_by_side(solution, [s for s in steps if isinstance(s, GroupStep)], method, modes)
        if solution.solved == 0:
            return


def parts(solution: Solution) -> list[list[Step]]:
    """Return the steps in order, together where they can be done together."""
    found: list[list[Step]] = []
    for step in solution.program.steps:
        if found and _joins(solution, step, found[-1]):
            found[-1].append(step)
        else:
            found.append([step])
    return found


def _joins(solution: Solution, step: Step, others: Sequence[Step]) -> bool:
    """Return whether a step can be done at the same time as others."""
    if in_blocks(solution, step):
        return in_blocks(solution, others[0])
    return all(_newton(s) for s in (*others, step)) and not _builds_on(step, others)


def in_blocks(solution: Solution, step: Step) -> bool:
    """Return whether a step needs no other instant: combinations, and closed forms whose branch never changes."""
    if isinstance(step, LinearStep):
        return True
    course = solution.course
    return (
        isinstance(step, GroupStep)
        and step.solver.closed_form
        and not course.flips.get(step.plan.name)
        and not course.bridges.get(step.plan.name)
    )


def _newton(step: Step) -> bool:
    return isinstance(step, GroupStep) and not step.solver.closed_form


def _builds_on(step: Step, others: Sequence[Step]) -> bool:
    assert isinstance(step, GroupStep)
    made: set[int] = set()
    for other in others:
        assert isinstance(other, GroupStep)
        made.update(int(r) for r in other.phi_rows)
        made.update(() if other.point_rows is None else (int(r) for r in other.point_rows.ravel()))
    return not made.isdisjoint(int(r) for r in step.h_rows)


def _by_blocks(solution: Solution, steps: Sequence[Step], method: str, modes: bool) -> None:
    for step in steps:  # the first instant decides the branches
        if isinstance(step, GroupStep) and not assemble(solution, step, modes):
            return
        _advance(solution, step, method, 0, 1)
    edges = np.linspace(1, solution.solved, thread_count() + 1).astype(int)

    def block(i: int) -> None:
        for step in steps:
            _advance(solution, step, method, int(edges[i]), int(edges[i + 1]))

    each(block, range(thread_count()))
    for step in steps:
        if isinstance(step, GroupStep):
            check(solution, step, solution.solved)


def _advance(solution: Solution, step: Step, method: str, first: int, last: int) -> None:
    if isinstance(step, GroupStep):
        work = np.empty_like(step.solver.group.work)
        solve_lanes(solution, step, method, solution.signs[step.plan.name], first, last, work)
        find_points(solution, step, first, last)
    elif isinstance(step, LinearStep):
        combine(solution, step, slice(first, last))


def _side_by_side(solution: Solution, steps: Sequence[GroupStep], method: str, modes: bool) -> None:
    for step in steps:
        if not assemble(solution, step, modes):
            return
    n = solution.solved

    def whole(step: GroupStep) -> tuple[int, int]:
        work = np.empty_like(step.solver.group.work)
        return solve_lanes(solution, step, method, solution.signs[step.plan.name], 0, n, work)

    for step, (failed, iterations) in zip(steps, each(whole, steps), strict=True):
        solution.iterations += iterations
        check(solution, step, n - failed)
    for step in steps:
        find_points(solution, step, 0, solution.solved)
