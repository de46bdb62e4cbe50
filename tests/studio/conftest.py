"""A studio that runs beside the tests, and pages of a real browser on it."""

import asyncio
import os
import shutil
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assurgent.studio.mechanism_text import read
from assurgent.studio.server import Studio, serve
from assurgent.studio.solve import solve
from assurgent.studio.templates import template

CHROMIUM = os.environ.get("ASSURGENT_CHROMIUM") or next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)


@dataclass(frozen=True)
class Running:
    """A studio at work: its address with token, and the folder that it serves."""

    address: str
    folder: Path
    studio: Studio

    @property
    def host(self) -> str:
        return self.address.split("/")[2]

    @property
    def token(self) -> str:
        return self.studio.token


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("sheet")
    studio = Studio(folder, None, "test")
    found: dict[str, Any] = {}
    ready = threading.Event()

    async def main() -> None:
        found["stop"], found["loop"] = asyncio.Event(), asyncio.get_running_loop()

        def told(address: str) -> None:
            found["address"] = address
            ready.set()

        await serve(studio, 0, told, found["stop"])

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert ready.wait(20)
    solve(read(template("Four-bar"), studio.folder), "run", lambda _: None)  # compiled code is loaded once
    yield Running(found["address"], folder, studio)
    found["loop"].call_soon_threadsafe(found["stop"].set)
    thread.join(20)


@pytest.fixture(scope="module")  # Playwright's loop runs in this thread as long as it lives: others need it free
def browser() -> Iterator[Any]:
    """The system's Chromium; where there is none the tests of the page say so aloud and are left out."""
    if CHROMIUM is None:
        warnings.warn("NO BROWSER: the studio's page is not tested. Install Chromium (make browser).", stacklevel=1)
        pytest.skip("no Chromium: the studio's page is NOT tested - install it with `make browser`")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Any, running: Running) -> Iterator[Any]:
    """A page of the studio that is ready; an error in its scripts fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="light")
    sheet = context.new_page()
    wrong: list[str] = []
    sheet.on("pageerror", lambda error: wrong.append(str(error)))
    sheet.set_default_timeout(60_000)
    sheet.goto(running.address)
    sheet.wait_for_selector("html[data-ready=yes]")
    yield sheet
    context.close()
    assert not wrong, wrong
