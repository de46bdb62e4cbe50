"""The commands on mechanism files: what they write, what they print, and how they end."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from assurgent import Mechanism
from assurgent.cli.commands import main
from assurgent.motion.results import Results

FOUR_BAR = """format = 1
name = "four-bar"
space = "planar"
[parameters]
omega = 2
[points]
A = [0, 0]
B = [0, 2]
C = [5, 5]
D = [6, 0]
[bodies]
frame  = { points = ["A", "D"] }
crank  = { points = ["A", "B"], length = 2 }
rod    = { points = ["B", "C"], length = 6 }
rocker = { points = ["D", "C"], length = 6 }
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "A" }
B = { type = "R", bodies = ["crank", "rod"], at = "B" }
C = { type = "R", bodies = ["rod", "rocker"], at = "C" }
D = { type = "R", bodies = ["frame", "rocker"], at = "D" }
[drivers]
theta = { joint = "A", angle = "pi/2 + omega*t" }
[simulation]
stop = 1
step = 0.05
"""


@pytest.fixture
def four_bar(tmp_path: Path) -> Path:
    path = tmp_path / "four-bar.toml"
    path.write_text(FOUR_BAR, "utf-8")
    return path


@pytest.mark.parametrize("ending", [".json", ".npz", ".nc"])
def test_run_writes_files_that_read_back_the_same(four_bar: Path, ending: str) -> None:
    target = four_bar.with_suffix(ending)
    assert main(["run", str(four_bar), "-o", str(target)]) == 0
    results = Results.load(target)
    assert len(results.time) == 21
    angle = np.pi / 2 + 2 * results.time
    crank = 2 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    np.testing.assert_allclose(results.points["B"].position, crank, atol=1e-14)
    for body, (p, q) in {"rod": ("B", "C"), "rocker": ("D", "C")}.items():
        way = results.points[q].position - results.points[p].position
        np.testing.assert_allclose(np.linalg.norm(way, axis=1), 6.0, rtol=1e-14, err_msg=body)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_run_writes_tables(four_bar: Path, ending: str) -> None:
    import pandas as pd

    target = four_bar.with_suffix(ending)
    assert main(["run", str(four_bar), "-o", str(target)]) == 0
    table = pd.read_csv(target) if ending == ".csv" else pd.read_parquet(target)
    assert {"t", "B.x", "B.vy", "C.ax", "crank.angle", "rod.omega", "rocker.alpha", "joint.A"} <= set(table.columns)
    np.testing.assert_allclose(table["crank.omega"], 2.0, rtol=1e-14)


def test_settings_and_times(four_bar: Path) -> None:
    target = four_bar.with_suffix(".json")
    options = ["--set", "omega=3", "--at", "0.1,0.7", "--method", "3ot", "-o", str(target)]
    assert main(["run", str(four_bar), *options]) == 0
    result = json.loads(target.read_text("utf-8"))
    assert result["time"] == [0.1, 0.7]
    assert result["method"] == "3ot"
    np.testing.assert_allclose(result["bodies"]["crank"]["angular_velocity"], 3.0, rtol=1e-14)


def test_formulas_and_grid_on_the_command_line(four_bar: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """18 deg in a second, from 0.2 s to 600 ms in steps of 0.2 s."""
    target = four_bar.with_suffix(".json")
    options = ["--set", "omega=18 deg", "--start", "0.2", "--stop", "600 ms", "--step=1/5", "-o", str(target)]
    assert main(["run", str(four_bar), *options]) == 0
    result = json.loads(target.read_text("utf-8"))
    np.testing.assert_allclose(result["time"], [0.2, 0.4, 0.6], rtol=1e-15)
    np.testing.assert_allclose(result["bodies"]["crank"]["angular_velocity"], np.pi / 10, rtol=1e-14)
    assert main(["run", str(four_bar), "--stop", "2", "--at", "1"]) == 2
    assert "--at 1 and --stop: give the times, or the grid" in capsys.readouterr().err
    assert main(["run", str(four_bar), "--set", "omega=18 degs"]) == 2
    assert "after a number stands an operator or a unit" in re.sub(r"\s+", " ", capsys.readouterr().err)


def test_what_was_solved_is_written_where_the_assembly_is_lost(
    four_bar: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a rod of 3.5 the crank cannot come round: |B - D| may not exceed 9.5, nor fall below 2.5 (it falls to 4)."""
    four_bar.write_text(FOUR_BAR.replace('"C"], length = 6 }\nrocker', '"C"], length = 1.5 }\nrocker'), "utf-8")
    target = four_bar.with_suffix(".json")
    assert main(["run", str(four_bar), "-o", str(target)]) == 3
    message = re.sub(r"\s+", " ", capsys.readouterr().err)
    group = r"group RRR_1 \(bodies rocker, rod; joints B, C, D\)"
    assert re.search(group + r" at t = 0\.\d+ s: .* - change a length", message)
    result = json.loads(target.read_text("utf-8"))
    # |B - D|² = 40 - 24 cos θ leaves (6 + 1.5)² at cos θ = -16.25 / 24
    lost = (np.arccos(-16.25 / 24) - np.pi / 2) / 2
    assert result["time"][-1] <= lost < result["time"][-1] + 0.05


def test_nothing_is_written_for_wrong_input(four_bar: Path) -> None:
    four_bar.write_text(FOUR_BAR.replace("omega*t", "omga*t"), "utf-8")
    before = set(four_bar.parent.iterdir())
    assert main(["run", str(four_bar), "-o", str(four_bar.with_suffix(".json"))]) == 2
    assert set(four_bar.parent.iterdir()) == before


MISTAKES = {
    "a misspelt table": ("[drivers]", "[divers]", r"divers.*drivers"),
    "a misspelt body": ('bodies = ["crank", "rod"]', 'bodies = ["crnk", "rod"]', r"crnk.*crank"),
    "an unknown joint kind": ('type = "R", bodies = ["crank"', 'type = "Q", bodies = ["crank"', r"\bQ\b"),
    "a missing point": ("B = [0, 2]\n", "", r"\bB\b"),
    "no driver": ('theta = { joint = "A", angle = "pi/2 + omega*t" }', "", r"driver"),
    "one driver too many": ("[simulation]", 'phi = { joint = "D", angle = "t" }\n[simulation]', r"driver.*phi"),
    "a negative length": ("length = 2", "length = -2", r"length"),
    "a word for a number": ("stop = 1", 'stop = "soon"', r"soon"),
    "a step of zero": ("step = 0.05", "step = 0", r"step"),
    "three numbers in the plane": ("C = [5, 5]", "C = [5, 5, 5]", r"\bC\b"),
    "a hostile power": ("omega = 2", 'omega = "9**9**9"', r"omega"),
    "code instead of a number": ("omega = 2", 'omega = "__import__(1)"', r"omega"),
    "not TOML": ("[points]", "[points", r"TOML|line"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_one_message_and_exit_code_2(
    name: str, four_bar: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new, pattern = MISTAKES[name]
    assert old in FOUR_BAR
    four_bar.write_text(FOUR_BAR.replace(old, new), "utf-8")
    assert main(["run", str(four_bar)]) == 2
    message = re.sub(r"\s+", " ", capsys.readouterr().err)
    assert "four-bar.toml" in message
    assert re.search(pattern, message)
    assert "Traceback" not in message


def test_structure_as_json_and_svg(four_bar: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = four_bar.with_suffix(".svg")
    assert main(["structure", str(four_bar), "--json", "--svg", str(picture)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["mobility"] == 1
    assert [(g["name"], g["bodies"], g["depends_on"]) for g in found["groups"]] == [
        ("R_1", ["crank"], []),
        ("RRR_1", ["rocker", "rod"], ["R_1"]),
    ]
    text = picture.read_text("utf-8")
    assert text.startswith(("<svg", "<?xml"))
    assert "(1, 1)" in text  # one body, one driver
    assert "(2, 0)" in text


def test_plot_and_animations(four_bar: Path) -> None:
    starts = {".png": b"\x89PNG", ".gif": b"GIF8", ".html": b"<!DOCTYPE html>", ".svg": b"<svg"}
    for ending, start in starts.items():
        target = four_bar.parent / f"out{ending}"
        command = "plot" if ending == ".png" else "animate"
        assert main([command, str(four_bar), "-o", str(target)]) == 0
        head = target.read_bytes()[:400]
        assert start.lower() in head.lower(), ending


def test_structure_says_why_it_lists_no_assembly_modes(four_bar: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["structure", str(four_bar)]) == 0
    assert "modes are listed" not in capsys.readouterr().out
    four_bar.write_text(FOUR_BAR.replace("length = 6 }\nrocker", "length = 0.1 }\nrocker"), "utf-8")
    assert main(["structure", str(four_bar)]) == 0
    assert "assembly modes are listed: " in capsys.readouterr().out
    four_bar.write_text(re.sub(r"theta = .*", "", FOUR_BAR), "utf-8")
    assert main(["structure", str(four_bar)]) == 0
    assert "listed: drive what is still free" in re.sub(r"\s+", " ", capsys.readouterr().out)


@pytest.mark.filterwarnings("error")
def test_what_has_no_square_is_printed_without_a_warning(tmp_path: Path) -> None:
    """Lengths of ways and speeds of a cam of 1e300 m, whose rounding alone is 1e284 m."""
    m = Mechanism.load(Path(__file__).parents[2] / "examples" / "cam-follower.toml")
    m.joints["C"]["profile"] = "floor(1e300)"
    m.save(tmp_path / "m.toml")
    assert main(["run", str(tmp_path / "m.toml"), "--jerk"]) == 0
