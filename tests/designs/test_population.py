"""Many linkages of different structure in one call, against circles cut in NumPy and against single mechanisms."""

from __future__ import annotations

import numpy as np
import pytest

import assurgent
from assurgent import InputError, Mechanism
from assurgent.designs.population import Linkage, random_linkages
from assurgent.runtime.streaming import WORTH

TURN = np.linspace(0, 2 * np.pi, 50)


def circles_cut(one: Linkage, turn: np.ndarray) -> np.ndarray:
    """Positions (joint, time) as complex numbers: every joint where two circles meet, on the side where it began."""
    z = one.places[:, 0] + 1j * one.places[:, 1]
    found = np.empty((len(z), len(turn)), dtype=complex)
    for j, tie in enumerate(one.ties):
        if j == one.crank:
            found[j] = z[one.motor] + (z[j] - z[one.motor]) * np.exp(1j * turn)
        elif tie is None:
            found[j] = z[j]
        else:
            a, b = tie
            way = found[b] - found[a]
            la, lb = abs(z[j] - z[a]), abs(z[j] - z[b])
            along = (la**2 - lb**2 + abs(way) ** 2) / (2 * abs(way))
            height = np.sqrt(la**2 - along**2)
            side = 1 if ((z[b] - z[a]).conjugate() * (z[j] - z[a])).imag >= 0 else -1
            found[j] = found[a] + way / abs(way) * (along + 1j * side * height)
    return found


def test_random_linkages_agree_with_circles() -> None:
    linkages = random_linkages(200, 12, np.random.default_rng(1))
    found = assurgent.batch(linkages, TURN)
    with np.errstate(invalid="ignore"):
        expected = np.stack([circles_cut(one, TURN) for one in linkages])
    whole = np.isfinite(expected).all(axis=(1, 2))
    assert 10 < whole.sum() < 190
    assert (found.whole == whole).all()
    z = found.positions[..., 0] + 1j * found.positions[..., 1]
    assert np.abs(z[whole] - expected[whole]).max() < 1e-9  # some come near to a line


def test_a_linkage_is_the_mechanism_of_its_file() -> None:
    one = Linkage(np.array([[0.0, 0], [0.12, 0], [0.5, 0.1], [0.3, 0.4]]), [None, None, None, (1, 2)])
    m = Mechanism()
    for name, place in zip("ABDC", one.places.tolist(), strict=True):
        m.point(name, place)
    for name, points in {"frame": "AD", "crank": "AB", "rod": "BC", "rocker": "DC"}.items():
        m.body(name, list(points))
    for name, pair in {"A": "frame crank", "B": "crank rod", "C": "rod rocker", "D": "frame rocker"}.items():
        m.joint(name, "R", pair.split(), at=name)
    m.driver("theta", joint="A", angle="t")
    points = m.run(TURN).points
    found = assurgent.batch([one], TURN)
    assert found.whole.all()
    for j, name in enumerate("ABDC"):
        assert found.positions[0, j] == pytest.approx(points[name].position, abs=1e-13)


def test_linkages_of_different_sizes() -> None:
    linkages = [random_linkages(1, n, np.random.default_rng(n))[0] for n in (4, 9, 6)]
    found = assurgent.batch(linkages, TURN)
    assert found.positions.shape == (3, 9, 50, 2)
    assert np.isnan(found.positions[0, 4:]).all()


def test_wrong_linkages_are_named() -> None:
    with pytest.raises(InputError, match="linkage 0: joint 3 is linked"):
        assurgent.batch([Linkage(np.zeros((4, 2)), [None, None, None, (3, 1)])], TURN)
    with pytest.raises(InputError, match="no linkages"):
        assurgent.batch([], TURN)


def test_a_result_that_is_held_is_not_overwritten() -> None:
    """Room is used again only where nobody holds what stands in it."""
    turn = np.linspace(0.0, 2 * np.pi, 50)
    first, second = (random_linkages(5, 8, np.random.default_rng(k)) for k in (1, 2))
    held = assurgent.batch(first, turn).positions
    kept = held.copy()
    part = assurgent.batch(second, turn).positions[2, 3]
    beside = part.copy()
    assurgent.batch(first, turn)
    assert np.array_equal(held, kept, equal_nan=True)
    assert np.array_equal(part, beside, equal_nan=True)
    assert np.array_equal(assurgent.batch(first, turn).positions, kept, equal_nan=True)


@pytest.mark.parametrize("instants", [200, 203])
def test_a_population_larger_than_the_caches_is_that_of_its_parts(instants: int) -> None:
    """What is written past the caches has the bits of what is not, where lines of the cache are whole and where not."""
    linkages = random_linkages(150, 15, np.random.default_rng(5))
    turn = np.linspace(0.0, 2 * np.pi, instants)
    found = assurgent.batch(linkages, turn)
    assert found.positions.nbytes > WORTH
    for a in range(0, len(linkages), 30):
        part = assurgent.batch(linkages[a : a + 30], turn)
        assert part.positions.nbytes < WORTH
        assert np.array_equal(part.positions, found.positions[a : a + 30], equal_nan=True)
        assert (part.whole == found.whole[a : a + 30]).all()
