"""The specification on docs/new-group.md compiles, and the page stays a page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assurgent.codegen.algebra import ELEMENTARY, VECTOR_FUNCTIONS
from assurgent.codegen.generate import compile_spec
from assurgent.codegen.spec import PARAMETER_KINDS
from assurgent.codegen.specification_reader import RESERVED, TABLES, parse_spec
from assurgent.runtime.library import find_entry

FUNCTIONS = [f for f in (*ELEMENTARY, *VECTOR_FUNCTIONS) if f != "norm"]  # norm(v) is written |v|
PAGE = (Path(__file__).parents[2] / "docs" / "new-group.md").read_text("utf-8")
ONE_SCREEN = 60


def test_the_specification_compiles() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    spec = parse_spec(text, "docs/new-group.md")
    compiled = compile_spec(spec, "my.toml")
    assert find_entry(spec.name) is None  # a new type, not one of the library
    compile(compiled.module.text, "module", "exec")
    for command in ("generate my.toml", f"verify {spec.name}", f"show {spec.name}"):
        assert f"assurgent {command}" in PAGE


def test_the_page_lists_the_reserved_names_on_one_line() -> None:
    (line,) = [line for line in PAGE.splitlines() if line.startswith("- **Reserved names**")]
    listed = set(re.findall(r"\w+", line.split("`")[1]))
    assert listed == RESERVED - set(FUNCTIONS)


def test_the_page_says_where_the_command_is() -> None:
    assert "`.venv/bin/assurgent`" in PAGE
    assert "`pip install .`" in PAGE


def test_the_page_fits_on_one_screen() -> None:
    assert len(PAGE.splitlines()) <= ONE_SCREEN


@pytest.mark.parametrize("word", [*TABLES, *PARAMETER_KINDS, *FUNCTIONS])
def test_the_page_names_every_table_kind_and_function(word: str) -> None:
    assert re.search(rf"\b{word}\b", PAGE)
