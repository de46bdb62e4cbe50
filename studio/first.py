"""The first mechanism, computed while the browser starts: the page that asks for it finds the answer made.

Loading compiled code is most of it, and whatever else ran in Python meanwhile would only take turns with it: so what
pages ask for begins when this has ended, or is known to take long because a type must be made.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from .folder import Folder
from .templates import template

if TYPE_CHECKING:
    from .sheet import Shown

BEGINNING = "Four-bar"  # the template where no file is named
LOADING = 10.0  # seconds after which pages no longer wait for it


class First:
    """The file that is opened first, by name, or the template without one; and the motion of it, once."""

    def __init__(self, folder: Folder, name: str | None) -> None:
        self.folder, self.name = folder, name
        self._text: str | None = None
        self._shown: Shown | None = None
        self._settled = threading.Event()

    def begin(self) -> None:
        """Start to compute, in a thread of its own."""
        threading.Thread(target=self._compute, daemon=True, name="studio-first").start()

    def _compute(self) -> None:
        with contextlib.suppress(Exception):  # whatever it is, the page's own question says it
            from .mechanism_text import read
            from .sheet import message
            from .solve import solve

            text = template(BEGINNING) if self.name is None else self.folder.read(self.name)
            shown = solve(read(text, self.folder), "run", lambda _: self._settled.set())
            message(shown, 0)  # loads what draws
            self._text, self._shown = text, shown
        self._settled.set()

    def wait(self) -> None:
        """Wait until it is computed, or is known to take long."""
        self._settled.wait(LOADING)

    def take(self, text: str, kind: str) -> Shown | None:
        """Return the motion if it is that of this text, and forget it: tables beside the file may change."""
        shown = self._shown if (text, kind) == (self._text, "run") else None
        if shown is not None:
            self._shown = None
        return shown
