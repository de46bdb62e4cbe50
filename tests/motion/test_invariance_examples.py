"""The laws of `test_invariance` on every example: names, orders, place, size, date, threads; one plane in space."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from assurgent.facade import Mechanism
from assurgent.mechanism.copies import expanded
from assurgent.mechanism.numbers.tracing import free_parameters
from assurgent.mechanism.reader import from_data
from assurgent.motion.kinematics import run
from assurgent.motion.outcome import Outcome

EXAMPLES = Path(__file__).parents[2] / "examples"
ALL = sorted(
    str(path.relative_to(EXAMPLES).with_suffix(""))
    for path in EXAMPLES.rglob("*.toml")
    if "synthesis" not in tomllib.loads(path.read_text("utf-8"))  # begins anywhere, its sketch need not close
)
# Bricard's loop is the same from every one of its hinges, and near its limits its accelerations lose half their digits.
ALL.remove("bricard")
NAMES = [name for name in ALL if Mechanism.load(EXAMPLES / f"{name}.toml").drivers]  # the others move under loads


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"motion_{name}", Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


transformed, invariance = _module("transformed"), _module("test_invariance")
groups = _module("transformed_groups")
every = pytest.mark.parametrize("name", NAMES)


@cache
def base(name: str) -> tuple[dict[str, Any], Outcome]:
    """Return the values of an example, with few times, and the motion they give."""
    m = Mechanism.load(EXAMPLES / f"{name}.toml")
    m.forces, m.initial, m.actuators = {}, {}, {}
    start, stop = (m.model().simulation.start, m.model().simulation.stop)
    m.simulation = {"start": start, "stop": start + 0.3 * (stop - start), "step": 0.05 * (stop - start)}
    data = dict(expanded(m.data(), name, {}))  # copies written out
    outcome = run(from_data(data, name))
    assert outcome.stop is None
    return data, outcome


def order(name: str) -> Any:
    """Return what shuffles lists, alike in every run of the tests."""
    rng = np.random.default_rng(len(name))
    return lambda items: [list(items)[i] for i in rng.permutation(len(items))]


def rotation(dimension: int) -> Any:
    if dimension == 2:
        return np.array([[np.cos(1.1), -np.sin(1.1)], [np.sin(1.1), np.cos(1.1)]])
    S = np.cross(np.eye(3), np.array([0.3, -0.5, 0.2]))
    return np.linalg.solve(np.eye(3) + S, np.eye(3) - S)


@every
def test_names_and_orders_do_not_matter(name: str) -> None:
    data, plain = base(name)
    renamed = transformed.renamed(data, order(name))
    invariance.check(plain, groups.regrouped(data, renamed, groups.new_names(renamed.name)))
    invariance.check(plain, groups.regrouped(data, transformed.reordered(data, order(name))))


@every
def test_place_size_and_date_do_not_matter(name: str) -> None:
    data, plain = base(name)
    model = plain.model
    shift = model.size * np.array([1.7, -2.3, 0.6])[: model.dimension]
    R = rotation(model.dimension)
    moved, scaled = transformed.moved(data, model, R, shift), transformed.scaled(data, model, 25.4)
    invariance.check(plain, groups.regrouped(data, moved, groups.turned(R, shift)))
    invariance.check(plain, groups.regrouped(data, scaled, groups.longer(25.4)))
    if not groups.explicit_in_time(data):
        invariance.check(plain, transformed.delayed(data, 3.7))


@every
def test_threads_give_the_same_digits(name: str) -> None:
    _, plain = base(name)
    several = run(plain.model, threads=3).results
    for point, series in plain.results.points.items():
        assert np.array_equal(series.position, several.points[point].position)
        assert np.array_equal(series.acceleration, several.points[point].acceleration)


@every
def test_a_batch_is_its_single_runs(name: str) -> None:
    """Designs beside the nominal one: in one call, and each read anew."""
    data, plain = base(name)
    m = Mechanism.load(EXAMPLES / f"{name}.toml")
    m.forces, m.initial, m.actuators, m.simulation = {}, {}, {}, data["simulation"]
    if not free_parameters(m.data()):
        m.parameter("unused", 1.0)
    parameter = free_parameters(m.data())[0]
    c = m.compile(times=plain.results.time)
    values = float(m.parameters[parameter]) * np.array([1.0, 1.001, 0.999])
    found = c.batch({parameter: values})
    for i, value in enumerate(values.tolist()):
        alone = run(from_data(m.data(), name, {parameter: value}), plain.results.time)
        assert (found.status[i] == 0) == (alone.stop is None)
        solved = len(alone.results)
        assert found.solved[i] == solved
        for point, series in alone.results.points.items():
            for quantity in ("position", "velocity", "acceleration"):
                exact, ours = getattr(series, quantity), getattr(found.points[point], quantity)[i, :solved]
                scale = max(plain.model.size, float(np.abs(exact).max(initial=0.0)))
                np.testing.assert_allclose(ours, exact, rtol=0, atol=1e-11 * scale)


def _pins_and_slides(name: str) -> bool:
    m = Mechanism.load(EXAMPLES / f"{name}.toml")
    kinds = {joint["type"] for joint in m.joints.values()}
    return m.space == "planar" and kinds <= {"R", "P", "weld"} and bool(m.drivers)


QUICK = ("four-bar", "slider-crank")  # each makes types of its own


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in QUICK else pytest.mark.long) for n in ALL if _pins_and_slides(n)],
)
def test_a_plane_mechanism_written_in_space(name: str) -> None:
    """Pins whose axes are parallel hold more than they need in space; the motion is the same."""
    data, plain = base(name)
    outcome = run(from_data(transformed.in_space(data, plain.model).data, name))
    assert outcome.stop is None
    for point, series in plain.results.points.items():
        found = outcome.results.points[point]
        for quantity in ("position", "velocity", "acceleration"):
            exact, ours = getattr(series, quantity), getattr(found, quantity)
            scale = max(plain.model.size, float(np.abs(exact).max()))
            np.testing.assert_allclose(ours[:, :2], exact, rtol=0, atol=invariance.ROUNDING * scale)
            np.testing.assert_allclose(ours[:, 2], 0.0, rtol=0, atol=invariance.ROUNDING * scale)
