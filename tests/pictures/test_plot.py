"""Scenes and figures: what is drawn lies where the mechanism is."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from assurgent.common.errors import InputError
from assurgent.pictures.arrows import arrows, round_value
from assurgent.pictures.labels import offsets
from assurgent.pictures.outlines import hull, rounded
from assurgent.pictures.plot import default_names, histories, paths, plot
from assurgent.pictures.scene import build

PLANAR = ["four_bar", "slider_crank", "quick_return", "block_lever", "gear_train", "cam_follower"]


def made(samples, name):
    if name == "rssr":
        model, motions, times = samples.rssr()
        return model, samples.results_of(model, motions, times)
    model = getattr(samples, name)()
    return model, samples.run(model)


def test_hull_of_points_on_a_line_has_two_corners():
    assert len(hull(np.array([[0, 0], [1, 1], [3, 3], [2, 2.0]]))) == 2
    square = np.array([[0, 0], [2, 0], [2, 2], [0, 2], [1, 1.0]])
    assert len(hull(square)) == 4
    # the area of a square grown by r: a² + 4 a r + π r², a little less for arcs made of chords
    x, y = rounded(square, 0.5).T
    area = 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
    assert area == pytest.approx(4 + 4 + np.pi / 4, rel=0.01)


@pytest.mark.parametrize("name", [*PLANAR, "rssr"])
def test_points_of_the_scene_are_those_of_the_results_and_within_its_limits(samples, name):
    model, results = made(samples, name)
    scene = build(model, results)
    for point in scene.marked:
        path = scene.path(point)
        np.testing.assert_allclose(path, results.points[point].position, atol=1e-9 * scene.span)
        assert np.all(path >= scene.low)
        assert np.all(path <= scene.high)
    assert set(scene.colours) == set(model.bodies)
    moving = [scene.colours[b] for b in model.movable]
    assert len(set(moving)) == len(moving)


def test_gear_wheels_touch_at_their_pitch_circles(samples):
    model, results = made(samples, "gear_train")
    circles = [s for s in build(model, results).shapes if s.dashed]
    radii = {s.body: np.ptp(s.outline[:, 0]) / 2 for s in circles}
    assert radii["pinion"] + radii["wheel"] == pytest.approx(3.0, rel=1e-12)
    assert radii["pinion"] / radii["wheel"] == pytest.approx(0.5, rel=1e-12)


def test_roller_touches_the_cam_it_is_drawn_with(samples):
    model, results = made(samples, "cam_follower")
    scene = build(model, results)
    cam = next(s for s in scene.shapes if s.body == "cam")
    centre = results.points["F"].position
    for k in (0, 20, 50):
        gap = np.min(np.linalg.norm(scene.poses["cam"].place(cam.outline, k) - centre[k], axis=1))
        assert gap == pytest.approx(0.25, abs=0.02)  # on the line to the centre, where this cam is nearly nearest


def test_names_keep_clear_of_each_other(samples):
    model, results = made(samples, "four_bar")
    scene = build(model, results)
    height = 0.03 * scene.span
    found = offsets(scene, list(scene.marked), height, [0])
    middles = {n: scene.path(n)[0] + found[n] for n in scene.marked}
    for a in middles:
        for b in middles:
            if a < b:
                assert np.any(np.abs(middles[a] - middles[b]) > 0.9 * height)


@pytest.mark.parametrize("name", [*PLANAR, "rssr"])
def test_figures_are_drawn(samples, name):
    model, results = made(samples, name)
    for figure in (plot(results, model), paths(results, model, vectors=("velocity", "acceleration"))):
        figure.set_dpi(40)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        assert len(np.unique(np.asarray(canvas.buffer_rgba()).reshape(-1, 4), axis=0)) > 20


def test_histories_show_the_curves_of_the_results(samples):
    _, results = made(samples, "slider_crank")
    figure = histories(results, ["C", "rod", "guide"])
    curves = {(ax.get_ylabel(), line.get_label()): line.get_ydata() for ax in figure.axes for line in ax.lines}
    np.testing.assert_array_equal(curves["position\nm", "C x"], results.points["C"].position[:, 0])
    np.testing.assert_array_equal(curves["angular velocity\nrad/s", "rod"], results.bodies["rod"].angular_velocity)
    np.testing.assert_array_equal(curves["velocity\nm/s", "guide"], results.joints["guide"].rate)
    with pytest.raises(InputError, match=r"'guid' is no point, body, joint or driver.*did you mean 'guide'"):
        histories(results, ["guid"])


def test_paths_worth_showing_are_no_circles(samples):
    model, results = made(samples, "four_bar")
    assert default_names(results, model) == ["P"]


def test_arrows_are_to_the_scale_of_their_legend(samples):
    model, results = made(samples, "four_bar")
    scene = build(model, results)
    (drawn,) = arrows(scene, results, ["velocity"], ["B", "P"])
    speed = np.linalg.norm(results.points["B"].velocity, axis=1)
    length = np.linalg.norm(drawn.vectors[:, 0], axis=1)
    np.testing.assert_allclose(length / drawn.length, speed / drawn.reference, rtol=1e-12)
    assert drawn.legend == "velocity, 50 m/s"
    assert [round_value(x) for x in (1.0, 3.0, 0.07, 999.0)] == pytest.approx([1, 2, 0.05, 500])
    with pytest.raises(InputError, match=r"'velocty' is not known.*did you mean 'velocity'"):
        arrows(scene, results, ["velocty"], ["B"])
