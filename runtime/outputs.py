"""What a result reports, as items that write it from the rows: points, bodies, joints, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..mechanism.geometry import perpendicular
from ..mechanism.model import FRAME, Array, Joint, Member, Model
from ..mechanism.numbers.arithmetic import is_zero
from .program import Program, RowCarrier, Terms, _sum

Number = Callable[[Any], int]  # keeps a number, and returns its place
JOINT_KINDS = ("R", "P", "slot", "C", "H")


@dataclass(frozen=True, eq=False)
class Output:
    """One series: the function that writes it, the widths of value, rate and acceleration, and its table."""

    function: str
    widths: tuple[int, int, int]
    head: Callable[[Number], list[int]]
    angles: tuple[str, ...] = ()  # bodies whose continuous angles must stand in their rows
    row: int = -1  # that holds the series but for whole turns; -1: none does

    def table(self, number: Number, places: Sequence[int]) -> list[int]:
        """Return the integers of the item, its numbers kept by `number`."""
        return [*places, *self.head(number)]


def _terms(number: Number, parts: Sequence[Terms]) -> list[int]:
    found: list[int] = []
    for terms in parts:
        found.append(len(terms))
        for row, factor in terms:
            found += [row, number(factor)]
    return found


class Outputs:
    """The series of a program by name."""

    def __init__(self, program: Program) -> None:
        self.program, self.model = program, program.model
        self.homes = homes(self.model)
        self.point_bodies = point_bodies(self.model)

    # ---- points ----
    def point(self, name: str) -> Output:
        """Return position, velocity and acceleration of a point."""
        body = self.model.bodies[self.point_bodies[name]]
        local, carrier = body.points[name], self.program.carriers[body.name]
        parts = _frame_point(self.model, local) if body.name == FRAME else carrier.point(local)
        d = len(parts)
        return Output("write_rows", (d, d, d), lambda number: [d, *_terms(number, parts)])

    # ---- bodies ----
    def body(self, name: str) -> Output:
        """Return the angle of a planar body, or rotation and angular velocity and acceleration of a spatial one."""
        home, member = self.homes[name]
        carrier = self.program.carriers[home]
        if self.model.dimension == 2:
            offset = small_to_zero(np.arctan2(member.rotation[1, 0], member.rotation[0, 0]))
            return self._angle(FRAME, home, offset, turn_driver(self.model, FRAME, home), offset)
        if carrier.line is not None:
            return self._rod(carrier, self.model.bodies[home].rotation, member)
        axes = [p for k in range(3) for p in carrier.vector(member.rotation[:, k])]
        return Output("write_turning", (9, 3, 3), lambda number: _terms(number, axes))

    def _rod(self, carrier: RowCarrier, rotation: Array, member: Member) -> Output:
        assert carrier.line is not None
        line = carrier.line[1]
        normal = perpendicular(line)
        own = [member.rotation.T @ v for v in (line, normal, np.cross(line, normal))]
        values = [x for v in (*own, rotation @ line, rotation @ normal) for x in v]

        def head(number: Number) -> list[int]:
            places = [number(x) for x in values]  # one after the other
            return [places[0], *_terms(number, carrier.axes[0])]

        return Output("write_rod", (9, 3, 3), head)

    def _angle(
        self, first: str, second: str, offset: Any, driver: tuple[str, int] | None, driver_offset: Any
    ) -> Output:
        rows, needs, add = [], [], offset
        for body, sign in ((first, -1.0), (second, 1.0)):
            carrier = self.program.carriers[body]
            if body == FRAME:
                frame = self.model.bodies.get(FRAME)
                rows.append(-1)
                add = add + sign * (frame.angle if frame is not None else 0.0)
            elif carrier.angle is not None:
                rows.append(carrier.angle[0])
                add = add + sign * carrier.angle[1]
            else:
                rows.append(self.program.angle_rows[body])
                needs.append(body)

        def head(number: Number) -> list[int]:
            row, sign = (-1, 0) if driver is None else (self.program.drivers[driver[0]], driver[1])
            return [row, sign, number(driver_offset), number(add), *rows]

        own = needs == [second] and first == FRAME and driver is None and is_zero(add)
        return Output("write_angle", (1, 1, 1), head, tuple(needs), rows[1] if own else -1)

    # ---- joints ----
    def joint(self, name: str) -> tuple[Output | None, Output | None]:
        """Return the angle and the displacement of a joint, as far as it has them."""
        joint = self.model.joints[name]
        angle = displacement = None
        if joint.kind in ("P", "slot", "C", "H"):
            displacement = self._displacement(joint)
        if joint.kind in ("R", "C", "H"):
            angle = self._planar(joint) if self.model.dimension == 2 else self._spatial(joint)
        return angle, displacement

    def _planar(self, joint: Joint) -> Output:
        return self._angle(joint.first, joint.second, joint.offset, angle_driver(self.model, joint), joint.offset)

    def _displacement(self, joint: Joint) -> Output:
        one, two = self.program.carriers[joint.first], self.program.carriers[joint.second]
        axis, start, end = one.vector(joint.axis_a), one.point(joint.a), two.point(joint.b)
        way = [_sum((1.0, q), (-1.0, p)) for p, q in zip(start, end, strict=True)]
        d = len(way)
        return Output("write_displacement", (1, 1, 1), lambda number: [d, *_terms(number, [*axis, *way])])

    def _spatial(self, joint: Joint) -> Output:
        one, two = self.program.carriers[joint.first], self.program.carriers[joint.second]
        driver = angle_driver(self.model, joint)
        parts = [*one.vector(joint.axis_a), *one.vector(joint.normal_a), *two.vector(joint.normal_b)]
        parts += [p for carrier in (one, two) for axis in carrier.axes for p in axis]

        def head(number: Number) -> list[int]:
            row, sign = (-1, 0) if driver is None else (self.program.drivers[driver[0]], driver[1])
            return [row, sign, number(0.0), *_terms(number, parts)]

        return Output("write_spatial_angle", (1, 1, 1), head)


def _frame_point(model: Model, local: Array) -> tuple[Terms, ...]:
    """Return a point of the frame: a number in the row of ones."""
    return tuple(((1, c),) for c in model.bodies[FRAME].outside(local))


# ---- names ----------------------------------------------------------------------------------------------------------
def homes(model: Model) -> dict[str, tuple[str, Member]]:
    """Return for every body that the user named, but the frame, its rigid body and how it lies in it."""
    parts = ((body, member) for body in model.bodies.values() for member in body.parts)
    return {member.name: (body.name, member) for body, member in parts if member.name != FRAME}


def point_bodies(model: Model) -> dict[str, str]:
    """Return the body on which every point is measured: the frame, or the first by name.

    Whatever order the file has, the result is the same to the last digit.
    """
    carriers: dict[str, str] = {}
    for name in sorted(model.bodies, key=lambda body: (body != FRAME, body)):
        for point in model.bodies[name].points:
            carriers.setdefault(point, name)
    points = [*(p for p in model.points if p in carriers), *(p for p in carriers if p not in model.points)]
    return {p: carriers[p] for p in points}


# ---- drivers of angles: whole turns are theirs -----------------------------------------------------------------------
def angle_driver(model: Model, joint: Joint) -> tuple[str, int] | None:
    """Return the driver that prescribes the angle of a joint: its own, in the plane any of its bodies; and its sign."""
    for driver in model.drivers.values():
        if driver.kind == "angle" and driver.joint == joint.name:
            return driver.name, 1
    return turn_driver(model, joint.first, joint.second) if model.dimension == 2 else None


def turn_driver(model: Model, first: str, second: str) -> tuple[str, int] | None:
    """Return the driver that prescribes the turn of one rigid body relative to another, and its sign."""
    for driver in model.drivers.values():
        ends = None
        if driver.kind == "turn":
            ends = driver.bodies
        elif driver.kind == "angle" and driver.joint is not None:
            joint = model.joints[driver.joint]
            ends = joint.first, joint.second
        if ends == (first, second):
            return driver.name, 1
        if ends == (second, first):
            return driver.name, -1
    return None


def small_to_zero(x: Any) -> float:
    """Return zero for an angle of rounding, which must not spoil an exact one."""
    return 0.0 if abs(float(x)) < 1e-12 else float(x)
