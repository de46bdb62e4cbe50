"""Block-triangular form of a square system: which unknowns must be found together, in which order.

The same matching and strongly connected components as for bodies, one level deeper: scalar equations against
scalar unknowns (`mechanism/matching.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..common.graphs import components


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
        Block(tuple(sorted(owners[c] for c in component)), tuple(sorted(component)))
        for component in components(needs, range(n_columns))
    )
