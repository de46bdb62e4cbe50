"""One forward simulation with compiled bodies: what the methods in absolute and in relative coordinates share.

A method has a state, a right-hand side and a projection, both called by their addresses; it leaves bodies and
accelerations in the arrays of its `BodySystem`. Integration, notes at the asked times and records are the same for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..mechanism.absolute import Absolute
from ..mechanism.model import Array, Model
from ..motion.outcome import Stop
from . import array_heads as heads
from . import body_head as place
from .applied_loads import Applied
from .body_lanes import BodyLanes, Motions
from .body_system import BodySystem
from .inertia import Inertia
from .joint_forces import Forces, Solved
from .joint_friction import with_friction
from .nullspace import free_motions, regularity
from .posture import Posture, poses_of
from .reaction_schemes import SCHEMES, free_reactions
from .records import Counts, Recorded, reactions_of

SINGULAR = 1e-2  # of the start's distance from more free motions: less of it ends a run because of the position
TIGHTER = 1e-3  # the integrator's own tolerance, of the one asked for: it holds per step, the user's for the whole run


class BodyMethod(ABC):
    """A method that integrates bodies. A subclass makes its arrays, then calls `connect`."""

    name: str
    scheme = SCHEMES[0]  # of the reactions

    def __init__(self, model: Model, start: Posture, applied: Applied | None = None, reactions: bool = True) -> None:
        self.model, self.inertia = model, Inertia(model)
        self.applied = applied or Applied(model, self.inertia)
        self.reactions = reactions
        self.system = BodySystem(model, self.inertia, self.applied)
        self.counts = Counts()
        self.t = start.time
        self.system.enter(start)
        self.start = start
        self._noted: list[tuple[Array, Array, Array, Array]] = []

    @cached_property
    def forces(self) -> Forces:
        """The systems of joint forces, made when they are first asked for."""
        return Forces(self.model)

    # ---- what a method says ---------------------------------------------------------------------------------------
    @abstractmethod
    def packed(self) -> Array:
        """Return the state of the bodies as they stand."""

    @abstractmethod
    def addresses(self) -> tuple[int, int, int]:
        """Return where right-hand side, projection (0: none) and what follows an accepted step are compiled."""

    def strike(self, t: float) -> None:  # noqa: B027 - most methods take no driver whose rate jumps
        """Change the velocities of the state as drivers whose rates jump at a time change them."""

    def tolerances(self, tolerance: float) -> Array:
        """Return the absolute tolerance of every entry of the state."""
        return np.full(len(self.y) - 1, tolerance)

    def better(self) -> BodyMethod | None:
        """Return what to run instead, from the start, where a setting that nobody asked for did not do."""
        return None

    def diagnostics(self) -> dict[str, Any]:
        """Return what a method notes beside the common figures."""
        return {}

    # ---- arrays ---------------------------------------------------------------------------------------------------
    def connect(self) -> None:
        """Make the head of the integration and take the present state."""
        state = self.packed()
        n = len(state) + len(state) % 2  # an even number, as the integrator counts; one may be idle
        self.y = np.zeros(n + 1)
        self.y[: len(state)] = state
        self.ints = np.zeros(heads.HEAD + place.ENTRIES, dtype=np.int64)
        self.x = np.zeros(heads.HEAD_FLOATS + 2 * n)
        ints = self.ints
        ints[heads.FREE], ints[heads.Y] = n // 2, heads.HEAD_FLOATS
        ints[heads.OWN_INTS], ints[heads.OWN_FLOATS] = ints.ctypes.data, self.x.ctypes.data
        own = heads.HEAD
        ints[heads.RATES], ints[own + place.PROJECT], ints[own + place.FINISH] = self.addresses()
        ints[own + place.OWN_BODIES] = self.system.head.ctypes.data
        self.system.head[place.STATE] = len(state)
        self.K, self.F, self.trial = np.zeros((16, n + 1)), np.zeros((9, n + 1)), np.zeros(n + 1)

    def rates(self, t: float, y: Array) -> Array:
        """Return dy/dt; not a number where there is none."""
        from .integrator import rates

        found = np.empty((1, len(self.y)))
        if not rates(self.ints, self.x, t, y, found, 0):
            found[:] = np.nan
        return np.asarray(found[0])

    def posture(self) -> Posture:
        """Return the present posture."""
        return self.system.posture(self.t)

    def kinetic(self) -> float:
        """Return the kinetic energy of the present state."""
        posture = self.posture()
        return 0.5 * float(np.einsum("nw,nwv,nv", posture.twist, self.inertia.matrices(posture), posture.twist))

    # ---- the run --------------------------------------------------------------------------------------------------
    def run(self, times: Array) -> tuple[Recorded, Stop | None]:
        """Return what is reported at increasing times from the start on, and why they end early."""
        stop = self.advance(times, None)
        return self._record(), stop

    def advance(self, times: Array, arrived: Callable[[], bool] | None) -> Stop | None:
        """Go through increasing times, or to where somebody who is asked after every step has arrived."""
        from . import body_integrator as engine
        from .integrator import EVALUATIONS, FAILED, LOST, N_CONTROL, N_COUNTS, NEXT, RTOL, STEP, STEPS, TIME
        from .pace import Pace
        from .stepping import first_step

        lanes, shape = len(times), self.system.bodies.shape
        kept, bends = np.zeros((lanes, *shape)), np.zeros((lanes, shape[0], self.system.w))
        turns = np.zeros((lanes, len(self.system.loads)))
        control, counts = np.zeros(N_CONTROL), np.zeros(N_COUNTS, dtype=np.int64)
        tolerance = max(TIGHTER * self.model.simulation.tolerance, 3e-14)
        control[TIME], control[RTOL] = self.t, tolerance
        atol = self.tolerances(tolerance)
        stop = None

        def behind(t: float) -> float:
            note(t)  # what is asked at a jump is what it is before
            self.strike(t)
            return anew(t)

        def note(t: float) -> None:
            while counts[NEXT] < lanes and times[counts[NEXT]] <= t:
                engine.note(self.ints, self.x, self.t, self.y, self.K, 1, int(counts[NEXT]), kept, bends, turns)
                counts[NEXT] += 1

        def anew(t: float) -> float:
            self.K[0] = self.rates(t, self.y)
            scale = atol + np.abs(self.y[:-1]) * tolerance
            given = t, self.y[:-1], self.K[0, :-1], scale, times[-1] - t
            return first_step(lambda t, y: self.rates(t, y)[:-1], *given)

        if not engine.project(self.ints, self.x, self.t, self.y):
            return self._open()
        self.K[0] = self.rates(self.t, self.y)
        note(self.t)
        if counts[NEXT] < lanes:
            pace = Pace(self.model, self.t, times)
            pace.begin(control)
            control[STEP] = anew(self.t)
        while counts[NEXT] < lanes:
            pace.follow(control, behind)
            why = engine.advance(
                self.ints, self.x, self.y, self.K, self.F, self.trial, atol, control, counts, times, kept, bends, turns,
                engine.PATIENCE if arrived is None else 1,
            )  # fmt: skip
            self.t = float(control[TIME])
            if why & FAILED:
                stop = self._lost("the integrator's steps became too small")
                break
            if why & LOST:
                stop = self._open()
                break
            self._give_turns()
            if arrived is not None and arrived():
                break
        n = int(counts[NEXT])
        self._noted.append((times[:n], kept[:n], bends[:n], turns[:n]))
        self.counts.steps += int(counts[STEPS])
        self.counts.evaluations += int(counts[EVALUATIONS])
        return stop

    def _give_turns(self) -> None:
        """Tell the applied loads where the torsion springs are."""
        for k, load in enumerate(self.model.loads):
            if load.name in self.system.springs:
                self.applied.turns[load.name] = float(self.system.turns[k])

    # ---- what is reported -----------------------------------------------------------------------------------------
    def lanes(self) -> tuple[Motions, BodyLanes, dict[str, Array]]:
        """Return the noted instants, as lanes, too, and what turns of torsion springs are next to there."""
        time, kept, bends, turns = (np.concatenate(x) for x in zip(*self._noted, strict=True))
        bodies = BodyLanes(time, *self.system.moved(kept, bends))
        motions = Motions(self.model, len(time))
        motions.put(slice(None), bodies)
        names = {load.name: k for k, load in enumerate(self.model.loads) if load.name in self.system.springs}
        return motions, bodies, {name: np.ascontiguousarray(turns[:, k]) for name, k in names.items()}

    def _record(self) -> Recorded:
        """Return everything that is reported at the noted instants."""
        motions, bodies, near = self.lanes()
        self.counts.residual = self._residual(bodies)
        inertia, kinetic = self.inertia.over(bodies)
        lack = inertia - self.applied.over(bodies, near=near)
        regular = np.zeros(len(bodies), dtype=bool)

        def solve(more: Array) -> tuple[Solved, Array]:
            rest = lack - more
            solved = self.forces.solve(bodies, rest[None], regular)
            return solved, free_reactions(self.scheme, self.forces, bodies, rest, self.inertia, solved)

        friction = with_friction(self.model)
        none = np.zeros_like(lack)
        found, wrenches = solve(none) if friction is None else friction.settled(bodies, regular, solve)
        return Recorded(
            motions.time, motions.by_name(), kinetic, self.applied.potential_over(bodies, near),
            dict(zip(self.model.drivers, found.drivers[0], strict=True)),
            reactions=reactions_of(self.model, wrenches) if self.reactions else {},
        )  # fmt: skip

    def _residual(self, bodies: BodyLanes) -> float:
        """Return the largest scaled residual of a joint at the noted instants."""
        joints, largest = self.system.joints, 0.0
        for time, kept, _, _ in self._noted:
            for t, state in zip(time, kept, strict=True):
                joints.bodies[:] = state
                joints.evaluate(t)
                largest = max(largest, float(np.abs(joints.phi / joints.scales).max(initial=0.0)))
        return largest

    @property
    def not_unique(self) -> set[str]:
        """The joints whose reactions were not unique so far."""
        return self.forces.not_unique

    # ---- why a run ends -------------------------------------------------------------------------------------------
    def _open(self) -> Stop:
        return self._lost("the joints cannot be closed again", "take a smaller [simulation] tolerance")

    def _lost(self, what: str, advice: str = "") -> Stop:
        """Return why a run ends; where the joints lose their rank no tolerance helps."""
        at = f"at t = {self.t:.9g} s: {what}"
        here, begun = (poses_of(Absolute(self.model), x) for x in (self.posture(), self.start))
        free = free_motions(self.model, begun).shape[2]
        if regularity(self.model, here, free) < SINGULAR * regularity(self.model, begun, free):
            return Stop(
                self.t,
                f"{at}: the mechanism is at a singular position, where its branches meet: the joints leave more "
                f"motions free there than elsewhere, and the method {self.name} does not pass it - use the method "
                "partition, which does where one motion is free, or start elsewhere",
            )
        return Stop(self.t, f"{at} - {advice}" if advice else at)
