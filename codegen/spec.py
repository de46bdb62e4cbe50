"""Specification of a group type, frozen: coordinates, parameters, constraints and formulas as trees."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..common import expressions as ex
from ..common.type_files import module_name
from .algebra import Evaluator, Field, Profile

COORDINATE_KINDS = {
    "point": "P",
    "vector": "V",
    "unit vector": "V",
    "angle": "S",
    "length": "S",
    "number": "S",
}
PARAMETER_KINDS = {**COORDINATE_KINDS, "offset": "S", "profile": "F"}


@dataclass(frozen=True)
class Coordinate:
    """A point, vector or number of the group, with the names of its scalar components."""

    name: str
    kind: str
    symbols: tuple[str, ...]
    driven: bool = False

    @property
    def is_vector(self) -> bool:
        return COORDINATE_KINDS.get(self.kind, "S") != "S"


@dataclass(frozen=True)
class Constraint:
    """One named equation as written, its tree, and the line where it stands."""

    name: str
    text: str
    equation: ex.Equation
    line: int


@dataclass(frozen=True)
class Formula:
    """A named expression as written, and its tree."""

    name: str
    text: str
    node: ex.Node
    line: int


@dataclass(frozen=True)
class GroupSpec:
    """A group type as mathematics: φ (dependent), h (independent), parameters, and Φ(φ, h, t) = 0."""

    name: str
    title: str
    source: str
    space: str
    singular: str
    aliases: tuple[str, ...]
    dependent: tuple[Coordinate, ...]
    independent: tuple[Coordinate, ...]
    parameters: tuple[Coordinate, ...]
    definitions: tuple[Formula, ...]
    constraints: tuple[Constraint, ...]
    admissible: tuple[Constraint, ...]
    branches: tuple[str, ...]
    closed_form: tuple[Formula, ...]
    points: tuple[Formula, ...]
    text: str
    origin: str

    @property
    def dimension(self) -> int:
        return 2 if self.space == "planar" else 3

    @property
    def module(self) -> str:
        return module_name(self.name)

    @cached_property
    def phi(self) -> tuple[str, ...]:
        return tuple(s for c in self.dependent for s in c.symbols)

    @cached_property
    def h(self) -> tuple[str, ...]:
        return tuple(s for c in self.independent for s in c.symbols)

    @cached_property
    def par(self) -> tuple[str, ...]:
        return tuple(s for c in self.parameters for s in c.symbols)

    @cached_property
    def profiles(self) -> tuple[tuple[Coordinate, str], ...]:
        """The parameters that are functions, each with the unknown that it is a function of ("": not just one)."""
        used: dict[str, set[str]] = {c.name: set() for c in self.parameters if c.kind == "profile"}
        trees = [f.node for f in (*self.definitions, *self.points)]
        for node in (n for tree in (*trees, *(c.equation for c in self.constraints)) for n in ex.walk(tree)):
            if isinstance(node, ex.FunctionCall) and node.arguments:
                name = node.function if node.function != "slope" else getattr(node.arguments[0], "name", "")
                used.get(name, set()).add(getattr(node.arguments[-1], "name", ""))
        one = {name: "".join(unknowns) if len(unknowns) == 1 else "" for name, unknowns in used.items()}
        return tuple((c, one[c.name]) for c in self.parameters if c.name in one)

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        return self.dependent + self.independent + self.parameters

    def values(self, scalar: Callable[[str], Any]) -> dict[str, Any]:
        """Return the value of every declared name, its components given by `scalar(component name)`."""
        found: dict[str, Any] = {}
        for c in self.coordinates:
            parts = tuple(scalar(s) for s in c.symbols)
            found[c.name] = Profile(parts[0], parts[1:]) if c.kind == "profile" else parts if c.is_vector else parts[0]
            found.update(zip(c.symbols, parts, strict=True))
        found["t"] = scalar("t")
        return found

    def evaluator(self, scalar: Callable[[str], Any], field: Field) -> Evaluator:
        """Return an evaluator in which coordinates, parameters, t and the [let] definitions have their values."""
        names = self.values(scalar)
        evaluate = Evaluator(names, field, self.dimension)
        for formula in self.definitions:
            names[formula.name] = evaluate(formula.node)
        return evaluate

    def place(self, table: str | None, key: str | None = None) -> str:
        """Return `file:line` of a key (in a table, or at the top)."""
        return f"{self.origin}:{line_of(self.text, table, key)}"


def line_of(text: str, table: str | None, key: str | None = None) -> int:
    """Return the line (from 1) of a key in a table of a TOML text; of the table's head; or 1."""
    current: str | None = None
    head = 1
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("["):
            current = stripped.partition("#")[0].strip("[] \t")
            if current == table:
                head = number
        elif current == table and key and re.match(rf"[\"']?{re.escape(key)}[\"']?\s*=", stripped):
            return number
    return head


def component_names(name: str, kind: str, dimension: int) -> tuple[str, ...]:
    """Return x_C, y_C(, z_C) for a point C, V_x, V_y(, V_z) for a vector V, the name itself for a number."""
    axes = "xyz"[:dimension]
    match PARAMETER_KINDS.get(kind, "S"):
        case "P":
            return tuple(f"{a}_{name}" for a in axes)
        case "V":
            return tuple(f"{name}_{a}" for a in axes)
        case "F":  # where the function is developed, and the coefficients of its Taylor polynomial there
            return (f"{name}_at", *(f"{name}_{k}" for k in range(5)))
    return (name,)
