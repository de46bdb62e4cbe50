"""The plan of a group that [groups] has solved by a named type: its coordinates wired to the mechanism, and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..common.errors import AssemblyError, InputError, nearest
from ..mechanism.model import FRAME, Array, Model
from ..mechanism.numbers.arithmetic import array, scalars
from ..mechanism.numbers.nominal import nominal
from ..mechanism.plans.named_places import Places
from ..mechanism.plans.named_where import Carried, Measured, Thing, Where
from ..mechanism.plans.plan import GroupPlan, Source
from ..mechanism.plans.planning import plan_group, plan_groups
from ..mechanism.structure import Group, Structure
from .group_type import GroupType
from .library import load, specification_of

HOLDS = 1e-9  # of what a row makes of coordinates of the mechanism's size
FULL_RANK = 1e-9  # least singular value over the largest, rows and columns made alike
TRIES, ROUNDS, SEED = 40, 60, 11


def plan_all(model: Model, structure: Structure, check: bool = True) -> list[GroupPlan]:
    """Return the plans of all groups in order; those of [groups] by the types that it names.

    Without `check` (a simulation looks at many postures and sets of coordinates) a type that does not fit a group of
    that name gives way to the derived one.
    """
    if not model.groups:
        return plan_groups(model, structure)
    if check:
        _names(model, structure)
    posed = assembled(model) if check else None
    solved = {FRAME}
    plans: list[GroupPlan] = []
    for group in structure.groups:
        plans += _plans(model, group, frozenset(solved), posed, check)
        solved.update(group.bodies)
    return plans


def _plans(
    model: Model, group: Group, solved: frozenset[str], posed: Model | None, check: bool
) -> tuple[GroupPlan, ...]:
    if group.name not in model.groups:
        return plan_group(model, group)
    try:
        return _Named(model, group, solved).plans(posed)
    except InputError:
        if check:
            raise
        return plan_group(model, group)


def _names(model: Model, structure: Structure) -> None:
    groups = [g.name for g in structure.groups]
    for name in model.groups:
        if name not in groups:
            raise InputError(
                f"{model.origin or model.name}: [groups.{name}]: there is no such group{nearest(name, groups)} - the "
                f"groups are {', '.join(groups)}"
            )


def assembled(model: Model) -> Model | None:
    """Return the nominal model with its first configuration assembled at the start; None where it cannot be."""
    from ..mechanism.assembly import assemble

    plain = nominal(model)
    try:
        poses = assemble(plain, driver_values(plain))
    except AssemblyError:
        return None  # a run says so
    d = plain.dimension
    bodies = {
        name: replace(body, origin=poses.origin[k, :d].copy(), rotation=poses.rotation[k, :d, :d].copy())
        for k, (name, body) in enumerate(plain.bodies.items())
    }
    return replace(plain, bodies=bodies)


def driver_values(model: Model) -> dict[str, float]:
    """Return the values of the drivers at the start."""
    start = np.array([model.simulation.start])
    return {name: float(driver.motion(start)[0, 0]) for name, driver in model.drivers.items()}


@dataclass(frozen=True, eq=False)
class _Values:
    """φ as far as the mechanism has it (not a number elsewhere), and h."""

    phi: Array
    h: Array


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
    def plans(self, posed: Model | None) -> tuple[GroupPlan, ...]:
        """Return the plan of the group and of bodies that need a third direction; checked where it is assembled."""
        parameters: list[float] = []
        for key, kind in self.tables["parameters"].items():
            values, thing = self.where.parameter(key, kind)
            parameters += values
            if thing is not None:
                self.things[key] = thing
        carried = {key: thing for key, thing in self.things.items() if isinstance(thing, Carried)}
        places = Places(self.model, self.group, carried, self.solved, frozenset(self.tables["parameters"]))
        if places.missing:
            self._missing(places.missing, carried)
        sketch = self._values(self.model)
        plain = nominal(array(parameters))
        exact = nominal(self._values(posed or nominal(self.model)))
        phi = self._complete(exact, plain)
        if posed is not None:
            self._check(phi, exact.h, plain)
        start = array([a if _given(a) else b for a, b in zip(sketch.phi, phi.tolist(), strict=True)])
        group = self.group
        plan = GroupPlan(
            group.name, group.type, group.bodies, group.joints, group.drivers, self.text,
            tuple(self.sources), tuple(self.sources.values()), array(parameters), start, places.placements,
            named=self.type.name,
        )  # fmt: skip
        return (plan, *places.further(group.name))

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

    def _values(self, model: Model) -> _Values:
        """Return φ and h where the first configuration of a model has its bodies."""
        values = driver_values(nominal(model))

        def numbers(table: str) -> Array:
            found: list[Any] = []
            for key, kind in self.tables[table].items():
                thing, count = self.things.get(key), len(self.type.module.COORDINATES[key])
                if thing is None:
                    found += [float("nan")] * count
                elif isinstance(thing, Carried):
                    owners = self.group.bodies if table == "dependent" else self.solved
                    body = next(b for b in model.bodies if b in thing.local and b in owners)
                    found += scalars(thing.at(model.bodies[body]))
                else:
                    found.append(thing.at(model, kind, values))
            return array(found)

        return _Values(numbers("dependent"), numbers("independent"))

    def _complete(self, values: _Values, par: Array) -> Array:
        """Return φ with what the mechanism does not have found from the type's equations (the best of some tries)."""
        open_ = np.array([not _given(x) for x in values.phi])
        if not open_.any():
            return np.asarray(values.phi, dtype=float)
        rng, t = np.random.default_rng(SEED), self.model.simulation.start
        best, least = np.zeros(0), np.inf
        for _ in range(TRIES):
            phi = np.where(open_, rng.normal(size=len(open_)), np.nan_to_num(np.asarray(values.phi, dtype=float)))
            gap = self._close(phi, open_, values.h, par, nominal(t))
            if gap < least:
                best, least = phi, gap
            if least < 1e-12 * (1.0 + nominal(self.model.size)):
                break
        return best

    def _close(self, phi: Array, open_: Any, h: Array, par: Array, t: float) -> float:
        """Change the open entries of φ to the least residual that damped Gauss-Newton finds; what is left of it."""
        gap, damping = self.type.constraint(phi, h, par, t), 1e-3
        for _ in range(ROUNDS):
            J = self.type.jacobians(phi, h, par, t)[0][:, open_]
            step = np.linalg.solve(J.T @ J + damping * np.eye(J.shape[1]), -J.T @ gap)
            trial = phi.copy()
            trial[open_] += step
            fresh = self.type.constraint(trial, h, par, t)
            if np.linalg.norm(fresh) < np.linalg.norm(gap):
                phi[:], gap, damping = trial, fresh, max(0.1 * damping, 1e-14)
            else:
                damping *= 10
            if np.abs(step).max() < 1e-15 or damping > 1e6:
                break
        return float(np.linalg.norm(gap))

    # ---- checks -----------------------------------------------------------------------------------------------------
    def _scales(self, table: str) -> Array:
        """Return what coordinates are measured by: lengths by the size of the mechanism, all else by one."""
        size, found = nominal(self.model.size), []
        for key, kind in self.tables[table].items():
            thing = self.things.get(key)
            long = kind in ("point", "length") or (kind == "vector" and thing is not None and "->" in thing.text)
            found += [size if long else 1.0] * len(self.type.module.COORDINATES[key])
        return np.array(found)

    def _check(self, phi: Array, h: Array, par: Array) -> None:
        """Refuse a type whose equations do not hold in the assembled first configuration, or do not determine it."""
        t = nominal(self.model.simulation.start)
        rows = self.type.constraint(phi, h, par, t)
        Phi_phi, Phi_h = self.type.jacobians(phi, h, par, t)
        by_phi, by_h = Phi_phi * self._scales("dependent"), Phi_h * self._scales("independent")
        sizes = np.linalg.norm(np.hstack([by_phi, by_h]), axis=1)
        relative = np.abs(rows) / np.where(sizes > 0, sizes, 1.0)
        worst = int(np.argmax(relative))
        who = f"the type '{self.type.name}' does not fit the group {self.group.name}"
        if not relative[worst] <= HOLDS:
            self.where.fail(
                "", f"{who}: its constraint '{self.type.constraints[worst]}' does not hold in the assembled first "
                f"configuration, it leaves {rows[worst]:.6g} ({relative[worst]:.2g} of the size; {HOLDS:g} is allowed) "
                "- check what its names are in `where`, and its parameters"
            )  # fmt: skip
        values = np.linalg.svd(by_phi / np.where(sizes > 0, sizes, 1.0)[:, None], compute_uv=False)
        if not values[-1] > FULL_RANK * values[0]:
            self.where.fail(
                "", f"{who}: in the assembled first configuration its {len(rows)} equations have only rank "
                f"{int(np.sum(values > FULL_RANK * values[0]))} of {len(phi)} - they do not determine the group there; "
                "start elsewhere, or use another type"
            )  # fmt: skip


def _given(x: Any) -> bool:
    return not (isinstance(x, float) and np.isnan(x))
