"""The pipeline as one function: specification -> derivation -> kernels -> module -> checked type in the user's library."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..runtime.errors import GenerationError
from ..runtime.group import GroupType
from ..runtime.library import find_entry, key_of
from ..runtime.store import Store, StoredType, load_source
from .closedform import ClosedForm, find_closed_form
from .derive import Derivation, derive
from .emit import EmittedModule, emit
from .kernels import build_kernels
from .sampling import check_rank
from .spec import GroupSpec, read_spec
from .verify import Verification, verify_module

Progress = Callable[[str, float, str], None]  # stage, seconds it took, what came out of it
CHECKED_CONFIGURATIONS = 50


@dataclass(frozen=True)
class Compiled:
    """A specification with everything that was derived from it."""

    derivation: Derivation
    closed_form: ClosedForm | None
    module: EmittedModule


@dataclass(frozen=True)
class Generated:
    """A new type in the user's library, with its verification (None where it was there already)."""

    stored: StoredType
    verification: Verification | None


def _quiet(stage: str, seconds: float, outcome: str) -> None:
    return None


class _Stages:
    """Tells the caller of each stage as it ends."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.begin = time.perf_counter()

    def __call__(self, stage: str, outcome: str) -> None:
        now = time.perf_counter()
        self.progress(stage, now - self.begin, outcome)
        self.begin = now


def compile_spec(spec: GroupSpec, origin: str, progress: Progress = _quiet) -> Compiled:
    """Return the emitted module of a specification: derive, check the rank, find the closed form, freeze, print."""
    done = _Stages(progress)
    derivation = derive(spec)
    sizes = f"{derivation.n_constraints} constraints, {derivation.n_dependent} dependent, {derivation.n_independent} independent"
    done("derive", sizes)
    check_rank(derivation)
    done("rank", "full")
    closed_form = find_closed_form(derivation)
    done("positions", "closed form, proved" if closed_form else "Newton-Raphson")
    group = build_kernels(derivation, closed_form)
    done("kernels", f"{sum(k.operations for k in group.kernels)} operations, solver {group.solver}")
    module = emit(derivation, group, origin)
    done("emit", f"{module.text.count(chr(10))} lines")
    return Compiled(derivation, closed_form, module)


def generate(path: Path, *, store: Store | None = None, progress: Progress = _quiet) -> Generated:
    """Derive, emit, compile, verify and store the type of a specification file; at once where it is stored already."""
    spec = read_spec(path)
    entry = find_entry(spec.name)
    if entry is not None and entry.module != spec.module:
        raise GenerationError(f"{path}: '{spec.name}' is an alias of the shipped type {entry.name} - choose another name")
    store = store or Store()
    key = key_of(spec.text)
    with store.lock(spec.module):
        found = store.find(spec.module, key)
        if found is not None:
            return Generated(found, None)
        compiled = compile_spec(spec, path.name, progress)
        staging = store.stage(spec.module, compiled.module.text, spec.text)
        module = load_source(staging / f"{spec.module}.py", f"assurgent_types.staging_{spec.module}_{key}")
        done = _Stages(progress)
        verification = verify_module(compiled.derivation, GroupType(module), CHECKED_CONFIGURATIONS, compile_done=lambda: done("compile", "Numba"))
        done("verify", verification.headline)
        if not verification.passed:
            raise GenerationError(f"{path}: the compiled type does not agree with its derivation: {verification.headline} - please report the specification")
        return Generated(store.publish(staging, spec.name, spec.module, key), verification)
