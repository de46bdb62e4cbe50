"""Block-triangular form of a square system: which unknowns must be found together, in which order.

The same matching and strongly connected components as for bodies, one level deeper: scalar equations against
scalar unknowns (DESIGN: structure, step 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """Rows (equations) and columns (unknowns) that are solved together; more rows where some say the same."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.columns)

    @property
    def redundant(self) -> bool:
        return len(self.rows) > len(self.columns)


def matching(incidence: Sequence[frozenset[int]], n_columns: int) -> list[int | None]:
    """Return for each column the row assigned to it, a maximum assignment by augmenting paths."""
    row_of: list[int | None] = [None] * n_columns

    def augment(row: int, visited: set[int]) -> bool:
        for column in sorted(incidence[row]):
            if column in visited:
                continue
            visited.add(column)
            owner = row_of[column]
            if owner is None or augment(owner, visited):
                row_of[column] = row
                return True
        return False

    for row in sorted(range(len(incidence)), key=lambda r: (len(incidence[r]), r)):
        augment(row, set())
    return row_of


def block_triangular(incidence: Sequence[frozenset[int]], n_columns: int) -> tuple[Block, ...] | None:
    """Return the blocks of a square system in the order of solution, or None where no full assignment exists."""
    row_of = matching(incidence, n_columns)
    owners = [r for r in row_of if r is not None]
    if len(owners) < n_columns or len(incidence) != n_columns:
        return None
    needs = [sorted(c for c in incidence[row] if c != column) for column, row in enumerate(owners)]
    return tuple(
        Block(tuple(sorted(owners[c] for c in component)), tuple(sorted(component))) for component in _components(needs)
    )


def _components(needs: Sequence[Sequence[int]]) -> list[list[int]]:
    """Tarjan's strongly connected components, dependencies first."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    found: list[list[int]] = []

    def visit(v: int) -> None:
        order[v] = low[v] = len(order)
        stack.append(v)
        for w in needs[v]:
            if w not in order:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], order[w])
        if low[v] == order[v]:
            component = stack[stack.index(v) :]
            del stack[stack.index(v) :]
            found.append(component)

    for v in range(len(needs)):
        if v not in order:
            visit(v)
    return found
