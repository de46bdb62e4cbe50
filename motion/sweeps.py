"""Sweep the groups of a program over all lanes: in stretches of one branch, over bridges, until one cannot go on."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..common.status import NO_ASSEMBLY, SINGULAR
from ..mechanism.plans.plan import Array
from ..runtime.parallel import each, thread_count
from ..runtime.program import GroupStep
from ..runtime.sequence import SOLVED_KINDS, Ints
from .outcome import no_solution

if TYPE_CHECKING:
    from .run import Solution


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
        bridged = group is not None and group.plan.name in solution.course.change_points
        if bridged and not item.closed:
            found.append([])
        found[-1].append(i)
        if group is not None and group is last:
            break
        if bridged:
            found.append([])
    return [items for items in found if items]


def leaping(solution: Solution, step: GroupStep, items: Sequence[int], method: str, n: int) -> dict[int, int]:
    """Sweep a Newton group from one change point to the next: beyond each it starts from the lane before, predicted."""
    state, t, rows = solution.state, solution.time, step.phi_rows
    gaps = [(n, n)]
    for change_point in solution.course.change_points[step.plan.name]:
        at = int(np.searchsorted(t[:n], change_point.centre))
        lanes = change_point.lanes(t[:n])
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


def swept(solution: Solution, items: Sequence[int], method: str, edges: Ints, signs: Array) -> dict[int, int]:
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
        return sequence.run(method, t, state, parts[i : i + 2], signs[stretch : stretch + 1], chosen, numbers=numbers)

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


def check(solution: Solution, items: Sequence[int], lost: dict[int, int], n: int) -> None:
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


def stretches(solution: Solution, n: int) -> tuple[Ints, Array]:
    """Return the lanes at which the branch of a group changes, with the ends, and the signs of each stretch."""
    sequence = solution.program.sequence
    signs = np.ones(sequence.n_signs)
    changes = []
    for name, found in solution.signs.items():
        at = sequence.items[sequence.groups[name]].sign_place
        signs[at : at + len(found)] = found
        for change_point in solution.course.change_points.get(name, []):
            if change_point.sign >= 0:
                changes.append(
                    (min(n, int(np.searchsorted(solution.time, change_point.centre))), at + change_point.sign)
                )
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
    for change_point in solution.course.change_points.get(step.plan.name, []):
        lanes, nodes = change_point.lanes(t), change_point.found(t)
        if len(lanes) and len(nodes) and nodes.max() < solution.solved:
            state[:, rows, lanes] = state[:, rows, nodes] @ change_point.weights(t[lanes])


def stop(
    solution: Solution, step: GroupStep, first: int, status: int, time: float | None = None, reason: str = ""
) -> None:
    """End a run before step `first`, at which, or since a time before it, a group has no solution."""
    plan = step.plan
    solution.solved = first
    solution.__dict__.pop("report", None)  # of lanes that are no longer among the solved ones
    time = float(solution.time[first]) if time is None else time
    solution.stop = no_solution(plan, time, status, reason)
