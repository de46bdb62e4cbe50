"""What a simulation notes at each asked time, and how it becomes results: motion, energies, reactions, efforts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ..mechanism.model import Array, Model
from ..motion.measure import measure
from ..motion.results import ActuatorSeries, DriverSeries, EnergySeries, ReactionSeries, Results
from ..motion.run import driver_values
from .applied import Applied
from .inertia import Inertia
from .posture import Posture, motions
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


def energies(inertia: Inertia, applied: Applied, posture: Posture) -> tuple[float, float]:
    """Return kinetic and potential energy."""
    return inertia.kinetic(posture), applied.potential(posture)


def results(
    model: Model,
    method: str,
    records: Sequence[Record],
    diagnostics: Mapping[str, Any],
    asked: int,
) -> Results:
    """Return the results of the last `asked` records; the first ones only tell where continuous angles begin."""
    times = np.array([r.posture.time for r in records])
    found = motions(model, [r.posture for r in records], [r.acceleration for r in records])
    points, bodies, joints, drivers = measure(model, found, times, driver_values(model, times))
    if records and records[0].efforts:
        drivers = {d: DriverSeries(s.value, np.array([r.efforts[d] for r in records])) for d, s in drivers.items()}
    kinetic, potential = (np.array([getattr(r, key) for r in records]) for key in ("kinetic", "potential"))
    listed = records[0].criterion if records else {}
    result = Results(
        model.name, method, model.space, times, points, bodies, joints, drivers,
        actuators=_actuators(records),
        reactions=_reactions(model, records),
        energy=EnergySeries(kinetic, potential, kinetic + potential),
        criterion={c: np.array([r.criterion[c] for r in records]) for c in listed} or None,
        independent=tuple(r.independent for r in records) if records and records[0].independent else None,
        diagnostics=dict(diagnostics),
    )  # fmt: skip
    return result if asked == len(records) else _last(result, asked)


def _actuators(records: Sequence[Record]) -> dict[str, ActuatorSeries] | None:
    if not records or not records[0].actuators:
        return None
    return {a: ActuatorSeries(np.array([r.actuators[a] for r in records])) for a in records[0].actuators}


def _reactions(model: Model, records: Sequence[Record]) -> dict[str, ReactionSeries]:
    planar, found = model.dimension == 2, {}
    for joint in records[0].reactions if records else ():
        moment = np.array([r.reactions[joint].moment for r in records])
        force = np.array([r.reactions[joint].force for r in records])
        found[joint] = ReactionSeries(force, moment[:, 0] if planar else moment)
    return found


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
