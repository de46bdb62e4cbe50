"""The mechanisms and figures of the benchmark that are data: files of their own."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "data"


def text(name: str) -> str:
    """Return the text of a file."""
    return (FOLDER / f"{name}.toml").read_text("utf-8")
