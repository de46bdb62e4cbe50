"""Groups as rows of index tables: what a compiled program module needs to run a mechanism of any size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .plan import Array
from .program import AngleStep, GroupStep, LinearStep, Program

Ints = NDArray[np.int64]
MOST_VARIANTS = 2  # of one type; with more of them, only what is constant in all counts
COMBINED, ANGLE, POINTS = -1, -2, 1000


@dataclass(frozen=True, eq=False)
class Entry:
    """One group: its type's module, the rows of h and φ, its parameters and branch signs; `points` are rows or none."""

    module: ModuleType
    h_rows: Sequence[int]
    phi_rows: Sequence[int]
    par: Sequence[float]
    signs: Sequence[float]
    points: Sequence[int] = ()


@dataclass(frozen=True, eq=False)
class Combined:
    """Rows that are linear combinations of rows."""

    rows: Sequence[int]
    terms: Sequence[Sequence[tuple[int, float]]]


@dataclass(frozen=True, eq=False)
class Angle:
    """A row that is the continuous angle of the direction in the rows x and y."""

    row: int
    x: int
    y: int


Item = Entry | Combined | Angle


@dataclass(frozen=True, eq=False)
class Layout:
    """Items in order, which rows never change, and which are driven."""

    items: tuple[Item, ...]
    constants: frozenset[int]
    driven: tuple[int, ...]
    n_rows: int


@dataclass
class Columns:
    """Lists of any lengths one after the other, and where each begins."""

    start: list[int] = field(default_factory=lambda: [0])
    values: list[Any] = field(default_factory=list)

    def add(self, values: Sequence[Any]) -> None:
        self.values += list(values)
        self.start.append(len(self.values))

    def ints(self) -> tuple[Ints, Ints]:
        return np.array(self.start, dtype=np.int64), np.array(self.values, dtype=np.int64)

    def floats(self) -> tuple[Ints, Array]:
        return np.array(self.start, dtype=np.int64), np.array(self.values, dtype=np.float64)


def layout_of(program: Program, signs: dict[str, Array] | None = None) -> Layout | None:
    """Return the layout of a program; None where a step has no compiled form (groups in absolute coordinates)."""
    items: list[Item] = []
    for step in program.steps:
        if isinstance(step, GroupStep):
            m = step.solver.group.module
            sign = np.ones(len(m.BRANCHES)) if signs is None else signs[step.plan.name]
            points = () if step.point_rows is None else tuple(int(r) for r in step.point_rows.ravel())
            h_rows, phi_rows = (tuple(int(r) for r in part) for part in (step.h_rows, step.phi_rows))
            items.append(Entry(m, h_rows, phi_rows, tuple(step.solver.par), tuple(sign), points))
        elif isinstance(step, LinearStep):
            items.append(Combined(step.rows, step.terms))
        elif isinstance(step, AngleStep):
            items.append(Angle(step.row, step.x, step.y))
        else:
            return None
    return Layout(tuple(items), frozenset(program.constants), tuple(program.drivers.values()), program.n_rows)


def variants(layout: Layout) -> tuple[tuple[ModuleType, frozenset[int]], ...]:
    """Return the types with their constant coordinates, in the order of their numbers."""
    masks: dict[str, set[frozenset[int]]] = {}
    modules: dict[str, ModuleType] = {}
    for item in layout.items:
        if isinstance(item, Entry):
            modules[item.module.__name__] = item.module
            masks.setdefault(item.module.__name__, set()).add(_mask(item, layout.constants))
    found = []
    for name in sorted(modules):
        several = sorted(masks[name], key=sorted)
        if len(several) > MOST_VARIANTS:
            several = [frozenset.intersection(*several)]
        found += [(modules[name], mask) for mask in several]
    return tuple(found)


def _mask(item: Entry, constants: frozenset[int]) -> frozenset[int]:
    return frozenset(i for i, row in enumerate(item.h_rows) if row in constants)


def kind_of(item: Entry, layout: Layout, known: Sequence[tuple[ModuleType, frozenset[int]]]) -> int:
    """Return the number of the variant of a group: the one that has most of its constants."""
    mask = _mask(item, layout.constants)
    fitting = [i for i, (m, c) in enumerate(known) if m is item.module and c <= mask]
    return max(fitting, key=lambda i: len(known[i][1]))


def modular_tables(layout: Layout) -> tuple[Any, ...]:
    """Return the index tables for the sweep group by group."""
    known = variants(layout)
    kinds: list[int] = []
    h, phi, par, signs, terms, factors = Columns(), Columns(), Columns(), Columns(), [], [0.0]
    for item in layout.items:
        assert not isinstance(item, Angle)
        terms.append(len(factors))
        if isinstance(item, Combined):
            kinds.append(COMBINED)
            h.add([r for part in item.terms for r, _ in part])
            phi.add(item.rows)
            par.add(())
            signs.add(())
            for part in item.terms:
                factors += [float(len(part)), *(c for _, c in part)]
            continue
        kinds.append(kind_of(item, layout, known))
        h.add(item.h_rows)
        phi.add(item.phi_rows)
        par.add(item.par)
        signs.add(item.signs)
    none = np.zeros(len(kinds) + 1, dtype=np.int64)
    return (
        (np.array(kinds, dtype=np.int64), *h.ints(), *phi.ints(), *par.floats(), none, signs.floats()[0],
         np.array(terms, dtype=np.int64), np.array(factors)),
        signs.floats()[1],
    )  # fmt: skip
