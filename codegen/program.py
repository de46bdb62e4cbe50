"""What templates of sets of group types are written with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import jinja2


def as_tuple(items: Sequence[str]) -> str:
    """Return the text of a tuple of the items."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


@cache
def environment() -> jinja2.Environment:
    """Return how templates of sets of types are read; apart from that of single types, which loads SymPy."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("assurgent.templates", ""),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the output is Python, and only names of modules and types reach it
    )
