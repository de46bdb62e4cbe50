"""Random mechanisms that can be assembled: points are placed at random first, and all lengths measured from them.

A topology is written as a row of joints: `0R1 1R2 2P0` is a dyad of two bodies, 0 is any body that is solved before.
`!` drives a joint, `@p` puts several joints on one pin, `1gear2:0` is a gear with its carrier, `1~3` a driven distance
between points of two bodies, `1^3` a driven turn of one body relative to another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assurgent.common.errors import AssurgentError
from assurgent.facade import Mechanism
from assurgent.mechanism.absolute import Absolute
from assurgent.mechanism.model import Array, Model
from assurgent.mechanism.structure import analyse

DYADS = {
    "RRR": "0R1 1R2 2R0",
    "RRP": "0R1 1R2 0P2",
    "RPR": "0R1 1P2 2R0",
    "PRP": "0P1 1R2 0P2",
    "RPP": "0R1 1P2 0P2",
}
TRIAD = {"6R": "1R2 1R3 1R4 2R0 3R0 4R0"}
# Of each line one new type is derived at most; those that stand in the library cost nothing.
PLANAR_GROUPS = {
    "slot, line outside": "0R1 0slot1",
    "slot, line on the body": "0R1 1slot0",
    "two slots and a slide": "0P1 0slot1",
    "dyad with a slot": "0R1 1R2 2slot0 0slot2",
    "triad with one slide": "1R2 1R3 1R4 2R0 3R0 0P4",
    "triad with three slides": "1R2 1R3 1R4 0P2 0P3 0P4",
    "triad with a slide inside": "1R2 1R3 1P4 2R0 3R0 4R0",
    "six bodies, a double pin": "1R2 2R3 3R4 4R1@a 1R5@a 2R6 5R0 6R0 3R0",
    "closed loop of four": "1R3 3R2 2R4 4R1 1R0 2R0",
    "closed loop with slides": "1R3 3R2 2P4 4R1 1R0 2R0",
    "six bodies, two ternary": "1R2 1R3 1R4 2R5 2R6 3R0 4R0 5R0 6R0",
    "six bodies, a loop inside": "1R2 2R3 3R4 4R1 1R5 2R6 5R0 6R0 3R0",
    "five bodies, one slot": "1R2 1R3 1R4 2R0 3R0 4R5 5R0 3slot5",
    "rod driven on its crank": "0R1 1R2! 2R3 3R0",
    "cylinder": "0R1 1P2! 2R3 3R0",
    "slide driven inside a triad": "1R2 1R3 1R4 2R0 3R0 4P5! 5R0",
    "driven pin in a slot": "0R1 1R2 2slot0!",
    "distance to the coupler": "0R1 1R2 2R3 3R0 2~0",
    "distance across the loop": "0R1 1R2 2R3 3R0 1~3",
    "turn of the coupler": "0R1 1R2 2R3 3R0 0^2",
    "wheel on a wheel": "0R1 0gear1:0",
    "planet": "0R1 1gear0:0",
    "geared loop": "0R1 1R2 2R3 3R0 1gear3:0",
    "pinion and rack": "0R1 1rack0",
    "geared loop of five": "0R1 1R2 2R3 3R4 4R0 1gear4:0 2^3",
}
# Pinions and wheels anywhere, on guides that move, of either sign: whatever depends on whole turns.
TURNING_GROUPS = {
    "pinion on a known rack": "0R1 1rack0",
    "rack on a moving guide": "0P1 0rack1",
    "wheel on a wheel": "0R1 0gear1:0",
    "planet": "0R1 1gear0:0",
    "geared loop": "0R1 1R2 2R3 3R0 1gear3:0",
    "rack on a coupler": "0R1 1R2 2P3 3R0 1rack3",
    "wheel on a turned body": "0R1 1R2 2R3 3R4 4R0 2gear4:0 0^2",
    "wheel on a driven body": "0R1 1R2! 2R3 3R4 4R0 2gear4:0",
    "rack on a driven body": "0R1 1R2! 2R3 3P4 4R0 2rack4",
}
SPATIAL_GROUPS = {
    "RSSR": "0S1 1S2 0R2",
    "RSSP": "0S1 1S2 0P2",
    "RSSH": "0S1 1S2 0H2",
    "RSUR": "0S1 1U2 0R2",
    "RUSP": "0U1 1S2 0P2",
    "RCCC": "0C1 1C2 0C2",
    "RSCR": "0S1 1C2 0R2",
    "platform on six rods": "0S1 0S2 0S3 0S4 0S5 0S6 1S7 2S7 3S7 4S7 5S7 6S7",
    "six driven distances": "0~1 0~1 0~1 0~1 0~1 0~1",
    "plane on a cylinder": "0C1 1planar2 0R2",
    "ball and three distances": "0S1 0~1 0~1 0~1",
    "two cylinders": "0C1 1S2 0C2 2~0",
}
_JOINT = re.compile(r"(\d)(planar|slot|gear|rack|[RPSCUH~^])(\d)(!?)(?:@(\w))?(?::(\d))?")


@dataclass(frozen=True)
class Sample:
    """A random mechanism: its description, its model, where its points lie exactly, and whether the sketch is exact."""

    kind: str
    mechanism: Mechanism
    model: Model
    exact: dict[str, Array]
    perturbed: bool


class Draft:
    """A mechanism under construction; every body's points lie where they are in the assembled first configuration."""

    def __init__(self, rng: np.random.Generator, space: str, whole_turns: bool = False) -> None:
        self.turns = np.random.default_rng(int(rng.integers(1 << 30))) if whole_turns else None
        self.rng, self.space, self.d = rng, space, 2 if space == "planar" else 3
        self.places: dict[str, Array] = {}
        self.points: dict[str, list[str]] = {"frame": []}
        self.known = ["frame"]
        self.moving: list[str] = []
        self.joints: list[tuple[str, str, list[str], dict[str, object]]] = []
        self.drivers: list[tuple[dict[str, object], str, tuple[str, str]]] = []

    # ---- parts ------------------------------------------------------------------------------------------------------
    def unit(self) -> Array:
        v = self.rng.normal(size=self.d)
        return np.asarray(v / np.linalg.norm(v))

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def point(self, bodies: Sequence[str], place: Array | None = None) -> str:
        name = f"p{len(self.places)}"
        self.places[name] = self.rng.uniform(0, 6, self.d) if place is None else place
        for body in bodies:
            self.points[body].append(name)
        return name

    def body(self) -> str:
        name = f"b{len(self.points)}"
        self.points[name] = []
        return name

    def joint(self, kind: str, first: str, second: str, pin: str | None = None, share: bool = True) -> str:
        """Add a joint at a new point, at `pin`, or (now and then) at a point that the solved body has already."""
        if kind in ("R", "S", "U"):
            solved = [b for b in (first, second) if b in self.known]
            if pin is None and share and solved and self.points[solved[0]] and kind != "U" and self.chance(0.3):
                free = [p for p in self.points[solved[0]] if self._can_share(p, kind)]
                pin = str(self.rng.choice(free)) if free else None
            if pin is None:
                pin = self.point([])
            for b in (first, second):
                if pin not in self.points[b]:
                    self.points[b].append(pin)
        elif kind not in ("gear", "rack"):
            own = [p for p in self.points[second] if self._can_share(p, kind)]
            pin = str(self.rng.choice(own)) if own and self.chance(0.6) else self.point([second])
        fields: dict[str, object] = {} if kind in ("gear", "rack") else {"at": pin}
        self._fields(kind, first, fields)
        name = f"j{len(self.joints)}"
        pair = [first, second]
        if kind in ("R", "S") and self.chance(0.5):
            pair.reverse()
        self.joints.append((name, kind, pair, fields))
        return name

    def _can_share(self, point: str, kind: str) -> bool:
        """Return whether a further joint may stand at a point: not where a line's point or a guide's foot is."""
        kinds = {k for _, k, _, fields in self.joints if fields.get("at") == point}
        through = {fields.get("through") for _, _, _, fields in self.joints}
        return kinds <= {"R" if self.d == 2 else "S"} and point not in through and bool(kinds)

    def _fields(self, kind: str, first: str, fields: dict[str, object]) -> None:
        if kind in ("P", "slot", "C", "H") or (kind == "R" and self.d == 3):
            fields["axis"] = self.unit() * self.rng.uniform(0.5, 2)
        if kind in ("P", "slot", "C") and self.chance(0.5):
            axis = np.asarray(fields["axis"])
            fields["through"] = self.point([first], self.places[str(fields["at"])] + self.rng.uniform(-2, 2) * axis)
        if kind == "H":
            fields["pitch"] = self.rng.uniform(0.1, 0.6) * self.rng.choice([-1, 1])
        if kind == "planar":
            fields["normal"] = self.unit()
        if kind == "U":
            one = self.unit()
            fields["axes"] = [one, np.cross(one, self.unit())]
        if kind == "gear":
            fields["ratio"] = self.rng.uniform(0.4, 2.5) * self.rng.choice([-1, 1])
        if kind == "rack":
            fields.update(radius=self.rng.uniform(0.3, 1.5) * self.rng.choice([-1, 1]), axis=self.unit())

    def drive(self, kind: str, fields: dict[str, object], bodies: tuple[str, str] = ("", "")) -> None:
        self.drivers.append((fields, kind, bodies))

    # ---- bodies driven from the frame, and groups -------------------------------------------------------------------
    def primary(self, kind: str) -> None:
        """Add a body driven on the frame (or on another driven body)."""
        base = "frame" if not self.moving or self.chance(0.7) else str(self.rng.choice(self.moving))
        body = self.body()
        if kind == "P":
            self.point([body])
        pair = (base, body) if kind == "R" or self.chance(0.5) else (body, base)
        name = self.joint(kind, *pair, share=False)  # on a pin of its base it would hang on two bodies
        self.point([body])
        self.drive("angle" if kind != "P" else "displacement", {"joint": name})
        self.known.append(body)
        self.moving.append(body)

    def group(self, topology: str) -> tuple[str, ...]:
        """Add a group; its outside bodies are drawn from those that are solved, at least one of them moving."""
        parts = [_JOINT.fullmatch(text) for text in topology.split()]
        found = [m.groups() for m in parts if m is not None]
        assert len(found) == len(topology.split()), topology
        numbers = sorted({n for m in found for n in (m[0], m[2]) if n != "0"})
        bodies = {n: self.body() for n in numbers}
        outside = self._outside(sum((m[0] == "0") + (m[2] == "0") for m in found))
        pins: dict[str, str] = {}
        last = "frame"
        for one, kind, two, driven, at, carrier in found:
            first = bodies[one] if one != "0" else next(outside)
            second = bodies[two] if two != "0" else next(outside)
            if kind == "~":
                ends = [self.point([b]) for b in (first, second)]
                self.drive("distance", {"between": ends})
            elif kind == "^":
                self.drive("turn", {"bodies": [first, second]}, (first, second))
            else:
                if kind == "P" and topology in DYADS.values() and self.chance(0.5):
                    first, second = second, first  # a slide looks the same from both of its bodies
                name = self.joint(kind, first, second, pins.get(at or ""))
                if at:
                    pins[at] = str(self.joints[-1][3]["at"])
                if kind == "gear":  # the carrier holds the two wheels' pivots in practice; any solved body will do
                    self.joints[-1][3]["carrier"] = last if carrier == "0" else bodies[carrier]
                if driven:
                    self.drive("angle" if kind in ("R", "H") else "displacement", {"joint": name})
            if kind == "R" and "0" in (one, two):
                last = first if one == "0" else second
        for b in bodies.values():
            if self.chance(0.3) or not self.points[b]:
                self.point([b])
        self.known += bodies.values()
        self.moving += bodies.values()
        return tuple(bodies.values())

    def _outside(self, n: int) -> Iterator[str]:
        drawn = [str(self.rng.choice(self.known)) for _ in range(n)]
        if n and not set(drawn) & set(self.moving):
            drawn[int(self.rng.integers(n))] = self.moving[-1]
        if n > 1 and len(set(drawn)) == 1:
            drawn[int(self.rng.integers(n))] = "frame"
        return iter(drawn)

    # ---- the finished mechanism -------------------------------------------------------------------------------------
    def finish(self, kind: str, noise: float) -> Sample:
        """Return the mechanism with its sketch exact (noise 0) or off by a share of the size."""
        rng, m = self.rng, Mechanism(kind, self.space)
        angle = {}
        for body, names in self.points.items():
            angle[body] = self._declare(m, body, names, exact=noise == 0)
        size = float(np.ptp(list(self.places.values()), axis=0).max())
        for name, place in self.places.items():
            loose = name not in self.points["frame"]
            m.point(name, place + (noise * size * rng.normal(size=self.d) if loose else 0))
        for name, type_, bodies, fields in self.joints:
            m.joint(name, type_, bodies, **fields)
        for k, (fields, sort, pair) in enumerate(self.drivers):
            value = self._value(fields, sort, pair, angle)
            if self.turns is not None and sort in ("angle", "turn"):  # a driver may begin any whole turns away
                value += 2 * np.pi * int(self.turns.integers(-2, 3))
            way = float(rng.uniform(0.2, 0.5) * rng.choice([-1, 1]))
            motion = f"{value!r} + {way!r}*sin({rng.uniform(0.4, 0.9)!r}*t)"
            key = "angle" if sort == "turn" else sort
            m.driver(f"d{k}", **fields, **{key: motion})
        m.simulation = {"start": 0, "stop": 1, "step": 0.125}
        return Sample(kind, m, m.model(), self.places, noise > 0)

    def _declare(self, m: Mechanism, body: str, names: list[str], exact: bool) -> float:
        """Add a body; return the angle of its axes (planar)."""
        places = [self.places[p] for p in names]
        if body == "frame" or len(names) == 1:
            m.body(body, names)
            return 0.0
        angle = float(np.arctan2(*(places[1] - places[0])[1::-1]))
        if exact and self.chance(0.5):
            m.body(body, names)
        elif len(names) == 2 and self.chance(0.8):
            m.body(body, names, length=float(np.linalg.norm(places[1] - places[0])))
        else:
            angle, origin = float(self.rng.uniform(-3, 3)), self.rng.uniform(0, 6, self.d)
            turn = np.eye(self.d)
            turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
            m.body(body, names, local={p: turn.T @ (x - origin) for p, x in zip(names, places, strict=True)})
        return angle

    def _value(self, fields: dict[str, object], sort: str, pair: tuple[str, str], angle: dict[str, float]) -> float:
        """Return the value that a driver has in the exact configuration."""
        if sort == "distance":
            P, Q = (self.places[p] for p in fields["between"])  # type: ignore[attr-defined]
            return float(np.linalg.norm(Q - P))
        if sort == "turn":
            return angle[pair[1]] - angle[pair[0]]
        _, _, (first, second), joint = self.joints[int(str(fields["joint"])[1:])]
        if sort == "angle":
            return angle[second] - angle[first] if self.d == 2 else 0.0
        axis, foot = np.asarray(joint["axis"]), self.places[str(joint.get("through", joint["at"]))]
        return float((self.places[str(joint["at"])] - foot) @ axis / np.linalg.norm(axis))


def spread(model: Model) -> float:
    """Return the least singular value of the scaled Jacobian in the sketch, as a share of the largest."""
    system = Absolute(model)
    J = system.jacobian(system.first()) / system.row_scale[:, None] * system.column_scale
    s = np.linalg.svd(J, compute_uv=False)
    return float(s[-1] / s[0]) if J.shape[0] == J.shape[1] else 0.0


def draw(
    seed: int,
    kind: str,
    topologies: Sequence[str],
    space: str = "planar",
    noise: float = 0.0,
    whole_turns: bool = False,
) -> Sample:
    """Return a mechanism of one or two driven bodies and the given groups in order, not near to a singular pose."""
    for attempt in range(200):
        rng = np.random.default_rng([seed, attempt])
        draft = Draft(rng, space, whole_turns)
        for _ in range(int(rng.integers(1, 3))):
            draft.primary("R" if rng.random() < 0.7 else "P")
        groups = [set(draft.group(t)) for t in topologies]
        state = rng.bit_generator.state
        try:
            exact = draft.finish(kind, 0.0)
        except AssurgentError:
            continue  # such as two points that the format does not allow to share
        if spread(exact.model) < 0.01 or not _determined(exact.model, groups):
            continue
        rng.bit_generator.state = state
        return draft.finish(kind, noise) if noise else exact
    raise AssertionError(f"seed {seed}, {kind}: no mechanism found")


def _determined(model: Model, groups: Sequence[set[str]]) -> bool:
    """Return whether the mechanism is well constrained and each group of it a simple structural group."""
    structure = analyse(model)
    if structure.free or structure.redundant:
        return False
    return all(any(set(g.bodies) == group for g in structure.groups) for group in groups)
