"""One BLAS thread while small matrices are worked on: threads that wait for work spin, and cost more than it does."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import cache
from typing import Any


@cache
def _controller(_scipy: bool) -> Any:
    """Return what controls the BLAS libraries that are loaded; SciPy brings one of its own."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread; what was set before comes back when it ends."""
    found: AbstractContextManager[Any] = _controller("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")
    return found
