"""The equations of a mechanism's groups as LaTeX, in its own names, sorted for a reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..codegen.derive import derive
from ..codegen.show import CLOSED, Naming, ShownFormula, equations, formula, positions
from ..mechanism.model import Model
from ..runtime.group_names import group_names
from ..runtime.library_build import find_specification
from ..runtime.program import GroupStep, Program

MOST_GROUPS = 12  # whose equations are written out; further ones of a type that was shown are named only
_FIRST = {r"\varphi^T", "h^T", r"\Phi", r"\Phi_\varphi", r"\chi", r"\Phi_h", r"\Phi_t"}
NOTHING = 1e-12  # of the size: parameters below are zero


@dataclass(frozen=True)
class FormulaText:
    """A formula as LaTeX with its title, which may be empty."""

    title: str
    latex: str


@dataclass(frozen=True)
class GroupEquations:
    """A group for the reader: what its symbols are, its constraints, its closed form, its velocity coefficients."""

    name: str
    type: str
    solver: str
    bodies: tuple[str, ...]
    legend: tuple[str, ...]
    positions: str
    constraints: tuple[FormulaText, ...] = ()
    closed_form: tuple[FormulaText, ...] = ()
    rates: tuple[FormulaText, ...] = ()
    same_as: str = ""  # an earlier group with the same equations, which stand there


def group_equations(model: Model, program: Program, progress: Callable[[str], None]) -> list[GroupEquations]:
    """Return the equations of all groups in their order."""
    found: list[GroupEquations] = []
    shown: dict[str, str] = {}
    for step in program.steps:
        if not isinstance(step, GroupStep):
            continue
        solver = step.solver.group.name
        written = len(found) < MOST_GROUPS or solver not in shown
        if written:
            progress(f"equations of {step.plan.name}")
        found.append(_equations(model, step, "" if written else shown[solver]))
        shown.setdefault(solver, step.plan.name)
    return found


def _equations(model: Model, step: GroupStep, same_as: str) -> GroupEquations:
    names = group_names(model, step)
    solver = step.solver.group.name
    head = step.plan.name, step.plan.type, solver, tuple(step.plan.bodies), names.legend
    derivation = derive(find_specification(solver))
    if same_as:
        return GroupEquations(*head, positions(derivation), same_as=same_as)
    zero = {n: 0.0 for n, value in names.numbers.items() if abs(value) < NOTHING * model.size}  # others stay letters
    parts: dict[str, list[FormulaText]] = {"constraints": [], "closed_form": [], "rates": []}
    closed = False  # the closed form comes last
    for s in equations(derivation, Naming(names.names, zero)):
        closed = closed or s.title == CLOSED
        parts["closed_form" if closed else _part(s)].append(FormulaText(s.title, formula(s)))
    constraints, closed_form, rates = (tuple(found) for found in parts.values())
    return GroupEquations(*head, positions(derivation), constraints, closed_form, rates)


def _part(s: ShownFormula) -> str:
    return "constraints" if s.name or s.left in _FIRST or "^{-1}" in s.left else "rates"
