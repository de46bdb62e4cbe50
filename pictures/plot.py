"""Figures for a report: time histories of points, bodies and joints, and the paths of points over the mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.errors import InputError
from ..mechanism.arguments import names as names_in
from ..mechanism.model import Array, Model
from ..motion.quantities import Curve, coordinate, curves, found, shown_in, units_of
from ..motion.results import Results
from .arrows import arrows, force_arrows, room
from .draw import FONT, Drawing
from .points_of_interest import default_names, travelled
from .scene import build
from .shapes import Scene, trace_colours
from .unknown_names import listed
from .window import window

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROUNDING = 1e-11  # of the largest number of a figure
STYLES: tuple[Any, ...] = ("-", "--", ":")
NO_COLOURS: Mapping[str, Mapping[str, str]] = {}


def plot(
    results: Results,
    model: Model,
    names: Sequence[str] | None = None,
    start: float | None = None,
    stop: float | None = None,
    over: str | None = None,
    unit: str | Sequence[str] | None = None,
    magnitude: bool = False,
) -> Figure:
    """Return the figure of a report: the mechanism with the paths of points, and beside it the time histories.

    `names` are points, bodies, joints, drivers or columns of the table; `joint.C` says which C is meant. Without them,
    a few points that a designer would look at. `over` names what stands on the horizontal axis instead of time,
    `unit` units such as "mm,deg", `magnitude` asks for sizes instead of components. `start` and `stop` choose the part
    of the run; one with many turns shows its first two unless told.
    """
    from matplotlib.figure import Figure

    scene = build(model, results)
    chosen = default_names(results, model) if names is None else names_in("plot: names", names)
    rows = rows_of(results, chosen, unit, magnitude)
    figure = Figure(figsize=(11.5, max(4.6, 1.55 * len(rows) + 0.9)), layout="constrained")
    halves: Any = figure.subfigures(1, 2, width_ratios=(1.0, 1.25))
    left, right = halves
    span = window(results, start, stop)
    draw_mechanism(left, scene, points_among(results, chosen), span)
    draw_histories(right, results, rows, span, over=over, unit=unit)
    return figure


def histories(
    results: Results, names: Sequence[str] | None = None, start: float | None = None, stop: float | None = None
) -> Figure:
    """Return the time histories of points (position, velocity, acceleration), bodies and joints (coordinate, rate)."""
    from matplotlib.figure import Figure

    chosen = list(travelled(results))[:3] if names is None else names_in("plot: names", names)
    rows = rows_of(results, chosen)
    figure = Figure(figsize=(7.2, 1.7 * len(rows) + 0.9), layout="constrained")
    draw_histories(figure, results, rows, window(results, start, stop))
    return figure


def paths(
    results: Results,
    model: Model,
    names: Sequence[str] | None = None,
    step: int = 0,
    vectors: Sequence[str] = (),
    forces: bool = False,
    centres: bool = False,
) -> Figure:
    """Return the mechanism at a step (the first unless told), with paths of points, arrows and instant centres."""
    from matplotlib.figure import Figure

    scene = build(model, results, centres=centres)
    poles = [name for name in names or () if name in scene.marked and name not in results.points]
    wanted = None if names is None else [name for name in names if name not in poles]
    chosen = default_names(results, model) if wanted is None else points_among(results, wanted, only=True)
    drawn = arrows(scene, results, vectors, chosen) + (force_arrows(scene, model, results) if forces else [])
    low, high = room(scene, drawn)
    wide, tall = (high - low)[:2] if scene.dimension == 2 else (1.0, 0.9)
    width = 7.0 * min(1.0, wide / tall * 1.1)
    figure = Figure(figsize=(max(width, 3.4), min(max(width * tall / wide, 2.4), 8.0)), layout="constrained")
    draw_mechanism(figure, scene, [*chosen, *poles], window(results, None, None), step, vectors=drawn)
    return figure


def points_among(results: Results, names: Sequence[str], only: bool = False) -> list[str]:
    """Return the points among names; wrong input where only points are asked for and one is none."""
    points = []
    for name in names_in("plot: names", names):
        table, key = found(results, name)
        if table == "points":
            points.append(key)
        elif only:
            raise InputError(f"plot: '{name}' is no point of {results.mechanism}{listed(name, results.points)}")
    return points


# ---- the mechanism ------------------------------------------------------------------------------------------------
def draw_mechanism(
    figure: Any,
    scene: Scene,
    names: Sequence[str],
    span: tuple[float, float],
    step: int = 0,
    vectors: Sequence[Any] = (),
) -> None:
    """Draw the mechanism at a step, with paths of points and arrows."""
    ax = figure.add_subplot(projection="3d" if scene.dimension == 3 else None)
    shown = slice(int(np.searchsorted(scene.time, span[0])), int(np.searchsorted(scene.time, span[1], side="right")))
    Drawing(ax, scene, step, traces=[name for name in names if name in scene.marked], vectors=vectors, shown=shown)
    ax.set_title(f"{scene.name},  t = {scene.time[step]:g} s", fontsize=FONT + 1.5)


# ---- histories ----------------------------------------------------------------------------------------------------
Row = tuple[str, list[tuple[str, Array]]]  # the label of the vertical axis, and the curves with their names


def rows_of(
    results: Results, names: Sequence[str], unit: str | Sequence[str] | None = None, magnitude: bool = False
) -> list[Row]:
    """Sort the curves of the names into diagrams by what they measure."""
    rows: dict[str, list[tuple[str, Array]]] = {}
    wanted = units_of(unit)
    for name in names:
        for curve in curves(results, name, magnitude):
            factor, shown = shown_in(curve.unit, wanted)
            title = f"{curve.quantity} / {shown}" if shown else curve.quantity
            rows.setdefault(title, []).append((curve.label, factor * curve.values))
    if not rows:
        raise InputError(f"plot: {results.mechanism} has no curve to show; name points, bodies or joints that move")
    return list(rows.items())


def draw_histories(
    figure: Any,
    results: Results,
    rows: Sequence[Row],
    span: tuple[float, float],
    fixed: Mapping[str, Mapping[str, str]] = NO_COLOURS,
    over: str | None = None,
    unit: str | Sequence[str] | None = None,
) -> None:
    """Draw one diagram per row, above each other, over the part of the run that is shown.

    `fixed` gives colours to the curves of a diagram, by its title and their names; such a diagram has its own legend,
    the others share one.
    """
    shown = (results.time >= span[0]) & (results.time <= span[1])
    panes = np.atleast_1d(figure.subplots(len(rows), 1, sharex=True))
    along = Curve("t", "s", "t", "", results.time) if over is None else coordinate(results, over)
    factor, text = shown_in(along.unit, units_of(unit))
    x = factor * along.values[shown]
    # a name keeps its colour in all diagrams; its components differ by the style of the line
    owners = list(dict.fromkeys(_owner(label) for title, drawn in rows if title not in fixed for label, _ in drawn))
    colours = trace_colours(owners)
    largest = 0.0
    for ax, (title, drawn) in zip(panes, rows, strict=True):
        for label, values in drawn:
            component = label[len(_owner(label)) + 1 :]
            style = STYLES["xyz".index(component)] if component else "-"
            colour = fixed[title][label] if title in fixed else colours[_owner(label)]
            ax.plot(
                x,
                values[shown],
                style,
                color=colour,
                linewidth=1.4,
                label=label,
                marker="o" if np.count_nonzero(shown) < 2 else None,
            )
        _dress(ax, title)
        size = max((float(np.nanmax(np.abs(values[shown]), initial=0.0)) for _, values in drawn), default=0.0)
        if size < ROUNDING * largest:  # a diagram of nothing but rounding
            ax.set_ylim(-1, 1)
        largest = max(largest, size)
        if title in fixed:
            name_curves(ax)
    panes[-1].set_xlabel(f"{along.owner if over else 't'} / {text}" if text else along.owner, fontsize=FONT)
    figure.align_ylabels()
    if owners:
        labels = [label for title, drawn in rows if title not in fixed for label, _ in drawn]
        _legend(figure, colours, [axis for axis in "xyz" if any(_owner(n) != n and n.endswith(axis) for n in labels)])


def _owner(label: str) -> str:
    """Return whose curve a label names: `C` of `C x`."""
    owner, blank, component = label.rpartition(" ")
    return owner if blank and component in ("x", "y", "z") else label


def _legend(figure: Any, colours: Mapping[str, str], components: Sequence[str]) -> None:
    """Put one legend outside: the colours of the names, and the styles of the components."""
    from matplotlib.lines import Line2D

    entries = [Line2D([], [], color=colour, linewidth=1.6, label=name) for name, colour in colours.items()]
    entries += [
        Line2D([], [], color="#20242b", linewidth=1.1, linestyle=STYLES["xyz".index(axis)], label=axis)
        for axis in components
    ]
    figure.legend(
        handles=entries,
        loc="outside right upper",
        fontsize=FONT - 1.5,
        frameon=False,
        handlelength=2.2,
        ncols=1 + len(entries) // 25,
    )


def name_curves(ax: Axes) -> None:
    """Put the names of the curves beside a diagram."""
    ax.legend(
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        fontsize=FONT - 1.5,
        frameon=False,
        handlelength=2.2,
        borderaxespad=0.2,
    )


def _dress(ax: Axes, title: str) -> None:
    quantity, _, unit = title.partition(" / ")
    ax.set_ylabel(f"{quantity}\n{unit.strip('()')}", fontsize=FONT - 0.5)
    ax.tick_params(labelsize=FONT - 1.5)
    ax.margins(x=0)
    ax.grid(color="#e3e6eb", linewidth=0.7)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
