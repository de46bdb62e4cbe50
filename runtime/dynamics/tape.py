"""A program, its masses, loads and coordinates written into the two flat arrays that the compiled parts read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from ..mechanism.model import Array, Function, Joint, Model, PointForce, Spring, Torque, TorsionSpring
from ..motion.program import Carrier, Program, Terms, _sum
from ..motion.tables import Angle, Combined, Entry, kind_of, layout_of, variants
from ..motion.timefunctions import write
from . import chain, loads
from .coordinates import Coordinate
from .inertia import Inertia

Ints = NDArray[np.int64]


@dataclass
class Tape:
    """The arrays while they grow: places of rows, combinations, vectors, and numbers."""

    program: Program
    free: int
    ints: list[int] = field(default_factory=lambda: [0] * chain.HEAD)
    floats: list[float] = field(default_factory=lambda: [0.0] * chain.HEAD_FLOATS)

    def __post_init__(self) -> None:
        width = 3 + self.free
        n = self.program.n_rows
        self.ints[chain.WIDTH], self.ints[chain.FREE], self.ints[chain.ROWS] = width, self.free, n
        self.ints[chain.DIMENSION] = self.program.model.dimension
        self.ints[chain.STATE] = self.numbers([0.0] * (n * width))
        self.ints[chain.BASE] = self.numbers([0.0] * (3 * n))
        self.ints[chain.Y] = self.numbers([0.0] * (4 * self.free))  # y and ẏ

    def numbers(self, values: Sequence[float]) -> int:
        """Append numbers; their place."""
        at = len(self.floats)
        self.floats += [float(v) for v in values]
        return at

    def places(self, values: Sequence[int]) -> int:
        """Append integers; their place."""
        at = len(self.ints)
        self.ints += [int(v) for v in values]
        return at

    def row(self, row: int) -> int:
        """Return the place of a row of the state."""
        return self.ints[chain.STATE] + self.ints[chain.WIDTH] * row

    def base(self, row: int) -> int:
        """Return the place of what a row was when last accepted."""
        return self.ints[chain.BASE] + 3 * row

    def terms(self, terms: Terms) -> tuple[int, int, int]:
        """Append a combination: place of its rows, their number, place of the factors."""
        return self.places([self.row(r) for r, _ in terms]), len(terms), self.numbers([c for _, c in terms])

    def vector(self, components: Sequence[Terms]) -> int:
        """Append a vector of combinations; its place."""
        return self.places([e for terms in components for e in self.terms(terms)])

    def body(self, carrier: Carrier) -> int:
        """Append the axes from which the turning of a body follows: one in the plane and of a rod, else three."""
        one = self.program.model.dimension == 2 or carrier.line is not None
        axes = [self.vector(a) for a in (carrier.axes[:1] if one else carrier.axes)]
        return self.places([len(axes), *axes])


# ---- groups -------------------------------------------------------------------------------------------------------
def write_items(tape: Tape) -> Sequence[tuple[ModuleType, frozenset[int]]]:
    """Write the steps in order; return the variants of group types that they are made of."""
    layout = layout_of(tape.program)
    assert layout is not None, "a mechanism with a cam has no program of groups"
    known = variants(layout)
    entries: list[list[int]] = []
    buffer = 0
    for item in layout.items:
        if isinstance(item, Combined):
            rows = [(tape.row(r), *tape.terms(tuple(t))) for r, t in zip(item.rows, item.terms, strict=True)]
            table = tape.places([e for row in rows for e in row])
            entries.append([chain.COMBINED, len(rows), table, 0, 0, 0, 0, 0])
        elif isinstance(item, Angle):
            places = [tape.row(item.row), tape.row(item.x), tape.row(item.y), tape.base(item.row)]
            entries.append([chain.ANGLE, *places, 0, 0, 0])
        else:
            entries.append(_group(tape, item, kind_of(item, layout, known)))
            buffer = max(buffer, 3 * len(item.points))
    tape.ints[chain.ITEMS] = len(entries)
    tape.ints[chain.ITEM] = tape.places([e for entry in entries for e in entry])
    tape.ints[chain.POINTS] = tape.numbers([0.0] * buffer)
    tape.ints[chain.BRIDGE] = tape.numbers([0.0] * 3)
    return known


def _group(tape: Tape, item: Entry, kind: int) -> list[int]:
    m = item.module
    r, n = len(m.DEPENDENT), len(m.BRANCHES)
    h = tape.places([tape.row(row) for row in item.h_rows])
    own = [tape.row(row) for row in item.phi_rows]
    phi = tape.places([*own, *(tape.base(row) for row in item.phi_rows), n])
    bridge = tape.numbers([0.0] * (1 + n + 3 * chain.TERMS * r)) if m.CLOSED_FORM and n else 0
    points = tape.places([tape.row(row) for row in item.points]) if item.points else -1
    par, signs = tape.numbers(item.par), tape.numbers(item.signs)
    return [kind, h, phi, par, signs, bridge, points, tape.numbers([0.0] * m.WORK)]


# ---- masses: constant on the rows ---------------------------------------------------------------------------------
def write_masses(tape: Tape, model: Model, inertia: Inertia, gravity: Array) -> None:
    """Write the constant mass matrix of all rows and the weight on them.

    Origin and axes of a body are linear in the rows, and so are the velocity of its centre and the rates of its axes,
    in which its kinetic energy is quadratic with constant coefficients (natural coordinates).
    """
    M: dict[int, dict[int, float]] = {}
    weight: dict[int, float] = {}
    still = tape.program.constants

    def add(one: Terms, two: Terms, mass: float) -> None:
        for r, a in one:
            if r not in still and mass != 0.0:
                of_row = M.setdefault(r, {})
                for s, b in two:
                    if s not in still:
                        of_row[s] = of_row.get(s, 0.0) + mass * a * b

    for k, name in enumerate(model.bodies):
        carrier, m = tape.program.carriers[name], float(inertia.mass[k])
        for c, terms in enumerate(carrier.point(inertia.centre[k])):
            add(terms, terms, m)
            for row, factor in terms:
                weight[row] = weight.get(row, 0.0) + m * float(gravity[c]) * factor
        for a, one in enumerate(carrier.axes):
            for b, two in enumerate(carrier.axes):
                share = _second_moment(model, carrier, inertia.about_centre[k], a, b)
                for p, q in zip(one, two, strict=True):
                    add(p, q, share)
    entries: list[int] = []
    for row in sorted(M):
        entries += [tape.row(row), *tape.terms(tuple(sorted(M[row].items())))]
    tape.ints[chain.MASSES], tape.ints[chain.MASS_AT] = len(M), tape.places(entries)
    tape.ints[chain.WEIGHT] = tape.numbers([weight.get(row, 0.0) for row in sorted(M)])
    f = tape.free
    tape.ints[chain.MATRIX] = tape.numbers([0.0] * (f * f))
    tape.ints[chain.VECTOR] = tape.numbers([0.0] * (2 * f))


def _second_moment(model: Model, carrier: Carrier, about: Array, a: int, b: int) -> float:
    """Return the factor of the rates of axes a and b in twice the kinetic energy about the centre."""
    if model.dimension == 2:
        return float(about) if a == b == 0 else 0.0
    if carrier.line is not None:
        line = carrier.line[1]
        return 0.5 * float(np.trace(about) - line @ about @ line)
    return float((0.5 * np.trace(about) * np.eye(3) - about)[a, b])


# ---- functions of time --------------------------------------------------------------------------------------------
def write_functions(tape: Tape, functions: Sequence[Function]) -> None:
    """Write the functions of time; the order is that of their values, each with two derivatives behind it."""
    written = write(functions)
    tape.ints[chain.N_FUNCTIONS], tape.ints[chain.FUNCTION] = len(functions), tape.places(written.code.tolist())
    tape.ints[chain.FUNCTION_ROWS] = tape.places(range(len(functions)))
    tape.ints[chain.FUNCTION_NUMBERS] = tape.numbers(written.numbers.tolist())
    tape.ints[chain.VALUES] = tape.numbers([0.0] * (3 * len(functions)))
    tape.ints[chain.FUNCTION_WORK] = tape.numbers([0.0] * len(written.work()))


# ---- loads, angles, candidates ------------------------------------------------------------------------------------
def write_loads(tape: Tape, model: Model, functions: list[Function]) -> dict[str, int]:
    """Write all loads but weight, append their functions of time; return the places of the torsion springs' turns."""
    carriers, entries, turns = tape.program.carriers, [], {}

    def function(parts: Sequence[Function]) -> list[int]:
        at = len(functions)
        functions.extend(parts)
        return [at + i for i in range(len(parts))]

    for load in model.loads:
        match load:
            case PointForce():
                entry = [loads.FORCE, tape.vector(carriers[load.body].point(load.point)), *function(load.force)]
            case Torque():
                entry = [loads.TORQUE, tape.body(carriers[load.body]), *function(load.torque)]
            case Spring():
                one, two = (carriers[b].point(p) for b, p in zip(load.bodies, load.ends, strict=True))
                way = [_sum((1.0, q), (-1.0, p)) for p, q in zip(one, two, strict=True)]
                numbers = tape.numbers([load.stiffness, load.length, load.damping])
                entry = [loads.SPRING, tape.vector(way), 0, 0, 0, 0, 0, 0, numbers]
            case TorsionSpring():
                entry = [loads.TORSION, *_angle(tape, model.joints[load.joint])]
                numbers = tape.numbers([load.stiffness, load.angle, load.damping])
                turns[load.name] = tape.numbers([0.0, 0.0])
                entry = [*entry, *[0] * (8 - len(entry)), numbers, turns[load.name]]
        entries += [*entry, *[0] * (loads.LOAD_SIZE - len(entry))]
    tape.ints[chain.LOADS], tape.ints[chain.LOAD_AT] = len(model.loads), tape.places(entries)
    tape.ints[chain.TURNS] = len(turns)
    return turns


def write_angles(tape: Tape, model: Model) -> None:
    """Write the planar bodies whose angles are followed, in the order of the model."""
    carriers = [tape.program.carriers[b] for b in model.bodies] if model.dimension == 2 else []
    axes = [tape.vector(c.axes[0]) for c in carriers]
    tape.ints[chain.BODIES] = len(axes)
    tape.ints[chain.BODY_AT] = tape.places(axes)
    tape.ints[chain.ANGLES] = tape.numbers([0.0] * (3 * len(axes)))


def write_candidates(tape: Tape, model: Model, candidates: Sequence[Coordinate]) -> None:
    """Write the joint coordinates that might serve; behind their lengths, those of the ones in use."""
    carriers, entries = tape.program.carriers, []
    for coordinate in candidates:
        joint = model.joints[coordinate.joint]
        if coordinate.kind == "angle":
            entries += [loads.ANGULAR, *_angle(tape, joint)]
        else:
            first, second = carriers[joint.first], carriers[joint.second]
            way = [_sum((1.0, q), (-1.0, p)) for p, q in zip(first.point(joint.a), second.point(joint.b), strict=True)]
            entries += [loads.LINEAR, tape.vector(first.vector(joint.axis_a)), tape.vector(way), 0]
    tape.ints[chain.CANDIDATES], tape.ints[chain.CANDIDATE_AT] = len(candidates), tape.places(entries)
    tape.ints[chain.LENGTHS] = tape.numbers([1.0] * (len(candidates) + tape.free))


def _angle(tape: Tape, joint: Joint) -> list[int]:
    """Write the directions from which a joint's angle follows: two of the first body, one of the second."""
    first, second = tape.program.carriers[joint.first], tape.program.carriers[joint.second]
    if tape.program.model.dimension == 2:
        vectors = (first.axes[0], first.axes[1], second.axes[0])
    else:
        across = np.cross(joint.axis_a, joint.normal_a)
        vectors = (first.vector(joint.normal_a), first.vector(across), second.vector(joint.normal_b))
    return [tape.vector(v) for v in vectors]
