"""The projective criterion against closed forms, and the velocity transformation against the rows of all joints."""

from dataclasses import replace

import numpy as np
import pytest

from assurgent.common.errors import InputError
from assurgent.dynamics.coordinates import cut_joints
from assurgent.dynamics.forward import simulate
from assurgent.dynamics.initial_state import begin
from assurgent.dynamics.partition import Partition
from assurgent.dynamics.posture import poses_of
from assurgent.mechanism.absolute import Absolute


@pytest.mark.parametrize(("m", "inertia", "rho", "degrees"), [(2, 0.3, 0.5, 10), (2, 0.3, 0.5, 60), (1, 0.05, 1.2, 30)])
def test_physical_pendulum_of_blajer(read, m, inertia, rho, degrees):
    # two slides without mass carry the body by its centre: the tree's coordinates are x, y and the angle
    gamma = np.radians(degrees)
    x, y = rho * np.cos(gamma), rho * np.sin(gamma)
    text = f"""
format = 1
space = "planar"
[points]
O = [0, 0]
X = [{x}, 0]
G = [{x}, {y}]
[bodies.frame]
points = ["O"]
[bodies.along]
points = ["X"]
[bodies.up]
points = ["G"]
[bodies.bar]
points = ["G", "O"]
local = {{ G = [0, 0], O = [{-rho}, 0] }}
mass = {m}
centre = "G"
inertia = {inertia}
[joints]
x = {{ type = "P", bodies = ["frame", "along"], at = "X", axis = [1, 0], through = "O" }}
y = {{ type = "P", bodies = ["along", "up"], at = "G", axis = [0, 1], through = "X" }}
turn = {{ type = "R", bodies = ["up", "bar"], at = "G" }}
pivot = {{ type = "R", bodies = ["frame", "bar"], at = "O" }}
[simulation]
cut = ["pivot"]
"""
    r = simulate(read(text), np.array([0.0])).results
    whole = m * rho**2 + inertia
    expected = {"x": m * rho**2 / whole * np.sin(gamma) ** 2, "y": m * rho**2 / whole * np.cos(gamma) ** 2,
                "turn": inertia / whole}  # fmt: skip
    found = {name: float(values[0]) for name, values in r.criterion.items()}
    assert found == pytest.approx(expected, rel=1e-11)  # Eq. 26; rounding of the metric of the tree
    assert r.independent[0] == (max(expected, key=lambda n: expected[n]),)


def test_criterion_of_the_four_bar_needs_no_special_cut(mechanisms, read):
    model = read(mechanisms.RELEASED)
    expected = {  # 40 digits: tree coordinates, one joint open
        "D": {"A": 0.894084706625952, "B": 0.720413343432597, "C": 0.19444320533893},
        "C": {"A": 0.728422471672164, "B": 0.449683133179789, "D": 0.110284022229817},
        "B": {"A": 0.159541842278124, "C": 0.65029115609419, "D": 0.502273357753052},
    }
    for cut, values in expected.items():
        opened = replace(model, simulation=replace(model.simulation, cut=(cut,)))
        r = simulate(opened, np.array([0.0])).results
        assert {k: float(v[0]) for k, v in r.criterion.items()} == pytest.approx(values, rel=1e-11)
        assert r.diagnostics["cut"] == [cut]


def test_a_cut_that_leaves_a_loop_is_refused(mechanisms, read):
    model = read(mechanisms.windows(2))
    opened = replace(model, simulation=replace(model.simulation, cut=("l1",)))
    with pytest.raises(InputError, match="loop"):
        cut_joints(opened)
    assert len(cut_joints(model)) == 2


@pytest.mark.parametrize("name", ["RELEASED", "ROCKING", "RSSR"])
def test_velocity_transformation_against_the_rows_of_all_joints(mechanisms, read, name):
    model = read(getattr(mechanisms, name))
    run = Partition(model, begin(model), lambda _: None)
    system = Absolute(model)
    z = run.z + 0.05
    instant = run.equations.instant(0.0, z, np.array([1.7]))
    J = system.jacobian(poses_of(system, instant.posture))
    R = instant.R[1:].reshape(-1, 1)
    assert np.abs(J @ R).max() < 1e-13 * np.abs(R).max()
    assert instant.posture.twist[1:].ravel() == pytest.approx(1.7 * R[:, 0], abs=1e-13)
    # c = Ṙ ż: J c = -J̇ ν, the acceleration without z̈
    velocity = instant.posture.twist[1:].ravel()
    gamma = system.gamma(poses_of(system, instant.posture), velocity)
    assert J @ instant.c[1:].ravel() == pytest.approx(-gamma, abs=1e-11)


def test_change_of_coordinates_keeps_state_and_acceleration(mechanisms, read):
    model = read(mechanisms.ROCKING)
    run = Partition(model, begin(model), lambda _: None)
    before = run._moved(0.0, run.z, run.zdot)
    other = tuple(c for c in run.gauge.all if c.joint == "D")
    run._change(other, run._moved(0.0, run.z, run.zdot), 0.0)
    after = run._moved(0.0, run.z, run.zdot)
    assert run.chosen == other
    assert after.instant.posture.origin == pytest.approx(before.instant.posture.origin, abs=1e-14)
    assert after.instant.posture.twist == pytest.approx(before.instant.posture.twist, rel=1e-12, abs=1e-12)
    assert after.acceleration == pytest.approx(before.acceleration, rel=1e-11, abs=1e-9)
