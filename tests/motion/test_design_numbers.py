"""Numbers of designs from a tape against the reader and the planner run at these designs, and what is not kept."""

from __future__ import annotations

import copy
import importlib.util
import sys
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from assurgent.common.errors import AssurgentError
from assurgent.mechanism.numbers.tracing import TracedModel, trace
from assurgent.mechanism.plans.plan import Array, GroupPlan
from assurgent.mechanism.plans.planning import plan_groups, study
from assurgent.mechanism.reader import from_data
from assurgent.motion.kinematics import prepare
from assurgent.runtime.program import ONE, ZERO, AngleStep, GroupStep, LinearStep, Program, build

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.toml"))
NAMES = [path.stem for path in EXAMPLES]
SPATIAL = [path.stem for path in EXAMPLES if tomllib.loads(path.read_text("utf-8"))["space"] == "spatial"]
SPATIAL_TOLERANCE = 2e-14  # a fit by singular values has a condition; planar numbers are sums of a few products
TOLERANCE = 1e-15


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"motion_{name}", Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


drawn = _module("random_mechanisms")
numbers_by_name = _module("design_numbers")
at_design, list_numbers, walk = numbers_by_name.at_design, numbers_by_name.list_numbers, numbers_by_name.walk
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


def ordinary(data: Mapping[str, Any], traced: TracedModel, design: Array, folder: Path | None = None) -> Any:
    """Return model and plans of a design as the reader and the planner give them."""
    model = from_data(data, "m", dict(zip(traced.names, design.tolist(), strict=True)), folder)
    return model, tuple(plan_groups(model, study(model)))


def nearby(traced: TracedModel, seed: int, share: float = 1e-3) -> Array:
    noise = np.random.default_rng(seed).standard_normal(len(traced.nominal))
    return traced.nominal + share * noise * np.maximum(0.1, np.abs(traced.nominal))


def assert_same(found: Any, expected: Any, tolerance: float) -> None:
    """Compare all numbers of two structures, each vector relative to its largest entry (or to one)."""
    a, b = dict(walk((), found)), dict(walk((), expected))
    assert a.keys() == b.keys()
    for place, values in a.items():
        scale = max(1.0, np.abs(b[place]).max(initial=0.0))
        np.testing.assert_allclose(values, b[place], rtol=0, atol=tolerance * scale, err_msg=str(place))


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


@pytest.mark.parametrize("name", SPATIAL)
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


# ---- programs -------------------------------------------------------------------------------------------------------
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


# ---- decisions ------------------------------------------------------------------------------------------------------
def planar(**changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        "format": 1, "space": "planar",
        "parameters": {"a": 1.0, "b": 3.0, "x": 2.5, "y": 2.0, "d": 4.0, "s": 0.5},
        "points": {"A": [0, 0], "B": ["a", 0], "C": ["x", "y"], "D": ["d", 0]},
        "bodies": {
            "frame": {"points": ["A", "D"]}, "crank": {"points": ["A", "B"], "length": "a"},
            "coupler": {"points": ["B", "C"], "length": "b"}, "rocker": {"points": ["D", "C"]},
        },
        "joints": {
            "A": {"type": "R", "bodies": ["frame", "crank"], "at": "A"},
            "B": {"type": "R", "bodies": ["crank", "coupler"], "at": "B"},
            "C": {"type": "R", "bodies": ["coupler", "rocker"], "at": "C"},
            "D": {"type": "R", "bodies": ["frame", "rocker"], "at": "D"},
        },
        "drivers": {"theta": {"joint": "A", "angle": "t"}},
    }  # fmt: skip
    for table, entries in changes.items():
        data[table] = {**data.get(table, {}), **entries}
    return data


FLIPS: dict[str, tuple[dict[str, Any], dict[str, float], dict[str, float]]] = {
    # data, a design far away that is planned alike, one that is not
    "a negative length": (planar(), {"b": 9.0}, {"b": -3.0}),
    "a body turned round": (planar(bodies={"crank": {"points": ["A", "B"]}}), {"a": 7.0}, {"a": -1.0}),
    "a body without length": (planar(), {"x": 1.0, "y": -8.0}, {"x": 4.0, "y": 0.0}),
    "no number": (planar(points={"C": ["x", "sqrt(y)"]}), {"y": 3.0}, {"y": -1.0}),
    "a mass below zero": (planar(bodies={"rocker": {"points": ["D", "C"], "mass": "s"}}), {"s": 0.0}, {"s": -0.1}),
    "two points at one place": (
        planar(bodies={"rocker": {"points": ["D", "E", "C"], "local": {"D": [0, 0], "E": ["s", 1], "C": ["d", "y"]}}},
               points={"E": ["d", 1]}),
        {"s": -0.5, "y": 1.0},
        {"d": 0.0, "y": 0.0},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FLIPS)
def test_designs_that_flip_a_decision_are_not_kept(name: str) -> None:
    data, alike, flipped = FLIPS[name]
    traced = trace(data)
    plans = tuple(plan_groups(traced.model, study(traced.model)))
    design = traced.designs(alike)[:, 0]
    found, kept = at_design((traced.model, plans), traced.tape, design)
    assert kept
    assert_same(found, ordinary(data, traced, design), TOLERANCE)
    design = traced.designs(flipped)[:, 0]
    found, kept = at_design((traced.model, plans), traced.tape, design)
    assert not kept
    try:
        other = ordinary(data, traced, design)
    except AssurgentError:
        return  # the ordinary way refuses it
    with pytest.raises(AssertionError):  # or plans it otherwise
        assert_same(found, other, 1e-6)


def test_most_designs_of_a_wide_range_are_kept() -> None:
    """What needs no decision takes none: the directions in a sketch may turn all the way round."""
    traced = trace(planar())
    plans = tuple(plan_groups(traced.model, study(traced.model)))
    numbers = [x for _, values in walk((), (traced.model, plans)) for x in values]
    rng = np.random.default_rng(6)
    x, y, b = rng.uniform([[-9], [-9], [0.1]], 9, (3, 500))
    designs = traced.designs({"x": x, "y": y, "b": b})
    values, kept = traced.tape.compiled(numbers).evaluate(designs)
    assert kept.all()
    for k in range(0, 500, 50):
        expected = [x for _, part in walk((), ordinary(planar(), traced, designs[:, k])) for x in part]
        np.testing.assert_allclose(values[:, k], expected, atol=1e-14)


def test_points_that_meet_at_the_nominal_design_stay_two() -> None:
    """Two dyads on one coupler, their pins at one place at the nominal design only."""
    links = {"link1": ["E", "F"], "arm1": ["G", "F"], "link2": ["H", "I"], "arm2": ["K", "I"]}
    ties = {"E": ["coupler", "link1"], "F": ["link1", "arm1"], "G": ["frame", "arm1"]}
    ties |= {"H": ["coupler", "link2"], "I": ["link2", "arm2"], "K": ["frame", "arm2"]}
    data = planar(
        parameters={"g": 2.0, "h": 2.0},
        points={"E": ["g", 1], "H": ["h", 1], "F": [1, -2], "G": [2, -2], "I": [3, -2], "K": [4, -3]},
        bodies={
            "frame": {"points": ["A", "D", "G", "K"]}, "coupler": {"points": ["B", "C", "E", "H"]},
            **{name: {"points": points} for name, points in links.items()},
        },
        joints={name: {"type": "R", "bodies": bodies, "at": name} for name, bodies in ties.items()},
    )  # fmt: skip
    traced, program = traced_program(data, None)
    for g, h in ((2.0, 2.0), (2.3, 2.0), (2.0, 1.8), (1.7, 2.4)):
        design = traced.designs({"g": g, "h": h})[:, 0]
        found, kept = at_design(program, traced.tape, design)
        assert kept
        model, plans = ordinary(data, traced, design)
        assert_same_programs(found, build(model, plans, lambda _: None), 1e-14)


def test_welded_parts_turn_motions_and_profiles_by_traced_angles() -> None:
    """Driver and cam stand on a part whose angle in its rigid body is a function of parameters."""
    data: dict[str, Any] = {
        "format": 1, "space": "planar", "parameters": {"x": 1.0, "y": 0.5, "r": 0.4, "w": 2.0},
        "points": {"A": [0, 0], "B": [1, 0], "C": ["x", "y"], "F": [0, 1.4], "G": [0, 3]},
        "bodies": {
            "frame": {"points": ["A", "G"]}, "arm": {"points": ["A", "B"]}, "disc": {"points": ["A", "C"]},
            "tappet": {"points": ["F"]},
        },
        "joints": {
            "A": {"type": "R", "bodies": ["frame", "disc"], "at": "A"},
            "W": {"type": "weld", "bodies": ["arm", "disc"]},
            "G": {"type": "P", "bodies": ["frame", "tappet"], "at": "F", "through": "G", "axis": [0, 1]},
            "K": {"type": "cam", "bodies": ["disc", "tappet"], "centre": "A", "profile": "1 + r*cos(u)",
                  "follower": {"point": "F"}},
        },
        "drivers": {"theta": {"joint": "A", "angle": "w*t"}},
    }  # fmt: skip
    traced = trace(data)
    design = traced.designs({"x": 0.7, "y": -0.9, "r": 0.3, "w": 1.7})[:, 0]
    found, kept = at_design(traced.model, traced.tape, design)
    assert kept
    expected = from_data(data, "m", dict(zip(traced.names, design.tolist(), strict=True)))
    assert expected.drivers["theta"].offset != 0
    times = np.linspace(0, 3, 7)
    for one, two in (
        (found.drivers["theta"].motion, expected.drivers["theta"].motion),
        (found.joints["K"].profile, expected.joints["K"].profile),
    ):
        np.testing.assert_allclose(one(times), two(times), rtol=1e-15, atol=1e-15)
    assert found.drivers["theta"].offset == pytest.approx(expected.drivers["theta"].offset, rel=1e-15)


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
