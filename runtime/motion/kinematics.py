"""Kinematics of a mechanism from end to end: structure, plans, program, run, results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, nearest
from ..mechanism.bodymotion import BodyMotion
from ..mechanism.model import Model
from ..mechanism.structure import Structure
from .bodies import body_motions
from .continuity import follow
from .jerk import at_steps, inner_times, spacing, with_jerk
from .measure import measure
from .plan import Array
from .planning import plan_groups, studied
from .program import GroupStep, NumericStep, Program, build
from .reported import reported
from .results import Results
from .run import Failure, Solution, driver_values, failure_message
from .threads import threads as using_threads
from .timefunctions import check_times

METHODS = ("td", "3ot", "global", "global-sparse")


def _silent(_: str) -> None:
    return None


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run gave: its results as far as it came, and why it stopped (None where it did not)."""

    model: Model
    structure: Structure
    results: Results
    failure: Failure | None


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
    return structure, build(model, plan_groups(model, structure), progress)


def run(
    model: Model,
    times: Array | None = None,
    method: str = "td",
    progress: Callable[[str], None] = _silent,
    jerk: bool = False,
    threads: int = 1,
) -> Outcome:
    """Return the motion at the given times, or at those of [simulation]; with the jerks of points if asked."""
    if threads < 1:
        raise InputError(f"--threads {threads}: at least one thread is needed - leave it out, or write --threads 2")
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
        raise InputError(f"--method {method}: the methods of run are {', '.join(METHODS)}")
    asked = model.simulation.times() if times is None else np.asarray(times, dtype=np.float64)
    start = model.simulation.start
    if len(asked) == 0:
        raise InputError("--at: no time is given - write --at 0,0.5,1")
    if not np.isfinite(asked).all() or (np.diff(asked) <= 0).any() or asked[0] < start:
        raise InputError(
            f"--at: times are increasing numbers from the start of the simulation ({start:g}) on - put them in order"
        )
    return asked


def run_program(
    structure: Structure,
    program: Program,
    asked: Array,
    method: str,
    numbers: Array | None = None,
    jerk: bool = False,
) -> Outcome:
    """Return the motion of a program at the asked times, with the numbers of a design (the nominal ones by default)."""
    if jerk and not has_system(program):
        return _with_jerk(structure, program, asked, method)
    start = float(program.model.simulation.start)
    first = asked[0] > start  # the assembly is chosen at the start and followed from there
    grid = np.concatenate([[start], asked]) if first else asked
    if method.startswith("global") and not has_system(program):
        return _absolute(program, structure, asked, grid, method)
    solution = follow(program, grid, method, numbers)
    steps = solution.asked[1:] if first else solution.asked
    results = report(solution, steps[steps < solution.solved], method, structure, jerk)
    return Outcome(program.model, structure, results, solution.failure)


def _with_jerk(structure: Structure, program: Program, asked: Array, method: str) -> Outcome:
    """Return the motion with jerks by differences: cams have no equations to be differentiated once more."""
    model = program.model
    delta, first = spacing(model, asked), model.simulation.start
    outcome = run_program(structure, program, inner_times(asked, first, delta), method)
    return replace(outcome, results=with_jerk(outcome.results, asked, first, delta))


def has_system(program: Program) -> bool:
    """Return whether all groups have equations that one system can hold; cams, with any profile, do not."""
    return not any(isinstance(step, NumericStep) for step in program.steps)


def _absolute(program: Program, structure: Structure, asked: Array, grid: Array, method: str) -> Outcome:
    """Return the motion of a mechanism with groups that have no equations of their own, in absolute coordinates.

    The first step is that of the groups, so that the same way of assembly is followed.
    """
    from ..mechanism.absolute import Absolute
    from ..mechanism.assembly import follow as follow_absolute

    model = program.model
    first = follow(program, grid[:1])
    if first.failure is not None:
        return Outcome(model, structure, report(first, np.arange(0), method, structure), first.failure)
    places = {name: _first_pose(motion) for name, motion in body_motions(first).items()}
    gaps: list[float] = []
    motions = follow_absolute(model, grid, Absolute(model).posed(places), gaps)
    found = measure(model, motions, grid, driver_values(model, grid))
    notes: dict[str, object] = {
        "linear_solver": "absolute coordinates of all bodies, least squares: a group has no equations of its own",
        "mobility": structure.mobility,
        "max_residual": max(gaps),
        "iterations": 0,
    }
    results = Results(model.name, method, model.space, grid, *found, notes)
    return Outcome(model, structure, at_steps(results, np.arange(len(grid) - len(asked), len(grid))), None)


def _first_pose(motion: BodyMotion) -> tuple[Array, Array | float]:
    """Return origin and angle or rotation at the first step."""
    if motion.angle is not None:
        return motion.origin[0, :, 0], float(motion.angle[0, 0])
    assert motion.rotation is not None
    return motion.origin[0, :, 0], motion.rotation[0]


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
    )


def diagnostics(solution: Solution, structure: Structure) -> dict[str, object]:
    """Return residuals, iterations, assembly modes, and conditioning (with the transmission angle of RRR dyads)."""
    n = solution.solved
    groups: dict[str, dict[str, object]] = {}
    worst = max(solution.residuals.values(), default=0.0)
    model = solution.program.model
    for step in solution.program.steps:
        if isinstance(step, NumericStep):
            name = step.plan.name
            residual_of = {"residual": solution.residuals[name]} if name in solution.residuals else {}
            groups[name] = {"type": step.plan.type, "solver": "absolute coordinates", **residual_of}
        if not isinstance(step, GroupStep) or n == 0:
            continue
        least, at, residual = solution.report[step.plan.name][:3].tolist()
        # rows are squares of lengths, and, where the group finds directions or angles, numbers of order one
        lengths = all(s.startswith(("x_", "y_", "z_")) for s in step.solver.group.dependent)
        relative = residual / (solution.size**2 if lengths else max(1.0, solution.size**2))
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
    stopped = {} if solution.failure is None else {"stopped": failure_message(solution.failure)}
    return {
        **stopped,
        "max_residual": worst,
        "iterations": solution.iterations,
        "inner_steps": len(solution.time),
        "mobility": structure.mobility,
        "groups": groups,
        **solution.notes,
    }
