"""Designs for which reading or planning would decide otherwise are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assurgent.common.errors import AssurgentError
from assurgent.mechanism.numbers.tracing import trace
from assurgent.mechanism.plans.planning import plan_groups, study
from assurgent.mechanism.reader import from_data
from assurgent.runtime.program import build
from tests.motion.design_numbers import at_design, walk
from tests.motion.traced_examples import (
    TOLERANCE,
    assert_same,
    assert_same_programs,
    ordinary,
    traced_program,
)


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
