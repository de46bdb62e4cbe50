"""The oracle's own reading of a mechanism file: bodies in absolute coordinates and rows for their joints and drivers.

Lengths are counted from the first point of the frame, in sizes of the mechanism, so that neither place nor scale
costs digits.
"""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import planar_rows as pr
from . import spatial_rows as sr
from .formulas import Tapes, evaluate

Array = NDArray[np.float64]
REALS = 12


@dataclass
class Problem:
    """A mechanism in absolute coordinates."""

    data: dict[str, Any]
    folder: Path
    space: int
    tapes: Tapes
    origin: Array = field(default_factory=lambda: np.zeros(0))
    size: float = 1.0
    names: list[str] = field(default_factory=list)  # of the bodies; the frame is 0
    local: list[dict[str, Array]] = field(default_factory=list)
    poses: list[tuple[Array, Array]] = field(default_factory=list)  # origin, rotation in the first configuration
    ints: list[list[int]] = field(default_factory=list)
    reals: list[list[float]] = field(default_factory=list)
    owners: list[str] = field(default_factory=list)  # joint or driver of every row
    own: dict[str, int] = field(default_factory=dict)  # joint -> its own unknown
    first: list[float] = field(default_factory=list)  # first values of the own unknowns
    cams: list[Array] = field(default_factory=list)
    scales: list[float] = field(default_factory=list)
    offsets: list[float] = field(default_factory=list)
    rods: dict[str, tuple[str, str]] = field(default_factory=dict)  # left out: a distance between two points

    def model(self) -> tuple[Any, ...]:
        """Return what the kernels take."""
        cams = np.zeros((max(1, len(self.cams)), 2, max([1, *(c.shape[1] for c in self.cams)])))
        for k, c in enumerate(self.cams):
            cams[k, :, : c.shape[1]] = c
        return (
            self.space, len(self.names),
            np.array(self.ints, dtype=np.int64).reshape(-1, 5), np.array(self.reals).reshape(-1, REALS),
            cams, self.tapes.arrays(), np.array(self.scales), np.array(self.offsets),
        )  # fmt: skip

    def start(self) -> Array:
        """Return the configuration of the sketch."""
        parts = []
        for origin, R in self.poses:
            parts.append([*origin, math.atan2(R[1, 0], R[0, 0])] if self.space == 2 else [*origin, *R.ravel()])
        return np.array([x for part in parts for x in part] + self.first)

    def body(self, name: str) -> int:
        return self.names.index(name)

    def vector(self, value: Any) -> Array:
        return np.array([self.tapes.number(x) for x in value])

    def sketch(self, i: int, local: Array) -> Array:
        origin, R = self.poses[i]
        return origin + R @ local

    def inside(self, i: int, place: Array) -> Array:
        origin, R = self.poses[i]
        return np.asarray(R.T @ (place - origin))

    def turned_in(self, i: int, vector: Array) -> Array:
        return np.asarray(self.poses[i][1].T @ vector)

    def row(self, owner: str, kind: int, i: int, j: int, values: Any, k: int = -1, driver: int = -1) -> None:
        self.owners.append(owner)
        self.ints.append([kind, i, j, k, driver])
        self.reals.append([*(float(x) for x in values), *([0.0] * (REALS - len(values)))])

    def home(self, point: str) -> int:
        """Return the body on which a point is measured: not the guide that lists the point that slides along it."""
        guides = {
            j["bodies"][0]
            for j in self.data["joints"].values()
            if j.get("at") == point and j["type"] in ("P", "slot", "C", "H", "planar", "on-plane", "on-cylinder")
            and point in self.data["bodies"][j["bodies"][1]]["points"]
        }  # fmt: skip
        holders = [n for n, points in enumerate(self.local) if point in points]
        free = [n for n in holders if self.names[n] not in guides]
        return (free or holders)[0]


def read(path: Path) -> Problem:
    """Return the problem of a file."""
    data = tomllib.loads(path.read_text())
    return from_data(data, path.parent)


def from_data(data: dict[str, Any], folder: Path) -> Problem:
    """Return the problem of the tables of a file."""
    problem = Problem(data, folder, 2 if data["space"] == "planar" else 3, Tapes(data.get("parameters", {}), folder))
    drivers = data.get("drivers", {})
    for entry in drivers.values():
        value = next((entry[k] for k in ("angle", "displacement", "distance") if k in entry), None)
        problem.tapes.add(value if value is not None else {"table": entry["table"]})
    _bodies(problem)
    _rods(problem)
    for name, joint in data.get("joints", {}).items():
        if all(b in problem.names for b in joint["bodies"]):
            (_planar_joint if problem.space == 2 else _spatial_joint)(problem, name, joint)
    for number, (name, entry) in enumerate(drivers.items()):
        _driver(problem, number, name, entry)
    return problem


def _fit(local: Array, places: Array) -> tuple[Array, Array]:
    """Return origin and rotation that bring local coordinates nearest to their places (Procrustes)."""
    a, b = local.mean(0), places.mean(0)
    U, S, Vt = np.linalg.svd((places - b).T @ (local - a))
    d = np.ones(len(a))
    d[-1] = np.sign(np.linalg.det(U @ Vt))
    R = U @ np.diag(d) @ Vt
    if len(a) == 3 and S[1] < 1e-9 * S[0]:  # on one line: the spin nearest to the global axes
        R = _smallest(Vt[0], U[:, 0] * np.sign(S[0] + 1e-300))
    return b - R @ a, R


def _smallest(x: Array, y: Array) -> Array:
    """Return the smallest rotation that takes one unit vector of space to another."""
    w, c = np.cross(x, y), float(x @ y)
    if c < -1 + 1e-12:
        return _smallest(-x, y)
    K = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return np.asarray(np.eye(3) + K + K @ K / (1 + c))


def _bodies(p: Problem) -> None:
    data, d = p.data, p.space
    places = {name: p.vector(value) for name, value in data["points"].items()}
    frame = data["bodies"]["frame"].get("points", [])
    p.origin = places[frame[0]] if frame else np.zeros(d)
    spread = max((float(np.linalg.norm(x - p.origin)) for x in places.values()), default=0.0)
    p.size = spread or 1.0
    places = {name: (x - p.origin) / p.size for name, x in places.items()}
    locals_ = {
        name: {q: p.vector(x) / p.size for q, x in body["local"].items()}
        for name, body in data["bodies"].items() if "local" in body
    }  # fmt: skip
    fits = {}
    for name, local in locals_.items():
        known = [q for q in local if q in places]
        if len(known) == 1:
            fits[name] = (places[known[0]] - local[known[0]], np.eye(d))
        else:
            fits[name] = _fit(np.array([local[q] for q in known]), np.array([places[q] for q in known]))
    for name, local in locals_.items():
        for q, x in local.items():
            places.setdefault(q, fits[name][0] + fits[name][1] @ x)
    for name in ["frame", *(n for n in data["bodies"] if n != "frame")]:
        body = data["bodies"][name]
        points = body.get("points", [])
        p.names.append(name)
        if name == "frame":
            p.local.append({q: places[q] for q in points})
            p.poses.append((np.zeros(d), np.eye(d)))
        elif name in locals_:
            p.local.append(locals_[name])
            p.poses.append(fits[name])
        else:
            x = places[points[0]]
            R = np.eye(d)
            line = places[points[1]] - x if len(points) > 1 else np.zeros(d)
            if ("length" in body or (d == 2 and len(points) > 1)) and not np.any(line):
                raise ValueError(f"the first points of {name} lie at one place")
            if "length" in body:
                length, unit = p.tapes.number(body["length"]) / p.size, line / np.linalg.norm(line)
                x = (x + places[points[1]]) / 2 - unit * length / 2
                line = unit * length
            if d == 2 and len(points) > 1:
                c, s = line / np.linalg.norm(line)
                R = np.array([[c, -s], [s, c]])
            local = {q: R.T @ (places[q] - places[points[0]]) for q in points}
            if "length" in body:
                local = {points[0]: np.zeros(d), points[1]: R.T @ line}
            p.local.append(local)
            p.poses.append((x, R))


def _rods(p: Problem) -> None:
    """Replace bodies between two balls by the distance of their ends."""
    if p.space == 2:
        return
    for name in list(p.names[1:]):
        held = [j for j in p.data["joints"].values() if name in j["bodies"]]
        if len(held) == 2 and all(j["type"] == "S" for j in held):
            n = p.body(name)
            a, b = (j["at"] for j in held)
            length = float(np.linalg.norm(p.local[n][a] - p.local[n][b]))
            p.rods[name] = (a, b)
            del p.names[n], p.local[n], p.poses[n]
            i, j = (next(k for k, points in enumerate(p.local) if q in points) for q in (a, b))
            p.row(name, sr.DISTANCE, i, j, [*p.local[i][a], *p.local[j][b], length])


def _planar_joint(p: Problem, name: str, joint: dict[str, Any]) -> None:
    i, j = (p.body(b) for b in joint["bodies"])
    kind = joint["type"]
    phi = [math.atan2(R[1, 0], R[0, 0]) for _, R in p.poses]
    if kind == "R":
        for c in (0, 1):
            p.row(name, pr.PIN, i, j, [*p.local[i][joint["at"]], *p.local[j][joint["at"]], c])
    elif kind in ("P", "slot"):
        a, u, b = _guide(p, joint)
        p.row(name, pr.LINE, i, j, [*a, *b, -u[1], u[0]])
        if kind == "P":
            p.row(name, pr.LINE, i, j, [0, 0, 0, 0, 0, 0, -1, 1, 0, phi[i] - phi[j]])
    elif kind == "gear":
        ratio, k = _ratio(p, joint), p.body(joint.get("carrier", "frame"))
        factors = np.array([-ratio, 1.0, ratio - 1.0])
        zero = -float(factors @ [phi[i], phi[j], phi[k]])
        p.row(name, pr.LINE, i, j, [0, 0, 0, 0, 0, 0, *factors, zero], k)
    elif kind == "rack":
        r = p.tapes.number(joint["radius"]) / p.size
        u = p.turned_in(j, _unit(p.vector(joint["axis"])))
        a, centre = next(iter(p.local[j].values())), _centre(p, joint)
        along = float(p.poses[j][1] @ u @ (p.sketch(i, centre) - p.sketch(j, a)))
        p.row(name, pr.LINE, j, i, [*a, *centre, *u, -r, r, 0, -along - r * (phi[i] - phi[j])])
    elif kind == "cam":
        _cam(p, name, joint, i, j)
    elif kind == "weld":
        a, b = _welded(p, i, j)
        p.row(name, pr.LINE, i, j, [*a, *b, 1, 0])
        p.row(name, pr.LINE, i, j, [*a, *b, 0, 1])
        p.row(name, pr.LINE, i, j, [0, 0, 0, 0, 0, 0, -1, 1, 0, phi[i] - phi[j]])
    else:
        raise ValueError(f"the oracle has no planar joint {kind}")


def _welded(p: Problem, i: int, j: int) -> tuple[Array, Array]:
    """Return a place that two welded bodies hold in common: a point that both list, else one of the second's."""
    common = [q for q in p.local[i] if q in p.local[j]]
    if common:
        return p.local[i][common[0]], p.local[j][common[0]]
    b = next(iter(p.local[j].values()))
    return p.inside(i, p.sketch(j, b)), b


def _unit(x: Array) -> Array:
    return np.asarray(x / np.linalg.norm(x))


def _guide(p: Problem, joint: dict[str, Any], axis: str = "axis") -> tuple[Array, Array, Array]:
    """Return a place of the line and its direction on the first body, and the guided place on the second."""
    i, j = (p.body(b) for b in joint["bodies"])
    b = p.local[j][joint["at"]]
    a = p.local[i][joint["through"]] if "through" in joint else p.inside(i, p.sketch(j, b))
    return a, p.turned_in(i, _unit(p.vector(joint[axis]))), b


def _ratio(p: Problem, joint: dict[str, Any]) -> float:
    if "ratio" in joint:
        return p.tapes.number(joint["ratio"])
    first, second = (p.tapes.number(x) for x in joint["radii"])
    return first / second * (1 if joint.get("internal") else -1)


def _centre(p: Problem, joint: dict[str, Any]) -> Array:
    """Return the pinion's centre: its pin on a body that guides the rack, else its only pin, else its first point."""
    pinion, rack = joint["bodies"]
    pins = [j for j in p.data["joints"].values() if j["type"] == "R" and pinion in j["bodies"]]
    guides = {
        b for j in p.data["joints"].values() if j["type"] in ("P", "slot") and rack in j["bodies"] for b in j["bodies"]
    } - {rack}  # fmt: skip
    on_guide = [j["at"] for j in pins if set(j["bodies"]) & guides]
    local = p.local[p.body(pinion)]
    if on_guide:
        return local[on_guide[0]]
    return local[pins[0]["at"]] if len(pins) == 1 else next(iter(local.values()))


def _cam(p: Problem, name: str, joint: dict[str, Any], i: int, j: int) -> None:
    samples = Tapes(p.data.get("parameters", {}), p.folder)
    samples.add(re.sub(r"\bu\b", "t", joint["profile"]))
    arrays = samples.arrays()
    r = np.array([evaluate(*arrays, 0, 2 * math.pi * k / 256)[0] for k in range(256)]) / p.size
    c = np.fft.rfft(r) / 128
    c[0] /= 2
    last = int(np.flatnonzero(np.abs(c) > 1e-16 * abs(c[0]))[-1]) + 1 if np.any(c) else 1
    p.cams.append(np.array([c.real[:last], -c.imag[:last]]))
    follower, centre = joint["follower"], p.local[i][joint["centre"]]
    b = p.local[j][follower["point"]]
    arm = p.inside(i, p.sketch(j, b)) - centre
    k = p.own[name] = len(p.first)
    radius = p.tapes.number(follower.get("radius", 0)) / p.size
    common = [*centre, *b]
    if "direction" not in follower:
        p.first.append(math.atan2(arm[1], arm[0]))
        for component in (0, 1):
            p.row(name, pr.CAM, i, j, [*common, component, len(p.cams) - 1, radius], k)
        return
    face = p.turned_in(i, _unit(p.vector(follower["direction"])))
    u = np.linspace(-math.pi, math.pi, 721)
    curve = [pr.outline(p.cams[-1], 0.0, x) for x in u]
    gap = [abs(_across(face, x[0] - complex(*arm))) + abs(_across(face, x[3])) / abs(x[3]) for x in curve]
    p.first.append(float(u[int(np.argmin(gap))]))
    for component in (0, 1):
        direction = p.turned_in(j, p.poses[i][1] @ face)
        p.row(name, pr.FACE, i, j, [*common, component, len(p.cams) - 1, 0.0, *direction], k)


def _across(face: Array, z: complex) -> float:
    return float(face[0] * z.imag - face[1] * z.real)


def _spatial_joint(p: Problem, name: str, joint: dict[str, Any]) -> None:
    i, j = (p.body(b) for b in joint["bodies"])
    kind = joint["type"]

    def dots(pairs: list[tuple[Array, Array]]) -> None:
        for x, y in pairs:  # global vectors of the sketch, the first on i, the second on j
            p.row(name, sr.DOT, i, j, [*p.turned_in(i, x), *p.turned_in(j, y), 0])

    at = joint.get("at")
    if kind in ("R", "S", "U", "weld"):
        a, b = (p.local[i][at], p.local[j][at]) if at else _welded(p, i, j)
        for c in range(3):
            p.row(name, sr.POINT, i, j, [*a, *b, c])
    if kind == "U":
        dots([(_unit(p.vector(joint["axes"][0])), _unit(p.vector(joint["axes"][1])))])
        return
    if kind == "S":
        return
    if kind in ("on-plane", "on-cylinder"):
        a, axis, b = _guide(p, joint, "normal" if kind == "on-plane" else "axis")
        way = p.inside(i, p.sketch(j, b)) - a
        radius = p.tapes.number(joint["radius"]) / p.size if "radius" in joint else np.linalg.norm(np.cross(way, axis))
        p.row(name, sr.LINE if kind == "on-plane" else sr.CYLINDER, i, j, [*a, *b, *axis, radius])
        return
    if kind == "gear":
        carrier, turns = p.body(joint.get("carrier", "frame")), []
        for wheel, given in zip((i, j), joint["axes"], strict=True):
            axis = _unit(p.vector(given))
            x = _unit(np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))]))
            y = np.cross(axis, x)
            turns.append(len(p.first))
            p.first.append(0.0)
            own = [*p.turned_in(carrier, x), *p.turned_in(wheel, x), 0, *p.turned_in(carrier, y)]
            p.row(name, sr.TURN, carrier, wheel, own, turns[-1])
        p.row(name, sr.RATIO, turns[0], turns[1], [_ratio(p, joint)])
        return
    u = np.array([1.0, 0, 0]) if kind == "weld" else _unit(p.vector(joint["normal" if kind == "planar" else "axis"]))
    x = _unit(np.eye(3)[int(np.argmin(np.abs(u)))] - u * u[int(np.argmin(np.abs(u)))])
    y = np.cross(u, x)
    if kind in ("P", "C", "H", "planar"):
        a, _, b = _guide(p, joint, "normal" if kind == "planar" else "axis")
        for direction in [u] if kind == "planar" else [x, y]:
            p.row(name, sr.LINE, i, j, [*a, *b, *p.turned_in(i, direction)])
    dots([(x, u), (y, u)])
    if kind in ("P", "weld"):
        dots([(x, y)])
    if kind in ("R", "C", "H"):
        k = p.own[name] = len(p.first)
        p.first.append(0.0)
        p.row(name, sr.TURN, i, j, [*p.turned_in(i, x), *p.turned_in(j, x), 0, *p.turned_in(i, y)], k)
    if kind == "H":
        pitch = p.tapes.number(joint["pitch"]) / p.size
        p.row(name, sr.LINE, i, j, [*a, *b, *p.turned_in(i, u), -pitch], p.own[name])


def _driver(p: Problem, number: int, name: str, entry: dict[str, Any]) -> None:
    p.scales.append(1.0)
    p.offsets.append(0.0)
    if "between" in entry:
        i, j = (p.home(q) for q in entry["between"])
        a, b = p.local[i][entry["between"][0]], p.local[j][entry["between"][1]]
        p.row(name, pr.DISTANCE if p.space == 2 else sr.DISTANCE, i, j, [*a, *b, 0], -1, number)
        p.scales[-1] = 1 / p.size
        return
    joint = p.data["joints"][entry["joint"]] if "joint" in entry else entry
    i, j = (p.body(b) for b in joint["bodies"])
    if "displacement" in entry or (joint.get("type") in ("P", "slot") and "angle" not in entry):
        a, u, b = _guide(p, joint)
        p.row(name, pr.LINE if p.space == 2 else sr.LINE, i, j, [*a, *b, *u], -1, number)
        p.scales[-1] = 1 / p.size
    elif p.space == 2:
        p.row(name, pr.LINE, i, j, [0, 0, 0, 0, 0, 0, -1, 1], -1, number)
    else:
        p.row(name, sr.OWN, 0, 0, [], p.own[entry["joint"]], number)
