"""What a user does in the page, in words that the tests share."""

from typing import Any

import numpy as np


def new(page: Any, title: str) -> None:
    """Choose a template by the menu."""
    page.click("#menu-file")
    page.get_by_role("menuitem", name="New…").click()
    page.locator(".gallery button", has_text=title).first.click()
    if page.locator("dialog", has_text="Changes are not saved").count():
        page.get_by_role("button", name="Go on without saving").click()
    page.wait_for_function("t => document.title.startsWith(t)", arg=title)


def text_of(page: Any) -> str:
    return str(page.evaluate("document.getElementById('source').value"))


def settled(page: Any) -> None:
    """Wait until nothing is being computed."""
    page.wait_for_selector("html[data-busy='0']")


def series(page: Any, name: str) -> np.ndarray:
    """Return a curve as the page holds it."""
    found = page.evaluate("n => import('/static/js/store.js').then(m => Array.from(m.state.series[n] || []))", name)
    return np.array(found)


def scrub(page: Any, step: int) -> None:
    """Move the time line to an instant."""
    track = page.locator("#player input[type=range]")
    track.evaluate("(e, k) => { e.value = k; e.dispatchEvent(new Event('input')) }", step)


def fill(page: Any, values: dict[str, str]) -> None:
    for key, value in values.items():
        box = page.locator(f"dialog #f-{key}")
        if box.evaluate("e => e.tagName") == "SELECT":
            box.select_option(value)
        else:
            box.fill(value)


def submit(page: Any) -> None:
    page.click("dialog #f-submit")
    page.wait_for_selector("dialog", state="detached")
    settled(page)


def centre(page: Any, point: str) -> tuple[float, float]:
    box = page.locator(f"[data-point='{point}'] circle.hit").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def draw_a_four_bar(page: Any) -> None:
    new(page, "Empty sheet")
    box = page.locator("#sheet").bounding_box()
    places = [(230, 480), (290, 330), (560, 250), (620, 480)]
    spots = [(box["x"] + x, box["y"] + y) for x, y in places]
    for a, b in ((0, 1), (1, 2), (2, 3)):
        page.keyboard.press("l")
        page.mouse.click(*spots[a])
        page.mouse.click(*spots[b])
        page.keyboard.press("Enter")
        settled(page)
    for k in (0, 3):
        page.keyboard.press("g")
        page.mouse.click(*spots[k])
        settled(page)


def take(page: Any, text: str) -> None:
    """Give the page a text by its tab File."""
    page.click("#tab-file")
    page.fill("#source", text)
    if page.is_enabled("#take-text"):
        page.click("#take-text")
    settled(page)


def drag(page: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    for k in (1, 2, 3, 4):
        page.mouse.move(*(a + (b - a) * k / 4 for a, b in zip(start, end, strict=True)))
    page.mouse.up()


def asked(page: Any, script: str) -> Any:
    """Return what a script finds in the page's modules: `m.store`, `m.overlays`, `m.view`."""
    loaded = "".join(f"m.{name} = await import('/static/js/{name}.js'); " for name in ("store", "overlays", "view"))
    return page.evaluate(f"async () => {{ const m = {{}}; {loaded} return {script}; }}")
