"""What a simulation notes at each asked time, and how it becomes results: motion, energies, reactions, efforts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..mechanism.body_motion import BodyMotion
from ..mechanism.geometry import perpendicular, rotation_between
from ..mechanism.model import Array, Model
from ..motion.measure import measure
from ..motion.results import Results, vectors_of
from ..motion.series import (
    ActuatorSeries,
    BodySeries,
    CandidateSeries,
    DriverSeries,
    EnergySeries,
    JointSeries,
    PointSeries,
    ReactionSeries,
)
from ..runtime.driver_motions import driver_values
from .inertia import line_of


@dataclass
class Counts:
    """What a run did."""

    steps: int = 0
    evaluations: int = 0
    changes: int = 0
    crossings: int = 0
    residual: float = 0.0
    history: list[tuple[float, tuple[str, ...]]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Recorded:
    """All instants of a simulation: the motion of the bodies, and series over time."""

    time: Array
    motions: Mapping[str, BodyMotion]
    kinetic: Array
    potential: Array
    efforts: Mapping[str, Array] = field(default_factory=dict)  # of drivers
    actuators: Mapping[str, Array] = field(default_factory=dict)
    reactions: Mapping[str, ReactionSeries] = field(default_factory=dict)
    criterion: Mapping[str, Array] = field(default_factory=dict)
    independent: tuple[tuple[str, ...], ...] = ()
    candidates: Mapping[str, CandidateSeries] = field(default_factory=dict)


def reactions_of(model: Model, wrenches: Array) -> dict[str, ReactionSeries]:
    """Return the wrenches of the joints (joint x w x lane) as they are reported."""
    d, found = model.dimension, {}
    for name, wrench in zip(model.joints, wrenches, strict=True):
        moment = wrench[2] if d == 2 else np.ascontiguousarray(wrench[3:].T)
        found[name] = ReactionSeries(np.ascontiguousarray(wrench[:d].T), moment)
    return found


def told_of_reactions(model: Model, not_unique: set[str]) -> dict[str, Any]:
    """Return what the diagnostics say about reactions: which are not unique, and which joints have none.

    Welded parts are one rigid body, with one mass and one inertia: nothing is known of what passes between them.
    """
    found = {"not_unique": sorted(not_unique), "welds": sorted(model.welds)}
    told = {key: names for key, names in found.items() if names}
    return {"reactions": told} if told else {}


Tables = tuple[
    Mapping[str, PointSeries], Mapping[str, BodySeries], Mapping[str, JointSeries], Mapping[str, DriverSeries]
]


def without_spin(model: Model, record: Recorded) -> tuple[Recorded, int]:
    """Return a record whose rods turn without spin, and into how many parts its intervals should be split for that."""
    from ..runtime.rod_items import ROUGH, carry

    motions, miss = dict(record.motions), 0.0
    for body in model.bodies.values():
        if not body.rod or len(record.time) == 0:
            continue
        before = record.motions[body.name]
        end, line = line_of(model, body)
        normal = perpendicular(line)
        u, rate, bend = (np.ascontiguousarray(x.T) for x in before.vector(line))
        p = np.empty_like(u)
        p[0] = rotation_between(body.rotation @ line, u[0]) @ body.rotation @ normal
        miss = max(miss, carry(record.time, u, rate, bend, p))
        own = np.stack([line, normal, np.cross(line, normal)])
        turned = replace(before, rotation=np.stack([u, p, np.cross(u, p)], axis=2) @ own)
        arms = zip(before.point(end), turned.vector(end), strict=True)
        motions[body.name] = replace(turned, origin=np.stack([place - arm for place, arm in arms]))
    # the error of a step has the order five; what large steps say about it is no more than that they are large
    parts = 1 if miss <= ROUGH else int(np.clip(np.nan_to_num(1.2 * (miss / ROUGH) ** 0.25, nan=64.0), 2, 64))
    return replace(record, motions=motions), parts


def results(
    model: Model,
    method: str,
    record: Recorded,
    diagnostics: Mapping[str, Any],
    asked: Array,
    tables: Tables | None = None,
) -> Results:
    """Return the results at the asked times; others only tell how continuous angles and rods come there.

    `tables` are points, bodies, joints and drivers where these follow from the rows of a run.
    """
    times = record.time
    found: Tables = tables or measure(model, record.motions, times, driver_values(model, times))
    points, bodies, joints, drivers = found
    if record.efforts:
        drivers = {d: DriverSeries(s.value, record.efforts[d]) for d, s in drivers.items()}
    result = Results(
        model.name, method, model.space, times, points, bodies, joints, drivers,
        actuators={a: ActuatorSeries(x) for a, x in record.actuators.items()} or None,
        reactions=dict(record.reactions),
        energy=EnergySeries(record.kinetic, record.potential, record.kinetic + record.potential),
        criterion=dict(record.criterion) or None,
        independent=record.independent or None,
        candidates=dict(record.candidates) or None,
        diagnostics=dict(diagnostics),
        vectors=vectors_of(model, bodies),
        parameters=model.parameters,
    )  # fmt: skip
    chosen = np.flatnonzero(np.isin(times, asked))
    if len(chosen) == len(times):
        return result
    cut = (result if tables is None else replace(result, points={}, bodies={}, joints={})).at(chosen)
    return cut if tables is None else replace(cut, points=points, bodies=bodies, joints=joints)
