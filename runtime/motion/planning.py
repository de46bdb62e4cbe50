"""Structure -> plans: the structure checked by the numeric rank where a count is not enough, and a plan per group."""

from __future__ import annotations

import numpy as np

from ..errors import AssemblyError, InputError
from ..mechanism.model import Model
from ..mechanism.structure import Group, Ranks, Structure, analyse
from ..mechanism.units import freedoms, rows
from .plan import GroupPlan


def study(model: Model) -> Structure:
    """Return the structure; in space, and where the count is not satisfied, by the rank at the assembled pose."""
    counted = analyse(model)
    if model.space == "planar" and not (counted.free or counted.redundant):
        return counted
    from ..mechanism.assembly import assemble
    from ..mechanism.mobility import compare, nearby

    start = np.array([model.simulation.start])
    try:
        poses = assemble(model, {n: float(d.motion(start)[0, 0]) for n, d in model.drivers.items()})
    except AssemblyError:
        return counted  # the count is all there is; a run says why it cannot be assembled
    found = compare(model, poses, nearby(model, poses))
    ranks = Ranks(
        found.mobility,
        {e.name: e.n_rows for e in found.redundant if not e.driver},
        tuple(sorted({b for motion in found.free for b in motion.bodies})),
        found.locked,
        tuple(e.name for e in found.redundant if e.driver),
    )
    return analyse(model, ranks)


def studied(model: Model) -> Structure:
    """Return the structure of a mechanism that can be run; otherwise say what is missing or too much."""
    structure = study(model)
    where = str(model.origin or model.name)
    if structure.free:
        raise InputError(f"{where}: the mechanism is not determined: {'; '.join(f.message for f in structure.free)}")
    covered = {b for g in structure.groups for b in g.bodies}
    missing = [b for b in model.movable if b not in covered]
    if missing or any(f.drivers and _in_excess(model, f.message) for f in structure.redundant):
        told = "; ".join(f.message for f in structure.redundant) or f"{', '.join(missing)} belong to no group"
        raise InputError(f"{where}: the mechanism is constrained too much: {told}")
    return structure


def _in_excess(model: Model, message: str) -> bool:
    return "driver" in message and "consistent" not in message


def plan_groups(model: Model, structure: Structure) -> list[GroupPlan]:
    """Return the plans of all groups in order."""
    return [plan_group(model, group) for group in structure.groups]


def plan_group(model: Model, group: Group) -> GroupPlan:
    """Return the plan of one group, written in the canonical order of its type."""
    from ..mechanism.naming import ordered

    bodies, joints, drivers = ordered(model, group)
    pairs = {j.name: j for j in group.pairs}
    inputs = {d.name: d for d in group.inputs}
    if model.space == "planar":
        from .planar import plan_planar

        chosen = [pairs[j] for j in joints]
        excess = sum(rows(model, j) for j in chosen) + len(drivers) - sum(freedoms(model, b) for b in bodies)
        return plan_planar(model, group.name, group.type, bodies, chosen, [inputs[d] for d in drivers], excess)
    from .spatial import plan_spatial

    return plan_spatial(_with(model, group), group.name, group.type, bodies, joints, drivers)


def _with(model: Model, group: Group) -> Model:
    """Return the model with the group's own pairs and inputs in place of the user's."""
    from dataclasses import replace

    joints = {**model.joints, **{j.name: j for j in group.pairs}}
    drivers = {**model.drivers, **{d.name: d for d in group.inputs}}
    return replace(model, joints=joints, drivers=drivers)


