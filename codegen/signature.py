"""When two specifications are the same type: their equations agree but for the names of their symbols.

A group that was derived from a mechanism's topology is solved by any type of the same signature, shipped or made
before; `order` then tells which symbol of the one is which of the other.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Signature:
    """Digest of the equations with their symbols numbered, and the symbols in the order of their numbers."""

    digest: str
    order: tuple[str, ...]


def signature(data: Mapping[str, Any]) -> Signature:
    """Return the signature of a specification as TOML gives it."""
    kinds = {
        name: f"{table} {kind}"
        for table in ("dependent", "independent", "parameters")
        for name, kind in data.get(table, {}).items()
    }
    formulas: dict[str, str] = data.get("let", {})
    numbers: dict[str, int] = {}

    def number(name: str) -> str:
        if name not in kinds and name not in formulas:
            return name  # a function, pi or t
        if name not in numbers:
            numbers[name] = len(numbers)
        return f"#{numbers[name]}"

    lines = [str(data.get("space", ""))]
    pending: list[str] = []
    equations = [text for table in ("constraints", "points") for text in data.get(table, {}).values()]
    for text in equations:
        lines.append(_NAME.sub(lambda m: number(m[0]), text).replace(" ", ""))
        pending += [n for n in numbers if n in formulas and n not in pending]
        for name in pending:  # definitions follow the equation that uses them first, and may use others
            definition = _NAME.sub(lambda m: number(m[0]), formulas[name]).replace(" ", "")
            line = f"{number(name)}:={definition}"
            if line not in lines:
                lines.append(line)
            pending += [n for n in numbers if n in formulas and n not in pending]
    lines += [f"#{i} {kinds[name]}" for name, i in numbers.items() if name in kinds]
    unused = [kind for name, kind in kinds.items() if name not in numbers and not kind.startswith("independent")]
    lines += sorted(f"unused {kind}" for kind in unused)
    order = tuple(n for n in numbers if n in kinds)
    return Signature(hashlib.sha256("\n".join(lines).encode()).hexdigest(), order)
