"""Assembly modes side by side: a drawing for each, as `assurgent structure --modes` writes them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from assurgent import four_bar
from assurgent.cli.commands import main
from assurgent.mechanism.plans.planning import study
from assurgent.motion.modes import modes_at_start
from assurgent.pictures.mode_pictures import mode_pictures


def test_both_modes_of_a_dyad_are_listed_and_drawn() -> None:
    model = four_bar(4, 1, 3, 3).model()
    modes = modes_at_start(model, study(model), lambda _: None)
    assert modes.numbers["RRR_1"] == (1, 2)
    assert modes.words("RRR_1").count("*") == 1
    assert modes.solvers == {"R_1": "R", "RRR_1": "RRR"}
    root = ET.fromstring(mode_pictures(model, modes))
    axes = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("id", "").startswith("axes_")]
    assert len(axes) == 2


def test_what_cannot_be_assembled_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    m = four_bar(4, 1, 3, 3)
    m.drivers.clear()
    m.save(tmp_path / "free.toml")
    out = tmp_path / "modes.svg"
    assert main(["structure", str(tmp_path / "free.toml"), "--modes", str(out)]) == 2
    assert "drive what is still free" in capsys.readouterr().err
    assert not out.exists()
