"""Arguments of the Python interface, checked where they enter: what is none ends in an InputError that says so."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.errors import InputError

if TYPE_CHECKING:
    from .model import Array, Model


def shown(value: object) -> str:
    """Return a value as text for a message, not longer than a line."""
    if isinstance(value, dict):
        return "a table"
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= 60 else text[:57] + "..."


def real(value: Any) -> Array | None:
    """Return an array of the real numbers of a value of any shape; None where they are none."""
    try:
        found = np.asarray(value)
        return np.asarray(found, dtype=np.float64, order="C") if found.dtype.kind in "iuf" else None
    except (TypeError, ValueError, OverflowError):  # lists of unequal lengths, whole numbers without end
        return None


def number(what: str, value: Any) -> float:
    """Return a positive number."""
    found = real(value)
    if found is None or found.ndim or not math.isfinite(found) or not found > 0:
        raise InputError(f"{what} = {shown(value)} must be positive")
    return float(found)


def names(what: str, value: Any) -> list[str]:
    """Return a list of names."""
    if isinstance(value, list | tuple | set | frozenset | dict) and all(isinstance(name, str) for name in value):
        return list(value)
    raise InputError(f'{what}: is a list of names, such as ["A", "B"], not {shown(value)}')


def times_of(model: Model, times: Any) -> Array:
    """Return the times that are asked for, or those of [simulation]: at least one, growing, from the start on."""
    if times is None:
        return model.simulation.times()
    asked, start = real(times), model.simulation.start
    if asked is not None and asked.shape == (0,):
        raise InputError("times: no time is given - give at least one, such as 0, 0.5, 1")
    whole = asked is not None and asked.ndim == 1 and np.isfinite(asked).all()
    if asked is None or not whole or (np.diff(asked) <= 0).any() or asked[0] < start:
        raise InputError(
            f"times: they are increasing numbers from the start of the simulation ({start:g}) on - put them in order"
        )
    return asked.copy()  # the caller may go on writing into his own
