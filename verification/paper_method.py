"""MOD_TD and MOD_3OT as Saura, Segado and Dopico have them, step by step, where `run` does it another way.

Positions by Newton-Raphson from the step before until |Φ| is small (Algorithm 2); for p > r the normal equations of
Eq. 21, 23, 28 and 32, where emitted solvers take a QR factorisation; MOD_3OT with velocities by Eq. 26 from all s
columns of K, and L by Eq. 39 or 43 as they stand, a matrix r x s for every entry of h that is not fixed (Tables 1 and
2 set fixed coordinates apart; section 5.1 gives L of 3R a third dimension of two). Time counts as one more entry of h
with rate one, which gives the term that Eq. 33 and 36 lack. The emitted formulas of a type are used, not its solvers.
"""

from __future__ import annotations

import time as clock
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..common.errors import AssemblyError
from ..mechanism.plans.plan import Array
from ..mechanism.structure import Structure
from ..motion.branches import follow
from ..motion.kinematics import report
from ..motion.outcome import Outcome
from ..runtime.program import ONE, ZERO, Program
from ..runtime.sequence import Sequence

METHODS = {"td-paper": "td", "3ot-paper": "3ot"}
ACCELERATION = 3  # how far a step goes: 1 to positions, 2 to velocities
TOLERANCE = 1e-12  # of |Φ|, by the square of the size
NOTHING_MORE: Mapping[str, Collection[str]] = {}


@dataclass(frozen=True)
class Stepped:
    """What a sweep in the paper's way took, and where it came apart: group and lane (None: nowhere)."""

    iterations: int
    lost: tuple[str, int] | None = None


def step_through(
    sequence: Sequence,
    time: Array,
    state: Array,
    numbers: Array,
    method: str,
    size: float,
    upto: int = ACCELERATION,
    counted: Mapping[str, Collection[str]] = NOTHING_MORE,
) -> Stepped:
    """Solve all lanes of a state again, group by group; φ of the first lane is where Newton starts.

    `counted` are entries of h, by type, that count as not fixed although nothing moves them.
    """
    from .paper_kernels import paper_sweep  # Numba, where it is needed

    edges, signs = np.array([0, len(time)], dtype=np.int64), np.zeros((1, max(sequence.n_signs, 1)))
    iterations, fixed = 0, {ZERO, ONE, *sequence.program.constants}
    for i, item in enumerate(sequence.items):
        step = item.group_step
        if item.kind == "group" and step is not None and not step.solver.group.module.PROFILES:
            par = np.array(sequence.numbers_of(step, numbers)[0])
            rows = (np.asarray(step.h_rows, dtype=np.int64), np.asarray(step.phi_rows, dtype=np.int64))
            module = step.solver.group.module
            more = counted.get(module.NAME, ())
            named = zip(module.INDEPENDENT, rows[0], strict=True)
            moving = [j for j, (name, row) in enumerate(named) if int(row) not in fixed or name in more]
            sweep = paper_sweep(module, METHODS[method] == "3ot")
            close = TOLERANCE * max(1.0, size) ** 2
            lost, taken = sweep(time, state, *rows, np.array(moving, dtype=np.int64), par, close, upto)
            iterations += int(taken)
            if lost < len(time):
                return Stepped(iterations, (step.plan.name, int(lost)))
        elif item.kind in ("combination", "angle", "points"):
            sequence.run("td", time, state, edges, signs, [i], numbers=numbers)
    return Stepped(iterations)


def run_paper(structure: Structure, program: Program, asked: Array, method: str) -> tuple[float, Outcome]:
    """Return the seconds and the outcome of a run in the paper's way; `run` gives its instants and its first step."""
    start = float(program.model.simulation.start)
    before = [start] if asked[0] > start else []
    begun = follow(program, np.concatenate([before, asked]))
    steps = begun.asked[len(before) :]
    if begun.stop is not None:
        results = report(begun, steps[steps < begun.solved], method, structure)
        return 0.0, Outcome(program.model, results, begun.stop, structure)
    found = replace(begun, state=begun.state.copy(), angled={}, coarse=[], fine=None)
    began = clock.perf_counter()
    done = step_through(program.sequence, found.time, found.state, found.numbers, method, found.size)
    if done.lost is not None:
        group, lane = done.lost
        raise AssemblyError(
            f"{method}: group {group}: Newton-Raphson from the step before, as the paper has it, does not converge at "
            f"t = {found.time[lane]:g} s - give smaller steps"
        )
    found.iterations = done.iterations
    results = report(found, steps, method, structure)
    return clock.perf_counter() - began, Outcome(program.model, results, None, structure)
