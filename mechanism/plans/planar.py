"""From a planar group to its specification: the chosen layout written as equations, and what its bodies' axes are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..functions import starting
from ..model import Driver, Joint, Model
from ..numbers.arithmetic import is_zero, phase, plane, turned, wrap
from .plan import Along, Angle, AngleOf, Array, Axes, Between, GroupPlan, Placement, PointOf, ValueOf, VectorOf
from .planar_layout import Class, Cluster, local
from .planar_places import PlanarPlaces, as_factor, pair, turn_text
from .planar_terms import Term, Vector, add, constant, negative

X_AXIS = np.array([1.0, 0.0])


def plan_planar(
    model: Model,
    name: str,
    kind: str,
    bodies: Sequence[str],
    joints: Sequence[Joint],
    drivers: Sequence[Driver],
    excess: int = 0,
) -> GroupPlan:
    """Return the plan of a planar group; bodies, joints and drivers come in the canonical order of the type."""
    writer = _Writer(model, bodies, joints, drivers)
    placements = writer.crank() or writer.slider() or writer.group(excess)
    sheet = writer.sheet
    return GroupPlan(
        name,
        kind,
        tuple(bodies),
        tuple(j.name for j in joints),
        tuple(d.name for d in drivers),
        sheet.text(),
        tuple(sheet.independent),
        tuple(source for _, source in sheet.independent.values()),
        sheet.values,
        sheet.start,
        placements,
        sheet.profiles,
    )


class _Writer(PlanarPlaces):
    """One group being written down: its equations and placements."""

    # ---- the two primary bodies -----------------------------------------------------------------------------------
    def crank(self) -> dict[str, Placement] | None:
        """A body turned by a driver about a pin of a solved body: B = A + L rot(u, θ)."""
        layout = self.layout
        pins = [p for p in layout.pins.values() if p.external is not None]
        if len(self.bodies) != 1 or len(self.joints) != 1 or len(self.drivers) != 1 or len(pins) != 1:
            return None
        (name,), (pin,) = self.bodies, pins
        orientation, group = layout.orientations[name], layout.class_of[name]
        if group.external is None or len(orientation.turns) != 1 or pin.external is None:
            return None
        (h, sign) = orientation.turns[0]
        seat = pin.seats[name]
        others = [local(x) for x in self.body(name).points.values()]
        arm = next((x for x in others if abs(x - seat) > 1e-9 * self.model.size), seat + plane(self.model.size, 0.0))
        s = self.sheet
        A = s.known("A", "A", "point", PointOf(pin.external[0], pair(pin.external[1])))
        heading = orientation.unit * (arm - seat) / abs(arm - seat)
        u = s.known("u", "u", "unit vector", VectorOf(group.external, pair(heading)))
        theta = s.known(h, "h", "driven angle", ValueOf(self.driver[h].name, sign * self.sign[self.driver[h].name]))
        L = s.parameter("L", "length", abs(arm - seat))
        s.unknown("B", "point", self.body(name).outside(pair(arm)))
        s.require("crank", f"B = {A} + {L}*rot({u}, {theta})")
        return {name: Between(A, "B", pair(seat), pair(arm))}

    def slider(self) -> dict[str, Placement] | None:
        """A body shifted by a driver along a line of a solved body: C = A + s u + e perp(u)."""
        if len(self.bodies) != 1 or len(self.joints) != 1 or len(self.drivers) != 1:
            return None
        (name,), (j,), (d,) = self.bodies, self.joints, self.drivers
        if j.kind != "P" or d.kind != "displacement":
            return None
        s = self.sheet
        A = s.known("A", "A", "point", PointOf(j.first, j.a))
        stroke = s.known("s", "h", "driven length", ValueOf(d.name, self.sign[d.name]))
        u = s.known("u", "u", "unit vector", VectorOf(j.first, j.axis_a))
        e = s.parameter("e", "offset", 0.0)
        s.unknown("C", "point", self.body(name).outside(j.b))
        s.require("slider", f"C = {A} + {stroke}*{u} + {e}*perp({u})")
        return {name: Along("C", u, j.b, j.axis_b)}

    # ---- any other group ------------------------------------------------------------------------------------------
    def group(self, excess: int) -> dict[str, Placement]:
        layout, s = self.layout, self.sheet
        self.choice = choice = layout.choose(excess)
        for i, key in enumerate(choice.free):
            self.at[key] = s.unknown(f"Q{i + 1}", "point", self._sketch(key))
        for c in layout.classes:
            match choice.directions[c.index].kind:
                case "vector":
                    self._vector(c)
                    s.require("unit", f"|{self.direction[c.index][0]}|^2 = 1")
                case "angle":
                    self._angle(c)
        for index, key in choice.order:
            if key:
                self._derive(index, key)
            else:
                self._length(layout.classes[index])
        for cluster, key in choice.closures:
            place = self._place(layout.clusters[cluster], layout.pins[key].places[cluster])
            s.require("pin", f"{place} = {self._pin(key)}")
        for j in self.joints:
            self._joint(j)
        for d in self.drivers:
            if d.kind == "distance":
                self._distance(d)
            elif d.kind == "coordinate":
                self._coordinate(d)
        if not s.dependent:
            return self._explicit()
        return {b: self._placement(b) for b in self.bodies}

    # ---- equations of the joints ----------------------------------------------------------------------------------
    def _joint(self, j: Joint) -> None:
        match j.kind:
            case "P" if j.name not in self.layout.shift:
                self._line(j)
            case "slot":
                self._line(j)
                if j.name in self.layout.shift:
                    u = self._axis(j)[0]
                    at = self._point(j.second, j.b, j.at, f"{j.name} at")
                    way = f"{at} - ({self._through(j)})"
                    s = self._value(self.layout.symbol[self.layout.shift[j.name].name])
                    self.sheet.require("stroke", f"dot({u}, {way}) = {s}")
            case "gear":
                self._gear(j)
            case "rack":
                self._rack(j)
            case "cam":
                self._cam(j)

    def _through(self, j: Joint) -> str:
        if j.first in self.layout.inside:
            return self._place(self.layout.cluster_of[j.first], self.layout.place(j.first, local(j.a), "foot", j.name))
        return self.sheet.known(("through", j.name), "A", "point", PointOf(j.first, j.a))

    def _line(self, j: Joint) -> None:
        """`at` stays on the line: cross(u, C - B) = e, with what is constant gathered in e."""
        layout, s = self.layout, self.sheet
        u, c, direction = self._axis(j)
        turned = j.first in layout.inside and bool(layout.orientations[j.first].turns)
        e = 0.0
        if j.first in layout.inside:
            cluster = layout.cluster_of[j.first]
            anchor = self.choice.anchors[cluster.index]
            way = self._from_anchor(cluster, layout.place(j.first, local(j.a), "foot", j.name))
            fixed = None if turned else constant(way)
            if fixed is None:
                B = self._through(j)
            else:
                B = self._pin(anchor)
                e += (direction.conjugate() * fixed).imag
        else:
            B = self._through(j)
        C: str | None = None
        if layout.class_of.get(j.second) is c and c is not None and not turned:
            cluster = layout.cluster_of[j.second]
            anchor = self.choice.anchors[cluster.index]
            way = self._from_anchor(cluster, layout.place(j.second, local(j.b), "at", j.name))
            fixed = constant(way)
            if fixed is not None:
                C = self._pin(anchor)
                e -= (direction.conjugate() * fixed).imag
        if C is None:
            C = self._point(j.second, j.b, j.at, f"{j.name} at")
        C, B = (f"({x})" if " " in x else x for x in (C, B))
        s.require("line", f"cross({u}, {C} - {B}) = {s.parameter('e', 'offset', e)}")

    def _theta(self, body: str, role: str) -> tuple[str, float]:
        """Return the continuous angle of a body, but for a constant, as text, and its value in the first configuration.

        Each role has a known angle of its own, be it the frame's: which outside bodies play it is no part of a type.
        """
        if body not in self.layout.inside:
            return self.sheet.known(("angle", role), "a", "angle", AngleOf(body)), self.body(body).angle
        c, orientation = self.layout.class_of[body], self.layout.orientations[body]
        base = c.root if c.external is None else c.external
        text, value = f"theta{c.index + 1}", self.body(base).angle
        if c.external is not None:
            text, value = self._theta(c.external, role)
        turn = turn_text(Term(1, orientation.turns), self._value)
        if not turn:
            return text, value
        # drivers may begin any number of whole turns away from the first configuration: the way there is the shortest
        start = self.model.simulation.start
        driven = sum(
            sign * self.sign[self.driver[h].name] * starting(self.driver[h].motion, start)
            for h, sign in orientation.turns
        )
        way = wrap(self.body(body).angle - phase(orientation.unit) - value - driven)
        return f"({text} + {turn})", value + driven + way

    def _gear(self, j: Joint) -> None:
        assert j.carrier is not None
        roles = {"first": j.first, "second": j.second, "carrier": j.carrier}
        (a, first), (b, second), (c, carrier) = (self._theta(x, f"{j.name} {role}") for role, x in roles.items())
        held = second - carrier - j.ratio * (first - carrier)
        ratio, g = self.sheet.parameter("k", "number", j.ratio), self.sheet.parameter("g", "number", held)
        self.sheet.require("gear", f"{b} - {c} - {ratio}*({a} - {c}) = {g}")

    def _rack(self, j: Joint) -> None:
        s = self.sheet
        (p, turn_of_pinion), (r, turn_of_rack) = (
            self._theta(body, f"{j.name} {role}") for body, role in ((j.first, "pinion"), (j.second, "rack"))
        )
        centre = self._point(j.first, j.a, None, f"{j.name} centre")
        base = self._point(j.second, j.b, None, f"{j.name} base")
        pinion, rack = self.body(j.first), self.body(j.second)
        u = self._heading(j.second, j.axis_b, j.name)
        heading = local(j.axis_b) * turned(rack.angle)
        way = local(rack.outside(j.b)) - local(pinion.outside(j.a))
        held = (heading.conjugate() * way).real - j.radius * (turn_of_pinion - turn_of_rack)
        radius, g = s.parameter("r", "offset", j.radius), s.parameter("g", "offset", held)
        s.require("rack", f"dot({u}, {base} - ({centre})) - {radius}*({p} - {r}) = {g}")

    def _heading(self, body: str, axis: Array, role: str) -> str:
        """Return a direction of any body, a unit vector, as text."""
        layout, s = self.layout, self.sheet
        if body not in layout.inside:
            return s.known(("axis", role), "u", "unit vector", VectorOf(body, axis))
        orientation = layout.orientations[body]
        U, unit = self._base(layout.class_of[body])
        turn = turn_text(Term(1, orientation.turns), self._value)
        z = orientation.unit * local(axis) / unit
        U = f"rot({U}, {turn})" if turn else U
        x, y = s.parameter("p", "number", z.real), s.parameter("q", "number", z.imag)
        return s.define("n", f"{x}*{as_factor(U)} + {y}*perp({U})")

    def _cam(self, j: Joint) -> None:
        """The outline r(psi) touches a point, a roller about it (at a distance along its normal), or a line through it.

        psi, the polar angle of the place of contact, is one unknown more. Where it begins is sought round the outline.
        """
        assert j.profile is not None
        assert j.follower is not None
        s = self.sheet
        centre = as_factor(self._point(j.first, j.a, None, f"{j.name} centre"))
        F = as_factor(self._point(j.second, j.b, None, f"{j.name} follower"))
        U = self._heading(j.first, X_AXIS, f"{j.name} cam")
        r = s.profile(j.profile)
        psi = s.unknown(f"psi{len(s.profiles)}", "angle", 0.0)
        radius, slope, e = f"{r}({psi})", f"slope({r}, {psi})", s.define("E", f"rot({U}, {psi})")
        if j.follower.direction is not None:
            d = self._heading(j.second, j.follower.direction, f"{j.name} face")
            s.require("face", f"cross({d}, {centre} + {radius}*{e} - {F}) = 0")
            s.require("tangent", f"cross({d}, {slope}*{e} + {radius}*perp({e})) = 0")
        elif is_zero(j.follower.radius):
            s.require("contact", f"{F} - {centre} = {radius}*{e}")
        else:
            rho = s.parameter("rho", "length", j.follower.radius)
            part = s.define("m", f"{rho}/sqrt({radius}^2 + {slope}^2)")
            s.require("roller", f"{F} - {centre} = {radius}*(1 + {part})*{e} - {slope}*{part}*perp({e})")

    def _distance(self, d: Driver) -> None:
        assert d.ends is not None
        names = d.points or (None, None)
        ends = zip(d.bodies, d.ends, names, ("first", "second"), strict=True)
        P, Q = (self._point(b, e, n, f"{d.name} {role}") for b, e, n, role in ends)
        P, Q = (f"({x})" if " " in x else x for x in (P, Q))
        self.sheet.require("distance", f"|{Q} - {P}|^2 = {self._value(self.layout.symbol[d.name])}^2")

    def _coordinate(self, d: Driver) -> None:
        """A point of a body has a prescribed coordinate: dot(u, P) = h."""
        assert d.ends is not None
        assert d.axis is not None
        P = self._point(d.bodies[1], d.ends[1], d.points[1] if d.points else None, d.name)
        u = self.sheet.known(("axis", d.name), "u", "unit vector", VectorOf(d.bodies[0], d.axis))
        self.sheet.require("coordinate", f"dot({u}, {P}) = {self._value(self.layout.symbol[d.name])}")

    # ---- what the bodies' axes are --------------------------------------------------------------------------------
    def _placement(self, body: str) -> Placement:
        layout = self.layout
        cluster, orientation = layout.cluster_of[body], layout.orientations[body]
        c = cluster.group
        d = self.choice.directions[c.index]
        origin = cluster.origins[body]
        if not orientation.turns:
            if d.kind == "pair" and d.cluster == cluster.index:
                seats = [self._seat(body, k) for k in (d.first, d.second)]
                names = [self._named(k) for k in (d.first, d.second)]
                if None not in seats:
                    return Between(names[0], names[1], pair(seats[0] or 0j), pair(seats[1] or 0j))
            key = self.choice.anchors[cluster.index]
            seat = self._seat(body, key)
            if d.kind in ("external", "vector") and seat is not None:
                name, unit = self._base(c)
                return Along(self._named(key), name, pair(seat), pair(unit / orientation.unit))
        axes = self._axes(body, cluster, c, origin, orientation.turns, orientation.unit)
        if d.kind == "angle" and not orientation.turns:
            return Angle(axes, f"theta{c.index + 1}", self.body(body).angle - self.body(c.root).angle)
        return axes

    def _seat(self, body: str, key: str) -> complex | None:
        """Return a pin in the axes of a body of its cluster, or None where a driver moves it there."""
        cluster = self.layout.cluster_of[body]
        way = constant(add(self.layout.pins[key].places[cluster.index], negative(cluster.origins[body])))
        return None if way is None else way / self.layout.orientations[body].unit

    def _named(self, key: str) -> str:
        """Return a pin as a coordinate, or as a point of interest where it was derived."""
        name = self._pin(key)
        if not self._is_coordinate(name):
            self.sheet.points.setdefault(name, self.sheet.let[name])
        return name

    def _is_coordinate(self, name: str) -> bool:
        return name in self.sheet.dependent or name in self.sheet.independent

    def _axes(
        self, body: str, cluster: Cluster, c: Class, origin: Vector, turns: tuple[tuple[str, int], ...], unit: complex
    ) -> Axes:
        n = self.bodies.index(body) + 1
        s = self.sheet
        s.points[f"O{n}"] = self._place(cluster, origin)
        base, reference = self._base(c)
        z = unit / reference
        turn = turn_text(Term(1, turns), self._value)
        U = f"rot({base}, {turn})" if turn else base
        p, q = s.parameter("p", "number", z.real), s.parameter("q", "number", z.imag)
        s.points[f"X{n}"] = f"{p}*{as_factor(U)} + {q}*perp({U})"
        return Axes(f"O{n}", (f"X{n}",))

    def _explicit(self) -> dict[str, Placement]:
        """A group whose bodies follow without unknowns: their origins and x axes, each written out."""
        placements: dict[str, Placement] = {}
        s = self.sheet
        s.constraints.clear()  # what contains no unknown only restricts what is known; the run's residual test sees it
        for i, name in enumerate(self.bodies, 1):
            layout = self.layout
            cluster, orientation = layout.cluster_of[name], layout.orientations[name]
            self._axes(name, cluster, cluster.group, cluster.origins[name], orientation.turns, orientation.unit)
            body = self.body(name)
            s.unknown(f"P{i}", "point", body.origin)
            s.unknown(f"V{i}", "vector", body.rotation[:, 0])
            s.constraints[f"origin_{i}"] = f"P{i} = {s.points.pop(f'O{i}')}"
            s.constraints[f"axis_{i}"] = f"V{i} = {s.points.pop(f'X{i}')}"
            placements[name] = Along(f"P{i}", f"V{i}", np.zeros(2), np.array([1.0, 0.0]))
        return placements
