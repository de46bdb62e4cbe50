"""Functions given by a table in a CSV file: C2 cubic splines with not-a-knot ends, or periodic ones for cams."""

from __future__ import annotations

import csv
import importlib
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..common.errors import InputError
from ..common.files import read_text
from .model import Array

MAX_BYTES = 8_000_000
_SLACK = 1e-9  # of the range: a time that is outside by rounding alone is inside


@dataclass(eq=False)  # not frozen: the protocol Function asks for a plain attribute `text`
class Table:
    """A function of one variable given by a table; `period` is 0, or the period of a closed one.

    Between knots i and i+1 the value is the sum of `coefficients[k, i] * (x - knots[i])**(3 - k)`, k = 0 to 3.
    """

    text: str
    knots: Array = field(repr=False)
    coefficients: Array = field(repr=False)
    period: float = 0.0
    variable: str = "t"

    def __call__(self, x: Array) -> Array:
        """Return value and first three derivatives, an array 4 x n; out of range is an InputError."""
        places = np.atleast_1d(np.asarray(x, dtype=np.float64)).ravel()
        self.check(places, self.text)
        if self.period:
            places = self.knots[0] + np.mod(places - self.knots[0], self.period)
        index = np.clip(np.searchsorted(self.knots, places, side="right") - 1, 0, len(self.knots) - 2)
        s = places - self.knots[index]
        a, b, c, d = self.coefficients[:, index]
        return np.array([((a * s + b) * s + c) * s + d, (3 * a * s + 2 * b) * s + c, 6 * a * s + 2 * b, 6 * a])

    def minus(self, constant: float) -> Table:
        """Return the function less a constant."""
        coefficients = self.coefficients.copy()
        coefficients[3] -= constant
        return replace(self, coefficients=coefficients)

    def turned(self, angle: float) -> Table:
        """Return the function of (variable - angle)."""
        return replace(self, knots=self.knots + angle)

    def check(self, x: Array, where: str) -> None:
        """Refuse values of the variable that the table does not reach."""
        places = np.atleast_1d(np.asarray(x, dtype=np.float64)).ravel()
        first, last = float(self.knots[0]), float(self.knots[-1])
        slack = _SLACK * (last - first)
        bad = ~np.isfinite(places)
        if not self.period:
            bad |= (places < first - slack) | (places > last + slack)
        if bad.any():
            place = places[int(np.argmax(bad))]
            prefix = where if self.text in where else f"{where}: {self.text}"
            raise InputError(
                f"{prefix} reaches from {self.variable} = {first:.12g} to {last:.12g}; "
                f"{self.variable} = {place:.12g} is outside - extend the table, or change start and stop"
            )


def tables_of(data: Any) -> list[str]:
    """Return the files that the values of a mechanism file may name as `table = "..."`, in their order."""
    if isinstance(data, Mapping):
        named = [data["table"]] if isinstance(data.get("table"), str) else []
        return named + [name for value in data.values() for name in tables_of(value)]
    return [name for value in data for name in tables_of(value)] if isinstance(data, list | tuple) else []


def read_table(path: Path, where: str, name: str, variable: str = "t", period: float = 0.0) -> Table:
    """Return the spline through the rows of a CSV file (two columns; a first row of names is optional)."""
    rows = _rows(path, where, name)
    text = f'table "{name}"'
    x, y = np.array(rows).T
    falls = np.flatnonzero(np.diff(x) <= 0)
    if len(falls):
        raise InputError(
            f"{where}: {text}: the first column must grow from row to row; {x[falls[0] + 1]:.12g} follows "
            f"{x[falls[0]]:.12g} - sort the rows and remove repeated ones"
        )
    if period:
        x, y = _closed(x, y, period, f"{where}: {text}")
    interpolate = importlib.import_module("scipy.interpolate")  # slow to import, and only tables need it
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():  # what is not finite is found below
            warnings.simplefilter("error", RuntimeWarning)  # a system that is singular but for rounding
            coefficients: Any = interpolate.CubicSpline(x, y, bc_type="periodic" if period else "not-a-knot").c
    except (ValueError, RuntimeWarning):  # slopes that are not finite
        coefficients = np.full((4, 1), np.nan)
    if coefficients.shape[0] != 4 or not np.isfinite(coefficients).all():
        raise InputError(f"{where}: {text}: no smooth curve passes through its rows - look for rows too close together")
    return Table(text, x, np.ascontiguousarray(coefficients), period, variable)


def _closed(x: Array, y: Array, period: float, where: str) -> tuple[Array, Array]:
    """Return the rows with one that closes the period."""
    span = x[-1] - x[0]
    if span > period * (1 + 1e-6):
        raise InputError(f"{where}: the rows span {span:.12g}; one turn is {period:.12g} - keep the rows of one turn")
    if span < period * (1 - 1e-6):
        return np.append(x, x[0] + period), np.append(y, y[0])
    if not math.isclose(y[0], y[-1], rel_tol=1e-6, abs_tol=1e-12):
        raise InputError(
            f"{where}: after a full turn the value is {y[-1]:.12g}, at its beginning {y[0]:.12g} - "
            "make the last row equal to the first, or remove it"
        )
    x, y = x.copy(), y.copy()
    x[-1], y[-1] = x[0] + period, y[0]
    return x, y


def _rows(path: Path, where: str, name: str) -> list[tuple[float, float]]:
    place = f'{where}: table "{name}"'
    text = read_text(path, MAX_BYTES, place, f"its path, {path}, is relative to the mechanism file")
    rows: list[tuple[float, float]] = []
    try:
        for number, cells in enumerate(csv.reader(text.splitlines()), 1):
            if not cells or not any(cell.strip() for cell in cells):
                continue
            values = [_number(cell) for cell in cells]
            if len(values) == 2 and values[0] is not None and values[1] is not None:
                rows.append((values[0], values[1]))
            elif rows or number > 1 or any(v is not None for v in values):
                found = ",".join(cells)
                raise InputError(
                    f"{place}: line {number}: '{found[:40]}' - a row has two finite numbers with a comma between them"
                )
    except csv.Error as error:
        raise InputError(f"{place}: is not a CSV file: {error}") from error
    if len(rows) < 2:
        raise InputError(f"{place}: has {len(rows)} rows of numbers - at least 2 are needed")
    return rows


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in cell else None
