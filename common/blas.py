"""One BLAS thread while small matrices are worked on: threads that wait for work spin, and cost more than it does."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@cache
def _controller(_scipy: bool) -> Any:
    """Return what controls the BLAS libraries that are loaded; SciPy brings one of its own."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _OneThread:
    """The limit, which is the whole process's: the first of our threads sets it, the last one takes it back."""

    def __init__(self) -> None:
        self.lock, self.inside = threading.Lock(), 0
        self.limits: dict[bool, Any] = {}  # with SciPy's BLAS and without: it may be loaded meanwhile

    def enter(self) -> None:
        with self.lock:
            scipy = "scipy.linalg" in sys.modules
            if scipy not in self.limits:
                self.limits[scipy] = _controller(scipy).limit(limits=1, user_api="blas")
            self.inside += 1

    def leave(self) -> None:
        with self.lock:
            self.inside -= 1
            while self.limits and self.inside == 0:
                self.limits.popitem()[1].restore_original_limits()


_LIMIT = _OneThread()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Have BLAS use one thread within the context; what was set before comes back when the last one ends."""
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()
