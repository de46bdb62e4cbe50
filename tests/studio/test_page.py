"""The page in a real browser: built by clicks, dragged, undone, saved, watched. Values of the DOM, never pixels."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assurgent.dynamics.computed import inverse_dynamics
from assurgent.mechanism.reader import load, loads
from assurgent.motion.kinematics import run
from assurgent.studio.templates import TEMPLATES
from assurgent.studio.wire import unpacked

from .conftest import Running
from .hands import centre, draw_a_four_bar, fill, new, scrub, series, settled, submit, take, text_of

EXAMPLES = Path(__file__).parents[2] / "examples"


# ---- the paper's example -------------------------------------------------------------------------------------------
LINKS = [
    ("crank", "0.02806", "0.096", "0", "0.05", "pi/2"),
    ("rod", "0.02753", "0.3713", "0.0866", "0.05", "-0.5236"),
    ("slider", "0.33777", "0.1406", "0.1732", "0", "0"),
]
JOINTS = [
    ("A", "R", "frame", "crank", ("0", "0"), ("-0.05", "0")),
    ("B", "R", "crank", "rod", ("0.05", "0"), ("-0.1", "0")),
    ("C", "R", "rod", "slider", ("0.1", "0"), ("0", "0")),
    ("guide", "P", "frame", "slider", ("0", "0"), ("0", "0")),
]
# D2 of the acceptance cases at t = 0, 2.5, 10: two formulations with 40 digits.
EFFORT = {0.0: -0.00080120207132336986585, 2.5: -0.027237843798788490325, 10.0: -0.00080502999307809192532}
FORCE_A = {
    0.0: (0.0080120207132336986585, -0.084058116155903333333),
    2.5: (0.0080358513751922303148, 0.40987206600493163728),
    10.0: (0.0080092451495972531148, -0.084056611390131468682),
}


def build_the_papers_slider_crank(page: Any) -> None:
    """Add New Link, Add New Joint, Add New Driver, Simulate: text boxes and clicks alone (tables 4 to 6)."""
    new(page, "Empty sheet")
    for name, mass, inertia, x, y, angle in LINKS:
        page.click("#links-add")
        fill(page, {"name": name, "mass": mass, "inertia": inertia, "centre": x, "centre-y": y, "angle": angle})
        submit(page)
    for name, kind, first, second, i, j in JOINTS:
        page.click("#pairs-add")
        fill(page, {"name": name, "type": kind, "first": first, "second": second})
        fill(page, {"pi": i[0], "pi-y": i[1], "pj": j[0], "pj-y": j[1]})
        submit(page)
    page.click("#drivers-add")
    fill(page, {"name": "theta", "kind": "angle", "R": "A", "F": "pi/2 + 0.6283*t"})
    page.wait_for_function("() => document.getElementById('told-F').textContent.includes(\"F' = 0.6283\")")
    assert "F'' = 0 " in page.inner_text("#told-F")
    submit(page)
    page.click("#simulate-edit")
    fill(page, {"start": "0", "stop": "10", "step": "0.05", "gravity": "0", "gravity-y": "-9.8"})
    submit(page)


def test_the_papers_slider_crank_is_built_by_clicks(page: Any) -> None:
    build_the_papers_slider_crank(page)
    assert page.inner_text("#mobility").startswith("mobility 1")
    text = text_of(page)
    kinematics = run(loads(text, "built")).results
    for point, quantity in (("slider_c.x", 0), ("crank_c.y", 1), ("rod_c.x", 0)):
        own = kinematics.points[point[:-2]]
        for suffix, values in (("", own.position), ("v", own.velocity), ("a", own.acceleration)):
            name = point.replace(".", f".{suffix}")
            assert np.array_equal(series(page, name), values[:, quantity]), name
    slider = 0.1 * np.cos(np.pi / 2 + 0.6283 * kinematics.time)
    slider += np.sqrt(0.04 - (0.1 * np.sin(np.pi / 2 + 0.6283 * kinematics.time)) ** 2)
    assert np.allclose(series(page, "slider_c.x"), slider, rtol=0, atol=1e-14)  # the closed form

    page.click("#kind-inverse")
    page.wait_for_selector("#kind-inverse[aria-pressed=true]")
    settled(page)
    forces = inverse_dynamics(load(EXAMPLES / "dynamics" / "yime-slider-crank.toml"), kinematics.time).results
    t = series(page, "t")
    assert np.array_equal(t, forces.time)
    effort, fx, fy = (series(page, name) for name in ("theta.effort", "A.fx", "A.fy"))
    for time, expected in EFFORT.items():
        k = int(np.argmin(np.abs(t - time)))
        assert effort[k] == pytest.approx(expected, abs=1e-12)
        assert (fx[k], fy[k]) == pytest.approx(FORCE_A[time], abs=1e-11)
    # What the user reads: the table beside the curves, at an instant.
    page.click("#tab-watch")
    page.locator("select[aria-label='What is plotted']").select_option("joints:A")
    page.wait_for_selector("[data-quantity=Reaction] canvas")
    scrub(page, 50)
    shown = float(page.get_attribute("[data-series='A.fy']", "data-value"))
    assert shown == pytest.approx(FORCE_A[2.5][1], abs=1e-11)
    page.click("#kind-simulate")
    settled(page)
    assert page.locator("#problem").count() == 0 or "driver" in page.inner_text("#problem")


# ---- templates ------------------------------------------------------------------------------------------
def test_every_template_plays(page: Any) -> None:
    for title in TEMPLATES:
        if title == "Empty sheet":
            continue
        new(page, title)
        settled(page)
        assert page.locator("#problem").count() == 0, title
        before = page.inner_text("#clock")
        page.click("button.play")
        page.wait_for_function("b => document.getElementById('clock').textContent !== b", arg=before)
        page.click("button.play")
        if title == "Stewart platform":
            page.wait_for_selector("#spatial")
            page.wait_for_function("() => Number(document.getElementById('spatial').dataset.frames) > 2")
            assert page.locator("#sheet > svg").is_hidden()
        else:
            moving = page.locator("#sheet .scene g[data-body]:not([data-body=frame])").first
            assert "matrix" in moving.get_attribute("transform")
            assert page.locator("#spatial").count() == 0, "three.js is loaded for spatial mechanisms only"


def test_a_curve_equals_the_command(page: Any) -> None:
    new(page, "Jansen leg")
    settled(page)
    expected = run(load(EXAMPLES / "jansen-leg.toml")).results.points["F"]
    assert np.array_equal(series(page, "F.x"), expected.position[:, 0])
    assert np.array_equal(series(page, "F.ay"), expected.acceleration[:, 1])


# ---- hands ------------------------------------------------------------------------------------------
def test_dragging_changes_lengths_and_is_undone(page: Any) -> None:
    new(page, "Four-bar")
    settled(page)
    first = text_of(page)
    x, y = centre(page, "C")
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(1, 9):
        page.mouse.move(x - 6 * k, y + 4 * k)
    page.mouse.up()
    page.wait_for_function("t => document.getElementById('source').value !== t", arg=first)
    settled(page)
    dragged = text_of(page)
    model = loads(dragged, "dragged")
    at = run(model).results.points["C"].position[0]
    assert math.dist(at, model.points["C"]) < 2e-4, "the assembled point is where it was dragged to"
    assert model.bodies["rocker"].points["C"][0] != 0.28
    assert dragged.count("#") == first.count("#"), "comments stay"
    page.keyboard.press("Control+z")
    page.wait_for_function("t => document.getElementById('source').value === t", arg=first)
    page.keyboard.press("Control+Shift+z")
    page.wait_for_function("t => document.getElementById('source').value === t", arg=dragged)
    page.click("#undo")
    page.wait_for_function("t => document.getElementById('source').value === t", arg=first)
    assert page.is_disabled("#undo")


def test_a_pivot_dragged_assembles_the_mechanism_anew(page: Any) -> None:
    new(page, "Four-bar")
    settled(page)
    x, y = centre(page, "D")
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(1, 6):
        page.mouse.move(x + 5 * k, y)
    page.mouse.up()
    page.wait_for_function("() => !document.getElementById('source').value.includes('D = [0.35, 0]')")
    settled(page)
    model = loads(text_of(page), "dragged")
    rocker = model.bodies["rocker"].points
    assert np.linalg.norm(rocker["C"] - rocker["D"]) == pytest.approx(0.28)


def test_a_four_bar_drawn_by_hand(page: Any) -> None:
    draw_a_four_bar(page)
    assert page.inner_text("#mobility").startswith("mobility 1, 0 drivers")
    assert "can still move" in page.inner_text("#status") or "driver" in page.inner_text("#status")
    box = page.locator("[data-point=A] circle.hit").bounding_box()
    page.keyboard.press("m")
    page.mouse.click(box["x"] + 10, box["y"] + 10)
    submit(page)
    page.wait_for_selector("#mobility.good")
    assert page.inner_text("#groups") == "R → RRR"
    model = loads(text_of(page), "drawn")
    assert sorted(j.kind for j in model.joints.values()) == ["R"] * 4
    page.keyboard.press("v")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.wait_for_selector("#welcome")


def test_copy_and_paste(page: Any) -> None:
    new(page, "Four-bar")
    settled(page)
    page.locator("[data-key='bodies:coupler'] .title").click()
    page.locator("#sheet").focus()
    page.keyboard.press("Control+c")
    page.keyboard.press("Control+v")
    page.wait_for_function("() => document.getElementById('source').value.includes('[bodies.coupler2]')")


# ---- mistakes ------------------------------------------------------------------------------------------
def test_mistakes_are_told_beside_the_thing(page: Any) -> None:
    new(page, "Four-bar")
    settled(page)
    page.fill("input[aria-label='F(t) of theta']", "2*pi*rmp*t")
    page.wait_for_selector("input[aria-label='F(t) of theta'][aria-invalid=true]")
    assert "did you mean 'rpm'" in page.inner_text("[data-derived=theta]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#problem")
    assert "drivers › theta" in page.inner_text("#problem")
    assert page.locator("[data-key='drivers:theta']").evaluate("e => e.classList.contains('wrong')")
    page.locator("#sheet").focus()
    page.keyboard.press("Control+z")
    page.wait_for_selector("#problem", state="detached")
    page.click("[aria-label='Edit rocker']")
    page.fill("dialog #f-length", "9")
    page.click("dialog #f-submit")
    page.wait_for_selector("#problem")
    assert "RRR_1" in page.inner_text("#problem")
    page.click("#tab-file")
    page.fill("#source", "format = 1\n[points\n")
    page.click("#take-text")
    page.wait_for_function("() => document.getElementById('problem')?.textContent.includes('TOML')")
    page.click("#undo")
    page.wait_for_function("() => document.getElementById('source').value.includes('[bodies.rocker]')")


def test_an_older_answer_never_replaces_a_newer_one(page: Any, running: Running) -> None:
    """The answer to a formula that was right comes after the one to its successor, which is wrong."""
    other = page.context.new_page()
    held: list[bytes] = []

    def through(socket: Any) -> None:
        server = socket.connect_to_server()
        late: set[int] = set()

        def asked(text: Any) -> None:
            request = json.loads(text)
            if request["do"] == "formula" and "0.5" in request["formula"]:
                late.add(request["id"])
            server.send(text)

        def answered(data: Any) -> None:
            header, _ = unpacked(data)
            held.append(data) if header.get("id") in late else socket.send(data)
            if header.get("problem") and "values" not in header and "scene" not in header:
                for message in held:  # overtaken
                    socket.send(message)
                other.evaluate("document.documentElement.dataset.overtaken = 'yes'")

        socket.on_message(asked)
        server.on_message(answered)

    other.route_web_socket("**/socket*", through)
    other.set_default_timeout(60_000)
    other.goto(running.address)
    other.wait_for_selector("html[data-ready=yes]")
    box = other.locator("input[aria-label='F(t) of theta']")
    box.fill("2*pi*rpm/60*t + 0.5")
    other.wait_for_timeout(150)  # until it is asked
    box.fill("2*pi*rmp*t")
    other.wait_for_selector("html[data-overtaken=yes]")
    assert held
    other.wait_for_selector("input[aria-label='F(t) of theta'][aria-invalid=true]")
    assert "did you mean 'rpm'" in other.inner_text("[data-derived=theta]")


def test_an_answer_leaves_what_is_being_typed(page: Any) -> None:
    """The solver's answer may come after the provisional one, while the next formula is typed."""
    new(page, "Four-bar")
    settled(page)
    page.fill("input[aria-label='F(t) of theta']", "2*pi*rmp")
    page.evaluate("import('/static/js/store.js').then((m) => m.again())")
    settled(page)
    page.keyboard.type("*t")
    assert page.input_value("input[aria-label='F(t) of theta']") == "2*pi*rmp*t"
    page.wait_for_selector("input[aria-label='F(t) of theta'][aria-invalid=true]")


def test_another_text_is_shown_whole(page: Any) -> None:
    new(page, "Excavator")
    settled(page)
    take(page, (EXAMPLES / "slider-crank.toml").read_text("utf-8"))
    box, sheet = (page.locator(x).bounding_box() for x in ("#sheet .scene", "#sheet"))
    assert box["width"] > 0.5 * sheet["width"]


def test_names_are_never_markup(page: Any) -> None:
    evil = "<img src=x onerror=window.hacked=1>"
    text = (EXAMPLES / "four-bar.toml").read_text("utf-8").replace('name   = "four-bar"', f'name = "{evil}"')
    text = text.replace("[bodies.rocker]", f'[bodies."{evil}"]').replace('"rocker"', f'"{evil}"')
    page.click("#tab-file")
    page.fill("#source", text)
    page.click("#take-text")
    settled(page)
    page.click("#tab-understand")
    page.click("[data-group=RRR_1]")
    page.wait_for_selector("[data-explained=RRR_1] math")
    for tab in ("build", "watch", "understand"):
        page.click(f"#tab-{tab}")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x]").count() == 0
    assert evil in page.inner_text("#page-understand")
