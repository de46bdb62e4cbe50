"""Linear combinations of rows in the form that compiled code reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..mechanism.model import Array
from ..motion.program import Terms


@dataclass(frozen=True, eq=False)
class Combination:
    """Rows as linear combinations: of the i-th, the columns and factors from start[i] to start[i + 1]."""

    start: NDArray[np.int64]
    columns: NDArray[np.int64]
    factors: Array


def combination(parts: Sequence[Terms]) -> Combination:
    """Return combinations of rows in the form that compiled code reads."""
    start = np.concatenate([[0], np.cumsum([len(terms) for terms in parts])]).astype(np.int64)
    columns = np.array([row for terms in parts for row, _ in terms], dtype=np.int64)
    factors = np.array([c for terms in parts for _, c in terms], dtype=np.float64)
    return Combination(start, columns, factors)
