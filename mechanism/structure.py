"""Model -> Structure: the simple structural groups of a mechanism in an order in which they can be solved.

Constraint units are assigned to the freedoms of bodies; the strongly connected components of "b depends on c" are the
groups. The decomposition is unique, and the same as that of the search by Eq. 14 of Saura et al. wherever the
mechanism is well constrained.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from .constraint_network import Network, build, turning_loops
from .diagnosis import Finding, dropped_parts, excess_parts, free_part, free_parts, held_angles, user_names
from .matching import Assignment, assign, over
from .model import Driver, Joint, Model
from .naming import type_name
from .normal import NormalForm, normal_form
from .ordering import ordered_components


@dataclass(frozen=True)
class RankReport:
    """What the numeric rank of the constraints says: free motions, rows without effect, bodies that move undriven."""

    mobility: int  # free motions with all drivers released
    redundant: Mapping[str, int] = field(default_factory=dict)  # rows to leave out, by joint
    free: tuple[str, ...] = ()  # rigid bodies that can still move with all drivers held
    locked: bool = False  # the redundant rows contradict the drivers
    redundant_drivers: tuple[str, ...] = ()  # drivers whose row is without effect


@dataclass(frozen=True)
class Group:
    """A simple structural group: bodies that can only be solved together, from what is known before.

    `joints` and `drivers` are the user's. `pairs` and `inputs` are the same for the solver: where several bodies share
    a pin, each is tied to the one that is known first, however the user wrote it; a distance from such a pin is
    measured at that body. Every pair has at least one body in the group, all others in groups before it.
    """

    name: str
    type: str
    bodies: tuple[str, ...]  # rigid bodies of the model, sorted
    members: tuple[str, ...]  # the user's names of the same, sorted
    joints: tuple[str, ...]
    drivers: tuple[str, ...]
    depends_on: tuple[str, ...]
    level: int  # length of the longest way from a group that needs no other
    pairs: tuple[Joint, ...] = field(default=(), compare=False)
    inputs: tuple[Driver, ...] = field(default=(), compare=False)
    dropped: tuple[tuple[str, int], ...] = ()  # redundant rows, by joint, that the solver leaves out

    def to_json(self) -> dict[str, Any]:
        """Return the group as `assurgent structure --json` prints it."""
        return {
            "name": self.name,
            "type": self.type,
            "bodies": list(self.members),
            "joints": list(self.joints),
            "drivers": list(self.drivers),
            "depends_on": list(self.depends_on),
        }


@dataclass(frozen=True)
class Structure:
    """The groups in order, and what is wrong where the mechanism is not determined."""

    mobility: int  # free motions with all drivers released
    count: int  # the same by Grübler's count
    groups: tuple[Group, ...]
    free: tuple[Finding, ...] = ()
    redundant: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the structure as `assurgent structure --json` prints it."""
        result: dict[str, Any] = {"mobility": self.mobility, "count": self.count}
        result["groups"] = [group.to_json() for group in self.groups]
        if self.free:
            result["free"] = [finding.to_json() for finding in self.free]
        if self.redundant:
            result["redundant"] = [finding.to_json() for finding in self.redundant]
        if self.notes:
            result["notes"] = list(self.notes)
        return result

    def _repr_html_(self) -> str:
        """The groups as a table, for notebooks."""
        cells = [
            (g.name, g.type, *(", ".join(names) for names in (g.members, g.joints, g.drivers, g.depends_on)))
            for g in self.groups
        ]
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
        heads = "".join(f"<th>{h}</th>" for h in ("group", "type", "bodies", "joints", "drivers", "depends on"))
        told = "".join(f"<p>{escape(f.message)}</p>" for f in (*self.free, *self.redundant))
        return f"<p>mobility {self.mobility}</p><table><tr>{heads}</tr>{rows}</table>{told}"


def analyse(model: Model, ranks: RankReport | None = None) -> Structure:
    """Return the structural groups of a mechanism in order, and where it is not determined, why.

    Without `ranks` constraints are counted (in the plane loops of held angles are seen as well). With them the rows
    that they call redundant are left out before counting, so that planar linkages in space, Bennett's linkage or
    parallel cranks fall into groups too.
    """
    full = build(model, {})
    if ranks is None:
        network, assignment, dropped, redundant = _count(model, full)
    else:
        dropped = {name: number for name, number in ranks.redundant.items() if number}
        network = build(model, dropped, frozenset(ranks.redundant_drivers))
        if ranks.locked and any(assign(full.incidence).unplaced):
            network, dropped = full, {}
        assignment = assign(network.incidence)
        redundant = dropped_parts(model, full, ranks.redundant, ranks.redundant_drivers, ranks.locked)
    covered = {name for finding in redundant for name in finding.bodies}
    redundant += tuple(f for f in excess_parts(model, network, assignment) if not covered.issuperset(f.bodies))
    free = free_parts(model, network, assignment)
    if ranks is not None:
        free += _moving(model, free, ranks.free)
    groups = _groups(model, network, assignment, dropped)
    mobility = _mobility(network, assignment) if ranks is None else ranks.mobility
    return Structure(mobility, _count_of(full), groups, free, redundant, _notes(model, full))


def _count(model: Model, full: Network) -> tuple[Network, Assignment, dict[str, int], tuple[Finding, ...]]:
    """Return network and assignment by count, the rows left out in loops of held angles, and what to say of them."""
    loops = turning_loops(model)
    joints = tuple(loop for loop in loops if not loop.driver)
    dropped = {loop.closing: 1 for loop in joints}
    network = build(model, dropped) if dropped else full
    assignment = assign(network.incidence)
    if len(loops) == len(joints) or over(network.incidence, assignment).units:  # plainly too many: the count tells
        return network, assignment, dropped, held_angles(model, joints)
    network = build(model, dropped, frozenset(loop.closing for loop in loops if loop.driver))
    return network, assign(network.incidence), dropped, held_angles(model, loops)


def _moving(model: Model, told: tuple[Finding, ...], free: tuple[str, ...]) -> tuple[Finding, ...]:
    """Return a finding for bodies that move by the rank test and are not in the parts found by count."""
    known = {name for finding in told for name in finding.bodies}
    rest = [body for body in free if not known.issuperset(user_names(model, [body]))]
    if not rest:
        return ()
    joints = tuple(sorted(j.name for j in model.joints.values() if set(j.bodies) & set(rest)))
    return (free_part(model, rest, joints, (), 1),)


def _mobility(network: Network, assignment: Assignment) -> int:
    """Return the freedoms that the joints leave when each takes as many as it can."""
    drivers = [u for u, unit in enumerate(network.units) if unit.sort == "driver"]
    if assignment.perfect:
        return len(drivers)
    rows = tuple(0 if unit.sort == "driver" else unit.rows for unit in network.units)
    return sum(assign(replace(network.incidence, multiplicity=rows)).spare)


def _count_of(full: Network) -> int:
    return sum(full.incidence.capacity) - sum(unit.rows for unit in full.units if unit.sort != "driver")


def _notes(model: Model, network: Network) -> tuple[str, ...]:
    rods = [name for name in model.movable if model.bodies[name].rod]
    notes = [f"rod {name}: its spin about its own line is not modelled (two spherical joints)" for name in sorted(rods)]
    for pin in network.shared:
        if len(pin.joints) >= len(pin.bodies):
            names = ", ".join(pin.joints)
            notes.append(f"pin {pin.point}: the joints {names} close a ring at one point; one fewer says the same")
    return tuple(notes)


def _groups(model: Model, network: Network, assignment: Assignment, dropped: Mapping[str, int]) -> tuple[Group, ...]:
    sets = ordered_components(network, assignment, lambda body: user_names(model, [body]))
    form = normal_form(model, network.shared, sets)
    unnamed = [_group(model, k, bodies, form, dropped) for k, bodies in enumerate(sets)]
    if form.ringed:
        form = normal_form(model, network.shared, sets, form.canonical_places(model, unnamed))
        unnamed = [_group(model, k, bodies, form, dropped) for k, bodies in enumerate(sets)]
    numbers: dict[str, int] = {}
    groups: list[Group] = []
    for k, group in enumerate(unnamed):
        kind = type_name(model, group)
        numbers[kind] = numbers.get(kind, 0) + 1
        needs = [groups[g] for g in form.needs(k)]
        level = 1 + max((g.level for g in needs), default=-1)
        name = f"{kind}_{numbers[kind]}"
        groups.append(replace(group, name=name, type=kind, depends_on=tuple(g.name for g in needs), level=level))
    return tuple(groups)


def _group(model: Model, number: int, bodies: tuple[str, ...], form: NormalForm, dropped: Mapping[str, int]) -> Group:
    """Return one group without name, type and place in the order."""
    pairs = form.pairs[number]
    return Group(
        name="",
        type="",
        bodies=bodies,
        members=user_names(model, bodies),
        joints=form.joints[number],
        drivers=tuple(driver.name for driver in form.inputs[number]),
        depends_on=(),
        level=0,
        pairs=pairs,
        inputs=form.inputs[number],
        dropped=tuple((pair.name, dropped[pair.name]) for pair in pairs if dropped.get(pair.name)),
    )
