"""What a simulation in independent coordinates reports, over lanes, after the integration.

The integrator gives the states at the asked times; while the coordinates of these times are in use all rows are
evaluated there. Bodies, forces, energies and the criterion follow at the end, stretch by stretch of one set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..mechanism.model import Array, Model
from ..motion.run import Solution
from .applied import Applied
from .bodylanes import BodyLanes, Motions, Reader, portion_size
from .coordinates import Gauge, shown_name
from .criterion import Criterion
from .forces import Forces
from .inertia import Inertia
from .machine import Machine
from .mechanics import Mechanics
from .record import Recorded, reactions_of
from .sets import Built, Chosen

CLEAR = 1e-2  # pivots below this part of the largest: the coordinates in use are near a dead point, forces need not be


@dataclass(eq=False)
class Stretch:
    """Lanes of one set of coordinates."""

    mechanics: Mechanics
    built: Built
    chosen: Chosen
    springs: tuple[str, ...]
    first: int  # of the asked times
    rows: Array  # 3 + f x row x lane; from here on there is room for all later times
    angles: Array  # body x lane
    turns: Array  # torsion spring x lane: values next to their turns
    count: int = 0


class Noted:
    """The evaluated states of a run."""

    def __init__(
        self, model: Model, gauge: Gauge, inertia: Inertia, applied: Applied, reactions: bool, times: Array
    ) -> None:
        self.times, self.done = times, 0  # those that are asked for, and how many are evaluated
        self.model, self.gauge, self.inertia, self.applied, self.reactions = model, gauge, inertia, applied, reactions
        self.stretches: list[Stretch] = []
        self.not_unique: set[str] = set()
        self.residual = 0.0

    def enter(self, machine: Machine, built: Built, chosen: Chosen) -> Stretch:
        """Return where the next instants are written to, in the coordinates in use."""
        if not self.stretches or self.stretches[-1].mechanics is not machine.mechanics:
            room = machine.room(len(self.times) - self.done)
            self.stretches.append(Stretch(machine.mechanics, built, chosen, machine.springs, self.done, *room))
        return self.stretches[-1]

    def reached(self, count: int) -> None:
        """Note how many of the asked times are evaluated."""
        self.done = count
        self.stretches[-1].count = count - self.stretches[-1].first

    def record(self) -> Recorded:
        """Return everything that is reported at the states so far."""
        count = sum(s.count for s in self.stretches)
        model, drivers = self.model, len(self.model.drivers)
        motions, criterion = Motions(model, count), Criterion(self.gauge, self.inertia)
        kinetic, potential, efforts = np.empty(count), np.empty(count), np.empty((drivers, count))
        wrenches = np.empty((len(model.joints), 3 if model.dimension == 2 else 6, count))
        cosines = np.empty((len(criterion.names), count))
        independent: list[tuple[str, ...]] = []
        first = 0
        for stretch in self.stretches:
            time = self.times[stretch.first : stretch.first + stretch.count]
            rows, angles = (np.ascontiguousarray(x[..., : stretch.count]) for x in (stretch.rows, stretch.angles))
            turns = dict(zip(stretch.springs, stretch.turns[:, : stretch.count], strict=True))
            self._look(stretch, time, rows)
            reader = Reader(stretch.mechanics.program)
            forces = Forces(stretch.built.model, stretch.built.structure.groups)
            most = portion_size(model)
            for lo in range(0, len(time), most):
                part = slice(lo, min(lo + most, len(time)))
                at = slice(first + part.start, first + part.stop)
                bodies = reader.read(rows, time, part.start, part.stop)
                if bodies.planar:
                    bodies.turn[0, :, 0] = angles[:, part]
                near = {n: x[part] for n, x in turns.items()}
                inertia, kinetic[at] = self.inertia.over(bodies)
                potential[at] = self.applied.potential_over(bodies, near)
                if self.reactions or drivers:
                    lack = (inertia - self.applied.over(bodies, near=near))[None]
                    regular = np.zeros(len(bodies), dtype=bool)
                    found = forces.solve(bodies, lack, regular, driven=drivers > 0, clear=CLEAR)
                    efforts[:, at], wrenches[..., at] = found.drivers[0, :drivers], found.wrenches
                cosines[:, at] = criterion.over(bodies, _columns(reader, bodies, rows, time, part))
                motions.put(at, bodies)
            self.not_unique |= forces.not_unique
            independent += [tuple(shown_name(model, c) for c in stretch.chosen)] * len(time)
            first += len(time)
        return Recorded(
            motions.time,
            motions.by_name(),
            kinetic,
            potential,
            dict(zip(model.drivers, efforts, strict=True)),
            {},
            reactions_of(model, wrenches) if self.reactions else {},
            dict(zip(criterion.names, cosines, strict=True)),
            tuple(independent),
        )

    def _look(self, stretch: Stretch, time: Array, rows: Array) -> None:
        """Note the largest residual of the groups, relative to the size squared."""
        from ..motion.continuity import quality

        program = stretch.mechanics.program
        solution = Solution(program, time, np.arange(len(time)), rows[:3], len(time), program.sequence.numbers)
        for step in stretch.mechanics.groups:
            largest = float(quality(solution, step)[1].max(initial=0.0))
            self.residual = max(self.residual, largest / max(self.model.size**2, 1e-300))


def _columns(reader: Reader, bodies: BodyLanes, rows: Array, time: Array, part: slice) -> Array:
    """Return the velocity transformation, f x n x w x lane, from the rows that hold it."""
    found = []
    for j in range(3, len(rows)):
        unit = reader.read(np.ascontiguousarray(rows[[0, j, j], :, part]), time[part], 0, len(bodies))
        found.append(unit.twists())
    return np.stack(found)
