"""Lines of the cache: rows that begin with one are read and written in whole vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LINE = 8  # numbers of a line; output_items rounds in the same way


def whole_lines(count: int) -> int:
    """Return how far rows of so many numbers lie apart that all begin with a line of the cache."""
    return -(-count // LINE) * LINE


def aligned(*shape: int, room: Array | None = None) -> Array:
    """Return an array, not filled, that begins with a line of the cache; in a room with LINE numbers more, if given."""
    room = np.empty(int(np.prod(shape)) + LINE) if room is None else room
    first = -(room.ctypes.data // room.itemsize) % LINE
    return room[first : first + room.size - LINE].reshape(shape)


def lined_up(*shape: int) -> Array:
    """Return zeros that begin with a line of the cache, so that fewer vectors of lanes straddle two.

    Of a large array the system gives a page when it is first written: rows that nobody writes cost nothing.
    """
    return aligned(*shape, room=np.zeros(int(np.prod(shape)) + LINE))
