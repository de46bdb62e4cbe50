"""Mechanisms whose branches were once followed wrongly, each compared with what is known of it independently."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from assurgent.mechanism import reader
from assurgent.motion.kinematics import run
from assurgent.motion.outcome import Outcome

FAULTS = Path(__file__).parents[1] / "data" / "faults"


def outcome(name: str, step: float | None = None, method: str = "td") -> Outcome:
    (path,) = FAULTS.glob(f"{name}-*.toml")
    model = reader.load(path)
    s = model.simulation
    return run(model, None if step is None else np.arange(s.start, s.stop, step), method)


def test_newton_goes_on_with_smaller_steps_where_long_ones_fail() -> None:
    """F1: the same motion in steps a hundred times finer."""
    coarse, fine = outcome("F1"), outcome("F1", 0.1688888888888889 / 100)
    assert coarse.stop is None
    assert fine.stop is None
    for point in ("p3", "p5", "p7"):
        here, there = coarse.results.points[point], fine.results.points[point]
        np.testing.assert_allclose(here.position[:9], there.position[::100][:9], atol=1e-9)
        np.testing.assert_allclose(here.velocity[:9], there.velocity[::100][:9], atol=1e-7)


def test_newton_does_not_change_to_a_branch_that_is_near() -> None:
    """The sign of the Jacobian's determinant tells the branches: coarse steps end where steps a fiftieth as long do."""
    model = reader.load(FAULTS / "newton-beside-another-branch.toml")
    times = np.arange(0.0, 5.98, 0.0797)
    fine = np.union1d(times, np.linspace(0.0, times[-1], 50 * len(times)))
    coarse, slow = run(model, times), run(model, fine)
    assert coarse.stop is None
    assert slow.stop is None
    at = np.searchsorted(fine, times)
    for point in ("p3", "p4", "p5"):
        here, there = coarse.results.points[point], slow.results.points[point]
        np.testing.assert_allclose(here.position, there.position[at], atol=1e-11)
        np.testing.assert_allclose(here.velocity, there.velocity[at], atol=1e-8)


def test_newton_does_not_follow_a_near_branch_to_its_end() -> None:
    """The same between two far instants: the other branch ends on the way, the own one does not."""
    model = reader.load(FAULTS / "at-far-newton-beside-another-branch.toml")
    times = np.array([8.475894475144178, 20.929548120149697, 24.592043737])
    fine = np.union1d(times, np.linspace(0.0, times[-1], 5000))
    coarse, slow = run(model, times), run(model, fine)
    assert coarse.stop is None
    here, there = (r.results.points["p3"].position for r in (coarse, slow))
    np.testing.assert_allclose(here, there[np.searchsorted(fine, times)], atol=1e-11)


@pytest.mark.parametrize(
    ("name", "end"), [("newton-end-far-away", 1.30818944), ("newton-end-far-away-before-a-dyad", 0.22628388)]
)
def test_the_end_of_newton_far_away_is_found(name: str, end: float) -> None:
    """Beside the end digits are few, and steps beyond it on any branch: the dyad behind it once ended the run at 0.

    The same mechanism at the origin has the digits; `end` is of the oracle, in absolute coordinates.
    """
    data = tomllib.loads((FAULTS / f"{name}.toml").read_text("utf-8"))
    first = np.array(data["points"]["p1"])
    near = data | {"points": {point: (np.array(at) - first).tolist() for point, at in data["points"].items()}}
    far, moved = run(reader.from_data(data, name)), run(reader.from_data(near, name))
    for one in (far, moved):
        assert one.stop is not None
        assert one.stop.time == pytest.approx(end, abs=1e-7)
    assert len(far.results.time) == len(moved.results.time) > 2
    for point, here in moved.results.points.items():
        np.testing.assert_allclose(far.results.points[point].position - first, here.position, atol=1e-5)


def test_a_group_behind_a_gear_is_lost_between_two_instants() -> None:
    """W3: the wheel turns once between two instants, and rod and link cannot reach each other on the way."""
    found = outcome("W3")
    assert found.stop is not None
    # B = W + (cos a, sin a) with a = 2π t / 0.15; rod and link have the lengths of the sketch
    rod, link = np.hypot(0.6, 0.9), np.hypot(0.4, 0.9)
    cosine = ((rod + link) ** 2 - 1 - 4) / -4  # |B - D|² = 1 + 4 - 4 cos a
    lost = 0.15 * np.arccos(cosine) / (2 * np.pi)
    assert found.stop.time == pytest.approx(lost, rel=1e-9)
    assert len(found.results.time) == 1


def test_lines_that_become_parallel_end_the_motion() -> None:
    """W7: the slide of the crank is parallel to the block's at 3π/4, where the block is at infinity."""
    found = outcome("W7")
    assert found.stop is not None
    assert found.stop.time == pytest.approx(0.75 * np.pi, abs=1e-9)
    assert found.results.time[-1] == pytest.approx(2.3)


@pytest.mark.parametrize("method", ["td", "global"])
def test_an_antiparallelogram_remains_one(method: str) -> None:
    """W9a: its rod is never parallel to the frame, except in line; speeds explain the way from instant to instant."""
    found = outcome("W9a", 0.01, method)
    assert found.stop is None
    C, dt = found.results.points["C"], 0.01
    way = np.diff(C.position, axis=0) - dt / 2 * (C.velocity[1:] + C.velocity[:-1])
    way += dt**2 / 12 * np.diff(C.acceleration, axis=0)
    assert np.abs(way).max() < 1e-6  # error of order five; a change of branch would give 1e-2
    (rod,) = (C.position - found.results.points["B"].position)[[-1]]
    assert abs(rod[1]) > 0.1


@pytest.mark.parametrize("beyond", [-1e-9, 0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.01])
def test_a_parallelogram_ends_at_its_change_point(beyond: float) -> None:
    """W9b: the rocker turns as the crank does, at the last instant, too."""
    (path,) = FAULTS.glob("W9b-*.toml")
    stop = np.pi - 0.5 + beyond
    rocker = run(reader.load(path), np.append(np.arange(0, stop - 0.005, 0.01), stop)).results.bodies["rocker"]
    np.testing.assert_allclose(rocker.angular_velocity, 1.0, atol=1e-8)
    np.testing.assert_allclose(rocker.angular_acceleration, 0.0, atol=1e-5)


def test_a_driver_that_comes_to_rest_at_a_change_point_ends_the_motion() -> None:
    """W9c: it stands in line at 0.37 t = π/2; along which branch it goes back is not determined."""
    found = outcome("W9c")
    assert found.stop is not None
    assert found.stop.time == pytest.approx(np.pi / 2 / 0.37, abs=1e-3)


@pytest.mark.parametrize("step", [0.01, 0.1, 0.25])
def test_a_lever_turns_on_where_its_slot_passes_its_pivot(step: float) -> None:
    """W10: the angle at the circumference is half of the one at the centre, before and behind the pivot."""
    lever = outcome("W10", step).results.bodies["lever"]
    time = np.arange(0, 3, step)
    np.testing.assert_allclose(lever.angle - lever.angle[0], time / 2, atol=1e-9)
    np.testing.assert_allclose(lever.angular_velocity, 0.5, atol=1e-8)


def test_global_methods_are_on_the_branch_of_the_groups() -> None:
    """W11: up to the loss, and with the same time of it."""
    td, all_at_once = outcome("W11"), outcome("W11", method="global")
    assert td.stop is not None
    assert td.stop == all_at_once.stop
    C = [found.results.points["C"].position for found in (td, all_at_once)]
    np.testing.assert_allclose(*C, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "fine"),
    [
        ("infinity-behind-a-fast-body", 0.002),
        ("infinity-behind-a-quick-passage", 0.001),
        ("infinity-between-fast-lines", 0.001),  # the lines turn by half a radian on both sides of being parallel
        ("infinity-in-a-coarse-run", 0.0005),
    ],
)
def test_infinity_behind_a_fast_body(name, fine):
    """Two guides become parallel between two instants of a coarse run: it ends there, as a fine one does."""
    model = reader.load(FAULTS / f"{name}.toml")
    coarse, fine = run(model), run(model, np.arange(0, model.simulation.stop, fine))
    assert fine.stop is not None
    assert coarse.stop is not None
    assert coarse.stop.time == pytest.approx(fine.stop.time, abs=1e-7)


@pytest.mark.parametrize(
    ("name", "time"),
    [
        ("far-swinging-distance", 95.278),
        ("pivots-change-places", 0.5),
        ("narrow-place-in-every-turn", 74.524),
        ("start-beside-a-dead-point", 0.08),
        ("driver-turns-back-beside-a-dead-point", 3.1603),
    ],
)
def test_one_far_instant_is_that_of_a_fine_run(name, time):
    """A driver swings many times before the instant; the measure of conditioning jumps where pivots change places; a
    triad comes near to a dead point a hundred times; one starts beside it, and the group behind it is not closed on the
    branch that a long step leads to; a driver turns back beside one."""
    model = reader.load(FAULTS / f"{name}.toml")
    far, fine = run(model, np.array([time])), run(model, np.linspace(0, time, 20001))
    assert far.stop is None
    assert fine.stop is None
    for point, series in fine.results.points.items():
        assert far.results.points[point].position[-1] == pytest.approx(series.position[-1], abs=1e-9)


def test_angles_before_a_driver_rests_at_a_change_point() -> None:
    """An antiparallelogram whose driver rests where its bars are in line: the run ends there, and what it reports of
    the instants before has its angles, although between the last of them and the end they turn ever faster."""
    model = reader.load(FAULTS / "turns-before-a-change-point.toml")
    found = run(model)
    rest = np.arcsin((np.pi - 1.986045334848462) / 1.1555473187413312) / 0.3405280375991115
    assert found.stop is not None
    assert found.stop.time == pytest.approx(rest, rel=1e-3)  # it rests there: the way left is of the second order
    results = found.results
    C, D = results.points["p3"].position, results.points["p4"].position
    angle = np.arctan2(*(C - D).T[::-1]) - np.arctan2(*(model.points["p3"] - np.array([2.01, 0.0]))[::-1])
    turned = results.joints["j4"].angle - results.joints["j4"].angle[0]
    np.testing.assert_allclose(np.unwrap(angle) - angle[0], turned, atol=1e-9)


def test_newton_passes_a_narrow_place_before_the_last_instant() -> None:
    """The step before the end cannot be closed at once, although the stretch around it was found to be clear."""
    model = reader.load(FAULTS / "narrow-place-before-the-end.toml")
    found, fine = run(model), run(model, np.linspace(0.0, 0.162, 2001))
    assert found.stop is None
    assert fine.stop is None
    for name, point in fine.results.points.items():
        np.testing.assert_allclose(found.results.points[name].position[-1], point.position[-1], atol=1e-7)


def test_newton_comes_apart_far_from_the_origin() -> None:
    """Rounding of places leaves no conditioning to tell; the group lands anywhere behind its end at t = 0.34136."""
    far, near = (reader.load(FAULTS / f"newton-comes-apart-{where}.toml") for where in ("far", "near"))
    ends = [run(model).stop for model in (far, near)]
    assert all(end is not None for end in ends)
    assert ends[1].time == pytest.approx(0.341361998, abs=1e-8)
    assert ends[0].time == pytest.approx(0.341361998, abs=0.01)


def test_an_antiparallelogram_remains_one_in_the_last_instant_behind_its_change_point() -> None:
    """C is the mirror image, in the line from B to D, of where the parallelogram has it."""
    found = outcome("antiparallelogram-ends-behind")
    assert found.stop is None
    p2, p3 = (found.results.points[name].position for name in ("p2", "p3"))
    end = np.array([2.6, 0.0])
    along = (end - p2) / np.linalg.norm(end - p2, axis=1)[:, None]
    mirrored = p2 + 2 * 2.6 * along[:, :1] * along - end
    np.testing.assert_allclose(p3, mirrored, atol=1e-8)
    theta = 0.7 * 5.68 - 0.8190179026110778
    assert np.sin(theta) < -0.01  # the last instant lies behind the change point, at θ = π


def test_newton_leaves_a_singular_pose_on_its_branch() -> None:
    """Rates are large where it begins: one long step led to a branch that ends before the last instant."""
    coarse, fine = outcome("platform-begins-beside"), outcome("platform-begins-beside", 0.001)
    assert coarse.stop is None
    assert fine.stop is None
    for name in ("p2", "p4"):
        here, there = coarse.results.points[name], fine.results.points[name]
        np.testing.assert_allclose(here.position[0], there.position[0], atol=1e-12)
    distances = {("p3", "p2"): 0.8857921354414928 + 0.237 * np.sin(1.681 * 0.2)}
    distances["p5", "p4"] = 1.3251135809044317 + 0.142 * np.sin(1.502 * 0.2)
    for (one, other), distance in distances.items():
        way = coarse.results.points[one].position[-1] - coarse.results.points[other].position[-1]
        assert np.linalg.norm(way) == pytest.approx(distance, abs=1e-12)
    finer = run(reader.load(next(FAULTS.glob("platform-begins*"))), np.append(fine.results.time, 0.2))
    for name in ("p2", "p4"):
        last = finer.results.points[name].position[-1]
        np.testing.assert_allclose(coarse.results.points[name].position[-1], last, atol=1e-10)


def test_the_last_instant_before_a_driver_rests_at_a_change_point_has_digits_or_is_left_out() -> None:
    """3e-4 s before the end nothing is left of the rates of the dyad; the crank's own speed bounds all others."""
    found = outcome("driver-rests-beside")
    assert found.stop is not None
    rest = np.pi / 2 / 0.2869562928601722  # of the sine
    assert found.stop.time == pytest.approx(rest, abs=1e-3)
    assert found.results.time[-1] > rest - 0.2
    crank, rocker = (np.linalg.norm(found.results.points[name].velocity, axis=1) for name in ("p2", "p3"))
    k = (2.94 + 1.21) / (2.94 - 1.21)  # the rocker turns at most by this factor faster than the crank
    assert (rocker <= 1.01 * k * crank + 1e-12).all()


def test_a_group_is_looked_at_though_the_one_it_hangs_on_comes_to_an_end() -> None:
    """Beside the triad's end steps are divided to the last digit: the dyad that waited for it was stopped at once."""
    coarse, fine = outcome("waits-behind"), outcome("waits-behind", 0.1314 / 60)
    for found in (coarse, fine):
        assert found.stop is not None
        assert found.stop.time == pytest.approx(3.7077378, abs=1e-6)
    assert coarse.results.time[-1] == pytest.approx(3.6792)
    here, there = coarse.results.points["p8"], fine.results.points["p8"]
    np.testing.assert_allclose(here.position, there.position[: 60 * len(here.position) : 60], atol=1e-9)


def test_a_lever_that_turns_over_is_not_taken_for_the_loss_of_what_hangs_on_it() -> None:
    """Its slot passes its own pivot at 2.4829 s: from there on the rod's end lay on the other side, out of reach."""
    found = outcome("lever-turns")
    assert found.stop is None
    p6, p7 = (found.results.points[name] for name in ("p6", "p7"))
    length = np.linalg.norm(p6.position[0] - p7.position[0])
    np.testing.assert_allclose(np.linalg.norm(p6.position - p7.position, axis=1), length, rtol=1e-9)
    speed = 0.5 * np.linalg.norm(p6.velocity[:-1] + p6.velocity[1:], axis=1)
    step = np.linalg.norm(np.diff(p6.position, axis=0), axis=1) / np.diff(found.results.time)
    np.testing.assert_allclose(step[-2:], speed[-2:], rtol=0.05)  # it goes on as it came
