"""What is computed for one page: each method takes a request and returns the message that answers it, in a thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .dragging import Dragging
from .edit import Editor
from .first import First
from .folder import Folder
from .mechanism_text import Read, known_parameters, read
from .sheet import Shown, message
from .solve import provisional, solve
from .wire import Floats, packed

Request = Mapping[str, Any]
READING = 5.0  # seconds that an answer at once waits for the text to be read


class Desk:
    """The last document under edit, the last that was read, and the drag that is under way."""

    def __init__(self, folder: Folder, first: First) -> None:
        self.folder, self.first = folder, first
        self.editor = Editor()
        self.dragging = Dragging(folder)
        self._last: Read | None = None

    def read(self, text: str) -> Read:
        """Return what is read of a text; the last one is kept, for the questions that follow."""
        if self._last is None or self._last.text != text:
            self._last = read(text, self.folder)
        return self._last

    def solving(self, request: Request, heard: Callable[[str], None]) -> Solving:
        """Return the computation that a request asks for."""
        return Solving(self, request, heard)

    def load_formulas(self) -> None:
        """Load what differentiates: an import takes longer than an answer may, and must not be cut short."""
        import sympy  # noqa: F401

        from . import formula  # noqa: F401

    def formula(self, request: Request) -> bytes:
        """Answer a formula that is typed, in the parameters of the text that was read last."""
        from .formula import feedback

        model = None if self._last is None else self._last.model
        parameters = {} if self._last is None else known_parameters(self._last)
        start = float(model.simulation.start) if model is not None else 0.0
        return packed({"id": request["id"], **feedback(request.get("formula"), parameters, start)})

    # ---- what stands behind -----------------------------------------------------------------------------------------
    def explain(self, request: Request) -> bytes:
        """Answer with a group's equations."""
        from .understand import equations_of

        return packed({"id": request["id"], **equations_of(self.read(request["text"]), str(request.get("group")))})

    def modes(self, request: Request) -> bytes:
        """Answer with the ways to assemble a group."""
        from .understand import assembly_modes

        return packed({"id": request["id"], **assembly_modes(self.read(request["text"]), str(request.get("group")))})

    def condition(self, request: Request) -> bytes:
        """Answer with the conditioning of all groups over the cycle."""
        from .understand import conditioning

        found = conditioning(self.read(request["text"]))
        floats = Floats()
        groups = {name: floats.put(values) for name, values in found["groups"].items()}
        header = {"id": request["id"], "time": floats.put(found["time"]), "groups": groups, "dyads": found["dyads"]}
        return floats.message(header)

    def diagram(self, request: Request) -> bytes:
        """Answer with the structural diagram and the steps of the analysis."""
        from .understand import diagram, steps

        found = self.read(request["text"])
        return packed({"id": request["id"], "svg": diagram(found), "steps": steps(found)})

    def verify(self, request: Request) -> bytes:
        """Answer with the verification of the mechanism."""
        from .understand import verification

        return packed({"id": request["id"], **verification(self.read(request["text"]))})

    def export(self, request: Request) -> bytes:
        """Answer with a file."""
        from .exports import export, packed_file

        kind, form, trace = str(request.get("kind", "run")), str(request.get("form")), request.get("trace")
        names = [str(name) for name in trace][:50] if isinstance(trace, list) else []
        return packed_file(request["id"], *export(self.read(request["text"]), kind, form, names))


@dataclass
class Solving:
    """One computation: the true answer, and one at once in case the true one takes long."""

    desk: Desk
    request: Request
    heard: Callable[[str], None]
    begin: float = field(default_factory=time.perf_counter)
    _read: Read | None = None  # once it is edited and read
    _ready: threading.Event = field(default_factory=threading.Event)
    _answered: bool = False

    def whole(self) -> bytes:
        """Return the message with the whole motion, or with what of it is drawn while something is dragged."""
        request, desk = self.request, self.desk
        text, operations = request["text"], request.get("operations")
        moved = desk.dragging.moved(text, operations, self._kind) if request.get("light") is True else None
        if moved is not None:
            self._answered = True
            return self._message(moved, final=True)
        edited = desk.editor.apply(text, request["operations"]) if "operations" in request else text
        self._read = desk.read(edited)
        self._ready.set()
        shown = desk.first.take(edited, self._kind) or solve(self._read, self._kind, self.heard)
        self._answered = True
        return self._message(shown, final=True)

    def at_once(self) -> bytes | None:
        """Return the message with an answer in absolute coordinates; None where there is none, or the true one."""
        self._ready.wait(READING)
        shown = None if self._read is None or self._answered else provisional(self._read, self._kind)
        return None if shown is None or self._answered else self._message(shown, final=False)

    @property
    def _kind(self) -> str:
        return str(self.request.get("kind", "run"))

    def _message(self, shown: Shown, final: bool) -> bytes:
        light, by_group = self.request.get("light") is True, self.request.get("colours") != "bodies"
        spent = 1e3 * (time.perf_counter() - self.begin)
        return message(shown, self.request["id"], light, by_group, milliseconds=spent, kind=self._kind, final=final)
