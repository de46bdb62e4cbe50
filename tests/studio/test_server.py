"""What the server refuses, that it writes nothing then, and that it lives on and serves the first page as before."""

import asyncio
import contextlib
import gc
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, websocket_connect

from assurgent.mechanism.reader import load
from assurgent.motion.kinematics import run
from assurgent.studio.desk import Desk
from assurgent.studio.formula import feedback
from assurgent.studio.session import BOUNDS
from assurgent.studio.templates import TEMPLATES, template
from assurgent.studio.wire import unpacked

from .conftest import Running

# Tornado's client leaves sockets to the collector of garbage when a server hangs up or refuses.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Clients are collected within the test that made them."""
    yield
    gc.collect()


class Talk:
    """A conversation as a page has it."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self.socket, self.number = socket, 0

    async def ask(self, what: str, **fields: Any) -> tuple[dict[str, Any], np.ndarray]:
        self.number += 1
        await self.socket.write_message(json.dumps({"id": self.number, "do": what, **fields}))
        while True:
            message = await self.socket.read_message()
            assert message is not None, "the conversation has ended"
            header, floats = unpacked(message)  # type: ignore[arg-type]
            if header.get("id") == self.number and header.get("final") is not False:
                return header, floats

    async def hang_up(self) -> None:
        self.socket.close()
        await asyncio.sleep(0.01)


async def connected(running: Running, **headers: str) -> Talk:
    url = f"ws://{running.host}/socket?token={headers.pop('token', running.token)}"
    request = HTTPRequest(url, headers={"Origin": f"http://{running.host}", **headers})
    return Talk(await websocket_connect(request, max_message_size=100_000_000))


def talk(running: Running, conversation: Callable[[Talk], Awaitable[None]]) -> None:
    async def main() -> None:
        one = await connected(running)
        await conversation(one)
        await one.hang_up()

    asyncio.run(main())


async def status(running: Running, path: str, **options: Any) -> int:
    answer = await AsyncHTTPClient().fetch(f"http://{running.host}{path}", raise_error=False, **options)
    return int(answer.code)


@contextlib.contextmanager
def within_a_second(what: str) -> Iterator[None]:
    """Bound the time of an answer: that of the processor, for server and client, which a busy machine does not stretch.

    Seconds on the clock are printed at the end (`-s`).
    """
    clock, processor = time.perf_counter(), time.process_time()
    yield
    spent = time.perf_counter() - clock, time.process_time() - processor
    TOOK.setdefault(what, []).append(spent)
    assert spent[1] < 1.0, what


TOOK: dict[str, list[tuple[float, float]]] = {}


@pytest.fixture(scope="module", autouse=True)
def printed_times(running: Running) -> Iterator[None]:
    feedback("sin(t)", {}, 0.0)  # SymPy is loaded once
    yield
    for what, spent in TOOK.items():
        clock, processor = (max(column) for column in zip(*spent, strict=True))
        print(f"\n{what}: {len(spent)} answers, slowest {clock:.3f} s, {processor:.3f} s of the processor", end="")


def test_the_page_and_its_assets_need_no_network(running: Running) -> None:
    async def main() -> None:
        answer = await AsyncHTTPClient().fetch(running.address)
        text = answer.body.decode()
        assert "Assurgent studio" in text
        assert "http://" not in text
        assert "https://" not in text
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        for name in ("js/main.js", "css/theme.css", "vendor/uplot.js", "vendor/three.js", "vendor/stix-two-math.woff2"):
            assert await status(running, f"/static/{name}") == 200

    asyncio.run(main())


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/?token=wrong",
        "/?token=",
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/js/../../session.py",
        "/etc/passwd",
        "/static//etc/passwd",
        "/socket",
    ],
)
def test_a_wrong_token_and_paths_are_refused(running: Running, path: str) -> None:
    with within_a_second("wrong token or path"):
        assert asyncio.run(status(running, path)) in (400, 403, 404)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", "[::1]:80", "127.0.0.1.evil.example:80"])
def test_a_foreign_host_is_refused_even_with_the_token(running: Running, host: str) -> None:
    """DNS rebinding: the request arrives on the loopback under the name of another site."""
    headers = {"Host": host}
    for path in (f"/?token={running.token}", "/static/js/main.js"):
        with within_a_second("foreign Host"):
            assert asyncio.run(status(running, path, headers=headers)) == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"token": "wrong"},
        {"Host": "evil.example", "Origin": "http://evil.example"},
        {"Origin": "https://localhost"},
    ],
)
def test_a_foreign_origin_or_token_gets_no_socket(running: Running, headers: dict[str, str]) -> None:
    with within_a_second("foreign Origin"), pytest.raises(HTTPClientError) as refused:
        asyncio.run(connected(running, **headers))
    assert refused.value.code in (400, 403)


@pytest.mark.parametrize(
    "name",
    [
        "../x.toml",
        "/tmp/x.toml",
        "..\\x.toml",
        "a/b.toml",
        "x.py",
        ".hidden.toml",
        "con.toml",
        "x\0.toml",
        "",
        None,
        7,
        "~/x.toml",
        "a" * 200 + ".toml",
        "..toml",
        "https://x/y.toml",
    ],
)
def test_names_that_lead_out_of_the_folder_are_refused(running: Running, name: object) -> None:
    before = sorted(running.folder.parent.rglob("*"))

    async def conversation(page: Talk) -> None:
        for what in ("open", "save"):
            with within_a_second("name outside the folder"):
                header, _ = await page.ask(what, name=name, text="format = 1")
            assert "error" in header

    talk(running, conversation)
    assert sorted(running.folder.parent.rglob("*")) == before


def test_a_link_out_of_the_folder_is_not_followed(running: Running, tmp_path: Path) -> None:
    (tmp_path / "secret.toml").write_text("secret = 1")
    (running.folder / "link.toml").symlink_to(tmp_path / "secret.toml")

    async def conversation(page: Talk) -> None:
        for what in ("open", "save"):
            header, _ = await page.ask(what, name="link.toml", text="format = 1")
            assert "leads out of the folder" in header["error"]

    talk(running, conversation)
    assert (tmp_path / "secret.toml").read_text() == "secret = 1"
    (running.folder / "link.toml").unlink()


@pytest.mark.parametrize("table", ["/etc/passwd", "../../secret.csv", "/etc/hosts.csv"])
def test_tables_of_a_mechanism_stay_in_the_folder(running: Running, table: str) -> None:
    text = template("Four-bar").replace('angle = "2*pi*rpm/60*t"', f'table = "{table}"')

    async def conversation(page: Talk) -> None:
        header, _ = await page.ask("solve", text=text)
        assert "no file name" in header["problem"]["message"]

    talk(running, conversation)


HOSTILE = [
    "1+" * 4000 + "1",
    "(" * 5000,
    "9**9**9**9**9",
    "sin(" * 300 + "t" + ")" * 300,
    "t" * 20_000,
    "__import__('os').system('x')",
    "if(t<1," * 150 + "1" + ",0)" * 150,
    "exp(exp(exp(exp(t))))",
    "1e999",
    "t**t**t**t",
    "sin(" * 70 + "t" + ")" * 70,  # short enough to be differentiated, too long to be written
    "sqrt(1+" * 49 + "t" + ")" * 49,
    "((((9^999)^999)^999)^999)*t",  # an exact number of 4e12 digits
]


@pytest.mark.parametrize("formula", HOSTILE, ids=lambda f: f[:20])
def test_an_endless_formula_is_answered_at_once(running: Running, formula: str) -> None:
    text = template("Four-bar").replace("2*pi*rpm/60*t", formula)

    async def conversation(page: Talk) -> None:
        with within_a_second("endless formula"):
            header, _ = await page.ask("formula", formula=formula)
        assert set(header) & {"problem", "values"} or "10,000 characters" in header["error"], header
        header, _ = await page.ask("solve", text=text, kind="run")
        assert header.get("error") or header["problem"] or header["notes"] == []

    talk(running, conversation)


def test_a_slow_import_is_no_slow_formula(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is on the formula: what differentiates is loaded before, however long that takes."""
    monkeypatch.setitem(BOUNDS, "formula", 0.3)
    monkeypatch.setattr(Desk, "load_formulas", lambda _: time.sleep(0.5))

    async def conversation(page: Talk) -> None:
        await page.ask("solve", text=template("Four-bar"))
        header, _ = await page.ask("formula", formula="2*pi*rmp*t")
        assert "did you mean 'rpm'" in header["problem"]

    talk(running, conversation)


def test_a_run_without_end_is_shortened(running: Running) -> None:
    text = (
        template("Four-bar")
        .replace("stop = 1", "stop = 1e4")
        .replace("step = 0.005", "step = 1e-3")
        .replace("rpm = 60", "rpm = 1e-2")
    )

    async def conversation(page: Talk) -> None:
        header, floats = await page.ask("solve", text=text)
        assert header.get("problem") is None, header
        assert header["scene"]["time"]["f"][1] <= 20_001
        assert "of 10,000,001 instants" in header["notes"][0]
        assert floats.size < 5_000_000

    talk(running, conversation)


def test_a_large_message_ends_the_conversation_and_nothing_else(running: Running) -> None:
    async def main() -> None:
        one, other = await connected(running), await connected(running)
        large = json.dumps({"id": 1, "do": "save", "name": "big.toml", "text": "x" * 5_000_000})
        writing = asyncio.ensure_future(one.socket.write_message(large))
        with within_a_second("another page meanwhile"):
            header, _ = await other.ask("hello")
        assert "Four-bar" in header["templates"]
        with within_a_second("message of 5 MB"):
            with contextlib.suppress(WebSocketClosedError):  # the server may hang up before the end
                await writing
            assert await one.socket.read_message() is None
        with within_a_second("body of 100 kB"):
            assert await status(running, "/", method="POST", body="x" * 100_000) in (400, 403, 405, 413, 599)
        await other.hang_up()

    asyncio.run(main())
    assert not (running.folder / "big.toml").exists()


def test_ten_thousand_malformed_messages(running: Running) -> None:
    rng = np.random.default_rng(1)
    kinds = [
        "",
        "{",
        "[]",
        "null",
        '{"id":1}',
        '{"do":"solve"}',
        '{"id":"x","do":"solve"}',
        '{"id":1,"do":"delete"}',
        '{"id":1,"do":"solve","text":7}',
        '{"id":1,"do":"solve","text":"x","operations":{}}',
        "\x00\x01",
        "1e999",
    ]

    async def main() -> None:
        first = await connected(running)
        sent = 0
        while sent < 10_000:
            one = await connected(running)
            with within_a_second("100 malformed messages"):
                try:
                    for _ in range(100):
                        kind = kinds[rng.integers(len(kinds))]
                        await one.socket.write_message(kind or rng.bytes(20), binary=not kind)
                        sent += 1
                except WebSocketClosedError:
                    pass  # the server has hung up, as it should
                for _ in range(100):  # every one is answered, or the server has hung up
                    if await one.socket.read_message() is None:
                        break
            await one.hang_up()
        with within_a_second("the first page after 10,000 malformed messages"):
            header, _ = await first.ask("hello")
        assert header["folder"] == running.folder.name
        await first.hang_up()

    before = sorted(running.folder.iterdir())
    asyncio.run(main())
    assert sorted(running.folder.iterdir()) == before


def test_nonsense_in_good_form_is_answered(running: Running) -> None:
    async def conversation(page: Talk) -> None:
        text = template("Four-bar")
        for what, fields in (
            ("solve", {"text": "not toml ["}),
            ("solve", {"text": text, "kind": "dance"}),
            ("solve", {"text": text, "operations": [["set", ["bodies"], 3]]}),
            ("explain", {"text": text, "group": "XYZ_9"}),
            ("modes", {"text": text, "group": "XYZ_9"}),
            ("verify", {"text": "format = 1"}),
            ("export", {"text": text, "form": "exe"}),
            ("template", {"name": "../four-bar"}),
            ("formula", {"formula": 3}),
            ("solve", {"text": text.replace("format = 1", "format = 1979-05-27")}),
        ):
            header, _ = await page.ask(what, **fields)
            assert header.get("error") or header.get("problem"), (what, fields, header)

    talk(running, conversation)


@pytest.mark.parametrize("title", [t for t in TEMPLATES if t not in ("Empty sheet", "Stewart platform")])
def test_the_page_gets_the_numbers_of_a_run(running: Running, title: str) -> None:
    """Columns of the message against the product's own run, digit for digit."""
    path = EXAMPLES / f"{TEMPLATES[title]}.toml"
    expected = run(load(path)).results.columns()

    async def conversation(page: Talk) -> None:
        header, floats = await page.ask("solve", text=template(title))
        assert header["problem"] is None
        assert list(header["series"]) == list(expected)
        for name, values in expected.items():
            start, rows, _ = header["series"][name]["f"]
            assert np.array_equal(floats[start : start + rows], values), name

    talk(running, conversation)


def test_files_are_saved_whole_and_read_again(running: Running) -> None:
    async def conversation(page: Talk) -> None:
        text = template("Klann leg")
        header, _ = await page.ask("save", name="my klann.toml", text=text, new=True)
        assert header["files"][0] == "my klann.toml"
        header, _ = await page.ask("save", name="my klann.toml", text="other", new=True)
        assert header["exists"]
        header, _ = await page.ask("open", name="my klann.toml")
        assert header["text"] == text

    talk(running, conversation)
    assert load(running.folder / "my klann.toml").name == "klann-leg"
