"""Messages between server and page: a JSON header, and the floats that it refers to, raw and little-endian.

Layout of a binary message: four bytes with the header's length, the header, blanks up to a multiple of eight, floats.
Wherever the header says `{"f": [start, rows, columns]}` those floats stand: rows x columns of them from `start` on.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray


class Floats:
    """Collects arrays of one message and hands out references to them."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def put(self, values: NDArray[np.float64]) -> dict[str, list[int]]:
        """Return the reference of an array of one or two axes; what is not finite travels as NaN."""
        array = np.ascontiguousarray(values, dtype="<f8")
        rows, columns = (len(array), 1) if array.ndim == 1 else array.shape
        start, self._size = self._size, self._size + array.size
        self._parts.append(array.tobytes())
        return {"f": [start, rows, columns]}

    def message(self, header: dict[str, Any]) -> bytes:
        """Return the binary message."""
        text = orjson.dumps(header, option=orjson.OPT_SERIALIZE_NUMPY)
        fill = b" " * (-(4 + len(text)) % 8)
        return b"".join([struct.pack("<I", len(text)), text, fill, *self._parts])


def packed(header: dict[str, Any]) -> bytes:
    """Return a message without floats."""
    return Floats().message(header)


def unpacked(message: bytes) -> tuple[dict[str, Any], NDArray[np.float64]]:
    """Return header and floats of a message (what the page does, for tests and Python clients)."""
    (length,) = struct.unpack_from("<I", message)
    begin = 4 + length + (-(4 + length) % 8)
    return orjson.loads(message[4 : 4 + length]), np.frombuffer(message, "<f8", offset=begin)
