"""Pictures of the measurements after the paper's Figures 7, 8 and 9, with the paper's own figures in grey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import chains
from .command import STEPS
from .competitors import Global, Modular, Row
from .paper import TABLE_3, TABLE_4, TABLE_4_SECONDS, TABLE_5_SECONDS
from .printed_tables import STAGES
from .timing import growth

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# one colour a method in all pictures
STYLES = {
    "global": ("GLOB", "tab:brown"),
    "global_sparse_default": ("GLOB_SP, KLU's defaults", "tab:olive"),
    "global_sparse": ("GLOB_SP, KLU tuned", "tab:green"),
    "global_sparse_same": ("GLOB_SP, our coordinates", "tab:cyan"),
    "mod_newton_paper": ("MOD_TD, the paper's coordinates", "tab:purple"),
    "mod_3ot_paper": ("MOD_3OT, the paper's coordinates", "tab:pink"),
    "own_td": ("our Newton (QR, predicted start)", "tab:purple"),
    "closed_td": ("closed forms, MOD_TD", "tab:cyan"),
    "mod_3ot": ("MOD_3OT", "tab:orange"),
    "mod_td": ("MOD_TD", "tab:blue"),
    "fill": ("filling the output", "black"),
}


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _lines(axes: Axes, rows: Sequence[Row]) -> None:
    """Draw time over size, a line a method, named at its right end."""
    for name, (label, colour) in STYLES.items():
        chosen = [row for row in rows if name in row.seconds]
        if chosen:
            sizes, seconds = [r.n_equations for r in chosen], [r.seconds[name] for r in chosen]
            axes.plot(sizes, seconds, marker="o", markersize=4, color=colour, label=label)


def _finish(axes: Axes, title: str) -> None:
    axes.set(
        xscale="log", yscale="log", xlabel="number of constraint equations", ylabel="processor time, s", title=title
    )
    low, high = axes.get_xlim()
    axes.set_xticks([n for n in (10, 20, 50, 100, 200, 500, 1000, 2000) if low <= n <= high])
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.xaxis.set_minor_formatter("")
    axes.grid(visible=True, which="major", alpha=0.3)


def _beside(rows: Sequence[Row], title: str, paper: Mapping[str, Sequence[float]], sizes: Sequence[int],
            table: str, path: Path) -> None:  # fmt: skip
    """Save time over the number of equations, measured, and the paper's."""
    figure = _figure(11, 5)
    ours, theirs = figure.subplots(1, 2, sharey=True, sharex=True)
    _lines(ours, rows)
    _finish(ours, f"{title}: measured")
    for name, seconds in paper.items():
        label, colour = STYLES[name]
        theirs.plot(sizes, seconds, marker="s", markersize=4, color=colour, label=label.split(",")[0])
    _finish(theirs, f"the paper, {table} (Fortran, i5-2400), scaled to these steps")
    theirs.set_ylabel("")
    for axes in (ours, theirs):
        axes.legend(fontsize="small", loc="upper left")
    ours.set_ylim(top=ours.get_ylim()[1] * 30)  # room for the legend
    figure.savefig(path, dpi=120)


def planar(rows: Sequence[Row], path: Path, steps: int = STEPS) -> None:
    """Save Figure 7; the paper's times are scaled to the steps that were run."""
    methods = ("global", "global_sparse", "mod_td", "mod_3ot")
    scaled = ([s * steps / STEPS for s in column] for column in zip(*TABLE_3.values(), strict=True))
    paper = dict(zip(methods, scaled, strict=True))
    _beside(rows, f"planar four-bar, {steps:,} steps", paper, list(TABLE_3), "Table 3", path)


def spatial(rows: Sequence[Row], path: Path) -> None:
    """Save Table 4 as a picture: the highest speed."""
    speed, sizes = max(row.speed for row in rows), list(TABLE_4_SECONDS)
    sparse = [TABLE_4_SECONDS[n][2] for n in sizes]
    paper = {"global_sparse": sparse}
    for i, name in enumerate(("mod_td", "mod_3ot")):
        paper[name] = [s / TABLE_4[n][i][2] for s, n in zip(sparse, sizes, strict=True)]
    title = f"spatial slider-crank, 24,000 steps at {speed:g} rad/s"
    _beside([row for row in rows if row.speed == speed], title, paper, sizes, "Table 4", path)


def accuracy(path: Path, n: int = 720) -> None:
    """Save Figure 8: acceleration of a slider over a turn of the crank, and how far the methods are from GLOB_SP."""
    speed = chains.SPATIAL_SPEEDS[-1]
    step = 2 * np.pi / speed / n
    ours, paper = chains.spatial(1, speed), chains.paper_spatial(1, speed)
    states = {}
    system = Global(paper, n + 1, "global-sparse", True, Modular(paper, 1).state[:, :, 0].copy(), step)
    system.run()
    states["GLOB_SP"] = paper.read(system.state)[:, 3]  # x of the slider's point
    guide = chains.guides(1)[0]
    for name, method in (("MOD_TD", "td"), ("MOD_3OT", "3ot")):
        modular = Modular(ours, n + 1, step)
        modular.run(method)
        states[name] = guide[0] * ours.read(modular.state)[:, 3]
    angle = np.degrees(speed * system.time)
    figure = _figure(11, 6)
    grid = figure.add_gridspec(3, 2)
    left = figure.add_subplot(grid[:, 0])
    for (name, state), style in zip(states.items(), ("-", "--", ":"), strict=True):
        left.plot(angle, state[2], style, label=name, linewidth=3 if style == "-" else 2)
    left.set(
        xlabel="crank angle, degrees", ylabel="acceleration along x, m/s²", title="slider of the spatial slider-crank"
    )
    left.set_xticks(range(0, 361, 60))
    left.legend()
    for order, (what, unit) in enumerate((("position", "m"), ("velocity", "m/s"), ("acceleration", "m/s²"))):
        axes = figure.add_subplot(grid[order, 1])
        half = slice(0, n // 2 + 1)
        for name, style in (("MOD_TD", "o"), ("MOD_3OT", "x")):
            gap = np.abs(states[name][order] - states["GLOB_SP"][order])[half]
            seen = gap > 0  # equal to the last bit elsewhere
            axes.semilogy(angle[half][seen], gap[seen], style, markersize=3, label=name)
        axes.set(ylabel=unit, title=f"{what}: |difference from GLOB_SP|", xlim=(-5, 185))
        axes.set_xticks(range(0, 181, 30))
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize="small", loc="upper right")
    axes.set_xlabel("crank angle, degrees")
    figure.savefig(path, dpi=120)


def stages(row: Row, path: Path, steps: int = STEPS) -> None:
    """Save Figure 9: seconds of position, velocity, acceleration and other as bars, measured, and the paper's.

    Of our own sweeps the total alone: they find all three in one loop.
    """
    total = {
        "GLOB_SP": row.seconds["global_sparse"],
        "MOD_TD": row.seconds["mod_td"],
        "MOD_3OT": row.seconds["mod_3ot"],
    }
    ours = {name: [seconds, *(seconds * x / 100 for x in row.profile.get(name, ()))] for name, seconds in total.items()}
    theirs = {name: [p * steps / STEPS for p in parts] for name, parts in TABLE_5_SECONDS.items()}
    paper = {name: [sum(parts), *parts] for name, parts in theirs.items()}
    figure = _figure(11, 5)
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, parts, title in (
        (left, ours, f"measured, nEq = {row.n_equations}, {row.speed:g} rad/s"),
        (right, paper, f"the paper, Table 5, nEq = 806, scaled to {steps:,} steps"),
    ):
        _bars(axes, parts)
        axes.set_title(title)
    left.set_ylabel("processor time, s")
    left.set_ylim(top=left.get_ylim()[1] * 10)  # room for the numbers
    left.legend()
    figure.savefig(path, dpi=120)


def _bars(axes: Axes, parts: Mapping[str, Sequence[float]]) -> None:
    colours = {"GLOB_SP": "tab:green", "MOD_TD": "tab:blue", "MOD_3OT": "tab:orange"}
    places = np.arange(len(STAGES) + 1)
    for i, (name, seconds) in enumerate(parts.items()):
        heights: Any = list(seconds)
        bars = axes.bar(places[: len(heights)] + 0.27 * (i - 1), heights, 0.25, label=name, color=colours[name])
        axes.bar_label(
            bars, [f"{h:.1e}" if h < 0.01 else f"{h:.3g}" for h in heights], fontsize=8, rotation=90, padding=3
        )
    axes.set_xticks(places, ["total", *STAGES])
    axes.set_yscale("log")
    axes.grid(visible=True, axis="y", which="major", alpha=0.3)


def growing(found: Mapping[int, Mapping[str, float]], path: Path) -> None:
    """Save the time of a step over the number of dyads, with the fitted exponents."""
    figure = _figure(6, 4.5)
    axes = figure.add_subplot()
    sizes = np.array(list(found))
    for name in ("mod_3ot", "mod_td"):
        label, colour = STYLES[name]
        seconds = [s[name] for s in found.values()]
        exponent = growth(list(found), seconds)
        axes.loglog(sizes, seconds, "o-", color=colour, label=f"{label}: exponent {exponent:.3f}")
    axes.set(xlabel="number of dyads", ylabel="processor time of a step, s", title="planar four-bar: growth")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)
