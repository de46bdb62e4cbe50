"""The plan of one group: its specification as text, where its known coordinates come from, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..model import Function

Array = NDArray[np.float64]


# ---- where a known coordinate (an entry of h) comes from ----------------------------------------------------------
@dataclass(frozen=True, eq=False)
class PointOf:
    """A point of a body that is solved already (or of the frame), given in its axes."""

    body: str
    local: Array


@dataclass(frozen=True, eq=False)
class VectorOf:
    """A direction of a body that is solved already, given in its axes."""

    body: str
    local: Array


@dataclass(frozen=True)
class AngleOf:
    """The continuous angle of a planar body that is solved already."""

    body: str


@dataclass(frozen=True)
class ValueOf:
    """The value of a driver, or its negative where the group sees the joint from its other side."""

    driver: str
    sign: int = 1


@dataclass(frozen=True, eq=False)
class SumOf:
    """A number plus angles of planar bodies that are solved already, each with its factor."""

    constant: float
    angles: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class FoundBy:
    """A vector that another plan of the same group has found: a coordinate or point of it, less another one."""

    plan: str
    end: PointName | VectorName
    begin: PointName | None = None


Source = PointOf | VectorOf | AngleOf | ValueOf | SumOf | FoundBy


# ---- how a body's axes follow from the coordinates of its group ---------------------------------------------------
# What a placement names: a coordinate or a [point] of the specification; or, without any equation of the type, a point
# or direction of another body, solved before the group or placed before this body.
PointName = str | PointOf | FoundBy
VectorName = str | VectorOf


@dataclass(frozen=True, eq=False)
class Between:
    """Two points of the body are P and Q; `p` and `q` are the same points in its axes.

    In the plane this places the body; in space it places a rod, of which only points of the line P-Q mean anything.
    """

    P: PointName
    Q: PointName
    p: Array
    q: Array


@dataclass(frozen=True, eq=False)
class Along:
    """Planar: the point `p` of the body is P; its direction `w` (a unit vector in its axes) is the coordinate W."""

    P: PointName
    W: VectorName
    p: Array
    w: Array


@dataclass(frozen=True, eq=False)
class Axes:
    """The body's point `point` is at `origin`; row i of `basis` is the direction `axes[i]` in the body's axes.

    The rows are orthonormal. Without `point` the origin itself is named, without `basis` the axes x, y(, z) themselves.
    """

    origin: PointName
    axes: tuple[VectorName, ...]
    point: Array | None = None
    basis: Array | None = None


@dataclass(frozen=True, eq=False)
class Angle:
    """Planar: as Axes, and the scalar coordinate `angle` of the group plus `offset` is the body's angle, unwrapped."""

    axes: Axes
    angle: str
    offset: float


@dataclass(frozen=True, eq=False)
class Spanned:
    """Space: the body's point `point` is at `origin`; axis k of the body is the sum of factors[i, k] · vectors[i].

    Each vector is a coordinate, or a pair of points from the first of which it leads to the second.
    """

    origin: PointName
    point: Array
    vectors: tuple[VectorName | tuple[PointName, PointName], ...]
    factors: Array


Placement = Between | Along | Axes | Angle | Spanned


@dataclass(frozen=True, eq=False)
class GroupPlan:
    """A group of the mechanism bound to a specification.

    `specification` is the whole text of a group specification (TOML) but for its name; equal texts are one type.
    `known` has one source per [independent] coordinate, in order; `parameters` one number per scalar parameter, in
    order; `start` the values of φ in the sketch (scalars, in order). `placements` tells each body's axes, those that
    others refer to first.
    A group without unknowns has an empty specification: its placements name sources' coordinates only.
    """

    name: str
    type: str
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    drivers: tuple[str, ...]
    specification: str
    coordinates: tuple[str, ...]  # names of the independent coordinates, as `known`
    known: tuple[Source, ...]
    parameters: Array
    start: Array
    placements: Mapping[str, Placement]
    profiles: Mapping[str, Function] = field(default_factory=dict)  # parameters that are functions of an unknown
    named: str = ""  # the type that [groups] asks for; by default the one whose equations these are
    reversed: tuple[str, ...] = ()  # coordinates of that type which are the negative of what `where` names
