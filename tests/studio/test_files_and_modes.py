"""The page in a real browser: files, downloads, references, assembly modes, two pages at once."""

import json
from pathlib import Path
from typing import Any

import pytest

from assurgent.mechanism.reader import load
from assurgent.motion.kinematics import run

from .conftest import Running
from .hands import new, series, settled, text_of

EXAMPLES = Path(__file__).parents[2] / "examples"


# ---- files ------------------------------------------------------------------------------------------
def test_saved_opened_and_shared(page: Any, running: Running) -> None:
    new(page, "Quick return")
    page.keyboard.press("Control+s")
    page.fill("dialog #f-name", "shaper")
    page.click("dialog #f-submit")
    page.wait_for_selector("dialog", state="detached")
    text = text_of(page)
    assert (running.folder / "shaper.toml").read_text("utf-8") == text
    link = page.evaluate("t => import('/static/js/files.js').then(m => m.linkOf(t))", text)
    assert running.token not in link
    new(page, "Four-bar")
    page.click("#menu-file")
    page.get_by_role("menuitem", name="Open…").click()
    page.locator(".gallery button", has_text="shaper.toml").click()
    page.wait_for_function("t => document.getElementById('source').value === t", arg=text)
    new(page, "Four-bar")
    page.click("#menu-file")
    page.get_by_role("menuitem", name="From a link…").click()
    page.fill("dialog #f-link", link)
    page.click("dialog #f-submit")
    page.wait_for_function("t => document.getElementById('source').value === t", arg=text)
    with page.expect_download() as started:
        page.click("#menu-download")
        page.get_by_role("menuitem", name="Table (.csv)").click()
    lines = Path(started.value.path()).read_text("utf-8").splitlines()
    assert lines[0].startswith("t,")


# ---- understanding ------------------------------------------------------------------------------------------
def test_an_assembly_mode_is_switched(page: Any) -> None:
    new(page, "Four-bar")
    settled(page)
    above = series(page, "C.y")[0]
    page.click("#tab-understand")
    page.click("[data-group=RRR_1]")
    page.wait_for_selector("[data-mode='2']")
    assert page.get_attribute("[data-mode='1']", "aria-pressed") == "true"
    assert page.locator("[data-explained=RRR_1] math").count() > 8
    least = float(page.get_attribute("[data-condition=RRR_1]", "data-least"))
    at = run(load(EXAMPLES / "four-bar.toml")).results.diagnostics["groups"]["RRR_1"]  # type: ignore[index]
    assert least == pytest.approx(at["least_conditioning"], rel=1e-9)
    page.click("[data-mode='2']")
    page.wait_for_function("() => document.getElementById('source').value.includes('RRR_1 = 2')")
    settled(page)
    assert series(page, "C.y")[0] == pytest.approx(-above)
    page.wait_for_selector("[data-mode='2'][aria-pressed=true]")


def test_a_reference_is_laid_over(page: Any, tmp_path: Path) -> None:
    new(page, "Four-bar")
    settled(page)
    t, x = series(page, "t"), series(page, "P.x")
    rows = "\n".join(f"{a},{b + 0.001}" for a, b in zip(t, x, strict=True))
    (tmp_path / "other.csv").write_text(f"t,P.x\n{rows}\n")
    page.click("#tab-watch")
    page.set_input_files("#page-watch input[type=file]", tmp_path / "other.csv")
    page.wait_for_selector("#reference[data-gap]")
    assert float(page.get_attribute("#reference", "data-gap")) == pytest.approx(0.001, rel=1e-6)


def test_two_pages_at_once(page: Any, running: Running) -> None:
    other = page.context.new_page()
    other.goto(running.address)
    other.wait_for_selector("html[data-ready=yes]")
    new(other, "Klann leg")
    new(page, "Slider-crank")
    settled(page)
    settled(other)
    assert json.dumps(text_of(page)) != json.dumps(text_of(other))
    assert "klann" in text_of(other)
    assert len(series(other, "t")) > 2
    assert len(series(page, "t")) > 2
