"""How far methods of simulate drift over time: Φ, Φ̇, Φ̈ and the energy (Malczyk and Frączek, Fig. 6, 7, 10, 11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..mechanism.model import Array
from .difference_plot import FLOOR

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELS = (
    "constraints: |Φ| (m, rad)",
    "their rates: |dΦ/dt| (m/s, rad/s)",
    "their accelerations: |d²Φ/dt²| (m/s², rad/s²)",
    "change of the total energy over the largest of the energies",
)
THICK, THIN = 2.4, 0.8  # of the first line and the last: where they coincide, all are seen


def drift_figure(sampled: Array, time: Array, methods: Mapping[str, tuple[Array, Array]], title: str) -> Figure:
    """Return the figure: a panel each for the norms at the sampled instants, and for the relative energy over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 6.4), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True).ravel()
    widths = np.linspace(THICK, THIN, max(len(methods), 2))
    for i, (name, (norms, energy)) in enumerate(methods.items()):
        series = [*((sampled, norm) for norm in norms), (time, np.abs(energy))]
        for axes, (t, values) in zip(panels, series, strict=True):
            shown = np.where(values > FLOOR, values, np.nan)  # exactly closed: nothing to draw on a logarithmic scale
            axes.semilogy(t, shown, color=f"C{i}", linewidth=widths[i], label=name)
    for axes, label in zip(panels, LABELS, strict=True):
        axes.set_title(label, fontsize=9)
        axes.grid(alpha=0.3)
        axes.tick_params(labelsize=8)
    low = min(axes.get_ylim()[0] for axes in panels[:3])
    high = max(axes.get_ylim()[1] for axes in panels[:3])
    for axes in panels[:3]:
        axes.set_ylim(low, high)  # one scale, so that the three can be compared
    for axes in panels[2:]:
        axes.set_xlabel("t in s")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=8)
    figure.suptitle(title, fontsize=10)
    return figure
