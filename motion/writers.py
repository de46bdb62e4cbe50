"""Result files: CSV, JSON, Parquet, NetCDF and NumPy archives, written whole or not at all, and read back."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..common.errors import InputError
from ..common.files import check_target, write_whole
from .results import FORMAT, Results, from_tree
from .series import TABLES

TEXTS = ("parameters", "independent", "diagnostics")  # in files of arrays they are text
ENDINGS = (".csv", ".json", ".parquet", ".nc", ".npz")


def save(results: Results, path: Path) -> Path:
    """Write the results to a file of the kind that its ending says."""
    writers = {
        ".csv": _write_csv,
        ".json": _write_json,
        ".parquet": _write_parquet,
        ".nc": _write_netcdf,
        ".npz": _write_npz,
    }
    write = writers[check_target(path, ENDINGS)]
    return write_whole(path, lambda part: write(results, part))


def load(path: Path) -> Results:
    """Read a .json, .npz or .nc file of results."""
    readers = {".json": _read_json, ".npz": _read_npz, ".nc": _read_netcdf}
    if path.suffix.lower() not in readers:
        raise InputError(
            f"{path}: results are read back from {' '.join(readers)} only; save them as one of these "
            "(a .csv or .parquet file is a table for other programs)"
        )
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    try:
        return readers[path.suffix.lower()](path)
    except (KeyError, TypeError, ValueError, AttributeError, OSError, zipfile.BadZipFile) as error:
        what = f"{type(error).__name__}: {error}"
        raise InputError(f"{path}: this is no result file of format {FORMAT} ({what})") from error


# ---- JSON ---------------------------------------------------------------------------------------------------------
def json_text(results: Results) -> str:
    """Return the result file as JSON text: shortest digits that read back exactly, null for what is not finite."""
    return _dump(plain(results.tree())).decode()


def _dump(value: Any) -> bytes:
    import orjson  # the json of the standard library needs some 18 times as long for arrays

    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)


def plain(value: Any) -> Any:
    """Return tables, lists, text, numbers and None, and arrays of floats as they are: ready for JSON."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return np.ascontiguousarray(value, dtype=np.float64)
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def short_text(value: Any) -> str:
    """Return a small value, such as diagnostics, as JSON text."""
    return _dump(plain(value)).decode()


def _write_json(results: Results, path: Path) -> None:
    path.write_text(json_text(results), encoding="utf-8")


def _read_json(path: Path) -> Results:
    import orjson

    tree = orjson.loads(path.read_bytes())
    _check_format(tree["format"])
    return from_tree(tree)


def _check_format(found: Any) -> None:
    if int(found) != FORMAT:
        raise ValueError(f"it has format {found}")


# ---- tables -------------------------------------------------------------------------------------------------------
def _write_csv(results: Results, path: Path) -> None:
    columns = results.columns()
    numbers = [values for values in columns.values() if values.dtype.kind == "f"]
    # rows of a JSON array of arrays are rows of CSV, with digits that read back exactly
    rows = _dump(np.stack(numbers, axis=1))[2:-2].replace(b"null", b"nan").split(b"],[") if len(results) else []
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        texts = {name: values for name, values in columns.items() if values.dtype.kind != "f"}
        writer.writerow([*(name for name in columns if name not in texts), *texts])
        lines = [row.decode() for row in rows]
        for values in texts.values():
            quoted = ('"' + str(value).replace('"', '""') + '"' for value in values)
            lines = [f"{line},{value}" for line, value in zip(lines, quoted, strict=True)]
        file.writelines(line + "\n" for line in lines)


def _write_parquet(results: Results, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: pa.array(values) for name, values in results.columns().items()})
    about = {
        "assurgent": short_text(
            {
                "format": FORMAT,
                "mechanism": results.mechanism,
                "method": results.method,
                "parameters": results.parameters,
                "diagnostics": results.diagnostics,
            }
        )
    }
    pq.write_table(table.replace_schema_metadata(about), path)


# ---- NumPy: keys are the paths of the JSON form, `points.B.position` -----------------------------------------------
def _write_npz(results: Results, path: Path) -> None:
    tree = results.tree()
    flat: dict[str, Any] = {key: np.array(tree[key]) for key in ("format", "mechanism", "method", "time")}
    for table in TABLES:
        for name, entry in tree.get(table, {}).items():
            flat |= {f"{table}.{name}.{quantity}": values for quantity, values in entry.items()}
    for table in ("energy", "criterion"):
        flat |= {f"{table}.{name}": values for name, values in tree.get(table, {}).items()}
    for key in TEXTS:
        if key in tree:
            flat[key] = np.array(short_text(tree[key]))
    with path.open("wb") as file:
        np.savez(file, **flat)


def _read_npz(path: Path) -> Results:
    tree: dict[str, Any] = {}
    with np.load(path, allow_pickle=False) as archive:
        _check_format(archive["format"])
        for key in archive.files:
            table, _, rest = key.partition(".")
            if not rest:
                text = table in TEXTS
                tree[key] = json.loads(str(archive[key])) if text else archive[key]
            elif table in TABLES:
                name, _, quantity = rest.rpartition(".")  # a name may hold dots, a quantity has none
                tree.setdefault(table, {}).setdefault(name, {})[quantity] = archive[key]
            else:
                tree.setdefault(table, {})[rest] = archive[key]
    return from_tree(tree)


# ---- NetCDF -------------------------------------------------------------------------------------------------------
def _write_netcdf(results: Results, path: Path) -> None:
    # NetCDF 3 through SciPy: no further library, and every NetCDF program reads it
    results.to_xarray().to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")


def _read_netcdf(path: Path) -> Results:
    import xarray as xr

    from .datasets import from_dataset

    with xr.open_dataset(path, engine="scipy") as data:
        _check_format(data.attrs["format"])
        return from_dataset(data.load())
