"""A program, its masses, loads and coordinates written into the two flat arrays that the compiled parts read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..mechanism.model import Array, Function, Joint, Model, PointForce, Spring, Torque, TorsionSpring
from ..runtime.program import Program, RowCarrier, Terms, _sum
from ..runtime.sequence import SOLVED_KINDS
from ..runtime.sequencer import ADDRESS, COLUMN_STRIDE, COLUMNS, PLACE, REPORT_SIZE, STRIDE
from ..runtime.time_functions import write
from . import array_heads as chain
from . import load_kernels as loads
from .coordinates import JointCoordinate
from .inertia import Inertia

Ints = NDArray[np.int64]


@dataclass
class SetArrays:
    """The arrays while they grow: places of rows, combinations, vectors, and numbers."""

    program: Program
    free: int
    ints: list[int] = field(default_factory=lambda: [0] * chain.HEAD)
    floats: list[float] = field(default_factory=lambda: [0.0] * chain.HEAD_FLOATS)

    def __post_init__(self) -> None:
        n = self.program.n_rows
        self.ints[chain.FREE], self.ints[chain.ROWS] = self.free, n
        self.ints[chain.DIMENSION] = self.program.model.dimension
        self.ints[chain.STATE] = self.numbers([0.0] * (n * (3 + self.free)))
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
        return self.ints[chain.STATE] + row

    def base(self, row: int) -> int:
        """Return the place of what a row was when last accepted."""
        return self.ints[chain.BASE] + row

    def terms(self, terms: Terms) -> tuple[int, int, int]:
        """Append a combination: place of its rows, their number, place of the factors."""
        return self.places([self.row(r) for r, _ in terms]), len(terms), self.numbers([c for _, c in terms])

    def vector(self, components: Sequence[Terms]) -> int:
        """Append a vector of combinations; its place."""
        return self.places([e for terms in components for e in self.terms(terms)])

    def body(self, carrier: RowCarrier) -> int:
        """Append the axes from which the turning of a body follows: one in the plane and of a rod, else three."""
        one = self.program.model.dimension == 2 or carrier.line is not None
        axes = [self.vector(a) for a in (carrier.axes[:1] if one else carrier.axes)]
        return self.places([len(axes), *axes])


# ---- what the sequencer reads -------------------------------------------------------------------------------------
def write_sequence(tape: SetArrays, alone: int | None) -> dict[str, Ints]:
    """Write the program as the sequencer reads it with one lane; return per group what a bridge over it needs.

    `alone` is the row of the free coordinate where nothing else moves the mechanism: then its unit rate gives R without
    columns, and bridges may lead over it. Behind the numbers of the program come the series of bridges, behind its
    tables those of the groups on them.
    """
    sequence, ints = tape.program.sequence, tape.ints
    items = sequence.of_kind(*SOLVED_KINDS)
    solving, carrying = sequence.steps("td", items), sequence.steps("columns", items if alone is None else [])
    quality = sequence.steps("quality", list(sequence.groups.values()))
    ints[chain.N_SOLVING], ints[chain.SOLVING] = len(solving), tape.places(solving.ravel().tolist())
    ints[chain.N_CARRYING], ints[chain.CARRYING] = len(carrying), tape.places(carrying.ravel().tolist())
    ints[chain.N_QUALITY], ints[chain.QUALITY] = len(quality), tape.places(quality.ravel().tolist())
    ints[chain.LOST] = tape.places([0] * max(len(solving), len(carrying), len(quality)))
    ints[chain.EDGES] = tape.places([0, 1])
    call = np.zeros(16, dtype=np.int64)
    call[STRIDE], call[COLUMNS], call[COLUMN_STRIDE] = 1, tape.free, tape.program.n_rows
    ints[chain.CALL] = tape.places(call.tolist())
    ints[chain.N_SIGNS], ints[chain.SIGNS] = sequence.n_signs, tape.numbers([1.0] * sequence.n_signs)
    ints[chain.N_WORK], ints[chain.WORK] = sequence.n_work, tape.numbers([0.0] * sequence.n_work)
    ints[chain.KAPPA] = tape.numbers([0.0] * 3)
    ints[chain.REPORT] = tape.numbers([0.0] * (REPORT_SIZE * len(quality)))
    ints[chain.NUMBERS] = tape.numbers(sequence.numbers.tolist())
    ints[chain.TABLES] = tape.places(sequence.tables.tolist())
    ints[chain.ALONE], bridged = alone is not None, {} if alone is None else _bridges(tape, alone, solving)
    ints[chain.N_NUMBERS] = len(tape.floats) - ints[chain.NUMBERS]
    ints[chain.N_TABLES] = len(tape.ints) - ints[chain.TABLES]
    ints[chain.BRIDGE_AT] = tape.places([0] * (chain.BRIDGED_SIZE * len(bridged)))
    _predicted(tape)
    return bridged


def _bridges(tape: SetArrays, coordinate: int, solving: Ints) -> dict[str, Ints]:
    """Make room for the polynomials of all groups whose branches may meet; return their entries by name."""
    sequence, ints = tape.program.sequence, tape.ints
    ints[chain.BRIDGE] = tape.numbers([0.0] * 3)
    found = {}
    for name, i in sequence.groups.items():
        item = sequence.items[i]
        step = item.group_step
        assert step is not None
        n, r = len(step.solver.group.module.BRANCHES), len(step.phi_rows)
        assert not step.solver.group.module.RHEONOMIC, "groups of a mechanism know the time by their drivers only"
        if not item.closed or n == 0:
            continue
        own = int(np.flatnonzero(solving[:, PLACE] == item.place)[0])
        sides, series = tape.numbers([0.0] * (2 * n)), tape.numbers([0.0] * (3 * chain.TERMS * r))
        places = [part - ints[chain.NUMBERS] for part in (ints[chain.BRIDGE], series)]
        table = tape.places([r, coordinate, *places, *step.phi_rows]) - ints[chain.TABLES]
        entry = [own, solving[own, ADDRESS], item.place, 0, table, item.sign_place, n, sides]
        found[name] = np.array(entry, dtype=np.int64)
    return found


def _predicted(tape: SetArrays) -> None:
    """Write which rows are predicted and where to: φ of Newton's groups in their rows, angles in their numbers."""
    sequence = tape.program.sequence
    pairs: list[int] = []
    for item in sequence.items:
        if item.group_step is not None and not item.closed:
            for row in item.group_step.phi_rows:
                pairs += [tape.base(int(row)), tape.row(int(row))]
        elif item.kind == "angle":
            row, near = sequence.tables[item.place : item.place + 2].tolist()
            pairs += [tape.base(row), tape.ints[chain.NUMBERS] + near]
    tape.ints[chain.PREDICTED], tape.ints[chain.PREDICTED_AT] = len(pairs) // 2, tape.places(pairs)


# ---- masses: constant on the rows ---------------------------------------------------------------------------------
def write_masses(tape: SetArrays, model: Model, inertia: Inertia, gravity: Array) -> None:
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
    tape.ints[chain.VECTOR] = tape.numbers([0.0] * f)


def _second_moment(model: Model, carrier: RowCarrier, about: Array, a: int, b: int) -> float:
    """Return the factor of the rates of axes a and b in twice the kinetic energy about the centre."""
    if model.dimension == 2:
        return float(about) if a == b == 0 else 0.0
    if carrier.line is not None:
        line = carrier.line[1]
        return 0.5 * float(np.trace(about) - line @ about @ line)
    return float((0.5 * np.trace(about) * np.eye(3) - about)[a, b])


# ---- functions of time --------------------------------------------------------------------------------------------
def write_functions(tape: SetArrays, functions: Sequence[Function]) -> None:
    """Write the functions of time; the order is that of their values, each with two derivatives behind it."""
    written = write(functions)
    tape.ints[chain.N_FUNCTIONS], tape.ints[chain.FUNCTION] = len(functions), tape.places(written.code.tolist())
    tape.ints[chain.FUNCTION_ROWS] = tape.places(range(len(functions)))
    tape.ints[chain.FUNCTION_NUMBERS] = tape.numbers(written.numbers.tolist())
    tape.ints[chain.VALUES] = tape.numbers([0.0] * (3 * len(functions)))
    tape.ints[chain.FUNCTION_WORK] = tape.numbers([0.0] * len(written.work()))


# ---- loads, angles, candidates ------------------------------------------------------------------------------------
def write_loads(tape: SetArrays, model: Model, functions: list[Function]) -> dict[str, int]:
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


def write_angles(tape: SetArrays, model: Model) -> None:
    """Write the planar bodies whose angles are followed, in the order of the model."""
    carriers = [tape.program.carriers[b] for b in model.bodies] if model.dimension == 2 else []
    axes = [tape.vector(c.axes[0]) for c in carriers]
    tape.ints[chain.BODIES] = len(axes)
    tape.ints[chain.BODY_AT] = tape.places(axes)
    tape.ints[chain.ANGLES] = tape.numbers([0.0] * (3 * len(axes)))


def write_candidates(tape: SetArrays, model: Model, candidates: Sequence[JointCoordinate]) -> None:
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


def _angle(tape: SetArrays, joint: Joint) -> list[int]:
    """Write the directions from which a joint's angle follows: two of the first body, one of the second."""
    first, second = tape.program.carriers[joint.first], tape.program.carriers[joint.second]
    if tape.program.model.dimension == 2:
        vectors = (first.axes[0], first.axes[1], second.axes[0])
    else:
        across = np.cross(joint.axis_a, joint.normal_a)
        vectors = (first.vector(joint.normal_a), first.vector(across), second.vector(joint.normal_b))
    return [tape.vector(v) for v in vectors]
