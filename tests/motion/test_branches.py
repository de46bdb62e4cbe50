"""Branches are held where they come near, crossed where they meet, and lost only with a word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assurgent.common.errors import AssemblyError
from assurgent.facade import Mechanism
from assurgent.motion.kinematics import run
from assurgent.motion.run import Solution


def four_bar(rod: float, angle: str, *, step: float = 0.01, stop: float = 2.0, mode: int | None = None) -> Mechanism:
    """Frame 3, cranks of 1: a parallelogram for a rod of 3."""
    m = Mechanism("four-bar")
    for name, place in {"A": (0, 0), "B": (0.8, 0.6), "C": (3.8, 0.6), "D": (3, 0)}.items():
        m.point(name, place)
    m.body("frame", ["A", "D"])
    m.body("crank", ["A", "B"], length=1)
    m.body("rod", ["B", "C"], length=rod)
    m.body("rocker", ["D", "C"], length=1)
    loop = ["frame", "crank", "rod", "rocker", "frame"]
    for name, first, second in zip("ABCD", loop[:-1], loop[1:], strict=True):
        m.joint(name, "R", [first, second], at=name)
    m.driver("theta", joint="A", angle=angle)
    m.simulation.update(stop=stop, step=step)
    if mode is not None:
        m.assembly["RRR_1"] = mode
    return m


@pytest.mark.parametrize(
    ("angle", "step"),
    [
        ("0.7 + 2*pi*t", 0.01),  # passes its change points between two steps
        ("pi/4 + 2*pi*t", 0.0125),  # has a step exactly at each of them
        ("0.7 + 2*pi*t", 1 / 36),  # steps of ten degrees
        ("0.5 + 3*sin(pi*t)", 0.01),  # there and back
    ],
)
def test_a_parallelogram_stays_one_through_its_change_points(angle: str, step: float) -> None:
    """The rod keeps its direction: C moves as B does, in position, velocity and acceleration."""
    results = four_bar(3, angle, step=step).run()
    B, C = results.points["B"], results.points["C"]
    assert len(results.time) == len(np.unique(results.time))
    # next to a change point the bars are in line to within a conditioning of 0.02: digits go as 1e-16 / 0.02^k
    np.testing.assert_allclose(C.position - B.position, np.tile([3.0, 0.0], (len(results.time), 1)), atol=1e-12)
    np.testing.assert_allclose(C.velocity, B.velocity, atol=1e-9 * np.abs(B.velocity).max())
    np.testing.assert_allclose(C.acceleration, B.acceleration, atol=1e-8 * np.abs(B.acceleration).max())


def test_change_points_of_many_turns_cost_as_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two change points in each of many turns: every one is passed, and twice the turns take twice the lanes."""
    from assurgent.motion import branches

    lanes, solve = [], branches.solve

    def counted(*arguments: Any, **options: Any) -> Solution:
        found = solve(*arguments, **options)
        lanes[-1] += len(found.time)
        return found

    monkeypatch.setattr(branches, "solve", counted)
    for turns in (32, 64):
        lanes.append(0)
        results = four_bar(3, "0.7 + 2*pi*t", step=0.1, stop=turns).run()
        B, C = results.points["B"], results.points["C"]
        assert len(results.time) == 10 * turns + 1
        np.testing.assert_allclose(C.position - B.position, np.tile([3.0, 0.0], (len(results.time), 1)), atol=1e-12)
        np.testing.assert_allclose(C.velocity, B.velocity, atol=1e-9 * np.abs(B.velocity).max())
    assert lanes[1] < 2.2 * lanes[0]


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6])
def test_branches_that_only_come_near_are_held(gap: float) -> None:
    """A frame that is a little shorter than the rod lets the cranks go round without the bars ever being in line."""
    m = four_bar(3, "0.7 + 2*pi*t")
    m.bodies["rocker"]["length"] = 1 + 2 * gap  # with the rod 3 + gap: Grashof, crank shortest
    m.bodies["rod"]["length"] = 3 + gap
    results = m.run()
    B, C = results.points["B"].position, results.points["C"].position
    DB, CB = np.array([3.0, 0.0]) - B, C - B
    side = DB[:, 0] * CB[:, 1] - DB[:, 1] * CB[:, 0]
    assert len(results.time) == 201
    assert np.all(side > 0) or np.all(side < 0)


@pytest.mark.parametrize("gap", [1e-3, 1e-5, 1e-8])
def test_a_group_that_comes_apart_between_two_steps_stops_the_run(gap: float) -> None:
    """With a rod shorter by `gap` the crank cannot pass θ = π: acos gives the angle at which the bars are in line."""
    rod = 3 - gap
    m = four_bar(rod, "0.7 + 2*pi*t", stop=1.0)
    outcome = run(m.model())
    assert outcome.stop is not None
    # |B - D| = rod + rocker ends it: 1 + 9 - 6 cos θ = (rod + 1)²
    reach = np.arccos((10 - (rod + 1) ** 2) / 6)
    lost = (reach - 0.7) / (2 * np.pi)
    assert outcome.results.time[-1] < lost < outcome.results.time[-1] + 0.01 + 1e-12
    assert lost <= outcome.stop.time <= 0.5
    assert outcome.stop.group == "RRR_1"


def test_the_other_mode_is_the_antiparallelogram() -> None:
    """[assembly] chooses the crossed linkage; it keeps crossed, and its rod really has its length."""
    plain, crossed = (four_bar(3, "0.7 + 0.5*t", mode=m).run() for m in (1, 2))
    ends = [r.points["C"].position - r.points["B"].position for r in (plain, crossed)]
    for way in ends:
        np.testing.assert_allclose(np.linalg.norm(way, axis=1), 3.0, rtol=1e-14)
    assert np.abs(ends[0][:, 1]).max() > 0.1 or np.abs(ends[1][:, 1]).max() > 0.1
    assert np.linalg.norm(ends[0] - ends[1], axis=1).min() > 0.1


def slider_crank(rod: float) -> Mechanism:
    m = Mechanism("slider-crank")
    for name, place in {"A": (0, 0), "B": (0.8, 0.6), "C": (1.6, 0)}.items():
        m.point(name, place)
    m.body("frame", ["A"])
    m.body("crank", ["A", "B"], length=1)
    m.body("rod", ["B", "C"], length=rod)
    m.body("slider", ["C"])
    m.joint("A", "R", ["frame", "crank"], at="A")
    m.joint("B", "R", ["crank", "rod"], at="B")
    m.joint("C", "R", ["rod", "slider"], at="C")
    m.joint("G", "P", ["frame", "slider"], at="C", axis=[1, 0], through="A")
    m.driver("theta", joint="A", angle="0.6435 + 2*pi*t")
    m.simulation.update(stop=2, step=0.01)
    return m


def test_a_slider_crank_of_equal_lengths_passes_the_pin_of_its_crank() -> None:
    """x = 2 cos θ goes through zero smoothly, where both branches of the rod coincide."""
    results = slider_crank(1).run()
    theta = 0.6435 + 2 * np.pi * results.time
    C = results.points["C"]
    np.testing.assert_allclose(C.position[:, 0], 2 * np.cos(theta), atol=1e-12)
    np.testing.assert_allclose(C.velocity[:, 0], -4 * np.pi * np.sin(theta), atol=1e-9)


def test_a_dead_point_of_the_driver_is_named_with_its_time() -> None:
    """Driven at the slider, the mechanism cannot go beyond its stretched position x = 1 + rod."""
    m = slider_crank(2)
    m.drivers.clear()
    m.driver("s", joint="G", displacement="2 + t")
    with pytest.raises(AssemblyError, match=r"group RRR_1 .*rod.* at t = 1 s: .*dead point") as caught:
        m.run()
    results = caught.value.results
    assert 0.98 <= results.time[-1] <= 1.0
    assert np.isfinite(results.points["B"].position).all()


def test_few_instants_about_a_driver_at_rest() -> None:
    """Between far instants a bridge about a resting driver was narrowed to nothing, and divided by."""
    from pathlib import Path

    from assurgent.mechanism.reader import load
    from assurgent.motion.change_points import INEXACT

    model = load(Path(__file__).parents[2] / "examples" / "scissor-lift.toml", {})
    few = run(model, np.array([2.0, 6.0, 10.0, 14.0, 18.0]))
    many = run(model)
    assert few.stop is None
    whole = np.isin(many.results.time.round(9), few.results.time)
    for name, point in few.results.points.items():
        # where branches meet, the motion is bridged; a bridge is kept when it is as exact as this
        assert np.abs(point.position - many.results.points[name].position[whole]).max() < INEXACT * model.size


def test_what_is_suspicious_everywhere_is_not_solved_anew_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pin 4e29 m away made every step suspicious, and each of them was solved again: 190,000 times, in a minute."""
    from pathlib import Path

    from assurgent.motion import branches, closer_look

    calls = 0

    def counted(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        return closer_look.part_of(*given)

    monkeypatch.setattr(branches, "part_of", counted)
    m = Mechanism.load(Path(__file__).parents[1] / "data" / "mechanisms" / "invariance-platform.toml")
    m.points["b1"] = [1.2, -4e29]
    with pytest.raises(AssemblyError, match=r"g4-.* at t = 0 s: .*dead point"):
        m.run(method="global-sparse")
    assert calls < 1000


def test_what_does_not_close_is_no_assembly_however_far_away() -> None:
    """With a guide 5e29 m away Newton went on until no step was seen: a crank of half a metre was 2.6e26 m long."""
    from assurgent.mechanism.reader import loads

    text = """
format = 1
space = "planar"
points = { O = [0, 0], A = [0, 0.5], C = [2, 0], W = [2.3, 0.4], K = [2, 5e29] }
[bodies]
frame = { points = ["O", "C"] }
crank = { points = ["O", "A"] }
rack = { points = ["A"] }
saddle = { points = ["C", "K"] }
wheel = { points = ["C", "W"] }
[joints]
O = { type = "R", bodies = ["frame", "crank"], at = "O" }
A = { type = "R", bodies = ["crank", "rack"], at = "A" }
S = { type = "P", bodies = ["saddle", "rack"], at = "A", through = "K", axis = [1, 0] }
C = { type = "R", bodies = ["frame", "saddle"], at = "C" }
D = { type = "R", bodies = ["frame", "wheel"], at = "C" }
M = { type = "rack", bodies = ["wheel", "rack"], radius = 0.5, axis = [1, 0] }
[drivers]
theta = { joint = "D", angle = "atan2(0.4, 0.3) + 0.5*sin(t)" }
"""
    near = run(loads(text.replace("5e29", "0.5"), "rack"), np.array([0.0])).results
    assert near.diagnostics["max_residual"] < 1e-12  # type: ignore[operator]
    stop = run(loads(text, "rack"), np.array([0.0])).stop
    assert stop is not None
    assert "cannot be closed" in stop.message
