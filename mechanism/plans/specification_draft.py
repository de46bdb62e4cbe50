"""The text of a derived group specification, collected piece by piece, with the sources and values of its symbols."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model import Function
from ..numbers.arithmetic import array, scalars
from .plan import Array, Source

PROFILE_PARTS = 6  # of a profile among the numbers of a type: filled in where it runs


@dataclass
class SpecificationSheet:
    """One specification in the making; symbols are numbered in the order in which they are needed."""

    space: str
    dependent: dict[str, tuple[str, list[float]]] = field(default_factory=dict)  # name -> kind, value in the sketch
    independent: dict[str, tuple[str, Source]] = field(default_factory=dict)
    parameters: dict[str, tuple[str, list[float]]] = field(default_factory=dict)
    let: dict[str, str] = field(default_factory=dict)
    constraints: dict[str, str] = field(default_factory=dict)
    admissible: dict[str, str] = field(default_factory=dict)
    points: dict[str, str] = field(default_factory=dict)
    profiles: dict[str, Function] = field(default_factory=dict)
    _keys: dict[object, str] = field(default_factory=dict)

    def known(self, key: object, prefix: str, kind: str, source: Source) -> str:
        """Return the name of a known coordinate, declared at its first use; equal keys are one coordinate."""
        if key not in self._keys:
            name = f"{prefix}{1 + sum(k.rstrip('0123456789') == prefix for k in self.independent)}"
            self._keys[key] = name
            self.independent[name] = (kind, source)
        return self._keys[key]

    def parameter(self, prefix: str, kind: str, value: float | Array) -> str:
        """Return the name of a new parameter."""
        name = f"{prefix}{1 + sum(k.rstrip('0123456789') == prefix for k in self.parameters)}"
        self.parameters[name] = (kind, scalars(value))
        return name

    def profile(self, function: Function) -> str:
        """Return the name of a new parameter that is a function."""
        name = self.parameter("r", "profile", array([0.0] * PROFILE_PARTS))
        self.profiles[name] = function
        return name

    def unknown(self, name: str, kind: str, value: float | Array) -> str:
        self.dependent[name] = (kind, scalars(value))
        return name

    def define(self, prefix: str, formula: str) -> str:
        """Return a new name for a formula."""
        name = f"{prefix}{1 + sum(k.rstrip('0123456789') == prefix for k in self.let)}"
        self.let[name] = formula
        return name

    def require(self, prefix: str, equation: str) -> None:
        self.constraints[f"{prefix}_{1 + sum(k.rpartition('_')[0] == prefix for k in self.constraints)}"] = equation

    def text(self) -> str:
        """Return the specification in TOML, all but its name and title."""
        lines = [f'space = "{self.space}"']
        tables: list[tuple[str, dict[str, str]]] = [
            ("dependent", {n: k for n, (k, _) in self.dependent.items()}),
            ("independent", {n: k for n, (k, _) in self.independent.items()}),
            ("parameters", {n: k for n, (k, _) in self.parameters.items()}),
            ("let", self.let),
            ("constraints", self.constraints),
            ("admissible", self.admissible),
            ("points", self.points),
        ]
        for title, entries in tables:
            if entries:
                lines += ["", f"[{title}]", *(f'{name} = "{value}"' for name, value in entries.items())]
        return "\n".join(lines) + "\n"

    @property
    def start(self) -> Array:
        return array([v for _, values in self.dependent.values() for v in values])

    @property
    def values(self) -> Array:
        return array([v for _, values in self.parameters.values() for v in values])
