"""Short tables of results for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from ..mechanism.model import Model
    from ..motion.results import Results
    from ..motion.series import Array

ROWS = 12
SHORT = dict(
    zip(("angular velocity", "angular acceleration", "displacement", "velocity", "acceleration"), "ωαsva", strict=True)
)
SMALL = 1e-12  # of the largest number of a column: no more than rounding


def motion_table(
    results: Results, model: Model, width: int, names: Sequence[str] | None = None, unit: str | None = None
) -> Table:
    """Return a short table at some times: of points position, speed and acceleration, of others all that they have.

    Without names, those of the points that a designer would look at for which there is room.
    """
    from ..motion.quantities import shown_in, units_of
    from ..pictures.points_of_interest import default_names

    wanted, names_given = units_of(unit), names is not None
    if names is None:
        names = default_names(results, model)[: max(1, (width - 10) // (36 if results.space == "planar" else 46))]
    columns = [column for name in names for column in _columns(results, name)]
    table = Table()
    factor, text = shown_in("s", wanted)
    table.add_column(f"t {text}", justify="right", min_width=6)
    n = len(results.time)
    chosen = sorted(set(np.linspace(0, n - 1, min(n, ROWS)).round().astype(int)))
    cells = [[_number(shown_in(si, wanted)[0] * values, k) for k in chosen] for _, si, values in columns]
    for (label, si, _), column in zip(columns, cells, strict=True):
        head = f"{label} {shown_in(si, wanted)[1]}".strip()
        wide = max([len(head) if names_given else 0, *map(len, column)])
        table.add_column(escape(head), justify="right", min_width=wide)
    for row, k in enumerate(chosen):
        table.add_row(f"{factor * results.time[k]:.4g}", *(column[row] for column in cells))
    return table


def _columns(results: Results, name: str) -> list[tuple[str, str, Array]]:
    """Return the columns of a name: their heads, their units in SI, their numbers."""
    from ..motion.quantities import curves, found

    table, key = found(results, name)
    shown = curves(results, name)
    if table != "points":
        heads = [c.label if len(shown) == 1 else f"{c.label} {SHORT.get(c.quantity, c.quantity)}" for c in shown]
        return [(head, c.unit, c.values) for head, c in zip(heads, shown, strict=True)]
    point = results.points[key]
    places = [(f"{name}.{c.component}", c.unit, c.values) for c in shown if c.quantity == "position"]
    sizes = [
        ("|v|", "m/s", np.hypot.reduce(point.velocity, axis=1)),
        ("|a|", "m/s²", np.hypot.reduce(point.acceleration, axis=1)),
    ]
    return places + sizes


def _number(values: Array, k: int) -> str:
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    return f"{values[k] if abs(values[k]) > SMALL * largest else 0.0:.5g}"
