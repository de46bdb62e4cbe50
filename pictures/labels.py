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
REACHES = (1.15, 1.9, 2.8, 3.9)  # from the point, in units
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
    steps = list(dict.fromkeys(steps))
    paths = {name: project(scene.path(name)[steps]) for name in names}  # names may meet at any of the steps
    some = slice(None, None, 1 + len(steps) * len(names) // 150)  # what stands still or moves slowly needs fewer
    steps = steps[some]
    avoid = [project(places[:: max(1, len(places) // 300)]) for places in avoid]
    obstacles = []
    for k in steps:
        parts = [sampled(project(scene.poses[s.body].place(s.outline, k)), s.closed, spacing) for s in scene.shapes]
        parts += [project(scene.poses[d.body].place(d.place[None], k)) for d in scene.dots]
        obstacles.append(np.concatenate([part[np.isfinite(part).all(axis=1)] for part in parts] + list(avoid)))
    u = np.arange(DIRECTIONS) * 2 * np.pi / DIRECTIONS + 0.4
    ways = np.tile(np.stack([np.cos(u), np.sin(u)], axis=1), (len(REACHES), 1))
    reaches = np.repeat(REACHES, DIRECTIONS)
    found: dict[str, Array] = {}
    for name in names:
        half = _half(name, height)
        # the nearest edge of the box, not its middle, keeps its distance from the point
        ways_off = ways * (reaches * unit + np.abs(ways) @ half)[:, None]
        hidden = np.zeros(len(ways))
        for other, beside in found.items():
            apart = np.abs((paths[other] + beside - paths[name])[:, None] - ways_off)
            hidden += np.mean(np.all(apart < half + _half(other, height), axis=2), axis=0)
        cost = 2.5 * (reaches - 1) + 40.0 * hidden
        far = half + 0.15 * height + np.abs(ways_off).max(axis=0)
        for k, places in enumerate(obstacles):
            around = places - paths[name][some][k]
            around = around[np.all(np.abs(around) < far, axis=1)]
            inside = np.abs(around[:, None] - ways_off) < half + 0.15 * height
            cost += np.count_nonzero(np.all(inside, axis=2), axis=0) / len(steps)
        best = int(np.argmin(cost.round(9)))  # the first of equals
        if hidden[best] <= COVERED:
            found[name] = ways_off[best]
    return found


def _half(name: str, height: float) -> Array:
    """Return half the breadth and half the height of a name."""
    return np.array([0.36 * len(name) + 0.12, 0.55]) * height
