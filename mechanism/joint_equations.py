"""The constraint rows of every kind of joint and driver on the poses of two bodies, with their derivatives.

Planar and spatial mechanisms share one set of formulas: a planar body is a spatial one of which only the twist
components (vx, vy, ωz) exist. Rows work in any dtype, so that a complex step through them is exact to rounding.
Joints of one kind are evaluated together, as arrays over the joints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..common.turns import next_to
from .model import Array, Function

Numbers = NDArray[Any]  # real, or complex in a complex step
Indices = NDArray[np.int64]
Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of all bodies, in the order of the model, the frame included.

    A planar body's angle is a continuous real. `contact` is the polar angle of each cam contact; `turn` is the last
    known turn of each spatial R, C and H joint, to which the measured one is kept nearest.
    """

    origin: Numbers  # n x 3
    rotation: Numbers  # n x 3 x 3
    angle: Numbers  # n, planar
    contact: Numbers
    turn: Numbers
    planar: bool

    def moved(self, twist: Array, contact: Array) -> Poses:
        """Return the poses after each body has moved by its twist (n x 6: v of the origin, ω in global axes)."""
        angle = self.angle + twist[:, 5]
        rotation = turned(angle) if self.planar else _orthonormal(exponential(twist[:, 3:]) @ self.rotation)
        return replace(
            self, origin=self.origin + twist[:, :3], rotation=rotation, angle=angle, contact=self.contact + contact
        )

    def tangent(self, twist: Numbers, contact: Numbers) -> Poses:
        """Return the poses displaced to first order only, for complex steps."""
        rotation = self.rotation + cross(twist[:, None, 3:], self.rotation.swapaxes(1, 2)).swapaxes(1, 2)
        return replace(
            self,
            origin=self.origin + twist[:, :3],
            rotation=rotation,
            angle=self.angle + twist[:, 5],
            contact=self.contact + contact,
        )


def cross(x: Numbers, y: Numbers) -> Numbers:
    """Return x × y along the last axis; for a few joints NumPy's own takes several times as long."""
    a, b, c = x[..., 0], x[..., 1], x[..., 2]
    p, q, r = y[..., 0], y[..., 1], y[..., 2]
    first = b * r - c * q
    found = np.empty((3, *np.shape(first)), first.dtype)
    found[0], found[1], found[2] = first, c * p - a * r, a * q - b * p
    return np.moveaxis(found, 0, -1) if found.ndim > 2 else found.T


def turned(angle: Array) -> Array:
    """Return the rotations (n x 3 x 3) about z by n angles."""
    rotation = np.zeros((len(angle), 3, 3))
    rotation[:, 0, 0] = rotation[:, 1, 1] = np.cos(angle)
    rotation[:, 1, 0] = np.sin(angle)
    rotation[:, 0, 1] = -rotation[:, 1, 0]
    rotation[:, 2, 2] = 1.0
    return rotation


def exponential(vector: Array) -> Array:
    """Return the rotations (n x 3 x 3) by n rotation vectors (Rodrigues)."""
    size = np.linalg.norm(vector, axis=1)[:, None, None]
    skew = -cross(vector[:, None, :], np.eye(3)[None])
    first = np.sinc(size / np.pi)
    second = 0.5 * np.sinc(size / (2 * np.pi)) ** 2
    return np.asarray(np.eye(3) + first * skew + second * (skew @ skew))


def _orthonormal(rotation: Array) -> Array:
    """Return nearly orthonormal matrices with their rounding errors removed (one step of the polar iteration)."""
    return np.asarray(0.5 * rotation @ (3 * np.eye(3) - rotation.swapaxes(1, 2) @ rotation))


def nearest_turn(angle: Numbers) -> Numbers:
    """Return angles less their nearest multiples of 2 π."""
    return np.asarray(angle + (next_to(angle.real, 0.0) - angle.real))


class JointTerm(NamedTuple):
    """One row of every joint of a batch: values (m), and derivatives by the twists (m x 6) and the contact (m)."""

    value: Numbers
    first: Numbers
    second: Numbers
    third: Numbers | None = None
    contact: Numbers | None = None


@dataclass(frozen=True, eq=False)
class JointBatch:
    """All joints (or drivers) of one kind. Vectors are m x 3, in the axes of their bodies (see model.Joint)."""

    kind: str
    names: tuple[str, ...]
    start: int  # the first row
    first: Indices
    second: Indices
    third: Indices
    memory: Indices  # of a contact or a turn
    a: Array
    b: Array
    axis_a: Array
    axis_b: Array
    normal_a: Array
    normal_b: Array
    number: Array  # ratio, radius or pitch
    offset: Array
    profiles: tuple[Function, ...]

    def repeated(self, k: int, n: int) -> JointBatch:
        """Return a batch of n times the joint k, each with a memory of its own."""
        values: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        values = {name: x[[k] * n] if isinstance(x, np.ndarray) else x for name, x in values.items()}
        values.update(memory=np.arange(n), names=(self.names[k],) * n, profiles=self.profiles[k : k + 1] * n)
        return JointBatch(**values)


def _dot(x: Numbers, y: Numbers) -> Numbers:
    return np.asarray(np.einsum("mi,mi->m", x, y))


def _carried(rotation: Numbers, local: Numbers) -> Numbers:
    return np.asarray(np.einsum("mij,mj->mi", rotation, local))


class BodyPair:
    """The bodies of a batch at given poses, and the rows that joints are made of."""

    def __init__(self, batch: JointBatch, poses: Poses) -> None:
        self.batch, self.poses = batch, poses
        self.R1, self.R2 = poses.rotation[batch.first], poses.rotation[batch.second]
        self.ra, self.rb = _carried(self.R1, batch.a), _carried(self.R2, batch.b)
        self.d = poses.origin[batch.second] + self.rb - poses.origin[batch.first] - self.ra
        self.axis, self.normal = _carried(self.R1, batch.axis_a), _carried(self.R1, batch.normal_a)
        self.binormal = cross(self.axis, self.normal)
        self.axis_b, self.normal_b = _carried(self.R2, batch.axis_b), _carried(self.R2, batch.normal_b)

    def coincide(self, n: int) -> list[JointTerm]:
        """Rows d_k = 0: the points a and b are common in the first n coordinates."""
        return [self._towards(self.d[:, k], np.broadcast_to(np.eye(3)[k], self.d.shape)) for k in range(n)]

    def distance(self) -> JointTerm:
        """|d|, the distance of the points a and b."""
        length = np.sqrt(_dot(self.d, self.d))
        return self._towards(length, self.d / np.where(length == 0, 1.0, length)[:, None])

    def _towards(self, value: Numbers, e: Numbers) -> JointTerm:
        return JointTerm(value, np.hstack([-e, cross(e, self.ra)]), np.hstack([e, cross(self.rb, e)]))

    def along(self, w: Numbers) -> JointTerm:
        """w·d with w carried by the first body."""
        first, second = np.hstack([-w, cross(w, self.d + self.ra)]), np.hstack([w, cross(self.rb, w)])
        return JointTerm(_dot(w, self.d), first, second)

    def product(self, x: Numbers, y: Numbers) -> JointTerm:
        """x·y with x carried by the first body, y by the second."""
        couple = np.hstack([np.zeros_like(x), cross(x, y)])
        return JointTerm(_dot(x, y), couple, -couple)

    def aligned(self) -> list[JointTerm]:
        """Two rows: the axis of the second body is perpendicular to two normals of the first body's axis."""
        return [self.product(self.normal, self.axis_b), self.product(self.binormal, self.axis_b)]

    def on_line(self) -> list[JointTerm]:
        """Two rows: b lies on the line through a."""
        return [self.along(self.normal), self.along(self.binormal)]

    def turn(self) -> JointTerm:
        """The spatial angle from normal_a to normal_b about the axis, nearest to the remembered one."""
        return self.angle_from(self.normal, self.binormal, self.normal_b, self.poses.turn[self.batch.memory].real)

    def angle_from(self, normal: Numbers, binormal: Numbers, other: Numbers, near: Numbers) -> JointTerm:
        """The angle of a vector of the second body, from a normal of the first to its binormal, nearest to another."""
        c, s = self.product(normal, other), self.product(binormal, other)
        square = c.value**2 + s.value**2
        angle = next_to(np.arctan2(s.value.real, c.value.real), near)
        if np.iscomplexobj(c.value):
            angle = angle + 1j * (c.value.real * s.value.imag - s.value.real * c.value.imag) / square.real
        first = (c.value[:, None] * s.first - s.value[:, None] * c.first) / square[:, None]
        return JointTerm(angle, first, -first)

    def angle(self) -> JointTerm:
        """The planar turn of the second body relative to the first."""
        angle = self.poses.angle
        spin = np.tile(np.append(np.zeros(5), 1.0), (len(self.d), 1))
        return JointTerm(angle[self.batch.second] - angle[self.batch.first], -spin, spin)


# ---- the kinds ----------------------------------------------------------------------------------------------------
def _prismatic_planar(p: BodyPair) -> list[JointTerm]:
    angle = p.angle()
    return [p.along(p.normal), angle._replace(value=nearest_turn(angle.value - p.batch.offset))]


def _gear(p: BodyPair) -> list[JointTerm]:
    batch, angle, spin = p.batch, p.poses.angle, p.angle().second
    ratio, carrier = batch.number, angle[batch.third]
    value = angle[batch.second] - carrier - ratio * (angle[batch.first] - carrier) - batch.offset
    return [JointTerm(value, -ratio[:, None] * spin, spin, (ratio - 1)[:, None] * spin)]


def _rack(p: BodyPair) -> list[JointTerm]:
    angle, w, r = p.angle(), p.axis_b, p.batch.number
    first = np.hstack([w, cross(p.ra, w)]) + r[:, None] * angle.second
    second = np.hstack([-w, cross(w, p.rb - p.d)]) - r[:, None] * angle.second
    return [JointTerm(-_dot(w, p.d) - r * angle.value - p.batch.offset, first, second)]


class Outline:
    """Of the cams of a batch at the contacts u: place, tangent T = d(place)/du and dT/du, in global axes."""

    def __init__(self, p: BodyPair) -> None:
        u = p.poses.contact[p.batch.memory]
        known, profiles = np.empty((len(u), 4)), p.batch.profiles
        for profile in dict.fromkeys(profiles):  # one may stand for many places, which it takes at once
            mine = np.array([g is profile for g in profiles])
            known[mine] = profile(u.real[mine]).T
        radius = known[:, :3] + 1j * u.imag[:, None] * known[:, 1:] if np.iscomplexobj(u) else known[:, :3]
        r, r1, r2 = radius.T[:, :, None]
        e = _carried(p.R1, np.stack([np.cos(u), np.sin(u), np.zeros_like(u)], axis=1))
        f = cross(Z, e)
        self.place, self.tangent, self.second = r * e, r1 * e + r * f, (r2 - r) * e + 2 * r1 * f


def _cam_round(p: BodyPair) -> list[JointTerm]:
    o, roller = Outline(p), p.batch.number[:, None]
    length = np.sqrt(_dot(o.tangent, o.tangent))[:, None]
    t = o.tangent / length
    g = o.place - roller * cross(Z, t)
    slope = o.tangent - roller * cross(Z, o.second - t * _dot(t, o.second)[:, None]) / length
    p.ra, p.d = p.ra + g, p.d - g
    return [term._replace(contact=-slope[:, k]) for k, term in enumerate(p.coincide(2))]


def _cam_flat(p: BodyPair) -> list[JointTerm]:
    o, w = Outline(p), cross(Z, p.axis_b)
    gap, ra = o.place - p.d, p.ra + o.place
    first, second = np.hstack([w, cross(ra, w)]), np.hstack([-w, cross(w, gap + p.rb)])
    touch = JointTerm(_dot(w, gap), first, second, contact=_dot(w, o.tangent))
    return [touch, p.product(o.tangent, w)._replace(contact=_dot(w, o.second))]


def _screw(p: BodyPair) -> list[JointTerm]:
    slide, turn, pitch = p.along(p.axis), p.turn(), p.batch.number
    rows = (x - pitch.reshape(pitch.shape + (1,) * (x.ndim - 1)) * y for x, y in zip(slide[:3], turn[:3], strict=True))
    return [*p.on_line(), *p.aligned(), JointTerm(*rows)]


def wheel_turn(p: BodyPair) -> JointTerm:
    """The turn of the first wheel of a gear in space on the carrier, nearest to the remembered one."""
    batch, R3 = p.batch, p.poses.rotation[p.batch.third]
    normal, across = _carried(R3, batch.a), _carried(R3, cross(batch.axis_a, batch.a))
    return p.angle_from(normal, across, p.normal, p.poses.turn[batch.memory].real)


def _bevel(p: BodyPair) -> list[JointTerm]:
    """The second wheel's turn less the ratio times the first's, nearest to zero: whole turns are those of the first."""
    batch, R3, ratio = p.batch, p.poses.rotation[p.batch.third], p.batch.number[:, None]
    one = wheel_turn(p)
    normal, across = _carried(R3, batch.a), _carried(R3, cross(batch.axis_b, batch.a))
    two = p.angle_from(normal, across, p.normal_b, (batch.number * one.value).real)
    value = two.value - batch.number * one.value
    return [JointTerm(value, -ratio * one.second, two.second, two.first - ratio * one.first)]


def _cylinder(p: BodyPair) -> list[JointTerm]:
    """(ρ² - r²) / 2r, ρ the distance from the axis: its derivatives are those of ρ where it is zero."""
    radius, along = p.batch.number, p.along(p.axis)
    across = p.d - along.value[:, None] * p.axis
    e = across / radius[:, None]
    value = (_dot(across, across) - radius**2) / (2 * radius)
    return [JointTerm(value, np.hstack([-e, cross(e, p.d + p.ra)]), np.hstack([e, cross(p.rb, e)]))]


def _spin(p: BodyPair) -> list[JointTerm]:
    row = np.hstack([np.zeros_like(p.axis_b), p.axis_b])
    return [JointTerm(0 * row[:, 0], np.zeros_like(row), row)]


# rows of each kind, and for each row whether it is a length (l) or an angle or a cosine (a)
Rows = Callable[[BodyPair], list[JointTerm]]
PLANAR: dict[str, tuple[Rows, str]] = {
    "R": (lambda p: p.coincide(2), "ll"),
    "P": (_prismatic_planar, "la"),
    "slot": (lambda p: [p.along(p.normal)], "l"),
    "gear": (_gear, "a"),
    "rack": (_rack, "l"),
    "cam": (_cam_round, "ll"),
    "cam-flat": (_cam_flat, "ll"),
    "driver angle": (lambda p: [p.angle()], "a"),
    "driver turn": (lambda p: [p.angle()], "a"),
    "driver displacement": (lambda p: [p.along(p.axis)], "l"),
    "driver distance": (lambda p: [p.distance()], "l"),
    "driver coordinate": (lambda p: [p.along(p.axis)], "l"),
}
SPATIAL: dict[str, tuple[Rows, str]] = {
    "R": (lambda p: [*p.coincide(3), *p.aligned()], "lllaa"),
    "P": (lambda p: [*p.on_line(), *p.aligned(), p.product(p.binormal, p.normal_b)], "llaaa"),
    "S": (lambda p: p.coincide(3), "lll"),
    "C": (lambda p: [*p.on_line(), *p.aligned()], "llaa"),
    "U": (lambda p: [*p.coincide(3), p.product(p.axis, p.axis_b)], "llla"),
    "H": (_screw, "llaal"),
    "planar": (lambda p: [p.along(p.axis), *p.aligned()], "laa"),
    "on-plane": (lambda p: [p.along(p.axis)], "l"),
    "on-cylinder": (_cylinder, "l"),
    "gear": (_bevel, "a"),
    "spin": (_spin, "a"),
    "driver angle": (lambda p: [p.turn()], "a"),
    "driver screw": (lambda p: [p.turn()], "a"),  # of an H: whole turns count
    "driver displacement": (lambda p: [p.along(p.axis)], "l"),
    "driver distance": (lambda p: [p.distance()], "l"),
    "driver coordinate": (lambda p: [p.along(p.axis)], "l"),
}
WHOLE_TURNS_ARE_ALIKE = ("driver angle", "driver turn")
