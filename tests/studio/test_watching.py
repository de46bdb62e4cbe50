"""Watching and understanding in a real browser: player, marks, centres, downloads, diagram, verification, space."""

import json
import tomllib
import xml.etree.ElementTree as ET
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assurgent.mechanism.reader import load
from assurgent.motion.kinematics import run

from .hands import asked, new, scrub, series, settled, take, text_of

EXAMPLES = Path(__file__).parents[2] / "examples"


def four_bar(page: Any) -> None:
    new(page, "Four-bar")
    settled(page)


# ---- the player ------------------------------------------------------------------------------------------
WATCH = """async (k) => { const { state, on } = await import('/static/js/store.js'); const seen = [];
    await new Promise((done) => { on('frame', () => { seen.push(state.frame); if (seen.length >= k) done(); });
        document.querySelector('button.play').click(); setTimeout(done, 20000); });
    return seen; }"""


@pytest.mark.parametrize("way", ["loop", "pingpong", "once"])
def test_what_happens_at_the_end(page: Any, way: str) -> None:
    four_bar(page)
    page.select_option("select[aria-label='At the end']", way)
    page.select_option("select[aria-label='Speed']", "0.1")
    scrub(page, 198)
    if way == "once":
        page.click("button.play")
        page.wait_for_selector("#player[data-playing=no]")
        assert page.inner_text("#clock") == "t = 1 s"
        return
    steps = np.diff(page.evaluate(WATCH, 60))
    assert (steps > 0).any()
    if way == "loop":
        assert (steps < -100).any(), "from the end to the start"
    else:
        assert (steps < 0).any()
        assert np.abs(steps).max() < 100, "it turns back and never jumps"


def test_the_curves_follow_the_animation(page: Any) -> None:
    four_bar(page)
    page.click("#tab-watch")
    page.wait_for_selector("[data-quantity=Position] canvas")
    lefts = []
    for k in (0, 100):
        scrub(page, k)
        line = page.locator("[data-quantity=Position] .u-cursor-x")
        lefts.append(line.evaluate("e => new DOMMatrix(getComputedStyle(e).transform).m41"))
        assert float(page.get_attribute("[data-series='P.x']", "data-value")) == series(page, "P.x")[k]
    width = page.locator("[data-quantity=Position] .u-over").evaluate("e => e.clientWidth")
    assert lefts[1] - lefts[0] == pytest.approx(width / 2, abs=2.0), "half of the time is half of the plot"
    box = page.locator("[data-quantity=Position] .u-over").bounding_box()
    page.click("button.play")
    page.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + 20)
    assert page.get_attribute("#player", "data-playing") == "no", "the player knows that it has been stopped"
    assert abs(asked(page, "m.store.state.frame") - 50) <= 2, "a click into the plot moves the mechanism"


def test_marks_of_limits_and_dead_points(page: Any) -> None:
    four_bar(page)
    rate = series(page, "joint.D.rate")
    turns = np.flatnonzero(rate[:-1] * rate[1:] < 0) + 1
    assert len(turns) == 2, "a rocker turns back twice in a cycle"
    page.locator(".mark.turn[aria-label*='joint D']").first.click()
    assert asked(page, "m.store.state.frame") == turns[0]
    take(page, text_of(page).replace("length = 0.28", "length = 0.12"))  # the crank cannot turn round
    page.wait_for_selector("#problem")
    assert "RRR_1" in page.inner_text("#problem")
    page.locator(".mark.dead").click()
    assert asked(page, "m.store.state.frame") == len(series(page, "t")) - 1


def test_instant_centres_lie_where_the_links_meet(page: Any) -> None:
    four_bar(page)
    page.click("#tab-watch")
    page.check("[data-show=centres]")
    page.wait_for_selector("[data-centre=coupler]", state="attached")
    found = run(load(EXAMPLES / "four-bar.toml")).results.points
    for k in (20, 120):
        a, b, c, d = (found[p].position[k] for p in "ABCD")
        # Aronhold-Kennedy: the coupler's centre is on the lines of crank and rocker
        s = np.linalg.solve(np.stack([b - a, -(c - d)], axis=1), d - a)
        expected = a + s[0] * (b - a)
        assert asked(page, f"m.overlays.pole('coupler', {k})") == pytest.approx(expected.tolist(), rel=1e-9)


# ---- downloads ------------------------------------------------------------------------------------------
def downloaded(page: Any, label: str) -> bytes:
    with page.expect_download() as started:
        page.click("#menu-download")
        page.get_by_role("menuitem", name=label).click()
    return Path(started.value.path()).read_bytes()


def test_every_download(page: Any) -> None:
    four_bar(page)
    assert downloaded(page, "Mechanism file").decode() == text_of(page)
    lines = downloaded(page, "Table (.csv)").decode().splitlines()
    column = lines[0].split(",").index("P.vx")
    values = np.array([float(line.split(",")[column]) for line in lines[1:]])
    assert np.allclose(values, series(page, "P.vx"), rtol=1e-12)
    whole = json.loads(downloaded(page, "Everything (.json)"))
    assert np.allclose(np.array(whole["points"]["P"]["position"])[:, 1], series(page, "P.y"), rtol=1e-12)
    drawing = ET.fromstring(downloaded(page, "Drawing (.svg)"))
    paths = drawing.findall(".//{http://www.w3.org/2000/svg}path")
    assert len(paths) > 8
    assert all("var(" not in (p.get("style") or "") for p in paths), "colours are those seen, not names of the page"
    from PIL import Image

    picture = Image.open(BytesIO(downloaded(page, "Drawing (.png)")))
    box = page.locator("#sheet").bounding_box()
    assert picture.size == (2 * int(box["width"]), 2 * int(box["height"]))
    assert len(picture.convert("RGB").resize((64, 64)).getcolors(4096)) > 10, "not empty"
    film = Image.open(BytesIO(downloaded(page, "Film (.gif)")))
    assert film.n_frames > 10
    assert b"<html" in downloaded(page, "Moving page (.html)")


# ---- understanding ------------------------------------------------------------------------------------------
def test_diagram_steps_and_verification(page: Any) -> None:
    new(page, "Watt six-bar")
    settled(page)
    page.click("#tab-understand")
    groups = page.locator("[data-group]").evaluate_all("g => g.map((x) => x.dataset.group)")
    assert groups == ["R_1", "RRR_1", "RRR_2"]
    page.click("#diagram")
    page.wait_for_selector(".diagram img")
    assert page.locator(".diagram img").evaluate("e => e.decode().then(() => e.naturalWidth)") > 100
    told = page.inner_text("#page-understand")
    assert "RRR_2" in told
    page.click("[aria-label='Enlarge the structural diagram']")
    page.wait_for_selector("dialog.widest img")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    four_bar(page)
    page.click("#verify")
    page.wait_for_selector("#passed", timeout=300_000)  # symbolic values of 90 digits
    assert page.inner_text("#passed") == "passed"
    assert "whole, acceleration" in page.inner_text("#verdict")


# ---- space ------------------------------------------------------------------------------------------
def test_a_spatial_mechanism_is_edited_by_the_tables(page: Any) -> None:
    take(page, (EXAMPLES / "rssr.toml").read_text("utf-8"))
    page.wait_for_selector("#spatial")
    page.wait_for_function("() => Number(document.getElementById('spatial').dataset.frames) > 0")
    assert page.is_disabled("#tool-link"), "there is nothing to draw on in space"
    page.click("#tab-watch")
    page.check("[data-show=velocity]")
    page.wait_for_selector("#spatial[data-curves='1']:not([data-arrows='0'])")
    fastest = max(np.linalg.norm([series(page, f"{p}.v{x}") for x in "xyz"], axis=0).max() for p in "ABCD")
    assert f"longest arrow {fastest:.3g} m/s" in page.inner_text("#legend")
    assert page.is_disabled("[data-show=centres]")
    page.uncheck("[data-show=velocity]")
    page.click("#tab-build")
    points = tomllib.loads(text_of(page))["points"]
    name = next(p for p, at in points.items() if all(isinstance(x, int | float) for x in at))
    before = series(page, "t").size
    box = page.locator(f"input[aria-label='x of {name}']")
    box.fill(str(points[name][0] + 1e-3))
    box.press("Enter")
    page.wait_for_function("t => document.getElementById('source').value.includes(t)", arg=str(points[name][0] + 1e-3))
    settled(page)
    assert series(page, "t").size == before
    frames = int(page.get_attribute("#spatial", "data-frames"))
    box = page.locator("#spatial").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 240)
    page.mouse.up()
    page.wait_for_function("k => Number(document.getElementById('spatial').dataset.frames) > k", arg=frames)
