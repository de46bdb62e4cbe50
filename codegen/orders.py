"""The right-hand sides of every order of Φ(φ, h, t) = 0, written once over any algebra that can differentiate.

The algebra is SymPy's where formulas are shown, solved or taken as the truth of a verification, and that of a pool
where they become code. Equation numbers are those of Saura, Segado and Dopico (paper [S]), with the misprints
corrected: K_t in (33)/(36), the sign of ḃ in (42a), the overall sign of (40).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Scalar = Any  # of the algebra
Row = tuple[Scalar, ...]
Direction = Mapping[Scalar, Scalar]


def rate_names(names: Sequence[str], order: int) -> tuple[str, ...]:
    """Return the names of the derivatives of order 1 to 3."""
    return tuple(f"{name}_{'d' * order}ot" for name in names)


def companions(names: Sequence[str], prefix: str) -> tuple[str, ...]:
    """Return companions such as _u_x_C; the leading underscore is not open to specifications."""
    return tuple(f"_{prefix}_{name}" for name in names)


def _minus(row: Row) -> Row:
    return tuple(-e for e in row)


def _plus(a: Row, b: Row) -> Row:
    return tuple(x + y for x, y in zip(a, b, strict=True))


@dataclass(frozen=True)
class Orders:
    """Everything that follows from the rows Φ by differentiation; `along` is the derivative along a direction."""

    phi: tuple[str, ...]
    h: tuple[str, ...]
    par: tuple[str, ...]
    Phi: Row
    symbol: Callable[[str], Scalar]
    number: Callable[[int], Scalar]
    along: Callable[[Sequence[Scalar], Direction], Row]

    # ---- directions -------------------------------------------------------------------------------------------
    def direction(self, names: Sequence[str], values: Sequence[str]) -> dict[Scalar, Scalar]:
        """Return the direction in which each name changes by the symbol beside it."""
        return {self.symbol(x): self.symbol(dx) for x, dx in zip(names, values, strict=True)}

    def known(self, order: int) -> dict[Scalar, Scalar]:
        return self.direction(self.h, rate_names(self.h, order))

    def motion(self, order: int) -> dict[Scalar, Scalar]:
        """Return the direction of the rates of φ and h of an order; time runs along with the first."""
        time = {self.symbol("t"): self.number(int(order == 1))}
        return self.direction(self.phi, rate_names(self.phi, order)) | self.known(order) | time

    def free(self, prefix: str) -> dict[Scalar, Scalar]:
        """Return a direction of (φ, h, t) whose entries are inputs, named by a prefix."""
        time = {self.symbol("t"): self.symbol(f"_{prefix}_t")}
        names = (*self.phi, *self.h)
        return self.direction(names, companions(names, prefix)) | time

    # ---- first order --------------------------------------------------------------------------------------------
    def column(self, name: str) -> Row:
        """∂Φ/∂x for one coordinate, parameter or t: a column of Eq. 19b, 24a or 24b."""
        return self.along(self.Phi, {self.symbol(name): self.number(1)})

    def jacobian(self, names: Sequence[str]) -> tuple[Row, ...]:
        """∂Φ/∂x for several names, as rows."""
        columns = [self.column(name) for name in names]
        return tuple(tuple(column[i] for column in columns) for i in range(len(self.Phi)))

    @cached_property
    def velocity_rhs(self) -> Row:
        """-(Φ_h ḣ + Φ_t), right-hand side of Eq. 22c."""
        return _minus(self.along(self.Phi, {**self.known(1), self.symbol("t"): self.number(1)}))

    # ---- higher orders ------------------------------------------------------------------------------------------
    @cached_property
    def gamma(self) -> Row:
        """(d/dt Φ_q) q̇ + d/dt Φ_t, the part of Φ̈ without second derivatives, Eq. 30a and 31."""
        qdot = self.motion(1)
        return self.along(self.along(self.Phi, qdot), qdot)

    @cached_property
    def acceleration_rhs(self) -> Row:
        """-(Φ_h ḧ + γ), right-hand side of Eq. 30b."""
        return _minus(_plus(self.along(self.Phi, self.known(2)), self.gamma))

    @cached_property
    def second(self) -> Row:
        """Φ̈ along the motion."""
        return _plus(self.along(self.Phi, self.motion(2)), self.gamma)

    @cached_property
    def jerk_rhs(self) -> Row:
        """-(Φ_h h⃛ + d/dt(rest)), one order above Eq. 30b."""
        names = (*self.phi, *self.h)
        rates = self.direction(rate_names(names, 1), rate_names(names, 2))
        rates |= self.direction(rate_names(self.h, 2), rate_names(self.h, 3))
        return _minus(self.along(self.second, {**self.motion(1), **rates}))

    def bend(self, u: Direction, v: Direction) -> Row:
        """∂²Φ along two directions: the one bilinear form behind L, K_t and d(Sb)/dt."""
        return self.along(self.along(self.Phi, u), v)

    @cached_property
    def curvature(self) -> Row:
        """∂²Φ along two directions u and v of (φ, h, t) that are inputs."""
        return self.bend(self.free("u"), self.free("v"))

    @cached_property
    def rate(self) -> Row:
        """Φ_φ v_φ + Φ_h v_h + Φ_t v_t, what a rate leaves of Eq. 22b."""
        return self.along(self.Phi, self.free("v"))

    @cached_property
    def curvature_transposed(self) -> Row:
        """(D_u Φ_φ)ᵀ w, r entries; the terms of Eq. 42 and 43 that only least squares has (w: residual of a rate)."""
        moved = self.along(self.Phi, self.free("u"))
        weights = [self.symbol(f"_w{i}") for i in range(len(self.Phi))]
        found = []
        for x in self.phi:
            slopes = self.along(moved, {self.symbol(x): self.number(1)})
            found.append(sum((w * e for w, e in zip(weights, slopes, strict=True)), self.number(0)))
        return tuple(found)

    @cached_property
    def tangent_rhs(self) -> tuple[Row, Row, Row]:
        """Right-hand sides of the tangent-linear motion: changes of φ, φ̇, φ̈ with changes of h, ḣ, ḧ and parameters.

        Φ_φ δφ = -(Φ_h δh + Φ_p δp); differentiating Φ̇ = 0 and Φ̈ = 0 along the same change gives the next two.
        """
        names = (*self.h, *self.par)
        first = _minus(self.along(self.Phi, self.direction(names, companions(names, "d"))))
        names = (*self.phi, *names, *rate_names(self.h, 1))
        second = _minus(self.along(self.along(self.Phi, self.motion(1)), self.direction(names, companions(names, "d"))))
        names = (*names, *rate_names(self.phi, 1), *rate_names(self.h, 2))
        return first, second, _minus(self.along(self.second, self.direction(names, companions(names, "d"))))

    @cached_property
    def adjoint(self) -> Row:
        """-(Φ_hᵀ w, Φ_pᵀ w): what h and parameters are worth, with Φ_φᵀ w the worth of φ; transposed `tangent_rhs`."""
        return _minus(self.worth(self.Phi, (*self.h, *self.par)))

    def worth(self, rows: Sequence[Scalar], names: Sequence[str]) -> Row:
        """Σ w_i ∂row_i/∂name for every name, with weights w that are inputs."""
        weights = [self.symbol(f"_w{i}") for i in range(len(rows))]
        found = []
        for name in names:
            slopes = self.along(rows, {self.symbol(name): self.number(1)})
            found.append(sum((w * e for w, e in zip(weights, slopes, strict=True)), self.number(0)))
        return tuple(found)

    def moving(self, place: Sequence[Scalar]) -> tuple[Row, Row, Row]:
        """Position, velocity and acceleration of a place that depends on φ and h (Eq. 44-47 without the matrices)."""
        velocity = self.along(place, self.motion(1))
        acceleration = _plus(self.along(place, self.motion(2)), self.along(velocity, self.motion(1)))
        return tuple(place), velocity, acceleration

    def jerk(self, place: Sequence[Scalar]) -> Row:
        """The third derivative of a place that depends on φ and h."""
        names = (*self.phi, *self.h)
        rates = self.direction(rate_names(names, 1), rate_names(names, 2))
        rates |= self.direction(rate_names(names, 2), rate_names(names, 3))
        return self.along(self.moving(place)[2], {**self.motion(1), **rates})

    def varied(self, place: Sequence[Scalar]) -> tuple[Row, Row, Row]:
        """Changes of a place, its velocity and acceleration with those of φ, h, their rates and the parameters."""
        names = (*self.phi, *self.h)
        names = (*names, *self.par, *rate_names(names, 1), *rate_names(names, 2))
        change = self.direction(names, companions(names, "d"))
        first, second, third = (self.along(row, change) for row in self.moving(place))
        return first, second, third
