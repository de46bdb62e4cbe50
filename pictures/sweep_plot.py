"""Pictures of a sweep: a heat map over two parameters on a grid, parallel coordinates of all of them otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.errors import InputError
from .draw import FONT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_LINES = 2_000


def sweep_figure(path: Path, name: str | None = None) -> Figure:
    """Return the picture of a number that a sweep kept (its first one unless it is named)."""
    import xarray as xr
    from matplotlib.figure import Figure

    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    try:
        with xr.open_dataset(path, engine="zarr" if path.suffix == ".zarr" else "scipy") as data:
            swept = str(data.attrs["swept"]).split(",")
            numbers = [str(v) for v in data.data_vars if data[v].dims == ("design",)]
            if not numbers:
                raise InputError(f"{path}: the sweep kept no number a design - let it keep max(P.y) or transmission")
            chosen = numbers[0] if name is None else name
            if chosen not in numbers:
                raise InputError(f"{path}: there is no {chosen}: the sweep has {', '.join(numbers)}")
            columns = {n: np.asarray(data[n].values, dtype=float) for n in (*swept, *numbers)}
    except (KeyError, ValueError, OSError, TypeError) as error:
        raise InputError(f"{path}: this is no sweep ({error})") from error
    figure = Figure(figsize=(6.8, 5.2), layout="constrained")
    varied = [n for n in swept if np.ptp(columns[n]) > 0]
    axes = [np.unique(columns[n]) for n in varied]
    if len(varied) == 2 and len(axes[0]) * len(axes[1]) == len(columns[chosen]):
        _heat_map(figure, columns, varied, axes, chosen)
    else:
        _parallel(figure, columns, [*varied, *(n for n in numbers if n != chosen), chosen])
    return figure


def _heat_map(figure: Any, columns: dict[str, Any], varied: list[str], axes: list[Any], chosen: str) -> None:
    ax = figure.add_subplot()
    places = [np.searchsorted(axes[k], columns[n]) for k, n in enumerate(varied)]
    image = np.full((len(axes[1]), len(axes[0])), np.nan)
    image[places[1], places[0]] = columns[chosen]
    mesh = ax.pcolormesh(axes[0], axes[1], np.ma.masked_invalid(image), shading="nearest", cmap="viridis")
    ax.set_facecolor("#dddddd")  # what is not whole
    figure.colorbar(mesh, ax=ax, label=chosen)
    ax.set_xlabel(varied[0], fontsize=FONT)
    ax.set_ylabel(varied[1], fontsize=FONT)


def _parallel(figure: Any, columns: dict[str, Any], names: list[str]) -> None:
    """One vertical axis per parameter and number, one line per design, coloured by the last."""
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    ax = figure.add_subplot()
    table = np.column_stack([columns[n] for n in names])
    table = table[np.isfinite(table).all(axis=1)]
    if not len(table):
        raise InputError("plot: no design of the sweep is whole")
    table = table[:: max(1, len(table) // MOST_LINES)]
    low, high = table.min(axis=0), table.max(axis=0)
    shares = (table - low) / np.where(high > low, high - low, 1.0)
    order = np.argsort(shares[:, -1])
    places = np.arange(len(names))
    lines = [np.column_stack([places, row]) for row in shares[order]]
    colours = colormaps["viridis"](shares[order, -1])
    ax.add_collection(LineCollection(lines, colors=colours, linewidths=0.7, alpha=0.6))
    for k in places.tolist():
        ax.axvline(k, color="#444444", linewidth=0.8)
        for value, end, off in ((high[k], 1, 4), (low[k], 0, -11)):
            style = {"textcoords": "offset points", "ha": "center", "fontsize": FONT - 1}
            ax.annotate(f"{value:.4g}", (k, end), xytext=(0, off), **style)
    ax.set_xticks(places, names, fontsize=FONT)
    ax.tick_params(axis="x", pad=14)
    ax.set_yticks([])
    ax.set_xlim(-0.3, len(names) - 0.7)
    ax.set_ylim(-0.02, 1.06)
    for side in ("left", "right", "top", "bottom"):
        ax.spines[side].set_visible(False)
