"""Structures with traced numbers in them, the same with other numbers: a model at its nominal design, for decisions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from . import arithmetic
from .traced import Traced

T = TypeVar("T")
Plain = dict[int, Any]  # parts without a traced number by their identity; held, so that it stays theirs


def replaced(structure: T, number: Callable[[Traced], Any], plain: Plain | None = None) -> T:
    """Return a structure (dataclasses, mappings, sequences, arrays) with every traced number replaced.

    What holds no traced number stays the same object. `plain` remembers such parts, for who replaces in the same
    structure again.
    """
    return _replaced(structure, number, {} if plain is None else plain)  # type: ignore[no-any-return]


def nominal(structure: T) -> T:
    """Return a structure with every traced number at its nominal value.

    No guard is left: this is for decisions that hold for all designs but special ones, such as the rank of constraints.
    """
    return _replaced(structure, lambda x: x.value, {})  # type: ignore[no-any-return]


def _replaced(x: Any, number: Callable[[Traced], Any], plain: Plain) -> Any:
    if isinstance(x, Traced):
        return number(x)
    if x is None or isinstance(x, float | int | str) or id(x) in plain:
        return x
    found = _rebuilt(x, number, plain)
    if found is x:
        plain[id(x)] = x
    return found


def _rebuilt(x: Any, number: Callable[[Traced], Any], plain: Plain) -> Any:
    if isinstance(x, np.ndarray):
        if x.dtype != object:
            return x
        flat = [_replaced(v, number, plain) for v in x.ravel().tolist()]
        return arithmetic.array(flat).reshape(x.shape)
    if isinstance(x, Mapping):
        entries = {k: _replaced(v, number, plain) for k, v in x.items()}
        return entries if any(entries[k] is not v for k, v in x.items()) else x
    if isinstance(x, tuple | list):
        items = [_replaced(v, number, plain) for v in x]
        if all(a is b for a, b in zip(items, x, strict=True)):
            return x
        return type(x)(items)
    if isinstance(x, arithmetic.PlaneNumber):
        return arithmetic.plane(_replaced(x.real, number, plain), _replaced(x.imag, number, plain))
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        changed = {}
        for field in dataclasses.fields(x):
            old = getattr(x, field.name)
            new = _replaced(old, number, plain)
            if new is not old:
                changed[field.name] = new
        return dataclasses.replace(x, **changed) if changed else x
    return x
