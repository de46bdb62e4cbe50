"""The text of parameters that are functions of an unknown: where they stand, and how they are put in their places."""

from __future__ import annotations

from dataclasses import dataclass

from .derive import Derivation
from .layout import as_tuple

PROFILE_PARTS = 6  # the place, and five coefficients


@dataclass(frozen=True)
class ProfileText:
    """One of them: its name, the numbers of its unknown and of its first part, and what it is without a function.

    `trial` is φ with the unknown further on by `turn`.
    """

    name: str
    unknown: int
    first: int
    parts: str
    changes: str
    trial: str


def profiles(d: Derivation) -> tuple[ProfileText, ...]:
    """Return the profiles of a type in their order."""
    spec = d.spec
    found = []
    for c, unknown in spec.profiles:
        i = spec.phi.index(unknown)
        trial = as_tuple([f"phi[{k}] + turn" if k == i else f"phi[{k}]" for k in range(d.n_dependent)])
        first = spec.par.index(c.symbols[0])
        parts = as_tuple([f"par[{first + k}]" for k in range(PROFILE_PARTS)])
        found.append(ProfileText(c.name, i, first, parts, parts.replace("par", "dpar"), trial))
    return tuple(found)


def developed(d: Derivation, given: str) -> str:
    """Return the tuple of parameters `given` with the parts of every profile in their places."""
    found = [f"{given}[{i}]" for i in range(len(d.par.symbols))]
    for number, p in enumerate(profiles(d)):
        found[p.first : p.first + PROFILE_PARTS] = [f"f{number}[{k}]" for k in range(PROFILE_PARTS)]
    return as_tuple(found)
