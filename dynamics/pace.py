"""Where a simulation begins anew, and how long its steps may be: what depends on time alone is known beforehand.

A step that has grown long while nothing happens may pass over a short pulse of a load, or of a driver, without a sign
of it. So these functions are looked at over the whole run before it begins. Where they jump or bend a step ends, and
another begins behind that instant; between such breaks no step is longer than the stretch of time over which a
polynomial follows them, so that the integrator's own stages see what happens there and its error control does the rest.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.polynomial import chebyshev

from ..mechanism.functions import Expression, may_jump
from ..mechanism.model import Array, Function, Model, PointForce, Torque
from ..mechanism.tables import Table
from ..runtime.sequence import Ints
from ..runtime.time_functions import values
from .integrator import END, LONGEST, STEP, TIME

FEWEST = 1 << 14  # intervals in which functions are looked at over a run, at least: what is shorter may not be seen
PER_OUTPUT = 8  # the same between two asked times, up to
MOST = 1 << 18  # over the run, beside the asked times themselves
JUMP = 0.05  # of its way within an interval: what the slopes at both ends may leave of a value, and so for slopes
SMALL = 1e-9, 1e-6  # of the largest value and slope of the run: smaller jumps are none
OFTEN = 0.25  # of all intervals: a function that jumps in more of them is left to the error control
DEGREE = 8
FOLLOWED = 1e-5  # of the range of a function: how far the polynomial may miss it
ROUNDED = 1e-12  # of its largest value: what the polynomial misses by rounding, where it does not change
ALIKE = 4.0  # by how much longest steps may differ within one stretch
APART = 64  # floats between two breaks, at least


class Pace:
    """The stretches of one run: where each ends, whether a break is there, and the longest step within it.

    Steps that do not change (`followed` is false) end at breaks alone.
    """

    def __init__(self, model: Model, start: float, times: Array, followed: bool = True) -> None:
        end = float(times[-1])
        self.ends, self.longest, self.breaks = [end], [np.inf], [False]
        self._now = 0
        functions, forces = _functions(model)
        if functions and end > start:
            self._find(functions, forces, start, end, times)
        if not followed:
            self.ends = [*(e for e, b in zip(self.ends, self.breaks, strict=True) if b), end]
            self.breaks = [*[True] * (len(self.ends) - 1), False]
            self.longest = [np.inf] * len(self.ends)

    def begin(self, control: Array) -> None:
        """Write the first stretch for the compiled loop."""
        control[END], control[LONGEST] = self.ends[self._now], self.longest[self._now]

    def follow(self, control: Array, anew: Callable[[float], float]) -> None:
        """Go over to the stretch of the present time; behind a break `anew` takes the rates there, returns a step."""
        while self._now < len(self.ends) - 1 and control[TIME] >= self.ends[self._now]:
            if self.breaks[self._now] and control[TIME] == self.ends[self._now]:
                # |x| has a slope of its own at its corner: behind all breaks that count as one
                behind = float(control[TIME] + (APART + 1) * np.spacing(abs(control[TIME])))
                control[TIME] = behind = min(behind, self.ends[self._now + 1])
                control[STEP] = anew(behind)
            self._now += 1
            self.begin(control)

    def _find(self, functions: Sequence[Function], forces: Ints, start: float, end: float, times: Array) -> None:
        count = max(FEWEST, min(PER_OUTPUT * (len(times) - 1), MOST))
        x = _looked_at(functions, start, times)
        found = _signals(functions, forces, x)
        own = _own(found, forces)
        allowed = np.maximum(FOLLOWED * np.ptp(own, axis=1), ROUNDED * np.abs(own).max(axis=1))
        breaks = _breaks(functions, forces, x, found)
        ends = [*breaks[breaks < end].tolist(), end]
        starts = [start, *np.nextafter(ends[:-1], np.inf).tolist()]
        spacing = (end - start) / count
        sizes = [
            DEGREE << max(0, int(np.ceil(np.log2(max(b - a, 0.0) / (DEGREE * spacing) + 1e-300))))
            for a, b in zip(starts, ends, strict=True)
        ]
        grids = [np.linspace(a, b, n + 1) for a, b, n in zip(starts, ends, sizes, strict=True)]
        looked = _own(_signals(functions, forces, np.concatenate(grids)), forces)
        edges = np.cumsum([0, *(len(g) for g in grids)])
        self.ends, self.longest, self.breaks = [], [], []
        for grid, (lo, hi) in zip(grids, pairwise(edges), strict=True):
            counts, step = _followed(looked[:, lo:hi], allowed), (grid[-1] - grid[0]) / (hi - lo - 1)
            at = 0
            for n, last in _stretches(counts):
                self.ends.append(float(grid[last]))
                self.longest.append(n * step if step > 0.0 else np.inf)
                self.breaks.append(False)
                at = last
            assert at == len(grid) - 1
            self.breaks[-1] = grid[-1] < end


def _functions(model: Model) -> tuple[list[Function], Ints]:
    """Return all that depends on time, and which of three rows of a function acts as a force: see `_signals`."""
    loads = [
        part for load in model.loads if isinstance(load, (PointForce, Torque))
        for part in (load.force if isinstance(load, PointForce) else load.torque)
    ]  # fmt: skip
    found = [(f, row) for some, row in ((loads, 0), ((d.motion for d in model.drivers.values()), 1)) for f in some]
    moving = [(f, row) for f, row in found if _moves(f)]
    return [f for f, _ in moving], np.array([row for _, row in moving], dtype=np.int64)


def _moves(function: Function) -> bool:
    return not isinstance(function, Expression) or any(
        step[:2] == ("name", function.variable) for step in function.steps
    )


def _signals(functions: Sequence[Function], forces: Ints, x: Array) -> Array:
    """Return three rows of every function (row x function x lane): of loads f, f', f", of drivers f', f", f‴."""
    found = values(functions, x)[0]
    found[~np.isfinite(found)] = 0.0  # where there is none the integration ends anyway
    return np.stack([found[row : row + 3, i] for i, row in enumerate(forces)], axis=1)


def _own(signals: Array, forces: Ints) -> Array:
    """Return the row of each function that acts as a force."""
    return signals[forces, np.arange(len(forces))]


# ---- breaks -------------------------------------------------------------------------------------------------------
def driver_jumps(model: Model, start: float, times: Array) -> list[tuple[str, float, bool]]:
    """Return the drivers that jump within a run (True), or whose rates do, and when."""
    found = []
    for name, driver in model.drivers.items():
        told = isinstance(driver.motion, Expression) and not may_jump(driver.motion)  # that its rate does not jump
        if times[-1] > start and not told and _moves(driver.motion):
            functions, whole = [driver.motion], np.zeros(1, dtype=np.int64)
            x = _looked_at(functions, start, times)
            signals = _signals(functions, whole, x)
            for row, jumps in enumerate((True, False)):
                met = _jumps(functions, whole, x, signals, row)
                found += [(name, float(t), jumps) for t in met if t < times[-1]]
    return found


def _looked_at(functions: Sequence[Function], start: float, times: Array) -> Array:
    """Return the instants in which functions are looked at over a run."""
    count = max(FEWEST, min(PER_OUTPUT * (len(times) - 1), MOST))
    knots = [f.knots for f in functions if isinstance(f, Table)]
    x = np.unique(np.concatenate([np.linspace(start, times[-1], count + 1), times, *knots]))
    return np.asarray(x[(start <= x) & (x <= times[-1])])


def _breaks(functions: Sequence[Function], forces: Ints, x: Array, found: Array) -> Array:
    """Return the last instants before a function, or its slope, jumps."""
    every = np.unique(np.concatenate([_jumps(functions, forces, x, found, row) for row in range(2)]))
    return np.asarray(every[np.diff(every, prepend=-np.inf) > APART * np.spacing(np.abs(every))])


def _jumps(functions: Sequence[Function], forces: Ints, x: Array, found: Array, row: int) -> Array:
    """Return the last instants before a row of the signals jumps."""
    d, value, rate = np.diff(x), found[row], found[row + 1]
    least = SMALL[row] * np.abs(value).max(axis=1, keepdims=True)
    way = np.abs(rate[:, 1:]) + np.abs(rate[:, :-1])
    gap = np.abs(np.diff(value) - 0.5 * d * (rate[:, 1:] + rate[:, :-1]))
    jumps = gap > JUMP * d * way + least
    jumps &= (np.count_nonzero(jumps, axis=1) <= OFTEN * len(d))[:, None]
    which, at = np.nonzero(jumps)
    if not len(at):
        return np.zeros(0)
    low, below, above = _narrowed(functions, forces, row, which, x[at], x[at + 1])
    between = 2 * np.spacing(np.abs(low)) * np.abs(rate).max(axis=1)[which]  # neighbouring floats of a slope
    return np.asarray(low[np.abs(above - below) > least[which, 0] + between])


def _narrowed(
    functions: Sequence[Function], forces: Ints, row: int, which: Ints, low: Array, high: Array
) -> tuple[Array, Array, Array]:
    """Halve intervals, always going on with the half in which more happens, down to neighbours among the floats."""
    mine = [np.flatnonzero(which == i) for i in range(len(functions))]

    def at(x: Array) -> Array:
        found = np.empty(len(which))
        for i, k in enumerate(mine):
            if len(k):
                found[k] = _signals([functions[i]], forces[i : i + 1], x[k])[row, 0]
        return found

    below, above = at(low), at(high)
    while True:
        middle = 0.5 * (low + high)
        if not ((low < middle) & (middle < high)).any():
            return low, below, above
        between = at(middle)
        left = np.abs(between - below) > np.abs(above - between)
        low, below = np.where(left, low, middle), np.where(left, below, between)
        high, above = np.where(left, middle, high), np.where(left, between, above)


# ---- the longest steps --------------------------------------------------------------------------------------------
@functools.lru_cache(maxsize=32)
def _through(n: int) -> Array:
    """Return what carries nine samples, n/8 apart, to all n + 1 between them: the polynomial through them."""
    u = np.linspace(-1.0, 1.0, n + 1)
    basis = chebyshev.chebvander(u, DEGREE)
    return np.asarray(np.linalg.solve(basis[:: n // DEGREE].T, basis.T))


def _followed(samples: Array, allowed: Array) -> list[int]:
    """Return how many samples long the parts are, halves of halves, that a polynomial follows; the least are 8 long."""
    n = samples.shape[1] - 1
    first, found = np.array([0]), list[tuple[int, int]]()
    while len(first):
        part = samples[:, first[:, None] + np.arange(n + 1)]
        miss = np.abs(part[..., :: n // DEGREE] @ _through(n) - part).max(axis=-1)
        done = (miss <= allowed[:, None]).all(axis=0) | (n == DEGREE)
        found += [(at, n) for at in first[done].tolist()]
        n //= 2
        first = np.concatenate([first[~done], first[~done] + n])
    return [length for _, length in sorted(found)]


def _stretches(lengths: list[int]) -> list[tuple[int, int]]:
    """Return parts together whose lengths are alike: the least of them, and where the last ends."""
    found: list[tuple[int, int]] = []
    least, most, at = lengths[0], lengths[0], 0
    for length in lengths:
        if max(most, length) > ALIKE * min(least, length):
            found.append((least, at))
            least = most = length
        least, most, at = min(least, length), max(most, length), at + length
    return [*found, (least, at)]
