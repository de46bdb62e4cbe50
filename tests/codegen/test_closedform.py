"""Closed forms: which types have one, and that what was found solves the constraints."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from assurgent.codegen.closedform import find_closed_form, is_sphere
from assurgent.codegen.derive import derive
from assurgent.runtime.library import load
from assurgent.runtime.library_build import find_specification


@pytest.mark.parametrize(("name", "signs"), [("RRR", 1), ("RRP", 1), ("RPR", 1), ("PRP", 0), ("R", 0), ("2S1P", 1)])
def test_dyads_have_one_with_a_sign_for_every_square_root(name: str, signs: int) -> None:
    found = find_closed_form(derive(find_specification(name)))
    assert found is not None
    assert len(found.branches) == signs


def test_a_triad_has_none() -> None:
    # Three legs on one body lead to a sextic (Hunt, Kinematic Geometry of Mechanisms, section 7).
    assert find_closed_form(derive(find_specification("triad-6R"))) is None


def test_both_signs_of_a_dyad_are_the_two_meetings_of_its_circles() -> None:
    # |C - A| = 13, |C - B| = 15 with A and B 14 apart: the triangle 13, 14, 15 has the height 12 over its side of 14.
    dyad = load("RRR")
    h, par = {"A": (0.0, 0.0), "B": (14.0, 0.0)}, {"L_AC": 13.0, "L_BC": 15.0}
    found = sorted(tuple(dyad.position(h, par, branch=[sign])) for sign in (-1.0, 1.0))
    assert np.allclose(found, [(5.0, -12.0), (5.0, 12.0)], rtol=0, atol=1e-14)


def test_a_sphere_is_told_from_an_ellipsoid() -> None:
    assert is_sphere(sp.ImmutableMatrix(sp.eye(3) * Fraction(1, 2)))
    assert not is_sphere(sp.ImmutableMatrix(sp.diag(1, 1, 2)))
    assert not is_sphere(sp.ImmutableMatrix([[1, 1], [1, 1]]))
