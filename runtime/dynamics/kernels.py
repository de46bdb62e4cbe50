"""Compiled linear combinations of rows of a state with lanes.

Imported only where a program is evaluated, because it loads Numba.
"""

from __future__ import annotations

from typing import Any

from numba import njit

OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy"}


@njit(**OPTIONS)
def combine(state, rows, start, columns, factors):  # type: ignore[no-untyped-def]
    """Write rows of the state that are linear combinations of others, all orders and lanes."""
    for order in range(state.shape[0]):
        for i in range(len(rows)):
            for lane in range(state.shape[2]):
                total = 0.0
                for k in range(start[i], start[i + 1]):
                    total += factors[k] * state[order, columns[k], lane]
                state[order, rows[i], lane] = total
