"""Dry friction against independent solutions: a block on an incline, a pendulum on its pin, a slider-crank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

from assurgent.common.errors import AssurgentError, InputError
from assurgent.dynamics.forward import simulate
from assurgent.dynamics.inverse import inverse
from assurgent.mechanism.reader import loads

G = 9.81
INCLINE = """
format = 1
space = "SPACE"
gravity = GRAVITY
points = { A = POINT }
[bodies]
frame = { points = [] }
block = { points = ["A"], mass = 2 }
[joints]
P = { type = "P", bodies = ["frame", "block"], at = "A", axis = AXIS, friction = { coefficient = 0.3, speed = 0.01 } }
"""
PLANAR = {"SPACE": "planar", "GRAVITY": "[0, -9.81]", "POINT": "[0, 0]", "AXIS": '["cos(0.6)", "sin(0.6)"]'}
SPATIAL = {"SPACE": "spatial", "GRAVITY": "[0, 0, -9.81]", "POINT": "[0, 0, 0]", "AXIS": '[0, "cos(0.6)", "sin(0.6)"]'}
PENDULUM = """
format = 1
space = "planar"
gravity = [0, -9.81]
points = { O = [0, 0], A = [1, 0] }
[bodies]
frame = { points = ["O"] }
arm   = { points = ["O", "A"], mass = 2, inertia = 0.1, centre = [0.5, 0] }
[joints]
O = { type = "R", bodies = ["frame", "arm"], at = "O", friction = { coefficient = 0.4, radius = 0.05, speed = 0.02 } }
[initial]
phi = { joint = "O", angle = 0, rate = 0 }
"""
CRANK = """
format = 1
space = "planar"
gravity = [0, -9.81]
points = { O = [0, 0], A = [0.04, 0], B = [0.18, 0] }
[bodies]
frame  = { points = ["O"] }
crank  = { points = ["O", "A"], length = 0.04, mass = 1, inertia = 2e-4, centre = [0.02, 0] }
rod    = { points = ["A", "B"], length = 0.14, mass = 0.6, inertia = 1e-3, centre = [0.05, 0] }
piston = { points = ["B"], mass = 0.8 }
[joints]
O = { type = "R", bodies = ["frame", "crank"], at = "O", friction = { coefficient = 0.2, radius = 0.01, speed = 1 } }
A = { type = "R", bodies = ["crank", "rod"], at = "A", friction = { coefficient = 0.1, radius = 0.012, speed = 1 } }
B = { type = "R", bodies = ["rod", "piston"], at = "B", friction = { coefficient = 0.15, radius = 0.008, speed = 1 } }
[joints.G]
type = "P"
bodies = ["frame", "piston"]
at = "B"
through = "O"
axis = [1, 0]
friction = { coefficient = 0.2, speed = 0.01 }
[forces]
gas = { body = "piston", point = "B", force = [-300, 0] }
[drivers]
theta = { joint = "O", angle = "0.3 + 30*t" }
"""


def incline(words: dict[str, str], rest: str) -> Any:
    text = INCLINE
    for name, value in words.items():
        text = text.replace(name, value)
    return loads(text + rest, "incline.toml")


@pytest.mark.parametrize("words", [PLANAR, SPATIAL], ids=["planar", "spatial"])
def test_a_block_is_pushed_up_against_its_friction(words: dict[str, str]) -> None:
    for speed in (0.5, -0.5, 0.005):
        model = incline(words, f'[drivers]\nx = {{ joint = "P", displacement = "{speed}*t" }}\n')
        found = inverse(model, np.array([0.0, 1.0])).results
        wanted = 2 * G * (np.sin(0.6) + 0.3 * np.cos(0.6) * np.tanh(speed / 0.01))
        assert found.drivers["x"].effort == pytest.approx(np.full(2, wanted), rel=1e-12)
        assert np.linalg.norm(found.reactions["P"].force, axis=1) == pytest.approx(2 * G * np.cos(0.6), rel=1e-12)
        assert found.diagnostics["power_balance"] < 1e-12


@pytest.mark.parametrize("words", [PLANAR, SPATIAL], ids=["planar", "spatial"])
def test_a_block_shot_up_an_incline_comes_back_slower(words: dict[str, str]) -> None:
    """v' = -g sin a - mu g cos a tanh(v / v0), from 3 m/s."""
    model = incline(words, '[initial]\nx = { joint = "P", displacement = 0, rate = 3 }\n')
    t = np.linspace(0, 1, 6)
    found = simulate(model, t, "global").results

    def rates(_: float, y: np.ndarray) -> list[float]:
        return [y[1], -G * np.sin(0.6) - 0.3 * G * np.cos(0.6) * np.tanh(y[1] / 0.01)]

    exact = solve_ivp(rates, (0, 1), [0, 3], t_eval=t, rtol=1e-11, atol=1e-12, method="Radau").y
    assert found.joints["P"].displacement == pytest.approx(exact[0], abs=1e-7)
    assert found.joints["P"].rate == pytest.approx(exact[1], abs=1e-6)
    assert found.joints["P"].rate[-1] < 0


def bend(angle: float, rate: float) -> float:
    """Return the pendulum's acceleration: the force of the pin depends on it, and the friction on the force."""
    c, s, value = np.cos(angle), np.sin(angle), 0.0
    for _ in range(200):
        fx = 2 * 0.5 * (-value * s - rate**2 * c)
        fy = 2 * 0.5 * (value * c - rate**2 * s) + 2 * G
        fresh = (-2 * G * 0.5 * c - 0.4 * 0.05 * np.hypot(fx, fy) * np.tanh(rate / 0.02)) / (0.1 + 2 * 0.25)
        if abs(fresh - value) < 1e-14:
            break
        value = fresh
    return float(fresh)


def test_a_pendulum_loses_its_energy_on_the_pin() -> None:
    t = np.linspace(0, 2, 9)
    found = simulate(loads(PENDULUM, "pendulum.toml"), t).results  # which is by global
    exact = solve_ivp(
        lambda _, y: [y[1], bend(y[0], y[1])], (0, 2), [0, 0], t_eval=t, rtol=1e-11, atol=1e-12, method="Radau"
    ).y
    assert found.joints["O"].angle == pytest.approx(exact[0], abs=1e-6)
    assert found.joints["O"].rate == pytest.approx(exact[1], abs=1e-5)
    total = np.asarray(found.energy.total)
    energy = 0.5 * 0.6 * exact[1] ** 2 + 2 * G * 0.5 * np.sin(exact[0])
    assert total == pytest.approx(energy, abs=1e-5)
    assert (np.diff(total) < 0).all()


def balance(unknown: np.ndarray, t: float) -> np.ndarray:
    """Newton and Euler for the slider-crank; unknown: forces at O, A, B, the slide's force and moment, the torque."""
    o, a, b = unknown[:2], unknown[2:4], unknown[4:6]
    n, moment, torque = unknown[6:]
    r, rod_length, w, theta = 0.04, 0.14, 30.0, 0.3 + 30 * t
    c, s = np.cos(theta), np.sin(theta)
    beta = -np.arcsin(r * s / rod_length)
    cb, sb = np.cos(beta), np.sin(beta)
    rate = -r * c * w / (rod_length * cb)
    more = (r * s * w**2 + rod_length * sb * rate**2) / (rod_length * cb)
    v, x2 = -r * s * w - rod_length * sb * rate, -r * c * w**2 - rod_length * sb * more - rod_length * cb * rate**2
    crank, rod = -0.02 * w**2 * np.array([c, s]), -r * w**2 * np.array([c, s])
    rod = rod + 0.05 * (more * np.array([-sb, cb]) - rate**2 * np.array([cb, sb]))
    weight = np.array([0, -G])
    rub_o = -0.2 * 0.01 * np.hypot(*o) * np.tanh(w)
    rub_a = -0.1 * 0.012 * np.hypot(*a) * np.tanh(rate - w)
    rub_b = -0.15 * 0.008 * np.hypot(*b) * np.tanh(-rate)
    rub = -0.2 * abs(n) * np.tanh(v / 0.01)

    def turn(x: np.ndarray, f: np.ndarray) -> float:
        return float(x[0] * f[1] - x[1] * f[0])

    e, f = np.array([c, s]), np.array([cb, sb])
    return np.array([
        *(o - a + weight - crank),
        turn(-0.02 * e, o) - turn(0.02 * e, a) + torque + rub_o - rub_a,
        *(a - b + 0.6 * weight - 0.6 * rod),
        turn(-0.05 * f, a) - turn(0.09 * f, b) + rub_a - rub_b - 1e-3 * more,
        b[0] - 300 + rub - 0.8 * x2,
        b[1] + n - 0.8 * G,
        moment + rub_b,
    ])  # fmt: skip


def test_a_slider_crank_with_friction_everywhere() -> None:
    t = np.linspace(0, 0.2, 9)
    found = inverse(loads(CRANK, "crank.toml"), t).results
    for k, time in enumerate(t):
        exact = fsolve(balance, np.full(9, 100.0), (time,), xtol=1e-13, full_output=True)[0]
        assert np.abs(balance(exact, time)).max() < 1e-9
        force = np.concatenate([found.reactions[j].force[k] for j in ("O", "A", "B")])
        assert force == pytest.approx(exact[:6], abs=1e-8)
        assert found.reactions["G"].force[k] == pytest.approx([0, exact[6]], abs=1e-8)
        assert found.drivers["theta"].effort[k] == pytest.approx(exact[8], abs=1e-9)
    assert found.diagnostics["power_balance"] < 1e-12


def test_wrong_friction_is_told() -> None:
    with pytest.raises(InputError, match=r"\[joints\] O.friction: lacks 'speed'|friction.*speed"):
        loads(PENDULUM.replace(", speed = 0.02", ""), "pendulum.toml")
    with pytest.raises(InputError, match=r"O.friction.coefficient: is -0.4 and must not be negative"):
        loads(PENDULUM.replace("coefficient = 0.4", "coefficient = -0.4"), "pendulum.toml")
    with pytest.raises(InputError, match=r"\[joints\] O.friction: of the methods of simulate only global"):
        simulate(loads(PENDULUM, "pendulum.toml"), np.array([0.0, 0.1]), "partition")


def test_friction_that_grows_without_bound_jams() -> None:
    """Rounds of friction that overflow are no forces: efforts of 1e154 N m had been given."""
    text = """
format = 1
space = "planar"
points = { A = [0, 0], B = [0, 1], C = [1.2, 0] }
[bodies]
frame = { points = ["A"] }
crank = { points = ["A", "B"], length = 1 }
rod = { points = ["B", "C"], length = 1.5 }
slider = { points = ["C"], mass = 1 }
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "A" }
B = { type = "R", bodies = ["crank", "rod"], at = "B" }
C = { type = "R", bodies = ["rod", "slider"], at = "C" }
[joints.S]
type = "P"
bodies = ["frame", "slider"]
at = "C"
axis = [1, 0]
through = "A"
friction = { coefficient = COEFFICIENT, speed = 0.001 }
[drivers]
a = { joint = "A", angle = "pi/2 + t" }
[forces]
F = { body = "slider", point = "C", force = [100, 0] }
"""
    free = inverse(loads(text.replace("COEFFICIENT", "0.5"), "crank"), np.array([0.0, 0.1])).results.drivers["a"].effort
    assert free is not None
    assert np.abs(free).max() < 1e3
    for coefficient in ("1.3", "3", "20"):
        with pytest.raises(AssurgentError, match=r"at t = .* the mechanism jams"):
            inverse(loads(text.replace("COEFFICIENT", coefficient), "crank"), np.array([0.0, 0.1]))


RUNNERS = """
format = 1
space = "SPACE"
gravity = GRAVITY
points = { P1 = [0, 0ZERO], P2 = [1, 0ZERO], P3 = [1.7, 0ZERO] }
[bodies]
frame = { points = [] }
cart  = { points = ["P1", "P2", "P3"], mass = 2, inertia = INERTIA, centre = [0.4, 0ZERO] }
[joints]
A = { type = "P", bodies = ["frame", "cart"], at = "P1", axis = [1, 0ZERO] }
B = { type = "P", bodies = ["frame", "cart"], at = "P2", axis = [1, 0ZERO] }
C = { type = "P", bodies = ["frame", "cart"], at = "P3", axis = [1, 0ZERO] }
"""
FLAT = {"SPACE": "planar", "GRAVITY": "[0, -9.81]", "ZERO": "", "INERTIA": "0.1"}
SOLID = {"SPACE": "spatial", "GRAVITY": "[0, -9.81, 0]", "ZERO": ", 0", "INERTIA": "[0.1, 0.1, 0.1, 0, 0, 0]"}


@pytest.mark.parametrize("where", [FLAT, SOLID], ids=["planar", "spatial"])
@pytest.mark.parametrize("braked", ["A", "C", "AB"])
def test_friction_where_joints_share_a_load_follows_the_reported_share(where: dict[str, str], braked: str) -> None:
    """The motion follows from the reactions that stand in the results, also those of `inverse`."""
    text = RUNNERS
    for name in braked:
        text = text.replace(f"\n{name} = {{ ", f"\n{name} = {{ friction = {{ coefficient = 0.3, speed = 1e-3 }}, ")
    for old, new in where.items():
        text = text.replace(old, new)
    free = loads(text + '[initial]\nx = { joint = "A", displacement = 0, rate = 4 }\n', "cart.toml")
    found = simulate(free, times=[0.0, 0.25]).results
    shares = [np.linalg.norm(found.reactions[name].force[-1, 1:]) for name in "ABC"]
    assert sum(shares) == pytest.approx(2 * G, rel=1e-9)  # all of them push upwards
    braking = 0.3 * sum(s for name, s in zip("ABC", shares, strict=True) if name in braked)
    assert found.joints["A"].acceleration[-1] == pytest.approx(-braking / 2, rel=1e-8)
    driven = loads(text + '[drivers]\nx = { joint = "A", displacement = "4*t" }\n', "cart.toml")
    assert inverse(driven, times=[0.1]).results.drivers["x"].effort[0] == pytest.approx(braking, rel=1e-8)
