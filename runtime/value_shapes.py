"""Values that a user gives, taken apart and described in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def parts_of(value: Any) -> list[Any]:
    try:
        return list(value)
    except TypeError:  # a number, also one in an array of no dimension
        return [value]


def count_of(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def shape_of(array: NDArray[np.float64]) -> str:
    """Return the size of an array in words: a number, 3 numbers, or 2 x 3 numbers."""
    if array.ndim == 0:
        return "a number"
    return f"{' x '.join(map(str, array.shape))} number{'s' if array.size != 1 else ''}"
