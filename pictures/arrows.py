"""Arrows of velocities, accelerations and forces: where they are, how long, and the scale that the legend shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..common.errors import InputError, nearest
from ..mechanism.model import Array, Model
from ..motion.results import Results
from .shapes import Scene, round_value

KINDS = {"velocity": ("#0a7d4f", "m/s"), "acceleration": ("#c4302b", "m/s²")}
FORCES = {"reaction": ("#8a1fb5", "N"), "applied force": ("#d06a00", "N")}
UNITS = {kind: unit for kind, (_, unit) in {**KINDS, **FORCES}.items()}
LEAST = 0.01  # of the largest force: a kind that stays below is not drawn
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
        return f"{self.kind}, {self.reference:g} {UNITS[self.kind]}"


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
        largest = _largest(values)
        if largest > 0:
            found.append(_scaled(scene, kind, KINDS[kind][0], places, values, largest))
    return found


def force_arrows(scene: Scene, model: Model, results: Results) -> list[Arrows]:
    """Return reactions (of the first body of a joint on the second) and applied forces, both to one scale."""
    from .force_display import applied_forces, reaction_forces

    if results.reactions is None:
        raise InputError(
            f"forces: the results of {results.mechanism} ({results.method}) hold no forces - take those of inverse "
            "dynamics or of a simulation"
        )
    sets = {"reaction": reaction_forces(model, results), "applied force": applied_forces(model, results)}
    values = {kind: np.array([a.force for a in acting if np.any(a.force)]) for kind, acting in sets.items()}
    sizes = {kind: _largest(v) if len(v) else 0.0 for kind, v in values.items()}
    largest = max(sizes.values())
    found = []
    for kind, acting in sets.items():
        if sizes[kind] > LEAST * largest:
            places = np.array([a.place for a in acting if np.any(a.force)])
            found.append(_scaled(scene, kind, FORCES[kind][0], places, values[kind], largest))
    return found


def _largest(values: Array) -> float:
    """Return the largest size of vectors (points x n x d) at any time.

    A run may pass a place where an acceleration has no bound, so that the top percent is left out of the scale.
    """
    return float(np.nanpercentile(np.linalg.norm(values, axis=2).max(axis=0), 99))


def _scaled(scene: Scene, kind: str, colour: str, places: Array, values: Array, largest: float) -> Arrows:
    scale = LONGEST * scene.span / largest
    vectors = values * scale
    limit = 1.3 * LONGEST * scene.span
    lengths = np.linalg.norm(vectors, axis=2, keepdims=True)
    vectors = np.where(lengths > limit, vectors * (limit / np.maximum(lengths, limit)), vectors)
    reference = round_value(0.6 * largest)
    return Arrows(kind, colour, places.transpose(1, 0, 2), vectors.transpose(1, 0, 2), reference, reference * scale)


def room(scene: Scene, drawn: Sequence[Arrows]) -> tuple[Array, Array]:
    """Return the limits of a drawing that holds the arrows too."""
    tips = [(a.places + a.vectors).reshape(-1, scene.dimension) for a in drawn]
    low = np.nanmin([scene.low, *(np.nanmin(t, axis=0) for t in tips)], axis=0)
    high = np.nanmax([scene.high, *(np.nanmax(t, axis=0) for t in tips)], axis=0)
    return low, high
