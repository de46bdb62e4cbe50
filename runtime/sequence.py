"""A program as the sequencer reads it: a table of integers per item, one vector of numbers, and addresses by phase.

Numbers that follow from the file's parameters (lengths, coefficients, the sketch) all stand in `numbers`, so that a
design is a vector; rows and places stand in `tables` and depend on the structure alone.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence as Listed
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mechanism.functions import Expression
from ..mechanism.numbers.traced import Traced
from ..mechanism.plans.plan import Array
from ..mechanism.tables import Table
from .cam_profiles import WrittenProfile
from .driver_motions import refuse
from .group_type import GroupType
from .outputs import JOINT_KINDS, Output
from .program import ZERO, AngleStep, GroupStep, LinearStep, Program, Terms
from .time_functions import TimeFunctions, write
from .time_functions import values as time_values

Ints = NDArray[np.int64]
FOLDED_FROM = 40_000  # lanes times groups from which it pays to compile sweeps without the rates of constants
SOLVED_KINDS = ("group", "points", "combination", "angle")  # what a motion is made of
AT_ONCE_FROM = 10_000  # lanes from which it pays to compile Newton for all lanes at once
EMPTY_INTS, EMPTY = np.zeros(0, dtype=np.int64), np.zeros((0, 0))


@dataclass(frozen=True, eq=False)
class Item:
    """One item: its step of the program, where its table begins, and for a group the places that others ask for."""

    step: GroupStep | LinearStep | AngleStep | None
    kind: str  # constants, group, points, combination, angle; own constants and body angle: on request
    place: int
    mask: int = 0  # bits of the known coordinates that never change
    sign_place: int = 0

    @property
    def group(self) -> GroupType | None:
        return self.step.solver.group if self.kind in ("group", "points") and isinstance(self.step, GroupStep) else None

    @property
    def group_step(self) -> GroupStep | None:
        """The step of an item that is a group (not its points)."""
        return self.step if self.kind == "group" and isinstance(self.step, GroupStep) else None

    @property
    def closed(self) -> bool:
        return self.group is not None and bool(self.group.module.CLOSED_FORM)

    @property
    def serial(self) -> bool:
        """Whether a lane goes on from the lane before it."""
        return self.kind == "angle" or (self.kind == "group" and not self.closed)


@dataclass(eq=False)
class Sequence:
    """The items of a program in their order."""

    program: Program
    items: list[Item] = field(default_factory=list)
    ints: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)  # floats, or numbers that know their parameters
    n_signs: int = 0
    n_work: int = 64
    profiles: list[WrittenProfile] = field(default_factory=list)  # arrays whose addresses stand in the tables
    inner: tuple[Any, Array] | None = None  # what inner times were last found for, and they
    _constants: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        program = self.program
        self.size_place = self._number(program.model.size)
        constants = sorted(program.constants)
        self._add(None, "constants", [len(constants), *self._paired(constants, program.constants)])
        for step in program.steps:
            if isinstance(step, GroupStep):
                self._group(step)
            elif isinstance(step, LinearStep):
                table = [len(step.rows)]
                for row, terms in zip(step.rows, step.terms, strict=True):
                    table += [row, len(terms)]
                    for source, factor in terms:
                        table += [source, self._number(factor)]
                self._add(step, "combination", table)
            else:
                self._angle(step, "angle", step.row, step.near, ((step.x, 1.0),), ((step.y, 1.0),))
        self.body_angles: dict[str, int] = {}
        for body, row in program.angle_rows.items():
            self.body_angles[body] = len(self.items)
            self._angle(None, "body angle", row, program.model.bodies[body].angle, *program.carriers[body].axes[0])
        own = [row for row in constants if isinstance(program.constants[row], Traced)]
        if own:  # those that differ from design to design
            pairs = self.ints[1 : 1 + 2 * len(constants)]
            places = dict(zip(pairs[::2], pairs[1::2], strict=True))
            self._add(None, "own constants", [len(own), *(x for row in own for x in (row, places[row]))])
        self.motions = self._motions()
        self.written: dict[tuple[str, str], list[tuple[Output, int] | None]] = {}
        self._outputs()
        self.tables = np.array(self.ints, dtype=np.int64)
        self.numbers = np.array([v.value if isinstance(v, Traced) else float(v) for v in self.values])
        self.traced = any(isinstance(v, Traced) for v in self.values)
        self._steps: dict[tuple[object, ...], Ints] = {}

    def with_numbers(self, numbers: Array) -> Sequence:
        """Return the same sequence with the numbers of another design as its own."""
        found = copy.copy(self)
        found.numbers = np.ascontiguousarray(numbers)
        return found

    def scratch(self) -> Array:
        """Return room that the items work in, for one thread."""
        return np.zeros(self.n_work)

    def _number(self, value: Any) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def _paired(self, rows: Listed[int], values: dict[int, Any]) -> list[int]:
        return [x for row in rows for x in (row, self._number(values[row]))]

    def _add(self, step: Any, kind: str, table: list[int], mask: int = 0, sign_place: int = 0) -> None:
        self.items.append(Item(step, kind, len(self.ints), mask, sign_place))
        self.ints += [int(x) for x in table]

    def _angle(self, step: AngleStep | None, kind: str, row: int, near: Any, x: Terms, y: Terms) -> None:
        table = [row, self._number(near)]
        for component in (x, y):
            terms = component or ((ZERO, 0.0),)
            table.append(len(terms))
            for source, factor in terms:
                table += [source, self._number(factor)]
        self._add(step, kind, table)

    def _group(self, step: GroupStep) -> None:
        m, solver = step.solver.group.module, step.solver
        par = len(self.values)
        self.values += list(solver.par)
        start = len(self.values)
        self.values += list(solver.start)
        points = [] if step.point_rows is None else [int(r) for r in step.point_rows.ravel()]
        head = [*step.h_rows, *step.phi_rows, par, start, self.size_place, self.n_signs]
        functions = [WrittenProfile(f, self.constant_place) for f in solver.profiles]
        self.profiles += functions
        sizes = [len(head) + len(functions) + len(points), *(len(f.table) for f in functions)]
        places = list(itertools.accumulate(sizes))[:-1]  # where the tables of the functions begin
        table = [*head, *places, *points, *(x for f in functions for x in f.table)]
        mask = sum(1 << i for i, row in enumerate(step.h_rows) if int(row) in self.program.constants)
        self._add(step, "group", table, mask, self.n_signs)
        if points:
            self._add(step, "points", table)
        self.n_signs += len(m.BRANCHES)
        self.n_work = max(self.n_work, m.WORK + max((f.work for f in functions), default=0), 3 * len(points))

    def _motions(self) -> TimeFunctions | None:
        """Write the drivers' functions of time; None where one is somebody's own code."""
        functions = [d.motion for d in self.program.model.drivers.values()]
        if not all(isinstance(f, Expression | Table) for f in functions):
            return None
        constants = [c for f in functions if isinstance(f, Expression) for c in f.constants.values()]
        self.moving = any(isinstance(c, Traced) for c in constants)  # drivers differ from design to design
        return write(functions, self.constant_place if self.moving else None)

    moving = False

    def constant_place(self, _: str, value: Any) -> int | None:
        """Return the place of a constant of a formula among the numbers; None where it is the same for all."""
        if not isinstance(value, Traced):
            return None
        if value.index not in self._constants:
            self._constants[value.index] = self._number(value)
        return self._constants[value.index]

    def _outputs(self) -> None:
        """Write the tables of all series that results may be asked for."""
        outputs = self.program.outputs
        for name in outputs.point_bodies:
            self.written["points", name] = [self._output(outputs.point(name))]
        for name in outputs.homes:
            self.written["bodies", name] = [self._output(outputs.body(name))]
        for name, joint in self.program.model.joints.items():
            if joint.kind in JOINT_KINDS:
                self.written["joints", name] = [self._output(part) for part in outputs.joint(name)]

    def _output(self, output: Output | None) -> tuple[Output, int] | None:
        if output is None:
            return None
        place = len(self.ints)
        self.ints += [int(x) for x in output.table(self._number, (0, 0, 0))]
        return output, place

    def drive(self, time: Array, numbers: Array, refused: bool = True) -> Array:
        """Return value and three derivatives of every driver (order, driver, lane); wrong input where one is none.

        Unless it is `refused`, it stays no number.
        """
        drivers = self.program.model.drivers
        if self.motions is None or not self.moving:
            values, bad = time_values([d.motion for d in drivers.values()], time)
        else:
            values, bad = self.motions.at(time, numbers)
        if bad and refused:
            refuse(self.program.model, values, time)
        return values

    # ---- addresses ------------------------------------------------------------------------------------------------
    def steps(self, phase: str, items: Listed[int] | None = None, folded: bool = False, at_once: bool = False) -> Ints:
        """Return the table of steps of a phase (td, 3ot, quality, columns, ...) for some items, all by default.

        `folded`: sweeps without the rates of constants. `at_once`: Newton for all lanes at once where a type has it.
        """
        chosen = tuple(range(len(self.items))) if items is None else tuple(items)
        key = (phase, chosen, folded, at_once)
        if key not in self._steps:
            found = [row for i in chosen if (row := self._step(phase, self.items[i], folded, at_once)) is not None]
            self._steps[key] = np.array(found, dtype=np.int64).reshape(len(found), 7)
        return self._steps[key]

    def _step(self, phase: str, item: Item, folded: bool, at_once: bool) -> list[int] | None:
        from .entries import entry

        mask = item.mask if folded else 0
        if phase == "positions" and item.group is not None and not item.group.steady:
            mask |= 1 << len(item.group.independent)  # with the conditioning
        address = entry(phase, item, mask)
        if address == 0:
            return None
        if item.kind != "group":
            return [address, 0, item.place, 0, -1, 0, 0]
        assert isinstance(item.step, GroupStep)
        assembly = entry("assembly", item, 0) if phase in ("td", "3ot", "positions") else 0
        settle, seeds = entry("settle", item, 0) if at_once and phase == "td" else 0, 0
        if settle:
            from .newton_lanes import compiled

            seeds = int(compiled().address)
        r = len(item.step.phi_rows) * (-1 if item.closed else 1)
        return [address, assembly, item.place, len(item.step.h_rows), r, settle, seeds]

    def of_kind(self, *kinds: str) -> list[int]:
        """Return the numbers of the items of some kinds."""
        return [i for i, item in enumerate(self.items) if item.kind in kinds]

    def folded(self, lanes: int) -> bool:
        """Return whether the work pays for sweeps without the rates of constants."""
        return lanes * len(self.groups) >= FOLDED_FROM

    @cached_property
    def groups(self) -> dict[str, int]:
        """The numbers of the items that are groups, by name."""
        found = {}
        for i, item in enumerate(self.items):
            if item.group_step is not None:
                found[item.group_step.plan.name] = i
        return found

    def numbers_of(self, step: GroupStep, numbers: Array) -> tuple[Array, Array]:
        """Return parameters and the sketch's φ of a group, of one design."""
        s, r, n_par = len(step.h_rows), len(step.phi_rows), len(step.solver.group.parameters)
        place = self.items[self.groups[step.plan.name]].place + s + r
        par, start = self.tables[place : place + 2].tolist()
        return numbers[par : par + n_par], numbers[start : start + r]

    # ---- running --------------------------------------------------------------------------------------------------
    def run(
        self,
        phase: str,
        t: Array,
        state: Array,
        edges: Ints,
        signs: Array,
        items: Listed[int] | None = None,
        out: Array | None = None,
        changes: Array | None = None,
        modes: Ints = EMPTY_INTS,
        report: Array = EMPTY,
        numbers: Array | None = None,
        columns: int = 0,
        block: int | None = None,
        start: int = 0,
    ) -> tuple[Ints, int]:
        """Run a phase over the lanes edges[0] to edges[-1] - 1; the first lane lost per step, and Newton's iterations.

        `signs` has a row per stretch between two edges. `out` is the state itself unless it is given: of columns it
        is (order, column times row, lane). `start` is the lane at which Newton begins from the φ that stands there.
        What a run notes is its own: several threads may be in here, with one program and different times.
        """
        from .sequencer import (  # fmt: skip
            BLOCK,
            CALL_SIZE,
            CHANGE_STRIDE,
            COLUMN_STRIDE,
            COLUMNS,
            ITERATIONS,
            START,
            STRIDE,
            sequence,
        )

        lanes = int(edges[-1] - edges[0])
        steps = self.steps(phase, items, self.folded(lanes), lanes >= AT_ONCE_FROM)
        call = np.zeros(CALL_SIZE, dtype=np.int64)
        out = state if out is None else out
        call[STRIDE], call[START], call[ITERATIONS] = state.shape[2], start, 0
        call[COLUMNS], call[COLUMN_STRIDE] = columns, state.shape[1] * state.shape[2]
        changes = EMPTY if changes is None else changes
        call[CHANGE_STRIDE] = changes.shape[-1]
        lost = np.full(len(steps), np.iinfo(np.int64).max)
        sequence(
            steps, self.tables, self.numbers if numbers is None else numbers, changes, signs, edges, t, state, out,
            call, self.scratch(), block or BLOCK, lost, modes, report,
        )  # fmt: skip
        return lost, int(call[ITERATIONS])
