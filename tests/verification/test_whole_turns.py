"""The measure of drift counts whole turns of screws, gears and racks as the run does."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assurgent.mechanism.reader import load
from assurgent.motion.kinematics import run
from assurgent.verification.comparison import compare, drifts

EXAMPLES = Path(__file__).parents[2] / "examples"
# those of the file, some that are many turns apart, and some that begin after many turns
INSTANTS = (None, np.linspace(0.0, 200.0, 7), np.linspace(100.0, 101.0, 5))


@pytest.mark.parametrize("name", ["screw-jack", "car-differential", "planetary-gear", "gear-linkage"])
@pytest.mark.parametrize("times", INSTANTS, ids=["own", "far apart", "late"])
def test_a_run_that_keeps_its_joints_does_not_drift(name, times):
    model = load(EXAMPLES / f"{name}.toml", {})
    position, velocity, acceleration = drifts(model, run(model, times).results).max(axis=1)
    turned = 2 * np.pi * 700  # rad of the fastest wheel: angles have their digits relative to that
    assert position < 1e-15 * turned
    assert velocity < 1e-10
    assert acceleration < 1e-9


@pytest.mark.parametrize("name", ["screw-jack", "planetary-gear", "gear-linkage"])
@pytest.mark.parametrize("far", [10.0, -4.0])
def test_a_driver_that_begins_turns_away_from_the_sketch(name, far, tmp_path):
    text = (EXAMPLES / f"{name}.toml").read_text()
    before, driver = text.split("[drivers]")
    path = tmp_path / "far.toml"
    path.write_text(before + "[drivers]" + driver.replace('*t"', f'*t + {far}"', 1))
    model = load(path, {})
    assert drifts(model, run(model).results)[0].max() < 1e-13


def test_compare_reports_the_drift_of_a_screw():
    (found,) = compare(load(EXAMPLES / "screw-jack.toml", {}), ("td",)).methods
    assert found.to_json()["drift"]["position"] < 1e-14


def test_a_turn_lost_on_the_way_is_drift():
    """Screw and table a whole lead too high from half way on: every angle is right there, the count is not."""
    model = load(EXAMPLES / "screw-jack.toml", {})
    results = run(model).results
    lead, half = 0.004, results.time > 1.0
    lifted = {"B", "C", "T", "A", "K"}
    points = {
        name: replace(p, position=p.position + lead * np.outer(half & (name in lifted), [0, 0, 1]))
        for name, p in results.points.items()
    }
    bent = replace(results, points=points)
    found = drifts(model, bent)[0]
    assert found[: len(found) // 2].max() < 1e-14
    assert found[-1] == pytest.approx(lead / model.size, rel=1e-9)


def test_a_wheel_out_of_mesh_is_drift():
    model = load(EXAMPLES / "car-differential.toml", {})
    results = run(model).results
    slip = 0.01 * (results.time - results.time[0])
    c, s, o = np.cos(slip), np.sin(slip), np.zeros_like(slip)
    about_y = np.array([[c, o, s], [o, o + 1, o], [-s, o, c]]).transpose(2, 0, 1)
    right = results.bodies["right"]
    bodies = {**results.bodies, "right": replace(right, rotation=about_y @ right.rotation)}
    found = drifts(model, replace(results, bodies=bodies))[0]
    # of a row that adds both turns, the second counting 1 and the first 2/3
    assert found == pytest.approx(np.linspace(0.0, slip[-1], len(found)) / (1 + 2 / 3), abs=1e-9)
