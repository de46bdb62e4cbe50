"""Mechanisms that once went wrong, each against physics or an independent solution."""

from pathlib import Path

import numpy as np
import pytest

from assurgent.runtime.dynamics.forward import simulate
from assurgent.runtime.mechanism.reader import load

FAULTS = Path(__file__).parents[1] / "data/faults"


def test_w15_simulate_partition_loses_energy():
    """A leg on a universal and a spherical joint took its other branch where the coordinates changed."""
    model = load(FAULTS / "W15-simulate-partition-loses-energy.toml")
    times = np.linspace(0, 0.4, 41)
    outcome, oracle = simulate(model, times), simulate(model, times, method="global").results
    found = outcome.results
    assert outcome.stop is None
    assert found.diagnostics["coordinate_changes"] == 2
    assert np.ptp(found.energy.total) < 1e-9 * found.energy.kinetic.max()
    for name, point in oracle.points.items():
        assert found.points[name].position == pytest.approx(point.position, abs=1e-9)
        assert found.points[name].velocity == pytest.approx(point.velocity, abs=1e-8)
