"""What a simulation notes at each asked time, and how it becomes results: motion, energies, reactions, efforts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ..mechanism.bodymotion import BodyMotion
from ..mechanism.model import Array, Model
from ..motion.measure import measure
from ..motion.results import (
    ActuatorSeries,
    BodySeries,
    DriverSeries,
    EnergySeries,
    JointSeries,
    PointSeries,
    ReactionSeries,
    Results,
)
from ..motion.run import driver_values


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


def reactions_of(model: Model, wrenches: Array) -> dict[str, ReactionSeries]:
    """Return the wrenches of the joints (joint x w x lane) as they are reported."""
    d, found = model.dimension, {}
    for name, wrench in zip(model.joints, wrenches, strict=True):
        moment = wrench[2] if d == 2 else np.ascontiguousarray(wrench[3:].T)
        found[name] = ReactionSeries(np.ascontiguousarray(wrench[:d].T), moment)
    return found


Tables = tuple[
    Mapping[str, PointSeries], Mapping[str, BodySeries], Mapping[str, JointSeries], Mapping[str, DriverSeries]
]


def results(
    model: Model,
    method: str,
    record: Recorded,
    diagnostics: Mapping[str, Any],
    asked: int,
    tables: Tables | None = None,
) -> Results:
    """Return the results of the last `asked` instants; the first ones only tell where continuous angles begin.

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
        diagnostics=dict(diagnostics),
    )  # fmt: skip
    if asked == len(times):
        return result
    cut = _last(result if tables is None else replace(result, points={}, bodies={}, joints={}), asked)
    return cut if tables is None else replace(cut, points=points, bodies=bodies, joints=joints)


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
