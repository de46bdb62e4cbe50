"""Broken lines say the same, and none is too long."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import assurgent.generated
from assurgent.codegen.line_width import within_width
from assurgent.codegen.printer import WIDTH

EMITTED = sorted(Path(assurgent.generated.__path__[0]).rglob("*.py"))
LONG = [
    "total = " + " + ".join(f"x[{i}]" for i in range(40)),
    "a, b, c = " + ", ".join(f"bool(constant & {2**i})" for i in range(9)),
    "return " + ", ".join(f"found[{i}] if ok else missing[{i}]" for i in range(8)),
    "y = solve(factor(" + ", ".join(f"x[{i}]" for i in range(20)) + "), rhs(" + ", ".join("pqrst" * 5) + "))",
    "def tangent(" + ", ".join(f"argument_{i}" for i in range(15)) + "):\n    pass",
    "if f(" + ", ".join(f"value[{i}]" for i in range(20)) + "):\n    pass",
    "limit = 1.0  # " + "why it is so " * 9,
]


@pytest.mark.parametrize("text", LONG)
def test_a_broken_line_says_the_same(text: str) -> None:
    lines = within_width(text.split("\n"))
    assert max(len(line) for line in lines) <= WIDTH
    body = "def f():\n    {}"
    whole, broken = (body.format("\n    ".join(part)) for part in (text.split("\n"), lines))
    assert ast.dump(ast.parse(broken)) == ast.dump(ast.parse(whole))


def test_sentences_go_on_over_the_break() -> None:
    first = "# " + "word " * 21 + "end"
    lines = within_width([first, "# of the sentence."])
    assert lines == ["# " + "word " * 18 + "word", "# word word end of the sentence."]


def test_docstrings_keep_their_words() -> None:
    text = '    """' + "word " * 25 + 'end."""'
    lines = within_width([text, "    return 1"])
    assert lines[-1] == "    return 1"
    assert " ".join(" ".join(lines[:-1]).split()) == " ".join(text.replace('."""', '. """').split())


@pytest.mark.parametrize("path", EMITTED, ids=lambda p: p.stem)
def test_emitted_modules_are_within_the_width(path: Path) -> None:
    assert [line for line in path.read_text("utf-8").split("\n") if len(line) > WIDTH] == []
