"""All groups of a mechanism as one Newton system: unknowns, equations, and where every Jacobian entry goes."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..mechanism.plans.plan import Array
from ..runtime.entries import entry
from ..runtime.program import AngleStep, GroupStep, LinearStep
from ..runtime.sequence import Ints, Item, Sequence
from .global_linear import LinearSolver, dense, sparse

SEED = 7
SEEN, CHOICES = 36, 500  # poses that redundant groups are looked at in; selections of rows that are all tried
Terms = dict[int, float]


@dataclass(frozen=True, eq=False)
class _Block:
    """Equations of one item: rows of what it knows and finds, and its line in the table of blocks."""

    h: tuple[int, ...]
    phi: tuple[int, ...]
    n_equations: int
    line: tuple[int, ...]  # kind, addresses, place


@dataclass(eq=False)
class GlobalSystem:
    """The tables that the compiled loop needs."""

    program: tuple[Any, ...]
    scratch: tuple[Any, ...]
    equations: Any
    entries: tuple[Any, ...]
    combinations: tuple[Any, ...]
    unknown: Any
    driven: Any
    linear: LinearSolver

    def run(self, time: Array, state: Array, skip: Any, clock: Array) -> tuple[int, Any]:
        """Solve all steps from the state in the first lane; the number of steps solved, and counts."""
        from .global_kernels import run_global

        stats = np.zeros(3, dtype=np.int64)
        q, qdot, qddot = state
        y, F = np.zeros((3, len(q))), np.zeros(len(self.unknown))
        solved = run_global(
            time, q, qdot, qddot, self.program, self.scratch, _call(), self.equations, self.entries,
            self.combinations, (self.unknown, self.driven), self.linear.arguments, skip, y, F, stats, clock,
        )  # fmt: skip
        return int(solved), stats


def _call() -> Ints:
    from ..runtime.sequencer import CALL_SIZE, STRIDE

    call = np.zeros(CALL_SIZE, dtype=np.int64)
    call[STRIDE] = 1
    return call


def _expanded(sequence: Sequence) -> dict[int, Terms]:
    """Return each combined row as a combination of rows that are none."""
    found: dict[int, Terms] = {}
    for item in sequence.items:
        if isinstance(item.step, LinearStep):
            for row, terms in zip(item.step.rows, item.step.terms, strict=True):
                total: Terms = {}
                for source, factor in terms:
                    for base, c in found.get(source, {source: 1.0}).items():
                        total[base] = total.get(base, 0.0) + factor * c
                found[row] = {r: c for r, c in total.items() if c != 0.0}
    return found


def _blocks(sequence: Sequence) -> list[_Block]:
    from .global_kernels import ANGLE, GROUP, POINTS

    def rows(values: Any) -> tuple[int, ...]:
        return tuple(int(r) for r in values)

    def block(item: Item) -> _Block | None:
        step = item.step
        if isinstance(step, AngleStep):
            return _Block((step.x, step.y), (step.row,), 1, (ANGLE, 0, 0, item.place))
        if not isinstance(step, GroupStep):
            return None
        h, phi = rows(step.h_rows), rows(step.phi_rows)
        if item.kind == "group":
            line = (GROUP, entry("equations", item, 0), 0, item.place)
            return _Block(h, phi, len(step.solver.group.constraints), line)
        assert step.point_rows is not None
        points = rows(step.point_rows.ravel())
        line = (POINTS, entry("td", item, 0), entry("columns", item, 0), item.place)
        return _Block((*h, *phi), points, len(points), line)

    return [b for item in sequence.items if (b := block(item)) is not None]


def build(
    sequence: Sequence, driven: list[int], start: Array, t: float, method: str, tuned: bool = True,
    numbers: Array | None = None, poses: Array | None = None,
) -> GlobalSystem:  # fmt: skip
    """Return the system of a sequence; `start` is the state's first order in the first lane, assembled.

    `poses` are further solved lanes (row, lane): of redundant groups those rows are kept that serve in all of them.
    """
    from .global_kernels import BLOCK_SIZE, POINTS, all_equations, block_equation

    blocks = _blocks(sequence)
    table = np.zeros((len(blocks), BLOCK_SIZE), dtype=np.int64)
    equation = 0
    for line, b in zip(table, blocks, strict=True):
        line[:] = [*b.line, len(b.phi), len(b.h), b.n_equations, equation]
        equation += b.n_equations
    widest = max((len(b.h) for b in blocks), default=1)
    most, largest = (max((f(b) for b in blocks), default=1) for f in (lambda b: b.n_equations, lambda b: len(b.phi)))
    n_rows = len(start)
    scratch = (
        np.zeros(most), np.zeros(most * largest), np.zeros(most * widest), np.zeros((3, n_rows)),
        np.zeros(widest * n_rows), sequence.scratch(),
    )  # fmt: skip
    program = (table, sequence.tables, sequence.numbers if numbers is None else numbers)
    call, now = _call(), np.array([t])
    expanded = _expanded(sequence)
    unknown = [r for b in blocks for r in b.phi]
    column = {row: i for i, row in enumerate(unknown)}

    # where entries can be other than zero: the Jacobians at poses beside the assembled one
    rng, patterns, chosen = np.random.default_rng(SEED), [], []
    base = np.zeros((3, n_rows))
    base[0] = start
    for g, b in enumerate(blocks):
        shapes = (b.n_equations, len(b.phi)), (b.n_equations, len(b.h))
        seen = [np.zeros(shape) for shape in shapes]
        for trial in range(3):
            y = base.copy()
            if trial:
                y[0] += 0.1 * rng.normal(size=n_rows) * (1.0 + np.abs(start))
            block_equation(g, 0, *program, now, y, scratch, call)
            parts = [scratch[1 + i][: m * n].reshape(m, n) for i, (m, n) in enumerate(shapes)]
            for total, part in zip(seen, parts, strict=True):
                total += np.abs(part)
        patterns.append((seen[0] != 0.0, seen[1] != 0.0))
        chosen.append(_independent(_jacobians(g, b, start, poses, program, now, scratch, call), len(b.phi)))
    entries: dict[tuple[int, int], int] = {}
    equations: list[int] = []
    n_equations = 0
    found: list[tuple[int, int, float]] = []  # number of the entry, place in Φ_φ (or -1 - place in Φ_h), factor
    begins = [0]
    for b, keep, (J, H) in zip(blocks, chosen, patterns, strict=True):
        number = {row: n_equations + i for i, row in enumerate(keep)}
        n_equations += len(keep)
        equations += [number.get(i, -1) for i in range(b.n_equations)]
        for i in keep:
            for j in np.flatnonzero(J[i]).tolist():
                at = entries.setdefault((column[b.phi[j]], number[i]), len(entries))
                found.append((at, i * len(b.phi) + j, 1.0))
            for j in np.flatnonzero(H[i]).tolist():
                if b.line[0] == POINTS and b.h[j] in b.h[:j]:
                    continue  # its derivatives are by rows: of two coordinates in one row the first has them all
                for source, c in expanded.get(b.h[j], {b.h[j]: 1.0}).items():
                    if source in column:
                        at = entries.setdefault((column[source], number[i]), len(entries))
                        found.append((at, -1 - (i * len(b.h) + j), c))
        begins.append(len(found))
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
        ints(begins), place[ints([e[0] for e in found])], ints([e[1] for e in found]),
        np.array([e[2] for e in found], dtype=np.float64),
    )  # fmt: skip
    sums = np.cumsum([0, *(len(terms) for terms in expanded.values())])
    combinations = (
        ints(list(expanded)), ints(sums.tolist()), ints([r for terms in expanded.values() for r in terms]),
        np.array([c for terms in expanded.values() for c in terms.values()], dtype=np.float64),
    )  # fmt: skip
    if method == "global":
        linear = dense(n)
    else:
        Ap = np.searchsorted([e[0] for e in order], np.arange(n + 1)).astype(np.int32)
        Ai = np.array([e[1] for e in order], dtype=np.int32)
        first = np.zeros(len(order))
        all_equations(0, *program, now, base, scratch, call, ints(equations), places, first, np.zeros(n))
        klu = sparse(Ap, Ai, first, tuned)
        if klu is None:
            system = build(sequence, driven, start, t, "global", tuned, numbers, poses)
            system.linear.name = "dense LU, since KLU is not installed (pip install kvxopt brings it)"
            return system
        linear = klu
    return GlobalSystem(program, scratch, ints(equations), places, combinations, ints(unknown), ints(driven), linear)


def _jacobians(
    g: int, b: _Block, start: Array, poses: Array | None, program: Any, now: Array, scratch: Any, call: Ints
) -> list[Array]:
    """Return Φ_φ of a block at the start, and where it is redundant at further poses."""
    from .global_kernels import block_equation

    p, r = b.n_equations, len(b.phi)
    columns = [] if poses is None or p == r else np.linspace(0, poses.shape[1] - 1, SEEN).astype(int).tolist()
    found = []
    for place in (start, *(poses[:, i] for i in dict.fromkeys(columns))):  # type: ignore[index]
        y = np.zeros((3, len(start)))
        y[0] = place
        block_equation(g, 0, *program, now, y, scratch, call)
        found.append(scratch[1][: p * r].reshape(p, r).copy())
    return found


def _independent(jacobians: list[Array], r: int) -> list[int]:
    """Return r rows of a Jacobian, all where there are no more.

    Of few choices that whose rows are farthest from dependent in all poses; of many what pivoting takes at the first.
    """
    p = jacobians[0].shape[0]
    if p == r:
        return list(range(r))
    if math.comb(p, r) > CHOICES:
        from scipy.linalg import qr

        return sorted(int(i) for i in qr(jacobians[0].T, mode="economic", pivoting=True)[2][:r])
    units = np.array([J / np.maximum(np.linalg.norm(J, axis=1, keepdims=True), 1e-300) for J in jacobians])
    choices = list(itertools.combinations(range(p), r))
    least = [float(np.linalg.svd(units[:, c], compute_uv=False)[:, -1].min()) for c in choices]
    return list(choices[int(np.argmax(np.round(least, 9)))])
