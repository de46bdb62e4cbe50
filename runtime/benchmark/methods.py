"""The competing ways to move a chain: group by group, or all groups as one system."""

from __future__ import annotations

import time as clocks
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..motion.global_system import System, build
from ..motion.lanes import seeds
from ..motion.modules import program_module
from ..motion.plan import Array
from ..motion.tables import Entry, modular_tables, variants
from . import chains
from .chains import Chain

STEPS = 24_000
BLOCK = 8_192  # lanes that a group does at once
PROBE = 240  # steps from which the pace of a system is known
PATIENCE = 1.5  # seconds: a system that needs more for all steps is timed on fewer, and its time scaled
NOT_TIMED = np.array([-1.0, 0.0, 0.0, 0.0])

# name in the results: driver of the compiled module
CLOSED = {"mod_td": "run_td", "mod_3ot": "run_3ot"}
NEWTON = {"mod_td_newton": "run_newton", "mod_td_newton_lanes": "run_newton_lanes"}
# name in the results: method, whether its linear solver is tuned
ONE_SYSTEM = {
    "global_sparse": ("global-sparse", True),
    "global_sparse_default": ("global-sparse", False),
    "global": ("global", True),
}
Check = Callable[[Array], float]  # state (order, row, lane) -> largest relative error


@dataclass
class Row:
    """One size of a case: seconds, errors and Newton iterations a step, by method."""

    n_equations: int
    groups: int
    seconds: dict[str, float]
    error: dict[str, float]
    iterations: dict[str, float] = field(default_factory=dict)
    speed: float = 0.0
    profile: dict[str, tuple[float, ...]] = field(default_factory=dict)  # shares in per cent
    timed_steps: dict[str, int] = field(default_factory=dict)  # where a time was scaled from fewer steps
    # Seconds of other programs and of MOD_TD in the same turns: kept apart, since these turns are further rounds for
    # MOD_TD, which those that it is compared with above did not have.
    peers: dict[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the row as the --json file has it."""
        found: dict[str, Any] = {"nEq": self.n_equations, "groups": self.groups, **self.seconds}
        if self.speed:
            found["speed"] = self.speed
        rest = {"error": self.error, "iterations": self.iterations, "profile": self.profile}
        return {**found, **rest, "timed_steps": self.timed_steps, "peers": self.peers}


class Modular:
    """A chain swept group by group."""

    def __init__(self, chain: Chain, n: int, module: Any = None) -> None:
        self.chain, self.n = chain, n
        self.module = module or program_module(variants(chain.layout))
        self.tables, self.signs = modular_tables(chain.layout)
        self.time, self.state = chain.state(n)
        self.failed = np.zeros(len(chain.layout.items), dtype=np.int64)
        self.work = np.zeros(4096)
        self.iterations = 0

    def prepared(self, name: str, block: int = BLOCK) -> Callable[[], None]:
        """Return a call of one of the module's drivers with all that it needs."""
        lanes: Any = (0, np.zeros(0, dtype=np.int64), np.zeros(0))
        if name == "run_newton_lanes":
            lanes = seeds(*self.chain.phase(self.time))
        driver = getattr(self.module, name)
        q, qdot, qddot = self.state
        state = (q, qdot, qddot, q, qdot, qddot)

        def call() -> None:
            self.iterations = driver(
                self.time, *state, self.tables, self.signs, lanes, self.n, block, self.work, self.failed
            )

        return call

    def run(self, name: str, complete: bool = True) -> None:
        """Run one of the module's drivers over all steps; an incomplete one need not find anything."""
        self.failed[:] = 0
        self.prepared(name)()
        assert not (complete and self.failed.any()), name


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


@dataclass
class Contest:
    """What is measured on one mechanism: the actions, and what is known of each beside its time."""

    n: int
    actions: dict[str, Callable[[], Any]] = field(default_factory=dict)
    error: dict[str, float] = field(default_factory=dict)
    iterations: dict[str, float] = field(default_factory=dict)
    timed_steps: dict[str, int] = field(default_factory=dict)

    def fill(self, n_equations: int) -> None:
        """Add writing arrays of the output's size, which nothing that stores its results can beat."""
        output = chains.aligned((3, n_equations, self.n))
        self.actions["fill"] = lambda: output.fill(1.5)

    def modular(self, modular: Modular, drivers: Mapping[str, str], check: Check) -> None:
        """Add drivers of a compiled module; iterations are those of a group that iterates, in a step."""
        for name, driver in drivers.items():
            if not hasattr(modular.module, driver):
                continue
            modular.run(driver)
            self.error[name] = check(modular.state)
            groups = [item for item in modular.chain.layout.items if isinstance(item, Entry)]
            iterating = sum(driver in NEWTON.values() or not item.module.CLOSED_FORM for item in groups)
            if iterating:
                self.iterations[name] = modular.iterations / self.n / iterating
            self.actions[name] = lambda driver=driver: modular.run(driver)  # type: ignore[misc]

    def one_system(self, name: str, chain: Chain, method: str, tuned: bool, start: Array, check: Check) -> None:
        """Add all groups as one system; on fewer steps where all of them would take too long."""
        probe = Global(chain, min(self.n, PROBE), method, tuned, start)
        probe.run()
        begin = clocks.thread_time()
        probe.run()
        pace = (clocks.thread_time() - begin) / probe.n
        steps = min(self.n, max(PROBE, int(PATIENCE / max(pace, 1e-9))))
        system = Global(chain, steps, method, tuned, start)
        system.run()
        self.error[name], self.iterations[name] = check(system.state), system.iterations
        self.actions[name] = system.run
        if steps < self.n:
            self.timed_steps[name] = steps

    def scaled(self, seconds: dict[str, float]) -> dict[str, float]:
        """Return times for all steps."""
        return {name: s * self.n / self.timed_steps.get(name, self.n) for name, s in seconds.items()}


def compared(chain: Chain, exact: Array) -> Check:
    """Return a check by the largest error of position, velocity and acceleration, relative to the largest value."""

    def check(state: Array) -> float:
        n = min(state.shape[2], exact.shape[2])
        found = state[:, chain.rows, :n]
        worst = np.abs(found - exact[:, :, :n]).max(axis=(1, 2)) / np.abs(exact).max(axis=(1, 2))
        return float(worst.max())

    return check
