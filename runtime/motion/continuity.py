"""No silent change of branch: a run is looked through, refined where that is not certain, and run again.

A closed form holds its sign, which is right as long as its two branches stay apart. Where they meet exactly (change
point: a parallelogram with all bars in line) the motion crosses to the other sign; where they only come near, it does
not. Which of the two it is, the least distance of the group from singularity tells: a V that reaches zero, or not.
Newton-Raphson follows a prediction; a step that lands far from it is halved until it does not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..status import NO_ASSEMBLY, OK
from ..status import SINGULAR as DEAD_POINT
from .plan import Array
from .program import GroupStep, Program
from .run import BRIDGE_NODES, Course, Solution, advance, begin, segments, solve, stop

ROUNDS = 40
ZOOMS = 10  # each to a fifth of the interval
MEETING = 1e-6  # conditioning that counts as zero: below, rounding hides the branches from each other
CLEAR = 0.02  # conditioning at which enough digits are left to bridge a meeting from there
NEAR, FAR = 0.35, 0.25  # as in the sequencer: conditioning below which branches may meet, and misses not trusted
SUSPECTS, STRAYS = 3, 4  # of the sequencer's report


def follow(program: Program, time: Array, method: str = "td", numbers: Array | None = None) -> Solution:
    """Return the motion at the asked times with every group kept on its branch; `numbers` are those of a design."""
    course = Course()
    solution = solve(program, time, method, course=course, numbers=numbers)
    for _ in range(ROUNDS):
        if not _mend(solution, course):
            return solution
        solution = solve(program, time, method, course=course, numbers=numbers)
    # still not settled: what cannot be followed with certainty is not shown
    for step in program.steps:
        if isinstance(step, GroupStep) and not step.solver.closed_form:
            stray = _strays(solution, step)
            if len(stray):
                stop(solution, step, int(stray[0]) + 1, DEAD_POINT)
    return solution


def quality(solution: Solution, step: GroupStep) -> tuple[Array, Array]:
    """Return conditioning and residual of a group over the solved steps."""
    n = solution.solved
    found = np.empty((3, 1, len(solution.time)))
    solution.qualities([solution.program.sequence.groups[step.plan.name]], found, np.zeros((0, 0)))
    return found[0, 0, :n], found[1, 0, :n]


def _mend(solution: Solution, course: Course) -> bool:
    """Look for the first group that needs something; note it in the course. False where all is well."""
    if solution.solved < 3:
        return False
    sequence, failure = solution.program.sequence, solution.failure
    for name, report in solution.report.items():
        step = sequence.items[sequence.groups[name]].group_step
        assert step is not None
        if step.solver.closed_form:
            suspicious = report[SUSPECTS] > 0 or (failure is not None and failure.group == name)
            if suspicious and step.solver.group.branches and _meetings(solution, step, course):
                return True
        elif report[STRAYS] > 0:
            stray = _strays(solution, step)
            if len(stray):
                t = solution.time
                course.extra += [float(0.5 * (t[k] + t[k + 1])) for k in stray]
                return True
    return False


# ---- closed forms: where the branches meet ------------------------------------------------------------------------
def _meetings(solution: Solution, step: GroupStep, course: Course) -> bool:
    """Note the instants at which two branches of a group meet; False where all are noted already.

    They depend on what the group hangs on, not on its branch, so that one look finds them all.
    """
    name = step.plan.name
    noted = list(course.meetings.get(name, []))
    found = False
    for c, width, before in _candidates(solution, step):
        if width == 0.0:  # the group comes apart between two steps
            course.extra.append(c)
            return True
        if any(abs(c - other) < width for other in noted):
            continue
        sign = _crosses(solution, step, c, width, before)
        if sign is None:  # a dead point: the motion ends there, and the run says so
            continue
        if sign >= 0:
            course.flips.setdefault(name, []).append((c, sign))
        course.meetings.setdefault(name, []).append(c)
        _build_bridges(solution, step, course, c, before)
        found = True
    course.flips.get(name, []).sort()
    return found


def _build_bridges(solution: Solution, step: GroupStep, course: Course, c: float, before: int) -> None:
    """Have the steps that lie next to a meeting, where digits are lost, follow from inner times on both sides of it."""
    t = solution.time
    part = _part(solution, step, before, np.array([c - 1e-3 * (c - t[before])]))
    slope = float(quality(part, step)[0][0]) / (c - float(t[before]))  # of the V: conditioning over time
    spacing = CLEAR / slope
    for lane in np.flatnonzero(np.abs(t - c) < 0.7 * spacing):
        course.bridges.setdefault(step.plan.name, []).append((float(t[lane]), c, spacing))
    course.extra += list(c + BRIDGE_NODES * spacing)


def _candidates(solution: Solution, step: GroupStep) -> Iterator[tuple[float, float, int]]:
    """Yield (instant, width of a step there, step before it) where the conditioning of a group reaches zero."""
    kappa, _ = quality(solution, step)
    t, n = solution.time, solution.solved
    failure = solution.failure
    if failure is not None and failure.group == step.plan.name and failure.status == DEAD_POINT and 3 < n < len(t) - 1:
        yield float(t[n]), float(min(t[n] - t[n - 1], t[n + 1] - t[n])), n - 2
    low = np.flatnonzero((kappa[1:-1] <= kappa[:-2]) & (kappa[1:-1] <= kappa[2:]) & (kappa[1:-1] < NEAR)) + 1
    for k in low:
        # a V that reaches zero falls by its own height within one step
        if kappa[k] > 1.2 * max(kappa[k - 1] - kappa[k], kappa[k + 1] - kappa[k]):
            continue
        c, lost = _lowest(solution, step, int(k))
        if lost:
            yield c, 0.0, 0
        elif c > -np.inf:
            yield c, float(min(t[k + 1] - t[k], t[k] - t[k - 1])), max(int(k) - 2, 0)


def _lowest(solution: Solution, step: GroupStep, k: int) -> tuple[float, bool]:
    """Return the instant near step k at which the conditioning is zero (-inf: it stays above), or the first one at
    which the group cannot be closed, and whether it is that."""
    low, high = float(solution.time[k - 1]), float(solution.time[k + 1])
    for _ in range(ZOOMS):
        times = np.linspace(low, high, 11)
        part = _part(solution, step, k - 1, times)
        if part.failure is not None and part.failure.status == NO_ASSEMBLY:
            return part.failure.time, True
        kappa = quality(part, step)[0][1:]
        least = int(np.argmin(kappa)) if len(kappa) else 0
        if len(kappa) == 0 or kappa[least] < MEETING:
            return float(times[least]), False
        if kappa[least] > 0.5 * kappa[0] and kappa[least] > 0.5 * kappa[-1]:
            break  # flat: the branches come near and part again
        low, high = times[max(least - 1, 0)], times[min(least + 1, len(kappa) - 1)]
    return -np.inf, False


def _crosses(solution: Solution, step: GroupStep, c: float, width: float, before: int) -> int | None:
    """Return the sign that changes at c (-1: none does), or None where the motion does not go on smoothly at all."""
    delta = 0.02 * width
    part = _part(solution, step, before, np.array([c - delta, c + delta]))
    if part.solved < 3:
        return None
    rows, solver, m = step.phi_rows, solution.solver(step), step.solver.group.module
    x, v, a = part.state[:, rows, 1]
    expected = x + 2 * delta * (v + delta * a)
    h = np.ascontiguousarray(part.state[0, step.h_rows, 2])
    misses = {}
    for which in range(-1, len(step.solver.group.branches)):
        signs = part.signs[step.plan.name].copy()
        if which >= 0:
            signs[which] *= -1.0
        phi = np.zeros(len(rows))
        if m.position(phi, h, solver.par, c + delta, signs, solver.group.work) == OK:
            misses[which] = float(np.abs(phi - expected).max())
    best = min(misses, key=lambda which: misses[which], default=-1)
    way = float(np.abs(2 * delta * v).max())
    if best not in misses or not misses[best] <= FAR * way + 1e-9 * float(np.abs(x).max()):
        return None
    return best


def _part(solution: Solution, step: GroupStep, before: int, times: Array) -> Solution:
    """Return the groups up to `step` solved at a few times after step `before`, each on its branch there."""
    program = solution.program
    numbers, sequence = solution.numbers.copy(), program.sequence
    for i in sequence.of_kind("angle"):  # continuous angles go on from where they are
        row, near = sequence.tables[sequence.items[i].place :][:2]
        numbers[near] = solution.state[0, row, before]
    part = begin(program, np.concatenate([[solution.time[before]], times]), numbers)
    for items in segments(part, step):
        for i in items:
            other = program.sequence.items[i].group_step
            if other is not None:
                part.state[:, other.phi_rows, 0] = solution.state[:, other.phi_rows, before]
                part.signs[other.plan.name] = _signs_at(solution, other, float(solution.time[before]))
        advance(part, items, "td", assembled=True)
    return part


def _signs_at(solution: Solution, step: GroupStep, t: float) -> Array:
    signs = solution.signs[step.plan.name].copy()
    for when, which in solution.course.flips.get(step.plan.name, []):
        if when <= t:
            signs[which] *= -1.0
    return signs


# ---- Newton-Raphson: steps that land far from their prediction ----------------------------------------------------
def _strays(solution: Solution, step: GroupStep) -> NDArray[np.int64]:
    """Return the steps from which the next one is not where position, velocity and acceleration say."""
    n = solution.solved
    x, v, a = solution.state[:, step.phi_rows, :n]
    dt = np.diff(solution.time[:n])
    way = np.abs(np.diff(x, axis=1)).max(axis=0)
    ahead = x[:, :-1] + dt * (v[:, :-1] + 0.5 * dt * a[:, :-1])
    back = x[:, 1:] - dt * (v[:, 1:] - 0.5 * dt * a[:, 1:])
    miss = np.maximum(np.abs(x[:, 1:] - ahead).max(axis=0), np.abs(x[:, :-1] - back).max(axis=0))
    scale = np.abs(x).max(initial=1e-9)  # an angle that stays zero has rounding errors all the same
    return np.flatnonzero((miss > FAR * way) & (miss > 1e-4 * scale))
