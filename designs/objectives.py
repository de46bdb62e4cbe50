"""Objectives of a motion with their derivatives: what `value_and_gradient` of a compiled mechanism takes.

An objective is a function of results that returns its value and its derivatives by the positions of points, an array
instant x component for each point; one of somebody's own needs no more than that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.errors import InputError, nearest
from ..mechanism.model import Array
from ..motion.results import Results

if TYPE_CHECKING:
    from .sensitivities import Sensitivities

Objective = Callable[[Results], tuple[float, Mapping[str, Any]]]


def timed_points(point: str, targets: Any, instants: Sequence[int] | None = None) -> Objective:
    """Return the sum of squared distances of a point from targets at some instants, by default the first ones."""
    places = np.asarray(targets, dtype=np.float64)
    chosen = np.arange(len(places)) if instants is None else np.asarray(instants, dtype=np.int64)
    if len(chosen) != len(places):
        raise InputError(f"timed_points: {len(places)} targets need as many instants, not {len(chosen)}")

    def objective(results: Results) -> tuple[float, Mapping[str, Array]]:
        position = results.points[point].position
        off = position[chosen] - places
        slope = np.zeros_like(position)
        np.add.at(slope, chosen, 2.0 * off)
        return float(np.sum(off**2)), {point: slope}

    return objective


def curve(point: str, targets: Any) -> Objective:
    """Return the sum of squared distances of targets from the path of a point, a line between its instants."""
    places = np.asarray(targets, dtype=np.float64)

    def objective(results: Results) -> tuple[float, Mapping[str, Array]]:
        position = results.points[point].position
        start, way = position[:-1], np.diff(position, axis=0)
        square = np.maximum(np.sum(way**2, axis=1), 1e-300)
        along = np.clip(np.einsum("tkc,kc->tk", places[:, None] - start[None], way) / square, 0.0, 1.0)
        off = start[None] + along[..., None] * way[None] - places[:, None]
        k = np.sum(off**2, axis=2).argmin(axis=1)
        rows = np.arange(len(places))
        near, share = off[rows, k], along[rows, k][:, None]
        slope = np.zeros_like(position)
        # the foot of the perpendicular moves along the line, across which alone there is a distance
        np.add.at(slope, k, 2.0 * near * (1.0 - share))
        np.add.at(slope, k + 1, 2.0 * near * share)
        return float(np.sum(near**2)), {point: slope}

    return objective


def poses(
    first: str, second: str, targets: Any, weight: float = 1.0, instants: Sequence[int] | None = None
) -> Objective:
    """Return the misses of poses [x, y, angle] of the line from one point to another: squares, angles times weight."""
    wanted = np.asarray(targets, dtype=np.float64)
    at = np.arange(len(wanted)) if instants is None else np.asarray(instants, dtype=np.int64)

    def objective(results: Results) -> tuple[float, Mapping[str, Array]]:
        p, q = results.points[first].position, results.points[second].position
        way = q[at] - p[at]
        angle = np.arctan2(way[:, 1], way[:, 0])
        turn = np.remainder(angle - wanted[:, 2] + np.pi, 2 * np.pi) - np.pi
        off = p[at] - wanted[:, :2]
        across = np.column_stack([-way[:, 1], way[:, 0]]) / np.sum(way**2, axis=1)[:, None]
        turned = 2.0 * weight * turn[:, None] * across
        one, two = np.zeros_like(p), np.zeros_like(q)
        np.add.at(one, at, 2.0 * off - turned)
        np.add.at(two, at, turned)
        return float(np.sum(off**2) + weight * np.sum(turn**2)), {first: one, second: two}

    return objective


def least_transmission(outer: str, inner: str, other: str) -> Objective:
    """Return the least sine of the angle at `inner` between the bars to the two other points."""

    def objective(results: Results) -> tuple[float, Mapping[str, Array]]:
        a, b, c = (results.points[n].position for n in (outer, inner, other))
        u, v = a - b, c - b
        lu, lv = np.linalg.norm(u, axis=1), np.linalg.norm(v, axis=1)
        sine = (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) / (lu * lv)
        k = int(np.argmin(np.abs(sine)))
        s, x, y, m, n = float(sine[k]), u[k], v[k], float(lu[k]), float(lv[k])
        du = np.array([y[1], -y[0]]) / (m * n) - s * x / m**2
        dv = np.array([-x[1], x[0]]) / (m * n) - s * y / n**2
        slopes = [np.zeros_like(a) for _ in range(3)]
        sign = 1.0 if s >= 0 else -1.0
        slopes[0][k], slopes[1][k], slopes[2][k] = sign * du, -sign * (du + dv), sign * dv
        return abs(s), dict(zip((outer, inner, other), slopes, strict=True))

    return objective


Slopes = tuple[Array | None, Array | None, Array | None]


def split_orders(slopes: Mapping[str, Any], points: Sequence[str], instants: int) -> dict[str, Slopes]:
    """Return the derivatives by position, velocity and acceleration of every point, or wrong input that names it."""
    found: dict[str, Slopes] = {}
    for name, given in slopes.items():
        if name not in points:
            raise InputError(f"objective: point {name} is not compiled{nearest(name, points)} - name it in compile()")
        several = given if isinstance(given, tuple | list) and len(given) <= 3 and len(given) != instants else (given,)
        parts = [None if x is None else np.asarray(x, dtype=np.float64) for x in (*several, None, None)[:3]]
        for part in parts:
            if part is not None and (part.ndim != 2 or len(part) != instants):
                raise InputError(f"objective: the derivative by {name} is {instants} x components, not {part.shape}")
        found[name] = parts[0], parts[1], parts[2]
    return found


def chained(slopes: Mapping[str, Slopes], exact: Sensitivities) -> Array:
    """Return the gradient by the parameters: derivatives by the motion of points times those of the motion."""
    total = np.zeros(len(exact.names))
    for name, parts in slopes.items():
        changes = exact.points[name]
        for slope, change in zip(parts, (changes.position, changes.velocity, changes.acceleration), strict=True):
            if slope is not None and change is not None:
                total += np.einsum("pnc,nc->p", change, slope)
    return total
