"""Examples whose numbers are all parameters, and their models by reading and by tracing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from assurgent.mechanism.numbers.tracing import TracedModel, trace
from assurgent.mechanism.plans.plan import Array
from assurgent.mechanism.plans.planning import plan_groups, study
from assurgent.mechanism.reader import from_data
from assurgent.motion.kinematics import prepare
from assurgent.runtime.program import ONE, ZERO, AngleStep, GroupStep, LinearStep, Program
from tests.motion.design_numbers import walk

TOLERANCE = 1e-15


def ordinary(data: Mapping[str, Any], traced: TracedModel, design: Array, folder: Path | None = None) -> Any:
    """Return model and plans of a design as the reader and the planner give them."""
    model = from_data(data, "m", dict(zip(traced.names, design.tolist(), strict=True)), folder)
    return model, tuple(plan_groups(model, study(model)))


def assert_same(found: Any, expected: Any, tolerance: float) -> None:
    """Compare all numbers of two structures, each vector relative to its largest entry (or to one)."""
    a, b = dict(walk((), found)), dict(walk((), expected))
    assert a.keys() == b.keys()
    for place, values in a.items():
        scale = max(1.0, np.abs(b[place]).max(initial=0.0))
        np.testing.assert_allclose(values, b[place], rtol=0, atol=tolerance * scale, err_msg=str(place))


def combinations(program: Program) -> dict[object, dict[object, float]]:
    """Return what groups and bodies take as combinations of what drivers and groups give, however rows are numbered."""
    rows: dict[int, dict[object, float]] = {ZERO: {}, ONE: {"one": 1.0}}
    rows |= {row: {("driver", name): 1.0} for name, row in program.drivers.items()}
    rows |= {row: {"one": value} for row, value in program.constants.items()}
    found: dict[object, dict[object, float]] = {}

    def combined(terms: Any) -> dict[object, float]:
        total: dict[object, float] = {}
        for row, factor in terms:
            for key, value in rows[row].items():
                total[key] = total.get(key, 0.0) + factor * value
        return total

    for step in program.steps:
        match step:
            case GroupStep():
                name = step.plan.name
                found |= {(name, k): rows[r] for k, r in enumerate(step.h_rows.tolist())}
                rows |= {r: {(name, "phi", k): 1.0} for k, r in enumerate(step.phi_rows.tolist())}
                points = [] if step.point_rows is None else step.point_rows.ravel().tolist()
                rows |= {r: {(name, "point", k): 1.0} for k, r in enumerate(points)}
                found |= {(name, "par", k): {"one": x} for k, x in enumerate(step.solver.par)}
                found |= {(name, "start", k): {"one": x} for k, x in enumerate(step.solver.start)}
            case LinearStep():
                rows |= {row: combined(terms) for row, terms in zip(step.rows, step.terms, strict=True)}
            case AngleStep():
                k = sum(isinstance(s, AngleStep) for s in program.steps[: program.steps.index(step)])
                found |= {("angle", k, "x"): rows[step.x], ("angle", k, "y"): rows[step.y]}
                found["angle", k, "near"] = {"one": step.near}
                rows[step.row] = {("angle", k): 1.0}
    for body, carrier in program.carriers.items():
        if all(row in rows for part in (carrier.origin, *carrier.axes) for terms in part for row, _ in terms):
            for k, terms in enumerate((*carrier.origin, *(t for axis in carrier.axes for t in axis))):
                found[body, "carrier", k] = combined(terms)
    return found


def assert_same_programs(one: Program, two: Program, tolerance: float) -> None:
    a, b = combinations(one), combinations(two)
    assert a.keys() == b.keys()
    scale = max(1.0, *(abs(x) for terms in b.values() for x in terms.values()))
    for place in a:
        for key in a[place] | b[place]:
            gap = abs(a[place].get(key, 0.0) - b[place].get(key, 0.0))
            assert gap <= tolerance * scale, (place, key)


def traced_program(data: Mapping[str, Any], folder: Path | None) -> tuple[TracedModel, Program]:
    traced = trace(data, folder=folder)
    return traced, prepare(traced.model)[1]
