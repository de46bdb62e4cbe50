"""The constraint rows of every kind of joint and driver in absolute coordinates, as SymPy expressions.

A body is its place r, its orientation, and what it carries: a vector given in its axes becomes three (planar: two)
symbols of its own, which turn with it, v̇ = ω × v. So the rows stay as short as on a blackboard, and derivatives follow
from rules: each symbol knows its rates by the velocities of both bodies (and, at a cam, by the place of contact).
`d` is the way from a on the first body to b on the second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from . import joint_codes as code

Vector = Any  # a column matrix of SymPy
Rates = dict[sp.Symbol, sp.Expr]


def perpendicular(v: Vector) -> Vector:
    """A planar vector turned by a quarter."""
    return sp.Matrix([-v[1], v[0]])


@dataclass
class BodySymbols:
    """A body in symbols: its place, what it carries, and the names of its velocities."""

    role: int  # 1, 2 or 3
    planar: bool
    definitions: dict[sp.Symbol, sp.Expr] = field(default_factory=dict)
    rules: dict[sp.Symbol, Rates] = field(default_factory=dict)

    def __post_init__(self) -> None:
        k, d = self.role, 2 if self.planar else 3
        self.place = sp.Matrix(sp.symbols(f"r{k}_:{d}"))
        self.velocity = sp.symbols(f"v{k}_:{d}")
        self.spin = sp.symbols(f"w{k}_:{1 if self.planar else 3}")
        for r, v in zip(self.place, self.velocity, strict=True):
            self.rules[r] = {v: sp.Integer(1)}
        if self.planar:
            self.angle, c, s = sp.symbols(f"angle{k} c{k} s{k}")
            self.rules[self.angle] = {self.spin[0]: sp.Integer(1)}
            self.rotation = sp.Matrix([[c, -s], [s, c]])
        else:
            self.rotation = sp.Matrix(3, 3, sp.symbols(f"R{k}_:9"))

    @property
    def velocities(self) -> tuple[sp.Symbol, ...]:
        return (*self.velocity, *self.spin)

    def carried(self, name: str, local: Sequence[sp.Expr]) -> Vector:
        """Return a vector of the body in global axes, in symbols that turn with it."""
        n = len(self.place)
        found = sp.Matrix(sp.symbols(f"{name}_:{n}"))
        self.definitions.update(zip(found, self.rotation * sp.Matrix(local[:n]), strict=True))
        for i, symbol in enumerate(found):
            if self.planar:
                self.rules[symbol] = {self.spin[0]: perpendicular(found)[i]}
            else:
                units = [sp.Matrix([int(i == k) for i in range(3)]) for k in range(3)]
                rates = (unit.cross(found)[i] for unit in units)
                self.rules[symbol] = {w: rate for w, rate in zip(self.spin, rates, strict=True) if rate != 0}
        return found


@dataclass(frozen=True)
class Kind:
    """One kind: rows, rules of all symbols, and the order in which intermediate values are defined.

    `hidden` is a symbol for the rate of a cam's contact with its expression, of which Φ does not depend in first order.
    """

    name: str
    number: int
    planar: bool
    doc: str
    rows: tuple[sp.Expr, ...]
    bodies: tuple[BodySymbols, ...]
    definitions: Mapping[sp.Symbol, sp.Expr]
    rules: Mapping[sp.Symbol, Rates]
    driven: bool
    hidden: tuple[sp.Symbol, sp.Expr] | None = None
    whole_turns: tuple[int, ...] = ()  # rows of angles that are zero up to whole turns


class Pair:
    """Two bodies, and the rows that joints are made of."""

    def __init__(self, planar: bool) -> None:
        self.planar = planar
        self.one, self.two = BodySymbols(1, planar), BodySymbols(2, planar)
        self.extra_rules: dict[sp.Symbol, Rates] = {}
        self.hidden: tuple[sp.Symbol, sp.Expr] | None = None
        self.third: BodySymbols | None = None
        self.number, self.offset = sp.symbols("number offset")
        self.value = sp.Symbol("driven_0")
        self.definitions: dict[sp.Symbol, sp.Expr] = {}
        self._known: dict[str, Vector] = {}

    def named(self, name: str, expression: sp.Expr) -> sp.Symbol:
        """Return a symbol that stands for an expression, with its rates: what follows from it stays short."""
        symbol, rules = sp.Symbol(name), self.rules
        self.definitions[symbol] = expression
        moving = {v for s in expression.free_symbols & rules.keys() for v in rules[s]}
        rates = {v: slope(expression, rules, v) for v in sorted(moving, key=str)}
        self.extra_rules[symbol] = {v: rate for v, rate in rates.items() if rate != 0}
        return symbol

    def vector(self, name: str) -> Vector:
        """Return a local vector of the table, carried by its body: a, axis_a, normal_a by the first, others by the
        second; `binormal` completes axis_a and normal_a."""
        if name not in self._known:
            body = self.two if name in ("b", "axis_b", "normal_b") else self.one
            if name == "binormal":
                one, two = (sp.Matrix(sp.symbols(f"local_{n}_:3")) for n in ("axis_a", "normal_a"))
                local = list(one.cross(two))
            else:
                local = list(sp.symbols(f"local_{name}_:3"))
            self._known[name] = body.carried(name, local)
        return self._known[name]

    @property
    def d(self) -> Vector:
        if "d" not in self._known:
            way = self.two.place + self.vector("b") - self.one.place - self.vector("a")
            self._known["d"] = sp.Matrix([self.named(f"d_{i}", x) for i, x in enumerate(way)])
        return self._known["d"]

    def distance(self) -> sp.Expr:
        return self.named("length", sp.sqrt(self.d.dot(self.d)))

    def along(self, name: str) -> sp.Expr:
        return self.vector(name).dot(self.d)

    def product(self, one: str, two: str) -> sp.Expr:
        return self.vector(one).dot(self.vector(two))

    def aligned(self) -> list[sp.Expr]:
        return [self.product("normal_a", "axis_b"), self.product("binormal", "axis_b")]

    def on_line(self) -> list[sp.Expr]:
        return [self.along("normal_a"), self.along("binormal")]

    def turn(self) -> sp.Symbol:
        """The spatial angle from normal_a to normal_b about the axis."""
        normal, binormal, other = (self.vector(v) for v in ("normal_a", "binormal", "normal_b"))
        return self.angle("", normal.dot(other), binormal.dot(other), (*self.one.spin, *self.two.spin))

    def angle(self, mark: str, cosine: sp.Expr, sine: sp.Expr, speeds: Sequence[sp.Symbol]) -> sp.Symbol:
        """A symbol whose rate is that of atan2(S, C)."""
        turn = sp.Symbol(f"turn{mark}")
        C, S = self.named(f"C{mark}", cosine), self.named(f"S{mark}", sine)
        rules = self.rules
        square = self.named(f"square{mark}", C**2 + S**2)
        self.extra_rules[turn] = {w: (C * slope(S, rules, w) - S * slope(C, rules, w)) / square for w in speeds}
        return turn

    @property
    def difference(self) -> sp.Expr:
        return self.two.angle - self.one.angle

    # ---- cams -----------------------------------------------------------------------------------------------------
    def contact(self) -> tuple[Vector, Vector]:
        """Return place and tangent of the outline at the contact, from its centre; u moves along it."""
        r, r1, r2, udot = sp.symbols("radius radius_1 radius_2 udot")
        cu, su = sp.symbols("cos_u sin_u")
        e, f = self.one.carried("e", [cu, su]), self.one.carried("f", [-su, cu])
        for (x, y), sign in ((("e", "f"), 1), (("f", "e"), -1)):
            for i in range(2):
                self.one.rules[sp.Symbol(f"{x}_{i}")][udot] = sign * sp.Symbol(f"{y}_{i}")
        self.extra_rules.update({r: {udot: r1}, r1: {udot: r2}})
        return r * e, r1 * e + r * f

    def touch(self, tangency: sp.Expr) -> None:
        """Let the contact move so that `tangency` stays zero."""
        udot = sp.Symbol("udot")
        rules = self.rules
        moved = sum(slope(tangency, rules, v) * v for b in (self.one, self.two) for v in b.velocities)
        self.hidden = udot, -moved / slope(tangency, rules, udot)

    @property
    def rules(self) -> dict[sp.Symbol, Rates]:
        found = {**self.one.rules, **self.two.rules, **self.extra_rules}
        return found | (self.third.rules if self.third else {})


def slope(expression: sp.Expr, rules: Mapping[sp.Symbol, Rates], velocity: sp.Symbol) -> sp.Expr:
    """Return the factor of one velocity in the rate of an expression."""
    return sp.Add(*(
        sp.diff(expression, s) * rules[s][velocity]
        for s in sorted(expression.free_symbols & rules.keys(), key=str) if velocity in rules[s]
    ))  # fmt: skip


# ---- the kinds ----------------------------------------------------------------------------------------------------
Rows = list[sp.Expr]


def _gear(p: Pair) -> Rows:
    p.third = BodySymbols(3, True)
    carrier = p.third.angle
    return [p.two.angle - carrier - p.number * (p.one.angle - carrier) - p.offset]


def _bevel(p: Pair) -> Rows:
    """Turns of both wheels about axes of the carrier, from a normal of both axes to one of each wheel."""
    p.third = carrier = BodySymbols(3, False)
    normal, wheels = carrier.carried("normal", sp.symbols("local_a_:3")), (p.one, p.two)
    turns = []
    for k, (wheel, side) in enumerate(zip(wheels, "ab", strict=True), 1):
        axis, local = sp.symbols(f"local_axis_{side}_:3"), sp.symbols("local_a_:3")
        across = carrier.carried(f"across{k}", list(sp.Matrix(axis).cross(sp.Matrix(local))))
        own = wheel.carried(f"normal_{side}", sp.symbols(f"local_normal_{side}_:3"))
        speeds = (*wheel.spin, *carrier.spin)
        turns.append(p.angle(str(k), normal.dot(own), across.dot(own), speeds))
    return [turns[1] - p.number * turns[0]]


def _cylinder(p: Pair) -> Rows:
    """The square of the distance of b from the axis through a less that of the radius, over the diameter: no root."""
    along = p.named("along", p.along("axis_a"))
    return [(p.d.dot(p.d) - along**2 - p.number**2) / (2 * p.number)]


def _rack(p: Pair) -> Rows:
    return [-p.vector("axis_b").dot(p.d) - p.number * p.difference - p.offset]


def _cam(p: Pair) -> Rows:
    """A point or roller: its gap along the normal of its path, at the place nearest to it."""
    place, T = p.contact()
    side = sp.Symbol("side")
    T = sp.Matrix([p.named(f"T_{i}", x) for i, x in enumerate(T)])
    size = p.named("size", sp.sqrt(T.dot(T)))
    t = sp.Matrix([p.named(f"t_{i}", x / size) for i, x in enumerate(T)])
    gap = p.d - place + p.number * perpendicular(t)
    gap = sp.Matrix([p.named(f"gap_{i}", x) for i, x in enumerate(gap)])
    p.touch(t.dot(gap))
    return [side * perpendicular(t).dot(gap)]


def _flat(p: Pair) -> Rows:
    """A flat face: its gap across the face, where the outline is parallel to it."""
    place, T = p.contact()
    across = perpendicular(p.vector("axis_b"))
    p.touch(across.dot(T))
    return [across.dot(place - p.d)]


def _coordinate(rows: Callable[[Pair], sp.Expr]) -> Callable[[Pair], Rows]:
    """A driver: its coordinate less its value."""
    return lambda p: [rows(p) - p.value]


def _spin(p: Pair) -> Rows:
    """A rod's turning about its own line, of which only the rate is held: a symbol without a value."""
    spun, axis = sp.Symbol("spun"), p.vector("axis_b")
    p.extra_rules[spun] = dict(zip(p.two.spin, axis, strict=True))
    return [spun]


PLANAR: dict[str, tuple[int, Callable[[Pair], Rows], str]] = {
    "revolute": (code.R2, lambda p: list(p.d), "the points a and b are common"),
    "prismatic": (code.P2, lambda p: [p.along("normal_a"), p.difference - p.offset], "b on a line, no turning"),
    "slot": (code.SLOT2, lambda p: [p.along("normal_a")], "b stays on a line of the first body"),
    "gear": (code.GEAR2, _gear, "turns relative to the carrier in a ratio"),
    "rack": (code.RACK2, _rack, "rolling without slip"),
    "cam": (code.CAM2, _cam, "point or roller on an outline"),
    "flat_cam": (code.FLAT2, _flat, "flat face on an outline"),
    "weld": (code.WELD2, lambda p: [*p.d, p.difference - p.offset], "the two bodies are one"),
    "turn": (code.TURN2, _coordinate(lambda p: p.difference), "driver: relative angle"),
    "slide": (code.SLIDE2, _coordinate(lambda p: p.along("axis_a")), "driver: displacement along an axis"),
    "distance": (code.DISTANCE2, _coordinate(lambda p: p.distance()), "driver: distance of two points"),
}
SPATIAL: dict[str, tuple[int, Callable[[Pair], Rows], str]] = {
    "revolute": (code.R3, lambda p: [*p.d, *p.aligned()], "point and axis are common"),
    "prismatic": (
        code.P3, lambda p: [*p.on_line(), *p.aligned(), p.product("binormal", "normal_b")], "b on a line, no turning",
    ),
    "spherical": (code.S3, lambda p: list(p.d), "the points a and b are common"),
    "cylindrical": (code.C3, lambda p: [*p.on_line(), *p.aligned()], "the axis is common"),
    "universal": (code.U3, lambda p: [*p.d, p.product("axis_a", "axis_b")], "point common, axes perpendicular"),
    "screw": (
        code.H3,
        lambda p: [*p.on_line(), *p.aligned(), p.along("axis_a") - p.number * p.turn()],
        "slide = pitch x turn",
    ),
    "planar": (code.PLANAR3, lambda p: [p.along("axis_a"), *p.aligned()], "point and plane stay in a plane"),
    "on_plane": (code.ON_PLANE3, lambda p: [p.along("axis_a")], "b stays in a plane"),
    "on_cylinder": (code.ON_CYLINDER3, _cylinder, "b stays on a cylinder"),
    "bevel": (code.GEAR3, _bevel, "turns of two wheels about axes of the carrier in a ratio"),
    "weld": (
        code.WELD3, lambda p: [*p.d, *p.aligned(), p.product("binormal", "normal_b")], "the two bodies are one",
    ),
    "spin": (code.SPIN3, _spin, "a rod does not turn about its line"),
    "turn": (code.TURN3, _coordinate(lambda p: p.turn()), "driver: angle about the axis"),
    "slide": (code.SLIDE3, _coordinate(lambda p: p.along("axis_a")), "driver: displacement along an axis"),
    "distance": (code.DISTANCE3, _coordinate(lambda p: p.distance()), "driver: distance of two points"),
}  # fmt: skip
DRIVERS = ("turn", "slide", "distance")
WHOLE_TURNS = {code.P2: (1,), code.WELD2: (2,), code.TURN2: (0,)}


def kinds(planar: bool) -> tuple[Kind, ...]:
    """Return all kinds of one space."""
    found = []
    for name, (number, rows, doc) in (PLANAR if planar else SPATIAL).items():
        pair = Pair(planar)
        made = tuple(rows(pair))
        bodies = (pair.one, pair.two, *((pair.third,) if pair.third else ()))
        carried = (b.definitions for b in bodies)
        definitions = {s: x for part in (*carried, pair.definitions) for s, x in part.items()}
        found.append(Kind(
            name, number, planar, doc, made, bodies, definitions, pair.rules, name in DRIVERS, pair.hidden,
            WHOLE_TURNS.get(number, ()),
        ))  # fmt: skip
    return tuple(found)


def jacobian(kind: Kind, body: int) -> sp.Matrix:
    """Return the rows by the velocities of one body (0 first, 1 second, 2 third)."""
    speeds = kind.bodies[body].velocities
    return sp.Matrix([[slope(row, kind.rules, v) for v in speeds] for row in kind.rows])


def gamma(kind: Kind) -> list[sp.Expr]:
    """Return Φ̈ without the accelerations of the bodies: (d/dt J) ν, less the acceleration of a driver."""
    speeds = [v for b in kind.bodies for v in b.velocities]
    moving = [*speeds, *((kind.hidden[0],) if kind.hidden else ())]
    found = []
    for row in kind.rows:
        rate = sp.Add(*(slope(row, kind.rules, v) * v for v in speeds))
        bend = sp.Add(*(slope(rate, kind.rules, v) * v for v in moving))
        found.append(bend - sp.Symbol("driven_2") if kind.driven else bend)
    return found
