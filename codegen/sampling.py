"""Random assembled configurations of a group type, and the numeric rank test that rests on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..common.errors import InputError
from .derive import Derivation, evaluator, row_labels, symbol
from .differentiate import pooled
from .doubles import function
from .orders import Orders, Row, rate_names
from .spec import Coordinate

Array = NDArray[np.float64]
# Configurations nearer to a dead point lose digits that no solver could keep; they are drawn again. The measure is
# |[Φ_φ Φ_h]| / σ_min(Φ_φ), which bounds |K|: for a dyad, 20 means a transmission angle of some 5 degrees.
WELL_CONDITIONED = 20.0
MAX_DRAWS = 400


@dataclass(frozen=True)
class Configuration:
    """An assembled configuration with admissible rates of what is known."""

    phi: Array
    h: Array
    par: Array
    t: float
    hdot: Array
    hddot: Array
    hdddot: Array


class Sampler:
    """Draws configurations: all coordinates and parameters at random, then moved the least that assembles the group."""

    def __init__(self, derivation: Derivation, seed: int) -> None:
        self.d = derivation
        self.rng = np.random.default_rng(seed)
        spec = derivation.spec
        self.variables = (*spec.phi, *spec.h, *spec.par)
        rows = (*derivation.Phi, *self.conditions)
        self._rows = function((*self.variables, "t"), lambda pool: [pool.freeze(e) for e in rows])
        self._jacobian = function(
            (*self.variables, "t"),
            lambda pool: [e for row in pooled(pool, spec, rows).jacobian(self.variables) for e in row],
        )
        self.n_rows = len(rows)

    @cached_property
    def conditions(self) -> Row:
        """What h and the parameters must satisfy: [admissible], and unit vectors of length one."""
        spec = self.d.spec
        evaluate = evaluator(spec)
        given = [e for c in spec.admissible for e in evaluate.residual(c.equation)]
        units = [c for c in (*spec.independent, *spec.parameters) if c.kind == "unit vector"]
        given += [sum(symbol(s) ** 2 for s in c.symbols) - 1 for c in units]
        return tuple(dict.fromkeys(given))

    def _start(self, coordinate: Coordinate) -> Array:
        n, rng = len(coordinate.symbols), self.rng
        match coordinate.kind:
            case "unit vector":
                v = rng.normal(size=n)
                return np.asarray(v / np.linalg.norm(v))
            case "angle":
                return rng.uniform(-math.pi, math.pi, n)
            case "length":
                return rng.uniform(0.6, 1.8, n)
            case "offset":
                return rng.uniform(-0.4, 0.4, n)
            case "profile":  # about a radius, the farther terms small enough for a whole turn
                terms = rng.uniform(-0.4, 0.4, n - 2) / 4.0 ** np.arange(n - 2)
                return np.concatenate([rng.uniform(-0.5, 0.5, 1), rng.uniform(0.6, 1.8, 1), terms / 4.0])
        return rng.uniform(-1.0, 1.0, n)

    def assembled(self) -> Configuration | None:
        """Return one assembled configuration, or None where this draw did not come together."""
        d = self.d
        coordinates = d.spec.coordinates
        x = np.concatenate([self._start(c) for c in coordinates])
        t = float(self.rng.uniform(0.0, 1.0))
        for _ in range(40):
            residual, jacobian = self._rows(*x, t), self._jacobian(*x, t).reshape(self.n_rows, len(x))
            if not (np.isfinite(residual).all() and np.isfinite(jacobian).all()):
                return None
            step = np.linalg.lstsq(jacobian, residual, rcond=1e-6)[0]
            x = x - min(1.0, 0.5 / max(float(np.max(np.abs(step))), 1e-300)) * step
            if np.max(np.abs(step)) < 1e-14:
                break
        else:
            return None
        r, s = d.n_dependent, d.n_independent
        kinds = [c.kind for c in coordinates for _ in c.symbols]
        if any(k == "length" and v < 0.1 for k, v in zip(kinds[r:], x[r:], strict=True)) or np.max(np.abs(x)) > 10:
            return None
        if not np.max(np.abs(self._rows(*x, t))) <= 1e-13 or not np.isfinite(self._jacobian(*x, t)).all():
            return None
        rates = self._rates(x[r : r + s], x[r + s :])
        if not np.isfinite(rates).all():
            return None
        found = Configuration(x[:r], x[r : r + s], x[r + s :], t, *rates)
        return self._consistent(found) if d.n_constraints > r else found

    @cached_property
    def _condition_rates(self) -> tuple[Callable[..., Array], Callable[..., Array], Callable[..., Array]] | None:
        """N = ∂c/∂h, and the parts of c̈ and of its derivative that do not contain the highest rate."""
        if not self.conditions:
            return None
        spec = self.d.spec
        h, first, second = spec.h, rate_names(spec.h, 1), rate_names(spec.h, 2)

        def bend(orders: Orders) -> Row:
            return orders.bend(orders.known(1), orders.known(1))

        def third(orders: Orders) -> Row:
            cddot = (a + b for a, b in zip(orders.along(orders.Phi, orders.known(2)), bend(orders), strict=True))
            return orders.along(tuple(cddot), {**orders.known(1), **orders.direction(first, second)})

        def rows(find: Callable[[Orders], Row]) -> Callable[..., Array]:
            names = (*h, *spec.par, *first, *second)
            return function(names, lambda pool: find(pooled(pool, spec, self.conditions)))

        return rows(lambda o: tuple(e for row in o.jacobian(h) for e in row)), rows(bend), rows(third)

    def _rates(self, h: Array, par: Array) -> tuple[Array, Array, Array]:
        s = len(h)
        hdot, hddot, hdddot = self.rng.uniform(-1.0, 1.0, (3, s))
        found = self._condition_rates
        if found is None:
            return hdot, hddot, hdddot
        N_of, bend, third = found
        N = N_of(*h, *par, *hdot, *hddot).reshape(-1, s)
        if not np.isfinite(N).all():
            return np.full(s, np.nan), hddot, hdddot
        inverse = np.linalg.pinv(N)
        hdot = hdot - inverse @ (N @ hdot)
        hddot = hddot - inverse @ (N @ hddot + bend(*h, *par, *hdot, *hddot))
        hdddot = hdddot - inverse @ (N @ hdddot + third(*h, *par, *hdot, *hddot))
        return hdot, hddot, hdddot

    # ---- redundant groups: rates that all rows agree on -------------------------------------------------------------
    @cached_property
    def _bends(self) -> tuple[Callable[..., Array], Callable[..., Array], Callable[..., Array]]:
        """Φ_t, γ of Eq. 30, and the right-hand side of the jerk, as functions of everything they contain."""
        spec, Phi = self.d.spec, self.d.Phi
        place = (*self.variables, "t")
        first = (*place, *rate_names((*spec.phi, *spec.h), 1))
        second = (*first, *rate_names((*spec.phi, *spec.h), 2), *rate_names(spec.h, 3))
        return (
            function(place, lambda pool: pooled(pool, spec, Phi).column("t")),
            function(first, lambda pool: pooled(pool, spec, Phi).gamma),
            function(second, lambda pool: pooled(pool, spec, Phi).jerk_rhs),
        )

    def _consistent(self, c: Configuration) -> Configuration | None:
        """Return the configuration with the nearest rates for which the redundant rows say nothing new.

        Rows that follow from others only at special lengths (a planar linkage in space, Bennett's) leave no motion at
        a random pose but that along the others: the left null space of Φ_φ asks Φ_h ḣ + Φ_t = 0, and so on in each
        order.
        """
        d, s = self.d, self.d.n_independent
        full = self._full_jacobian(c)
        P, H = full[:, : d.n_dependent], full[:, d.n_dependent : d.n_dependent + s]
        U = np.linalg.svd(P)[0][:, d.n_dependent :].T
        rate_of_time, gamma, jerk = self._bends
        x = (*c.phi, *c.h, *c.par, c.t)
        Phi_t = rate_of_time(*x)

        def conditions(hdot: Array, hddot: Array) -> tuple[Array, Array, Array]:
            if self._condition_rates is None:
                return np.zeros((0, s)), np.zeros(0), np.zeros(0)
            N, bend, third = (f(*c.h, *c.par, *hdot, *hddot) for f in self._condition_rates)
            return N.reshape(-1, s), bend, third

        N = conditions(c.hdot, c.hddot)[0]
        M = np.vstack([U @ H, N])
        u, sigma, vt = np.linalg.svd(M, full_matrices=False)
        # rows that always agree (1R) leave rounding in U Φ_h, which must not count as a condition
        kept = sigma > 1e-9 * max(float(np.linalg.norm(full)), 1.0)
        inverse = vt[kept].T / sigma[kept] @ u[:, kept].T

        def nearest(rate: Array, rows: Array, rest: Array) -> Array:
            return np.asarray(rate - inverse @ (M @ rate - np.concatenate([rows, rest])))

        hdot = nearest(c.hdot, -U @ Phi_t, np.zeros(len(N)))
        phidot = -np.linalg.lstsq(P, H @ hdot + Phi_t, rcond=None)[0]
        g = gamma(*x, *phidot, *hdot)
        hddot = nearest(c.hddot, -U @ g, -conditions(hdot, c.hddot)[1])
        phiddot = -np.linalg.lstsq(P, H @ hddot + g, rcond=None)[0]
        j = jerk(*x, *phidot, *hdot, *phiddot, *hddot, *np.zeros(s))
        hdddot = nearest(c.hdddot, U @ j, -conditions(hdot, hddot)[2])
        agreed = np.abs(U @ (H @ hdot + Phi_t)).max() < 1e-11 and np.abs(U @ (H @ hddot + g)).max() < 1e-10
        return Configuration(c.phi, c.h, c.par, c.t, hdot, hddot, hdddot) if agreed else None

    def time_derivative(self, c: Configuration) -> Array:
        """Return Φ_t at a configuration."""
        return np.asarray(self._bends[0](*c.phi, *c.h, *c.par, c.t))

    def parameters_are_free(self, c: Configuration) -> bool:
        """Return whether the redundant rows stay consistent when a parameter changes."""
        full = self._full_jacobian(c)
        U = np.linalg.svd(full[:, : self.d.n_dependent])[0][:, self.d.n_dependent :].T
        lengths = full[:, self.d.n_dependent + self.d.n_independent :]
        return bool(np.abs(U @ lengths).max(initial=0.0) < 1e-9)

    def _full_jacobian(self, c: Configuration) -> Array:
        rows = self._jacobian(*c.phi, *c.h, *c.par, c.t).reshape(self.n_rows, -1)
        return rows[: self.d.n_constraints]

    def jacobian(self, c: Configuration) -> Array:
        """Return Φ_φ at a configuration, by the symbolic expressions in floating point."""
        return self._full_jacobian(c)[:, : self.d.n_dependent]

    def condition(self, c: Configuration) -> float:
        """Return |[Φ_φ Φ_h]| / σ_min(Φ_φ), infinite at a dead point."""
        full = self._full_jacobian(c)[:, : self.d.n_dependent + self.d.n_independent]
        least = float(np.linalg.svd(full[:, : self.d.n_dependent], compute_uv=False)[-1])
        return float(np.linalg.norm(full, 2)) / least if least > 0 else math.inf

    def draw(self, count: int) -> list[Configuration]:
        """Return `count` well-conditioned assembled configurations."""
        found: list[Configuration] = []
        draws = 0
        while len(found) < count:
            draws += 1
            if draws > MAX_DRAWS + 50 * count:
                raise InputError(
                    f"{self.d.spec.place('constraints')}: only {len(found)} of {count} random configurations were "
                    "assembled well-conditioned - "
                    "check that the constraints contradict neither each other nor the [admissible] conditions"
                )
            c = self.assembled()
            if c is not None and self.condition(c) < WELL_CONDITIONED:
                found.append(c)
        return found


def check_rank(derivation: Derivation, seed: int = 1) -> None:
    """Refuse a specification whose Jacobian Φ_φ is rank-deficient in every assembled configuration; say why."""
    d, spec = derivation, derivation.spec
    labels = row_labels(d)
    sampler = Sampler(d, seed)
    worst: Array | None = None
    assembled = 0
    for _ in range(MAX_DRAWS):
        c = sampler.assembled()
        if c is None:
            continue
        assembled += 1
        jacobian = sampler.jacobian(c)
        if np.linalg.matrix_rank(jacobian, tol=1e-7 * max(1.0, float(np.linalg.norm(jacobian, 2)))) == d.n_dependent:
            return
        worst = jacobian
        if assembled == 8:
            break
    if worst is None:
        raise InputError(
            f"{spec.place('constraints')}: no random configuration could be assembled: the constraints contradict each "
            "other, or a function in them has no value (a root, logarithm, asin or acos out of range, a huge exp; "
            "numbers are drawn from -1 to 1, lengths from 0.6 to 1.8) - "
            f"look at {', '.join(dict.fromkeys(c.name for c in spec.constraints))}"
        )
    raise InputError(f"{spec.origin}:{spec.constraints[0].line}: {_explain(worst, labels, d)}")


def _explain(jacobian: Array, labels: tuple[str, ...], d: Derivation) -> str:
    rank = int(np.linalg.matrix_rank(jacobian, tol=1e-7 * max(1.0, float(np.linalg.norm(jacobian, 2)))))
    null = np.linalg.svd(jacobian)[2][rank:]
    free = [x.name for x, v in zip(d.phi.symbols, np.max(np.abs(null), axis=0), strict=True) if v > 1e-6]
    idle = [label for label, row in zip(labels, jacobian, strict=True) if np.max(np.abs(row)) < 1e-12]
    left = np.linalg.svd(jacobian.T)[2][rank:]
    bound = [
        label for label, v in zip(labels, np.max(np.abs(left), axis=0), strict=True) if v > 1e-6 and label not in idle
    ]
    text = (
        f"the constraints are rank-deficient in every configuration: rank {rank} for {d.n_dependent} unknowns. "
        f"Left free: {', '.join(free)}."
    )
    if idle:
        text += f" Contain no unknown, so they only restrict what is known already: {', '.join(idle)}."
    if bound:
        text += f" Say the same thing more than once: {', '.join(bound)}."
    return text + (
        " Replace what is said twice by what is still missing. In a PPP chain, which is no dyad: replace one prismatic "
        "joint by a revolute, or drive the free slide (move its coordinate to [independent])."
    )
