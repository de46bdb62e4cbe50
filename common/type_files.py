"""How a group type is named on disk: its Python module, and the file of its specification in the user's library."""

from __future__ import annotations

import re

SPECIFICATION = "spec.toml"


def module_name(name: str) -> str:
    """Return the Python module of a type: lower case, only letters, digits and _, never a digit first."""
    text = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return f"g{text}" if text[:1].isdigit() or not text else text
