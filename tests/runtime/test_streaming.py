"""Numbers written past the caches: the same numbers, wherever lines of the cache begin and end, and nothing beside."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from assurgent.runtime.streaming import settle, stream


@njit
def poured(to: np.ndarray, source: np.ndarray) -> None:
    stream(to, source)
    settle()


@pytest.mark.parametrize("first", range(8))
@pytest.mark.parametrize("count", [0, 1, 5, 8, 9, 16, 23, 200])
def test_all_numbers_and_no_others_are_written(first: int, count: int) -> None:
    room, source = np.zeros(240), np.random.default_rng(count).random(count + 3)[3:]
    line = -(room.ctypes.data // 8) % 8 + first
    poured(room[line : line + count], source)
    assert (room[line : line + count] == source).all()
    assert np.count_nonzero(room) == count
