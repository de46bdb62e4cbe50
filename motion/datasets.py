"""Results as a labelled dataset (xarray) and back: one variable per quantity, with named dimensions and units."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .results import FORMAT, Results, from_tree
from .series import Array, Series, series_arrays
from .writers import short_text

if TYPE_CHECKING:
    import xarray

# (table, its dimension, quantity in the file, variable in the dataset, unit)
QUANTITIES = (
    ("points", "point", "position", "position", "m"),
    ("points", "point", "velocity", "velocity", "m/s"),
    ("points", "point", "acceleration", "acceleration", "m/s2"),
    ("points", "point", "jerk", "jerk", "m/s3"),
    ("bodies", "body", "angle", "angle", "rad"),
    ("bodies", "body", "rotation", "rotation", "1"),
    ("bodies", "body", "angular_velocity", "angular_velocity", "rad/s"),
    ("bodies", "body", "angular_acceleration", "angular_acceleration", "rad/s2"),
    ("joints", "joint", "angle", "joint_angle", "rad"),
    ("joints", "joint", "displacement", "joint_displacement", "m"),
    ("joints", "joint", "rate", "joint_rate", ""),
    ("joints", "joint", "acceleration", "joint_acceleration", ""),
    ("joints", "joint", "displacement_rate", "joint_displacement_rate", "m/s"),
    ("joints", "joint", "displacement_acceleration", "joint_displacement_acceleration", "m/s2"),
    ("drivers", "driver", "value", "driver_value", ""),
    ("drivers", "driver", "effort", "driver_effort", ""),
    ("actuators", "actuator", "effort", "actuator_effort", ""),
    ("reactions", "reaction", "force", "reaction_force", "N"),
    ("reactions", "reaction", "moment", "reaction_moment", "N m"),
    ("vectors", "vector", "value", "vector_value", ""),
    ("vectors", "vector", "rate", "vector_rate", ""),
    ("vectors", "vector", "acceleration", "vector_acceleration", ""),
    ("candidates", "candidate", "orthogonal", "orthogonal_share", "1"),
    ("candidates", "candidate", "geometric", "geometric_share", "1"),
    ("candidates", "candidate", "closing", "closing_effort", ""),
)
ENERGIES = ("kinetic", "potential", "total")


def dataset(results: Results) -> xarray.Dataset:
    """Return the dataset; a quantity that only some entries have is NaN in the others.

    The attribute `held` says which those are, so that a run which left NaN behind is not mistaken for them.
    """
    import xarray as xr

    variables: dict[str, Any] = {}
    labels: dict[str, Any] = {"time": ("time", results.time, {"units": "s"})}
    held: dict[str, list[str]] = {}
    for table, dimension, quantity, variable, unit in QUANTITIES:
        entries: Mapping[str, Series] = getattr(results, table) or {}
        if entries:
            labels[dimension] = list(entries)
        arrays = {name: series_arrays(series).get(quantity) for name, series in entries.items()}
        sizes = [values.shape for values in arrays.values() if values is not None]
        if not sizes:
            continue
        held[variable] = [name for name, values in arrays.items() if values is not None]
        stacked = np.full((sizes[0][0], len(entries), *sizes[0][1:]), np.nan)
        for k, values in enumerate(arrays.values()):
            if values is not None:
                stacked[:, k] = values
        tail = ("row", "column") if quantity == "rotation" else ("axis",) * (stacked.ndim - 2)
        variables[variable] = (("time", dimension, *tail), stacked, {"units": unit} if unit else {})
    for name in ENERGIES if results.energy is not None else ():
        variables[f"{name}_energy"] = ("time", getattr(results.energy, name), {"units": "J"})
    if results.criterion:
        labels["candidate"] = list(results.criterion)
        variables["criterion"] = (("time", "candidate"), np.stack(list(results.criterion.values()), axis=1))
    labels["axis"] = list(results.axes)
    about = {
        "format": FORMAT,
        "mechanism": results.mechanism,
        "method": results.method,
        "parameters": short_text(results.parameters),
        "diagnostics": short_text(results.diagnostics),
        "held": json.dumps(held),
    }
    if results.independent is not None:
        about["independent"] = json.dumps([list(names) for names in results.independent])
    return xr.Dataset(variables, coords=labels, attrs=about)


def from_dataset(data: xarray.Dataset) -> Results:
    """Return the results that `dataset` made this of."""
    held = json.loads(data.attrs["held"])
    tree: dict[str, Any] = {
        "mechanism": data.attrs["mechanism"],
        "method": data.attrs["method"],
        "parameters": json.loads(data.attrs.get("parameters", "{}")),
        "time": _values(data, "time"),
        "diagnostics": json.loads(data.attrs["diagnostics"]),
    }
    for table, dimension, quantity, variable, _unit in QUANTITIES:
        if variable not in data:
            continue
        stacked = _values(data, variable)
        for k, name in enumerate(str(label) for label in data[dimension].values):
            if name in held[variable]:
                tree.setdefault(table, {}).setdefault(name, {})[quantity] = stacked[:, k]
    if "kinetic_energy" in data:
        tree["energy"] = {name: _values(data, f"{name}_energy") for name in ENERGIES}
    if "criterion" in data:
        names = [str(label) for label in data["candidate"].values]
        tree["criterion"] = dict(zip(names, _values(data, "criterion").T, strict=True))
    if "independent" in data.attrs:
        tree["independent"] = json.loads(data.attrs["independent"])
    return from_tree(tree)


def _values(data: xarray.Dataset, name: str) -> Array:
    # NetCDF 3 is big-endian on disk
    return np.array(data[name].values, dtype=np.float64)
