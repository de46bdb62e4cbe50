"""How fast and how it looks: figures are printed, not asserted; pictures are taken at two sizes, light and dark.

ASSURGENT_PICTURES=docs/images/studio python -m pytest -s tests/studio/test_figures.py      # those of the docs
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from .conftest import CHROMIUM, Running
from .hands import centre, draw_a_four_bar, new, scrub, settled
from .test_page import build_the_papers_slider_crank

SIZES = {"small": (1280, 800), "large": (1920, 1080)}


@dataclass
class Command:
    """The studio as its command starts it, in a process of its own: what a user waits for."""

    begin: float
    address: str
    served: float


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    begin = time.perf_counter()
    words = [
        sys.executable,
        "-m",
        "assurgent",
        "studio",
        "--no-browser",
        "--folder",
        str(tmp_path_factory.mktemp("own")),
    ]
    studio = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert studio.stdout is not None
    yield Command(begin, studio.stdout.readline().strip(), time.perf_counter())
    studio.terminate()
    assert studio.wait(20) == 0
    studio.stdout.close()


@pytest.fixture
def own(browser: Any, command: Command) -> Iterator[Any]:
    """A page of that studio, not yet ready."""
    sheet = browser.new_page(viewport={"width": 1280, "height": 800})
    sheet.set_default_timeout(60_000)
    sheet.goto(command.address)
    yield sheet
    sheet.close()


def test_first_paint_and_first_motion(browser: Any, command: Command, own: Any) -> None:
    """From the command to a four-bar that plays, with everything compiled before."""
    own.click("button.play:not([disabled])")
    own.wait_for_function("() => document.getElementById('clock').textContent !== 't = 0 s'")
    playing = time.perf_counter()
    provisional = own.locator("#provisional").count()
    own.wait_for_selector("html[data-ready=yes]")
    ready = time.perf_counter()
    paint = own.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
    print(
        f"\nserver {command.served - command.begin:.2f} s after the command; "
        f"first paint {paint:.0f} ms after the request; "
        f"a four-bar plays {playing - command.begin:.2f} s after the command"
        f"{' (absolute coordinates)' if provisional else ''}, its solver answers after {ready - command.begin:.2f} s"
    )
    assert command.address.startswith("http://127.0.0.1:")
    assert "token=" in command.address
    own.wait_for_selector("#provisional", state="detached")


@pytest.mark.parametrize(("title", "point"), [("Four-bar", "C"), ("Jansen leg", "U")])
def test_from_drag_to_drawing(own: Any, title: str, point: str) -> None:
    own.wait_for_selector("html[data-ready=yes]")
    new(own, title)
    settled(own)
    x, y = centre(own, point)
    own.mouse.move(x, y)
    own.mouse.down()
    found = []
    for k in range(1, 41):
        own.mouse.move(x + 5 + 2 * (k % 20), y - k % 20)
        own.wait_for_function("k => Number(document.getElementById('sheet').dataset.drags) >= k", arg=k)
        found.append(float(own.get_attribute("#sheet", "data-latency")))
    own.mouse.up()
    settled(own)
    found = sorted(found[-30:])  # the first ones are read anew, while the mechanism is compiled for this drag
    print(f"\n{title}: drag to drawing, median {found[len(found) // 2]:.1f} ms, best {found[0]:.1f} ms")
    assert own.locator("#problem").count() == 0


def chain(count: int) -> str:
    """Return a row of four-bars on one crank line: `count` moving bodies."""
    points, bodies, joints, drivers = ["A0 = [0, 0]"], ['[bodies.frame]\npoints = ["A0"'], [], []
    for k in range(count // 3):
        x = 3.0 * (k % 9), 3.0 * (k // 9)
        points += [f"A{k} = [{x[0]}, {x[1]}]"] * (k > 0)
        points += [f"B{k} = [{x[0]}, {x[1] + 0.5}]", f"C{k} = [{x[0] + 1.6}, {x[1] + 1.4}]"]
        points += [f"D{k} = [{x[0] + 1.8}, {x[1]}]"]
        bodies[0] += f', "A{k}"' * (k > 0) + f', "D{k}"'
        links = (("a", "A", "B"), ("b", "B", "C"), ("c", "C", "D"))
        bodies += [f'[bodies.{n}{k}]\npoints = ["{p}{k}", "{q}{k}"]' for n, p, q in links]
        ties = (("A", "frame", f"a{k}"), ("B", f"a{k}", f"b{k}"), ("C", f"b{k}", f"c{k}"), ("D", "frame", f"c{k}"))
        joints += [f'{n}{k} = {{ type = "R", bodies = ["{p}", "{q}"], at = "{n}{k}" }}' for n, p, q in ties]
        drivers.append(f'd{k} = {{ joint = "A{k}", angle = "pi/2 + t" }}')
    bodies[0] += "]"
    parts = ['format = 1\nname = "many"\nspace = "planar"', "[points]\n" + "\n".join(points), *bodies]
    parts += ["[joints]\n" + "\n".join(joints), "[drivers]\n" + "\n".join(drivers)]
    parts += ["[simulation]\nstop = 6.28\nstep = 0.02"]
    return "\n\n".join(parts)


def test_frames_with_a_hundred_bodies(own: Any) -> None:
    own.wait_for_selector("html[data-ready=yes]")
    own.click("#tab-file")
    own.fill("#source", chain(99))
    own.click("#take-text")
    settled(own)
    assert own.locator("#problem").count() == 0, own.inner_text("#problem")
    own.keyboard.press("0")
    own.click("button.play")
    frames = own.evaluate("""() => new Promise((done) => { let n = 0; const first = performance.now();
        const tick = () => { n += 1; const spent = performance.now() - first;
            spent > 1500 ? done(1000 * n / spent) : requestAnimationFrame(tick) };
        requestAnimationFrame(tick) })""")
    bodies = own.locator("#sheet .scene g[data-body]").evaluate_all("g => new Set(g.map((x) => x.dataset.body)).size")
    print(f"\n{bodies} bodies: {frames:.0f} frames per second")
    assert bodies >= 99


def taken(page: Any, path: Path) -> None:
    """Take one picture; with a palette it has a third of the bytes, and no difference can be seen.

    The palette holds the colours of large areas as they are, and of all others those that are far apart.
    """
    from PIL import Image

    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    often = sorted(picture.getcolors(1 << 24), reverse=True)[:156]
    rare = picture.quantize(100, Image.Quantize.MAXCOVERAGE).getpalette()
    palette = Image.new("P", (1, 1))
    palette.putpalette([*(part for _, colour in often for part in colour), *rare])
    picture.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)


def shown(page: Any, name: str, folder: Path | None) -> None:
    """Take a picture of each size and theme, and look that nothing is cut off."""
    for theme in ("light", "dark"):
        if page.evaluate("document.documentElement.dataset.theme") != theme:
            page.click("#theme")
        for size, (width, height) in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(60)
            page.keyboard.press("0")
            page.evaluate("document.activeElement.blur()")
            page.wait_for_timeout(30)
            over = (
                "() => { const e = document.documentElement; "
                "return [e.scrollWidth - innerWidth, e.scrollHeight - innerHeight] }"
            )
            assert page.evaluate(over) == [0, 0]
            for bar in ("#bar", "#player", "#tools"):
                assert page.locator(bar).evaluate("e => e.scrollWidth - e.clientWidth") <= 0, (bar, size)
            if folder is not None:
                taken(page, folder / f"{name}-{theme}-{size}.png")


def test_pictures_at_two_sizes_light_and_dark(page: Any, running: Running, tmp_path: Path) -> None:
    kept = os.environ.get("ASSURGENT_PICTURES")
    folder = Path(kept) if kept else tmp_path
    folder.mkdir(parents=True, exist_ok=True)
    page.click("#menu-file")
    page.get_by_role("menuitem", name="New…").click()
    page.wait_for_selector(".gallery svg path")
    page.wait_for_timeout(200)  # until the dialog stands
    assert (
        page.locator(".gallery").evaluate("e => e.closest('dialog').scrollHeight - e.closest('dialog').clientHeight")
        <= 0
    )
    taken(page, folder / "templates-light-small.png")
    page.keyboard.press("Escape")
    draw_a_four_bar(page)
    page.keyboard.press("v")
    page.mouse.click(*centre(page, "C"))
    shown(page, "drawing", folder)
    build_the_papers_slider_crank(page)
    page.click("#kind-inverse")
    settled(page)
    scrub(page, 30)
    shown(page, "building", folder)
    page.click("#tab-watch")
    for name in ("reactions", "efforts", "velocity"):
        page.check(f"[data-show={name}]")
    page.locator("select[aria-label='What is plotted']").select_option("joints:A")
    page.locator("#page-watch").evaluate("e => { e.scrollTop = 0 }")
    shown(page, "forces", folder)
    for name in ("reactions", "efforts"):
        page.uncheck(f"[data-show={name}]")
    new(page, "Jansen leg")
    settled(page)
    scrub(page, 70)
    page.locator("#page-watch").evaluate("e => { e.scrollTop = 0 }")
    shown(page, "watching", folder)
    page.click("#tab-understand")
    page.locator("[data-group]").nth(1).click()
    page.wait_for_selector("[data-explained] math")
    shown(page, "understanding", folder)
    page.click("#tab-build")
    new(page, "Stewart platform")
    settled(page)
    page.wait_for_selector("#spatial")
    shown(page, "spatial", folder)
    assert len(list(folder.glob("*.png"))) >= 24
    assert CHROMIUM is not None
