"""The last digits of a design: least squares with exact Jacobians, or sequential quadratic programming where
requirements are active."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..mechanism.model import Array
from .synthesis_problem import SynthesisProblem
from .synthesis_search import HARD, Candidate

FINE = 181  # lanes at which requirements are kept in the end
LOST = 1e6  # residual, in sizes of the targets, of a design that is not assembled


def polished(problem: SynthesisProblem, candidate: Candidate) -> Array:
    """Return the unknowns with the least sum of squares next to a candidate that keep the requirements."""
    u = candidate.unknowns
    if candidate.cost <= 1e-24 * problem.scale**2:
        return u
    if problem.conditions.asked and _lack(problem, u) < 1e-3 * problem.scale:
        return _constrained(problem, u)
    return _least_squares(problem, u)


def _lack(problem: SynthesisProblem, u: Array) -> float:
    """Return the least condition; negative where one is not kept."""
    c = problem.conditions.at(u[None, : problem.p], problem.signs, FINE)[0]
    return float(c.min()) if c.size else np.inf


def _least_squares(problem: SynthesisProblem, u: Array) -> Array:
    from scipy.optimize import least_squares

    function = problem.penalised(HARD)

    def both(x: Array) -> tuple[Array, Array]:
        r, J = function(x[None])
        good = np.isfinite(r[0]).all() and np.isfinite(J[0]).all()
        return (r[0], J[0]) if good else (np.full(r.shape[1], LOST * problem.scale), np.zeros(J.shape[1:]))

    low, high = problem.lower, problem.upper
    kept: dict[bytes, tuple[Array, Array]] = {}

    def at(x: Array) -> tuple[Array, Array]:
        key = x.tobytes()
        if key not in kept:
            kept.clear()
            kept[key] = both(x)
        return kept[key]

    found = least_squares(
        lambda x: at(x)[0], np.clip(u, low, high), lambda x: at(x)[1], bounds=(low, high), x_scale="jac", xtol=1e-15,
        ftol=1e-15, gtol=1e-15, max_nfev=60,
    )  # fmt: skip
    before = both(u)[0]
    return np.asarray(found.x) if 2.0 * found.cost < before @ before else u


def _constrained(problem: SynthesisProblem, u: Array) -> Array:
    from scipy.optimize import minimize

    p = problem.p
    size = problem.scale**2

    def cost(x: Array) -> tuple[float, Array]:
        r, J = problem.residuals(x[None])
        if not np.isfinite(r).all():
            return LOST, np.zeros(len(x))
        return float(r[0] @ r[0]) / size, 2.0 * (r[0] @ J[0]) / size

    kept: dict[bytes, tuple[Array, Array]] = {}

    def both(x: Array) -> tuple[Array, Array]:
        key = x.tobytes()
        if key not in kept:
            kept.clear()
            c, dc = problem.conditions.at(x[None, :p], problem.signs, FINE)
            slopes = np.zeros((c.shape[1], len(x)))
            slopes[:, :p] = dc[0] / problem.scale
            kept[key] = c[0] / problem.scale, slopes
        return kept[key]

    constraints: Any = {"type": "ineq", "fun": lambda x: both(x)[0], "jac": lambda x: both(x)[1]}
    bounds = list(zip(problem.lower, problem.upper, strict=True))
    with np.errstate(all="ignore"):
        found = minimize(
            cost, u, jac=True, method="SLSQP", bounds=bounds, constraints=constraints,
            options={"ftol": 1e-15, "maxiter": 150},
        )  # fmt: skip
    x = np.clip(found.x, problem.lower, problem.upper)
    return x if both(x)[0].min() >= -1e-7 and np.isfinite(cost(x)[0]) else u
