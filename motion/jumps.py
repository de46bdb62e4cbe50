"""Drivers whose formulas jump: the drivers go from one value to the other in a straight line, within a very short ramp.

What hangs on a driver is then followed through the jump as through any motion: it keeps its branch, and where it comes
apart or leaves for infinity on the way the run ends. A driver that is steep, but continuous, is found in the same way,
and followed in inner steps.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from ..mechanism.functions import may_jump
from ..mechanism.plans.plan import Array
from ..runtime.program import Program
from .course import Course, Ramp
from .inner_times import inner_steps, largest_step, probes, refined

SHORT = 1e-9  # of the run: the length of a ramp
FEWEST = 4096  # instants that a ramp has room for, of those that a float can tell apart
SMALLEST = 1e-6  # of a driver's largest step: what is less is no jump
ASIDE = 0.49  # share at which steps are divided: a formula may have no value just at their middle
AT_AN_END = 0.01  # of an inner step, the first and the last one of a ramp: rates at its ends are not the ramp's
ROUNDS = 4  # of looking for more in the same step


def begun(program: Program, time: Array, numbers: Array) -> Course:
    """Return the course that a run begins with: where drivers jump or are steep, and the instants for that."""
    if len(time) < 2 or not any(may_jump(d.motion) for d in program.model.drivers.values()):
        return Course()
    jumps, steep = _abrupt(program, time, numbers)
    course = Course(ramps=tuple(sorted({_ramp(time, low, high) for low, high in jumps})))
    for ramp in course.ramps:
        ends = np.array(ramp)
        inner = inner_steps(program, ends, numbers, driven(program, probes(ends), numbers, course.ramps))
        beside = ends + AT_AN_END * np.diff(inner)[[0, -1]] * [1.0, -1.0]
        course.extra += [*inner.tolist(), *beside.tolist()]
    for path in steep:
        course.extra += _followed(program, path, numbers).tolist()
    return course


def _abrupt(program: Program, time: Array, numbers: Array) -> tuple[set[Ramp], list[Array]]:
    """Return the neighbouring instants between which drivers jump, and instants that lead to where they are steep."""
    looked = np.union1d(probes(time), inner_steps(program, time, numbers))
    jumps: set[Ramp] = set()
    steep: list[Array] = []
    for _ in range(ROUNDS):  # there may be more than one in a step
        low, high, paths = _divided(program, looked, numbers)
        jumping = np.array([_apart(*ends) for ends in zip(low, high, strict=True)], dtype=np.bool_)
        jumps |= set(zip(low[jumping].tolist(), high[jumping].tolist(), strict=True))
        steep += [path for path, jump in zip(paths, jumping, strict=True) if not jump]
        more = np.setdiff1d(np.concatenate([np.zeros(0), *paths]), looked)
        if not len(more):
            break
        looked = np.union1d(looked, more)
    return jumps, steep


def _divided(program: Program, looked: Array, numbers: Array) -> tuple[Array, Array, list[Array]]:
    """Divide the steps in which a driver's value changes by more than its rates explain, towards where it does.

    Returned are the ends of the last parts, which are explained or cannot be divided, and the instants on the way.
    """
    drivers, size = program.model.drivers.values(), float(numbers[program.sequence.size_place])
    least = SMALLEST * np.array([largest_step(d.kind, size) for d in drivers])[:, None]
    values = program.sequence.drive(looked, numbers)[:3]
    first, last, times = values[:, :, :-1], values[:, :, 1:], np.array([looked[:-1], looked[1:]])
    own = np.flatnonzero(_unexplained(np.diff(looked), first, last, least))
    ends, below, above = times[:, own], first[:, :, own], last[:, :, own]
    paths, active = [[*ends[:, k]] for k in range(len(own))], np.arange(len(own))
    while len(active):
        low, high = ends[:, active]
        middle = low + ASIDE * (high - low)
        between = program.sequence.drive(middle, numbers, refused=False)[:3]
        known = (low < middle) & (middle < high) & np.isfinite(between).all(axis=(0, 1))
        active, middle, between = active[known], middle[known], between[:, :, known]
        for k, t in zip(active.tolist(), middle.tolist(), strict=True):
            paths[k].append(t)
        ways = [np.max(np.abs(x[0][:, active] - between[0]) / least, axis=0) for x in (below, above)]
        left = ways[0] > ways[1]
        ends[1, active[left]], ends[0, active[~left]] = middle[left], middle[~left]
        above[:, :, active[left]], below[:, :, active[~left]] = between[:, :, left], between[:, :, ~left]
        dt = ends[1, active] - ends[0, active]
        active = active[_unexplained(dt, below[:, :, active], above[:, :, active], least)]
    return *ends, [np.unique(path) for path in paths]


def _unexplained(dt: Array, below: Array, above: Array, least: Array) -> NDArray[np.bool_]:
    """Whether drivers change by more than their rates at both ends of steps explain, and by more than the least."""
    rate, bend = np.maximum(np.abs(below[1:]), np.abs(above[1:]))
    return np.asarray((np.abs(above[0] - below[0]) > least + dt * (2 * rate + dt * bend)).any(axis=0))


def _apart(low: float, high: float) -> bool:
    """Whether two instants are no further apart than floats near to them: what changes between them jumps."""
    return bool(high - low <= 2 * np.spacing(max(abs(low), abs(high))))


def _followed(program: Program, path: Array, numbers: Array) -> Array:
    """Return instants of a steep driver, with others between them where it moves too far at once."""
    drivers, size = program.model.drivers.values(), float(numbers[program.sequence.size_place])
    largest = np.array([largest_step(d.kind, size) for d in drivers])[:, None]
    for _ in range(ROUNDS):
        value, rate = program.sequence.drive(path, numbers)[:2]
        ways = np.maximum(np.abs(np.diff(value)), np.maximum(np.abs(rate[:, 1:]), np.abs(rate[:, :-1])) * np.diff(path))
        path = refined(path, np.ceil(ways / largest).max(axis=0).astype(np.int64))
    return path


def _ramp(time: Array, low: float, high: float) -> Ramp:
    """Return a ramp that ends at a jump or begins there: whichever has more room, between the asked times."""
    length = max(SHORT * float(time[-1] - time[0]), FEWEST * float(np.spacing(np.abs(time).max())))
    before = max(high - length, float(time[np.searchsorted(time, high) - 1]))
    behind = min(low + length, float(time[np.searchsorted(time, low, side="right")]))
    return (before, high) if high - before >= behind - low else (low, behind)


def driven(program: Program, grid: Array, numbers: Array, found: tuple[Ramp, ...]) -> Array:
    """Return value and three derivatives of every driver, on ramps in a straight line (order, driver, lane).

    Of ramps, which follow each other in time, those are looked at that some times of the grid lie between.
    """
    values = program.sequence.drive(grid, numbers)
    some = found[bisect_right(found, grid[0], key=itemgetter(1)) : bisect_left(found, grid[-1], key=itemgetter(0))]
    ends = program.sequence.drive(np.array(some).ravel(), numbers)[0] if some else None
    for k, (low, high) in enumerate(some):
        lanes = slice(np.searchsorted(grid, low, side="right"), np.searchsorted(grid, high))
        if ends is not None and lanes.start < lanes.stop:
            first, last = ends[:, 2 * k], ends[:, 2 * k + 1]
            slope = (last - first) / (high - low)
            values[:, :, lanes] = 0.0
            values[0, :, lanes] = (first + np.outer(grid[lanes] - low, slope)).T
            values[1, :, lanes] = slope[:, None]
    return values
