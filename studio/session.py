"""One page's conversation: requests checked, computed beside the loop, answered in order of arrival or completion.

What computes (`desk`) is imported by the first request that needs it, in a thread: the page is there before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import orjson

from ..common.errors import AssurgentError, InputError
from .first import First
from .folder import Folder
from .templates import TEMPLATES, template
from .wire import packed
from .work import MAKING, PATIENCE, SECONDS, Workers

if TYPE_CHECKING:
    from .desk import Desk

Send = Callable[[bytes], None]
MOST_MALFORMED = 100  # one after the other, before the conversation ends
MOST_PENDING = 8
BOUNDS = {"formula": 1.0, "verify": MAKING}  # seconds; others SECONDS
COMPUTED = ("formula", "explain", "modes", "condition", "diagram", "verify", "export")  # questions to the desk


class MalformedError(InputError):
    """A message that no page of ours sends."""


class Session:
    """What the server keeps of one page: the desk that computes for it, and how often it talked nonsense."""

    def __init__(self, folder: Folder, workers: Workers, send: Send, first: First, version: str) -> None:
        self.folder, self.workers, self.send = folder, workers, send
        self.first, self.version = first, version
        self.malformed = 0
        self.pending = 0
        self._kept: Desk | None = None
        self._answers: dict[str, Callable[[dict[str, Any]], Awaitable[None]]] = {
            "hello": self._hello,
            "open": self._open,
            "template": self._template,
            "save": self._save,
            "solve": self._solve,
            **dict.fromkeys(COMPUTED, self._computed),
        }

    async def answer(self, text: str | bytes) -> bool:
        """Answer one message; False where the conversation should end."""
        identifier: Any = None
        try:
            request = _request(text)
            identifier = request["id"]
            if self.pending >= MOST_PENDING:
                raise InputError("too many requests at once - wait for the answers on their way")
            self.pending += 1
            try:
                await self._answers[request["do"]](request) if request["do"] in self._answers else _unknown(request)
                self.malformed = 0
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
            first=self.first.name,
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

    # ---- what is computed -------------------------------------------------------------------------------------------
    async def _desk(self) -> Desk:
        if self._kept is None:
            self._kept = await self.workers.run(self._new_desk)
        return self._kept

    def _new_desk(self) -> Desk:
        self.first.wait()
        from .desk import Desk

        return Desk(self.folder, self.first)

    async def _solve(self, request: dict[str, Any]) -> None:
        """Edit (where operations are given), read, compute; answer twice where the computation takes long."""
        _text(request)

        def heard(stage: str) -> None:
            self.send_later(packed({"id": None, "event": "progress", "stage": stage}))

        solving = (await self._desk()).solving(request, heard)
        true = asyncio.ensure_future(self.workers.run(solving.whole, seconds=MAKING))
        done, _ = await asyncio.wait([true], timeout=PATIENCE)
        if not done:
            early = asyncio.ensure_future(self.workers.run(solving.at_once))
            await asyncio.wait([true, early], return_when=asyncio.FIRST_COMPLETED)
            if true.done():
                early.cancel()  # its thread ends by itself: it may be in an import, which must not be cut short
            elif early.exception() is None and early.result() is not None:
                self.send(early.result())
        self.send(await true)

    async def _computed(self, request: dict[str, Any]) -> None:
        if request["do"] != "formula":
            _text(request)
        desk, what = await self._desk(), request["do"]
        if what == "formula":
            await self.workers.run(desk.load_formulas)
        self.send(await self.workers.run(getattr(desk, what), request, seconds=BOUNDS.get(what, SECONDS)))

    def send_later(self, data: bytes) -> None:
        """Send from another thread; the server replaces this."""

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
