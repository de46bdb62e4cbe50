"""The case studies at tiny sizes: what every method finds is right; never times."""

import re

import numpy as np
import pytest

from assurgent.runtime.benchmark import allocation, chains, studies
from assurgent.runtime.benchmark.timing import growth
from assurgent.runtime.library import load
from assurgent.runtime.motion.lanes import CHUNK, seeds

ACCURATE = 1e-10  # accelerations of a chain of rhombi lose three digits to conditioning; 1e-12 to 1e-13 is usual


def test_planar_methods_agree_with_the_closed_form():
    row = studies.planar(3, 1500, rounds=1)
    assert row.n_equations == 8
    methods = {"mod_td", "mod_3ot", "mod_td_newton", "mod_td_newton_lanes"}
    assert set(row.error) == methods | {"global", "global_sparse", "global_sparse_default"}
    assert max(row.error.values()) < ACCURATE
    assert 1 < row.iterations["global_sparse"] < 6
    assert "mod_td" not in row.iterations  # closed forms do not iterate


def test_spatial_methods_agree_with_the_closed_form_in_both_sets_of_coordinates():
    row = studies.spatial(2, 34.9, 300, rounds=1)
    assert row.n_equations == 22  # 8 k + 6, as in the paper
    assert {"mod_td", "mod_3ot", "global_sparse", "global_sparse_same", "mod_newton_paper"} <= set(row.error)
    assert max(row.error.values()) < ACCURATE


def test_the_papers_coordinates_have_the_papers_number_of_equations():
    from assurgent.runtime.motion.global_system import build

    for paper, wanted in ((True, 8 * 3 + 6), (False, 3 + 3)):
        chain = chains.spatial(3, 34.9, paper)
        start = chain.state(1)[1][0, :, 0]
        if not paper:  # any positive displacement serves to see the pattern
            start[chain.rows[3:]] = 5.0
        system = build(chain.layout, start, 0.0, "global")
        assert len(system.unknown) == wanted == chain.n_equations


def test_a_slow_system_is_timed_on_fewer_steps_and_scaled(monkeypatch):
    from assurgent.runtime.benchmark import methods

    monkeypatch.setattr(methods, "PATIENCE", 1e-9)
    row = studies.planar(1, 400, rounds=1)
    assert row.timed_steps == dict.fromkeys(("global", "global_sparse", "global_sparse_default"), methods.PROBE)
    assert max(row.error.values()) < ACCURATE


def test_profiles_are_shares():
    row = studies.Row(6, 2, {}, {})
    studies.planar_profile(row, 600, rounds=1)
    assert set(row.profile) == {"MOD_TD", "MOD_3OT", "GLOB_SP", "GLOB"}
    for shares in row.profile.values():
        assert len(shares) == 4
        assert min(shares) >= 0.0
        assert sum(shares) == pytest.approx(100.0)


def test_programs_of_a_profile_store_only_their_part(tmp_path):
    from assurgent.runtime.benchmark.methods import Modular
    from assurgent.runtime.benchmark.profiles import KEPT, _program

    chain = chains.planar(2)
    exact = chains.planar_exact(2, np.arange(50) * chains.PLANAR_STEP)
    for kept in KEPT:
        modular = Modular(chain, 50, _program(chain, kept, tmp_path))
        modular.run("run_td", complete=False)
        for order in range(3):
            found = modular.state[order, chain.rows]
            if order < len(kept) and order == 0:
                assert np.abs(found - exact[order]).max() < 1e-12  # positions of 10 m to a few units in the last place
            assert found.any() == (order < len(kept))


def test_growth_covers_the_asked_sizes_with_one_size_of_state():
    found = studies.growth_rows((2, 8), 480, rounds=1)
    assert list(found) == [2, 8]
    assert all(s > 0 for sizes in found.values() for s in sizes.values())
    assert growth([1, 10, 100], [2.0, 20.0, 200.0]) == pytest.approx(1.0)


def test_no_loop_allocates():
    found = allocation.measure(2, (60, 600))
    assert set(found) == {"mod_td", "mod_3ot", "mod_td_newton", "mod_td_newton_lanes", "global_sparse"}
    for short, long in found.values():
        assert short.numba_blocks == long.numba_blocks == 0
        assert long.heap <= short.heap + 64  # the loop's length leaves no trace but perhaps a larger integer


def test_what_allocates_is_seen():
    from numba import njit

    @njit
    def allocating():
        return np.zeros(1000).sum()

    assert allocation.taken(allocating).numba_blocks == 1
    assert allocation.taken(lambda: np.zeros(100_000).sum()).heap >= 800_000


def test_seeds_are_next_to_their_lanes():
    angle, rate = 0.17 * np.arange(3000), np.full(3000, 34.0)
    serial, sources, shift = seeds(angle, rate)
    assert serial < 3000
    lanes = (sources[:, None] + np.arange(CHUNK)).ravel()[:3000]  # a chunk is seeded by as many lanes in a row
    assert lanes.max() < serial
    # moved by the shift, the seed has the phase of its lane
    assert np.abs(np.exp(1j * (angle[lanes] + rate[lanes] * shift)) - np.exp(1j * angle)).max() < 1e-11
    assert seeds(0.3 * np.arange(10), np.zeros(10))[0] == 10


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


def test_program_of_the_chain_takes_roots_of_vectors(tmp_path):
    llvm = pytest.importorskip("llvmlite.binding")
    if "avx" not in {k for k, v in llvm.get_host_cpu_features().items() if v}:
        pytest.skip("needs AVX")
    from assurgent.runtime.benchmark.altered import altered
    from assurgent.runtime.benchmark.methods import Modular

    chain = chains.planar(1)
    modular = Modular(chain, 64, altered(chain, lambda text: text, tmp_path, "whole"))
    modular.run("run_td")
    (text,) = modular.module.run_td.inspect_asm().values()
    for operation in ("vsqrtpd", "vdivpd"):
        assert re.search(rf"{operation}\s.*%[yz]mm", text)


def test_choices_are_measured():
    from assurgent.runtime.benchmark import choices

    found = choices.measure(2, 900, rounds=1)
    assert choices.AS_IT_IS in found
    assert {"no vectors of lanes", "fixed points as if they moved", "Newton step by step"} <= found.keys()
    assert all(seconds >= 0 for seconds in found.values())
    assert choices.choices_table(found, 2, 900).row_count == len(found)
