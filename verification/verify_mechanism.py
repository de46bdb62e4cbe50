"""Every group of a mechanism three ways, at its own lengths and at instants of its own run; then the whole.

Compiled against symbolic (90 digits) against the group solved without derivatives, as `verify` does for types at random
poses; the mechanism as a whole against the motion that absolute coordinates find, with a continuation of their own.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from ..codegen.derive import Derivation, derive
from ..codegen.differences import Independent, motion_by_differences
from ..codegen.reference import Symbolic, array
from ..codegen.sampling import WELL_CONDITIONED, Array, Configuration, Sampler
from ..codegen.verification_errors import Errors, Verification, relative
from ..codegen.verify import sizes_of_K, verify_module
from ..common.errors import InputError
from ..mechanism.functions import Expression
from ..mechanism.model import Function, Model
from ..motion.branches import follow
from ..motion.change_points import BLURRED
from ..motion.closer_look import quality
from ..motion.kinematics import asked_times, prepare, report
from ..motion.outcome import raise_stop
from ..motion.run import Solution
from ..runtime.library_build import find_specification
from ..runtime.partials import by_names
from ..runtime.program import GroupStep
from ..runtime.time_functions import check_times
from .against_absolute import Difference, against_absolute

BOUND = 1e-11  # of every quantity, where the group is well conditioned
INSTANTS = 5
NOTHING = 1e-20  # of the size: what differences in 90 digits may leave of a rate that is zero
MOST_TIMES = 2000  # of the run on the way to the instants


@dataclass
class GroupVerification:
    """The errors of one group; `condition` is the largest over its instants, |[Φ_φ Φ_h]| / σ_min(Φ_φ) made scale-free.

    Errors of instants beyond `WELL_CONDITIONED` are divided by how far beyond they are: digits are lost as they must.
    """

    name: str
    type: str
    errors: dict[str, Errors] = field(default_factory=dict)
    condition: float = 1.0

    @property
    def worst(self) -> float:
        return max((e.worst for e in self.errors.values()), default=0.0)


@dataclass
class MechanismVerification:
    """What `assurgent verify FILE` shows: groups, the whole, and whether all is within the bound."""

    mechanism: str
    bound: float
    time: Array
    groups: list[GroupVerification]
    whole: dict[str, float]
    difference: Difference
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return all(g.worst <= self.bound for g in self.groups) and all(e <= self.bound for e in self.whole.values())

    def to_json(self) -> dict[str, Any]:
        groups = [
            {
                "name": g.name,
                "type": g.type,
                "errors": {q: {"symbolic": e.symbolic, "independent": e.independent} for q, e in g.errors.items()},
            }
            for g in self.groups
        ]
        return {"mechanism": self.mechanism, "passed": self.passed, "groups": groups, "whole": self.whole}


def default_times(model: Model) -> Array:
    """Return five instants in the middle of fifths of the simulation."""
    start, stop = model.simulation.start, float(model.simulation.times()[-1])
    if stop <= start:
        return np.array([start])
    return np.asarray(start + (stop - start) * (np.arange(INSTANTS) + 0.5) / INSTANTS)


def verify_mechanism(
    model: Model,
    times: Array | None = None,
    bound: float = BOUND,
    progress: Callable[[str], None] = lambda _: None,
) -> MechanismVerification:
    """Return the errors of every group and of the whole at some instants of the run."""
    begin = clock.perf_counter()
    asked = asked_times(model, default_times(model) if times is None else times, "td")
    check_times(model, asked)
    structure, program = prepare(model, progress)
    own = model.simulation.times()  # the run that the user has, with the instants in between
    own = own[(own < asked[-1])][:: max(1, len(own) // MOST_TIMES)]
    solution = follow(program, np.union1d(np.append(own, model.simulation.start), asked))
    lanes = np.searchsorted(solution.time, asked)
    results = report(solution, lanes[lanes < solution.solved], "td", structure)
    if solution.stop is not None:
        raise_stop(solution.stop, results)
    groups = []
    for step in program.steps:
        if isinstance(step, GroupStep):
            progress(f"{step.plan.name} ({step.solver.group.name})")
            groups.append(_verified(solution, step, lanes))
    progress("the whole, in absolute coordinates")
    difference = against_absolute(model, results)
    whole = dict(zip(("position", "velocity", "acceleration"), _judged(difference), strict=True))
    return MechanismVerification(model.name, bound, asked, groups, whole, difference, clock.perf_counter() - begin)


def _judged(difference: Difference) -> tuple[float, ...]:
    """Return the largest difference of each order, divided by what the conditioning at its instant makes of rounding.

    Absolute coordinates close their rows to 1e-13 of the size; a least singular value s makes 1e-13/s of that in the
    positions, and each derivative solves once more with the same matrix. 1e-2 is that of a healthy mechanism.
    """
    loss = np.minimum(difference.least / 1e-2, 1.0)
    return tuple(float((e * loss**k).max(initial=0.0)) for k, e in enumerate(difference.errors, 1))


@cache
def _derived(name: str) -> tuple[Derivation, Symbolic, Sampler]:
    derivation = derive(find_specification(name))
    return derivation, Symbolic(derivation), Sampler(derivation, seed=1)


def configurations(solution: Solution, step: GroupStep, lanes: Any) -> list[Configuration]:
    """Return the group's configurations at some lanes of a run, with the rates of what is known to the third order."""
    state, third = solution.state, solution.jerks[0]
    return [
        Configuration(
            np.ascontiguousarray(state[0, step.phi_rows, k]),
            np.ascontiguousarray(state[0, step.h_rows, k]),
            _parameters(solution, step, int(k)),
            float(solution.time[k]),
            np.ascontiguousarray(state[1, step.h_rows, k]),
            np.ascontiguousarray(state[2, step.h_rows, k]),
            np.ascontiguousarray(third[step.h_rows, k]),
        )
        for k in lanes
    ]


def _parameters(solution: Solution, step: GroupStep, k: int) -> Array:
    """Return the parameters of a group at a lane; a cam's profile is developed at its place of contact there."""
    solver = solution.solver(step)
    par = np.array(solver.par, dtype=float)
    profiles = _derived(solver.group.name)[0].spec.profiles
    for (profile, unknown), function in zip(profiles, solver.profiles, strict=True):
        at = float(solution.state[0, step.phi_rows[solver.group.dependent.index(unknown)], k])
        first = solver.group.parameters.index(profile.symbols[0])
        series = developed(function, at)
        par[first : first + 1 + len(series)] = at, *series
    return par


def developed(function: Function, at: float) -> list[float]:
    """Return the Taylor coefficients of a profile to the fourth degree (a table of cubics has no fourth)."""
    place = np.array([at])
    values = [float(v) for v in function(place)[:, 0]]
    last = 0.0
    if isinstance(function, Expression):
        slope = by_names(function, frozenset({function.variable}))
        last = float(slope(place)[3, 0]) if slope is not None else 0.0
    return [v / math.factorial(k) for k, v in enumerate((*values, last))]


def _verified(solution: Solution, step: GroupStep, lanes: Any) -> GroupVerification:
    group = step.solver.group
    derivation, symbolic, sampler = _derived(group.name)
    size = solution.size
    scale = np.array([size if s.startswith(("x_", "y_", "z_")) else 1.0 for s in group.dependent])
    clear = quality(solution, step)[0]  # of large groups it falls with the size of the mechanism
    # where branches meet there is nothing to compare
    lanes = lanes[clear[lanes] >= BLURRED * min(1.0, np.nanmax(clear))]
    if not len(lanes):
        raise InputError(
            f"{step.plan.name}: at none of these instants it is clear of where branches meet - give others"
        )
    chosen = configurations(solution, step, lanes)
    conditions = [_condition(sampler, derivation, c, size) for c in chosen]
    allowances = [max(1.0, x / WELL_CONDITIONED) for x in conditions]
    result = verify_module(derivation, group, len(chosen), configurations=chosen, allowances=allowances, scale=scale)
    for k, c, allowance in zip(lanes, chosen, allowances, strict=True):
        result.allowance = allowance
        _motion_of_the_run(result, solution, step, int(k), c, derivation, symbolic)
    return GroupVerification(step.plan.name, step.plan.type, result.errors, max(conditions))


def _condition(sampler: Sampler, derivation: Derivation, c: Configuration, size: float) -> float:
    """Return |[Φ_φ Φ_h]| / σ_min(Φ_φ) with lengths measured by the mechanism's size, rows made alike."""
    full = sampler._full_jacobian(c)[:, : derivation.n_dependent + derivation.n_independent]
    names = (*derivation.spec.phi, *derivation.spec.h)
    full = full * np.array([size if s.startswith(("x_", "y_", "z_")) else 1.0 for s in names])
    full = full / np.maximum(np.linalg.norm(full, axis=1, keepdims=True), 1e-300)
    least = float(np.linalg.svd(full[:, : derivation.n_dependent], compute_uv=False)[-1])
    return float(np.linalg.norm(full, 2)) / least if least > 0 else np.inf


def _motion_of_the_run(
    result: Verification,
    solution: Solution,
    step: GroupStep,
    k: int,
    c: Configuration,
    derivation: Derivation,
    symbolic: Symbolic,
) -> None:
    """Position, velocity and acceleration as the run has them, against both routes."""
    q, qdot, qddot = (solution.state[order, step.phi_rows, k] for order in range(3))
    truth = symbolic.at(c)
    by_symbols = (symbolic.solved(c), array(truth.phidot)[:, 0], array(truth.phiddot)[:, 0])
    independent = Independent(derivation)
    solve = independent.solver(c, independent.jacobian(c)[0])
    by_differences = motion_by_differences(solve, c)[:3]
    K = sizes_of_K(derivation, array(truth.P), array(truth.H))
    terms = (float(np.abs(np.concatenate([q, c.h])).max()), float((K @ np.abs(c.hdot)).max()))
    L, speed = np.array([array(m) for m in truth.sizes.L]), np.abs(c.hdot)
    second = float((K @ np.abs(c.hddot) + np.einsum("i,ijk,k->j", speed, L, speed)).max())
    least = NOTHING * terms[0]
    for route, exact in (("symbolic", by_symbols), ("independent", by_differences)):
        for name, value, wanted, size in zip(
            ("position", "velocity", "acceleration"), (q, qdot, qddot), exact, (*terms, second), strict=True
        ):
            result.add(name, route, relative(value, wanted, max(size, least)))
