"""docs/dynamics.md: its python blocks print what it says, and its pictures are those that the script draws."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "dynamics.md"
LARGEST_PICTURE = 80_000


def test_page_prints_what_it_says(check_page: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    check_page("docs/dynamics.md")


def test_all_pictures_are_shown_and_small() -> None:
    shown = set(re.findall(r"\(images/dynamics/(\w+)\.png\)", PAGE.read_text("utf-8")))
    kept = {path.stem for path in (ROOT / "docs" / "images" / "dynamics").glob("*")}
    script = (ROOT / "docs" / "dynamics.py").read_text("utf-8")
    drawn = set(re.findall(r"\"(\w+)\": \1\b", script))
    assert shown == kept == drawn
    for name in kept:
        data = (ROOT / "docs" / "images" / "dynamics" / f"{name}.png").read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">I", data[16:20])[0] >= 700
        assert len(data) < LARGEST_PICTURE
