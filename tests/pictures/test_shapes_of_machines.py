"""What pictures show of a mechanism: cylinders with their stroke, hulls of bodies, rings, and a scale."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from assurgent import Mechanism, Results, four_bar
from assurgent.mechanism.model import FRAME, Model
from assurgent.pictures.draw import _space
from assurgent.pictures.hulls import faces
from assurgent.pictures.outlines import hull
from assurgent.pictures.points_of_interest import default_names
from assurgent.pictures.scene import build
from assurgent.pictures.shapes import PAPER
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


def test_a_slot_is_cut_out_of_its_body() -> None:
    """Every corner of the slot lies inside the plate, which also holds the body's own points, under what runs in it."""
    model, results = solved("scissor-lift")
    scene = build(model, results)
    slots = [j for j in model.joints.values() if j.kind == "slot" and j.first != FRAME]
    assert slots
    for slot in slots:
        plate, window = (s for s in scene.shapes if s.body == slot.first)
        assert window.fill == PAPER
        assert plate.layer == window.layer < min(s.layer for s in scene.shapes if s.body == slot.second)
        inside = hull(plate.outline)
        for place in (*window.outline, *model.bodies[slot.first].points.values()):
            grown = hull(np.concatenate([inside, place[None]]))
            assert {tuple(p) for p in grown} == {tuple(p) for p in inside}


def test_both_bearings_of_a_hinge_stand_on_the_ground() -> None:
    """A point of the frame on a hinge's axis, where its body has one, is a bearing, too; E without one is not."""
    m = Mechanism("arm", space="spatial")
    for name, place in {"A": (0, 0, 0), "B": (1, 0, 0), "B2": (1, 0, 0), "C": (0.5, 1, 0), "E": (2, 0, 0)}.items():
        m.point(name, place)
    m.body("frame", ["A", "B", "E"])
    m.body("arm", ["A", "B2", "C"])
    m.joint("A", "R", ("frame", "arm"), at="A", axis=(1, 0, 0))
    m.driver("turn", joint="A", angle="t")
    scene = build(m.model(), m.run([0.0, 0.1]))
    tops = {tuple(s.outline[0]) for s in scene.shapes if s.body == FRAME and len(s.outline) == 2 and s.layer == 0}
    assert tops == {(0, 0, 0), (1, 0, 0)}


def test_ends_of_cylinders_are_not_what_a_designer_looks_at() -> None:
    """A barrel's far end E traces a path, but the bucket's tip T is what counts."""
    m = Mechanism("digger")
    for name, place in {"O": (0, 0), "P": (2, 1), "T": (3, 0.5), "Q": (1, -1), "E": (1.4, -0.2)}.items():
        m.point(name, place)
    m.body("frame", ["O", "Q"])
    m.body("boom", ["O", "P", "T"])
    m.body("barrel", ["Q", "E"])
    m.body("rod", ["P"])
    m.joint("O", "R", ("frame", "boom"), at="O")
    m.joint("Q", "R", ("frame", "barrel"), at="Q")
    m.joint("P", "R", ("rod", "boom"), at="P")
    m.joint("C", "P", ("barrel", "rod"), at="P", through="Q", axis=(1, 2))
    m.driver("lift", joint="C", displacement="sqrt(5) + 0.2*t")
    assert default_names(m.run([0.0, 0.5, 1.0]), m.model()) == ["T"]


@pytest.mark.parametrize("size", [(1.0, 1.0, 1.0), (5.0, 1.0, 0.2), (0.2, 0.2, 3.0)])
def test_axes_in_space_leave_room_for_their_numbers(size: tuple[float, float, float]) -> None:
    """Numbers and titles of the three axes stay within the drawing's half of a figure."""
    figure = Figure(figsize=(11.5, 5.5))
    left, _ = figure.subfigures(1, 2)
    ax = left.add_subplot(projection="3d")
    _space(ax, np.zeros(3), np.array(size))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        box = axis.get_tightbbox(renderer)
        assert left.bbox.x0 <= box.x0 < box.x1 <= left.bbox.x1
        assert left.bbox.y0 <= box.y0 < box.y1 <= left.bbox.y1
