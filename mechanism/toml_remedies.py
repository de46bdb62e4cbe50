"""The remedy for the likeliest slips in TOML: a name that stands twice, a formula without quotes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

from .functions import excerpt

_STRINGS = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'")


def twice(error: str, text: str, line: int) -> str:
    """Return the words for a name that stands twice where the parser of TOML says so; otherwise nothing."""
    remedy = "rename one of them, or remove it"
    table = re.search(r"Cannot declare \((.*?),?\) twice", error)
    if table:
        name = ".".join(key.strip("'\" ") for key in table[1].split(","))
        return f"the table [{excerpt(name)}] stands twice - join the two, or rename one"
    inline = re.search(r"Duplicate inline table key '(.*)'", error)
    if inline:
        return f"the name '{excerpt(inline[1])}' stands twice in one table - {remedy}"
    if "Cannot overwrite a value" not in error:
        return ""
    # the last line of a value that has several does not show its name
    key = re.match(r"\s*\[?\s*([\w.\"'-]+)\s*[=\]]", text.split("\n")[line - 1])
    name = f"the name '{excerpt(key[1])}'" if key else "a name"
    return f"{name} stands twice in one table - {remedy}"


def unquoted(text: str, line: int) -> str:
    """Return the words for a formula that stands without quotes, in this line or the first that has one."""
    lines = text.split("\n")
    for row in (lines[line - 1 : line] or [""])[0], *lines:
        for key, value in _values(row):
            if not _is_toml(value):
                shown = excerpt(value)
                return f'{shown} in {key} stands without quotes - a formula, a unit or a text has them: "{shown}"'
    return ""


def _values(row: str) -> Iterator[tuple[str, str]]:
    """Yield the keys of a line and the plain values behind them; of a list each entry by itself."""
    row = _STRINGS.sub(lambda found: '"' + "_" * (len(found[0]) - 2) + '"', row).partition("#")[0]
    for found in re.finditer(r"([\w-]+)\s*=\s*(\[?)", row):
        for value in _entries(row[found.end() :], bool(found[2])):
            if value and value[0] not in "[{\"'":
                yield found[1], value


def _entries(text: str, several: bool) -> Iterator[str]:
    """Yield the values at the start of a text: one, or those of a list; parentheses keep their commas."""
    start, depth = 0, 0
    for k, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth <= 0 and letter in ",]}":
            yield text[start:k].strip()
            start = k + 1
            if not several or letter != ",":
                return
    yield text[start:].strip()


def _is_toml(value: str) -> bool:
    try:
        tomllib.loads(f"x = {value}")
    except ValueError:
        return False
    return True
