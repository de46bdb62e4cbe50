"""Runs the python blocks of a page in one namespace and compares what each prints with the text block after it.

`python tests/docs/conftest.py docs/pipeline.md` writes the text blocks anew.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"```(?P<kind>\w+)\n(?P<text>.*?)```\n", re.DOTALL)


def executed(page: str) -> list[tuple[str, str, re.Match[str]]]:
    """Return (code, what it printed, the block after it) for each python block followed by a text block."""
    found = []
    namespace: dict[str, Any] = {"__name__": "page"}
    blocks = list(_BLOCK.finditer(page))
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if block["kind"] != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block["text"], "page", "exec"), namespace)
        if following is not None and following["kind"] == "text":
            found.append((block["text"], printed.getvalue(), following))
        else:
            assert not printed.getvalue(), f"no text block follows:\n{block['text']}"
    return found


@pytest.fixture
def check_page() -> Callable[[str], None]:
    """Return a check that every python block of a page prints what the page says."""

    def check(name: str) -> None:
        runs = executed((ROOT / name).read_text("utf-8"))
        assert runs, f"{name} has no python block with an output"
        for code, printed, block in runs:
            assert printed == block["text"], f"write it again: python tests/docs/conftest.py {name}\n{code}"

    return check


def rewritten(page: str) -> str:
    """Return the page with the text blocks as they are printed now."""
    for _, printed, block in reversed(executed(page)):
        page = page[: block.start("text")] + printed + page[block.end("text") :]
    return page


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        path = Path(argument)
        path.write_text(rewritten(path.read_text("utf-8")), "utf-8")
