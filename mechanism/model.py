"""The mechanism, frozen: bodies with their geometry, joints, drivers and loads. SI units, radians, right-handed axes.

Everything that the file leaves open is settled here: expressions have become numbers or functions of time, every
length, line and axis is given in the axes of the bodies that carry it, and welded bodies have become one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from .numbers import arithmetic

if TYPE_CHECKING:
    from .named_groups import NamedGroup
    from .vectors_of_interest import Vector

Array = NDArray[np.float64]
FRAME = "frame"


class Function(Protocol):
    """A function of one variable with its derivatives."""

    text: str

    def __call__(self, x: Array) -> Array:
        """Return value and first three derivatives, an array 4 x n for n values."""
        ...


@dataclass(frozen=True, eq=False)
class Member:
    """A body as the user named it, and how its own axes lie in the axes of the rigid body that it is part of."""

    name: str
    origin: Array
    rotation: Array


@dataclass(frozen=True, eq=False)
class Mass:
    """Mass, centre in the body's axes, and inertia about the centre (a number, or 3 x 3 in the body's axes)."""

    mass: float
    centre: Array
    inertia: Array


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body: its points in its own axes, and where the first configuration puts these axes.

    A point with local coordinates x lies at `origin + rotation @ x` there. Two bodies that are welded are one Body
    with two members; a body on its own is its only member.
    """

    name: str
    points: Mapping[str, Array]
    origin: Array
    rotation: Array
    rod: bool = False  # spatial: two spherical joints and nothing else, so that its spin is of no account
    members: tuple[Member, ...] = ()
    mass: Mass | None = None

    @property
    def angle(self) -> float:
        """Direction of the x axis in the first configuration (planar)."""
        found: float = arithmetic.arctan2(self.rotation[1, 0], self.rotation[0, 0])
        return found

    @property
    def parts(self) -> tuple[Member, ...]:
        """The bodies of the user that are this one."""
        d = len(self.origin)
        return self.members or (Member(self.name, np.zeros(d), np.eye(d)),)

    def outside(self, local: Array) -> Array:
        """Return the global place, in the first configuration, of a point given in the body's axes."""
        return self.origin + self.rotation @ local

    def inside(self, place: Array) -> Array:
        """Return a global place of the first configuration in the body's axes."""
        return self.rotation.T @ (place - self.origin)


@dataclass(frozen=True, eq=False)
class Follower:
    """What touches a cam: a point, a roller of a radius about it, or a flat face through it along a direction."""

    radius: float = 0.0
    direction: Array | None = None  # of the face, unit, in the follower's axes


@dataclass(frozen=True)
class Friction:
    """Dry friction of an R or P: coefficient, lever (the pin's radius; 1 of a slide), speed below which it fades."""

    coefficient: float
    lever: float
    speed: float


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint between two bodies; every vector is given in the axes of the body that carries it.

    | kind   | a (in the first body)                 | b (in the second)     | axis_a, axis_b                         |
    |--------|---------------------------------------|-----------------------|----------------------------------------|
    | R S U  | the common point                      | the common point      | R: the axis in both; U: first, second  |
    | P C    | a point of the line (`through`)       | `at`                  | the line's direction in both           |
    | slot   | a point of the line (`through`)       | `at`                  | axis_a: the line's direction           |
    | H      | where `at` lies first                 | `at`                  | the axis in both                       |
    | planar | where `at` lies first                 | `at`                  | the normal in both                     |
    | on-plane | a point of the plane (`through`)    | `at`                  | axis_a: the normal                     |
    | rack   | the pinion's centre                   | zero                  | axis_b: of the rack                    |
    | cam    | the cam's centre                      | the follower's point  | -                                      |
    | on-cylinder | a point of the axis (`through`)  | `at`                  | axis_a: the axis                       |
    | gear   | -                                     | -                     | space: of the wheels, in the carrier   |

    Axes are unit vectors. In space `normal_a` and `normal_b` are perpendicular to the axis and coincide in the first
    configuration: the angle from normal_a to normal_b about axis_a is the joint's angle, zero there. In the plane
    `angle` is the turn of the second body's x axis relative to the first's in the first configuration: P holds it;
    the angle of an R is the turn itself. Of a gear in space `carrier_normal` is perpendicular to both axes; normal_a
    and normal_b coincide with it in the first configuration: the wheels' turns are the angles from it to them.
    """

    name: str
    kind: str
    first: str
    second: str
    at: str | None
    a: Array
    b: Array
    axis_a: Array
    axis_b: Array
    normal_a: Array
    normal_b: Array
    angle: float = 0.0
    offset: float = 0.0  # planar, welded bodies: what to add for the angle between the parts that the user named
    ratio: float = 0.0  # gear: turn of the second over turn of the first, relative to the carrier
    carrier: str | None = None
    carrier_normal: Array | None = None  # gear in space: in the axes of the carrier
    radius: float = 0.0  # rack: of the pinion, signed; on-cylinder: of the cylinder
    pitch: float = 0.0  # H: slide per radian
    profile: Function | None = None  # cam: radius over the polar angle u
    follower: Follower | None = None
    friction: Friction | None = None

    @property
    def bodies(self) -> tuple[str, ...]:
        """All bodies that the joint ties, the carrier of a gear included."""
        return (self.first, self.second) if self.carrier is None else (self.first, self.second, self.carrier)

    @cached_property
    def in_space(self) -> Array:
        """Its six vectors, a to normal_b, as rows of three numbers; in the plane the third is zero."""
        found = np.zeros((6, 3))
        for row, vector in zip(
            found, (self.a, self.b, self.axis_a, self.axis_b, self.normal_a, self.normal_b), strict=True
        ):
            row[: len(vector)] = vector
        return found


def ends_of(joints: Mapping[str, Joint], body: str) -> list[Array]:
    """Return the points of a body where it has joints, in its axes: of a rod its two ends."""
    return [j.a if j.first == body else j.b for j in joints.values() if body in (j.first, j.second)]


@dataclass(frozen=True, eq=False)
class Driver:
    """A prescribed motion.

    kind: `angle` (of an R, C or H joint), `displacement` (of a P, C or slot joint), `distance` (between two points),
    `turn` (planar: angle of the second body's x axis relative to the first's), `coordinate` (of a point of the second
    body along `axis`; the first is the frame). `ends` are the points of a distance in the axes of the two bodies, or
    the origin and the point of a coordinate.
    """

    name: str
    kind: str
    motion: Function
    joint: str | None = None
    bodies: tuple[str, str] = ("", "")
    points: tuple[str, str] | None = None  # of a distance: the points' names
    ends: tuple[Array, Array] | None = None  # of a distance: in the axes of the two bodies
    offset: float = 0.0  # planar, welded bodies: what to add for the value that the user wrote
    axis: Array | None = None  # of a coordinate: its direction in global axes


@dataclass(frozen=True, eq=False)
class PointForce:
    """A force on a point of a body, in global axes, each component a function of time."""

    name: str
    body: str
    point: Array
    force: tuple[Function, ...]


@dataclass(frozen=True, eq=False)
class Torque:
    """A torque on a body: one function of time in the plane, three in space."""

    name: str
    body: str
    torque: tuple[Function, ...]


@dataclass(frozen=True, eq=False)
class Spring:
    """A spring (with damper) between two points of two bodies."""

    name: str
    bodies: tuple[str, str]
    ends: tuple[Array, Array]
    stiffness: float
    length: float
    damping: float


@dataclass(frozen=True, eq=False)
class TorsionSpring:
    """A torsion spring (with damper) in a joint with an angle."""

    name: str
    joint: str
    stiffness: float
    angle: float
    damping: float


Load = PointForce | Torque | Spring | TorsionSpring


@dataclass(frozen=True)
class Initial:
    """Position and rate of one joint coordinate (`angle` or `displacement`) at the start of a simulation."""

    name: str
    joint: str
    coordinate: str
    value: float
    rate: float


@dataclass(frozen=True, eq=False)
class InitialBody:
    """Orientation (of the rigid body's axes) and angular velocity, in global axes, of a body at the start."""

    name: str
    body: str
    rotation: Array
    angular_velocity: Array


@dataclass(frozen=True)
class Actuator:
    """A joint that carries an effort in inverse dynamics."""

    name: str
    joint: str


LOOPS = ("projection", "baumgarte", "partitioning")


@dataclass(frozen=True)
class AugmentedLagrangian:
    """`[simulation.dca]`: penalty factor (per mean mass), frequency and damping of the constraints, iterations at most,
    and their tolerances; the defaults are those of Malczyk and Frączek. A frequency that is not given may be raised."""

    penalty: float = 1e6
    frequency: float | None = None
    damping: float = 1.0
    iterations: int = 10
    position: float = 1e-14
    velocity: float = 1e-12
    acceleration: float = 1e-10

    @property
    def omega(self) -> float:
        """The frequency given, or the paper's."""
        return 1.0 if self.frequency is None else self.frequency


@dataclass(frozen=True)
class Simulation:
    """Times of a run."""

    start: float = 0.0
    stop: float = 1.0
    step: float = 0.01
    tolerance: float = 1e-9
    cut: tuple[str, ...] = ()
    change: float | None = None  # partition: how many times better another set of coordinates must be (default 4)
    loops: str = "projection"  # semi-recursive: how loops are closed, of LOOPS
    baumgarte: tuple[float, float] = (10.0, 10.0)  # a and b of Baumgarte's stabilisation, 1/s
    dca: AugmentedLagrangian = AugmentedLagrangian()

    def times(self) -> Array:
        """Return the grid; it includes `stop`."""
        n = int(np.floor((self.stop - self.start) / self.step * (1 + 1e-12) + 1e-9))
        grid = self.start + self.step * np.arange(n + 1)
        if grid[-1] < self.stop - 1e-9 * max(self.step, abs(self.stop)):
            grid = np.append(grid, self.stop)
        else:
            grid[-1] = self.stop
        return np.asarray(grid)


@dataclass(frozen=True, eq=False)
class Model:
    """A whole mechanism. `bodies` begins with the frame; welded bodies are one (see Body.members)."""

    name: str
    space: str  # "planar" | "spatial"
    points: Mapping[str, Array]  # the sketch: every point's place in the first configuration
    bodies: Mapping[str, Body]
    joints: Mapping[str, Joint]
    drivers: Mapping[str, Driver]
    parameters: Mapping[str, float] = field(default_factory=dict)
    simulation: Simulation = Simulation()
    gravity: Array = field(default_factory=lambda: np.zeros(0))
    loads: tuple[Load, ...] = ()
    initial: tuple[Initial, ...] = ()
    orientations: tuple[InitialBody, ...] = ()  # of [initial], too
    actuators: tuple[Actuator, ...] = ()
    assembly: Mapping[str, int] = field(default_factory=dict)
    welds: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # names of weld joints, for messages
    vectors: Mapping[str, Vector] = field(default_factory=dict)
    groups: Mapping[str, NamedGroup] = field(default_factory=dict)
    origin: Path | None = None

    @property
    def dimension(self) -> int:
        return 2 if self.space == "planar" else 3

    @property
    def movable(self) -> tuple[str, ...]:
        """The rigid bodies other than the frame."""
        return tuple(b for b in self.bodies if b != FRAME)

    @cached_property
    def size(self) -> float:
        """A length of the mechanism's order of size, for tolerances: the spread of its points."""
        places = np.array([b.outside(p) for b in self.bodies.values() for p in b.points.values()])
        if len(places) == 0:
            return 1.0
        spread = arithmetic.spread(places)
        return spread if spread > 0 else 1.0
