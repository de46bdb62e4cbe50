"""The paper's case studies, measured: every method on the same mechanism and the same instants, with its error."""

from __future__ import annotations

import functools

import numpy as np

from ..mechanism.plans.plan import Array
from . import chains
from .command import STEPS
from .competitors import CLOSED, ONE_SYSTEM, Contest, Global, Modular, Row, compared
from .timing import ROUNDS, least

CHECKED = 600  # steps at which the error is taken
PROFILED = 2400  # steps of a profile
LARGEST_DENSE = 202


def instants(n: int) -> Array:
    """Return the instants at which errors are taken."""
    return np.arange(min(n, CHECKED), dtype=np.float64) * chains.PLANAR_STEP


def planar(k: int, n: int = STEPS, rounds: int = ROUNDS) -> Row:
    """Return case study 1 with k dyads."""
    chain = chains.planar(k)
    check = compared(chain, chains.planar_exact(k, instants(n)))
    contest = Contest(n)
    contest.fill(chain.n_equations)
    modular = Modular(chain, n)
    contest.modular(modular, CLOSED, check)
    start = modular.state[:, :, 0].copy()
    for name, (method, tuned) in ONE_SYSTEM.items():
        if method != "global" or chain.n_equations <= LARGEST_DENSE:
            contest.one_system(name, chain, method, tuned, start, check)
    seconds = contest.scaled(least(contest.actions, rounds))
    return Row(chain.n_equations, k, seconds, contest.error, contest.iterations, timed_steps=contest.timed_steps)


def planar_profile(row: Row, n: int = STEPS) -> None:
    """Add the shares of position, velocity, acceleration and other of the global methods to a row of case study 1."""
    chain = chains.planar(row.groups)
    start = Modular(chain, 1).state[:, :, 0].copy()
    row.profile["GLOB_SP"] = _clocked(chain, min(n, PROFILED), "global-sparse", start)
    if chain.n_equations <= LARGEST_DENSE:
        row.profile["GLOB"] = _clocked(chain, min(n, 240), "global", start)


def spatial(k: int, speed: float, n: int = STEPS, rounds: int = ROUNDS) -> Row:
    """Return case study 2 with k rods: modular by one quadratic a rod, global by the paper's eight unknowns a rod.

    `global_sparse_same` is the opponent in our own coordinates, one unknown a rod; `mod_newton_paper` and
    `mod_3ot_paper` are our own sweeps in the paper's (1R3D and 2E1P), by Newton with redundant equations.
    """
    chain, paper = chains.spatial(k, speed), chains.paper_spatial(k, speed)
    time = instants(n)
    check = compared(chain, chains.spatial_exact(k, speed, time, False))
    wide = compared(paper, chains.spatial_exact(k, speed, time, True))
    contest = Contest(n)
    contest.fill(chain.n_equations)
    modular = Modular(chain, n)
    contest.modular(modular, CLOSED, check)
    wider = Modular(paper, n)
    contest.modular(wider, {"mod_newton_paper": ("td", None), "mod_3ot_paper": ("3ot", None)}, wide)
    start = wider.state[:, :, 0].copy()
    contest.one_system("global_sparse", paper, "global-sparse", True, start, wide)
    contest.one_system("global_sparse_default", paper, "global-sparse", False, start, wide)
    same = modular.state[:, :, 0].copy()
    contest.one_system("global_sparse_same", chain, "global-sparse", True, same, check)
    seconds = contest.scaled(least(contest.actions, rounds))
    timed = contest.timed_steps
    return Row(paper.n_equations, k, seconds, contest.error, contest.iterations, speed, timed_steps=timed)


def spatial_profile(row: Row, n: int = STEPS) -> None:
    """Add the shares of position, velocity, acceleration and other of GLOB_SP to a row of case study 2."""
    paper = chains.paper_spatial(row.groups, row.speed)
    start = Modular(paper, 1).state[:, :, 0].copy()
    row.profile["GLOB_SP"] = _clocked(paper, min(n, PROFILED), "global-sparse", start)


def _clocked(chain: chains.Chain, n: int, method: str, start: Array) -> tuple[float, ...]:
    """Return the shares of a global system in per cent, by a clock in the compiled loop."""
    system = Global(chain, n, method, True, start)
    system.run()
    clock = np.zeros(4)
    system.run(clock)
    return tuple(float(100 * c / clock.sum()) for c in clock)


def growth_rows(sizes: tuple[int, ...], lanes: int, rounds: int = ROUNDS) -> dict[int, dict[str, float]]:
    """Return seconds a step of case study 1 by number of dyads, at as many steps as dyads × steps = `lanes` allows.

    So the state has the same size throughout, and the memory that it lies in is no part of the growth.
    """
    found = {}
    for k in sizes:
        n = max(lanes // k, 16)
        modular = Modular(chains.planar(k), n)
        actions = {name: functools.partial(modular.run, *way) for name, way in CLOSED.items()}
        found[k] = {name: s / n for name, s in least(actions, rounds).items()}
    return found
