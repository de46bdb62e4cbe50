"""A first hour: new, examples, linkages by their lengths, and a class-room script of ten commands."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from assurgent import Mechanism, four_bar, slider_crank
from assurgent.cli.commands import main


def test_new_writes_a_file_that_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    assert main(["new", "slider-crank", str(path)]) == 0
    assert Mechanism.load(path).name == "mine"
    assert path.read_text("utf-8").startswith("# ")
    assert len(Mechanism.load(path).run([0.0, 0.1])) == 2
    before = path.read_bytes()
    assert main(["new", "four-bar", str(path)]) == 2
    assert path.read_bytes() == before
    assert main(["new", "forbar", str(tmp_path / "x.toml")]) == 2
    assert "did you mean 'four-bar'?" in capsys.readouterr().err


def test_examples_are_listed_and_copied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["examples"]) == 0
    assert "quick-return" in capsys.readouterr().out
    assert main(["examples", "--copy", str(tmp_path / "all")]) == 0
    copied = sorted(path.stem for path in (tmp_path / "all").glob("*.toml"))
    assert copied == sorted(path.stem for path in (Path(__file__).parents[1] / "examples").glob("*.toml"))
    assert main(["examples", "--copy", str(tmp_path / "all")]) == 2


def test_a_four_bar_from_its_lengths() -> None:
    """The closure A-B-C-D, and Freudenstein's equation between crank and rocker."""
    m = four_bar(ground="400 mm", crank=0.1, coupler=0.3, rocker=0.25, point=[0.15, 0.05])
    found = m.run()
    for p, q, length in (("A", "B", 0.1), ("B", "C", 0.3), ("C", "D", 0.25), ("A", "D", 0.4)):
        way = found.points[q].position - found.points[p].position
        np.testing.assert_allclose(np.linalg.norm(way, axis=1), length, rtol=1e-13)
    g, a, b, c = 0.4, 0.1, 0.3, 0.25
    theta, psi = found.bodies["crank"].angle, found.bodies["rocker"].angle
    left = g / a * np.cos(psi) - g / c * np.cos(theta) + (g * g + a * a - b * b + c * c) / (2 * a * c)
    np.testing.assert_allclose(left, np.cos(theta - psi), atol=1e-12)
    crossed = four_bar(0.4, 0.1, 0.3, 0.25, crossed=True).run()
    np.testing.assert_allclose(crossed.points["C"].position[0], found.points["C"].position[0] * [1, -1], atol=1e-13)


def test_a_slider_crank_from_its_lengths() -> None:
    found = slider_crank("50 mm", "200 mm", offset="20 mm", speed="1500 rpm").run()
    angle = found.bodies["crank"].angle
    x = 0.05 * np.cos(angle) + np.sqrt(0.2**2 - (0.02 - 0.05 * np.sin(angle)) ** 2)
    np.testing.assert_allclose(found.points["B"].position, np.stack([x, np.full_like(x, 0.02)], axis=1), atol=1e-13)
    np.testing.assert_allclose(found.bodies["crank"].angular_velocity, 50 * np.pi, rtol=1e-13)


def test_the_class_room_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten commands, as the page has them; the first installs what is being tested."""
    page = (Path(__file__).parents[1] / "docs" / "class-room.md").read_text("utf-8")
    commands = [line.strip() for line in page.splitlines() if line.startswith("    ")]
    assert len(commands) == 10
    assert commands[0] == "pip install assurgent"
    monkeypatch.chdir(tmp_path)
    for command in commands[1:]:
        words = shlex.split(command)
        assert words[0] == "assurgent"
        assert main(words[1:]) == 0, command
        if "-o" in words:
            assert (tmp_path / words[words.index("-o") + 1]).stat().st_size > 1000
    assert "crank-rocker" in capsys.readouterr().out


def test_analyse_finds_the_limits_of_a_crank_rocker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rocker turns back where crank and coupler are in line; the transmission angle is least by the cosine law."""
    g, a, b, c = 0.4, 0.1, 0.3, 0.25
    four_bar(g, a, b, c).save(tmp_path / "m.toml")
    assert main(["analyse", str(tmp_path / "m.toml"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    ends = [np.pi - np.arccos((g * g + c * c - r * r) / (2 * g * c)) for r in (b + a, b - a)]
    values = sorted(r["value"] for r in found["limits"]["D"]["reversals"])
    np.testing.assert_allclose(values, sorted(ends), atol=1e-6)
    assert found["limits"]["A"]["whole_turns"]
    # the angle between coupler and rocker at the two positions where the crank lies along the frame
    mu = [np.arccos((b * b + c * c - d * d) / (2 * b * c)) for d in (g - a, g + a)]
    least = min(min(m, np.pi - m) for m in mu)
    assert min(found["transmission"]["RRR_1"]["angle"]) == pytest.approx(least, abs=1e-9)
    # power in is power out: the advantage is the inverse of the rocker's rate over the crank's
    run = Mechanism.load(tmp_path / "m.toml").run(found["time"])
    ratio = run.joints["A"].rate / run.joints["D"].rate
    mine = np.array([np.inf if x is None else x for x in found["mechanical_advantage"]["D"]])
    np.testing.assert_allclose(mine[np.abs(mine) < 1e3], ratio[np.abs(mine) < 1e3], rtol=1e-9)
