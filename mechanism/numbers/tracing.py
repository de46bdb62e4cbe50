"""A mechanism read once with traced parameters: how each of its numbers follows from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...common.errors import InputError, nearest
from ..arguments import names as names_in
from ..arguments import real, shown
from ..model import Array, Model
from ..reader import from_data
from .traced import Traced
from .value_tape import Tape


@dataclass(frozen=True, eq=False)
class TracedModel:
    """A model whose numbers are traced on a tape; `names` are the parameters, in the order of the tape's inputs."""

    model: Model
    tape: Tape
    names: tuple[str, ...]
    nominal: Array  # the parameters' values

    def designs(self, changes: Mapping[str, Any]) -> Array:
        """Return designs as columns from values by name, one or many; what is not named stays nominal."""
        if not hasattr(changes, "keys"):  # a dictionary, or a table of pandas
            raise InputError(f"designs are values by name of parameter, such as {{'a': [1, 2]}}, not {shown(changes)}")
        columns = dict(zip(self.names, self.nominal[:, None], strict=True))
        for name in changes:
            if name not in self.names:
                raise InputError(f"there is no parameter '{name}' to change{nearest(name, self.names)}")
            given = real(changes[name])
            if given is None or given.ndim > 1:
                raise InputError(f"parameter '{name}': is a number, or a list of numbers, not {shown(changes[name])}")
            columns[name] = np.atleast_1d(given)
        sizes = {len(column) for column in columns.values()} - {1}
        if len(sizes) > 1:
            raise InputError(f"the parameters have lists of different lengths: {', '.join(map(str, sorted(sizes)))}")
        found = np.empty((len(columns), sizes.pop() if sizes else 1))
        for row, column in zip(found, columns.values(), strict=True):
            row[:] = column
        return found

    def design(self, changes: Mapping[str, Any]) -> Array:
        """Return one design as a column."""
        found = self.designs(changes)
        if found.shape[1] != 1:
            raise InputError("a design has one number for each parameter - many designs at once are those of batch()")
        for name, value in zip(self.names, found[:, 0].tolist(), strict=True):
            if not math.isfinite(value):
                raise InputError(f"parameter '{name}': {value} is not a finite number")
        return found


def free_parameters(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the parameters of a file's values that are plain numbers; the others are formulas of these."""
    table = data.get("parameters", {})
    return tuple(n for n, v in table.items() if isinstance(v, int | float) and not isinstance(v, bool))


def trace(
    data: Mapping[str, Any],
    names: Iterable[str] | None = None,
    origin: str = "mechanism",
    settings: Mapping[str, float] | None = None,
    folder: Path | None = None,
    text: str = "",
    path: Path | None = None,
) -> TracedModel:
    """Return the mechanism of a file's values with the named parameters traced: all that are numbers if none is named.

    `settings` override values, as `reader.from_data` has it; they make the nominal design.
    """
    settings, table = settings or {}, data.get("parameters", {})
    chosen = free_parameters(data) if names is None else tuple(names_in("parameters", names))
    tape, traced = Tape(), dict[str, Any](settings)
    for name in chosen:
        if name not in table:
            known = list(table)
            there = f" - there are {', '.join(known[:12])}" if known else ": the file has no [parameters]"
            raise InputError(
                f"{origin}: [parameters] {name}: there is no such parameter{nearest(name, known) or there}"
            )
        value = settings.get(name, table[name])
        if isinstance(value, str):  # a formula, overridden by numbers from here on
            value = from_data(data, origin, settings, folder, text, path).parameters[name]
        traced[name] = Traced.parameter(tape, float(value))
    model = from_data(data, origin, traced, folder, text, path)
    return TracedModel(model, tape, chosen, np.array([tape.values[i] for i in tape.inputs]))
