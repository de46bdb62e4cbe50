"""A file of a sweep, read again: numbers of designs, and series by the names of their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..common.errors import InputError
from ..mechanism.model import Array
from .sweep_names import DIMENSIONS, column
from .sweep_plan import WHOLE


@dataclass(frozen=True, eq=False)
class Kept:
    """What a sweep kept: of every design a value of each parameter, numbers, and series (design, time)."""

    parameters: Mapping[str, Array]
    numbers: Mapping[str, Array]
    time: Array
    series: Mapping[str, Array]


def read_sweep(path: Path) -> Kept:
    """Return what a file of a sweep holds, whatever its ending."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    try:
        return _of_table(path) if path.suffix in (".csv", ".parquet") else _of_dataset(path)
    except (KeyError, ValueError, OSError, TypeError) as error:
        raise InputError(f"{path}: this is no file of a sweep ({error})") from error


def _of_dataset(path: Path) -> Kept:
    import xarray as xr

    with xr.open_dataset(path, engine="zarr" if path.suffix == ".zarr" else "scipy") as data:
        found: dict[str, Array] = {str(n): _floats(v.values) for n, v in data.data_vars.items()}
        swept = str(data.attrs["swept"]).split(",")
        parameters = {n: _floats(data[n].values) for n in swept}
        time = _floats(data["time"].values) if "time" in data.coords else np.zeros(0)
        series: dict[str, Array] = {}
        for name, array in found.items():
            if array.ndim == 2:
                series[name] = array
            for k, label in enumerate(data[DIMENSIONS[name][0]].values.tolist() if array.ndim > 2 else ()):
                flat = array[:, :, k].reshape(*array.shape[:2], -1)
                for c in range(flat.shape[2]):
                    series[column(name, str(label), c, flat.shape[2])] = flat[..., c]
    return Kept(parameters, {n: a for n, a in found.items() if a.ndim == 1}, time, series)


def _of_table(path: Path) -> Kept:
    import pandas as pd

    table = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    names = [str(name) for name in table.columns]
    if table.empty:
        raise ValueError("it has no designs")
    if names[:1] != ["design"] or not {"status", "solved"} <= set(names):
        raise ValueError("its columns do not begin with design")
    first, swept = names.index("solved") + 1, names[1 : names.index("status")]
    count = int(table["design"].iloc[-1]) + 1
    columns = {n: _floats(table[n].to_numpy()).reshape(count, -1) for n in names}
    time = columns.pop("t")[0] if "t" in columns else np.zeros(0)
    kept = [n for n in names[first:] if n != "t"]
    numbers = [n for n in kept if not len(time) or "(" in n or n in WHOLE]
    return Kept(
        {n: columns[n][:, 0] for n in swept}, {n: columns[n][:, 0] for n in numbers}, time,
        {n: columns[n] for n in kept if n not in numbers},
    )  # fmt: skip


def _floats(values: Any) -> Array:
    return np.asarray(values, dtype=np.float64)
