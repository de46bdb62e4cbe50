"""The flow of data has the same names on every page."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def flows(page: str) -> list[list[str]]:
    """Return the names of each line `    A -> B -> C` of a page."""
    lines = re.findall(r"^ {4}(\w+(?: -> \w+)+)", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    return [line.split(" -> ") for line in lines]


def test_the_compiler_has_the_same_stages_in_both_pages() -> None:
    compiler, _ = flows("CONTRIBUTING.md")
    assert [compiler] == flows("docs/pipeline.md")


def test_the_stages_are_classes_of_the_code() -> None:
    rooms = ("codegen", "mechanism", "runtime", "motion")
    sources = [p.read_text("utf-8") for room in rooms for p in (ROOT / room).rglob("*.py")]
    classes = set(re.findall(r"^class (\w+)", "\n".join(sources), re.MULTILINE))
    named = {name for flow in flows("CONTRIBUTING.md") for name in flow}
    assert named - classes == {"Library"}  # the folder generated/ and the user's own
