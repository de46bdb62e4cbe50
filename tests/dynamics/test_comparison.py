"""Methods of simulate side by side: the table of FORMAT.md, and the factor at which coordinates change."""

from pathlib import Path

import numpy as np
import pytest

from assurgent.common.errors import InputError
from assurgent.dynamics.forward import simulate
from assurgent.mechanism.reader import load
from assurgent.verification.comparison import compare

METHODS = ("partition", "global", "semirecursive-1", "semirecursive-2")
EXAMPLES = Path(__file__).parents[2] / "examples" / "dynamics"


def test_methods_of_simulate_side_by_side():
    model = load(EXAMPLES / "yu-quick-return.toml")
    found = compare(model, METHODS, np.linspace(0.0, 0.4, 9))
    told = found.to_json()
    assert told["reference"] == "partition"
    assert [m["name"] for m in told["methods"]] == list(METHODS)
    for method in told["methods"]:
        assert set(method) == {"name", "seconds", "evaluations", "iterations", "difference", "drift"}
        assert set(method["drift"]) == {"position", "velocity", "acceleration", "energy"}
        assert max(method["difference"].values()) < 1e-9
        assert max(method["drift"].values()) < 1e-10
        assert method["evaluations"] > method["iterations"] > 0


def test_methods_of_run_and_simulate_are_not_mixed():
    model = load(EXAMPLES / "yu-quick-return.toml")
    with pytest.raises(InputError, match="td: is a method of run"):
        compare(model, ["partition", "td"])
    with pytest.raises(InputError, match="no such method"):
        compare(model, ["partition", "semirecursive-3"])


def test_change_is_the_factor_of_the_file(tmp_path):
    """The paper changes whenever another coordinate is better; by our own caution its four-bar never does."""
    text = (EXAMPLES / "blajer-four-bar.toml").read_text("utf-8")
    path = tmp_path / "eager.toml"
    path.write_text(text.replace("[simulation]", "[simulation]\nchange = 1"), "utf-8")
    times = np.linspace(0.0, 2.0, 21)
    calm, eager = (simulate(load(p), times, "partition").results for p in (EXAMPLES / "blajer-four-bar.toml", path))
    assert eager.diagnostics["coordinate_changes"] > calm.diagnostics["coordinate_changes"]
    for point in calm.points:
        assert eager.points[point].position == pytest.approx(calm.points[point].position, abs=1e-8)
    path.write_text(text.replace("[simulation]", "[simulation]\nchange = 0.5"), "utf-8")
    with pytest.raises(InputError, match="at least 1"):
        load(path)
