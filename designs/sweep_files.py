"""Files of sweeps: NetCDF, Zarr by regions, Parquet and CSV, all with the same names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.errors import InputError
from ..common.files import write_whole
from ..mechanism.model import Array
from .sweep_blocks import Block, Sweeper
from .sweep_names import DIMENSIONS, column, dimensions

if TYPE_CHECKING:
    import xarray


def sweep_dataset(sweeper: Sweeper, values: Array, found: Mapping[str, Any]) -> xarray.Dataset:
    """Return designs as a dataset: parameters, status and the number of solved instants are coordinates."""
    import xarray as xr

    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {n: ("design", values[:, k]) for k, n in enumerate(sweeper.names)}
    series = any(np.ndim(a) > 1 for a in found.values())
    if series:
        coordinates["time"] = ("time", sweeper.time, {"units": "s"})
        coordinates.update(sweeper.labels())
    for name, array in found.items():
        if name in ("status", "solved"):
            coordinates[name] = ("design", array.astype(np.int32))
            continue
        unit = DIMENSIONS.get(name, ("", ""))[1]
        variables[name] = (dimensions(name, array.ndim), array, {"units": unit} if unit else {})
    used = {d for dims, *_ in variables.values() for d in dims}
    coordinates = {k: v for k, v in coordinates.items() if isinstance(v, tuple) or k in used}
    about = {"format": 1, "mechanism": sweeper.model.name, "swept": ",".join(sweeper.names)}
    return xr.Dataset(variables, coords=coordinates, attrs=about)


def columns_of(sweeper: Sweeper, names: Sequence[str], values: Array, found: Mapping[str, Array]) -> dict[str, Any]:
    """Return designs as columns, those of the parameters with `names`: an entry per design, or per design and time."""
    series = any(a.ndim > 1 for a in found.values())
    n, count = len(sweeper.time) if series else 1, len(values)
    columns: dict[str, Any] = {"design": np.repeat(np.arange(count), n)}
    for k, name in enumerate(names):
        columns[name] = np.repeat(values[:, k], n)
    for name in ("status", "solved"):
        columns[name] = np.repeat(found[name].astype(np.int64), n)
    if series:
        columns["t"] = np.tile(sweeper.time, count)
    labels = sweeper.labels()
    for name, array in found.items():
        if name in ("status", "solved"):
            continue
        if array.ndim == 1:
            columns[name] = np.repeat(array, n)
            continue
        if array.ndim == 2:
            columns[name] = array.ravel()
            continue
        dimension = DIMENSIONS[name][0]
        for k, label in enumerate(labels[dimension]):
            flat = array[:, :, k].reshape(count * n, math.prod(array.shape[3:]))
            for c in range(flat.shape[1]):
                columns[column(name, label, c, flat.shape[1])] = flat[:, c]
    return columns


def check_names(sweeper: Sweeper) -> None:
    """Refuse parameters whose names files of the sweep need for something else, whatever their ending."""
    none = sweeper.block(np.zeros((0, len(sweeper.names))))  # what every design has, of no design
    taken = {*columns_of(sweeper, (), np.zeros((0, 0)), none), *none, *sweeper.labels()}
    taken.update(d for name, array in none.items() for d in dimensions(name, array.ndim))
    for name in sweeper.names:
        if name in taken:
            raise InputError(
                f"over {name}: files of this sweep have something else that is called {name} - give the parameter "
                "another name"
            )


def write(path: Path, sweeper: Sweeper, values: Array, found: Mapping[str, Array]) -> None:
    """Write a sweep into one file, whole."""
    ending = path.suffix.lower()
    if ending == ".nc":
        data = sweep_dataset(sweeper, values, found)
        write_whole(path, lambda part: data.to_netcdf(part, engine="scipy", format="NETCDF3_64BIT"))
        return
    import pandas as pd

    lines = pd.DataFrame(columns_of(sweeper, sweeper.names, values, found))
    if ending == ".parquet":
        write_whole(path, lambda part: lines.to_parquet(part, index=False))
    else:
        write_whole(path, lambda part: lines.to_csv(part, index=False, lineterminator="\n"))


class ZarrTarget:
    """A Zarr store that is larger than memory, maybe: made empty, then filled block by block, each a region."""

    def __init__(self, path: Path, sweeper: Sweeper, values: Array, blocks: Sequence[tuple[int, int]]) -> None:
        try:
            import zarr
        except ImportError:
            raise InputError("sweeps to .zarr need the package zarr: pip install 'assurgent[cluster]'") from None
        self.zarr, self.path, self.sweeper, self.values, self.blocks = zarr, path, sweeper, values, blocks
        self.group: Any = zarr.open_group(str(path), mode="a", zarr_format=2)

    def _array(self, name: str, shape: tuple[int, ...], dtype: Any, dims: Sequence[str]) -> Any:
        if name in self.group:
            return self.group[name]
        size = self.blocks[0][1] - self.blocks[0][0]
        chunks = (size, *shape[1:]) if dims[0] == "design" else shape
        made = self.group.create_array(name, shape=shape, dtype=dtype, chunks=chunks, fill_value=None)
        made.attrs["_ARRAY_DIMENSIONS"] = list(dims)
        return made

    def put(self, k: int, block: Block) -> None:
        """Write a block into its region."""
        first, last = self.blocks[k]
        for name, array in block.items():
            dtype = np.int32 if name in ("status", "solved") else np.float64
            dims = dimensions(name, array.ndim)
            target = self._array(name, (len(self.values), *array.shape[1:]), dtype, dims)
            target[first:last] = array.astype(dtype)

    def finish(self) -> Array:
        """Write the coordinates and the index that readers look at first; the status of every design."""
        for k, name in enumerate(self.sweeper.names):
            self._array(name, (len(self.values),), np.float64, ("design",))[:] = self.values[:, k]
        names = {d for name in self.group.array_keys() for d in self.group[name].attrs["_ARRAY_DIMENSIONS"]}
        if "time" in names:
            self._array("time", self.sweeper.time.shape, np.float64, ("time",))[:] = self.sweeper.time
        for dimension, labels in self.sweeper.labels().items():
            if dimension in names:
                width = max(map(len, labels))
                self._array(dimension, (len(labels),), f"<U{width}", (dimension,))[:] = np.array(labels)
        coordinates = ["status", "solved", *self.sweeper.names]
        about = {"format": 1, "mechanism": self.sweeper.model.name, "swept": ",".join(self.sweeper.names)}
        self.group.attrs.update({**about, "coordinates": " ".join(coordinates)})
        self.zarr.consolidate_metadata(str(self.path), zarr_format=2)
        return np.asarray(self.group["status"][:])
