"""The global methods against the modular one: the same motion from one Newton system over all groups."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from assurgent.mechanism.reader import load
from assurgent.motion.global_linear import klu_library
from assurgent.motion.kinematics import run

EXAMPLES = Path(__file__).parents[2] / "examples"
# one with rows that combine others and an angle that is followed, one with points of interest in space, one of dyads,
# two whose sparse system has a pivot that vanishes at a single asked instant
NAMES = ("gear-linkage", "rssr", "jansen-leg", "screw-jack", "quick-return")
DRIVEN = [path for path in sorted(EXAMPLES.rglob("*.toml")) if "drivers" in tomllib.loads(path.read_text())]


def _largest_difference(a, b):
    """Of points and turns, each order relative to the largest of its kind; where all are zero, to what speeds make."""
    worst = 0.0
    turns = ("rotation" if a.results.space == "spatial" else "angle", "angular_velocity", "angular_acceleration")
    for kind, orders in (("points", ("position", "velocity", "acceleration")), ("bodies", turns)):
        ours, theirs = getattr(a.results, kind), getattr(b.results, kind)
        speed = 0.0
        for order, quantity in enumerate(orders):
            values = {name: np.asarray(getattr(series, quantity)) for name, series in ours.items()}
            size = max(float(np.abs(x).max()) for x in values.values())
            speed = size if order == 1 else speed
            size = max(size, speed**2 if order == 2 else 0.0, 1e-300)
            for name, x in values.items():
                worst = max(worst, float(np.abs(x - np.asarray(getattr(theirs[name], quantity))).max()) / size)
    return worst


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if path.stem in NAMES else pytest.mark.long, id=path.stem)
        for path in DRIVEN
        if path.stem != "four-bar-nine-poses"  # a sketch that is to be made into a mechanism first
    ],
)
@pytest.mark.parametrize("method", ["global", "global-sparse"])
def test_same_motion(path, method):
    model = load(path, {})
    # the whole run at the file's own instants: round times are those at which sines and cosines vanish
    reference, found = run(model, None, "td"), run(model, None, method)
    assert found.stop is None
    assert found.results.diagnostics["equations"] > 1
    # Newton ends where its step is below 1e-12, and rates come from factors of one step before
    assert _largest_difference(reference, found) < 1e-10


@pytest.mark.parametrize("method", ["td", "global", "global-sparse"])
def test_a_screw_at_constant_speed_has_no_acceleration(method):
    """The table goes up evenly and does not turn, so that the joint between them turns back at the screw's speed."""
    found = run(load(EXAMPLES / "screw-jack.toml", {}), None, method).results
    speed = 2 * np.pi * 90 / 60
    assert np.abs(found.joints["B"].rate + speed).max() < 1e-12 * speed
    assert np.abs(found.joints["B"].acceleration).max() < 1e-12 * speed**2
    table = found.points["T"]
    assert np.abs(table.velocity - [0, 0, 0.004 * 90 / 60]).max() < 1e-14
    assert np.abs(table.acceleration).max() < 1e-12


def test_sparse_names_its_solver():
    model = load(EXAMPLES / "four-bar.toml", {})
    found = run(model, np.array([model.simulation.start]), "global-sparse")
    named = str(found.results.diagnostics["linear_solver"])
    assert named.startswith("KLU" if klu_library() is not None else "dense LU, since KLU")


CAM = EXAMPLES / "cam-follower.toml"


@pytest.mark.parametrize("method", ["td", "global", "global-sparse"])
def test_groups_with_cams_report_their_residual(method: str) -> None:
    found = run(load(CAM, {}), np.linspace(0, 0.2, 5), method).results
    # positions are closed to 1e-11 of the mechanism's size, and never to exactly nothing at all steps
    assert 0.0 < found.diagnostics["max_residual"] <= 1e-11


LEVER = """
format = 1
name = "lever"
space = "planar"
points = { A = [0, 0], B = [1, 0], D = [-1, 0], E = [2, 0] }
[bodies]
frame = { points = ["A", "D"] }
crank = { points = ["A", "B"], length = 1 }
lever = { points = ["D", "E"], length = 3 }
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "A" }
D = { type = "R", bodies = ["lever", "frame"], at = "D" }
S = { type = "slot", bodies = ["lever", "crank"], at = "B", through = "D", axis = [1, 0] }
[drivers]
theta = { joint = "A", angle = "START + pi*t" }
"""
PARALLELOGRAM = """
format = 1
name = "parallelogram"
space = "planar"
points = { A = [0, 0], B = [0, 1], C = [3, 1], D = [3, 0] }
[bodies]
frame = { points = ["A", "D"] }
crank = { points = ["A", "B"], length = 1 }
rod = { points = ["B", "C"], length = 3 }
rocker = { points = ["D", "C"], length = 1 }
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "A" }
B = { type = "R", bodies = ["crank", "rod"], at = "B" }
C = { type = "R", bodies = ["rod", "rocker"], at = "C" }
D = { type = "R", bodies = ["frame", "rocker"], at = "D" }
[drivers]
theta = { joint = "A", angle = "START + pi*t" }
"""


def _turning(centre, radius, angle, rate):
    """Positions, velocities and accelerations of a point on a circle, at a constant rate."""
    arm = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    across = np.column_stack([-arm[:, 1], arm[:, 0]])
    return np.array([centre + arm, rate * across, -(rate**2) * arm])


@pytest.mark.parametrize("method", ["td", "global", "global-sparse"])
@pytest.mark.parametrize("beside", [0.0, 1e-9, 1e-6])
@pytest.mark.parametrize(("mechanism", "begin", "stop"), [
    ("parallelogram", 0.0, 0.7),  # the crank in line with the frame: branches meet
    ("parallelogram", 0.5 * np.pi, 0.5),  # the same at the end
    ("parallelogram", 0.5 * np.pi, 1.0),  # the same half way
    ("lever", np.pi, 1.3),  # the pin at the pivot
])  # fmt: skip
def test_rates_where_branches_meet(mechanism, begin, stop, beside, method, tmp_path):
    text = LEVER if mechanism == "lever" else PARALLELOGRAM
    path = tmp_path / "mechanism.toml"
    path.write_text(text.replace("START", repr(begin + beside)))
    times = np.linspace(0.0, stop, 11)
    found = run(load(path, {}), times, method)
    assert found.stop is None
    angle = begin + beside + np.pi * times
    if mechanism == "lever":  # an angle at the circumference is half of that at the centre; E lies below D at first
        point, right = found.results.points["E"], _turning([-1.0, 0.0], 3.0, 0.5 * angle - np.pi, 0.5 * np.pi)
    else:
        point, right = found.results.points["C"], _turning([3.0, 0.0], 1.0, angle, np.pi)
    # of the eight nodes of a bridge, those nearest to the change point have lost some digits
    for values, exact, within in zip(
        (point.position, point.velocity, point.acceleration), right, (1e-10, 1e-8, 1e-5), strict=True
    ):
        assert np.abs(values - exact).max() < within
