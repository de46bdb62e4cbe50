"""Designs of a compiled mechanism against single runs, losses and decisions included; derivatives by differences."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from assurgent.common.errors import AssemblyError, InputError
from assurgent.facade import Mechanism
from assurgent.motion.kinematics import run

EXAMPLES = Path(__file__).parents[2] / "examples"
TIMES = np.linspace(0, 1, 41)


def four_bar() -> Mechanism:
    m = Mechanism("four-bar", a=2.0, b=6.0, c=6.0, px=3.0, py=1.0, omega=6.0, x_D=6.0)
    for name, place in {"A": (0, 0), "B": (0, "a"), "C": (5, 5), "D": ("x_D", 0)}.items():
        m.point(name, place)
    m.body("frame", ["A", "D"])
    m.body("crank", ["A", "B"], length="a")
    m.body("rod", ["B", "C", "P"], local={"B": [0, 0], "C": ["b", 0], "P": ["px", "py"]})
    m.body("rocker", ["D", "C"], length="c")
    bodies = {"A": ("frame", "crank"), "B": ("crank", "rod"), "C": ("rod", "rocker"), "D": ("frame", "rocker")}
    for name, pair in bodies.items():
        m.joint(name, "R", pair, at=name)
    m.driver("theta", joint="A", angle="pi/2 + omega*t + 0.1*sin(3*t)")
    m.simulation.update(start=0, stop=1, step=0.025)
    return m


def triad() -> Mechanism:
    """A ternary body on three legs, one of them driven: a group without a closed form."""
    m = Mechanism("triad", leg=2.0, crank=0.3, side=1.6, omega=5.0)
    places = {
        "O": (0, 0), "K": ("crank", 0), "P": (1.2, 1.8), "Q": ("1.2 + side", 1.9), "S": (2.0, 1.0),
        "F": (4.0, 0.0), "G": (0.2, -1.0),
    }  # fmt: skip
    for name, place in places.items():
        m.point(name, place)
    m.body("frame", ["O", "F", "G"])
    m.body("input", ["O", "K"], length="crank")
    m.body("first", ["K", "P"], length="leg")
    m.body("plate", ["P", "Q", "S"], local={"P": [0, 0], "Q": ["side", 0.1], "S": [0.8, -0.8]})
    m.body("second", ["F", "Q"])
    m.body("third", ["G", "S"])
    for name, pair in {
        "O": ("frame", "input"), "K": ("input", "first"), "P": ("first", "plate"), "Q": ("plate", "second"),
        "F": ("frame", "second"), "S": ("plate", "third"), "G": ("frame", "third"),
    }.items():  # fmt: skip
        m.joint(name, "R", pair, at=name)
    m.driver("theta", joint="O", angle="omega*t")
    m.simulation.update(start=0, stop=1, step=0.025)
    return m


def spatial() -> Mechanism:
    """RSSR: a crank, a rod on two balls, a rocker on a skew axis."""
    m = Mechanism("rssr", space="spatial", r=0.4, omega=6.0, h=1.3)
    for name, place in {
        "O": (0, 0, 0), "B": ("r", 0, 0), "C": (1.1, 0.5, "h"), "D": (1.5, 0.4, 0.2), "E": (1.5, 1.2, 0.2),
    }.items():  # fmt: skip
        m.point(name, place)
    m.body("frame", ["O", "D", "E"])
    m.body("crank", ["O", "B"])
    m.body("rod", ["B", "C"])
    m.body("rocker", ["D", "C"])
    m.joint("A", "R", ["frame", "crank"], at="O", axis=[0, 0, 1])
    m.joint("B", "S", ["crank", "rod"], at="B")
    m.joint("C", "S", ["rod", "rocker"], at="C")
    m.joint("D", "R", ["frame", "rocker"], at="D", axis=[0, 1, 0])
    m.driver("theta", joint="A", angle="omega*t")
    m.simulation.update(start=0, stop=1, step=0.025)
    return m


def worst(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference over the largest value."""
    assert a.shape == b.shape
    return float(np.max(np.abs(a - b)) / max(np.max(np.abs(b)), 1e-300))


QUANTITIES = ("position", "velocity", "acceleration")
DESIGNS: dict[str, tuple[Callable[[], Mechanism], dict[str, tuple[float, float]], list[str]]] = {
    "closed form": (four_bar, {"a": (1.6, 2.3), "b": (5.6, 6.4), "omega": (4, 8), "px": (2, 4)}, ["P", "C"]),
    "Newton": (triad, {"leg": (1.9, 2.1), "side": (1.55, 1.65), "omega": (3, 6)}, ["Q", "S"]),
    "in space": (spatial, {"r": (0.3, 0.45), "h": (1.2, 1.4), "omega": (4, 8)}, ["B", "C"]),
}


@pytest.mark.parametrize("kind", DESIGNS)
def test_a_batch_is_its_single_runs(kind: str) -> None:
    make, ranges, points = DESIGNS[kind]
    m = make()
    c = m.compile(points=points)
    rng = np.random.default_rng(3)
    designs = {name: rng.uniform(*span, 25) for name, span in ranges.items()}
    found = c.batch(designs)
    assert (found.status == 0).all()
    for i in range(0, 25, 6):
        design = {name: float(values[i]) for name, values in designs.items()}
        alone = run(m.model(**design)).results  # read and planned anew
        again = c(**design)
        for point in points:
            for quantity in QUANTITIES:
                exact = getattr(alone.points[point], quantity)
                assert worst(getattr(found.points[point], quantity)[i], exact) < 1e-12
                assert worst(getattr(again.points[point], quantity), exact) < 1e-12


def test_bodies_and_joints_of_designs() -> None:
    m = four_bar()
    c = m.compile(bodies=["rod", "rocker"], joints=["A", "C"])
    found = c.batch({"a": [1.8, 2.0, 2.2]}, threads=2)
    for i, a in enumerate((1.8, 2.0, 2.2)):
        alone = run(m.model(a=a)).results
        for body in ("rod", "rocker"):
            assert worst(found.bodies[body].angle[i], alone.bodies[body].angle) < 1e-12
            assert worst(found.bodies[body].angular_acceleration[i], alone.bodies[body].angular_acceleration) < 1e-12
        for joint in ("A", "C"):
            assert worst(found.joints[joint].angle[i], alone.joints[joint].angle) < 1e-12
            assert worst(found.joints[joint].rate[i], alone.joints[joint].rate) < 1e-12


def test_rotations_in_space() -> None:
    m = spatial()
    found = m.compile(bodies=["crank", "rocker"], joints=["A", "D"]).batch({"r": [0.35, 0.42]})
    for i, r in enumerate((0.35, 0.42)):
        alone = run(m.model(r=r)).results
        assert worst(found.bodies["rocker"].rotation[i], alone.bodies["rocker"].rotation) < 1e-12
        assert worst(found.bodies["rocker"].angular_velocity[i], alone.bodies["rocker"].angular_velocity) < 1e-12
        assert worst(found.joints["D"].angle[i], alone.joints["D"].angle) < 1e-12
        assert worst(found.joints["A"].angle[i], alone.joints["A"].angle) < 1e-12


def test_a_bad_design_stops_no_other() -> None:
    """A crank too long for the loop is lost on the way, one far too long is never assembled."""
    m = four_bar()
    found = m.compile(points=["P"]).batch(pd.DataFrame({"a": [2.0, 6.7, 40.0, 2.1]}))
    assert found.status.tolist() == [0, 1, 2, 0]
    assert found.solved[0] == found.solved[3] == 41
    with pytest.raises(AssemblyError) as caught:
        m.run(a=6.7)
    alone = caught.value.results
    assert found.solved[1] == len(alone.time)
    assert 0 < len(alone.time) < 41
    assert worst(found.points["P"].position[1, : len(alone.time)], alone.points["P"].position) < 1e-12
    assert np.isnan(found.points["P"].position[1, len(alone.time) :]).all()
    assert f"t = {found.lost_at[1]:.9g} s" in str(caught.value)
    assert found.message[1] == str(caught.value)
    assert "RRR_1" in found.message[2]
    assert np.isnan(found.points["P"].position[2]).all()


def test_one_lost_design_is_an_error_with_its_results() -> None:
    m = four_bar()
    with pytest.raises(AssemblyError) as caught:
        m.compile(points=["P"])(a=6.7)
    assert 0 < len(caught.value.results.time) < 41


def test_a_design_with_another_decision_is_run_on_its_own() -> None:
    """A rod of length zero, a parallelogram with its change points: reading, planning or following decide otherwise."""
    m = four_bar()
    found = m.compile(points=["P"]).batch({"a": [2.0, 6.0, 2.0], "b": [6.0, 6.0, 0.0]})
    assert found.own_way.tolist() == [False, True, True]
    alone = run(m.model(a=6.0)).results
    solved = len(alone.time)
    assert worst(found.points["P"].position[1, :solved], alone.points["P"].position) < 1e-12
    assert found.status[2] != 0
    assert found.message[2] != ""


def test_designs_out_of_reach_are_told_without_a_run_of_their_own() -> None:
    """Bars too short to meet, by much or by little: no branches meet there, whatever stands in the rows by then."""
    short = {"a": [2.0, 4.0, 4.0, 4.0], "b": [6.0, 0.9, 3.0, 0.9], "c": [5.0, 0.5, 0.9, 1.0999]}
    found = four_bar().compile(points=["P"]).batch(short)
    assert found.own_way.tolist() == [False] * 4
    assert found.status.tolist() == [0, 2, 2, 2]


def test_designs_with_other_inner_instants_do_not_share_what_is_kept() -> None:
    """A late start of the driver shifts where it is fast: as many instants lie elsewhere. B is on its circle."""
    m = four_bar()
    m.parameter("p", 0.0)
    m.drivers["theta"]["angle"] = "3*sin(2*pi*(t - p))"
    times = np.array([0, 0.1, 0.25, 0.4, 0.5, 0.75, 0.85, 1.0])
    c = m.compile(times, points=["B"])
    for p in (0.5, 0.25, 0.0, 0.125):
        theta = 3 * np.sin(2 * np.pi * (times - p))
        B = 2 * np.stack([np.cos(theta), np.sin(theta)], axis=1)
        assert worst(c(p=p).points["B"].position, B) < 1e-14
        assert worst(c.batch({"p": [p, p]}).points["B"].position[1], B) < 1e-14


def test_a_design_that_begins_at_a_change_point_is_run_on_its_own() -> None:
    """A parallelogram with its bars in one line: no rounding decides whether it can be assembled."""
    m = Mechanism("parallelogram", a=1.0)
    for name, place in {"A": (0, 0), "B": ("a", 0), "C": (4, 0), "D": (3, 0)}.items():
        m.point(name, place)
    m.body("frame", ["A", "D"])
    m.body("crank", ["A", "B"], length="a")
    m.body("rod", ["B", "C"], length=3)
    m.body("rocker", ["D", "C"], length=1)
    for name, pair in {"A": "frame crank", "B": "crank rod", "C": "rod rocker", "D": "frame rocker"}.items():
        m.joint(name, "R", pair.split(), at=name)
    m.driver("theta", joint="A", angle="pi*t")
    times = np.linspace(0.0, 1.9, 41)
    c = m.compile(times, points=["C"])
    C = np.stack([3 + np.cos(np.pi * times), np.sin(np.pi * times)], axis=1)
    assert np.max(np.abs(c().points["C"].position - C)) < 1e-9  # bridged
    assert c.batch({"a": [1.0, 0.9, 7.0]}).status.tolist() == [0, 0, 2]


def test_a_design_with_change_points_stops_no_wheel_of_another() -> None:
    """Crank and rocker of one length; a wheel turns with the rocker, so that its turns are looked at."""
    m = four_bar()
    m.point("W", (-3, 0))
    m.point("V", (-2.5, 0))
    m.bodies["frame"]["points"] = ["A", "D", "W"]
    m.body("wheel", ["W", "V"])
    m.joint("W", "R", ["frame", "wheel"], at="W")
    m.joint("gear", "gear", ["rocker", "wheel"], ratio=2)
    m.drivers["theta"]["angle"] = "pi/2 + 2*pi*t"
    times = np.linspace(0, 1, 14)
    c = m.compile(times, bodies=["wheel"])
    found = c.batch({"a": [6.0, 2.0, 3.0]})
    assert found.status.tolist() == [0, 0, 0]
    for k, a in enumerate((6.0, 2.0, 3.0)):
        assert worst(found.bodies["wheel"].angle[k], run(m.model(a=a), times).results.bodies["wheel"].angle) < 1e-9


@pytest.mark.parametrize("kind", [four_bar, triad])
def test_several_threads_may_run_one_mechanism(kind: Callable[[], Mechanism]) -> None:
    """Each with times of its own: nothing that a run notes is another's."""
    m = kind()
    times = [np.linspace(0.0, 1.0, n) for n in (41, 97, 230, 55)]
    names = list(m.points)[-3:]
    alone, compiled = [m.run(times=t) for t in times], m.compile(times[0], points=names)

    def one(k: int) -> float:
        found = m.run(times=times[k % 4]) if k % 5 else compiled()
        right = alone[k % 4 if k % 5 else 0]
        return max(worst(found.points[p].position, right.points[p].position) for p in names)

    with ThreadPoolExecutor(4) as pool:
        assert max(pool.map(one, range(200))) < 1e-12


def test_run_reuses_the_program_and_gives_the_same() -> None:
    m = four_bar()
    for design in ({}, {"a": 2.2}, {"a": 2.2, "omega": 7.0}, {"x_D": 6.5}, {"a": 2.2}):
        found = m.run(**design)
        fresh = run(m.model(**design)).results
        for point in fresh.points:
            for quantity in QUANTITIES:
                difference = getattr(found.points[point], quantity) - getattr(fresh.points[point], quantity)
                assert np.max(np.abs(difference)) < 1e-11
        for joint in fresh.joints:
            assert np.max(np.abs(found.joints[joint].angle - fresh.joints[joint].angle)) < 1e-12
        assert found.diagnostics["max_residual"] < 1e-14
    m.bodies["rocker"]["length"] = 6.4  # another mechanism: what was planned no longer counts
    changed = m.run()
    assert worst(changed.points["C"].position, run(m.model()).results.points["C"].position) < 1e-14


def test_formulas_are_overridden_by_numbers() -> None:
    """In the file of Jansen's leg every length is a formula of a unit."""
    m = Mechanism.load(EXAMPLES / "jansen-leg.toml")
    times = np.linspace(0, 1, 31)
    m.run(times=times)
    found = m.run(times=times, b=0.42)
    assert worst(found.points["F"].position, run(m.model(b=0.42), times).results.points["F"].position) < 1e-12
    c = m.compile(times, points=["F"], parameters=["b", "c"])
    assert worst(c(b=0.42).points["F"].position, found.points["F"].position) < 1e-12
    with pytest.raises(InputError, match="there is no parameter 'd'"):
        c(d=0.4)


def test_times_that_depend_on_parameters_are_asked_for() -> None:
    m = four_bar()
    m.simulation["stop"] = "2*pi/omega"
    with pytest.raises(InputError, match="give the times"):
        m.compile()
    assert m.compile(TIMES, points=["P"])().points["P"].position.shape == (41, 2)


@pytest.mark.parametrize("kind", DESIGNS)
def test_sensitivities_are_differences_of_whole_runs(kind: str) -> None:
    """Fourth-order differences of runs that are read, planned and solved anew, for every parameter."""
    make, _, points = DESIGNS[kind]
    m = make()
    c = m.compile(points=points)
    found = c.sensitivities()
    assert found.names == c.names
    for j, name in enumerate(found.names):
        h = 1e-3 * max(abs(found.design[name]), 0.1)
        runs = [run(m.model(**{name: found.design[name] + k * h})).results for k in (-2, -1, 1, 2)]
        for point in points:
            for quantity in QUANTITIES:
                a, b, d, e = (getattr(r.points[point], quantity) for r in runs)
                exact = (8 * (d - b) - (e - a)) / (12 * h)
                value = getattr(found.points[point], quantity)[j]
                # truncation h⁴ times the fifth derivative, and rounding 1e-15 / h of the values themselves
                scale = max(np.abs(exact).max(), np.abs(b).max())
                assert np.abs(value - exact).max() < 3e-8 * scale, (name, point, quantity)


def test_sensitivities_of_positions_alone() -> None:
    c = four_bar().compile(points=["P"])
    first, all_orders = c.sensitivities(orders=1, a=2.1), c.sensitivities(a=2.1)
    assert np.array_equal(first.points["P"].position, all_orders.points["P"].position)
    assert first.points["P"].velocity is None


def test_sensitivities_of_a_design_that_is_planned_otherwise_say_so() -> None:
    m = spatial()
    m.parameter("tilt", 0.0)
    m.joints["D"]["axis"] = ["sin(tilt)", "cos(tilt)", 0]
    c = m.compile(points=["C"])
    if c.batch({"tilt": [0.05]}).own_way[0]:
        with pytest.raises(InputError, match="planned otherwise"):
            c.sensitivities(tilt=0.05)


def test_sensitivities_need_a_whole_motion() -> None:
    with pytest.raises(AssemblyError, match="whole motion"):
        four_bar().compile(points=["P"]).sensitivities(a=6.7)
