"""What a drawing of a mechanism is made of: shapes and dots that ride on bodies, poses, and the scene of them all.

A scene knows no drawing library. Everything that draws (figures, GIF, film, page, animated SVG) draws the same scene.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..mechanism.model import Array

INK = "#20242b"
GROUND = "#6b7280"
PAPER = "#ffffff"
COLOURS = ("#2f6db5", "#d9782d", "#2f8f5b", "#b23a6b", "#7556b0", "#8a6a2f", "#1f93a3", "#c24a44", "#5d7f1f", "#a3569a")


def trace_colours(names: Sequence[str]) -> dict[str, str]:
    """Return the colours of paths: those that the curves of the same names have in diagrams."""
    return {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(names)}


def round_value(x: float) -> float:
    """Return the greatest of 1, 2, 5 times a power of ten that is not above x."""
    power = 10.0 ** np.floor(np.log10(x))
    return float(power * max(m for m in (1, 2, 5) if m * power <= x * (1 + 1e-12)))


@dataclass(frozen=True, eq=False)
class Shape:
    """An outline in the axes of the body that carries it; a closed one may be filled. Width in points (1/72 inch)."""

    body: str
    outline: Array  # m x 2 or m x 3
    closed: bool
    edge: str
    width: float
    fill: str | None = None
    opacity: float = 1.0  # of the filling
    dashed: bool = False
    layer: int = 2


@dataclass(frozen=True, eq=False)
class Dot:
    """A round mark, of the same size from every side: a pin, a ball, a point that is followed."""

    body: str
    place: Array
    radius: float  # in world units
    fill: str
    edge: str
    layer: int = 6


@dataclass(frozen=True, eq=False)
class Tie:
    """Something that stretches between two bodies, such as a spring: a line between a point of each."""

    bodies: tuple[str, str]
    ends: tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class DrawnPose:
    """Origin (n x d) and axes (n x d x d, columns in global axes) of a rigid body over time."""

    origin: Array
    rotation: Array

    def place(self, local: Array, k: int) -> Array:
        """Return the global places, at step k, of points given in the body's axes (m x d)."""
        return np.asarray(self.origin[k] + local @ self.rotation[k].T)


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything needed to draw a mechanism at any step of its results."""

    name: str
    dimension: int
    time: Array
    unit: float  # half the width of a link, in world units; the measure of everything that is a symbol
    shapes: tuple[Shape, ...]  # from the lowest layer to the highest
    dots: tuple[Dot, ...]
    poses: dict[str, DrawnPose]
    colours: dict[str, str]  # of the rigid bodies
    marked: dict[str, tuple[str, Array]]  # points that have a mark: body, place in its axes
    low: Array
    high: Array
    ties: tuple[Tie, ...] = ()

    def tie(self, tie: Tie) -> Array:
        """Return the two ends of a tie over time, n x 2 x d."""
        ends = [self.poses[b].origin + self.poses[b].rotation @ x for b, x in zip(tie.bodies, tie.ends, strict=True)]
        return np.stack(ends, axis=1)

    @property
    def bar(self) -> tuple[float, str]:
        """A round length for the scale of the drawing, and its words."""
        length = round_value(0.22 * float(np.max((self.high - self.low)[:2])))
        return length, f"{length:g} m" if length >= 0.01 else f"{1000 * length:g} mm"

    @property
    def span(self) -> float:
        return float(np.max(self.high - self.low))

    def path(self, point: str) -> Array:
        """Return the places of a marked point over time, n x d."""
        body, local = self.marked[point]
        pose = self.poses[body]
        return np.asarray(pose.origin + pose.rotation @ local)
