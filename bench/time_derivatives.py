"""Value and two time derivatives of closed forms: an independent route for the accuracy of the case studies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..mechanism.plans.plan import Array


@dataclass(frozen=True, eq=False)
class Jet:
    """A function of time with its first two derivatives."""

    x: Array
    v: Array
    a: Array

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.x + other.x, self.v + other.v, self.a + other.a)

    def __sub__(self, other: Jet) -> Jet:
        return Jet(self.x - other.x, self.v - other.v, self.a - other.a)

    def __mul__(self, other: Jet) -> Jet:
        return Jet(
            self.x * other.x,
            self.v * other.x + self.x * other.v,
            self.a * other.x + 2 * self.v * other.v + self.x * other.a,
        )

    def times(self, c: float) -> Jet:
        return Jet(c * self.x, c * self.v, c * self.a)

    def _of(self, f: Array, f1: Array, f2: Array) -> Jet:
        return Jet(f, f1 * self.v, f1 * self.a + f2 * self.v**2)

    def sqrt(self) -> Jet:
        root = np.sqrt(self.x)
        return self._of(root, 0.5 / root, -0.25 / (root * self.x))

    def inverse(self) -> Jet:
        return self._of(1 / self.x, -1 / self.x**2, 2 / self.x**3)

    def cos(self) -> Jet:
        return self._of(np.cos(self.x), -np.sin(self.x), -np.cos(self.x))

    def sin(self) -> Jet:
        return self._of(np.sin(self.x), np.cos(self.x), -np.sin(self.x))

    def array(self) -> Array:
        return np.stack([self.x, self.v, self.a])


Vector = tuple[Jet, Jet]


def constant(c: float, like: Jet) -> Jet:
    """Return a constant beside a function."""
    return Jet(np.full_like(like.x, c), np.zeros_like(like.x), np.zeros_like(like.x))


def meet(P: Vector, Q: Vector, r_P: float, r_Q: float, side: float) -> Vector:
    """Return where two circles meet: centres P and Q; side +1: to the left of the way from P to Q."""
    dx, dy = Q[0] - P[0], Q[1] - P[1]
    square = dx * dx + dy * dy
    over = square.inverse()
    along = (square + constant(r_P**2 - r_Q**2, square)).times(0.5) * over
    across = (over.times(r_P**2) - along * along).sqrt().times(side)
    return P[0] + along * dx - across * dy, P[1] + along * dy + across * dx


def cross(a: Vector, b: Vector) -> Jet:
    """Return the planar cross product."""
    return a[0] * b[1] - a[1] * b[0]


def lines_meet(P: Vector, u: Vector, p: float, Q: Vector, v: Vector, q: float) -> Vector:
    """Return X with cross(u, X - P) = p and cross(v, X - Q) = q: where two lines at these distances meet."""
    a, b = cross(u, P) + constant(p, u[0]), cross(v, Q) + constant(q, u[0])
    over = cross(u, v).inverse()
    return (v[0] * a - u[0] * b) * over, (v[1] * a - u[1] * b) * over


def point(x: float, y: float, like: Jet) -> Vector:
    """Return a fixed point beside a function."""
    return constant(x, like), constant(y, like)
