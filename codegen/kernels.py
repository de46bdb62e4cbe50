"""Derivation -> GroupIR: every kernel of a group type as straight-line code.

SymPy ends with the rows Φ: they are put into a pool, and what follows from them by differentiation is made there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import ir
from .blocks import Block
from .closedform import ClosedForm
from .conditioning import conditioning
from .derive import Derivation
from .differentiate import pooled
from .linear import (
    EXPLICIT_ORDER,
    BlockSolver,
    Namer,
    factor_blocks,
    solve_blocks,
    solve_blocks_transposed,
    solver_of,
)
from .orders import Orders, Row, companions, rate_names
from .position_kernel import closed_form_position
from .tensor_kernel import tensor_acceleration
from .value_numbering import Pool, Value

# A third-order tensor is written out where lanes go side by side (closed forms) and it stays readable: entries of L
# that differ. Others run in loops, lane by lane, over the coordinates that move.
MAX_UNROLLED_3OT = 234


@dataclass(frozen=True)
class GroupIR:
    """All kernels of one type in their order, with what the template must know of it."""

    kernels: tuple[ir.Kernel, ...]
    solver: str
    has_closed_form: bool
    has_unrolled_3ot: bool
    branches: tuple[str, ...]
    block_sizes: tuple[int, ...]


# What a reader of the unrolled elimination must know.
PIVOTING = (
    "The pivot is found without a branch, so that lanes that pivot differently stay together: row after row is "
    "compared with the pivot's, and of every entry one of the two is chosen. aIJ_2 is entry aIJ after its next change."
)
Vectors = list[tuple[str, Sequence[str]]]


class _Builder:
    """Makes one kernel after the other from the derivation."""

    def __init__(
        self, derivation: Derivation, closed_form: ClosedForm | None, blocks: tuple[Block, ...] | None
    ) -> None:
        self.d, self.blocks = derivation, blocks
        self.closed_form = closed_form
        self.kernels: list[ir.Kernel] = []
        self.solver = solver_of(derivation.n_constraints, derivation.n_dependent, blocks)
        self.factor_names: list[str] = []
        self.phi, self.h, self.par = derivation.spec.phi, derivation.spec.h, derivation.spec.par
        self.state: Vectors = [("phi", self.phi), ("h", self.h), ("par", self.par)]
        self.u: Vectors = [("u_phi", companions(self.phi, "u")), ("u_h", companions(self.h, "u"))]
        self.v: Vectors = [("v_phi", companions(self.phi, "v")), ("v_h", companions(self.h, "v"))]
        self.rates: Vectors = [("phidot", rate_names(self.phi, 1)), ("hdot", rate_names(self.h, 1))]
        self.seconds: Vectors = [("phiddot", rate_names(self.phi, 2)), ("hddot", rate_names(self.h, 2))]

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
        symbols = [s for _, group in vectors for s in group]
        pool = Pool([*symbols, *scalars], steady=self.par)
        results = tuple(fill(pool))
        sections = pool.sections()
        read = frozenset(n for section in sections for a in section.statements for n in ir.names(a.value)) | frozenset(
            results
        )
        arguments = tuple(ir.Argument(n, tuple(g), read & frozenset(g)) for n, g in vectors)
        count = sum(ir.operations(a.value) for section in sections for a in section.statements)
        self.kernels.append(ir.Kernel(name, doc, arguments, scalars, sections, results, output, count))

    def orders(self, pool: Pool) -> Orders:
        """Return the orders of the motion as values of a pool."""
        return pooled(pool, self.d.spec, self.d.Phi)

    def rows(
        self,
        name: str,
        doc: str,
        vectors: Vectors,
        scalars: tuple[str, ...],
        find: Callable[[Orders, Pool], Row],
        prefix: str,
    ) -> None:
        """Add a kernel that returns the rows found in the orders of the motion as a tuple."""

        def fill(pool: Pool) -> list[str]:
            rows = find(self.orders(pool), pool)
            targets = [pool.fresh(f"{prefix}{i}") for i in range(len(rows))]
            for target, row in zip(targets, rows, strict=True):
                pool.assign(target, row)
            return targets

        self.kernel(name, doc, vectors, scalars, fill)

    def matrix(self, name: str, doc: str, columns: Sequence[str], output: str) -> None:
        """Add a kernel that writes a Jacobian into the caller's array, one line per entry."""

        def fill(pool: Pool) -> list[str]:
            for i, row in enumerate(self.orders(pool).jacobian(columns)):
                for j, entry in enumerate(row):
                    pool.assign(f"{output}[{i}, {j}]", entry)
            return []

        self.kernel(name, doc, self.state, ("t",), fill, output)

    # ---- the kernels --------------------------------------------------------------------------------------------
    def build(self) -> GroupIR:
        d = self.d
        hdot, hddot, hdddot = (rate_names(self.h, k) for k in (1, 2, 3))
        self.rows("constraint_at", "Φ(φ, h, t), Eq. 17.", self.state, ("t",), lambda o, _: o.Phi, "Phi_")
        self.matrix("jacobian_dependent_at", "Φ_φ into an array p x r, Eq. 19b.", self.phi, "Phi_phi")
        self.matrix("jacobian_independent_at", "Φ_h into an array p x s, Eq. 24a.", self.h, "Phi_h")
        if d.rheonomic:
            self.rows("jacobian_time_at", "Φ_t, Eq. 24b.", self.state, ("t",), lambda o, _: o.column("t"), "Phi_t_")
        if self.solver == "unrolled":
            self.factor_and_solve()
        if self.closed_form:
            self.position(self.closed_form)
        elif d.turns and not d.spec.profiles:
            self.turns()
        known: Vectors = [("hdot", hdot)]
        doc = "-(Φ_h ḣ + Φ_t), Eq. 22c."
        self.rows("velocity_rhs", doc, self.state + known, ("t",), lambda o, _: o.velocity_rhs, "rhs_")
        self.rows(
            "acceleration_rhs",
            "-(Φ_h ḧ + (d/dt Φ_q) q̇ + d/dt Φ_t), Eq. 30b (TD).",
            [*self.state, *self.rates, ("hddot", hddot)],
            ("t",),
            lambda o, _: o.acceleration_rhs,
            "rhs_",
        )
        self.rows(
            "jerk_rhs",
            "Right-hand side of the third derivative, one order above Eq. 30b.",
            [*self.state, *self.rates, *self.seconds, ("hdddot", hdddot)],
            ("t",),
            lambda o, _: o.jerk_rhs,
            "rhs_",
        )
        self.rows(
            "curvature_at",
            "∂²Φ along u and v: right-hand sides of Eq. 39 are -curvature(u_i, u_k), u_i = (K e_i, e_i).",
            self.state + self.u + self.v,
            ("t", "_u_t", "_v_t"),
            lambda o, _: o.curvature,
            "c_",
        )
        if self.solver == "qr":
            self.least_squares_terms()
        entries = d.n_dependent * math.comb(len(d.active) + 1, 2)
        small = self.blocks is not None and max(b.size for b in self.blocks) <= EXPLICIT_ORDER
        lanes = self.closed_form is not None and self.solver == "unrolled"
        unrolled_3ot = lanes and small and entries <= MAX_UNROLLED_3OT
        if unrolled_3ot:
            self.third_order_tensor()
        self.tangent()
        if d.spec.points:
            self.points()
        blocks = self.blocks or ()
        branches = self.closed_form.branches if self.closed_form else ()
        return GroupIR(
            tuple(self.kernels),
            self.solver,
            self.closed_form is not None,
            unrolled_3ot,
            branches,
            tuple(b.size for b in blocks),
        )

    def factored(self, pool: Pool) -> tuple[BlockSolver, list[str]]:
        """Ask for the factorised blocks of Φ_φ in a pool."""
        assert self.blocks is not None
        matrix = [list(row) for row in self.orders(pool).jacobian(self.phi)]
        keep = Namer(pool)
        return factor_blocks(matrix, self.blocks, keep), keep.names

    def factor_and_solve(self) -> None:
        blocks, d, p = self.blocks, self.d, self.d.n_constraints
        assert blocks is not None
        found: list[BlockSolver] = []

        def factor(pool: Pool) -> list[str]:
            solver, names = self.factored(pool)
            found.append(solver)
            self.factor_names = names
            return names

        sizes = ", ".join(f"{len(b.rows)} x {b.size}" if b.redundant else str(b.size) for b in blocks)
        explicit = max(b.size for b in blocks) <= EXPLICIT_ORDER and not any(b.redundant for b in blocks)
        doc = f"Φ_φ factorised, blocks of {sizes} (explicit inverse), for solve_with."
        if not explicit:
            doc = f"Φ_φ factorised, blocks of {sizes} (elimination, partial pivoting), for solve_with. " + PIVOTING
        self.kernel(
            "factor_at",
            doc,
            self.state,
            ("t",),
            factor,
        )

        systems = (
            ("solve_with", "x with Φ_φ x = rhs, from the factors.", p, solve_blocks),
            ("solve_transposed", "w with Φ_φᵀ w = rhs, from the factors.", self.d.n_dependent, solve_blocks_transposed),
        )
        for name, doc, n, method in systems:

            def solve(pool: Pool, n: int = n, method: Callable[..., list[Value]] = method) -> list[str]:
                solved = method(found[0], [pool.symbol(f"r{i}") for i in range(n)], pool, pool.name)
                named = (
                    v if v.factor == 1 and v.constant is None else pool.assign(pool.fresh(f"y{i}"), v)
                    for i, v in enumerate(solved)
                )
                return [v.name for v in named]

            vectors: Vectors = [("factors", self.factor_names), ("rhs", [f"r{i}" for i in range(n)])]
            self.kernel(name, doc, vectors, (), solve)
        doc = "Squared distance from singularity, 0 to 1: least |det| / Π|row| or pivot ratio of the blocks."
        if not self.closed_form:
            doc = doc[:-1] + "; the sign of det Φ_φ (of its square blocks), which is that of the branch."
        self.kernel(
            "conditioning_at",
            doc,
            self.state,
            ("t",),
            lambda pool: conditioning(pool, d, self.orders(pool), self.phi, blocks, signed=not self.closed_form),
        )

    def position(self, form: ClosedForm) -> None:
        vectors: Vectors = [("h", self.h), ("par", self.par), ("branch", form.branches)]
        doc = "φ(h) in closed form on the branch given by its signs, and the margin of assembly."
        self.kernel("position_at", doc, vectors, ("t",), lambda pool: closed_form_position(pool, self.d, form))

    def third_order_tensor(self) -> None:
        d = self.d

        def fill(pool: Pool) -> list[str]:
            pool.section = "Φ_φ factorised"
            return tensor_acceleration(pool, d, self.orders(pool), self.factored(pool)[0])

        vectors: Vectors = [*self.state, ("hdot", rate_names(self.h, 1)), ("hddot", rate_names(self.h, 2))]
        self.kernel("acceleration_3ot_at", "φ̈ by the third-order tensor, Eq. 36 (3OT).", vectors, ("t",), fill)

    def least_squares_terms(self) -> None:
        self.rows(
            "rate_at",
            "Φ_φ v_φ + Φ_h v_h + Φ_t v_t, what a rate leaves of Eq. 22b.",
            self.state + self.v,
            ("t", "_v_t"),
            lambda o, _: o.rate,
            "w_",
        )
        weights: Vectors = [("weights", [f"_w{i}" for i in range(self.d.n_constraints)])]
        self.rows(
            "curvature_transposed_at",
            "(D_u Φ_φ)ᵀ w, the terms of Eq. 42a and 43 that only least squares has.",
            self.state + self.u + weights,
            ("t", "_u_t"),
            lambda o, _: o.curvature_transposed,
            "c_",
        )

    def tangent(self) -> None:
        def change(name: str, of: Sequence[str]) -> Vectors:
            return [(name, companions(of, "d"))]

        h, par, phi = change("dh", self.h), change("dpar", self.par), change("dphi", self.phi)
        hdot, hddot = (change(f"dh{'d' * k}ot", rate_names(self.h, k)) for k in (1, 2))
        phidot = change("dphidot", rate_names(self.phi, 1))
        first = [*self.state, *h, *par]
        second = [*self.state, *self.rates, *h, *par, *phi, *hdot]
        third = [*self.state, *self.rates, *self.seconds, *h, *par, *phi, *hdot, *phidot, *hddot]
        quantities = (("position", "φ", first), ("velocity", "φ̇", second), ("acceleration", "φ̈", third))
        for order, (quantity, letter, vectors) in enumerate(quantities):
            self.rows(
                f"tangent_{quantity}_rhs",
                f"Right-hand side for the change of {letter} with changes of h, its rates and the parameters.",
                vectors,
                ("t",),
                lambda o, _, order=order: o.tangent_rhs[order],  # type: ignore[misc]
                "rhs_",
            )
        weights: Vectors = [("weights", [f"_w{i}" for i in range(self.d.n_constraints)])]
        doc = "-(Φ_hᵀ w, Φ_pᵀ w): the worth of h and of the parameters, with Φ_φᵀ w that of φ."
        self.rows("adjoint_at", doc, [*self.state, *weights], ("t",), lambda o, _: o.adjoint, "a_")

    def turns(self) -> None:
        def fill(pool: Pool) -> list[str]:
            values = [pool.freeze(e) for turn in self.d.turns for e in turn]
            targets = [pool.fresh(f"turn_{i}") for i in range(len(values))]
            for target, value in zip(targets, values, strict=True):
                pool.assign(target, value)
            return targets

        doc = "Sine and cosine of every angle between two directions, by their lengths, and what it equals."
        self.kernel("turns_at", doc, self.state, ("t",), fill)

    def points(self) -> None:
        vectors: Vectors = [*self.state, *self.rates, *self.seconds]

        def fill(pool: Pool) -> list[str]:
            orders = self.orders(pool)
            for i, (name, place) in enumerate(self.d.places):
                pool.section = f"{name}: position, velocity, acceleration"
                for order, row in enumerate(orders.moving([pool.freeze(e) for e in place])):
                    for axis, value in enumerate(row):
                        pool.assign(f"out[{i}, {order}, {axis}]", value)
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
            orders = self.orders(pool)
            for i, (_, place) in enumerate(self.d.places):
                for axis, value in enumerate(orders.jerk([pool.freeze(e) for e in place])):
                    pool.assign(f"out[{i}, 0, {axis}]", value)
            return []

        third: Vectors = [("phidddot", rate_names(self.phi, 3)), ("hdddot", rate_names(self.h, 3))]
        doc = "The third derivative of the points of interest into out[point, 0, axis]."
        self.kernel("points_jerk_at", doc, [*vectors, *third], ("t",), jerks, "out")

        def tangents(pool: Pool) -> list[str]:
            orders = self.orders(pool)
            for i, (_, place) in enumerate(self.d.places):
                for order, row in enumerate(orders.varied([pool.freeze(e) for e in place])):
                    for axis, value in enumerate(row):
                        pool.assign(f"out[{i}, {order}, {axis}]", value)
            return []

        changes: Vectors = [
            (name, companions(of, "d")) for name, of in (("dphi", self.phi), ("dh", self.h), ("dpar", self.par))
        ]
        for order, dots in ((1, "dot"), (2, "ddot")):
            changes.append((f"dphi{dots}", companions(rate_names(self.phi, order), "d")))
            changes.append((f"dh{dots}", companions(rate_names(self.h, order), "d")))
        doc = "Changes of the points of interest and of their rates into out[point, order, axis]."
        self.kernel("tangent_points_at", doc, [*vectors, *changes], ("t",), tangents, "out")

        def worth(orders: Orders, pool: Pool) -> Row:
            places = [pool.freeze(e) for _, place in self.d.places for e in place]
            return orders.worth(places, (*self.phi, *self.h, *self.par))

        n = sum(len(place) for _, place in self.d.places)
        weights: Vectors = [("weights", [f"_w{i}" for i in range(n)])]
        doc = "The worth of φ, h and the parameters for that of the points of interest, component by component."
        self.rows("adjoint_points_at", doc, [*self.state, *weights], ("t",), worth, "a_")


def build_kernels(derivation: Derivation, closed_form: ClosedForm | None, blocks: tuple[Block, ...] | None) -> GroupIR:
    """Return all kernels of a group type that is solved by blocks, or (None) by least squares."""
    return _Builder(derivation, closed_form, blocks).build()
