"""One door to what a mechanism does: kinematics, inverse dynamics, simulation, rest; with what a user must be told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..common.blas import one_blas_thread
from ..common.errors import AssemblyError, InputError, nearest
from ..mechanism.model import Array, Model

if TYPE_CHECKING:
    from ..mechanism.structure import Structure
    from ..motion.outcome import Outcome
    from ..motion.results import Results
    from ..runtime.program import Program
    from .equilibrium import Equilibrium
    from .repeated_simulation import Begun

Progress = Callable[[str], None]
HINT = (
    "give the bodies that move `mass` (kg), `inertia` (about the centre of mass) and, if it is not in the middle of "
    "the joints, `centre`; at the top of the file `gravity`. For example: gravity = [0, -9.81] and "
    "[bodies.crank] mass = 1.2, inertia = 0.01"
)


@dataclass(frozen=True, eq=False)
class Computed:
    """Results as far as they came, what the user should know about them, and why they stopped (None: they did not)."""

    model: Model
    results: Results
    notes: tuple[str, ...] = ()
    error: AssemblyError | None = None

    def finished(self) -> Results:
        """Return the results; where they stopped early, raise the error, which carries them."""
        if self.error is not None:
            raise self.error
        return self.results


def _silent(_: str) -> None:
    return None


def massless(model: Model) -> bool:
    """Return whether no body has a mass or an inertia."""
    masses = [body.mass for body in model.bodies.values() if body.mass is not None]
    return not any(m.mass > 0 or np.any(m.inertia) for m in masses)


def undriven(model: Model) -> int:
    """Return how many motions are left without a driver."""
    from ..mechanism.plans.planning import study

    return study(model).mobility - len(model.drivers)


def kinematics(model: Model, times: Array | None = None, method: str = "td", progress: Progress = _silent) -> Computed:
    """Return the motion that the drivers prescribe."""
    from ..motion.kinematics import run

    outcome = run(model, times, method, progress)
    return _computed(outcome)


def _computed(outcome: Outcome, notes: tuple[str, ...] = ()) -> Computed:
    """Return what an outcome holds, with the error that its stop is."""
    error = None if outcome.stop is None else AssemblyError(outcome.stop.message, outcome.results)
    return Computed(outcome.model, outcome.results, notes, error)


def check_scheme(method: str, option: str = "method", what: str = "methods of inverse") -> None:
    """Refuse a scheme of reactions that does not exist."""
    from .reaction_schemes import SCHEMES

    if method not in SCHEMES:
        raise InputError(f"{option} {method}: the {what} are {', '.join(SCHEMES)}{nearest(method, SCHEMES)}")


def _singular(model: Model, option: str, scheme: str) -> InputError:
    """Return what to say of a scheme of reactions whose equations are singular."""
    why = {
        "tangent": "a motion without inertia, or joints that hold more than they need",
        "inverse": "a body without mass or inertia, or joints that hold more than they need",
    }.get(scheme, "a value that is not finite")
    return InputError(
        f"{model.origin or model.name}: {option} {scheme}: its equations are singular here ({why}) - use the "
        f"default, the {option} direct"
    )


def inverse_dynamics(
    model: Model,
    times: Array | None = None,
    method: str = "direct",
    progress: Progress = _silent,
    prepared: tuple[Structure, Program] | None = None,
) -> Computed:
    """Return efforts and reactions along the motion that the drivers prescribe; `method` is the scheme of reactions.

    `prepared` are structure and program of the model where somebody has them already.
    """
    from .inverse import inverse

    check_scheme(method)
    try:
        with one_blas_thread():
            outcome = inverse(model, times, progress, method, prepared)
    except np.linalg.LinAlgError:
        raise _singular(model, "method", method) from None
    notes: tuple[str, ...] = ()
    if massless(model) and not model.loads:
        notes = (f"no body has a mass and there are no [forces], so that all efforts and reactions are zero - {HINT}",)
    return _computed(outcome, notes)


def simulation(
    model: Model,
    times: Array | None = None,
    method: str | None = None,
    progress: Progress = _silent,
    through: bool = True,
    fixed_step: float | None = None,
    begun: Begun | None = None,
    scheme: str = "direct",
    candidates: bool = False,
) -> Computed:
    """Return the motion under the loads; `through` lets it pass bifurcations on the smooth branch.

    Without a `method` it is partition or, where joint coordinates do not tell the position, global.
    `fixed_step` takes equal steps of at most that length instead of those that the tolerance asks for.
    `begun` is the model at its start, where somebody has that already. `scheme` is that of the reactions, `candidates`
    reports more about the joint coordinates of the criterion.
    """
    from .forward import simulate

    check_scheme(scheme, "scheme", "schemes of reactions")
    _check_masses(model)
    try:
        with one_blas_thread():
            outcome = simulate(
                model, times, method, progress, through=through, fixed_step=fixed_step, begun=begun, scheme=scheme,
                candidates=candidates,
            )  # fmt: skip
    except np.linalg.LinAlgError:
        if scheme == "direct":
            raise
        raise _singular(model, "scheme", scheme) from None
    return _computed(outcome)


def rest(model: Model, progress: Progress = _silent) -> Equilibrium:
    """Return the equilibrium nearest to the sketch or to [initial], with its small vibrations."""
    from .equilibrium import equilibrium

    _check_masses(model)
    with one_blas_thread():
        return equilibrium(model, progress)


def pictured(
    model: Model,
    times: Array | None = None,
    method: str | None = None,
    forces: bool = False,
    progress: Progress = _silent,
) -> Computed:
    """Return what a picture of the mechanism shows: the prescribed motion, or a simulation where drivers are missing.

    `forces` asks for reactions and energies as well: by inverse dynamics along a prescribed motion.
    """
    free = undriven(model)
    if free > 0 and massless(model):
        from ..mechanism.plans.planning import studied

        try:
            studied(model)
        except InputError as error:
            raise InputError(f"{error}. To see it move under its loads instead, {HINT}") from None
    if free > 0:
        found = simulation(model, times, method, progress)
        motions = "one free motion has" if free == 1 else f"{free} free motions have"
        note = f"{motions} no driver: shown is what `assurgent simulate` finds (method {found.results.method})"
        found = Computed(model, found.results, (note, *found.notes), found.error)
    elif forces:
        found = inverse_dynamics(model, times, method or "direct", progress)
    else:
        return kinematics(model, times, method or "td", progress)
    shared = not_unique(found.results)
    if forces and shared:
        note = f"the reactions of {', '.join(shared)} are not unique; those of smallest norm are shown"
        found = Computed(model, found.results, (*found.notes, note), found.error)
    return found


def not_unique(results: Results) -> list[str]:
    """Return the joints whose reactions the equations leave open, because the joints hold more than they need."""
    return list(results.diagnostics.get("reactions", {}).get("not_unique", ()))


def _check_masses(model: Model) -> None:
    if massless(model) and undriven(model) > 0:
        raise InputError(
            f"{model.origin or model.name}: [bodies]: no body has a mass, so that the loads do not determine how the "
            f"mechanism moves - {HINT}"
        )
