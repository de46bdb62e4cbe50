"""Assembly modes of groups that are solved by Newton-Raphson: from the sketch, and from random starts."""

from __future__ import annotations

import numpy as np

from ..errors import AssurgentError
from ..mechanism.model import Model
from ..mechanism.structure import Structure
from ..status import OK
from .plan import Array, NumericPlan
from .run import Mode
from .solvers import Solver

TRIES = 60
SEED = 20_240_229  # fixed: the modes of a mechanism are numbered the same way every time


def newton_modes(solver: Solver, h: Array, t: float, scale: Array, every: bool) -> tuple[Mode, ...]:
    """Return the modes found, nearest to the sketch first; only as many tries as needed unless `every`."""
    rng = np.random.default_rng(SEED)
    found: list[Array] = []
    for attempt in range(TRIES):
        spread = 0.0 if attempt == 0 else 0.05 * 1.12 ** (attempt % 30)
        phi = solver.start + spread * scale * rng.normal(size=len(solver.start))
        if solver.group.module.newton(phi, h, solver.par, t, solver.group.work) != OK:
            continue
        if not any(np.max(np.abs(phi - other) / scale) < 1e-6 for other in found):
            found.append(phi.copy())
        if not every and found:
            break
    found.sort(key=lambda phi: float(np.linalg.norm((phi - solver.start) / scale)))
    return tuple(
        Mode(i + 1, phi, np.zeros(0), float(np.linalg.norm((phi - solver.start) / scale)))
        for i, phi in enumerate(found)
    )


def listed_modes(model: Model, structure: Structure) -> dict[str, str]:
    """Return for each group the numbers of its assembly modes at the start, the one in use marked with *.

    Empty where a group's type is yet to be made (a run makes it) or the mechanism cannot be assembled.
    """
    from .planning import plan_groups
    from .program import build
    from .run import solve
    from .solvers import available

    try:
        plans = plan_groups(model, structure)
        if not all(isinstance(p, NumericPlan) or available(p) for p in plans):
            return {}
        program = build(model, plans, lambda _: None)
        solution = solve(program, np.array([model.simulation.start]), modes=True)
    except AssurgentError:
        return {}
    return {
        name: ", ".join(f"{m.number}{'*' if m.number == solution.chosen.get(name) else ''}" for m in modes)
        for name, modes in solution.modes.items()
    }
