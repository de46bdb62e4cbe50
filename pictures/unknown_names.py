"""What to say about a name that is not known: the nearest one, and all that there are."""

from __future__ import annotations

from collections.abc import Iterable

from ..common.errors import nearest

MOST = 30  # names that a message lists


def listed(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest known one, and the list of them."""
    names = list(known)
    if not names:
        return " - there is none"
    shown = ", ".join(names[:MOST]) + (f" and {len(names) - MOST} more" if len(names) > MOST else "")
    return f"{nearest(name, names)} - there are {shown}"
