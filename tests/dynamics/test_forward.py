"""Forward dynamics against closed forms, against independent integration, and one method against the other."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

from assurgent.common.errors import AssurgentError, InputError
from assurgent.dynamics import array_heads as chain
from assurgent.dynamics import integrator, partition, stepping
from assurgent.dynamics.forward import simulate
from assurgent.dynamics.instant_kinematics import Mechanics
from assurgent.dynamics.stepping import Stepping
from assurgent.mechanism.reader import load

FAULTS = Path(__file__).parents[1] / "data/faults"
G = 9.81


def test_energy_of_a_free_four_bar(mechanisms, read):
    outcome = simulate(read(mechanisms.RELEASED), np.linspace(0, 20, 41), reactions=False)
    assert outcome.stop is None
    # 1e-12 per step of the integrator, about 2,000 steps, errors mostly of one sign
    assert outcome.results.diagnostics["energy_drift"] < 5e-10
    assert outcome.results.diagnostics["max_residual"] < 1e-14  # closed forms, not integrated


def test_period_of_a_compound_pendulum(mechanisms, read):
    amplitude, m, length, inertia = 1.2, 2.0, 0.4, 0.05 + 2.0 * 0.4**2
    period = 4 * np.sqrt(inertia / (m * G * length)) * ellipk(np.sin(amplitude / 2) ** 2)
    text = mechanisms.PENDULUM + '\n[initial]\nq = { joint = "O", angle = "1.2 - pi/2", rate = 0 }\n'
    r = simulate(read(text), np.array([0, period / 4, period / 2, period])).results
    angle = r.bodies["bar"].angle + np.pi / 2
    assert angle == pytest.approx([amplitude, 0, -amplitude, amplitude], abs=1e-10)
    speed = np.sqrt(2 * m * G * length * (1 - np.cos(amplitude)) / inertia)
    assert r.bodies["bar"].angular_velocity[1] == pytest.approx(-speed, rel=1e-10)


@pytest.mark.parametrize("name", ["RELEASED", "ROCKING"])
def test_partition_and_global_agree(mechanisms, read, name):
    model, times = read(getattr(mechanisms, name)), np.array([0.1, 0.4])
    one, two = (simulate(model, times, method).results for method in ("partition", "global"))
    for point in one.points:
        # two integrators at 1e-12 per step
        assert one.points[point].position == pytest.approx(two.points[point].position, abs=1e-9)
        assert one.points[point].acceleration == pytest.approx(two.points[point].acceleration, abs=2e-6)
    for joint in ("A", "B", "C", "D"):
        assert one.reactions[joint].force == pytest.approx(two.reactions[joint].force, abs=2e-6)


def test_spatial_pendulum_both_ways(mechanisms, read):
    model, times = read(mechanisms.RSSR), np.array([0.1, 0.3])
    one, two = (simulate(model, times, method).results for method in ("partition", "global"))
    assert one.diagnostics["energy_drift"] < 1e-11
    for point in ("B", "C"):
        assert one.points[point].position == pytest.approx(two.points[point].position, abs=1e-10)
        assert one.points[point].acceleration == pytest.approx(two.points[point].acceleration, abs=1e-7)
    assert one.reactions["D"].moment == pytest.approx(two.reactions["D"].moment, abs=1e-8)


def test_a_rod_needs_no_spin_to_keep_its_energy(mechanisms, read):
    text = mechanisms.RSSR.replace("[0.004, 0.004, 0.004, 0, 0, 0]", "[0.003, 0.004, 0.006, 0.0005, 0, 0]")
    model, times = read(text), np.array([0.2, 0.5])
    one, two = (simulate(model, times, method).results for method in ("partition", "global"))
    assert one.diagnostics["energy_drift"] < 1e-10
    assert one.points["C"].position == pytest.approx(two.points["C"].position, abs=1e-9)


def test_coordinates_change_without_a_jump(mechanisms, read, monkeypatch):
    monkeypatch.setattr(partition, "CLEARLY", 1.5)  # changes early and often
    model = read(mechanisms.ROCKING)
    times = np.linspace(0, 12, 601)
    r = simulate(model, times, reactions=False).results
    assert r.diagnostics["coordinate_changes"] >= 100
    assert {("A",), ("D",)} <= set(r.independent)
    total = r.energy.total - r.energy.total[0]
    scale = r.energy.kinetic.max()
    # no jump where coordinates change: the energy of neighbouring outputs differs by integration errors alone
    assert np.abs(np.diff(total)).max() < 1e-10 * scale
    assert np.abs(total).max() < 1e-8 * scale
    monkeypatch.setattr(partition, "CLEARLY", 4.0)
    seldom = simulate(model, times[:51], reactions=False).results
    assert seldom.diagnostics["coordinate_changes"] < 10
    assert seldom.points["C"].position == pytest.approx(r.points["C"].position[:51], abs=1e-9)


def test_coordinates_on_another_branch_are_refused(monkeypatch):
    """Every change of coordinates compares the bodies: one that would put a leg elsewhere is not made."""
    model = load(FAULTS / "W15-simulate-partition-loses-energy.toml")
    right = Mechanics._miss
    sign = {True: 1.0, False: -1.0}  # wrong but at the start
    monkeypatch.setattr(Mechanics, "_miss", lambda self, *given: sign[given[-1].time == 0] * right(self, *given))
    outcome = simulate(model, np.linspace(0, 0.1, 31))
    assert outcome.stop is None
    assert outcome.results.diagnostics["coordinate_changes"] == 0
    assert np.ptp(outcome.results.energy.total) < 1e-9 * outcome.results.energy.kinetic.max()


@pytest.mark.parametrize("fixed_step", [None, 1e-3])
def test_a_jump_within_a_step_ends_the_run(monkeypatch, fixed_step):
    """A group that takes its other branch on the way is found by rows and energy; what was before is kept."""
    model = load(FAULTS / "W15-simulate-partition-loses-energy.toml")
    monkeypatch.setattr(partition, "CLEARLY", np.inf)  # no change of coordinates
    right = Stepping.go

    def go(self: Stepping) -> int:
        if self.time < 0.01:
            self.control[integrator.END] = 0.0105
            why = right(self)
            self.control[integrator.END] = 0.03
            return why
        place = int(self.machine.ints[chain.SIGNS])
        self.machine.floats[place : place + int(self.machine.ints[chain.N_SIGNS])] *= -1.0
        return right(self)

    monkeypatch.setattr(Stepping, "go", go)
    outcome = simulate(model, np.linspace(0, 0.03, 31), fixed_step=fixed_step)
    assert outcome.stop is not None
    assert "jump" in outcome.stop.message
    assert "USR_1" in outcome.stop.message
    assert 0.0099 < outcome.results.time[-1] <= outcome.stop.time < 0.03
    # fixed steps of order four on their way of 0.01 s
    assert np.ptp(outcome.results.energy.total) < (1e-9 if fixed_step is None else 1e-6) * 142


@pytest.mark.parametrize("fixed_step", [None, 1e-3])
@pytest.mark.parametrize("checked", [True, False])
def test_rates_that_jump_are_found_by_the_energy_alone(monkeypatch, fixed_step, checked):
    """A step goes on smoothly from rates that are not those of the step before: without the check nobody notices."""
    model = load(FAULTS / "W15-simulate-partition-loses-energy.toml")
    monkeypatch.setattr(partition, "CLEARLY", np.inf)  # no change of coordinates
    right = Stepping.go

    def go(self: Stepping) -> int:
        if self.time < 0.01:
            self.control[integrator.END] = 0.0105
            why = right(self)
            self.control[integrator.END] = 0.03
            return why
        self.y[1:-1] *= 1.2  # one coordinate, its rate, the energy
        self.K[0] = self.machine.enter(self.time, self.y[:-1])
        self.control[integrator.BALANCE] *= 1.0 if checked else np.inf
        return right(self)

    monkeypatch.setattr(Stepping, "go", go)
    outcome = simulate(model, np.linspace(0, 0.03, 31), fixed_step=fixed_step)
    spread = np.ptp(outcome.results.energy.total) / 142
    if checked:
        assert outcome.stop is not None
        assert "energy jump" in outcome.stop.message
        assert 0.0099 < outcome.results.time[-1] <= outcome.stop.time < 0.03
        assert spread < (1e-9 if fixed_step is None else 1e-6)
    else:
        assert outcome.stop is None
        assert spread > 0.1


@pytest.mark.parametrize("checked", [True, False])
def test_coordinates_that_move_otherwise_are_found_by_the_energy_alone(mechanisms, read, monkeypatch, checked):
    """Other rates behind a change of coordinates, which its own comparison of the bodies does not see."""
    monkeypatch.setattr(partition, "CLEARLY", 1.5)

    def same(self: partition.Partition, *_: object) -> bool:
        self.zdot = 1.01 * self.zdot
        return True

    monkeypatch.setattr(partition.Partition, "_same", same)
    monkeypatch.setattr(stepping, "BALANCE", stepping.BALANCE if checked else np.inf)
    outcome = simulate(read(mechanisms.ROCKING), np.linspace(0, 2, 101), reactions=False)
    spread = np.ptp(outcome.results.energy.total) / outcome.results.energy.kinetic.max()
    assert outcome.results.diagnostics["coordinate_changes"] >= 1
    if checked:
        assert outcome.stop is not None
        assert "energy jump" in outcome.stop.message
        assert spread < 1e-9
    else:
        assert outcome.stop is None
        assert spread > 1e-3


@pytest.mark.parametrize("n", [1, 3])
def test_change_points_are_passed_on_the_branch(mechanisms, read, n):
    # one pendulum: legs of inertia 1/3 about their feet, bars that only shift
    inertia, moment = (n + 1) / 3 + n, ((n + 1) / 2 + n) * G
    exact = solve_ivp(lambda t, y: [y[1], -moment * np.cos(y[0]) / inertia], (0, 5), [np.pi / 2, -1.0],
                      rtol=1e-12, atol=1e-12, t_eval=[0.5, 1, 2, 5], method="DOP853")  # fmt: skip
    outcome = simulate(read(mechanisms.windows(n)), exact.t, reactions=False)
    assert outcome.stop is None
    assert outcome.results.diagnostics["crossings"] >= 4
    angle = outcome.results.bodies["leg0"].angle
    assert np.cos(angle) == pytest.approx(np.cos(exact.y[0]), abs=2e-8)  # the pendulum is upright at start: errors grow
    assert outcome.results.bodies["bar1"].angle == pytest.approx(np.zeros(4), abs=1e-9)


def test_a_bifurcation_can_be_told_to_end_the_run(mechanisms, read):
    outcome = simulate(read(mechanisms.windows(1)), np.linspace(0, 2, 21), through=False)
    assert outcome.stop is not None
    assert "bifurcation" in outcome.stop.message
    assert 0 < len(outcome.results.time) < 21


def test_a_bifurcation_with_two_free_motions_ends_the_run(mechanisms, read):
    text = mechanisms.windows(1)
    text = text.replace("[points]\n", "[points]\nT = [0.5, 0.6]\nS = [0.5, 1]\n")
    text = text.replace('points = ["B0", "B1"]\nlength = 1', 'points = ["B0", "B1", "S"]\ncentre = "S"')
    hanging = '[bodies.bob]\npoints = ["S", "T"]\nmass = 0.3\ninertia = 0.01\n[joints]\n'
    text = text.replace("[joints]\n", hanging + 'S = { type = "R", bodies = ["bar1", "bob"], at = "S" }\n')
    text = text.replace("[simulation]", 'swing = { joint = "S", angle = "-pi/2", rate = 0 }\n[simulation]')
    outcome = simulate(read(text), np.linspace(0, 2, 41))
    assert outcome.stop is not None
    assert "bifurcation" in outcome.stop.message
    assert 5 < len(outcome.results.time) < 41
    assert np.abs(outcome.results.bodies["bar1"].angle).max() < 1e-9  # never on the other branch
    assert outcome.results.diagnostics["energy_drift"] < 1e-9


def test_prescribed_and_free_motions_together(read):
    text = """
format = 1
space = "planar"
gravity = [0, -9.81]
[points]
O = [0, 0]
S = [0, 0]
T = [0, -0.5]
[bodies.frame]
points = ["O"]
[bodies.cart]
points = ["S"]
mass = 3
[bodies.bar]
points = ["S", "T"]
length = 0.5
mass = 2
centre = "T"
inertia = 0.01
[joints]
rail = { type = "P", bodies = ["frame", "cart"], at = "S", axis = [1, 0], through = "O" }
pin = { type = "R", bodies = ["cart", "bar"], at = "S" }
[drivers]
x = { joint = "rail", displacement = "0.1*sin(9*t)" }
[initial]
q = { joint = "pin", angle = "-pi/2 + 0.2", rate = 0 }
"""
    times = np.array([0.0, 0.5, 1.5])
    r = simulate(read(text), times).results

    def rates(t, y):
        a = -0.1 * 81 * np.sin(9 * t)  # of the rail
        return [y[1], 2 * 0.5 * (np.sin(y[0]) * a - np.cos(y[0]) * G) / (0.01 + 2 * 0.25)]

    exact = solve_ivp(rates, (0, 1.5), [0.2 - np.pi / 2, 0], rtol=1e-12, atol=1e-13, t_eval=times, method="DOP853")
    assert r.bodies["bar"].angle == pytest.approx(exact.y[0], abs=1e-9)
    # the driver moves all mass along the rail: force = Σ m a
    force = 3 * -0.1 * 81 * np.sin(9 * times) + 2 * r.points["T"].acceleration[:, 0]
    assert r.drivers["x"].effort == pytest.approx(force, abs=1e-9)


def test_two_free_motions(read):
    text = """
format = 1
space = "planar"
gravity = [0, -9.81]
[points]
A = [0, 0]
B = [0.5, 0]
C = [1.0, 0.1]
[bodies.frame]
points = ["A"]
[bodies.upper]
points = ["A", "B"]
mass = 1
inertia = 0.02
[bodies.lower]
points = ["B", "C"]
mass = 1
inertia = 0.02
[joints]
A = { type = "R", bodies = ["frame", "upper"], at = "A" }
B = { type = "R", bodies = ["upper", "lower"], at = "B" }
"""
    model, times = read(text), np.array([0.2, 0.6])
    one, two = (simulate(model, times, method).results for method in ("partition", "global"))
    assert one.points["C"].position == pytest.approx(two.points["C"].position, abs=1e-10)
    assert one.independent[0] == ("A", "B")
    assert one.diagnostics["energy_drift"] < 1e-11


def test_wrong_input_is_told(mechanisms, read):
    with pytest.raises(InputError, match="methods of simulate are partition"):
        simulate(read(mechanisms.RELEASED), None, "partitoin")
    two = mechanisms.RELEASED.replace("[simulation]", 'phi = { joint = "D", angle = 1 }\n[simulation]')
    with pytest.raises(AssurgentError, match=r"initial|assembled"):
        simulate(read(two))
    massless = mechanisms.PENDULUM.replace("mass = 2", "mass = 0").replace("inertia = 0.05", "inertia = 0")
    with pytest.raises(InputError, match="mass"):
        simulate(read(massless))


def test_a_fixed_step_that_would_never_end_is_refused() -> None:
    from assurgent.facade import Mechanism

    m = Mechanism("pendulum")
    m.gravity = [0, -9.81]
    m.point("O", (0, 0))
    m.point("A", (1, 0))
    m.body("frame", ["O"])
    m.body("arm", ["O", "A"], mass=1, inertia=1)
    m.joint("O", "R", ["frame", "arm"], at="O")
    with pytest.raises(InputError, match="takes more than 20,000,000 steps"):
        m.simulate(times=[0, 0.1], fixed_step=1e-12)
    assert len(m.simulate(times=[0, 0.1], fixed_step=1e-4).time) == 2
