"""Figures for a report: time histories of points, bodies and joints, and the paths of points over the mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.errors import InputError
from ..mechanism.arguments import names as names_in
from ..mechanism.model import FRAME, Array, Model
from ..motion.results import BodySeries, PointSeries, Results
from .arrows import arrows, force_arrows, room
from .draw import FONT, Drawing
from .scene import build
from .shapes import COLOURS, Scene
from .unknown_names import listed
from .window import window

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES = ("-", "--", ":")
NO_COLOURS: Mapping[str, Mapping[str, str]] = {}


def plot(results: Results, model: Model, names: Sequence[str] | None = None, start: float | None = None,
         stop: float | None = None) -> Figure:
    """Return the figure of a report: the mechanism with the paths of points, and beside it the time histories.

    `names` are points, bodies and joints; without them, the points that trace no plain circle, at most four. `start`
    and `stop` choose the part of the run; one with many turns shows its first two unless told.
    """
    from matplotlib.figure import Figure

    scene = build(model, results)
    chosen = default_names(results, model) if names is None else known_names(results, names)
    rows = rows_of(results, chosen)
    figure = Figure(figsize=(11.5, max(4.6, 1.55 * len(rows) + 0.9)), layout="constrained")
    halves: Any = figure.subfigures(1, 2, width_ratios=(1.0, 1.15))
    left, right = halves
    span = window(results, start, stop)
    draw_mechanism(left, scene, [name for name in chosen if name in results.points], span)
    draw_histories(right, results, rows, span)
    return figure


def histories(results: Results, names: Sequence[str] | None = None, start: float | None = None,
              stop: float | None = None) -> Figure:
    """Return the time histories of points (position, velocity, acceleration), bodies and joints (coordinate, rate)."""
    from matplotlib.figure import Figure

    chosen = list(_moving(results))[:3] if names is None else known_names(results, names)
    rows = rows_of(results, chosen)
    figure = Figure(figsize=(7.2, 1.7 * len(rows) + 0.9), layout="constrained")
    draw_histories(figure, results, rows, window(results, start, stop))
    return figure


def paths(results: Results, model: Model, names: Sequence[str] | None = None, step: int = 0,
          vectors: Sequence[str] = (), forces: bool = False) -> Figure:
    """Return the mechanism at a step (the first unless told), with the paths of points and arrows on request."""
    from matplotlib.figure import Figure

    scene = build(model, results)
    chosen = default_names(results, model) if names is None else known_names(results, names, points_only=True)
    drawn = arrows(scene, results, vectors, chosen) + (force_arrows(scene, model, results) if forces else [])
    low, high = room(scene, drawn)
    wide, tall = (high - low)[:2] if scene.dimension == 2 else (1.0, 0.9)
    width = 7.0 * min(1.0, wide / tall * 1.1)
    figure = Figure(figsize=(max(width, 3.4), min(max(width * tall / wide, 2.4), 8.0)), layout="constrained")
    draw_mechanism(figure, scene, chosen, window(results, None, None), step, vectors=drawn)
    return figure


def default_names(results: Results, model: Model) -> list[str]:
    """Return the points whose paths say most: those that are no pin of the frame and trace no circle about one."""
    simple = set(model.bodies[FRAME].points)
    pivoted = {body for joint in model.joints.values() if joint.kind == "R" and FRAME in (joint.first, joint.second)
               for body in (joint.first, joint.second) if body != FRAME}
    for body in pivoted:
        simple |= set(model.bodies[body].points)
    moving = _moving(results)
    telling = [name for name in moving if name not in simple]
    return (telling or list(moving))[:4]


def _moving(results: Results) -> list[str]:
    places = {name: point.position for name, point in results.points.items()}
    return [name for name, place in places.items() if np.nanmax(np.ptp(place, axis=0), initial=0.0) > 0]


def known_names(results: Results, names: Iterable[str], points_only: bool = False) -> list[str]:
    """Return the names; wrong input where one is not known."""
    known = {**results.points} if points_only else {**results.points, **results.bodies, **results.joints}
    names = names_in("plot: names", names)
    for name in names:
        if name not in known:
            what = "point" if points_only else "point, body or joint"
            raise InputError(f"plot: '{name}' is no {what} of {results.mechanism}{listed(name, known)}")
    return names


# ---- the mechanism ------------------------------------------------------------------------------------------------
def draw_mechanism(figure: Any, scene: Scene, names: Sequence[str], span: tuple[float, float], step: int = 0,
                   vectors: Sequence[Any] = ()) -> None:
    """Draw the mechanism at a step, with paths of points and arrows."""
    ax = figure.add_subplot(projection="3d" if scene.dimension == 3 else None)
    shown = slice(int(np.searchsorted(scene.time, span[0])), int(np.searchsorted(scene.time, span[1], side="right")))
    Drawing(ax, scene, step, traces=[name for name in names if name in scene.marked], vectors=vectors, shown=shown)
    ax.set_title(f"{scene.name},  t = {scene.time[step]:g} s", fontsize=FONT + 1.5)


# ---- histories ----------------------------------------------------------------------------------------------------
Row = tuple[str, list[tuple[str, Array]]]  # the label of the vertical axis, and the curves with their names


def rows_of(results: Results, names: Sequence[str]) -> list[Row]:
    """Sort the curves of the names into diagrams by what they measure."""
    rows: dict[str, list[tuple[str, Array]]] = {}
    for name in names:
        series = results[name]
        if isinstance(series, PointSeries):
            for label, values in (("position / m", series.position), ("velocity / (m/s)", series.velocity),
                                  ("acceleration / (m/s²)", series.acceleration)):
                curves = rows.setdefault(label, [])
                curves += [(f"{name} {axis}", values[:, k]) for k, axis in enumerate(results.axes)]
            continue
        for label, curve in _angular(name, series):
            rows.setdefault(label, []).append(curve)
    if not rows:
        raise InputError(f"plot: {results.mechanism} has no curve to show; name points, bodies or joints that move")
    return list(rows.items())


def _angular(name: str, series: Any) -> list[tuple[str, tuple[str, Array]]]:
    found: list[tuple[str, tuple[str, Array]]] = []
    rotation = getattr(series, "rotation", None)
    angle, slide = getattr(series, "angle", None), getattr(series, "displacement", None)
    body = isinstance(series, BodySeries)
    rates = (series.angular_velocity, series.angular_acceleration) if body else (series.rate, series.acceleration)
    if rotation is not None:
        for k, axis in enumerate("xyz"):
            found += [("angular velocity / (rad/s)", (f"{name} {axis}", rates[0][:, k])),
                      ("angular acceleration / (rad/s²)", (f"{name} {axis}", rates[1][:, k]))]
    elif angle is not None:
        found += [("angle / rad", (name, angle)), ("angular velocity / (rad/s)", (name, rates[0])),
                  ("angular acceleration / (rad/s²)", (name, rates[1]))]
    if slide is not None:
        own = (series.displacement_rate, series.displacement_acceleration) if angle is not None else rates
        found += [("displacement / m", (name, slide)), ("velocity / (m/s)", (name, own[0])),
                  ("acceleration / (m/s²)", (name, own[1]))]
    return found


def draw_histories(figure: Any, results: Results, rows: Sequence[Row], span: tuple[float, float],
                   fixed: Mapping[str, Mapping[str, str]] = NO_COLOURS) -> None:
    """Draw one diagram per row, above each other, over the part of the run that is shown.

    `fixed` gives colours to the curves of a diagram, by its title and their names.
    """
    shown = (results.time >= span[0]) & (results.time <= span[1])
    panes = np.atleast_1d(figure.subplots(len(rows), 1, sharex=True))
    # a name keeps its colour in all diagrams; its components differ by the style of the line
    owners = list(dict.fromkeys(label.rsplit(" ", 1)[0] for title, curves in rows if title not in fixed
                                for label, _ in curves))
    for ax, (title, curves) in zip(panes, rows, strict=True):
        for label, values in curves:
            owner, _, axis = label.rpartition(" ")
            style = STYLES["xyz".index(axis)] if owner and axis in "xyz" else "-"
            colour = (fixed[title][label] if title in fixed
                      else COLOURS[owners.index(label.rsplit(" ", 1)[0]) % len(COLOURS)])
            ax.plot(results.time[shown], values[shown], style, color=colour, linewidth=1.4, label=label,
                    marker="o" if np.count_nonzero(shown) < 2 else None)
        _dress(ax, title)
        name_curves(ax)
    panes[-1].set_xlabel("t / s", fontsize=FONT)
    figure.align_ylabels()


def name_curves(ax: Axes) -> None:
    """Put the names of the curves beside a diagram."""
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=FONT - 1.5, frameon=False, handlelength=2.2,
              borderaxespad=0.2)


def _dress(ax: Axes, title: str) -> None:
    quantity, _, unit = title.partition(" / ")
    ax.set_ylabel(f"{quantity}\n{unit.strip('()')}", fontsize=FONT - 0.5)
    ax.tick_params(labelsize=FONT - 1.5)
    ax.margins(x=0)
    ax.grid(color="#e3e6eb", linewidth=0.7)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
