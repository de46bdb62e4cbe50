"""The competing ways to move a chain: group by group, or all groups as one system."""

from __future__ import annotations

import functools
import time as clocks
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..mechanism.plans.plan import Array
from ..motion.global_system import GlobalSystem, build
from ..runtime.sequence import Sequence
from .chains import Chain

SAMPLED = 360  # steps from which the rows of redundant groups are chosen: a crank of 10 degrees a step turns ten times
PROBE = 240  # steps from which the pace of a system is known
PATIENCE = 1.5  # seconds: a system that needs more for all steps is timed on fewer, and its time scaled
NOT_TIMED = np.array([-1.0, 0.0, 0.0, 0.0])

# name in the results: phase of the sequence, lanes of a block (None: the usual ones)
Way = tuple[str, int | None]
CLOSED: dict[str, Way] = {"mod_td": ("td", None), "mod_3ot": ("3ot", None)}
NEWTON: dict[str, Way] = {"mod_td": ("td", None), "mod_td_serial": ("td", 1)}  # a block of one lane: step by step
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
    """A chain swept group by group: what `run` calls."""

    def __init__(self, chain: Chain, n: int, step: float | None = None, sequence: Sequence | None = None) -> None:
        self.chain, self.n = chain, n
        self.sequence = sequence or chain.program.sequence
        self.time, self.state = chain.state(n, step)
        self.edges = np.array([0, n], dtype=np.int64)
        self.signs = np.ones((1, self.sequence.n_signs))
        self.iterations = 0
        self.iterating = sum(not self.sequence.items[i].closed for i in self.sequence.groups.values())
        steps = self.sequence.steps("td")
        modes = np.zeros(len(steps), dtype=np.int64)
        first = np.array([0, 1], dtype=np.int64)
        self.sequence.run("td", self.time, self.state, first, self.signs, modes=modes)
        assert modes[steps[:, 1] != 0].all()  # all groups that must be assembled are

    def run(self, method: str = "td", block: int | None = None) -> None:
        """Move all groups over all steps."""
        lost, self.iterations = self.sequence.run(method, self.time, self.state, self.edges, self.signs, block=block)
        assert (lost >= self.n).all(), method


class Global:
    """A chain as one system."""

    def __init__(self, chain: Chain, n: int, method: str, tuned: bool, start: Array, step: float | None = None) -> None:
        self.n = n
        self.time, self.state = chain.state(n, step)
        self.state[:, :, 0] = start
        poses = None
        if chain.redundant:  # rows that serve all the way
            sample = Modular(chain, min(n, SAMPLED), step)
            sample.run()
            poses = sample.state[0]
        self.system: GlobalSystem = build(
            chain.program.sequence, chain.driven, start[0].copy(), 0.0, method, tuned, poses=poses
        )
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
        output = np.zeros((3, n_equations, self.n))
        self.actions["fill"] = lambda: output.fill(1.5)

    def modular(self, modular: Modular, ways: Mapping[str, Way], check: Check) -> None:
        """Add ways to sweep a chain; iterations are those of a group that iterates, in a step."""
        for name, way in ways.items():
            modular.run(*way)
            self.error[name] = check(modular.state)
            if modular.iterating:
                self.iterations[name] = modular.iterations / self.n / modular.iterating
            self.actions[name] = functools.partial(modular.run, *way)

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
        found = chain.read(state[:, :, :n])
        worst = np.abs(found - exact[:, :, :n]).max(axis=(1, 2)) / np.abs(exact).max(axis=(1, 2))
        return float(worst.max())

    return check
