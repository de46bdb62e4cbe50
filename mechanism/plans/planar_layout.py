"""Which coordinates a planar group gets: orientation classes, clusters, pins, and the choice with the fewest unknowns.

Points are complex numbers here, and everything is linear in the unknowns (natural coordinates, [S] section 3.3):
bodies whose relative orientation is known form a *class* with one direction W; bodies whose relative place is known,
too, form a *cluster*; a cluster with W and one known point is placed, and its other points follow. No symbols: this
is the plan, the text comes later.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...common.errors import InputError
from ..model import Array, Driver, Joint, Model
from ..numbers.arithmetic import plane, turned
from .planar_terms import Orientation, Vector, add, constant, negative

LIMIT = 20_000  # plans tried before the search falls back to one unit vector per class


@dataclass
class Class:
    """Bodies of one orientation; `external` is the solved body that fixes it; gears ask for an unwrapped angle."""

    index: int
    root: str
    external: str | None
    axis: complex | None = None  # of the first slide, in the frame of the class: what the direction refers to
    slide: str = ""  # the joint that has this axis
    needs_angle: bool = False


@dataclass
class Cluster:
    """Bodies whose relative place is known: `origins` of their axes in the frame of the class."""

    index: int
    group: Class
    origins: dict[str, Vector] = field(default_factory=dict)


@dataclass
class LayoutPin:
    """A point that places clusters: where it lies on each, and the solved body that carries it (if any)."""

    key: str
    places: dict[int, Vector]  # cluster -> place in the frame of its class
    external: tuple[str, complex] | None = None
    slide: tuple[Joint, str] | None = None  # of a slider driven from a solved body: joint and driver
    seats: dict[str, complex] = field(default_factory=dict)  # body -> local coordinates
    point: str | None = None  # of the mechanism

    @property
    def known(self) -> bool:
        return self.external is not None or self.slide is not None


@dataclass(frozen=True)
class Direction:
    """How a class gets its W: `external`, `vector`, `angle`, or `pair` (two pins of one cluster)."""

    kind: str
    cluster: int = -1
    first: str = ""
    second: str = ""


@dataclass(frozen=True)
class Choice:
    """A complete choice: the free pins, the direction of each class, the anchor of each cluster, and what follows."""

    free: tuple[str, ...]
    directions: tuple[Direction, ...]
    anchors: tuple[str, ...]  # cluster -> pin
    derived: tuple[tuple[int, str], ...]  # (cluster, pin) that follow from the cluster's place
    order: tuple[tuple[int, str], ...]  # (class, "") of a pair and (cluster, pin) of `derived`, as they become known
    closures: tuple[tuple[int, str], ...]  # (cluster, pin) that close a loop: two equations each


def local(point: Array) -> complex:
    """Return a point or vector of the plane as a complex number."""
    return plane(point[0], point[1])  # type: ignore[no-any-return]


class PlanarLayout:
    """The classes, clusters and pins of one group."""

    def __init__(self, model: Model, bodies: Sequence[str], joints: Sequence[Joint], drivers: Sequence[Driver]) -> None:
        self.model, self.bodies, self.joints, self.drivers = model, tuple(bodies), tuple(joints), tuple(drivers)
        self.inside = frozenset(bodies)
        self.turn = {frozenset(d.bodies): d for d in drivers if d.kind in ("angle", "turn")}
        self.shift = {d.joint: d for d in drivers if d.kind == "displacement"}
        self.symbol = {d.name: f"h{i + 1}" for i, d in enumerate(drivers)}
        self.orientations: dict[str, Orientation] = {}
        self.class_of: dict[str, Class] = {}
        self.classes: list[Class] = []
        self._orient()
        self.clusters: list[Cluster] = []
        self.cluster_of: dict[str, Cluster] = {}
        self._gather()
        self.pins: dict[str, LayoutPin] = {}
        self._pin()

    # ---- orientation ----------------------------------------------------------------------------------------------
    def _relations(self) -> Iterator[tuple[str, str, complex, tuple[tuple[str, int], ...], Joint | None]]:
        """Yield (first, second, unit, turns, joint): direction of second = direction of first · unit · turns."""
        for j in self.joints:
            if j.kind == "P":
                yield j.first, j.second, turned(j.angle), (), j
        for d in self.drivers:
            if d.kind in ("angle", "turn"):
                yield *d.bodies, 1 + 0j, ((self.symbol[d.name], 1),), None

    def _orient(self) -> None:
        ties: dict[str, list[tuple[str, complex, tuple[tuple[str, int], ...], Joint | None]]] = {}
        for first, second, unit, turns, joint in self._relations():
            ties.setdefault(first, []).append((second, unit, turns, joint))
            back = tuple((h, -sign) for h, sign in turns)
            ties.setdefault(second, []).append((first, unit.conjugate(), back, joint))
        outside = list(dict.fromkeys(b for b in ties if b not in self.inside))
        for root in [*outside, *self.bodies]:
            if root in self.orientations or (root in outside and not any(t[0] in self.inside for t in ties[root])):
                continue
            self._class(root, ties, external=root in outside)

    def _class(
        self,
        root: str,
        ties: dict[str, list[tuple[str, complex, tuple[tuple[str, int], ...], Joint | None]]],
        external: bool,
    ) -> None:
        members = {root: Orientation(1 + 0j)}
        queue = [root]
        while queue:
            body = queue.pop(0)
            for other, unit, turns, _ in ties.get(body, []):
                if other not in self.inside or other in members or other in self.orientations:
                    continue
                here = members[body]
                members[other] = Orientation(here.unit * unit, _merge(here.turns, turns))
                queue.append(other)
        if external and len(members) == 1:
            return
        found = Class(len(self.classes), root, root if external else None)
        for body, orientation in members.items():
            if body in self.inside:
                self.orientations[body] = orientation
                self.class_of[body] = found
        for j in self.joints:
            if found.axis is None and j.kind in ("P", "slot") and j.first in members and not members[j.first].turns:
                found.axis, found.slide = members[j.first].unit * local(j.axis_a), j.name
        self.classes.append(found)
        for j in self.joints:
            for body in j.bodies if j.kind in ("gear", "rack") else ():
                if self.class_of.get(body) is found and not external:
                    found.needs_angle = True

    # ---- clusters -------------------------------------------------------------------------------------------------
    def driver_of(self, joint: Joint) -> Driver | None:
        """Return the driver that fixes what the joint leaves free, where there is one."""
        if joint.kind == "R":
            return self.turn.get(frozenset((joint.first, joint.second)))
        return self.shift.get(joint.name) if joint.kind in ("P",) else None

    def _gather(self) -> None:
        driven = [j for j in self.joints if {j.first, j.second} <= self.inside and self.driver_of(j) is not None]
        for root in self.bodies:
            if root in self.cluster_of:
                continue
            cluster = Cluster(len(self.clusters), self.class_of[root], {root: ()})
            self.clusters.append(cluster)
            queue = [root]
            while queue:
                body = queue.pop(0)
                self.cluster_of[body] = cluster
                for j in driven:
                    if body not in (j.first, j.second):
                        continue
                    other = j.second if body == j.first else j.first
                    if other not in cluster.origins:
                        step = self._step(j)
                        cluster.origins[other] = add(cluster.origins[body], step if body == j.first else negative(step))
                        queue.append(other)

    def _step(self, j: Joint) -> Vector:
        """Return origin of second minus origin of first, across a driven joint."""
        a, b = self.orientations[j.first], self.orientations[j.second]
        way = add(a.vector(local(j.a), "from", j.name), negative(b.vector(local(j.b), "to", j.name)))
        if j.kind == "P":
            (axis,) = a.vector(local(j.axis_a), "slide", j.name)
            way = add(way, (replace(axis, slide=self.symbol[self.shift[j.name].name]),))
        return way

    def place(self, body: str, point: complex, *origin: str) -> Vector:
        """Return a point of a body in the frame of its class, from the origin of its cluster."""
        return add(self.cluster_of[body].origins[body], self.orientations[body].vector(point, *origin, body))

    def pin_at(self, point: str | None, body: str) -> str | None:
        """Return the key of the pin that a body of the group has at a point of the mechanism."""
        return next((k for k, p in self.pins.items() if p.point == point and body in p.seats), None) if point else None

    # ---- pins -----------------------------------------------------------------------------------------------------
    def _pin(self) -> None:
        for j in self.joints:
            if j.kind == "R" and j.at is not None:
                ends = ((j.first, local(j.a)), (j.second, local(j.b)))
                mine = {b: p for b, p in ends if b in self.inside}
                known = next((end for end in ends if end[0] not in self.inside), None)
                # each joint to what is known has a pin of its own, however many stand at one point; names of the
                # user have no line feeds, so that keys with one are no names of points
                key = f"{j.at}\n{next(iter(mine))}" if known else j.at
                pin = self.pins.setdefault(key, LayoutPin(key, {}, known, point=j.at))
                for body, point in mine.items():
                    pin.places.setdefault(self.cluster_of[body].index, self.place(body, point, "pin", key))
                    pin.seats[body] = point
            elif j.kind == "P" and j.first not in self.inside and j.name in self.shift:
                pin = LayoutPin(f"slide\n{j.name}", {}, slide=(j, self.symbol[self.shift[j.name].name]))
                pin.places[self.cluster_of[j.second].index] = self.place(j.second, local(j.b), "pin", pin.key)
                pin.seats[j.second] = local(j.b)
                self.pins[pin.key] = pin
        for j in self.joints:  # a body without pins is held by a point of its own
            for body, point in ((j.second, local(j.b)), (j.first, local(j.a))):
                if body not in self.inside or j.kind not in ("P", "slot", "rack", "cam"):
                    continue
                cluster = self.cluster_of[body].index
                if not any(cluster in p.places for p in self.pins.values()):
                    key = f"point\n{body}"
                    self.pins[key] = LayoutPin(key, {cluster: self.place(body, point, "pin", key)}, seats={body: point})

    # ---- search ---------------------------------------------------------------------------------------------------
    def _fixed_twice(self) -> int:
        """Return how many orientations are fixed once more by a loop of slides: directions are written only once."""
        ties = [{b if b in self.inside else "" for b in pair[:2]} for pair in self._relations()]
        parts = {frozenset((x,)) for tie in ties for x in tie}
        loops = 0
        for tie in ties:
            met = {p for p in parts if p & tie}
            loops += len(met) == 1
            parts = (parts - met) | {frozenset().union(*met)}
        return loops

    def choose(self, excess: int) -> Choice:
        """Return the choice with the fewest unknowns that its equations match; a redundant group has `excess` more."""
        excess -= self._fixed_twice()
        open_pins = [k for k, p in self.pins.items() if not p.known and p.places]
        open_classes = [c.index for c in self.classes if c.external is None and not c.needs_angle]
        tried = 0
        for total in range(len(open_pins) + len(open_classes) + 1):
            best: tuple[tuple[int, ...], Choice] | None = None
            for n in range(min(total, len(open_classes)) + 1):
                for vectors in itertools.combinations(open_classes, n):
                    for free in itertools.combinations(open_pins, total - n):
                        tried += 1
                        if tried > LIMIT:
                            return self._fallback(open_classes, open_pins, excess)
                        found = self.attempt(frozenset(vectors), free)
                        if found is None or self._balance(found) != excess:
                            continue
                        cost = (self.unknowns(found), len(found.closures), len(found.derived), n)
                        if best is None or cost < best[0]:
                            best = cost, found
            if best is not None:
                return best[1]
        raise InputError(
            f"the group of {', '.join(self.bodies)} cannot be written down in points and directions - "
            "its prismatic joints fix an orientation twice, or a body hangs on nothing; "
            "replace one prismatic joint by a revolute"
        )

    def _fallback(self, classes: Sequence[int], pins: Sequence[str], excess: int) -> Choice:
        """Return one unit vector per class and as few free points as place every cluster."""
        for n in range(len(pins) + 1):
            for free in itertools.islice(itertools.combinations(pins, n), LIMIT):
                found = self.attempt(frozenset(classes), free)
                if found is not None and self._balance(found) == excess:
                    return found
        raise InputError(f"the group of {', '.join(self.bodies)} is too large to be written down")

    def unknowns(self, choice: Choice) -> int:
        sizes = {"vector": 2, "angle": 1}
        contacts = sum(j.kind == "cam" for j in self.joints)  # each has its place along the outline
        return contacts + 2 * len(choice.free) + sum(sizes.get(d.kind, 0) for d in choice.directions)

    @property
    def extra_equations(self) -> int:
        """Equations besides lengths, unit vectors and closures."""
        count = 0
        for j in self.joints:
            if j.kind == "P" and j.name not in self.shift:
                count += 1
            elif j.kind == "slot":
                count += 2 if j.name in self.shift else 1
            elif j.kind in ("gear", "rack", "cam"):
                count += 2 if j.kind == "cam" else 1
        return count + sum(1 for d in self.drivers if d.ends is not None)

    def _balance(self, choice: Choice) -> int:
        lengths = sum(1 for d in choice.directions if d.kind in ("pair", "vector"))
        return lengths + 2 * len(choice.closures) + self.extra_equations - self.unknowns(choice)

    def attempt(self, vectors: frozenset[int], free: tuple[str, ...]) -> Choice | None:
        """Follow what a choice makes known; None where a cluster stays without place."""
        known = {k for k, p in self.pins.items() if p.known} | set(free)
        primary = set(known)
        directions: dict[int, Direction] = {}
        for c in self.classes:
            if c.external is not None:
                directions[c.index] = Direction("external")
            elif c.needs_angle:
                directions[c.index] = Direction("angle")
            elif c.index in vectors:
                directions[c.index] = Direction("vector")
        anchors: dict[int, str] = {}
        derived: list[tuple[int, str]] = []
        order: list[tuple[int, str]] = []
        closures: list[tuple[int, str]] = []
        moved = True
        while moved:
            moved = False
            for cluster in self.clusters:
                if cluster.index in anchors:
                    continue
                mine = [k for k, p in self.pins.items() if cluster.index in p.places and k in known]
                mine.sort(key=lambda k: k not in primary)
                pair: tuple[str, ...] = ()
                if cluster.group.index not in directions:
                    found = self._pair(cluster, mine)
                    if found is None:
                        continue
                    pair = found
                    directions[cluster.group.index] = Direction("pair", cluster.index, *pair)
                    order.append((cluster.group.index, ""))
                if not mine:
                    continue
                anchors[cluster.index] = pair[0] if pair else mine[0]
                moved = True
                for k, p in self.pins.items():
                    if cluster.index not in p.places or k == anchors[cluster.index] or k in pair:
                        continue
                    if k in known:
                        closures.append((cluster.index, k))
                    elif len(p.places) > 1:
                        known.add(k)
                        derived.append((cluster.index, k))
                        order.append((cluster.index, k))
        if len(anchors) < len(self.clusters):
            return None
        return Choice(
            tuple(free),
            tuple(directions[c.index] for c in self.classes),
            tuple(anchors[c.index] for c in self.clusters),
            tuple(derived),
            tuple(order),
            tuple(closures),
        )

    def _pair(self, cluster: Cluster, pins: Sequence[str]) -> tuple[str, str] | None:
        """Return the first two known pins of a cluster that lie apart."""
        for first, second in itertools.combinations(pins, 2):
            way = add(self.pins[second].places[cluster.index], negative(self.pins[first].places[cluster.index]))
            fixed = constant(way)
            if fixed is None or abs(fixed) > 1e-9 * self.model.size:
                return first, second
        return None


def _merge(a: tuple[tuple[str, int], ...], b: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    total: dict[str, int] = {}
    for h, sign in (*a, *b):
        total[h] = total.get(h, 0) + sign
    return tuple((h, s) for h, s in total.items() if s)
