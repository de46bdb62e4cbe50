"""The global methods against the modular one: the same motion from one Newton system over all groups."""

from pathlib import Path

import numpy as np
import pytest

from assurgent.mechanism.reader import load
from assurgent.motion.global_linear import klu_library
from assurgent.motion.kinematics import run

EXAMPLES = Path(__file__).parents[2] / "examples"
# one with rows that combine others and an angle that is followed, one with points of interest in space, one of dyads
NAMES = ("gear-linkage", "rssr", "jansen-leg")


def _largest_difference(a, b):
    worst = 0.0
    for name, point in a.results.points.items():
        for quantity in ("position", "velocity", "acceleration"):
            x, y = getattr(point, quantity), getattr(b.results.points[name], quantity)
            worst = max(worst, float(np.abs(x - y).max() / max(np.abs(x).max(), 1e-300)))
    return worst


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(path.stem, marks=() if path.stem in NAMES else pytest.mark.long)  # each compiles its own system
        for path in sorted(EXAMPLES.glob("*.toml"))
        if path.stem != "screw-jack"  # accelerations that are zero
    ],
)
@pytest.mark.parametrize("method", ["global", "global-sparse"])
def test_same_motion(name, method):
    model = load(EXAMPLES / f"{name}.toml", {})
    first = model.simulation.start
    times = np.linspace(first, first + 0.3 * (model.simulation.stop - first), 12)
    reference, found = run(model, times, "td"), run(model, times, method)
    assert found.stop is None
    assert found.results.diagnostics["equations"] > 3
    # Newton ends where its step is below 1e-12, and rates come from factors of one step before
    assert _largest_difference(reference, found) < 1e-10


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
