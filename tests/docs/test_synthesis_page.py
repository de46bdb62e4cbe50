"""The python block of docs/synthesis.md runs, and prints what the page says."""

from __future__ import annotations

from collections.abc import Callable


def test_page_prints_what_it_says(check_page: Callable[[str], None]) -> None:
    check_page("docs/synthesis.md")
