"""The tables [drivers], [initial] and [actuators]: which coordinates of joints move, start or are driven, and how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .bodies import check_name
from .file_values import Source, Where
from .functions import Expression
from .initial_bodies import read_body
from .model import Actuator, Array, Driver, Initial, InitialBody, Joint
from .rigid import Assembly, Declared
from .tables import Table

# the coordinates that a driver, an initial value or an effort may stand for
COORDINATES: dict[str, tuple[str, ...]] = {
    "R": ("angle",),
    "P": ("displacement",),
    "slot": ("displacement",),
    "C": ("angle", "displacement"),
    "H": ("angle",),
}
AXES = ("x", "y", "z")
Coordinate = tuple[object, ...]


def coordinate_key(joint: Joint, coordinate: str, planar: bool) -> Coordinate:
    """Return what identifies a coordinate: in the plane an angle is that of two bodies, whatever joint names it."""
    return ("turn", frozenset(joint.bodies)) if planar and coordinate == "angle" else (coordinate, joint.name)


class DriverReader:
    """Reads what refers to the coordinates of joints."""

    def __init__(
        self, source: Source, assembly: Assembly, declared: Mapping[str, Declared], joints: Mapping[str, Joint]
    ) -> None:
        self.source = source
        self.assembly = assembly
        self.declared = declared
        self.joints = joints
        self.owners = assembly.owners()
        self.planar = source.dimension == 2
        self.driven: dict[Coordinate, str] = {}

    def joint(self, where: Where, value: object, purpose: str) -> Joint:
        """Return a joint that has a coordinate."""
        name = self.source.string(where, value)
        if name in self.declared and name not in self.joints:
            self.source.fail(where, f"'{name}' is a weld, which has no coordinate - name another joint")
        if name not in self.joints:
            self.source.unknown(where, "joint", name, self.joints)
        joint = self.joints[name]
        if joint.kind not in COORDINATES:
            self.source.fail(
                where, f"'{name}' is a joint '{joint.kind}'; {purpose} needs one of {', '.join(COORDINATES)}"
            )
        return joint

    def offset(self, joint: Joint, coordinate: str) -> float:
        """Return the angle of the parts that a joint names less that of the rigid bodies they are welded into."""
        if not self.planar or coordinate != "angle":
            return 0.0
        declared = self.declared[joint.name]
        return self.assembly.turn(declared.second) - self.assembly.turn(declared.first)

    def coordinate(self, where: Where, table: Mapping[str, Any], joint: Joint) -> str:
        """Return which of `angle` and `displacement` a table gives; it must fit the joint."""
        given = [key for key in ("angle", "displacement") if key in table]
        allowed = COORDINATES[joint.kind]
        if len(given) != 1:
            found = "both 'angle' and 'displacement'" if given else "neither 'angle' nor 'displacement'"
            self.source.fail(where, f"has {found} - a joint '{joint.kind}' takes {' or '.join(allowed)}; give one")
        if given[0] not in allowed:
            self.source.fail(
                (*where, given[0]),
                f"does not fit: joint '{joint.name}' is of type '{joint.kind}' and has {' and '.join(allowed)}",
            )
        return given[0]

    # ---- drivers ----
    def drivers(self) -> dict[str, Driver]:
        found = {}
        for name, value in self.source.table(("drivers",), self.source.data.get("drivers", {})).items():
            where: Where = ("drivers", name)
            check_name(self.source, where, name)
            table = self.source.table(where, value)
            forms = [key for key in ("joint", "between", "bodies", "point") if key in table]
            if len(forms) != 1:
                self.source.keys(
                    where,
                    table,
                    ("joint", "between", "bodies", "point", "angle", "displacement", "distance", *AXES, "table"),
                )
                self.source.fail(
                    where,
                    "a driver has one of 'joint' (with angle or displacement), 'between' (two points, with distance), "
                    "'bodies' (with angle) and 'point' (with x, y or z)",
                )
            readers = {"joint": self.on_joint, "between": self.on_points, "bodies": self.on_bodies}
            read = readers.get(forms[0], self.on_point)
            driver, key = read(name, where, table)
            self.driven.setdefault(key, name)  # two drivers of one coordinate are for the structure to tell
            found[name] = driver
        return found

    def motion(self, where: Where, table: Mapping[str, Any], key: str) -> Expression | Table:
        """Return the motion from the key of its coordinate, or from a table instead of it."""
        if key in table and "table" in table:
            self.source.fail((*where, "table"), f"stands instead of '{key}' - keep one of them")
        if "table" in table:
            return self.source.spline((*where, "table"), table["table"])
        if key not in table:
            self.source.fail(where, f'lacks \'{key}\' - write {key} = "a formula in t", or table = "file.csv"')
        return self.source.function((*where, key), table[key])

    def on_joint(self, name: str, where: Where, table: Mapping[str, Any]) -> tuple[Driver, Coordinate]:
        self.source.keys(where, table, ("joint", "angle", "displacement", "table"))
        joint = self.joint((*where, "joint"), table["joint"], "a driver")
        if "table" in table and not {"angle", "displacement"} & set(table):
            kind = COORDINATES[joint.kind][0]
            if len(COORDINATES[joint.kind]) > 1:
                self.source.fail((*where, "table"), 'a joint C turns and slides - write angle = { table = ".." }')
        else:
            kind = self.coordinate(where, table, joint)
        offset = self.offset(joint, kind)
        motion = self.motion(where, table, kind).minus(offset)
        driver = Driver(name, kind, motion, joint.name, (joint.first, joint.second), offset=offset)
        return driver, coordinate_key(joint, kind, self.planar)

    def on_points(self, name: str, where: Where, table: Mapping[str, Any]) -> tuple[Driver, Coordinate]:
        self.source.keys(where, table, ("between", "distance", "table"))
        points, bodies, ends = self.between((*where, "between"), table["between"])
        motion = self.motion(where, table, "distance")
        return Driver(name, "distance", motion, None, bodies, points, ends), ("distance", frozenset(points))

    def on_bodies(self, name: str, where: Where, table: Mapping[str, Any]) -> tuple[Driver, Coordinate]:
        if not self.planar:
            self.source.fail(
                (*where, "bodies"), "the angle between two bodies is a driver of planar mechanisms only - drive a joint"
            )
        self.source.keys(where, table, ("bodies", "angle", "table"))
        first, second = self.source.names((*where, "bodies"), table["bodies"], 2)
        for body in (first, second):
            if body not in self.assembly.home:
                self.source.unknown((*where, "bodies"), "body", body, self.assembly.home)
        bodies = (self.assembly.home[first], self.assembly.home[second])
        if bodies[0] == bodies[1]:
            self.source.fail((*where, "bodies"), f"'{first}' and '{second}' are one body - name two")
        offset = self.assembly.turn(second) - self.assembly.turn(first)
        motion = self.motion(where, table, "angle").minus(offset)
        return Driver(name, "turn", motion, None, bodies, offset=offset), ("turn", frozenset(bodies))

    def on_point(self, name: str, where: Where, table: Mapping[str, Any]) -> tuple[Driver, Coordinate]:
        axes = AXES[: self.source.dimension]
        self.source.keys(where, table, ("point", *axes))
        given = [axis for axis in axes if axis in table]
        if len(given) != 1:
            self.source.fail(where, f"a driver of a point has one of {', '.join(axes)}; two of them are two drivers")
        point = self.source.string((*where, "point"), table["point"])
        if point not in self.owners:
            self.source.unknown((*where, "point"), "point", point, self.owners)
        if "frame" in self.owners[point]:
            self.source.fail((*where, "point"), f"'{point}' is a point of the frame, which never moves - name another")
        body = min(self.owners[point])
        motion = self.motion(where, table, given[0])
        axis = np.eye(self.source.dimension)[axes.index(given[0])]
        ends = (np.zeros(self.source.dimension), self.assembly.bodies[body].points[point])
        driver = Driver(name, "coordinate", motion, None, ("frame", body), ("", point), ends, axis=axis)
        return driver, ("coordinate", point, given[0])

    def between(self, where: Where, value: object) -> tuple[tuple[str, str], tuple[str, str], tuple[Array, Array]]:
        """Return two points, a body of each, and their coordinates there; pins go to the frame where it has them."""
        first, second = self.source.names(where, value, 2)
        for point in (first, second):
            if point not in self.owners:
                self.source.unknown(where, "point", point, self.owners)
        if first == second:
            self.source.fail(where, f"names '{first}' twice - name two points")
        common = set(self.owners[first]) & set(self.owners[second])
        if common:
            self.source.fail(
                where,
                f"'{first}' and '{second}' are both points of body '{sorted(common)[0]}': their distance never changes",
            )
        one, two = (min(self.owners[p], key=lambda b: (b != "frame", b)) for p in (first, second))
        bodies = self.assembly.bodies
        return (first, second), (one, two), (bodies[one].points[first], bodies[two].points[second])

    # ---- initial values and actuators ----
    def initial(self) -> tuple[Initial, ...]:
        found: dict[Coordinate, Initial] = {}
        for name, value in self.source.table(("initial",), self.source.data.get("initial", {})).items():
            where: Where = ("initial", name)
            table = self.source.table(where, value)
            if "body" in table:
                continue
            self.source.keys(where, table, ("joint", "angle", "displacement", "rate"), ("joint",))
            joint = self.joint((*where, "joint"), table["joint"], "an initial value")
            kind = self.coordinate(where, table, joint)
            key = coordinate_key(joint, kind, self.planar)
            if key in found:
                self.source.fail(where, f"gives the same coordinate as '{found[key].name}' - remove one of them")
            if key in self.driven:
                self.source.fail(
                    where, f"the driver '{self.driven[key]}' prescribes this coordinate - remove one of them"
                )
            start = self.source.number((*where, kind), table[kind]) - self.offset(joint, kind)
            rate = self.source.number((*where, "rate"), table.get("rate", 0))
            found[key] = Initial(name, joint.name, kind, start, rate)
        return tuple(found.values())

    def orientations(self) -> tuple[InitialBody, ...]:
        found: dict[str, InitialBody] = {}
        for name, value in self.source.data.get("initial", {}).items():
            where: Where = ("initial", name)
            if "body" in value:
                entry = read_body(self.source, self.assembly, name, where, value)
                if entry.body in found:
                    self.source.fail(where, f"starts the same body as '{found[entry.body].name}' - remove one of them")
                found[entry.body] = entry
        return tuple(found.values())

    def actuators(self) -> tuple[Actuator, ...]:
        found: dict[str, Actuator] = {}
        for name, value in self.source.table(("actuators",), self.source.data.get("actuators", {})).items():
            where: Where = ("actuators", name)
            check_name(self.source, where, name)
            table = self.source.table(where, value)
            self.source.keys(where, table, ("joint",), ("joint",))
            joint = self.joint((*where, "joint"), table["joint"], "an actuator")
            if joint.name in found:
                self.source.fail(where, f"joint '{joint.name}' has the actuator '{found[joint.name].name}' already")
            found[joint.name] = Actuator(name, joint.name)
        return tuple(found.values())
