"""No silent change of branch: a run is looked through, followed closely where that is not certain, and run again.

A closed form holds its sign, and Newton-Raphson follows a prediction: right as long as the branches stay apart. Whether
they do between two instants, the conditioning tells, a function of time that is zero where branches meet and where a
group comes apart or leaves for infinity. Steps between which it may reach zero, and steps that jump, are solved anew in
ever finer ones. What is found there is one of four: nothing; instants that the run needs as well; a meeting, through
which the motion follows the tangent of its own branch; or the end of the motion, with its time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..common.status import NO_ASSEMBLY
from ..common.status import SINGULAR as DEAD_POINT
from ..mechanism.plans.plan import Array
from ..runtime.program import GroupStep, Program
from ..runtime.sequence import Ints
from .course import Course, Meeting
from .inner_times import MOST_INNER, turning
from .run import Solution, advance, begin, segments, solve, stop

ROUNDS = 60
ZOOMS, SAMPLES = 16, 17
MEETING = 3e-7  # conditioning that counts as zero: below, rounding hides the branches from each other
CLEAR = 0.02  # conditioning at which enough digits are left to bridge a meeting from there
BLURRED = 1e-4  # conditioning at which too few are left
EXACT, INEXACT = 1e-12, 1e-5  # error of a bridge, as a share of its way, that is none; that is no bridge
SMOOTH = 0.02  # share of the way between two instants by which velocities and accelerations may not explain it
HALVINGS = 10  # of the spacing of a bridge
RESTING = 1e-4  # speed, by what it changes in the time of a bridge, of a driver that stands still at a meeting


def follow(program: Program, time: Array, method: str = "td", numbers: Array | None = None) -> Solution:
    """Return the motion at the asked times with every group kept on its branch; `numbers` are those of a design."""
    if method.startswith("global"):
        from .global_run import follow_global

        return follow_global(program, time, method, numbers)
    course = Course()
    for _ in range(ROUNDS):
        solution = solve(program, time, method, course=course, numbers=numbers)
        if len(more := turning(solution)):
            course.extra += more.tolist()
        elif not any(_mend(solution, name, course) for name in program.sequence.groups):
            return solution
        if len(course.extra) > max(MOST_INNER, len(time)):  # it is not the steps
            break
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
    from ..runtime.sequencer import JUMP, LONG, SUSPECTS

    if _step(solution, name).solver.group.steady:
        return False
    failed = solution.failure is not None and solution.failure.group == name
    if not failed and (solution.solved == 0 or not solution.report[name][SUSPECTS] > 0):
        if solution.solved == 1 and not solution.report[name][0] > MEETING:
            stop(solution, _step(solution, name), 0, DEAD_POINT)
        return False
    step, again = _step(solution, name), False
    for low, high, mark in _spots(solution, step, course):
        if solution.failure is not None and low > solution.failure.time:
            break
        if mark == LONG:
            course.extra += np.linspace(low, high, 5)[1:-1].tolist()
            again = True
            continue
        if solution.solved == 0:  # the run begins where branches meet, or cannot begin
            kind, times, high = "zero", solution.time[:1], float(solution.time[min(1, len(solution.time) - 1)])
        else:
            kind, times = _located(solution, step, low, high, mark == JUMP)
        meeting = None
        behind = np.minimum(times + 1e-7 * (high - low), solution.time[-1])
        if kind == "open" and (behind <= times or np.isfinite(_sampled(solution, step, behind)[0]).all()):
            kind = "zero"  # for an instant only
        ends = [c for c in (solution.time[0], solution.time[-1]) if c in (low, high)]
        if kind == "clear" and ends and (mark == JUMP or _sampled(solution, step, np.array(ends))[0].min() < BLURRED):
            # branches that meet just outside of the run, or at its very end, take digits, too
            meeting = _meeting(solution, step, float(ends[-1]), high - low, outside=True)
            kind = "zero" if meeting is not None else "through" if mark == JUMP else "clear"
        if kind == "open":
            _end(solution, step, float(times[0]), NO_ASSEMBLY)
        elif kind == "zero":
            if meeting is None and high > low:
                meeting = _meeting(solution, step, float(times[0]), high - low)
            if meeting is None and solution.solved > 0:
                _end(solution, step, float(times[0]), DEAD_POINT)
            if meeting is None:
                continue
            course.extra += np.linspace(low, high, SAMPLES).tolist()
            course.meetings.setdefault(name, []).append(meeting)
            return True  # what lies beyond is on another branch
        else:
            course.clear.setdefault(name, []).append((low, float(times[-1]) if kind == "through" else high))
            if kind == "through":
                course.extra += times.tolist()
                again = True
    return again


def _spots(solution: Solution, step: GroupStep, course: Course) -> list[tuple[float, float, int]]:
    """Return the stretches of time that a closer look is due to, and why."""
    from ..runtime.sequencer import LONG, NEAR, NEAR_AND_LONG, NOTHING, marks

    t, n, name = solution.time, solution.solved, step.plan.name
    found = np.zeros(max(n - 1, 0), dtype=np.int64)
    if n > 1:
        marks(quality(solution, step)[0], solution.state, t, step.phi_rows, step.solver.closed_form, found)
    spots = [(float(t[k]), float(t[k + 1]), int(found[k])) for k in np.flatnonzero(found != NOTHING)]
    failure = solution.failure
    if failure is not None and failure.group == name and n < len(t) and failure.time == t[n]:
        spots.append((float(t[max(n - 1, 0)]), float(t[n]), NEAR))
    bridged = [(m.centre - m.spacing, m.centre + m.spacing) for m in course.meetings.get(name, [])]
    due = []
    for low, high, mark in spots:
        if mark in (NEAR, NEAR_AND_LONG):
            clear = _within(low, high, course.clear.get(name, []))
            mark = NEAR if not clear else LONG if mark == NEAR_AND_LONG else NOTHING
        carried = mark == LONG and high - low <= 1e-9 * (t[-1] - t[0]) and _carried(solution, step, low, high)
        if mark != NOTHING and not carried and not _within(low, high, bridged):
            due.append((low, high, mark))
    return due


def _within(low: float, high: float, stretches: list[tuple[float, float]]) -> bool:
    return any(a <= low and high <= b for a, b in stretches)


def _end(solution: Solution, step: GroupStep, time: float, status: int) -> None:
    """End the motion at a time, unless it ends before."""
    if solution.failure is None or time <= solution.failure.time:
        stop(solution, step, int(np.searchsorted(solution.time, time)), status, time)


def _located(solution: Solution, step: GroupStep, low: float, high: float, jump: bool) -> tuple[str, Array]:
    """Find out what happens in a stretch of time: clear, through (with the instants for it), zero or open (with when).

    Zero is an instant at which the conditioning is, or at which the group jumps; open, one from which it cannot be
    closed. Of a stretch in which Newton lost its way, the instants lead as far as smaller steps are known to.
    """
    shared = _shared(solution, step, low, high)
    if shared is not None:
        return "zero", np.array([shared])
    whole, lost, path = high - low, False, np.zeros(0)
    for _ in range(ZOOMS):
        times = np.linspace(low, high, SAMPLES)
        if not step.solver.closed_form:  # Newton needs the steps that led here
            path = np.union1d(path, times)
        kappa, part = _sampled(solution, step, times, path)
        open_at = np.flatnonzero(np.isnan(kappa))
        if len(open_at):
            lost = True
            if open_at[0] == 0:
                return "open", times[:1]
            low, high = times[open_at[0] - 1], times[open_at[0]]
            path = path[path <= low]
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
                return ("clear" if _carried(solution, step, low, high) else "zero"), times[j : j + 2]
            continue
        j = int(np.argmin(kappa))
        a, b = max(j - 1, 0), min(j + 1, SAMPLES - 1)
        if kappa[j] < MEETING:
            return "zero", np.array([_bottom(solution, step, float(times[j]), whole)])
        if kappa[j] > 0.5 * kappa[max(j - 2, 0) : j + 3].max():
            return ("clear" if step.solver.closed_form else "through"), path
        low, high = times[a], times[b]
    return ("open" if lost else "clear"), np.array([high])


def _carried(solution: Solution, step: GroupStep, low: float, high: float) -> bool:
    """Whether what a group hangs on jumps between two very near instants, as formulas may: the group goes with it."""
    part, lanes = _part(solution, step, np.array([low, high]))
    h, rates = part.state[:2, step.h_rows][:, :, lanes]
    ways = 10 * (high - low) * np.abs(rates).max(axis=1) + 1e-7 * np.abs(h).max()
    return bool((np.abs(h[:, 1] - h[:, 0]) > ways).any())


def _shared(solution: Solution, step: GroupStep, low: float, high: float) -> float | None:
    """Return the instant at which branches of another group meet, too, on which this one hangs.

    What is known there has lost digits, so that a zero of the conditioning is told by its arms alone.
    """
    for name, meetings in solution.course.meetings.items():
        for m in meetings if name != step.plan.name else ():
            times = m.centre + 0.1 * m.spacing * np.array([-2.0, -1.0, 1.0, 2.0])
            times = times[(times >= solution.time[0]) & (times <= solution.time[-1])]
            if low - m.spacing <= m.centre <= high + m.spacing and len(times) > 1:
                arms = _sampled(solution, step, times)[0] / np.abs(times - m.centre)
                if np.ptp(arms) < 0.02 * arms.max() and arms.max() * m.spacing < 1.0:
                    return m.centre
    return None


def _bottom(solution: Solution, step: GroupStep, c: float, width: float) -> float:
    """Return where the conditioning is zero, near c: both arms rise with the same power of time from there."""
    for d in width * 4.0 ** np.arange(-8, 8):
        times = c + d * np.array([-2.0, -1.0, 1.0, 2.0])
        if not (step.solver.closed_form and solution.time[0] <= times[0] and times[3] <= solution.time[-1]):
            return c
        arms = _sampled(solution, step, times)[0]
        if not np.isfinite(arms).all():
            return c
        if arms.min() > 100 * MEETING:
            power = np.clip(np.log2((arms[0] + arms[3]) / (arms[1] + arms[2])), 1.0, 4.0)
            left, right = arms[1:3] ** (1.0 / power)
            better = c + d * (left - right) / (left + right)
            return float(better) if _sampled(solution, step, np.array([better]))[0][0] < MEETING else c
    return c


def _meeting(
    solution: Solution, step: GroupStep, c: float, width: float, outside: bool = False
) -> Meeting | None:
    """Return how the motion goes through an instant at which branches meet; None where it ends or is not determined.

    `outside`: they meet next to it, not in the run.
    """
    begun, ended = float(solution.time[0]), float(solution.time[-1])
    longer, side = max((c - begun, -1.0), (ended - c, 1.0))
    away = width * np.exp2(np.arange(-8.0, 64.0))
    away = np.concatenate([[0.0], away[away < longer]])
    part, lanes = _part(solution, step, c + side * away)
    clear = np.flatnonzero(_conditioning(part, step, lanes)[1:] >= CLEAR)
    speed, change = np.abs(part.state[1:, step.h_rows, lanes[0]]).max(axis=1)  # of what the group hangs on
    if len(clear) == 0:
        return None
    near, far = np.abs(part.state[1, step.phi_rows][:, lanes[1 + clear[0] :][:2]]).max(axis=0)[[0, -1]]
    moving = near > 0.75 * far  # the group itself, where its driver turns round at the end of a stroke
    if not (speed > 0.0 or moving):
        return None
    # where coefficients are zero at the meeting, the conditioning does not see it
    spacing = CLEAR * solution.size / speed if clear[0] == 0 and speed > 0.0 else away[1 + clear[0]]
    spacing = float(min(spacing, longer / 9.5))
    best: tuple[float, Meeting | None] = np.inf, None
    for _ in range(HALVINGS):
        if speed < RESTING * change * spacing and not moving:  # at rest there it may go on along any branch
            break
        if not _sampled(solution, step, np.array([c + side * spacing]))[0][0] >= BLURRED:
            break
        right = min(8, int(0.999 * (ended - c) / spacing), max(4, 8 - int(0.999 * (c - begun) / spacing)))
        offsets = tuple(sorted([*range(right - 8, 0), *range(1, right + 1)], key=abs))
        meeting: Meeting | None = Meeting(c, spacing, offsets)
        if right > 0 and (right < 8 or c - begun > 2e-5 * spacing):
            meeting = _own_branch(solution, step, Meeting(c, spacing, offsets))
        error = np.inf if meeting is None else _error(solution, step, meeting, side, outside)
        best = min(best, (error, meeting), key=lambda found: found[0])
        if error < EXACT:
            break
        spacing *= 0.5
    return best[1] if best[0] < (100 * EXACT if outside else INEXACT) else None


def _error(solution: Solution, step: GroupStep, meeting: Meeting, side: float, outside: bool) -> float:
    """Return by how much the nodes of a meeting miss the group half a spacing away from it, as a share of its way."""
    c, name = meeting.centre, step.plan.name
    if not step.solver.closed_form and side > 0 and min(meeting.offsets) > 0:  # Newton cannot begin there
        return np.inf
    known = solution.course.meetings
    course = replace(solution.course, meetings={**known, name: [*known.get(name, []), replace(meeting, spacing=0.0)]})
    nodes, probes = meeting.nodes, np.array([c + 0.5 * side * meeting.spacing, c])
    part, _ = _part(solution, step, np.union1d(nodes, probes), course)
    state = part.state[:, step.phi_rows][:, :, np.searchsorted(part.time, [*nodes, *probes])]
    misses = np.abs(state[:, :, :8] @ meeting.weights(probes) - state[:, :, 8:]).max(axis=1)
    near, at = misses[0] / max(np.ptp(state[0, :, :8], axis=1).max(), 1e-300)
    right = (misses[1:, 1] <= 1e-4 * np.abs(state[1:, :, :8]).max(axis=(1, 2))).all()  # no digits are lost
    return np.inf if not near < np.inf or (outside and (at > 1e-5 or right)) else float(near)


def _own_branch(solution: Solution, step: GroupStep, meeting: Meeting) -> Meeting | None:
    """Return a meeting with the sign that changes there; None where no branch goes on smoothly.

    Smooth: the way between instants on both sides, and the change of velocity, are what the rates there say
    (Euler-Maclaurin).
    """
    c, begun, ended = meeting.centre, float(solution.time[0]), float(solution.time[-1])
    d = min(meeting.spacing, 2 * (c - begun), 2 * (ended - c))
    times = np.array([max(c - d, begun), min(c + d, ended)])
    dt = times[1] - times[0]
    found, known = [], solution.course.meetings
    for sign in range(-1, len(step.solver.group.branches)):
        trial = replace(meeting, sign=sign)
        beside = [*known.get(step.plan.name, []), replace(trial, spacing=0.0)]
        part, lanes = _part(
            solution, step, times, replace(solution.course, meetings={**known, step.plan.name: beside})
        )
        (x, y), (v, u), (a, b) = np.moveaxis(part.state[:, step.phi_rows][:, :, lanes], 2, 1)
        defect = np.abs(y - x - dt * (0.5 * (v + u) - dt / 12 * (b - a))).max()
        defect = max(defect, dt * np.abs(u - v - 0.5 * dt * (a + b)).max())  # one that turns back jumps in velocity
        way = max(np.abs(dt * v).max(), np.abs(dt * u).max())
        found.append((defect if np.isfinite(defect) else np.inf, way, trial))
    found.sort(key=lambda f: f[0])
    least, way, trial = found[0]
    others = found[1][0] if len(found) > 1 else np.inf
    return trial if least < np.inf and (least <= SMOOTH * way or least <= 1e-2 * others < np.inf) else None


# ---- a few instants solved anew -----------------------------------------------------------------------------------
def _part(
    solution: Solution, step: GroupStep, times: Array, course: Course | None = None
) -> tuple[Solution, Ints]:
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
    part.course, part.signs = course or solution.course, solution.signs
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
