"""Forward dynamics by divide and conquer with an augmented Lagrangian, after Malczyk and Frączek.

Absolute coordinates (centre and angle, or centre and Euler parameters), all constraints kept, redundant ones too; the
work of a right-hand side grows linearly with the number of bodies. `dca` stabilises the constraints by their frequency
Ω and damping μ, `dca-projected` projects positions and velocities onto them after every step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mechanism.model import Array, Model
from ..motion.outcome import Stop
from ..runtime.parallel import thread_count
from .applied_loads import Applied
from .body_method import BodyMethod
from .dca_head import (
    ACCELERATION,
    ALPHA,
    FACTORED,
    FAILURES,
    FREQUENCY,
    GAP_P,
    ITERATIONS,
    N_SETTINGS,
    OPEN,
    POSITION,
    STABLE,
    VELOCITY,
)  # fmt: skip
from .dca_system import DcaSystem
from .posture import Posture
from .rotations import euler_parameters

ROUGH = 1e-6  # tolerances from here on are served by order 5, finer ones by order 8
OPEN_JOINTS = 1e-8  # of the size: what a projection may leave of Φ
# Of tolerance and size: what dca leaves of Φ. Where Ω is as quick as the motion it is at most 50 (five-bar and double
# loop, 10 s); from some hundred on a singular pose may be left on another branch, and in the end nothing is followed.
LOOSE, LOST = 50.0, 1e4
RAISED, LEAST_RAISED = 4.0, 10.0  # a frequency instead of the paper's: times the quickest rotation, at least (rad/s)
FINEST = 1e-13  # tolerance below which rounding errors decide
SHOWN = 100  # bodies up to which the tree is written out
MANY = 200  # bodies from which threads gain


class DivideAndConquer(BodyMethod):
    """One forward simulation by divide and conquer."""

    name = "dca"
    projected = False

    def __init__(self, model: Model, start: Posture, applied: Applied | None = None, reactions: bool = True) -> None:
        from . import dca_stepping as stepping

        super().__init__(model, start, applied, reactions)
        given = model.simulation.dca
        settings = np.zeros(N_SETTINGS)
        settings[[ALPHA, FREQUENCY, STABLE]] = given.penalty, given.omega, given.damping
        settings[[POSITION, VELOCITY, ACCELERATION]] = given.position, given.velocity, given.acceleration
        size, tolerance = max(model.size, 1.0), max(model.simulation.tolerance, FINEST)
        self.loose, self.opened = LOOSE * tolerance * size, False
        self.doubtful: list[float] = []  # asked times at which accelerations have not converged
        drift = self.loose if given.frequency is None else LOST * tolerance * size
        settings[OPEN] = OPEN_JOINTS * size if self.projected else drift
        self.assembly = DcaSystem(self.system, settings, given.iterations, self.projected)
        self.tables = self.assembly.tables
        self.y = self.packed()
        n = len(self.y)
        self.K, self.F, self.trial = np.zeros((16, n)), np.zeros((9, n)), np.zeros(n)
        self.told = np.zeros(stepping.N_COUNTS, dtype=np.int64)
        self.order = stepping.FIVE if model.simulation.tolerance >= ROUGH else stepping.EIGHT
        self.told[stepping.ORDER], self.told[stepping.PROJECTED] = self.order, self.projected

    def packed(self) -> Array:
        """Return the coordinates of all bodies, behind them their rates."""
        bodies = self.system.bodies[1:]
        if self.system.d == 2:
            return np.concatenate([bodies[:, :3].ravel(), bodies[:, 5:].ravel()])
        p = euler_parameters(bodies[:, 3:12].reshape(-1, 3, 3))
        spin = 0.5 * bodies[:, 15:]
        along = -np.sum(spin * p[:, 1:], axis=1, keepdims=True)
        rate = np.hstack([along, spin * p[:, :1] + np.cross(spin, p[:, 1:])])  # ½ (0, ω) p
        return np.concatenate([np.hstack([bodies[:, :3], p]).ravel(), np.hstack([bodies[:, 12:15], rate]).ravel()])

    def addresses(self) -> tuple[int, int, int]:
        """Return nothing: the loop of this method has its right-hand side and projection compiled in."""
        return 0, 0, 0

    # ---- the run --------------------------------------------------------------------------------------------------
    def advance(self, times: Array, arrived: Callable[[], bool] | None) -> Stop | None:
        """Go through increasing times, or to where somebody who is asked after every step has arrived."""
        if thread_count() < 2 or len(self.system.bodies) <= MANY:
            return self._advance(times, arrived)
        from . import dca_threads

        with dca_threads.working(self.assembly.head, thread_count()):
            return self._advance(times, arrived)

    def _advance(self, times: Array, arrived: Callable[[], bool] | None) -> Stop | None:
        from . import dca_equations as equations
        from . import dca_stepping as stepping

        s, lanes, shape = self.assembly.head, len(times), self.system.bodies.shape
        times = np.array(times, dtype=np.float64)  # one that is read only would be compiled for anew
        kept, bends = np.zeros((lanes, *shape)), np.zeros((lanes, shape[0], self.system.w))
        turns, doubt = np.zeros((lanes, len(self.system.loads))), np.zeros(max(lanes, 1), dtype=np.bool_)
        if not stepping.settle_shown(s, self.t, self.y, np.int64(self.projected), doubt, np.int64(0)):
            self._noted.append((times[:0], kept[:0], bends[:0], turns[:0]))
            return Stop(self.t, f"at t = {self.t:.9g} s: no accelerations follow from masses and joints")
        stepping.observe(s, self.y)
        equations.put_rates(s, self.y, self.K[0])
        stepping.keep(s)
        k, doubt[1:] = 0, doubt[0]
        while k < lanes and times[k] <= self.t:
            stepping.write(s, kept[k], bends[k], turns[k])
            k += 1
        self.told[stepping.NEXT] = k
        doubt[k:] = False
        stop = self._go(times, kept, bends, turns, doubt, arrived) if k < lanes else None
        n = int(self.told[stepping.NEXT])
        self.doubtful += times[:n][doubt[:n]].tolist()
        self._noted.append((times[:n], kept[:n], bends[:n], turns[:n]))
        self.counts.steps = int(self.told[stepping.STEPS])
        self.counts.evaluations = int(self.told[stepping.EVALUATIONS])
        return stop

    def _go(
        self, times: Array, kept: Array, bends: Array, turns: Array, doubt: NDArray[np.bool_],
        arrived: Callable[[], bool] | None,
    ) -> Stop | None:  # fmt: skip
        from . import dca_stepping as stepping
        from .integrator import RTOL, STEP, TIME
        from .pace import Pace
        from .stepping import first_step

        s, tolerance, control = self.assembly.head, self.model.simulation.tolerance, np.zeros(stepping.N_CONTROL)
        atol, scale = np.full(len(self.y), tolerance), tolerance * (1.0 + np.abs(self.y))
        left = float(times[-1]) - self.t
        control[TIME], control[RTOL] = self.t, tolerance
        control[STEP] = first_step(self.rates, self.t, self.y, self.K[0], scale, left)
        pace = Pace(self.model, self.t, times)
        pace.begin(control)

        def anew(t: float) -> float:
            self.K[0] = self.rates(t, self.y)
            return first_step(self.rates, t, self.y, self.K[0], tolerance * (1.0 + np.abs(self.y)), times[-1] - t)

        table = stepping.tableau(self.order)
        while self.told[stepping.NEXT] < len(times):
            pace.follow(control, anew)
            why = stepping.advance(
                s, *table, self.y, self.K, self.F, self.trial, atol, control, self.told, times, kept, bends, turns,
                doubt, stepping.PATIENCE if arrived is None else 1,
            )  # fmt: skip
            self.t = float(control[TIME])
            if why == stepping.FAILED:
                return self._lost("the integrator's steps became too small")
            if why == stepping.OPENED:
                self.opened = True
                return Stop(self.t, f"at t = {self.t:.9g} s: {self._drifted()}")
            self._give_turns()
            if arrived is not None and arrived():
                break
        return None

    def rates(self, t: float, y: Array) -> Array:
        """Return dy/dt; not a number where there is none."""
        from . import dca_equations as equations

        found = np.zeros(len(y))
        if not equations.rates(self.assembly.head, t, np.array(y), found):
            found[:] = np.nan
        return found

    def _drifted(self) -> str:
        """Return what to do where the constraints are brought back more slowly than the mechanism moves."""
        given = self.model.simulation
        return (
            f"the joints come open (|Φ| = {self.tables.largest[GAP_P]:.1e} at a tolerance of {given.tolerance:.0e}): a "
            f"frequency of {given.dca.omega:g} rad/s brings them back more slowly than the mechanism moves - give "
            "[simulation.dca] frequency some times its quickest rotation, or use the method dca-projected"
        )

    def better(self) -> DivideAndConquer | None:
        """Return a run from the start with a higher frequency, where joints came open and none was asked for."""
        given = self.model.simulation
        if not self.opened or given.dca.frequency is not None:
            return None
        bodies, d = np.concatenate([self.system.bodies[None], *(kept for _, kept, _, _ in self._noted)]), self.system.d
        speed = bodies[..., 5:7] if d == 2 else bodies[..., 12:15]
        turn = bodies[..., 7:] if d == 2 else bodies[..., 15:]
        quick = max(float(np.abs(turn).max()), float(np.abs(speed).max()) / self.model.size)
        dca = replace(given.dca, frequency=max(LEAST_RAISED, RAISED * quick))
        model = replace(self.model, simulation=replace(given, dca=dca))
        return type(self)(model, self.start, reactions=self.reactions)

    def diagnostics(self) -> dict[str, Any]:
        """Return the tree, the iterations, and the largest norms of Φ, Φ̇ and Φ̈."""
        tree, s = self.assembly.tree, self.tables
        shown: dict[str, Any] = {"nodes": len(tree.nodes), "levels": len(tree.levels)}
        if len(self.assembly.names) <= SHOWN:
            shown["tree"] = tree.described(self.assembly.names)
        position, velocity, acceleration = s.largest.tolist()
        loose = not self.projected and position > self.loose
        notes: dict[str, Any] = {"loose": self._drifted()} if loose else {}
        if self.doubtful:
            notes["unconverged_at"] = self.doubtful
        return notes | {
            "frequency": self.model.simulation.dca.omega,
            "constraints": {"position": position, "velocity": velocity, "acceleration": acceleration},
            "iterations": int(s.counts[ITERATIONS]),
            "factorisations": int(s.counts[FACTORED]),
            "unconverged": int(s.counts[FAILURES]),
            "assembly": shown,
        }


class Projected(DivideAndConquer):
    """The same with positions and velocities projected after every step."""

    name = "dca-projected"
    projected = True
