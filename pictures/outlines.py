"""Outlines of the things in a drawing of a mechanism: links, blocks, wheels, supports; in world units."""

from __future__ import annotations

import numpy as np

from ..mechanism.model import Array


def across(v: Array) -> Array:
    """Return the vector turned by a quarter to the left."""
    return np.array([-v[1], v[0]])


def hull(points: Array) -> Array:
    """Return the corners of the convex hull, counter-clockwise; two for points on a line, one for a single place."""
    spots = sorted({(float(x), float(y)) for x, y in points})
    if len(spots) < 3:
        return np.array(spots)
    extent = float(np.max(np.ptp(points, axis=0)))
    flat = 1e-9 * extent * extent  # corners flatter than this are none

    def half(ordered: list[tuple[float, float]]) -> list[tuple[float, float]]:
        chain: list[tuple[float, float]] = []
        for p in ordered:
            while len(chain) > 1:
                (ax, ay), (bx, by) = chain[-2:]
                if (bx - ax) * (p[1] - ay) - (by - ay) * (p[0] - ax) > flat:
                    break
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array(half(spots) + half(spots[::-1]))


def rounded(points: Array, radius: float) -> Array:
    """Return the outline of the convex hull grown by a radius: a link through the points, with round ends."""
    corners = hull(points)
    if len(corners) == 1:
        return circle(corners[0], radius)
    outline = []
    for k, corner in enumerate(corners):
        before, after = corner - corners[k - 1], corners[(k + 1) % len(corners)] - corner
        first = np.arctan2(-before[0], before[1])  # direction of the outward normal of the edge that ends here
        turn = (np.arctan2(-after[0], after[1]) - first) % (2 * np.pi)
        arc = first + np.linspace(0, turn, 2 + int(turn * 5))
        outline.append(corner + radius * np.stack([np.cos(arc), np.sin(arc)], axis=1))
    return np.concatenate(outline)


def circle(centre: Array, radius: float, n: int = 48) -> Array:
    """Return a circle as a polygon."""
    u = np.linspace(0, 2 * np.pi, n, endpoint=False)
    return np.asarray(centre + radius * np.stack([np.cos(u), np.sin(u)], axis=1))


def block(centre: Array, axis: Array, length: float, height: float) -> Array:
    """Return a rectangle along an axis, its corners slightly rounded."""
    r = 0.22 * min(length, height)
    x, y = axis * (length / 2 - r), across(axis) * (height / 2 - r)
    return rounded(np.array([centre - x - y, centre + x - y, centre + x + y, centre - x + y]), r)


def hatching(start: Array, end: Array, depth: Array, spacing: float) -> list[Array]:
    """Return short slanted strokes from a line towards `depth`, the sign of solid ground."""
    span = end - start
    n = max(2, round(float(np.hypot(*span)) / spacing))
    slant = span / n * 0.9
    return [np.array([p, p - slant + depth]) for p in (start + span * (k + 0.9) / n for k in range(n))]


def support(place: Array, size: float) -> tuple[Array, list[Array]]:
    """Return the triangle under a pin of the frame, and the ground line with its hatching."""
    foot = place + np.array([0, -1.0]) * 2.3 * size
    half = np.array([1.35 * size, 0])
    base = np.array([1.9 * size, 0])
    strokes = [
        np.array([foot - base, foot + base]),
        *hatching(foot - base, foot + base, np.array([0, -0.75 * size]), 0.76 * size),
    ]
    return np.array([place, foot - half, foot + half]), strokes


def wheel(centre: Array, radius: float, tooth: float) -> Array:
    """Return a gear's outline: trapezoidal teeth about its pitch circle, a sign and not its true flanks."""
    n = max(12, round(2 * np.pi * radius / (3.4 * tooth)))
    step = 2 * np.pi / n
    u = np.arange(n)[:, None] * step + step * np.array([0.0, 0.14, 0.36, 0.5])
    r = radius + tooth * np.array([-0.6, 0.6, 0.6, -0.6])
    return np.asarray(centre + np.stack([(r * np.cos(u)).ravel(), (r * np.sin(u)).ravel()], axis=1))
