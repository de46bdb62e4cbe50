"""GroupSpec -> Derivation with SymPy: Φ, its Jacobians, and (through `orders`) the right-hand sides of every order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from ..common.errors import InputError
from .algebra import ELEMENTARY, Evaluator, Field
from .blocks import Block, block_triangular
from .orders import Orders, companions, rate_names
from .spec import Constraint, Formula, GroupSpec


def _tan(x: sp.Expr) -> sp.Expr:
    """Return tan x; SymPy would make tan(x + pi/2) a cotangent, which no kernel knows."""
    return sp.tan(x).replace(sp.cot, lambda y: sp.cos(y) / sp.sin(y))


SYMPY = Field(
    number=lambda f: sp.Rational(f.numerator, f.denominator),
    functions={name: getattr(sp, name) for name in ELEMENTARY} | {"tan": _tan},
    pi=sp.pi,
)
LARGEST = 10**300  # below the largest double by what derivatives multiply
_TAU = sp.Dummy("tau", real=True)
Row = tuple[sp.Expr, ...]


def symbol(name: str) -> sp.Symbol:
    """Return the real SymPy symbol of that name."""
    return sp.Symbol(name, real=True)


def along(expressions: Sequence[sp.Expr], direction: Mapping[sp.Symbol, sp.Expr]) -> Row:
    """Return the derivative along a direction, d/dτ f(x + τ dx) at τ = 0.

    Going along the direction keeps differences together: (x_C - x_A)² becomes 2 (x_C - x_A)(ẋ_C - ẋ_A).
    """
    moved = {x: x + _TAU * dx for x, dx in direction.items() if dx != 0}
    return tuple(sp.diff(e.xreplace(moved), _TAU).xreplace({_TAU: sp.Integer(0)}) for e in expressions)


@dataclass(frozen=True)
class Coordinates:
    """A set of scalar coordinates with the symbols of their derivatives of order 1 to 3."""

    symbols: tuple[sp.Symbol, ...]

    def rate(self, order: int) -> tuple[sp.Symbol, ...]:
        return tuple(symbol(n) for n in rate_names([s.name for s in self.symbols], order))

    def named(self, prefix: str) -> tuple[sp.Symbol, ...]:
        """Return companions such as _u_x_C."""
        return tuple(symbol(n) for n in companions([s.name for s in self.symbols], prefix))


@dataclass(frozen=True)
class Derivation:
    """Everything that follows from Φ(φ, h, t) = 0 by differentiation."""

    spec: GroupSpec
    phi: Coordinates
    h: Coordinates
    par: Coordinates
    Phi: Row

    @cached_property
    def t(self) -> sp.Symbol:
        return symbol("t")

    @property
    def n_constraints(self) -> int:
        return len(self.Phi)

    @property
    def n_dependent(self) -> int:
        return len(self.phi.symbols)

    @property
    def n_independent(self) -> int:
        return len(self.h.symbols)

    @cached_property
    def rheonomic(self) -> bool:
        """Whether time stands in the constraints explicitly (Φ_t ≠ 0)."""
        return any(self.t in e.free_symbols for e in self.Phi)

    @cached_property
    def Phi_phi(self) -> sp.ImmutableMatrix:
        """Φ_φ, p x r, Eq. 19b."""
        return sp.ImmutableMatrix(
            self.n_constraints, self.n_dependent, lambda i, j: sp.diff(self.Phi[i], self.phi.symbols[j])
        )

    @cached_property
    def Phi_h(self) -> sp.ImmutableMatrix:
        """Φ_h, p x s, Eq. 24a."""
        return sp.ImmutableMatrix(
            self.n_constraints, self.n_independent, lambda i, j: sp.diff(self.Phi[i], self.h.symbols[j])
        )

    @cached_property
    def Phi_t(self) -> Row:
        """Φ_t, p, Eq. 24b."""
        return tuple(sp.diff(e, self.t) for e in self.Phi)

    @cached_property
    def blocks(self) -> tuple[Block, ...] | None:
        """Blocks of the square system, or None for least squares (p > r)."""
        if self.n_constraints != self.n_dependent:
            return None
        incidence = [
            frozenset(j for j in range(self.n_dependent) if self.Phi_phi[i, j] != 0) for i in range(self.n_constraints)
        ]
        return block_triangular(incidence, self.n_dependent)

    @cached_property
    def active(self) -> tuple[int, ...]:
        """The entries of h that the constraints contain; the columns of K for the others are zero."""
        return tuple(
            j for j in range(self.n_independent) if any(self.Phi_h[i, j] != 0 for i in range(self.n_constraints))
        )

    # ---- the orders of the motion ---------------------------------------------------------------------------------
    @cached_property
    def orders(self) -> Orders:
        """The right-hand sides of every order as SymPy expressions."""
        phi, h, par = (tuple(s.name for s in c.symbols) for c in (self.phi, self.h, self.par))
        return Orders(phi, h, par, self.Phi, symbol, sp.Integer, along)

    @property
    def velocity_rhs(self) -> Row:
        return self.orders.velocity_rhs

    @property
    def gamma(self) -> Row:
        return self.orders.gamma

    @property
    def acceleration_rhs(self) -> Row:
        return self.orders.acceleration_rhs

    @property
    def jerk_rhs(self) -> Row:
        return self.orders.jerk_rhs

    @property
    def tangent_rhs(self) -> tuple[Row, Row, Row]:
        return self.orders.tangent_rhs

    @cached_property
    def turns(self) -> tuple[Row, ...]:
        """Sine and cosine of every angle that the constraints give a value, and that value."""
        evaluate = evaluator(self.spec)
        return tuple(turn for c in self.spec.constraints if (turn := evaluate.turn(c.equation)) is not None)

    @cached_property
    def places(self) -> tuple[tuple[str, Row], ...]:
        """The points of interest by name."""
        evaluate = evaluator(self.spec)
        return tuple((formula.name, tuple(evaluate(formula.node))) for formula in self.spec.points)

    @cached_property
    def points(self) -> tuple[tuple[str, tuple[Row, Row, Row]], ...]:
        """Position, velocity and acceleration of the points of interest."""
        return tuple((name, self.orders.moving(place)) for name, place in self.places)

    # ---- small groups: K and L in symbols -----------------------------------------------------------------------
    @cached_property
    def K(self) -> sp.ImmutableMatrix | None:
        """K in symbols where r <= 2 and p = r (Eq. 25a, 27); elsewhere Eq. 25a is solved at run time."""
        if self.n_dependent > 2 or self.n_constraints != self.n_dependent:
            return None
        det = self.Phi_phi.det()
        return sp.ImmutableMatrix((-self.Phi_phi.adjugate() * self.Phi_h / det).applyfunc(sp.factor))


def evaluator(spec: GroupSpec) -> Evaluator:
    """Return the evaluator of the specification's formulas over SymPy symbols."""
    return spec.evaluator(symbol, SYMPY)


def derive(spec: GroupSpec) -> Derivation:
    """Return the derivation of a specification."""
    evaluate = evaluator(spec)
    rows = tuple(_smooth(spec, "constraints", c, e) for c in spec.constraints for e in evaluate.residual(c.equation))
    for p in spec.points:
        for e in evaluate(p.node):
            _smooth(spec, "points", p, e)
    for c in spec.admissible:
        for e in evaluate.residual(c.equation):
            _smooth(spec, "admissible", c, e)

    def coordinates(names: Sequence[str]) -> Coordinates:
        return Coordinates(tuple(symbol(n) for n in names))

    return Derivation(spec, coordinates(spec.phi), coordinates(spec.h), coordinates(spec.par), rows)


def _smooth(spec: GroupSpec, table: str, item: Constraint | Formula, e: sp.Expr) -> sp.Expr:
    """Return the expression unless it is no real number everywhere it is defined, or has no derivative."""
    wrong = ""
    if e.has(sp.zoo, sp.oo, -sp.oo, sp.nan):
        wrong = "divides by zero, or takes log(0), whatever the coordinates are - correct the formula"
    elif e.has(sp.I):
        wrong = "takes the root (or log) of a negative number, always - correct the formula"
    elif e.has(sp.Abs, sp.sign):
        wrong = "contains |x| of a number, which has no derivative at 0 - square it: |x|^2"
    elif any(abs(n.p) > LARGEST * n.q or LARGEST * abs(n.p) < n.q for n in e.atoms(sp.Rational) if n.p):
        wrong = "contains a number beyond the range of doubles, multiplied out - write it smaller"
    elif (constant := _without_value(e)) is not None:
        wrong = f"contains {constant}, which has no real value within the range of doubles - correct the formula"
    if wrong:
        raise InputError(f'{spec.origin}:{item.line}: [{table}] {item.name}: "{item.text}" {wrong}')
    return e


def _without_value(e: sp.Expr) -> sp.Expr | None:
    """Return the innermost constant within an expression that has no finite real value: acos(2), exp(1000)."""
    inner = next((found for a in e.args if (found := _without_value(a)) is not None), None)
    if inner is not None or not e.is_number:
        return inner
    try:
        return None if abs(_constant(e)) <= LARGEST else e
    except (ArithmeticError, ValueError, TypeError):  # TypeError: a complex number has no order
        return e


def _constant(e: sp.Expr) -> float:
    """Return the value of a constant in doubles, from the inside out: SymPy would take all the digits that it needs."""
    if not e.args:
        return float(e)
    values = [_constant(a) for a in e.args]
    if e.is_Add:
        return math.fsum(values)
    if e.is_Mul:
        return math.prod(values)
    if e.is_Pow:
        return float(values[0] ** values[1])
    return float(getattr(math, e.func.__name__)(*values))


def by_least_squares(derivation: Derivation) -> str:
    """Return ", least squares (9 equations for 6 unknowns)" for a group with more equations than unknowns, else ""."""
    p, r = derivation.n_constraints, derivation.n_dependent
    return f", least squares ({p} equations for {r} unknowns)" if p > r else ""


def row_labels(derivation: Derivation) -> tuple[str, ...]:
    """Return for each scalar row the name of its constraint, with the component where the constraint is a vector."""
    evaluate = evaluator(derivation.spec)
    labels: list[str] = []
    for c in derivation.spec.constraints:
        n = len(evaluate.residual(c.equation))
        labels += [c.name] if n == 1 else [f"{c.name}.{'xyz'[i]}" for i in range(n)]
    return tuple(labels)
