"""A four-bar linkage from two structural groups, a driven crank (R) and a dyad (RRR), through one turn.

The frame is the shortest bar, so both cranks turn all the way round (a drag link). Prints a table of the
motion of the dyad's point C and draws a picture of it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from rich.console import Console
from rich.table import Table

import assurgent
from assurgent import GroupType
from assurgent.runtime.group_type import Array, GroupMotion

ORIGIN, B = (0.0, 0.0), (0.08, 0.0)  # fixed pins of the two cranks, m
CRANK, COUPLER, FOLLOWER = 0.18, 0.20, 0.24  # lengths O-A, A-C and B-C, m
SPEED = 2 * np.pi  # of the crank, rad/s: one turn in one second
STEPS = 361
SHOWN = np.arange(0, 360, 30)  # crank angles of table and picture, degrees (one step is one degree)
MAIN = 60  # the one that is drawn dark
LENGTHS = {"L_AC": COUPLER, "L_BC": FOLLOWER}
DARK, BLUE, RED, GREY = "#22303c", "#1f6fb4", "#d1495b", "#8a97a3"


def four_bar(dyad: GroupType) -> tuple[GroupMotion, GroupMotion, GroupMotion]:
    """Return the motion of A, and the motion of C with its acceleration by TD and by 3OT."""
    time = np.linspace(0.0, 1.0, STEPS)
    crank = assurgent.load("R")
    A = crank.motion(
        time,
        h={"A": ORIGIN, "u": (1.0, 0.0), "theta": SPEED * time},
        hdot={"A": (0.0, 0.0), "u": (0.0, 0.0), "theta": SPEED},
        hddot={"A": (0.0, 0.0), "u": (0.0, 0.0), "theta": 0.0},
        par={"L_AB": CRANK},
    )
    fixed = (0.0, 0.0)
    known = (
        {"A": A.phi, "B": B},
        {"A": A.phidot, "B": fixed},
        {"A": A.phiddot, "B": fixed},
    )
    td, tensor = (dyad.motion(time, *known, par=LENGTHS, branch=-1, method=m) for m in ("td", "3ot"))
    return A, td, tensor


def residual(dyad: GroupType, A: Array, C: Array) -> float:
    """Return the largest |Φ| of the dyad over the turn, in m²."""
    rows = [dyad.constraint(c, {"A": a, "B": B}, LENGTHS) for a, c in zip(A.T, C.T, strict=True)]
    return float(np.max(np.abs(rows)))


def motion_table(C: GroupMotion) -> Table:
    """Return position, velocity and acceleration of C at a few angles."""
    table = Table(title="four-bar: the dyad's point C over one turn of the crank")
    for heading in ("crank °", "x m", "y m", "ẋ m/s", "ẏ m/s", "ẍ m/s²", "ÿ m/s²"):
        table.add_column(heading, justify="right", no_wrap=True)
    for k in SHOWN[::2]:
        values = (*C.phi[:, k], *C.phidot[:, k], *C.phiddot[:, k])
        table.add_row(f"{k}", *(f"{v:.4f}" for v in values))
    return table


def draw_linkage(axes: Axes, a: Array, c: Array, **style: Any) -> None:
    """Draw the three bars O-A, A-C and C-B."""
    xs, ys = zip(ORIGIN, a, c, B, strict=True)
    axes.plot(xs, ys, color=DARK, solid_capstyle="round", **style)


def draw_mechanism(axes: Axes, A: GroupMotion, C: GroupMotion) -> None:
    """Draw the linkage in several positions, the paths of its pins and the velocity of C."""
    scale = 0.05  # m of arrow per m/s
    axes.plot(*A.phi, color=GREY, linewidth=1.0, linestyle=(0, (4, 3)), label="path of A")
    axes.plot(*C.phi, color=BLUE, linewidth=1.8, label="path of C")
    for k in SHOWN[SHOWN != MAIN]:
        draw_linkage(axes, A.phi[:, k], C.phi[:, k], linewidth=1.6, alpha=0.15, zorder=2)
    a, c = A.phi[:, MAIN], C.phi[:, MAIN]
    draw_linkage(axes, a, c, linewidth=3.0, zorder=4, label=f"linkage, crank at {MAIN}°")
    x, y = C.phi[:, SHOWN]
    u, v = scale * C.phidot[:, SHOWN]
    axes.quiver(x, y, u, v, color=RED, angles="xy", scale_units="xy", scale=1.0, width=0.008, zorder=3)
    axes.plot([], [], color=RED, linewidth=3.0, marker=">", label=f"velocity of C, {scale:.2f} m for 1 m/s")
    axes.plot(x, y, "o", color=BLUE, markersize=4.5, zorder=3)
    for pin in (ORIGIN, B):
        axes.plot(*pin, "^", color=DARK, markersize=14, zorder=4)
    xs, ys = zip(ORIGIN, B, a, c, strict=True)
    axes.plot(xs, ys, "o", color="white", markeredgecolor=DARK, markeredgewidth=1.8, markersize=7.5, zorder=5)
    offsets = {"O": (-14, -17), "B": (14, -17), "A": (-14, 7), "C": (12, 9)}
    for (name, offset), place in zip(offsets.items(), (ORIGIN, B, a, c), strict=True):
        label = axes.annotate(
            name,
            place,
            offset,
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=13,
            fontweight="bold",
            color=DARK,
            zorder=7,
        )
        label.set_path_effects([withStroke(linewidth=3.5, foreground="white")])
    axes.set_title("Crank R drives dyad RRR", loc="left", fontsize=12, fontweight="bold", color=DARK)
    axes.set_xlabel("x (m)")
    axes.set_ylabel("y (m)")
    axes.set_aspect("equal")
    axes.set_anchor("N")
    axes.set_xlim(-0.21, 0.37)
    axes.set_ylim(-0.29, 0.29)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.11), ncols=2, frameon=False, fontsize=9.5)


def draw_curves(panels: list[Axes], C: GroupMotion) -> None:
    """Draw position, velocity and acceleration of C over the crank angle."""
    degrees = np.degrees(SPEED * C.time)
    rows = (
        ("position (m)", C.phi, ("x", "y")),
        ("velocity (m/s)", C.phidot, ("ẋ", "ẏ")),
        ("acceleration (m/s²)", C.phiddot, ("ẍ", "ÿ")),
    )
    for axes, (label, values, names) in zip(panels, rows, strict=True):
        for value, name, colour in zip(values, names, (BLUE, RED), strict=True):
            axes.plot(degrees, value, color=colour, linewidth=2.0, label=name)
        axes.set_ylabel(label)
        axes.set_xlim(0, 360)
        axes.set_xticks(range(0, 361, 60))
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=10)
    panels[0].set_title("Point C over one turn", loc="left", fontsize=12, fontweight="bold", color=DARK)
    panels[-1].set_xlabel("crank angle (°)")


def picture(A: GroupMotion, C: GroupMotion) -> Figure:
    """Return the figure: the mechanism on the left, the curves on the right."""
    figure = Figure(figsize=(11.5, 6.0), layout="constrained")
    grid = figure.add_gridspec(3, 2, width_ratios=(1.0, 1.0))
    mechanism = figure.add_subplot(grid[:, 0])
    top = figure.add_subplot(grid[0, 1])
    panels = [top, *(figure.add_subplot(grid[i, 1], sharex=top) for i in (1, 2))]
    draw_mechanism(mechanism, A, C)
    draw_curves(panels, C)
    for axes in (mechanism, *panels):
        axes.grid(color="#e3e8ec", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels[:-1]:
        axes.tick_params(labelbottom=False)
    figure.align_ylabels(panels)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("out", "dyad.png"),
        help="where the picture goes (default %(default)s)",
    )
    output: Path = parser.parse_args().output
    dyad = assurgent.load("RRR")
    A, td, tensor = four_bar(dyad)
    Console().print(motion_table(td))
    largest = residual(dyad, A.phi, td.phi)
    apart = float(np.max(np.abs(td.phiddot - tensor.phiddot)) / np.max(np.abs(td.phiddot)))
    print(f"largest residual of the constraints: {largest:.1e} m² at {STEPS} positions")
    print(f"acceleration, TD against 3OT: {apart:.1e} relative to the largest")
    output.parent.mkdir(parents=True, exist_ok=True)
    picture(A, td).savefig(output, dpi=120)
    here = output.resolve()
    shown = here.relative_to(Path.cwd()) if here.is_relative_to(Path.cwd()) else output
    print(f"picture: {shown}")


if __name__ == "__main__":
    main()
