"""[groups]: groups that are solved by a type of the user's choice, and what the names of that type are here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .file_values import Source


@dataclass(frozen=True, eq=False)
class NamedGroup:
    """One entry of [groups]: the type by its name, and `where` as it was written.

    What its values mean depends on the kinds of the type's names, so that they are looked at where the type is known.
    """

    name: str
    type: str
    where: Mapping[str, Any] = field(default_factory=dict)


def read_groups(source: Source) -> dict[str, NamedGroup]:
    """Return the entries of [groups] by the names of their groups."""
    found = {}
    for name, entry in source.table(("groups",), source.data.get("groups", {})).items():
        place = ("groups", name)
        table = source.table(place, entry)
        source.keys(place, table, ("type", "where"), ("type",))
        where = source.table((*place, "where"), table.get("where", {}))
        found[name] = NamedGroup(name, source.string((*place, "type"), table["type"]), where)
    return found
