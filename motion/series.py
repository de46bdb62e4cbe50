"""One series for each thing of a mechanism: a point, a body, a joint, a driver, a reaction over time."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PointSeries:
    """A point: position, velocity, acceleration (and jerk where it was asked), each n x 2 or n x 3, global axes."""

    position: Array
    velocity: Array
    acceleration: Array
    jerk: Array | None = None


@dataclass(frozen=True, eq=False)
class BodySeries:
    """A body. Planar: angle and its rates, each n. Spatial: rotation n x 3 x 3 (columns are the body's axes in global
    axes, so that a row is a row of the matrix), angular velocity and acceleration n x 3 in global axes."""

    angular_velocity: Array
    angular_acceleration: Array
    angle: Array | None = None
    rotation: Array | None = None


@dataclass(frozen=True, eq=False)
class JointSeries:
    """The coordinates of a joint, each n.

    R: angle, rate, acceleration. P, slot: displacement, rate, acceleration. C, H: angle, rate, acceleration and
    displacement, displacement_rate, displacement_acceleration.
    """

    rate: Array
    acceleration: Array
    angle: Array | None = None
    displacement: Array | None = None
    displacement_rate: Array | None = None
    displacement_acceleration: Array | None = None


@dataclass(frozen=True, eq=False)
class VectorSeries:
    """A vector of a body with its rates, each n x 2 or n x 3, global axes."""

    value: Array
    rate: Array
    acceleration: Array


@dataclass(frozen=True, eq=False)
class DriverSeries:
    """A driver: its value, and its effort where dynamics was asked, each n."""

    value: Array
    effort: Array | None = None


@dataclass(frozen=True, eq=False)
class ActuatorSeries:
    """An actuator's effort, n."""

    effort: Array


@dataclass(frozen=True, eq=False)
class ReactionSeries:
    """What the first body of a joint exerts on the second: force n x 2 or n x 3, moment n or n x 3, global axes."""

    force: Array
    moment: Array


@dataclass(frozen=True, eq=False)
class EnergySeries:
    """Kinetic, potential and total energy, each n."""

    kinetic: Array
    potential: Array
    total: Array


@dataclass(frozen=True, eq=False)
class CandidateSeries:
    """A joint coordinate of the open tree, each n (Blajer, Schiehlen, Schirm 1994): cos² β of Eq. 23b, its share by
    geometry alone (singular value decomposition), and the effort Ĉᵀ λ̂ that the closing conditions exert along it."""

    orthogonal: Array
    geometric: Array
    closing: Array


Series = (
    PointSeries
    | BodySeries
    | JointSeries
    | VectorSeries
    | DriverSeries
    | ActuatorSeries
    | ReactionSeries
    | EnergySeries
    | CandidateSeries
)

# The tables of a result file by name, in the order in which they are written, and what stands in them.
TABLES: dict[str, type[Series]] = {
    "points": PointSeries,
    "bodies": BodySeries,
    "joints": JointSeries,
    "drivers": DriverSeries,
    "actuators": ActuatorSeries,
    "reactions": ReactionSeries,
    "vectors": VectorSeries,
    "candidates": CandidateSeries,
}
# What stands first among the quantities of a body or a joint: its coordinate.
COORDINATES = ("angle", "rotation", "displacement")


def series_arrays(series: Series) -> dict[str, Array]:
    """Return the arrays of a series by name, its coordinate first, without those that it lacks."""
    held = {f.name: getattr(series, f.name) for f in fields(series) if getattr(series, f.name) is not None}
    first = [name for name in COORDINATES if name in held][:1]
    return {name: held[name] for name in [*first, *(name for name in held if name not in first)]}
