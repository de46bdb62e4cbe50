"""The specification on docs/new-group.md compiles, and the page stays a page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assurgent import Mechanism
from assurgent.cli.commands import main
from assurgent.codegen.algebra import ELEMENTARY, VECTOR_FUNCTIONS
from assurgent.codegen.generate import compile_spec
from assurgent.codegen.spec import PARAMETER_KINDS
from assurgent.codegen.specification_reader import RESERVED, TABLES, parse_spec
from assurgent.mechanism.plans.planning import plan_groups, studied
from assurgent.runtime.library import find_entry

FUNCTIONS = [f for f in (*ELEMENTARY, *VECTOR_FUNCTIONS) if f != "norm"]  # norm(v) is written |v|
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "new-group.md").read_text("utf-8")
RECIPE, USE = PAGE.split("## In a mechanism")
ONE_SCREEN = 60


def test_the_specification_compiles() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", RECIPE, re.DOTALL)
    spec = parse_spec(text, "docs/new-group.md")
    compiled = compile_spec(spec, "my-group.toml")
    assert find_entry(spec.name) is None  # a new type, not one of the library
    compile(compiled.module.text, "module", "exec")
    for command in ("generate my-group.toml", f"verify {spec.name}", f"show {spec.name}"):
        assert f"assurgent {command}" in PAGE


def test_the_page_lists_the_reserved_names_on_one_line() -> None:
    (line,) = [line for line in PAGE.splitlines() if line.startswith("- **Reserved names**")]
    listed = set(re.findall(r"\w+", line.split("`")[1]))
    assert listed == RESERVED - set(FUNCTIONS)


def test_the_page_says_where_the_command_is() -> None:
    assert "`.venv/bin/assurgent`" in PAGE
    assert "`pip install .`" in PAGE


def test_the_page_fits_on_one_screen() -> None:
    assert len(RECIPE.rstrip().splitlines()) <= ONE_SCREEN


def test_a_dyad_in_relative_coordinates_solves_a_four_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the page says, done: the type made, named in a file, run, verified."""
    monkeypatch.setenv("ASSURGENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ASSURGENT_DATA", str(tmp_path / "data"))
    spec, groups = re.findall(r"```toml\n(.*?)```", USE, re.DOTALL)
    (tmp_path / "dyad.toml").write_text(spec, "utf-8")
    plain = (ROOT / "examples" / "four-bar.toml").read_text("utf-8")
    file = tmp_path / "four-bar.toml"
    file.write_text(f"{plain}\n{groups}", "utf-8")
    assert main(["generate", str(tmp_path / "dyad.toml")]) == 0
    found = Mechanism.load(file).run()
    expected = Mechanism.load(ROOT / "examples" / "four-bar.toml").run()
    solvers: Any = found.diagnostics["groups"]
    assert solvers["RRR_1"]["solver"] == "relative-dyad"
    for name, point in expected.points.items():
        for quantity in ("position", "velocity", "acceleration"):
            ours, right = getattr(found.points[name], quantity), getattr(point, quantity)
            np.testing.assert_allclose(ours, right, atol=1e-12 * (1 + np.abs(right).max()))
    capsys.readouterr()
    assert main(["verify", str(file), "--at", "0.1,0.6"]) == 0
    assert "passed" in capsys.readouterr().out


def test_a_type_with_the_equations_of_a_group_is_found_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSURGENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ASSURGENT_DATA", str(tmp_path / "data"))
    m = Mechanism.load(ROOT / "examples" / "lifting-arm.toml")
    m.groups = {}
    model = m.model()
    (plan,) = plan_groups(model, studied(model))
    text = re.sub(r"\b([A-Z]\w*)\b", r"my_\1", plan.specification)  # other names for the same symbols
    assert "my_" in text
    (tmp_path / "mine.toml").write_text(f'format = 1\nname = "my-arm"\n{text}', "utf-8")
    assert main(["generate", str(tmp_path / "mine.toml")]) == 0
    results = m.run([0.0, 0.5, 1.0])
    groups: Any = results.diagnostics["groups"]
    assert [g["solver"] for g in groups.values()] == ["my-arm"]
    # law of cosines: |BC| is what the driver says
    distance = np.linalg.norm(results.points["C"].position - results.points["B"].position, axis=1)
    np.testing.assert_allclose(distance, 0.9 + 0.25 * np.sin(2 * np.pi / 3 * results.time), atol=1e-12)


@pytest.mark.parametrize("word", [*TABLES, *PARAMETER_KINDS, *FUNCTIONS])
def test_the_page_names_every_table_kind_and_function(word: str) -> None:
    assert re.search(rf"\b{word}\b", PAGE)
