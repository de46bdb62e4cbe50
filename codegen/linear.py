"""Linear systems as straight-line code: explicit inverse to order 3, above it elimination with run-time pivoting.

A static pivot order is unsafe: entries of a natural-coordinate Jacobian pass through zero in ordinary poses.
The pivot is chosen by conditional exchanges without branches, so that the lanes of a sweep stay together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .blocks import Block
from .value_numbering import Pool, Value

EXPLICIT_ORDER = 3
UNROLLED_ORDER = 8
LEAST_SQUARE = Fraction(1, 2**200)  # of a row that vanishes in a pose, which else no other row would replace


def solver_of(n_rows: int, n_columns: int, blocks: Sequence[Block] | None) -> str:
    """Return the solver for a system: 'unrolled' (by blocks), 'lu' (loops) or 'qr' (least squares)."""
    if blocks is None:
        return "qr"
    return "unrolled" if max(b.size for b in blocks) <= UNROLLED_ORDER else "lu"


def cofactors(a: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return the adjugate of a matrix of order 1 to 3, over any field."""
    if len(a) == 1:
        return [[1]]
    if len(a) == 2:
        return [[a[1][1], -a[0][1]], [-a[1][0], a[0][0]]]

    def minor(i: int, j: int) -> Any:
        p, q = [r for r in range(3) if r != i]
        m, n = [c for c in range(3) if c != j]
        value = a[p][m] * a[q][n] - a[p][n] * a[q][m]
        return value if (i + j) % 2 == 0 else -value

    return [[minor(j, i) for j in range(3)] for i in range(3)]


def determinant(a: Sequence[Sequence[Any]], adjugate: Sequence[Sequence[Any]]) -> Any:
    """Return the determinant from the first row and the adjugate's first column."""
    total = a[0][0] * adjugate[0][0]
    for j in range(1, len(a)):
        total = total + a[0][j] * adjugate[j][0]
    return total


def sign_of(value: Value, pool: Pool) -> Value:
    """Return 1 or -1."""
    if value.constant is not None:
        return pool.number(1 if value.constant > 0 else -1)
    return pool.select(pool.number(0), value, pool.number(1), pool.number(-1))


class Namer:
    """Names what the factor kernel hands on to the solve kernel; constants and signs are not handed on."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.names: list[str] = []

    def __call__(self, hint: str, value: Value) -> Value:
        if value.constant is not None:
            return value
        name = self.pool.fresh(hint)
        self.names.append(name)
        return -self.pool.assign(name, -value) if value.factor < 0 else self.pool.assign(name, value)


def factor_explicit(a: list[list[Value]], keep: Namer) -> list[list[Value]]:
    """Return the inverse, with one division shared by all entries.

    A number that all entries of a row share is taken out of the row; one that all rows share goes into the division.
    """
    pool = keep.pool
    contents = [_content(row) for row in a]
    shared = contents[0] if len(set(contents)) == 1 else Fraction(1)
    plain = [[v * (1 / c) for v in row] for row, c in zip(a, contents, strict=True)]
    adjugate = [[pool.lift(v) for v in row] for row in cofactors(plain)]
    reciprocal = pool.name("reciprocal", 1 / (pool.lift(determinant(plain, adjugate)) * shared))
    return [
        [keep(f"inv{i}{j}", v * reciprocal * (shared / c)) for j, (v, c) in enumerate(zip(row, contents, strict=True))]
        for i, row in enumerate(adjugate)
    ]


def _content(row: Sequence[Value]) -> Fraction:
    """Return the number that all entries of a row have as their factor, one where they have none in common."""
    sizes = {abs(v.factor) for v in row if not v.is_zero}
    return sizes.pop() if len(sizes) == 1 else Fraction(1)


def solve_explicit(inverse: Sequence[Sequence[Value]], rhs: Sequence[Value], pool: Pool) -> list[Value]:
    return [pool.sum([f * b for f, b in zip(row, rhs, strict=True)]) for row in inverse]


@dataclass(frozen=True)
class Elimination:
    """LU by columns: `swaps[k]` decides the exchanges of step k in order, `lower` and `upper` hold the multipliers.

    `squares` are those of the sizes of the pivots' rows, where there are more rows than columns.
    """

    swaps: tuple[tuple[Value, ...], ...]
    lower: tuple[tuple[Value, ...], ...]
    upper: tuple[tuple[Value, ...], ...]
    pivots: tuple[Value, ...]
    squares: tuple[Value, ...] = ()

    def signs(self, pool: Pool) -> list[Value]:
        """Return what the sign of the determinant is the product of: pivots, and exchanges of rows."""
        swaps = [v for row in self.swaps for v in row if v.constant != 0]  # 0: these rows are never exchanged
        exchanged = [pool.select(pool.number(0), v, pool.number(-1), pool.number(1)) for v in swaps]
        return [*(sign_of(v, pool) for v in self.pivots), *exchanged]

    def map(self, change: Callable[[Value], Value]) -> Elimination:
        def table(rows: tuple[tuple[Value, ...], ...]) -> tuple[tuple[Value, ...], ...]:
            return tuple(tuple(change(v) for v in row) for row in rows)

        return Elimination(
            table(self.swaps), table(self.lower), table(self.upper), tuple(change(v) for v in self.pivots)
        )


def exchange(pool: Pool, flag: Value, x: Value, y: Value) -> tuple[Value, Value]:
    """Return (y, x) where the flag is 1 and (x, y) where it is 0."""
    half = pool.number(0)
    return pool.select(half, flag, y, x), pool.select(half, flag, x, y)


def factor_elimination(a: list[list[Value]], keep: Namer, squares: Sequence[Value] = ()) -> Elimination:
    """Eliminate column by column; a row below is exchanged with the pivot row where its entry is larger.

    There may be more rows than columns: those that are left at the end follow from the others. Entries are then
    compared by the sizes of their rows (`squares`), so that a row of large numbers is not taken for being large.
    """
    pool, m, n = keep.pool, len(a), len(a[0])
    swaps, lower, upper, pivots = [], [], [], []
    rows, sizes = [list(row) for row in a], list(squares)
    by_size = ", by the sizes n of the rows" if sizes else ""
    for k in range(n):
        flags = []
        larger = f"where row I has the larger entry{by_size} and changes places with row {k}"
        with pool.part(f"column {k}: swap{k}I is 1.0 {larger}"):
            for i in range(k + 1, m):
                if rows[i][k].is_zero:
                    flags.append(pool.number(0))
                    continue
                if sizes:
                    top, here = (rows[p][k] * rows[p][k] * sizes[q] for p, q in ((k, i), (i, k)))
                else:
                    top, here = pool.call("abs", rows[k][k]), pool.call("abs", rows[i][k])
                flag = keep(f"swap{k}{i}", pool.select(top, here, pool.number(1), pool.number(0)))
                flags.append(flag)
                if sizes:
                    first, second = exchange(pool, flag, sizes[k], sizes[i])
                    sizes[k], sizes[i] = pool.name(f"n{k}", first), pool.name(f"n{i}", second)
                for j in range(k, n):
                    upper_entry, lower_entry = exchange(pool, flag, rows[k][j], rows[i][j])
                    rows[k][j], rows[i][j] = pool.name(f"a{k}{j}", upper_entry), pool.name(f"a{i}{j}", lower_entry)
        swaps.append(tuple(flags))
        multipliers = []
        below = f"mI{k} times row {k} is taken from row I, which leaves zeros below the pivot"
        with pool.part(f"column {k}: {below if k < n - 1 else 'the last pivot'}"):
            inverse = keep(f"pivot{k}", 1 / rows[k][k])
            for i in range(k + 1, m):
                if rows[i][k].is_zero or k == n - 1:  # behind the last column nothing is left to find
                    multipliers.append(pool.number(0))
                    continue
                factor = keep(f"m{i}{k}", rows[i][k] * inverse)
                multipliers.append(factor)
                for j in range(k + 1, n):
                    rows[i][j] = pool.name(f"a{i}{j}", rows[i][j] - factor * rows[k][j])
            upper.append(tuple(keep(f"u{k}{j}", rows[k][j]) for j in range(k + 1, n)))
        pivots.append(inverse)
        lower.append(tuple(multipliers))
    return Elimination(tuple(swaps), tuple(lower), tuple(upper), tuple(pivots), tuple(sizes[:n]))


def solve_elimination(
    lu: Elimination, rhs: Sequence[Value], pool: Pool, name: Callable[[str, Value], Value]
) -> list[Value]:
    """Apply the recorded exchanges and multipliers to a right-hand side, then substitute back."""
    m, n = len(rhs), len(lu.pivots)
    b = list(rhs)
    for k in range(n):
        with pool.part(f"column {k}: rows change places and lose multiples of row {k}, as in factor_at"):
            for i in range(k + 1, m):
                flag = lu.swaps[k][i - k - 1]
                if flag.constant != 0:
                    first, second = exchange(pool, flag, b[k], b[i])
                    b[k], b[i] = name(f"b{k}", first), name(f"b{i}", second)
            for i in range(k + 1, m):
                factor = lu.lower[k][i - k - 1]
                if factor.constant != 0:
                    b[i] = name(f"b{i}", b[i] - factor * b[k])
    x: list[Value] = [pool.number(0)] * n
    with pool.part("the unknowns, from the last row upwards"):
        for k in range(n - 1, -1, -1):
            done = [lu.upper[k][j - k - 1] * x[j] for j in range(k + 1, n)]
            x[k] = name(f"x{k}", (b[k] - pool.sum(done)) * lu.pivots[k])
    return x


def solve_elimination_transposed(
    lu: Elimination, rhs: Sequence[Value], rows: int, pool: Pool, name: Callable[[str, Value], Value]
) -> list[Value]:
    """The same steps transposed and backwards: Uᵀ, then multipliers and exchanges from the last to the first."""
    n = len(lu.pivots)
    w: list[Value] = [pool.number(0)] * rows
    with pool.part("the columns of the upper triangle, from the first one on"):
        for k in range(n):
            done = [lu.upper[j][k - j - 1] * w[j] for j in range(k)]
            w[k] = name(f"w{k}", (rhs[k] - pool.sum(done)) * lu.pivots[k])
    for k in range(n - 1, -1, -1):
        below = range(k + 1, rows)
        with pool.part(f"column {k}: what row {k} gave to others, and rows change places back"):
            w[k] = name(f"w{k}", w[k] - pool.sum([lu.lower[k][i - k - 1] * w[i] for i in below]))
            for i in reversed(below):
                flag = lu.swaps[k][i - k - 1]
                if flag.constant != 0:
                    first, second = exchange(pool, flag, w[k], w[i])
                    w[k], w[i] = name(f"w{k}", first), name(f"w{i}", second)
    return w


@dataclass(frozen=True)
class BlockSolver:
    """The factorised blocks of a square system, in the order of solution, with the couplings to earlier unknowns."""

    blocks: tuple[Block, ...]
    parts: tuple[list[list[Value]] | Elimination, ...]
    couplings: tuple[tuple[tuple[int, int, Value], ...], ...]


def factor_blocks(matrix: list[list[Value]], blocks: Sequence[Block], keep: Namer) -> BlockSolver:
    """Factorise each diagonal block and keep the entries left of it."""
    parts: list[list[list[Value]] | Elimination] = []
    couplings = []
    known: set[int] = set()
    for block in blocks:
        a = [[matrix[r][c] for c in block.columns] for r in block.rows]
        if block.redundant:
            parts.append(factor_elimination(a, keep, row_squares(matrix, block, keep.pool)))
        elif block.size <= EXPLICIT_ORDER:
            parts.append(factor_explicit(a, keep))
        else:
            parts.append(factor_elimination(a, keep))
        couplings.append(
            tuple(
                (r, c, keep(f"c{r}{c}", matrix[r][c]))
                for r in block.rows
                for c in sorted(known)
                if not matrix[r][c].is_zero
            )
        )
        known |= set(block.columns)
    return BlockSolver(tuple(blocks), tuple(parts), tuple(couplings))


def row_squares(matrix: Sequence[Sequence[Value]], block: Block, pool: Pool) -> list[Value]:
    """Return the squared sizes of the rows of a block, with what they have of earlier unknowns; never zero."""
    least = pool.number(LEAST_SQUARE)
    return [pool.name(f"n{r}", pool.sum([least, *(v * v for v in matrix[r] if not v.is_zero)])) for r in block.rows]


def transfer(value: Value, pool: Pool) -> Value:
    """Return a value of the factor kernel in the pool of the solve kernel: there it is an input of the same name."""
    if value.constant is not None:
        return pool.number(value.constant)
    found = pool.symbol(value.name)
    return found * value.factor if value.factor != 1 else found


def solve_blocks(
    solver: BlockSolver, rhs: Sequence[Value], pool: Pool, name: Callable[[str, Value], Value]
) -> list[Value]:
    """Return the unknowns, block by block; `name(target, value)` names intermediate results."""

    def here(value: Value) -> Value:
        return transfer(value, pool)

    x: list[Value] = [pool.number(0)] * sum(block.size for block in solver.blocks)
    for block, part, couplings in zip(solver.blocks, solver.parts, solver.couplings, strict=True):
        b = {r: rhs[r] for r in block.rows}
        for r, c, value in couplings:
            b[r] = b[r] - here(value) * x[c]
        side = [name(f"b{r}", b[r]) for r in block.rows]
        if isinstance(part, Elimination):
            solved = solve_elimination(part.map(here), side, pool, name)
        else:
            solved = solve_explicit([[here(v) for v in row] for row in part], side, pool)
        for c, value in zip(block.columns, solved, strict=True):
            x[c] = name(f"x{c}", value)
    return x


def solve_blocks_transposed(
    solver: BlockSolver, rhs: Sequence[Value], pool: Pool, name: Callable[[str, Value], Value]
) -> list[Value]:
    """Return w with Φ_φᵀ w = rhs: the blocks backwards, each with its transpose."""

    def here(value: Value) -> Value:
        return transfer(value, pool)

    left = list(rhs)
    w: list[Value] = [pool.number(0)] * sum(len(block.rows) for block in solver.blocks)
    steps = list(zip(solver.blocks, solver.parts, solver.couplings, strict=True))
    for block, part, couplings in reversed(steps):
        side = [name(f"b{c}", left[c]) for c in block.columns]
        if isinstance(part, Elimination):
            solved = solve_elimination_transposed(part.map(here), side, len(block.rows), pool, name)
        else:
            solved = solve_explicit([[here(v) for v in column] for column in zip(*part, strict=True)], side, pool)
        for r, value in zip(block.rows, solved, strict=True):
            w[r] = name(f"w{r}", value)
        for r, c, value in couplings:
            left[c] = left[c] - here(value) * w[r]
    return w
