"""Positions of rest and frequencies against closed forms; springs and dampers in motion."""

import numpy as np
import pytest

from assurgent.runtime.dynamics.equilibrium import equilibrium
from assurgent.runtime.dynamics.forward import simulate
from assurgent.runtime.errors import InputError
from assurgent.runtime.mechanism.reader import loads

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
    assert found.modes[0].angular == pytest.approx(np.sqrt(150 / 2), rel=1e-9)  # differences of fourth order
    assert found.stable
    assert found.modes[0].decay == 0


def test_damped_weight_swings_as_the_closed_form_says(read):
    damping = 4.0
    model = read(HANGING.format(damping=damping))
    decay, omega = damping / 4, np.sqrt(75 - (damping / 4) ** 2)
    mode = equilibrium(model).modes[0]
    assert (mode.angular, mode.decay) == pytest.approx((omega, decay), rel=1e-8)
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
    assert found.modes[0].angular == pytest.approx(np.sqrt((k + m * 9.81 * length) / inertia), rel=1e-9)


def test_upright_pendulum_is_unstable(mechanisms, read):
    text = mechanisms.PENDULUM + '[initial]\nq = { joint = "O", angle = "pi/2" }\n'
    found = equilibrium(read(text))
    assert not found.stable
    assert found.coordinates["O"] == pytest.approx(np.pi / 2, abs=1e-12)
    assert found.modes[0].decay == pytest.approx(-np.sqrt(2 * 9.81 * 0.4 / (0.05 + 2 * 0.16)), rel=1e-9)


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
    assert [m.angular**2 for m in found.modes] == pytest.approx([(2 - 2**0.5) * 9.81, (2 + 2**0.5) * 9.81], rel=1e-8)
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
