"""Pictures of a sweep. Numbers of designs: curves over one parameter, heat maps over two on a grid, otherwise parallel
coordinates; for series a line per design, paths of points in the plane.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.errors import InputError
from ..designs.sweep_reading import Kept, read_sweep
from .draw import FONT
from .unknown_names import listed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_LINES = 2_000
MOST_CURVES = 60  # designs whose series are drawn: more hide each other
MOST_PANELS = 4
FEW = 3  # series that are drawn where none is named


def sweep_figure(path: Path, names: Sequence[str] | None = None) -> Figure:
    """Return the picture of numbers, or of series, that a sweep kept: of all numbers unless something is named."""
    from matplotlib.figure import Figure

    kept = read_sweep(path)
    columns = {**kept.parameters, **kept.numbers}
    varied = [n for n, values in kept.parameters.items() if np.ptp(values) > 0]
    chosen = [*kept.numbers] if names is None else [n for n in names if n in kept.numbers]
    if not chosen or (names is not None and len(chosen) < len(names)):
        if chosen:
            raise InputError(f"plot: {', '.join(chosen)}: numbers of designs are drawn apart from series - name either")
        return _histories(kept, path, names, varied)
    axes = [np.unique(columns[n]) for n in varied]
    on_grid = len(varied) == 2 and len(axes[0]) * len(axes[1]) == len(columns[chosen[0]])
    panels = chosen[:MOST_PANELS] if on_grid or len(varied) == 1 else []
    figure = Figure(figsize=(6.8, 5.2 if len(panels) < 2 else 0.6 + 2.6 * len(panels)), layout="constrained")
    places: Any = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0] if panels else []
    for ax, name in zip(places, panels, strict=True):
        if on_grid:
            _heat_map(figure, ax, columns, varied, axes, name)
        else:
            _curve(ax, columns[varied[0]], columns[name], name)
    if panels:
        places[-1].set_xlabel(varied[0], fontsize=FONT)
    else:
        others = [n for n in kept.numbers if n not in chosen] if len(chosen) == 1 else []
        # the first number colours the lines, unless they are named
        _parallel(figure, columns, [*varied, *others, *(chosen if names else chosen[::-1])])
    missing = int(np.isnan([columns[n] for n in panels or chosen]).any(axis=0).sum())
    told = [f"{missing} of {len(columns[chosen[0]])} designs are not whole"] if missing else []
    told += [f"{len(panels)} of {len(chosen)} numbers: --names chooses others"] if 0 < len(panels) < len(chosen) else []
    if told:
        figure.suptitle("; ".join(told), fontsize=FONT)
    return figure


def _histories(kept: Kept, path: Path, names: Sequence[str] | None, varied: list[str]) -> Figure:
    """Return lines over time, of points of the plane their paths: one per design, coloured by the first parameter."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    paths = [n[:-2] for n in kept.series if n.endswith(".x") and f"{n[:-2]}.y" in kept.series]
    paths = [n for n in paths if f"{n}.z" not in kept.series]
    given = [*paths, *(n for n in kept.series if n.rpartition(".")[0] not in paths)][:FEW] if names is None else names
    rows = [row for name in given for row in _curves(kept, path, name, paths)]
    if not rows:
        raise InputError(f"{path}: the sweep kept nothing of its designs")
    figure = Figure(figsize=(7.6, 3.4 * len(rows) + 0.4), layout="constrained")
    count = len(next(iter(kept.series.values())))
    shown = np.unique(np.linspace(0, count - 1, min(count, MOST_CURVES)).round().astype(int)).tolist()
    parameter = varied[0] if varied else next(iter(kept.parameters))
    values = kept.parameters[parameter]
    colours = ScalarMappable(Normalize(values.min(), values.max()), colormaps["viridis"])
    axes: Any = figure.subplots(len(rows), 1, squeeze=False)[:, 0]
    for ax, (across, upwards, label) in zip(axes, rows, strict=True):
        for k in shown:
            x = kept.time if across is None else kept.series[across][k]
            ax.plot(x, kept.series[upwards][k], color=colours.to_rgba(values[k]), linewidth=0.9)
        ax.set_xlabel("t [s]" if across is None else across, fontsize=FONT)
        ax.set_ylabel(label, fontsize=FONT)
        if across is not None:
            ax.set_aspect("equal", "datalim")
    figure.colorbar(colours, ax=axes.tolist(), label=parameter)
    if len(shown) < count:
        figure.suptitle(f"{len(shown)} of {count} designs", fontsize=FONT)
    return figure


def _curves(kept: Kept, path: Path, name: str, paths: Sequence[str]) -> list[tuple[str | None, str, str]]:
    """Return the columns across (None: time) and upwards of a name, and what is written beside them.

    A point of the plane is a path, anything else the columns of the file that have its name, each over time.
    """
    head, _, tail = name.partition(".")
    short = tail if head in ("point", "body", "driver", "actuator") and tail else name
    if short in paths:
        return [(f"{short}.x", f"{short}.y", f"{short}.y")]
    for column in (name, short, f"joint.{name}", *(f"{short}.{s}" for s in ("angle", "value", "effort"))):
        if column in kept.series:
            return [(None, column, column)]
    parts = [column for column in kept.series if column.rpartition(".")[0] == short]
    if parts:
        places = [column for column in parts if column[-2:] in (".x", ".y", ".z")]
        return [(None, column, column) for column in places or parts]
    known = [*paths, *kept.series, *kept.numbers]
    raise InputError(f"{path}: there is no {name}{listed(name, known)}")


def _curve(ax: Any, x: Any, y: Any, name: str) -> None:
    order = np.argsort(x)
    ax.plot(x[order], y[order], marker="." if len(x) <= MOST_CURVES else "", linewidth=1.2)
    ax.set_xlim(x.min(), x.max())  # also where designs are not whole
    ax.set_ylabel(name, fontsize=FONT)
    ax.grid(alpha=0.3)


def _heat_map(
    figure: Any, ax: Any, columns: dict[str, Any], varied: list[str], axes: list[Any], chosen: str
) -> None:  # fmt: skip
    places = [np.searchsorted(axes[k], columns[n]) for k, n in enumerate(varied)]
    image = np.full((len(axes[1]), len(axes[0])), np.nan)
    image[places[1], places[0]] = columns[chosen]
    mesh = ax.pcolormesh(axes[0], axes[1], np.ma.masked_invalid(image), shading="nearest", cmap="viridis")
    ax.set_facecolor("#dddddd")  # what is not whole
    figure.colorbar(mesh, ax=ax, label=chosen)
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
            style = {"textcoords": "offset points", "ha": "center", "fontsize": FONT - 1, "zorder": 5}
            style["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
            ax.annotate(f"{value:.4g}", (k, end), xytext=(0, off), **style)
    ax.set_xticks(places, names, fontsize=FONT)
    ax.tick_params(axis="x", pad=14)
    ax.set_yticks([])
    ax.set_xlim(-0.3, len(names) - 0.7)
    ax.set_ylim(-0.02, 1.06)
    for side in ("left", "right", "top", "bottom"):
        ax.spines[side].set_visible(False)
