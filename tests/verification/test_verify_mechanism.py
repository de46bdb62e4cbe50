"""`verify FILE` and `compare FILE`: passes on sound mechanisms, fails where one sign of a type is altered."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import assurgent
from assurgent.cli.commands import main
from assurgent.mechanism.reader import load
from assurgent.runtime.group_type import GroupType
from assurgent.runtime.library import package_folder
from assurgent.runtime.library_build import as_plain_python
from assurgent.runtime.program import GroupStep
from assurgent.verification import verify_mechanism as checked
from assurgent.verification.comparison import compare

EXAMPLES = Path(__file__).parents[2] / "examples"
QUANTITIES = {
    "position", "velocity", "acceleration", "Phi", "Phi_phi", "Phi_h", "K", "L", "acceleration TD", "acceleration 3OT",
    "d position", "d velocity", "d acceleration",
}  # fmt: skip


def test_the_four_bar_three_ways_as_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture = tmp_path / "differences.png"
    file = str(EXAMPLES / "four-bar.toml")
    assert main(["verify", file, "--json", "--plot", str(picture)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"mechanism", "passed", "groups", "whole"}
    assert found["passed"] is True
    assert [(g["name"], g["type"]) for g in found["groups"]] == [("R_1", "R"), ("RRR_1", "RRR")]
    for group in found["groups"]:
        assert set(group["errors"]) >= QUANTITIES
        for errors in group["errors"].values():
            assert all(e is None or e <= 1e-11 for e in errors.values())
        assert all(group["errors"]["position"][route] is not None for route in ("symbolic", "independent"))
    assert set(found["whole"]) == {"position", "velocity", "acceleration"}
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert main(["verify", file, "--at", "0.1", "--bound", "1e-30"]) == 1
    assert "FAILED" in capsys.readouterr().out
    assert main(["verify", file, "RRR"]) == 2


def altered(change: Callable[[str], str], tmp_path: Path) -> GroupType:
    text = (package_folder("generated") / "rrr.py").read_text("utf-8")
    wrong = change(text)
    assert wrong != text
    path = tmp_path / "rrr.py"
    path.write_text(wrong, "utf-8")
    return GroupType(as_plain_python(path, "altered_rrr"))


def flipped(function: str) -> Callable[[str], str]:
    """Return what turns a difference within a function into a sum."""

    def change(text: str) -> str:
        head, mark, body = text.partition(f"def {function}(")
        body, end, rest = body.partition("\n\n\n")
        # the second bar's: the first one hangs on the frame, at rest and at height zero
        line = [x for x in body.splitlines() if " = " in x and " - " in x and ("_B" in x or "_t" in x)][-1]
        return head + mark + body.replace(line, line.replace(" - ", " + ", 1), 1) + end + rest

    return change


@pytest.mark.parametrize("function", ["jacobian_dependent_at", "acceleration_rhs"])
def test_one_altered_sign_fails(function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = altered(flipped(function), tmp_path)
    verified = checked._verified

    def with_the_altered(solution: object, step: GroupStep, lanes: object) -> object:
        if step.solver.group.name == "RRR":
            step = replace(step, solver=replace(step.solver, group=group))
        return verified(solution, step, lanes)  # type: ignore[arg-type]

    model = load(EXAMPLES / "four-bar.toml", {})
    times = np.array([0.1, 0.4])
    assert checked.verify_mechanism(model, times).passed
    monkeypatch.setattr(checked, "_verified", with_the_altered)
    found = checked.verify_mechanism(model, times)
    assert not found.passed
    assert [g.name for g in found.groups if g.worst > found.bound] == ["RRR_1"]


def test_in_python() -> None:
    m = assurgent.Mechanism.load(EXAMPLES / "slider-crank.toml")
    found = m.verify(times=[0.05])
    assert found.passed
    assert found.to_json()["groups"][1]["name"] == "RRP_1"
    assert max(found.whole.values()) < 1e-12


@pytest.mark.long
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda p: p.stem)
def test_every_example(path: Path) -> None:
    found = checked.verify_mechanism(load(path, {}))
    worst = {g.name: max(g.errors.items(), key=lambda item: item[1].worst) for g in found.groups if g.errors}
    assert found.passed, (worst, found.whole)


# ---- compare ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["four-bar", "rssr", "cam-follower"])
def test_methods_agree(name: str) -> None:
    model = load(EXAMPLES / f"{name}.toml", {})
    found = compare(model, times=model.simulation.times()[:40])
    assert [m.name for m in found.methods] == ["td", "3ot", "global", "global-sparse"]
    for m in found.methods:
        assert max(m.difference.values()) < 1e-11
        assert m.drift[0] < 1e-12
        assert m.seconds > 0
    rates = [max(float(np.abs(d.motion(found.time)[k]).max()) for d in model.drivers.values()) for k in (1, 2)]
    speed = max(1.0, rates[0], rates[1] ** 0.5)  # rates of the constraints are of the order of those of the drivers
    assert max(m.drift[1] for m in found.methods) < 1e-11 * speed
    assert max(m.drift[2] for m in found.methods) < 1e-10 * speed**2


def test_compare_as_the_contract_says(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(EXAMPLES / "four-bar.toml")
    assert main(["compare", file, "--methods", "3ot,global", "--at", "0,0.1,0.2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["reference"] == "3ot"
    assert [m["name"] for m in found["methods"]] == ["3ot", "global"]
    for m in found["methods"]:
        assert set(m) == {"name", "seconds", "evaluations", "iterations", "difference", "drift"}
        assert set(m["difference"]) == {"position", "velocity", "acceleration"}
        assert set(m["drift"]) == {"position", "velocity", "acceleration", "energy"}
    picture = tmp_path / "methods.svg"
    assert main(["compare", file, "--methods", "td,3ot", "--plot", str(picture)]) == 0
    assert "difference of acceleration" in capsys.readouterr().out
    assert picture.stat().st_size > 1000
    assert main(["compare", file, "--methods", "tdd"]) == 2
    assert "did you mean 'td'" in capsys.readouterr().err


def test_a_mechanism_of_a_millimetre_is_verified_like_one_of_a_metre(tmp_path: Path) -> None:
    """The conditioning of a large group falls with the square of its size, whatever its pose."""
    text = (EXAMPLES / "stewart-platform.toml").read_text("utf-8")
    for name, value in (("R", 1.0), ("r", 0.6), ("h", 1.1)):
        assert f"\n{name} = {value}" in text
        text = text.replace(f"\n{name} = {value}", f"\n{name} = {value / 1000}")
    (tmp_path / "small.toml").write_text(text.replace("0.08*", "0.00008*"))
    assert checked.verify_mechanism(load(tmp_path / "small.toml")).passed
