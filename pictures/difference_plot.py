"""Differences between two routes to the same motion over time, on a logarithmic scale (the paper's Fig. 8b)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..mechanism.model import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("position", "velocity", "acceleration")
STYLES = ("-", "--", ":")
FLOOR = 1e-18  # differences of zero stand here: a logarithm has no room for them


def difference_figure(time: Array, differences: Mapping[str, Sequence[Array]], title: str, bound: float) -> Figure:
    """Return the figure: for each name the differences of positions, velocities and accelerations over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 4.4), layout="constrained")
    axes = figure.subplots()
    for i, (name, orders) in enumerate(differences.items()):
        for kind, style, values in zip(KINDS, STYLES, orders, strict=True):
            label = f"{name}: {kind}" if len(differences) > 1 else kind
            axes.semilogy(time, np.maximum(values, FLOOR), style, color=f"C{i}", linewidth=1.2, label=label)
    axes.axhline(bound, color="0.5", linewidth=0.8)
    axes.set_xlabel("t in s")
    axes.set_ylabel("relative difference")
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, ncols=max(1, len(differences)))
    return figure
