"""Animations: the frames that are shown, and files of four kinds."""

import json
import re
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from assurgent.common.errors import InputError
from assurgent.pictures import animate as module
from assurgent.pictures.animate import animate, plan


@pytest.fixture(scope="module")
def four_bar(samples):
    model = samples.four_bar()
    return model, samples.run(model)


@pytest.fixture(scope="module")
def rssr(samples):
    model, motions, times = samples.rssr()
    return model, samples.results_of(model, motions, times)


def test_frames_are_even_in_time(four_bar):
    film = plan(*four_bar, fps=10, seconds=3)
    times = four_bar[1].time[list(film.steps)]
    assert len(times) == 30
    assert times[0] == 0
    assert times[-1] == four_bar[1].time[-1]
    # the nearest solved instants: at most half a step off
    np.testing.assert_allclose(times, np.linspace(0, 0.18, 30), atol=0.0015 / 2 + 1e-12)


def test_a_traced_point_may_be_named_as_one(four_bar):
    assert plan(*four_bar, trace=["point.C"]).traces == plan(*four_bar, trace=["C"]).traces == ("C",)


def test_a_run_of_many_turns_shows_two(samples):
    model = samples.four_bar()
    t = np.linspace(0, 10 * 2 * np.pi / 34.96, 601)
    results = samples.results_of(model, samples.motions_of(model, t), t)
    film = plan(model, results)
    assert t[film.steps[-1]] == pytest.approx(2 * 2 * np.pi / 34.96, abs=2 * (t[1] - t[0]))
    whole = plan(model, results, stop=float(t[-1]))
    assert whole.steps[-1] == 600
    with pytest.raises(InputError, match="stop = 99 is outside the run"):
        plan(model, results, stop=99)


def test_gif_has_the_frames_and_a_white_paper(tmp_path, four_bar):
    path = animate(*four_bar, tmp_path / "x.gif", fps=10, seconds=1, vectors=("velocity",))
    with Image.open(path) as image:
        assert image.n_frames == 10
        assert image.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
    assert [p.name for p in tmp_path.iterdir()] == ["x.gif"]


@pytest.mark.parametrize("name", ["four-bar", "a name that leaves no room beside it for the time", "long " * 40])
def test_name_and_time_keep_apart(four_bar, name):
    """The name ends before the time begins, or stands above it; both stay within the picture."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    model, results = four_bar
    film = plan(model, results, fps=5, seconds=1)
    film = replace(film, scene=replace(film.scene, name=name))
    figure = Figure(figsize=(3.52, 6.4), dpi=module.PIXELS)
    FigureCanvasAgg(figure)
    title = figure.text(0.02, 1.0, name, fontsize=11, fontweight="bold", va="center")
    clock = figure.text(0.98, 1.0, "", fontsize=9, ha="right", va="center", family="monospace")
    band = module._head(film, title, clock, 6.4)
    one, two = title.get_window_extent(), clock.get_window_extent()
    assert one.x1 < two.x0 or one.y0 > two.y1
    for box in (one, two):
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.width
        assert (1 - band) * figure.bbox.height <= box.y0
        assert box.y1 <= figure.bbox.height


def test_film_is_written_by_ffmpeg(tmp_path, rssr):
    try:
        module.ffmpeg()
    except InputError:
        pytest.skip("ffmpeg is not there")
    path = animate(*rssr, tmp_path / "x.mp4", fps=5, seconds=1)
    assert path.read_bytes()[4:8] == b"ftyp"


def test_without_ffmpeg_the_remedy_is_named(tmp_path, four_bar, monkeypatch):
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(InputError, match=r"pip install imageio-ffmpeg.*\.gif, \.html or \.svg"):
        animate(*four_bar, tmp_path / "x.mp4")
    assert list(tmp_path.iterdir()) == []


def test_page_holds_the_motion_and_needs_no_network(tmp_path, four_bar):
    model, results = four_bar
    text = animate(model, results, tmp_path / "x.html", fps=10, seconds=2, vectors=("acceleration",)).read_text("utf-8")
    assert not re.search(r"(src|href)\s*=|https?://|@import|fetch\(|XMLHttpRequest", text)
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)[1])
    film = plan(model, results, fps=10, seconds=2)
    crank = data["bodies"]["crank"]["axes"]
    angle = results.bodies["crank"].angle[list(film.steps)]
    np.testing.assert_allclose(crank, np.stack([np.cos(angle), np.sin(angle)], axis=1), atol=1e-6)  # six places kept
    assert len(data["arrows"][0]["vectors"]) == len(film.steps)


def test_names_reach_the_page_and_the_svg_as_text_only(tmp_path, four_bar):
    model, results = four_bar
    evil = '</script><script>alert("@DATA@")</script> & \u2028'
    model = replace(model, name=evil)
    text = animate(model, results, tmp_path / "x.html", fps=5, seconds=1).read_text("utf-8")
    assert "<script>alert" not in text
    assert text.count("</script>") == 2
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)[1])
    assert data["name"] == evil
    root = ET.parse(animate(model, results, tmp_path / "x.svg", fps=5, seconds=1)).getroot()
    assert root.findtext("{http://www.w3.org/2000/svg}title").startswith("</script>")


@pytest.mark.parametrize("which", ["four_bar", "rssr"])
def test_svg_is_well_formed_and_moves(tmp_path, which, request):
    model, results = request.getfixturevalue(which)
    path = animate(model, results, tmp_path / "x.svg", fps=10, seconds=1, vectors=("velocity", "acceleration"))
    root = ET.parse(path).getroot()
    moving = [e for e in root.iter() if e.tag.endswith(("animate", "animateTransform"))]
    assert moving
    assert {len(e.get("values").split(";")) for e in moving} == {10}
    assert "nan" not in path.read_text("utf-8")


def test_a_planar_svg_turns_the_crank_by_its_angle(tmp_path, four_bar):
    model, results = four_bar
    root = ET.parse(animate(model, results, tmp_path / "x.svg", fps=10, seconds=1)).getroot()
    turns = [[float(x) for x in e.get("values").split(";")] for e in root.iter() if e.get("type") == "rotate"]
    angle = -np.degrees(results.bodies["crank"].angle[list(plan(model, results, fps=10, seconds=1).steps)])
    # two decimals are kept
    assert any(np.allclose(np.array(turn) - turn[0], angle - angle[0], atol=0.011) for turn in turns)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trace": ["Q"]}, "trace 'Q' is no point"),
        ({"fps": 0}, "^animation: fps = 0 must be positive$"),
        ({"seconds": -1}, "^animation: seconds = -1 must be positive$"),
        ({"vectors": ("speed",)}, "'speed' is not known"),
        ({"start": -1}, "outside the run"),
    ],
)
def test_wrong_wishes_are_refused(tmp_path, four_bar, options, message):
    with pytest.raises(InputError, match=message):
        animate(*four_bar, tmp_path / "x.svg", **options)
    assert list(tmp_path.iterdir()) == []


def test_unknown_ending_names_the_known_ones(tmp_path, four_bar):
    with pytest.raises(InputError, match=r"\.gif \.mp4 \.html \.svg"):
        animate(*four_bar, tmp_path / "x.avi")
