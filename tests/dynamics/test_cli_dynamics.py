"""The commands of dynamics from the command line: files, messages, exit codes."""

import json

import pytest

from assurgent.cli.commands import main


@pytest.fixture
def file(mechanisms, tmp_path):
    path = tmp_path / "four-bar.toml"
    path.write_text(mechanisms.RELEASED)
    return path


def test_simulate_writes_a_result(file, tmp_path):
    target = tmp_path / "out.json"
    assert main(["simulate", str(file), "--at", "0,0.1", "-o", str(target)]) == 0
    found = json.loads(target.read_text())
    assert found["method"] == "partition"
    assert found["time"] == [0, 0.1]
    assert set(found["criterion"]) == {"A", "B", "D"}
    assert found["independent"] == [["A"], ["A"]]
    assert {"kinetic", "potential", "total"} == set(found["energy"])
    assert len(found["reactions"]["A"]["force"]) == 2
    assert {"cut", "energy_drift", "coordinate_changes", "evaluations"} <= set(found["diagnostics"])


def test_fixed_steps_on_request(file, tmp_path, capsys):
    target = tmp_path / "out.json"
    assert main(["simulate", str(file), "--at", "0,0.1", "--fixed-step", "0.003", "-o", str(target)]) == 0
    assert json.loads(target.read_text())["diagnostics"]["steps"] == 34  # 0.1 s in equal steps of at most 0.003
    assert main(["simulate", str(file), "--at", "0,0.1", "--fixed-step", "0"]) == 2
    assert "--fixed-step = 0.0 must be positive" in " ".join(capsys.readouterr().err.split())


def test_bifurcation_ends_with_its_own_exit_code(mechanisms, tmp_path, capsys):
    path, target = tmp_path / "w.toml", tmp_path / "out.json"
    path.write_text(mechanisms.windows(1))
    code = main(["simulate", str(path), "--at", "0,0.2,3", "--stop-at-bifurcation", "-o", str(target)])
    assert code == 3
    assert json.loads(target.read_text())["time"] == [0, 0.2]  # what was solved is kept
    assert "bifurcation" in " ".join(capsys.readouterr().err.split())


def test_inverse_and_equilibrium_speak(mechanisms, tmp_path, capsys):
    path = tmp_path / "p.toml"
    path.write_text(mechanisms.PENDULUM + '[drivers]\nq = { joint = "O", angle = "t - pi/2" }\n')
    assert main(["inverse", str(path), "--at", "0,0.5"]) == 0
    assert "power balance" in " ".join(capsys.readouterr().out.split())
    path.write_text(mechanisms.PENDULUM)
    assert main(["equilibrium", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stable"] is True
    assert main(["inverse", str(path)]) == 2  # no driver
