"""Kinematics of a mechanism from end to end: structure, plans, program, run, results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..common.errors import InputError, nearest
from ..mechanism.arguments import times_of
from ..mechanism.model import Model
from ..mechanism.plans.plan import Array
from ..mechanism.plans.planning import studied
from ..mechanism.structure import Structure
from ..runtime.named_plan import plan_all
from ..runtime.parallel import threads as using_threads
from ..runtime.program import GroupStep, Program, build
from ..runtime.time_functions import check_times
from .branches import follow
from .modes import row_size
from .outcome import Outcome
from .reported import reported
from .results import Results, vectors_of
from .run import Solution

METHODS = ("td", "3ot", "global", "global-sparse")


def _silent(_: str) -> None:
    return None


def prepare(model: Model, progress: Callable[[str], None] = _silent) -> tuple[Structure, Program]:
    """Return structure and program of a mechanism that is determined; wrong input where it is not."""
    structure = studied(model)
    groups = [g.name for g in structure.groups]
    for name in model.assembly:
        if name not in groups:
            where = model.origin or model.name
            raise InputError(
                f"{where}: [assembly] {name}: there is no such group{nearest(name, groups)} - the groups are "
                f"{', '.join(groups)}"
            )
    return structure, build(model, plan_all(model, structure), progress)


def run(
    model: Model,
    times: Array | None = None,
    method: str = "td",
    progress: Callable[[str], None] = _silent,
    jerk: bool = False,
    threads: int = 1,
) -> Outcome:
    """Return the motion at the given times, or at those of [simulation]; with the jerks of points if asked."""
    with using_threads(threads):
        return _run(model, times, method, progress, jerk)


def _run(
    model: Model, times: Array | None, method: str, progress: Callable[[str], None], jerk: bool = False
) -> Outcome:
    asked = asked_times(model, times, method)
    check_times(model, asked)
    return run_program(*prepare(model, progress), asked, method, jerk=jerk)


def asked_times(model: Model, times: Array | None, method: str) -> Array:
    """Return the times of a run, checked, with its method."""
    if method not in METHODS:
        raise InputError(f"method {method}: the methods of run are {', '.join(METHODS)}")
    return times_of(model, times)


def run_program(
    structure: Structure,
    program: Program,
    asked: Array,
    method: str,
    numbers: Array | None = None,
    jerk: bool = False,
) -> Outcome:
    """Return the motion of a program at the asked times, with the numbers of a design (the nominal ones by default)."""
    start = float(program.model.simulation.start)
    first = asked[0] > start  # the assembly is chosen at the start and followed from there
    grid = np.concatenate([[start], asked]) if first else asked
    solution = follow(program, grid, method, numbers)
    steps = solution.asked[1:] if first else solution.asked
    results = report(solution, steps[steps < solution.solved], method, structure, jerk)
    return Outcome(program.model, results, solution.stop, structure)


def report(
    solution: Solution, steps: NDArray[np.int64], method: str, structure: Structure, jerk: bool = False
) -> Results:
    """Return the results at the given steps of a solution; with the jerks of points if asked."""
    model = solution.program.model
    time = solution.time[steps]
    points, bodies, joints, drivers = reported(solution, steps, jerk)
    return Results(
        model.name,
        method,
        model.space,
        time,
        points,
        bodies,
        joints,
        drivers,
        diagnostics(solution, structure),
        vectors=vectors_of(model, bodies),
        parameters=model.parameters,
    )


def diagnostics(solution: Solution, structure: Structure) -> dict[str, object]:
    """Return residuals, iterations, assembly modes, and conditioning (with the transmission angle of RRR dyads)."""
    n = solution.solved
    groups: dict[str, dict[str, object]] = {}
    worst = 0.0
    model = solution.program.model
    for step in solution.program.steps:
        if not isinstance(step, GroupStep) or n == 0:
            continue
        least, at, residual = solution.report[step.plan.name][:3].tolist()
        relative = residual / row_size(step, solution.size)
        worst = max(worst, relative)
        found: dict[str, object] = {
            "type": step.plan.type,
            "solver": step.solver.group.name,
            "mode": solution.chosen.get(step.plan.name),
            "residual": relative,
            "least_conditioning": least,
            "at": float(solution.time[int(at)]),
        }
        if step.plan.type == "RRR" and model.space == "planar":
            found["least_transmission_angle"] = float(np.arcsin(min(1.0, least)))
        groups[step.plan.name] = found
    stopped = {} if solution.stop is None else {"stopped": solution.stop.message}
    return {
        **stopped,
        "max_residual": worst,
        "iterations": solution.iterations,
        "inner_steps": len(solution.time),
        "mobility": structure.mobility,
        "groups": groups,
        **solution.notes,
    }
