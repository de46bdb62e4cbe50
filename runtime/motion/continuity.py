"""No silent change of branch: a run is looked through, followed closely where that is not certain, and run again.

A closed form holds its sign, and Newton-Raphson follows a prediction: right as long as the branches stay apart. Whether
they do between two instants, the conditioning tells, a function of time that is zero where branches meet and where a
group comes apart or leaves for infinity. Steps between which it may reach zero, and steps that jump, are solved anew in
ever finer ones. What is found there is one of four: nothing; instants that the run needs as well; a meeting, through
which the motion follows the tangent of its own branch; or the end of the motion, with its time.
"""

from __future__ import annotations

import numpy as np

from ..status import NO_ASSEMBLY, OK
from ..status import SINGULAR as DEAD_POINT
from .plan import Array
from .program import GroupStep, Program
from .run import Course, Meeting, Solution, advance, begin, segments, solve, stop
from .sequence import Ints

ROUNDS = 60
ZOOMS, SAMPLES = 16, 17
MEETING = 3e-7  # conditioning that counts as zero: below, rounding hides the branches from each other
CLEAR = 0.02  # conditioning at which enough digits are left to bridge a meeting from there
BLURRED = 1e-5  # conditioning at which too few are left to tell branches apart
FAR = 0.25  # distance from the prediction, as a share of the way, at which a branch is not the own one
CALM = 0.1  # share of the time in which the known motion changes: longer steps no polynomial follows


def follow(program: Program, time: Array, method: str = "td", numbers: Array | None = None) -> Solution:
    """Return the motion at the asked times with every group kept on its branch; `numbers` are those of a design."""
    if method.startswith("global"):
        from .global_run import follow_global

        return follow_global(program, time, method, numbers)
    course = Course()
    for _ in range(ROUNDS):
        solution = solve(program, time, method, course=course, numbers=numbers)
        if not any(_mend(solution, name, course) for name in program.sequence.groups):
            return solution
    for name in program.sequence.groups:  # still not settled: what cannot be followed with certainty is not shown
        step = _step(solution, name)
        unsettled = _spots(solution, step, course)
        if unsettled:
            _end(solution, step, unsettled[0][0], DEAD_POINT)
    return solution


def quality(solution: Solution, step: GroupStep) -> tuple[Array, Array]:
    """Return conditioning and residual of a group over the solved steps."""
    n = solution.solved
    found = np.empty((3, 1, len(solution.time)))
    solution.qualities([solution.program.sequence.groups[step.plan.name]], found, np.zeros((0, 0)))
    return found[0, 0, :n], found[1, 0, :n]


def _step(solution: Solution, name: str) -> GroupStep:
    sequence = solution.program.sequence
    step = sequence.items[sequence.groups[name]].group_step
    assert step is not None
    return step


def _mend(solution: Solution, name: str, course: Course) -> bool:
    """Look closely at a group where that is due; True where the run needs more instants or has to change a branch."""
    from ..sequencer import JUMP, LONG, SUSPECTS

    failed = solution.failure is not None and solution.failure.group == name
    if not failed and (solution.solved == 0 or not solution.report[name][SUSPECTS] > 0):
        if solution.solved == 1 and not solution.report[name][0] > MEETING:
            stop(solution, _step(solution, name), 0, DEAD_POINT)
        return False
    step, again = _step(solution, name), False
    for low, high, mark in _spots(solution, step, course):
        if solution.failure is not None and low >= solution.failure.time:
            break
        if mark == LONG:
            course.extra += np.linspace(low, high, 5)[1:-1].tolist()
            again = True
            continue
        kind, times = _located(solution, step, low, high, mark == JUMP)
        behind = np.minimum(times + 1e-7 * (high - low), solution.time[-1])
        if kind == "open" and (behind <= times or np.isfinite(_sampled(solution, step, behind)[0]).all()):
            kind = "zero"  # for an instant only
        if kind == "open":
            _end(solution, step, float(times[0]), NO_ASSEMBLY)
        elif kind == "zero":
            meeting = _meeting(solution, step, float(times[0]), high - low)
            if meeting is None:
                _end(solution, step, float(times[0]), DEAD_POINT)
                continue
            course.meetings.setdefault(name, []).append(meeting)
            return True  # what lies beyond is on another branch
        else:
            course.clear.setdefault(name, []).append((low, high))
            if kind == "through":
                course.extra += times.tolist()
                again = True
    return again


def _spots(solution: Solution, step: GroupStep, course: Course) -> list[tuple[float, float, int]]:
    """Return the stretches of time that a closer look is due to, and why."""
    from ..sequencer import NEAR, NOTHING, marks

    t, n, name = solution.time, solution.solved, step.plan.name
    found = np.zeros(max(n - 1, 0), dtype=np.int64)
    if n > 1:
        marks(quality(solution, step)[0], solution.state, t, step.phi_rows, step.solver.closed_form, found)
    spots = [(float(t[k]), float(t[k + 1]), int(found[k])) for k in np.flatnonzero(found != NOTHING)]
    failure = solution.failure
    if failure is not None and failure.group == name and n < len(t) and failure.time == t[n]:
        spots.append((float(t[max(n - 1, 0)]), float(t[n]), NEAR))
    near = [(m.centre - m.spacing, m.centre + m.spacing) for m in course.meetings.get(name, [])]
    done = [*near, *course.clear.get(name, [])]
    return [s for s in spots if not any(a <= s[0] and s[1] <= b for a, b in done)]


def _end(solution: Solution, step: GroupStep, time: float, status: int) -> None:
    """End the motion at a time, unless it ends before."""
    if solution.failure is None or time <= solution.failure.time:
        stop(solution, step, int(np.searchsorted(solution.time, time)), status, time)


def _located(solution: Solution, step: GroupStep, low: float, high: float, jump: bool) -> tuple[str, Array]:
    """Find out what happens in a stretch of time: clear, through (with the instants for it), zero or open (with when).

    Zero is an instant at which the conditioning is, or at which the group jumps; open, one from which it cannot be
    closed.
    """
    whole, lost, path = high - low, False, np.zeros(0)
    for _ in range(ZOOMS):
        times = np.linspace(low, high, SAMPLES)
        if not step.solver.closed_form:  # Newton needs the steps that led here
            path = np.union1d(path[path < low], times)
        kappa, part = _sampled(solution, step, times, path)
        open_at = np.flatnonzero(np.isnan(kappa))
        if len(open_at):
            lost = True
            if open_at[0] == 0:
                return "open", times[:1]
            low, high = times[open_at[0] - 1], times[open_at[0]]
            if high - low <= max(1e-12 * whole, 2 * np.spacing(abs(high))):
                return "open", times[open_at[0] : open_at[0] + 1]
            continue
        if lost:
            return "through", path
        if jump:
            ways = np.abs(np.diff(part)).max(axis=0)
            j = int(np.argmax(ways))
            if ways[j] < 0.4 * ways.sum():
                return "clear", times
            low, high = times[j], times[j + 1]
            if high - low < 1e-9 * whole:
                return "zero", times[j : j + 1]
            continue
        j = int(np.argmin(kappa))
        a, b = max(j - 1, 0), min(j + 1, SAMPLES - 1)
        if kappa[j] < MEETING:
            return "zero", np.array([_bottom(solution, step, times[j], 1e-5 * whole, path)])
        if kappa[j] > 0.5 * max(kappa[a], kappa[b]):
            return ("clear" if step.solver.closed_form else "through"), path
        low, high = times[a], times[b]
    return ("open" if lost else "clear"), np.array([high])


def _bottom(solution: Solution, step: GroupStep, c: float, d: float, path: Array) -> float:
    """Return where the two arms of a V about c meet."""
    if not solution.time[0] <= c - d < c + d <= solution.time[-1]:
        return float(c)
    left, right = _sampled(solution, step, np.array([c - d, c + d]), path[path < c - d])[0]
    better = c + d * (left - right) / (left + right)
    return float(better) if np.isfinite(better) else float(c)


def _meeting(solution: Solution, step: GroupStep, c: float, width: float) -> Meeting | None:
    """Return how the motion goes through an instant at which branches meet; None where it ends or is not determined."""
    begun, ended = float(solution.time[0]), float(solution.time[-1])
    longer, side = max((c - begun, -1.0), (ended - c, 1.0))
    away = width * 2.0 ** np.arange(-8, 64)
    away = np.concatenate([[0.0], away[away < longer]])
    part, lanes = _part(solution, step, c + side * away)
    clear = np.flatnonzero(_conditioning(part, step, lanes)[1:] >= CLEAR)
    speed, change = np.abs(part.state[1:, step.h_rows, lanes[0]]).max(axis=1)  # of what the group hangs on
    if len(clear) == 0 or not speed > 0.0:
        return None
    # where coefficients are zero at the meeting, the conditioning does not see it
    spacing = CLEAR * solution.size / speed if clear[0] == 0 else away[1 + clear[0]]
    spacing = float(min(spacing, CALM * speed / max(change, 1e-300), longer / 9.5))
    right = min(int(0.999 * (ended - c) / spacing), max(4, 8 - int(0.999 * (c - begun) / spacing)))
    right = min(right, 8)
    offsets = tuple(sorted([*range(right - 8, 0), *range(1, right + 1)], key=abs))
    meeting = Meeting(c, spacing, offsets)
    if not _sampled(solution, step, np.array([c + side * spacing]))[0][0] >= BLURRED:
        return None
    if right == 0 or (right == 8 and c - begun < 1e-6 * spacing):  # one side is all there is
        return meeting if _smooth(solution, step, meeting, side) else None
    sign = _own_branch(solution, step, max(c - spacing, begun), min(c + spacing, ended))
    return None if sign is None else Meeting(c, spacing, offsets, sign)


def _smooth(solution: Solution, step: GroupStep, meeting: Meeting, side: float) -> bool:
    """Return whether the motion on one side of a meeting leads to the same place from near and from farther away."""
    if not step.solver.closed_form and side > 0:  # Newton cannot begin there
        return False
    farther = Meeting(meeting.centre, meeting.spacing, tuple(int(o + side) for o in meeting.offsets))
    near, far = (_sampled(solution, step, np.sort(m.nodes))[1] for m in (meeting, farther))
    order = slice(None) if side > 0 else slice(None, None, -1)  # nearest first
    at = np.array([meeting.centre])
    there, again = near[:, order] @ meeting.weights(at), far[:, order] @ farther.weights(at)
    return bool(np.abs(there - again).max() <= 1e-3 * np.abs(np.ptp(near, axis=1)).max())


def _own_branch(solution: Solution, step: GroupStep, before: float, behind: float) -> int | None:
    """Return the sign that changes between two instants (-1: none does); None where no branch goes on smoothly."""
    part, (here, there) = _part(solution, step, np.array([before, behind]))
    solver, m = solution.solver(step), step.solver.group.module
    x, v, a = part.state[:, step.phi_rows, here]
    dt = behind - before
    expected = x + dt * (v + 0.5 * dt * a)
    h = np.ascontiguousarray(part.state[0, step.h_rows, there])
    signs = _signs_at(solution, step, before)
    misses = {}
    for which in range(-1, len(signs)):
        turned = np.where(np.arange(len(signs)) == which, -signs, signs)
        phi = expected.copy()
        if m.position(phi, h, solver.par, behind, turned, solver.group.work) == OK:
            misses[which] = float(np.abs(phi - expected).max())
    best = min(misses, key=lambda which: misses[which], default=-1)
    way = float(np.abs(dt * v).max()) + 1e-9 * float(np.abs(x).max())
    return best if misses.get(best, np.inf) <= FAR * way else None


def _signs_at(solution: Solution, step: GroupStep, t: float) -> Array:
    signs = solution.signs[step.plan.name].copy()
    for meeting in solution.course.meetings.get(step.plan.name, []):
        if meeting.sign >= 0 and meeting.centre <= t:
            signs[meeting.sign] *= -1.0
    return signs


# ---- a few instants solved anew -----------------------------------------------------------------------------------
def _part(solution: Solution, step: GroupStep, times: Array) -> tuple[Solution, Ints]:
    """Return the groups up to `step` solved at a few times, each on its branch there, and the lanes of the times."""
    program, t = solution.program, solution.time
    near = [
        m.nodes for found in solution.course.meetings.values() for m in found
        if (np.abs(times - m.centre) < m.spacing).any()
    ]  # fmt: skip
    every = np.unique(np.concatenate([times, *near]))
    before = int(np.clip(np.searchsorted(t, every[0], side="right") - 1, 0, max(solution.solved - 1, 0)))
    every = np.union1d(every, t[before : before + 1])
    numbers, sequence = solution.numbers.copy(), program.sequence
    for i in sequence.of_kind("angle"):  # continuous angles go on from where they are
        row, start = sequence.tables[sequence.items[i].place :][:2]
        numbers[start] = solution.state[0, row, before]
    part = begin(program, every, numbers)
    part.course, part.signs = solution.course, solution.signs
    for items in segments(part, step):
        for i in items:
            other = program.sequence.items[i].group_step
            if other is not None:
                part.state[:, other.phi_rows, 0] = solution.state[:, other.phi_rows, before]
        advance(part, items, "td", assembled=True)
        part.solved, part.failure = len(every), None  # what is open is no number
    return part, np.searchsorted(every, times)


def _conditioning(part: Solution, step: GroupStep, lanes: Ints) -> Array:
    """Return the conditioning of a group at some lanes, NaN where it cannot be closed."""
    kappa = quality(part, step)[0][lanes]
    kappa[~np.isfinite(part.state[0, step.phi_rows][:, lanes]).all(axis=0)] = np.nan
    return kappa


def _sampled(
    solution: Solution, step: GroupStep, times: Array, path: Array | None = None
) -> tuple[Array, Array]:
    """Return conditioning and φ of a group at a few times, reached by way of others."""
    part, lanes = _part(solution, step, times if path is None else np.union1d(path, times))
    lanes = np.searchsorted(part.time, times)
    return _conditioning(part, step, lanes), part.state[0, step.phi_rows][:, lanes]
