"""The figures of the paper, from their file: by number of equations, or by method."""

from __future__ import annotations

import tomllib
from typing import Any

from .data_files import text


def _by_size(table: dict[str, Any]) -> dict[int, Any]:
    return {int(size): figures for size, figures in table.items()}


_FOUND = tomllib.loads(text("paper"))
TABLE_3, TABLE_4, TABLE_4_SECONDS = (_by_size(_FOUND[name]) for name in ("table_3", "table_4", "table_4_seconds"))
TABLE_5, TABLE_5_SECONDS = _FOUND["table_5"], _FOUND["table_5_seconds"]
