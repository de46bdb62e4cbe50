"""Computation beside the server's loop: in threads, with an end, and a first answer where the true one takes long."""

from __future__ import annotations

import asyncio
import ctypes
import threading
from collections.abc import Callable
from typing import Any

from ..common.errors import AssurgentError, InternalError

SECONDS = 60.0  # of one computation; making a type is given longer
MAKING = 900.0
PATIENCE = 0.35  # seconds after which a provisional answer is sent
MOST_THREADS = 12  # at work at once, those given up included


class TooLong(BaseException):
    """Raised inside a thread whose computation takes longer than it may."""


class BusyError(AssurgentError):
    """Too much is being computed already."""


class Workers:
    """Runs functions in threads of their own; one that takes too long is interrupted and answered for."""

    def __init__(self) -> None:
        self._running: set[int] = set()
        self._lock = threading.Lock()

    async def run(self, function: Callable[..., Any], *arguments: Any, seconds: float = SECONDS) -> Any:
        """Return what the function returns, or raise what it raises; at the latest after some seconds."""
        with self._lock:
            if len(self._running) >= MOST_THREADS:
                raise BusyError("the studio is computing too much at once - wait for the answers on their way")
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()
        task = _Task()

        def tell(settle: Callable[[Any], None], value: Any) -> None:
            if not done.done():
                settle(value)

        def work() -> None:
            identity = threading.get_ident()
            with self._lock:
                self._running.add(identity)
            try:
                value = task.run(function, *arguments)
                _call(loop, tell, done.set_result, value)
            except TooLong:
                pass  # the answer has been given, or nobody waits for it
            except AssurgentError as error:
                _call(loop, tell, done.set_exception, error)
            except Exception as error:  # noqa: BLE001 - a bug must not end the server, and is told as one
                bug = InternalError(f"{type(error).__name__}: {error} - this is a bug of assurgent; please report it")
                _call(loop, tell, done.set_exception, bug)
            finally:
                with self._lock:
                    self._running.discard(identity)

        threading.Thread(target=work, daemon=True, name="studio-work").start()
        try:
            return await asyncio.wait_for(asyncio.shield(done), seconds)
        except TimeoutError:
            done.cancel()
            task.interrupt()
            raise AssurgentError(
                f"the computation took longer than {seconds:g} s and was given up - take fewer instants, "
                "shorter formulas, or the command line, which has no bound"
            ) from None


class _Task:
    """A function at work in a thread, which can be told to stop at its next step in Python.

    Compiled loops do not hear it; they are bounded by the number of instants.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._identity: int | None = None

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        with self._lock:
            self._identity = threading.get_ident()
        try:
            return function(*arguments)
        finally:
            with self._lock:  # from here on an interruption would meet the wrong code
                self._identity = None

    def interrupt(self) -> None:
        """Raise TooLong in the thread, unless the function has ended."""
        with self._lock:
            if self._identity is not None:
                number, what = ctypes.c_ulong(self._identity), ctypes.py_object(TooLong)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(number, what)


def _call(loop: asyncio.AbstractEventLoop, *what: Any) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(*what)
