"""The text of a mechanism -> what the page can show of it: values, model, structure, and the place of a mistake."""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass, field, replace
from typing import Any

from ..common.errors import AssurgentError, InputError
from ..mechanism.functions import evaluate
from ..mechanism.model import Model
from ..mechanism.plans.planning import study
from ..mechanism.reader import from_data, loads
from ..mechanism.structure import Structure
from .folder import Folder

MOST_CHARACTERS = 200_000  # a mechanism drawn by hand has a few thousand
MOST_INSTANTS = 20_001
MOST_FLOATS = 2_000_000  # of one message
# "four-bar.toml: [joints] A: the body ..." or "four-bar.toml: [joints.A] at: ..."
_PLACE = re.compile(r"^[^\[\]]*?: \[(?P<table>[^\]]+)\](?: (?P<key>[^:]{1,80}?))?: (?P<rest>.*)$", re.DOTALL)


@dataclass(frozen=True)
class Problem:
    """A mistake with its place in the tables of the page: table, entry and field as far as they are known."""

    message: str
    place: tuple[str, ...] = ()
    kind: str = "input"

    def to_json(self) -> dict[str, Any]:
        return {"message": self.message, "place": list(self.place), "kind": self.kind}


@dataclass(frozen=True, eq=False)
class Read:
    """What could be read of a text: a model and its structure only where nothing is wrong."""

    text: str
    data: dict[str, Any] = field(default_factory=dict)
    model: Model | None = None
    structure: Structure | None = None
    problem: Problem | None = None
    notes: tuple[str, ...] = ()


def problem_of(error: AssurgentError, kind: str = "input") -> Problem:
    """Return the mistake that an error speaks of."""
    message = str(error)
    found = _PLACE.match(message)
    if found is None:
        return Problem(message.split(": ", 1)[-1] if message.startswith("mechanism") else message, (), kind)
    table = found["table"].split(".")
    keys = [key.strip() for key in re.split(r"[ .]", found["key"] or "") if key.strip()]
    return Problem(found["rest"], (*table, *keys), kind)


def read(text: object, folder: Folder) -> Read:
    """Return what can be said about a text; every mistake is an answer, not an exception."""
    if not isinstance(text, str):
        raise InputError("the text of a mechanism is expected")
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"the mechanism has more than {MOST_CHARACTERS:,} characters - use `assurgent run` for it")
    data: dict[str, Any] = {}
    try:
        data = tomllib.loads(text.replace("\r\n", "\n"))
        folder.check_tables(data)
    except (ValueError, RecursionError):
        pass  # the reader says it better
    except InputError as error:
        return Read(text, data, problem=problem_of(error))
    try:
        model = from_data(data, "mechanism", None, folder.path, text) if data else loads(text, "mechanism")
        model, notes = _bounded(model)
        structure = study(model)
    except AssurgentError as error:
        return Read(text, data, problem=problem_of(error))
    return Read(text, data, model, structure, notes=notes)


def _bounded(model: Model) -> tuple[Model, tuple[str, ...]]:
    """Return the model with at most as many instants as a page can play, and a note where they are fewer."""
    s = model.simulation
    columns = 6 * len(model.points) + 12 * len(model.bodies) + 6 * len(model.joints)
    most = min(MOST_INSTANTS, max(MOST_FLOATS // columns, 101))
    asked = (s.stop - s.start) / s.step + 1
    if asked <= most:
        return model, ()
    note = f"shown at {most:,} of {asked:,.0f} instants; `assurgent run` computes all"
    return replace(model, simulation=replace(s, step=(s.stop - s.start) / (most - 1))), (note,)


def known_parameters(found: Read) -> dict[str, float]:
    """Return the parameters of a text, also of one that cannot be read as a whole."""
    return _parameters(found.data) if found.model is None else dict(found.model.parameters)


def _parameters(data: dict[str, Any]) -> dict[str, float]:
    known: dict[str, float] = {}
    for name, value in _table(data, "parameters").items():
        number = _number(value, known)
        if number is not None:
            known[name] = number
    return known


def sketch(data: dict[str, Any]) -> dict[str, list[float]]:
    """Return the places of points as far as they can be evaluated, for a mechanism that cannot be read yet."""
    known, found = _parameters(data), {}
    for name, place in _table(data, "points").items():
        numbers = [_number(x, known) for x in place] if isinstance(place, list) else []
        if len(numbers) in (2, 3) and all(x is not None for x in numbers):
            found[name] = [float(x) for x in numbers if x is not None]
    return found


def _table(data: dict[str, Any], name: str) -> dict[str, Any]:
    table = data.get(name)
    return table if isinstance(table, dict) else {}


def _number(value: Any, known: dict[str, float]) -> float | None:
    if isinstance(value, str):
        try:
            value = evaluate(value, known)
        except (AssurgentError, ValueError, ArithmeticError):
            return None
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain and math.isfinite(value) else None
