"""The velocity coefficients and their derivatives in symbols: K, L, S b, K_t and d(S b)/dt of any type (Eq. 25-43).

Entries of K, S b and the rates are symbols of their own, as in the paper's Eq. 40, so that L of a group of any size is
a page and not a book. With A = Φ_φ (p = r) or A = Φ_φᵀ Φ_φ (p > r), each quantity X solves A X = right-hand side.
Corrected against the paper: the sign of Eq. 40, that of ḃ in Eq. 42a, and the term K_t ḣ that Eq. 33 and 36 lack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from .derive import Derivation, along, symbol

EXPLICIT = 3  # unknowns up to which the inverse is written out; beyond four nobody could read it
Direction = Mapping[sp.Symbol, sp.Expr]


@dataclass(frozen=True)
class Coefficients:
    """What A X = B says for every X of a type; `columns` are those of h that stand in the constraints.

    `touching`: profiles are taken where they touch, at which their series is developed; else the series stays general.
    """

    d: Derivation
    touching: bool = False

    @property
    def square(self) -> bool:
        return self.d.n_constraints == self.d.n_dependent

    @property
    def columns(self) -> tuple[int, ...]:
        return self.d.active

    # ---- the matrix and its inverse -------------------------------------------------------------------------------
    @cached_property
    def A(self) -> sp.ImmutableMatrix:
        """Φ_φ, or Φ_φᵀ Φ_φ of least squares (Eq. 28)."""
        P = self.d.Phi_phi
        return P if self.square else sp.ImmutableMatrix((P.T * P).applyfunc(sp.factor_terms))

    @cached_property
    def inverse(self) -> tuple[sp.Expr, sp.ImmutableMatrix]:
        """χ and N with A⁻¹ = N/χ; numbers that all entries of the adjugate share are taken out (Eq. 20)."""
        chi, adjugate = sp.expand(self.A.det()), self.A.adjugate().applyfunc(sp.expand)
        shared = sp.gcd_list([e.as_content_primitive()[0] for e in adjugate if e != 0]) or sp.Integer(1)
        return sp.factor_terms(chi / shared), sp.ImmutableMatrix((adjugate / shared).applyfunc(sp.factor))

    # ---- first order ----------------------------------------------------------------------------------------------
    @cached_property
    def _depends(self) -> tuple[frozenset[sp.Symbol], ...]:
        """Which of h and t each unknown depends on, from the order in which blocks are solved."""
        d = self.d
        known = frozenset((*(d.h.symbols[j] for j in d.active), *((d.t,) if d.rheonomic else ())))
        if d.blocks is None:
            return (known,) * d.n_dependent
        found: dict[int, frozenset[sp.Symbol]] = {}
        for block in d.blocks:
            used = frozenset().union(*(d.Phi[row].free_symbols for row in block.rows))
            reached = used & known
            for j, x in enumerate(d.phi.symbols):
                if x in used and j in found:
                    reached |= found[j]
            found.update(dict.fromkeys(block.columns, reached))
        return tuple(found[i] for i in range(d.n_dependent))

    @cached_property
    def K(self) -> sp.ImmutableMatrix:
        """K in symbols K_i,j, zero where φ_i does not depend on h_j."""
        d = self.d
        return sp.ImmutableMatrix(
            d.n_dependent,
            d.n_independent,
            lambda i, j: symbol(f"K_{i + 1},{j + 1}") if d.h.symbols[j] in self._depends[i] else sp.Integer(0),
        )

    @cached_property
    def Sb(self) -> tuple[sp.Expr, ...]:
        """S b in symbols (S b)_i, zero where φ_i does not depend on time explicitly."""
        return tuple(
            symbol(f"Sb_{i + 1}") if self.d.t in found else sp.Integer(0) for i, found in enumerate(self._depends)
        )

    def weighted(self, rows: sp.MatrixBase) -> sp.ImmutableMatrix:
        """B of A X = B for rows of Φ_φ X = rows: themselves, or Φ_φᵀ rows of least squares."""
        return sp.ImmutableMatrix(rows if self.square else self.d.Phi_phi.T * rows)

    @cached_property
    def K_rhs(self) -> sp.ImmutableMatrix:
        """B of K, Eq. 25a or 28a."""
        return self.weighted(-self.d.Phi_h)

    @cached_property
    def Sb_rhs(self) -> sp.ImmutableMatrix:
        """B of S b, which is b itself: Eq. 25c or 28c."""
        return self.weighted(-sp.Matrix(self.d.Phi_t))

    # ---- second order ---------------------------------------------------------------------------------------------
    def along_h(self, i: int) -> Direction:
        """The direction in which h_i alone changes: dφ = K_i dh_i."""
        d = self.d
        return {**dict(zip(d.phi.symbols, self.K[:, i], strict=True)), d.h.symbols[i]: sp.Integer(1)}

    @cached_property
    def along_time(self) -> Direction:
        """The direction in which time alone changes: dφ = S b dt."""
        return {**dict(zip(self.d.phi.symbols, self.Sb, strict=True)), self.d.t: sp.Integer(1)}

    @cached_property
    def along_motion(self) -> Direction:
        return dict(self.d.orders.motion(1))

    def moved(self, direction: Direction) -> sp.ImmutableMatrix:
        """Φ_φ changed along a direction: Φ_φ/h_i of Eq. 38, or its rate."""
        P = self.d.Phi_phi
        return sp.ImmutableMatrix(P.rows, P.cols, along(list(P), direction))

    def bent(self, u: Direction, others: Sequence[Direction]) -> sp.ImmutableMatrix:
        """-∂²Φ(u, v), one column for each v: the right-hand side of Eq. 39 and 34a."""
        if self.touching:
            return -sp.ImmutableMatrix([self._bent_at_contact(u, v) for v in others]).T
        once = along(self.d.Phi, u)
        return -sp.ImmutableMatrix([list(along(once, v)) for v in others]).T

    # ---- profiles -------------------------------------------------------------------------------------------------
    @cached_property
    def _contact(self) -> tuple[Mapping[sp.Symbol, sp.Expr], Mapping[sp.Symbol, sp.Expr]]:
        """What makes a profile's Taylor series, which is developed where it touches, its value r and slopes r', r''."""
        place, slopes = {}, {}
        for profile, unknown in self.d.spec.profiles:
            at, *series = (symbol(name) for name in profile.symbols)
            place[at] = symbol(unknown)
            for k, coefficient in enumerate(series):
                slopes[coefficient] = symbol(profile.name + "'" * k) / sp.factorial(k)
        return place, slopes

    def at_contact(self, value: sp.Basic) -> sp.Basic:
        """An expression that is not differentiated any more, in values and slopes of its profiles."""
        place, slopes = self._contact
        return value.xreplace(place).xreplace(slopes)

    @cached_property
    def _hessian(self) -> dict[tuple[sp.Symbol, sp.Symbol], tuple[sp.Expr, ...]]:
        """The second derivatives of Φ that are not zero, once for all columns: with profiles they are long."""
        names = (*self.d.phi.symbols, *(self.d.h.symbols[j] for j in self.d.active), self.d.t)
        found = {}
        for i, x in enumerate(names):
            once = [sp.diff(e, x) for e in self.d.Phi]
            for y in names[i:]:
                entry = tuple(sp.diff(e, y).xreplace(self._contact[0]) for e in once)
                if any(e != 0 for e in entry):
                    found[x, y] = found[y, x] = entry
        return found

    def _bent_at_contact(self, u: Direction, v: Direction) -> list[sp.Expr]:
        """∂²Φ(u, v) from its table."""
        found = [sp.Integer(0)] * self.d.n_constraints
        for (x, y), entry in self._hessian.items():
            weight = u.get(x, sp.Integer(0)) * v.get(y, sp.Integer(0))
            if weight != 0:
                found = [total + weight * e for total, e in zip(found, entry, strict=True)]
        return found

    def rows_of_L(self, i: int, columns: Sequence[int] | None = None) -> sp.ImmutableMatrix:
        """-(Φ_h/h_i + Φ_φ/h_i K), p x s or some of its columns, Eq. 39."""
        columns = range(self.d.n_independent) if columns is None else columns
        return self.bent(self.along_h(i), [self.along_h(j) for j in columns])

    @cached_property
    def open_K(self) -> sp.ImmutableMatrix:
        """Φ_φ K + Φ_h: what least squares leaves; zero where the redundant rows agree for every change of h."""
        return sp.ImmutableMatrix(self.d.Phi_phi * self.K + self.d.Phi_h)

    def _system(self, rows: sp.MatrixBase, u: Direction, left: sp.MatrixBase) -> sp.ImmutableMatrix:
        """B of A X' = B for a derivative along u of A X = -Φ_φᵀ Y, where Φ_φ X + Y = left."""
        if self.square:
            return sp.ImmutableMatrix(rows)
        return sp.ImmutableMatrix(self.d.Phi_phi.T * rows - self.moved(u).T * left)

    def L_rhs(self, i: int, columns: Sequence[int] | None = None) -> sp.ImmutableMatrix:
        """B of L_i = dK/dh_i: Eq. 39, or Eq. 43 in the form Φ_φᵀ rows - Φ_φ/h_iᵀ (Φ_φ K + Φ_h)."""
        columns = range(self.d.n_independent) if columns is None else columns
        return self._system(self.rows_of_L(i, columns), self.along_h(i), self.open_K[:, list(columns)])

    @property
    def rows_of_K_t(self) -> sp.ImmutableMatrix:
        """-(D Φ_h + D Φ_φ K), p x s, D along φ̇ = S b and explicit time: the term that Eq. 33 and 36 lack."""
        return self.bent(self.along_time, [self.along_h(j) for j in range(self.d.n_independent)])

    @property
    def K_t_rhs(self) -> sp.ImmutableMatrix:
        return self._system(self.rows_of_K_t, self.along_time, self.open_K)

    @property
    def rows_of_Sb_dot(self) -> sp.ImmutableMatrix:
        """-(d/dt Φ_φ S b + d/dt Φ_t), p x 1, Eq. 34."""
        return self.bent(self.along_motion, [self.along_time])

    @property
    def Sb_dot_rhs(self) -> sp.ImmutableMatrix:
        """B of d(S b)/dt: Eq. 34a, or Eq. 42a with + ḃ."""
        left = self.d.Phi_phi * sp.Matrix(self.Sb) + sp.Matrix(self.d.Phi_t)
        return self._system(self.rows_of_Sb_dot, self.along_motion, left)

    def solved(self, rhs: sp.MatrixBase) -> sp.ImmutableMatrix:
        """χ times the solution of A X = rhs."""
        return sp.ImmutableMatrix((self.inverse[1] * rhs).applyfunc(sp.factor_terms))
