"""Instant centres by velocities are those of geometry: pins, crossing lines, and Kennedy's theorem."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from assurgent import InputError, Mechanism
from assurgent.motion.instant_centres import instant_centres
from assurgent.pictures.centres import shown_centres

EXAMPLES = Path(__file__).parents[2] / "examples"


def crossing(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The point where the lines a-b and c-d cross."""
    s = np.linalg.solve(np.stack([b - a, c - d], axis=1), c - a)
    return np.asarray(a + s[0] * (b - a))


def test_centres_of_a_four_bar() -> None:
    """Aronhold and Kennedy: the coupler's pole lies where crank and rocker cross, the other on coupler and frame."""
    m = Mechanism.load(EXAMPLES / "four-bar.toml")
    r = m.run([0.05, 0.1, 0.33])
    centres = instant_centres(m.model(), r)
    for k in range(len(r)):
        p = {name: series.position[k] for name, series in r.points.items()}
        for pair, point in ((("frame", "crank"), "A"), (("crank", "coupler"), "B"), (("frame", "rocker"), "D")):
            np.testing.assert_allclose(centres[pair][k], p[point], atol=1e-12)
        pole = crossing(p["A"], p["B"], p["D"], p["C"])
        np.testing.assert_allclose(centres["frame", "coupler"][k], pole, rtol=1e-9, atol=1e-12)
        relative = crossing(p["A"], p["D"], p["B"], p["C"])
        np.testing.assert_allclose(centres["crank", "rocker"][k], relative, rtol=1e-9, atol=1e-12)
    assert set(shown_centres(m.model(), r)) == {"frame/coupler", "crank/rocker"}


def test_three_bodies_have_their_centres_on_a_line() -> None:
    m = Mechanism.load(EXAMPLES / "watt-six-bar.toml")
    r = m.run([0.03, 0.21])
    centres = instant_centres(m.model(), r)
    names = list(m.model().bodies)
    for a, b, c in combinations(names, 3):
        one, two, three = centres[a, b], centres[a, c], centres[b, c]
        u, v = two - one, three - one
        area = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
        assert np.all(area <= 1e-8 * np.maximum(1e-6, np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)))


def test_what_slides_has_its_centre_at_infinity_and_space_none() -> None:
    m = Mechanism.load(EXAMPLES / "slider-crank.toml")
    r = m.run([0.01, 0.02])
    assert np.isnan(instant_centres(m.model(), r)["frame", "piston"]).all()
    spatial = Mechanism.load(EXAMPLES / "rssr.toml")
    with pytest.raises(InputError, match="is spatial"):
        shown_centres(spatial.model(), r)
