"""Truth for the verification, in balls of 90 digits: by the symbolic derivation, and by differences of solved motion.

The two routes share the specification's formulas and nothing else. The symbolic one evaluates SymPy's derivatives and
the paper's equations to the letter (39, 43, 42a corrected). The independent one never differentiates: it solves
Φ(φ, h, t) = 0 along the motion and takes central differences with a step of 1e-12, whose truncation error of 1e-24
is far below what is being checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from operator import methodcaller
from typing import Any

import flint
import numpy as np
import sympy as sp
from flint import arb, arb_mat
from numpy.typing import NDArray
from sympy.printing.lambdarepr import LambdaPrinter

from .algebra import Evaluator, Field
from .derive import Coordinates, Derivation
from .sampling import Configuration

DIGITS = 90
STEP = Fraction(1, 10**12)
_FUNCTIONS = {name: methodcaller(name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "sqrt")}
Array = NDArray[np.float64]
Balls = list[Any]


def ball(value: float | Fraction | int) -> Any:
    """Return a number as a ball, exactly where it is a float or an integer."""
    if isinstance(value, Fraction):
        return arb(value.numerator) / arb(value.denominator)
    return arb(value)


def power(value: Any, exponent: int) -> Any:
    """A whole power by multiplication: `ball ** n` is not a number where the ball contains zero."""
    result = arb(1)
    for _ in range(abs(exponent)):
        result = result * value
    return result if exponent >= 0 else 1 / result


flint.ctx.dps = DIGITS  # of the whole process: nothing else here uses balls
BALLS = Field(number=ball, functions=_FUNCTIONS, pi=arb.pi(), power=power)


def balls(values: Sequence[float] | Array) -> Balls:
    return [arb(float(v)) for v in values]


def floats(values: Sequence[Any]) -> Array:
    """Return the midpoints as doubles."""
    return np.array([float(v) for v in values])


class _Printer(LambdaPrinter):
    """Prints rational numbers exactly: 1/3 as a quotient of balls, not of floats."""

    def _print_Rational(self, expr: sp.Rational) -> str:
        return f"ball({expr.p})/{expr.q}"

    def _print_Pow(self, expr: sp.Pow, **settings: Any) -> str:
        if expr.exp.is_Integer:
            return f"power({self._print(expr.base)}, {expr.exp})"
        return str(super()._print_Pow(expr, **settings))

    def _print_Pi(self, expr: sp.Expr) -> str:
        return "pi()"


def ball_function(names: Sequence[sp.Symbol], rows: Sequence[sp.Expr]) -> Callable[..., Balls]:
    """Return SymPy expressions as a function of balls."""
    modules = {**_FUNCTIONS, "ball": ball, "pi": arb.pi, "power": power}
    printer = _Printer({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": True})
    return sp.lambdify(names, list(rows), modules=[modules], printer=printer, cse=True)  # type: ignore[no-any-return]


def _matrix(rows: int, columns: int, entries: Sequence[Any]) -> Any:
    return arb_mat(rows, columns, [e if isinstance(e, arb) else arb(e) for e in entries])


class Symbolic:
    """Every derived quantity of a type at one configuration, from the symbolic derivation."""

    def __init__(self, derivation: Derivation) -> None:
        d = self.d = derivation
        self.p, self.r, self.s = d.n_constraints, d.n_dependent, d.n_independent
        state = [*d.phi.symbols, *d.h.symbols, *d.par.symbols, d.t]
        rates = [*d.phi.rate(1), *d.h.rate(1)]
        self._Phi = ball_function(state, d.Phi)
        self._Phi_phi = ball_function(state, list(d.Phi_phi))
        self._Phi_h = ball_function(state, list(d.Phi_h))
        self._Phi_t = ball_function(state, d.Phi_t)
        self._gamma = ball_function([*state, *rates], d.gamma)
        self._jerk = ball_function([*state, *rates, *d.phi.rate(2), *d.h.rate(2), *d.h.rate(3)], d.jerk_rhs)
        x = [*d.phi.symbols, *d.h.symbols, d.t]
        self._dPhi_phi = self._derivatives(list(d.Phi_phi), x, state)
        self._dPhi_h = self._derivatives(list(d.Phi_h), x, state)
        self._dPhi_t = self._derivatives(list(d.Phi_t), x, state)

    @staticmethod
    def _derivatives(entries: Sequence[sp.Expr], variables: Sequence[sp.Symbol], state: Sequence[sp.Symbol]) -> Any:
        """Return, for each variable, which entries of a matrix change with it and how (the others are zero)."""
        places, rows = [], []
        for k, x in enumerate(variables):
            for i, e in enumerate(entries):
                derivative = sp.diff(e, x)
                if derivative != 0:
                    places.append((k, i))
                    rows.append(derivative)
        return places, ball_function(state, rows)

    @cached_property
    def _tangent(self) -> tuple[Callable[..., Balls], Callable[..., Balls], Callable[..., Balls]]:
        d = self.d
        first, second, third = d.tangent_rhs
        base = [*d.phi.symbols, *d.h.symbols, *d.par.symbols, d.t, *d.h.named("d"), *d.par.named("d")]
        rate = [*base, *d.phi.rate(1), *d.h.rate(1), *d.phi.named("d"), *Coordinates(d.h.rate(1)).named("d")]
        full = [
            *rate,
            *d.phi.rate(2),
            *d.h.rate(2),
            *Coordinates(d.phi.rate(1)).named("d"),
            *Coordinates(d.h.rate(2)).named("d"),
        ]
        return ball_function(base, first), ball_function(rate, second), ball_function(full, third)

    def at(self, c: Configuration) -> SymbolicState:
        """Return the quantities at a configuration."""
        return SymbolicState(self, c)

    def solved(self, c: Configuration) -> Array:
        """Return φ that closes the group, by Newton-Raphson with the symbolic Jacobian in balls (Eq. 19a, 21)."""
        phi, known = balls(c.phi), (*balls(c.h), *balls(c.par), arb(c.t))
        for _ in range(6):
            P = _matrix(self.p, self.r, self._Phi_phi(*phi, *known))
            rhs = _matrix(self.p, 1, self._Phi(*phi, *known))
            step = P.solve(rhs) if self.p == self.r else (P.transpose() * P).solve(P.transpose() * rhs)
            phi = [(x - dx).mid() for x, dx in zip(phi, _column(step), strict=True)]
        return floats(phi)

    def constraint(self, phi: Array, c: Configuration) -> Array:
        return floats(self._Phi(*balls(phi), *balls(c.h), *balls(c.par), arb(c.t)))


class SymbolicState:
    """The paper's equations at one configuration, in balls."""

    def __init__(self, symbolic: Symbolic, c: Configuration) -> None:
        self.f, self.c = symbolic, c
        self.state = [*balls(c.phi), *balls(c.h), *balls(c.par), arb(c.t)]
        self.P = _matrix(symbolic.p, symbolic.r, symbolic._Phi_phi(*self.state))
        self.H = _matrix(symbolic.p, symbolic.s, symbolic._Phi_h(*self.state))
        self.Phi_t = _matrix(symbolic.p, 1, symbolic._Phi_t(*self.state))
        self.square = symbolic.p == symbolic.r
        self.A = self.P if self.square else self.P.transpose() * self.P
        hdot, hddot = _matrix(symbolic.s, 1, balls(c.hdot)), _matrix(symbolic.s, 1, balls(c.hddot))
        self.K = self.solve(-self.H)
        self.Sb = self.solve(-self.Phi_t)
        self.phidot = self.solve(-(self.H * hdot + self.Phi_t))
        gamma = symbolic._gamma(*self.state, *_column(self.phidot), *balls(c.hdot))
        self.phiddot = self.solve(-(self.H * hddot + _matrix(symbolic.p, 1, gamma)))
        jerk = symbolic._jerk(
            *self.state,
            *_column(self.phidot),
            *balls(c.hdot),
            *_column(self.phiddot),
            *balls(c.hddot),
            *balls(c.hdddot),
        )
        self.phidddot = self.solve(_matrix(symbolic.p, 1, jerk))

    def solve(self, rhs: Any) -> Any:
        """Φ_φ x = rhs, or its normal equations (p > r)."""
        return self._solve(rhs if self.square else self.P.transpose() * rhs)

    def _solve(self, rhs: Any) -> Any:
        return self.A.solve(rhs)

    def _moved(self, direction: Balls) -> tuple[Any, Any, Any]:
        """Derivatives of Φ_φ, Φ_h and Φ_t along a direction of (φ, h, t), Eq. 38."""
        f = self.f
        found = []
        for (places, _), values, columns in zip(
            (f._dPhi_phi, f._dPhi_h, f._dPhi_t), self._second_derivatives, (f.r, f.s, 1), strict=True
        ):
            entries = [arb(0)] * (f.p * columns)
            for (k, i), value in zip(places, values, strict=True):
                entries[i] = entries[i] + value * direction[k]
            found.append(_matrix(f.p, columns, entries))
        return found[0], found[1], found[2]

    @cached_property
    def _second_derivatives(self) -> list[Balls]:
        return [function(*self.state) for _, function in (self.f._dPhi_phi, self.f._dPhi_h, self.f._dPhi_t)]

    def _derivative(self, direction: Balls, X: Any, which: int) -> Any:
        """Derivative along a direction of X with A X = -Φ_φᵀ Y (Y: Φ_h or Φ_t), Eq. 39, 43 and 42a as corrected."""
        dP, dH, dt = self._moved(direction)
        Y, dY = (self.H, dH) if which == 0 else (self.Phi_t, dt)
        if self.square:
            return self._solve(-(dY + dP * X))
        Pt, dPt = self.P.transpose(), dP.transpose()
        return self._solve(-((dPt * self.P + Pt * dP) * X + dPt * Y + Pt * dY))

    @cached_property
    def L(self) -> list[Any]:
        """L_i = dK/dh_i, one r x s matrix for each i."""
        f = self.f
        found = []
        for i in range(f.s):
            direction = [self.K[j, i] for j in range(f.r)] + [arb(int(i == k)) for k in range(f.s)] + [arb(0)]
            found.append(self._derivative(direction, self.K, 0))
        return found

    @cached_property
    def K_t(self) -> Any:
        """Change of K at fixed h: along φ̇ = S b and explicit time (the term missing in Eq. 33 and 36)."""
        return self._derivative([*_column(self.Sb), *([arb(0)] * self.f.s), arb(1)], self.K, 0)

    @cached_property
    def Sb_dot(self) -> Any:
        """d(Sb)/dt along the motion, Eq. 34a or 42a (corrected)."""
        return self._derivative([*_column(self.phidot), *balls(self.c.hdot), arb(1)], self.Sb, 1)

    def tangent(self, dh: Array, dhdot: Array, dhddot: Array, dpar: Array) -> tuple[Array, Array, Array]:
        """δφ, δφ̇, δφ̈ along one change."""
        f, c = self.f, self.c
        first, second, third = f._tangent
        base = [*self.state, *balls(dh), *balls(dpar)]
        dphi = self.solve(_matrix(f.p, 1, first(*base)))
        rate = [*base, *_column(self.phidot), *balls(c.hdot), *_column(dphi), *balls(dhdot)]
        dphidot = self.solve(_matrix(f.p, 1, second(*rate)))
        full = [*rate, *_column(self.phiddot), *balls(c.hddot), *_column(dphidot), *balls(dhddot)]
        dphiddot = self.solve(_matrix(f.p, 1, third(*full)))
        return array(dphi)[:, 0], array(dphidot)[:, 0], array(dphiddot)[:, 0]


    @cached_property
    def sizes(self) -> _Sizes:
        """The same equations with the absolute value of every term."""
        return _Sizes(self)


class _Sizes(SymbolicState):
    """What the terms add up to whose sum a quantity is: it may cancel to nothing, and its terms keep their size."""

    def __init__(self, of: SymbolicState) -> None:
        self.f, self.square, self.c = of.f, of.square, replace(of.c, hdot=np.abs(of.c.hdot))
        self.P, self.H, self.Phi_t = _absolute(of.P), _absolute(of.H), _absolute(of.Phi_t)
        self.inverse = _absolute(of.A.inv())
        self.K, self.Sb = self.solve(self.H), self.solve(self.Phi_t)
        self.phidot = self.K * _matrix(of.f.s, 1, balls(self.c.hdot)) + self.Sb
        self._second_derivatives = [[abs(v) for v in values] for values in of._second_derivatives]

    def _solve(self, rhs: Any) -> Any:
        return self.inverse * _absolute(rhs)  # the terms of a right-hand side all have one sign


def _absolute(matrix: Any) -> Any:
    return _matrix(matrix.nrows(), matrix.ncols(), [abs(e) for e in matrix.entries()])


def _column(matrix: Any) -> Balls:
    return [matrix[i, 0] for i in range(matrix.nrows())]


def array(matrix: Any) -> Array:
    """Return a matrix of balls as doubles."""
    return np.array([[float(matrix[i, j]) for j in range(matrix.ncols())] for i in range(matrix.nrows())])


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
