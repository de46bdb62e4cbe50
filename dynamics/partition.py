"""Forward dynamics in independent joint coordinates, which change where others serve clearly better.

The positions of all bodies follow from the coordinates by the group solvers at every evaluation, so that the joints
stay closed to rounding for any duration; only the coordinates and their rates are integrated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..common.errors import AssemblyError, AssurgentError, InputError
from ..mechanism.model import Array, Model
from ..motion.outcome import Stop
from .applied_loads import Applied
from .bridges import NEAR, NODES, bridge_ahead
from .coordinate_sets import Chosen, Sets
from .coordinates import Gauge, JointCoordinate, Weighed, shown_name
from .equations import Equations, Moved
from .inertia import Inertia
from .initial_state import Start
from .instant_kinematics import Mechanics
from .nullspace import free_motions, regularity
from .posture import Posture, poses_of
from .reaction_schemes import SCHEMES
from .records import Counts, Recorded

if TYPE_CHECKING:
    from .compiled_set import Machine
    from .partition_records import Noted
    from .repeated_simulation import Begun
    from .stepping import Stepping

CLEARLY = 4.0  # how many times better (in squared cosines) another set must be before it takes over
TIGHTER = 1e-3  # the integrator's own tolerance, of the one asked for: it holds per step, the user's for the whole run
DEAD = 0.05  # distance of a group from singularity below which other coordinates are taken, better or not
CLEARER = 1.1  # how many times further from singular those must be: sets may share the group that is at its end
PASSED = 1e-2  # the same below which the coordinates of all bodies take over, where the joints keep their rank
KEPT = 0.5  # of the joints' distance from losing their rank: what must be left of it where that group is singular
SINGULAR = 1e-4  # distance of a group from singularity at which a run without a way through ends
SELDOM = 4  # steps between two looks at the criterion where no group is near a singular position
WATCHED = 0.6  # of the gain that a change needs: where an estimate sees it, the criterion itself is looked at
SAME = 1e-6  # of the size or of the largest rate: how alike two sets of coordinates must be where one takes over
STRIDE = 0.4  # of the distance from singularity, or of a radian: how far a coordinate may go in one step


class NoCoordinatesError(InputError):
    """Joint coordinates do not tell the position, as of a body that hangs on a spherical joint."""


class Partition:
    """One forward simulation by coordinate partitioning."""

    scheme, candidates = SCHEMES[0], False  # of the reactions; whether all joint coordinates are judged

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
        self.gauge = (begun and begun.gauge) or Gauge(model, [c.joint for c in start.chosen])
        self.sets = (begun and begun.sets) or Sets(model, progress)
        self.sets.refused.clear()  # another run goes another way
        self.counts = Counts()
        self._distance = 1.0  # least distance of a group from singularity
        self._ranked = 1.0, 1.0  # that of the last look near a dead point, and how far the joints kept their rank
        self._passable = False  # whether the coordinates of all bodies carry the motion on
        self._machines: dict[Mechanics, Machine] = {}
        self.f = start.free
        self.t = start.posture.time
        if start.chosen:
            values = {JointCoordinate(i.joint, i.coordinate): i.value for i in model.initial}
            rates = {JointCoordinate(i.joint, i.coordinate): i.rate for i in model.initial}
        else:
            poses = self.gauge.system.remember(poses_of(self.gauge.system, start.posture))
            values, rates = self.gauge.values(poses), self.gauge.rates(poses, start.posture.twist)
        self.chosen = self.sets.first = start.chosen or self.sets.first or self._first(start, values)
        held = self._driven(self.chosen, values)
        mechanics = (begun and begun.mechanics) or self.sets.enter(self.chosen, start.posture, held)
        self.equations = Equations(model, self.inertia, self.applied, mechanics)
        self.z = np.array([values[c] for c in self.chosen])
        self.zdot = np.array([rates[c] for c in self.chosen])
        moved = self.equations.moved(self.t, self.z, self.zdot)
        if moved is None:
            raise AssemblyError(f"{model.origin or model.name}: {self._stop(self.t).message}")
        self._accept(moved)
        self._last_weighed = (begun and begun.weighed) or self._weighed(moved)
        if begun:
            begun.gauge, begun.sets, begun.mechanics, begun.weighed = self.gauge, self.sets, None, self._last_weighed
        self._note()

    # ---- the start ------------------------------------------------------------------------------------------------
    def _first(self, start: Start, values: dict[JointCoordinate, float]) -> Chosen:
        """Return the best set at the start, of those that can be built."""
        weighed = self._weighed_at(start.posture)
        while (chosen := self.sets.best(weighed, self.gauge, self.gauge.listed, self.f)) is not None:
            try:
                self.sets.build(chosen, start.posture, self._driven(chosen, values))
                return chosen
            except AssurgentError as error:
                self.sets.refused[chosen] = error
        why = "; ".join(dict.fromkeys(str(error) for error in self.sets.refused.values()))
        raise NoCoordinatesError(
            f"{self.model.origin or self.model.name}: no {self.f} joint coordinates (R, P, slot, C or H) tell "
            f"the position of this mechanism{f' ({why})' if why else ''}"
        )

    def _driven(self, chosen: Chosen, values: dict[JointCoordinate, float]) -> Array:
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

    def _weighed_at(self, posture: Posture) -> Weighed:
        """Return the criterion at a posture that no set of coordinates was solved for."""
        poses = poses_of(self.gauge.system, posture)
        return self.gauge.weigh(poses, free_motions(self.model, poses), self.inertia.matrices(posture))

    # ---- the run --------------------------------------------------------------------------------------------------
    def run(self, times: Array) -> tuple[Recorded, Stop | None]:
        """Return what is reported at increasing times from the start on, and why they end early (None: not)."""
        from .partition_records import Noted

        noted = Noted(self.model, self.gauge, self.inertia, self.applied, self.reactions, times)
        noted.scheme, noted.candidates = self.scheme, self.candidates
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
        stepping = Stepping(self.model, self.t, self.f, times, k, tolerance, self.fixed_step)
        gain = 1.0 + WATCHED * (self._clearly - 1.0)
        near = NEAR if self.f == 1 and not self.model.drivers else DEAD  # bridges are looked for from further away
        stepping.limits(STRIDE, SINGULAR, near, NODES[-1], gain, SELDOM)
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
                if why & (FAILED | LOOK) and stepping.next < len(times):
                    moved = self._moved(self.t, self.z, self.zdot)
                    self._accept(moved)
                    jumped = stepping.machine.jumped if why & FAILED else None
                    self._passable = False
                    weighed = self._escape(moved) if why & FAILED else self._look(moved)
                    if self._passable:
                        weighed = self._pass(stepping, noted, moved.instant.posture)
                    if stepping.next == len(times):
                        return None
                    if weighed is None:
                        return self._stop(self.t, jumped)
                    if not self._enter(stepping, weighed, noted):
                        return self._stop(self.t, jumped or "")
            return None
        finally:
            self.counts.steps += int(stepping.counts[STEPS])
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
        from .compiled_set import Machine

        mechanics = self.equations.mechanics
        if mechanics not in self._machines:
            watched = [self.gauge.all[i] for i in self.gauge.listed if self.gauge.all[i] not in self.chosen]
            self._machines[mechanics] = Machine(self.model, mechanics, self.inertia, self.applied, watched, self.chosen)
        return self._machines[mechanics]

    @property
    def _clearly(self) -> float:
        """How many times better another set must be: the file's [simulation] change, or our own caution."""
        change = self.model.simulation.change
        return CLEARLY if change is None else change

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
        best = self.sets.best(weighed, self.gauge, self.gauge.listed, self.f)
        better = best is not None and weighed.quality([self.gauge.all.index(c) for c in best]) > self._clearly * mine
        if best is not None and better and self._change(best, moved, self._distance):
            return weighed
        if self._distance < NEAR:
            if self.f == 1 and not self.model.drivers:
                mechanics.bridge = bridge_ahead(self.equations, self.t, float(self.z[0]), float(self.zdot[0]))
                self._moved(self.t, self.z, self.zdot)
                if mechanics.bridge is not None and not self.through:
                    return None
            if mechanics.bridge is None and self._distance < DEAD and self._leave(weighed, moved):
                return weighed
            if mechanics.bridge is None:
                self._passable = self._keeps_rank(moved)
                if self._passable or self._distance < SINGULAR:
                    return None
        return weighed

    def _escape(self, moved: Moved) -> Weighed | None:
        """Leave coordinates in which no step is short enough; None without others."""
        self._distance = min(self.equations.mechanics.conditioning().values(), default=1.0)
        weighed = self._weighed(moved)
        if self._distance <= DEAD and self._leave(weighed, moved):
            return weighed
        self._passable = self._keeps_rank(moved)
        return None

    # ---- dead points of all joint coordinates ---------------------------------------------------------------------
    def _keeps_rank(self, moved: Moved) -> bool:
        """Return whether only the coordinates come to a dead point, all of them at once: the joints keep their rank.

        So it is where a universal joint of a coupler comes to the end of its reach: every crank turns back there,
        while the coupler goes on into its other branch. The rank is drawn on in a line from the last look to there.
        """
        d0, r0 = self._ranked
        d = self._distance
        if self.fixed_step is not None or d >= DEAD:
            return False
        r = regularity(self.model, poses_of(self.gauge.system, moved.instant.posture), self.f)
        self._ranked = d, r
        return d < min(d0, PASSED) and r - d * (r0 - r) / (d0 - d) > KEPT * r

    def _pass(self, stepping: Stepping, noted: Noted, posture: Posture) -> Weighed | None:
        """Go on in the coordinates of all bodies until joint coordinates serve again; None where none do."""
        from .augmented import Augmented

        self.counts.history.append((self.t, ()))
        least = max(2.0 * self._distance, 0.1 * PASSED)
        other = Augmented(self.model, posture, self.applied, reactions=False)
        found: list[Weighed] = []

        def arrived() -> bool:
            self.t = other.t
            found.extend(self._entered_at(other.posture(), least))
            return bool(found)

        other.advance(noted.times[stepping.next :], arrived)
        self.counts.steps += other.counts.steps
        self.counts.evaluations += other.counts.evaluations
        noted.passed(other)
        stepping.passed(noted.done, other.kinetic())
        return found[0] if found else None

    def _entered_at(self, posture: Posture, least: float) -> list[Weighed]:
        """Enter the best coordinates at a posture behind a dead point, and return their criterion; [] too near it."""
        weighed = self._weighed_at(posture)
        best = self.sets.best(weighed, self.gauge, self.gauge.listed, self.f)
        try:
            return [weighed] if best is not None and self._entered(best, posture, least) else []
        except AssurgentError:  # a group cannot be assembled so near its dead point
            return []

    def _leave(self, weighed: Weighed, moved: Moved) -> bool:
        """Change to the next best coordinates at a dead point of those in use, which the criterion may not see.

        It weighs with the masses: coordinates that carry almost all of them look best up to their dead point.
        """
        others = [i for i in self.gauge.listed if self.gauge.all[i] not in self.chosen]
        best = self.sets.best(weighed, self.gauge, others, self.f)
        return best is not None and self._change(best, moved, CLEARER * self._distance)

    def _change(self, chosen: Chosen, moved: Moved, least: float) -> bool:
        """Go over to other coordinates; False where they cannot be had, or are near a dead point of their own."""
        before = self.equations.mechanics, self.chosen, self.z, self.zdot
        try:
            if self._entered(chosen, moved.instant.posture, min(least, NEAR)):
                return True
        except AssurgentError as error:
            self.sets.refused[chosen] = error
        self.equations.enter(before[0])
        self.chosen, self.z, self.zdot = before[1:]
        self._moved(self.t, self.z, self.zdot)
        return False

    def _entered(self, chosen: Chosen, posture: Posture, least: float) -> bool:
        """Enter coordinates at a posture; False where they move otherwise, or a group is nearer to singular."""
        poses = self.gauge.system.remember(poses_of(self.gauge.system, posture))
        values, rates = self.gauge.values(poses), self.gauge.rates(poses, posture.twist)
        held = self.equations.prescribed(self.t)[0]
        z = np.array([values[c] for c in chosen])
        mechanics = self.sets.enter(chosen, posture, np.concatenate([held, z]))
        self.counts.evaluations += self.equations.mechanics.evaluations
        self.equations.mechanics.evaluations = 0
        self.equations.enter(mechanics)
        self.chosen, self.z, self.zdot = chosen, z, np.array([rates[c] for c in chosen])
        found = self.equations.moved(self.t, self.z, self.zdot)
        distance = min(mechanics.conditioning().values(), default=1.0)
        if found is None or distance < least or not self._same(found, posture):
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
        self._distance, self._ranked = 1.0, (1.0, 1.0)
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
        why = (
            "no set of joint coordinates carries the motion on: the mechanism is at a bifurcation, or it cannot move "
            "further - start elsewhere, change a length, or use the method global"
        ) if jumped is None else (
            "the posture, its rates or the energy jump, however short the step - give a smaller [simulation] tolerance "
            "or step, start elsewhere, or use the method global"
        )  # fmt: skip
        return Stop(t, f"{where}at t = {t:.9g} s: {why}")


class _LostError(AssurgentError):
    """The groups have no solution at a state that the integrator accepted."""
