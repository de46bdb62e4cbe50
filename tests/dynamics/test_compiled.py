"""The compiled equations of motion: against the null space of all joints, against NumPy, and their order in time."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assurgent.common.errors import InputError
from assurgent.dynamics.bridges import bridge_ahead
from assurgent.dynamics.coordinates import null_space
from assurgent.dynamics.forward import simulate
from assurgent.dynamics.initial_state import begin
from assurgent.dynamics.instant_kinematics import Mechanics
from assurgent.dynamics.partition import Partition
from assurgent.dynamics.posture import poses_of
from assurgent.mechanism.absolute import Absolute
from assurgent.mechanism.functions import expression
from assurgent.mechanism.model import FRAME, Mass
from assurgent.mechanism.reader import load

EXAMPLES = Path(__file__).parents[2] / "examples"

PUSHED = """
[forces]
push = { body = "rocker", point = [0.1, 0.05], force = ["3*sin(7*t)", "if(t < 0.2, 1, -2)"] }
twist = { body = "crank", torque = "0.4*cos(3*t)**2" }
spring = { type = "spring", between = ["A", "C"], stiffness = 40, length = 0.5, damping = 1.5 }
clock = { type = "torsion-spring", joint = "D", stiffness = 2, angle = 1.1, damping = 0.3 }
"""
PUSHED_IN_SPACE = """
[forces]
push = { body = "rocker", point = [0.02, 0.01, 0.1], force = ["3*sin(7*t)", "t", "-2*exp(-t)"] }
pull = { body = "rod", point = [0, 0.11, 0.09], force = ["1", "2", "3"] }
twist = { body = "crank", torque = [0.1, "0.2*t", "0.4*cos(3*t)**2"] }
spring = { type = "spring", between = ["A", "C"], stiffness = 40, length = 0.2, damping = 1.5 }
clock = { type = "torsion-spring", joint = "A", stiffness = 2, angle = 1.1, damping = 0.3 }
"""


def started(model):
    run = Partition(model, begin(model), lambda _: None)
    machine = run.machine()
    machine.turn(run.applied.turns)
    machine.enter(run.t, np.concatenate([run.z, run.zdot]))
    return run, machine


def instant_of(run, machine):
    """Return the bodies' posture, R and c that the compiled rows say."""
    rows, f = machine.state, machine.f
    state = np.zeros((3, len(rows), f + 1))
    state[0] = rows[:, :1]
    state[1, :, :f], state[1, :, f], state[2, :, f] = rows[:, 3:], rows[:, 1], rows[:, 2]
    reading = Mechanics(machine.mechanics.program)
    reading.state, reading.time = state, np.full(state.shape[2], run.t)
    return reading.read()


def five_bar():
    model = load(EXAMPLES / "five-bar.toml")
    bodies = {}
    for name, body in model.bodies.items():
        mass = Mass(1.0, np.mean(list(body.points.values()), axis=0), np.array(0.1))
        bodies[name] = body if name == FRAME else replace(body, mass=mass)
    return replace(model, bodies=bodies, drivers={}, gravity=np.array([1.0, -9.81]))


@pytest.mark.parametrize("name", ["RELEASED", "ROCKING", "RSSR", "windows", "five-bar"])
def test_velocity_transformation_spans_the_null_space_of_all_joints(mechanisms, read, name):
    if name == "five-bar":
        model = five_bar()
    else:
        model = read(mechanisms.windows(10) if name == "windows" else getattr(mechanisms, name))
    run, machine = started(model)
    y = np.concatenate([run.z + 0.05, np.linspace(1.3, 1.7, machine.f)])
    machine.rates(run.t, y)
    instant = instant_of(run, machine)
    system = Absolute(model)
    poses = poses_of(system, instant.posture)
    J = system.jacobian(poses)
    R = instant.R[1:].reshape(-1, machine.f)
    assert np.abs(J @ R).max() < 1e-12 * np.abs(R).max()  # rounding of the groups
    # as many independent columns as there are free motions: R is all of the null space, not a part
    q, _ = np.linalg.qr(R)
    N = null_space(J) if np.linalg.matrix_rank(J) == len(J) else np.linalg.svd(J)[2][np.linalg.matrix_rank(J) :].T
    assert N.shape[1] == machine.f
    assert np.abs(N - q @ (q.T @ N)).max() < 1e-12
    twist = instant.posture.twist[1:].ravel()
    assert twist == pytest.approx(R @ y[machine.f :], abs=1e-12)
    assert J @ instant.c[1:].ravel() == pytest.approx(-system.gamma(poses, twist), abs=1e-10)  # c = Ṙ ż


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_all_loads_against_the_wrenches_on_the_bodies(mechanisms, read, space):
    text = mechanisms.RELEASED + PUSHED if space == "planar" else mechanisms.RSSR + PUSHED_IN_SPACE
    run, machine = started(read(text))
    for t, turn, rate in [(0.0, 0.0, 0.0), (0.13, 0.1, -2.0), (0.31, -0.2, 3.0)]:
        z, zdot = run.z + turn, np.array([rate])
        found = machine.rates(t, np.concatenate([z, zdot]))
        moved = run.equations.moved(t, z, zdot)
        posture = moved.instant.posture
        power = np.sum(posture.twist * run.inertia.wrenches(posture, moved.acceleration))
        assert found == pytest.approx([rate, moved.zddot[0], power], rel=1e-12)


def test_compiled_bridges_equal_polynomials_of_numpy(mechanisms, read):
    # windows are parallelograms: all bars in line, both branches of every group meet
    run, machine = started(read(mechanisms.windows(2)))
    mechanics = run.equations.mechanics
    way = 1.0
    angle = run.z[0] % np.pi
    near = run.z + way * (np.pi - angle - 0.1)
    for z in np.linspace(run.z[0], near[0], 20):  # walk there, so that every group is followed
        run._accept(run._moved(run.t, np.array([z]), np.array([way])))
    mechanics.bridge = bridge_ahead(run.equations, run.t, float(near[0]), way)
    assert mechanics.bridge is not None
    for place in (-1.5, -0.9, -0.2, 0.0, 0.4, 0.99, 1.5):  # before, on and behind it
        z = np.array([mechanics.bridge.z + way * place * mechanics.bridge.reach])
        moved = run.equations.moved(run.t, z, np.array([1.7]))
        machine.enter(run.t, np.concatenate([z, [1.7]]))
        found = instant_of(run, machine)
        assert found.posture.origin == pytest.approx(moved.instant.posture.origin, abs=1e-12)
        assert found.posture.rotation == pytest.approx(moved.instant.posture.rotation, abs=1e-12)
        assert pytest.approx(moved.instant.R[:, :, run.equations.free], abs=1e-10) == found.R
        assert found.c == pytest.approx(moved.instant.c, abs=1e-9)
    mechanics.bridge = None
    z = near - 0.2
    machine.enter(run.t, np.concatenate([z, [1.7]]))  # the groups' own equations again
    moved = run.equations.moved(run.t, z, np.array([1.7]))
    assert instant_of(run, machine).c == pytest.approx(moved.instant.c, abs=1e-12)


def test_torsion_springs_count_whole_turns(mechanisms, read):
    text = (
        mechanisms.PENDULUM
        + """
[forces]
clock = { type = "torsion-spring", joint = "O", stiffness = 0.05, angle = 0 }
[initial]
q = { joint = "O", angle = 0, rate = 25 }
"""
    )
    times = np.linspace(0, 3, 31)
    one, two = (simulate(read(text), times, method).results for method in ("partition", "global"))
    assert one.joints["O"].angle[-1] > 20  # several turns
    assert one.joints["O"].angle == pytest.approx(two.joints["O"].angle, abs=1e-8)
    assert one.diagnostics["energy_drift"] < 1e-10


@pytest.mark.parametrize(
    "text",
    [
        "2*t + 1", "-t**2/3", "t**3 - 2**t", "(1 + t)**t", "sin(3*t)*cos(t) - tan(t/2)", "exp(-t)*log(1 + t)",
        "sqrt(1 + t*t)", "asin(t/3) + acos(t/4) + atan(t)", "atan2(t, 1 - t)", "sinh(t) - cosh(2*t)*tanh(t)",
        "abs(t - 0.4) + sign(t) + floor(3*t)", "min(t, 0.3, 1 - t) + max(t, 2*t - 0.5)", "pi*e - t/(1 + t)",
        "if(t < 0.3, t**2, if(t >= 0.6, 1, sin(t)))",
    ],
)  # fmt: skip
def test_compiled_formulas_equal_the_jets(mechanisms, read, text):
    model = read(mechanisms.RELEASED + f'[forces]\ntwist = {{ body = "crank", torque = "{text}" }}\n')
    run, machine = started(model)
    exact = expression(text, {})
    from assurgent.dynamics import array_heads as chain

    for t in (0.11, 0.37, 0.81):
        machine.rates(t, np.concatenate([run.z, run.zdot]))
        at = int(machine.ints[chain.VALUES])
        assert machine.floats[at : at + 3] == pytest.approx(exact(np.array([t]))[:3, 0], rel=1e-13, abs=1e-14)


def test_a_driver_by_table_beside_a_free_motion(mechanisms, read, tmp_path):
    t = np.linspace(0, 1, 21)
    (tmp_path / "x.csv").write_text("t,value\n" + "".join(f"{a},{0.1 * np.sin(5 * a)}\n" for a in t))
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
mass = 2
inertia = 0.01
[joints]
rail = { type = "P", bodies = ["frame", "cart"], at = "S", axis = [1, 0], through = "O" }
pin = { type = "R", bodies = ["cart", "bar"], at = "S" }
[drivers]
x = { joint = "rail", table = "x.csv" }
[initial]
q = { joint = "pin", angle = "-pi/2 + 0.2", rate = 0 }
"""
    model = read(text)
    one, two = (simulate(model, np.array([0.3, 0.9]), method).results for method in ("partition", "global"))
    # the spline's third derivative jumps at its knots: both integrators see that at their tolerance
    assert one.bodies["bar"].angle == pytest.approx(two.bodies["bar"].angle, abs=1e-9)
    assert one.drivers["x"].effort == pytest.approx(two.drivers["x"].effort, abs=1e-6)


def test_fixed_steps_are_of_order_four(mechanisms, read):
    model = read(mechanisms.RELEASED)
    times = np.array([0.35, 0.8])
    exact = simulate(model, times, reactions=False).results.points["C"].position
    errors = []
    for h in (0.005, 0.0025, 0.00125, 0.000625):
        found = simulate(model, times, reactions=False, fixed_step=h).results
        errors.append(np.abs(found.points["C"].position - exact).max())
    order = np.log2(np.array(errors[:-1]) / errors[1:])
    assert order[-1] == pytest.approx(4.0, abs=0.25)  # halved steps: the asymptotic range
    assert found.diagnostics["steps"] == 560 + 720  # 0.35 and 0.45 divided by the step
    with pytest.raises(InputError, match="positive"):
        simulate(model, times, fixed_step=-1.0)
    with pytest.raises(InputError, match="partition"):
        simulate(model, times, "global", fixed_step=0.1)


def test_output_times_do_not_change_the_motion(mechanisms, read):
    model = read(mechanisms.ROCKING)
    few = simulate(model, np.array([0.0, 0.7]), reactions=False).results
    many = simulate(model, np.linspace(0, 0.7, 701), reactions=False).results
    assert many.points["C"].position[-1] == pytest.approx(few.points["C"].position[-1], abs=1e-10)
    # dense output of order 7 between steps of order 8: the energy there is as good as at the steps
    assert many.diagnostics["energy_drift"] < 1e-10


def test_a_thousand_seconds_keep_energy_and_joints(mechanisms, read):
    model = read(mechanisms.RELEASED)
    outcome = simulate(model, np.linspace(0, 1000, 201), reactions=False)
    assert outcome.stop is None
    assert outcome.results.diagnostics["energy_drift"] <= 1e-8  # at the default tolerance of 1e-9
    assert outcome.results.diagnostics["max_residual"] <= 1e-12


def test_machine_code_on_disk_knows_all_its_sources():
    from numba.core.dispatcher import Dispatcher

    from assurgent.dynamics import (
        array_heads as chain,
    )
    from assurgent.dynamics import (
        equation_kernels,
        integrator,
        state_kernels,
    )
    from assurgent.dynamics import (
        load_kernels as loads,
    )

    for module in (chain, equation_kernels, integrator, loads, state_kernels):
        compiled = [
            f for f in vars(module).values() if isinstance(f, Dispatcher) and "dynamics" in f.py_func.__module__
        ]
        assert compiled
        assert all(f.py_func.__qualname__.endswith(chain.DIGEST) for f in compiled)
