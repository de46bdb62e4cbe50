"""Sparse elimination row by row: rank, dependent rows, null space and contradictions of large systems."""

from __future__ import annotations

import heapq

import numpy as np

from .model import Array


class Echelon:
    """Rows in echelon form. Each new row is reduced by those before it; its largest entry left is its pivot.

    So the rows kept are the first basis in the order of arrival, and entries of kept rows are at most 1.
    """

    def __init__(self, n_columns: int, tolerance: float) -> None:
        self.n_columns, self.tolerance = n_columns, tolerance
        self.rows: list[dict[int, float]] = []  # without their pivots, which are 1
        self.rhs: list[float] = []
        self.pivots: list[int] = []
        self.place: dict[int, int] = {}  # of a pivot column: which row
        self.conflict = 0.0  # the largest right-hand side of a row that was reduced to nothing

    @property
    def rank(self) -> int:
        return len(self.rows)

    def add(self, row: dict[int, float], rhs: float) -> bool:
        """Reduce and keep a row; return False if it depends on those before it."""
        rest, rhs, largest = self._reduced(row, rhs, len(self.rows))
        pivot = max(rest, key=lambda c: (abs(rest[c]), -c), default=-1)
        if pivot < 0 or abs(rest[pivot]) <= self.tolerance * largest:
            self.conflict = max(self.conflict, abs(rhs) / largest)
            return False
        value = rest.pop(pivot)
        self.place[pivot] = len(self.rows)
        self.pivots.append(pivot)
        self.rows.append({c: x / value for c, x in rest.items()})
        self.rhs.append(rhs / value)
        return True

    def depends(self, row: dict[int, float], n_rows: int) -> bool:
        """Return whether a row depends on the first n rows that were kept."""
        rest, _, largest = self._reduced(row, 0.0, n_rows)
        return max(map(abs, rest.values()), default=0.0) <= self.tolerance * largest

    def _reduced(self, row: dict[int, float], rhs: float, n_rows: int) -> tuple[dict[int, float], float, float]:
        rest = dict(row)
        largest = max(1.0, max(map(abs, rest.values()), default=0.0))
        # a kept row has no pivots of rows before it, so in the order of the rows none comes back
        waiting = [self.place[c] for c in rest if self.place.get(c, n_rows) < n_rows]
        heapq.heapify(waiting)
        while waiting:
            k = heapq.heappop(waiting)
            factor = rest.pop(self.pivots[k], 0.0)
            if factor == 0.0:
                continue
            largest = max(largest, abs(factor))
            rhs -= factor * self.rhs[k]
            for c, x in self.rows[k].items():
                if c in rest:
                    rest[c] -= factor * x
                else:
                    rest[c] = -factor * x
                    if self.place.get(c, n_rows) < n_rows:
                        heapq.heappush(waiting, self.place[c])
        noise = 1e-14 * largest  # what cancellation leaves, dropped lest it fill the rows
        return {c: x for c, x in rest.items() if abs(x) > noise}, rhs, largest

    def null(self) -> list[Array]:
        """Return a basis of the null space: one vector per column without pivot, found by back substitution."""
        found = []
        for column in sorted(set(range(self.n_columns)) - self.place.keys()):
            vector = np.zeros(self.n_columns)
            vector[column] = 1.0
            for k in range(len(self.rows) - 1, -1, -1):
                vector[self.pivots[k]] = -sum(x * vector[c] for c, x in self.rows[k].items())
            found.append(vector)
        return found
