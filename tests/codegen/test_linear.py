"""Straight-line linear solvers against NumPy, and the block-triangular form against brute force."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from assurgent.codegen import printer
from assurgent.codegen.blocks import Block, block_triangular, matching
from assurgent.codegen.linear import (
    Namer,
    factor_blocks,
    factor_elimination,
    factor_explicit,
    solve_blocks,
    solve_blocks_transposed,
    solve_elimination,
    solve_explicit,
    solver_of,
)
from assurgent.codegen.value_numbering import Pool, Value

Array = NDArray[np.float64]
Solver = Callable[..., tuple[float, ...]]
SEED = 20240
MAX_CONDITION = 1e4
# Elimination of order 8 loses cond * n^2 * 1.1e-16 = 7e-11 at worst; the explicit inverse of order 3 less.
ACCURACY = 1e-10


def compiled(pool: Pool, inputs: Sequence[str], results: Sequence[Value]) -> Solver:
    """The function of the pool's inputs that returns the given values; the text is this test's own."""
    targets = [pool_target(pool, f"result{i}", v) for i, v in enumerate(results)]
    lines = [printer.statement(s, 4) for section in pool.sections() for s in section.statements]
    head, tail = f"def solve({', '.join(inputs)}):", f"    return ({', '.join(targets)},)"
    text = "\n".join(["import math", head, *lines, tail])
    scope: dict[str, Solver] = {}
    exec(compile(text, "<solver>", "exec"), scope)
    return scope["solve"]


def pool_target(pool: Pool, name: str, value: Value) -> str:
    pool.assign(name, value)
    return name


def solver(pattern: NDArray[np.bool_], method: str) -> Solver:
    """The straight-line solver for matrices whose entries vanish outside the pattern."""
    n = len(pattern)
    entries = [f"A{i}_{j}" for i in range(n) for j in range(n)]
    sides = [f"B{i}" for i in range(n)]
    pool = Pool([*entries, *sides])
    a = [[pool.symbol(f"A{i}_{j}") if pattern[i, j] else pool.number(0) for j in range(n)] for i in range(n)]
    rhs = [pool.symbol(s) for s in sides]
    keep = Namer(pool)
    if method == "explicit":
        x = solve_explicit(factor_explicit(a, keep), rhs, pool)
    elif method == "elimination":
        x = solve_elimination(factor_elimination(a, keep), rhs, pool, pool.name)
    else:
        blocks = block_triangular([frozenset(map(int, np.flatnonzero(row))) for row in pattern], n)
        assert blocks is not None
        solve = solve_blocks_transposed if method == "transposed" else solve_blocks
        x = solve(factor_blocks(a, blocks, keep), rhs, pool, pool.name)
    return compiled(pool, [*entries, *sides], x)


def random_matrices(pattern: NDArray[np.bool_], count: int, seed: int) -> list[Array]:
    """Random matrices of the pattern with condition below the bound."""
    rng = np.random.default_rng(seed)
    found: list[Array] = []
    for _ in range(200 * count):
        matrix = rng.uniform(-1.0, 1.0, pattern.shape) * pattern
        if np.linalg.cond(matrix) < MAX_CONDITION:
            found.append(matrix)
        if len(found) == count:
            return found
    raise AssertionError(f"the pattern has no well-conditioned matrices (seed {seed})")


def assert_solves(solve: Solver, matrix: Array, rng: np.random.Generator) -> None:
    rhs = rng.uniform(-1.0, 1.0, len(matrix))
    expected = np.linalg.solve(matrix, rhs)
    error = np.max(np.abs(np.array(solve(*matrix.ravel(), *rhs)) - expected)) / np.max(np.abs(expected))
    assert error < ACCURACY, f"relative error {error:.1e} (seed {SEED})\n{matrix!r}"


CASES = [("explicit", n) for n in (1, 2, 3)] + [("elimination", n) for n in range(1, 9)]


@pytest.mark.parametrize(("method", "n"), CASES)
def test_full_matrices(method: str, n: int) -> None:
    """Factors and solution of random full matrices, order 1 to 8."""
    pattern = np.ones((n, n), dtype=bool)
    solve = solver(pattern, method)
    rng = np.random.default_rng(SEED)
    for matrix in random_matrices(pattern, 30, SEED + n):
        assert_solves(solve, matrix, rng)


@pytest.mark.parametrize(("method", "n"), [case for case in CASES if case[1] > 1])
def test_zero_leading_entries(method: str, n: int) -> None:
    """Leading entries are zero: a fixed order of pivots divides by zero, the choice at run time does not."""
    pattern = np.ones((n, n), dtype=bool)
    solve = solver(pattern, method)
    rng = np.random.default_rng(SEED)
    for matrix in random_matrices(pattern, 10, SEED + n):
        for k in range(n - 1):
            hollow = matrix.copy()
            hollow[: k + 1, : k + 1] = 0.0 if 2 * (k + 1) <= n else np.triu(hollow[: k + 1, : k + 1], 1)
            if np.linalg.cond(hollow) < MAX_CONDITION:
                assert_solves(solve, hollow, rng)
        assert_solves(solve, np.fliplr(np.eye(n)) * rng.uniform(0.5, 1.0, n), rng)


def test_second_column_needs_an_exchange_after_the_first_step() -> None:
    """The pivot of the second step vanishes by cancellation: it is chosen anew in every step."""
    matrix = np.array([[2, 2, 4, 1], [2, 2, 0, 2], [2, 4, 0, 0], [0, 2, 2, 2]]) / 2.0
    rng = np.random.default_rng(SEED)
    assert_solves(solver(np.ones((4, 4), dtype=bool), "elimination"), matrix, rng)


@pytest.mark.parametrize("n", [2, 3, 5, 7])
def test_transposed_systems(n: int) -> None:
    """The same factors solve the transposed system: blocks of every size, coupled, with exchanges."""
    full = np.ones((n, n), dtype=bool)
    coupled = np.tril(full)
    coupled[: n // 2 + 1, : n // 2 + 1] = True
    rng = np.random.default_rng(SEED)
    for pattern in (full, coupled):
        solve = solver(pattern, "transposed")
        for matrix in random_matrices(pattern, 10, SEED + n):
            rhs = rng.uniform(-1.0, 1.0, n)
            expected = np.linalg.solve(matrix.T, rhs)
            assert np.array(solve(*matrix.ravel(), *rhs)) == pytest.approx(expected, rel=1e-9, abs=ACCURACY)


def structural_rank_is_full(pattern: NDArray[np.bool_]) -> bool:
    """By brute force: some permutation has only entries of the pattern."""
    n = len(pattern)
    return any(all(pattern[i, p[i]] for i in range(n)) for p in itertools.permutations(range(n)))


@st.composite
def patterns(draw: st.DrawFn) -> NDArray[np.bool_]:
    n = draw(st.integers(1, 5))
    flat = draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
    return np.array(flat, dtype=bool).reshape(n, n)


@given(patterns())
@settings(max_examples=300, derandomize=True, deadline=None)
def test_block_triangular_form(pattern: NDArray[np.bool_]) -> None:
    """None exactly where the structural rank is deficient; otherwise square blocks, each row and column once.

    No row needs a column of a later block, and no block can be split.
    """
    n = len(pattern)
    incidence = [frozenset(map(int, np.flatnonzero(row))) for row in pattern]
    blocks = block_triangular(incidence, n)
    assert (blocks is not None) == structural_rank_is_full(pattern)
    if blocks is None:
        return
    assert sorted(r for b in blocks for r in b.rows) == list(range(n))
    assert sorted(c for b in blocks for c in b.columns) == list(range(n))
    known: set[int] = set()
    for block in blocks:
        assert len(block.rows) == len(block.columns) == block.size
        known |= set(block.columns)
        assert all(incidence[r] <= known for r in block.rows)
    assert all(is_irreducible(pattern, b) for b in blocks)


def is_irreducible(pattern: NDArray[np.bool_], block: Block) -> bool:
    """No proper part of the block's rows is content with as many of its columns (strong Hall property)."""
    inside = [{c for c in block.columns if pattern[r, c]} for r in block.rows]
    parts = (p for k in range(1, block.size) for p in itertools.combinations(inside, k))
    return all(len(set().union(*part)) > len(part) for part in parts)


@given(patterns())
@settings(max_examples=200, derandomize=True, deadline=None)
def test_matching_is_maximum(pattern: NDArray[np.bool_]) -> None:
    """Rows are assigned once, to columns they contain; as many as any permutation achieves."""
    n = len(pattern)
    row_of = matching([frozenset(map(int, np.flatnonzero(row))) for row in pattern], n)
    pairs = [(r, c) for c, r in enumerate(row_of) if r is not None]
    assert len({r for r, _ in pairs}) == len(pairs)
    assert all(pattern[r, c] for r, c in pairs)
    best = max(sum(bool(pattern[i, p[i]]) for i in range(n)) for p in itertools.permutations(range(n)))
    assert len(pairs) == best


def test_a_system_that_is_not_square_has_no_blocks() -> None:
    assert block_triangular([frozenset({0}), frozenset({0})], 1) is None


@pytest.mark.parametrize("seed", range(12))
def test_solution_by_blocks(seed: int) -> None:
    """Random sparse systems of order 5 to 8, solved block by block, coupled to earlier unknowns."""
    rng = np.random.default_rng(SEED + seed)
    n = int(rng.integers(5, 9))
    pattern = (rng.uniform(size=(n, n)) < 0.3) | np.eye(n, dtype=bool)
    pattern = pattern[rng.permutation(n)]
    solve = solver(pattern, "blocks")
    for matrix in random_matrices(pattern, 10, SEED + seed):
        assert_solves(solve, matrix, rng)


def test_solver_by_shape() -> None:
    """Least squares where rows exceed unknowns or cannot be assigned; loops for blocks above order 8."""
    small, large = Block((0, 1), (0, 1)), Block(tuple(range(9)), tuple(range(9)))
    assert solver_of(3, 2, None) == "qr"
    assert solver_of(2, 2, None) == "qr"
    assert solver_of(2, 2, (small,)) == "unrolled"
    assert solver_of(9, 9, (large,)) == "lu"
