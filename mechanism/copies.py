"""The table [copies]: bodies again with their points and joints, moved, turned or mirrored, so that six legs are one.

A copy is written out as a user would write it: the values of the file in, the values with all bodies out. Coordinates
become formulas of the old ones, so that parameters go on to rule every copy.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ..common.errors import InputError, nearest
from .sketches import distances as _distances
from .sketches import followed
from .sketches import numbers as _numbers
from .sketches import values as _values

KEYS = ("bodies", "rotate", "mirror", "move", "about", "axis", "points")
Number = Any  # a number or a formula in quotes


def expanded(data: Mapping[str, Any], origin: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values of a file with every copy written out, in the order of the table.

    `settings` override parameters: where copies are pinned elsewhere, their sketch follows in that design.
    """
    table = data.get("copies")
    if not table:
        return data
    if not isinstance(table, dict):
        raise InputError(f"{origin}: [copies]: is a table of copies - write [copies.right] bodies = [...]")
    found = {key: value for key, value in copy.deepcopy(dict(data)).items() if key != "copies"}
    for name, entry in table.items():
        _Copy(found, origin, name, entry, settings).add()
    return found


class _Copy:
    """One copy that is being written into the values."""

    def __init__(self, data: dict[str, Any], origin: str, name: str, entry: Any, settings: Mapping[str, Any]) -> None:
        self.data, self.name, self.settings = data, name, settings
        self.where = f"{origin}: [copies.{name}]"
        if not isinstance(entry, dict):
            self.fail("is a table with bodies and what to do with them, such as mirror = [1, 0]")
        for key in entry:
            if key not in KEYS:
                self.fail(f"'{key}' is not known here{nearest(key, KEYS) or ' - the keys are ' + ', '.join(KEYS)}")
        self.entry: dict[str, Any] = entry
        self.dimension = 2 if data.get("space") == "planar" else 3
        self.tables = {key: self.table(key) for key in ("points", "bodies", "joints")}
        self.bodies = self.names("bodies")
        if self.entry.get("rotate") is not None and self.entry.get("mirror") is not None:
            self.fail("has rotate and mirror - make one copy of the other")
        for body in self.bodies:
            if body not in self.tables["bodies"]:
                self.fail(f"there is no body '{body}'{nearest(body, self.tables['bodies'])}")
            if body == "frame":
                self.fail("the frame is there once - leave it out; its points are copied where the copy needs them")
            if not isinstance(self.tables["bodies"][body], dict):
                self.fail(f"[bodies] {body} is no table - write [bodies.{body}] points = [...]")
        instead = entry.get("points", {})
        if not isinstance(instead, dict) or not all(isinstance(p, str) for p in instead.values()):
            self.fail('points says which point stands for which: points = { M1 = "M2" }')
        self.instead: dict[str, str] = instead

    def fail(self, message: str) -> NoReturn:
        raise InputError(f"{self.where}: {message}")

    def table(self, key: str) -> dict[str, Any]:
        value = self.data.setdefault(key, {})
        if not isinstance(value, dict):
            self.fail(f"[{key}] is no table")
        return value

    def names(self, key: str) -> list[str]:
        value = self.entry.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
            self.fail(f'lacks {key} - write {key} = ["..."], a list of names')
        return value

    # ---- what is added ----
    def add(self) -> None:
        bodies = self.tables["bodies"]
        others = {n: b for n, b in bodies.items() if n not in self.bodies}
        own = list(dict.fromkeys(p for n in self.bodies for p in self.points_of(n)))
        new: dict[str, str] = {}
        for point in own:
            holders = [n for n, b in others.items() if isinstance(b, dict) and point in b.get("points", ())]
            new[point] = self.instead.get(point) or self.place(point, holders)
        for point in self.instead:
            if point not in own:
                self.fail(f"points: '{point}' is no point of these bodies{nearest(point, own)}")
        for name in self.bodies:
            bodies[self.called(name, bodies)] = self.body(bodies[name], new)
        self.follow(new)
        joints = self.tables["joints"]
        for name, joint in list(joints.items()):
            ends = joint.get("bodies", ()) if isinstance(joint, dict) else ()
            if any(end in self.bodies for end in ends):
                joints[self.called(name, joints)] = self.joint(joint, new)

    def follow(self, new: Mapping[str, str]) -> None:
        """Let the sketch of a planar copy follow the points that it is pinned to instead, from where it was.

        It only chooses how the copy is assembled: as its original is, since it comes there without a jump.
        """
        points = self.tables["points"]
        swapped = {p for p in self.instead if self.instead[p] in points and p in points}
        if self.dimension != 2 or not swapped:
            return
        known = _values({**self.data.get("parameters", {}), **self.settings})
        places = {new[p]: _numbers(self.moved(points[p]), known) for p in new if p in points}
        moving = {name for p, name in new.items() if name == f"{p}_{self.name}" and not self.shared(name)}
        held = {name: _numbers(points[name], known) for name in places if name not in moving}
        first = {name: place for name, place in places.items() if place is not None}
        ends = {name: place for name, place in held.items() if place is not None}
        missing = len(first) < len(places) or len(ends) < len(held)
        if missing or any(len(place) != 2 for place in (*first.values(), *ends.values())):
            return  # a formula that has no value, or a place with three coordinates: the reader says so
        bodies = self.tables["bodies"]
        lengths = [pair for b in self.bodies for pair in _distances(bodies[f"{b}_{self.name}"], first, known)]
        for name, place in followed(first, ends, lengths).items():
            if name in moving:
                points[name] = place

    def shared(self, point: str) -> bool:
        """Return whether a point belongs to a body that is none of the copy."""
        own = {f"{b}_{self.name}" for b in self.bodies}
        others = (body for name, body in self.tables["bodies"].items() if name not in own and isinstance(body, dict))
        return any(point in body.get("points", ()) for body in others)

    def called(self, name: str, taken: Mapping[str, Any]) -> str:
        found = f"{name}_{self.name}"
        if found in taken:
            self.fail(f"'{found}' is there already - give the copy another name")
        return found

    def points_of(self, body: str) -> Sequence[str]:
        entry = self.tables["bodies"][body]
        found = entry.get("points", ()) if isinstance(entry, dict) else ()
        if not isinstance(found, list | tuple):
            self.fail(f"the points of {body} are no list")
        return [p for p in found if isinstance(p, str)]

    def place(self, point: str, holders: Sequence[str]) -> str:
        """Return the name of the copied point, after it has been placed and given to the bodies that share it."""
        points = self.tables["points"]
        if holders and self.still():
            return point
        sketch = points.get(point)
        if holders and sketch is not None and self.moved(sketch) == sketch:
            return point
        name = self.called(point, points)
        if sketch is not None:
            points[name] = self.moved(sketch)
        for holder in holders:
            body = self.tables["bodies"][holder]
            if "local" in body or "length" in body:
                self.fail(
                    f"'{point}' is also a point of {holder}, whose length or local does not say where its copy lies - "
                    f'name one of its points: points = {{ {point} = "..." }}'
                )
            body["points"] = [*body["points"], name]
        return name

    def body(self, entry: Mapping[str, Any], new: Mapping[str, str]) -> dict[str, Any]:
        found = copy.deepcopy(dict(entry))
        found["points"] = [new[p] for p in entry.get("points", ())]
        if self.instead and "local" not in entry and "length" not in entry:
            found |= self.measured(entry, new)
        if isinstance(entry.get("local"), dict):
            found["local"] = {new.get(p, p): self.flipped(x) for p, x in entry["local"].items()}
        centre = entry.get("centre")
        if isinstance(centre, str):
            found["centre"] = new.get(centre, centre)
        elif isinstance(centre, list):
            found["centre"] = self.flipped(centre)
        if self.dimension == 3 and self.entry.get("mirror") is not None and isinstance(entry.get("inertia"), list):
            self.fail("mirrors a body with products of inertia - write that body out")
        return found

    def measured(self, entry: Mapping[str, Any], new: Mapping[str, str]) -> dict[str, Any]:
        """Return the shape of a body that is measured from the sketch, since the copy's sketch lies elsewhere."""
        points = [p for p in entry.get("points", ()) if p in self.tables["points"]]
        if len(points) < 2:
            return {}
        if self.dimension == 3:
            self.fail(f"the body with {', '.join(points)} is measured from the sketch - give it `local` or `length`")
        places = [self.moved(self.tables["points"][p]) for p in points]
        x, y = (_text(_minus_of(places[1][k], places[0][k])) for k in (0, 1))
        size = f"sqrt({x}*{x} + {y}*{y})"
        local = {}
        for p, place in zip(points, places, strict=True):
            u, v = (_text(_minus_of(place[k], places[0][k])) for k in (0, 1))
            local[new[p]] = [_short(f"({u}*{x} + {v}*{y})/{size}"), _short(f"({v}*{x} - {u}*{y})/{size}")]
        return {"local": local}

    def joint(self, entry: Mapping[str, Any], new: Mapping[str, str]) -> dict[str, Any]:
        found = copy.deepcopy(dict(entry))
        found["bodies"] = [f"{b}_{self.name}" if b in self.bodies else b for b in entry["bodies"]]
        for key in ("at", "through", "centre"):
            if isinstance(entry.get(key), str):
                found[key] = new.get(entry[key], entry[key])
        for key in ("axis", "normal"):
            if isinstance(entry.get(key), list):
                found[key] = self.turned(entry[key])
        if isinstance(entry.get("axes"), list):
            found["axes"] = [self.turned(axis) for axis in entry["axes"]]
        if entry.get("carrier") in self.bodies:
            found["carrier"] = f"{entry['carrier']}_{self.name}"
        return found

    # ---- where things come ----
    def still(self) -> bool:
        return all(self.entry.get(key) is None for key in ("rotate", "mirror", "move"))

    def flipped(self, local: Any) -> Any:
        """Return coordinates in a body's axes: a mirrored body has its last one the other way."""
        if self.entry.get("mirror") is None or not isinstance(local, list):
            return local
        return [*local[:-1], _minus(local[-1])]

    def moved(self, place: Any) -> Any:
        """Return a place after turning or mirroring about a point, and moving."""
        if not isinstance(place, list) or len(place) != self.dimension:
            return place
        about = self.entry.get("about", [0] * self.dimension)
        if isinstance(about, str):
            if about not in self.tables["points"]:
                self.fail(f"about: there is no point '{about}'{nearest(about, self.tables['points'])}")
            about = self.tables["points"][about]
        about = self.vector("about", about)
        found = self.turned([_minus_of(x, c) for x, c in zip(place, about, strict=True)])
        found = [_plus(x, c) for x, c in zip(found, about, strict=True)]
        if self.entry.get("move") is not None:
            found = [_plus(x, d) for x, d in zip(found, self.vector("move", self.entry["move"]), strict=True)]
        return found

    def turned(self, vector: list[Any]) -> list[Any]:
        """Return a direction after turning or mirroring."""
        if self.entry.get("rotate") is not None:
            return self.rotated(vector, _text(self.entry["rotate"]))
        if self.entry.get("mirror") is None:
            return vector
        n = self.vector("mirror", self.entry["mirror"])
        # v - 2 n (n.v)/(n.n), with n the normal of the mirror
        along = f"2*({_sum(f'{_text(a)}*{_text(v)}' for a, v in zip(n, vector, strict=True))})"
        along = f"{along}/({_sum(f'{_text(a)}*{_text(a)}' for a in n)})"
        return [_short(f"{_text(v)} - {_text(a)}*{along}") for v, a in zip(vector, n, strict=True)]

    def rotated(self, vector: list[Any], angle: str) -> list[Any]:
        c, s = f"cos({angle})", f"sin({angle})"
        v = [_text(x) for x in vector]
        if self.dimension == 2:
            return [_short(f"{c}*{v[0]} - {s}*{v[1]}"), _short(f"{s}*{v[0]} + {c}*{v[1]}")]
        k = [_text(x) for x in self.vector("axis", self.entry.get("axis", [0, 0, 1]))]
        size = f"sqrt({_sum(f'{x}*{x}' for x in k)})"
        k = [f"({x}/{size})" for x in k]
        along = f"({_sum(f'{a}*{b}' for a, b in zip(k, v, strict=True))})"
        cross = [f"({k[i - 2]}*{v[i - 1]} - {k[i - 1]}*{v[i - 2]})" for i in range(3)]  # Rodrigues
        return [_short(f"{c}*{v[i]} + {s}*{cross[i]} + (1 - {c})*{along}*{k[i]}") for i in range(3)]

    def vector(self, key: str, value: Any) -> list[Any]:
        if not isinstance(value, list) or len(value) != self.dimension:
            self.fail(f"{key} is a list of {self.dimension} numbers")
        return value


# ---- formulas from formulas; numbers stay numbers -------------------------------------------------------------------
def _text(value: Number) -> str:
    return f"({value})" if isinstance(value, str) else f"({value!r})"


def _sum(parts: Any) -> str:
    return " + ".join(parts)


def _short(text: str) -> Number:
    """Return the number of a formula without names, else the formula."""
    from .functions import evaluate

    try:
        return evaluate(text, {})
    except ValueError:
        return text


def _minus(x: Number) -> Number:
    return -x if not isinstance(x, str) else f"-({x})"


def _plus(x: Number, y: Number) -> Number:
    return x + y if not isinstance(x, str) and not isinstance(y, str) else _short(f"{_text(x)} + {_text(y)}")


def _minus_of(x: Number, y: Number) -> Number:
    return _plus(x, _minus(y))
