"""A long run stretch by stretch, so that its cost grows with its length: each goes on from a lane of the one before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..mechanism.plans.plan import Array
from ..runtime.program import Program
from .course import Course
from .run import Before, Solution, signs_at, wound

ROUNDS = 60  # of looking and solving again, of a stretch
WINDOW, BESIDE = 320, 32  # lanes of a stretch, and those at its ends that the next one looks at as well
MOST = 64  # further lanes for one of a stretch


@dataclass(frozen=True)
class Way:
    """A run, or a stretch of one that goes on from a lane of the stretch before and is looked at up to a horizon."""

    program: Program
    time: Array
    method: str
    numbers: Array
    stretch: bool = False
    before: Before | None = None
    horizon: float = np.inf


Rounds = Callable[[Way, Course, int, int], tuple[Solution, bool]]


def in_stretches(run: Way, known: Course, rounds: Rounds) -> tuple[Course, bool]:
    """Follow a run stretch by stretch by `rounds`; its course, and whether that is whole."""
    base, size = wound(run.program, run.time, run.method, known, run.numbers), WINDOW
    while (found := _followed(run, known, rounds, base, size)) is None:
        size *= 4  # many lanes lie within a change point: another beginning, once or twice
    return found


def _followed(run: Way, known: Course, rounds: Rounds, base: Array, size: int) -> tuple[Course, bool] | None:
    """Follow a run in stretches of so many lanes; None where these are too short.

    All nodes of a change point lie in one stretch, which is made longer, or begins further back, where they do not.
    Where a stretch does not settle, nothing behind it is looked at.
    """
    most = MOST * size * max(1, len(run.program.sequence.groups) // 8)
    course, own = Course(list(known.extra), ramps=known.ramps), Course(ramps=known.ramps)
    before, first, window = None, 0, size
    last_one: tuple[Solution, int, Course, Array] | None = None  # the stretch before, its first lane, what it found
    while True:
        last = min(first + window, len(base) - 1)
        horizon = float(base[last - BESIDE]) if last < len(base) - 1 else np.inf
        stretch = Way(run.program, base[first : last + 1], run.method, run.numbers, True, before, horizon)
        part, settled = rounds(stretch, own, ROUNDS, most)
        nodes = [(float(m.nodes.min()), float(m.nodes.max())) for found in own.change_points.values() for m in found]
        within = covered(nodes)
        if last_one is not None and within(base[first], base[first]):
            back = next((k for k in range(first - 1, last_one[1], -1) if not within(base[k], base[k])), None)
            if back is None:
                return None
            solution, _, earlier, extra = last_one
            merged = earlier.since(float(base[back]), extra)
            merged.add(own, np.array(own.extra))
            before, window, first, own = _from(solution, base, back), window + first - back, back, merged
            continue
        if last < len(base) - 1 and within(base[last], base[last]):
            window *= 2
            continue
        more = np.setdiff1d(part.time, base)
        course.add(own, more)
        if not settled or last == len(base) - 1 or (part.stop is not None and part.stop.time <= horizon):
            return course, settled
        starts = [k for k in range(first + 1, last - 2 * BESIDE) if not within(base[k], base[k])]
        if not starts:
            window *= 2
            continue
        last_one, first, window = (part, first, own, more), starts[-1], size
        before, own = _from(part, base, first), own.since(float(base[first]), more)


def _from(part: Solution, base: Array, first: int) -> Before:
    """Return a lane of a stretch from which the next one goes on."""
    lane = int(np.searchsorted(part.time, base[first]))
    return Before(part, lane, signs_at(part, lane), (float(base[0]), float(base[-1])))


def covered(stretches: list[tuple[float, float]]) -> Callable[[float, float], bool]:
    """Return whether one of some stretches of time covers another."""
    if not stretches:
        return lambda low, high: False
    begins, ends = np.array(sorted(stretches)).T
    farthest = np.maximum.accumulate(ends)  # of all that have begun

    def within(low: float, high: float) -> bool:
        k = int(np.searchsorted(begins, low, side="right"))
        return k > 0 and bool(farthest[k - 1] >= high)

    return within
