"""What a user sees while something takes its time: one line that changes on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from rich.markup import escape

from ..runtime.machine_code import when_compiling

if TYPE_CHECKING:
    from rich.console import Console

STAGE = "  "  # what the lines of the stages of one work begin with


def tell(err: Console, line: str) -> None:
    """Print a plain line."""
    err.print(escape(line), highlight=False, soft_wrap=True)


@contextlib.contextmanager
def watched(err: Console, waiting: str) -> Iterator[Callable[[str], None]]:
    """Yield what hears of the progress; `waiting` says what is being waited for where nothing else is known.

    On a terminal the stages of a work take turns in one line, with the seconds since it was announced.
    """

    if not err.is_terminal:
        yield partial(tell, err)
        return
    begin = time.monotonic()
    with err.status(waiting) as status:

        def told(line: str) -> None:
            nonlocal begin
            if line.startswith(STAGE):
                status.update(f"{escape(line.strip())}  [dim]{time.monotonic() - begin:.0f} s so far[/]")
            else:
                tell(err, line)
                begin = time.monotonic()
                status.update(escape(line.partition(":")[0]))

        def compiling() -> None:
            status.update(f"{escape(waiting)} [dim]compiling, the first time only[/]")

        when_compiling.append(compiling)
        try:
            yield told
        finally:
            when_compiling.remove(compiling)
