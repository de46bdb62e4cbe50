"""Which C function does what an item is for in a phase; compiled at first use and kept on disk by Numba."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .sequence import Item

# functions of a type by phase: name, and what its maker takes (None: it is a function itself)
GROUPS: dict[str, tuple[str, str | None]] = {
    "td": ("sweep", "mask"),
    "3ot": ("sweep_3ot", "mask"),
    "assembly": ("sweep_assembly", None),
    "settle": ("sweep_settle", None),
    "quality": ("sweep_quality", None),
    "columns": ("sweep_columns", "mask"),
    "tangents": ("sweep_tangents", "1"),
    "tangents-3": ("sweep_tangents", "3"),
    "jerks": ("sweep_jerks", None),
    "equations": ("equations", None),
    "positions": ("sweep_positions", "mask"),
    "adjoint": ("sweep_adjoint", None),
}
POINTS: dict[str, tuple[str, str | None]] = {
    "td": ("sweep_points", None),
    "3ot": ("sweep_points", None),
    "columns": ("sweep_point_columns", None),
    "tangents": ("sweep_point_tangents", "1"),
    "tangents-3": ("sweep_point_tangents", "3"),
    "jerks": ("sweep_point_jerks", None),
    "adjoint": ("sweep_point_adjoint", None),
}
# functions of items that belong to no type
OTHERS: dict[tuple[str, str], str] = {
    ("constants", "constants"): "constants",
    ("constants", "values"): "constant_values",
    ("own constants", "constants"): "constant_values",
    ("constants", "tangents"): "constant_changes",
    ("constants", "tangents-3"): "constant_changes",
    ("combination", "td"): "combination",
    ("combination", "3ot"): "combination",
    ("combination", "columns"): "combination_columns",
    ("combination", "jerks"): "combination_columns",
    ("combination", "tangents"): "combination_changes",
    ("combination", "tangents-3"): "combination_changes",
    ("angle", "tangents"): "angle_changes",
    ("angle", "tangents-3"): "angle_changes",
    ("angle", "td"): "angle",
    ("angle", "3ot"): "angle",
    ("angle", "columns"): "angle_columns",
    ("angle", "jerks"): "angle_jerks",
    ("body angle", "angles"): "angle",
    ("combination", "positions"): "combination_columns",
    ("constants", "adjoint"): "constants_worth",
    ("combination", "adjoint"): "combination_worth",
    ("angle", "adjoint"): "angle_worth",
}


def entry(phase: str, item: Item, mask: int) -> int:
    """Return the address of what an item does in a phase; 0 where it has nothing to do."""
    if item.group is not None:
        known = GROUPS if item.kind == "group" else POINTS
        if phase not in known:
            return 0
        name, takes = known[phase]
        if not hasattr(item.group.module, name):
            return 0
        argument = mask if takes == "mask" else None if takes is None else int(takes)
        return _of_type(item.group.module, name, argument)
    name = OTHERS.get((item.kind, phase), "")
    return _own(name) if name else 0


@functools.cache
def _of_type(module: ModuleType, name: str, argument: int | None) -> int:
    from .sequencer import address, made

    function: Any = getattr(module, name)
    return address(function if argument is None else made(function, argument))


@functools.cache
def _own(name: str) -> int:
    from . import adjoint_items, items
    from .sequencer import address

    return address(getattr(adjoint_items if name.endswith("_worth") else items, name))
