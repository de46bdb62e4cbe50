"""Numba's start and its machine code on disk: no SciPy before it is needed; a damaged file is compiled again."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


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


class _ForgivingCache:
    """A Numba cache whose damaged files count as missing; everything else is Numba's own."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, signature: Any, context: Any) -> Any:
        try:
            return self._cache.load_overload(signature, context)
        except Exception:  # noqa: BLE001 - unpickling damaged bytes may raise anything
            try:
                self._cache.flush()
            except OSError:  # it cannot be written either: compile for this process only
                self._cache.disable()
            return None


def forgive_damage(module: ModuleType) -> None:
    """Let every compiled function of an emitted module survive damage to what is cached of it."""
    from numba.core.dispatcher import Dispatcher

    functions: list[Any] = [f for f in vars(module).values() if isinstance(f, Dispatcher)]
    for function in functions:
        if not isinstance(function._cache, _ForgivingCache):
            function._cache = _ForgivingCache(function._cache)
