"""No silent change of branch: a run is looked through, followed closely where that is not certain, and run again.

A closed form holds its sign, and Newton-Raphson follows a prediction: right as long as the branches stay apart. Whether
they do between two instants, the conditioning tells, a function of time that is zero where branches meet and where a
group comes apart or leaves for infinity; of groups solved by Newton-Raphson also the sign of the determinant of their
Jacobian, which is another one on the next branch. Steps between which it may reach zero, and steps that jump, are
solved anew in ever finer ones. What is found there is one of four: nothing; instants that the run needs as well; a
change point, through which the motion follows the tangent of its own branch; or the end of the motion, with its time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..common.status import NO_ASSEMBLY
from ..common.status import SINGULAR as DEAD_POINT
from ..mechanism.plans.plan import Array
from ..runtime.program import GroupStep, Program
from ..runtime.sequence import Ints
from .change_points import BLURRED, MEETING, bottom, change_point_at, vanishing
from .closer_look import part_of, quality, sampled
from .course import Course
from .inner_times import MOST_INNER, turning
from .joint_check import keep_joints
from .jumps import begun
from .run import Solution, solve
from .stretches import Way, covered, in_stretches
from .sweeps import stop

FEW = 8  # rounds of looking and solving again of a whole run
ZOOMS, SAMPLES = 16, 17
TRIES = 3  # to settle the groups behind one that does not settle
FINEST = 8  # spacings of time of a step that is not divided any more
TORN = 1e-3  # of the mechanism's size: so far a group does not move in no time


def follow(program: Program, time: Array, method: str = "td", numbers: Array | None = None) -> Solution:
    """Return the motion at the asked times with every group kept on its branch; `numbers` are those of a design."""
    if method.startswith("global"):
        from .global_run import follow_global

        return follow_global(program, time, method, numbers)
    numbers = program.sequence.numbers if numbers is None else numbers
    run, most = Way(program, time, method, numbers), max(MOST_INNER, len(time))
    known = begun(program, time, numbers)
    course = Course(list(known.extra), ramps=known.ramps)
    solution, settled = _rounds(run, course, FEW, most)
    if not settled:
        course, settled = in_stretches(run, known, _rounds)
        solution, settled = _rounds(run, course, FEW if settled else 1, most)
    doubt, tries = None, TRIES  # what is not certain is not shown
    while not settled and (found := _first_doubt(solution, course, run.horizon)) is not None:
        doubt, run = found, replace(run, horizon=found[1])
        if tries > 0:  # groups behind one that does not settle were not looked at before
            solution, settled = _rounds(run, course, 2 * FEW, most)
            tries -= 1
    if doubt is not None:
        _end(solution, step_of(solution, doubt[0]), doubt[1], DEAD_POINT)
    keep_joints(solution)
    return solution


def _first_doubt(solution: Solution, course: Course, horizon: float) -> tuple[str, float] | None:
    """Return the first group, in the order of the program, that does not settle before a time, and from when on."""
    for name in solution.program.sequence.groups:
        due = _spots(solution, step_of(solution, name), course)
        if due and due[0][0] < horizon:
            return name, due[0][0]
    return None


def _rounds(run: Way, course: Course, rounds: int, most: int) -> tuple[Solution, bool]:
    """Solve and look, again and again, until nothing is due; False where that does not happen.

    Of a stretch a round that finds a change point is not counted: each of many groups may have one in every turn.
    """
    known_before, left = len(course.extra), rounds
    while left > 0 and len(course.extra) - known_before <= most:
        solution = solve(run.program, run.time, run.method, course=course, numbers=run.numbers, before=run.before)
        known = course.met
        if len(more := turning(solution)):  # as many as they are: `most` is for what is looked at closely
            course.extra += more.tolist()
            known_before += len(more)
        elif not any(_mend(solution, name, course, run.horizon) for name in run.program.sequence.groups):
            return solution, True
        left -= not run.stretch or course.met == known
    return solution, False


def step_of(solution: Solution, name: str) -> GroupStep:
    sequence = solution.program.sequence
    step = sequence.items[sequence.groups[name]].group_step
    assert step is not None
    return step


def _mend(solution: Solution, name: str, course: Course, horizon: float = np.inf) -> bool:
    """Look closely at a group where that is due; True where the run needs more instants or has to change a branch."""
    from ..runtime.sequencer import JUMP, LONG, SUSPECTS, TURNED

    if step_of(solution, name).solver.group.steady:
        return False
    failed = solution.stop is not None and solution.stop.group == name
    if not failed and (solution.solved == 0 or not solution.report[name][SUSPECTS] > 0):
        if solution.solved == 1 and not solution.report[name][0] > MEETING:
            stop(solution, step_of(solution, name), 0, DEAD_POINT)
        return False
    step, again = step_of(solution, name), False
    for low, high, mark in _spots(solution, step, course):
        if low >= horizon or (solution.stop is not None and low > solution.stop.time):
            break
        if mark in (LONG, TURNED):
            finer = _divided(low, high)
            course.extra += finer
            again = again or len(finer) > 0
            if mark == TURNED:  # what lies beyond is on another branch
                if not finer:
                    _end(solution, step, low, DEAD_POINT)
                break
            continue
        if solution.solved == 0:  # the run begins where branches meet, or cannot begin
            kind, times, high = "zero", solution.time[:1], float(solution.time[min(1, len(solution.time) - 1)])
        else:
            kind, times = _located(solution, step, low, high, mark == JUMP)
            if kind == "clear" and failed and solution.stop is not None and high == solution.stop.time:
                kind, times = "through", np.linspace(low, high, SAMPLES)  # what it hangs on needs smaller steps
        change_point = None
        behind = np.minimum(times + 1e-7 * (high - low), solution.span[1])
        if kind == "open" and (behind <= times or np.isfinite(sampled(solution, step, behind)[0]).all()):
            kind = "zero"  # for an instant only
        ends = [c for c in solution.span if c in (low, high)]
        whole = kind == "clear" or (kind == "through" and mark == JUMP)
        if whole and ends and (mark == JUMP or sampled(solution, step, np.array(ends))[0].min() < BLURRED):
            # branches that meet just outside of the run, or at its very end, take digits, too
            change_point = change_point_at(solution, step, float(ends[-1]), high - low, outside=True)
            kind = "zero" if change_point is not None else "through" if mark == JUMP else "clear"
        if kind == "open" and (earlier := _flipped(solution, step, float(times[0]), high - low)) is not None:
            # not this group comes apart: the one that it hangs on has left its branch
            step, name, kind = earlier, earlier.plan.name, "zero"
        if kind == "open":
            _end(solution, step, float(times[0]), NO_ASSEMBLY)
        elif kind == "zero":
            if change_point is None and high > low:
                change_point = change_point_at(solution, step, float(times[0]), high - low)
            if change_point is None and solution.solved > 0:
                _end(solution, step, float(times[0]), DEAD_POINT)
            if change_point is None:
                continue
            course.extra += np.linspace(low, high, SAMPLES).tolist()
            course.change_points.setdefault(name, []).append(change_point)
            return True  # what lies beyond is on another branch
        else:
            further = kind == "through" and len(times) > 0  # none where digits of time end
            course.clear.setdefault(name, []).append((low, float(times[-1]) if further else high))
            if further:
                course.extra += times.tolist()
                again = True
    return again


def _divided(low: float, high: float) -> list[float]:
    """Return instants that divide a step; none where digits of time end: beside an end rates miss every step."""
    return np.linspace(low, high, 5)[1:-1].tolist() if high - low > FINEST * np.spacing(abs(high)) else []


def _spots(solution: Solution, step: GroupStep, course: Course) -> list[tuple[float, float, int]]:
    """Return the stretches of time that a closer look is due to, and why."""
    from ..runtime.sequencer import JUMP, LONG, NEAR, NEAR_AND_LONG, NOTHING, TURNED, marks

    behind = {NEAR: NOTHING, NEAR_AND_LONG: LONG, TURNED: TURNED}  # what is left of a mark after a closer look
    t, n, name = solution.time, solution.solved, step.plan.name
    found = np.zeros(max(n - 1, 0), dtype=np.int64)
    if n > 1:
        kappa, _, orientation = quality(solution, step)
        marks(kappa, orientation, solution.state, t, step.phi_rows, step.solver.closed_form, found)
    where = np.flatnonzero(found != NOTHING)
    short = t[where + 1] - t[where] <= 1e-9 * (t[-1] - t[0])
    short[short] = _jumping(t, solution.state[:2, step.h_rows], where[short])
    lows, highs = np.array(solution.course.ramps).reshape(-1, 2).T
    short |= np.isin(t[where], lows) | np.isin(t[where + 1], highs)  # rates of asked times are not those of a ramp
    carried = {float(t[k]) for k in where[short].tolist()}
    spots = [(float(t[k]), float(t[k + 1]), int(found[k])) for k in where.tolist()]
    ended = solution.stop
    failed = ended is not None and ended.group == name and n < len(t) and ended.time == t[n]
    if failed:
        spots.append((float(t[max(n - 1, 0)]), float(t[n]), NEAR))
    bridged = covered([m.reach for m in course.change_points.get(name, [])])
    cleared = covered(course.clear.get(name, []))
    due = []
    for low, high, mark in spots:
        if mark in behind:
            clear = cleared(low, high) and not (failed and high == t[n])  # what cannot be closed is not
            mark = behind[mark] if clear else NEAR
        if mark != NOTHING and not (mark in (JUMP, LONG) and low in carried) and not bridged(low, high):
            due.append((low, high, mark))
    return due


def _end(solution: Solution, step: GroupStep, time: float, status: int) -> None:
    """End the motion at a time, unless it ends before; before a dead point with the last instant that has digits."""
    if solution.stop is None or time <= solution.stop.time:
        jump = next((high for low, high in solution.course.ramps if low < time < high), time)
        lane = min(int(np.searchsorted(solution.time, time)), solution.solved)
        if status == DEAD_POINT:
            seen = quality(solution, step)[0][:lane] >= MEETING
            lane -= int(np.argmax(seen[::-1])) if seen.any() else lane
            jump = jump if lane > 0 else float(solution.time[0])  # not one instant has digits
        stop(solution, step, lane, status, jump)


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
        kappa, part = sampled(solution, step, times, path)
        open_at = np.flatnonzero(np.isnan(kappa))
        if len(open_at):
            lost = True
            if open_at[0] == 0:
                return "open", times[:1]
            if not step.solver.closed_form and kappa[open_at[0] - 1] < MEETING:
                meet = vanishing(solution, step, times[: open_at[0]], path)
                if meet is not None and change_point_at(solution, step, meet, whole) is not None:
                    return "zero", np.array([meet])
            low, high = times[open_at[0] - 1], times[open_at[0]]
            path = path[path <= low]
            if high - low <= max(1e-12 * whole, 2 * np.spacing(abs(high))):
                finer = _astray(solution, step, path)
                return ("through", finer) if len(finer) else ("open", times[open_at[0] : open_at[0] + 1])
            continue
        if lost:
            return "through", path
        if jump:
            ways = np.abs(np.diff(part)).max(axis=0)
            j = int(np.argmax(ways))
            if ways[j] < 0.4 * ways.sum():
                return "through", times  # it passes quickly: what hangs on it needs these instants as well
            low, high = times[j], times[j + 1]
            if high - low < 1e-9 * whole:
                return ("clear" if _carried(solution, step, low, high) else "zero"), times[j : j + 2]
            continue
        j = int(np.argmin(kappa))
        a, b = max(j - 1, 0), min(j + 1, SAMPLES - 1)
        if kappa[j] < MEETING:
            return "zero", np.array([bottom(solution, step, float(times[j]), whole)])
        if kappa[j] > 0.5 * kappa[max(j - 2, 0) : j + 3].max():
            return ("clear" if step.solver.closed_form else "through"), path
        low, high = times[a], times[b]
    torn = (
        float(np.abs(np.diff(part)).max()) > TORN * solution.size
    )  # within the rounding of time: Newton ends anywhere
    return ("open" if lost or (torn and not step.solver.closed_form) else "clear"), np.array([high])


def _astray(solution: Solution, step: GroupStep, path: Array) -> Array:
    """Return a path of Newton divided where, well before its end, a step leaves its rates; nothing where none does.

    There it may have come to another branch, which ends where the own one goes on. Next to an end that is one, steps
    leave their rates as well: those count which are short beside what is left of the way. The sign of a determinant
    that has digits counts anywhere.
    """
    from ..runtime.sequencer import LONG, NEAR_AND_LONG, TURNED, marks

    if len(path) < 3:
        return path[:0]
    part, _ = part_of(solution, step, path)
    t, marked = part.time, np.zeros(len(part.time) - 1, dtype=np.int64)
    kappa, _, orientation = quality(part, step)
    marks(kappa, orientation, part.state, t, step.phi_rows, False, marked)
    long = np.isin(marked, (LONG, NEAR_AND_LONG, TURNED)) & (t[-1] - t[1:] > 4 * np.diff(t))
    long |= (marked == TURNED) & (np.minimum(kappa[:-1], kappa[1:]) > MEETING)
    between = t[:-1][long][:, None] + np.diff(t)[long][:, None] * np.arange(1, 8) / 8
    return np.union1d(path, between) if long.any() else path[:0]


def _flipped(solution: Solution, step: GroupStep, time: float, width: float) -> GroupStep | None:
    """Return the group before another that changes its branch at a time: it jumps, and what it hangs on does not.

    Its rates at the time itself may be anything.
    """
    beside, first = max(1e-6 * width, 8 * np.spacing(abs(time))), np.array([0])
    ends, sequence = np.clip([time - beside, time + beside], *solution.span), solution.program.sequence
    for i in sequence.groups.values():
        earlier = sequence.items[i].group_step
        if earlier is None or earlier.plan.name == step.plan.name:
            return None
        if earlier.solver.closed_form:
            part, lanes = part_of(solution, earlier, ends)
            h, phi = (part.state[:2, rows][:, :, lanes] for rows in (earlier.h_rows, earlier.phi_rows))
            if _jumping(ends, phi, first)[0] and not _jumping(ends, h, first)[0]:
                return earlier
    return None


def _carried(solution: Solution, step: GroupStep, low: float, high: float) -> bool:
    """Whether what a group hangs on jumps between two very near instants, as formulas may: the group goes with it."""
    part, lanes = part_of(solution, step, np.array([low, high]))
    return bool(_jumping(np.array([low, high]), part.state[:2, step.h_rows][:, :, lanes], np.array([0]))[0])


def _jumping(time: Array, h: Array, at: Ints) -> NDArray[np.bool_]:
    """Whether h (value and rate x row x lane) jumps in steps that begin at some lanes: ten times what rates tell."""
    low, high = h[:, :, at], h[:, :, at + 1]
    ways = 10 * (time[at + 1] - time[at]) * np.maximum(np.abs(low[1]), np.abs(high[1]))
    largest = np.maximum(np.abs(low[0]), np.abs(high[0])).max(axis=0, initial=0.0)
    return np.asarray((np.abs(high[0] - low[0]) > ways + 1e-7 * largest).any(axis=0))


def _shared(solution: Solution, step: GroupStep, low: float, high: float) -> float | None:
    """Return the instant at which branches of another group meet, too, on which this one hangs.

    What is known there has lost digits, so that a zero of the conditioning is told by its arms alone.
    """
    for name, change_points in solution.course.change_points.items():
        for m in change_points if name != step.plan.name else ():
            times = m.centre + 0.1 * m.spacing * np.array([-2.0, -1.0, 1.0, 2.0])
            times = times[(times >= solution.span[0]) & (times <= solution.span[1])]
            if low - m.spacing <= m.centre <= high + m.spacing and len(times) > 1:
                arms = sampled(solution, step, times)[0] / np.abs(times - m.centre)
                if np.ptp(arms) < 0.02 * arms.max() and arms.max() * m.spacing < 1.0:
                    return m.centre
    return None
