"""What the tests of the reader read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assurgent.mechanism.model import Model
from assurgent.mechanism.reader import loads

DATA = Path(__file__).with_name("data")  # together they use every table and every kind of joint
FOUR_BAR, GEARS, SPATIAL = ALL = tuple((DATA / f"{n}.toml").read_text() for n in ("four-bar", "gears", "spatial"))


def read(text: str, **settings: float) -> Model:
    return loads(text, "m.toml", settings)


def near(found: Any, expected: Any, tolerance: float = 1e-14) -> None:
    """Equal to a few roundings of numbers of order 10."""
    assert np.asarray(found) == pytest.approx(np.asarray(expected, dtype=float), abs=tolerance)


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every key and index of nested values."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [p for key, value in items for p in ((*path, key), *places(value, (*path, key)))]
