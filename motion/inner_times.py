"""Times between the asked ones: near enough to each other for drivers, and for what gears make fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..common.errors import InputError
from ..mechanism.plans.plan import Array
from ..runtime.program import Program
from ..runtime.sequence import Ints
from .course import Course

if TYPE_CHECKING:
    from .run import Solution

LARGEST_TURN = 0.19  # rad (11 degrees) that a driver may move between two inner steps
LARGEST_STROKE = 0.1  # of the mechanism's size, likewise
LARGEST_SWING = 0.5  # of its largest rate that a driver's rate may change between two inner steps
MOST_INNER = 100_000  # inner steps between two asked times
FARTHEST = 10_000_000  # largest turns or strokes of a driver between two asked times
KEPT_INSTANTS = 100_000  # asked times up to which the inner ones are kept for the next design
TURNING = ("angle", "turn")  # kinds of drivers
MOST_NUMBERS = 200_000_000  # of the state of a run with inner steps: 1.6 GB


def grid_of(program: Program, time: Array, course: Course, numbers: Array | None = None) -> Array:
    """Return the times to be solved: the asked ones, inner ones, and those that the course adds."""
    grid = inner_steps(program, time, program.sequence.numbers if numbers is None else numbers)
    more = np.concatenate(
        [np.array(course.extra), *(m.nodes for found in course.change_points.values() for m in found)]
    )
    return np.union1d(grid, more[(grid[0] < more) & (more < grid[-1])]) if len(more) else grid


def inner_steps(program: Program, time: Array, numbers: Array, values: Array | None = None) -> Array:
    """Return times with inner ones where a driver would move too far at once; `values` are theirs at the probes."""
    sequence, drivers = program.sequence, program.model.drivers
    if len(time) < 2 or not drivers:
        return time
    if values is not None or sequence.motions is None or sequence.moving or len(time) > KEPT_INSTANTS:
        return _inner_steps(program, time, numbers, values)
    # all designs have the same drivers, and one design after the other is asked for at the same times
    turns = all(driver.kind in TURNING for driver in drivers.values())
    asked = time.tobytes(), 0.0 if turns else float(numbers[sequence.size_place])
    kept = sequence.inner
    if kept is None or kept[0] != asked:
        kept = sequence.inner = asked, _inner_steps(program, time, numbers, None)
    return kept[1]


def _inner_steps(program: Program, time: Array, numbers: Array, values: Array | None) -> Array:
    sequence, drivers = program.sequence, program.model.drivers
    looked = probes(time)
    values = sequence.drive(looked, numbers) if values is None else values
    size, counts, back = float(numbers[sequence.size_place]), np.ones(len(time) - 1), np.zeros(0)
    for driver, value, signed, bend in zip(drivers.values(), values[0], values[1], np.abs(values[2]), strict=True):
        rate = np.abs(signed)
        largest = largest_step(driver.kind, size)
        # the rate sees what a difference of values misses, such as a whole turn between two steps
        ways = np.maximum(np.abs(np.diff(value)), np.maximum(rate[1:], rate[:-1]) * np.diff(looked)) / largest
        farthest = float(ways.reshape(len(time) - 1, -1).sum(axis=1).max())
        if farthest > FARTHEST:
            raise too_far(program, farthest)
        swings = np.diff(looked) * (bend.max() / (LARGEST_SWING * max(rate.max(), 1e-300)))
        counts = np.fmax(counts, steps_for(np.maximum(ways, swings), len(time) - 1))
        back = np.concatenate([back, reversals(looked, signed)])
    keep_within_memory(program, len(time), counts.sum())
    grid = refined(time, counts.astype(np.int64))
    return with_reversals(grid, back) if len(back) else grid


def keep_within_memory(program: Program, asked: int, lanes: float) -> None:
    """Refuse a run that needs far more lanes than were asked for, and more than memory has room for."""
    if lanes > max(MOST_NUMBERS / (3 * program.n_rows), 2 * asked):
        raise too_far(program, lanes)


def too_far(program: Program, steps: float) -> InputError:
    model = program.model
    return InputError(
        f"{model.origin or model.name}: between two of the asked times there is more motion than can be followed "
        f"({steps:.3g} steps) - ask for a time that is nearer to the start, or for several on the way"
    )


def reversals(time: Array, rate: Array) -> Array:
    """Return the instants at which a driver turns back: what it moves comes nearest to a dead point there."""
    k = np.flatnonzero(rate[:-1] * rate[1:] < 0.0)
    return time[k] + np.diff(time)[k] * rate[k] / (rate[k] - rate[k + 1])


def with_reversals(grid: Array, back: Array) -> Array:
    """Return times with further ones, but for those next to one that is there."""
    after = np.clip(np.searchsorted(grid, back), 1, len(grid) - 1)
    low, high = grid[after - 1], grid[after]
    apart = np.minimum(back - low, high - back) > 1e-3 * (high - low)
    return np.union1d(grid, back[apart])


def largest_step(kind: str, size: float) -> float:
    """Return how far a driver may move between two inner steps."""
    return LARGEST_TURN if kind in TURNING else LARGEST_STROKE * size


def probes(time: Array) -> Array:
    """Return times with others between them at which drivers are looked at: they may swing between two asked times."""
    return refined(time, np.full(len(time) - 1, max(3, 4096 // (len(time) - 1))))


def steps_for(ways: Array, intervals: int) -> Array:
    """Return the inner steps of each interval, from ways between probes as shares of the largest one at once."""
    return np.asarray(np.minimum(np.ceil(ways.reshape(intervals, -1).sum(axis=1) * (1 - 1e-9)), MOST_INNER))


def refined(time: Array, counts: Ints) -> Array:
    """Return times with each interval split into so many equal steps."""
    counts = np.clip(counts, 1, MOST_INNER)
    if counts.max(initial=1) == 1:
        return time
    at = np.repeat(np.arange(len(counts)), counts)
    part = np.arange(len(at)) - (np.cumsum(counts) - counts)[at]
    return np.append(time[at] + part * (np.diff(time) / counts)[at], time[-1])


def turning(solution: Solution) -> Array:
    """Return further times where a gear or the like turns too far between two lanes for what it drives.

    Motion that is more than can be followed is refused; rates that grow without bound, towards a dead point, are not,
    nor are those behind it that have nothing to do with the angles.
    """
    rows, n = solution.program.turning_rows, solution.solved
    if not rows or n < 2:
        return np.zeros(0)
    rate, time = np.abs(solution.state[1, rows, :n]), solution.time[:n]
    most, least = (f(rate[:, 1:], rate[:, :-1]) * np.diff(time) for f in (np.maximum, np.minimum))
    least[np.abs(np.diff(solution.state[0, rows, :n])) > 2 * most + 2 * np.pi] = 0.0
    keep_within_memory(solution.program, len(solution.asked), least.max(axis=0).sum() / LARGEST_TURN)
    counts = np.ceil(np.minimum(most.max(axis=0) / LARGEST_TURN, MOST_INNER) * (1 - 1e-9)).astype(np.int64)
    return refined(time, counts) if counts.max() > 1 else np.zeros(0)
