"""The methods of `simulate` by name: all but `partition` integrate compiled bodies (`body_method`).

A method joins by its line here; forward dynamics, comparison and commands take it from this table.
"""

from __future__ import annotations

from importlib import import_module

from .body_method import BodyMethod

PARTITION = "partition"
BODY_METHODS = {  # name: module of this room, class
    "semirecursive-1": ("semirecursive", "SemiRecursive1"),
    "semirecursive-2": ("semirecursive", "SemiRecursive2"),
    "global": ("augmented", "Augmented"),
    "dca": ("dca", "DivideAndConquer"),
    "dca-projected": ("dca", "Projected"),
}
METHODS = (PARTITION, *BODY_METHODS)


def body_method(name: str) -> type[BodyMethod]:
    """Return the class of a method; its module is loaded where it is asked for."""
    module, own = BODY_METHODS[name]
    found: type[BodyMethod] = getattr(import_module(f".{module}", __package__), own)
    return found
