"""A spatial group's specification while it is being written: declarations with their values, and formulas.

Names are counted as they are made, so that they depend on the order of the writing only; what no equation and no point
uses is left out at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numbers.arithmetic import scalars
from .plan import Axes, Between, GroupPlan, Placement, PointName, PointOf, Source, ValueOf, VectorName, VectorOf
from .specification_draft import SpecificationSheet

Array = NDArray[np.float64]
WHEEL_TURN = "tau"  # prefix of the unknowns that are turns of wheels
_NAME = re.compile(r"(?<![\w.])[A-Za-z]\w*")


@dataclass(frozen=True)
class _Value:
    """A declared unknown or parameter with its scalar values."""

    name: str
    kind: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class _Known:
    """A declared known coordinate and where it comes from."""

    name: str
    kind: str
    source: Source


def _names(texts: Iterable[str]) -> set[str]:
    return {name for text in texts for name in _NAME.findall(text)}


@dataclass
class Draft:
    """Collects a specification; every method returns the name that it declared."""

    _count: dict[str, int] = field(default_factory=dict)
    _dependent: list[_Value] = field(default_factory=list)
    _independent: list[_Known] = field(default_factory=list)
    _parameters: list[_Value] = field(default_factory=list)
    _let: dict[str, str] = field(default_factory=dict)
    _admissible: dict[str, str] = field(default_factory=dict)
    _constraints: dict[str, str] = field(default_factory=dict)
    _points: dict[str, str] = field(default_factory=dict)

    def fresh(self, prefix: str) -> str:
        """Return prefix1, prefix2, ... in turn."""
        self._count[prefix] = self._count.get(prefix, 0) + 1
        return f"{prefix}{self._count[prefix]}"

    def unknown(self, prefix: str, kind: str, start: float | Sequence[float] | Array) -> str:
        """Declare an unknown with its value in the sketch."""
        name = self.fresh(prefix)
        self._dependent.append(_Value(name, kind, _scalars(start)))
        return name

    @property
    def has_unknowns(self) -> bool:
        return bool(self._dependent)

    def point_of(self, body: str, local: Array) -> str:
        """Declare a point of a known body."""
        return self._know("A", "point", PointOf(body, local))

    def vector_of(self, body: str, local: Array) -> str:
        """Declare a direction of a known body."""
        return self._know("n", "unit vector", VectorOf(body, local))

    def angle_driver(self, driver: str) -> str:
        """Declare the value of a driver that turns."""
        return self._know("theta", "driven angle", ValueOf(driver))

    def length_driver(self, driver: str) -> str:
        """Declare the value of a driver that slides."""
        return self._know("d", "driven length", ValueOf(driver))

    def _know(self, prefix: str, kind: str, source: Source) -> str:
        name = self.fresh(prefix)
        self._independent.append(_Known(name, kind, source))
        return name

    def parameter(self, prefix: str, kind: str, value: float | Sequence[float] | Array) -> str:
        """Declare a parameter with its value."""
        name = self.fresh(prefix)
        self._parameters.append(_Value(name, kind, _scalars(value)))
        return name

    def let(self, prefix: str, text: str) -> str:
        """Name an expression."""
        name = self.fresh(prefix)
        self._let[name] = text
        return name

    def assume(self, text: str) -> None:
        """Note an equation that the known coordinates satisfy by themselves."""
        self._admissible[self.fresh("triad")] = text

    def equation(self, prefix: str, text: str) -> None:
        """Add a constraint."""
        self._constraints[self.fresh(prefix)] = text

    def point(self, name: str, text: str, otherwise: PointOf | None = None) -> PointName:
        """Return what places a body: a coordinate itself, `otherwise` where given, or a new point of interest."""
        return text if self._declared(text) else otherwise or self._ask(name, text)

    def vector(self, name: str, text: str, otherwise: VectorOf | None = None) -> VectorName:
        """Return the same for a direction."""
        return text if self._declared(text) else otherwise or self._ask(name, text)

    def _declared(self, name: str) -> bool:
        return name in {u.name for u in self._dependent} | {k.name for k in self._independent}

    def _ask(self, name: str, text: str) -> str:
        self._points[name] = text
        return name

    def plan(
        self,
        name: str,
        kind: str,
        bodies: Sequence[str],
        joints: Sequence[str],
        drivers: Sequence[str],
        placements: Mapping[str, Placement],
    ) -> GroupPlan:
        """Return the finished plan of a group of that type."""
        sheet = self._sheet()
        return GroupPlan(
            name=name,
            type=kind,
            bodies=tuple(bodies),
            joints=tuple(joints),
            drivers=tuple(drivers),
            specification=sheet.text(),
            coordinates=tuple(sheet.independent),
            known=tuple(source for _, source in sheet.independent.values()),
            parameters=sheet.values,
            start=sheet.start,
            placements={body: self._placed(placement, sheet) for body, placement in placements.items()},
        )

    def _placed(self, placement: Placement, sheet: SpecificationSheet) -> Placement:
        """Return a placement that names no known coordinate that the specification can do without."""
        spare: dict[Any, Any] = {k.name: k.source for k in self._independent if k.name not in sheet.independent}
        match placement:
            case Axes(origin, axes):
                return replace(placement, origin=spare.get(origin, origin), axes=tuple(spare.get(a, a) for a in axes))
            case Between(P, Q):
                return replace(placement, P=spare.get(P, P), Q=spare.get(Q, Q))
        return placement

    def _sheet(self) -> SpecificationSheet:
        """Return the specification without what nothing uses."""
        used = _names([*self._constraints.values(), *self._points.values()])
        for name, text in reversed(self._let.items()):
            if name in used:
                used |= _names([text])
        unused = {k.name for k in self._independent} - used
        return SpecificationSheet(
            space="spatial",
            dependent={u.name: (u.kind, list(u.values)) for u in self._dependent},
            independent={k.name: (k.kind, k.source) for k in self._independent if k.name in used},
            parameters={p.name: (p.kind, list(p.values)) for p in self._parameters if p.name in used},
            let={name: text for name, text in self._let.items() if name in used},
            constraints=self._constraints,
            admissible={name: text for name, text in self._admissible.items() if not _names([text]) & unused},
            points=self._points,
        )


def _scalars(value: float | Sequence[float] | Array) -> tuple[float, ...]:
    return tuple(scalars(value))
