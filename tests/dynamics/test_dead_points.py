"""Dead points of coordinates that carry almost all of the mass: the criterion does not see them coming."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assurgent.dynamics.forward import simulate
from assurgent.mechanism.reader import loads

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


PENDULUM = """k = { points = ["p3", "p9"], mass = 0.3, inertia = [0.01, 0.02, 0.03, 0, 0, 0] }
[joints]
j9 = { type = "R", bodies = ["b3", "k"], at = "p3", axis = [0, 1, 0.2] }
"""
BESIDE = {
    "free": 'w = { joint = "j9", angle = 0.0, rate = 0.5 }',
    "driven": '[drivers]\nw = { joint = "j9", angle = "0.3*sin(5*t)" }',
}


@pytest.mark.parametrize("beside", BESIDE)
def test_a_dead_point_of_all_cranks_beside_another_motion(beside: str) -> None:
    """The coupler passes the end of its universal joint's reach, while a pendulum on it swings or is driven."""
    text = (Path(__file__).parents[1] / "data/faults/simulate-spatial-false-stop.toml").read_text("utf-8")
    text = text.replace("[bodies]", "p9 = [1.8, 0.9, 0.7]\n[bodies]").replace("[joints]\n", PENDULUM)
    model = loads(text.replace("[simulation]", BESIDE[beside] + "\n[simulation]"), "beside")
    times = np.linspace(0, 0.2, 41)
    found, other = simulate(model, times).results, simulate(model, times, "global").results
    assert len(found.time) == len(times)
    assert () in found.independent
    for name, series in found.bodies.items():
        assert series.angular_velocity == pytest.approx(other.bodies[name].angular_velocity, abs=1e-8)
    for name, reaction in found.reactions.items():
        force = other.reactions[name].force
        assert reaction.force == pytest.approx(force, abs=1e-8 * np.abs(force).max())
    for name, driver in found.drivers.items():
        assert driver.effort == pytest.approx(other.drivers[name].effort, abs=1e-8)


PARALLELOGRAM = """
format = 1
space = "planar"
gravity = [0, -9.81]
points = { A = [0, 0], B = [2, 0], P = [0, 1], Q = [2, 1] }
[bodies]
frame = { points = ["A", "B"] }
a = { points = ["A", "P"], mass = 1, inertia = 0.1 }
b = { points = ["B", "Q"], mass = 1, inertia = 0.1 }
k = { points = ["P", "Q"], mass = 3, inertia = 0.1 }
[joints]
A = { type = "R", bodies = ["frame", "a"], at = "A" }
B = { type = "R", bodies = ["frame", "b"], at = "B" }
P = { type = "R", bodies = ["a", "k"], at = "P" }
Q = { type = "R", bodies = ["b", "k"], at = "Q" }
[initial]
a = { joint = "A", angle = 1.2, rate = RATE }
"""


@pytest.mark.parametrize("method", ["global", "semirecursive-1"])
def test_a_stop_where_branches_meet_says_so(read, method):
    """A smaller tolerance would stop at the same instant; partition follows the cranks on, which stay parallel.

    Whether a step comes so near to the position that no digits are left is chance: other methods pass or say why not.
    """
    times, stopped = np.linspace(0, 1, 51), 0
    for rate in (8.5, 8.9, 9.1, 9.7, 10.3):
        mechanism = read(PARALLELOGRAM.replace("RATE", str(rate)))
        outcome = simulate(mechanism, times, method=method)
        joints = outcome.results.joints
        assert joints["B"].angle == pytest.approx(joints["A"].angle, abs=1e-7)
        if outcome.stop is not None:
            stopped += 1
            assert "singular position, where its branches meet" in outcome.stop.message
            assert "use the method partition" in outcome.stop.message
            assert "tolerance" not in outcome.stop.message
        passed = simulate(mechanism, times)
        assert passed.stop is None
        assert passed.results.joints["B"].angle == pytest.approx(passed.results.joints["A"].angle, abs=1e-7)
    assert stopped > 0
