"""Dead points of coordinates that carry almost all of the mass: the criterion does not see them coming."""

from __future__ import annotations

import numpy as np

from assurgent.runtime.dynamics.forward import simulate
from assurgent.runtime.mechanism.reader import loads

# without inertia in crank and rod the slider's displacement looks best up to the end of its stroke
PRESS = """
format = 1
name = "press"
space = "planar"
gravity = [0, -9.81]
[points]
O = [0, 0]
A = [0.05, 0.06]
B = [0, -0.29]
[bodies]
frame = { points = ["O"] }
crank = { points = ["O", "A"], length = 0.08, mass = 12, centre = [0, 0] }
rod = { points = ["A", "B"], length = 0.35, mass = 8 }
ram = { points = ["B"], mass = 40 }
[joints]
O = { type = "R", bodies = ["frame", "crank"], at = "O" }
A = { type = "R", bodies = ["crank", "rod"], at = "A" }
B = { type = "R", bodies = ["rod", "ram"], at = "B" }
G = { type = "P", bodies = ["frame", "ram"], at = "B", through = "O", axis = [0, -1] }
[initial]
phi = { joint = "O", angle = 1.0, rate = 0 }
[simulation]
stop = 1
step = 0.01
"""


def test_a_press_without_inertia_swings_through_its_dead_points() -> None:
    model = loads(PRESS, "press.toml")
    found, other = simulate(model), simulate(model, method="global")
    assert found.stop is None
    independent = set(found.results.independent)
    assert len(independent) > 1  # it does change its coordinates
    energy = found.results.energy
    assert energy is not None
    size = np.ptp(energy.kinetic)
    assert np.abs(energy.total - energy.total[0]).max() < 1e-8 * size  # tolerance of the integrator: 1e-12 per step
    for name in ("A", "B"):
        difference = found.results.points[name].position - other.results.points[name].position
        assert np.abs(difference).max() < 1e-9  # both within the integrators' tolerances
