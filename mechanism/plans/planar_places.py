"""Points and directions of a planar group as text: what its layout makes known, in the grammar of specifications."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..model import Body, Driver, Joint, Model
from ..numbers.arithmetic import array, turned
from .plan import Array, PointOf, ValueOf, VectorOf
from .planar_layout import Choice, Class, Cluster, PlanarLayout, local
from .planar_terms import Term, Vector, add, collected, constant, negative
from .specification_draft import SpecificationSheet


def pair(z: complex) -> Array:
    """Return a complex number as the two components of a vector."""
    return array([z.real, z.imag])


class PlanarPlaces:
    """One group being written down: its sheet, and the texts of its points and directions."""

    choice: Choice

    def __init__(self, model: Model, bodies: Sequence[str], joints: Sequence[Joint], drivers: Sequence[Driver]) -> None:
        self.model = model
        self.bodies = tuple(bodies)
        # What is known, or first in the order of the type, comes first: whichever way it was written.
        driven = {d.joint for d in drivers}
        inward = {j.name for j in joints if j.kind == "P" and j.second not in self.bodies}
        inward |= {j.name for j in joints if j.kind == "R" and j.name in driven and self._backwards(j.bodies)}
        back = {d.name for d in drivers if d.kind in ("angle", "turn") and self._backwards(d.bodies)}
        self.joints = tuple(from_the_other_side(j) if j.name in inward else j for j in joints)
        self.drivers = tuple(replace(d, bodies=d.bodies[::-1]) if d.name in back else d for d in drivers)
        self.sign = {d.name: -1 if d.joint in inward or d.name in back else 1 for d in drivers}  # of drivers' values
        self.layout = PlanarLayout(model, bodies, self.joints, self.drivers)
        self.sheet = SpecificationSheet("planar")
        self.driver = {self.layout.symbol[d.name]: d for d in self.drivers}
        self.at: dict[str, str] = {}  # pin -> text of its place
        self.direction: dict[int, tuple[str, complex]] = {}  # class -> text of its direction U, and U in its frame
        self.along: set[int] = set()  # classes whose direction is that of their first slide

    def _backwards(self, pair: Sequence[str]) -> bool:
        """Return whether the first of two bodies comes after the second."""
        first, second = (self.bodies.index(b) if b in self.bodies else -1 for b in pair[:2])
        return first > second

    def body(self, name: str) -> Body:
        return self.model.bodies[name]

    def _sketch(self, key: str) -> Array:
        pin = self.layout.pins[key]
        if pin.point is not None and pin.point in self.model.points:
            return self.model.points[pin.point]
        (name, seat), *_ = pin.seats.items()
        return self.body(name).outside(pair(seat))

    def _vector(self, c: Class) -> None:
        axis = c.axis if c.axis is not None else 1 + 0j
        heading = axis * turned(self.body(c.root).angle)
        name = self.sheet.unknown(f"w{c.index + 1}", "unit vector", pair(heading))
        self.direction[c.index] = (name, axis)
        self.along.add(c.index)

    def _angle(self, c: Class) -> None:
        theta = self.sheet.unknown(f"theta{c.index + 1}", "angle", self.body(c.root).angle)
        name = self.sheet.define("U", f"[cos({theta}), sin({theta})]")
        self.direction[c.index] = (name, 1 + 0j)

    def _base(self, c: Class) -> tuple[str, complex]:
        """Return the direction of a class as text, and the same direction in its frame."""
        if c.index not in self.direction:
            assert c.external is not None
            axis = c.axis if c.axis is not None else 1 + 0j
            name = self.sheet.known(("base", c.index), "u", "unit vector", VectorOf(c.external, pair(axis)))
            self.direction[c.index] = (name, axis)
            self.along.add(c.index)
        return self.direction[c.index]

    def _length(self, c: Class) -> None:
        """The direction of a class from a pair of pins, with its length equation."""
        d, pins, s = self.choice.directions[c.index], self.layout.pins, self.sheet
        way = add(pins[d.second].places[d.cluster], negative(pins[d.first].places[d.cluster]))
        P, Q = self._pin(d.first), self._pin(d.second)
        if d.first in self.choice.free and d.second not in self.choice.free:
            P, Q, way = Q, P, negative(way)
        fixed = constant(way)
        if fixed is not None:
            s.require("length", f"|{Q} - {P}|^2 = {s.parameter('L', 'length', abs(fixed))}^2")
            self.direction[c.index] = (f"{Q} - {P}", fixed)
            return
        axis = c.axis if c.axis is not None else 1 + 0j
        x, y = self._components(c, way, axis)
        s.require("length", f"|{Q} - {P}|^2 = ({x})^2 + ({y})^2")
        name = s.define("U", f"(({x})*({Q} - {P}) - ({y})*perp({Q} - {P}))/(({x})^2 + ({y})^2)")
        self.direction[c.index] = (name, axis)
        self.along.add(c.index)

    def _leads(self, c: Class, t: Term) -> bool:
        """Return whether a driven slide goes forward along the axis that the direction of the class refers to."""
        return t.slide is not None and not t.back and not t.turns and self.driver[t.slide].joint == c.slide

    def _components(self, c: Class, way: Vector, axis: complex) -> tuple[str, str]:
        """Return the two components, along an axis and across it, of a vector that drivers change."""
        xs: list[str] = []
        ys: list[str] = []
        for t in collected(way):
            z = t.coefficient / axis
            turn = turn_text(t, self._value)
            factor = f"{self._value(t.slide)}*" if t.slide else ""
            if self._leads(c, t):
                xs.append(self._value(t.slide or ""))
                continue
            p, q = self.sheet.parameter("p", "offset", z.real), self.sheet.parameter("q", "offset", z.imag)
            if not turn:
                xs.append(f"{factor}{p}")
                ys.append(f"{factor}{q}")
            else:
                xs.append(f"{factor}({p}*cos({turn}) - {q}*sin({turn}))")
                ys.append(f"{factor}({p}*sin({turn}) + {q}*cos({turn}))")
        return " + ".join(xs) or "0", " + ".join(ys) or "0"

    def _value(self, h: str) -> str:
        d = self.driver[h]
        kind = "driven angle" if d.kind in ("angle", "turn") else "driven length"
        return self.sheet.known(h, "h", kind, ValueOf(d.name, self.sign[d.name]))

    # ---- places ---------------------------------------------------------------------------------------------------
    def _pin(self, key: str) -> str:
        if key not in self.at:
            pin, s = self.layout.pins[key], self.sheet
            if pin.external is not None:
                body, seat = pin.external
                self.at[key] = s.known(("pin", key), "A", "point", PointOf(body, pair(seat)))
            elif pin.slide is not None:
                j, h = pin.slide
                A = s.known(("through", j.name), "A", "point", PointOf(j.first, j.a))
                self.at[key] = s.define("S", f"{A} + {self._value(h)}*{self._axis(j)[0]}")
        return self.at[key]

    def _derive(self, cluster: int, key: str) -> None:
        place = self._place(self.layout.clusters[cluster], self.layout.pins[key].places[cluster])
        self.at[key] = self.sheet.define("D", place)

    def _place(self, cluster: Cluster, place: Vector) -> str:
        """Return a point of a cluster as text: its anchor plus what lies between."""
        anchor = self._pin(self.choice.anchors[cluster.index])
        return f"{anchor}{self._way(cluster.group, self._from_anchor(cluster, place))}"

    def _from_anchor(self, cluster: Cluster, place: Vector) -> Vector:
        return add(place, negative(self.layout.pins[self.choice.anchors[cluster.index]].places[cluster.index]))

    def _way(self, c: Class, way: Vector) -> str:
        """Return ' + ...' for a vector in the frame of a class."""
        text = ""
        for t in collected(way):
            base, unit = self._base(c)
            z = t.coefficient / unit
            turn = turn_text(t, self._value)
            U = f"rot({base}, {turn})" if turn else base
            factor = f"{self._value(t.slide)}*" if t.slide else ""
            if self._leads(c, t) and c.index in self.along:
                text += f" + {factor}{as_factor(U)}"
                continue
            kind = "number" if self.choice.directions[c.index].kind == "pair" else "offset"
            p, q = self.sheet.parameter("p", kind, z.real), self.sheet.parameter("q", kind, z.imag)
            sum_ = f"{p}*{as_factor(U)} + {q}*perp({U})"
            text += f" + {factor}({sum_})" if factor else f" + {sum_}"
        return text

    def _point(self, body: str, point: Array, name: str | None, role: str) -> str:
        """Return a point of any body as text; `name` is its name in the mechanism, to find a pin there.

        `role` says what the point is for: each has a known coordinate of its own, wherever it lies.
        """
        if body not in self.layout.inside:
            return self.sheet.known(("point", role), "A", "point", PointOf(body, point))
        key = self.layout.pin_at(name, body)
        if key is not None and (key in self.at or self.layout.pins[key].known):  # else a pin of one cluster alone
            return self._pin(key)
        return self._place(self.layout.cluster_of[body], self.layout.place(body, local(point), "point", role))

    def _axis(self, j: Joint) -> tuple[str, Class | None, complex]:
        """Return the direction of a joint's line as a unit vector, with its class and its direction in that frame."""
        if j.first not in self.layout.inside:
            tied = self.layout.class_of.get(j.second)
            if tied is not None and tied.external == j.first and tied.slide == j.name:
                return self._base(tied)[0], tied, local(j.axis_a)
            u = self.sheet.known(("axis", j.name), "u", "unit vector", VectorOf(j.first, j.axis_a))
            return u, tied if tied is not None and tied.external == j.first else None, local(j.axis_a)
        c, orientation = self.layout.class_of[j.first], self.layout.orientations[j.first]
        direction = orientation.unit * local(j.axis_a)
        if c.external is not None and not orientation.turns:
            if c.slide == j.name:
                return self._base(c)[0], c, direction
            u = self.sheet.known(("axis", j.name), "u", "unit vector", VectorOf(c.external, pair(direction)))
            return u, c, direction
        base, unit = self._base(c)
        if c.slide == j.name and c.index in self.along:
            return base, c, direction
        z = direction / unit
        turn = turn_text(Term(1, orientation.turns), self._value)
        U = f"rot({base}, {turn})" if turn else base
        p, q = self.sheet.parameter("p", "number", z.real), self.sheet.parameter("q", "number", z.imag)
        return self.sheet.define("n", f"{p}*{as_factor(U)} + {q}*perp({U})"), c, direction


def from_the_other_side(j: Joint) -> Joint:
    """Return a joint with its bodies exchanged: the line stays, slide and turn change their signs.

    What is known carries the line then, whichever way the joint was written.
    """
    return replace(j, first=j.second, second=j.first, a=j.b, b=j.a, axis_a=j.axis_b, axis_b=j.axis_a, angle=-j.angle)


def as_factor(text: str) -> str:
    """Return a text that can stand beside a product sign."""
    return f"({text})" if " " in text and not text.startswith("rot(") else text


def turn_text(t: Term, value: Callable[[str], str]) -> str:
    """Return the sum of the driven angles of a term as text, '' where there is none."""
    angles = [(sign, value(h) if abs(sign) == 1 else f"{abs(sign)}*{value(h)}") for h, sign in t.turns]
    text = " ".join(f"{'+' if sign > 0 else '-'} {angle}" for sign, angle in angles)
    return text.removeprefix("+ ") if text.startswith("+") else text.replace("- ", "-", 1)
