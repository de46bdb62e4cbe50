"""The picture of a synthesised design: the mechanism with the curve of its point and the targets, or the function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..designs.synthesis import Design
from ..designs.synthesis_task import Task
from ..mechanism.model import Model
from ..mechanism.reader import loads
from ..motion.kinematics import run
from ..motion.results import Results
from .draw import FONT
from .plot import draw_mechanism
from .scene import build
from .shapes import COLOURS
from .window import window

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

TARGET = COLOURS[3 % len(COLOURS)]


def synthesis_figure(design: Design, task: Task, folder: Path | None = None) -> Figure:
    """Return the figure of a design: what it does, and the numbered targets."""
    from matplotlib.figure import Figure

    model = loads(design.text, "design", None, folder)
    results = run(model).results
    figure = Figure(figsize=(6.4, 6.0), layout="constrained")
    if task.kind == "function":
        _function(figure, design, task, model, results)
        return figure
    scene = build(model, results)
    draw_mechanism(figure, scene, [task.point] if task.point else [], window(results, None, None))
    ax: Any = figure.axes[0]
    places = task.targets[:, : model.dimension]
    ax.plot(*places.T, "o", mfc="none", mec=TARGET, ms=9, mew=1.6, zorder=9)
    for k, place in enumerate(places, 1):
        if model.dimension == 2:
            ax.annotate(str(k), place, textcoords="offset points", xytext=(6, 5), color=TARGET, fontsize=FONT)
    if task.kind == "motion":
        size = 0.06 * float(np.ptp(places, axis=0).max())
        turned = size * np.column_stack([np.cos(task.targets[:, 2]), np.sin(task.targets[:, 2])])
        ax.quiver(*places.T, *turned.T, angles="xy", scale_units="xy", scale=1, color=TARGET, width=0.004, zorder=9)
    if model.dimension == 2:
        low, high = places.min(axis=0), places.max(axis=0)
        edge = 0.05 * float((high - low).max())
        x, y = ax.get_xlim(), ax.get_ylim()
        ax.set_xlim(min(x[0], low[0] - edge), max(x[1], high[0] + edge))
        ax.set_ylim(min(y[0], low[1] - edge), max(y[1], high[1] + edge))
    ax.set_title(f"{model.name}: objective {design.objective:.4g}", fontsize=FONT + 1.5)
    return figure


def _function(figure: Any, design: Design, task: Task, model: Model, results: Results) -> None:
    """Draw the output over the input, both as the file has them."""
    what, name = task.output
    series: Any = results.bodies[name] if what == "body" else results.joints[name]
    given = results.drivers[task.driver].value
    ax = figure.add_subplot()
    curve = series.displacement if series.angle is None else series.angle
    if series.angle is not None:  # whole turns mean nothing here
        near = int(np.argmin(np.abs(given - task.targets[0, 0])))
        curve = curve - 2 * np.pi * np.round((curve[near] - task.targets[0, 1]) / (2 * np.pi))
    ax.plot(given, curve, color=COLOURS[0])
    ax.plot(*task.targets.T, "o", mfc="none", mec=TARGET, ms=9, mew=1.6)
    ax.set_xlabel(f"driver {task.driver}", fontsize=FONT)
    ax.set_ylabel(f"{what} {name}", fontsize=FONT)
    ax.set_title(f"{model.name}: objective {design.objective:.4g}", fontsize=FONT + 1.5)
