"""The studio's server on the loopback: one page, its assets, and one WebSocket. No request takes a path.

A loopback address is no boundary: any page in the user's browser can send requests to it, and by DNS rebinding it can
do so under a name of its own. So the Host must be ours, the Origin of the WebSocket must be ours, the page and the
WebSocket need the token, and files are named, never addressed.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import signal
import sys
import threading
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import tornado.httpserver
import tornado.netutil
import tornado.web
import tornado.websocket

from .first import First
from .folder import Folder
from .session import Session
from .work import Workers

ADDRESS = "127.0.0.1"
KINDS = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".txt": "text/plain",
    ".html": "text/html",
    ".json": "application/json",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; "
    "font-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
MOST_PAGES = 32
MOST_BYTES = 400_000  # of one message


class Studio:
    """What all handlers share: the folder, the token, the assets, and the pages that are open."""

    def __init__(self, folder: Path, first: str | None, version: str) -> None:
        self.folder, self.version = Folder(folder), version
        self.first = First(self.folder, first)
        self.token = secrets.token_urlsafe(24)
        self.workers = Workers()
        self.assets = _assets()
        self.hosts: frozenset[str] = frozenset()
        self.pages: set[Page] = set()

    def listening(self, port: int) -> str:
        """Note the port and return the address of the page."""
        self.hosts = frozenset(f"{name}:{port}" for name in (ADDRESS, "localhost"))
        return f"http://{ADDRESS}:{port}/?token={self.token}"

    def knows(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())


def _assets() -> dict[str, tuple[str, bytes]]:
    """Return all static files by the name under which they are served: nothing is looked up on a request."""
    found: dict[str, tuple[str, bytes]] = {}

    def add(folder: Any, before: str) -> None:
        for item in folder.iterdir():
            if item.is_dir():
                add(item, f"{before}{item.name}/")
            elif (kind := KINDS.get(Path(item.name).suffix)) is not None:
                found[f"{before}{item.name}"] = kind, item.read_bytes()

    add(files("assurgent.studio") / "static", "")
    return found


class Guarded(tornado.web.RequestHandler):
    """Refuses every request whose Host is not ours, and says what a browser may do with the answer."""

    studio: Studio

    def initialize(self, studio: Studio) -> None:
        self.studio = studio

    def prepare(self) -> None:
        if self.request.host.lower() not in self.studio.hosts:
            raise tornado.web.HTTPError(403, "foreign host")

    def set_default_headers(self) -> None:
        for name, value in (
            ("Content-Security-Policy", POLICY),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Server", "assurgent"),
        ):
            self.set_header(name, value)

    def write_error(self, status_code: int, **_: Any) -> None:
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(_REFUSED if status_code == 403 else f"{status_code}\n")


_REFUSED = (
    "This is an Assurgent studio, but the address lacks its token.\n"
    "Use the address that `assurgent studio` printed. If this is a link to a mechanism, start the studio\n"
    "and choose Open > From a link.\n"
)


class Front(Guarded):
    """The page itself, for those who know the token."""

    def get(self) -> None:
        if not self.studio.knows(self.get_query_argument("token", "")):
            raise tornado.web.HTTPError(403, "wrong token")
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish(self.studio.assets["index.html"][1])


class Asset(Guarded):
    """A static file of the package, from a table."""

    def get(self, name: str) -> None:
        if name not in self.studio.assets:
            raise tornado.web.HTTPError(404)
        kind, data = self.studio.assets[name]
        self.set_header("Content-Type", f"{kind}; charset=utf-8" if kind.startswith("text") else kind)
        self.finish(data)


class Page(tornado.websocket.WebSocketHandler):
    """The conversation with one page."""

    def initialize(self, studio: Studio) -> None:
        self.studio = studio
        self.session: Session | None = None
        self.tasks: set[asyncio.Task[None]] = set()

    def prepare(self) -> None:
        if self.request.host.lower() not in self.studio.hosts:
            raise tornado.web.HTTPError(403, "foreign host")
        if not self.studio.knows(self.get_query_argument("token", "")):
            raise tornado.web.HTTPError(403, "wrong token")
        if len(self.studio.pages) >= MOST_PAGES:
            raise tornado.web.HTTPError(503, "too many pages")

    def check_origin(self, origin: str) -> bool:
        parts = urlsplit(origin)
        return parts.scheme == "http" and parts.netloc.lower() in self.studio.hosts

    def open(self, *_: str, **__: str) -> None:
        studio = self.studio
        studio.pages.add(self)
        self.set_nodelay(True)
        self.session = Session(studio.folder, studio.workers, self._send, studio.first, studio.version)
        loop = asyncio.get_running_loop()
        self.session.send_later = lambda data: _later(loop, self._send, data)  # type: ignore[method-assign]

    def _send(self, data: bytes) -> None:
        if self.ws_connection is not None and not self.ws_connection.is_closing():
            future = self.write_message(data, binary=True)
            future.add_done_callback(lambda done: done.exception())  # a page that has gone wants no answer

    def on_message(self, message: str | bytes) -> None:
        task = asyncio.get_running_loop().create_task(self._answer(message))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _answer(self, message: str | bytes) -> None:
        if self.session is not None and not await self.session.answer(message):
            self.close(1008, "too many malformed messages")

    def on_close(self) -> None:
        self.studio.pages.discard(self)
        self.session = None


def _later(loop: asyncio.AbstractEventLoop, send: Callable[[bytes], None], data: bytes) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(send, data)


def application(studio: Studio) -> tornado.web.Application:
    """Return the application: three handlers, of which none takes a path of the file system."""
    shared = {"studio": studio}
    return tornado.web.Application(
        [("/", Front, shared), ("/socket", Page, shared), (r"/static/([a-z0-9./-]{1,80})", Asset, shared)],
        websocket_max_message_size=MOST_BYTES,
        websocket_ping_interval=30,
        log_function=lambda _: None,
        default_handler_class=Missing,
        default_handler_args=shared,
    )


class Missing(Guarded):
    """Everything else."""

    def get(self) -> None:
        raise tornado.web.HTTPError(404)


async def serve(studio: Studio, port: int, ready: Callable[[str], None], stop: asyncio.Event | None = None) -> None:
    """Serve until stopped; `ready` is told the address."""
    import logging

    logging.getLogger("tornado").setLevel(logging.CRITICAL)  # refused requests are no news to the user
    stop = stop or asyncio.Event()
    sockets = tornado.netutil.bind_sockets(port, ADDRESS)
    server = tornado.httpserver.HTTPServer(
        application(studio), max_body_size=1024, max_header_size=16_384, idle_connection_timeout=600
    )
    server.add_sockets(sockets)
    studio.first.begin()
    ready(studio.listening(sockets[0].getsockname()[1]))
    if sys.platform != "win32" and threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()
    server.stop()
    for page in list(studio.pages):
        page.close(1001, "the studio has ended")
