"""A global start of a synthesis by CMA-ES (extra `cma`): a population that adapts its shape, then the same descent."""

from __future__ import annotations

import numpy as np

from ..common.errors import InputError
from ..mechanism.model import Array
from .levenberg import descend
from .synthesis_problem import SynthesisProblem
from .synthesis_search import HARD, LONG, SOFT, Candidate, branches, projected, sampled

EVALUATIONS = 20_000


def evolved(problem: SynthesisProblem) -> list[Candidate]:
    """Return one candidate per assembly: the best of a population, taken downhill."""
    try:
        import cma
    except ImportError:
        raise InputError("the global start needs the package cma: pip install 'assurgent[cma]'") from None
    found = []
    for k, signs in enumerate(branches(problem)):
        problem.signs = signs
        rng = np.random.default_rng([problem.task.seed, k, 1])
        u, cost = projected(problem, sampled(problem, rng, 512))
        start = u[np.argmin(cost)]
        low, high = _box(problem, start)
        options = {
            "bounds": [0.0, 1.0], "seed": problem.task.seed + 1, "verbose": -9, "maxfevals": EVALUATIONS,
            "popsize": 4 + 4 * len(start),
        }  # fmt: skip
        strategy = cma.CMAEvolutionStrategy(np.clip((start - low) / (high - low), 0.0, 1.0), 0.3, options)
        while not strategy.stop():
            shares = strategy.ask()
            r = problem.penalised(SOFT)(low + (high - low) * np.array(shares))[0]
            costs = np.einsum("sm,sm->s", r, r)
            strategy.tell(shares, np.where(np.isfinite(costs), costs, 1e6 * problem.scale**2).tolist())
        best = (low + (high - low) * np.array(strategy.result.xbest))[None]
        down = descend(problem.penalised(HARD), best, problem.lower, problem.upper, LONG)
        if np.isfinite(down.cost[0]):
            found.append(Candidate(down.unknowns[0], float(down.cost[0]), signs, k == 0))
    return found


def _box(problem: SynthesisProblem, start: Array) -> tuple[Array, Array]:
    """Return finite bounds: of a free timing one turn on both sides."""
    span = problem.domain.span
    low = np.where(np.isfinite(problem.lower), problem.lower, start - span)
    high = np.where(np.isfinite(problem.upper), problem.upper, start + span)
    return low, high
