"""Threads over what does not depend on each other: bodies, joints, groups and blocks of instants."""

from __future__ import annotations

import functools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

from ..common.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

_COUNT: ContextVar[int] = ContextVar("threads", default=1)


def thread_count() -> int:
    """Return the number of threads that may be used; one within a thread of ours."""
    return _COUNT.get()


def checked(count: Any) -> int:
    """Return a number of threads that somebody gave."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InputError(f"threads {count}: at least one thread is needed - leave it out, or give 2")
    return int(count)


@contextmanager
def threads(count: Any) -> Iterator[None]:
    """Use so many threads within the context."""
    token = _COUNT.set(checked(count))
    try:
        yield
    finally:
        _COUNT.reset(token)


def each(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return the function of every item in order, by as many threads as may be used.

    Compiled kernels and NumPy let go of the interpreter while they work on whole series.
    """
    listed, count = list(items), thread_count()
    if count == 1 or len(listed) < 2:
        return [function(item) for item in listed]
    return list(_pool(count, os.getpid()).map(function, listed))


def ahead(function: Callable[[Item], Result], items: Iterable[Item], count: int) -> Iterator[Result]:
    """Yield the function of every item in order, while so many threads are at the next ones: two each at most."""
    waiting = deque[Future[Result]]()
    if count == 1:
        yield from map(function, items)
        return
    pool = _pool(count, os.getpid())
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:  # nobody asks for the rest: a block that failed, or an interrupt
        for future in waiting:
            future.cancel()


@functools.cache
def _pool(count: int, process: int) -> ThreadPoolExecutor:
    """Return threads that wait for work: starting them costs as much as many designs. A fork has none."""
    return ThreadPoolExecutor(count)
