"""What a simulation notes at each asked time, and how it becomes results: motion, energies, reactions, efforts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ..mechanism.bodymotion import BodyMotion
from ..mechanism.model import Array, Model
from ..motion.measure import measure
from ..motion.results import ActuatorSeries, DriverSeries, EnergySeries, ReactionSeries, Results
from ..motion.run import driver_values
from .applied import Applied
from .bodylanes import Motions, one_lane
from .inertia import Inertia
from .posture import Posture
from .reactions import Wrench


@dataclass(frozen=True, eq=False)
class Record:
    """One instant of a simulation."""

    posture: Posture
    acceleration: Array  # n x w
    kinetic: float
    potential: float
    efforts: Mapping[str, float] = field(default_factory=dict)  # of drivers
    actuators: Mapping[str, float] = field(default_factory=dict)
    reactions: Mapping[str, Wrench] = field(default_factory=dict)
    criterion: Mapping[str, float] = field(default_factory=dict)
    independent: tuple[str, ...] = ()


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


def energies(inertia: Inertia, applied: Applied, posture: Posture) -> tuple[float, float]:
    """Return kinetic and potential energy."""
    bodies = one_lane(posture)
    return float(inertia.over(bodies)[1][0]), float(applied.potential_over(bodies)[0])


def stacked(model: Model, records: Sequence[Record]) -> Recorded:
    """Return records of single instants as one of all."""

    def over(pick: Callable[[Record], Mapping[str, float]]) -> dict[str, Array]:
        return {name: np.array([pick(r)[name] for r in records]) for name in (pick(records[0]) if records else ())}

    reactions = {}
    for joint in records[0].reactions if records else ():
        moment = np.array([r.reactions[joint].moment for r in records])
        force = np.array([r.reactions[joint].force for r in records])
        reactions[joint] = ReactionSeries(force, moment[:, 0] if model.dimension == 2 else moment)
    motions = Motions(model, len(records))
    for k, r in enumerate(records):
        motions.put(slice(k, k + 1), one_lane(r.posture, r.acceleration))
    return Recorded(
        motions.time,
        motions.by_name(),
        np.array([r.kinetic for r in records]),
        np.array([r.potential for r in records]),
        over(lambda r: r.efforts),
        over(lambda r: r.actuators),
        reactions,
        over(lambda r: r.criterion),
        tuple(r.independent for r in records) if records and records[0].independent else (),
    )


def reactions_of(model: Model, wrenches: Array) -> dict[str, ReactionSeries]:
    """Return the wrenches of the joints (joint x w x lane) as they are reported."""
    d, found = model.dimension, {}
    for name, wrench in zip(model.joints, wrenches, strict=True):
        moment = wrench[2] if d == 2 else np.ascontiguousarray(wrench[3:].T)
        found[name] = ReactionSeries(np.ascontiguousarray(wrench[:d].T), moment)
    return found


def results(model: Model, method: str, record: Recorded, diagnostics: Mapping[str, Any], asked: int) -> Results:
    """Return the results of the last `asked` instants; the first ones only tell where continuous angles begin."""
    times = record.time
    points, bodies, joints, drivers = measure(model, record.motions, times, driver_values(model, times))
    if record.efforts:
        drivers = {d: DriverSeries(s.value, record.efforts[d]) for d, s in drivers.items()}
    result = Results(
        model.name, method, model.space, times, points, bodies, joints, drivers,
        actuators={a: ActuatorSeries(x) for a, x in record.actuators.items()} or None,
        reactions=dict(record.reactions),
        energy=EnergySeries(record.kinetic, record.potential, record.kinetic + record.potential),
        criterion=dict(record.criterion) or None,
        independent=record.independent or None,
        diagnostics=dict(diagnostics),
    )  # fmt: skip
    return result if asked == len(times) else _last(result, asked)


def _last(result: Results, n: int) -> Results:
    """Return results without what comes before the last n times."""

    def cut(value: Any) -> Any:
        return value[len(value) - n :] if isinstance(value, np.ndarray | tuple) else value

    def cut_series(series: Any) -> Any:
        return replace(series, **{f.name: cut(getattr(series, f.name)) for f in fields(series)})

    def cut_table(table: Any) -> Any:
        return None if table is None else {name: cut_series(series) for name, series in table.items()}

    names = ("points", "bodies", "joints", "drivers", "actuators", "reactions")
    tables = {t: cut_table(getattr(result, t)) for t in names}
    criterion = None if result.criterion is None else {c: cut(x) for c, x in result.criterion.items()}
    return replace(
        result,
        time=cut(result.time),
        energy=None if result.energy is None else cut_series(result.energy),
        criterion=criterion,
        independent=cut(result.independent),
        **tables,
    )
