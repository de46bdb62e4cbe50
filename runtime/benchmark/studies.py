"""The case studies, measured: every method on the same mechanism and the same instants, with its error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..motion.global_system import System, build
from ..motion.lanes import seeds
from ..motion.modules import program_module
from ..motion.plan import Array
from ..motion.tables import modular_tables, variants
from . import chains
from .chains import DRIVER, Chain
from .timing import ROUNDS, least

STEPS = 24_000
BLOCK = 8_192  # lanes that a group does at once
DENSE_STEPS = 240  # a dense system of 202 equations needs a minute for all 24,000: timed on these, then scaled
CHECKED = 600  # steps at which the error is taken
NOT_TIMED = np.array([-1.0, 0.0, 0.0, 0.0])


@dataclass
class Row:
    """One size of a case study: seconds and errors by method."""

    n_equations: int
    groups: int
    seconds: dict[str, float]
    error: dict[str, float]
    iterations: dict[str, float] = field(default_factory=dict)  # per step
    speed: float = 0.0
    profile: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the row as the --json file has it."""
        found: dict[str, Any] = {"nEq": self.n_equations, "groups": self.groups, **self.seconds}
        if self.speed:
            found["speed"] = self.speed
        return {**found, "error": self.error, "iterations": self.iterations, "profile": self.profile}


class Modular:
    """A chain swept group by group."""

    def __init__(self, chain: Chain, n: int) -> None:
        self.chain, self.n = chain, n
        self.module = program_module(variants(chain.layout))
        self.tables, self.signs = modular_tables(chain.layout)
        self.time, self.state = chain.state(n)
        self.failed = np.zeros(len(chain.layout.items), dtype=np.int64)
        self.work = np.zeros(4096)
        self.iterations = 0

    def run(self, name: str, block: int = BLOCK) -> None:
        """Run one of the module's drivers over all steps."""
        self.failed[:] = 0
        lanes: Any = (0, np.zeros(0, dtype=np.int64), np.zeros(0))
        if name == "run_newton_lanes":
            lanes = seeds(self.state[0, DRIVER], self.state[1, DRIVER])
        q, qdot, qddot = self.state
        self.iterations = getattr(self.module, name)(
            self.time, q, qdot, qddot, q, qdot, qddot, self.tables, self.signs, lanes, self.n, block, self.work,
            self.failed,
        )  # fmt: skip
        assert not self.failed.any(), name


class Global:
    """A chain as one system."""

    def __init__(self, chain: Chain, n: int, method: str, tuned: bool, start: Array) -> None:
        self.n = n
        self.time, self.state = chain.state(n)
        self.state[:, :, 0] = start
        self.system: System = build(chain.layout, start[0].copy(), 0.0, method, tuned)
        self.skip = np.zeros(n, dtype=np.bool_)
        self.iterations = 0.0

    def run(self, clock: Array = NOT_TIMED) -> None:
        solved, stats = self.system.run(self.time, self.state, self.skip, clock)
        self.iterations = float(stats[0]) / self.n
        assert solved == self.n


def _error(state: Array, chain: Chain, exact: Array) -> float:
    """Return the largest error of position, velocity and acceleration, each relative to its largest value."""
    found = state[:, chain.rows, : exact.shape[2]]
    worst = np.abs(found - exact).max(axis=(1, 2)) / np.abs(exact).max(axis=(1, 2))
    return float(worst.max())


def planar(k: int, n: int = STEPS, rounds: int = ROUNDS, dense: bool = True) -> Row:
    """Return case study 1 with k dyads."""
    chain = chains.planar(k)
    exact = chains.planar_exact(k, np.arange(min(n, CHECKED), dtype=np.float64) * chains.PLANAR_STEP)
    modular = Modular(chain, n)
    output = chains.aligned((3, chain.n_equations, n))
    actions: dict[str, Callable[[], Any]] = {"fill": lambda: output.fill(1.5)}
    error: dict[str, float] = {}
    iterations: dict[str, float] = {}
    for name, driver in _DRIVERS.items():
        modular.run(driver)
        error[name] = _error(modular.state, chain, exact)
        iterations[name] = modular.iterations / n / len(chain.layout.items)
        actions[name] = lambda driver=driver: modular.run(driver)  # type: ignore[misc]
    modular.run("run_td")
    _add_globals(actions, error, iterations, chain, n, modular.state[:, :, 0].copy(), exact, dense)
    seconds = least(actions, rounds)
    if "global" in seconds:
        seconds["global"] *= n / min(n, DENSE_STEPS)
    return Row(chain.n_equations, k, seconds, error, iterations)


_DRIVERS = {
    "mod_td": "run_td",
    "mod_3ot": "run_3ot",
    "mod_td_newton": "run_newton",
    "mod_td_newton_lanes": "run_newton_lanes",
}


def _add_globals(
    actions: dict[str, Callable[[], Any]],
    error: dict[str, float],
    iterations: dict[str, float],
    chain: Chain,
    n: int,
    start: Array,
    exact: Array,
    dense: bool,
) -> None:
    kinds = [("global_sparse", n, "global-sparse", True), ("global_sparse_default", n, "global-sparse", False)]
    if dense:
        kinds.append(("global", min(n, DENSE_STEPS), "global", True))
    for name, steps, method, tuned in kinds:
        system = Global(chain, steps, method, tuned, start)
        system.run()
        error[name] = _error(system.state, chain, exact[:, :, :steps])
        iterations[name] = system.iterations
        actions[name] = system.run


def spatial(k: int, speed: float, n: int = STEPS, rounds: int = ROUNDS) -> Row:
    """Return case study 2 with k rods: modular by one quadratic a rod, global by the paper's eight unknowns a rod."""
    chain, paper = chains.spatial(k, speed, False), chains.spatial(k, speed, True)
    time = np.arange(min(n, CHECKED), dtype=np.float64) * chains.PLANAR_STEP
    exact = chains.spatial_exact(k, speed, time, False)
    modular = Modular(chain, n)
    output = chains.aligned((3, chain.n_equations, n))
    actions: dict[str, Callable[[], Any]] = {"fill": lambda: output.fill(1.5)}
    error: dict[str, float] = {}
    iterations: dict[str, float] = {}
    for name, driver in (("mod_td", "run_td"), ("mod_3ot", "run_3ot")):
        modular.run(driver)
        error[name] = _error(modular.state, chain, exact)
        actions[name] = lambda driver=driver: modular.run(driver)  # type: ignore[misc]
    start = paper.state(1)[1][:, :, 0]
    wide = chains.spatial_exact(k, speed, time, True)
    _add_globals(actions, error, iterations, paper, n, start.copy(), wide, False)
    modular.run("run_td")
    small = Global(chain, n, "global-sparse", True, modular.state[:, :, 0].copy())
    small.run()
    error["global_sparse_small"] = _error(small.state, chain, exact)
    actions["global_sparse_small"] = small.run  # the opponent in our own coordinates, one unknown a rod
    row = Row(8 * k + 6, k, least(actions, rounds), error, iterations, speed)
    system = Global(paper, n, "global-sparse", True, start.copy())
    clock = np.zeros(4)
    system.run(clock)
    row.profile["GLOB_SP"] = tuple(float(100 * c / clock.sum()) for c in clock)
    return row


def triad(n: int = STEPS, rounds: int = ROUNDS) -> Row:
    """Return a triad of six revolutes on a crank, a group without closed form, by Newton's ways.

    In lanes, step by step, and with a generic LU; errors are those of the rods' lengths, relative.
    """
    chain = chains.triad()
    modular = Modular(chain, n)
    actions: dict[str, Callable[[], Any]] = {}
    error: dict[str, float] = {}
    iterations: dict[str, float] = {}
    for name, driver in (("newton", "run_newton"), ("newton_lanes", "run_newton_lanes")):
        modular.run(driver)
        error[name] = chains.triad_residual(modular.state)
        iterations[name] = modular.iterations / n / 2
        actions[name] = lambda driver=driver: modular.run(driver)  # type: ignore[misc]
    modular.run("run_newton")
    single = Global(chain, n, "global", True, modular.state[:, :, 0].copy())
    single.run()
    error["generic_lu"], iterations["generic_lu"] = chains.triad_residual(single.state), single.iterations
    actions["generic_lu"] = single.run
    return Row(chain.n_equations, 1, least(actions, rounds), error, iterations)
