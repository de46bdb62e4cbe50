"""The pipeline as one function: specification, derivation, rank, closed form, kernels, text of the module."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from . import ir
from .closedform import ClosedForm, find_closed_form
from .derive import Derivation, by_least_squares, derive
from .emit import EmittedModule, emit
from .kernels import build_kernels
from .redundancy import solution_blocks
from .sampling import check_rank
from .spec import GroupSpec
from .value_numbering import Pool

Progress = Callable[[str, float, str], None]  # stage, seconds it took, what came out of it


@dataclass(frozen=True)
class CompiledSpec:
    """A specification with everything that was derived from it."""

    derivation: Derivation
    closed_form: ClosedForm | None
    module: EmittedModule


def quiet(stage: str, seconds: float, outcome: str) -> None:
    return None


class Stages:
    """Tells the caller of each stage as it ends."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.begin = time.perf_counter()

    def __call__(self, stage: str, outcome: str) -> None:
        now = time.perf_counter()
        self.progress(stage, now - self.begin, outcome)
        self.begin = now


def expected_seconds(derivation: Derivation) -> float:
    """Return about how long a type takes from here on, on a core of 2024 that has nothing else to do.

    Fitted to types of 1 to 9 equations and 13 to 272 operations in Φ, 0.6 to 9 seconds; within a third of all of them.
    A second is for what a process compiles but once.
    """
    spec, pool = derivation.spec, Pool(())
    for i, row in enumerate(derivation.Phi):
        pool.assign(f"Phi_{i}", pool.freeze(row))
    operations = sum(ir.operations(a.value) for section in pool.sections() for a in section.statements)
    return 1.0 + 0.25 * len(spec.phi) + 0.02 * operations


def compile_spec(spec: GroupSpec, origin: str, progress: Progress = quiet) -> CompiledSpec:
    """Return the emitted module of a specification: derive, check rank, find closed form, freeze, print."""
    done = Stages(progress)
    derivation = derive(spec)
    unknowns = f"{derivation.n_dependent} dependent, {derivation.n_independent} independent"
    expected = f"about {expected_seconds(derivation):.0f} s in all"
    done("derive", f"{derivation.n_constraints} constraints, {unknowns}; {expected}")
    check_rank(derivation)
    done("rank", "full")
    closed_form = find_closed_form(derivation)
    done("positions", "closed form, proved" if closed_form else f"Newton-Raphson{by_least_squares(derivation)}")
    group = build_kernels(derivation, closed_form, solution_blocks(derivation))
    done("kernels", f"{sum(k.operations for k in group.kernels)} operations, solver {group.solver}")
    module = emit(derivation, group, origin)
    done("emit", f"{module.text.count(chr(10))} lines")
    return CompiledSpec(derivation, closed_form, module)
