"""Names, orders, place, size and date of a mechanism change nothing but what they must, and never make a new type."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assurgent.facade import Mechanism
from assurgent.mechanism.copies import expanded
from assurgent.mechanism.plans.plan import GroupPlan
from assurgent.mechanism.plans.planning import plan_groups, studied
from assurgent.mechanism.reader import from_data
from assurgent.mechanism.reader import load as read
from assurgent.motion.kinematics import run
from assurgent.motion.outcome import Outcome

FOLDER = Path(__file__).parents[1] / "data" / "mechanisms"
EXAMPLES = Path(__file__).parents[2] / "examples"
PLANAR = (
    "four-bar",
    "slider-crank",
    "block-on-lever",
    "six-bar",
    "platform",
    "geared-five-bar",
    "slotted-lever",
    "welded-rocker",
)
SPATIAL = ("spatial-slider-crank", "rssr")
# Numbers that are rounded once (1e-16) come out of a chain of two or three groups; the least conditioning on the way
# is 0.03 in these mechanisms, and each derivative divides by it once more: 1e-16 / 0.03³ is 4e-12 per group.
ROUNDING = 1e-10


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"motion_{name}", Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


transformed = _module("transformed")
few = settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
planar = pytest.mark.parametrize("name", PLANAR)
spatial = pytest.mark.parametrize("name", SPATIAL)
every = pytest.mark.parametrize("name", PLANAR + SPATIAL)
ALL = sorted(EXAMPLES.glob("*.toml"))
examples = pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
_known: dict[str, tuple[dict[str, Any], Outcome]] = {}


def base(name: str) -> tuple[dict[str, Any], Outcome]:
    """Return the values of a file and the motion they give."""
    if name not in _known:
        data = Mechanism.load(FOLDER / f"invariance-{name}.toml").data()
        outcome = run(from_data(data, name))
        assert outcome.stop is None
        _known[name] = data, outcome
    return _known[name]


def types(outcome: Outcome) -> list[tuple[str, str]]:
    """Return (type of the group, name of its solver) of all groups, sorted."""
    groups: dict[str, dict[str, str]] = outcome.results.diagnostics["groups"]
    return sorted((g["type"], g["solver"]) for g in groups.values())


def shuffle(draw: st.DataObject) -> Any:
    return lambda items: draw.draw(st.permutations(list(items)))


def check(plain: Outcome, change: Any, folder: Path | None = None) -> None:
    """Run the changed mechanism and compare everything that it reports with the plain one."""
    heard: list[str] = []
    outcome = run(from_data(change.data, "changed", folder=folder), progress=heard.append)
    assert heard == [], "a new type was made"
    assert outcome.stop is None
    assert types(outcome) == types(plain)
    ours, theirs = outcome.results, plain.results
    np.testing.assert_allclose(ours.time - change.delay, theirs.time, rtol=0, atol=1e-12 * (1 + abs(change.delay)))
    model = plain.model
    d, size = model.dimension, model.size * change.scale
    R = np.eye(d) if change.rotation is None else change.rotation
    shift = np.zeros(d) if change.shift is None else change.shift

    def near(found: Any, wanted: Any, least: float) -> None:
        scale = max(least, float(np.max(np.abs(wanted))))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=ROUNDING * scale)

    for name, point in theirs.points.items():
        found = ours.points[change.name("points", name)]
        # far from the origin, places have the rounding of their distance
        near(found.position, shift + change.scale * point.position @ R.T, size + float(np.abs(shift).max()))
        near(found.velocity, change.scale * point.velocity @ R.T, size)
        near(found.acceleration, change.scale * point.acceleration @ R.T, size)
    for name, body in theirs.bodies.items():
        turned = ours.bodies[change.name("bodies", name)]
        if d == 2:
            near(turned.angle - turned.angle[0], body.angle - body.angle[0], 1.0)
            near(turned.angular_velocity, body.angular_velocity, 1.0)
            # a uniform turn has the rounding of its centripetal acceleration
            near(turned.angular_acceleration, body.angular_acceleration, max(1.0, np.max(body.angular_velocity**2)))
        else:
            near(turned.rotation, R @ body.rotation @ R.T, 1.0)
            near(turned.angular_velocity, body.angular_velocity @ R.T, 1.0)
            near(turned.angular_acceleration, body.angular_acceleration @ R.T, 1.0)
    for name, joint in theirs.joints.items():
        sign = -1.0 if name in change.reversed else 1.0
        found = ours.joints[change.name("joints", name)]
        unit = change.scale if joint.displacement is not None and joint.angle is None else 1.0
        near(found.rate, sign * unit * joint.rate, unit)
        near(found.acceleration, sign * unit * joint.acceleration, unit)
        if joint.displacement is not None:
            near(found.displacement, sign * change.scale * joint.displacement, size)
        elif change.rotation is None:
            turns = (found.angle - sign * joint.angle) / (2 * np.pi)
            near(turns, np.round(turns[0]) * np.ones_like(turns), 1.0)


@every
@few
@given(draw=st.data())
def test_names_do_not_matter(name: str, draw: st.DataObject) -> None:
    data, plain = base(name)
    check(plain, transformed.renamed(data, shuffle(draw)))


@every
@few
@given(draw=st.data())
def test_orders_do_not_matter(name: str, draw: st.DataObject) -> None:
    data, plain = base(name)
    check(plain, transformed.reordered(data, shuffle(draw)))


@every
@few
@given(draw=st.data())
def test_the_two_sides_of_a_joint_are_alike(name: str, draw: st.DataObject) -> None:
    data, plain = base(name)
    check(plain, transformed.swapped(data, lambda _: draw.draw(st.booleans())))


def test_a_driven_joint_inside_a_group_has_two_sides() -> None:
    """The type only: that both give the same motion is part of the random mechanisms."""
    data = Mechanism.load(FOLDER / "invariance-driven-coupler.toml").data()
    texts = [specifications(data), specifications(transformed.swapped(data, lambda name: name == "B").data)]
    assert texts[0] == texts[1]


def specifications(data: dict[str, Any]) -> list[str]:
    model = from_data(data, "")
    return [plan.specification for plan in plan_groups(model, studied(model)) if isinstance(plan, GroupPlan)]


@examples
def test_one_instant_is_that_of_the_grid(path: Path) -> None:
    """What lies between the start and an instant does not depend on the other instants that are asked for."""
    model = read(path)
    times = model.simulation.times()
    chosen = sorted({len(times) // 3, len(times) - 1})
    whole = run(model, times).results
    for k in chosen:
        alone = run(model, times[k : k + 1]).results
        for table in ("points", "bodies", "joints"):
            for name, series in getattr(whole, table).items():
                for quantity, values in vars(series).items():
                    if values is not None:
                        found = getattr(getattr(alone, table)[name], quantity)[0]
                        # turns of their own are far off; Newton ends within its tolerance, wherever it comes from
                        scale = max(1.0, float(np.max(np.abs(values))))
                        np.testing.assert_allclose(found, values[k], rtol=0, atol=1e-9 * scale, err_msg=name)


@examples
def test_the_two_sides_of_all_joints_are_alike(path: Path) -> None:
    """All joints on points, and slides on the frame, from their other side, drivers with the opposite sign."""
    data = dict(expanded(Mechanism.load(path).data(), path.stem, {}))
    plain = run(from_data(data, path.stem, folder=path.parent))
    check(plain, transformed.swapped(data, lambda name: _has_two_sides(data["joints"][name])), path.parent)


def _has_two_sides(joint: dict[str, Any]) -> bool:
    return joint["type"] != "P" or "frame" in joint["bodies"]


@planar
@few
@given(angle=st.floats(-3, 3), shift=st.tuples(st.floats(-50, 50), st.floats(-50, 50)))
def test_a_plane_mechanism_may_stand_anywhere(name: str, angle: float, shift: Sequence[float]) -> None:
    data, plain = base(name)
    R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    check(plain, transformed.moved(data, plain.model, R, plain.model.size * np.array(shift) / 10))


@spatial
@few
@given(turn=st.tuples(*[st.floats(-2, 2)] * 3), shift=st.tuples(*[st.floats(-50, 50)] * 3))
def test_a_spatial_mechanism_may_stand_anywhere(name: str, turn: Sequence[float], shift: Sequence[float]) -> None:
    data, plain = base(name)
    S = np.cross(np.eye(3), np.array(turn) / 2)
    R = np.linalg.solve(np.eye(3) + S, np.eye(3) - S)  # Cayley: a rotation for every skew matrix
    check(plain, transformed.moved(data, plain.model, R, plain.model.size * np.array(shift) / 10))


@every
@few
@given(factor=st.sampled_from([1e-3, 0.1, 0.3, 25.4, 1000.0]))
def test_lengths_scale(name: str, factor: float) -> None:
    data, plain = base(name)
    check(plain, transformed.scaled(data, plain.model, factor))


@every
@few
@given(delay=st.floats(-20, 20))
def test_the_date_does_not_matter(name: str, delay: float) -> None:
    data, plain = base(name)
    check(plain, transformed.delayed(data, delay))
