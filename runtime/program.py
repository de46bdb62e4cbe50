"""Plans -> program: every group bound to its solver, every coordinate to a row of the state, steps in order.

The state is q[row, step] with its two time derivatives. A step either sweeps a group over the time steps, forms
linear combinations of rows (further points and directions of bodies that are solved), or follows a continuous angle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..mechanism.model import FRAME, Model
from ..mechanism.numbers.arithmetic import identity, is_one, is_zero, norm, plane, scalar
from ..mechanism.plans.plan import (
    Along,
    Angle,
    AngleOf,
    Array,
    Axes,
    Between,
    FoundBy,
    GroupPlan,
    Placement,
    PointName,
    PointOf,
    Source,
    Spanned,
    SumOf,
    ValueOf,
    VectorName,
    VectorOf,
)
from ..mechanism.plans.spatial_draft import WHEEL_TURN
from .solvers import Progress, Solver, bind

if TYPE_CHECKING:
    from .outputs import Outputs
    from .sequence import Sequence as Sequenced

Rows = NDArray[np.int64]
Terms = tuple[tuple[int, float], ...]  # (row, coefficient): a linear combination of rows
ZERO, ONE = 0, 1  # rows that hold these numbers


@dataclass(frozen=True, eq=False)
class GroupStep:
    """Sweep of one group: rows of what is known, of what it finds, and of its points of interest."""

    plan: GroupPlan
    solver: Solver
    h_rows: Rows
    phi_rows: Rows
    point_rows: Rows | None


@dataclass(frozen=True, eq=False)
class LinearStep:
    """row = Σ coefficient · row, for several rows at once."""

    rows: tuple[int, ...]
    terms: tuple[Terms, ...]


@dataclass(frozen=True, eq=False)
class AngleStep:
    """row = continuous angle of a body, whose x axis is in the rows x and y, beginning next to `near`."""

    row: int
    x: int
    y: int
    near: float
    body: str


Step = GroupStep | LinearStep | AngleStep
Place = Callable[[PointName | VectorName], tuple[Terms, ...]]  # of a coordinate of a group, or of a point of a body


def _between(begin: tuple[Terms, ...], end: tuple[Terms, ...]) -> tuple[Terms, ...]:
    """Return the vector from one point to another."""
    return tuple(_sum((1.0, b), (-1.0, a)) for a, b in zip(begin, end, strict=True))


def _sum(*parts: tuple[float, Terms]) -> Terms:
    total: dict[int, float] = {}
    for factor, terms in parts:
        for row, c in terms:
            total[row] = total.get(row, 0.0) + factor * c
    return tuple((r, c) for r, c in total.items() if not is_zero(c))


@dataclass(frozen=True)
class RowCarrier:
    """A body that is solved: its origin and axes as linear combinations of rows, each a tuple of components.

    A rod has no axes of its own: `line` is (point of the line in its axes, direction), and its one axis `axes[0]`
    is the line's direction.
    """

    origin: tuple[Terms, ...]
    axes: tuple[tuple[Terms, ...], ...]
    line: tuple[Array, Array] | None = None
    angle: tuple[int, float] | None = None  # row of a continuous angle, and what to add to it

    def vector(self, local: Array) -> tuple[Terms, ...]:
        if self.line is not None:
            return tuple(_sum((scalar(local @ self.line[1]), x)) for x in self.axes[0])
        return tuple(
            _sum(*((scalar(c), axis[i]) for c, axis in zip(local, self.axes, strict=True)))
            for i in range(len(self.origin))
        )

    def point(self, local: Array) -> tuple[Terms, ...]:
        way = self.vector(local if self.line is None else local - self.line[0])
        return tuple(_sum((1.0, o), (1.0, w)) for o, w in zip(self.origin, way, strict=True))


@dataclass(eq=False)
class Program:
    """The steps of a mechanism and where everything stands in the state."""

    model: Model
    steps: list[Step] = field(default_factory=list)
    constants: dict[int, float] = field(default_factory=lambda: {ZERO: 0.0, ONE: 1.0})
    drivers: dict[str, int] = field(default_factory=dict)  # driver -> row
    carriers: dict[str, RowCarrier] = field(default_factory=dict)
    angle_rows: dict[str, int] = field(default_factory=dict)  # body -> row of its continuous angle, for results
    n_rows: int = 2

    @cached_property
    def sequence(self) -> Sequenced:
        """The program as the sequencer reads it; no step may be added any more."""
        from .sequence import Sequence

        return Sequence(self)

    @cached_property
    def turning_rows(self) -> list[int]:
        """Rows of angles that are coordinates, of gears and the like, where a group may be lost by what they drive."""
        if all(s.solver.group.steady for s in self.steps if isinstance(s, GroupStep)):
            return []
        angles = {carrier.angle[0] for carrier in self.carriers.values() if carrier.angle is not None}
        for step in (s for s in self.steps if isinstance(s, GroupStep) and not s.plan.named):
            own = step.solver.group.dependent
            wheels = [own.index(mine) for name, mine in step.solver.names.items() if name.startswith(WHEEL_TURN)]
            angles |= {int(row) for row in step.phi_rows[wheels]}
        return sorted(angles - set(self.drivers.values()))

    @cached_property
    def wheels(self) -> dict[str, list[tuple[int, int, float]]]:
        """Turns of wheels in space that a group before counts as well, by the name of a group.

        Each is its place among the group's unknowns, the row of the other, and -1 where their axes point apart.
        """
        found: dict[str, list[tuple[int, int, float]]] = {}
        known: dict[tuple[str, str], tuple[int, Array]] = {}
        for step in (s for s in self.steps if isinstance(s, GroupStep) and not s.plan.named):
            gears = [j for name in step.plan.joints if (j := self.model.joints[name]).kind == "gear"]
            own = step.solver.group.dependent
            counted: dict[tuple[str, str], tuple[int, Array]] = {}
            for n, gear in enumerate(gears if self.model.space == "spatial" else ()):
                first, second, carrier = gear.bodies
                for k, (wheel, axis) in enumerate(((first, gear.axis_a), (second, gear.axis_b)), 2 * n + 1):
                    place = own.index(step.solver.names[f"{WHEEL_TURN}{k}"])
                    if (wheel, carrier) in known:
                        row, other = known[wheel, carrier]
                        found.setdefault(step.plan.name, []).append((place, row, 1.0 if axis @ other > 0 else -1.0))
                    counted.setdefault((wheel, carrier), (int(step.phi_rows[place]), axis))
            known = {**counted, **known}
        return found

    @cached_property
    def outputs(self) -> Outputs:
        """What results report, by name."""
        from .outputs import Outputs

        return Outputs(self)

    def at_design(
        self, model: Model, constants: dict[int, float], carriers: dict[str, RowCarrier], numbers: Array
    ) -> Program:
        """Return this traced program for one design; its steps stay traced, only the sequence knows their numbers."""
        found = replace(self, model=model, constants=constants, carriers=carriers)
        found.__dict__["sequence"] = self.sequence.with_numbers(numbers)
        return found

    def new(self, count: int) -> Rows:
        first = self.n_rows
        self.n_rows += count
        return np.arange(first, first + count)


def build(model: Model, plans: Sequence[GroupPlan], progress: Progress) -> Program:
    """Return the program of a mechanism; types that are missing are made on the way."""
    return _Builder(model, progress).build(plans)


class _Builder:
    def __init__(self, model: Model, progress: Progress) -> None:
        self.model, self.progress = model, progress
        self.program = Program(model)
        self.made: dict[object, tuple[int, ...]] = {}
        self.places: dict[str, Place] = {}  # plan -> where its coordinates and points stand
        d = model.dimension
        axes = tuple(tuple(((ONE, 1.0),) if i == k else () for i in range(d)) for k in range(d))
        self.program.carriers[FRAME] = RowCarrier(tuple(() for _ in range(d)), axes)

    def build(self, plans: Sequence[GroupPlan]) -> Program:
        for name in self.model.drivers:
            self.program.drivers[name] = int(self.program.new(1)[0])
        for plan in plans:
            self._group(plan)
        if self.model.dimension == 2:  # rows that only results ask for
            for body, carrier in self.program.carriers.items():
                if body != FRAME and carrier.angle is None:
                    self.program.angle_rows[body] = int(self.program.new(1)[0])
        return self.program

    # ---- rows of what is known ------------------------------------------------------------------------------------
    def _known(self, source: Source) -> tuple[int, ...]:
        if isinstance(source, ValueOf):
            return (self._value(source),)
        if isinstance(source, SumOf):
            angles = tuple((self._angle(body), factor) for body, factor in source.angles)
            return self._rows((_sum((1.0, angles), (source.constant, ((ONE, 1.0),))),))
        if isinstance(source, FoundBy):
            return self._rows(self._found(source))
        key: object = (type(source).__name__, source.body)
        if not isinstance(source, AngleOf):
            key = (*key, identity(source.local))  # type: ignore[misc]
        if key not in self.made:
            if isinstance(source, AngleOf):
                self.made[key] = (self._angle(source.body),)
            else:
                carrier = self.program.carriers[source.body]
                place = carrier.point if isinstance(source, PointOf) else carrier.vector
                self.made[key] = self._rows(place(source.local))
        return self.made[key]

    def _found(self, source: FoundBy) -> tuple[Terms, ...]:
        place = self.places[source.plan]
        return place(source.end) if source.begin is None else _between(place(source.begin), place(source.end))

    def _value(self, source: ValueOf) -> int:
        row = self.program.drivers[source.driver]
        if source.sign > 0:
            return row
        return self._rows((((row, -1.0),),))[0]

    def _rows(self, combinations: Sequence[Terms]) -> tuple[int, ...]:
        """Return rows that hold combinations: the row itself where it is one, a constant, or a new row."""
        found: list[int] = []
        fresh: list[tuple[int, Terms]] = []
        for terms in combinations:
            if not terms:
                found.append(ZERO)
            elif len(terms) == 1 and is_one(terms[0][1]):
                found.append(terms[0][0])
            elif {r for r, _ in terms} <= {ONE, ZERO}:
                row = int(self.program.new(1)[0])
                self.program.constants[row] = sum(c for r, c in terms if r == ONE)
                found.append(row)
            else:
                row = int(self.program.new(1)[0])
                fresh.append((row, terms))
                found.append(row)
        if fresh:
            self.program.steps.append(LinearStep(tuple(r for r, _ in fresh), tuple(t for _, t in fresh)))
        return tuple(found)

    def _angle(self, body: str) -> int:
        carrier = self.program.carriers[body]
        if body == FRAME:
            return ZERO
        if carrier.angle is not None:
            row, offset = carrier.angle
            return self._rows((((row, 1.0), (ONE, offset)),))[0]
        x, y = self._rows(carrier.vector(np.array([1.0, 0.0])))
        row = int(self.program.new(1)[0])
        self.program.steps.append(AngleStep(row, x, y, self.model.bodies[body].angle, body))
        return row

    # ---- groups ---------------------------------------------------------------------------------------------------
    def _group(self, plan: GroupPlan) -> None:
        solver = bind(plan, self.progress)
        rows = dict(zip(plan.coordinates, (self._known(s) for s in plan.known), strict=True))
        of_symbol: dict[str, int] = {}
        for name, found in rows.items():
            of_symbol.update(zip(solver.symbols(name), found, strict=True))
        phi_rows = self.program.new(len(solver.group.dependent))
        of_symbol.update(zip(solver.group.dependent, (int(r) for r in phi_rows), strict=True))
        points = tuple(solver.points) if _names_used(plan) & solver.points.keys() else ()
        point_rows = self.program.new(len(points) * self.model.dimension).reshape(len(points), -1) if points else None
        h_rows = np.array([of_symbol[s] for s in solver.group.independent], dtype=np.int64)
        self.program.steps.append(GroupStep(plan, solver, h_rows, phi_rows, point_rows))
        named = {} if point_rows is None else {n: tuple(map(int, point_rows[i])) for i, n in enumerate(points)}

        def place(name: PointName | VectorName) -> tuple[Terms, ...]:
            if isinstance(name, PointOf):
                return self.program.carriers[name.body].point(name.local)
            if isinstance(name, VectorOf):
                return self.program.carriers[name.body].vector(name.local)
            if isinstance(name, FoundBy):
                return self._found(name)
            found = named.get(name) or tuple(of_symbol[s] for s in solver.symbols(name))
            return tuple(((r, 1.0),) if r != ZERO else () for r in found)

        self.places[plan.name] = place
        for body, placement in plan.placements.items():
            self.program.carriers[body] = self._carrier(body, placement, place)

    def _carrier(self, body: str, placement: Placement, place: Place) -> RowCarrier:
        match placement:
            case Between(P, Q, p, q):
                way = _between(place(P), place(Q))
                if self.model.dimension == 2:
                    return _planar(place(P), way, p, 1.0 / plane(*(q - p)))
                length = norm(q - p)
                unit = tuple(_sum((1.0 / length, w)) for w in way)
                return RowCarrier(place(P), (unit,), line=(p, (q - p) / length))
            case Along(P, W, p, w):
                return _planar(place(P), place(W), p, 1.0 / plane(*w))
            case Angle(axes, angle, offset):
                carrier = self._carrier(body, axes, place)
                ((row, _),) = place(angle)[0]
                return RowCarrier(carrier.origin, carrier.axes, angle=(row, offset))
            case Axes(origin, axes, point, basis):
                found = tuple(place(a) for a in axes)
                if self.model.dimension == 2 and len(found) == 1:
                    (x, y) = found[0]
                    found = (found[0], (_sum((-1.0, y)), x))
                if basis is not None:  # axis k = Σ basis[i, k] · vector i, the rows of basis being orthonormal
                    turned = RowCarrier(place(origin), found)
                    found = tuple(turned.vector(column) for column in basis.T)
                carrier = RowCarrier(place(origin), found)
                return carrier if point is None else RowCarrier(carrier.point(-point), found)
            case Spanned(origin, point, vectors, factors):
                spanned = tuple(_between(*map(place, v)) if isinstance(v, tuple) else place(v) for v in vectors)
                turned = RowCarrier(place(origin), spanned)
                whole = RowCarrier(place(origin), tuple(turned.vector(column) for column in factors.T))
                return RowCarrier(whole.point(-point), whole.axes)
        raise AssertionError(placement)


def _names_used(plan: GroupPlan) -> set[str]:
    """Return the names that the placements of a plan use and that are none of its known coordinates."""
    used: set[str] = set()
    for placement in plan.placements.values():
        match placement:
            case Between(P, Q):
                names: tuple[object, ...] = (P, Q)
            case Along(P, W):
                names = (P, W)
            case Axes(origin, axes) | Angle(Axes(origin, axes)):
                names = (origin, *axes)
            case Spanned(origin, _, vectors):
                names = (origin, *(n for v in vectors for n in (v if isinstance(v, tuple) else (v,))))
        used |= {name for name in names if isinstance(name, str)}
    return used - set(plan.coordinates)


def _planar(P: tuple[Terms, ...], way: tuple[Terms, ...], p: Array, factor: complex) -> RowCarrier:
    """Return the carrier whose point p is P and whose x axis is factor · way (complex numbers)."""
    x, y = way
    ex = (_sum((factor.real, x), (-factor.imag, y)), _sum((factor.imag, x), (factor.real, y)))
    ey = (_sum((-1.0, ex[1])), ex[0])
    origin = tuple(_sum((1.0, P[i]), (-scalar(p[0]), ex[i]), (-scalar(p[1]), ey[i])) for i in range(2))
    return RowCarrier(origin, (ex, ey))
