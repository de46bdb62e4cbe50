"""The table [copies]: bodies again with their points and joints, moved, turned or mirrored, so that six legs are one.

A copy is written out as a user would write it: the values of the file in, the values with all bodies out. Coordinates
become formulas of the old ones, so that parameters go on to rule every copy. A copy is the image of its original, with
all that a joint names: what turns one way in the original turns the other way in a mirrored copy.

Where points fix the axes of a body (two in the plane, in space three of `local`) these go with it, mirrored ones with
the last one the other way. The axes of other bodies are parallel or nearest to the global ones, those of the copy, too,
so that it is the coordinates in them that are turned and mirrored.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ..common.errors import InputError, nearest
from .functions import LARGEST
from .images import Image, difference, dot, negative, short, substituted, text, times
from .sketches import distances as _distances
from .sketches import fixes_axes, followed
from .sketches import numbers as _numbers
from .sketches import values as _values

KEYS = ("bodies", "rotate", "mirror", "move", "about", "axis", "points")
HINGES = ("R", "C", "H")


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
    parallel = _parallel(found)
    for name, entry in table.items():
        _Copy(found, origin, name, entry, settings, parallel).add()
    _keep_axes(found, parallel)
    return found


def _parallel(data: Mapping[str, Any]) -> set[str]:
    """Return the planar bodies of one point: their axes are parallel to the global ones in the sketch."""
    bodies = data.get("bodies")
    if data.get("space") != "planar" or not isinstance(bodies, dict):
        return set()
    points = {name: b.get("points") for name, b in bodies.items() if name != "frame" and isinstance(b, dict)}
    return {name for name, listed in points.items() if isinstance(listed, list) and len(listed) == 1}


def _keep_axes(data: Mapping[str, Any], parallel: set[str]) -> None:
    """Say where the points are that copies have given to bodies of one point, whose axes a second one would turn."""
    for name in parallel:
        body = data["bodies"][name]
        if len(body["points"]) > 1 and "local" not in body:
            places = [data["points"].get(p) for p in body["points"]]
            if all(_are_numbers(place, 2) for place in places):
                body["local"] = dict(zip(body["points"], _ways(places), strict=True))


class _Copy:
    """One copy that is being written into the values."""

    def __init__(
        self,
        data: dict[str, Any],
        origin: str,
        name: str,
        entry: Any,
        settings: Mapping[str, Any],
        parallel: set[str],
    ) -> None:
        self.data, self.name, self.settings, self.parallel = data, name, settings, parallel
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
        self.image = self.read_image()
        joints = self.tables["joints"].items()
        self.joints = {n: j for n, j in joints if isinstance(j, dict) and set(self.ends(j)) & set(self.bodies)}

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

    def ends(self, joint: Mapping[str, Any]) -> list[str]:
        value = joint.get("bodies")
        return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []

    def read_image(self) -> Image:
        """Return where the copy comes, seen from its original."""
        shift = self.vector("move", self.entry.get("move", [0] * self.dimension))
        about = self.entry.get("about", [0] * self.dimension)
        if isinstance(about, str):
            if about not in self.tables["points"]:
                self.fail(f"about: there is no point '{about}'{nearest(about, self.tables['points'])}")
            about = self.tables["points"][about]
        about = self.vector("about", about)
        if (angle := self.entry.get("rotate")) is not None:
            if not _are_numbers([angle], 1):
                self.fail("rotate is a number, or a formula in quotes")
            axis = self.vector("axis", self.entry.get("axis", [0, 0, 1])) if self.dimension == 3 else []
            return Image.turned(angle, axis, about, shift)
        if (normal := self.entry.get("mirror")) is not None:
            normal = self.vector("mirror", normal)
            if all(not isinstance(x, str) and x == 0 for x in normal):
                self.fail("mirror: the normal has no direction - it is where the mirror's plane looks, such as [1, 0]")
            return Image.mirrored(normal, about, shift)
        return Image.shifted(shift)

    # ---- what is added ----
    def add(self) -> None:
        bodies = self.tables["bodies"]
        own = list(dict.fromkeys(p for n in self.bodies for p in self.points_of(n)))
        others = {n: self.points_of(n) for n, b in bodies.items() if n not in self.bodies and isinstance(b, dict)}
        holders = {point: [n for n, listed in others.items() if point in listed] for point in own}
        for point, body in (pair for joint in self.joints.values() for pair in self.named(joint)):
            if point not in own and any(point in listed for listed in others.values()):
                listing = [n for n, listed in others.items() if point in listed]
                holders.setdefault(point, []).extend([body] if body in listing else listing)
        new: dict[str, str] = {}
        for point, listing in holders.items():
            new[point] = self.instead.get(point) or self.place(point, list(dict.fromkeys(listing)))
        for point in self.instead:
            if point not in holders:
                self.fail(f"points: '{point}' is no point of these bodies{nearest(point, holders)}")
        for name in self.bodies:
            called = self.called(name, bodies)
            bodies[called] = self.body(name, new)
            if name in self.parallel:
                self.parallel.add(called)
        self.follow(new)
        joints = self.tables["joints"]
        for name, joint in self.joints.items():
            joints[self.called(name, joints)] = self.joint(name, joint, new)

    def named(self, joint: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return the points that a joint names, each with the body that must have it.

        The outline of a cam that is not copied stays where it is, and so does its centre.
        """
        first, second = (self.ends(joint) * 2)[:2]
        follower = joint.get("follower")
        found = [(joint.get("at"), second), (joint.get("through"), first)]
        if first in self.bodies:
            found.append((joint.get("centre"), first))
        if isinstance(follower, dict):
            found.append((follower.get("point"), second))
        return [(p, body) for p, body in found if isinstance(p, str)]

    def follow(self, new: Mapping[str, str]) -> None:
        """Let the sketch of a planar copy follow the points that it is pinned to instead, from where it was.

        It only chooses how the copy is assembled: as its original is, since it comes there without a jump.
        """
        points = self.tables["points"]
        swapped = {p for p in self.instead if self.instead[p] in points and p in points}
        if self.dimension != 2 or not swapped:
            return
        given = self.data.get("parameters", {})
        known = _values({**given, **self.settings} if isinstance(given, dict) else self.settings)
        places = {new[p]: _numbers(self.moved(points[p]), known) for p in new if p in points}
        moving = {name for p, name in new.items() if name == f"{p}_{self.name}" and not self.shared(name)}
        held = {name: _numbers(points[name], known) for name in places if name not in moving}
        first = {name: place for name, place in places.items() if place is not None}
        ends = {name: place for name, place in held.items() if place is not None}
        missing = len(first) < len(places) or len(ends) < len(held)
        if missing or not all(_are_numbers(place, 2) for place in (*first.values(), *ends.values())):
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
            if holder in self.parallel and sketch is None:
                self.fail(f"'{point}' of {holder} has no place in [points] - give it one")
            body["points"] = [*body["points"], name]
        return name

    def body(self, name: str, new: Mapping[str, str]) -> dict[str, Any]:
        entry = self.tables["bodies"][name]
        found = copy.deepcopy(dict(entry))
        found["points"] = [new[p] for p in self.points_of(name)]
        lying = self.dimension == 3 and ("centre" in entry or "inertia" in entry)  # beside a line, in axes at rest
        if self.instead and "local" not in entry and ("length" not in entry or lying):
            found |= self.measured(name, new)
            found.pop("length" if "local" in found else "", None)
        within, n = self.within(name), self.dimension
        if isinstance(entry.get("local"), dict):
            places = entry["local"].items()
            found["local"] = {new.get(p, p): within.direction(x) if _are_numbers(x, n) else x for p, x in places}
        if isinstance(centre := entry.get("centre"), str):
            found["centre"] = new.get(centre, centre)
        elif _are_numbers(centre, n):
            found["centre"] = within.direction(centre)
        if n == 3 and _are_numbers(entry.get("inertia"), 6):
            found["inertia"] = within.tensor(entry["inertia"])
        return found

    def within(self, name: str) -> Image:
        """Return what becomes of coordinates in a body's axes: nothing, or the last one mirrored, if these go along."""
        entry, parameters = self.tables["bodies"][name], self.data.get("parameters", {})
        if self.dimension == 3:
            known = _values(parameters if isinstance(parameters, dict) else {})  # the same axes in every design
            goes = fixes_axes(entry.get("local"), self.tables["points"], known)
        else:
            goes = name not in self.parallel
        still = [0] * self.dimension
        if not goes:
            return self.image
        return Image.mirrored([*still[1:], 1], still, still) if self.image.mirrors else Image.shifted(still)

    def measured(self, name: str, new: Mapping[str, str]) -> dict[str, Any]:
        """Return the shape of a body that is measured from the sketch, since the copy's sketch lies elsewhere."""
        points = [p for p in self.points_of(name) if p in self.tables["points"]]
        if len(points) < 2:
            return {}
        places = [self.moved(self.tables["points"][p]) for p in points]
        if not all(_are_numbers(place, self.dimension) for place in places):
            return {}
        ways = _ways(places)
        size = f"sqrt({text(dot(ways[1], ways[1]))})"
        if self.dimension == 3 or name in self.parallel:
            length = self.tables["bodies"][name].get("length")
            share = 1.0 if length is None else short(f"{text(length)}/{size}")
            return {"local": {new[p]: [times(share, x) for x in way] for p, way in zip(points, ways, strict=True)}}
        x, y = ways[1]
        local = {}
        for p, (u, v) in zip(points, ways, strict=True):
            along, across = dot((u, v), (x, y)), difference(times(v, x), times(u, y))
            local[new[p]] = [short(f"{text(along)}/{size}"), short(f"{text(across)}/{size}")]
        return {"local": local}

    def joint(self, name: str, entry: Mapping[str, Any], new: Mapping[str, str]) -> dict[str, Any]:
        found = copy.deepcopy(dict(entry))
        found["bodies"] = [f"{b}_{self.name}" if b in self.bodies else b for b in entry["bodies"]]
        placed = [point for point, _ in self.named(entry)]
        for key in ("at", "through", "centre"):
            if isinstance(entry.get(key), str) and entry[key] in placed:
                found[key] = new.get(entry[key], entry[key])
        for key in ("axis", "normal"):
            if key in entry:
                found[key] = self.turned(entry[key])
        axes = entry.get("axes", self.wheels(entry))
        if isinstance(axes, list):
            found["axes"] = [self.turned(axis) for axis in axes]
        if entry.get("carrier") in self.bodies:
            found["carrier"] = f"{entry['carrier']}_{self.name}"
        for kind, key in (("rack", "radius"), ("H", "pitch")):  # a mirror makes right-handed screws left-handed
            if self.image.mirrors and entry.get("type") == kind and _are_numbers([entry.get(key)], 1):
                found[key] = negative(entry[key])
        if entry.get("type") == "cam":
            self.cam(name, found, new)
        return found

    def cam(self, name: str, found: dict[str, Any], new: Mapping[str, str]) -> None:
        """Turn and mirror what the joint of a cam says of its follower, and of the cam where that is copied."""
        follower = found.get("follower")
        if isinstance(follower, dict):
            if isinstance(follower.get("point"), str):
                follower["point"] = new.get(follower["point"], follower["point"])
            if "direction" in follower:
                follower["direction"] = self.turned(follower["direction"])
        cam = self.ends(self.joints[name])[0]
        angle = self.image.polar("u", cam in self.parallel) if cam in self.bodies else "u"
        if angle == "u":
            return
        profile = found.get("profile")
        if "table" in found or isinstance(profile, dict) or str(profile).strip().lower().endswith(".csv"):
            change = "mirrors" if self.image.mirrors else "turns"
            remedy = "write that cam out, with a table of its own" + " or give it a second point" * (change == "turns")
            self.fail(f"{change} the cam of '{name}', whose outline is a table - {remedy}")
        found["profile"] = substituted(profile, "u", angle)

    def wheels(self, gear: Mapping[str, Any]) -> list[Any] | None:
        """Return the axes of a gear in space that has them of its bearings, where only one of these is copied, too."""
        ends = self.ends(gear)
        if gear.get("type") != "gear" or self.dimension == 2 or len(set(ends) & set(self.bodies)) != 1:
            return None
        carrier, joints = gear.get("carrier", "frame"), self.tables["joints"].values()
        hinges = [j for j in joints if isinstance(j, dict) and j.get("type") in HINGES]
        found = [
            [j.get("axis") for j in hinges if self.ends(j) in ([wheel, carrier], [carrier, wheel])] for wheel in ends
        ]
        return [axes[0] for axes in found] if all(len(axes) == 1 for axes in found) else None

    # ---- where things come ----
    def still(self) -> bool:
        return all(self.entry.get(key) is None for key in ("rotate", "mirror", "move"))

    def moved(self, place: Any) -> Any:
        """Return a place after turning or mirroring about a point, and moving."""
        return self.image.place(place) if _are_numbers(place, self.dimension) else place

    def turned(self, vector: Any) -> Any:
        """Return a direction after turning or mirroring."""
        return self.image.direction(vector) if _are_numbers(vector, self.dimension) else vector

    def vector(self, key: str, value: Any) -> list[Any]:
        if not _are_numbers(value, self.dimension):
            self.fail(f"{key} is a list of {self.dimension} numbers")
        found: list[Any] = value
        return found


def _ways(places: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return the ways from the first of some places to each."""
    return [[difference(x, y) for x, y in zip(place, places[0], strict=True)] for place in places]


def _are_numbers(value: Any, count: int) -> bool:
    """Whether a value is a list of so many numbers or formulas; what is none is for the reader to refuse."""
    return (
        isinstance(value, list)
        and len(value) == count
        and all(isinstance(x, str) or (type(x) in (int, float) and abs(x) <= LARGEST) for x in value)
    )
