"""Structure -> plans: the structure checked by the numeric rank where a count is not enough, and a plan per group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...common.blas import one_blas_thread
from ...common.errors import AssemblyError, InputError
from ..constraint_network import freedoms, rows
from ..diagnosis import many
from ..model import FRAME, Model
from ..naming import ordered
from ..numbers.nominal import nominal
from ..structure import Group, RankReport, Structure, analyse
from .plan import GroupPlan

FEW = 10  # iterations in which a group closes where the sketch is near


def study(model: Model) -> Structure:
    """Return the structure: by the rank at the assembled pose where a count is not enough.

    It is not in space, where it is not satisfied, and where lengths are special: a plate on three parallel cranks is no
    structure.
    """
    counted = analyse(model)
    enough = model.space == "planar" and not (counted.free or counted.redundant)
    large = [group for group in counted.groups if len(group.bodies) > 2]
    if enough and not large:
        return counted
    from ..assembly import assemble
    from ..mobility import compare, nearby

    plain = nominal(model)  # the rank is that of all designs but special ones, which a run's residuals tell
    start = np.array([plain.simulation.start])
    values = {n: float(d.motion(start)[0, 0]) for n, d in plain.drivers.items()}
    if enough and not np.isfinite(list(values.values())).all():
        return counted  # a run says which driver it is
    with one_blas_thread():
        if enough and not any(_special(plain, group, values) for group in nominal(large)):
            return counted
        try:
            poses = assemble(plain, values)
        except AssemblyError:
            return counted  # the count is all there is; a run says why it cannot be assembled
        second = nearby(plain, poses)
        if enough and second is None:
            return counted  # it moves to first order at most
        found = compare(plain, poses, second)
    ranks = RankReport(
        found.mobility,
        {e.name: e.n_rows for e in found.redundant if not e.driver},
        tuple(sorted({b for motion in found.free for b in motion.bodies})),
        found.locked,
        tuple(e.name for e in found.redundant if e.driver),
    )
    return analyse(model, ranks)


def _special(model: Model, group: Group, values: Mapping[str, float]) -> bool:
    """Return whether a group that its count determines can move all the same: alone, its neighbours as sketched."""
    from ..absolute import Absolute
    from ..assembly import close
    from ..mobility import examine, seen

    near = {FRAME, *group.bodies}
    for pair in group.pairs:
        near.update(pair.bodies if pair.carrier is None else (*pair.bodies, pair.carrier))
    for driver in group.inputs:
        near.update(driver.bodies)
    alone = replace(
        model,
        bodies={name: body for name, body in model.bodies.items() if name in near},
        joints={pair.name: pair for pair in group.pairs},
        drivers={driver.name: driver for driver in group.inputs},
    )
    system = Absolute(alone, group.bodies)
    poses = close(system, system.first(), values, FEW)
    return poses is not None and seen(system, poses) and bool(examine(alone, poses, group.bodies).free)


def studied(model: Model) -> Structure:
    """Return the structure of a mechanism that can be run; otherwise say what is missing or too much."""
    structure = study(model)
    where = str(model.origin or model.name)
    counts = f"it has {many(structure.mobility, 'free motion')} and {many(len(model.drivers), 'driver')}"
    told = [f.message for f in structure.redundant if not f.consistent]
    if len(model.drivers) > structure.mobility and not told:
        told = [f.message for f in structure.redundant if f.drivers]
    if len(model.drivers) > structure.mobility or told:
        raise InputError(
            f"{where}: [drivers]: the mechanism is constrained too much: {counts} ({', '.join(model.drivers)}) - "
            f"remove a driver or a joint. {'; '.join(told)}"
        )
    if structure.free:
        told = [f.message for f in (*structure.free, *structure.redundant)]
        heavy = any(body.mass is not None and body.mass.mass > 0 for body in model.bodies.values())
        instead = "; or let its loads move it: `assurgent simulate`" if heavy else ""
        raise InputError(f"{where}: [drivers]: the mechanism is not determined: {counts}. {'; '.join(told)}{instead}")
    covered = {b for g in structure.groups for b in g.bodies}
    missing = [b for b in model.movable if b not in covered]
    if missing:
        raise InputError(f"{where}: [bodies]: {', '.join(missing)} belong to no group that could be solved")
    return structure


def plan_groups(model: Model, structure: Structure) -> list[GroupPlan]:
    """Return the plans of all groups in order."""
    return [plan for group in structure.groups for plan in plan_group(model, group)]


def plan_group(model: Model, group: Group) -> tuple[GroupPlan, ...]:
    """Return the plan of one group, written in the canonical order of its type (a platform's legs are plans apart)."""

    bodies, joints, drivers = ordered(model, group)
    pairs = {j.name: j for j in group.pairs}
    inputs = {d.name: d for d in group.inputs}
    if model.space == "planar":
        from .planar import plan_planar

        ordered_pairs = [pairs[j] for j in joints]
        excess = sum(rows(model, j) for j in ordered_pairs) + len(drivers) - sum(freedoms(model, b) for b in bodies)
        known = [inputs[d] for d in drivers]
        return (plan_planar(model, group.name, group.type, bodies, ordered_pairs, known, excess),)
    from .spatial_legs import plan_spatial_parts

    return plan_spatial_parts(_with(model, group), group.name, group.type, bodies, joints, drivers)


def _with(model: Model, group: Group) -> Model:
    """Return the model with the group's own pairs and inputs in place of the user's."""
    joints = {**model.joints, **{j.name: j for j in group.pairs}}
    drivers = {**model.drivers, **{d.name: d for d in group.inputs}}
    return replace(model, joints=joints, drivers=drivers)
