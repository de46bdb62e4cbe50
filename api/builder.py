"""A mechanism written in Python: the same names and the same checks as the file, and it can be saved as one."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from assurgent.common.errors import InputError
from assurgent.common.files import check_target, write_whole
from assurgent.mechanism.model import Model
from assurgent.mechanism.reader import TABLES, TOP, from_data, load
from assurgent.mechanism.toml_text import to_toml


class Builder:
    """The tables of a mechanism file, filled from Python, read and saved: the building half of `Mechanism`."""

    def __init__(self, name: str = "", space: str = "planar", **parameters: float | str) -> None:
        self.name = name
        self.space = space
        self.gravity: Sequence[float | str] | None = None
        self.parameters: dict[str, Any] = dict(parameters)
        self.points: dict[str, Any] = {}
        self.bodies: dict[str, dict[str, Any]] = {}
        self.joints: dict[str, dict[str, Any]] = {}
        self.drivers: dict[str, dict[str, Any]] = {}
        self.forces: dict[str, dict[str, Any]] = {}
        self.simulation: dict[str, Any] = {}
        self.initial: dict[str, dict[str, Any]] = {}
        self.actuators: dict[str, dict[str, Any]] = {}
        self.assembly: dict[str, int] = {}
        self.vectors: dict[str, dict[str, Any]] = {}
        self.copies: dict[str, dict[str, Any]] = {}
        self.synthesis: dict[str, Any] = {}
        self.groups: dict[str, dict[str, Any]] = {}
        self.folder = Path()

    def parameter(self, name: str, value: float | str) -> None:
        """Declare a parameter; it may use earlier ones."""
        self.parameters[name] = value

    def point(self, name: str, place: Sequence[float | str]) -> None:
        """Place a point in the first configuration."""
        self._new("points", self.points, name)
        self.points[name] = place

    def body(
        self,
        name: str,
        points: Sequence[str],
        length: float | str | None = None,
        local: Mapping[str, Sequence[float | str]] | None = None,
        **mass: Any,
    ) -> None:
        """Add a body; further fields are `mass`, `centre`, `inertia` and `kind`."""
        self._new("bodies", self.bodies, name)
        fields = {"points": points, "length": length, "local": local, **mass}
        self.bodies[name] = {key: value for key, value in fields.items() if value is not None}

    def joint(self, name: str, type: str, bodies: Sequence[str], **fields: Any) -> None:
        """Add a joint with the fields of its type."""
        self._new("joints", self.joints, name)
        self.joints[name] = {"type": type, "bodies": bodies, **fields}

    def driver(self, name: str, **fields: Any) -> None:
        """Add a driver: joint and angle or displacement; between and distance; bodies and angle."""
        self._new("drivers", self.drivers, name)
        self.drivers[name] = fields

    def force(self, name: str, **fields: Any) -> None:
        """Add a force, a torque or a spring."""
        self._new("forces", self.forces, name)
        self.forces[name] = fields

    def vector(self, name: str, body: str, **fields: Any) -> None:
        """Report a vector of a body: `of`, two of its points, or `direction` in its axes."""
        self._new("vectors", self.vectors, name)
        self.vectors[name] = {"body": body, **fields}

    def group(self, name: str, type: str, where: Mapping[str, Any] | None = None) -> None:
        """Solve a group by a type of the library or of your own; `where` says what the type's names are here."""
        self._new("groups", self.groups, name)
        self.groups[name] = {"type": type, **({"where": where} if where else {})}

    def copy(self, name: str, bodies: Sequence[str], **fields: Any) -> None:
        """Add bodies once more with their points and joints, each `<its name>_<name>`: `rotate`, `mirror` or `move`."""
        self._new("copies", self.copies, name)
        self.copies[name] = {"bodies": bodies, **fields}

    def _new(self, table: str, entries: Mapping[str, object], name: str) -> None:
        if name in entries:
            raise InputError(f"{self.origin}: [{table}] {name}: is there already - choose another name")

    @property
    def origin(self) -> str:
        """What messages call this mechanism."""
        name: object = self.name
        return name if isinstance(name, str) and name else "mechanism"

    def data(self) -> dict[str, Any]:
        """Return the values as a file would give them."""
        found: dict[str, Any] = {"format": 1, "name": plain(self.name), "space": plain(self.space)}
        if self.gravity is not None:
            found["gravity"] = plain(self.gravity)
        for table in TABLES:
            entries = plain(getattr(self, table))
            if entries or table == "bodies":
                found[table] = entries
        return found

    def model(self, **settings: float | str) -> Model:
        """Return the validated model; settings override parameters."""
        return from_data(self.data(), self.origin, settings, self.folder)

    def text(self) -> str:
        """Return the mechanism as the text of a file."""
        return to_toml(self.data())

    def save(self, path: Path | str) -> None:
        """Write the file, after the same checks as on reading; an old file stays whole until the new one is."""
        path = Path(path)
        check_target(path)
        from_data(self.data(), str(path), None, path.parent)
        text = self.text()
        write_whole(path, lambda part: part.write_text(text, "utf-8", newline="\n"))

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Return the mechanism of a file, validated."""
        path = Path(path)
        load(path)
        data = tomllib.loads(path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n"))
        mechanism = cls(data.get("name", path.stem), data["space"])
        mechanism.folder = path.parent
        for key in TOP:
            if key in data and key not in ("format", "name", "space"):
                setattr(mechanism, key, data[key])
        return mechanism


def plain(value: Any) -> Any:
    """Return a value with lists, numbers and dictionaries as a file gives them."""
    kind = type(value)
    if kind in (str, float, int, bool):  # most are, and a run with other parameters asks for all of them
        return value
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if kind is dict or isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
