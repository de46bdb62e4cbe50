"""The family of exact designs: where targets leave some freedom, walked along from designs that do not hold.

Least squares see the targets alone. An exact design may lose its circuit between them; those next to it are exact, too,
and are told apart by how much of the way from target to target they can be assembled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..mechanism.model import Array
from .levenberg import descend
from .synthesis_check import ordered
from .synthesis_problem import SynthesisProblem
from .synthesis_search import HARD, SHORT, Candidate

EXACT = 1e-20  # of the squared size of the targets: an objective that rounding makes
PARENTS, CHILDREN, ROUNDS = 64, 16, 24
PATIENCE = 8  # rounds in which none came farther than before: the walk ends
STEPS = 3e-3, 0.3  # of the variables' ranges, by which a design is moved before it is made exact again
WAY = 73  # instants of the way at which designs are assembled


def exact(problem: SynthesisProblem, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that meet all targets."""
    return [c for c in candidates if c.cost <= EXACT * problem.scale**2]


def relatives(
    problem: SynthesisProblem, candidates: Sequence[Candidate], report: Callable[[str], None]
) -> Iterator[list[Candidate]]:
    """Yield exact designs that are assembled all the way: of every generation, whose parents come farthest."""
    rng = np.random.default_rng([problem.task.seed, 7])
    families: list[tuple[Array, Array, Candidate]] = []  # unknowns and shares on a branch, and one that was found there
    for some in _by_signs(exact(problem, candidates)):
        problem.signs = some[0].signs
        u = np.array([c.unknowns for c in some])
        families.append((u, _shares(problem, u), some[0]))
    farthest, last = -1.0, 0
    for k in range(ROUNDS if families else 0):
        best = max(float(shares.max()) for _, shares, _ in families)
        farthest, last = (best, k) if best > farthest else (farthest, last)
        if k - last > PATIENCE:
            return
        report(f"exact designs: generation {k + 1}, assembled on {max(farthest, 0.0):.0%} of the way")
        whole: list[Candidate] = []
        for branch, (u, shares, c) in enumerate(families):
            problem.signs = c.signs
            far = np.argsort(-shares, kind="stable")[:PARENTS]
            children, cost = _children(problem, u[far], rng)
            children = children[cost <= EXACT * problem.scale**2]
            theirs = _shares(problem, children)
            whole += [Candidate(x, 0.0, c.signs, c.sketched) for x in children[theirs == 1.0]]
            families[branch] = np.concatenate([u[far], children]), np.concatenate([shares[far], theirs]), c
        yield whole


def _children(problem: SynthesisProblem, u: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return designs next to some others, taken down to the targets, and what is left of these."""
    low, high = problem.task.bounds
    moved = np.repeat(u, CHILDREN, axis=0)
    least, most = STEPS
    size = least * (most / least) ** rng.random((len(moved), 1))
    moved[:, : problem.p] += size * (high - low) * rng.standard_normal((len(moved), problem.p))
    down = descend(problem.penalised(HARD), moved, problem.lower, problem.upper, SHORT, 1e-26 * problem.scale**2)
    return down.unknowns, down.cost


def _by_signs(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    found: dict[bytes, list[Candidate]] = {}
    for c in candidates:
        found.setdefault(c.signs.tobytes(), []).append(c)
    return list(found.values())


def _shares(problem: SynthesisProblem, u: Array) -> Array:
    """Return of each design the share of the way through the targets on which it is assembled; -1: out of order."""
    lanes = np.array(problem.timing(u)[0])
    found = np.full(len(u), -1.0)
    kept = np.ones(len(u), dtype=np.bool_)
    for k in range(len(u) if problem.free else 0):
        way = ordered(problem, lanes[k])
        kept[k] = way is not None
        lanes[k] = lanes[k] if way is None else way[0]
    if not kept.any():
        return found
    first, last = lanes[kept].min(axis=1, keepdims=True), lanes[kept].max(axis=1, keepdims=True)
    there = problem.assembled(u[kept], first + (last - first) * np.linspace(0.0, 1.0, WAY))
    found[kept] = there.mean(axis=1)
    return found
