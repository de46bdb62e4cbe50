"""Forward dynamics in independent joint coordinates, which change where others serve clearly better.

The positions of all bodies follow from the coordinates by the group solvers at every evaluation, so that the joints
stay closed to rounding for any duration; only the coordinates and their rates are integrated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..errors import AssurgentError, InputError
from ..mechanism.model import Array, Model
from .applied import Applied
from .coordinates import Coordinate, Gauge, Weighed, shown_name
from .crossing import NEAR, NODES, bridge_ahead
from .equations import Equations, Moved
from .inertia import Inertia
from .mechanics import Mechanics
from .posture import Posture, poses_of
from .record import Recorded
from .sets import Chosen, Sets
from .start import Start

if TYPE_CHECKING:
    from .again import Begun
    from .machine import Machine
    from .noted import Noted
    from .stepping import Stepping

CLEARLY = 4.0  # how many times better (in squared cosines) another set must be before it takes over
TIGHTER = 1e-3  # the integrator's own tolerance, of the one asked for: it holds per step, the user's for the whole run
DEAD = 0.05  # distance of a group from singularity below which other coordinates are taken, better or not
SINGULAR = 1e-4  # distance of a group from singularity at which a run without a way through ends
SELDOM = 4  # steps between two looks at the criterion where no group is near a singular position
WATCHED = 0.6  # of the gain that a change needs: where an estimate sees it, the criterion itself is looked at
SAME = 1e-6  # of the size or of the largest rate: how alike two sets of coordinates must be where one takes over
STRIDE = 0.4  # of the distance from singularity, or of a radian: how far a coordinate may go in one step


@dataclass(frozen=True)
class Stop:
    """Why a simulation ended early."""

    time: float
    message: str


@dataclass
class Counts:
    """What a run did."""

    steps: int = 0
    evaluations: int = 0
    changes: int = 0
    crossings: int = 0
    residual: float = 0.0
    history: list[tuple[float, tuple[str, ...]]] = field(default_factory=list)


class NoCoordinatesError(InputError):
    """Joint coordinates do not tell the position, as of a body that hangs on a spherical joint."""


class Partition:
    """One forward simulation by coordinate partitioning."""

    def __init__(
        self,
        model: Model,
        start: Start,
        progress: Callable[[str], None],
        reactions: bool = True,
        through: bool = True,
        fixed_step: float | None = None,
        begun: Begun | None = None,
    ) -> None:
        self.model, self.progress, self.through, self.fixed_step = model, progress, through, fixed_step
        self.inertia = Inertia(model)
        self.applied = Applied(model, self.inertia)
        self.reactions, self.not_unique = reactions, set[str]()
        self.gauge = begun.gauge if begun else Gauge(model, [c.joint for c in start.chosen])
        self.sets = begun.sets if begun else Sets(model, progress)
        self.counts = Counts()
        self._distance = 1.0  # least distance of a group from singularity
        self._machines: dict[Mechanics, Machine] = {}
        self.f = start.free
        self.t = start.posture.time
        if start.chosen:
            values = {Coordinate(i.joint, i.coordinate): i.value for i in model.initial}
            rates = {Coordinate(i.joint, i.coordinate): i.rate for i in model.initial}
        else:
            poses = self.gauge.system.remember(poses_of(self.gauge.system, start.posture))
            values, rates = self.gauge.values(poses), self.gauge.rates(poses, start.posture.twist)
        self.chosen = start.chosen or self._first(start, values)
        held = self._driven(self.chosen, values)
        mechanics = begun.mechanics if begun else self.sets.enter(self.chosen, start.posture, held)
        self.equations = Equations(model, self.inertia, self.applied, mechanics)
        self.z = np.array([values[c] for c in self.chosen])
        self.zdot = np.array([rates[c] for c in self.chosen])
        moved = self._moved(self.t, self.z, self.zdot)
        self._accept(moved)
        self._last_weighed = self._weighed(moved)
        self._note()

    # ---- the start ------------------------------------------------------------------------------------------------
    def _first(self, start: Start, values: dict[Coordinate, float]) -> Chosen:
        """Return the best set at the start, of those that can be built."""
        from .nullspace import free_motions

        R = free_motions(self.model, start.poses)
        weighed = self.gauge.weigh(poses_of(self.gauge.system, start.posture), R, self.inertia.matrices(start.posture))
        usable = list(self.gauge.listed)
        while True:
            best = weighed.best(usable)
            if len(best) < self.f:
                why = "; ".join(dict.fromkeys(str(error) for error in self.sets.refused.values()))
                raise NoCoordinatesError(
                    f"{self.model.origin or self.model.name}: no {self.f} joint coordinates (R, P, slot, C or H) tell "
                    f"the position of this mechanism{f' ({why})' if why else ''}"
                )
            chosen = tuple(sorted(self.gauge.all[i] for i in best))
            try:
                self.sets.build(chosen, start.posture, self._driven(chosen, values))
                return chosen
            except AssurgentError:
                usable.remove(min(best, key=lambda i: weighed.cosines[i]))

    def _driven(self, chosen: Chosen, values: dict[Coordinate, float]) -> Array:
        """Return the values of all drivers and of the chosen coordinates at the start."""
        held = [d.motion(np.array([self.t]))[0, 0] for d in self.model.drivers.values()]
        return np.array([*held, *(values[c] for c in chosen)])

    # ---- one state ------------------------------------------------------------------------------------------------
    def _moved(self, t: float, z: Array, zdot: Array) -> Moved:
        found = self.equations.moved(t, z, zdot)
        if found is None:
            raise _LostError
        return found

    def _accept(self, moved: Moved) -> None:
        self.equations.mechanics.accept(moved.instant, self.equations.free, moved.zddot)
        self.applied.remember(moved.instant.posture)

    def _weighed(self, moved: Moved) -> Weighed:
        posture = moved.instant.posture
        R = moved.instant.R[:, :, self.equations.free]
        return self.gauge.weigh(poses_of(self.gauge.system, posture), R, self.inertia.matrices(posture))

    # ---- the run --------------------------------------------------------------------------------------------------
    def run(self, times: Array) -> tuple[Recorded, Stop | None]:
        """Return what is reported at increasing times from the start on, and why they end early (None: not)."""
        from .noted import Noted

        noted = Noted(self.model, self.gauge, self.inertia, self.applied, self.reactions, times)
        stop = self.integrate(times, noted)
        found = noted.record()
        self.counts.residual, self.not_unique = noted.residual, noted.not_unique
        return found, stop

    def integrate(self, times: Array, noted: Noted) -> Stop | None:
        """Go through all times; what is reported there is noted while their coordinates are in use."""
        try:
            return self._advance(times, noted)
        except _LostError:
            return self._stop(self.t)
        finally:
            self.counts.evaluations += self.equations.mechanics.evaluations

    def _advance(self, times: Array, noted: Noted) -> Stop | None:
        from .integrator import EVALUATIONS, FAILED, LOOK, LOST, STEPS
        from .stepping import Stepping

        k = int(np.searchsorted(times, self.t, side="right"))
        tolerance = max(TIGHTER * self.model.simulation.tolerance, 3e-14)
        stepping = Stepping(self.f, times, k, tolerance, self.fixed_step)
        gain = 1.0 + WATCHED * (CLEARLY - 1.0)
        stepping.limits(STRIDE, SINGULAR, NEAR, NODES[-1], gain, SELDOM, self.f == 1 and not self.model.drivers)
        self._enter(stepping, self._last_weighed, noted)
        stepping.repeat(k)
        noted.reached(stepping.next)
        try:
            while stepping.next < len(times):
                why = stepping.go()
                noted.reached(stepping.next)
                self.t, (self.z, self.zdot) = stepping.time, stepping.y[:-1].copy().reshape(2, -1)
                stepping.machine.leave(self.applied)
                if why & LOST:
                    raise _LostError
                if why & FAILED:
                    moved = self._moved(self.t, self.z, self.zdot)  # the state that tells which group is at its end
                    self._accept(moved)
                    self._distance = min(self.equations.mechanics.conditioning().values(), default=1.0)
                    here = self._weighed(moved)
                    jumped = stepping.machine.jumped
                    left = self._distance <= DEAD and self._leave(here, moved)
                    if not left or not self._enter(stepping, here, noted):
                        return self._stop(self.t, jumped)
                    continue
                if why & LOOK and stepping.next < len(times):
                    moved = self._moved(self.t, self.z, self.zdot)
                    self._accept(moved)
                    weighed = self._look(moved)
                    if weighed is None:
                        return self._stop(self.t)
                    if not self._enter(stepping, weighed, noted):
                        return self._stop(self.t, "")
            return None
        finally:
            self.counts.steps = int(stepping.counts[STEPS])
            self.counts.evaluations += int(stepping.counts[EVALUATIONS])

    def _enter(self, stepping: Stepping, weighed: Weighed, noted: Noted) -> bool:
        """Go on in compiled code from the present state, in the coordinates now in use; False where energy jumps."""
        machine = self._ready(weighed)
        stretch = noted.enter(machine, self.sets.built(self.chosen), self.chosen)
        kept = stepping.enter(machine, self.t, np.concatenate([self.z, self.zdot]), stretch)
        stepping.looked(self._distance)
        return kept

    def _ready(self, weighed: Weighed) -> Machine:
        """Return the compiled form of the coordinates in use, told what it compares and counts from."""
        machine = self.machine()
        machine.watch(dict(zip(self.gauge.all, weighed.lengths.tolist(), strict=True)))
        machine.turn(self.applied.turns)
        return machine

    def machine(self) -> Machine:
        """Return the compiled form of the coordinates in use."""
        from .machine import Machine

        mechanics = self.equations.mechanics
        if mechanics not in self._machines:
            watched = [self.gauge.all[i] for i in self.gauge.listed if self.gauge.all[i] not in self.chosen]
            self._machines[mechanics] = Machine(self.model, mechanics, self.inertia, self.applied, watched, self.chosen)
        return self._machines[mechanics]

    def _look(self, moved: Moved) -> Weighed | None:
        """See whether the coordinates still serve, and change them where others do better; None without a way on."""
        mechanics = self.equations.mechanics
        weighed = self._weighed(moved)
        self._distance = 1.0
        bridge = mechanics.bridge
        if bridge is not None:
            place = bridge.place(float(self.z[0]))
            if abs(place) <= NODES[-1]:
                return weighed
            if place > 0:
                mechanics.signs.update(bridge.after)
                self.counts.crossings += 1
            mechanics.bridge = None
        self._distance = min(mechanics.conditioning().values(), default=1.0)
        mine = weighed.quality([self.gauge.all.index(c) for c in self.chosen])
        best = self._best(weighed, self.gauge.listed)
        better = best is not None and weighed.quality([self.gauge.all.index(c) for c in best]) > CLEARLY * mine
        if best is not None and better and self._change(best, moved):
            return weighed
        if self._distance < NEAR:
            if self.f == 1 and not self.model.drivers:
                mechanics.bridge = bridge_ahead(self.equations, self.t, float(self.z[0]), float(self.zdot[0]))
                self._moved(self.t, self.z, self.zdot)
                if mechanics.bridge is not None and not self.through:
                    return None
            if mechanics.bridge is None and self._distance < DEAD and self._leave(weighed, moved):
                return weighed
            if mechanics.bridge is None and self._distance < SINGULAR:
                return None
        return weighed

    def _leave(self, weighed: Weighed, moved: Moved) -> bool:
        """Change to the next best coordinates at a dead point of those in use, which the criterion may not see.

        It weighs with the masses: coordinates that carry almost all of them look best up to their dead point.
        """
        others = [i for i in self.gauge.listed if self.gauge.all[i] not in self.chosen]
        best = self._best(weighed, others)
        return best is not None and self._change(best, moved)

    def _best(self, weighed: Weighed, listed: Sequence[int]) -> Chosen | None:
        usable = list(listed)
        while True:
            best = weighed.best(usable)
            if len(best) < self.f:
                return None
            chosen = tuple(sorted(self.gauge.all[i] for i in best))
            if chosen not in self.sets.refused:
                return chosen
            usable.remove(min(best, key=lambda i: weighed.cosines[i]))

    def _change(self, chosen: Chosen, moved: Moved) -> bool:
        """Go over to other coordinates; False where they cannot be had, or are nearer to a dead point of their own."""
        posture = moved.instant.posture
        poses = self.gauge.system.remember(poses_of(self.gauge.system, posture))
        values, rates = self.gauge.values(poses), self.gauge.rates(poses, posture.twist)
        held = self.equations.prescribed(self.t)[0]
        z = np.array([values[c] for c in chosen])
        try:
            mechanics = self.sets.enter(chosen, posture, np.concatenate([held, z]))
        except AssurgentError as error:
            self.sets.refused[chosen] = error
            return False
        before = self.equations.mechanics, self.chosen, self.z, self.zdot
        self.counts.evaluations += self.equations.mechanics.evaluations
        self.equations.mechanics.evaluations = 0
        self.equations.enter(mechanics)
        self.chosen, self.z, self.zdot = chosen, z, np.array([rates[c] for c in chosen])
        found = self.equations.moved(self.t, self.z, self.zdot)
        distance = min(mechanics.conditioning().values(), default=1.0)
        if found is None or distance < min(self._distance, NEAR) or not self._same(found, posture):
            self.equations.enter(before[0])
            self.chosen, self.z, self.zdot = before[1:]
            self._moved(self.t, self.z, self.zdot)
            return False
        self._accept(found)
        self.counts.changes += 1
        self._note()
        return True

    def _same(self, found: Moved, posture: Posture) -> bool:
        """Return whether the coordinates now in use put and move the bodies as they were; rods turn as they like."""
        if self.equations.mechanics.miss(posture, self.model.movable) > SAME:
            return False
        bodies = [k for k, body in enumerate(self.model.bodies.values()) if not body.rod]
        gap = np.abs(found.instant.posture.twist - posture.twist)[bodies]
        return bool(gap.max() <= SAME * np.abs(posture.twist).max())

    def _note(self) -> None:
        self._distance = 1.0
        self.counts.history.append((self.t, tuple(shown_name(self.model, c) for c in self.chosen)))

    def _stop(self, t: float, jumped: str | None = None) -> Stop:
        """Return why the run ends: coordinates without a way on, or a posture that jumps (of a group, if known)."""
        near = self.equations.mechanics.conditioning() if self.equations.mechanics.groups else {}
        group = jumped or (min(near, key=lambda n: near[n]) if near else "")
        steps = {s.plan.name: s.plan for s in self.equations.mechanics.groups}
        where = ""
        if group:
            plan = steps[group]
            where = f"group {group} (bodies {', '.join(plan.bodies)}; joints {', '.join(plan.joints)}) "
        if jumped is not None:
            return Stop(
                t,
                f"{where}at t = {t:.9g} s: the posture, its rates or the energy jump, however short the step - give a "
                "smaller [simulation] tolerance or step, start elsewhere, or use --method global",
            )
        return Stop(
            t,
            f"{where}at t = {t:.9g} s: no set of joint coordinates carries the motion on: the mechanism is at a "
            "bifurcation, or it cannot move further - start elsewhere, change a length, or use --method global",
        )


class _LostError(AssurgentError):
    """The groups have no solution at a state that the integrator accepted."""
