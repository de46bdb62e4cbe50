"""Velocity and acceleration arrows: which points have them, how long they are, and the scale that the legend shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError, nearest
from ..mechanism.model import Array
from ..motion.results import Results
from .shapes import Scene

KINDS = {"velocity": ("#0a7d4f", "m/s"), "acceleration": ("#c4302b", "m/s²")}
LONGEST = 0.24  # the longest arrow of a run, as a share of the drawing


@dataclass(frozen=True, eq=False)
class Arrows:
    """The arrows of one kind: at `places` (n x points x d), long by `vectors` (n x points x d, world units)."""

    kind: str
    colour: str
    places: Array
    vectors: Array
    reference: float  # a round value, and how long its arrow is
    length: float

    @property
    def legend(self) -> str:
        return f"{self.kind}, {self.reference:g} {KINDS[self.kind][1]}"


def round_value(x: float) -> float:
    """Return the greatest of 1, 2, 5 times a power of ten that is not above x."""
    power = 10.0 ** np.floor(np.log10(x))
    return float(power * max(m for m in (1, 2, 5) if m * power <= x * (1 + 1e-12)))


def arrows(scene: Scene, results: Results, kinds: Sequence[str], points: Sequence[str]) -> list[Arrows]:
    """Return the arrows of the kinds asked for, at those of the points that move."""
    found = []
    for kind in kinds:
        if kind not in KINDS:
            raise InputError(f"vectors: '{kind}' is not known; choose among {', '.join(KINDS)}{nearest(kind, KINDS)}")
        values = np.array([getattr(results.points[point], kind) for point in points])
        places = np.array([results.points[point].position for point in points])
        if not len(points):
            continue
        sizes = np.linalg.norm(values, axis=2)
        # a run may pass a place where an acceleration has no bound: leave out the top percent from the scale
        largest = float(np.nanpercentile(sizes.max(axis=0), 99))
        if not largest > 0:
            continue
        scale = LONGEST * scene.span / largest
        vectors = values * scale
        limit = 1.3 * LONGEST * scene.span
        lengths = np.linalg.norm(vectors, axis=2, keepdims=True)
        vectors = np.where(lengths > limit, vectors * (limit / np.maximum(lengths, limit)), vectors)
        reference = round_value(0.6 * largest)
        found.append(Arrows(kind, KINDS[kind][0], places.transpose(1, 0, 2), vectors.transpose(1, 0, 2), reference,
                            reference * scale))
    return found


def room(scene: Scene, drawn: Sequence[Arrows]) -> tuple[Array, Array]:
    """Return the limits of a drawing that holds the arrows too."""
    tips = [(a.places + a.vectors).reshape(-1, scene.dimension) for a in drawn]
    low = np.nanmin([scene.low, *(np.nanmin(t, axis=0) for t in tips)], axis=0)
    high = np.nanmax([scene.high, *(np.nanmax(t, axis=0) for t in tips)], axis=0)
    return low, high
