"""The proofs of docs/errata.md run, print what the page says, and say it of every correction."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "errata.md"


def test_page_prints_what_it_says(check_page: Callable[[str], None]) -> None:
    check_page("docs/errata.md")


def test_no_printed_form_holds_and_every_corrected_one_does() -> None:
    outputs = re.findall(r"```text\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(outputs) >= 12
    for text in outputs:
        assert "corrected False" not in text
        assert not re.search(r"printed( dies out)? True", text)
