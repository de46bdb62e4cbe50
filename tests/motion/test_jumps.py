"""Drivers whose formulas jump: what hangs on them goes along in a straight line, or is lost on the way."""

from __future__ import annotations

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
