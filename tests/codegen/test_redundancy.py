"""Redundant groups: rows that always agree are solved by elimination in blocks, others by least squares."""

from __future__ import annotations

import numpy as np
import pytest

from assurgent import load
from assurgent.codegen.derive import derive
from assurgent.codegen.redundancy import rows_agree, solution_blocks
from assurgent.codegen.sampling import Sampler
from assurgent.common.errors import AssemblyError
from assurgent.runtime.library_build import find_specification


def test_rows_of_the_papers_groups_that_always_agree() -> None:
    # of 1R3D the sine rows ask V1 and V3 to be unit and square to each other: its rows agree only then
    assert {name: rows_agree(derive(find_specification(name))) for name in ("1R", "2E1P", "1R3D")} == {
        "1R": True, "2E1P": True, "1R3D": False,
    }  # fmt: skip
    assert {name: load(name).module.SOLVER for name in ("1R", "2E1P", "1R3D")} == {
        "1R": "unrolled", "2E1P": "unrolled", "1R3D": "qr",
    }  # fmt: skip


def test_blocks_of_2E1P_are_the_slider_and_the_rods_vectors_one_by_one() -> None:
    blocks = solution_blocks(derive(find_specification("2E1P")))
    assert blocks is not None
    assert [(len(b.rows), b.columns) for b in blocks] == [(4, (0, 1, 2)), (2, (3, 4)), (3, (5, 6, 7))]
    assert sorted(row for b in blocks for row in b.rows) == list(range(9))


@pytest.mark.parametrize("name", ["1R", "2E1P"])
def test_elimination_gives_what_least_squares_give(name: str) -> None:
    group = load(name)
    for c in Sampler(derive(find_specification(name)), seed=5).draw(20):
        Phi_phi, Phi_h = group.jacobians(c.phi, c.h, c.par, c.t)
        phidot = group.velocity(c.phi, c.h, c.par, c.hdot, c.t)
        expected = np.linalg.lstsq(Phi_phi, -Phi_h @ c.hdot, rcond=None)[0]
        np.testing.assert_allclose(phidot, expected, atol=1e-12 * max(1.0, np.abs(expected).max()))


def test_every_row_is_asked_whether_it_holds() -> None:
    """A rod too short to reach its guide: rows of the slider's block that elimination leaves out do not hold there."""
    group = load("2E1P")
    h = {"B": (2.0, 0.0, 5.0), "V4_z": 0.0, "V6": (0.0, 1.0, 0.0), "V7": (1.0, 0.0, 0.0), "V8": (0.0, 0.0, 1.0)}
    start = (0.0, 3.0, 0.0, 1.0, 0.0, 0.0, 0.6, 0.8)
    phi = group.position(h, {"D": (0.0, 0.0, 0.0), "L_rod": 7.0}, start=start)
    assert np.abs(group.constraint(phi, h, {"D": (0.0, 0.0, 0.0), "L_rod": 7.0})).max() < 1e-12
    with pytest.raises(AssemblyError):
        group.position(h, {"D": (0.0, 0.0, 0.0), "L_rod": 5.0}, start=start)


def test_pivots_are_compared_by_the_size_of_their_rows() -> None:
    """A crank of 1000 m near the x axis: the row of its length is large, but says almost nothing about y."""
    crank, L, theta = load("1R"), 1000.0, 6e-4
    h, par = {"theta": theta}, {"A": (0.0, 0.0), "L_BA": L}
    phi = crank.position(h, par)
    found = crank.velocity(phi, h, par, {"theta": 1.0})
    np.testing.assert_allclose(found, [-L * np.sin(theta), L * np.cos(theta)], rtol=1e-14)
