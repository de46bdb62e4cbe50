"""The table [synthesis] of a mechanism file: what is to go where, which parameters may change, what is required."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..mechanism.file_values import Source, shown
from ..mechanism.model import FRAME, Array, Model

KINDS = ("path", "function", "motion")
KEYS = (
    "kind", "point", "body", "joint", "output", "targets", "timing", "driver", "variables", "require", "starts", "seed",
    "weight", "assembly",
)  # fmt: skip
LINKAGES = ("crank-rocker", "double-crank", "double-rocker", "rocker-crank", "crank", "any", "none")
_TABLE = "synthesis"


@dataclass(frozen=True)
class Requirements:
    """What a design must keep: the kind of four-bar, the least sine of transmission angles, the largest extent."""

    grashof: str | None = None
    transmission: float | None = None
    size: float | None = None


@dataclass(frozen=True, eq=False)
class Task:
    """What is asked: see `[synthesis]` in docs/synthesis.md. `output` of a function: joint or body, its name."""

    kind: str
    targets: Array
    variables: Mapping[str, tuple[float, float]]
    driver: str
    timing: tuple[float | str, ...] | None = None
    point: str = ""
    body: str = ""
    output: tuple[str, str] = ("", "")
    require: Requirements = field(default_factory=Requirements)
    starts: int = 64
    seed: int = 1
    weight: float | None = None
    assembly: str = "any"

    @property
    def free(self) -> bool:
        """Whether the timing is to be found, too."""
        return self.timing is None

    @property
    def bounds(self) -> tuple[Array, Array]:
        """The least and the largest values of the variables."""
        found = np.array([self.variables[name] for name in self.variables], dtype=np.float64).reshape(-1, 2)
        return found[:, 0].copy(), found[:, 1].copy()


def read_task(table: Mapping[str, Any], model: Model, origin: str, folder: Path | None = None) -> Task:
    """Return the task of a table [synthesis] for a mechanism, or wrong input that names the key."""
    source = Source({_TABLE: table}, "", origin, folder)
    source.parameters, source.dimension = dict(model.parameters), model.dimension
    source.keys((_TABLE,), table, KEYS, ("kind", "targets", "variables"))
    kind = table["kind"]
    if kind not in KINDS:
        source.fail((_TABLE, "kind"), f"{shown(kind)} is not known - write one of {', '.join(KINDS)}")
    reader = _Reader(source, table, model, kind)
    targets = reader.targets()
    point, body, output = reader.measured()
    return Task(
        kind, targets, reader.variables(), reader.driver(), reader.timing(len(targets)), point, body, output,
        reader.require(), reader.whole("starts", 64, 1), reader.whole("seed", 1, 0), reader.weight(), reader.assembly(),
    )  # fmt: skip


class _Reader:
    def __init__(self, source: Source, table: Mapping[str, Any], model: Model, kind: str) -> None:
        self.source, self.table, self.model, self.kind = source, table, model, kind

    def numbers(self, key: str, value: object, count: int, what: str) -> list[float]:
        if not isinstance(value, list) or len(value) != count:
            self.source.fail((_TABLE, key), f"{what}, not {shown(value)}")
        return [self.source.number((_TABLE, key), x) for x in value]

    def targets(self) -> Array:
        given, d = self.table["targets"], self.model.dimension
        if not isinstance(given, list) or not given:
            self.source.fail((_TABLE, "targets"), "is a list of targets, such as [[20, 20], [20, 25]]")
        if self.kind == "motion" and d == 3:
            self.source.fail((_TABLE, "kind"), "poses are those of planar bodies - give paths of points in space")
        count = {"path": d, "function": 2, "motion": 3}[self.kind]
        what = {
            "path": f"a target is a point of {d} numbers",
            "function": "a target is a pair [input, output]",
            "motion": "a target is a pose [x, y, angle]",
        }[self.kind]
        return np.array([self.numbers("targets", row, count, what) for row in given])

    def driver(self) -> str:
        drivers = self.model.drivers
        if "driver" not in self.table:
            if len(drivers) != 1:
                listed = ", ".join(drivers) or "none"
                self.source.fail((_TABLE,), f"lacks 'driver', of which timing speaks: the drivers are {listed}")
            return next(iter(drivers))
        name = self.source.string((_TABLE, "driver"), self.table["driver"])
        if name not in drivers:
            self.source.unknown((_TABLE, "driver"), "driver", name, drivers)
        return name

    def timing(self, count: int) -> tuple[float | str, ...] | None:
        if self.kind == "function" or "timing" not in self.table:
            return None
        given = self.table["timing"]
        self.numbers("timing", given, count, f"is a list of {count} values, one for each target")
        return tuple(given)

    def variables(self) -> dict[str, tuple[float, float]]:
        given = self.source.table((_TABLE, "variables"), self.table["variables"])
        if not given:
            self.source.fail((_TABLE, "variables"), "names no parameter that may change: { a = [1, 5] }")
        found = {}
        for name, bounds in given.items():
            if name not in self.model.parameters:
                self.source.unknown((_TABLE, "variables"), "parameter", name, self.model.parameters)
            low, high = self.numbers("variables", bounds, 2, f"{name} has two bounds, such as {name} = [1, 5]")
            if not low < high:
                self.source.fail((_TABLE, "variables"), f"{name}: its first bound is below the second")
            found[name] = (low, high)
        return found

    # ---- what is measured -----------------------------------------------------------------------------------------
    def measured(self) -> tuple[str, str, tuple[str, str]]:
        """Return the point, the body and the output, as far as the kind has them."""
        if self.kind == "path":
            return self.named("point", self.points()), "", ("", "")
        if self.kind == "motion":
            return self.pose()
        return "", "", self.output()

    def points(self) -> list[str]:
        return [p for b in self.model.bodies.values() for p in b.points]

    def members(self) -> dict[str, str]:
        """Return the user's bodies other than the frame with the rigid bodies that they are part of."""
        return {m.name: b.name for b in self.model.bodies.values() for m in b.parts if m.name != FRAME}

    def named(self, key: str, known: Any) -> str:
        if key not in self.table:
            self.source.fail((_TABLE,), f"lacks '{key}' - write {key} = ...")
        name = self.source.string((_TABLE, key), self.table[key])
        name = name.removeprefix(f"{key}.") if name not in known else name
        if name not in known:
            self.source.unknown((_TABLE, key), key, name, known)
        return name

    def pose(self) -> tuple[str, str, tuple[str, str]]:
        if "body" not in self.table and "point" not in self.table:
            self.source.fail((_TABLE,), "lacks 'body', the body that goes through the poses")
        point = self.named("point", self.points()) if "point" in self.table else ""
        if "body" in self.table:
            body = self.named("body", self.members())
        else:
            holders = [b for b in self.members() if point in self.model.bodies[self.members()[b]].points]
            if len(holders) != 1:
                listed = ", ".join(holders)
                self.source.fail((_TABLE,), f"lacks 'body': {point} belongs to {listed or 'the frame'}")
            body = holders[0]
        return point, body, ("", "")

    def output(self) -> tuple[str, str]:
        """Return what a function gives: joint or body and its name; by default the other joint on the frame."""
        known = {"joint": list(self.model.joints), "body": list(self.members())}
        for key in ("joint", "body"):
            if key in self.table:
                return key, self.named(key, known[key])
        if "output" in self.table:
            name = self.source.string((_TABLE, "output"), self.table["output"])
            for key in ("joint", "body"):
                short = name.removeprefix(f"{key}.")
                if short in known[key]:
                    return key, short
            self.source.unknown((_TABLE, "output"), "joint or body", name, [*known["joint"], *known["body"]])
        driven = {d.joint for d in self.model.drivers.values()}
        others = [j.name for j in self.model.joints.values() if FRAME in (j.first, j.second) and j.name not in driven]
        if len(others) != 1:
            self.source.fail((_TABLE,), "lacks 'output', the joint or body whose coordinate is the function")
        return "joint", others[0]

    # ---- the rest -------------------------------------------------------------------------------------------------
    def require(self) -> Requirements:
        where = (_TABLE, "require")
        given = self.source.table(where, self.table.get("require", {}))
        self.source.keys(where, given, ("grashof", "transmission", "size"))
        kind = given.get("grashof")
        kind = "any" if kind is True else kind
        if kind is not None and kind not in LINKAGES:
            self.source.fail(where, f"grashof: {shown(kind)} is not known - write one of {', '.join(LINKAGES)}")
        found = {k: self.source.number(where, given[k]) for k in ("transmission", "size") if k in given}
        if not 0.0 <= found.get("transmission", 0.0) < 1.0:
            self.source.fail(where, "transmission: is the least sine of a transmission angle, from 0 to below 1")
        if not found.get("size", 1.0) > 0.0:
            self.source.fail(where, "size: is the largest extent, above 0")
        return Requirements(None if kind == "none" else kind, found.get("transmission"), found.get("size"))

    def whole(self, key: str, default: int, least: int) -> int:
        value = self.table.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 1_000_000:
            self.source.fail((_TABLE, key), f"is a whole number from {least} on, not {shown(value)}")
        return value

    def weight(self) -> float | None:
        if "weight" not in self.table:
            return None
        return self.source.positive((_TABLE, "weight"), self.table["weight"])

    def assembly(self) -> str:
        value = self.table.get("assembly", "any")
        if value not in ("any", "sketch"):
            self.source.fail((_TABLE, "assembly"), f'{shown(value)} is not known - write "any" or "sketch"')
        return str(value)
