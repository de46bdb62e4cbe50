"""Bodies that start on ball joints against Euler's equations: the free top's precession, the heavy top's integrals."""

from __future__ import annotations

import numpy as np
import pytest

from assurgent.common.errors import AssurgentError, InputError
from assurgent.dynamics.forward import simulate
from assurgent.dynamics.initial_state import begin
from assurgent.mechanism.initial_bodies import turned
from assurgent.mechanism.reader import loads

TOP = """
format = 1
space = "spatial"
gravity = [0, 0, -9.81]
points = { O = [0, 0, 0], T = [0, 0, 0.2] }
[bodies]
frame = { points = ["O"] }
top   = { points = ["O", "T"], mass = 1, centre = [0, 0, CENTRE], inertia = [0.002, 0.002, 0.001, 0, 0, 0] }
[joints]
O = { type = "S", bodies = ["frame", "top"], at = "O" }
[initial]
top = { body = "top", axis = [0, 1, 0], angle = "20 deg", angular_velocity = [3, 0, 8] }
"""
SPIN = np.array([3.0, 0.0, 8.0])
TILT = turned(np.array([0.0, 1.0, 0.0]), np.radians(20))
CHAIN = """
format = 1
space = "spatial"
gravity = [0, 0, -9.81]
points = { O = [0, 0, 0], A = [0.3, 0, 0], B = [0.3, 0.4, 0], C = [0.3, 0.4, -0.2] }
[bodies]
frame = { points = ["O"] }
one   = { points = ["O", "A"], mass = 1, inertia = [1e-3, 8e-3, 8e-3, 0, 0, 0], centre = [0.15, 0, 0] }
two   = { points = ["A", "B"], mass = 2, inertia = [2e-2, 1e-3, 2e-2, 0, 0, 0], centre = [0, 0.2, 0] }
flap  = { points = ["B", "C"], mass = 0.5, inertia = [1e-3, 1e-3, 5e-4, 0, 0, 0], centre = [0, 0, -0.1] }
[joints]
O = { type = "S", bodies = ["frame", "one"], at = "O" }
A = { type = "S", bodies = ["two", "one"], at = "A" }
B = { type = "R", bodies = ["two", "flap"], at = "B", axis = [1, 0, 0] }
[initial]
one  = { body = "one", angular_velocity = [0, 2, -1] }  # a rod: no spin about its line
two  = { body = "two", rotation = [[0, -1, 0], [1, 0, 0], [0, 0, 1]], angular_velocity = [0, 3, 1] }
flap = { joint = "B", angle = 0.5, rate = 2 }
"""


@pytest.mark.parametrize("method", ["global", "semirecursive-1", "semirecursive-2", "dca", "dca-projected"])
def test_a_free_symmetric_top_precesses_about_its_angular_momentum(method: str) -> None:
    """Euler: its axis goes round L at |L| / A, and the body spins about the axis by (A - C) / A of its own rate."""
    t = np.linspace(0, 1, 5)
    found = simulate(loads(TOP.replace("CENTRE", "0"), "top.toml"), t, method).results
    A, C, axis = 0.002, 0.001, TILT[:, 2]
    L = TILT @ np.diag([A, A, C]) @ TILT.T @ SPIN
    size, own = np.linalg.norm(L), float(SPIN @ axis) * (A - C) / A
    for k, time in enumerate(t):
        about = turned(L / size, size / A * time)
        wanted = about @ turned(axis, own * time) @ TILT
        assert found.bodies["top"].rotation[k] == pytest.approx(wanted, abs=1e-6)  # 9 rad at a tolerance of 1e-9
        assert found.bodies["top"].angular_velocity[k] == pytest.approx(about @ SPIN, abs=1e-5)


def test_a_heavy_top_keeps_energy_and_two_momenta() -> None:
    t = np.linspace(0, 1, 11)
    found = simulate(loads(TOP.replace("CENTRE", "0.1"), "top.toml"), t, "global").results
    R, w = found.bodies["top"].rotation, found.bodies["top"].angular_velocity
    inertia = np.diag([0.012, 0.012, 0.001])  # about the ball
    own = np.einsum("nji,nj->ni", R, w)
    L = np.einsum("nij,jk,nk->ni", R, inertia, own)
    energy = 0.5 * np.einsum("ni,ij,nj->n", own, inertia, own) + 9.81 * 0.1 * R[:, 2, 2]
    for integral in (energy, L[:, 2], own[:, 2]):
        assert integral == pytest.approx(np.full(11, integral[0]), rel=1e-7)
    assert np.ptp(R[:, 2, 2]) > 0.1  # it nods


def test_a_chain_of_balls_starts_as_it_is_told() -> None:
    model = loads(CHAIN, "chain.toml")
    start = begin(model).posture
    index = {name: k for k, name in enumerate(model.bodies)}
    one, two, flap = (index[b] for b in ("one", "two", "flap"))
    quarter = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    assert start.rotation[one] == pytest.approx(np.eye(3), abs=1e-12)
    assert start.rotation[two] == pytest.approx(quarter, abs=1e-12)
    assert start.rotation[flap] == pytest.approx(quarter @ turned(np.array([1.0, 0, 0]), 0.5), abs=1e-12)
    assert start.origin[two] == pytest.approx([0.3, 0, 0], abs=1e-12)
    assert start.twist[one, 3:] == pytest.approx([0, 2, -1])
    assert start.twist[two] == pytest.approx([*np.cross([0, 2, -1], [0.3, 0, 0]), 0, 3, 1])
    assert start.twist[flap, 3:] == pytest.approx(np.array([0, 3, 1]) + 2 * quarter[:, 0])


@pytest.mark.parametrize("method", ["global", "semirecursive-1"])
def test_a_chain_of_balls_keeps_energy_and_the_momentum_about_the_vertical(method: str) -> None:
    model = loads(CHAIN, "chain.toml")
    t = np.linspace(0, 0.5, 6)
    found = simulate(model, t, method).results
    total = np.asarray(found.energy.total)
    assert total == pytest.approx(np.full(6, total[0]), abs=1e-6)
    about = np.zeros(6)
    for name, body in found.bodies.items():
        if name == "frame":
            continue
        mass = model.bodies[name].mass
        assert mass is not None
        origin = found.points[{"one": "O", "two": "A", "flap": "B"}[name]]
        arm = np.einsum("nij,j->ni", body.rotation, mass.centre)
        place, speed = origin.position + arm, origin.velocity + np.cross(body.angular_velocity, arm)
        spin = np.einsum("nij,jk,nlk,nl->ni", body.rotation, mass.inertia, body.rotation, body.angular_velocity)
        about += (np.cross(place, mass.mass * speed) + spin)[:, 2]
    assert about == pytest.approx(np.full(6, about[0]), abs=1e-6)


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (TOP, "axis = [0, 1, 0], angle", "angle", "needs both 'axis' and 'angle'"),
        (TOP, "axis = [0, 1, 0]", "rotation = [], axis = [0, 1, 0]", "gives the orientation twice"),
        (TOP, 'body = "top"', 'body = "frame"', "the frame does not move"),
        (CHAIN, "[[0, -1, 0], [1, 0, 0], [0, 0, 1]]", "[[0, -1, 0], [1, 0, 0], [0, 0, 2]]", "is no rotation"),
    ],
)  # fmt: skip
def test_wrong_entries_are_told(text: str, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=r"\[initial\] \w+.*" + message):
        loads(text.replace("CENTRE", "0").replace(old, new), "m.toml")


def test_what_is_left_without_a_start_is_told() -> None:
    with pytest.raises(InputError, match=r"\[initial\]: leaves 1 free motions without a start"):
        begin(loads(CHAIN.replace('flap = { joint = "B", angle = 0.5, rate = 2 }', ""), "chain.toml"))
    with pytest.raises(InputError, match=r"\[initial\] flap.body: 'flap' has no joint S"):
        begin(loads(CHAIN.replace('joint = "B", angle = 0.5, rate = 2', 'body = "flap"'), "chain.toml"))
    with pytest.raises(AssurgentError, match=r"no 3 joint coordinates .* simulate it by the method global"):
        simulate(loads(TOP.replace("CENTRE", "0"), "top.toml"), np.array([0.0, 0.1]), "partition")
