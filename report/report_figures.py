"""The figures of a report: inline SVG for the page, PDF beside a LaTeX document."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..pictures.draw import FONT
from ..pictures.plot import name_curves
from .cycle import GroupQuality

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_CURVES = 10  # of one diagram: the groups nearest to a dead point
_NAMED = re.compile(r'(\bid="|url\(#|href="#)')


def svg(figure: Figure, name: str) -> str:
    """Return a figure as an <svg> element whose ids are its own; the same figure gives the same text."""
    import matplotlib as mpl

    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return own_ids(text[text.index("<svg") :], name)


def own_ids(text: str, name: str) -> str:
    """Return an SVG whose ids begin with a name, so that several can stand in one page."""
    return _NAMED.sub(rf"\g<1>{name}-", text)


def pdf(figure: Figure, path: Path) -> None:
    """Write a figure as PDF, without the date."""
    figure.savefig(path, format="pdf", metadata={"CreationDate": None})


def quality_figure(groups: Sequence[GroupQuality]) -> Figure:
    """Return conditioning over the cycle, and transmission angles where groups have them."""
    from matplotlib.figure import Figure

    chosen = sorted(sorted(groups, key=lambda g: g.least)[:MOST_CURVES], key=lambda g: groups.index(g))
    angles = [g for g in chosen if g.transmission is not None]
    figure = Figure(figsize=(7.6, 2.3 * (1 + bool(angles)) + 0.4), layout="constrained")
    panes = np.atleast_1d(figure.subplots(1 + bool(angles), 1, sharex=True))
    colour = {g.name: f"C{i}" for i, g in enumerate(chosen)}
    for g in chosen:
        panes[0].plot(g.time, g.conditioning, color=colour[g.name], linewidth=1.4, label=g.name)
    _dress(panes[0], "conditioning\n0 = dead point", 0.0, 1.05)
    for g in angles:
        assert g.transmission is not None
        panes[1].plot(g.time, np.degrees(g.transmission), color=colour[g.name], linewidth=1.4, label=g.name)
    if angles:
        _dress(panes[1], "transmission angle\ndegrees", 0.0, 93.0)
    panes[-1].set_xlabel("t / s", fontsize=FONT)
    return figure


def _dress(ax: Any, label: str, low: float, high: float) -> None:
    ax.set_ylabel(label, fontsize=FONT - 0.5)
    ax.set_ylim(low, high)
    ax.margins(x=0)
    ax.tick_params(labelsize=FONT - 1.5)
    ax.grid(color="#e3e6eb", linewidth=0.7)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    name_curves(ax)


def diagram_figure(text: str) -> Figure:
    """Return one of our own diagrams (boxes, circles, arcs and words in SVG) as a figure, for formats without SVG."""
    from xml.etree import ElementTree

    from matplotlib.figure import Figure

    root = ElementTree.fromstring(text)
    width, height = float(root.get("width", "1")), float(root.get("height", "1"))
    figure = Figure(figsize=(width / 96, height / 96))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.set_axis_off()
    for layer, element in enumerate(root):
        if element.tag.endswith("}g"):
            x, y = (float(v) for v in re.findall(r"-?[\d.]+", element.get("transform", "0,0")))
            for k, part in enumerate(element):
                _place(ax, part, x, y, 10 * layer + k)
        else:
            _place(ax, element, 0.0, 0.0, layer)
    return figure


def _place(ax: Any, element: Any, dx: float, dy: float, order: int) -> None:
    """Draw one element of a diagram."""
    from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch
    from matplotlib.path import Path as Outline

    def number(name: str) -> float:
        return float(element.get(name, "0"))

    tag = element.tag.rsplit("}", 1)[-1]
    colours = {
        "facecolor": element.get("fill", "none"),
        "edgecolor": element.get("stroke", "none"),
        "linewidth": 0.75 * float(element.get("stroke-width", "1")),
        "linestyle": (0, (4, 3)) if element.get("stroke-dasharray") else "-",
        "zorder": order,
    }
    if tag == "rect" and "%" not in element.get("width", ""):
        style = f"round,pad=0,rounding_size={number('rx')}" if number("rx") else "square,pad=0"
        corner = number("x") + dx, number("y") + dy
        alpha = float(element.get("fill-opacity", "1"))
        ax.add_patch(FancyBboxPatch(corner, number("width"), number("height"), boxstyle=style, alpha=alpha, **colours))
    elif tag == "circle":
        ax.add_patch(Circle((number("cx") + dx, number("cy") + dy), number("r"), **colours))
    elif tag == "path":
        numbers = [float(v) for v in re.findall(r"-?[\d.]+", element.get("d", ""))]
        corners = np.array(numbers).reshape(-1, 2) + np.array([dx, dy])
        outline = Outline(corners, [Outline.MOVETO, Outline.CURVE3, Outline.CURVE3])
        arrow = "-|>,head_length=4,head_width=2" if element.get("marker-end") else "-"
        del colours["facecolor"]
        ax.add_patch(FancyArrowPatch(path=outline, arrowstyle=arrow, fill=bool(element.get("marker-end")),
                                     facecolor=element.get("stroke"), **colours))  # fmt: skip
    elif tag == "text":
        words = element.text.replace("$", r"\$")  # no mathematics
        ax.text(number("x") + dx, number("y") + dy, words, fontsize=0.72 * number("font-size"),
                color=element.get("fill"), weight=element.get("font-weight"), va="baseline", zorder=order,
                ha={"middle": "center", "start": "left"}[element.get("text-anchor", "start")])  # fmt: skip
