"""The same mechanism written in another way: other names, other orders, moved, scaled, later.

Every function takes the values of a mechanism file and returns those of the changed one, with what the change does to
the results (a `Change`). Formulas stay formulas: they are only wrapped.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assurgent.mechanism.functions import evaluate
from assurgent.mechanism.model import Array, Model

Data = dict[str, Any]
Order = Callable[[Sequence[Any]], list[Any]]
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Change:
    """What becomes of the results: names; place = shift + scale · rotation · place; joints that count backwards."""

    data: Data
    name: Callable[[str, str], str] = field(default=lambda table, name: name)  # (table, old name) -> new name
    scale: float = 1.0
    rotation: Array | None = None
    shift: Array | None = None
    delay: float = 0.0
    reversed: frozenset[str] = frozenset()


def _formula(value: Any, change: Callable[[str], str]) -> Any:
    """Return a number, a formula or a list of them, each wrapped."""
    if isinstance(value, list):
        return [_formula(v, change) for v in value]
    return change(value if isinstance(value, str) else repr(float(value)))


# ---- names and orders ---------------------------------------------------------------------------------------------
ODD = ("at", "foot", "pin", "point", "slide", "slide at", "point pin", "from", "to", "A of b", "frame of A", "Q1", "w1")


def renamed(data: Data, order: Order) -> Change:
    """Every point, body, joint, driver and parameter with a new name, so that their alphabetical order changes.

    Names that a solver might use for things of its own are among them.
    """
    new: dict[str, dict[str, str]] = {}
    for table in ("points", "bodies", "joints", "drivers", "parameters"):
        names = sorted(
            {*data.get(table, {}), *(p for b in data["bodies"].values() for p in b["points"])}
            if table == "points"
            else data.get(table, {})
        )
        plain = [f"n{k:02d}" for k in range(len(names))]
        fresh = order([a if table == "parameters" else b for a, b in zip(plain, [*ODD, *plain], strict=False)])
        new[table] = dict(zip(names, fresh, strict=True))
    new["bodies"]["frame"] = "frame"
    parameters = new["parameters"]

    def formula(text: str) -> str:
        return _NAME.sub(lambda m: parameters.get(m[0], m[0]), text)

    def rewrite(value: Any, key: str = "") -> Any:
        table = {
            "points": "points",
            "between": "points",
            "at": "points",
            "through": "points",
            "centre": "points",
            "point": "points",
            "bodies": "bodies",
            "carrier": "bodies",
            "joint": "joints",
        }.get(key)
        if isinstance(value, list):
            return [rewrite(v, key) for v in value]
        if isinstance(value, dict):
            return {(new["points"][k] if key == "local" else k): rewrite(v, k) for k, v in value.items()}
        if not isinstance(value, str) or key in ("type", "kind"):
            return value
        return new[table][value] if table else formula(value)

    out = copy.deepcopy(data)
    for table in ("points", "bodies", "joints", "drivers", "parameters"):
        if table in data:
            out[table] = {new[table][k]: rewrite(v) for k, v in data[table].items()}
    return Change(out, lambda table, name: new[table].get(name, name))


def reordered(data: Data, order: Order) -> Change:
    """Tables in another order, and lists whose order says nothing."""
    out = {k: data[k] for k in order(list(data))}
    for table in {"points", "bodies", "joints", "drivers"} & data.keys():
        out[table] = {
            k: dict(v) if isinstance(v, dict) else v for k, v in ((k, data[table][k]) for k in order(list(data[table])))
        }
    for name, body in out["bodies"].items():
        if name == "frame" or "local" in body:  # elsewhere the first two points say where the axes are
            body["points"] = order(body["points"])
    for driver in out["drivers"].values():
        if "between" in driver:
            driver["between"] = driver["between"][::-1]
    return Change(out)


# ---- joints seen from the other side ------------------------------------------------------------------------------
def swapped(data: Data, chosen: Callable[[str], bool]) -> Change:
    """Joints with their two bodies exchanged, and the drivers on them with the opposite sign."""
    out = copy.deepcopy(data)
    backwards = set()
    for name, joint in out.get("joints", {}).items():
        line = joint["type"] == "P" and "through" in joint
        if not chosen(name) or not (joint["type"] in ("R", "S", "weld") or line):
            continue
        joint["bodies"] = joint["bodies"][::-1]
        if line:
            joint["at"], joint["through"] = joint["through"], joint["at"]
        backwards.add(name)
    for driver in out["drivers"].values():
        if driver.get("joint") in backwards:
            for key in driver.keys() & {"angle", "displacement"}:
                driver[key] = _formula(driver[key], lambda text: f"-({text})")
    return Change(out, reversed=frozenset(backwards))


# ---- elsewhere, larger, later -------------------------------------------------------------------------------------
def moved(data: Data, model: Model, rotation: Array, shift: Array) -> Change:
    """The whole mechanism turned and shifted; the angles of bodies relative to the frame turn with it."""
    out = copy.deepcopy(data)
    out["points"] = {p: (shift + rotation @ model.points[p]).tolist() for p in data["points"]}
    for joint in out.get("joints", {}).values():
        for key in joint.keys() & {"axis", "normal"}:
            joint[key] = (rotation @ _numbers(joint[key], model)).tolist()
        if "axes" in joint:
            joint["axes"] = [(rotation @ _numbers(axis, model)).tolist() for axis in joint["axes"]]
    if model.space == "planar":
        angle = float(np.arctan2(rotation[1, 0], rotation[0, 0]))
        for driver in out["drivers"].values():
            pair = out["joints"][driver["joint"]]["bodies"] if "joint" in driver else driver.get("bodies")
            if "angle" in driver:
                turn = angle * (_turns(data, pair[1]) - _turns(data, pair[0]))
                driver["angle"] = _formula(driver["angle"], lambda text, turn=turn: f"{text} + {turn!r}")
    return Change(out, rotation=rotation, shift=shift)


def _numbers(vector: Sequence[float | str], model: Model) -> Array:
    return np.array([evaluate(str(x), model.parameters) for x in vector])


def _turns(data: Mapping[str, Any], body: str) -> int:
    """Return 1 if a body's axes turn with the mechanism: not the frame's, nor those of a body of one point."""
    return int(body != "frame" and len(data["bodies"][body]["points"]) > 1)


def scaled(data: Data, model: Model, factor: float) -> Change:
    """All lengths by a factor."""

    def longer(text: str) -> str:
        return f"({text})*{factor!r}"

    out = copy.deepcopy(data)
    out["points"] = {p: (factor * model.points[p]).tolist() for p in data["points"]}
    for body in out["bodies"].values():
        if "length" in body:
            body["length"] = _formula(body["length"], longer)
        if "local" in body:
            body["local"] = {p: _formula(x, longer) for p, x in body["local"].items()}
    joints = out.get("joints", {}).values()
    followers = [joint["follower"] for joint in joints if "follower" in joint]
    for entry in (*joints, *out["drivers"].values(), *followers):
        for key in entry.keys() & {"displacement", "distance", "radius", "pitch", "radii", "profile"}:
            entry[key] = _formula(entry[key], longer)
    return Change(out, scale=factor)


def delayed(data: Data, delay: float) -> Change:
    """Start, stop and every driver later by a time."""
    out = copy.deepcopy(data)
    for key in ("start", "stop"):
        out["simulation"][key] = data["simulation"][key] + delay
    for driver in out["drivers"].values():
        for key in driver.keys() & {"angle", "displacement", "distance"}:
            driver[key] = _formula(driver[key], lambda text: re.sub(r"\bt\b", f"(t - {delay!r})", text))
    return Change(out, delay=delay)


# ---- the plane in space -------------------------------------------------------------------------------------------
def in_space(data: Data, model: Model) -> Change:
    """A plane mechanism of pins and slides, written as one in space: pins along z, angles from the sketch on."""

    def raised(place: Any) -> Any:
        return [*place, 0]

    out = copy.deepcopy(data)
    out["space"] = "spatial"
    for table in ("gravity", "groups"):  # types of the plane are none of space
        out.pop(table, None)
    out["points"] = {p: raised(place) for p, place in data["points"].items()}
    for body in out["bodies"].values():
        for key in body.keys() & {"mass", "centre", "inertia"}:
            del body[key]
        if "local" in body:
            body["local"] = {p: raised(place) for p, place in body["local"].items()}
    for joint in out["joints"].values():
        if joint["type"] == "R":
            joint["axis"] = [0, 0, 1]
        elif "axis" in joint:
            joint["axis"] = raised(joint["axis"])
    for driver in out["drivers"].values():
        if "joint" in driver and "angle" in driver:
            made = model.joints[driver["joint"]]
            turn = model.bodies[made.first].rotation.T @ model.bodies[made.second].rotation
            sketched = float(np.arctan2(turn[1, 0], turn[0, 0]))
            driver["angle"] = _formula(driver["angle"], lambda text, angle=sketched: f"{text} - ({angle!r})")
    return Change(out)
