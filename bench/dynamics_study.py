"""Forward dynamics side by side: time per right-hand side, and processor time to the same accuracy of the end position.

Every program integrates the same mechanisms from rest. Its step is halved, or its tolerance lowered, until the places
of all joints at the end agree with a reference to the accuracy asked for, relative to the mechanism's size; the
processor time of that run is what counts. Models are built, and code is compiled, before the clock starts.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ..dynamics.initial_state import begin
from ..mechanism.model import Array, Model
from .dynamics_cases import Case, cases, joint_places
from .dynamics_common import Prepared, Run, clocked
from .dynamics_peers import PEERS
from .timing import ROUNDS, least

ACCURACY = 1e-6
REFERENCE = 1e-10  # tolerance of the reference, which is ours; all others converge to it
PATIENCE = 20.0  # seconds of one run, above which a program is not refined further
OURS = "Assurgent, partition"
INSTALL = "pip install '.[bench]' in the folder of the project"


@dataclass(frozen=True)
class Figure:
    """What one program needs for one mechanism; times in seconds of the processor."""

    case: str
    program: str
    version: str
    evaluation: float  # one right-hand side, or one step of an implicit method
    resolution: float
    count: int  # evaluations, or steps, of the run
    error: float
    seconds: float
    reached: bool


def _with_tolerance(model: Model, tolerance: float) -> Model:
    return replace(model, simulation=replace(model.simulation, tolerance=tolerance))


def _many() -> Callable[..., None]:
    """Return what evaluates a right-hand side a thousand times."""
    from numba import njit

    from ..dynamics import integrator

    @njit
    def evaluations(ints, x, y, K):  # type: ignore[no-untyped-def]
        for _ in range(1000):
            integrator.rates(ints, x, 0.0, y, K, 0)

    found: Callable[..., None] = evaluations
    return found


def partition(case: Case) -> Prepared:
    """Ours: independent coordinates, groups and integrator compiled."""

    from ..dynamics.partition import Partition
    from ..dynamics.partition_records import Noted

    model = case.model()
    times = np.array([0.0, case.end])

    def started(tolerance: float) -> Partition:
        given = _with_tolerance(model, tolerance)
        return Partition(given, begin(given), lambda _: None, reactions=False)

    def run(tolerance: float) -> Run:
        ours = started(tolerance)
        ours.machine()
        noted = Noted(model, ours.gauge, ours.inertia, ours.applied, False, times)
        seconds = clocked(lambda: ours.integrate(times, noted))
        posture = ours._moved(ours.t, ours.z, ours.zdot).instant.posture
        return Run(seconds, joint_places(model, posture.origin, posture.rotation), ours.counts.evaluations)

    ours = started(REFERENCE)
    machine, y = ours.machine(), np.concatenate([ours.z, ours.zdot])
    machine.enter(ours.t, y)
    K = np.zeros((1, len(y) + 1))

    evaluations = _many()
    return Prepared(
        run, lambda: evaluations(machine.ints, machine.floats, y, K), "1000 right-hand sides",
        tuple(10.0**-k for k in range(9)),
    )  # fmt: skip


def augmented(case: Case) -> Prepared:
    """Ours: absolute coordinates, the augmented system, for comparison."""
    from ..dynamics.augmented import Augmented

    model = case.model()

    def run(tolerance: float) -> Run:
        given = _with_tolerance(model, tolerance)
        ours = Augmented(given, begin(given).posture, reactions=False)
        seconds = clocked(lambda: ours.run(np.array([0.0, case.end])))
        posture = ours.posture()
        return Run(seconds, joint_places(model, posture.origin, posture.rotation), ours.counts.evaluations)

    ours = Augmented(model, begin(model).posture, reactions=False)
    evaluations = _many()
    return Prepared(
        run, lambda: evaluations(ours.ints, ours.x, ours.y, ours.K), "1000 right-hand sides",
        tuple(10.0**-k for k in range(9)),
    )  # fmt: skip


def reference(case: Case) -> Array:
    """Return the places of the joints at the end, by ours at a tolerance of 1e-10."""
    return partition(case).run(REFERENCE).places


def measure(name: str, version: str, case: Case, prepared: Prepared, exact: Array, rounds: int) -> Figure:
    """Refine until the end is accurate; then take the least time of some rounds."""
    size = case.model().size
    count = int(prepared.what.split()[0])
    evaluation = least({name: prepared.evaluate}, rounds)[name] / count
    for resolution in prepared.resolutions:
        run = prepared.run(resolution)
        error = float(np.abs(run.places - exact).max()) / size
        if error <= ACCURACY or run.seconds > PATIENCE:
            break
    seconds = run.seconds
    for _ in range(rounds - 1):
        if seconds < PATIENCE / 10:
            seconds = min(seconds, prepared.run(resolution).seconds)
    return Figure(name, name, version, evaluation, resolution, run.count, error, seconds, error <= ACCURACY)


def study(case: Case, rounds: int = ROUNDS) -> tuple[list[Figure], list[str]]:
    """Return the figures of all programs for one mechanism, ours first, and the peers that are not installed."""
    version = importlib.metadata.version("assurgent")
    exact = reference(case)
    programs: list[tuple[str, str, Callable[[Case], Prepared]]] = [
        (OURS, version, partition), ("Assurgent, global", version, augmented),
    ]  # fmt: skip
    missing = []
    for peer in PEERS:
        installed = peer.version()
        if installed is None:
            missing.append(peer.name)
        else:
            programs.append((peer.name, installed, peer.prepare))
    figures = []
    for name, number, prepare in programs:
        figure = measure(name, number, case, prepare(case), exact, rounds)
        figures.append(replace(figure, case=case.name))
    return figures, missing


def _short(value: float) -> str:
    """Return three digits, and all digits before the point."""
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def table(case: Case, figures: list[Figure]) -> Table:
    """Return the figures with their ratios to ours."""
    found = Table(title=f"{case.name}, {case.end:g} s from rest: end position to {ACCURACY:g} of the size")
    found.add_column("program", no_wrap=True)
    for head in ("one us", "ratio", "count", "error", "run ms", "ratio"):
        found.add_column(head, justify="right")
    ours = figures[0]
    for f in figures:
        found.add_row(
            f"{f.program} {f.version}",
            _short(1e6 * f.evaluation),
            _short(f.evaluation / ours.evaluation),
            str(f.count),
            f"{f.error:.0e}" + ("" if f.reached else " !"),
            _short(1e3 * f.seconds),
            _short(f.seconds / ours.seconds),
        )
    return found


def report(out: Console, rounds: int) -> list[dict[str, Any]]:
    """Measure and print all mechanisms; return the figures for JSON."""
    figures: list[Figure] = []
    missing: list[str] = []
    for case in cases():
        found, missing = study(case, rounds)
        figures += found
        out.print(table(case, found))
    out.print(
        "one: an evaluation, that is a right-hand side; of Exudyn a step of its implicit method, of MuJoCo an "
        "mj_forward, of Pinocchio a constraintDynamics called from Python; count: of these in the run. run: processor "
        f"time of the integration, least of {rounds} rounds; ! marks an accuracy that was not reached.",
        highlight=False,
    )
    for peer in PEERS:
        if peer.name in missing:
            out.print(f"{peer.name} is not installed - {INSTALL} brings it", highlight=False, markup=False)
        else:
            out.print(f"{peer.name}: {peer.how}", highlight=False)
    return [asdict(f) for f in figures]
