"""The command line: what it prints, its exit codes, and no traceback for a user's mistake."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assurgent.cli.commands import main
from assurgent.runtime import library
from assurgent.runtime.store import Store


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


def own_type(name: str) -> Path:
    """Put a type into the library as the generator does, with a module that nothing here imports; return its folder."""
    store, module = Store(), name.lower()
    text = f'format = 1\nname = "{name}"\naliases = ["{name}-too"]\ntitle = "what {name} is"\nspace = "spatial"\n'
    with store.lock(module):
        return store.publish(store.stage(module, "", text), name, module, "0" * 16).folder


def test_types_lists_own_types_by_their_specifications(capsys: pytest.CaptureFixture[str]) -> None:
    """Title, aliases and space of an own type are shown; a damaged one is named and the others still listed."""
    own_type("Mine")
    record = own_type("Broken") / "record.json"
    record.write_text("{}", "utf-8")
    assert main(["types", "--json"]) == 0
    captured = capsys.readouterr()
    mine = [t for t in json.loads(captured.out) if t["own"]]
    assert mine == [{"name": "Mine", "aliases": ["Mine-too"], "space": "spatial", "title": "what Mine is", "own": True}]
    (line,) = captured.err.splitlines()
    assert line.startswith("your type 'broken' is damaged and left out: ")
    assert str(record) in line
    assert "assurgent generate SPEC" in line
    assert main(["types"]) == 0
    assert "what Mine is (your own)" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("command", [["verify", "-n", "1"], ["bench", "--types", "--lanes", "4"]])
def test_a_damaged_type_does_not_stop_the_others(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without names, what can be loaded is checked or timed; the rest is named, and the exit code is not 0."""
    (own_type("Broken") / "record.json").unlink()
    (own_type("Wrong") / "wrong.py").write_text("altered", "utf-8")  # its specification has no constraints
    monkeypatch.setattr(library, "names", lambda: ("Wrong", "RRR"))
    assert main(command) == 1
    captured = capsys.readouterr()
    assert "RRR" in captured.out
    assert "your type 'broken' is damaged and left out: " in captured.err
    assert "Wrong is left out: " in captured.err
    assert "Traceback" not in captured.err


def test_show_prints_every_index_alike(capsys: pytest.CaptureFixture[str]) -> None:
    """There is no letter for a small y below the line, so u_x stands beside u_y."""
    assert main(["show", "RRP"]) == 0
    text = capsys.readouterr().out
    assert "u_x  u_y" in text
    assert "ₓ" not in text


def test_show_on_a_terminal_without_greek() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "assurgent", "show", "RRR"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode("ascii")
    assert "Phi_phi (Eq. 19b)" in text
    assert "x_C_dot" in text
    assert "?" not in text


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
        (["verify", "RRR", "--at", "0,1"], "--at is for a mechanism file"),
        (["verify", "--set", "a=1"], "--set is for a mechanism file"),
        (["verify", "RRR", "--plot", "x.png"], "--plot is for a mechanism file"),
        (["verify", "four-bar.toml", "-n", "5"], "-n is for types"),
        (["generate", "missing.toml"], "cannot be read: No such file or directory - give the path"),
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
