"""Numba's start and its machine code on disk: no SciPy before it is needed; what is damaged there is compiled again."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any


@functools.cache
def defer_blas() -> None:
    """Let Numba look for SciPy's BLAS when a function asks for it, not at its own start: a tenth of a second.

    The module of array functions asks once when it is imported, and remembers the answer for one message.
    """
    if "numba.np.arraymath" in sys.modules:
        return
    try:
        from numba.np import linalg

        ask, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    except (ImportError, AttributeError):  # another Numba: then it asks
        return
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = ask


@functools.cache
def forgive_damage() -> None:
    """Let Numba take damaged machine code on disk for missing, and do without a disk that takes no more of it."""
    from numba.core.caching import Cache

    load, save = Cache.load_overload, Cache.save_overload

    def load_overload(cache: Any, signature: Any, context: Any) -> Any:
        try:
            return load(cache, signature, context)
        except Exception:  # noqa: BLE001 - unpickling damaged bytes may raise anything
            try:
                cache.flush()
            except OSError:  # it cannot be written either: compile for this process only
                cache.disable()
            return None

    def save_overload(cache: Any, signature: Any, data: Any) -> None:
        try:
            save(cache, signature, data)
        except OSError:
            cache.disable()

    Cache.load_overload, Cache.save_overload = load_overload, save_overload
