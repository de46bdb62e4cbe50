"""Plans of spatial groups with numbers: what a specification says of bodies, evaluated without the generator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from assurgent.codegen.algebra import ELEMENTARY, Field
from assurgent.codegen.spec import GroupSpec
from assurgent.codegen.specification_reader import parse_spec
from assurgent.mechanism.plans.plan import Axes, Between, GroupPlan, PointOf, ValueOf, VectorOf
from tests.motion.spatial_sketches import CASES, Array, Pose, Sketch

FLOATS = Field(number=lambda f: float(Fraction(f)), functions={n: getattr(math, n) for n in ELEMENTARY}, pi=math.pi)


def whole(plan: GroupPlan, name: str = "derived") -> str:
    return f'format = 1\nname = "{name}"\n{plan.specification}'


@dataclass(frozen=True, eq=False)
class Bound:
    """A plan, its specification, and the values of h for given poses of the known bodies."""

    sketch: Sketch
    plan: GroupPlan
    spec: GroupSpec

    @classmethod
    def of(cls, sketch: Sketch) -> Bound:
        plan = sketch.plan()
        return cls(sketch, plan, parse_spec(whole(plan), "derived"))

    def h(self, poses: Mapping[str, Pose], values: Mapping[str, float]) -> Array:
        found: list[float] = []
        for source in self.plan.known:
            match source:
                case PointOf(body, local):
                    found += list(poses[body].point(local))
                case VectorOf(body, local):
                    found += list(poses[body].rotation @ local)
                case ValueOf(driver):
                    found.append(values[driver])
        return np.array(found)

    def _evaluator(self, phi: Array, h: Array):  # type: ignore[no-untyped-def]
        spec = self.spec
        names = (*spec.phi, *spec.h, *spec.par, "t")
        values = dict(zip(names, map(float, (*phi, *h, *self.plan.parameters, 0.0)), strict=True))
        return spec.evaluator(values.__getitem__, FLOATS)

    def constraint(self, phi: Array, h: Array) -> Array:
        evaluate = self._evaluator(phi, h)
        return np.array([e for c in self.spec.constraints for e in evaluate.residual(c.equation)])

    def vectors(self, phi: Array, h: Array) -> dict[str, Array]:
        """Return the points of interest and the coordinates by name."""
        evaluate, spec = self._evaluator(phi, h), self.spec
        scalars = dict(zip((*spec.phi, *spec.h), (*phi, *h), strict=True))
        found = {c.name: np.array([scalars[s] for s in c.symbols]) for c in (*spec.dependent, *spec.independent)}
        return found | {f.name: np.array(evaluate(f.node)) for f in spec.points}

    def poses(self, phi: Array, h: Array, known: Mapping[str, Pose]) -> dict[str, Pose]:
        """Return the poses of the group's bodies; those of a rod are right along its line."""
        vectors = self.vectors(phi, h)
        found: dict[str, Pose] = {}

        def at(name: str | PointOf | VectorOf) -> Array:
            if isinstance(name, str):
                return vectors[name]
            other = found[name.body] if name.body in self.plan.bodies else known[name.body]
            return other.point(name.local) if isinstance(name, PointOf) else other.rotation @ name.local

        for body, placement in self.plan.placements.items():
            match placement:
                case Axes(origin, axes, point, basis):
                    inside = np.eye(3) if basis is None else basis.T  # the same vectors in the body's axes
                    rotation = np.column_stack([at(a) for a in axes]) @ np.linalg.inv(inside)
                    found[body] = Pose(at(origin) - (0 if point is None else rotation @ point), rotation)
                case Between(P, Q, p, q):
                    along = np.outer(at(Q) - at(P), q - p) / ((q - p) @ (q - p))
                    found[body] = Pose(at(P) - along @ p, along)
        assert set(found) == set(self.plan.bodies)
        return found

    def jacobian(self, phi: Array, h: Array) -> Array:
        d = 1e-6
        steps = d * np.eye(len(phi))
        return np.array([(self.constraint(phi + e, h) - self.constraint(phi - e, h)) / (2 * d) for e in steps]).T

    def solve(self, h: Array) -> Array:
        phi = self.plan.start
        for _ in range(30):
            phi = phi - np.linalg.lstsq(self.jacobian(phi, h), self.constraint(phi, h), rcond=None)[0]
        return phi


def sketched(s: Sketch) -> dict[str, Pose]:
    return {name: Pose(body.origin, body.rotation) for name, body in s.bodies.items()}


def bound(name: str) -> Bound:
    sketch = Sketch()
    CASES[name].build(sketch)
    return Bound.of(sketch)
