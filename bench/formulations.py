"""The formulations of `simulate` measured: growth with the number of bodies, threads, memory, a chain beside peers.

`assurgent bench --case formulations` prints what follows. Times are processor times of one thread, but for what two
threads gain, which is by the clock.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import Any

import numpy as np
from rich.console import Console

from ..dynamics.body_method import BodyMethod
from ..dynamics.initial_state import begin
from ..dynamics.methods import body_method
from ..mechanism.model import Model
from . import dca_growth, pendulum
from .allocation import Taken, taken
from .claims import Claim
from .dynamics_cases import Case, joint_places
from .dynamics_common import Prepared, Run, clocked
from .dynamics_peers import PEERS
from .dynamics_study import ACCURACY, INSTALL, REFERENCE, Figure, measure, table
from .timing import growth

SIZES = (10, 30, 100, 300, 1000, 2000)
MOST_GROWTH, THREADS_GAIN, BESIDE_PEERS = 1.1, 1.4, 3.0  # what must hold
BESIDE = ("MuJoCo", "Pinocchio")
OURS = ("semirecursive-1", "semirecursive-2")
TAKES = 3  # of one and two threads in turn: a moment's work on the second core must not decide
CHAIN = 100  # bodies of the open chain
CHAIN_END = 1.0  # seconds that it swings


# ---- growth -------------------------------------------------------------------------------------------------------
def growths(out: Console, sizes: tuple[int, ...] = SIZES) -> tuple[dict[str, list[tuple[int, float]]], list[Claim]]:
    """Print and return the times of a right-hand side by method and mechanism, and the exponents."""
    found: dict[str, list[tuple[int, float]]] = {}
    for name in OURS:
        for spatial in (False, True):
            title = f"{name}, {'spatial' if spatial else 'planar'} pendulum"
            found[title] = list(zip(sizes, pendulum.seconds(name, spatial, sizes), strict=True))
    claims = []
    for title, made in (("pendulum", dca_growth.pendulum), ("ladder of loops", dca_growth.ladder)):
        rows = found[f"dca, {title}"] = []
        for n in sizes:
            system, y = dca_growth.prepared(made(n))
            rows.append((len(system.names), dca_growth.seconds(system, y)))
        takes = [[dca_growth.seconds(system, y, n, time.perf_counter) for n in (1, 2)] for _ in range(TAKES)]
        one, two = np.min(takes, axis=0).tolist()
        claims.append(Claim(f"dca, {title}, {rows[-1][0]} bodies: one thread / two", one / two, THREADS_GAIN, True))
    exponents = []
    for title, rows in found.items():
        exponent = growth([n for n, _ in rows], [s for _, s in rows])
        times = "  ".join(f"{n}: {1e6 * s:.3g}" for n, s in rows)
        out.print(f"{title:34} us  {times}", highlight=False)
        exponents.append(Claim(f"exponent of growth of {title}", exponent, MOST_GROWTH, False))
    return found, exponents + claims


# ---- memory -------------------------------------------------------------------------------------------------------
def memory() -> dict[str, tuple[Taken, Taken]]:
    """Return what a short run of each method takes, once its arrays are made, and what one of four times the steps."""
    found = {}
    for name in (*OURS, "dca", "dca-projected"):
        method = body_method(name)(*pendulum.pendulum(20), reactions=False)
        short, long = (taken(functools.partial(_further, method, seconds)) for seconds in (0.02, 0.08))
        found[name] = short, long
    return found


def _further(method: BodyMethod, seconds: float) -> None:
    method.advance(np.array([method.t + seconds]), None)


# ---- the open chain -----------------------------------------------------------------------------------------------
def open_chain(n: int = CHAIN) -> Case:
    """Return a chain of n rods of 0.1 m that hangs aslant, let go."""
    x, y = 0.1 * math.sin(0.3), -0.1 * math.cos(0.3)
    lines = ["format = 1", 'name = "open chain"', 'space = "planar"', "gravity = [0, -9.81]", "[points]"]
    lines += [f"P{k} = [{k * x!r}, {k * y!r}]" for k in range(n + 1)]
    lines += ["[bodies.frame]", 'points = ["P0"]']
    for k in range(n):
        lines += [f"[bodies.b{k}]", f'points = ["P{k}", "P{k + 1}"]', "mass = 1", f"inertia = {0.01 / 12!r}"]
    before = ["frame", *(f"b{k}" for k in range(n))]
    joints = [f'J{k} = {{ type = "R", bodies = ["{before[k]}", "b{k}"], at = "P{k}" }}' for k in range(n)]
    return Case(f"open chain of {n} bodies", "\n".join([*lines, "[joints]", *joints]) + "\n", CHAIN_END)


def prepared(name: str, case: Case) -> Prepared:
    """Ours on a case: one of the methods that integrate bodies."""
    model, many = case.model(), pendulum.repeated()
    start = begin(model).posture

    def made(tolerance: float) -> BodyMethod:
        return body_method(name)(_with(model, tolerance), start, reactions=False)

    def run(tolerance: float) -> Run:
        ours = made(tolerance)
        seconds = clocked(lambda: ours.advance(np.array([case.end]), None))
        posture = ours.posture()
        return Run(seconds, joint_places(model, posture.origin, posture.rotation), ours.counts.evaluations)

    ours = made(REFERENCE)
    return Prepared(
        run, lambda: many(ours.ints, ours.x, ours.y, ours.K, 1000), "1000 right-hand sides",
        tuple(10.0**-k for k in range(9)),
    )  # fmt: skip


def _with(model: Model, tolerance: float) -> Model:
    return replace(model, simulation=replace(model.simulation, tolerance=tolerance))


def beside(rounds: int, n: int = CHAIN) -> tuple[Case, list[Figure], list[str]]:
    """Return what ours and the peers need for the open chain, at equal accuracy of its end, and who is missing."""
    case = open_chain(n)
    exact = prepared(OURS[1], case).run(REFERENCE).places
    programs: list[tuple[str, str, Callable[[Case], Prepared]]] = [
        (f"Assurgent, {name}", version("assurgent"), functools.partial(prepared, name)) for name in OURS
    ]
    missing = []
    for peer in PEERS:
        installed = peer.version()
        if peer.name in BESIDE and installed is None:
            missing.append(peer.name)
        elif peer.name in BESIDE:
            programs.append((peer.name, str(installed), peer.prepare))
    figures = [
        replace(measure(name, number, case, prepare(case), exact, rounds), case=case.name)
        for name, number, prepare in programs
    ]
    return case, figures, missing


def beside_claims(figures: list[Figure]) -> list[Claim]:
    """Return how ours stand beside the faster of the peers."""
    reached = [f.seconds for f in figures if f.program in BESIDE and f.reached]
    if not reached:
        return []
    text = f"{figures[0].case} to {ACCURACY:g}: {{}} / the faster of {' and '.join(BESIDE)}"
    return [
        Claim(text.format(f.program), f.seconds / min(reached), BESIDE_PEERS, False)
        for f in figures if f.program not in BESIDE
    ]  # fmt: skip


# ---- the command --------------------------------------------------------------------------------------------------
def report(out: Console, rounds: int) -> dict[str, Any]:
    """Measure and print all of it; return the figures for JSON."""
    out.print("Time of a right-hand side by number of bodies", highlight=False)
    found, claims = growths(out)
    room = memory()
    more = max(long.numba_blocks - short.numba_blocks for short, long in room.values())
    claims.append(Claim(f"blocks that four times the steps of {', '.join(room)} took more", more, 0, False))
    case, figures, missing = beside(rounds)
    out.print(table(case, figures))
    for name in missing:
        out.print(f"{name} is not installed - {INSTALL} brings it", highlight=False, markup=False)
    claims += beside_claims(figures)
    for claim in claims:
        out.print(str(claim), highlight=False)
    out.print()
    return {
        "growth": {title: [{"bodies": n, "seconds": s} for n, s in rows] for title, rows in found.items()},
        "chain": [asdict(f) for f in figures],
        "claims": [vars(c) for c in claims],
    }
