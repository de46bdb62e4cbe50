"""Drivers whose formulas jump: what hangs on them goes along in a straight line, or is lost on the way."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from assurgent import AssemblyError, Mechanism

FAULTS = Path(__file__).parents[1] / "data" / "faults"


def double_rocker(angle: str) -> Mechanism:
    """A four-bar 4, 2, 4 on a frame of 5: its left rocker cannot stand between the limits of its swing."""
    m = Mechanism("double rocker")
    for name, place in {"A": (0, 0), "B": (1, 3.87), "C": (3, 3.9), "D": (5, 0)}.items():
        m.point(name, place)
    m.body("frame", ["A", "D"])
    m.body("left", ["A", "B"], length=4)
    m.body("rod", ["B", "C"], length=2)
    m.body("right", ["D", "C"], length=4)
    for name, bodies in {
        "A": ("frame", "left"),
        "B": ("left", "rod"),
        "C": ("rod", "right"),
        "D": ("frame", "right"),
    }.items():
        m.joint(name, "R", bodies, at=name)
    m.driver("theta", joint="A", angle=angle)
    return m


def limit() -> float:
    """The least angle of the left rocker: rod and right rocker folded, 4 - 2 from B to D (law of cosines)."""
    return float(np.arccos((4**2 + 5**2 - (4 - 2) ** 2) / (2 * 4 * 5)))


@pytest.mark.parametrize("method", ["td", "global"])
def test_a_jump_within_the_range_ends_where_a_slow_motion_does(method: str) -> None:
    jumping = double_rocker("1.3 - if(t < 1, 0, 0.3)").run(times=[0, 0.5, 1, 2], method=method)
    slowly = double_rocker("1.3 - 0.3*t").run(times=np.linspace(0, 1, 301))
    assert np.abs(jumping.points["C"].position[2:] - slowly.points["C"].position[-1]).max() < 1e-12
    assert np.abs(jumping.points["C"].velocity).max() == 0  # the driver rests before and behind


def test_a_jump_beyond_the_limit_and_back_to_its_other_side_is_a_loss() -> None:
    # beyond the limit the dyad cannot be closed; at the mirrored angle it can be, but not on the way there
    assert 0.3 < limit() < 0.5
    with pytest.raises(AssemblyError, match=r"at t = 1 s") as lost:
        double_rocker("1.3 - if(t < 1, 0, 2.6)").run(times=[0, 0.5, 1, 2])
    assert lost.value.results.time.tolist() == [0, 0.5]


@pytest.mark.parametrize(("condition", "behind"), [("t < 1", [1, 2]), ("t <= 1", [2]), ("floor(t) < 1", [1, 2])])
def test_an_instant_at_the_jump_has_the_value_of_its_formula(condition: str, behind: list[int]) -> None:
    condition = condition.replace("floor(t) < 1", "floor(t) < 0.5")
    results = double_rocker(f"if({condition}, 1.3, 1.0)").run(times=[0, 1, 2])
    expected = [1.0 if t in behind else 1.3 for t in (0, 1, 2)]
    assert results.bodies["left"].angle == pytest.approx(expected, abs=1e-12)


def test_lines_that_become_parallel_during_a_jump_end_the_motion() -> None:
    m = Mechanism.load(FAULTS / "driver-jumps-through-infinity.toml")
    with pytest.raises(AssemblyError, match=r"PRP_1.* at t = 3\.189"):
        m.run()


def test_many_jumps() -> None:
    results = double_rocker("1.0 + 0.3*(floor(t) - 2*floor(t/2))").run(times=np.arange(0, 40) + 0.5)
    even = np.arange(40) % 2 == 0
    assert np.ptp(results.points["C"].position[even], axis=0).max() < 1e-12
    assert results.bodies["left"].angle[~even] == pytest.approx(1.3, abs=1e-12)


def crank_rocker(angle: str, crank: float = 2.0) -> Mechanism:
    """A four-bar with a frame, rod and rocker of 6: a crank of 2 passes every angle, one of 7 not where BD > 12."""
    m = Mechanism("crank-rocker")
    for name, place in {"A": (0, 0), "B": (0, 2), "C": (5, 5), "D": (6, 0)}.items():
        m.point(name, place)
    m.body("frame", ["A", "D"])
    m.body("crank", ["A", "B"], length=crank)
    m.body("rod", ["B", "C"], length=6)
    m.body("rocker", ["D", "C"], length=6)
    ends = {"A": ("frame", "crank"), "B": ("crank", "rod"), "C": ("rod", "rocker"), "D": ("frame", "rocker")}
    for name, bodies in ends.items():
        m.joint(name, "R", bodies, at=name)
    m.driver("theta", joint="A", angle=angle)
    return m


def upper(theta: np.ndarray) -> np.ndarray:
    """C at crank angles: an isosceles triangle of rod and rocker over BD, on the left of the way from B to D."""
    b = 2 * np.array([np.cos(theta), np.sin(theta)]).T
    half = (np.array([6.0, 0.0]) - b) / 2
    square = (half**2).sum(axis=1)[:, None]
    return b + half + half[:, ::-1] * [-1, 1] * np.sqrt(36 / square - 1)


@pytest.mark.parametrize(
    ("angle", "times"),
    [
        ("if(t < 1, 0, 2)", np.linspace(0, 1, 101)),
        ("if(t < 0.5, 0, 2)", np.array([0, 0.5])),
        ("if(t > 0, 1, 0)", np.linspace(0, 1, 101)),
        ("if(t > 0, 1, 0)", np.array([0, 1e-12, 1])),
        ("if(t < 1e-12, 1, 0)", np.array([0, 1e-12, 1])),
        ("floor(10*t)*pi", np.linspace(0, 1, 101)),
        ("if(t < 1000.5, 0, 2)", np.array([0, 1000, 1000.5])),
    ],
)
@pytest.mark.parametrize("method", ["td", "global"])
def test_a_jump_at_an_end_of_the_run(angle: str, times: np.ndarray, method: str) -> None:
    results = crank_rocker(angle).run(times=times, method=method)
    driver = results.drivers["theta"].value
    assert np.abs(results.joints["A"].angle - driver).max() < 1e-12
    assert np.abs(results.points["C"].position - upper(driver)).max() < 1e-12
    assert np.abs(results.points["C"].velocity).max() < 1e-12  # the driver rests before and behind


@pytest.mark.parametrize(("condition", "step"), [("t < 1.19", 9), ("t <= 0", 0)])
def test_newton_goes_along_with_a_jump_at_an_end_of_the_run(condition: str, step: int, tmp_path: Path) -> None:
    text, formula = (FAULTS / "driver-jumps-newton.toml").read_text(), "if(t < 0.5, 0.1*sin(t), 0.1*sin(t) + 0.05)"
    found = []
    for driver in (formula.replace("t < 0.5", condition), "0.1*sin(t) + 0.05*t/1.19"):
        (tmp_path / "m.toml").write_text(text.replace(formula, driver))
        found.append(Mechanism.load(tmp_path / "m.toml").run(times=np.linspace(0, 1.19, 11)).points["p3"].position)
    jumping, slowly = found
    assert np.abs(jumping[[0, -1]] - slowly[[0, -1]]).max() < 1e-10
    assert np.abs(np.diff(jumping, axis=0)).max(axis=1).argmax() == step


@pytest.mark.parametrize(
    "angle",
    [
        "atan2(sin(9*t), cos(9*t))",
        "2*atan(tan(4.5*t))",
        "1.5*atan(tan(9*t))",
        "2*atan(1/(0.50313 - t))",
        "2*abs(t - 0.50313)/(t - 0.50313)",
        "9*t - 2*pi*floor(9*t/(2*pi))",
        "atan2(sin(900*t), cos(900*t))",
    ],
)
def test_a_driven_angle_is_its_driver_where_the_formula_jumps(angle: str) -> None:
    results = crank_rocker(angle).run(times=np.linspace(0, 1, 101))
    driver = results.drivers["theta"].value
    assert np.abs(np.diff(driver)).max() > 2  # it does jump
    assert np.abs(results.joints["A"].angle - driver).max() < 1e-9
    assert np.abs(results.points["C"].position - upper(driver)).max() < 1e-12


@pytest.mark.parametrize("steepness", [1e4, 1e6, 1e9, 1e12])
def test_a_steep_driver_stops_where_it_cannot_pass(steepness: float) -> None:
    m = crank_rocker(f"1 + pi*(1 + tanh({steepness}*(t - 0.5033)))", crank=7)
    # BD = 12, rod and rocker in line (law of cosines), is reached at this angle; the limit of the driver's swing
    limit = np.arccos((7**2 + 6**2 - 12**2) / (2 * 7 * 6))
    ended = 0.5033 + np.arctanh((limit - 1) / np.pi - 1) / steepness
    with pytest.raises(AssemblyError, match=r"cannot be closed|dead point") as lost:
        m.run(times=np.linspace(0, 1, 101))
    assert len(lost.value.results.time) == 51
    assert float(re.findall(r"t = ([\d.]+) s", str(lost.value))[0]) == pytest.approx(ended, abs=1.1e-9)


@pytest.mark.parametrize("steepness", [1e4, 1e6, 1e12])
def test_a_steep_driver_passes_where_it_can(steepness: float) -> None:
    results = crank_rocker(f"1 + pi*(1 + tanh({steepness}*(t - 0.5033)))").run(times=np.linspace(0, 1, 101))
    driver = results.drivers["theta"].value
    assert np.abs(results.joints["A"].angle - driver).max() < 1e-9
    assert np.abs(results.points["C"].position - upper(driver)).max() < 1e-12


def test_the_cost_of_jumps_grows_with_their_number() -> None:
    """Every closer look evaluated the drivers at all jumps of the run."""
    from assurgent.motion.jumps import driven
    from assurgent.motion.kinematics import prepare

    program = prepare(crank_rocker("floor(1000*t)/100").model())[1]
    numbers, ramps = program.sequence.numbers, tuple((k / 1000 - 1e-9, k / 1000) for k in range(1, 1000))
    grid = np.array([0.4995, 0.5 - 5e-10, 0.5005])
    calls: list[int] = []
    drive = program.sequence.drive
    program.sequence.drive = lambda x, *rest: calls.append(len(x)) or drive(x, *rest)  # type: ignore[method-assign,assignment,func-returns-value]
    value = driven(program, grid, numbers, ramps)
    assert sum(calls) == len(grid) + 2  # the ends of one ramp
    assert value[1, 0] == pytest.approx([0.0, 1e7, 0.0], rel=1e-6)  # up by 0.01 within the ramp
    assert value[0, 0, ::2] == pytest.approx([4.99, 5.0], abs=1e-12)
