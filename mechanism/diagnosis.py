"""What to tell the user about a mechanism that is not determined: which bodies and joints, by how much, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .constraint_network import Loop, Network
from .matching import Assignment, MatchedPart, assign, over, pieces, under
from .model import FRAME, Model

_DRIVABLE = ("R", "P", "C", "H", "slot")
_SHOWN = 3  # joints proposed for a driver


@dataclass(frozen=True)
class Finding:
    """A part of the mechanism that can still move, or that is constrained too much, in the user's names."""

    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    drivers: tuple[str, ...]
    number: int  # of free motions, or of constraints in excess
    message: str
    consistent: bool = False  # constraints in excess that agree with the others and may be left out

    def to_json(self) -> dict[str, Any]:
        """Return the finding as `assurgent structure --json` prints it."""
        return {
            "bodies": list(self.bodies),
            "joints": list(self.joints),
            "drivers": list(self.drivers),
            "number": self.number,
            "message": self.message,
        }


def user_names(model: Model, bodies: Iterable[str]) -> tuple[str, ...]:
    """Return the names that the user gave to the bodies (those of all members where bodies are welded), sorted."""
    return tuple(sorted(m for b in bodies for m in ([x.name for x in model.bodies[b].members] or [b]) if m != FRAME))


def listed(names: Iterable[str], last: str = "and") -> str:
    """Return the names as words of a sentence: a, b and c."""
    items = list(names)
    return ", ".join(items) if len(items) < 2 else ", ".join(items[:-1]) + f" {last} {items[-1]}"


def many(number: int, noun: str) -> str:
    """Return the number with its noun."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def free_parts(model: Model, network: Network, assignment: Assignment) -> tuple[Finding, ...]:
    """Return the parts that can still move, with joints at which a driver would help."""
    found = []
    for piece in pieces(network.incidence, under(network.incidence, assignment)):
        bodies, joints, drivers = _names(network, piece)
        number = sum(assignment.spare[n] for n in piece.nodes)
        found.append(free_part(model, bodies, joints, drivers, number))
    return _sorted(found)


def free_part(
    model: Model, bodies: Iterable[str], joints: Iterable[str], drivers: Iterable[str], number: int
) -> Finding:
    """Return the finding for bodies (rigid ones of the model) that can still move."""
    taken = {driver.joint for driver in model.drivers.values()}
    candidates = [model.joints[j] for j in joints if model.joints[j].kind in _DRIVABLE and j not in taken]
    names = user_names(model, bodies)
    message = f"{listed(names)} can still move: {many(number, 'free motion')}"
    if candidates:
        candidates.sort(key=lambda joint: (FRAME not in joint.bodies, joint.name))
        proposed = listed((joint.name for joint in candidates[:_SHOWN]), "or")
        message += f" - add {many(number, 'driver')}, for example at joint {proposed}, or lock the motion by a joint"
    else:
        message += " - tie it by a joint, weld it to a neighbour, or lock its spin"
    return Finding(names, tuple(sorted(joints)), tuple(sorted(drivers)), number, message)


def excess_parts(model: Model, network: Network, assignment: Assignment) -> tuple[Finding, ...]:
    """Return the parts with more constraints than freedoms, and what could be taken away."""
    found = []
    for piece in pieces(network.incidence, over(network.incidence, assignment)):
        bodies, joints, drivers = _names(network, piece)
        number = sum(assignment.unplaced[u] for u in piece.units)
        names = user_names(model, bodies)
        message = f"{many(number, 'constraint')} too many on {listed(names) or 'the frame'}"
        message += f" (joints {listed(joints)})" if joints else ""
        if drivers:
            verb = "prescribes" if len(drivers) == 1 else "prescribe"
            message += f": {_noun('driver', drivers)} {listed(drivers)} {verb} more than can move"
            if number < len(drivers):
                message += f" - remove {number} of {listed(drivers)}, or move it to a joint that is still free"
            else:
                message += f" - remove {listed(drivers)}, or free a joint"
        elif model.space == "spatial":
            message += " - the count alone does not tell whether they agree; free a joint (R to S or C) to be sure"
        else:
            message += " - remove a body or a joint, or let a pin slide (R to slot)"
        found.append(Finding(names, joints, drivers, number, message))
    return _sorted(found)


def dropped_parts(
    model: Model, full: Network, dropped: Mapping[str, int], drivers: Iterable[str], locked: bool
) -> tuple[Finding, ...]:
    """Return the findings for constraints that the rank test found redundant: the loop that they stand in is named."""
    left = {name: number for name, number in dropped.items() if number}
    idle = set(drivers)
    parts: list[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], int]] = []
    for piece in pieces(full.incidence, over(full.incidence, assign(full.incidence))):
        bodies, joints, driven = _names(full, piece)
        here = [name for name in joints if name in left] + [name for name in driven if name in idle]
        if here:
            parts.append((bodies, joints, driven, sum(left.pop(name, 1) for name in here)))
            idle.difference_update(here)
    parts += [(_tied(model, name), (name,), (), number) for name, number in sorted(left.items())]
    for name in sorted(idle):
        parts.append((tuple(b for b in model.drivers[name].bodies if b != FRAME), (), (name,), 1))
    found = []
    for bodies, joints, driven, number in parts:
        names = user_names(model, bodies)
        agree = "is" if number == 1 else "are"
        message = f"{many(number, 'constraint')} of {listed(names)} {agree} redundant"
        message += f" ({_noun('joint', joints)} {listed(joints)})" if joints else ""
        message += f" ({_noun('driver', driven)} {listed(driven)})" if driven else ""
        if locked:
            message += (
                " and contradict the drivers: the mechanism is locked - correct the axes and lengths of the loop, "
                "free a joint, or remove a driver"
            )
        elif model.space == "spatial":
            message += (
                ' but consistent, and left out - if all axes are parallel write it with space = "planar", '
                "or make two joints of the loop S and C"
            )
        else:
            message += " but consistent, and left out - small errors of its lengths would jam it"
        found.append(Finding(names, tuple(sorted(joints)), tuple(sorted(driven)), number, message, not locked))
    return _sorted(found)


def held_angles(model: Model, loops: Iterable[Loop]) -> tuple[Finding, ...]:
    """Return the findings for loops of sliding joints and angle drivers that hold an angle twice."""
    found = []
    for loop in loops:
        names = user_names(model, loop.bodies)
        if loop.driver:
            message = (
                f"driver {loop.closing} prescribes an angle of {listed(names)} that is held already by "
                f"{listed([*loop.joints, *(d for d in loop.drivers if d != loop.closing)])} - remove it, "
                "or drive a displacement"
            )
        else:
            message = (
                f"the angles around {listed(names)} are held by every one of the sliding joints {listed(loop.joints)}: "
                f"one constraint of {loop.closing} is redundant but consistent, and left out - "
                "a slot there holds its place alone"
            )
        found.append(Finding(names, loop.joints, loop.drivers, 1, message, not loop.driver))
    return _sorted(found)


def _names(network: Network, piece: MatchedPart) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the rigid bodies, joints and drivers of a part, each sorted; pins stand for their joints."""
    bodies = {network.bodies[n] for n in piece.nodes if n < len(network.bodies)}
    joints: set[str] = set()
    for unit in (network.units[u] for u in piece.units):
        if unit.sort == "joint":
            joints.add(unit.name)
        elif unit.sort == "pin":
            touched = {network.bodies[n] for n in unit.nodes if n < len(network.bodies)}
            pins = [p for p in network.shared if p.point == unit.name and touched & set(p.bodies)]
            joints.update(joint for pin in pins for joint in pin.joints)
    drivers = {network.units[u].name for u in piece.units if network.units[u].sort == "driver"}
    return tuple(sorted(bodies)), tuple(sorted(joints)), tuple(sorted(drivers))


def _tied(model: Model, joint: str) -> tuple[str, ...]:
    return tuple(sorted({b for b in model.joints[joint].bodies if b != FRAME}))


def _noun(noun: str, names: Iterable[str]) -> str:
    return noun if len(list(names)) == 1 else noun + "s"


def _sorted(found: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda f: (f.bodies, f.joints, f.drivers)))
