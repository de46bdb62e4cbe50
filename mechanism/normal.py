"""Joints and drivers as a solver needs them: pins of several bodies tied to the body that is known first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .constraint_network import Pin, by_place, pin_of
from .model import FRAME, Array, Driver, Joint, Model
from .naming import ordered

if TYPE_CHECKING:
    from .structure import Group


@dataclass(frozen=True, eq=False)
class NormalForm:
    """For each group, by its number: the user's joints (sorted), the pairs and inputs of its solver."""

    solved: Mapping[str, int]
    joints: tuple[tuple[str, ...], ...]
    pairs: tuple[tuple[Joint, ...], ...]
    inputs: tuple[tuple[Driver, ...], ...]
    ringed: frozenset[int]  # groups three or more bodies of which share a pin that is not known before

    def needs(self, group: int) -> list[int]:
        """Return the numbers of the groups that a group depends on directly, in order."""
        bodies = [b for pair in self.pairs[group] for b in pair.bodies]
        bodies += [b for driver in self.inputs[group] for b in driver.bodies]
        return sorted({self.solved[b] for b in bodies} - {group, -1})

    def canonical_places(self, model: Model, groups: Sequence[Group]) -> dict[str, int]:
        """Return the places of the bodies in the canonical order of their groups."""
        sequences = [ordered(model, group)[0] if k in self.ringed else group.bodies for k, group in enumerate(groups)]
        return {body: place for sequence in sequences for place, body in enumerate(sequence)}


def _ring(pin: Pin, solved: Mapping[str, int]) -> int | None:
    """Return the number of the group that knows the pin first, if three or more of its bodies meet there."""
    numbers = [solved[b] for b in pin.bodies if b in solved]
    first = min(numbers, default=-1)
    return first if first >= 0 and numbers.count(first) >= 3 else None


def normal_form(
    model: Model, pins: tuple[Pin, ...], sets: Sequence[tuple[str, ...]], places: Mapping[str, int] | None = None
) -> NormalForm:
    """Return the normal form for groups in order; at a pin the body of least `places`, then name, leads its group."""
    solved = {body: k for k, bodies in enumerate(sets) for body in bodies} | {FRAME: -1}
    joints: list[list[str]] = [[] for _ in sets]
    pairs: list[list[Joint]] = [[] for _ in sets]
    inputs: list[list[Driver]] = [[] for _ in sets]
    leaders = {pin: _leader(pin, solved, places or {}) for pin in pins}
    crowded = [pin for pin in pins if len(pin.bodies) >= 3]
    together = {name for pin in crowded for name in pin.joints}
    for name, joint in sorted(model.joints.items()):
        owner = _owner(joint.bodies, solved)
        if owner is not None and owner >= 0:
            joints[owner].append(name)
            if name not in together:
                pairs[owner].append(joint)
    for pin in crowded:
        for pair in _pairs(model, pin, leaders[pin], solved):
            pairs[max(solved[pair.first], solved[pair.second])].append(pair)
    rings = {pin: found for pin in crowded if (found := _ring(pin, solved)) is not None}
    ringed = {joint for pin in rings for joint in pin.joints}
    at = by_place(pins)
    for _, driver in sorted(model.drivers.items()):
        driver = _from_leaders(model, driver, at, leaders, solved) if driver.ends is not None else driver
        owner = _owner(driver.bodies, solved)
        if owner is not None and owner >= 0:
            inputs[owner].append(_settled(model, driver, pairs[owner], ringed))
    return NormalForm(
        solved,
        tuple(map(tuple, joints)),
        tuple(tuple(sorted(group, key=lambda pair: pair.name)) for group in pairs),
        tuple(map(tuple, inputs)),
        frozenset(rings.values()),
    )


def _owner(bodies: Iterable[str], solved: Mapping[str, int]) -> int | None:
    """Return the number of the group solved last of the bodies', or None if one is never solved."""
    numbers = [solved.get(body) for body in bodies]
    return None if None in numbers else max(number for number in numbers if number is not None)


def _leader(pin: Pin, solved: Mapping[str, int], places: Mapping[str, int]) -> str | None:
    known = [body for body in pin.bodies if body in solved]
    return min(known, key=lambda b: (solved[b], places.get(b, 0), b), default=None)


def _place(model: Model, pin: Pin, body: str) -> Array:
    """Return the pin's point in the axes of one of its bodies."""
    joint = next(j for j in map(model.joints.__getitem__, pin.joints) if body in (j.first, j.second))
    return joint.a if joint.first == body else joint.b


def _pairs(model: Model, pin: Pin, leader: str | None, solved: Mapping[str, int]) -> list[Joint]:
    """Return the joints that tie each body at the pin to the leader: the user's own where there are such.

    A body that is driven from another one known before it is tied to that: the same as on a pin of two.
    """
    others = [b for b in pin.bodies if b in solved and b != leader]
    if leader is None or not others:
        return []
    own: dict[str, Joint] = {}
    for joint in map(model.joints.__getitem__, pin.joints):
        if leader in (joint.first, joint.second):
            own.setdefault(joint.second if joint.first == leader else joint.first, joint)
    driven = {driver.joint for driver in model.drivers.values() if driver.kind == "angle"}
    for joint in map(model.joints.__getitem__, pin.joints):
        if joint.name in driven and set(joint.bodies) <= solved.keys():
            before, after = sorted(joint.bodies[:2], key=solved.__getitem__)
            if solved[before] < solved[after]:
                own[after] = joint
    used = {joint.name for joint in own.values()}
    names = iter([name for name in pin.joints if name not in used])
    pairs = []
    for body in others:
        if body in own:
            pairs.append(own[body])
            continue
        turn = model.bodies[body].angle - model.bodies[leader].angle if model.space == "planar" else 0.0
        pattern = model.joints[pin.joints[0]]
        a, b = _place(model, pin, leader), _place(model, pin, body)
        pairs.append(replace(pattern, name=next(names), first=leader, second=body, a=a, b=b, angle=turn))
    return pairs


def _from_leaders(
    model: Model,
    driver: Driver,
    at: Mapping[tuple[str, str], Pin],
    leaders: Mapping[Pin, str | None],
    solved: Mapping[str, int],
) -> Driver:
    """Return a distance with its ends on the bodies known first at their pins; the end known first comes first."""
    if driver.ends is None:
        return driver
    bodies, ends = list(driver.bodies), list(driver.ends)
    for end in (0, 1):
        pin = pin_of(at, driver, end)
        leader = leaders[pin] if pin is not None else None
        if pin is not None and leader is not None and leader != bodies[end]:
            bodies[end], ends[end] = leader, _place(model, pin, leader)
    late = len(solved)  # of bodies that nothing determines
    a, b = (0, 1) if solved.get(bodies[0], late) <= solved.get(bodies[1], late) else (1, 0)  # it has no direction
    points = None if driver.points is None else (driver.points[a], driver.points[b])
    return replace(driver, bodies=(bodies[a], bodies[b]), ends=(ends[a], ends[b]), points=points)


def _settled(model: Model, driver: Driver, pairs: Sequence[Joint], ringed: set[str]) -> Driver:
    """Return a driver of an angle tied to the pair that it turns, or to none if the pin is written in another way."""
    if model.space != "planar" or driver.kind not in ("angle", "turn"):
        return driver
    for pair in pairs:
        same = (pair.first, pair.second) == driver.bodies and pair.kind == "R"
        if same and pair.name not in ringed and (driver.joint is None or pair.name == driver.joint):
            return replace(driver, kind="angle", joint=pair.name)
    return replace(driver, kind="turn", joint=None)
