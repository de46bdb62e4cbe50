"""The graph-analytical method of the paper, step by step, beside the matching."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assurgent.cli.commands import main
from assurgent.mechanism.analysis_steps import analysis, described, structural_pairs
from assurgent.mechanism.plans.planning import study
from assurgent.mechanism.reader import load

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda p: p.stem)
def test_both_find_the_same_groups(path: Path) -> None:
    model = load(path, {})
    structure = study(model)
    steps = analysis(model, structure)
    assert sorted(s.group for s in steps) == sorted(g.name for g in structure.groups)
    for step in steps:
        assert step.skipped or step.tried[-1].is_group
        assert not any(chain.is_group for chain in step.tried[:-1])


def test_the_four_bar_as_in_figure_3() -> None:
    """Section 3.2: {4} has L_th = 1 and P = 1, {2} L_th = 0, and {3, 4} L_th = 3, P = 3, N_m = 2."""
    model = load(EXAMPLES / "four-bar.toml", {})
    structure = study(model)
    first, second = analysis(model, structure)
    assert first.candidates == ("crank", "rocker")
    assert [(c.bodies, c.L_th, c.P, c.right) for c in first.tried] == [(("crank",), 0, 1, 0)]
    assert [(c.S_c, c.n_c) for c in first.tried] == [(1, 1)]  # Eq. 12: its one freedom is driven
    assert [(c.bodies, c.L_th, c.P, c.right) for c in second.tried] == [
        (("coupler",), 1, 1, 0),
        (("rocker",), 1, 1, 0),
        (("coupler", "rocker"), 3, 3, 3),
    ]
    assert {(p.name, p.degree, p.driven) for p in structural_pairs(model, structure)} == {
        ("A", 1, 1), ("B", 1, 0), ("C", 1, 0), ("D", 1, 0),
    }  # fmt: skip
    assert "the frame is isolated" in described([first, second], structure)[0]


def test_steps_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(EXAMPLES / "jansen-leg.toml")
    assert main(["structure", file, "--steps"]) == 0
    text = capsys.readouterr().out
    assert "L_th = 0 = 3(1 - 1) = 0: a structural group" in text
    assert main(["structure", file, "--steps", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["steps"][0]["matching"] == "R_1"
    assert found["steps"][0]["chains"][-1]["group"] is True
    picture = tmp_path / "graph.svg"
    assert main(["structure", file, "--steps", "--svg", str(picture)]) == 0
    drawn = picture.read_text("utf-8")
    assert "Structural graph" in drawn
    assert "Structural diagram" in drawn


def test_what_is_not_determined_ends_the_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (EXAMPLES / "four-bar.toml").read_text("utf-8").partition("[drivers]")
    path = tmp_path / "free.toml"
    path.write_text(text[0])
    assert main(["structure", str(path), "--steps"]) == 0
    assert "not determined by count" in capsys.readouterr().out
