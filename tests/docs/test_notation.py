"""docs/notation.md is what the table of symbols gives, and the code uses the names of the table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assurgent.codegen.notation import NOTATION, markdown

ROOT = Path(__file__).parents[2]
SYMBOLS = [s for part in NOTATION for s in part.symbols]
NAMES = [name.removesuffix("[i]") for s in SYMBOLS for name in s.python.split(", ")]


def test_the_page_is_up_to_date() -> None:
    page = (ROOT / "docs" / "notation.md").read_text("utf-8")
    assert page == markdown(), "write it again: python -m assurgent.codegen.notation > docs/notation.md"


def test_every_name_has_one_row() -> None:
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_code_uses_the_name(name: str) -> None:
    files = [p for p in (ROOT / "codegen").glob("*.py") if p.name != "notation.py"]
    text = "\n".join(p.read_text("utf-8") for p in [*files, *(ROOT / "generated").glob("*.py")])
    assert re.search(rf"\b{name}\b", text)
