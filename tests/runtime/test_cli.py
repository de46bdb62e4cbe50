"""The command line: what it prints, its exit codes, and no traceback for a user's mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assurgent.runtime.cli import main


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSURGENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ASSURGENT_DATA", str(tmp_path / "data"))


def test_types_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["types", "--json"]) == 0
    names = [t["name"] for t in json.loads(capsys.readouterr().out)]
    assert {"R", "P", "1R", "RRR", "RRP", "RPR", "PRP", "RPP", "triad-6R", "RR[P]R", "1R3D", "2E1P", "RSSR"} <= set(
        names
    )


def test_types_as_table_shows_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["types"]) == 0
    assert "RR[P]R" in capsys.readouterr().out


def test_show_prints_equations_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "RRR"]) == 0
    text = capsys.readouterr().out
    assert "Φ_φ (Eq. 19b)" in text
    assert "a line meets a quadric" in text
    assert main(["show", "3R", "--latex"]) == 0
    latex = capsys.readouterr().out
    assert r"\dot{x}_{C}" in latex
    assert all(line.startswith(("%", "\\")) for line in latex.splitlines() if line.strip())
    assert main(["show", "RRR", "--source"]) == 0
    assert "def position_at(" in capsys.readouterr().out


def test_verify_as_json_and_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "RRR", "-n", "2", "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert result["type"] == "RRR"
    assert result["passed"] is True
    assert 0 < result["errors"]["position (closed)"]["independent"] < 1e-12
    assert main(["verify", "RRR", "-n", "2", "--bound", "1e-30"]) == 1
    assert "FAILED" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required"),
        (["genrate", "x.toml"], "did you mean 'generate'"),
        (["show", "RRX"], "did you mean 'RRR'"),
        (["verify", "RRQ"], "there is no group type 'RRQ'"),
        (["verify", "-n", "0"], "whole number from 1"),
        (["verify", "--bound", "-1"], "positive number"),
        (["generate", "missing.toml"], "cannot be read"),
        (["show"], "TYPE"),
    ],
)
def test_a_wrong_call_ends_with_one_message(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_a_wrong_specification_names_file_line_and_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'format = 1\nname = "mine"\nspace = "planar"\n[dependent]\nC = "point"\n[independent]\nA = "point"\n'
        '[parameters]\nL = "length"\n[constraints]\nbar = "|C - A|^2 = L2^2"\n'
    )
    assert main(["generate", str(path)]) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert "mine.toml:11:" in error
    assert "unknown symbol 'L2'" in error
    assert "Declare it" in error
