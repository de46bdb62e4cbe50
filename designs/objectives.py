"""Objectives of a motion with their derivatives: what `value_and_gradient` of a compiled mechanism takes.

An objective is a function of results that returns its value and its derivatives by the positions of points, an array
instant x component for each point; one of somebody's own needs no more than that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..common.errors import InputError, nearest
from ..mechanism.model import Array, Model
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
        off, along = _feet(position, places)
        value, slope = _at_feet(position, off, along, np.sum(off**2, axis=2).argmin(axis=1))
        return value, {point: slope}

    return objective


def _feet(position: Array, places: Array) -> tuple[Array, Array]:
    """Return the ways from targets to their feet on the pieces of a path, and where on the piece: target x piece."""
    start, way = position[:-1], np.diff(position, axis=0)
    square = np.maximum(np.sum(way**2, axis=1), 1e-300)
    along = np.clip(np.einsum("tkc,kc->tk", places[:, None] - start[None], way) / square, 0.0, 1.0)
    return start[None] + along[..., None] * way[None] - places[:, None], along


def _at_feet(position: Array, off: Array, along: Array, k: NDArray[np.int64]) -> tuple[float, Array]:
    """Return the sum of squares for one piece of the path per target, and its derivatives by the path."""
    rows = np.arange(len(off))
    near, share = off[rows, k], along[rows, k][:, None]
    slope = np.zeros_like(position)
    # the foot of the perpendicular moves along the line, across which alone there is a distance
    np.add.at(slope, k, 2.0 * near * (1.0 - share))
    np.add.at(slope, k + 1, 2.0 * near * share)
    return float(np.sum(near**2)), slope


def ordered_points(point: str, targets: Any) -> Objective:
    """Return the sum of squared distances of targets from the path of a point that passes them in their order.

    No timing is given: of all ways to pass them, forth or back along the path, the nearest one counts.
    """
    places = np.asarray(targets, dtype=np.float64)

    def objective(results: Results) -> tuple[float, Mapping[str, Array]]:
        position = results.points[point].position
        off, along = _feet(position, places)
        distance, rows = np.sum(off**2, axis=2), np.arange(len(places))
        ways = _in_order(distance), _in_order(distance[::-1])[::-1]
        nearest_way = min(ways, key=lambda k: float(distance[rows, k].sum()))
        value, slope = _at_feet(position, off, along, nearest_way)
        return value, {point: slope}

    return objective


def _in_order(distance: Array) -> NDArray[np.int64]:
    """Return for each row the column such that columns never fall and the sum is least."""
    least, chosen = np.zeros(distance.shape[1]), []
    for row in distance:
        here = least + row
        best = np.minimum.accumulate(here)
        first = np.where(here <= best, np.arange(len(here)), 0)
        chosen.append(np.maximum.accumulate(first))  # the column of the least so far
        least = best
    k, found = len(least) - 1, []
    for columns in reversed(chosen):
        k = int(columns[k])
        found.append(k)
    return np.array(found[::-1], dtype=np.int64)


def function(first: str, second: str, targets: Any, instants: Sequence[int] | None = None) -> Objective:
    """Return the squared misses of the angle of the line from one point to another, by default at the first instants.

    Angles are compared without whole turns.
    """
    wanted = np.asarray(targets, dtype=np.float64)
    at = np.arange(len(wanted)) if instants is None else np.asarray(instants, dtype=np.int64)

    def objective(results: Results) -> tuple[float, Mapping[str, Array]]:
        p, q = results.points[first].position, results.points[second].position
        way = q[at] - p[at]
        miss = np.arctan2(way[:, 1], way[:, 0]) - wanted
        miss = np.remainder(miss + np.pi, 2 * np.pi) - np.pi
        turned = 2.0 * miss[:, None] * np.column_stack([-way[:, 1], way[:, 0]]) / np.sum(way**2, axis=1)[:, None]
        one, two = np.zeros_like(p), np.zeros_like(q)
        np.add.at(one, at, -turned)
        np.add.at(two, at, turned)
        return float(np.sum(miss**2)), {first: one, second: two}

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


def peak_speed(point: str) -> Objective:
    """Return the largest speed of a point: an objective of rates."""

    def objective(results: Results) -> tuple[float, Mapping[str, Any]]:
        velocity = results.points[point].velocity
        speed = np.linalg.norm(velocity, axis=1)
        k = int(np.argmax(speed))
        slope = np.zeros_like(velocity)
        slope[k] = velocity[k] / speed[k]
        return float(speed[k]), {point: (None, slope)}

    return objective


@dataclass(frozen=True)
class PeakOfDynamics:
    """The largest effort of a driver, or force in a joint, of inverse dynamics over the instants.

    Its gradient is that of the value at its instant, by differences of fourth order: masses and loads may depend on
    parameters, too, and inverse dynamics carries no changes.
    """

    driver: str = ""
    joint: str = ""

    def series(self, model: Model, times: Array) -> Array:
        """Return the sizes over some instants."""
        from ..dynamics.computed import inverse_dynamics

        results = inverse_dynamics(model, times).results
        if self.driver:
            if self.driver not in results.drivers:
                raise InputError(f"objective: there is no driver {self.driver}{nearest(self.driver, results.drivers)}")
            effort: Array = np.asarray(results.drivers[self.driver].effort, dtype=np.float64)
            return np.asarray(np.abs(effort))
        reactions = results.reactions or {}
        if self.joint not in reactions:
            raise InputError(f"objective: there is no joint {self.joint}{nearest(self.joint, reactions)}")
        return np.asarray(np.linalg.norm(reactions[self.joint].force, axis=1))

    def value_and_gradient(
        self, model: Callable[[Mapping[str, float]], Model], design: Mapping[str, float], times: Array
    ) -> tuple[float, Array]:
        """Return the peak and its derivatives by the parameters of the design."""
        sizes = self.series(model(design), times)
        k = int(np.argmax(sizes))
        found = []
        for name, value in design.items():
            step = 1e-3 * max(abs(value), 1e-3)
            there = [
                float(self.series(model({**design, name: value + j * step}), times[k : k + 1])[0])
                for j in (-2, -1, 1, 2)
            ]
            found.append((there[0] - 8.0 * there[1] + 8.0 * there[2] - there[3]) / (12.0 * step))
        return float(sizes[k]), np.array(found)


def peak_torque(driver: str) -> PeakOfDynamics:
    """Return the largest effort of a driver, a torque or a force."""
    return PeakOfDynamics(driver=driver)


def peak_reaction(joint: str) -> PeakOfDynamics:
    """Return the largest force in a joint."""
    return PeakOfDynamics(joint=joint)


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
