"""Assembly modes of groups that are solved by Newton-Raphson: from the sketch, and from random starts."""

from __future__ import annotations

import numpy as np

from ..errors import AssurgentError
from ..mechanism.model import Model
from ..mechanism.structure import Structure
from .plan import Array
from .program import GroupStep
from .run import Mode, Solution

TRIES = 60
SEED = 20_240_229  # fixed: the modes of a mechanism are numbered the same way every time


def newton_modes(
    solution: Solution, step: GroupStep, start: Array, scale: Array, every: bool
) -> tuple[Mode, ...]:
    """Return the modes found, nearest to the start first; only as many tries as needed unless `every`."""
    sequence = solution.program.sequence
    item, numbers = sequence.groups[step.plan.name], solution.numbers.copy()
    place = sequence.numbers_of(step, numbers)[1]  # a part of the numbers themselves
    rng = np.random.default_rng(SEED)
    edges, signs = np.array([0, 1], dtype=np.int64), np.zeros((1, max(sequence.n_signs, 1)))
    found: list[Array] = []
    for attempt in range(TRIES):
        spread = 0.0 if attempt == 0 else 0.05 * 1.12 ** (attempt % 30)
        place[:] = start + spread * scale * rng.normal(size=len(start))
        closed = np.zeros(1, dtype=np.int64)
        sequence.run("td", solution.time, solution.state, edges, signs, [item], modes=closed, numbers=numbers)
        if not closed[0]:
            continue
        phi = solution.state[0, step.phi_rows, 0]
        if not any(np.max(np.abs(phi - other) / scale) < 1e-6 for other in found):
            found.append(phi)
        if not every and found:
            break
    found.sort(key=lambda phi: float(np.linalg.norm((phi - start) / scale)))
    return tuple(
        Mode(i + 1, phi, np.zeros(0), float(np.linalg.norm((phi - start) / scale))) for i, phi in enumerate(found)
    )


def listed_modes(model: Model, structure: Structure) -> dict[str, str]:
    """Return for each group the numbers of its assembly modes at the start, the one in use marked with *.

    Empty where a group's type is yet to be made (a run makes it), or the mechanism is not determined or cannot be
    assembled.
    """
    if set(model.movable) - {b for g in structure.groups for b in g.bodies}:
        return {}
    from .planning import plan_groups
    from .program import build
    from .run import solve
    from .solvers import available

    try:
        plans = plan_groups(model, structure)
        if not all(available(p) for p in plans):
            return {}
        program = build(model, plans, lambda _: None)
        solution = solve(program, np.array([model.simulation.start]), modes=True)
    except AssurgentError:
        return {}
    return {
        name: ", ".join(f"{m.number}{'*' if m.number == solution.chosen.get(name) else ''}" for m in modes)
        for name, modes in solution.modes.items()
    }
