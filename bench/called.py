"""A row of what users call, and what it says where a package is missing."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from .claims import Claim
from .peers import INSTALL


@dataclass(frozen=True)
class Called:
    """A row: what is called, the measured value with its bound, or a word why it was not measured."""

    what: str
    claim: Claim | None = None
    why: str = ""

    def __str__(self) -> str:
        return str(self.claim) if self.claim else f"      {'-':>8} {'':6} {self.what}: {self.why}"


def missing(package: str) -> str | None:
    """Return why a package is not measured, or None where it is there."""
    return None if importlib.util.find_spec(package) else f"{package} is not installed: {INSTALL}"
