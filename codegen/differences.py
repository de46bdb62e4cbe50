"""Truth for the verification without a derivative: the group solved along its motion, in balls of 90 digits.

Φ(φ, h, t) = 0 is solved from the specification's formulas, and central differences are taken with a step of 1e-12,
whose truncation error of 1e-24 is far below what is being checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flint import arb

from .algebra import Evaluator
from .derive import Derivation
from .reference import BALLS, DIGITS, STEP, Array, Balls, ball, balls, floats
from .sampling import Configuration


class Independent:
    """The group solved from its formulas alone, without a derivative: the third route."""

    def __init__(self, derivation: Derivation) -> None:
        self.spec = derivation.spec
        self.r = derivation.n_dependent

    def _evaluator(self, phi: Balls, h: Balls, par: Balls, t: Any) -> Evaluator:
        values = dict(zip((*self.spec.phi, *self.spec.h, *self.spec.par, "t"), (*phi, *h, *par, t), strict=True))
        return self.spec.evaluator(values.__getitem__, BALLS)

    def constraint(self, phi: Balls, h: Balls, par: Balls, t: Any) -> Balls:
        """Φ by walking the trees of the specification."""
        evaluate = self._evaluator(phi, h, par, t)
        return [e for c in self.spec.constraints for e in evaluate.residual(c.equation)]

    def points(self, phi: Balls, h: Balls, par: Balls, t: Any) -> dict[str, Balls]:
        """The points of interest by walking their trees."""
        evaluate = self._evaluator(phi, h, par, t)
        return {formula.name: list(evaluate(formula.node)) for formula in self.spec.points}

    def jacobian(self, c: Configuration) -> tuple[Array, Array]:
        """Φ_φ and Φ_h by central differences of Φ."""
        phi, h, par, t, d = balls(c.phi), balls(c.h), balls(c.par), arb(c.t), ball(STEP)
        columns = []
        for group, i in [(phi, i) for i in range(len(phi))] + [(h, i) for i in range(len(h))]:
            kept = group[i]
            group[i] = kept + d
            above = self.constraint(phi, h, par, t)
            group[i] = kept - d
            below = self.constraint(phi, h, par, t)
            group[i] = kept
            columns.append([float((a - b) / (2 * d)) for a, b in zip(above, below, strict=True)])
        matrix = np.array(columns).T
        return matrix[:, : self.r], matrix[:, self.r :]

    def solver(self, c: Configuration, Phi_phi: Array) -> Callable[[Balls, Balls, Any], Balls]:
        """Return φ(h, p, t) near the configuration: simplified Newton with one inverse, until 70 digits stand."""
        inverse = [[arb(float(v)) for v in row] for row in np.linalg.pinv(Phi_phi)]
        limit = arb(10) ** -(DIGITS - 15)
        start = self._iterate(balls(c.phi), inverse, limit, balls(c.h), balls(c.par), arb(c.t))

        def solve(h: Balls, par: Balls, t: Any) -> Balls:
            return self._iterate(start, inverse, limit, h, par, t)

        return solve

    def _iterate(self, phi: Balls, inverse: list[Balls], limit: Any, h: Balls, par: Balls, t: Any) -> Balls:
        for _ in range(40):
            Phi = [e.mid() for e in self.constraint(phi, h, par, t)]
            step = [sum((a * b for a, b in zip(row, Phi, strict=True)), arb(0)) for row in inverse]
            phi = [(x - dx).mid() for x, dx in zip(phi, step, strict=True)]
            if all(abs(dx) < limit for dx in step):
                return phi
        raise ArithmeticError("the independent solution did not converge")


def path(c: Configuration, tau: Any) -> Balls:
    """h(τ) with the given rates, to third order."""
    half, sixth = arb(1) / 2, arb(1) / 6
    rows = zip(balls(c.h), balls(c.hdot), balls(c.hddot), balls(c.hdddot), strict=True)
    return [x + tau * (v + tau * (half * a + tau * sixth * j)) for x, v, a, j in rows]


def motion_by_differences(
    solve: Callable[[Balls, Balls, Any], Balls], c: Configuration
) -> tuple[Array, Array, Array, Array]:
    """φ, φ̇, φ̈ and the third derivative by central differences of the solved motion."""
    d, par, t = ball(STEP), balls(c.par), arb(c.t)
    m2, m1, zero, p1, p2 = (solve(path(c, k * d), par, t + k * d) for k in (-2, -1, 0, 1, 2))
    first = [(b - a) / (2 * d) for a, b in zip(m1, p1, strict=True)]
    second = [(b - 2 * o + a) / (d * d) for a, o, b in zip(m1, zero, p1, strict=True)]
    third = [(b2 - 2 * b1 + 2 * a1 - a2) / (2 * d**3) for a2, a1, b1, b2 in zip(m2, m1, p1, p2, strict=True)]
    return floats(zero), floats(first), floats(second), floats(third)


def points_by_differences(
    independent: Independent, solve: Callable[[Balls, Balls, Any], Balls], c: Configuration
) -> dict[str, Array]:
    """Position, velocity and acceleration of the points of interest by differences along the solved motion."""
    d, par = ball(STEP), balls(c.par)
    rows: dict[str, list[Balls]] = {}
    for k in (-1, 0, 1):
        h, t = path(c, k * d), arb(c.t) + k * d
        for name, place in independent.points(solve(h, par, t), h, par, t).items():
            rows.setdefault(name, []).append(place)
    found = {}
    for name, (m1, zero, p1) in rows.items():
        first = [(b - a) / (2 * d) for a, b in zip(m1, p1, strict=True)]
        second = [(b - 2 * o + a) / (d * d) for a, o, b in zip(m1, zero, p1, strict=True)]
        found[name] = np.array([floats(zero), floats(first), floats(second)])
    return found


def tangent_by_differences(
    solve: Callable[[Balls, Balls, Any], Balls], c: Configuration, change: Sequence[Array]
) -> tuple[Array, Array, Array]:
    """δφ, δφ̇, δφ̈ along a change (δh, δḣ, δḧ, δp): differences in the change of differences in time."""
    d = ball(STEP)
    dh, dhdot, dhddot, dpar = (balls(v) for v in change)

    def at(side: int, k: int) -> Balls:
        tau = k * d
        moved = [
            x + side * d * (a + tau * (b + tau * e / 2))
            for x, a, b, e in zip(path(c, tau), dh, dhdot, dhddot, strict=True)
        ]
        par = [x + side * d * a for x, a in zip(balls(c.par), dpar, strict=True)]
        return solve(moved, par, arb(c.t) + tau)

    orders = []
    for side in (1, -1):
        m1, zero, p1 = at(side, -1), at(side, 0), at(side, 1)
        orders.append(
            (
                zero,
                [(b - a) / (2 * d) for a, b in zip(m1, p1, strict=True)],
                [(b - 2 * o + a) / (d * d) for a, o, b in zip(m1, zero, p1, strict=True)],
            )
        )
    above, below = orders
    first, second, third = (
        [(a - b) / (2 * d) for a, b in zip(x, y, strict=True)] for x, y in zip(above, below, strict=True)
    )
    return floats(first), floats(second), floats(third)
