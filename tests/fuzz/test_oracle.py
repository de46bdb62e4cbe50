"""The oracle of the campaign against closed forms and differences; and a bounded share of the campaign itself."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzz import following as fo
from fuzz.case import Case
from fuzz.compare import judged
from fuzz.dynamics import Loads, integrated
from fuzz.families import drawn
from fuzz.formulas import Tapes, evaluate
from fuzz.motion import solve
from fuzz.reading import Problem, from_data
from fuzz.shrink import candidates

# Families of library types only, so that nothing has to be generated; a few seeds each, the same every time.
SHARE = {
    "dyads": 12, "triads": 6, "shared": 6, "welds": 6, "cylinders": 6, "floating": 6, "change_points": 16,
    "dead_points": 10, "near_singular": 12, "formulas": 8, "times": 8, "scales": 10, "far_instants": 6,
    "global_method": 6, "inverse_planar": 10, "forward_planar": 2,
}  # fmt: skip


def four_bar(points: dict[str, Any], lengths: tuple[float, float, float], angle: str, stop: float) -> dict[str, Any]:
    return {
        "format": 1,
        "space": "planar",
        "points": points,
        "bodies": {
            "frame": {"points": ["A", "D"]},
            "crank": {"points": ["A", "B"], "length": lengths[0]},
            "rod": {"points": ["B", "C"], "length": lengths[1]},
            "rocker": {"points": ["D", "C"], "length": lengths[2]},
        },
        "joints": {
            "A": {"type": "R", "bodies": ["frame", "crank"], "at": "A"},
            "B": {"type": "R", "bodies": ["crank", "rod"], "at": "B"},
            "C": {"type": "R", "bodies": ["rod", "rocker"], "at": "C"},
            "D": {"type": "R", "bodies": ["frame", "rocker"], "at": "D"},
        },
        "drivers": {"th": {"joint": "A", "angle": angle}},
        "simulation": {"start": 0.0, "stop": stop, "step": stop / 50},
    }


def problem(data: dict[str, Any]) -> Problem:
    return from_data(data, Path())


def parallelogram(angle: str = "0.5 + t", stop: float = 8.0) -> dict[str, Any]:
    x, y = math.cos(0.5), math.sin(0.5)
    points = {"A": [0, 0], "B": [x, y], "C": [2 + x, y], "D": [2, 0]}
    return four_bar(points, (1.0, 2.0, 1.0), angle, stop)


# ---- formulas --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    [
        "1 + 2*t - t**2/3", "sin(2*t)*cos(t)", "exp(-t)*sqrt(1 + t)", "atan2(sin(t), 2 + cos(t))",
        "tan(t/3) + log(2 + t)", "if(t < 0.5, t, t**3)", "tanh(t) + atan(t)", "max(t, 0.2)*min(t, 3)",
    ],
)  # fmt: skip
def test_derivatives_of_formulas_are_those_of_differences(text: str) -> None:
    tapes = Tapes({}, Path())
    tapes.add(text)
    arrays, t, h = tapes.arrays(), 0.8, 1e-4
    before, here, after = (evaluate(*arrays, 0, x) for x in (t - h, t, t + h))
    assert (after[0] - before[0]) / (2 * h) == pytest.approx(here[1], rel=1e-6, abs=1e-7)  # differences: h^2
    assert (after[1] - before[1]) / (2 * h) == pytest.approx(here[2], rel=1e-6, abs=1e-7)


# ---- rows ------------------------------------------------------------------------------------------------------------
ROWS = ("dyads", "slots", "gears", "racks", "cylinders", "cams", "welds")
SPATIAL_ROWS = (
    "spatial_loops",
    "spatial_arms",
    "spatial_platforms",
    "spatial_planes",
    "spatial_cylinders",
    "spatial_bevels",
    "spatial_cardan",
    "spatial_rods",
)


@pytest.mark.parametrize("family", [*ROWS, *SPATIAL_ROWS])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_jacobian_and_quadratic_terms_are_those_of_differences(family: str, seed: int) -> None:
    p = problem(drawn(family, seed).data)
    model, q = p.model(), p.start()
    random = np.random.default_rng(seed)
    f = 3 if p.space == 2 else 6
    v = random.normal(size=f * len(p.names) + len(p.first))
    v[:f] = 0.0
    still = np.zeros((len(p.scales), 3))
    h = 1e-5
    _, J, gamma = fo.fill(model, q, v, still)
    before, after = (fo.fill(model, fo.moved(model, q, s * h * v), v, still) for s in (-1, 1))
    size = 1 + np.max(np.abs(J)) * np.max(np.abs(v))
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), J @ v, atol=1e-8 * size**2)
    np.testing.assert_allclose((after[1] @ v - before[1] @ v) / (2 * h), -gamma, atol=1e-7 * size**2)


# ---- motions with known answers --------------------------------------------------------------------------------------
def test_a_parallelogram_stays_one_through_its_change_points() -> None:
    case = Case("", 0, parallelogram())
    found = solve(problem(case.data), case.times(), 0.0)
    assert found.status == "whole"
    np.testing.assert_allclose(found.v[:, 3 * 3 + 2], 1.0, atol=1e-7)  # near the change points digits are lost
    np.testing.assert_allclose(found.q[:, 3 * 3 + 2], 0.5 + case.times(), atol=1e-8)


def test_a_loop_that_comes_apart_ends_when_its_bars_are_stretched() -> None:
    a, g, r, c = 1.0, 2.0, 0.9, 1.6  # crank and frame reach further than rod and rocker: |BD| = r + c at the end
    end = math.acos((a * a + g * g - (r + c) ** 2) / (2 * a * g))
    B = np.array([math.cos(1.0), math.sin(1.0)])
    way = np.array([g, 0]) - B
    along = (r * r - c * c + way @ way) / (2 * np.linalg.norm(way))
    u = way / np.linalg.norm(way)
    C = B + u * along + np.array([-u[1], u[0]]) * math.sqrt(r * r - along**2)
    data = four_bar({"A": [0, 0], "B": B, "C": C, "D": [g, 0]}, (a, r, c), "1.0 + t", 3.0)
    found = solve(problem(data), np.linspace(0, 3, 7), 0.0)
    assert found.status == "lost"
    assert found.lost == pytest.approx(end - 1.0, abs=1e-7)


def test_the_simulated_pendulum_keeps_its_energy_and_swings_in_its_period() -> None:
    small, length = 1e-3, 0.7
    data = {
        "format": 1, "space": "planar", "gravity": [0.0, -9.81],
        "points": {"O": [0, 0], "A": [length * math.sin(small), -length * math.cos(small)]},
        "bodies": {"frame": {"points": ["O"]}, "arm": {"points": ["O", "A"], "mass": 2.0, "centre": "A"}},
        "joints": {"O": {"type": "R", "bodies": ["frame", "arm"], "at": "O"}},
    }  # fmt: skip
    p = problem(data)
    period = 2 * math.pi * math.sqrt(length / 9.81) * (1 + small**2 / 16)
    run = integrated(p, Loads(p), p.start(), np.zeros(6), np.array([0.0, period / 2, period]))
    assert run is not None
    swing = run[0][:, 5] + math.pi / 2
    np.testing.assert_allclose(swing, [small, -small, small], atol=1e-10)


# ---- the campaign ----------------------------------------------------------------------------------------------------
def test_a_case_is_the_same_for_the_same_family_and_seed() -> None:
    for family in ("dyads", "spatial_loops", "inverse_planar"):
        assert repr(drawn(family, 5).data) == repr(drawn(family, 5).data)
        assert repr(drawn(family, 5).data) != repr(drawn(family, 6).data)


def test_a_wrong_answer_is_different() -> None:
    """The comparison sees a crank that is driven a little otherwise than the oracle reads."""
    case = Case("", 0, parallelogram("0.5 + 0.3*t", 2.0))
    assert judged(case).kind == "right"
    other = copy.deepcopy(case)
    write = other.write

    def falsified(folder: Path) -> Path:
        path = write(folder)
        path.write_text(path.read_text().replace("0.3*t", "0.3000001*t"))
        return path

    other.write = falsified  # type: ignore[method-assign]
    assert judged(other).kind == "different"


@pytest.mark.parametrize(
    ("angle", "rests"),
    [
        ("0.5 + t", []),  # it passes the change point at pi
        ("0.5 + (pi - 0.5)*sin(t)", [math.pi / 2]),  # it comes to rest there
        ("0.5 + (3 - 0.5)*sin(t)", []),  # it rests before
        ("0.5 + (3.3 - 0.5)*sin(t)", []),  # and behind
    ],
)
def test_drivers_that_rest_where_branches_meet_are_told(angle: str, rests: list[float]) -> None:
    p = problem(parallelogram(angle, 2.0))
    found = solve(p, np.linspace(0.0, 2.0, 51), 0.0)
    assert found.resting == pytest.approx(rests, abs=1e-6)


def test_a_point_far_away_is_not_where_branches_meet() -> None:
    """Two lines nearly parallel: a pin 48 m away was interpolated from where it is near."""
    assert judged(drawn("dyads", 4000027)).kind == "right"


def test_a_run_that_ends_where_branches_meet_is_closed_to_all_digits() -> None:
    """Newton's steps halve the error there: after six of them a pin on the frame's line was 5e-5 m beside it."""
    assert judged(drawn("change_points", 4030042)).kind == "right"


def test_a_rod_on_an_even_crank_is_not_looked_at_over_long_steps() -> None:
    """Steps of a quarter of a turn: the crank's own coordinates do not bend, its points do."""
    assert judged(drawn("spatial_loops", 4210046)).kind == "right"


def test_shrinking_offers_smaller_files() -> None:
    case = drawn("dyads", 3)
    smaller = [c for c in candidates(case) if len(c.data["bodies"]) < len(case.data["bodies"])]
    assert smaller
    for other in smaller:
        listed = {p for b in other.data["bodies"].values() for p in b["points"]}
        assert set(other.data["points"]) <= listed


@pytest.mark.parametrize("family", SHARE)
def test_no_wrong_answer(family: str) -> None:
    verdicts = {seed: judged(drawn(family, seed)) for seed in range(SHARE[family])}
    wrong = {seed: v.why for seed, v in verdicts.items() if v.kind == "different"}
    assert not wrong, wrong
    unclear = {seed: v.why for seed, v in verdicts.items() if v.kind in ("unclear", "refused")}
    assert len(unclear) <= 1 + SHARE[family] // 10, unclear
