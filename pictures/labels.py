"""Where the names of points go: beside them, clear of the links, of the paths and of each other.

A name that has no place without covering another is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from ..mechanism.model import Array
from .shapes import Scene

DIRECTIONS = 16
COVERED = 0.2  # of the time that a name may cover others


def _same(places: Array) -> Array:
    return places


def sampled(outline: Array, closed: bool, spacing: float) -> Array:
    """Return points along an outline, no further apart than the spacing."""
    corners = np.concatenate([outline, outline[:1]]) if closed else outline
    parts = []
    for p, q in pairwise(corners):
        n = 1 + int(min(float(np.linalg.norm(q - p)) / spacing, 200.0))
        parts.append(p + (q - p) * np.linspace(0, 1, n, endpoint=False)[:, None])
    return np.concatenate([*parts, corners[-1:]])


def offsets(
    scene: Scene,
    names: Sequence[str],
    height: float,
    steps: Sequence[int],
    avoid: Sequence[Array] = (),
    project: Callable[[Array], Array] = _same,
    unit: float | None = None,
) -> dict[str, Array]:
    """Return, for each marked point, the way from it to the middle of its name in the picture.

    `height` is that of a letter. The way is the same at all times, chosen for the given steps; `avoid` are further
    places that a name should not cover, such as paths. `project` leads from the world to the picture, where the
    scene's unit is `unit` long. Names are placed one after another, and one that must cover another has no entry.
    """
    unit = scene.unit if unit is None else unit
    spacing = 0.6 * height
    steps = list(dict.fromkeys(steps))[:: 1 + len(steps) * len(names) // 150]
    avoid = [project(places[:: max(1, len(places) // 300)]) for places in avoid]
    obstacles = []
    for k in steps:
        parts = [sampled(project(scene.poses[s.body].place(s.outline, k)), s.closed, spacing) for s in scene.shapes]
        parts += [project(scene.poses[d.body].place(d.place[None], k)) for d in scene.dots]
        obstacles.append(np.concatenate([part[np.isfinite(part).all(axis=1)] for part in parts] + list(avoid)))
    u = np.arange(DIRECTIONS) * 2 * np.pi / DIRECTIONS + 0.4
    paths = {name: project(scene.path(name)[list(steps)]) for name in names}
    found: dict[str, Array] = {}
    for name in names:
        half = np.array([0.36 * len(name) + 0.12, 0.55]) * height
        best, least, covers = np.zeros(2), np.inf, 0.0
        for reach in (1.15, 1.9, 2.8, 3.9):
            for direction in np.stack([np.cos(u), np.sin(u)], axis=1):
                # the nearest edge of the box, not its middle, keeps its distance from the point
                offset = direction * (reach * unit + np.abs(direction) @ half)
                cost, hidden = (reach - 1) * 2.5, 0.0
                for other, beside in found.items():
                    apart = np.abs(paths[other] + beside - paths[name] - offset)
                    room = half + np.array([0.36 * len(other) + 0.12, 0.55]) * height
                    hidden += float(np.mean(np.all(apart < room, axis=1)))
                cost += 40.0 * hidden
                if cost >= least:
                    continue
                for k, places in enumerate(obstacles):
                    inside = np.abs(places - paths[name][k] - offset) < half + 0.15 * height
                    cost += float(np.count_nonzero(inside[:, 0] & inside[:, 1])) / len(steps)
                if cost < least - 1e-9:
                    best, least, covers = offset, cost, hidden
        if covers <= COVERED:
            found[name] = best
    return found
