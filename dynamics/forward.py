"""Forward dynamics from end to end: start, method, records, results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..common.errors import InputError, nearest
from ..mechanism.arguments import number, times_of
from ..mechanism.model import Array, Model
from ..motion.inner_times import refined
from ..motion.measure import splits_of
from ..motion.outcome import Outcome
from ..runtime.sequence import Ints
from ..runtime.time_functions import check_times
from .body_method import BodyMethod
from .initial_state import Start, begin
from .inverse import inverse
from .methods import METHODS, PARTITION, body_method
from .nullspace import check_inertia
from .pace import driver_jumps
from .partition import NoCoordinatesError, Partition
from .reaction_schemes import SCHEMES
from .records import Recorded, results, told_of_reactions, without_spin
from .repeated_simulation import Begun

FINER = 8  # times that more instants are noted for the rotation of rods, and for the turns of spatial joints
MOST_STEPS = 20_000_000  # of a fixed length: half a minute
MOST_NOTED = 2_000_000  # instants


def _silent(_: str) -> None:
    return None


def simulate(
    model: Model,
    times: Array | None = None,
    method: str | None = None,
    progress: Callable[[str], None] = _silent,
    reactions: bool = True,
    through: bool = True,
    fixed_step: float | None = None,
    begun: Begun | None = None,
    scheme: str = SCHEMES[0],
    candidates: bool = False,
) -> Outcome:
    """Return the motion under the loads at the given times, or at those of [simulation].

    Without a `method` it is partition or, where joint coordinates do not tell the position, global.
    `through` lets a mechanism with one free motion pass a bifurcation on the branch that continues its tangent.
    With `fixed_step` the classical Runge-Kutta method (order 4) takes equal steps of at most that length from one
    asked time to the next; without it the step follows the tolerance. `begun` is the model at its start, where
    somebody has that already. `scheme` is that of the reactions; `candidates` reports Eq. 23b, the share by geometry
    and the closing effort of every joint coordinate of the criterion.
    """
    if method is not None and method not in METHODS:
        raise InputError(f"method {method}: the methods of simulate are {', '.join(METHODS)}{nearest(method, METHODS)}")
    if fixed_step is not None:
        fixed_step = number("fixed_step", fixed_step)
    if fixed_step is not None and method not in (None, PARTITION):
        raise InputError(f"fixed_step: the method {method} chooses its own steps - use the method partition")
    if candidates and method not in (None, PARTITION):
        raise InputError(f"candidates: the method {method} chooses no joint coordinates - use the method partition")
    asked, begins = times_of(model, times), model.simulation.start
    check_times(model, asked)
    if fixed_step is not None and asked[-1] - begins > MOST_STEPS * fixed_step > 0:
        raise InputError(f"fixed_step {fixed_step:g}: takes more than {MOST_STEPS:,} steps - give a longer one")
    begun = begun or Begun(model)
    start = begun.start = begun.start or _started(model)
    if start.free == 0:
        found = inverse(model, asked, progress, scheme)
        return replace(found, results=replace(found.results, method=method or METHODS[0]))
    grid = asked if asked[0] == begins else np.concatenate([[begins], asked])
    method = _with_impulses(model, grid, method, fixed_step)
    for _ in range(FINER):
        run = _method(model, start, method, progress, reactions, through, fixed_step, begun)
        run.scheme = scheme
        if isinstance(run, Partition):
            run.candidates = candidates
        record, stop = run.run(grid)
        if isinstance(run, BodyMethod) and (better := run.better()) is not None:
            run, run.scheme = better, scheme
            record, stop = run.run(grid)
        parts = splits_of(model, record.motions, record.time)
        if not isinstance(run, BodyMethod):
            record, rods = without_spin(model, record)
            parts = np.maximum(parts, rods)
        finer = _finer(model, grid, parts, fixed_step)
        if len(finer) == len(grid):
            break
        grid = finer
    notes = _diagnostics(run, record)
    if stop is not None:
        notes["stopped"] = stop.message
    used = PARTITION if isinstance(run, Partition) else run.name
    return Outcome(model, results(model, used, record, notes, asked), stop)


def _finer(model: Model, grid: Array, parts: Ints, fixed_step: float | None) -> Array:
    """Return the instants to note with others between them, so many parts of each of the first intervals.

    Fixed steps end at the noted instants: others may be noted at their ends alone.
    """
    counts = np.ones(len(grid) - 1, dtype=np.int64)
    counts[: len(parts)] = parts
    if fixed_step is not None:
        steps = np.ceil(np.diff(grid) / fixed_step * (1 - 1e-9)).astype(np.int64)
        counts = np.where(counts > 1, np.maximum(steps, 1), 1)
    if counts.sum() > MOST_NOTED:
        raise InputError(
            f"{model.origin or model.name}: between two of the asked times joints make more turns than can be followed "
            "- ask for times that lie nearer to each other"
        )
    return refined(grid, counts)


def _started(model: Model) -> Start:
    start = begin(model)
    if start.free > 0:
        check_inertia(model, start)
    return start


def _with_impulses(model: Model, grid: Array, method: str | None, fixed_step: float | None) -> str | None:
    """Return the method, which is to be global where the rate of a driver jumps: the others know no impulses."""
    met = sorted(driver_jumps(model, float(grid[0]), grid), key=lambda jump: (not jump[2], jump[1]))
    if not met:
        return method
    name, t, whole = met[0]
    where = f"{model.origin or model.name}: [drivers] {name}: "
    if whole:
        raise InputError(
            f"{where}it jumps at t = {t:.9g} s, which no force does that moves masses - let it move there in some time"
        )
    if method == "global" or (method is None and fixed_step is None):
        return "global"
    raise InputError(
        f"{where}its rate jumps at t = {t:.9g} s: of the methods of simulate only global gives the bodies the impulse "
        "of that - use --method global, which chooses its own steps, or let the rate change in some time"
    )


def _method(
    model: Model,
    start: Start,
    method: str | None,
    progress: Callable[[str], None],
    reactions: bool,
    through: bool,
    fixed_step: float | None,
    begun: Begun,
) -> Partition | BodyMethod:
    braked = [joint.name for joint in model.joints.values() if joint.friction is not None]
    if braked and method not in (None, "global"):
        raise InputError(
            f"{model.origin or model.name}: [joints] {braked[0]}.friction: of the methods of simulate only global has "
            f"the reactions that friction follows from, {method} does not - use --method global"
        )
    meshing = [joint.name for joint in model.joints.values() if joint.kind == "gear" and model.space == "spatial"]
    if meshing and method in ("semirecursive-1", "semirecursive-2"):
        # their steps are longer than half a turn of a wheel, and whole turns are counted once a step
        raise InputError(
            f"{model.origin or model.name}: [joints] {meshing[0]}: {method} does not count the turns of gears in space "
            "- use the method partition, global or dca"
        )
    if braked:
        return body_method("global")(model, start.posture, reactions=reactions)
    if method not in (None, PARTITION):
        return body_method(str(method))(model, start.posture, reactions=reactions)
    try:
        return Partition(model, start, progress, reactions, through, fixed_step, begun)
    except NoCoordinatesError as error:
        if method is not None or fixed_step is not None:
            raise InputError(f"{error} - simulate it by the method global, which chooses its own steps") from None
        progress(f"{error}: simulated in the coordinates of all bodies, method global")
        return body_method("global")(model, start.posture, reactions=reactions)


def _diagnostics(run: Partition | BodyMethod, record: Recorded) -> dict[str, Any]:
    total, kinetic = record.kinetic + record.potential, record.kinetic
    size = float(np.maximum(np.abs(kinetic), np.abs(kinetic - kinetic[:1])).max(initial=0.0))
    drift = float(np.abs(total - total[0]).max()) / size if size > 0 else 0.0
    notes: dict[str, Any] = {
        "max_residual": run.counts.residual,
        "energy_drift": drift,
        "steps": run.counts.steps,
        "evaluations": run.counts.evaluations,
    }
    if isinstance(run, Partition):
        notes["coordinate_changes"] = run.counts.changes
        notes["crossings"] = run.counts.crossings
        notes["cut"] = list(run.gauge.cut)
        notes["coordinates"] = [{"from": t, "independent": list(names)} for t, names in run.counts.history[:1000]]
    else:
        notes |= run.diagnostics()
    if run.reactions:
        notes |= told_of_reactions(run.model, run.not_unique)
    return notes
