"""The table [joints] -> joints with every point, axis and angle in the axes of the bodies that carry them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import geometry
from .bodies import check_name
from .file_values import Source, Where
from .functions import excerpt
from .gear_axes import wheels
from .geometry import GeometryError
from .model import FRAME, Array, Follower, Friction, Joint
from .numbers import arithmetic
from .numbers.nominal import nominal
from .rigid import Assembly, Declared

# kind -> (spaces, fields that it needs, fields that it may have)
KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "R": (("planar", "spatial"), ("at",), ("friction",)),  # and `axis` in space
    "P": (("planar", "spatial"), ("at", "axis"), ("through", "friction")),
    "slot": (("planar",), ("at", "axis"), ("through",)),
    "gear": (("planar", "spatial"), (), ("ratio", "radii", "internal", "carrier")),  # and `axes` in space
    "rack": (("planar",), ("radius", "axis"), ()),
    "cam": (("planar",), ("centre", "follower"), ("profile", "table")),
    "S": (("spatial",), ("at",), ()),
    "C": (("spatial",), ("at", "axis"), ("through",)),
    "U": (("spatial",), ("at", "axes"), ()),
    "H": (("spatial",), ("at", "axis", "pitch"), ()),
    "planar": (("spatial",), ("at", "normal"), ()),
    "on-plane": (("spatial",), ("at", "normal"), ("through",)),
    "on-cylinder": (("spatial",), ("at", "axis", "through"), ("radius",)),
    "weld": (("planar", "spatial"), (), ()),
}
_PERPENDICULAR = 0.01  # cosine of the angle between the axes of a U joint: what rounded coordinates leave


def declare(source: Source, bodies: Iterable[str]) -> list[Declared]:
    """Return all joints with kinds, bodies and keys checked, in the order of the file."""
    known = set(bodies)
    space = "planar" if source.dimension == 2 else "spatial"
    found = []
    for name, value in source.table(("joints",), source.data.get("joints", {})).items():
        where: Where = ("joints", name)
        check_name(source, where, name)
        table = source.table(where, value)
        if "type" not in table:
            source.fail(where, f"lacks 'type' - one of {', '.join(_kinds(space))}")
        kind = table["type"]
        if not isinstance(kind, str) or kind not in KINDS:
            source.unknown((*where, "type"), "joint type", kind, KINDS)
        spaces, needed, optional = KINDS[kind]
        if space not in spaces:
            source.fail(
                (*where, "type"),
                f"a joint '{kind}' belongs to a {spaces[0]} mechanism; here there are {', '.join(_kinds(space))}",
            )
        if kind == "R" and space == "spatial":
            needed = ("at", "axis")
        if kind == "gear" and space == "spatial":
            optional = (*optional, "axes")
        _fields(source, where, kind, table, needed, optional)
        if "bodies" not in table:
            source.fail(where, 'lacks \'bodies\' - write bodies = ["first", "second"]')
        first, second = source.names((*where, "bodies"), table["bodies"], 2)
        for body in (first, second):
            if body not in known:
                source.unknown((*where, "bodies"), "body", body, known)
        if first == second:
            source.fail((*where, "bodies"), f"names '{first}' twice - a joint ties two bodies")
        at = source.string((*where, "at"), table["at"]) if "at" in needed else None
        found.append(Declared(name, kind, first, second, at, table))
    return found


def _kinds(space: str) -> list[str]:
    return [kind for kind, (spaces, _, _) in KINDS.items() if space in spaces]


def _fields(
    source: Source, where: Where, kind: str, table: Mapping[str, Any], needed: Iterable[str], optional: Iterable[str]
) -> None:
    allowed = ("type", "bodies", *needed, *optional)
    everywhere = {field for _, a, b in KINDS.values() for field in (*a, *b)}
    for key in table:
        if key not in allowed and key in everywhere:
            meant = ", ".join(allowed[2:]) or "none besides type and bodies"
            space = "planar" if source.dimension == 2 else "spatial"
            source.fail(
                (*where, key), f"has no meaning for a joint '{kind}' of a {space} mechanism; its fields: {meant}"
            )
    source.keys(where, table, allowed, needed)


class JointBuilder:
    """Builds joints one by one from their declarations."""

    def __init__(self, source: Source, assembly: Assembly, joints: list[Declared]) -> None:
        self.source = source
        self.assembly = assembly
        self.by_body: dict[str, list[Declared]] = {}
        for joint in joints:
            for body in (joint.first, joint.second):
                self.by_body.setdefault(assembly.home[body], []).append(joint)
        self.zero = np.zeros(source.dimension)
        self.zero.setflags(write=False)

    def build(self, joint: Declared) -> Joint:
        """Return the joint with all that it holds in the axes of its rigid bodies."""
        assembly, where = self.assembly, ("joints", joint.name)
        first, second = assembly.of(joint.first), assembly.of(joint.second)
        if first is second:
            self.source.fail(where, f"'{joint.first}' and '{joint.second}' are welded into one body - remove the joint")
        data: dict[str, Any] = dict.fromkeys(("a", "b", "axis_a", "axis_b", "normal_a", "normal_b"), self.zero)
        match joint.kind:
            case "R" | "S" | "U":
                data["a"] = self.point(joint, joint.first, "at")
                data["b"] = self.point(joint, joint.second, "at")
            case "P" | "slot" | "C" | "H" | "planar" | "on-plane" | "on-cylinder":
                data["b"] = self.point(joint, joint.second, "at")
                if "through" in joint.table:
                    data["a"] = self.point(joint, joint.first, "through")
                else:
                    data["a"] = first.pose.inside(second.pose.outside(data["b"]))
            case "gear":
                data.update(self.gear(joint))
            case "rack":
                data["a"] = self.pinion_centre(joint)
                data["radius"] = self.source.number((*where, "radius"), joint.table["radius"])
                if data["radius"] == 0:
                    self.source.fail((*where, "radius"), "is 0; a pinion has a radius (negative: the other side)")
            case "cam":
                data.update(self.cam(joint))
        if joint.kind != "gear":
            data.update(self.axes(joint))
        if joint.kind == "on-cylinder":
            data["radius"] = self.cylinder(
                joint, data["a"], data["axis_a"], first.pose.inside(second.pose.outside(data["b"]))
            )
        if joint.kind == "H":
            data["pitch"] = self.source.number((*where, "pitch"), joint.table["pitch"])
        if "friction" in joint.table:
            data["friction"] = self.friction(joint)
        if self.source.dimension == 2:
            turned = geometry.turn(second.pose.rotation) - geometry.turn(first.pose.rotation)
            data["angle"] = geometry.wrap(turned)
            data["offset"] = self.assembly.turn(joint.second) - self.assembly.turn(joint.first)
        return Joint(joint.name, joint.kind, first.name, second.name, joint.at, **data)

    def point(self, joint: Declared, body: str, key: str) -> Array:
        """Return the point that a field of the joint names, which must be one of the body."""
        where = ("joints", joint.name, key)
        name = self.source.string(where, joint.table[key])
        found = self.assembly.point(body, name)
        if found is None:
            points = self.assembly.parts[body].points
            if any(name in part.points for part in self.assembly.parts.values()):
                self.source.fail(where, f"'{name}' is not a point of body '{body}' - add it to [bodies.{body}] points")
            self.source.unknown(where, f"point of body '{body}' named", name, points)
        return found

    def direction(self, where: Where, value: object) -> Array:
        vector = self.source.vector(where, value)
        try:
            return geometry.unit(vector)
        except GeometryError:
            self.source.fail(where, "is zero and has no direction - give a vector of any length but zero")

    def axes(self, joint: Declared) -> dict[str, Array]:
        first, second = self.assembly.of(joint.first).pose, self.assembly.of(joint.second).pose
        where, table = ("joints", joint.name), joint.table
        inside_a, inside_b = first.rotation.T, second.rotation.T
        key = "normal" if joint.kind in ("planar", "on-plane") else "axes" if joint.kind == "U" else "axis"
        if key not in table:
            return {}
        if joint.kind == "U":
            pair = table["axes"]
            if not isinstance(pair, list) or len(pair) != 2:
                self.source.fail((*where, "axes"), "are two vectors, the first of the first body: [[..], [..]]")
            one, two = (self.direction((*where, "axes"), v) for v in pair)
            if abs(arithmetic.scalar(one @ two)) > _PERPENDICULAR:
                angle = math.degrees(math.acos(max(-1.0, min(1.0, float(one @ two)))))
                self.source.fail((*where, "axes"), f"stand at {angle:.4g} degrees; those of a universal joint at 90")
            normal = geometry.unit(np.cross(one, two))
            axis_a, axis_b = one, two
        else:
            axis_a = axis_b = self.direction((*where, key), table[key])
            normal = geometry.perpendicular(axis_a) if len(axis_a) == 3 else self.zero
        found = {"axis_a": inside_a @ axis_a, "axis_b": inside_b @ axis_b}
        if joint.kind in ("slot", "on-plane", "on-cylinder"):
            del found["axis_b"]
        if joint.kind == "rack":
            del found["axis_a"]
        if len(axis_a) == 3:
            found["normal_a"] = inside_a @ normal
            if joint.kind not in ("on-plane", "on-cylinder"):
                found["normal_b"] = inside_b @ normal
        return found

    def gear(self, joint: Declared) -> dict[str, Any]:
        """Return ratio and carrier: radii r1, r2 mean -r1/r2 outside, r1/r2 inside."""
        source, table, where = self.source, joint.table, ("joints", joint.name)
        if ("ratio" in table) == ("radii" in table):
            source.fail(where, "a gear has either 'ratio' (turn of the second over the first) or 'radii' - give one")
        if "ratio" in table:
            if "internal" in table:
                source.fail((*where, "internal"), "belongs to 'radii'; a ratio carries its sign itself - remove it")
            ratio = source.number((*where, "ratio"), table["ratio"])
            if ratio == 0:
                source.fail((*where, "ratio"), "is 0; the second body would not turn at all - weld it, or give a ratio")
        else:
            radii = source.vector((*where, "radii"), table["radii"], 2)
            if np.any(radii <= 0):
                source.fail((*where, "radii"), "must be greater than 0; for an inside mesh write internal = true")
            internal = table.get("internal", False)
            if not isinstance(internal, bool):
                source.fail((*where, "internal"), "is true or false")
            with np.errstate(over="ignore", under="ignore"):
                ratio = arithmetic.scalar(radii[0] / radii[1]) * (1.0 if internal else -1.0)
            if not arithmetic.finite(ratio) or ratio == 0:
                source.fail((*where, "radii"), "their ratio is beyond the range of numbers")
        carrier = source.string((*where, "carrier"), table.get("carrier", FRAME))
        if carrier not in self.assembly.home:
            source.unknown((*where, "carrier"), "body", carrier, self.assembly.home)
        rigid = self.assembly.home[carrier]
        if rigid in (self.assembly.home[joint.first], self.assembly.home[joint.second]):
            source.fail(
                (*where, "carrier"),
                f"'{carrier}' is one of the two wheels - name the third body that carries their axles",
            )
        found = {"ratio": ratio, "carrier": rigid}
        return found if source.dimension == 2 else found | wheels(self, joint, carrier)

    def friction(self, joint: Declared) -> Friction:
        """Return the law of friction of a hinge (with the radius of its pin) or of a slide."""
        source, where = self.source, ("joints", joint.name, "friction")
        table = source.table(where, joint.table["friction"])
        hinge = joint.kind == "R"
        known = ("coefficient", "radius", "speed") if hinge else ("coefficient", "speed")
        source.keys(where, table, known, known)
        coefficient = source.number((*where, "coefficient"), table["coefficient"])
        if coefficient < 0:
            source.fail((*where, "coefficient"), f"is {coefficient:.12g} and must not be negative")
        radius = source.positive((*where, "radius"), table["radius"]) if hinge else 1.0
        return Friction(coefficient, radius, source.positive((*where, "speed"), table["speed"]))

    def cylinder(self, joint: Declared, a: Array, axis: Array, place: Array) -> float:
        """Return the radius of a cylinder: that of the file, or how far the point lies from the axis in the sketch."""
        where = ("joints", joint.name)
        if "radius" in joint.table:
            return self.source.positive((*where, "radius"), joint.table["radius"])
        way = place - a
        radius: float = arithmetic.norm(way - arithmetic.scalar(way @ axis) * axis)
        if not radius > 0:
            self.source.fail(where, f"'{joint.at}' lies on the axis in the sketch - give 'radius', or move the point")
        return radius

    def pinion_centre(self, joint: Declared) -> Array:
        """Return where the pinion turns: on a body that guides the rack, too; else its only R joint or first point."""
        home = self.assembly.home
        pinion, rack = home[joint.first], home[joint.second]

        def other(item: Declared, body: str) -> str:
            return home[item.second] if home[item.first] == body else home[item.first]

        guides = {other(j, rack) for j in self.by_body[rack] if j.kind in ("P", "slot")}
        pivots = sorted((j for j in self.by_body[pinion] if j.kind == "R"), key=lambda j: j.name)
        chosen = [j for j in pivots if other(j, pinion) in guides] or (pivots if len(pivots) == 1 else [])
        if chosen:
            pivot = chosen[0]
            return self.point(pivot, pivot.first if home[pivot.first] == pinion else pivot.second, "at")
        points = self.assembly.parts[joint.first].points
        if not points:
            self.source.fail(("joints", joint.name), f"'{joint.first}' has no point to turn about - give it one")
        return self.assembly.local(joint.first, next(iter(points.values())))

    def cam(self, joint: Declared) -> dict[str, Any]:
        source, table, where = self.source, joint.table, ("joints", joint.name)
        if ("profile" in table) == ("table" in table):
            source.fail(where, "a cam has a 'profile' (radius as a formula in u) or a 'table' - give one of them")
        if "profile" in table:
            profile = source.function((*where, "profile"), table["profile"], "u")
        else:
            profile = source.spline((*where, "table"), table["table"], "u")
        around = np.linspace(0, 2 * math.pi, 73)
        radius, slope, *_ = values = nominal(profile)(around)[:3]  # a run looks at the profile of its own design
        if np.isfinite(values).all() and not np.hypot(radius, slope).all():
            source.fail((*where, "profile"), f'"{excerpt(profile.text)}" is 0 - the radius of a cam is greater than 0')
        if not np.isfinite(values).all():
            source.fail(
                (*where, "profile"),
                f'"{profile.text}" is not finite and smooth for all u from 0 to 2 pi - correct the formula',
            )
        follower = source.table((*where, "follower"), table["follower"])
        source.keys((*where, "follower"), follower, ("point", "radius", "direction"), ("point",))
        if "radius" in follower and "direction" in follower:
            source.fail((*where, "follower"), "is a roller ('radius') or a flat face ('direction') - keep one of them")
        name = source.string((*where, "follower", "point"), follower["point"])
        b = self.assembly.point(joint.second, name)
        if b is None:
            points = self.assembly.parts[joint.second].points
            source.unknown((*where, "follower", "point"), f"point of body '{joint.second}' named", name, points)
        kind = Follower()
        if "radius" in follower:
            kind = Follower(radius=source.positive((*where, "follower", "radius"), follower["radius"]))
        elif "direction" in follower:
            face = self.direction((*where, "follower", "direction"), follower["direction"])
            kind = Follower(direction=self.assembly.of(joint.second).pose.rotation.T @ face)
        profile = profile.turned(self.assembly.turn(joint.first))  # u counts from the x axis of the cam itself
        return {"a": self.point(joint, joint.first, "centre"), "b": b, "profile": profile, "follower": kind}
