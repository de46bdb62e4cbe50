"""Planar groups of every kind from small mechanism files, each against absolute coordinates and by both methods."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from assurgent.mechanism.assembly import follow
from assurgent.mechanism.plans.planning import study
from assurgent.mechanism.reader import load
from assurgent.motion.kinematics import run
from assurgent.motion.results import Results

FOLDER = Path(__file__).parents[1] / "data" / "mechanisms"
N_TIMES = 21

# File -> the bodies of its groups in order, found by hand.
GROUPS = {
    "cam-eccentric-flat": ["cam", "tappet"],
    "cam-eccentric-roller": ["cam", "tappet"],
    "cam-point-rocker": ["cam", "rocker", "last rod"],
    "coupler-slide": ["d", "a b c"],
    "coupler-turned": ["coupler left right"],
    "cylinder-off-axis": ["barrel lever rod"],
    "cylinder-reversed": ["barrel lever rod"],
    "distance-inside": ["coupler left right"],
    "distance-to-shared-pin": ["a b", "c d"],
    "driven-pin-in-group": ["coupler left right"],
    "far-from-origin": ["crank", "block lever", "rocker rod"],
    "gear-on-slides": ["crank", "block lever", "wheel"],
    "gear-train": ["one", "two", "three", "rocker rod"],
    "geared-carrier": ["arm", "wheel", "last"],
    "geared-loop": ["a b c d"],
    "local-axes": ["crank", "rocker rod"],
    "millimetres": ["crank", "block lever", "rocker rod"],
    "moving-body-first": ["base", "crank", "rocker rod"],
    "pin-of-three": ["crank", "rocker1 rod1", "rocker2 rod2"],
    "pin-of-three-inside": ["crank", "left plate right rocker"],
    "rack-driving": ["guide", "rack", "pinion", "rocker rod"],
    "rack-inside": ["wheel", "crank rack saddle"],
    "rack-standing": ["slider", "pinion"],
    "robot-arm": ["cart", "arm", "tele", "hand"],
    "rockers-turned": ["coupler left right"],
    "slot-driven-on-lever": ["lever link"],
    "tetrad": ["crank", "left low right top"],
    "tiny": ["crank", "block lever", "rocker rod"],
    "trammel": ["x", "rod y"],
    "trammel-slots": ["rod"],
    "trammel-turned": ["rod"],
    "two-driven-pins": ["a b c d"],
    "two-driven-slides": ["lever lower middle upper"],
    "two-slots-on-body": ["left", "right", "plate"],
    "wedge": ["wedge", "tappet"],
    "welded": ["arm crank", "coupler horn rocker", "second third"],
}


def _compared() -> ModuleType:
    name = "planar_groups_compared"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / "compared.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


def results_of(name: str, method: str = "td", times: np.ndarray | None = None) -> Results:
    outcome = run(load(FOLDER / f"{name}.toml"), times, method)
    assert outcome.stop is None
    return outcome.results


@pytest.mark.parametrize("name", GROUPS)
def test_groups_are_those_found_by_hand(name: str) -> None:
    structure = study(load(FOLDER / f"{name}.toml"))
    assert [" ".join(g.members) for g in structure.groups] == GROUPS[name]


@pytest.mark.parametrize("name", GROUPS)
def test_motion_is_that_in_absolute_coordinates(name: str) -> None:
    model = load(FOLDER / f"{name}.toml")
    grid = model.simulation.times()
    times = grid[np.unique(np.linspace(0, len(grid) - 1, N_TIMES).astype(int))]
    td, ot = results_of(name, "td", times), results_of(name, "3ot", times)
    motions = follow(model, times)
    for results in (td, ot):
        # The oracle closes its rows to 1e-13 (times the distance from the origin, in sizes of the mechanism); none of
        # the poses is near a dead point, and each derivative loses two more digits at most.
        position, velocity, acceleration = _compared().differences(model, motions, results).max(axis=1)
        assert position <= 1e-10
        assert velocity <= 1e-9
        assert acceleration <= 1e-8
    scale = max(np.abs(p.acceleration).max() for p in td.points.values())
    for point, other in zip(td.points.values(), ot.points.values(), strict=True):
        assert np.abs(point.acceleration - other.acceleration).max() <= 1e-10 * scale


def test_trammel_draws_an_ellipse_whatever_holds_it() -> None:
    """The same rod with sliders, with pins in slots, and driven by its turn: semi-axes 3 and 1.5 (its parts)."""
    for name in ("trammel", "trammel-slots", "trammel-turned"):
        P = results_of(name).points["P"].position
        np.testing.assert_allclose((P[:, 0] / 1.5) ** 2 + (P[:, 1] / 3.0) ** 2, 1.0, atol=1e-11)


def test_wheels_turn_by_the_products_of_their_ratios() -> None:
    bodies = results_of("gear-train").bodies
    one, two, three = (bodies[b].angular_velocity for b in ("one", "two", "three"))
    np.testing.assert_allclose(one, -1.2 / 0.8 * two, rtol=1e-12)
    np.testing.assert_allclose(three, -1.5 * two, rtol=1e-12)
    bodies = results_of("geared-carrier").bodies
    arm, wheel, last = (bodies[b].angular_velocity for b in ("arm", "wheel", "last"))
    np.testing.assert_allclose(wheel - arm, -0.7 * (0 - arm), rtol=1e-12)
    np.testing.assert_allclose(last - arm, -1.1 * (wheel - arm), rtol=1e-12)


def test_pinion_rolls_on_a_standing_rack() -> None:
    results = results_of("rack-standing")
    turn = results.bodies["pinion"].angle - results.bodies["pinion"].angle[0]
    way = results.points["C"].position[:, 0] - results.points["C"].position[0, 0]
    np.testing.assert_allclose(turn, -way / 0.5, atol=1e-12)  # rolling to the right on a rack below turns it clockwise


def test_wedge_lifts_by_its_slope() -> None:
    results = results_of("wedge")
    x, y = results.points["W"].position[:, 0], results.points["T"].position[:, 1]
    np.testing.assert_allclose(y - y[0], -(x - x[0]) / 4, atol=1e-12)


def test_eccentric_cams_have_their_closed_forms() -> None:
    R, e, r = 0.04, 0.015, 0.01
    results = results_of("cam-eccentric-flat")
    theta = results.drivers["theta"].value
    tappet = results.points["F"]
    np.testing.assert_allclose(tappet.position[:, 1], R + e * np.sin(theta), atol=1e-11)
    np.testing.assert_allclose(tappet.acceleration[:, 1], -e * (2 * np.pi) ** 2 * np.sin(theta), atol=1e-9)
    results = results_of("cam-eccentric-roller")
    theta = results.drivers["theta"].value
    lift = e * np.sin(theta) + np.sqrt((R + r) ** 2 - (e * np.cos(theta)) ** 2)
    np.testing.assert_allclose(results.points["F"].position[:, 1], lift, atol=1e-11)


def test_size_does_not_matter() -> None:
    """One mechanism in metres far away, in millimetres and a thousand times smaller: the same angles."""
    turns = [results_of(name).bodies["rocker"] for name in ("millimetres", "tiny", "far-from-origin")]
    for other, digits in ((turns[1], 1e-12), (turns[2], 1e-9)):  # 2e4 m from the origin five digits are lost
        np.testing.assert_allclose(other.angle, turns[0].angle, atol=digits)
        np.testing.assert_allclose(other.angular_velocity, turns[0].angular_velocity, atol=100 * digits)
