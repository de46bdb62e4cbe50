"""What stands behind the drawing: equations as MathML, conditioning, assembly modes, diagram, verification."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..common.errors import InputError
from ..mechanism.model import Model
from ..mechanism.structure import Structure
from ..motion.branches import follow
from ..motion.closer_look import quality
from ..motion.kinematics import prepare, run_program
from ..motion.run import solve
from ..report.mathml import mathml
from ..runtime.group_names import group_names, steps_of
from ..runtime.library_build import find_specification
from ..runtime.program import GroupStep
from .mechanism_text import Read
from .solve import COMPUTING, determined

MOST_LATEX = 30_000  # characters of one formula that is typeset
MOST_MODES = 8  # of a group that are drawn


def _runnable(read: Read) -> tuple[Model, Structure]:
    if read.model is None or read.structure is None or not determined(read):
        raise InputError("the mechanism cannot run yet - complete it first; what is missing stands above the drawing")
    return read.model, read.structure


def equations_of(read: Read, group: str) -> dict[str, Any]:
    """Return a group's type, the meaning of its symbols, and its formulas as MathML."""
    from ..codegen.derive import derive
    from ..codegen.show import Naming, equations, formula, positions, summary

    model, structure = _runnable(read)
    prepared = prepare(model)
    parts = []
    for step in steps_of(structure, prepared[1], group)[:1]:
        names = group_names(model, step)
        spec = find_specification(step.solver.group.name)
        derivation = derive(spec)
        shown = equations(derivation, Naming(names.names, names.numbers))
        formulas = [{"title": s.title, "mathml": _typeset(formula(s))} for s in shown]
        constraints = [{"name": c.name, "text": c.text} for c in spec.constraints]
        parts.append(
            {
                "type": summary(spec),
                "legend": list(names.legend),
                "formulas": formulas,
                "constraints": constraints,
                "positions": positions(derivation),
                "bodies": list(step.plan.bodies),
            }
        )
    return {"group": group, **parts[0]}


@lru_cache(maxsize=512)
def _typeset(text: str) -> str:
    """Return MathML of a formula; one too long to be read stays out."""
    return mathml(text) if len(text) <= MOST_LATEX else ""


def conditioning(read: Read) -> dict[str, Any]:
    """Return every group's conditioning over the cycle (of an RRR dyad the sine of its transmission angle)."""
    model, _ = _runnable(read)
    program = prepare(model)[1]
    with COMPUTING:
        solution = follow(program, model.simulation.times(), "td")
        steps = [s for s in program.steps if isinstance(s, GroupStep)]
        asked = solution.asked[solution.asked < solution.solved]
        found = {s.plan.name: quality(solution, s)[0][asked] for s in steps}
    dyads = [s.plan.name for s in steps if s.plan.type == "RRR" and model.space == "planar"]
    return {"time": solution.time[asked], "groups": found, "dyads": dyads}


def assembly_modes(read: Read, group: str) -> dict[str, Any]:
    """Return the ways to assemble a group at the start, each with the places of all points for a small picture."""
    model, structure = _runnable(read)
    if group not in [g.name for g in structure.groups]:
        raise InputError(f"there is no group {group[:60]!r}")
    start = np.array([model.simulation.start])
    program = prepare(model)[1]
    with COMPUTING:
        first = solve(program, start, modes=True)
    numbers = [m.number for m in first.modes.get(group, ())][:MOST_MODES]
    pictures = []
    for number in numbers:
        prepared = prepare(replace(model, assembly={**model.assembly, group: number}))
        with COMPUTING:
            outcome = run_program(*prepared, start, "td")
        points = {name: p.position[0].tolist() for name, p in outcome.results.points.items() if len(p.position)}
        pictures.append({"number": number, "points": points})
    return {"group": group, "chosen": first.chosen.get(group), "modes": pictures}


def diagram(read: Read) -> str:
    """Return the structural diagram as SVG."""
    from ..mechanism.analysis_steps import structural_pairs
    from ..pictures.diagram import structural_diagram

    if read.model is None or read.structure is None:
        raise InputError("the mechanism cannot be read yet - correct it first")
    return structural_diagram(read.model, read.structure, structural_pairs(read.model, read.structure))


def steps(read: Read) -> list[str]:
    """Return the steps of the structural analysis in words."""
    from ..mechanism.analysis_steps import analysis, described

    if read.model is None or read.structure is None:
        raise InputError("the mechanism cannot be read yet - correct it first")
    return described(analysis(read.model, read.structure), read.structure)


def verification(read: Read) -> dict[str, Any]:
    """Return every group three ways, and the whole against absolute coordinates."""
    from ..verification.verify_mechanism import verify_mechanism

    model, _ = _runnable(read)
    with COMPUTING:
        return verify_mechanism(model).to_json()
