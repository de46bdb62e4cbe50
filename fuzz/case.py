"""A case of the campaign: the tables of a mechanism file, what is asked of it, and how both sides answer."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import assurgent

Array = NDArray[np.float64]


@dataclass
class Case:
    """One mechanism and one question; (family, seed) gives the same one again."""

    family: str
    seed: int
    data: dict[str, Any]
    task: str = "run"  # or "inverse", "simulate"
    method: str | None = None
    at: list[float] | None = None  # instead of the grid
    tables: dict[str, str] = field(default_factory=dict)  # CSV files beside the mechanism

    def write(self, folder: Path) -> Path:
        """Write the files and return the path of the mechanism's."""
        for name, text in self.tables.items():
            (folder / name).write_text(text)
        path = folder / "case.toml"
        path.write_text(to_toml(self.data))
        return path

    def times(self) -> Array:
        """Return the instants that are asked."""
        if self.at is not None:
            return np.array(self.at)
        table = self.data.get("simulation", {})
        start, stop, step = (float(table.get(k, d)) for k, d in (("start", 0.0), ("stop", 1.0), ("step", 0.01)))
        n = math.floor((stop - start) / step * (1 + 1e-12) + 1e-9)
        times = start + step * np.arange(n + 1)
        return np.asarray(times if abs(times[-1] - stop) < 1e-9 * step else np.append(times, stop))


@dataclass
class Answer:
    """What the product said: results as far as they go, and the error if there was one."""

    results: Any = None
    error: Exception | None = None

    @property
    def kind(self) -> str:
        """Return whole, lost, refused or crashed."""
        if self.error is None:
            return "whole"
        if isinstance(self.error, assurgent.AssemblyError):
            return "lost"
        good = isinstance(self.error, assurgent.InputError | assurgent.GenerationError)
        return "refused" if good else "crashed"


def answered(case: Case) -> Answer:
    """Return the product's answer to a case, found in this process."""
    with tempfile.TemporaryDirectory() as folder:
        path = case.write(Path(folder))
        try:
            mechanism = assurgent.Mechanism.load(path)
            options = {} if case.method is None else {"method": case.method}
            return Answer(getattr(mechanism, case.task)(times=case.at, **options))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
            return Answer(getattr(error, "results", None), error)


# ---- TOML -----------------------------------------------------------------------------------------------------------
def to_toml(data: Mapping[str, Any]) -> str:
    """Return tables of a mechanism as text, one line for each entry."""
    lines = [f"{key} = {_value(value)}" for key, value in data.items() if not isinstance(value, dict)]
    for table, entries in data.items():
        if isinstance(entries, dict):
            lines += ["", f"[{table}]", *(f"{key} = {_value(value)}" for key, value in entries.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case np.ndarray() | list() | tuple():
            return f"[{', '.join(_value(x) for x in value)}]"
        case str():
            return f'"{value}"'
        case dict():
            return f"{{ {', '.join(f'{k} = {_value(v)}' for k, v in value.items())} }}"
        case int():
            return repr(int(value))
    return repr(float(value))
