"""One page's conversation: requests checked, computed beside the loop, answered in order of arrival or completion."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from ..common.errors import AssurgentError, InputError
from . import exports, understand
from .edit import Editor
from .folder import Folder
from .formula import feedback
from .mechanism_text import Read, read
from .sheet import message
from .solve import KINDS, provisional, solve
from .templates import TEMPLATES, template
from .wire import Floats, packed
from .work import MAKING, PATIENCE, Workers

Send = Callable[[bytes], None]
MOST_MALFORMED = 100  # one after the other, before the conversation ends
MOST_PENDING = 8


class MalformedError(InputError):
    """A message that no page of ours sends."""


class Session:
    """What the server keeps of one page: its last document under edit, and how often it talked nonsense."""

    def __init__(self, folder: Folder, workers: Workers, send: Send, first: str | None, version: str) -> None:
        self.folder, self.workers, self.send = folder, workers, send
        self.first, self.version = first, version
        self.editor = Editor()
        self.malformed = 0
        self.pending = 0
        self._last: Read | None = None
        self._answers: dict[str, Callable[[dict[str, Any]], Awaitable[None]]] = {
            "hello": self._hello,
            "open": self._open,
            "template": self._template,
            "save": self._save,
            "solve": self._solve,
            "formula": self._formula,
            "explain": self._explain,
            "modes": self._modes,
            "condition": self._condition,
            "diagram": self._diagram,
            "verify": self._verify,
            "export": self._export,
        }

    async def answer(self, text: str | bytes) -> bool:
        """Answer one message; False where the conversation should end."""
        identifier: Any = None
        try:
            request = _request(text)
            identifier = request["id"]
            if self.pending >= MOST_PENDING:
                raise InputError("too many requests at once - wait for the answers on their way")
            self.malformed = 0
            self.pending += 1
            try:
                await self._answers[request["do"]](request) if request["do"] in self._answers else _unknown(request)
            finally:
                self.pending -= 1
        except MalformedError as error:
            self.malformed += 1
            self.send(packed({"id": identifier, "error": str(error)}))
        except AssurgentError as error:
            self.send(packed({"id": identifier, "error": str(error)}))
        return self.malformed < MOST_MALFORMED

    # ---- files ----------------------------------------------------------------------------------------------------
    async def _hello(self, request: dict[str, Any]) -> None:
        self._say(
            request,
            version=self.version,
            templates=list(TEMPLATES),
            files=self.folder.names(),
            folder=self.folder.path.name,
            first=self.first,
            kinds=list(KINDS),
        )

    async def _open(self, request: dict[str, Any]) -> None:
        text = await self.workers.run(self.folder.read, request.get("name"))
        self._say(request, text=text, name=request["name"])

    async def _template(self, request: dict[str, Any]) -> None:
        self._say(request, text=template(request.get("name")))

    async def _save(self, request: dict[str, Any]) -> None:
        text = _text(request)
        if request.get("new") is True and self.folder.place(request.get("name"), ".toml").exists():
            self._say(request, exists=True)
            return
        path = await self.workers.run(self.folder.write, request.get("name"), text)
        self._say(request, name=path.name, files=self.folder.names())

    # ---- motion ---------------------------------------------------------------------------------------------------
    async def _solve(self, request: dict[str, Any]) -> None:
        """Edit (where operations are given), read, compute; answer twice where the computation takes long."""
        begin = time.perf_counter()
        text, kind, light = _text(request), str(request.get("kind", "run")), request.get("light") is True
        by_group = request.get("colours") != "bodies"
        current: Read | None = None  # once it is edited and read
        answered = False

        def heard(stage: str) -> None:
            self.send_later(packed({"id": None, "event": "progress", "stage": stage}))

        def whole() -> bytes:
            nonlocal answered, current
            edited = self.editor.apply(text, request["operations"]) if "operations" in request else text
            current = self._read(edited)
            shown = solve(current, kind, heard)
            answered = True
            spent = 1e3 * (time.perf_counter() - begin)
            return message(shown, request["id"], light, by_group, milliseconds=spent, kind=kind, final=True)

        def at_once() -> bytes | None:
            shown = None if current is None else provisional(current, kind)
            if shown is None or answered:
                return None
            return message(shown, request["id"], light, by_group, kind=kind, final=False)

        true = asyncio.ensure_future(self.workers.run(whole, seconds=MAKING))
        done, _ = await asyncio.wait([true], timeout=PATIENCE)
        if not done:
            early = await self.workers.run(at_once)
            if early is not None and not true.done():
                self.send(early)
        self.send(await true)

    def _read(self, text: str) -> Read:
        """Return what is read of a text; the last one is kept, for the questions that follow."""
        if self._last is None or self._last.text != text:
            self._last = read(text, self.folder)
        return self._last

    def send_later(self, data: bytes) -> None:
        """Send from another thread; the server replaces this."""

    async def _formula(self, request: dict[str, Any]) -> None:
        last = self._last
        model = None if last is None else last.model
        given = request.get("parameters")
        parameters = dict(model.parameters) if model is not None else {}
        if isinstance(given, dict):
            parameters |= {k: float(v) for k, v in given.items() if isinstance(v, int | float)}
        start = float(model.simulation.start) if model is not None else 0.0
        found = await self.workers.run(feedback, request.get("formula"), parameters, start, seconds=5.0)
        self._say(request, **found)

    # ---- what stands behind -----------------------------------------------------------------------------------------
    async def _explain(self, request: dict[str, Any]) -> None:
        text, group = _text(request), str(request.get("group"))
        self._say(request, **await self.workers.run(lambda: understand.equations_of(self._read(text), group)))

    async def _modes(self, request: dict[str, Any]) -> None:
        text, group = _text(request), str(request.get("group"))
        self._say(request, **await self.workers.run(lambda: understand.assembly_modes(self._read(text), group)))

    async def _condition(self, request: dict[str, Any]) -> None:
        text = _text(request)
        found = await self.workers.run(lambda: understand.conditioning(self._read(text)))
        floats = Floats()
        groups = {name: floats.put(values) for name, values in found["groups"].items()}
        header = {"id": request["id"], "time": floats.put(found["time"]), "groups": groups, "dyads": found["dyads"]}
        self.send(floats.message(header))

    async def _diagram(self, request: dict[str, Any]) -> None:
        text = _text(request)
        svg = await self.workers.run(lambda: understand.diagram(self._read(text)))
        told = await self.workers.run(lambda: understand.steps(self._read(text)))
        self._say(request, svg=svg, steps=told)

    async def _verify(self, request: dict[str, Any]) -> None:
        text = _text(request)
        self._say(request, **await self.workers.run(lambda: understand.verification(self._read(text))))

    async def _export(self, request: dict[str, Any]) -> None:
        text, kind, form = _text(request), str(request.get("kind", "run")), str(request.get("form"))
        trace = [str(name) for name in request.get("trace", [])][:50]
        name, data = await self.workers.run(lambda: exports.export(self._read(text), kind, form, trace))
        self.send(exports.packed_file(request["id"], name, data))

    def _say(self, request: dict[str, Any], **header: Any) -> None:
        self.send(packed({"id": request["id"], **header}))


def _request(text: str | bytes) -> dict[str, Any]:
    try:
        request = orjson.loads(text)
    except ValueError:
        raise MalformedError("the message is not JSON") from None
    if not isinstance(request, dict) or not isinstance(request.get("do"), str):
        raise MalformedError("a message is a table with `do` and `id`")
    if not isinstance(request.get("id"), int):
        raise MalformedError("a message has a number as its `id`")
    return request


def _unknown(request: dict[str, Any]) -> None:
    raise MalformedError(f"{request['do'][:40]!r} is no request")


def _text(request: dict[str, Any]) -> str:
    text = request.get("text")
    if not isinstance(text, str):
        raise MalformedError("the request has no `text`")
    return text
