"""The python blocks of README.md run, and print what the page says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from assurgent.runtime.library import manifest


def test_page_prints_what_it_says(check_page: Callable[[str], None]) -> None:
    check_page("README.md")


def test_the_table_lists_every_type_of_the_library() -> None:
    text = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[^|]*) \| (?:planar|spatial) \|", text, re.MULTILINE)
    listed = [tuple(re.findall(r"`([^`]+)`", row)) for row in rows]
    assert listed == [(e.name, *e.aliases) for e in manifest()]
