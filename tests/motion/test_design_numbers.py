"""Numbers of designs from a tape against the reader and the planner run at these designs, and what is not kept."""

from __future__ import annotations

import copy
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assurgent.mechanism.numbers.tracing import TracedModel, trace
from assurgent.mechanism.plans.plan import Array, GroupPlan
from assurgent.mechanism.plans.planning import plan_groups, study
from assurgent.mechanism.reader import from_data
from assurgent.motion.kinematics import prepare
from assurgent.runtime.program import GroupStep, LinearStep, build
from tests.motion import random_mechanisms as drawn
from tests.motion.design_numbers import at_design, list_numbers, walk
from tests.motion.traced_examples import TOLERANCE, assert_same, assert_same_programs, ordinary, traced_program

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.toml"))
NAMES = [path.stem for path in EXAMPLES]
SPATIAL = [path.stem for path in EXAMPLES if tomllib.loads(path.read_text("utf-8"))["space"] == "spatial"]
SPATIAL_TOLERANCE = 2e-14  # a fit by singular values has a condition; planar numbers are sums of a few products

GROUPS = {
    **{kind: ("planar", text) for kind, text in {**drawn.DYADS, **drawn.TRIAD, **drawn.PLANAR_GROUPS}.items()},
    **{kind: ("spatial", text) for kind, text in drawn.SPATIAL_GROUPS.items()},
}


def parametrised(data: Mapping[str, Any], zeros: bool = False) -> dict[str, Any]:
    """Return a file's values with a parameter for every number of its points, bodies and joints (but zero)."""
    found = copy.deepcopy(dict(data))
    parameters = found.setdefault("parameters", {})

    def named(x: Any) -> Any:
        if isinstance(x, list):
            return [named(v) for v in x]
        if isinstance(x, dict):
            return {k: v if k == "points" else named(v) for k, v in x.items()}
        if isinstance(x, bool | str) or (x == 0 and not zeros):
            return x
        parameters[f"n{len(parameters)}"] = float(x)
        return f"n{len(parameters) - 1}"

    for table in ("points", "bodies", "joints"):
        found[table] = {name: named(value) for name, value in found.get(table, {}).items()}
    return found


def example(name: str) -> tuple[dict[str, Any], Path]:
    path = EXAMPLES[NAMES.index(name)]
    return tomllib.loads(path.read_text("utf-8")), path.parent


def nearby(traced: TracedModel, seed: int, share: float = 1e-3) -> Array:
    noise = np.random.default_rng(seed).standard_normal(len(traced.nominal))
    return traced.nominal + share * noise * np.maximum(0.1, np.abs(traced.nominal))


# ---- models and plans: everything that a file can say ---------------------------------------------------------------
def check(data: Mapping[str, Any], folder: Path | None, seed: int, tolerance: float) -> None:
    traced = trace(data, folder=folder)
    plans = tuple(plan_groups(traced.model, study(traced.model)))
    design = nearby(traced, seed)
    found, kept = at_design((traced.model, plans), traced.tape, design)
    assert kept
    expected = ordinary(data, traced, design, folder)
    assert [_text(p) for p in found[1]] == [_text(p) for p in expected[1]]
    assert_same(found, expected, tolerance)
    assert_same(*(x[0].size for x in (found, expected)), tolerance)  # type: ignore[misc]


def _text(plan: Any) -> str:
    return plan.specification if isinstance(plan, GroupPlan) else ""


# Copies placed by points: a sketch with other numbers is read for each design on its own, and a guard says so.
@pytest.mark.parametrize("name", [n for n in NAMES if n not in (*SPATIAL, "six-leg-walker")])
def test_every_number_of_planar_examples_follows(name: str) -> None:
    data, folder = example(name)
    for zeros in (False, True):
        check(parametrised(data, zeros), folder, 1, TOLERANCE)


# Linkages that move only at their own lengths are locked beside them; wheels mesh about the axes of their bearings.
AS_THEY_ARE = ("bricard", "schatz", "car-differential")


@pytest.mark.parametrize("name", [n for n in SPATIAL if n not in AS_THEY_ARE])
def test_every_number_of_spatial_examples_follows(name: str) -> None:
    data, folder = example(name)
    check(parametrised(data), folder, 1, SPATIAL_TOLERANCE)


@pytest.mark.parametrize("kind", GROUPS)
def test_every_kind_of_joint_and_group(kind: str) -> None:
    space, topology = GROUPS[kind]
    tolerance = TOLERANCE if space == "planar" else SPATIAL_TOLERANCE
    for seed, noise in ((1, 0.0), (2, 0.02)):
        sample = drawn.draw(seed, kind, [topology], space, noise)
        check(parametrised(sample.mechanism.data()), None, seed, tolerance)


SHIPPED = ("four-bar", "slider-crank", "jansen-leg", "klann-leg", "pantograph", "scissor-lift", "quick-return",
           "scotch-yoke", "oldham-coupling", "spatial-slider-crank", "watt-six-bar", "five-bar")  # fmt: skip


@pytest.mark.parametrize("name", SHIPPED)
def test_programs_of_designs(name: str) -> None:
    data, folder = example(name)
    for values in (data, parametrised(data)):
        traced, program = traced_program(values, folder)
        design = nearby(traced, 2)
        found, kept = at_design(program, traced.tape, design)
        assert kept
        model, plans = ordinary(values, traced, design, folder)
        assert_same_programs(found, build(model, plans, lambda _: None), 1e-14)


def test_the_vector_and_its_places() -> None:
    data, folder = example("slider-crank")
    traced, program = traced_program(parametrised(data), folder)
    numbers = list_numbers(program)
    design = nearby(traced, 3)
    vector, kept = numbers.compiled(traced.tape).evaluate(design[:, None])
    some, _ = numbers.compiled(traced.tape, varying=True).evaluate(design[:, None])
    plain, _ = at_design(program, traced.tape, design)
    assert kept[0]
    np.testing.assert_array_equal(some, vector[numbers.varying])
    np.testing.assert_array_equal(np.delete(numbers.nominal, numbers.varying), np.delete(vector[:, 0], numbers.varying))
    value = lambda *place: vector[numbers.at(*place), 0].tolist()  # noqa: E731
    assert value("constants") == list(plain.constants.values())
    assert numbers.constant_rows.tolist() == list(plain.constants)
    for i, step in enumerate(plain.steps):
        if isinstance(step, GroupStep):
            assert value("steps", i, "par") == step.solver.par.tolist()
            assert value("steps", i, "start") == step.solver.start.tolist()
        elif isinstance(step, LinearStep):
            assert value("steps", i, "factors") == [c for terms in step.terms for _, c in terms]
    for body, carrier in plain.carriers.items():
        assert value("carriers", body, "origin") == [c for terms in carrier.origin for _, c in terms]
        for point, local in plain.model.bodies[body].points.items():
            assert value("model", "bodies", body, "points", point) == local.tolist()
    for name, joint in plain.model.joints.items():
        assert value("model", "joints", name, "a") == joint.a.tolist()
        assert value("model", "joints", name, "angle") == [joint.angle]
    assert value("model", "size") == pytest.approx([plain.model.size], rel=1e-15)
    sizes = [s.stop - s.start for s in numbers.places.values()]
    assert sum(sizes) == len(numbers.values)
    assert list_numbers(program, ("constants", "steps")).places.keys() < numbers.places.keys()


# ---- derivatives ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["RRP", "6R", "geared loop", "pinion and rack", "turn of the coupler", "RSSR", "RSCR"])
def test_derivatives_of_every_number(kind: str) -> None:
    """Against Richardson's extrapolation of central differences of the ordinary way."""
    space, topology = GROUPS[kind]
    data = parametrised(drawn.draw(4, kind, [topology], space, 0.02).mechanism.data())
    traced = trace(data)
    plans = tuple(plan_groups(traced.model, study(traced.model)))
    numbers = [x for _, values in walk((), (traced.model, plans)) for x in values]
    design, places = nearby(traced, 5), np.linspace(0, len(traced.names) - 1, 6).astype(int)
    rates = traced.tape.compiled(numbers).tangents(design[:, None])[:, :, 0]

    def flat(x: Array) -> Array:
        return np.array([v for _, values in walk((), ordinary(data, traced, x)) for v in values])

    for j in places:
        h = 2e-3 * (np.arange(len(design)) == j)
        d1, d2, d4 = ((flat(design + k * h) - flat(design - k * h)) / (4e-3 * k) for k in (1, 0.5, 0.25))
        e1, e2 = (4 * d2 - d1) / 3, (4 * d4 - d2) / 3
        np.testing.assert_allclose(rates[:, j], (16 * e2 - e1) / 15, rtol=1e-8, atol=1e-8)


# ---- cost -----------------------------------------------------------------------------------------------------------
def test_tracing_costs_no_more_than_a_few_readings() -> None:
    data, folder = example("jansen-leg")
    data = parametrised(data)

    def least(work: Any) -> float:
        def once() -> float:
            start = time.process_time()
            work()
            return time.process_time() - start

        return min(once() for _ in range(7))

    def plain() -> None:
        prepare(from_data(data, "m", None, folder))

    assert least(lambda: traced_program(data, folder)) <= 3 * least(plain)
