"""The search of a synthesis: designs sampled in lanes, projected on what is linear, and taken downhill together.

A start of the file is a bundle: SAMPLES random designs, the best BUNDLE of which go downhill a little, and the best of
these to the end. Unknowns in which the residuals are linear (place, coupler point, scale where it is a factor) are
found by exact derivatives and solved for at once (variable projection, Golub and Pereyra 1973).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..mechanism.model import Array
from .levenberg import Descent, descend
from .synthesis_problem import SynthesisProblem

SAMPLES, BUNDLE = 64, 32
SHORT, LONG = 60, 400  # iterations
MODES = 8  # combinations of assembly modes that are searched at most
SOFT, HARD = 3.0, 300.0  # weights of what is required
COARSE = 25  # lanes of a turn at which it is looked at on the way: a maximum between two is missed by a hundredth


@dataclass(frozen=True, eq=False)
class Candidate:
    """Unknowns at which a descent came to rest, on the branch of some signs."""

    unknowns: Array
    cost: float
    signs: Array
    sketched: bool  # the branch is that of the file


def search(problem: SynthesisProblem, report: Any = None) -> list[Candidate]:
    """Return where the starts came to rest, best first, for every way to assemble the groups that is asked for."""
    found: list[Candidate] = []
    every = branches(problem)
    for k, signs in enumerate(every):
        problem.signs = signs
        descent = _on_branch(problem, np.random.default_rng([problem.task.seed, k]))
        for u, cost in zip(descent.unknowns, descent.cost.tolist(), strict=True):
            if np.isfinite(cost):
                found.append(Candidate(u, cost, signs, k == 0))
        if report is not None:
            report(k + 1, len(every))
    return sorted(found, key=lambda c: c.cost)


def branches(problem: SynthesisProblem) -> list[Array]:
    """Return the signs of the file's assembly, then those of the other modes of groups that [assembly] leaves open."""
    lanes = problem.lanes
    own, sequence = lanes.signs, lanes.sequence
    places = [
        sequence.items[i].sign_place + k
        for name, i in sequence.groups.items()
        if name not in problem.model.assembly and sequence.items[i].closed
        for k in range(len(sequence.items[i].group.module.BRANCHES))  # type: ignore[union-attr]
    ]
    if problem.task.assembly == "sketch":
        return [own]
    found = []
    for flips in itertools.islice(itertools.product((1.0, -1.0), repeat=len(places)), MODES):
        signs = own.copy()
        signs[0, places] *= flips
        found.append(signs)
    return found


def _on_branch(problem: SynthesisProblem, rng: np.random.Generator) -> Descent:
    starts = problem.task.starts
    u = sampled(problem, rng, starts * SAMPLES)
    u, cost = projected(problem, u)
    order = np.argsort(cost.reshape(starts, SAMPLES), axis=1)[:, :BUNDLE]
    chosen = (order + SAMPLES * np.arange(starts)[:, None]).ravel()
    lower, upper = problem.lower, problem.upper
    small = 1e-26 * problem.scale**2
    first = descend(problem.penalised(SOFT, COARSE), u[chosen], lower, upper, SHORT, small)
    best = np.argmin(first.cost.reshape(starts, BUNDLE), axis=1) + BUNDLE * np.arange(starts)
    further = np.concatenate([best, np.argsort(first.cost)[:starts]])
    further = np.unique(further[np.isfinite(first.cost[further])])
    if not len(further):
        return Descent(first.unknowns[:0], first.cost[:0])
    return descend(problem.penalised(HARD), first.unknowns[further], lower, upper, LONG, small)


def sampled(problem: SynthesisProblem, rng: np.random.Generator, count: int) -> Array:
    """Return random designs within the bounds; free timings in order, forth or back, over a part of the turn."""
    from scipy.stats import qmc

    low, high = problem.task.bounds
    points = qmc.LatinHypercube(len(low), rng=rng).random(count)
    u: Array = low + (high - low) * points
    if not problem.free:
        return u
    n, span = problem.n, problem.domain.span
    gaps = rng.dirichlet(np.full(n, 3.0), size=count)
    steps = np.cumsum(gaps, axis=1) * (span * rng.uniform(0.1, 1.0, size=(count, 1)))
    if problem.domain.period is None:
        first = problem.domain.first + rng.random((count, 1)) * (span - steps[:, -1:])
        forth = first + steps
        return np.hstack([u, np.where(rng.random((count, 1)) < 0.5, forth, forth[:, ::-1])])
    first = problem.domain.first + span * rng.random((count, 1))
    return np.hstack([u, first + np.where(rng.random((count, 1)) < 0.5, steps, -steps)])


# ---- variable projection --------------------------------------------------------------------------------------------
def linear_variables(problem: SynthesisProblem, rng: np.random.Generator, tries: int = 24) -> list[int]:
    """Return variables in which the residuals are jointly linear, found by their exact derivatives at many designs."""
    u = sampled(problem, rng, 40 * tries)
    J = problem.residuals(u)[1]
    u = u[np.isfinite(J).all(axis=(1, 2))][:tries]
    if not len(u):
        return []
    low, high = problem.task.bounds
    base, p = problem.residuals(u)[1][..., : problem.p], problem.p
    size = np.abs(base).max(axis=(0, 1)) + 1e-300
    apart = np.zeros((p, p), dtype=np.bool_)  # a change of one changes the derivative by the other
    for j in range(p):
        moved = u.copy()
        moved[:, j] = low[j] + (high[j] - low[j]) * rng.random(len(u))
        other = problem.residuals(moved)[1][..., :p]
        kept = np.isfinite(other).all(axis=(1, 2))
        if not kept.any():
            apart[j] = True
            continue
        apart[j] = np.abs(other - base)[kept].max(axis=(0, 1)) > 1e-9 * size
    apart |= apart.T
    chosen: list[int] = []
    for j in np.argsort(apart.sum(axis=1), kind="stable").tolist():
        if not apart[j, j] and not apart[j, chosen].any() and base[..., j].any():
            chosen.append(j)
    return sorted(chosen)


def projected(problem: SynthesisProblem, u: Array) -> tuple[Array, Array]:
    """Return designs with their linear variables where the residuals are least, within bounds, and the costs."""
    linear = linear_variables(problem, np.random.default_rng([problem.task.seed, 99]))
    r, J = problem.penalised(SOFT, COARSE)(u)
    if linear:
        A = J[:, : problem.residuals(u[:1])[0].shape[1], linear]
        left = r[:, : A.shape[1]]
        kept = np.isfinite(left).all(axis=1) & np.isfinite(A).all(axis=(1, 2))
        H = np.einsum("sma,smb->sab", A[kept], A[kept])
        trace = np.einsum("saa->s", H)
        H += (1e-10 * trace[:, None, None] + 1e-300) * np.eye(len(linear))
        step = np.linalg.solve(H, -np.einsum("sma,sm->sa", A[kept], left[kept])[..., None])[..., 0]
        u = u.copy()
        rows = np.flatnonzero(kept)[:, None]
        u[rows, linear] = np.clip(u[rows, linear] + step, problem.lower[linear], problem.upper[linear])
        r, _ = problem.penalised(SOFT, COARSE)(u)
    with np.errstate(invalid="ignore", over="ignore"):
        cost = np.einsum("sm,sm->s", r, r)
    return u, np.where(np.isfinite(cost), cost, np.inf)
