"""What pictures show of a mechanism: cylinders with their stroke, hulls of bodies, rings, and a scale."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from assurgent import Mechanism, Results, four_bar
from assurgent.mechanism.model import Model
from assurgent.pictures.hulls import faces
from assurgent.pictures.points_of_interest import default_names
from assurgent.pictures.scene import build
from assurgent.pictures.telescopes import lengths

EXAMPLES = Path(__file__).parents[2] / "examples"


def solved(name: str, count: int = 9) -> tuple[Model, Results]:
    m = Mechanism.load(EXAMPLES / f"{name}.toml")
    model = m.model()
    return model, m.run(np.linspace(model.simulation.start, model.simulation.stop, count))


def test_driven_distances_are_cylinders_between_their_points() -> None:
    """The barrel begins at one point, the rod ends at the other, and the two overlap at every instant."""
    model, results = solved("excavator")
    scene = build(model, results)
    for driver in model.drivers.values():
        assert driver.points is not None
        foot, head = (results.points[name].position for name in driver.points)
        (barrel,) = (s for s in scene.shapes if s.body == f" barrel {driver.name}")
        (rod,) = (s for s in scene.shapes if s.body == f" rod {driver.name}")
        for k in range(len(results)):
            way = (head[k] - foot[k]) / np.linalg.norm(head[k] - foot[k])
            near = (scene.poses[barrel.body].place(barrel.outline, k) - foot[k]) @ way
            far = (scene.poses[rod.body].place(rod.outline, k) - foot[k]) @ way
            assert near.min() == pytest.approx(0.0, abs=1e-12)
            assert far.max() == pytest.approx(float(np.linalg.norm(head[k] - foot[k])), rel=1e-12)
            assert 0.0 < far.min() < near.max() < far.max()


def test_a_stewart_platform_stands_on_its_six_legs() -> None:
    model, results = solved("stewart-platform")
    scene = build(model, results)
    feet = {f" barrel {name}" for name in model.drivers}
    assert len(feet) == 6
    assert feet <= {s.body for s in scene.shapes}
    assert {p for d in model.drivers.values() for p in d.points or ()} <= set(scene.marked)


@pytest.mark.parametrize(("least", "most"), [(1.0, 1.0), (1.0, 1.5), (1.0, 1.85)])
def test_barrel_and_rod_reach_both_ends_of_the_stroke(least: float, most: float) -> None:
    barrel, rod = lengths(least, most)
    assert barrel < least
    assert rod < least
    assert barrel + rod > most


def test_the_hull_of_a_body_does_not_depend_on_the_order_of_its_points() -> None:
    cube = np.array(list(itertools.product((0.0, 2.0), repeat=3)))
    rng = np.random.default_rng(7)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    for _ in range(3):
        sides = faces(rng.permutation(cube) @ turn.T + 5.0)
        assert sorted(len(side) for side in sides) == [4] * 6
        areas = [np.linalg.norm(np.cross(s[1] - s[0], s[3] - s[0])) for s in sides]
        np.testing.assert_allclose(areas, 4.0, rtol=1e-9)
    flat = np.array([[0.0, 0, 0], [2, 2, 0], [2, 0, 0], [0, 2, 0], [1, 1, 0]])  # a square in the order of a bow
    (side,) = faces(flat)
    assert len(side) == 4
    np.testing.assert_allclose(np.linalg.norm(side - np.roll(side, 1, axis=0), axis=1), 2.0)
    (line,) = faces(np.array([[1.0, 1, 1], [0, 0, 0], [2, 2, 2]]))
    np.testing.assert_allclose(np.ptp(line, axis=0), 2.0)


def test_an_inside_mesh_is_a_ring() -> None:
    """Of the planetary gear the ring's teeth lie inside its rim, and the planet's pitch circle touches the ring's."""
    model, results = solved("planetary-gear")
    scene = build(model, results)
    rings = [s for s in scene.shapes if s.width == 0.0]
    assert rings
    for ring in rings:
        radii = np.linalg.norm(ring.outline - ring.outline[:96].mean(axis=0), axis=1)
        assert np.ptp(radii[:96]) < 1e-9 * radii[0]
        assert radii[98:].max() < radii[0]


def test_default_points_move_and_are_ends_first() -> None:
    for name in ("four-bar", "jansen-leg", "rssr", "excavator"):
        model, results = solved(name)
        chosen = default_names(results, model)
        assert 1 <= len(chosen) <= (4 if model.dimension == 2 else 2)
        for point in chosen:
            assert np.ptp(results.points[point].position, axis=0).max() > 0
    model, results = solved("excavator")
    assert default_names(results, model)[0] == "T"  # the tip of the bucket
    m = four_bar(4, 1, 3, 3)
    assert default_names(m.run(), m.model()) == ["C"]  # of the rocker, not the crank, which is known beforehand


def test_the_scale_is_a_round_length_that_fits() -> None:
    model, results = solved("four-bar")
    scene = build(model, results)
    length, words = scene.bar
    assert 0.05 * scene.span < length < 0.3 * scene.span
    assert words == f"{length:g} m"
