"""The integration of one simulation: state, tolerances and counters, handed to the compiled loop step by step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..mechanism.model import Array, Model
from . import integrator
from .compiled_set import Machine
from .pace import Pace
from .partition_records import Stretch

BALANCE = 1e-6  # of the largest kinetic energy so far: what a step may leave of its work; far above its own error
COARSE = 0.1  # the same for a fixed step, whose error nobody controls
REST = 1e3  # of the integrator's tolerance, which is the one asked for: rates below count as rest
OFTEN = 200  # steps after which the criterion is looked at in any case


class Stepping:
    """States at increasing times by DOP853 with dense output, or by the classical Runge-Kutta method of order 4."""

    def __init__(
        self, model: Model, t: float, f: int, times: Array, first: int, tolerance: float, fixed_step: float | None
    ) -> None:
        n = 2 * f + 1  # coordinates, their rates, and the kinetic energy
        self.times, self.fixed = times, fixed_step is not None
        self.pace = Pace(model, t, times, followed=not self.fixed)
        self.y, self.trial = np.zeros(n), np.zeros(n)
        self.K, self.F = np.zeros((16, n)), np.zeros((8, n))
        self.out = np.zeros((len(times), n))
        self.control = np.zeros(integrator.N_CONTROL)
        self.counts = np.zeros(integrator.N_COUNTS, dtype=np.int64)
        self.counts[integrator.NEXT] = first
        self.counts[integrator.OFTEN] = OFTEN
        self.control[integrator.RTOL] = tolerance
        self.pace.begin(self.control)
        self.control[integrator.STEP] = fixed_step or 0.0
        self.control[integrator.LAST_DISTANCE] = 1.0
        self.control[integrator.BALANCE] = COARSE if self.fixed else max(BALANCE, 1e3 * tolerance)

    def limits(self, stride: float, singular: float, near: float, bridge_end: float, gain: float, seldom: int) -> None:
        """Set when the loop is to return for a look, and how far one step may go; see `partition`."""
        control, counts = self.control, self.counts
        control[integrator.STRIDE], control[integrator.SINGULAR], control[integrator.NEAR] = stride, singular, near
        control[integrator.LOOK_BELOW], control[integrator.BRIDGE_END] = near, bridge_end
        control[integrator.GAIN] = gain
        counts[integrator.SELDOM] = seldom

    def enter(self, machine: Machine, t: float, y: Array, stretch: Stretch) -> bool:
        """Go on with a machine from a state; False where it moves otherwise than before: the energies differ.

        What is reported is written into a stretch of asked times.
        """
        self.machine, self.y[:-1] = machine, y
        self.room, self.counts[integrator.FIRST] = (stretch.rows, stretch.angles, stretch.turns), stretch.first
        first, before = self.control[integrator.ENERGY] == 0.0, self.y[-1]
        self.control[integrator.TIME] = t
        self.atol = self.control[integrator.RTOL] * np.tile(machine.scale, 2)
        self.K[0] = machine.enter(t, y)
        self.y[-1] = energy = machine.kinetic
        self.control[integrator.SLIGHT] = machine.slight(REST * self.control[integrator.RTOL])
        if self.control[integrator.STEP] == 0.0 and t < self.times[-1]:
            self.control[integrator.STEP] = self._first_step(t)
            machine.enter(t, y)
        largest = self.control[integrator.ENERGY] = max(self.control[integrator.ENERGY], energy)
        return bool(first or abs(energy - before) <= BALANCE * largest)

    def passed(self, count: int, energy: float) -> None:
        """Note that others went on: how many asked times are reported, and the kinetic energy at the present state."""
        self.counts[integrator.NEXT], self.y[-1] = count, energy

    def repeat(self, count: int) -> None:
        """Report the present state at the asked times so far, which are all its own."""
        self.out[:count] = self.y
        ints, x = self.machine.ints, self.machine.floats
        given = self.times, self.out, 0, count, np.empty((1, len(self.y))), 0
        self.counts[integrator.NEXT] = integrator.evaluate(ints, x, *given, *self.room, 0)

    def _anew(self, t: float) -> float:
        """Take the rates of the present state at an instant behind a break; return the next step."""
        self.K[0] = self.machine.rates(t, self.y[:-1])
        return float(self.control[integrator.STEP]) if self.fixed else self._first_step(t)

    def _first_step(self, t: float) -> float:
        self.counts[integrator.EVALUATIONS] += 1
        left = float(self.times[-1]) - t
        scale = self.atol + np.abs(self.y[:-1]) * self.control[integrator.RTOL]
        return first_step(lambda u, y: self.machine.rates(u, y)[:-1], t, self.y[:-1], self.K[0, :-1], scale, left)

    def looked(self, distance: float) -> None:
        """Note a look at the coordinates, with the groups at a distance from singularity."""
        self.counts[integrator.UNSEEN] = 0
        self.control[integrator.LAST_DISTANCE] = distance
        near = self.control[integrator.NEAR]
        self.control[integrator.LOOK_BELOW] = near if distance > near else 0.7 * distance

    def go(self) -> int:
        """Run the compiled loop; return why it ended."""
        self.pace.follow(self.control, self._anew)
        ints, x = self.machine.ints, self.machine.floats
        if self.fixed:
            return int(
                integrator.march(
                    ints, x, self.y, self.K, self.trial, self.control, self.counts, self.times, self.out, *self.room
                )
            )
        return int(
            integrator.advance(
                ints, x, self.y, self.K, self.F, self.trial, self.atol, self.machine.scale, self.control, self.counts,
                self.times, self.out, *self.room,
            )
        )  # fmt: skip

    @property
    def time(self) -> float:
        return float(self.control[integrator.TIME])

    @property
    def next(self) -> int:
        """The number of the next asked time."""
        return int(self.counts[integrator.NEXT])


def first_step(
    rates: Callable[[float, Array], Array], t: float, y: Array, rate: Array, scale: Array, left: float
) -> float:
    """Return Hairer, Nørsett and Wanner's first guess of a step; `scale` is what an error may be."""

    def norm(v: Array) -> float:
        return float(np.sqrt(np.mean((v / scale) ** 2)))

    if left <= 0.0:  # behind a break at the very end
        return 0.0
    d0, d1 = norm(y), norm(rate)
    h = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, left)
    change = norm(rates(t + h, y + h * rate) - rate) / h
    if not np.isfinite(change):  # no solution so far ahead: the step control finds one
        return h
    largest = max(d1, change)
    more = max(1e-6, h * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** 0.125
    return float(min(100 * h, more, left))
