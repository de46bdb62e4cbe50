"""What type a structural group is: its coloured graph, the canonical order of its parts, and its name.

Two groups are of one type if their graphs are equal up to names. Bodies outside the group are no vertices: where the
known ends of its joints sit does not change its equations. Numbers (lengths, angles) are no part of a type.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .canonical import Graph, canonical
from .model import Joint, Model

if TYPE_CHECKING:
    from .structure import Group

LETTERS: Mapping[str, str] = {
    "S": "S",
    "U": "U",
    "R": "R",
    "C": "C",
    "H": "H",
    "planar": "E",
    "P": "P",
    "on-plane": "F",
    "on-cylinder": "O",
}
_RANK = {letter: k for k, letter in enumerate("SURCHEPFO")}  # the direction of a chain: least letters first
_SYMMETRIC = ("R", "S", "H")  # kinds in which first and second body may change places


def ends(joint: Joint) -> tuple[tuple[str, str], ...]:
    """Return the roles of a joint with the bodies that play them."""
    roles = (("first", joint.first), ("second", joint.second))
    return roles if joint.carrier is None else (*roles, ("carrier", joint.carrier))


def _vertices(model: Model, group: Group) -> list[tuple[Joint, ...]]:
    """Return the joints of a group's graph: each alone, but those that pin bodies of the group at one point together.

    A pin of several bodies is one vertex: by which pairs it is written does not matter.
    """
    inside = set(group.bodies)
    kind = "R" if model.space == "planar" else "S"
    pins: dict[str, list[list[Joint]]] = {}
    alone: list[tuple[Joint, ...]] = []
    for pair in group.pairs:
        if pair.kind != kind or pair.at is None or not inside.issuperset(pair.bodies):
            alone.append((pair,))
            continue
        met = [s for s in pins.get(pair.at, []) if any(set(pair.bodies) & set(j.bodies) for j in s)]
        rest = [s for s in pins.get(pair.at, []) if s not in met]
        pins[pair.at] = [*rest, [pair, *(j for s in met for j in s)]]
    together = [tuple(sorted(s, key=lambda j: j.name)) for sets in pins.values() for s in sets]
    return sorted(alone + together, key=lambda joints: joints[0].name)


def group_graph(model: Model, group: Group) -> Graph:
    """Return the coloured graph of a group: its bodies, then its joints, then its drivers, each sorted by name."""
    bodies, joints, drivers = sorted(group.bodies), _vertices(model, group), sorted(group.inputs, key=lambda d: d.name)
    number = {body: k for k, body in enumerate(bodies)}
    dropped = dict(group.dropped)
    driven: dict[str, list[str]] = {}
    for driver in drivers:
        if driver.joint is not None:
            driven.setdefault(driver.joint, []).append(driver.kind)
    colours = ["rod" if model.bodies[body].rod else "body" for body in bodies]
    edges: list[tuple[int, int, str]] = []
    vertex_of: dict[str, int] = {}
    pinned: dict[tuple[str, str], int] = {}
    for together in joints:
        vertex, joint = len(colours), together[0]
        roles = joint.kind not in _SYMMETRIC or (joint.name in driven and model.space != "planar")
        if model.space == "planar" and joint.kind == "P" and not number.keys() >= set(joint.bodies):
            roles = False  # what is known carries the line, whichever way it was written
        known = [role if roles else "" for role, body in ends(joint) if body not in number]
        colour = f"[{joint.kind} {' '.join(sorted(driven[joint.name]))}]" if joint.name in driven else joint.kind
        lost = sum(dropped.get(j.name, 0) for j in together)
        colours.append(colour + "".join("^" + role for role in known) + (f"-{lost}" if lost else ""))
        touched = {(body, role if roles else "") for j in together for role, body in ends(j) if body in number}
        edges += [(number[body], vertex, role) for body, role in sorted(touched)]
        for pair in together:
            vertex_of[pair.name] = vertex
            if not known and pair.at is not None and pair.kind in ("R", "S"):
                pinned.update({(pair.at, body): vertex for body in pair.bodies})
    for driver in drivers:
        vertex = len(colours)
        if driver.joint is not None:
            colours.append(driver.kind)
            edges.append((vertex_of[driver.joint], vertex, "drives"))
            continue
        places = []
        for k, body in enumerate(driver.bodies):
            point = driver.points[k] if driver.points is not None else ""
            place = pinned.get((point, body), number.get(body, -1))
            places.append(place)
        colours.append(driver.kind + "".join("^" for place in places if place < 0))
        edges += [(place, vertex, "end") for place in places if place >= 0]
    return Graph(tuple(colours), tuple(edges))


def type_key(model: Model, group: Group) -> str:
    """Return the full identity of a group's type: equal for equal types, and only for those."""
    return ("2D;" if model.space == "planar" else "3D;") + canonical(group_graph(model, group)).key


def ordered(model: Model, group: Group) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return bodies, joints (names of `group.pairs`) and drivers (of `group.inputs`) in the type's canonical order.

    Two groups of one type correspond place by place; where the type has symmetries the least names come first.
    """
    order = canonical(group_graph(model, group)).order
    bodies, joints = sorted(group.bodies), _vertices(model, group)
    drivers = sorted(driver.name for driver in group.inputs)
    sequence = [bodies[v] for v in order if v < len(bodies)]
    place = {body: k for k, body in enumerate(sequence)}
    pairs: list[str] = []
    for v in order:
        if len(bodies) <= v < len(bodies) + len(joints):
            together = joints[v - len(bodies)]
            pairs += [j.name for j in sorted(together, key=lambda j: sorted(place.get(b, -1) for b in j.bodies))]
    first = len(bodies) + len(joints)
    return tuple(sequence), tuple(pairs), tuple(drivers[v - first] for v in order if v >= first)


def type_name(model: Model, group: Group) -> str:
    """Return the name of a group's type: its joints along the chain, or a summary with a digest of its key."""
    return _chain_name(group) or _general_name(model, group)


def _chain_name(group: Group) -> str | None:
    """Return the name of one driven body, or of an open chain between two outside joints; otherwise None."""
    inside = set(group.bodies)
    floating = any(driver.joint is None for driver in group.inputs)
    if floating or any(pair.kind not in LETTERS or len(pair.bodies) != 2 for pair in group.pairs):
        return None
    drivers = Counter(driver.joint for driver in group.inputs)
    outer = [pair for pair in group.pairs if not inside.issuperset(pair.bodies)]
    inner = [pair for pair in group.pairs if inside.issuperset(pair.bodies)]
    if len(inside) == 1 and len(outer) == 1:
        pair = outer[0]
        freedoms = 2 if pair.kind == "C" else 1
        return LETTERS[pair.kind] if drivers[pair.name] == freedoms and pair.kind in "RPCH" else None
    if len(outer) != 2 or len(inner) != len(inside) - 1:
        return None
    beside: dict[str, list[Joint]] = {body: [] for body in inside}
    for pair in group.pairs:
        for body in inside.intersection(pair.bodies):
            beside[body].append(pair)
    if any(len(joints) != 2 for joints in beside.values()):
        return None
    chain, body = [outer[0]], next(b for b in outer[0].bodies if b in inside)
    while chain[-1] is not outer[1]:  # two joints on every body: the walk can only end at the other outside joint
        chain.append(next(pair for pair in beside[body] if pair is not chain[-1]))
        body = next((b for b in chain[-1].bodies if b != body and b in inside), body)
    if len(chain) != len(group.pairs):
        return None
    letters = [(LETTERS[pair.kind], pair.name in drivers) for pair in chain]
    forward = min(letters, letters[::-1], key=lambda ls: ([_RANK[s] for s, _ in ls], [d for _, d in ls]))
    return "".join(f"[{letter}]" if is_driven else letter for letter, is_driven in forward)


def _general_name(model: Model, group: Group) -> str:
    """Return `g<bodies>[r<rods>]-<external>-<internal>-<digest>`; kinds are counted, driven ones in brackets."""
    inside = set(group.bodies)
    rods = sum(model.bodies[body].rod for body in group.bodies)
    driven = {driver.joint for driver in group.inputs}
    external: Counter[tuple[str, bool]] = Counter()
    internal: Counter[tuple[str, bool]] = Counter()
    for pair in group.pairs:
        kind = (LETTERS.get(pair.kind, pair.kind), pair.name in driven)
        (internal if inside.issuperset(pair.bodies) else external)[kind] += 1
    for driver in group.inputs:
        if driver.joint is None:
            (internal if inside.issuperset(driver.bodies) else external)[(driver.kind, True)] += 1
    digest = hashlib.sha256(type_key(model, group).encode()).hexdigest()[:8]
    size = f"g{len(group.bodies)}" + (f"r{rods}" if rods else "")
    return f"{size}-{_counted(external)}-{_counted(internal)}-{digest}"


def _counted(kinds: Mapping[tuple[str, bool], int]) -> str:
    ranked = sorted(kinds.items(), key=lambda item: (_RANK.get(item[0][0], len(_RANK)), item[0]))
    return "".join(f"[{kind}]{n}" if is_driven else f"{kind}{n}" for (kind, is_driven), n in ranked) or "0"
