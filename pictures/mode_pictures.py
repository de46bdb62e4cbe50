"""The assembly modes of a mechanism side by side: a row for each group that has several, a drawing for each mode."""

from __future__ import annotations

import io
from dataclasses import replace
from textwrap import fill
from typing import Any

import numpy as np

from ..common.errors import AssurgentError
from ..mechanism.model import Model
from ..motion.kinematics import run
from ..motion.modes import ModesAtStart
from .draw import FONT, Drawing
from .scene import build

SIDE = 2.6  # inches of one drawing
MOST = 16  # modes of one group that are drawn


def mode_pictures(model: Model, modes: ModesAtStart) -> bytes:
    """Return an SVG file with every mode of every group at the start, the other groups as they are; * is in use.

    A mechanism whose groups have one mode each is drawn once.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    rows = {name: found[:MOST] for name, found in modes.numbers.items() if len(found) > 1}
    rows = rows or dict(list(modes.numbers.items())[-1:])
    wide = max(len(found) for found in rows.values())
    figure: Any = Figure(figsize=(SIDE * wide, (SIDE + 0.3) * len(rows)))
    flat = model.dimension == 2
    for row, (name, found) in enumerate(rows.items()):
        for column, number in enumerate(found):
            place = (len(rows), wide, row * wide + column + 1)
            words = f"{name} = {number}{' *' if number == modes.chosen.get(name) else ''}"
            ax = figure.add_subplot(*place, projection=None if flat else "3d")
            why = _draw(ax, replace(model, assembly={**model.assembly, name: number}))
            if why:
                ax.set_axis_off()
                words += "\n" + fill(why, 34)
            ax.set_title(words, fontsize=FONT - (1.5 if why else 0), y=0.4 if why else 1.0)
    figure.tight_layout()
    raw = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": model.name}):
        figure.savefig(raw, format="svg", metadata={"Date": None})
    return raw.getvalue()


def _draw(ax: Any, model: Model) -> str:
    """Draw a mechanism at its start; return why it cannot be assembled so, or nothing."""
    try:
        outcome = run(model, np.array([model.simulation.start]))
    except AssurgentError as error:
        return str(error)
    if outcome.stop is not None:
        return f"then {outcome.stop.message.partition(' - ')[0]}"
    Drawing(ax, build(outcome.model, outcome.results))
    return ""
