"""MOD_TD and MOD_3OT in the paper's own way give the motion of `run`; redundant and rheonomic types too."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import assurgent
from assurgent.bench import chains
from assurgent.bench.competitors import Modular
from assurgent.cli.commands import main
from assurgent.verification.paper_kernels import ACCELERATION, POSITION, paper_sweep
from assurgent.verification.paper_method import step_through

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_compare_with_the_papers_way(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(EXAMPLES / "four-bar.toml")
    assert main(["compare", file, "--methods", "td", "--paper", "--json"]) == 0
    found = {m["name"]: m for m in json.loads(capsys.readouterr().out)["methods"]}
    assert list(found) == ["td", "td-paper"]
    # positions end where |Φ| is below 1e-12: some 1e-11 of the size is left
    assert max(found["td-paper"]["difference"].values()) < 1e-10
    assert found["td-paper"]["iterations"] > 201  # Newton at every instant, where td has a closed form
    assert main(["compare", file, "--methods", "td-papr"]) == 2
    assert "did you mean 'td-paper'" in capsys.readouterr().err.replace("\n", " ")


def test_newton_from_the_step_before_needs_small_steps() -> None:
    m = assurgent.Mechanism.load(EXAMPLES / "four-bar.toml")
    found = m.compare(["td", "td-paper"], times=list(np.linspace(0, 1, 40)))
    assert found.methods[1].difference["position"] < 1e-9


@pytest.mark.long
def test_the_tensor_in_the_papers_way() -> None:
    found = assurgent.Mechanism.load(EXAMPLES / "four-bar.toml").compare(["td", "3ot-paper"])
    assert max(found.methods[1].difference.values()) < 1e-10


@pytest.mark.long
def test_the_papers_redundant_groups_against_the_exact_motion() -> None:
    n, speed = 240, chains.SPATIAL_SPEEDS[-1]
    chain = chains.paper_spatial(2, speed)
    begun = Modular(chain, n)
    sequence = chain.program.sequence
    exact = chains.spatial_exact(2, speed, begun.time, True)
    for method in ("td-paper", "3ot-paper"):
        state = begun.state.copy()
        assert step_through(sequence, begun.time, state, sequence.numbers, method, 6.0).lost is None
        error = np.abs(chain.read(state) - exact).max(axis=(1, 2)) / np.abs(exact).max(axis=(1, 2))
        assert error.max() < 1e-10


@pytest.mark.long
def test_time_in_the_equations_is_one_more_coordinate() -> None:
    """RRR-t, whose equations hold t: both ways against the emitted solver, which has its own K_t."""
    group = assurgent.load("RRR-t")
    n = 40
    time = np.linspace(0.0, 0.4, n)
    rng = np.random.default_rng(3)
    s, r = len(group.independent), len(group.dependent)
    state = np.zeros((3, s + r, n))
    h = {"A": (0.0, 0.0), "B": (2.0, 0.3)}
    state[0, :s] = (np.array([*h["A"], *h["B"]])[:, None] + 0.1 * np.sin(time)) if s == 4 else 0.0
    state[1, :s], state[2, :s] = 0.1 * np.cos(time), -0.1 * np.sin(time)
    par = np.array([1.5 + 0.1 * rng.uniform() if "L" in name else 0.05 for name in group.parameters])
    module = group.module
    phi = group.position(state[0, :s, 0], par, branch=-1, t=float(time[0]))
    rows = np.arange(s), np.arange(s, s + r)
    for tensor in (False, True):
        q = state.copy()
        q[0, s:, 0] = phi
        lost, _ = paper_sweep(module, tensor)(time, q, *rows, np.arange(s), par, 1e-13, ACCELERATION)
        assert lost == n
        for k in (0, n // 2, n - 1):
            x, hk, hd, hdd = q[0, s:, k], q[0, :s, k], q[1, :s, k], q[2, :s, k]
            velocity = group.velocity(x, hk, par, hd, t=float(time[k]))
            assert q[1, s:, k] == pytest.approx(velocity, rel=1e-9)
            wanted = group.acceleration(x, hk, par, velocity, hd, hdd, t=float(time[k]))
            assert q[2, s:, k] == pytest.approx(wanted, rel=1e-8, abs=1e-9)
    q = state.copy()
    q[0, s:, 0] = phi
    assert paper_sweep(module, False)(time, q, *rows, np.arange(s), par, 1e-13, POSITION)[0] == n
    assert not q[1, s:].any()
