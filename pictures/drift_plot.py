"""How far methods of simulate drift over time: Φ, Φ̇, Φ̈ and the energy (Malczyk and Frączek, Fig. 6, 7, 10, 11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..mechanism.model import Array
from .difference_plot import FLOOR

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELS = ("|Φ|", "|dΦ/dt|", "|d²Φ/dt²|", "change of energy")


def drift_figure(sampled: Array, time: Array, methods: Mapping[str, tuple[Array, Array]], title: str) -> Figure:
    """Return the figure: a panel each for the norms at the sampled instants, and for the relative energy over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 6.4), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True).ravel()
    for i, (name, (norms, energy)) in enumerate(methods.items()):
        series = [*((sampled, norm) for norm in norms), (time, np.abs(energy))]
        for axes, (t, values) in zip(panels, series, strict=True):
            axes.semilogy(t, np.maximum(values, FLOOR), color=f"C{i}", linewidth=1.1, label=name)
    for axes, label in zip(panels, LABELS, strict=True):
        axes.set_title(label, fontsize=9)
        axes.grid(alpha=0.3)
    for axes in panels[2:]:
        axes.set_xlabel("t in s")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=8)
    figure.suptitle(title, fontsize=10)
    return figure
