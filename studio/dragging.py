"""A drag at the frame rate: the mechanism compiled once with the dragged numbers as parameters, run for each place.

The first places of a drag are read anew like every other change, while a thread compiles. What compiled code cannot
answer (another structure, no assembly) is read anew as well, and says why.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping
from typing import Any

from ..common.errors import AssurgentError
from ..motion.kinematics import run_program
from .folder import Folder
from .mechanism_text import Problem, Read, read
from .sheet import Shown
from .solve import COMPUTING, determined

Key = tuple[str, tuple[tuple[str, ...], ...]]
NOMINAL = "drag{}_"  # of the parameters that stand for dragged numbers, where no name begins so


class Dragging:
    """The drag under way: nothing at first, soon the mechanism compiled for just these numbers."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._key: Key | None = None
        self._compiled: Compiled | None = None

    def moved(self, text: str, operations: object, kind: str) -> Shown | None:
        """Return the motion after the operations, all of which set numbers; None where it must be read anew."""
        numbers = _numbers(operations)
        if numbers is None or kind == "simulate":
            return None
        key = text, tuple(numbers)
        if self._key != key:
            self._key, self._compiled = key, None
            threading.Thread(target=self._compile, args=(key, numbers), daemon=True, name="studio-drag").start()
            return None
        return None if self._compiled is None else self._compiled.at(numbers)

    def _compile(self, key: Key, numbers: Mapping[tuple[str, ...], list[float]]) -> None:
        try:
            base = read(key[0], self.folder)
            if base.model is None or not determined(base):
                return
            compiled = Compiled(base, numbers, self.folder)
            compiled.at(numbers)  # loads or compiles what evaluates the numbers
        except (AssurgentError, KeyError, TypeError):
            return  # reading anew says it better
        if self._key == key:
            self._compiled = compiled if compiled.usable else None


class Compiled:
    """A mechanism some of whose numbers are parameters, in the order in which a drag sets them."""

    def __init__(self, base: Read, numbers: Mapping[tuple[str, ...], list[float]], folder: Folder) -> None:
        from ..designs.traceable import Traceable  # with all that traces: not before the first drag

        assert base.model is not None
        data = copy.deepcopy(base.data)
        stem = next(s for k in range(1000) if (s := NOMINAL.format(k)) not in base.text)
        self.names = {path: [f"{stem}{i}_{k}" for k in range(len(v))] for i, (path, v) in enumerate(numbers.items())}
        for path, names in self.names.items():
            place: Any = data
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = names if isinstance(place[path[-1]], list) else names[0]  # a key that is not there: no
        data.setdefault("parameters", {}).update(self._settings(numbers))
        self.times, self.notes = base.model.simulation.times(), base.notes
        names = [name for names in self.names.values() for name in names]
        self.mechanism = Traceable(data, "mechanism", folder.path, names)
        self.usable = self.mechanism.repeatable

    def _settings(self, numbers: Mapping[tuple[str, ...], list[float]]) -> dict[str, float]:
        return {n: x for path, values in numbers.items() for n, x in zip(self.names[path], values, strict=True)}

    def at(self, numbers: Mapping[tuple[str, ...], list[float]]) -> Shown | None:
        """Return the motion at these numbers; None where the mechanism would be read or planned otherwise."""
        settings = self._settings(numbers)
        try:
            values, kept = self.mechanism.at(settings)
            if not kept:
                return None
            model = self.mechanism.model(settings)
            with COMPUTING:
                outcome = run_program(self.mechanism.structure, self.mechanism.program, self.times, "td", values)
        except AssurgentError:
            return None
        problem = None if outcome.stop is None else Problem(outcome.stop.message, (), "assembly")
        if not len(outcome.results):
            return None
        return Shown(
            Read("", {}, model, self.mechanism.structure, notes=self.notes), outcome.results, problem, self.notes
        )


def _numbers(operations: object) -> dict[tuple[str, ...], list[float]] | None:
    """Return what is set, by its path; None where something else is done than to set numbers."""
    found: dict[tuple[str, ...], list[float]] = {}
    for operation in operations if isinstance(operations, list) else [None]:
        match operation:
            case ["set", [str(), str(), *more] as path, value] if all(isinstance(key, str) for key in more):
                values = value if isinstance(value, list) else [value]
            case _:
                return None
        if not values or not all(type(x) in (int, float) for x in values):
            return None
        found[tuple(path)] = [float(x) for x in values]
    return found or None
