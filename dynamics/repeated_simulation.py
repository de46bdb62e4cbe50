"""Simulations of one mechanism at other parameters: read once, and every set of coordinates planned once.

Model and programs are traced at the nominal design, so that those of any design are numbers put into them. A design for
which reading or planning would decide otherwise, or whose groups do not come from the sketch to the start on the
branches of the nominal design, is read and assembled on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..common.errors import AssurgentError
from ..mechanism.model import Model
from ..mechanism.numbers.design_evaluation import Numbers
from ..mechanism.numbers.nominal import Plain, nominal, replaced
from ..mechanism.numbers.traced import Traced
from ..mechanism.numbers.tracing import trace
from ..mechanism.plans.planning import studied
from ..mechanism.structure import Structure
from ..runtime.named_plan import plan_alike
from ..runtime.program import Program, build
from .coordinate_sets import Chosen, Sets
from .coordinates import Gauge, Weighed, driven_by
from .initial_state import Start, begin
from .instant_kinematics import Mechanics
from .nullspace import check_inertia

EMPTY = np.zeros(0)


@dataclass(eq=False)
class Begun:
    """A simulation at its start, to be begun once or again: what is None is found by the first run, and kept.

    `mechanics` are those of its first coordinates, every group on its branch; a run takes them away. `learn` is to be
    called behind the simulation: it plans the sets that were met for the next ones.
    """

    model: Model
    start: Start | None = None
    gauge: Gauge | None = None
    sets: Sets | None = None
    mechanics: Mechanics | None = None
    weighed: Weighed | None = None
    learn: Callable[[], None] = lambda: None


class Again:
    """A mechanism whose [initial] says where it starts, to be simulated for many designs."""

    def __init__(self, data: Mapping[str, Any], origin: str, folder: Path | None, names: tuple[str, ...]) -> None:
        self.traced = trace(data, names, origin, None, folder)
        self._planned: dict[Chosen, tuple[Structure, Program]] = {}
        self._special: set[Chosen] = set()
        self._places: dict[Chosen, slice] = {}  # of the numbers of the programs among all
        self._signs: dict[str, list[float]] = {}
        self._plain: Plain = {}
        model = nominal(self.traced.model)
        simulation = self.traced.model.simulation
        times = (simulation.start, simulation.stop, simulation.step)
        self.usable = bool(model.initial) and not model.orientations and not any(isinstance(x, Traced) for x in times)
        if not self.usable:
            return
        self.start = begin(model)
        check_inertia(model, self.start)
        if not self.start.chosen:  # at a dead point of the coordinates of [initial]
            self.usable = False
            return
        sets, chosen = Sets(model, _silent), self.start.chosen
        values = np.array([i.value for i in model.initial])
        held = [d.motion(np.array([simulation.start]))[0, 0] for d in model.drivers.values()]
        order = sorted(range(len(values)), key=lambda k: (model.initial[k].joint, model.initial[k].coordinate))
        entered = sets.enter(chosen, self.start.posture, np.array([*held, *values[order]]))
        self._signs = {name: signs.tolist() for name, signs in entered.signs.items()}
        self.learn(sets)
        self._guards = len(self.traced.tape.guards)  # decisions of the model and of its first set
        self.usable = entered is sets.built(chosen).mechanics and self.at({}) is not None

    def learn(self, sets: Sets) -> None:
        """Plan the sets of coordinates that a simulation met, for the next ones."""
        for chosen, values in sets.met():
            if chosen in self._planned or chosen in self._special:
                continue
            model = driven_by(self.traced.model, chosen, values)
            try:
                structure, met = studied(model), sets.built(chosen).mechanics.groups
                planned = plan_alike(model, structure, (s.plan for s in met))
                self._planned[chosen] = structure, build(model, planned, _silent)
                self._numbers = None
            except AssurgentError:
                self._special.add(chosen)

    def _forget(self) -> bool:
        """Give up all sets but the first: their plans decide by what designs do not share. False: there are none."""
        first, guards = self.start.chosen, self.traced.tape.guards
        while len(guards) > self._guards:
            guards.popitem()
        self._special |= self._planned.keys() - {first}
        found, self._planned, self._numbers = len(self._planned) > 1, {first: self._planned[first]}, None
        return found

    _numbers: tuple[Numbers, tuple[int, ...]] | None = None

    def _compiled(self) -> tuple[Numbers, tuple[int, ...]]:
        if self._numbers is None:
            met: dict[int, Traced] = {}

            def note(x: Traced) -> Traced:
                met[x.index] = x
                return x

            replaced((self.traced.model, [(p.constants, p.carriers) for _, p in self._planned.values()]), note)
            wanted, self._places = list[Any](met.values()), {}
            for chosen, (_, program) in self._planned.items():
                values = program.sequence.values
                self._places[chosen] = slice(len(wanted), len(wanted) + len(values))
                wanted += values
            self._numbers = self.traced.tape.compiled(wanted), tuple(met)
        return self._numbers

    def at(self, settings: Mapping[str, float]) -> Begun | None:
        """Return a design at its start; None where it must be read on its own."""
        numbers, places = self._compiled()
        try:
            values, kept = numbers.evaluate(self.traced.designs(settings))
        except (TypeError, ValueError):  # a value that is no number: the reader says so
            return None
        if not kept[0]:
            return self.at(settings) if self._forget() else None
        of = dict(zip(places, values[:, 0].tolist(), strict=False))  # behind these come the numbers of the programs
        model = replaced(self.traced.model, lambda x: of[x.index], self._plain)

        def planned(chosen: Chosen) -> tuple[Structure, Program] | None:
            if chosen not in self._planned:
                return None
            structure, program = self._planned[chosen]
            constants = replaced(program.constants, lambda x: of[x.index], self._plain)
            carriers = replaced(program.carriers, lambda x: of[x.index], self._plain)
            driven = driven_by(model, chosen)
            return structure, program.at_design(driven, constants, carriers, values[self._places[chosen], 0])

        sets, chosen = Sets(model, _silent, planned), self.start.chosen
        gauge = Gauge(model, [c.joint for c in chosen])
        mechanics = sets.build(chosen, self.start.posture, EMPTY).mechanics
        given = {i.joint + " " + i.coordinate: i for i in model.initial}
        t = np.array([model.simulation.start])
        jets = {name: d.motion(t)[:2, 0] for name, d in model.drivers.items()}
        last = [(given[d].value, given[d].rate) if d in given else jets[d] for d in mechanics.drivers]
        ends, rates = np.array(last).T
        sketch = gauge.system.first()
        measured = gauge.system.measured(sketch)
        firsts = np.array([measured[d] for d in mechanics.drivers])
        if not mechanics.approach(float(t[0]), firsts, ends, sketch.angle):
            return None
        if any(mechanics.signs[name].tolist() != signs for name, signs in self._signs.items()):
            return None
        instant = mechanics.evaluate(float(t[0]), ends, rates, np.zeros_like(ends))
        if instant is None:
            return None
        start = replace(self.start, posture=instant.posture)
        return Begun(model, start, gauge, sets, mechanics, learn=lambda: self.learn(sets))


def _silent(_: str) -> None:
    return None
