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


_HELD = threading.RLock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Have BLAS use one thread within the context; what was set before comes back when it ends.

    The limit is the whole process's: the thread that set it takes it back, and others leave it alone meanwhile.
    """
    if not _HELD.acquire(blocking=False):
        yield
        return
    try:
        with _controller("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
            yield
    finally:
        _HELD.release()
