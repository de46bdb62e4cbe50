"""Positions of rest and frequencies against closed forms; springs and dampers in motion."""

from collections.abc import Callable

import numpy as np
import pytest

from assurgent.common.errors import InputError
from assurgent.dynamics.equilibrium import _Still, equilibrium
from assurgent.dynamics.forward import simulate
from assurgent.dynamics.initial_state import begin
from assurgent.dynamics.partition import Partition
from assurgent.mechanism.model import Array
from assurgent.mechanism.reader import loads

HANGING = """
format = 1
space = "planar"
gravity = [0, -9.81]
[points]
O = [0, 0]
Q = [0, -0.6]
[bodies.frame]
points = ["O"]
[bodies.weight]
points = ["Q"]
mass = 2
[joints]
rail = {{ type = "P", bodies = ["frame", "weight"], at = "Q", axis = [0, -1], through = "O" }}
[forces]
coil = {{ type = "spring", between = ["O", "Q"], stiffness = 150, length = 0.4, damping = {damping} }}
"""


def test_weight_on_a_spring(read):
    found = equilibrium(read(HANGING.format(damping=0)))
    assert found.coordinates["rail"] == pytest.approx(0.4 + 2 * 9.81 / 150, rel=1e-12)
    assert found.modes[0].angular == pytest.approx(np.sqrt(150 / 2), rel=1e-14)
    assert found.stable
    assert found.modes[0].decay == 0


def test_damped_weight_swings_as_the_closed_form_says(read):
    damping = 4.0
    model = read(HANGING.format(damping=damping))
    decay, omega = damping / 4, np.sqrt(75 - (damping / 4) ** 2)
    mode = equilibrium(model).modes[0]
    assert (mode.angular, mode.decay) == pytest.approx((omega, decay), rel=1e-13)
    times = np.linspace(0, 2, 21)
    r = simulate(model, times).results
    rest = 0.4 + 2 * 9.81 / 150
    start = 0.6 - rest
    exact = rest + start * np.exp(-decay * times) * (np.cos(omega * times) + decay / omega * np.sin(omega * times))
    assert r.joints["rail"].displacement == pytest.approx(exact, abs=1e-10)
    assert (np.diff(r.energy.total) <= 0).all()


def test_pendulum_with_a_torsion_spring(mechanisms, read):
    k, m, length, inertia = 3.0, 2.0, 0.4, 0.05 + 2 * 0.4**2
    spring = '[forces]\ncoil = { type = "torsion-spring", joint = "O", stiffness = 3, angle = "-pi/2", damping = 0 }\n'
    found = equilibrium(read(mechanisms.PENDULUM + spring))
    assert found.coordinates["O"] == pytest.approx(-np.pi / 2, abs=1e-11)
    assert found.modes[0].angular == pytest.approx(np.sqrt((k + m * 9.81 * length) / inertia), rel=1e-14)


def test_upright_pendulum_is_unstable(mechanisms, read):
    text = mechanisms.PENDULUM + '[initial]\nq = { joint = "O", angle = "pi/2" }\n'
    found = equilibrium(read(text))
    assert not found.stable
    assert found.coordinates["O"] == pytest.approx(np.pi / 2, abs=1e-12)
    assert found.modes[0].decay == pytest.approx(-np.sqrt(2 * 9.81 * 0.4 / (0.05 + 2 * 0.16)), rel=1e-14)


def test_two_frequencies_of_a_double_pendulum(read):
    text = """
format = 1
space = "planar"
gravity = [0, -9.81]
[points]
A = [0, 0]
B = [0.1, -1]
C = [0.3, -1.9]
[bodies.frame]
points = ["A"]
[bodies.upper]
points = ["A", "B"]
length = 1
centre = "B"
mass = 1
[bodies.lower]
points = ["B", "C"]
length = 1
centre = "C"
mass = 1
[joints]
A = { type = "R", bodies = ["frame", "upper"], at = "A" }
B = { type = "R", bodies = ["upper", "lower"], at = "B" }
"""
    found = equilibrium(read(text))
    # two equal points on two equal strings: ω² = (2 ± √2) g / l
    assert [m.angular**2 for m in found.modes] == pytest.approx([(2 - 2**0.5) * 9.81, (2 + 2**0.5) * 9.81], rel=1e-13)
    assert found.points["C"] == pytest.approx((0, -2), abs=1e-9)


def test_a_driven_mechanism_has_nothing_to_find(mechanisms, read):
    with pytest.raises(InputError, match="nothing is left"):
        equilibrium(read(mechanisms.PENDULUM + '[drivers]\nq = { joint = "O", angle = "t" }\n'))


@pytest.mark.parametrize("links", [1, 2])
def test_rest_is_found_from_level_links(links, read):
    """Drawn level, the weights have their largest moments: there Newton alone finds no way."""
    text = 'format = 1\nspace = "planar"\ngravity = [0, -9.81]\n[points]\nP0 = [0, 0]\nP1 = [1, 0]\nP2 = [2, 0]\n'
    text = text if links == 2 else text.replace("P2 = [2, 0]\n", "")
    text += '[bodies.frame]\npoints = ["P0"]\n'
    for k in range(links):
        text += f'[bodies.b{k}]\npoints = ["P{k}", "P{k + 1}"]\nmass = 1\ncentre = "P{k + 1}"\ninertia = 0.01\n'
    text += "[joints]\n"
    for k, first in enumerate(["frame", "b0"][:links]):
        text += f'J{k} = {{ type = "R", bodies = ["{first}", "b{k}"], at = "P{k}" }}\n'
    found = equilibrium(read(text))
    assert found.stable
    assert found.points[f"P{links}"] == pytest.approx((0, -links), abs=1e-9)


def test_a_balanced_wheel_is_neutral_and_a_pendulum_is_not() -> None:
    text = """
format = 1
name = "wheel"
space = "planar"
gravity = [0, -9.81]
[points]
O = [0, 0]
A = [1, 0]
[bodies]
frame = { points = ["O"] }
wheel = { points = ["O", "A"], mass = 2, inertia = 0.5, centre = [CENTRE, 0] }
[joints]
O = { type = "R", bodies = ["frame", "wheel"], at = "O" }
"""
    balanced = equilibrium(loads(text.replace("CENTRE", "0"), "wheel.toml"))
    assert balanced.neutral
    assert balanced.stable
    hanging = equilibrium(loads(text.replace("CENTRE", "0.3"), "wheel.toml"))
    assert hanging.stable
    assert not hanging.neutral


def test_a_damped_wheel_is_neutral_too() -> None:
    """One mode stays where it is put, the other creeps with c / I; the wheel beside it swings."""
    text = """
format = 1
space = "planar"
gravity = [0, -9.81]
[points]
O = [0, 0]
A = [1, 0]
P = [3, 0]
Q = [3.2, -1]
[bodies]
frame = { points = ["O", "P"] }
wheel = { points = ["O", "A"], mass = 2, inertia = 0.5, centre = [0, 0] }
other = { points = ["P", "Q"], mass = 1, centre = "Q", length = 1 }
[joints]
O = { type = "R", bodies = ["frame", "wheel"], at = "O" }
P = { type = "R", bodies = ["frame", "other"], at = "P" }
[forces]
brake = { type = "torsion-spring", joint = "O", damping = 0.2 }
"""
    found = equilibrium(loads(text, "wheels.toml"))
    assert found.neutral
    modes = [(m.angular, m.decay) for m in found.modes]
    assert modes[0] == (0.0, 0.0)
    assert modes[1] == pytest.approx((0.0, 0.2 / 0.5), rel=1e-13)
    assert modes[2] == pytest.approx((np.sqrt(9.81), 0.0), rel=1e-13, abs=1e-13)


SPATIAL = """
format = 1
space = "spatial"
gravity = [0.3, -2, -9.81]
[points]
O = [0, 0, 0]
A = [0.4, 0, 0]
B = [0.4, 0.5, 0]
C = [0.9, 0.7, 0.3]
D = [1.4, 0.9, -0.4]
[bodies]
frame = { points = ["O", "D"] }
one = { points = ["O", "A"], mass = 1, centre = [0.1, 0.2, 0.3], inertia = [0.1, 0.2, 0.3, 0.01, 0, 0] }
two = { points = ["A", "B"], mass = 2, centre = [0.3, -0.1, 0.2], inertia = [0.1, 0.1, 0.1, 0, 0, 0.02] }
three = { points = ["B", "C"], mass = 1, centre = [0.1, 0.1, -0.2], inertia = [0.1, 0.3, 0.2, 0, 0, 0] }
[joints]
O = { type = "R", bodies = ["frame", "one"], at = "O", axis = [0, 0.2, 1] }
A = { type = "R", bodies = ["one", "two"], at = "A", axis = [1, 0.3, 0] }
B = { type = "C", bodies = ["two", "three"], at = "B", axis = [0.2, 1, 0.4] }
[forces]
pull = { body = "three", point = [0.3, 0.1, 0.2], force = [3, -2, 1] }
twist = { body = "two", torque = [0.7, -1.2, 0.4] }
coil = { type = "spring", between = ["C", "D"], stiffness = 40, length = 0.3, damping = 2 }
wound = { type = "torsion-spring", joint = "A", stiffness = 3, angle = 0.4, damping = 0.6 }
"""


def test_stiffness_and_damping_are_the_derivatives_of_the_forces() -> None:
    """All loads in space, beside differences of the generalised forces at a position that is no equilibrium."""
    model = loads(SPATIAL, "chain.toml")
    start = begin(model)
    run = Partition(model, start, lambda _: None, reactions=False)
    system = _Still(run.equations, 0.0)
    linear = system.linearised(run.z)

    def differences(force: Callable[[Array], Array]) -> Array:
        h, columns = 2e-3, []
        for e in np.eye(len(run.z)):  # of order six: error h^6 and rounding 1e-16 / h
            one, two, three = (force(k * h * e) - force(-k * h * e) for k in (1, 2, 3))
            columns.append((45 * one - 9 * two + three) / (60 * h))
        return -np.stack(columns, axis=1)

    K = differences(lambda dz: system.force(run.z + dz, 0 * dz))
    C = differences(lambda v: system.force(run.z, v))
    assert not np.allclose(K, K.T, atol=1e-3)  # a torque with a fixed direction has no potential
    np.testing.assert_allclose(linear.K, K, atol=1e-11 * np.abs(K).max())
    np.testing.assert_allclose(linear.C, C, atol=1e-11 * np.abs(C).max())


WOUND = """
format = 1
space = "planar"
points = { O = [0, 0], A = [1, 0], P = [3, 0], Q = [3, 1] }
[bodies]
frame = { points = ["O", "P"] }
a = { points = ["O", "A"], mass = 1, inertia = 0.2, centre = "A" }
b = { points = ["P", "Q"], mass = 1, inertia = 0.2, centre = "P" }
[joints]
O = { type = "R", bodies = ["frame", "a"], at = "O" }
P = { type = "R", bodies = ["frame", "b"], at = "P" }
G = { type = "gear", bodies = ["a", "b"], ratio = -3 }
[forces]
s = { type = "torsion-spring", joint = "P", stiffness = 2, angle = FREE, damping = 1 }
[initial]
q = { joint = "O", angle = 0 }
"""


@pytest.mark.parametrize("free", [3.0, 3.2, -4.0, 50.0])
def test_turns_of_a_torsion_spring_are_counted_on_the_way_to_its_rest(free, read):
    """A spring on a wheel that turns three times as fast as the arm, and begins at π/2."""
    found = equilibrium(read(WOUND.replace("FREE", str(free))))
    assert found.coordinates["O"] == pytest.approx((np.pi / 2 - free) / 3, abs=1e-12)
    assert found.potential == pytest.approx(0.0, abs=1e-20)


@pytest.mark.parametrize("free", [4.0, -9.0])
def test_turns_of_a_torsion_spring_are_counted_in_space(free, read):
    text = f"""
format = 1
space = "spatial"
points = {{ O = [0, 0, 0], A = [1, 0, 0] }}
[bodies]
frame = {{ points = ["O"] }}
a = {{ points = ["O", "A"], mass = 1, inertia = [0.2, 0.2, 0.2, 0, 0, 0], centre = "A" }}
[joints]
O = {{ type = "R", bodies = ["frame", "a"], at = "O", axis = [0, 0, 1] }}
[forces]
s = {{ type = "torsion-spring", joint = "O", stiffness = 2, angle = {free}, damping = 1 }}
"""
    assert equilibrium(read(text)).coordinates["O"] == pytest.approx(free, abs=1e-12)
