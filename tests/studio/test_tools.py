"""Tools and forms in a real browser: springs, cylinders, forces, sliders, every kind of joint, starts, selection."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assurgent.mechanism.reader import load, loads
from assurgent.motion.kinematics import run
from assurgent.studio.edit import Editor

from .hands import asked, centre, drag, fill, new, series, settled, submit, take, text_of

EXAMPLES = Path(__file__).parents[2] / "examples"


def table(page: Any, name: str) -> dict[str, Any]:
    found = tomllib.loads(text_of(page)).get(name, {})
    assert isinstance(found, dict)
    return found


# ---- tools ------------------------------------------------------------------------------------------
def test_spring_force_and_cylinder_by_clicks(page: Any) -> None:
    new(page, "Four-bar")
    settled(page)
    page.locator("#sheet").focus()
    page.keyboard.press("k")
    page.mouse.click(*centre(page, "A"))
    page.mouse.click(*centre(page, "C"))
    submit(page)
    spring = table(page, "forces")["spring"]
    at = run(loads(text_of(page), "spring")).results.points["C"].position[0]
    assert spring["between"] == ["A", "C"]
    assert spring["length"] == pytest.approx(np.linalg.norm(at), rel=1e-3)
    assert page.locator("#sheet .ties path").count() == 1
    page.locator("#sheet").focus()
    page.keyboard.press("f")
    x, y = centre(page, "P")
    drag(page, (x, y), (x, y + 60))
    submit(page)
    assert table(page, "forces")["load"] == {"body": "coupler", "point": "P", "force": [0, -10]}
    page.click("[aria-label='Delete theta']")
    page.wait_for_selector("#mobility.warn")
    page.locator("#sheet").focus()
    page.keyboard.press("c")
    page.mouse.click(*centre(page, "A"))
    page.mouse.click(*centre(page, "C"))
    submit(page)
    assert table(page, "drivers")["cylinder"]["between"] == ["A", "C"]
    page.wait_for_selector("#mobility.good")
    page.wait_for_selector("#sheet [data-body=' barrel cylinder']")
    moved = np.hypot(series(page, "C.x"), series(page, "C.y"))
    driven = series(page, "cylinder.value") if len(series(page, "cylinder.value")) else moved
    assert np.allclose(moved, driven, rtol=1e-12)
    assert np.ptp(moved) > 0.01


def test_a_slider_is_pulled_along_its_guide(page: Any) -> None:
    new(page, "Empty sheet")
    box = page.locator("#sheet").bounding_box()
    spots = [(box["x"] + x, box["y"] + y) for x, y in ((250, 400), (330, 330), (560, 400))]
    for a, b in ((0, 1), (1, 2)):
        page.keyboard.press("l")
        page.mouse.click(*spots[a])
        page.mouse.click(*spots[b])
        page.keyboard.press("Enter")
        settled(page)
    page.keyboard.press("g")
    page.mouse.click(*spots[0])
    settled(page)
    page.keyboard.press("s")
    drag(page, spots[2], (spots[2][0] + 80, spots[2][1] - 3))
    settled(page)
    guide = table(page, "joints")["guide"]
    assert guide["type"] == "P"
    assert guide["axis"] == [1, 0]
    assert page.inner_text("#mobility").startswith("mobility 1, 0 drivers")


# ---- joints ------------------------------------------------------------------------------------------
JOINTS = [
    ("planetary-gear", "gear"),
    ("rack-and-pinion", "rack"),
    ("scotch-yoke", "slot"),
    ("cam-follower", "cam"),
    ("slider-crank", "P"),
]


@pytest.mark.parametrize(("stem", "kind"), JOINTS)
def test_a_joint_added_by_its_form_is_that_of_the_example(page: Any, stem: str, kind: str) -> None:
    """A joint is taken out of an example and given back by the form: the same table, the same motion."""
    text = (EXAMPLES / f"{stem}.toml").read_text("utf-8")
    joints = tomllib.loads(text)["joints"]
    name = next(n for n, j in joints.items() if j["type"] == kind)
    joint = joints[name]
    take(page, Editor().apply(text, [["delete", ["joints", name]]]))
    page.click("#tab-build")
    page.click("#pairs-add")
    fill(page, {"name": name, "type": kind, "first": joint["bodies"][0], "second": joint["bodies"][1]})
    for key in ("at", "through", "carrier", "centre"):
        if key in joint:
            fill(page, {key: joint[key]})
    for key in ("ratio", "radius", "profile"):
        if key in joint:
            fill(page, {key: str(joint[key])})
    for key, labels in (("axis", ("", "-y")), ("radii", ("", "-j"))):
        for label, value in zip(labels, joint.get(key, ()), strict=False):
            fill(page, {f"{key}{label}": str(value)})
    if joint.get("internal"):
        page.check("dialog #f-internal")
    if kind == "cam":
        fill(
            page, {"follower": "roller", "tip": joint["follower"]["point"], "roller": str(joint["follower"]["radius"])}
        )
    submit(page)
    assert table(page, "joints")[name] == joint
    point = next(iter(p for p in load(EXAMPLES / f"{stem}.toml").points if len(series(page, f"{p}.x"))))
    expected = run(load(EXAMPLES / f"{stem}.toml")).results.points[point].position[:, 0]
    assert np.allclose(series(page, f"{point}.x"), expected, rtol=0, atol=1e-9 * max(1.0, np.abs(expected).max()))


def test_a_welded_link_moves_with_the_other(page: Any) -> None:
    new(page, "Four-bar")
    settled(page)
    page.click("#links-add")
    fill(page, {"name": "flag", "centre": "0.1", "centre-y": "0.4"})
    submit(page)
    page.click("#pairs-add")
    fill(page, {"name": "seam", "type": "weld", "first": "coupler", "second": "flag"})
    submit(page)
    assert table(page, "joints")["seam"] == {"type": "weld", "bodies": ["coupler", "flag"]}
    page.wait_for_selector("#mobility.good")
    turned = series(page, "flag.angle") - series(page, "coupler.angle")
    assert np.allclose(turned, turned[0], rtol=0, atol=1e-12)


# ---- starts ------------------------------------------------------------------------------------------
PENDULUM = """format = 1
name = "pendulum"
space = "planar"
gravity = [0, -9.81]

[points]
A = [0, 0]
B = [0, -1]

[bodies.frame]
points = ["A"]

[bodies.rod]
points = ["A", "B"]
mass = 2
inertia = 0.1
centre = "B"

[joints]
A = { type = "R", bodies = ["frame", "rod"], at = "A" }

[simulation]
stop = 1
step = 0.01
"""


def test_a_simulation_starts_as_its_form_says(page: Any) -> None:
    take(page, PENDULUM)
    page.click("#tab-build")
    page.click("#initial-add")
    fill(page, {"joint": "A", "angle": "-pi/2", "rate": "1.5"})
    submit(page)
    assert table(page, "initial") == {"start": {"joint": "A", "angle": "-pi/2", "rate": 1.5}}
    page.click("#kind-simulate")
    settled(page)
    rate, angle = series(page, "rod.omega"), series(page, "rod.angle")
    assert rate[0] == pytest.approx(1.5, abs=1e-9)
    # energy: I omega^2/2 - m g l cos(phi), phi from the vertical, I about the pin
    energy = 0.5 * (0.1 + 2.0) * rate**2 - 2 * 9.81 * np.cos(angle + np.pi / 2)
    assert np.allclose(energy, energy[0], rtol=0, atol=1e-6)
    assert np.ptp(angle) > 0.3
    page.click("[aria-label='Delete start']")
    settled(page)
    assert table(page, "initial") == {}


def test_an_actuator_carries_the_effort(page: Any) -> None:
    new(page, "Four-bar")
    settled(page)
    page.click("[aria-label='Edit coupler']")
    fill(page, {"mass": "2"})
    submit(page)
    page.click("#simulate-edit")
    fill(page, {"gravity": "0", "gravity-y": "-9.81"})
    submit(page)
    page.click("#actuators-add")
    fill(page, {"joint": "D"})
    submit(page)
    assert table(page, "actuators") == {"motor": {"joint": "D"}}
    page.click("#kind-inverse")
    settled(page)
    effort, joint = series(page, "motor.effort"), series(page, "joint.D.rate")
    # power of the actuator = change of energy; at the extremes of the centre's height gravity does no work
    assert len(effort) == len(joint) > 100
    assert np.isfinite(effort[np.abs(joint) > 1e-3]).all()


# ---- selection ------------------------------------------------------------------------------------------
def chosen(page: Any) -> set[str]:
    return set(asked(page, "[...m.store.state.selection]"))


def test_selection_snap_and_keyboard(page: Any) -> None:
    new(page, "Four-bar")
    settled(page)
    box = page.locator("#sheet").bounding_box()
    drag(page, (box["x"] + 4, box["y"] + 60), (box["x"] + box["width"] - 4, box["y"] + box["height"] - 40))
    everything = {f"points:{p}" for p in "ABCDP"} | {f"bodies:{b}" for b in ("crank", "coupler", "rocker")}
    assert chosen(page) == everything
    page.mouse.click(*centre(page, "C"))
    page.keyboard.down("Shift")
    page.mouse.click(*centre(page, "D"))
    page.keyboard.up("Shift")
    assert {"points:C", "points:D"} <= chosen(page)
    page.keyboard.press("Escape")
    assert chosen(page) == set()
    page.mouse.click(*centre(page, "D"))
    before = table(page, "points")["D"]
    page.keyboard.press("ArrowRight")
    page.wait_for_function("t => !document.getElementById('source').value.includes(t)", arg=f"D = {before}")
    settled(page)
    step = asked(page, "m.view.gridStep()")
    assert table(page, "points")["D"] == pytest.approx([before[0] + step / 2, before[1]])
    x, y = centre(page, "D")
    drag(page, (x, y), (x + 37, y + 23))
    page.wait_for_function("() => document.documentElement.dataset.busy === '0'")
    settled(page)
    snapped = np.array(table(page, "points")["D"]) / (step / 2)
    assert np.allclose(snapped, np.round(snapped), atol=1e-6), "a dragged pivot lies on the grid"
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    page.wait_for_function("t => document.getElementById('source').value.includes(t)", arg=f"D = {before}")
    page.click("#option-grid")
    assert page.locator(".grid path").count() == 0
    page.click("#option-grid")
    page.wait_for_selector(".grid path", state="attached")
    page.keyboard.press("h")
    assert page.get_attribute("#tool-hand", "aria-pressed") == "true"
    first = page.inner_text("#clock")
    x, y = centre(page, "B")
    drag(page, (x, y), (x - 40, y + 10))
    assert page.inner_text("#clock") != first, "the hand moves the mechanism through its motion"


def test_multi_selected_links_are_copied_with_their_joints(page: Any) -> None:
    new(page, "Four-bar")
    settled(page)
    page.locator("#sheet").focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+d")
    page.wait_for_function("() => document.getElementById('source').value.includes('[bodies.coupler2]')")
    settled(page)
    joints = table(page, "joints")
    pairs = [set(j["bodies"]) for j in joints.values()]
    assert {"crank2", "coupler2"} in pairs
    assert {"coupler2", "rocker2"} in pairs
