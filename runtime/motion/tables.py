"""Groups as rows of index tables: what a compiled module of a set of types needs to run a mechanism of any size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from .plan import Array
from .program import AngleStep, GroupStep, LinearStep, Program

MOST_VARIANTS = 2  # of one type; with more of them, only what is constant in all counts


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
