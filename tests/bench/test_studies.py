"""The case studies at tiny sizes: what every method finds is right; never times."""

import re

import numpy as np
import pytest

from assurgent.bench import allocation, chains, studies
from assurgent.bench.timing import growth
from assurgent.runtime.library import load

ACCURATE = 1e-10  # accelerations of a chain of rhombi lose three digits to conditioning; 1e-12 to 1e-13 is usual


def test_planar_methods_agree_with_the_closed_form():
    row = studies.planar(3, 1500, rounds=1)
    assert row.n_equations == 8
    assert set(row.error) == {"mod_td", "mod_3ot"} | {"global", "global_sparse", "global_sparse_default"}
    assert max(row.error.values()) < ACCURATE
    assert 1 < row.iterations["global_sparse"] < 6
    assert "mod_td" not in row.iterations  # closed forms do not iterate


def test_spatial_methods_agree_with_the_closed_form_in_both_sets_of_coordinates():
    row = studies.spatial(2, 34.9, 300, rounds=1)
    assert row.n_equations == 22  # 8 k + 6, as in the paper
    assert {"mod_td", "mod_3ot", "global_sparse", "global_sparse_same"} <= set(row.error)
    assert {"mod_newton_paper", "mod_3ot_paper"} <= set(row.error)
    assert max(row.error.values()) < ACCURATE


def test_the_papers_coordinates_have_the_papers_number_of_equations():
    from assurgent.bench.competitors import Modular
    from assurgent.motion.global_system import build

    for make, wanted in ((chains.paper_spatial, 8 * 3 + 6), (chains.spatial, 3 + 3)):
        chain = make(3, 34.9)
        start = Modular(chain, 1).state[0, :, 0].copy()
        system = build(chain.program.sequence, chain.driven, start, 0.0, "global")
        assert len(system.unknown) == wanted == chain.n_equations


def test_a_slow_system_is_timed_on_fewer_steps_and_scaled(monkeypatch):
    from assurgent.bench import competitors as methods

    monkeypatch.setattr(methods, "PATIENCE", 1e-9)
    row = studies.planar(1, 400, rounds=1)
    assert row.timed_steps == dict.fromkeys(("global", "global_sparse", "global_sparse_default"), methods.PROBE)
    assert max(row.error.values()) < ACCURATE


def test_profiles_are_shares():
    row = studies.Row(6, 2, {}, {})
    studies.planar_profile(row, 600)
    assert set(row.profile) == {"GLOB_SP", "GLOB"}
    for shares in row.profile.values():
        assert len(shares) == 4
        assert min(shares) >= 0.0
        assert sum(shares) == pytest.approx(100.0)


def test_growth_covers_the_asked_sizes_with_one_size_of_state():
    found = studies.growth_rows((2, 8), 480, rounds=1)
    assert list(found) == [2, 8]
    assert all(s > 0 for sizes in found.values() for s in sizes.values())
    assert growth([1, 10, 100], [2.0, 20.0, 200.0]) == pytest.approx(1.0)


def test_no_loop_allocates():
    found = allocation.measure(2, (60, 600))
    assert set(found) == {"mod_td", "mod_3ot", "newton", "global_sparse"}
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


@pytest.mark.parametrize("mask", [0, 0b1100])  # all may move; the second pivot is fixed
def test_sweep_of_the_dyad_divides_and_takes_roots_of_vectors(mask):
    llvm = pytest.importorskip("llvmlite.binding")
    if "avx" not in {k for k, v in llvm.get_host_cpu_features().items() if v}:
        pytest.skip("needs AVX")
    from numba import cfunc

    from assurgent.runtime.sequencer import CALLED, SIGNATURE

    sweep = cfunc(SIGNATURE, **{**CALLED, "cache": False})(load("RRR").module.sweep(mask))
    text = sweep._library.get_asm_str()
    for operation in ("vsqrtpd", "vdivpd"):
        assert re.search(rf"{operation}\s.*%[yz]mm", text)


def test_choices_are_measured():
    from assurgent.bench import choices

    found = choices.measure(2, 900, rounds=1)
    assert choices.AS_IT_IS in found
    assert {"no vectors of lanes", "fixed points as if they moved"} <= found.keys()
    assert all(seconds >= 0 for seconds in found.values())
    assert choices.choices_table(found, 2, 900).row_count == len(found)
