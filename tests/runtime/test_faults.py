"""Mechanisms that once went wrong, each against physics or an independent solution."""

from pathlib import Path

import numpy as np
import pytest

from assurgent.runtime.dynamics.inverse import inverse
from assurgent.runtime.mechanism.builder import Mechanism
from assurgent.runtime.mechanism.reader import load
from assurgent.runtime.motion.kinematics import run

FAULTS = Path(__file__).parents[1] / "data/faults"
TURN = 2 * np.pi


def angles(results):
    """Return all angles of joints and of planar bodies, by name, at the last time."""
    found = {("joint", name): float(s.angle[-1]) for name, s in results.joints.items() if s.angle is not None}
    return found | {("body", name): float(s.angle[-1]) for name, s in results.bodies.items() if s.angle is not None}


def test_w1_spatial_joint_angle_at():
    """Behind a universal joint the output has made as many whole turns as the input, however far the instant is."""
    model = load(FAULTS / "W1-spatial-joint-angle-at.toml")
    found = run(model, np.array([17.0])).results  # 340 turns
    assert found.joints["B"].angle[0] == pytest.approx(340 * TURN, abs=1e-9)
    grid = run(model, np.linspace(0, 0.55, 12)).results
    assert angles(run(model, np.array([0.55])).results) == pytest.approx(angles(grid), abs=1e-11)


def test_w2_fast_wheel_turns():
    """A wheel that a gear makes fast drives a drag link: between two instants link and rod turn by radians."""
    model = load(FAULTS / "W2-fast-wheel-turns.toml")
    whole = run(model).results
    fine = run(model, np.linspace(0, 2, 2001)).results
    assert angles(whole) == pytest.approx(angles(fine), abs=1e-11)
    assert angles(run(model, np.array([2.0])).results) == pytest.approx(angles(fine), abs=1e-11)
    once = run(model, np.array([0.0, 7 * TURN / 30])).results  # the wheel has made seven whole turns, and so has all
    for body in ("rod", "link"):
        assert np.diff(once.bodies[body].angle) == pytest.approx(7 * TURN, abs=1e-11)


def test_w2_designs_turn_as_single_runs_do():
    mechanism = Mechanism.load(FAULTS / "W2-fast-wheel-turns.toml")
    mechanism.parameter("k", 30.0)
    mechanism.joints["G"]["ratio"] = "k"
    times = np.array([0.4, 1.1, 2.0])
    ratios = np.array([11.0, 30.0, 34.0, 47.0])
    batch = mechanism.compile(times=times).batch({"k": ratios})
    for i, k in enumerate(ratios):
        mechanism.parameters["k"] = float(k)
        alone = mechanism.run(times=times)
        for name in ("rod", "link", "wheel"):
            assert batch.bodies[name].angle[i] == pytest.approx(alone.bodies[name].angle, abs=1e-12)
        for name in ("B", "C", "D"):
            assert batch.joints[name].angle[i] == pytest.approx(alone.joints[name].angle, abs=1e-12)


def test_w4_driven_angle_at_far():
    """Whole turns of the wheel are whole turns of the link, and of the rod; so far away the driver's own steps, of
    which there are 100 000 at most, are seven radians long."""
    model = load(FAULTS / "W4-driven-angle-at-far.toml")
    turns = 111_408
    found = run(model, np.array([0.0, turns * TURN / 100])).results
    for body in ("wheel", "rod", "link"):
        assert np.diff(found.bodies[body].angle) == pytest.approx(turns * TURN, rel=1e-13)


def test_w5_rack_one_turn_off():
    """The sketch closes exactly, so that every point lies at first where it is drawn."""
    model = load(FAULTS / "W5-rack-one-turn-off.toml")
    found = run(model).results
    for name, place in model.points.items():
        assert found.points[name].position[0] == pytest.approx(place, abs=1e-14)


@pytest.mark.parametrize("degrees", [-170, -100, -10, 80, 170, 350])
def test_w6_torsion_spring_turn(degrees):
    """A relaxed spring takes no effort, wherever its base stands."""
    model = load(FAULTS / "W6-torsion-spring-turn.toml", {"base": np.radians(degrees)})
    found = inverse(model).results
    for driver in found.drivers.values():
        assert driver.effort == pytest.approx(0, abs=1e-13)


def test_d2_pendulum_keyerror():
    """Its end runs on a circle, by the angle that is driven from the slide at its end."""
    found = run(load(FAULTS / "D2-pendulum-keyerror.toml")).results
    turn = 0.5 + found.time
    assert found.points["G"].position == pytest.approx(0.7 * np.stack([np.cos(turn), np.sin(turn)], axis=1), abs=1e-14)
    assert found.points["H"].position[:, 0] == pytest.approx(0.7 * np.cos(turn), abs=1e-14)
    assert found.bodies["arm"].angle == pytest.approx(turn, abs=1e-14)
