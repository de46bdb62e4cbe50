"""The plan of a group that [groups] has solved by a named type: its coordinates wired to the mechanism, and checked."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..common.errors import InputError, nearest
from ..mechanism.model import FRAME, Array, Model
from ..mechanism.numbers.arithmetic import array, scalars
from ..mechanism.numbers.nominal import nominal
from ..mechanism.plans.named_places import NamedPlaces
from ..mechanism.plans.named_where import Carried, Measured, Thing, Where
from ..mechanism.plans.plan import GroupPlan, Source, SumOf, ValueOf
from ..mechanism.plans.planning import plan_group, plan_groups
from ..mechanism.structure import Group, Structure
from .group_type import GroupType
from .library import load, specification_of
from .named_fit import Fit, FitCoordinates, FitPosture, completed, driver_values, postures

Solved = frozenset[str]
MOST_REVERSED = 4  # coordinates of one group that may be counted the other way round


def plan_all(model: Model, structure: Structure) -> list[GroupPlan]:
    """Return the plans of all groups in order; those of [groups] by the types that it names, which must fit."""
    if model.groups:
        _names(model, structure)
    stand = postures(model) if model.groups else ()

    def choose(group: Group, solved: Solved) -> _Named:
        return _Named(model, group, solved).fitted(stand)

    return _planned(model, structure, choose)


def plan_as_fits(model: Model, structure: Structure, posed: Model) -> list[GroupPlan]:
    """Return the plans for a set of coordinates of a simulation; a type that does not fit gives way to the derived one.

    `posed` is the model as it stands, assembled, with drivers that hold it there.
    """
    stand = postures(model, posed) if model.groups else ()

    def choose(group: Group, solved: Solved) -> _Named | None:
        try:
            return _Named(model, group, solved).fitted(stand)
        except InputError:
            return None

    return _planned(model, structure, choose)


def plan_alike(model: Model, structure: Structure, plans: Iterable[GroupPlan]) -> list[GroupPlan]:
    """Return the plans in another posture, or for another design, each group by the type that it has already."""
    known = {plan.name: plan for plan in plans}

    def choose(group: Group, solved: Solved) -> _Named | None:
        before = known.get(group.name)
        if before is None or not before.named:
            return None
        return _Named(model, group, solved).counted(before.reversed)

    return _planned(model, structure, choose)


def _planned(model: Model, structure: Structure, choose: Callable[[Group, Solved], _Named | None]) -> list[GroupPlan]:
    if not model.groups:
        return plan_groups(model, structure)
    solved = {FRAME}
    plans: list[GroupPlan] = []
    for group in structure.groups:
        named = choose(group, frozenset(solved)) if group.name in model.groups else None
        plans += plan_group(model, group) if named is None else named.plans()
        solved.update(group.bodies)
    return plans


def _names(model: Model, structure: Structure) -> None:
    groups = [g.name for g in structure.groups]
    for name in model.groups:
        if name not in groups:
            raise InputError(
                f"{model.origin or model.name}: [groups.{name}]: there is no such group{nearest(name, groups)} - the "
                f"groups are {', '.join(groups)}"
            )


class _Named:
    """One group, its type, and what the type's names are in the mechanism."""

    def __init__(self, model: Model, group: Group, solved: frozenset[str]) -> None:
        self.model, self.group, self.solved = model, group, solved
        self.where = Where(model, group, solved)
        self.type = self._load()
        self.text = specification_of(self.type.name)
        data = tomllib.loads(self.text)
        self.tables: dict[str, dict[str, str]] = {
            table: {n: str(k).removeprefix("driven ") for n, k in data.get(table, {}).items()}
            for table in ("dependent", "independent", "parameters")
        }
        self.tables["points"] = dict.fromkeys(data.get("points", {}), "point")
        self._known_names()
        self.sources: dict[str, Source] = {}
        self.things: dict[str, Thing] = {}
        for key, kind in self.tables["independent"].items():
            self.sources[key], self.things[key] = self.where.source(key, kind)
        for table in ("dependent", "points"):
            for key, kind in self.tables[table].items():
                self._found(key, kind)
        self.parameters: list[float] = []
        for key, kind in self.tables["parameters"].items():
            values, thing = self.where.parameter(key, kind)
            self.parameters += values
            if thing is not None:
                self.things[key] = thing
        carried = {key: thing for key, thing in self.things.items() if isinstance(thing, Carried)}
        self.places = NamedPlaces(model, group, carried, solved, frozenset(self.tables["parameters"]))
        if self.places.missing:
            self._missing(self.places.missing, carried)
        self.reversed: tuple[str, ...] = ()
        self.phi: Array | None = None  # in the first configuration

    def _load(self) -> GroupType:
        entry = self.model.groups[self.group.name]
        try:
            found = load(entry.type)
        except InputError as error:
            self.where.fail("", str(error))
        if found.space != self.model.space:
            self.where.fail("", f"the type '{found.name}' is {found.space}, the mechanism {self.model.space}")
        return found

    def _known_names(self) -> None:
        known = [name for table in self.tables.values() for name in table]
        for key in self.model.groups[self.group.name].where:
            if key not in known:
                listed = f" - it has {', '.join(known)}"
                self.where.fail(key, f"the type '{self.type.name}' has no such name{nearest(key, known) or listed}")

    def _found(self, key: str, kind: str) -> None:
        """Note what a coordinate that the group finds is in the mechanism, where it is said or the name is the same."""
        thing = self.where.thing(key, kind, dependent=True)
        if isinstance(thing, Carried):
            own = {body: local for body, local in thing.local.items() if body in self.group.bodies}
            if own:
                self.things[key] = replace(thing, local=own)
            elif key in self.model.groups[self.group.name].where:
                bodies = ", ".join(self.group.members)
                self.where.fail(key, f"'{thing.text}' is of no body of the group ({bodies}), which is to find it")
        elif isinstance(thing, Measured) and key in self.model.groups[self.group.name].where:
            self.things[key] = thing

    # ---- the plan ---------------------------------------------------------------------------------------------------
    def plans(self) -> tuple[GroupPlan, ...]:
        """Return the plan of the group and of bodies that need a third direction."""
        group, sketch = self.group, self._coordinates(self.model)
        if self.phi is None:
            self.phi = completed(self._fit(), nominal(sketch))
        start = array([a if _given(a) else b for a, b in zip(sketch.phi, self.phi.tolist(), strict=True)])
        sources = [_reversed(s) if key in self.reversed else s for key, s in self.sources.items()]
        plan = GroupPlan(
            group.name, group.type, group.bodies, group.joints, group.drivers, self.text, tuple(self.sources),
            tuple(sources), array(self.parameters), start, self.places.placements, named=self.type.name,
            reversed=self.reversed,
        )  # fmt: skip
        return (plan, *self.places.further(group.name))

    def counted(self, reversed: tuple[str, ...]) -> _Named:
        """Count some coordinates the other way round than the mechanism does."""
        self.reversed = reversed
        return self

    def fitted(self, stand: tuple[FitPosture, ...]) -> _Named:
        """Return the group with signs for which the type's equations hold in all postures; refused if there are none.

        What an angle or a displacement of a joint is to the type depends on the order of the joint's bodies, which says
        nothing of the motion: where it does not fit as it is, its negative is tried.
        """
        said = ""
        for reversed in self._choices() if stand else ():
            misfit = self.counted(reversed)._misfit(stand)
            if not misfit:
                return self
            said = said or misfit
        if said:
            self.where.fail("", f"the type '{self.type.name}' does not fit the group {self.group.name}: {said}")
        return self

    def _choices(self) -> Iterator[tuple[str, ...]]:
        signed = [key for key, thing in self.things.items() if isinstance(thing, Measured) and thing.has_sides]
        for n in range(min(len(signed), MOST_REVERSED) + 1):
            yield from itertools.combinations(signed[:MOST_REVERSED], n)

    def _misfit(self, stand: tuple[FitPosture, ...]) -> str:
        fit = self._fit()
        self.phi = None
        for posture in stand:
            if self.phi is not None and self.type.module.RHEONOMIC and posture.t == stand[0].t:
                continue  # its drivers are where they are at another time, of which the type knows
            found = nominal(self._coordinates(posture.model, posture))
            phi = completed(fit, found, self.phi)
            said = fit.misfit(phi, found)
            if said:
                advice = "check what its names are in `where`, and its parameters"
                return f"{said.format(place=posture.place)} - {advice}"
            if self.phi is None and (said := fit.deficiency(phi, found)):
                return f"{said} - they do not determine the group there; start elsewhere, or use another type"
            self.phi = phi if self.phi is None else self.phi
        return ""

    def _fit(self) -> Fit:
        scales = self._scales("dependent"), self._scales("independent")
        return Fit(self.type, nominal(array(self.parameters)), float(nominal(self.model.size)), scales)

    def _missing(self, bodies: tuple[str, ...], carried: Mapping[str, Carried]) -> None:
        body = bodies[0]
        named = [f"{key} = {c.text}" for key, c in carried.items() if body in c.local]
        asked = "two of its points, or a point and a direction"
        if self.model.dimension == 3:
            asked = "three of its points, or a point and two directions"
            if self.model.bodies[body].rod:
                asked = "its two ends"
        self.where.fail(
            "", f"body '{body}' does not follow from what is named in the type '{self.type.name}' "
            f"({', '.join(named) or 'nothing of it is'}) - name {asked}; [points] of the type can hold them"
        )  # fmt: skip

    def _coordinates(self, model: Model, posture: FitPosture | None = None) -> FitCoordinates:
        """Return what a model has of the type where its bodies stand, by default with the drivers' first values."""
        values = driver_values(nominal(model)) if posture is None else posture.values

        def place(thing: Carried, owners: Iterable[str]) -> Any:
            body = next(b for b in model.bodies if b in thing.local and b in owners)
            return thing.at(model.bodies[body])

        def numbers(table: str) -> Array:
            found: list[Any] = []
            for key, kind in self.tables[table].items():
                thing, count = self.things.get(key), len(self.type.module.COORDINATES[key])
                if thing is None:
                    found += [float("nan")] * count
                elif isinstance(thing, Carried):
                    found += scalars(place(thing, self.group.bodies if table == "dependent" else self.solved))
                else:
                    sign = -1.0 if key in self.reversed else 1.0
                    found.append(sign * thing.at(model, kind, values))
            return array(found)

        points = {
            key: place(thing, self.group.bodies)
            for key in self.tables["points"]
            if isinstance(thing := self.things.get(key), Carried)
        }
        t = nominal(model.simulation.start) if posture is None else posture.t
        return FitCoordinates(float(t), numbers("dependent"), numbers("independent"), points)

    def _scales(self, table: str) -> Array:
        """Return what coordinates are measured by: lengths by the size of the mechanism, all else by one."""
        size, found = nominal(self.model.size), []
        for key, kind in self.tables[table].items():
            thing = self.things.get(key)
            long = kind in ("point", "length") or (kind == "vector" and thing is not None and "->" in thing.text)
            found += [size if long else 1.0] * len(self.type.module.COORDINATES[key])
        return np.array(found)


def _reversed(source: Source) -> Source:
    """Return a value that is counted the other way round."""
    if isinstance(source, ValueOf):
        return replace(source, sign=-source.sign)
    assert isinstance(source, SumOf)
    return SumOf(-source.constant, tuple((body, -factor) for body, factor in source.angles))


def _given(x: Any) -> bool:
    return not (isinstance(x, float) and np.isnan(x))
