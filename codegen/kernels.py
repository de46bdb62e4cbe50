"""Derivation -> GroupIR: every kernel of a group type as straight-line code. SymPy ends here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sympy as sp

from . import ir
from .closedform import ClosedForm
from .derive import Coordinates, Derivation, Row, symbol
from .linear import (
    EXPLICIT_ORDER,
    BlockSolver,
    Namer,
    cofactors,
    determinant,
    factor_blocks,
    factor_elimination,
    solve_blocks,
    solver_of,
)
from .pool import Pool
from .position_kernel import closed_form_position
from .tensor_kernel import tensor_acceleration

# A third-order tensor is written out where it stays readable; larger ones run in loops.
MAX_UNROLLED_3OT = (3, 12)


@dataclass(frozen=True)
class GroupIR:
    """All kernels of one type in their order, with what the template must know of it."""

    kernels: tuple[ir.Kernel, ...]
    solver: str
    has_closed_form: bool
    has_unrolled_3ot: bool
    branches: tuple[str, ...]
    n_factors: int
    block_sizes: tuple[int, ...]


Vectors = list[tuple[str, Sequence[sp.Symbol | str]]]


class _Builder:
    """Makes one kernel after the other from the derivation."""

    def __init__(self, derivation: Derivation, closed_form: ClosedForm | None) -> None:
        self.d = derivation
        self.closed_form = closed_form
        self.kernels: list[ir.Kernel] = []
        self.solver = solver_of(derivation.n_constraints, derivation.n_dependent, derivation.blocks)
        self.factor_names: list[str] = []
        d = derivation
        self.state: Vectors = [("phi", d.phi.symbols), ("h", d.h.symbols), ("par", d.par.symbols)]
        self.u: Vectors = [("u_phi", d.phi.named("u")), ("u_h", d.h.named("u"))]
        self.v: Vectors = [("v_phi", d.phi.named("v")), ("v_h", d.h.named("v"))]

    def kernel(
        self,
        name: str,
        doc: str,
        vectors: Vectors,
        scalars: tuple[str, ...],
        fill: Callable[[Pool], Sequence[str]],
        output: str | None = None,
    ) -> None:
        """Add a kernel: `fill` asks the pool for its results and returns their names."""
        symbols = [str(s) for _, group in vectors for s in group]
        pool = Pool([*symbols, *scalars], steady=[str(s) for s in self.d.par.symbols])
        results = tuple(fill(pool))
        sections = pool.sections()
        read = frozenset(n for section in sections for a in section.statements for n in ir.names(a.value)) | frozenset(
            results
        )
        arguments = tuple(ir.Argument(n, tuple(map(str, g)), read & frozenset(map(str, g))) for n, g in vectors)
        count = sum(ir.operations(a.value) for section in sections for a in section.statements)
        self.kernels.append(ir.Kernel(name, doc, arguments, scalars, sections, results, output, count))

    def rows(self, name: str, doc: str, vectors: Vectors, scalars: tuple[str, ...], rows: Row, prefix: str) -> None:
        """Add a kernel that returns the given expressions as a tuple."""

        def fill(pool: Pool) -> list[str]:
            targets = [pool.fresh(f"{prefix}{i}") for i in range(len(rows))]
            for target, row in zip(targets, rows, strict=True):
                pool.assign(target, pool.freeze(row))
            return targets

        self.kernel(name, doc, vectors, scalars, fill)

    def matrix(self, name: str, doc: str, entries: sp.ImmutableMatrix, output: str) -> None:
        """Add a kernel that writes a matrix into the caller's array, one line per entry."""

        def fill(pool: Pool) -> list[str]:
            for i in range(entries.rows):
                for j in range(entries.cols):
                    pool.assign(f"{output}[{i}, {j}]", pool.freeze(entries[i, j]))
            return []

        self.kernel(name, doc, self.state, ("t",), fill, output)

    # ---- the kernels --------------------------------------------------------------------------------------------
    def build(self) -> GroupIR:
        d = self.d
        hdot: Vectors = [("hdot", d.h.rate(1))]
        rates: Vectors = [("phidot", d.phi.rate(1)), ("hdot", d.h.rate(1))]
        self.rows("constraint_at", "Φ(φ, h, t), Eq. 17.", self.state, ("t",), d.Phi, "Phi_")
        self.matrix("jacobian_dependent_at", "Φ_φ into an array p x r, Eq. 19b.", d.Phi_phi, "Phi_phi")
        self.matrix("jacobian_independent_at", "Φ_h into an array p x s, Eq. 24a.", d.Phi_h, "Phi_h")
        if d.rheonomic:
            self.rows("jacobian_time_at", "Φ_t, Eq. 24b.", self.state, ("t",), d.Phi_t, "Phi_t_")
        if self.solver == "unrolled":
            self.factor_and_solve()
        if self.closed_form:
            self.position(self.closed_form)
        self.rows("velocity_rhs", "-(Φ_h ḣ + Φ_t), Eq. 22c.", self.state + hdot, ("t",), d.velocity_rhs, "rhs_")
        self.rows(
            "acceleration_rhs",
            "-(Φ_h ḧ + (d/dt Φ_q) q̇ + d/dt Φ_t), Eq. 30b (TD).",
            [*self.state, *rates, ("hddot", d.h.rate(2))],
            ("t",),
            d.acceleration_rhs,
            "rhs_",
        )
        self.rows(
            "jerk_rhs",
            "Right-hand side of the third derivative, one order above Eq. 30b.",
            [
                *self.state,
                *rates,
                ("phiddot", d.phi.rate(2)),
                ("hddot", d.h.rate(2)),
                ("hdddot", d.h.rate(3)),
            ],
            ("t",),
            d.jerk_rhs,
            "rhs_",
        )
        self.rows(
            "curvature_at",
            "∂²Φ along u and v: right-hand sides of Eq. 39 are -curvature(u_i, u_k), u_i = (K e_i, e_i).",
            self.state + self.u + self.v,
            ("t", "_u_t", "_v_t"),
            d.curvature,
            "c_",
        )
        if self.solver == "qr":
            self.least_squares_terms()
        unrolled_3ot = (
            self.solver == "unrolled" and d.n_dependent <= MAX_UNROLLED_3OT[0] and len(d.active) <= MAX_UNROLLED_3OT[1]
        )
        if unrolled_3ot:
            self.third_order_tensor()
        self.tangent()
        if d.spec.points:
            self.points()
        blocks = d.blocks or ()
        branches = self.closed_form.branches if self.closed_form else ()
        return GroupIR(
            tuple(self.kernels),
            self.solver,
            self.closed_form is not None,
            unrolled_3ot,
            branches,
            len(self.factor_names),
            tuple(b.size for b in blocks),
        )

    def factored(self, pool: Pool) -> tuple[BlockSolver, list[str]]:
        """Ask for the factorised blocks of Φ_φ in a pool."""
        d = self.d
        assert d.blocks is not None
        matrix = [[pool.freeze(d.Phi_phi[i, j]) for j in range(d.n_dependent)] for i in range(d.n_constraints)]
        keep = Namer(pool)
        return factor_blocks(matrix, d.blocks, keep), keep.names

    def factor_and_solve(self) -> None:
        d = self.d
        assert d.blocks is not None
        found: list[BlockSolver] = []

        def factor(pool: Pool) -> list[str]:
            solver, names = self.factored(pool)
            found.append(solver)
            self.factor_names = names
            return names

        sizes = ", ".join(str(b.size) for b in d.blocks)
        how = (
            "explicit inverse"
            if max(b.size for b in d.blocks) <= EXPLICIT_ORDER
            else "elimination with run-time pivoting"
        )
        self.kernel(
            "factor_at",
            f"Φ_φ factorised, blocks of {sizes} ({how}), for solve_with.",
            self.state,
            ("t",),
            factor,
        )

        def solve(pool: Pool) -> list[str]:
            rhs = [pool.symbol(f"r{i}") for i in range(d.n_dependent)]
            x = solve_blocks(found[0], rhs, pool, pool.name)
            named = (
                v if v.factor == 1 and v.constant is None else pool.assign(pool.fresh(f"y{i}"), v)
                for i, v in enumerate(x)
            )
            return [v.name for v in named]

        vectors: Vectors = [("factors", self.factor_names), ("rhs", [f"r{i}" for i in range(d.n_dependent)])]
        self.kernel("solve_with", "x with Φ_φ x = rhs, from the factors.", vectors, (), solve)
        self.kernel(
            "conditioning_at",
            "Distance from singularity, 0 to 1: least |det| / Π|row| or pivot ratio of the blocks.",
            self.state,
            ("t",),
            self.conditioning,
        )

    def conditioning(self, pool: Pool) -> list[str]:
        d = self.d
        assert d.blocks is not None
        least = pool.number(1)
        for block in d.blocks:
            a = [[pool.freeze(d.Phi_phi[r, c]) for c in block.columns] for r in block.rows]
            if block.size > EXPLICIT_ORDER:
                sizes = [pool.call("abs", v) for v in factor_elimination(a, Namer(pool)).pivots]  # reciprocals
                value = pool.extreme(sizes, smallest=True) / pool.extreme(sizes, smallest=False)
            else:
                norms = [pool.call("sqrt", pool.sum([v * v for v in row])) for row in a]
                value = pool.call("abs", pool.lift(determinant(a, cofactors(a)))) / pool.product(norms)
            least = pool.extreme([least, value], smallest=True) if value.constant is None else least
        return [pool.assign(pool.fresh("indicator"), least).name]

    def position(self, form: ClosedForm) -> None:
        vectors: Vectors = [("h", self.d.h.symbols), ("par", self.d.par.symbols), ("branch", list(form.branches))]
        doc = "φ(h) in closed form on the branch given by its signs, and the margin of assembly."
        self.kernel("position_at", doc, vectors, ("t",), lambda pool: closed_form_position(pool, self.d, form))

    def third_order_tensor(self) -> None:
        d = self.d

        def fill(pool: Pool) -> list[str]:
            pool.section = "Φ_φ factorised"
            return tensor_acceleration(pool, d, self.factored(pool)[0])

        vectors: Vectors = [*self.state, ("hdot", d.h.rate(1)), ("hddot", d.h.rate(2))]
        self.kernel("acceleration_3ot_at", "φ̈ by the third-order tensor, Eq. 36 (3OT).", vectors, ("t",), fill)

    def least_squares_terms(self) -> None:
        d = self.d
        rate = {
            **dict(zip(d.phi.symbols, d.phi.named("v"), strict=True)),
            **dict(zip(d.h.symbols, d.h.named("v"), strict=True)),
        }
        rows = tuple(
            sp.Add(*(sp.diff(f, x) * v for x, v in rate.items()), sp.diff(f, d.t) * symbol("_v_t")) for f in d.Phi
        )
        self.rows(
            "rate_at",
            "Φ_φ v_φ + Φ_h v_h + Φ_t v_t, what a rate leaves of Eq. 22b.",
            self.state + self.v,
            ("t", "_v_t"),
            rows,
            "w_",
        )
        weights: Vectors = [("weights", [f"_w{i}" for i in range(d.n_constraints)])]
        self.rows(
            "curvature_transposed_at",
            "(D_u Φ_φ)ᵀ w, the terms of Eq. 42a and 43 that only least squares has.",
            self.state + self.u + weights,
            ("t", "_u_t"),
            d.curvature_transposed,
            "c_",
        )

    def tangent(self) -> None:
        d = self.d
        first, second, third = d.tangent_rhs
        names = ("φ", "φ̇", "φ̈")
        dstate: Vectors = [("dh", d.h.named("d")), ("dpar", d.par.named("d"))]
        dphi: Vectors = [("dphi", d.phi.named("d"))]
        rates: Vectors = [("phidot", d.phi.rate(1)), ("hdot", d.h.rate(1))]
        dhdot: Vectors = [("dhdot", Coordinates(d.h.rate(1)).named("d"))]
        dphidot: Vectors = [("dphidot", Coordinates(d.phi.rate(1)).named("d"))]
        dhddot: Vectors = [("dhddot", Coordinates(d.h.rate(2)).named("d"))]
        second_rates: Vectors = [("phiddot", d.phi.rate(2)), ("hddot", d.h.rate(2))]
        doc = "Right-hand side for the change of {} with changes of h, its rates and the parameters."
        self.rows("tangent_position_rhs", doc.format(names[0]), self.state + dstate, ("t",), first, "rhs_")
        self.rows(
            "tangent_velocity_rhs",
            doc.format(names[1]),
            self.state + rates + dstate + dphi + dhdot,
            ("t",),
            second,
            "rhs_",
        )
        self.rows(
            "tangent_acceleration_rhs",
            doc.format(names[2]),
            self.state + rates + second_rates + dstate + dphi + dhdot + dphidot + dhddot,
            ("t",),
            third,
            "rhs_",
        )

    def points(self) -> None:
        d = self.d
        vectors: Vectors = [
            *self.state,
            ("phidot", d.phi.rate(1)),
            ("hdot", d.h.rate(1)),
            ("phiddot", d.phi.rate(2)),
            ("hddot", d.h.rate(2)),
        ]

        def fill(pool: Pool) -> list[str]:
            for i, (name, orders) in enumerate(d.points):
                pool.section = f"{name}: position, velocity, acceleration"
                for order, row in enumerate(orders):
                    for axis, expression in enumerate(row):
                        pool.assign(f"out[{i}, {order}, {axis}]", pool.freeze(expression))
            return []

        self.kernel(
            "points_at",
            "Position, velocity, acceleration of the points of interest into out[point, order, axis], Eq. 44-47.",
            vectors,
            ("t",),
            fill,
            "out",
        )

        def jerks(pool: Pool) -> list[str]:
            for i, row in enumerate(d.point_jerks):
                for axis, expression in enumerate(row):
                    pool.assign(f"out[{i}, 0, {axis}]", pool.freeze(expression))
            return []

        third: Vectors = [("phidddot", d.phi.rate(3)), ("hdddot", d.h.rate(3))]
        doc = "The third derivative of the points of interest into out[point, 0, axis]."
        self.kernel("points_jerk_at", doc, vectors + third, ("t",), jerks, "out")

        def tangents(pool: Pool) -> list[str]:
            for i, orders in enumerate(d.point_tangents):
                for order, row in enumerate(orders):
                    for axis, expression in enumerate(row):
                        pool.assign(f"out[{i}, {order}, {axis}]", pool.freeze(expression))
            return []

        changes: Vectors = [("dphi", d.phi.named("d")), ("dh", d.h.named("d")), ("dpar", d.par.named("d"))]
        for order, dots in ((1, "dot"), (2, "ddot")):
            changes.append((f"dphi{dots}", Coordinates(d.phi.rate(order)).named("d")))
            changes.append((f"dh{dots}", Coordinates(d.h.rate(order)).named("d")))
        doc = "Changes of the points of interest and of their rates into out[point, order, axis]."
        self.kernel("tangent_points_at", doc, vectors + changes, ("t",), tangents, "out")


def build_kernels(derivation: Derivation, closed_form: ClosedForm | None) -> GroupIR:
    """Return all kernels of a group type."""
    return _Builder(derivation, closed_form).build()
