"""All groups of a mechanism as one Newton system: unknowns, equations, and where every Jacobian entry goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from .global_linear import Linear, dense, sparse
from .modules import program_module
from .plan import Array
from .tables import ANGLE, POINTS, Angle, Columns, Combined, Entry, Layout, kind_of, variants

SEED = 7
Terms = dict[int, float]


@dataclass(frozen=True, eq=False)
class _Block:
    """Equations of one item: kind, rows of what it knows and finds, parameters, numbers of equations and scratch."""

    kind: int
    h: tuple[int, ...]
    phi: tuple[int, ...]
    par: tuple[float, ...]
    n_equations: int
    scratch: int


@dataclass(eq=False)
class System:
    """The compiled module with the tables that it needs."""

    module: ModuleType
    tables: tuple[Any, ...]
    equations: Any
    scratch: tuple[Any, ...]
    buffers: tuple[Any, ...]
    places: tuple[Any, ...]
    combinations: tuple[Any, ...]
    unknown: Any
    driven: Any
    linear: Linear

    def run(self, time: Array, state: Array, skip: Any, clock: Array) -> tuple[int, Any]:
        """Solve all steps from the state in the first lane; the number of steps solved, and counts."""
        stats = np.zeros(3, dtype=np.int64)
        q, qdot, qddot = state
        y, F = np.zeros((3, len(q))), np.zeros(len(self.unknown))
        solved = self.module.run_global(
            time, q, qdot, qddot, self.tables, self.equations, self.scratch, self.buffers, self.places,
            self.combinations, (self.unknown, self.driven), self.linear.arguments, skip, y, F,
            len(time), stats, clock,
        )  # fmt: skip
        return int(solved), stats


def _expanded(layout: Layout) -> dict[int, Terms]:
    """Return each combined row as a combination of rows that are none."""
    found: dict[int, Terms] = {}
    for item in layout.items:
        if isinstance(item, Combined):
            for row, terms in zip(item.rows, item.terms, strict=True):
                total: Terms = {}
                for source, factor in terms:
                    for base, c in found.get(source, {source: 1.0}).items():
                        total[base] = total.get(base, 0.0) + factor * c
                found[row] = {r: c for r, c in total.items() if c != 0.0}
    return found


def _blocks(layout: Layout, known: Sequence[tuple[ModuleType, frozenset[int]]]) -> list[_Block]:
    first, scratch = [], 2
    for module, _ in known:
        first.append(scratch)
        scratch += 4 if module.POINTS else 2
    blocks = []
    for item in layout.items:
        if isinstance(item, Angle):
            blocks.append(_Block(ANGLE, (item.x, item.y), (item.row,), (), 1, 0))
        elif isinstance(item, Entry):
            kind = kind_of(item, layout, known)
            h, phi, par = tuple(item.h_rows), tuple(item.phi_rows), tuple(item.par)
            blocks.append(_Block(kind, h, phi, par, len(item.module.CONSTRAINTS), first[kind]))
            if item.points:
                points = tuple(item.points)
                blocks.append(_Block(POINTS + kind, (*phi, *h), points, par, len(points), first[kind] + 2))
    return blocks


def _arrays(known: Sequence[tuple[ModuleType, frozenset[int]]]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the scratch arrays of Jacobians and the buffers of points, in the order that the module expects."""
    scratch, buffers = [np.zeros((1, 1)), np.zeros((1, 2))], []
    for module, _ in known:
        p, r, s = len(module.CONSTRAINTS), len(module.DEPENDENT), len(module.INDEPENDENT)
        scratch += [np.zeros((p, r)), np.zeros((p, s))]
        d = 2 if module.SPACE == "planar" else 3
        buffers.append(np.zeros((max(len(module.POINTS), 1), 3, d)))
        if module.POINTS:
            m = len(module.POINTS) * d
            scratch += [np.eye(m), np.zeros((m, r + s))]
    return tuple(scratch), tuple(buffers)


def build(layout: Layout, start: Array, t: float, method: str, tuned: bool = True) -> System:
    """Return the system of a layout; `start` is the state's first order in the first lane, assembled."""
    known = variants(layout)
    module = program_module(known)
    blocks = _blocks(layout, known)
    scratch, buffers = _arrays(known)
    h, phi, par, rows = Columns(), Columns(), Columns(), Columns()
    for b in blocks:
        h.add(b.h)
        phi.add(b.phi)
        par.add(b.par)
        rows.add([0] * b.n_equations)
    kinds = np.array([b.kind for b in blocks], dtype=np.int64)
    tables = (kinds, *h.ints(), *phi.ints(), *par.floats(), rows.ints()[0])
    expanded = _expanded(layout)
    unknown = [r for b in blocks for r in b.phi]
    column = {row: i for i, row in enumerate(unknown)}

    # where entries can be other than zero: the Jacobians at poses beside the assembled one
    rng, patterns, chosen = np.random.default_rng(SEED), [], []
    base = np.zeros((3, layout.n_rows))
    base[0] = start
    none = np.zeros(0, dtype=np.int64)
    nowhere = (none,) * 8 + (np.zeros(0),)
    for g, b in enumerate(blocks):
        seen = [np.zeros_like(x) for x in scratch[b.scratch : b.scratch + 2]]
        for trial in range(3):
            y = base.copy()
            if trial:
                y[0] += 0.1 * rng.normal(size=layout.n_rows) * (1.0 + np.abs(start))
            module.group_jacobian(y, t, g, tables, scratch, buffers, nowhere, np.zeros(0))
            for total, part in zip(seen, scratch[b.scratch : b.scratch + 2], strict=True):
                total += np.abs(part)
            if trial == 0:
                chosen.append(_independent(scratch[b.scratch], len(b.phi)))
        patterns.append((seen[0] != 0.0, seen[1] != 0.0))
    entries: dict[tuple[int, int], int] = {}
    equations: list[int] = []
    n_equations = 0
    own: list[tuple[int, int, int]] = []  # row and column of Φ_φ, and the number of the entry
    given: list[tuple[int, int, int, float]] = []  # the same of Φ_h, with a factor
    own_start, given_start = [0], [0]
    for b, keep, (J, H) in zip(blocks, chosen, patterns, strict=True):
        number = {row: n_equations + i for i, row in enumerate(keep)}
        n_equations += len(keep)
        equations += [number.get(i, -1) for i in range(b.n_equations)]
        for i in keep:
            for j in np.flatnonzero(J[i]):
                at = entries.setdefault((column[b.phi[j]], number[i]), len(entries))
                own.append((i, int(j), at))
            for j in np.flatnonzero(H[i]):
                for source, c in expanded.get(b.h[j], {b.h[j]: 1.0}).items():
                    if source in column:
                        at = entries.setdefault((column[source], number[i]), len(entries))
                        given.append((i, int(j), at, c))
        own_start.append(len(own))
        given_start.append(len(given))
    assert n_equations == len(unknown)
    order = sorted(entries)
    n = len(unknown)
    full = method == "global"  # by rows; a sparse matrix by columns
    position = {e: e[1] * n + e[0] if full else i for i, e in enumerate(order)}
    place = np.zeros(max(len(entries), 1), dtype=np.int64)
    for e, number_of in entries.items():
        place[number_of] = position[e]

    def ints(values: list[Any]) -> Any:
        return np.array(values, dtype=np.int64)

    places = (
        ints(own_start), *(ints([e[i] for e in own]) for i in range(2)), place[ints([e[2] for e in own])],
        ints(given_start), *(ints([e[i] for e in given]) for i in range(2)), place[ints([e[2] for e in given])],
        np.array([e[3] for e in given], dtype=np.float64),
    )  # fmt: skip
    sums = Columns()
    factors: list[float] = []
    for terms in expanded.values():
        sums.add(list(terms))
        factors += list(terms.values())
    combinations = (ints(list(expanded)), *sums.ints(), np.array(factors, dtype=np.float64))
    if method == "global":
        linear = dense(n)
    else:
        Ap = np.searchsorted([e[0] for e in order], np.arange(n + 1)).astype(np.int32)
        Ai = np.array([e[1] for e in order], dtype=np.int32)
        first = np.zeros(len(order))
        for g in range(len(blocks)):
            module.group_jacobian(base, t, g, tables, scratch, buffers, places, first)
        found = sparse(Ap, Ai, first, tuned)
        if found is None:
            system = build(layout, start, t, "global", tuned)
            system.linear.name = "dense LU, since KLU is not installed (pip install kvxopt brings it)"
            return system
        linear = found
    return System(
        module, tables, ints(equations), scratch, buffers, places, combinations, ints(unknown),
        ints(list(layout.driven)), linear,
    )  # fmt: skip


def _independent(J: Array, r: int) -> list[int]:
    """Return r rows of a Jacobian, all where there are no more, else those that pivoting takes."""
    if J.shape[0] == r:
        return list(range(r))
    from scipy.linalg import qr

    return sorted(int(i) for i in qr(J.T, mode="economic", pivoting=True)[2][:r])
