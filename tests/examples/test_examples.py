"""The examples: each runs by both methods, agrees with absolute coordinates, falls into the groups expected by hand."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from assurgent.cli.commands import main
from assurgent.mechanism.assembly import follow
from assurgent.mechanism.plans.planning import study
from assurgent.mechanism.reader import load
from tests.examples.example_runs import EXAMPLES, ROOT, at, model_of, results_of

N_TIMES = 25  # of the oracle, which steps through what lies between by itself

# The groups in order, found by hand: type (general ones without their digest) and bodies.
GROUPS: dict[str, list[tuple[str, str]]] = {
    "bennett": [("R", "crank"), ("RRR", "coupler rocker")],
    "bricard": [("R", "one"), ("RRRRR", "five four three two")],
    "cam-follower": [("R", "cam"), ("g1-P1cam1-0", "tappet")],
    "car-differential": [
        ("R", "left"),
        ("R", "shaft"),
        ("g1-R1gear1-0", "cage"),
        ("g1-R1gear1-0", "planet"),
        ("g1-R1gear1-0", "right"),
    ],
    "excavator": [
        ("g1-R1[distance]1-0", "boom"),
        ("g1-R1[distance]1-0", "stick"),
        ("g1-R1[distance]1-0", "rocker"),
        ("RRR", "bucket link"),
    ],
    "five-bar": [("R", "left_arm"), ("R", "right_arm"), ("RRR", "left_forearm right_forearm")],
    "four-bar": [("R", "crank"), ("RRR", "coupler rocker")],
    "gear-linkage": [("R", "crank"), ("g1-R1gear1-0", "gear"), ("RRR", "left right")],
    "jansen-leg": [
        ("R", "crank"),
        ("RRR", "lower_rod thigh"),
        ("RRR", "upper_rod upper_triangle"),
        ("RRR", "foot tendon"),
    ],
    "klann-leg": [("R", "crank"), ("RRR", "lower_rocker rod"), ("RRR", "leg upper_rocker")],
    "lifting-arm": [("g1-R1[distance]1-0", "arm")],
    "minimal-slider-crank": [("R", "crank"), ("SSP", "rod slider")],
    "oldham-coupling": [("R", "input"), ("RPP", "disc output")],
    "pantograph": [("P", "carriage"), ("P", "tracer"), ("RRR", "long_arm tracer_arm"), ("RRR", "link pen_arm")],
    "paper-four-bar": [("R", "crank"), ("RRR", "rocker rod")],
    "paper-slider-crank": [
        ("R", "crank"),
        ("SSP", "rod1 slider1"),
        ("SSP", "rod2 slider2"),
        ("SSP", "rod3 slider3"),
    ],
    "planetary-gear": [("R", "sun"), ("g2-R1gear2-R1", "carrier planet")],
    "quick-return": [("R", "crank"), ("RPR", "block lever"), ("RRP", "link ram")],
    "rack-and-pinion": [
        ("R", "pinion"),
        ("g1-P1rack1-0", "rack"),
        ("RRR", "left_rod left_wheel"),
        ("RRR", "right_rod right_wheel"),
    ],
    "rssr": [("R", "crank"), ("SSR", "rocker rod")],
    "scalable-four-bar": [("R", "crank"), ("RRR", "rocker1 rod1"), ("RRR", "rocker2 rod2"), ("RRR", "rocker3 rod3")],
    "schatz": [("R", "crank"), ("RRRRR", "follower left right tumbler")],
    "scissor-lift": [
        ("g1-R1[distance]1-0", "arm1"),
        ("g1-R1slot1-0", "arm2"),
        ("RRR", "arm3 arm4"),
        ("g1-R1slot1-0", "platform"),
    ],
    "scotch-yoke": [("R", "crank"), ("g1-P1slot1-0", "yoke")],
    "screw-jack": [("H", "screw"), ("RC", "table")],
    # each leg as Jansen's above; that the legs stand side by side, and in this order, is what the program printed
    "six-leg-walker": [
        ("R", "crank"),
        *(
            ("RRR", " ".join(f"{body}{leg}" for body in bodies.split()))
            for bodies in ("lower_rod thigh", "upper_rod upper_triangle", "foot tendon")
            for leg in ("", "_right", "_right_three_r", "_right_two_r", "_three", "_two")
        ),
    ],
    "slider-crank": [("R", "crank"), ("RRP", "piston rod")],
    "spatial-slider-crank": [("R", "crank"), ("SSP", "rod slider")],
    "stephenson-six-bar": [("R", "input"), ("g4-R3-R3", "left middle plate rod")],
    "stewart-platform": [("g1-[distance]6-0", "platform")],
    "stewart-platform-ups": [
        (
            "g13-U6-S6[P]6",
            "lower1 lower2 lower3 lower4 lower5 lower6 platform upper1 upper2 upper3 upper4 upper5 upper6",
        )
    ],
    "universal-joint": [("R", "input"), ("UR", "output")],
    "watt-six-bar": [("R", "crank"), ("RRR", "coupler rocker"), ("RRR", "left right")],
}
MOBILITY = {
    "car-differential": 2,
    "excavator": 3,
    "five-bar": 2,
    "pantograph": 2,
    "stewart-platform": 6,
    "stewart-platform-ups": 6,
}
# constraints in excess, all consistent
REDUNDANT = {"bennett": 3, "bricard": 1, "schatz": 1, "screw-jack": 3, "universal-joint": 3}
# A machine that has not met them yet derives or compiles their types for more than about 20 s.
LONG = ("bennett", "bricard", "schatz", "screw-jack", "stewart-platform", "stewart-platform-ups", "universal-joint")
RUNS = [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in GROUPS]


def _compared() -> ModuleType:
    """Return the comparison with absolute coordinates that the tests of the runs have."""
    name = "examples_compared"
    if name not in sys.modules:
        path = ROOT / "tests" / "motion" / "compared.py"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


# ---- all of them --------------------------------------------------------------------------------------------------
def test_every_example_is_tested_and_says_what_it_is() -> None:
    files = sorted(EXAMPLES.glob("*.toml"), key=lambda file: file.stem)
    assert [f.stem for f in files] == sorted(GROUPS)
    for file in files:
        first, *_ = file.read_text("utf-8").splitlines()
        assert first.startswith("# ")
        assert first.endswith(".")
        assert load(file).name == file.stem


@pytest.mark.parametrize("name", GROUPS)
def test_groups_are_those_found_by_hand(name: str) -> None:
    structure = study(model_of(name))
    found = [(g.type.rsplit("-", 1)[0] if g.type.startswith("g") else g.type, " ".join(g.members))
             for g in structure.groups]  # fmt: skip
    assert found == GROUPS[name]
    assert structure.mobility == len(model_of(name).drivers) == MOBILITY.get(name, 1)
    assert structure.count == structure.mobility - REDUNDANT.get(name, 0)
    assert not structure.free


@pytest.mark.parametrize("name", RUNS)
def test_both_methods_run_to_the_end_and_agree(name: str) -> None:
    td, ot = results_of(name), results_of(name, "3ot")
    times = model_of(name).simulation.times()
    for results in (td, ot):
        np.testing.assert_array_equal(results.time, times)
        residual = results.diagnostics["max_residual"]
        assert isinstance(residual, float)
        assert residual <= 1e-12
    # accelerations of one motion by two formulas; a body at rest or at constant speed has a scale of its own
    points, bodies = td.points.values(), td.bodies.values()
    size = model_of(name).size
    speed = max(np.abs(p.velocity).max() for p in points)
    turning = max(np.abs(b.angular_velocity).max() for b in bodies)
    scale = max(*(np.abs(p.acceleration).max() for p in points), speed**2 / size, turning**2 * size)
    for key, point in td.points.items():
        assert np.abs(point.acceleration - ot.points[key].acceleration).max() <= 1e-10 * scale
    for key, body in td.bodies.items():
        difference = np.abs(body.angular_acceleration - ot.bodies[key].angular_acceleration).max()
        assert difference <= 1e-10 * max(scale / size, np.abs(body.angular_acceleration).max())


@pytest.mark.parametrize("name", RUNS)
def test_motion_is_that_in_absolute_coordinates(name: str) -> None:
    model, compared = model_of(name), _compared()
    grid = model.simulation.times()
    times = grid[np.unique(np.linspace(0, len(grid) - 1, N_TIMES).astype(int))]
    results = at(name, times.tolist())
    # The oracle closes its rows to 1e-13; poses that are not near a dead point lose two or three digits of that, and
    # each derivative as many again.
    position, velocity, acceleration = compared.differences(model, follow(model, times), results).max(axis=1)
    assert position <= 1e-10
    assert velocity <= 1e-9
    assert acceleration <= 1e-8


@pytest.mark.parametrize("name", ["four-bar", "excavator", "rssr"])
def test_commands_take_the_examples(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    assert main(["run", str(EXAMPLES / f"{name}.toml"), "-o", str(out)]) == 0
    assert out.stat().st_size > 1000
    assert main(["structure", str(EXAMPLES / f"{name}.toml")]) == 0
    assert name in capsys.readouterr().out
