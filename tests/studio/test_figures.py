"""How fast and how it looks: figures are printed, not asserted; pictures are taken at two sizes, light and dark.

ASSURGENT_PICTURES=docs/images/studio python -m pytest -s tests/studio/test_figures.py      # those of the docs
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from .conftest import CHROMIUM, Running
from .test_page import build_the_papers_slider_crank, centre, draw_a_four_bar, new, scrub, settled

SIZES = {"small": (1280, 800), "large": (1920, 1080)}


def test_first_paint_and_first_motion(browser: Any, tmp_path: Path) -> None:
    """From the command to a four-bar that plays, with everything compiled before."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "assurgent", "studio", "--no-browser", "--folder", str(tmp_path)]
    studio = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert studio.stdout is not None
        address = studio.stdout.readline().strip()
        served = time.perf_counter()
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("html[data-ready=yes]")
        page.click("button.play")
        page.wait_for_function("() => document.getElementById('clock').textContent !== 't = 0 s'")
        playing = time.perf_counter()
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
        print(
            f"\nserver {served - begin:.2f} s after the command; first paint {paint:.0f} ms after the request; "
            f"a four-bar plays {playing - begin:.2f} s after the command"
        )
        assert address.startswith("http://127.0.0.1:")
        assert "token=" in address
        page.close()
    finally:
        studio.terminate()
        assert studio.wait(20) == 0
        if studio.stdout is not None:
            studio.stdout.close()


@pytest.mark.parametrize(("title", "point"), [("Four-bar", "C"), ("Jansen leg", "U")])
def test_from_drag_to_drawing(page: Any, title: str, point: str) -> None:
    new(page, title)
    settled(page)
    x, y = centre(page, point)
    page.mouse.move(x, y)
    page.mouse.down()
    found = []
    for k in range(1, 26):
        page.mouse.move(x + 2 * k, y - k)
        page.wait_for_timeout(40)
        found.append(float(page.get_attribute("#sheet", "data-latency") or "nan"))
    page.mouse.up()
    settled(page)
    found = sorted(x for x in found if x > 0)
    print(f"\n{title}: drag to drawing, median {found[len(found) // 2]:.1f} ms, best {found[0]:.1f} ms")
    assert found


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


def test_frames_with_a_hundred_bodies(page: Any) -> None:
    page.click("#tab-file")
    page.fill("#source", chain(99))
    page.click("#take-text")
    settled(page)
    assert page.locator("#problem").count() == 0, page.inner_text("#problem")
    page.keyboard.press("0")
    page.click("button.play")
    frames = page.evaluate("""() => new Promise((done) => { let n = 0; const first = performance.now();
        const tick = () => { n += 1; const spent = performance.now() - first;
            spent > 1500 ? done(1000 * n / spent) : requestAnimationFrame(tick) };
        requestAnimationFrame(tick) })""")
    bodies = page.locator("#sheet .scene g[data-body]").evaluate_all("g => new Set(g.map((x) => x.dataset.body)).size")
    print(f"\n{bodies} bodies: {frames:.0f} frames per second")
    assert bodies >= 99


def shown(page: Any, name: str, folder: Path | None) -> None:
    """Take a picture of each size and theme, and look that nothing is cut off."""
    for theme in ("light", "dark"):
        if page.evaluate("document.documentElement.dataset.theme") != theme:
            page.click("#theme")
        for size, (width, height) in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(60)
            page.keyboard.press("0")
            page.wait_for_timeout(30)
            over = (
                "() => { const e = document.documentElement; "
                "return [e.scrollWidth - innerWidth, e.scrollHeight - innerHeight] }"
            )
            assert page.evaluate(over) == [0, 0]
            for bar in ("#bar", "#player", "#tools"):
                assert page.locator(bar).evaluate("e => e.scrollWidth - e.clientWidth") <= 0, (bar, size)
            if folder is not None:
                page.screenshot(path=folder / f"{name}-{theme}-{size}.png")


def test_pictures_at_two_sizes_light_and_dark(page: Any, running: Running, tmp_path: Path) -> None:
    kept = os.environ.get("ASSURGENT_PICTURES")
    folder = Path(kept) if kept else tmp_path
    folder.mkdir(parents=True, exist_ok=True)
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
