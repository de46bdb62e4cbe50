"""The text of a mechanism file from its values: TOML, only what such a file holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..common.errors import InputError

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}


def to_toml(data: Mapping[str, Any]) -> str:
    """Return values as TOML: plain keys first, then one table each, bodies as tables of their own."""
    lines = [f"{_key(k)} = {_value(v)}" for k, v in data.items() if not isinstance(v, dict)]
    for name, table in data.items():
        if not isinstance(table, dict):
            continue
        if name in ("bodies", "groups"):
            for body, entries in table.items():
                lines += ["", f"[{name}.{_key(body)}]", *(f"{_key(k)} = {_value(v)}" for k, v in entries.items())]
        else:
            lines += ["", f"[{_key(name)}]", *(f"{_key(k)} = {_value(v)}" for k, v in table.items())]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)


def _string(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(c) or (c if c.isprintable() else _coded(c)) for c in text) + '"'


def _coded(character: str) -> str:
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _string(value)
        case list():
            return f"[{', '.join(_value(v) for v in value)}]"
        case dict():
            return f"{{ {', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())} }}" if value else "{}"
    raise InputError(f"{value!r} cannot stand in a mechanism file - use numbers, texts, lists and dictionaries")
