"""How the bodies of a group follow from the points and directions that [groups] names in its type."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..model import FRAME, Array, Body, Model
from ..numbers.arithmetic import scalar
from ..numbers.nominal import nominal
from ..structure import Group
from .named_where import Carried, cross, held_rotation
from .plan import Along, Axes, Between, FoundBy, GroupPlan, Placement, PointName, PointOf, Spanned, VectorName, VectorOf

APART = 1e-9  # of the size: nearer points are one; as a sine: nearer directions are one
THIRD = """space = "spatial"

[dependent]
w = "vector"

[independent]
u = "vector"
v = "vector"

[constraints]
third = "w = cross(u, v)"
"""  # the type `cross` of the library


@dataclass(frozen=True, eq=False)
class _Arrow:
    """A vector of a body: a coordinate of the type, or from one of its points to another."""

    name: VectorName | tuple[PointName, PointName]
    local: Array

    def found_by(self, plan: str) -> FoundBy:
        return FoundBy(plan, self.name[1], self.name[0]) if isinstance(self.name, tuple) else FoundBy(plan, self.name)


@dataclass(eq=False)
class NamedPlaces:
    """The placements of a group's bodies; `apart` are bodies whose third direction is a plan of its own.

    `named` are the points and directions of the type as the mechanism has them; those that are parameters of the type
    stand in no row, and are what the frame has.
    """

    model: Model
    group: Group
    named: Mapping[str, Carried]
    solved: frozenset[str]
    parameters: frozenset[str]
    placements: dict[str, Placement] = field(default_factory=dict)
    apart: dict[str, tuple[str, _Arrow, _Arrow]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        waiting = list(self.group.bodies)
        while waiting:
            left = [b for b in waiting if not self._place(b)]
            if len(left) == len(waiting):
                break
            waiting = left
        self.missing = tuple(waiting)

    def _point(self, name: str) -> PointName:
        return PointOf(FRAME, self.named[name].local[FRAME]) if name in self.parameters else name

    def _vector(self, name: str) -> VectorName:
        return VectorOf(FRAME, self.named[name].local[FRAME]) if name in self.parameters else name

    def _place(self, name: str) -> bool:
        body = self.model.bodies[name]
        points = {n: c.local[name] for n, c in self.named.items() if c.point and name in c.local}
        directions = {n: c.local[name] for n, c in self.named.items() if not c.point and name in c.local}
        base = next(iter(points), None)
        if base is None:
            return False
        far = self._farthest(points)
        if far is not None and (self.model.dimension == 2 or body.rod):
            P, Q = far
            self.placements[name] = Between(self._point(P), self._point(Q), points[P], points[Q])
            return True
        held = self._held(body)
        if held is not None:
            self.placements[name] = Axes(self._point(base), held, points[base])
            return True
        if self.model.dimension == 2:
            if directions:
                along = next(iter(directions))
                self.placements[name] = Along(self._point(base), self._vector(along), points[base], directions[along])
            return bool(directions)
        return not body.rod and self._spanned(name, base, points, directions)

    def _farthest(self, points: Mapping[str, Array]) -> tuple[str, str] | None:
        """Return the two points that lie farthest apart; None where they are one."""
        plain = nominal(dict(points))
        pairs = [(float(np.linalg.norm(plain[p] - plain[q])), (p, q)) for p, q in itertools.combinations(plain, 2)]
        best = max(pairs, key=lambda pair: pair[0], default=(0.0, ("", "")))
        return best[1] if best[0] > APART * nominal(self.model.size) else None

    def _held(self, body: Body) -> tuple[VectorOf, ...] | None:
        """Return the axes of a body whose direction a P joint holds, as directions of a body that is known."""
        for joint in self.group.pairs:
            if joint.kind != "P" or body.name not in (joint.first, joint.second):
                continue
            other = joint.second if joint.first == body.name else joint.first
            if other in self.solved or other in self.placements:
                return tuple(VectorOf(other, column) for column in held_rotation(joint, body.name).T)
        return None

    def _spanned(self, name: str, base: str, points: Mapping[str, Array], directions: Mapping[str, Array]) -> bool:
        """Place a spatial body by three vectors; where only two are named the third is their product."""
        size = nominal(self.model.size)
        origin = self._point(base)
        arrows = [_Arrow(self._vector(n), v) for n, v in directions.items()]
        arrows += [_Arrow((origin, self._point(n)), p - points[base]) for n, p in points.items() if n != base]
        units = [(a, v / size if isinstance(a.name, tuple) else v) for a in arrows for v in [nominal(a.local)]]
        units = [(a, v / np.linalg.norm(v)) for a, v in units if np.linalg.norm(v) > APART]
        triples = itertools.combinations(units, 3)
        three = _best([(abs(float(np.linalg.det(np.array([v for _, v in c])))), c) for c in triples])
        if three is not None:
            vectors = [a for a, _ in three]
            factors = _inverse(*(a.local for a in vectors))
            self.placements[name] = Spanned(origin, points[base], tuple(a.name for a in vectors), factors)
            return True
        pairs = itertools.combinations(units, 2)
        two = _best([(float(np.linalg.norm(np.cross(c[0][1], c[1][1]))), c) for c in pairs])
        if two is not None:
            self.apart[name] = (base, two[0][0], two[1][0])
        return two is not None

    def further(self, first: str) -> tuple[GroupPlan, ...]:
        """Return the plans of bodies whose third direction is a product, behind the plan of the group itself."""
        found = []
        for body, (base, u, v) in self.apart.items():
            point = self.named[base].local[body]
            w = cross(u.local, v.local)
            factors = _inverse(u.local, v.local, w)
            place = Spanned(FoundBy(first, self._point(base)), point, ("u", "v", "w"), factors)
            start = np.asarray(self.model.bodies[body].rotation @ w)
            sources = (u.found_by(first), v.found_by(first))
            name = f"{first}_{body}"
            found.append(
                GroupPlan(name, "cross", (body,), (), (), THIRD, ("u", "v"), sources, np.zeros(0), start, {body: place})
            )
        return tuple(found)


Choice = tuple[tuple[_Arrow, Array], ...]


def _best(choices: Sequence[tuple[float, Choice]]) -> Choice | None:
    """Return the vectors that are farthest from lying in a plane (or on a line); None where all do."""
    best = max(choices, key=lambda choice: choice[0], default=(0.0, ()))
    return best[1] if best[0] > APART else None


def _inverse(u: Array, v: Array, w: Array) -> Array:
    """Return the inverse of the matrix with these columns; its entries may be traced."""
    first, second, third = cross(v, w), cross(w, u), cross(u, v)
    return np.asarray(np.array([first, second, third]) / scalar(u @ first))
