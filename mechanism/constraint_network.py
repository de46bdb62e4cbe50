"""The mechanism as the structural analysis counts it: nodes with freedoms, and units that take them.

Nodes are the movable bodies and the pins at which three or more things meet; a pin entered as pairs of bodies would
make the groups depend on which pairs the user happened to write. The frame is no node: what is tied to it is fixed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from ..common.graphs import DisjointSets
from .matching import Incidence
from .model import FRAME, Driver, Joint, Model

ROWS: Mapping[str, Mapping[str, int]] = {
    "planar": {"R": 2, "P": 2, "slot": 1, "gear": 1, "rack": 1, "cam": 1},
    "spatial": {
        "R": 5,
        "P": 5,
        "S": 3,
        "C": 4,
        "U": 4,
        "H": 5,
        "planar": 3,
        "on-plane": 1,
        "on-cylinder": 1,
        "gear": 1,
    },
}


def rows(model: Model, joint: Joint) -> int:
    """Return how many freedoms the joint takes."""
    return ROWS[model.space][joint.kind]


def freedoms(model: Model, body: str) -> int:
    """Return how many freedoms the body has on its own: 3 in the plane, 6 in space, 5 without its spin."""
    if model.space == "planar":
        return 3
    return 5 if model.bodies[body].rod else 6


@dataclass(frozen=True)
class Pin:
    """A point that is common to several bodies: its name, the bodies (sorted) and the joints that say so (sorted)."""

    point: str
    bodies: tuple[str, ...]
    joints: tuple[str, ...]


@dataclass(frozen=True)
class Unit:
    """A joint, a driver, or a body's share in a pin: what it is, how many freedoms it takes, and of which nodes."""

    sort: str  # "joint" | "driver" | "pin"
    name: str  # of the joint or driver; of the pin's point
    rows: int
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class Network:
    """Nodes (bodies first, then pins) and units of a mechanism."""

    bodies: tuple[str, ...]
    pins: tuple[Pin, ...]  # those that are nodes
    shared: tuple[Pin, ...]  # all points where bodies are pinned together, nodes or not
    incidence: Incidence
    units: tuple[Unit, ...]

    def name(self, node: int) -> str:
        """Return the body's name, or the name of the pin's point."""
        return self.bodies[node] if node < len(self.bodies) else self.pins[node - len(self.bodies)].point


def find_pins(model: Model) -> tuple[Pin, ...]:
    """Return the points at which bodies are pinned together, sorted by name: one pin per point and connected set."""
    kind = "R" if model.space == "planar" else "S"
    at: dict[str, list[Joint]] = {}
    for joint in model.joints.values():
        if joint.kind == kind and joint.at is not None:
            at.setdefault(joint.at, []).append(joint)
    pins = []
    for point, joints in at.items():
        sets: list[tuple[set[str], list[str]]] = []
        for joint in joints:
            bodies, names = {joint.first, joint.second}, [joint.name]
            apart = []
            for other in sets:
                if other[0] & bodies:
                    bodies |= other[0]
                    names += other[1]
                else:
                    apart.append(other)
            sets = [*apart, (bodies, names)]
        pins += [Pin(point, tuple(sorted(bodies)), tuple(sorted(names))) for bodies, names in sets]
    return tuple(sorted(pins, key=lambda pin: (pin.point, pin.bodies)))


def pin_of(pins: Mapping[tuple[str, str], Pin], driver: Driver, end: int) -> Pin | None:
    """Return the pin at one end of a distance, if there is one; `pins` by point and body."""
    if driver.points is None:
        return None
    return pins.get((driver.points[end], driver.bodies[end]))


def by_place(pins: tuple[Pin, ...]) -> dict[tuple[str, str], Pin]:
    """Return the pins by point and body."""
    return {(pin.point, body): pin for pin in pins for body in pin.bodies}


def build(model: Model, dropped: Mapping[str, int], ignored: frozenset[str] = frozenset()) -> Network:
    """Return nodes and units; `dropped` rows of joints are left out, and so are the `ignored` drivers."""
    bodies = tuple(sorted(model.movable))
    shared = find_pins(model)
    place = by_place(shared)
    ends: dict[Pin, int] = {}
    for driver in model.drivers.values():
        for end in (0, 1) if driver.ends is not None else ():
            pin = pin_of(place, driver, end)
            if pin is not None:
                ends[pin] = ends.get(pin, 0) + 1
    nodes = tuple(p for p in shared if FRAME not in p.bodies and len(p.bodies) + ends.get(p, 0) >= 3)
    number = {body: k for k, body in enumerate(bodies)}
    pin_number = {pin: len(bodies) + k for k, pin in enumerate(nodes)}
    together = {p for p in shared if p in pin_number or len(p.bodies) >= 3}
    taken = {joint for pin in together for joint in pin.joints}
    units = [
        Unit("joint", name, max(0, rows(model, joint) - dropped.get(name, 0)), _numbers(number, joint.bodies))
        for name, joint in sorted(model.joints.items())
        if name not in taken
    ]
    for pin in shared:
        if pin in together:
            less = _less(model, pin, dropped)
            onto = (pin_number[pin],) if pin in pin_number else ()
            units += [
                Unit("pin", pin.point, max(0, model.dimension - less.get(body, 0)), (number[body], *onto))
                for body in pin.bodies
                if body != FRAME
            ]
    for name, driver in sorted(model.drivers.items()):
        if name in ignored:
            continue
        touched: set[int] = set()
        for end in (0, 1):
            pin = pin_of(place, driver, end) if driver.ends is not None else None
            if pin is not None and pin in pin_number:
                touched.add(pin_number[pin])
            elif driver.bodies[end] in number and not (pin is not None and FRAME in pin.bodies):
                touched.add(number[driver.bodies[end]])
        units.append(Unit("driver", name, 1, tuple(sorted(touched))))
    capacity = [freedoms(model, body) for body in bodies] + [model.dimension] * len(nodes)
    incidence = Incidence(tuple(capacity), tuple(u.rows for u in units), tuple(u.nodes for u in units))
    return Network(bodies, nodes, shared, incidence, tuple(units))


def _numbers(number: Mapping[str, int], bodies: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(sorted({number[b] for b in bodies if b in number}))


def _less(model: Model, pin: Pin, dropped: Mapping[str, int]) -> dict[str, int]:
    """Return by how much the bodies' shares in a pin are lowered where rows of its joints are dropped.

    Joints beyond those that a tree needs say again what the pin says already; rows dropped there count for nothing.
    Of any other joint the body that hangs on fewer joints of this pin gives them up.
    """
    surplus = model.dimension * (len(pin.joints) - len(pin.bodies) + 1)
    met = [b for name in pin.joints for b in (model.joints[name].first, model.joints[name].second)]
    less: dict[str, int] = {}
    for name in pin.joints:
        lost = dropped.get(name, 0)
        forgiven = min(lost, surplus)
        surplus -= forgiven
        if lost > forgiven:
            joint = model.joints[name]
            body = min((joint.second, joint.first), key=lambda b: (b == FRAME, met.count(b)))
            less[body] = less.get(body, 0) + lost - forgiven
    return less


@dataclass(frozen=True)
class Loop:
    """Sliding joints and drivers of angles that hold the angles around a loop; `closing` holds what is held already."""

    closing: str
    driver: bool  # whether `closing` is a driver, not a joint
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    drivers: tuple[str, ...]


def turning_loops(model: Model) -> tuple[Loop, ...]:
    """Return the loops of bodies around which every angle is held (planar).

    A sliding joint holds the angle between its bodies and a driver of an angle prescribes one: where they close a
    loop the last one says nothing new (two wedges; three sliding joints are no dyad). Loops keep the joints that are
    driven or nearer to the frame, so that bodies can be solved from there outwards.
    """
    if model.space != "planar":
        return ()
    distance = _distance_from_frame(model)
    driven = {driver.joint for driver in model.drivers.values()}
    far = len(model.bodies)
    sliding = [j for j in model.joints.values() if j.kind == "P"]
    sliding.sort(key=lambda j: (j.name not in driven, min(distance.get(b, far) for b in j.bodies), j.name))
    turned = [driver for _, driver in sorted(model.drivers.items()) if driver.kind in ("angle", "turn")]
    holds = [(j.name, False, j.first, j.second) for j in sliding] + [(d.name, True, *d.bodies) for d in turned]
    beside: dict[str, list[tuple[str, str, bool]]] = {body: [] for body in model.bodies}
    joined = DisjointSets(model.bodies)
    loops = []
    for name, driver, first, second in holds:
        if not joined.join(first, second):
            bodies, path = _path(beside, first, second)
            path = [*path, (name, driver)]
            joints, drivers = (tuple(sorted(n for n, kind in path if kind is d)) for d in (False, True))
            loops.append(Loop(name, driver, tuple(sorted(set(bodies) - {FRAME})), joints, drivers))
        else:
            beside[first].append((second, name, driver))
            beside[second].append((first, name, driver))
    return tuple(loops)


def _path(
    beside: Mapping[str, list[tuple[str, str, bool]]], first: str, last: str
) -> tuple[list[str], list[tuple[str, bool]]]:
    """Return the bodies, and the joints and drivers between them, on the way from one body to another in a forest."""
    came: dict[str, tuple[str, str, bool]] = {first: (first, "", False)}
    queue = deque([first])
    while last not in came:
        body = queue.popleft()
        for other, name, driver in beside[body]:
            if other not in came:
                came[other] = (body, name, driver)
                queue.append(other)
    bodies, ties = [last], []
    while bodies[-1] != first:
        body, name, driver = came[bodies[-1]]
        bodies.append(body)
        ties.append((name, driver))
    return bodies, ties


def _distance_from_frame(model: Model) -> dict[str, int]:
    """Return the number of joints between each body and the frame."""
    beside: dict[str, list[str]] = {body: [] for body in model.bodies}
    for joint in model.joints.values():
        for body in joint.bodies:
            beside[body] += [other for other in joint.bodies if other != body]
    distance, queue = {FRAME: 0}, deque([FRAME])
    while queue:
        body = queue.popleft()
        for other in beside[body]:
            if other not in distance:
                distance[other] = distance[body] + 1
                queue.append(other)
    return distance
