"""Mechanisms of many kinds, given masses and let go: both methods move them alike, and power balances on the way."""

import numpy as np
import pytest

from assurgent.dynamics.forward import simulate
from assurgent.dynamics.inverse import inverse

from .mechanisms import heavy, let_go

NAMES = ("excavator", "five-bar", "planetary-gear", "quick-return", "rack-and-pinion", "slider-crank")
IN_SPACE = ("rssr", "spatial-slider-crank")
ITERATED = ("scissor-lift", "universal-joint", "bennett")  # Newton; of the last two, with more equations than unknowns


@pytest.mark.parametrize("name", [*NAMES, *IN_SPACE, *(pytest.param(n, marks=pytest.mark.long) for n in ITERATED)])
def test_methods_agree(name):
    model = let_go(name)
    times = np.array([0.0, 0.15]) * np.sqrt(model.size)
    one, two = (simulate(model, times, method).results for method in ("partition", "global"))
    for point in one.points:  # two integrators at 1e-12 per step, a few steps
        assert one.points[point].position == pytest.approx(two.points[point].position, abs=1e-11 * model.size)
        assert one.points[point].acceleration == pytest.approx(two.points[point].acceleration, abs=1e-9)
    for joint in one.reactions:
        assert one.reactions[joint].force == pytest.approx(two.reactions[joint].force, abs=1e-9)
        assert one.reactions[joint].moment == pytest.approx(two.reactions[joint].moment, abs=1e-9)
    assert one.diagnostics["energy_drift"] < 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_power_balances(name):
    model = heavy(name)
    start = model.simulation.start
    assert inverse(model, start + np.array([0.0, 0.01, 0.1])).results.diagnostics["power_balance"] < 1e-12
