"""What a simulation in independent coordinates reports, over lanes, after the integration.

The integrator gives the states at the asked times; while the coordinates of these times are in use all rows are
evaluated there. Bodies, forces, energies and the criterion follow at the end, stretch by stretch of one set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..mechanism.model import Array, Model
from ..motion.run import Solution
from .applied_loads import Applied
from .body_lanes import BodyLanes, Motions, Reader, portion_size
from .candidates import Candidates
from .compiled_set import Machine
from .coordinate_sets import Built, Chosen
from .coordinates import Gauge, shown_name
from .criterion import Criterion
from .inertia import Inertia
from .instant_kinematics import Mechanics
from .joint_forces import Forces
from .nullspace import free_motions
from .posture import Posture, poses_of
from .reaction_schemes import SCHEMES, free_reactions
from .records import Recorded, reactions_of

if TYPE_CHECKING:
    from .augmented import Augmented

Portion = tuple[slice, BodyLanes, dict[str, Array], Array]  # lanes, bodies, turns of springs, velocity transformation
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

    @property
    def forces(self) -> Forces:
        return Forces(self.built.model, self.built.structure.groups)

    def portions(self, times: Array, most: int) -> Iterator[Portion]:
        """Yield the lanes, so few at a time that they stay in the cache."""
        time = times[self.first : self.first + self.count]
        reader = Reader(self.mechanics.program)
        rows = np.ascontiguousarray(self.rows[..., : self.count])
        for lo in range(0, self.count, most):
            part = slice(lo, min(lo + most, self.count))
            bodies = reader.read(rows, time, part.start, part.stop)
            if bodies.planar:
                bodies.turn[0, :, 0] = self.angles[:, part]
            near = dict(zip(self.springs, self.turns[:, part], strict=True))
            yield part, bodies, near, _columns(reader, bodies, rows, time, part)


@dataclass(eq=False)
class Passage:
    """Lanes between two stretches, at dead points of all joint coordinates: none of them is in use."""

    gauge: Gauge
    forces: Forces
    bodies: BodyLanes
    near: dict[str, Array]
    first: int
    count: int
    chosen: Chosen = ()

    def portions(self, _: Array, __: int) -> Iterator[Portion]:
        """Yield all lanes: there are few."""
        columns = []
        for k in range(self.count):
            place, rotation = self.bodies.origin[0, :, :, k], self.bodies.rotation[..., k]
            posture = Posture(0.0, place, rotation, self.bodies.turn[0, :, 0, k], self.bodies.twists()[..., k])
            columns.append(free_motions(self.gauge.model, poses_of(self.gauge.system, posture)))
        if columns:
            moving = np.ascontiguousarray(np.stack(columns).transpose(3, 1, 2, 0))
            yield slice(0, self.count), self.bodies, self.near, moving


class Noted:
    """The evaluated states of a run."""

    scheme = SCHEMES[0]
    candidates = False

    def __init__(
        self, model: Model, gauge: Gauge, inertia: Inertia, applied: Applied, reactions: bool, times: Array
    ) -> None:
        self.times, self.done = times, 0  # those that are asked for, and how many are evaluated
        self.model, self.gauge, self.inertia, self.applied, self.reactions = model, gauge, inertia, applied, reactions
        self.stretches: list[Stretch | Passage] = []
        self.not_unique: set[str] = set()
        self.residual = 0.0

    def enter(self, machine: Machine, built: Built, chosen: Chosen) -> Stretch:
        """Return where the next instants are written to, in the coordinates in use."""
        last = self.stretches[-1] if self.stretches else None
        if isinstance(last, Stretch) and last.mechanics is machine.mechanics:
            return last
        room = machine.room(len(self.times) - self.done)
        entered = Stretch(machine.mechanics, built, chosen, machine.springs, self.done, *room)
        self.stretches.append(entered)
        return entered

    def passed(self, run: Augmented) -> None:
        """Note the instants of a run in the coordinates of all bodies."""
        _, bodies, near = run.lanes()
        self.stretches.append(Passage(self.gauge, run.forces, bodies, near, self.done, len(bodies)))
        self.reached(self.done + len(bodies))

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
        more = Candidates(self.gauge, self.inertia) if self.candidates else None
        shares = np.empty((3, len(criterion.names), count))
        independent: list[tuple[str, ...]] = []
        first = 0
        for stretch in self.stretches:
            if isinstance(stretch, Stretch):
                self._look(stretch)
            forces = stretch.forces
            for part, bodies, near, columns in stretch.portions(self.times, portion_size(model)):
                at = slice(first + part.start, first + part.stop)
                inertia, kinetic[at] = self.inertia.over(bodies)
                potential[at] = self.applied.potential_over(bodies, near)
                if self.reactions or drivers or more:
                    lack = inertia - self.applied.over(bodies, near=near)
                    regular = np.zeros(len(bodies), dtype=bool)
                    found = forces.solve(bodies, lack[None], regular, driven=drivers > 0, clear=CLEAR)
                    efforts[:, at] = found.drivers[0, :drivers]
                    wrenches[..., at] = free_reactions(self.scheme, forces, bodies, lack, self.inertia, found)
                    if more:
                        shares[..., at] = more.over(bodies, lack)
                cosines[:, at] = criterion.over(bodies, columns)
                motions.put(at, bodies)
            self.not_unique |= forces.not_unique
            independent += [tuple(shown_name(model, c) for c in stretch.chosen)] * stretch.count
            first += stretch.count
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
            more.series(shares) if more else {},
        )

    def _look(self, stretch: Stretch) -> None:
        """Note the largest residual of the groups, relative to the size squared."""
        from ..motion.closer_look import quality

        program, n = stretch.mechanics.program, stretch.count
        time, rows = self.times[stretch.first : stretch.first + n], np.ascontiguousarray(stretch.rows[:3, :, :n])
        solution = Solution(program, time, np.arange(n), rows, n, program.sequence.numbers)
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
