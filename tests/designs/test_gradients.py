"""Objectives and their exact gradients, against differences of whole runs and a closed form in complex steps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from assurgent import InputError, Mechanism, Results
from assurgent.designs.compiled_mechanism import CompiledMechanism
from assurgent.designs.objectives import (
    Objective,
    PeakOfDynamics,
    curve,
    function,
    least_transmission,
    ordered_points,
    peak_reaction,
    peak_speed,
    peak_torque,
    poses,
    timed_points,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
FILE = Path(__file__).parents[2] / "bench" / "data" / "coupler-four-bar.toml"
TARGETS = np.array([[1.0, 2.0], [0.5, 2.5], [0.0, 2.0], [1.0, 1.0], [2.0, 1.0]])


@pytest.fixture(scope="module")
def compiled() -> CompiledMechanism:
    return Mechanism.load(FILE).compile(times=np.linspace(0, 0.9, 31), points=["B", "C", "D", "P"])


def squared_height(results: Results) -> tuple[float, Mapping[str, np.ndarray]]:
    y = results.points["P"].position[:, 1]
    return float(y @ y), {"P": np.column_stack([np.zeros_like(y), 2 * y])}


@pytest.mark.parametrize(
    "objective",
    [
        timed_points("P", TARGETS, [0, 5, 10, 15, 20]),
        curve("P", TARGETS),
        poses("B", "C", [[1, 1, 0.3], [0, 2, 0.5]], 2.0, [3, 7]),
        least_transmission("B", "C", "D"),
        ordered_points("P", TARGETS),
        function("D", "C", [1.0, 1.2, 1.1], [0, 4, 9]),
        peak_speed("P"),
        squared_height,
    ],
)
def test_gradients_are_those_of_whole_runs(compiled: CompiledMechanism, objective: Objective) -> None:
    design = dict(zip(compiled.names, compiled.nominal.tolist(), strict=True))
    value, gradient = compiled.value_and_gradient(objective, {"a": design["a"]})
    assert value == pytest.approx(objective(compiled())[0], rel=1e-14)
    h = 1e-5
    for k, name in enumerate(compiled.names):
        up, down = ({**design, name: design[name] + sign * h} for sign in (1, -1))
        difference = (objective(compiled(**up))[0] - objective(compiled(**down))[0]) / (2 * h)
        assert gradient[k] == pytest.approx(difference, rel=1e-7, abs=1e-7)


def test_the_jacobian_agrees_with_complex_steps_of_the_closed_form(compiled: CompiledMechanism) -> None:
    J = compiled.jacobian()
    n = len(compiled.time)
    assert J.shape == (4 * 2 * n, len(compiled.names))
    results = compiled()
    B, C, D = (results.points[x].position for x in "BCD")
    p = dict(zip(compiled.names, compiled.nominal.tolist(), strict=True))
    side = np.sign((D - B)[:, 0] * (C - B)[:, 1] - (D - B)[:, 1] * (C - B)[:, 0])[0]

    def pin(b: complex, c: complex) -> np.ndarray:
        """C over the instants, for lengths that may be complex."""
        way = D - B
        square = np.sum(way**2, axis=1)
        along = (b * b - c * c + square) / (2 * square)
        across = side * np.sqrt(b * b / square - along**2)
        return np.column_stack(
            [B[:, 0] + along * way[:, 0] - across * way[:, 1], B[:, 1] + along * way[:, 1] + across * way[:, 0]]
        )

    assert pin(p["b"], p["c"]).real == pytest.approx(C, rel=1e-12)
    h = 1e-30
    for name, step in (("b", (1j * h, 0)), ("c", (0, 1j * h))):
        expected = pin(p["b"] + step[0], p["c"] + step[1]).imag / h
        found = J[2 * n : 4 * n, compiled.names.index(name)].reshape(n, 2)
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-12)


def test_scipy_finds_a_known_design_by_the_gradient(compiled: CompiledMechanism) -> None:
    from scipy.optimize import minimize

    goal = compiled(a=2.05, b=6.1).points["P"].position
    objective = timed_points("P", goal)

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = compiled.value_and_gradient(objective, {"a": float(x[0]), "b": float(x[1])})
        return value, gradient[[compiled.names.index("a"), compiled.names.index("b")]]

    found = minimize(both, [2.0, 6.0], jac=True, method="BFGS", options={"gtol": 1e-9})
    assert found.x == pytest.approx([2.05, 6.1], rel=1e-6)


JANSEN = ["a", "b", "c", "d", "ee", "f", "g", "h", "i", "j", "k", "l", "m"]


@pytest.mark.parametrize(
    ("file", "parameters", "points"),
    [("jansen-leg", JANSEN, ["F", "W", "V"]), ("slider-crank", None, None), ("minimal-slider-crank", None, None)],
)
def test_backwards_is_forwards(file: str, parameters: list[str] | None, points: list[str] | None) -> None:
    m = Mechanism.load(EXAMPLES / f"{file}.toml")
    c = m.compile(times=np.linspace(0.0, 0.05, 11), points=points, parameters=parameters)
    rng = np.random.default_rng(3)
    weights = {name: rng.standard_normal(p.position.shape) for name, p in c().points.items()}

    def weighted(results: Results) -> tuple[float, Mapping[str, np.ndarray]]:
        return sum(float(np.sum(w * results.points[n].position)) for n, w in weights.items()), weights

    value, forward = c.value_and_gradient(weighted, method="forward")
    same, backward = c.value_and_gradient(weighted, method="adjoint")
    assert value == same
    assert np.abs(forward).max() > 0
    assert backward == pytest.approx(forward, rel=1e-12, abs=1e-12 * np.abs(forward).max())
    chosen = c.value_and_gradient(weighted)[1]
    assert (chosen == (backward if len(c.names) > 3 else forward)).all()


def test_what_cannot_go_backwards_says_so(compiled: CompiledMechanism) -> None:
    with pytest.raises(InputError, match="velocities and accelerations go forward"):
        compiled.value_and_gradient(peak_speed("P"), method="adjoint")
    with pytest.raises(InputError, match='is "forward" or "adjoint"'):
        compiled.value_and_gradient(curve("P", TARGETS), method="sideways")


def test_targets_out_of_order_cost_more(compiled: CompiledMechanism) -> None:
    path = compiled().points["P"].position
    ordered, swapped = path[[3, 9, 15, 21]], path[[9, 3, 21, 15]]
    assert ordered_points("P", ordered)(compiled())[0] < 1e-20
    assert ordered_points("P", ordered[::-1])(compiled())[0] < 1e-20
    assert ordered_points("P", swapped)(compiled())[0] > 0.1
    assert curve("P", swapped)(compiled())[0] < 1e-20


@pytest.mark.parametrize("objective", [peak_torque("theta"), peak_reaction("B")])
def test_peaks_of_dynamics_have_gradients(objective: PeakOfDynamics) -> None:
    m = Mechanism.load(FILE)
    m.bodies["rod"] |= {"mass": 2.0, "inertia": 0.5, "centre": [3.0, 0.5]}
    m.bodies["rocker"] |= {"mass": 1.5, "inertia": 0.4, "centre": [2.0, 0.0]}
    times = np.linspace(0, 0.9, 10)
    c = m.compile(times=times, points=["P"])
    value, gradient = c.value_and_gradient(objective, {"a": 2.1})
    results = m.inverse(times, a=2.1)
    series = (
        np.abs(np.asarray(results.drivers["theta"].effort))
        if objective.driver
        else np.linalg.norm(results.reactions["B"].force, axis=1)
    )
    assert value == pytest.approx(series.max(), rel=1e-12)
    k, h, name = int(np.argmax(series)), 1e-5, "b"
    sides = [m.inverse(times, a=2.1, b=m.parameters[name] + s * h) for s in (1, -1)]
    if objective.driver:
        up, down = (abs(float(np.asarray(r.drivers["theta"].effort)[k])) for r in sides)
    else:
        up, down = (float(np.linalg.norm(r.reactions["B"].force[k])) for r in sides)
    assert gradient[c.names.index(name)] == pytest.approx((up - down) / (2 * h), rel=1e-6)


def test_a_point_that_is_not_compiled_is_named() -> None:
    c = Mechanism.load(FILE).compile(times=[0.0, 0.1], points=["P"])
    with pytest.raises(InputError, match="point C is not compiled"):
        c.value_and_gradient(lambda _: (0.0, {"C": np.zeros((2, 2))}))
