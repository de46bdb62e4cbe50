"""Every number of a program in a fixed order, and where it stands: what changes from design to design, as one vector.

`list_numbers` walks a program; `DesignNumbers.at` tells where the numbers of a place begin and end in the vector. Of a
program of a traced model (`mechanism.tracing.trace`), `DesignNumbers.compiled` gives the vector of any design.

Places are paths of names, as the attributes, keys and indices lead there:

| place | numbers |
|---|---|
| ("constants",) | of the constant rows, in the order of `constant_rows` |
| ("steps", i, "factors") | factors of a LinearStep, one row after the other |
| ("steps", i, "par"), ("steps", i, "start") | of the solver of a GroupStep |
| ("steps", i, "near") | of an AngleStep |
| ("carriers", body, "origin"), (.., "axes", k), (.., "line"), (.., "angle") | factors of the origin's components one after the other, of those of axis k; point and direction of a rod's line; what to add to the angle's row |
| ("model", ..) | of the model by its attributes: ("model", "bodies", "crank", "points", "A"), ("model", "joints", "C", "a"), ("model", "drivers", "theta", "motion", "constants", "omega"), ("model", "size"), ("model", "loads", 0, "stiffness"), .. |
"""  # noqa: E501

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assurgent.mechanism.functions import Expression
from assurgent.mechanism.model import Model
from assurgent.mechanism.numbers.arithmetic import scalars
from assurgent.mechanism.numbers.design_evaluation import Numbers
from assurgent.mechanism.numbers.nominal import replaced
from assurgent.mechanism.numbers.traced import Traced
from assurgent.mechanism.numbers.value_tape import Tape
from assurgent.mechanism.plans.plan import Array
from assurgent.runtime.program import AngleStep, GroupStep, LinearStep, Program, RowCarrier, Terms

Place = tuple[str | int, ...]
PARTS = ("constants", "steps", "carriers", "model")


@dataclass(frozen=True, eq=False)
class DesignNumbers:
    """The numbers of a program as one vector; those that are traced stand where `varying` says."""

    values: tuple[Any, ...]  # floats, and traced numbers
    places: Mapping[Place, slice]
    constant_rows: NDArray[np.int64]

    def at(self, *place: str | int) -> slice:
        """Return where the numbers of a place stand in the vector."""
        return self.places[place]

    @property
    def nominal(self) -> Array:
        """The vector at the nominal design."""
        return np.array([v.value if isinstance(v, Traced) else v for v in self.values], dtype=np.float64)

    @property
    def varying(self) -> NDArray[np.int64]:
        """Which of the numbers depend on parameters; all others are the same for every design."""
        return np.flatnonzero([isinstance(v, Traced) for v in self.values])

    def compiled(self, tape: Tape, varying: bool = False) -> Numbers:
        """Return the function from parameters to the whole vector, or to those of it that are `varying` only."""
        return tape.compiled([v for v in self.values if isinstance(v, Traced)] if varying else self.values)


def list_numbers(program: Program, parts: tuple[str, ...] = PARTS) -> DesignNumbers:
    """Return the numbers of a program; `parts` are the first names of the places that are wanted."""
    values: list[Any] = []
    places: dict[Place, slice] = {}
    for place, found in _numbers(program, parts):
        places[place] = slice(len(values), len(values) + len(found))
        values += found
    return DesignNumbers(tuple(values), places, np.array(list(program.constants), dtype=np.int64))


def at_design(structure: Any, tape: Tape, design: Array) -> tuple[Any, bool]:
    """Return a structure (program, plan, model) with plain numbers, those of one design, and whether it is kept."""
    found: dict[int, Traced] = {}

    def note(x: Traced) -> Traced:
        found[x.index] = x
        return x

    replaced(structure, note)
    values, kept = tape.compiled(list(found.values())).evaluate(np.reshape(design, (-1, 1)))
    number = dict(zip(found, values[:, 0].tolist(), strict=True))
    return replaced(structure, lambda x: number[x.index]), bool(kept[0])


# ---- the walk ------------------------------------------------------------------------------------------------------
def _numbers(program: Program, parts: tuple[str, ...]) -> Iterator[tuple[Place, list[Any]]]:
    if "constants" in parts:
        yield ("constants",), list(program.constants.values())
    for i, step in enumerate(program.steps if "steps" in parts else ()):
        match step:
            case GroupStep():
                yield ("steps", i, "par"), scalars(step.solver.par)
                yield ("steps", i, "start"), scalars(step.solver.start)
            case LinearStep():
                yield ("steps", i, "factors"), _factors(step.terms)
            case AngleStep():
                yield ("steps", i, "near"), [step.near]
    for body, carrier in program.carriers.items() if "carriers" in parts else ():
        yield from _carrier(("carriers", body), carrier)
    if "model" in parts:
        yield ("model", "size"), [program.model.size]
        yield from _model(program.model)


def _factors(terms: tuple[Terms, ...]) -> list[Any]:
    return [c for row in terms for _, c in row]


def _carrier(place: Place, carrier: RowCarrier) -> Iterator[tuple[Place, list[Any]]]:
    yield (*place, "origin"), _factors(carrier.origin)
    for k, axis in enumerate(carrier.axes):
        yield (*place, "axes", k), _factors(axis)
    if carrier.line is not None:
        yield (*place, "line"), [x for part in carrier.line for x in scalars(part)]
    if carrier.angle is not None:
        yield (*place, "angle"), [carrier.angle[1]]


def _model(model: Model) -> Iterator[tuple[Place, list[Any]]]:
    for field in dataclasses.fields(model):
        yield from walk(("model", field.name), getattr(model, field.name))


def walk(place: Place, x: Any) -> Iterator[tuple[Place, list[Any]]]:
    """Yield the numbers of a part of the model: every float and every array."""
    if isinstance(x, np.ndarray):
        yield place, scalars(x.ravel())
    elif isinstance(x, float | Traced):
        yield place, [x]
    elif isinstance(x, Expression):
        yield from walk((*place, "constants"), x.constants)
    elif isinstance(x, Mapping):
        for key, value in x.items():
            yield from walk((*place, key), value)
    elif isinstance(x, tuple):
        for i, value in enumerate(x):
            yield from walk((*place, i), value)
    elif dataclasses.is_dataclass(x) and not isinstance(x, type):
        for field in dataclasses.fields(x):
            yield from walk((*place, field.name), getattr(x, field.name))
