"""Facts of a mechanism's summary: Grashof's condition for every four-bar loop of a driven crank and an RRR dyad."""

from __future__ import annotations

from dataclasses import dataclass

from .model import FRAME, Array, Joint, Model
from .numbers import arithmetic
from .structure import Group, Structure


@dataclass(frozen=True, eq=False)
class FourBar:
    """A four-bar loop on the frame: its bodies, and the lengths of frame, crank, rod and rocker (traced, maybe)."""

    crank: str
    rod: str
    rocker: str
    lengths: tuple[float, float, float, float]


def four_bars(model: Model, structure: Structure) -> list[str]:
    """Return one sentence per four-bar loop on the frame: its lengths and whether a bar turns all the way round."""
    found = []
    for loop in four_bar_loops(model, structure):
        lengths = dict(zip(("frame", loop.crank, loop.rod, loop.rocker), loop.lengths, strict=True))
        found.append(f"four-bar {loop.crank}-{loop.rod}-{loop.rocker}: {_condition(lengths, loop.crank, loop.rocker)}")
    return found


def four_bar_loops(model: Model, structure: Structure) -> list[FourBar]:
    """Return the loops of a driven crank and an RRR dyad on the frame."""
    if model.space != "planar":
        return []
    cranks = {g.bodies[0]: g for g in structure.groups if g.type == "R"}
    return [loop for g in structure.groups if g.type == "RRR" for loop in _four_bar(model, g, cranks)]


def _four_bar(model: Model, dyad: Group, cranks: dict[str, Group]) -> list[FourBar]:
    outer = {_inside(j, dyad): j for j in dyad.pairs if not set(j.bodies) <= set(dyad.bodies)}
    inner = [j for j in dyad.pairs if set(j.bodies) <= set(dyad.bodies)]
    ends = {_other(j, body): body for body, j in outer.items()}
    crank = next((b for b in ends if b in cranks), None)
    if len(inner) != 1 or len(outer) != 2 or FRAME not in ends or crank is None:
        return []
    base = cranks[crank].pairs[0]
    if _other(base, crank) != FRAME:
        return []
    rod, rocker = ends[crank], ends[FRAME]
    lengths = (
        _length(_place(base, FRAME), _place(outer[rocker], FRAME)),
        _length(_place(base, crank), _place(outer[rod], crank)),
        _length(_place(outer[rod], rod), _place(inner[0], rod)),
        _length(_place(outer[rocker], rocker), _place(inner[0], rocker)),
    )
    return [FourBar(crank, rod, rocker, lengths)]


def _condition(lengths: dict[str, float], crank: str, rocker: str) -> str:
    """Return Grashof's condition: the shortest and the longest bar against the two others."""
    order = sorted(lengths, key=lambda name: lengths[name])
    slack = lengths[order[1]] + lengths[order[2]] - lengths[order[0]] - lengths[order[3]]
    if abs(slack) <= 1e-9 * lengths[order[3]]:
        return "change point (the bars can come into line)"
    if slack < 0:
        return "no bar turns all the way round (Grashof's condition fails)"
    if order[0] == crank:
        return "Grashof crank-rocker"
    if order[0] == "frame":
        return "Grashof drag link (both cranks turn)"
    return f"Grashof, {order[0]} shortest: " + ("the crank rocks" if order[0] == rocker else "double rocker")


def _inside(j: Joint, group: Group) -> str:
    return j.first if j.first in group.bodies else j.second


def _other(j: Joint, body: str) -> str:
    return j.second if body == j.first else j.first


def _place(j: Joint, body: str) -> Array:
    return j.a if body == j.first else j.b


def _length(p: Array, q: Array) -> float:
    length: float = arithmetic.norm(q - p)
    return length
