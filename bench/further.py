"""Further cases: the zoo of dyads, Jansen's legs, triads, a spatial group of eight unknowns, the Stewart platform."""

from __future__ import annotations

from collections.abc import Callable

from . import chains
from .chains import Chain
from .competitors import CLOSED, NEWTON, ONE_SYSTEM, Check, Contest, Modular, Row, compared
from .drawing import jansen, zoo
from .studies import LARGEST_DENSE, instants
from .timing import least

Case = tuple[Chain, Check]


def _zoo(k: int, n: int) -> Case:
    chain, exact = zoo(k, instants(n), chains.PLANAR_SPEED)
    return chain, compared(chain, exact)


def _jansen(k: int, n: int) -> Case:
    chain, exact = jansen(k, instants(n), chains.PLANAR_SPEED)
    return chain, compared(chain, exact)


def _triad(k: int, n: int) -> Case:
    from .newton_cases import triad_alone, triad_chain

    return triad_chain(k) if k else triad_alone()


def _spatial8(k: int, n: int) -> Case:
    from .newton_cases import spatial_alone

    return spatial_alone()


def _stewart(k: int, n: int) -> Case:
    from .platform_case import platform

    return platform()


# case: how to build it, numbers of units (0: the group alone, its input given), what a unit is
CASES: dict[str, tuple[Callable[[int, int], Case], tuple[int, ...], str]] = {
    "zoo": (_zoo, (1, 10), "RRR RRP RPR PRP RPP on a crank, k times; error against constructions"),
    "triad": (_triad, (0, 1, 10), "k triads of six revolutes (0: one alone, input given); error of lengths"),
    "jansen": (_jansen, (1, 12), "legs of Jansen's walker, k of them; error against circles that meet"),
    "stewart": (_stewart, (1,), "Stewart platform driven by its legs; error of the legs' lengths"),
    "spatial8": (_spatial8, (0,), "spatial group of 8 unknowns alone, input given; error of lengths"),
}


def measure(case: str, k: int, n: int, rounds: int) -> Row:
    """Return one size of a case: every method that it has."""
    chain, check = CASES[case][0](k, n)
    contest = Contest(n)
    contest.fill(chain.n_equations)
    modular = Modular(chain, n)
    contest.modular(modular, NEWTON if modular.iterating else CLOSED, check)
    start = modular.state[:, :, 0].copy()
    for name, (method, tuned) in ONE_SYSTEM.items():
        if tuned and (method != "global" or chain.n_equations <= LARGEST_DENSE):
            contest.one_system(name, chain, method, tuned, start, check)
    seconds = contest.scaled(least(contest.actions, rounds))
    return Row(chain.n_equations, k, seconds, contest.error, contest.iterations, timed_steps=contest.timed_steps)
