"""Value and two time derivatives of closed forms: an independent route for the accuracy of the case studies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..motion.plan import Array


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


def constant(c: float, like: Jet) -> Jet:
    """Return a constant beside a function."""
    return Jet(np.full_like(like.x, c), np.zeros_like(like.x), np.zeros_like(like.x))
