"""The benchmark of dynamics: its mechanisms against published values, its peers against ours, and what it prints."""

import importlib.util
import io
import json

import numpy as np
import pytest
from rich.console import Console

from assurgent.bench import dynamics_cases
from assurgent.bench import dynamics_study as dynamics
from assurgent.bench.dynamics_common import DynamicsPeer, Prepared, Run
from assurgent.bench.dynamics_peers import PEERS
from assurgent.dynamics.forward import simulate


def test_squeezer_turns_as_published():
    case = dynamics_cases.squeezer()
    model = case.model()
    r = simulate(model, np.array([0.0, case.end]), reactions=False).results
    assert r.bodies["K1"].angle[0] == pytest.approx(model.parameters["beta"], abs=1e-15)
    # β after two and a half turns, of the reference solution of the IVP test set, which has about ten digits
    assert r.bodies["K1"].angle[-1] == pytest.approx(15.81077119629904, abs=5e-9)
    assert r.bodies["K5"].angle[-1] == pytest.approx(0.5244099658805304, abs=1e-10)  # δ


@pytest.mark.parametrize("peer", PEERS, ids=lambda p: p.name)
@pytest.mark.parametrize("case", [dynamics_cases.four_bar(), dynamics_cases.squeezer()], ids=lambda c: c.name)
def test_peers_come_to_the_same_end(peer, case):
    module = {"Exudyn": "exudyn", "MuJoCo": "mujoco", "Pinocchio": "pinocchio"}[peer.name]
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{peer.name} is not installed")
    exact, prepared = dynamics.reference(case), peer.prepare(case)
    # a tight tolerance where there is one; else a fine step: second order, or soft constraints, give 1e-6 to 1e-5
    fine = 1e-8 if peer.name == "Pinocchio" else case.end / 4000
    run = prepared.run(fine)
    assert np.abs(run.places - exact).max() < 1e-5 * case.model().size
    assert run.seconds >= 0
    assert run.count > 0


def test_table_and_figures_without_peers(monkeypatch):
    def never(case):
        raise AssertionError("a peer that is not installed is not asked")

    monkeypatch.setattr(dynamics, "PEERS", (DynamicsPeer("Nobody", "no-such-package", "nothing", never),))
    monkeypatch.setattr(dynamics, "cases", lambda: (dynamics_cases.four_bar(),))
    text = io.StringIO()
    figures = dynamics.report(Console(file=text, width=140), rounds=1)
    assert [f["program"] for f in figures] == [dynamics.OURS, "Assurgent, global"]
    assert all(f["reached"] and f["error"] <= dynamics.ACCURACY for f in figures)
    assert figures[0]["seconds"] < figures[1]["seconds"]  # compiled against NumPy: two orders of magnitude
    assert "Nobody is not installed - pip install '.[bench]'" in text.getvalue()
    json.dumps(figures)


def test_an_accuracy_that_is_not_reached_is_marked():
    case = dynamics_cases.four_bar()
    exact = np.zeros((4, 2))
    prepared = Prepared(lambda h: Run(1e-3, exact + 1.0, 5), lambda: None, "1 call", (0.1, 0.01))
    figure = dynamics.measure("x", "1", case, prepared, exact, rounds=1)
    assert not figure.reached
    assert figure.resolution == 0.01
    text = io.StringIO()
    Console(file=text, width=140).print(dynamics.table(case, [figure]))
    assert "!" in text.getvalue()
