"""Mechanisms of many kinds, given masses and let go: both methods move them alike, and power balances on the way."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assurgent.dynamics.forward import simulate
from assurgent.dynamics.inverse import inverse
from assurgent.mechanism.model import FRAME, Mass, Model
from assurgent.mechanism.reader import load

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("excavator", "five-bar", "planetary-gear", "quick-return", "rack-and-pinion", "slider-crank")
IN_SPACE = ("rssr", "spatial-slider-crank")
ITERATED = ("scissor-lift", "universal-joint", "bennett")  # Newton; of the last two, with more equations than unknowns


def heavy(path: Path) -> Model:
    """Return an example with a mass of 1 kg at the middle of the points of each body, and a slanting gravity."""
    model = load(path)
    bodies = {}
    for name, body in model.bodies.items():
        centre = np.mean(list(body.points.values()), axis=0)
        about = np.array(0.1) if model.dimension == 2 else 0.1 * np.diag([1.0, 1.2, 1.5])
        mass = Mass(1.0, centre, about * model.size**2)
        bodies[name] = body if name == FRAME else replace(body, mass=mass)
    return replace(model, bodies=bodies, gravity=np.array([2.0, -9.81, 1.0][: model.dimension]))


@pytest.mark.parametrize("name", [*NAMES, *IN_SPACE, *(pytest.param(n, marks=pytest.mark.long) for n in ITERATED)])
def test_methods_agree(name):
    model = heavy(EXAMPLES / f"{name}.toml")
    free = replace(model, drivers={}, simulation=replace(model.simulation, start=0.0))
    times = np.array([0.0, 0.15]) * np.sqrt(model.size)
    one, two = (simulate(free, times, method).results for method in ("partition", "global"))
    for point in one.points:  # two integrators at 1e-12 per step, a few steps
        assert one.points[point].position == pytest.approx(two.points[point].position, abs=1e-11 * model.size)
        assert one.points[point].acceleration == pytest.approx(two.points[point].acceleration, abs=1e-9)
    for joint in one.reactions:
        assert one.reactions[joint].force == pytest.approx(two.reactions[joint].force, abs=1e-9)
        assert one.reactions[joint].moment == pytest.approx(two.reactions[joint].moment, abs=1e-9)
    assert one.diagnostics["energy_drift"] < 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_power_balances(name):
    model = heavy(EXAMPLES / f"{name}.toml")
    start = model.simulation.start
    assert inverse(model, start + np.array([0.0, 0.01, 0.1])).results.diagnostics["power_balance"] < 1e-12
