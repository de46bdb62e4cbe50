"""Every quantity of a type three ways: symbolic, by its emitted module, and differences of the solved motion."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from types import FunctionType
from typing import Any

import numpy as np

from ..common.status import OK
from .derive import Derivation
from .differences import Independent, motion_by_differences, points_by_differences, tangent_by_differences
from .reference import Symbolic, SymbolicState, array, ball_function, balls, floats
from .sampling import Configuration, Sampler
from .verification_errors import BOUND, Array, CompiledType, Verification, relative

# Newton is started this far off (relative to a group of size one) when it is compared with the closed form.
NEWTON_OFFSET = 1e-3


def sizes_of_K(derivation: Derivation, Phi_phi: Array, Phi_h: Array) -> Array:
    """Return the size of the terms that K = -Φ_φ⁻¹ Φ_h is the sum of.

    K may cancel to zero, and so may an entry of Φ_h, which is a difference: none is more exact than the largest of its
    row.
    """
    contained = np.array(derivation.Phi_h.tolist(), dtype=object) != 0
    rows = np.where(contained, np.abs(Phi_h).max(axis=1, keepdims=True, initial=0.0), 0.0)
    return np.asarray(np.abs(np.linalg.pinv(Phi_phi)) @ rows)


class _Check:
    """One type under verification; each method compares one family of quantities at one configuration.

    The symbolic route may be left out: SymPy's derivatives take longer than all the rest.
    """

    def __init__(
        self,
        derivation: Derivation,
        group: CompiledType,
        running: CompiledType,
        result: Verification,
        symbolic: bool,
        scale: Array | None = None,
    ) -> None:
        self.d, self.group, self.m, self.running = derivation, group, group.module, running
        # Of a type that is only run, what a motion calls is compiled; everything where all of it is verified. Functions
        # over lanes take bare pointers: as plain Python there are none.
        compiled = not isinstance(running.module.newton_at, FunctionType)
        self.lane_functions = () if not compiled else ("sweep", "sweep_3ot") if running is group else ("sweep",)
        self.result = result
        self.symbolic = Symbolic(derivation) if symbolic else None
        self.independent = Independent(derivation)
        self.sampler = Sampler(derivation, seed=20260)
        self.rng = np.random.default_rng(7)
        r, s, n = derivation.n_dependent, derivation.n_independent, len(derivation.par.symbols)
        self.r, self.s, self.n_par = r, s, n
        self.scale = np.ones(r) if scale is None else scale  # of a change of each unknown that is not small
        self.work = np.zeros(self.m.WORK)
        self.square = derivation.n_constraints == r
        self.order_sign = 0.0  # of the order in which rows and columns make blocks
        self.branch = np.zeros(0)
        self.K: Array = np.zeros((r, s))  # the size of what is added up

    @cached_property
    def points_of(self) -> dict[str, Callable[..., Any]]:
        """The points of interest with their rates, by the symbolic route."""
        d = self.d
        names = [*d.phi.symbols, *d.h.symbols, *d.par.symbols]
        names += [*d.phi.rate(1), *d.h.rate(1), *d.phi.rate(2), *d.h.rate(2), d.t]
        return {name: ball_function(names, [e for row in rows for e in row]) for name, rows in d.points}

    def call(self, function: Callable[..., int], *arguments: Any) -> None:
        """Call a function of the module; a status other than OK counts as an infinite error of the quantity."""
        if function(*arguments) != OK:
            self.result.add(function.__name__, "symbolic", float("inf"))

    def all(self, c: Configuration) -> None:
        truth = self.symbolic.at(c) if self.symbolic else None
        Phi_phi = self.jacobians(c, truth)
        solve = self.independent.solver(c, Phi_phi)
        phi, phidot, phiddot, phidddot = motion_by_differences(solve, c)
        self.positions(c, phi)
        v, a = self.rates(c, truth, (phidot, phiddot, phidddot))
        self.tensors(c, truth, (phidot, phiddot), v, a)
        self.tangent(c, truth, solve, v, a)
        routes = {"independent": (phi, phidot, phiddot)}
        if truth:
            routes["symbolic"] = (phi, array(truth.phidot)[:, 0], array(truth.phiddot)[:, 0])
        self.sweeps(c, routes)
        self.quality(c)
        self.points(c, solve, v, a)

    def off_assembly(self, c: Configuration) -> tuple[Array, Array]:
        """Return a φ where Φ is not zero, and Φ there; nearer where a function of Φ would have no value."""
        offset = self.scale * self.rng.uniform(0.1, 0.3, self.r)
        for _ in range(50):
            away = c.phi + offset
            Phi = floats(self.independent.constraint(balls(away), balls(c.h), balls(c.par), *balls([c.t])))
            if np.isfinite(Phi).all():
                break
            offset *= 0.5
        return away, Phi

    def jacobians(self, c: Configuration, truth: SymbolicState | None) -> Array:
        away, by_tree = self.off_assembly(c)
        value = self.group.constraint(away, c.h, c.par, c.t)
        self.result.add("Phi", "independent", relative(value, by_tree))
        Phi_phi, Phi_h = self.group.jacobians(c.phi, c.h, c.par, c.t)
        numeric = self.independent.jacobian(c)
        self.K = sizes_of_K(self.d, *numeric)
        self.result.add("Phi_phi", "independent", relative(Phi_phi, numeric[0]))
        self.result.add("Phi_h", "independent", relative(Phi_h, numeric[1]))
        if self.symbolic and truth:
            self.result.add("Phi", "symbolic", relative(value, self.symbolic.constraint(away, c)))
            self.result.add("Phi_phi", "symbolic", relative(Phi_phi, array(truth.P)))
            self.result.add("Phi_h", "symbolic", relative(Phi_h, array(truth.H)))
        return numeric[0]  # what is solved independently owes nothing to compiled code

    def positions(self, c: Configuration, phi: Array) -> None:
        size = np.concatenate([phi, c.h])
        scale = float(np.max(np.abs(size)))
        newton = phi + NEWTON_OFFSET * self.scale * self.rng.uniform(-1, 1, self.r)
        solver = self.m if self.m.CLOSED_FORM else self.running.module  # a motion calls Newton only where it must
        self.call(solver.newton, newton, c.h, c.par, c.t, self.work)
        self.result.add("position (Newton)", "independent", float(np.max(np.abs(newton - phi))) / scale)
        if not self.m.CLOSED_FORM:
            return
        best = np.inf
        for signs in itertools.product((1.0, -1.0), repeat=len(self.m.BRANCHES)):
            closed, branch = np.empty(self.r), np.array(signs)
            if self.running.module.position(closed, c.h, c.par, c.t, branch, self.work) == OK:
                error = float(np.max(np.abs(closed - phi))) / scale
                if error < best:
                    best, self.branch, nearest = error, branch, closed
        self.result.add("position (closed)", "independent", best)
        if np.isfinite(best):
            self.result.add("closed - Newton", "independent", float(np.max(np.abs(nearest - newton))) / scale)

    def terms(self, *rates: Array) -> float:
        """Size of the terms K ẋ for the given rates of h, all of order one in the sampled configurations."""
        return max(float(np.max(self.K @ np.abs(x))) for x in rates)

    def rates(
        self, c: Configuration, truth: SymbolicState | None, differences: tuple[Array, Array, Array]
    ) -> tuple[Array, Array]:
        v, a, j = np.empty((3, self.r))
        state = (c.phi, c.h, c.par, c.t)
        self.call(self.m.velocity, *state, c.hdot, v, self.work)
        self.call(self.m.acceleration, *state, v, c.hdot, c.hddot, a, self.work)
        self.call(self.m.jerk, *state, v, c.hdot, a, c.hddot, c.hdddot, j, self.work)
        exact = [array(x)[:, 0] for x in (truth.phidot, truth.phiddot, truth.phidddot)] if truth else None
        terms = self.terms(c.hdot)
        for order, (name, value) in enumerate((("velocity", v), ("acceleration TD", a), ("jerk", j))):
            if exact:
                self.result.add(name, "symbolic", relative(value, exact[order], terms))
            self.result.add(name, "independent", relative(value, differences[order], terms))
            terms = max(terms, float(np.max(np.abs(differences[order]))), self.terms(c.hddot, c.hdddot))
        return v, a

    def exact(self, name: str, value: Array, truth: SymbolicState, of: Callable[[SymbolicState], Array]) -> None:
        """Compare with the symbolic route, relative to the size of the terms: the sum may cancel to zero."""
        terms = float(np.max(np.abs(of(truth.sizes)), initial=0.0))
        self.result.add(name, "symbolic", relative(value, of(truth), terms))

    def tensors(
        self, c: Configuration, truth: SymbolicState | None, differences: tuple[Array, Array], v: Array, a: Array
    ) -> None:
        K, L, a3 = np.empty((self.r, self.s)), np.empty((self.s, self.r, self.s)), np.empty(self.r)
        state = (c.phi, c.h, c.par, c.t)
        self.call(self.m.acceleration_3ot, *state, c.hdot, c.hddot, K, L, a3, self.work)
        if truth:
            self.exact("K", K, truth, lambda of: array(of.K))
            self.exact("L", L, truth, lambda of: np.array([array(m) for m in of.L]))
        phidot, phiddot = differences
        Sb, Sb_dot, K_t = np.zeros(self.r), np.zeros(self.r), np.zeros((self.r, self.s))
        if self.m.RHEONOMIC:
            Phi_t = np.empty(self.d.n_constraints)
            self.call(
                self.m.jacobians,
                *state,
                np.empty((self.d.n_constraints, self.r)),
                np.empty((self.d.n_constraints, self.s)),
                Phi_t,
            )
            self.call(self.m.rheonomic_terms, *state, c.hdot, K, Sb, K_t, Sb_dot, self.work)
            if truth:
                self.result.add("Phi_t", "symbolic", relative(Phi_t, array(truth.Phi_t)[:, 0]))
                self.exact("S b", Sb, truth, lambda of: array(of.Sb)[:, 0])
                self.exact("K_t", K_t, truth, lambda of: array(of.K_t))
                self.exact("d(Sb)/dt", Sb_dot, truth, lambda of: array(of.Sb_dot)[:, 0])
        # K and L against the solved motion: contracted with the rates, a random direction of every draw
        first = self.terms(c.hdot)
        self.result.add("K", "independent", relative(K @ c.hdot + Sb, phidot, first))
        bend = np.einsum("i,ijk,k->j", c.hdot, L, c.hdot)
        rest = K @ c.hddot + K_t @ c.hdot + Sb_dot
        second = max(
            first,
            float(np.max(np.einsum("i,ijk,k->j", np.abs(c.hdot), np.abs(L), np.abs(c.hdot)))),
            self.terms(c.hddot),
        )
        self.result.add("L", "independent", relative(bend + rest, phiddot, second))
        if truth:
            self.result.add("acceleration 3OT", "symbolic", relative(a3, array(truth.phiddot)[:, 0], second))
        self.result.add("acceleration 3OT", "independent", relative(a3, phiddot, second))
        self.result.add("TD - 3OT", "independent", relative(a3, a, second))

    def tangent(
        self, c: Configuration, truth: SymbolicState | None, solve: Callable[..., Any], v: Array, a: Array
    ) -> None:
        # Least squares: only changes that keep the redundant rows consistent have a motion to compare with.
        known = self.rng.uniform(-1, 1, (3, self.s)) if self.square else np.zeros((3, self.s))
        dpar = self.rng.uniform(-1, 1, self.n_par)
        if not self.square and not self.sampler.parameters_are_free(c):
            dpar = np.zeros(self.n_par)
        out = np.empty((3, self.r))
        self.call(self.m.tangent, c.phi, c.h, c.par, c.t, v, c.hdot, a, c.hddot, *known, dpar, *out, self.work)
        exact = truth.tangent(known[0], known[1], known[2], dpar) if truth else None
        numeric = tangent_by_differences(solve, c, (*known, dpar))
        terms = self.terms(*known)
        for order, name in enumerate(("d position", "d velocity", "d acceleration")):
            if exact:
                self.result.add(name, "symbolic", relative(out[order], exact[order], terms))
            self.result.add(name, "independent", relative(out[order], numeric[order], terms))
            terms = max(terms, float(np.max(np.abs(numeric[order]))), self.terms(c.hdot, c.hddot))
        if self.running is self.group and self.lane_functions:
            self.lanes_of_changes(c, (v, a), known, dpar, exact or numeric)

    def lanes_of_changes(
        self, c: Configuration, rates: tuple[Array, Array], known: Array, dpar: Array, exact: Sequence[Array]
    ) -> None:
        """Columns, sensitivities and jerks over lanes: two columns, the second one twice the first."""
        s, rows, t = self.s, self.s + self.r, np.array([c.t])
        state, changes = np.zeros((3, rows, 1)), np.zeros((2, self.n_par + self.r + 1))
        state[:, :s, 0] = c.h, c.hdot, c.hddot
        state[:, s:, 0] = c.phi, *rates
        changes[:, : self.n_par] = dpar, 2 * dpar
        for function, argument in (("sweep_tangents", 3), ("sweep_columns", 0)):
            out = np.zeros((3, 2 * rows, 1))
            out[:, :s, 0], out[:, rows : rows + s, 0] = known, 2 * known
            self.group.over_lanes(function, t, state, c.par, self.branch, argument, out=out, columns=2, changes=changes)
            first, second = out[:, s:rows, 0], out[:, rows + s :, 0]
            name = function.replace("_", " ")
            self.result.add(name, "independent", relative(second, 2 * first))
            if function == "sweep_tangents":
                terms = self.terms(*known, c.hdot, c.hddot)
                worst = max(relative(a, np.asarray(b), terms) for a, b in zip(first, exact, strict=True))
                self.result.add(name, "symbolic", worst)
            else:
                K = np.empty((self.r, self.s))
                self.call(self.m.velocity_coefficients, c.phi, c.h, c.par, c.t, K, self.work)
                self.result.add(name, "symbolic", relative(first[0], K @ known[0], self.terms(known[0])))
        if hasattr(self.m, "sweep_adjoint"):  # w·δφ = h̄·δh + p̄·δp: the walk backwards against the one forwards
            w, worth = self.rng.uniform(-1, 1, self.r), np.zeros_like(changes[:1])
            out = np.zeros((3, rows + self.n_par, 1))
            out[0, s:rows, 0] = w
            self.group.over_lanes("sweep_adjoint", t, state, c.par, self.branch, out=out, changes=worth)
            back = np.concatenate([out[0, :s, 0] * known[0], worth[0, : self.n_par] * dpar])
            terms = max(float(np.abs(back).max(initial=0.0)), float(np.abs(w * np.asarray(exact[0])).max()))
            forth = np.array([w @ np.asarray(exact[0])])
            self.result.add("sweep adjoint", "independent", relative(np.array([back.sum()]), forth, terms))
        third = np.zeros((3, rows, 1))
        third[0, :s, 0] = c.hdddot
        self.group.over_lanes("sweep_jerks", t, state, c.par, self.branch, out=third)
        single = np.empty(self.r)
        self.call(self.m.jerk, c.phi, c.h, c.par, c.t, rates[0], c.hdot, rates[1], c.hddot, c.hdddot, single, self.work)
        terms = self.terms(c.hdot, c.hddot, c.hdddot)
        self.result.add("sweep jerks", "symbolic", relative(third[0, s:, 0], single, terms))

    def sweeps(self, c: Configuration, routes: dict[str, tuple[Array, Array, Array]]) -> None:
        """One lane of the compiled sweeps."""
        start = routes["independent"][0]
        for name, function in (("sweep TD", "sweep"), ("sweep 3OT", "sweep_3ot")):
            if function not in self.lane_functions:
                continue
            state = np.zeros((3, self.s + self.r, 1))
            state[:, : self.s, 0] = c.h, c.hdot, c.hddot
            state[0, self.s :, 0] = start + NEWTON_OFFSET * self.scale * self.rng.uniform(-1, 1, self.r)
            self.running.over_lanes(function, np.array([c.t]), state, c.par, self.branch, 0)
            q, qdot, qddot = state[:, self.s :, 0]
            failed = not np.isfinite(state).all()
            scale = float(np.max(np.abs(np.concatenate([start, c.h]))))
            first = self.terms(c.hdot)
            for route, truth in routes.items():
                place = float(np.max(np.abs(q - truth[0]))) / scale
                second = max(first, float(np.max(np.abs(truth[1]))), self.terms(c.hddot))
                worst = max(place, relative(qdot, truth[1], first), relative(qddot, truth[2], second))
                self.result.add(name, route, float("inf") if failed else worst)

    def quality(self, c: Configuration) -> None:
        """Conditioning and residual of one lane, as a run asks for them."""
        if not self.lane_functions:
            return
        away, Phi = self.off_assembly(c)
        state, out = np.zeros((3, self.s + self.r, 1)), np.empty((3, 1, 1))
        state[0, :, 0] = np.concatenate([c.h, away])
        self.running.over_lanes("sweep_quality", np.array([c.t]), state, c.par, self.branch, out=out)
        quality, residual, orientation = out[:, 0]
        self.result.add("residual", "independent", relative(residual, np.array([np.max(np.abs(Phi))])))
        if self.square and not self.m.CLOSED_FORM:
            sign = float(np.sign(np.linalg.det(self.group.jacobians(away, c.h, c.par, c.t)[0]) * orientation[0]))
            self.order_sign = self.order_sign or sign
            self.result.add("orientation", "independent", abs(sign - self.order_sign))
        single = np.array([self.group.conditioning(away, c.h, c.par, c.t)])
        self.result.add("conditioning", "independent", float(np.max(np.abs(quality - single))))

    def points(self, c: Configuration, solve: Callable[..., Any], v: Array, a: Array) -> None:
        if not self.group.points_of_interest:
            return
        found = self.group.points(c.phi, c.h, c.par, v, c.hdot, a, c.hddot, c.t)
        values = balls(np.concatenate([c.phi, c.h, c.par, v, c.hdot, a, c.hddot, [c.t]]))
        differences = points_by_differences(self.independent, solve, c)
        swept = self.swept_points(c, v, a) if self.lane_functions else {}
        for name in self.group.points_of_interest:
            if self.symbolic:
                exact = floats(self.points_of[name](*values)).reshape(3, -1)
                self.result.add("points of interest", "symbolic", relative(found[name], exact))
            self.result.add("points of interest", "independent", relative(found[name], differences[name]))
            if name in swept:
                self.result.add("sweep points", "independent", relative(swept[name], differences[name]))

    def swept_points(self, c: Configuration, v: Array, a: Array) -> dict[str, Array]:
        """The points of interest of one lane, their rows after those of h and φ."""
        names = self.group.points_of_interest
        n, dimension, known = len(names), self.d.spec.dimension, self.r + self.s
        state = np.zeros((3, known + n * dimension, 1))
        state[:, :known, 0] = [np.concatenate(x) for x in ((c.h, c.phi), (c.hdot, v), (c.hddot, a))]
        self.running.over_lanes("sweep_points", np.array([c.t]), state, c.par, self.branch)
        found = state[:, known:, 0].reshape(3, n, dimension)
        return {name: found[:, i] for i, name in enumerate(names)}


def verify_module(
    derivation: Derivation,
    group: CompiledType,
    count: int,
    bound: float = BOUND,
    running: CompiledType | None = None,
    compile_done: Callable[[], None] = lambda: None,
    advance: Callable[[], None] = lambda: None,
    symbolic: bool = True,
    configurations: Sequence[Configuration] | None = None,
    allowances: Sequence[float] | None = None,
    scale: Array | None = None,
) -> Verification:
    """Return the errors of a type over random configurations; `compile_done` is called after the first.

    `configurations` are those of a mechanism's own motion instead, with unknowns of the order `scale`; the errors of
    each are divided by its allowance.

    Without `symbolic` every quantity is compared with differences of the solved motion alone.

    `running` is the compiled type where `group` is the same module as plain Python: of it the functions are checked
    that a motion calls (position, Newton, the sweeps), so that no others need be compiled for that.
    """
    result = Verification(group.name, count, bound=bound)
    check = _Check(derivation, group, running or group, result, symbolic, scale)
    configurations = check.sampler.draw(count) if configurations is None else configurations
    begin = time.perf_counter()
    for number, configuration in enumerate(configurations):
        result.allowance = 1.0 if allowances is None else allowances[number]
        with np.errstate(all="ignore"):  # as in compiled code
            check.all(configuration)
        if number == 0:
            compile_done()
            begin = time.perf_counter()
        advance()
    result.seconds = time.perf_counter() - begin
    return result
