"""Where the names of points go: beside them, clear of the links, of the paths and of each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..mechanism.model import Array
from .shapes import Scene

DIRECTIONS = 16


def sampled(outline: Array, closed: bool, spacing: float) -> Array:
    """Return points along an outline, no further apart than the spacing."""
    corners = np.concatenate([outline, outline[:1]]) if closed else outline
    parts = []
    for p, q in pairwise(corners):
        n = 1 + int(min(float(np.linalg.norm(q - p)) / spacing, 200.0))
        parts.append(p + (q - p) * np.linspace(0, 1, n, endpoint=False)[:, None])
    return np.concatenate([*parts, corners[-1:]])


def offsets(scene: Scene, names: Sequence[str], height: float, steps: Sequence[int],
            avoid: Sequence[Array] = ()) -> dict[str, Array]:
    """Return, for each marked point, the way from it to the middle of its name (planar scenes, world units).

    `height` is that of a letter. The way is the same at all times, chosen for the given steps; `avoid` are further
    places (k x 2) that a name should not cover, such as paths.
    """
    spacing = 0.6 * height
    avoid = [places[:: max(1, len(places) // 300)] for places in avoid]
    obstacles = []
    for k in steps:
        parts = [sampled(scene.poses[s.body].place(s.outline, k), s.closed, spacing) for s in scene.shapes]
        parts += [scene.poses[d.body].place(d.place[None], k) for d in scene.dots]
        obstacles.append(np.concatenate([part[np.isfinite(part).all(axis=1)] for part in parts] + list(avoid)))
    u = np.arange(DIRECTIONS) * 2 * np.pi / DIRECTIONS + 0.4
    paths = {name: scene.path(name) for name in names}
    found: dict[str, Array] = {}
    for name in names:
        half = np.array([0.36 * len(name) + 0.12, 0.55]) * height
        best, least = np.zeros(2), np.inf
        for reach in (1.15, 1.9, 2.8, 3.9):
            for direction in np.stack([np.cos(u), np.sin(u)], axis=1):
                # the nearest edge of the box, not its middle, keeps its distance from the point
                offset = direction * (reach * scene.unit + np.abs(direction) @ half)
                cost = (reach - 1) * 2.5
                for k, places in zip(steps, obstacles, strict=True):
                    middle = paths[name][k] + offset
                    inside = np.all(np.abs(places - middle) < half + 0.15 * height, axis=1)
                    cost += float(np.count_nonzero(inside)) / len(steps)
                    cost += 40.0 / len(steps) * sum(
                        bool(np.all(np.abs(paths[other][k] + found[other] - middle)
                                    < half + np.array([0.36 * len(other) + 0.12, 0.55]) * height)) for other in found)
                if cost < least - 1e-9:
                    best, least = offset, cost
        found[name] = best
    return found
