"""A structural group of a spatial mechanism -> GroupPlan: its specification as text, and the numbers that belong to it.

Bodies are carried by a tree of joints that begins at known bodies; every other joint closes a loop by equations. A rod
has no triad: it is one length between two centres. The text depends on the canonical order of bodies and joints alone,
never on names or numbers of the user, so that equal topologies share one compiled type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...common.errors import InputError
from ..model import Body, Driver, Joint, Model
from ..numbers.arithmetic import norm, scalar
from .plan import Between, GroupPlan, Placement, PointName, PointOf
from .spatial_carriers import Carrier, Framed, Key, Known, Place, Sliding
from .spatial_draft import Draft
from .spatial_joints import TINY, Drive, Ends, Link, carry, carry_free, link
from .spatial_loops import close_gear, close_joint, close_length

Array = NDArray[np.float64]
# Joints that carry a body, cheapest first: driven ones bring no unknown at all. What is not here only closes loops.
_PREFERENCE = {"driven": 0, "P": 1, "R": 2, "H": 3, "C": 4, "U": 5, "planar": 6, "S": 7}


@dataclass(frozen=True, eq=False)
class Bar:
    """Two points at a distance whose square is `square` + 2 `along` d + d², d the value of the driver (or zero)."""

    bodies: tuple[str, str]
    ends: tuple[Array, Array]
    square: float
    along: float = 0.0
    driver: str | None = None


@dataclass(frozen=True, eq=False)
class _Node:
    """A centre where rods end: the rods' ends (rod, 0 or 1), and the points of other bodies that lie there."""

    ends: tuple[tuple[str, int], ...]
    members: tuple[tuple[str, Array], ...]


@dataclass(frozen=True, eq=False)
class _Edge:
    """Two bodies with triads (or known) joined by a joint, or by meeting at a node; `key` names it."""

    key: Key
    kind: str
    bodies: tuple[str, str]
    points: tuple[Array, Array]
    joint: Joint | None = None

    def seen_from(self, parent: str) -> Link:
        if self.joint is not None:
            return link(self.joint, parent)
        a, b = self.points if self.bodies[0] == parent else self.points[::-1]
        none = np.zeros(3)
        return Link("S", a, b, none, none, none, none, 0.0)

    def other(self, body: str) -> str:
        return self.bodies[1] if self.bodies[0] == body else self.bodies[0]

    def point(self, body: str) -> Array:
        return self.points[0] if self.bodies[0] == body else self.points[1]


@dataclass(frozen=True, eq=False)
class _Step:
    """A body of the tree, the known or earlier body that carries it, and by which edge (none: it is free)."""

    body: str
    parent: str
    edge: _Edge | None


class _Group:
    """The group in canonical order as a graph of rods, nodes and edges; no text yet."""

    def __init__(
        self,
        model: Model,
        bodies: Sequence[str],
        joints: Sequence[str],
        drivers: Sequence[str],
        bars: Sequence[Bar],
    ) -> None:
        self.model, self.bars = model, bars
        self.order = {name: i for i, name in enumerate(bodies)}
        self.rods = tuple(b for b in bodies if model.bodies[b].rod)
        self.framed = tuple(b for b in bodies if not model.bodies[b].rod)
        self.joints = tuple(model.joints[j] for j in joints)
        self.drivers = tuple(model.drivers[d] for d in drivers)
        self.size = model.size
        self.rod_ends: dict[str, tuple[Array, ...]] = {rod: self._ends(rod) for rod in self.rods}
        self.nodes = self._nodes()
        self.edges = self._edges()
        self.tree = self._tree()

    # ---- rods and their centres -----------------------------------------------------------------------------------
    def _ends(self, rod: str) -> tuple[Array, ...]:
        found: list[Array] = []
        for joint in self.joints:
            for body, place in ((joint.first, joint.a), (joint.second, joint.b)):
                if body == rod and all(norm(place - p) > TINY * self.size for p in found):
                    found.append(place)
        if len(found) < 2:
            raise InputError(
                f"[bodies] {rod}: the two ends of this rod are one point beside the size of the mechanism, "
                f"{self.size:.3g} m - check its length and those of the others"
            )
        return tuple(found)

    def _end(self, rod: str, place: Array) -> tuple[str, int]:
        return rod, int(np.argmin([norm(place - p) for p in self.rod_ends[rod]]))

    def _nodes(self) -> tuple[_Node, ...]:
        """Return the centres of the rods: ends that joints tie together are one centre."""
        node_of = {(rod, i): {(rod, i)} for rod in self.rods for i in range(len(self.rod_ends[rod]))}
        members: list[tuple[tuple[str, int], str, Array]] = []
        for joint in self.joints:
            sides = (joint.first, joint.a), (joint.second, joint.b)
            ends = [self._end(*side) for side in sides if side[0] in self.rod_ends]
            if len(ends) == 2:
                both = node_of[ends[0]] | node_of[ends[1]]
                node_of.update(dict.fromkeys(both, both))
            elif ends:
                members += [(ends[0], body, place) for body, place in sides if body not in self.rod_ends]
        nodes = []
        for end, ends_here in node_of.items():
            if end == min(ends_here, key=list(node_of).index):
                here = [(body, place) for at, body, place in members if at in ends_here]
                here.sort(key=lambda member: self.order.get(member[0], -1))  # known bodies first
                nodes.append(_Node(tuple(e for e in node_of if e in ends_here), tuple(here)))
        return tuple(nodes)

    def node_of(self, rod: str, end: int) -> int:
        return next(i for i, node in enumerate(self.nodes) if (rod, end) in node.ends)

    # ---- the tree of the other bodies -----------------------------------------------------------------------------
    def _edges(self) -> tuple[_Edge, ...]:
        edges = [
            _Edge(("joint", i), j.kind, (j.first, j.second), (j.a, j.b), j)
            for i, j in enumerate(self.joints)
            if j.first not in self.rod_ends and j.second not in self.rod_ends and j.kind != "gear"
        ]
        for i, node in enumerate(self.nodes):
            for member in node.members[1:]:
                (anchor, a), (body, b) = node.members[0], member
                if body in self.order:
                    edges.append(_Edge(("node", i), "S", (anchor, body), (a, b)))
        return tuple(edges)

    def drivers_of(self, edge: _Edge) -> dict[str, str]:
        if edge.joint is None:
            return {}
        return {d.kind: d.name for d in self.drivers if d.joint == edge.joint.name}

    def _preference(self, edge: _Edge) -> int:
        driven = set(self.drivers_of(edge))
        kind = edge.kind
        if kind == "C" and len(driven) == 1:  # what is left free: a slide or a turn
            kind = "P" if driven == {"angle"} else "R"
        elif driven:
            kind = "driven"
        return _PREFERENCE[kind]

    def _tree(self) -> tuple[_Step, ...]:
        steps: list[_Step] = []
        depth: dict[str, int] = {}
        while len(steps) < len(self.framed):
            best: tuple[int, int, int] | None = None
            step = _Step(next(b for b in self.framed if b not in depth), "", None)  # if nothing carries any
            for i, edge in enumerate(self.edges):
                if edge.kind not in _PREFERENCE:
                    continue
                for body, parent in (edge.bodies, edge.bodies[::-1]):
                    if body not in self.order or body in depth or (parent in self.order and parent not in depth):
                        continue
                    rank = self._preference(edge), depth.get(parent, 0), i
                    if best is None or rank < best:
                        best, step = rank, _Step(body, parent, edge)
            steps.append(step)
            depth[step.body] = depth.get(step.parent, 0) + 1
        return tuple(steps)

    def mark(self, step: _Step) -> tuple[Key | None, Array]:
        """Return the point that the body's triad may be laid through: where it meets rods, else its next joint."""
        body = step.body
        found: list[tuple[Key, Array]] = [
            (("node", i), place)
            for i, node in enumerate(self.nodes)
            for member, place in node.members
            if member == body
        ]
        for i, driver in enumerate(self.drivers):
            if driver.ends is not None:
                found += [(("driver", 2 * i + k), driver.ends[k]) for k in range(2) if driver.bodies[k] == body]
        for i, bar in enumerate(self.bars):
            found += [(("bar", 2 * i + k), bar.ends[k]) for k in range(2) if bar.bodies[k] == body]
        joints = [e for e in self.edges if e.joint is not None and body in e.bodies]
        joints.sort(key=lambda e: e.kind == "P")  # what slides along the body has points of its own
        found += [(e.key, e.point(body)) for e in joints]
        taken = None if step.edge is None else step.edge.key
        own = np.zeros(3) if step.edge is None else step.edge.point(body)
        return next(((key, place) for key, place in found if key != taken), (None, own))


class _Writer:
    """Writes the specification of a group; `explicit` where every coordinate is driven."""

    def __init__(self, group: _Group, explicit: bool) -> None:
        self.group, self.explicit = group, explicit
        self.draft = Draft()
        self.carriers: dict[str, Framed | Sliding] = {}
        self.placements: dict[str, Placement] = {}
        for step in group.tree:
            self._carry(step)
        self.centres = [self._centre(i, node) for i, node in enumerate(group.nodes)]
        self._rods()
        used = {step.edge for step in group.tree}
        for edge in group.edges:
            if edge not in used:
                self._close(edge)
        for joint in (j for j in group.joints if j.kind == "gear"):
            first, second, third = map(self.carrier, joint.bodies)
            close_gear(self.draft, (first, second), third, joint)
        for i, driver in enumerate(group.drivers):
            if driver.kind == "distance":
                self._distance(i, driver)
            elif driver.kind == "coordinate":
                self._coordinate(i, driver)
        for i, bar in enumerate(group.bars):
            self._bar(i, bar)
        for i, (body, carrier) in enumerate(self.carriers.items(), 1):
            self.placements[body] = carrier.placement(i)
        for rod in group.rods:
            P, Q = (self._end(group.node_of(rod, end)) for end in (0, 1))
            self.placements[rod] = Between(P, Q, *group.rod_ends[rod])

    def carrier(self, name: str) -> Carrier:
        return self.carriers.get(name) or Known(self.draft, name)

    def _body(self, name: str) -> Body:
        return self.group.model.bodies[name]

    def _carry(self, step: _Step) -> None:
        mark, local = self.group.mark(step)
        child = self._body(step.body)
        if step.edge is None:
            self.carriers[step.body] = carry_free(self.draft, child, mark, local)
            return
        ends = Ends(self._body(step.parent), child, self.group.size, mark, local)
        drive = Drive(self.group.drivers_of(step.edge), self.explicit)
        joint = step.edge.seen_from(step.parent)
        self.carriers[step.body] = carry(self.draft, self.carrier(step.parent), joint, ends, step.edge.key, drive)

    def _centre(self, i: int, node: _Node) -> Place:
        if node.members:
            body, local = node.members[0]
            return self.carrier(body).place(("node", i), local)
        rod, end = node.ends[0]
        return Place(self.draft.unknown("P", "point", self._body(rod).outside(self.group.rod_ends[rod][end])))

    def _rods(self) -> None:
        for rod in self.group.rods:
            p, q = self.group.rod_ends[rod]
            P, Q = (self.centres[self.group.node_of(rod, end)] for end in (0, 1))
            length = self.draft.parameter("L", "length", norm(q - p))
            close_length(self.draft, "rod", P, Q, f"{length}^2")

    def _end(self, node: int) -> PointName:
        """Return what a centre is: a coordinate, or a point of a body that is placed before the rods."""
        members = self.group.nodes[node].members
        return self.draft.point("", self.centres[node].text, PointOf(*members[0]) if members else None)

    def _close(self, edge: _Edge) -> None:
        first = min(edge.bodies, key=lambda body: self.group.order.get(body, -1))  # a known body first
        if edge.kind in ("on-plane", "on-cylinder"):  # only one of the two carries the surface
            first = edge.bodies[0]
        drive = Drive(self.group.drivers_of(edge))
        p, q = self.carrier(first), self.carrier(edge.other(first))
        close_joint(self.draft, p, q, edge.seen_from(first), edge.key, drive)

    def _distance(self, i: int, driver: Driver) -> None:
        assert driver.ends is not None
        sides = [(driver.bodies[k], ("driver", 2 * i + k), driver.ends[k]) for k in (0, 1)]
        sides.sort(key=lambda side: self.group.order.get(side[0], -1))
        places = [self._place(*side) for side in sides]
        close_length(self.draft, "distance", places[0], places[1], f"{self.draft.length_driver(driver.name)}^2")

    def _coordinate(self, i: int, driver: Driver) -> None:
        """A point of a body has a prescribed coordinate."""
        assert driver.ends is not None
        assert driver.axis is not None
        place = self._place(driver.bodies[1], ("driver", 2 * i + 1), driver.ends[1])
        u = self.draft.vector_of(driver.bodies[0], driver.axis)
        self.draft.equation("coordinate", f"dot({u}, {place.text}) = {self.draft.length_driver(driver.name)}")

    def _bar(self, i: int, bar: Bar) -> None:
        sides = [(bar.bodies[k], ("bar", 2 * i + k), bar.ends[k]) for k in (0, 1)]
        sides.sort(key=lambda side: self.group.order.get(side[0], -1))
        P, Q = (self._place(*side) for side in sides)
        square = self.draft.parameter("b", "number", bar.square)
        if bar.driver is not None:
            d, q = self.draft.length_driver(bar.driver), self.draft.parameter("q", "offset", bar.along)
            square = f"{square} + 2*{q}*{d} + {d}^2"
        close_length(self.draft, "bar", P, Q, square)

    def _place(self, body: str, key: Key, local: Array) -> Place:
        """Return a point of a body; on a rod, as a part of the way between its centres."""
        if body not in self.group.rod_ends:
            return self.carrier(body).place(key, local)
        p, q = self.group.rod_ends[body]
        part = self.draft.parameter("m", "number", scalar((local - p) @ (q - p) / ((q - p) @ (q - p))))
        P, Q = (self.centres[self.group.node_of(body, end)].text for end in (0, 1))
        return Place(self.draft.let("B", f"(1 - {part})*({P}) + {part}*({Q})"))


def plan_spatial(
    model: Model,
    group_name: str,
    group_type: str,
    bodies: Sequence[str],
    joints: Sequence[str],
    drivers: Sequence[str],
    bars: Sequence[Bar] = (),
) -> GroupPlan:
    """Return the plan of a group whose bodies, joints and drivers come in canonical order; all other bodies are known.

    `bars` stand for bodies that are planned apart. The specification has the equations of every joint: more than
    unknowns where the group is over-constrained.
    """
    group = _Group(model, bodies, joints, drivers, bars)
    writer = _Writer(group, explicit=False)
    if not writer.draft.has_unknowns:  # the generator needs an unknown: what is driven becomes one
        writer = _Writer(group, explicit=True)
    return writer.draft.plan(group_name, group_type, bodies, joints, drivers, writer.placements)
