"""Assembly modes of groups: by the signs of closed forms; by Newton-Raphson from the sketch, and from random starts."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..common.errors import AssurgentError, InputError
from ..common.status import OK
from ..mechanism.model import Model
from ..mechanism.plans.plan import Array
from ..mechanism.structure import Structure
from ..runtime.program import GroupStep

if TYPE_CHECKING:
    from .run import Solution

TRIES = 60
LOOSE = 1e-3  # of the squared size (or one, of directions): a larger residual is no assembly
SEED = 20_240_229  # fixed: the modes of a mechanism are numbered the same way every time


@dataclass(frozen=True)
class AssemblyMode:
    """One way to assemble a group at the start: its number, its φ, and the branch signs (none for Newton)."""

    number: int
    phi: Array
    signs: Array
    distance: float  # from the sketch


def remember(solution: Solution, step: GroupStep, signs: Array) -> None:
    """Note the branch of a group at the first lane; modes are numbered in the order of their signs, + before -."""
    found = signs[: len(step.solver.group.branches)].copy()
    number = 1
    for sign in found:
        number = 2 * number - (1 if sign > 0 else 0)
    solution.signs[step.plan.name], solution.chosen[step.plan.name] = found, number


def assemble(solution: Solution, step: GroupStep, list_modes: bool) -> bool:
    """Close a group at the first step in the mode asked for, or the one nearest to the sketch; False if it cannot."""
    plan, model = step.plan, solution.program.model
    wanted = model.assembly.get(plan.name)
    modes = assembly_modes(solution, step, every=list_modes or wanted is not None)
    solution.modes[plan.name] = modes
    if not modes:
        return False
    mode = min(modes, key=lambda m: (round(m.distance, 9), m.number))  # of equally near ones the first, not rounding
    if wanted is not None:
        named = [m for m in modes if m.number == wanted]
        if not named:
            raise InputError(
                f"{model.origin or model.name}: [assembly] {plan.name}: there is no mode {wanted} - "
                f"this group has the modes {', '.join(str(m.number) for m in modes)}"
            )
        mode = named[0]
    solution.chosen[plan.name] = mode.number
    solution.state[0, step.phi_rows, 0] = mode.phi
    solution.signs[plan.name] = mode.signs
    return True


def assembly_modes(
    solution: Solution, step: GroupStep, every: bool, start: Array | None = None
) -> tuple[AssemblyMode, ...]:
    """Return the ways to assemble a group at the first step; of a Newton type only the nearest unless `every`.

    They are numbered and compared by their distance from the sketch, or from `start`.
    """
    solver, q = solution.solver(step), solution.state[0]
    solver = solver if start is None else replace(solver, start=start)
    if counted := solution.program.wheels.get(step.plan.name):  # a wheel has turned as far as groups before have it
        start = solver.start.copy()
        for place, row, sign in counted:
            start[place] = sign * q[row, 0]
        solver = replace(solver, start=start)
    m, t, h = solver.group.module, float(solution.time[0]), np.ascontiguousarray(q[step.h_rows, 0])
    size = solution.size
    scale = np.array([_scale(s, size) for s in solver.group.dependent])
    if solver.closed_form:
        found = []
        for number, signs in enumerate(itertools.product((1.0, -1.0), repeat=len(m.BRANCHES)), 1):
            phi = np.zeros(len(solver.group.dependent))
            if m.position(phi, h, solver.par, t, np.array(signs), np.zeros(m.WORK)) == OK:
                with np.errstate(over="ignore"):  # farther away than numbers go
                    distance = float(np.hypot.reduce((phi - solver.start) / scale))
                found.append(AssemblyMode(number, phi, np.array(signs), distance))
        return tuple(found)
    return newton_modes(solution, step, solver.start, scale, every)


def _scale(symbol: str, size: float) -> float:
    """Return the size that a change of a coordinate is measured by: lengths by the mechanism, directions by one."""
    return size if symbol.startswith(("x_", "y_", "z_")) else 1.0


def row_size(step: GroupStep, size: float) -> float:
    """Return what residuals of a group are measured by: squares of lengths, and numbers of order one for directions."""
    lengths = all(_scale(s, 0.0) == 0.0 for s in step.solver.group.dependent)
    return size**2 if lengths else max(1.0, size**2)


def newton_modes(
    solution: Solution, step: GroupStep, start: Array, scale: Array, every: bool
) -> tuple[AssemblyMode, ...]:
    """Return the modes found, nearest to the start first; only as many tries as needed unless `every`."""
    sequence = solution.program.sequence
    item, numbers = sequence.groups[step.plan.name], solution.numbers.copy()
    place = sequence.numbers_of(step, numbers)[1]  # a part of the numbers themselves
    rng = np.random.default_rng(SEED)
    edges, signs = np.array([0, 1], dtype=np.int64), np.zeros((1, max(sequence.n_signs, 1)))
    quality = np.empty((3, 1, len(solution.time)))
    found: list[Array] = []
    for attempt in range(TRIES):
        spread = 0.0 if attempt == 0 else 0.05 * 1.12 ** (attempt % 30)
        place[:] = start + spread * scale * rng.normal(size=len(start))
        closed = np.zeros(1, dtype=np.int64)
        sequence.run("td", solution.time, solution.state, edges, signs, [item], modes=closed, numbers=numbers)
        if not closed[0]:
            continue
        sequence.run(
            "quality", solution.time, solution.state, edges, signs, [item], out=quality, report=np.zeros((0, 0)),
            block=1, numbers=numbers,
        )  # fmt: skip
        if not quality[1, 0, 0] <= LOOSE * row_size(step, solution.size):
            continue  # so far away that no step is seen, which does not close it
        phi = solution.state[0, step.phi_rows, 0]
        if not any(np.max(np.abs(phi - other) / scale) < 1e-6 for other in found):
            found.append(phi)
        if not every and found:
            break
    away = [float(np.hypot.reduce((phi - start) / scale)) for phi in found]  # which no square makes infinite
    nearest = sorted(zip(away, found, strict=True), key=lambda mode: mode[0])
    return tuple(AssemblyMode(i + 1, phi, np.zeros(0), far) for i, (far, phi) in enumerate(nearest))


@dataclass(frozen=True)
class ModesAtStart:
    """The numbers of the assembly modes of each group at the start, those in use, the solving types; or why not all."""

    numbers: dict[str, tuple[int, ...]]
    chosen: dict[str, int]
    solvers: dict[str, str]
    why: str

    def words(self, group: str) -> str:
        """Return the numbers of a group's modes, the one in use marked with *."""
        found = self.numbers.get(group, ())
        return ", ".join(f"{n}{'*' if n == self.chosen.get(group) else ''}" for n in found)


def modes_at_start(model: Model, structure: Structure, progress: Callable[[str], None]) -> ModesAtStart:
    """Return the assembly modes of the groups at the start, none where the mechanism is not determined.

    Types that are missing are made, of which `progress` hears.
    """
    if set(model.movable) - {b for g in structure.groups for b in g.bodies}:
        return ModesAtStart({}, {}, {}, "drive what is still free")
    from ..runtime.named_plan import plan_all
    from ..runtime.program import build
    from .run import solve

    try:
        program = build(model, plan_all(model, structure), progress)
        solution = solve(program, np.array([model.simulation.start]), modes=True)
    except AssurgentError as error:
        return ModesAtStart({}, {}, {}, str(error))
    numbers = {name: tuple(mode.number for mode in modes) for name, modes in solution.modes.items()}
    solvers = {step.plan.name: step.solver.group.name for step in program.steps if isinstance(step, GroupStep)}
    why = "" if solution.stop is None else solution.stop.message
    return ModesAtStart(numbers, dict(solution.chosen), solvers, why)
