"""Drivers whose formulas jump: the drivers go from one value to the other in a straight line, within a very short ramp.

What hangs on a driver is then followed through the jump as through any motion: it keeps its branch, and where it comes
apart or leaves for infinity on the way the run ends.
"""

from __future__ import annotations

import numpy as np

from ..mechanism.functions import may_jump
from ..mechanism.plans.plan import Array
from ..runtime.program import Program
from .inner_times import inner_steps, largest_step, probes

Ramp = tuple[float, float]
SHORT = 1e-9  # of the run: the length of a ramp
FEWEST = 4096  # instants that a ramp has room for, of those that a float can tell apart
SMALLEST = 1e-6  # of a driver's largest step: what is less is no jump


def ramps(program: Program, time: Array, numbers: Array) -> tuple[Ramp, ...]:
    """Return the stretches of time within which drivers jump, none of the asked times inside of one."""
    drivers = program.model.drivers.values()
    if len(time) < 2 or not any(may_jump(d.motion) for d in drivers):
        return ()
    size = float(numbers[program.sequence.size_place])
    least = SMALLEST * np.array([largest_step(d.kind, size) for d in drivers])[:, None]
    looked = probes(time)
    value, rate, bend, _ = program.sequence.drive(looked, numbers)
    dt = np.diff(looked)
    ends = [np.maximum(np.abs(x[:, 1:]), np.abs(x[:, :-1])) for x in (rate, bend)]
    which, at = np.nonzero(np.abs(np.diff(value)) > least + dt * (2 * ends[0] + dt * ends[1]))
    low, high, own = looked[at], looked[at + 1], np.arange(len(at))
    below, above = value[which, at], value[which, at + 1]
    while len(at):  # halving, down to neighbours among the floats
        middle = 0.5 * (low + high)
        if not ((low < middle) & (middle < high)).any():
            break
        between = program.sequence.drive(middle, numbers)[0][which, own]
        left = np.abs(between - below) > np.abs(above - between)
        low, below = np.where(left, low, middle), np.where(left, below, between)
        high, above = np.where(left, middle, high), np.where(left, between, above)
    found = np.flatnonzero(np.abs(above - below) > least[which, 0])
    return tuple(sorted({_ramp(time, float(low[k]), float(high[k])) for k in found}))


def _ramp(time: Array, low: float, high: float) -> Ramp:
    """Return a ramp that ends at a jump or, where an asked time would lie in it, begins there."""
    length = max(SHORT * float(time[-1] - time[0]), FEWEST * float(np.spacing(np.abs(time).max())))
    before, behind = max(high - length, float(time[0])), min(low + length, float(time[-1]))
    if not ((before < time) & (time < high)).any():
        return before, high
    if not ((low < time) & (time < behind)).any():
        return low, behind
    return low, high


def on_ramps(program: Program, found: tuple[Ramp, ...], numbers: Array) -> list[float]:
    """Return the instants of ramps that are near enough to each other for what the drivers move."""
    times: list[float] = []
    for low, high in found:
        ends = np.array([low, high])
        times += [low, high, *inner_steps(program, ends, numbers, driven(program, probes(ends), numbers, found))]
    return times


def driven(program: Program, grid: Array, numbers: Array, found: tuple[Ramp, ...]) -> Array:
    """Return value and three derivatives of every driver, on ramps in a straight line (order, driver, lane)."""
    values = program.sequence.drive(grid, numbers)
    for low, high in found:
        lanes = slice(np.searchsorted(grid, low, side="right"), np.searchsorted(grid, high))
        if lanes.start < lanes.stop:
            first, last = program.sequence.drive(np.array([low, high]), numbers)[0].T
            slope = (last - first) / (high - low)
            values[:, :, lanes] = 0.0
            values[0, :, lanes] = (first + np.outer(grid[lanes] - low, slope)).T
            values[1, :, lanes] = slope[:, None]
    return values
