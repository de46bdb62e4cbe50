"""What the names of a type are in a mechanism: `where` of [groups], each entry looked up by the kind of its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ...common.errors import InputError, nearest
from ...common.expressions import FormulaError
from ..arguments import shown
from ..functions import evaluate
from ..model import FRAME, Array, Body, Driver, Joint, Model
from ..numbers import arithmetic
from ..structure import Group
from .plan import AngleOf, PointOf, Source, SumOf, ValueOf, VectorOf

SHARED_AXIS = ("R", "P", "C", "H", "planar")  # joints whose two bodies have the axis in common
WITH_SIDES = ("angle", "turn", "displacement")  # drivers whose sign is a matter of the order of two bodies
_AXIS = re.compile(r"(.+)\.([xyz])")


@dataclass(frozen=True, eq=False)
class Carried:
    """A point or direction of the mechanism: in the axes of every body that has it."""

    text: str
    point: bool
    local: Mapping[str, Array]

    def at(self, body: Body) -> Array:
        """Return its place (or itself, a direction) where the first configuration has the body."""
        local = self.local[body.name]
        return body.outside(local) if self.point else np.asarray(body.rotation @ local)


@dataclass(frozen=True, eq=False)
class Measured:
    """A number of the mechanism: angle of a body, coordinate of a joint, value of a driver, or a constant."""

    text: str
    body: tuple[str, float] | None = None  # rigid body, and what to add for the part of it that was named
    joint: Joint | None = None
    driver: Driver | None = None
    constant: float = 0.0

    @property
    def has_sides(self) -> bool:
        """Whether it is the negative where two bodies are given in the other order."""
        return self.joint is not None or (self.driver is not None and self.driver.kind in WITH_SIDES)

    def at(self, model: Model, kind: str, values: Mapping[str, float]) -> float:
        """Return its value where the first configuration of a model has the bodies; `values` are those of drivers."""
        if self.driver is not None:
            return values[self.driver.name]
        if self.body is not None:
            return model.bodies[self.body[0]].angle + self.body[1]
        if self.joint is not None:
            return _angle(model, self.joint) if kind == "angle" else _displacement(model, self.joint)
        return self.constant


Thing = Carried | Measured


def _angle(model: Model, joint: Joint) -> float:
    one, two = model.bodies[joint.first], model.bodies[joint.second]
    if model.dimension == 2:
        found: float = two.angle - one.angle + joint.offset
        return found
    axis, start, end = one.rotation @ joint.axis_a, one.rotation @ joint.normal_a, two.rotation @ joint.normal_b
    cosine, sine = arithmetic.scalar(start @ end), arithmetic.scalar(axis @ cross(start, end))
    turned: float = arithmetic.atan2(sine, cosine)
    return turned


def _displacement(model: Model, joint: Joint) -> float:
    one, two = model.bodies[joint.first], model.bodies[joint.second]
    found: float = arithmetic.scalar((one.rotation @ joint.axis_a) @ (two.outside(joint.b) - one.outside(joint.a)))
    return found


def cross(x: Array, y: Array) -> Array:
    """Return x × y; entries may be traced."""
    return np.array([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]])


def held_rotation(joint: Joint, body: str) -> Array:
    """Return the rotation from the axes of a body to those of the other one, which a P joint holds."""
    if len(joint.a) == 2:
        unit = arithmetic.turned(joint.angle if body == joint.second else -joint.angle)
        return np.array([[unit.real, -unit.imag], [unit.imag, unit.real]])
    own, other = [
        np.array([axis, normal, cross(axis, normal)]).T
        for axis, normal in ((joint.axis_a, joint.normal_a), (joint.axis_b, joint.normal_b))
    ]
    if body == joint.second:
        own, other = other, own
    return np.asarray(other @ own.T)


class Where:
    """One entry of [groups] read against the mechanism; every method leaves by `fail` when something is wrong."""

    def __init__(self, model: Model, group: Group, solved: frozenset[str]) -> None:
        self.model, self.group, self.solved = model, group, solved
        self.entry = model.groups[group.name]
        self.members = {m.name: (body, m) for body in model.bodies.values() for m in body.parts}

    def fail(self, key: str, message: str) -> NoReturn:
        place = f"[groups.{self.group.name}]" + (f" where.{key}" if key else "")
        text = f"{self.model.origin or self.model.name}: {place}: {message}"
        raise InputError("".join(c if c.isprintable() else repr(c)[1:-1] for c in text))

    def unknown(self, key: str, what: str, name: object, known: Any) -> NoReturn:
        names = sorted(known)
        listed = f" - there are {', '.join(names[:12])}" if names else ""
        self.fail(key, f"there is no {what} {shown(name)}{nearest(name, names) or listed}")

    # ---- things by kind -------------------------------------------------------------------------------------------
    def thing(self, key: str, kind: str, dependent: bool) -> Thing | None:
        """Return what a coordinate of the type is here; None where nothing is said of it."""
        value = self.entry.where.get(key)
        if kind == "point":
            return self._point(key, value)
        if kind in ("vector", "unit vector"):
            found = self._direction(key, value, dependent)
            if found is None:
                return None
            return self._held(self._unit(key, found) if kind == "unit vector" else found)
        return self._number(key, kind, value)

    def _held(self, found: Carried) -> Carried:
        """Return a direction with all bodies that have it because P joints of the group hold their angles."""
        local, slides = dict(found.local), [j for j in self.group.pairs if j.kind == "P"]
        for _ in slides:
            for joint in slides:
                for one, other in ((joint.first, joint.second), (joint.second, joint.first)):
                    if one in local and other not in local:
                        local[other] = np.asarray(held_rotation(joint, one) @ local[one])
        return Carried(found.text, False, local)

    def _unit(self, key: str, found: Carried) -> Carried:
        lengths = {body: arithmetic.norm(local) for body, local in found.local.items()}
        if any(length == 0 for length in lengths.values()):
            self.fail(key, f"'{found.text}' has no direction - its two points are one")
        return Carried(found.text, False, {body: local / lengths[body] for body, local in found.local.items()})

    def _point(self, key: str, value: object) -> Carried | None:
        if isinstance(value, list):
            return Carried(str(value), True, {FRAME: self._list(key, value)})
        name = key if value is None else value
        if not isinstance(name, str):
            self.fail(key, f"is the name of a point, not {shown(value)}")
        found = {body.name: body.points[name] for body in self.model.bodies.values() if name in body.points}
        if not found and value is not None:
            self.unknown(key, "point", name, self.model.points)
        return Carried(name, True, found) if found else None

    def _direction(self, key: str, value: object, dependent: bool) -> Carried | None:
        if isinstance(value, list):
            return Carried(str(value), False, {FRAME: self._list(key, value)})
        name = key if value is None else value
        if not isinstance(name, str):
            self.fail(key, f'is a direction, such as "P -> Q", "body.x" or "joint J", not {shown(value)}')
        if name in self.model.vectors:
            vector = self.model.vectors[name]
            body, member = self.members[vector.body]
            return Carried(name, False, {body.name: np.asarray(member.rotation @ vector.local)})
        if value is None:
            return None
        ends = [part.strip() for part in name.split("->")]
        if len(ends) == 2:
            return self._arrow(key, name, ends[0], ends[1])
        if name.startswith("joint "):
            return self._axis(key, name, self._joint(key, name.removeprefix("joint ").strip()), dependent)
        axis = _AXIS.fullmatch(name)
        if axis is None or "xyz".index(axis[2]) >= self.model.dimension:
            self.fail(key, f'{shown(value)} is no direction - write "P -> Q", "body.x" or "joint J"')
        if axis[1] not in self.members:
            self.unknown(key, "body", axis[1], self.members)
        body, member = self.members[axis[1]]
        return Carried(name, False, {body.name: np.asarray(member.rotation[:, "xyz".index(axis[2])])})

    def _arrow(self, key: str, text: str, begin: str, end: str) -> Carried:
        for name in (begin, end):
            if name not in self.model.points and not any(name in b.points for b in self.model.bodies.values()):
                self.unknown(key, "point", name, self.model.points)
        bodies = [b for b in self.model.bodies.values() if begin in b.points and end in b.points]
        if not bodies:
            self.fail(key, f"'{text}': no body has both points")
        return Carried(text, False, {b.name: b.points[end] - b.points[begin] for b in bodies})

    def _axis(self, key: str, text: str, joint: Joint, dependent: bool) -> Carried:
        axes = {joint.first: joint.axis_a, joint.second: joint.axis_b}
        if joint.kind == "slot":
            axes = {joint.first: joint.axis_a}
        elif joint.kind == "rack":
            axes = {joint.second: joint.axis_b}
        elif joint.kind == "U":  # each body has its own
            inside = {b: a for b, a in axes.items() if (b in self.group.bodies) == dependent}
            if len(inside) != 1:
                self.fail(key, f"'{text}': a universal joint has two axes - name one by a body, such as \"body.x\"")
            axes = inside
        elif joint.kind not in SHARED_AXIS or (self.model.dimension == 2 and joint.kind == "R"):
            self.fail(key, f"'{text}': a joint of type {joint.kind} has no axis in the mechanism's space")
        return Carried(text, False, axes)

    def _number(self, key: str, kind: str, value: object) -> Measured | None:
        name = value if isinstance(value, str) else ""
        if value is None:
            if key in self.model.drivers:
                return Measured(key, driver=self.model.drivers[key])
            return Measured(key, constant=self.model.parameters[key]) if key in self.model.parameters else None
        if name.startswith("driver "):
            driver = name.removeprefix("driver ").strip()
            if driver not in self.model.drivers:
                self.unknown(key, "driver", driver, self.model.drivers)
            return Measured(name, driver=self.model.drivers[driver])
        if name.startswith("joint "):
            return self._coordinate(key, kind, name, self._joint(key, name.removeprefix("joint ").strip()))
        if name.startswith("body "):
            body = name.removeprefix("body ").strip()
            if kind != "angle" or self.model.dimension == 3:
                self.fail(key, f"'{name}' is the angle of a planar body; this is a {kind}")
            if body not in self.members:
                self.unknown(key, "body", body, self.members)
            rigid, member = self.members[body]
            extra = arithmetic.arctan2(member.rotation[1, 0], member.rotation[0, 0])
            return Measured(name, body=(rigid.name, extra))
        return Measured(str(value), constant=self.value(key, value))

    def _coordinate(self, key: str, kind: str, name: str, joint: Joint) -> Measured:
        wanted = "angle" if kind == "angle" else "displacement"
        if joint.kind not in (("R", "C", "H") if kind == "angle" else ("P", "C", "H", "slot")):
            self.fail(key, f"'{name}': a joint of type {joint.kind} has no {wanted}, which this {kind} is to be")
        driven = [d for d in self.model.drivers.values() if d.joint == joint.name and d.kind == wanted]
        return Measured(name, driver=driven[0]) if driven else Measured(name, joint=joint)

    def _joint(self, key: str, name: str) -> Joint:
        pairs = {j.name: j for j in self.group.pairs}
        joint = pairs.get(name) or self.model.joints.get(name)
        if joint is None:
            self.unknown(key, "joint", name, self.model.joints)
        return joint

    def _list(self, key: str, value: list[Any]) -> Array:
        if len(value) != self.model.dimension:
            self.fail(key, f"is a list of {self.model.dimension} numbers here, not {shown(value)}")
        return arithmetic.array([self.value(key, v) for v in value])

    def value(self, key: str, value: object) -> float:
        """Return a number, or the value of a formula in the parameters."""
        if isinstance(value, str):
            try:
                found: float = evaluate(value, self.model.parameters)
            except FormulaError as error:
                self.fail(key, f"{shown(value)}: {error}")
        elif isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(key, f"is a number or a formula in quotes, not {shown(value)}")
        else:
            found = float(value)
        if not arithmetic.finite(found):
            self.fail(key, f"{shown(value)} is not a finite number")
        return found

    # ---- what is known, and parameters ----------------------------------------------------------------------------
    def source(self, key: str, kind: str) -> tuple[Source, Thing]:
        """Return where an independent coordinate comes from."""
        thing = self.thing(key, kind, dependent=False)
        if thing is None:
            self.fail(key, f"is missing: the type '{self.entry.type}' must be told this {kind} ({_EXAMPLES[kind]})")
        if isinstance(thing, Carried):
            body = next((b for b in self.model.bodies if b in thing.local and b in self.solved), None)
            if body is None:
                owners = ", ".join(thing.local)
                self.fail(key, f"'{thing.text}' is of {owners}, which is not solved before the group: an independent "
                          "coordinate is of the frame or of a body of an earlier group")  # fmt: skip
            local = thing.local[body]
            return (PointOf(body, local) if thing.point else VectorOf(body, local)), thing
        if thing.driver is not None:
            return ValueOf(thing.driver.name), thing
        if thing.body is not None:
            self._before(key, thing.text, thing.body[0])
            body, extra = thing.body
            return (AngleOf(body) if arithmetic.is_zero(extra) else SumOf(extra, ((body, 1.0),))), thing
        if thing.joint is not None:
            for body in (thing.joint.first, thing.joint.second):
                self._before(key, thing.text, body)
            if kind != "angle" or self.model.dimension == 3:
                self.fail(key, f"'{thing.text}': this coordinate is known only where a driver prescribes it")
            return SumOf(thing.joint.offset, ((thing.joint.second, 1.0), (thing.joint.first, -1.0))), thing
        return SumOf(thing.constant), thing

    def _before(self, key: str, text: str, body: str) -> None:
        if body not in self.solved:
            self.fail(key, f"'{text}' is not known before the group: '{body}' is solved by it")

    def parameter(self, key: str, kind: str) -> tuple[list[float], Thing | None]:
        """Return the numbers of a parameter of the type, and what it is in the mechanism where it is a vector."""
        value = self.entry.where.get(key)
        if kind == "profile":
            self.fail(key, "is a function: a type with a profile cannot be named here")
        if kind in ("point", "vector", "unit vector"):
            thing = self.thing(key, kind, dependent=False)
            if not isinstance(thing, Carried) or FRAME not in thing.local:
                what = "is missing" if thing is None else f"'{thing.text}' moves"
                self.fail(key, f"{what}: a parameter is constant - give {self.model.dimension} numbers, or what the "
                          "frame has")  # fmt: skip
            return arithmetic.scalars(thing.local[FRAME]), thing
        if value is None and key not in self.model.parameters:
            self.fail(key, f"is missing: the type '{self.entry.type}' has this {kind} as a parameter - give a number "
                      "or a formula")  # fmt: skip
        return [self.model.parameters[key] if value is None else self.value(key, value)], None


_EXAMPLES = {
    "point": 'a point: "B"',
    "vector": '"P -> Q", "body.x" or "joint J"',
    "unit vector": '"P -> Q", "body.x" or "joint J"',
    "angle": '"body b", "joint J" or "driver d"',
    "length": '"driver d", "joint J" or a number',
    "number": '"driver d", "joint J" or a number',
}
