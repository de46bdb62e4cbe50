"""Run, inverse and simulate for the page: the same doors as the commands, with bounds."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..common.errors import AssemblyError, AssurgentError, InputError
from ..dynamics.computed import inverse_dynamics, not_unique, simulation
from ..mechanism.model import Model
from ..motion.kinematics import prepare, run_program
from ..motion.results import Results
from ..runtime.time_functions import check_times
from .mechanism_text import Problem, Read, problem_of
from .provisional import absolute_motion, first_configuration
from .sheet import Shown

KINDS = ("run", "inverse", "simulate")
MOST_BODIES = 30  # of an answer in absolute coordinates, whose cost grows with their cube
# Kernels share their working memory: one computation at a time. Types are made outside of it.
COMPUTING = threading.Lock()
Progress = Callable[[str], None]


def determined(read: Read) -> bool:
    """Return whether the drivers determine the motion."""
    s, m = read.structure, read.model
    if s is None or m is None or s.free or len(m.drivers) > s.mobility:
        return False
    return not any(not f.consistent for f in s.redundant)


def solve(read: Read, kind: str, progress: Progress) -> Shown:
    """Return what the page shows: the whole motion, or as much of it as can be had, and why not more."""
    if kind not in KINDS:
        raise InputError(f"{kind!r}: run, inverse and simulate are known")
    if read.model is None or read.structure is None:
        return Shown(read)
    model = read.model
    if not model.movable:
        return Shown(read, first_configuration(model))
    if kind != "simulate" and not determined(read):
        return Shown(read, first_configuration(model), notes=_what_is_missing(read))
    try:
        results, problem, notes = _computed(model, kind, progress)
    except AssemblyError as error:
        partial = error.results if isinstance(error.results, Results) and len(error.results) else None
        return Shown(read, partial or first_configuration(model), problem_of(error, "assembly"))
    except AssurgentError as error:
        return Shown(read, first_configuration(model), problem_of(error))
    if not len(results):
        results = first_configuration(model)
    return Shown(read, results, problem, (*read.notes, *notes))


def provisional(read: Read, kind: str) -> Shown | None:
    """Return the motion in absolute coordinates while the true answer is being made; None where there is none."""
    if read.model is None or kind == "simulate" or not determined(read) or len(read.model.movable) > MOST_BODIES:
        return None
    try:
        results = absolute_motion(read.model)
    except (AssurgentError, ArithmeticError, ValueError):
        return None
    note = "a solver is being made for this mechanism: until it is ready, absolute coordinates answer"
    return Shown(read, results, notes=(note,), provisional=True)


def _computed(model: Model, kind: str, progress: Progress) -> tuple[Results, Problem | None, tuple[str, ...]]:
    times, notes = model.simulation.times(), tuple[str, ...]()
    if kind == "simulate":
        with COMPUTING:
            computed = simulation(model, times, progress=progress)
    else:
        check_times(model, times)
        prepared = prepare(model, progress)  # may derive and compile: outside the lock, others go on
        with COMPUTING:
            if kind == "run":
                outcome = run_program(*prepared, times, "td")
                problem = None if outcome.stop is None else _assembly(outcome.stop.message)
                return outcome.results, problem, notes
            computed = inverse_dynamics(model, times, "direct", progress, prepared)
    shared = not_unique(computed.results)
    if shared:
        notes += (f"the reactions of {', '.join(shared)} are not unique; those of smallest norm are shown",)
    problem = None if computed.error is None else _assembly(str(computed.error))
    return computed.results, problem, (*notes, *computed.notes)


def _assembly(message: str) -> Problem:
    return Problem(message, (), "assembly")


def _what_is_missing(read: Read) -> tuple[str, ...]:
    structure = read.structure
    assert structure is not None
    return tuple(f.message for f in (*structure.free, *structure.redundant))
