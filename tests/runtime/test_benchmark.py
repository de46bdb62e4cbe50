"""The benchmark at tiny sizes: what it solves is right, what it writes has the promised keys; never times."""

import json
import re

import numpy as np
import pytest

from assurgent.runtime.benchmark import chains, studies
from assurgent.runtime.benchmark.timing import growth
from assurgent.runtime.cli import main
from assurgent.runtime.library import load
from assurgent.runtime.motion.lanes import seeds


def test_planar_methods_agree_with_the_closed_form():
    row = studies.planar(3, 1500, rounds=1)
    assert row.n_equations == 8
    methods = {"mod_td", "mod_3ot", "mod_td_newton", "mod_td_newton_lanes"}
    assert set(row.error) == methods | {"global", "global_sparse", "global_sparse_default"}
    assert max(row.error.values()) < 1e-10  # accelerations lose three digits to the conditioning of a rhombus


def test_spatial_methods_agree_with_the_closed_form():
    row = studies.spatial(2, 34.9, 300, rounds=1)
    assert row.n_equations == 22
    assert max(row.error.values()) < 1e-10
    assert sum(row.profile["GLOB_SP"]) == pytest.approx(100.0)


def test_triad_keeps_its_lengths():
    row = studies.triad(1200, rounds=1)
    assert max(row.error.values()) < 1e-10
    assert row.iterations["newton_lanes"] < 4


def test_seeds_are_next_to_their_lanes():
    angle, rate = 0.17 * np.arange(3000), np.full(3000, 34.0)
    serial, seed, shift = seeds(angle, rate)
    assert serial < 3000
    assert seed.max() < serial
    # moved by the shift, the seed has the phase of its lane
    assert np.abs(np.exp(1j * (angle[seed] + rate[seed] * shift)) - np.exp(1j * angle)).max() < 1e-11
    assert seeds(0.3 * np.arange(10), np.zeros(10))[0] == 10


def test_chain_matches_circles():
    time = np.linspace(0, 0.1, 7)
    exact = chains.planar_exact(2, time)
    B, C = exact[0, 0:2], exact[0, 2:4]
    assert np.hypot(*(C - B)) == pytest.approx(np.full(7, 6.0))


def test_growth_of_a_power():
    assert growth([1, 10, 100], [2.0, 20.0, 200.0]) == pytest.approx(1.0)


def test_json(tmp_path):
    out = tmp_path / "out.json"
    code = main(["bench", "--case", "planar", "--sizes", "4", "--steps", "40", "--rounds", "1", "--json", str(out)])
    assert code == 0
    (row,) = json.loads(out.read_text("utf-8"))["planar"]
    keys = {"fill", "mod_td", "mod_3ot", "mod_td_newton", "global", "global_sparse", "global_sparse_default"}
    assert keys <= row.keys()
    assert row["nEq"] == 4
    assert keys - {"fill"} <= row["error"].keys()


def test_wrong_size(capsys):
    assert main(["bench", "--case", "planar", "--sizes", "23"]) == 2
    assert "2 + 2k" in re.sub(r"\s+", " ", capsys.readouterr().err)


def test_sweep_of_the_dyad_divides_vectors():
    llvm = pytest.importorskip("llvmlite.binding")
    if "avx" not in {k for k, v in llvm.get_host_cpu_features().items() if v}:
        pytest.skip("needs AVX")
    from numba import njit

    module = load("RRR").module
    options = {k: v for k, v in module.OPTIONS.items() if k != "cache"}
    sweep = njit(**options)(module.sweep.py_func)
    state, lanes = np.zeros((3, 6, 64)), np.zeros(64)
    sweep(lanes, *state, np.arange(4), np.ones(2), np.ones(1), *state, np.arange(4, 6), 0, 64, np.zeros(1))
    (text,) = sweep.inspect_asm().values()
    assert re.search(r"vdivpd\s.*%[yz]mm", text)
