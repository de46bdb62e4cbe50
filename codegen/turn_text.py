"""The text of angles between directions: how a group gets from the sketch to its first position in short turns."""

from __future__ import annotations

from dataclasses import dataclass

from .derive import Derivation
from .layout import as_tuple


@dataclass(frozen=True)
class TurnText:
    """The angles of a type: tuples and lists of scalars, written with the values of `turns_at` as `turn`.

    `begun` is φ with unknown angles where the directions are; `ways` how far driven ones are from there, `ramped` is h
    with them so far back. `due` is how far the constraints are still meant to be open, `strayed` how far they are open
    otherwise, `unknown` are the steps of unknown angles, `shortened` is φ after a share of its step. `facing` is
    positive where directions point as an angle says, and not the other way.
    """

    begun: str
    ways: tuple[str, ...]
    ramped: str
    due: str
    strayed: str
    unknown: tuple[str, ...]
    shortened: str
    facing: tuple[str, ...]

    @property
    def far(self) -> tuple[str, ...]:
        return tuple(f"abs(way{k})" for k in range(len(self.ways)))


def turns(d: Derivation) -> TurnText | None:
    """Return the text of a type's angles; None where it has none."""
    if not d.turns or d.spec.profiles:  # profiles have a search of their own
        return None
    phi, h = [f"start[{i}]" for i in range(d.n_dependent)], [f"given[{i}]" for i in range(d.n_independent)]
    ways: list[str] = []
    unknown = []
    for k, (_, _, angle) in enumerate(d.turns):
        directions = f"np.arctan2(turn[{3 * k}], turn[{3 * k + 1}])"
        if angle in d.phi.symbols:
            i = d.phi.symbols.index(angle)
            phi[i] = f"start[{i}] + nearest({directions} - start[{i}])"
            unknown.append(f"abs(dphi[{i}])")
        elif angle in d.h.symbols:
            i = d.h.symbols.index(angle)
            h[i] = f"given[{i}] - left * way{len(ways)}"
            ways.append(f"nearest(given[{i}] - {directions})")
    facing = tuple(
        f"turn[{3 * k + 1}] * np.cos(turn[{3 * k + 2}]) + turn[{3 * k}] * np.sin(turn[{3 * k + 2}])"
        for k in range(len(d.turns))
    )
    due = as_tuple([f"due * open_by[{i}]" for i in range(d.n_constraints)])
    strayed = as_tuple([f"Phi[{i}] - due * open_by[{i}]" for i in range(d.n_constraints)])
    shortened = as_tuple([f"phi[{i}] - back[{i}] - share * dphi[{i}]" for i in range(d.n_dependent)])
    return TurnText(
        as_tuple(phi), tuple(ways), as_tuple(h), due, strayed, tuple(unknown), shortened, facing
    )  # fmt: skip
