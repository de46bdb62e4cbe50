"""What a run found: the motion of every point, body, joint and driver over time, with tables and files of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..common.errors import InputError, nearest
from ..mechanism.model import FRAME, Model
from .series import (
    TABLES,
    ActuatorSeries,
    Array,
    BodySeries,
    CandidateSeries,
    DriverSeries,
    EnergySeries,
    JointSeries,
    PointSeries,
    ReactionSeries,
    Series,
    VectorSeries,
    series_arrays,
)

if TYPE_CHECKING:
    import pandas
    import xarray

FORMAT = 1


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """The results of one run, by the names of the mechanism file.

    `results.points["C"].position` is an array n x 2 (planar) or n x 3; `results["C"]` finds the name among points,
    bodies, joints, drivers and actuators, in that order. `diagnostics` holds what can stand in a JSON file.
    """

    mechanism: str
    method: str
    space: str
    time: Array
    points: Mapping[str, PointSeries]
    bodies: Mapping[str, BodySeries]
    joints: Mapping[str, JointSeries]
    drivers: Mapping[str, DriverSeries]
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    actuators: Mapping[str, ActuatorSeries] | None = None
    reactions: Mapping[str, ReactionSeries] | None = None
    energy: EnergySeries | None = None
    criterion: Mapping[str, Array] | None = None  # squared cosine of every candidate joint coordinate, each n
    independent: tuple[tuple[str, ...], ...] | None = None  # joint coordinates in use, one tuple per time
    candidates: Mapping[str, CandidateSeries] | None = None  # more about those of `criterion`, where it was asked
    vectors: Mapping[str, VectorSeries] | None = None  # those of the mechanism's [vectors]
    parameters: Mapping[str, float] = field(default_factory=dict)  # of the design that was computed

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, name: str) -> Series:
        tables: list[Mapping[str, Series]]
        tables = [self.points, self.bodies, self.joints, self.drivers, self.actuators or {}, self.vectors or {}]
        for table in tables:
            if name in table:
                return table[name]
        known = [key for table in tables for key in table]
        raise KeyError(f"'{name}' is no point, body, joint or driver of {self.mechanism}{nearest(name, known)}")

    def __repr__(self) -> str:
        span = f"t = {self.time[0]:g} ... {self.time[-1]:g}" if len(self.time) else "no time"
        parts = [f"{len(self)} times, {span}"]
        for table in ("points", "bodies", "joints", "drivers", "actuators", "reactions", "vectors"):
            names = list(getattr(self, table) or ())
            if names:
                shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
                parts.append(f"{table}: {shown}")
        if self.energy is not None:
            parts.append("energy")
        return f"<Results of {self.mechanism!r} ({self.space}, method {self.method}); {'; '.join(parts)}>"

    def at(self, steps: NDArray[np.int64]) -> Results:
        """Return the results at some of their times."""

        def cut(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(value[k] for k in steps)
            return value[steps] if isinstance(value, np.ndarray) else value

        def cut_series(series: Any) -> Any:
            return None if series is None else replace(series, **{k: cut(v) for k, v in vars(series).items()})

        found: dict[str, Any] = {"time": cut(self.time), "independent": cut(self.independent)}
        found["energy"] = cut_series(self.energy)
        if self.criterion is not None:
            found["criterion"] = {name: cut(values) for name, values in self.criterion.items()}
        for table in TABLES:
            entries = getattr(self, table)
            found[table] = None if entries is None else {name: cut_series(series) for name, series in entries.items()}
        return replace(self, **found)

    @property
    def axes(self) -> tuple[str, ...]:
        return ("x", "y") if self.space == "planar" else ("x", "y", "z")

    def tree(self) -> dict[str, Any]:
        """Return the layout of the result file: nested tables of arrays, everything else as it is."""
        found: dict[str, Any] = {"format": FORMAT, "mechanism": self.mechanism, "method": self.method}
        if self.parameters:
            found["parameters"] = {name: float(value) for name, value in self.parameters.items()}
        found["time"] = self.time
        for table in TABLES:
            entries = getattr(self, table)
            if entries is not None:
                found[table] = {name: series_arrays(series) for name, series in entries.items()}
        if self.energy is not None:
            found["energy"] = series_arrays(self.energy)
        if self.criterion is not None:
            found["criterion"] = dict(self.criterion)
        if self.independent is not None:
            found["independent"] = [list(names) for names in self.independent]
        found["diagnostics"] = dict(self.diagnostics)
        return found

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of the CSV file by name, each an array of n.

        | column | what it is |
        |---|---|
        | `t` | time |
        | `B.x` `B.y` (`B.z`) | position of point B |
        | `B.vx` .. `B.ax` .. (`B.jx` ..) | its velocity, acceleration (and jerk, where asked) |
        | `crank.angle` `crank.omega` `crank.alpha` | planar body: angle, angular velocity, angular acceleration |
        | `b.r11` .. `b.r33` | spatial body: rotation matrix, row and column |
        | `b.omegax` .. `b.alphax` .. | its angular velocity and acceleration in global axes |
        | `joint.A` `joint.A.rate` `joint.A.acceleration` | a joint's coordinate: angle, or displacement of P and slot |
        | `joint.A.displacement` (`_rate`, `_acceleration`) | C and H: the slide; `joint.A` is then the angle |
        | `theta.value` `theta.effort` | a driver's value and, of dynamics, its effort (`motor.effort`: an actuator's) |
        | `A.fx` `A.fy` `A.m` (`A.fz`, `A.mx` ..) | reaction in joint A: force and moment |
        | `w.x` .. `w.vx` .. `w.ax` .. | vector w, its rate and its second rate |
        | `energy.kinetic` `energy.potential` `energy.total` | energy |
        | `criterion.A` | projective criterion of the joint coordinate A |
        | `candidate.A.orthogonal` `.geometric` `.closing` | where asked: Eq. 23b, the share by geometry, the effort |
        | `independent` | the joint coordinates in use, with blanks between |
        """
        found: dict[str, NDArray[Any]] = {"t": self.time}

        def put(name: str, values: NDArray[Any]) -> None:
            if name in found:
                raise InputError(
                    f"results of {self.mechanism}: two columns would be called '{name}'; rename one "
                    "of the points, bodies or joints that share it, or write .json, .nc or .npz"
                )
            found[name] = values

        def put_vector(stem: str, values: Array) -> None:
            for k, axis in enumerate(self.axes):
                put(stem + axis, values[:, k])

        for name, point in self.points.items():
            put_vector(f"{name}.", point.position)
            put_vector(f"{name}.v", point.velocity)
            put_vector(f"{name}.a", point.acceleration)
            if point.jerk is not None:
                put_vector(f"{name}.j", point.jerk)
        for name, body in self.bodies.items():
            if body.rotation is not None:
                for i, j in np.ndindex(3, 3):
                    put(f"{name}.r{i + 1}{j + 1}", body.rotation[:, i, j])
                put_vector(f"{name}.omega", body.angular_velocity)
                put_vector(f"{name}.alpha", body.angular_acceleration)
            elif body.angle is not None:
                put(f"{name}.angle", body.angle)
                put(f"{name}.omega", body.angular_velocity)
                put(f"{name}.alpha", body.angular_acceleration)
        for name, joint in self.joints.items():
            for k, (quantity, values) in enumerate(series_arrays(joint).items()):
                put(f"joint.{name}" if k == 0 else f"joint.{name}.{quantity}", values)
        for name, driver in self.drivers.items():
            put(f"{name}.value", driver.value)
            if driver.effort is not None:
                put(f"{name}.effort", driver.effort)
        self._put_dynamics(put, put_vector)
        return found

    def _put_dynamics(self, put: Callable[[str, NDArray[Any]], None], put_vector: Callable[[str, Array], None]) -> None:
        """Put the columns of efforts of actuators, reactions, vectors, energies and the criterion."""
        for name, actuator in (self.actuators or {}).items():
            put(f"{name}.effort", actuator.effort)
        for name, reaction in (self.reactions or {}).items():
            put_vector(f"{name}.f", reaction.force)
            if reaction.moment.ndim == 1:
                put(f"{name}.m", reaction.moment)
            else:
                put_vector(f"{name}.m", reaction.moment)
        for name, vector in (self.vectors or {}).items():
            put_vector(f"{name}.", vector.value)
            put_vector(f"{name}.v", vector.rate)
            put_vector(f"{name}.a", vector.acceleration)
        if self.energy is not None:
            for quantity, values in series_arrays(self.energy).items():
                put(f"energy.{quantity}", values)
        for name, values in (self.criterion or {}).items():
            put(f"criterion.{name}", values)
        for name, candidate in (self.candidates or {}).items():
            for quantity, values in series_arrays(candidate).items():
                put(f"candidate.{name}.{quantity}", values)
        if self.independent is not None:
            put("independent", np.array([" ".join(names) for names in self.independent], dtype=object))

    def to_dataframe(self) -> pandas.DataFrame:
        """Return a pandas table with one row per time; `columns` says what each column is."""
        import pandas as pd

        return pd.DataFrame(self.columns())

    def to_xarray(self) -> xarray.Dataset:
        """Return a labelled dataset with dimensions time, point, body, joint, driver, axis and so on."""
        from .datasets import dataset

        return dataset(self)

    def to_json(self) -> str:
        """Return the result file as text; numbers read back exactly, what is not finite is null."""
        from .writers import json_text

        return json_text(self)

    def save(self, path: str | Path) -> Path:
        """Write a file by its ending: .csv .json .parquet .nc .npz. The file appears whole or not at all."""
        from .writers import save

        return save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Results:
        """Read a file that `save` wrote as .json, .npz or .nc."""
        from .writers import load

        return load(Path(path))


def vectors_of(model: Model, bodies: Mapping[str, BodySeries]) -> dict[str, VectorSeries] | None:
    """Return the vectors that a mechanism asks for, from the motion of its bodies."""
    from ..mechanism.vectors_of_interest import vector_motion

    found = {}
    for name, v in model.vectors.items():
        if v.body == FRAME:
            n = len(next(iter(bodies.values())).angular_velocity) if bodies else 0
            local = np.tile(np.asarray(v.local, dtype=np.float64), (n, 1))
            found[name] = VectorSeries(local, np.zeros_like(local), np.zeros_like(local))
            continue
        b = bodies[v.body]
        turning = (b.angle, b.rotation, b.angular_velocity, b.angular_acceleration)
        found[name] = VectorSeries(*vector_motion(np.asarray(v.local, dtype=np.float64), *turning))
    return found or None


def check_origin(model: Model, results: Results) -> None:
    """Refuse results that are not those of a mechanism, before a picture looks for what they do not hold."""
    own = {part.name for name, body in model.bodies.items() if name != FRAME for part in body.parts}
    parameters = set(results.parameters) - set(model.parameters)
    if results.space == model.space and own == set(results.bodies) - {FRAME} and not parameters:
        points = {p for name, b in model.bodies.items() if name != FRAME for p in b.points}
        missing = sorted(points - set(results.points))
        if not missing and set(results.points) <= set(model.points):
            return
    raise InputError(
        f"{model.name or 'mechanism'}: these are results of another mechanism, '{results.mechanism}' - a picture takes "
        "what run, inverse or simulate of this one gave, with all points and bodies"
    )


def from_tree(tree: Mapping[str, Any]) -> Results:
    """Return the results that have this layout (see Results.tree); whatever is a list of numbers becomes an array."""
    tables: dict[str, dict[str, Any]] = {"points": {}, "bodies": {}, "joints": {}, "drivers": {}}
    for table, kind in TABLES.items():
        if table in tree:
            tables[table] = {
                name: kind(**{key: _numbers(values) for key, values in entry.items()})
                for name, entry in tree[table].items()
            }
    time = _numbers(tree["time"])
    energy = tree.get("energy")
    criterion = tree.get("criterion")
    independent = tree.get("independent")
    spatial = any(point.position.shape[-1] == 3 for point in tables["points"].values()) or any(
        body.rotation is not None for body in tables["bodies"].values()
    )
    return Results(
        mechanism=str(tree["mechanism"]),
        method=str(tree["method"]),
        space="spatial" if spatial else "planar",
        time=time,
        diagnostics=dict(tree.get("diagnostics", {})),
        parameters={name: float(value) for name, value in tree.get("parameters", {}).items()},
        energy=None if energy is None else EnergySeries(**{key: _numbers(values) for key, values in energy.items()}),
        criterion=None if criterion is None else {name: _numbers(values) for name, values in criterion.items()},
        independent=None if independent is None else tuple(tuple(names) for names in independent),
        **tables,
    )


def _numbers(values: Any) -> Array:
    return np.asarray(values, dtype=np.float64)  # None, which stands for what is not finite, becomes NaN
