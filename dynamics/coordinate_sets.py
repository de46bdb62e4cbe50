"""Sets of independent coordinates: each with its own structure, program and solvers, made once and entered anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..common.errors import AssurgentError
from ..mechanism.model import Array, Body, Model
from ..mechanism.plans.plan import GroupPlan
from ..mechanism.plans.planning import studied
from ..mechanism.structure import Structure
from ..runtime.named_plan import plan_alike, plan_as_fits
from ..runtime.program import GroupStep, Program, build
from ..runtime.solvers import bind
from .coordinates import Gauge, JointCoordinate, Weighed, driven_by
from .instant_kinematics import Mechanics
from .posture import Posture

Chosen = tuple[JointCoordinate, ...]


@dataclass(frozen=True, eq=False)
class Built:
    """A set of coordinates that is ready: the model with its virtual drivers, its structure and its mechanics."""

    model: Model
    structure: Structure
    mechanics: Mechanics


def _never(_: Chosen) -> None:
    return None


class Sets:
    """The sets met so far; a set whose solvers cannot be made is noted and not asked for again.

    `planned` gives structure and program of sets that were planned for another design.
    """

    def __init__(
        self,
        model: Model,
        progress: Callable[[str], None],
        planned: Callable[[Chosen], tuple[Structure, Program] | None] = _never,
    ) -> None:
        self.model, self.progress, self._planned = model, progress, planned
        self._built: dict[Chosen, Built] = {}
        self._met: dict[Chosen, dict[JointCoordinate, float]] = {}
        self.refused: dict[Chosen, AssurgentError] = {}
        self.first: Chosen = ()  # the set at the start, where a run has chosen it
        self._entered: dict[Chosen, tuple[Posture, Mechanics, dict[str, Array]]] = {}  # where each set was last

    def build(self, chosen: Chosen, posture: Posture, values: Array) -> Built:
        """Return the mechanics of a set; whatever forbids it is raised, and remembered.

        Whether the set determines the mechanism is asked at the posture: a position with all coordinates at zero may
        be out of reach or, as of a flat parallelogram, have more free motions than its neighbours.
        """
        if chosen in self.refused:
            raise self.refused[chosen]
        ready = self._planned(chosen) if chosen not in self._built else None
        if ready is not None:
            self._built[chosen] = Built(ready[1].model, ready[0], Mechanics(ready[1]))
        if chosen not in self._built:
            try:
                model = driven_by(self.model, chosen)
                held = self._held(chosen, posture, values)
                structure = studied(held)
                program = build(model, plan_as_fits(model, structure, held), self.progress)
                self._built[chosen] = Built(model, structure, Mechanics(program))
            except AssurgentError as error:
                self.refused[chosen] = error
                raise
        return self._built[chosen]

    def best(self, weighed: Weighed, gauge: Gauge, listed: Sequence[int], count: int) -> Chosen | None:
        """Return the best set of so many of the listed coordinates that is not refused; None without one."""
        usable = list(listed)
        while len(best := weighed.best(usable)) >= count:
            chosen = tuple(sorted(gauge.all[i] for i in best))
            if chosen not in self.refused:
                return chosen
            usable.remove(min(best, key=lambda i: weighed.cosines[i]))
        return None

    def met(self) -> list[tuple[Chosen, dict[JointCoordinate, float]]]:
        """Return the sets that were built here, and where their coordinates were."""
        return list(self._met.items())

    def built(self, chosen: Chosen) -> Built:
        """Return a set that was built before."""
        return self._built[chosen]

    def enter(self, chosen: Chosen, posture: Posture, values: Array) -> Mechanics:
        """Return the mechanics of a set with every group on the branch of a posture; values of all its drivers."""
        built, last = self.build(chosen, posture, values), self._entered.get(chosen)
        if last is None or last[0] is not posture:
            posed = at_posture(built.model, posture)
            planned = plan_alike(posed, built.structure, (s.plan for s in built.mechanics.groups))
            plans = {p.name: p for p in planned}
            mechanics = built.mechanics
            if any(self._planned_otherwise(s, plans[s.plan.name]) for s in mechanics.groups):
                mechanics = Mechanics(build(posed, planned, self.progress))
                plans = {s.plan.name: s.plan for s in mechanics.groups}
            starts = {s.plan.name: bind(plans[s.plan.name], self.progress).start for s in mechanics.groups}
            last = self._entered[chosen] = posture, mechanics, starts
        _, mechanics, starts = last
        mechanics.begin(posture.time, values, starts, posture.angle, posture)
        return mechanics

    def _held(self, chosen: Chosen, posture: Posture, values: Array) -> Model:
        """Return the model at a posture and its time, with virtual drivers that hold it there."""
        places = self._met[chosen] = dict(zip(chosen, values[len(self.model.drivers) :].tolist(), strict=True))
        model = driven_by(self.model, chosen, places)
        return at_posture(replace(model, simulation=replace(model.simulation, start=posture.time)), posture)

    def _planned_otherwise(self, step: GroupStep, plan: GroupPlan) -> bool:
        """Return whether the plan of a posture asks for another solver, or for other numbers with its Newton start."""
        if plan.specification != step.plan.specification:
            return True
        return not step.solver.closed_form and not np.allclose(
            bind(plan, self.progress).par, step.solver.par, rtol=1e-9, atol=1e-9 * self.model.size
        )


def at_posture(model: Model, posture: Posture) -> Model:
    """Return the model with its first configuration at a posture."""
    bodies: dict[str, Body] = {}
    for k, (name, body) in enumerate(model.bodies.items()):
        bodies[name] = replace(body, origin=posture.origin[k].copy(), rotation=posture.rotation[k].copy())
    places = {p: b.outside(x) for b in bodies.values() for p, x in b.points.items()}
    return replace(model, bodies=bodies, points={**{p: np.asarray(x) for p, x in model.points.items()}, **places})
