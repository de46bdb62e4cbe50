"""Drawing mechanisms: an exact configuration first, then bodies, joints and drivers on it in every way of writing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .case import Case

Array = NDArray[np.float64]
WAYS = ("length", "local", "measured")


class Drawing:
    """A mechanism that is being drawn; its sketch is closed at the start of the run."""

    def __init__(self, seed: int, planar: bool = True) -> None:
        self.random = np.random.default_rng(seed)
        self.d = 2 if planar else 3
        self.points: dict[str, Array] = {}
        self.bodies: dict[str, dict[str, Any]] = {"frame": {"points": []}}
        self.joints: dict[str, dict[str, Any]] = {}
        self.drivers: dict[str, dict[str, Any]] = {}
        self.forces: dict[str, dict[str, Any]] = {}
        self.initial: dict[str, dict[str, Any]] = {}
        self.tables: dict[str, str] = {}
        self.start, self.stop, self.step = 0.0, 1.0, 0.05
        self.at: list[float] | None = None  # instants instead of the grid
        self.noise = 0.0  # of the sketch, in metres

    # ---- random choices ---------------------------------------------------------------------------------------------
    def between(self, low: float, high: float) -> float:
        return float(self.random.uniform(low, high))

    def chance(self, p: float) -> bool:
        return bool(self.random.random() < p)

    def pick(self, options: Any) -> Any:
        options = list(options)
        return options[int(self.random.integers(len(options)))]

    def somewhere(self, near: Array | None = None, reach: tuple[float, float] = (0.6, 2.0)) -> Array:
        """Return a place, at a drawn distance from another."""
        near = np.zeros(self.d) if near is None else near
        direction = self.random.normal(size=self.d)
        return np.asarray(near + direction / np.linalg.norm(direction) * self.between(*reach))

    def direction(self) -> Array:
        return np.round(self.somewhere(None, (0.5, 2.0)), 3)

    # ---- parts ------------------------------------------------------------------------------------------------------
    def point(self, place: Any, *bodies: str) -> str:
        """Return the name of a new point, listed by the bodies."""
        name = f"p{len(self.points) + 1}"
        self.points[name] = np.asarray(place, dtype=float)
        for body in bodies:
            self.bodies[body]["points"].append(name)
        return name

    def body(self, *points: str) -> str:
        name = f"b{len(self.bodies)}"
        self.bodies[name] = {"points": list(points)}
        return name

    def on(self, body: str, point: str) -> str:
        """List a point on a body, if it is not yet."""
        if point not in self.bodies[body]["points"]:
            self.bodies[body]["points"].append(point)
        return point

    def joint(self, kind: str, first: str, second: str, swap: bool = True, /, **fields: Any) -> str:
        """Return the name of a new joint; its bodies are swapped at random where that means the same."""
        if swap and kind in ("R", "S", "weld") and self.chance(0.5):
            first, second = second, first
        name = f"j{len(self.joints) + 1}"
        self.joints[name] = {"type": kind, "bodies": [first, second], **fields}
        return name

    def pin(self, first: str, second: str, point: str) -> str:
        self.on(first, point)
        self.on(second, point)
        return self.joint("R", first, second, at=point)

    # ---- coordinates in the sketch ----------------------------------------------------------------------------------
    def angle(self, body: str) -> float:
        """Return a planar body's angle in the sketch, from the way in which it is written now."""
        points = self.bodies[body]["points"]
        if body == "frame" or len(points) < 2:
            return 0.0
        x, y = self.points[points[1]] - self.points[points[0]]
        return math.atan2(y, x)

    def joint_angle(self, joint: str) -> float:
        first, second = self.joints[joint]["bodies"]
        return self.angle(second) - self.angle(first)

    def drive(self, joint: str, formula: str, key: str = "angle", turns: int = 0) -> str:
        """Add a driver of a joint whose formula is 0 at the start; the sketch's value comes before it."""
        name = f"d{len(self.drivers) + 1}"
        zero = 0.0
        if key == "angle" and self.d == 2:
            zero = self.joint_angle(joint) + 2 * math.pi * turns
        elif key == "displacement":
            fields = self.joints[joint]
            if "through" in fields:
                axis = np.asarray(fields["axis"], dtype=float)
                way = self.points[fields["at"]] - self.points[fields["through"]]
                zero = float(way @ axis / np.linalg.norm(axis))
        self.drivers[name] = {"joint": joint, key: f"{zero!r} + {formula}" if zero else formula}
        return name

    def reach(self, first: str, second: str, formula: str) -> str:
        """Add a driven distance whose formula is 0 at the start."""
        name = f"d{len(self.drivers) + 1}"
        zero = float(np.linalg.norm(self.points[first] - self.points[second]))
        self.drivers[name] = {"between": [first, second], "distance": f"{zero!r} + {formula}"}
        return name

    def turning(self, size: float = 1.0) -> str:
        """Return a formula of an angle that is 0 at the start: steady, swinging, or both."""
        w, s = round(self.between(0.5, 3.0), 3) * self.pick((1, -1)), repr(self.start)
        t = f"(t - {s})" if self.start else "t"
        return str(self.pick((
            f"{w * size!r}*{t}",
            f"{round(self.between(0.3, 1.5) * size, 3)!r}*sin({w!r}*{t})",
            f"{w * size!r}*{t} + {round(self.between(0.1, 0.6) * size, 3)!r}*(1 - cos(2*{t}))",
            f"{w * size!r}*{t} + {round(self.between(-0.5, 0.5), 3)!r}*{t}**2",
        )))  # fmt: skip

    def small(self, size: float) -> str:
        """Return a formula of a length that is 0 at the start and stays below a size."""
        t = f"(t - {self.start!r})" if self.start else "t"
        w = round(self.between(0.5, 3.0), 3)
        return str(self.pick((f"{size!r}*sin({w!r}*{t})", f"{size / 2!r}*(1 - cos({w!r}*{t}))")))

    # ---- the case ---------------------------------------------------------------------------------------------------
    def written(self) -> None:
        """Choose for every body how its geometry is given; noise goes only where lengths are given."""
        exact: set[str] = set(self.bodies["frame"]["points"])
        for name, body in self.bodies.items():
            points = body["points"]
            if name == "frame" or "local" in body or "length" in body or len(points) < 2:
                exact |= set(points) if name != "frame" and len(points) < 2 else set()
                continue
            way = self.pick(WAYS)
            if way == "length" and len(points) == 2:
                body["length"] = float(np.linalg.norm(self.points[points[0]] - self.points[points[1]]))
            elif way == "local" and self.d == 2:
                body["local"] = self._local(points, self.angle(name))
            elif way == "local":
                body["local"] = self._local(points, None)
            else:
                exact |= set(points)
        for joint in self.joints.values():  # a sliding joint without `through` is measured from the sketch
            if joint["type"] not in ("R", "S"):
                exact |= {p for b in joint["bodies"] for p in self.bodies[b]["points"]}
        if self.noise:
            for name in set(self.points) - exact:
                self.points[name] = self.points[name] + self.random.normal(size=self.d) * self.noise

    def _local(self, points: list[str], angle: float | None) -> dict[str, Array]:
        """Return coordinates in drawn axes; planar ones keep the direction of x, so that driven angles stay."""
        origin = self.somewhere(self.points[points[0]], (0.0, 1.0))
        if angle is None:
            R = np.linalg.qr(self.random.normal(size=(3, 3)))[0]
            R = R * np.linalg.det(R) if len(points) > 2 else np.eye(3)
        else:
            R = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        return {p: (self.points[p] - origin) @ R for p in points}

    def case(self, family: str, seed: int, task: str = "run", method: str | None = None) -> Case:
        self.written()
        space = "planar" if self.d == 2 else "spatial"
        data: dict[str, Any] = {"format": 1, "name": f"{family}-{seed}", "space": space}
        if task != "run":
            data["gravity"] = [0.0, -9.81] if self.d == 2 else [1.0, -2.0, -9.81]
        data["points"] = dict(self.points)
        for table in ("bodies", "joints", "drivers", "forces", "initial"):
            if getattr(self, table):
                data[table] = getattr(self, table)
        data["simulation"] = {"start": self.start, "stop": self.stop, "step": self.step}
        return Case(family, seed, data, task, method, self.at, self.tables)
