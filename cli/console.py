"""The terminal: what is asked for on standard output, everything else on standard error."""

from __future__ import annotations

from rich.console import Console

out = Console()
err = Console(stderr=True)


def literal(text: str) -> str:
    """Return a text with its brackets escaped, so that rich does not take RR[P]R for markup."""
    from rich.markup import escape

    return escape(text)
