"""The emitted text: the same bytes from the same inputs, and a digest that follows what it is made of."""

from __future__ import annotations

import ast

import pytest

from assurgent.codegen.generate import compile_spec
from assurgent.codegen.specification_reader import parse_spec
from assurgent.runtime.library_build import find_specification


def test_the_same_inputs_give_the_same_bytes() -> None:
    spec = find_specification("RRR")
    first, second = (compile_spec(spec, "my.toml").module for _ in range(2))
    assert first.text == second.text
    assert first.digest in first.text


def test_the_digest_follows_the_specification() -> None:
    spec = find_specification("RRR")
    other = parse_spec(spec.text.replace('name = "RRR"', 'name = "RRR2"').replace('aliases = ["3R"]', ""), "other.toml")
    assert other.name == "RRR2"
    assert compile_spec(spec, "my.toml").module.digest != compile_spec(other, "my.toml").module.digest


@pytest.mark.parametrize("name", ["RRR", "triad-6R"])
def test_the_text_imports_only_what_runs_it(name: str) -> None:
    tree = ast.parse(compile_spec(find_specification(name), "my.toml").module.text)
    found = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    found |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert found <= {"math", "numpy", "numba", "assurgent.runtime", "assurgent.runtime.straight_line"}


def test_a_title_cannot_leave_its_comment() -> None:
    spec = find_specification("RRR")
    title = 'title = "a \\"\\"\\" b \\\\n import os"'
    old = next(line for line in spec.text.split("\n") if line.startswith("title"))
    module = compile_spec(parse_spec(spec.text.replace(old, title), "my.toml"), "my.toml").module
    names = {alias.name for n in ast.walk(ast.parse(module.text)) if isinstance(n, ast.Import) for alias in n.names}
    assert "os" not in names
