"""Mechanism files of the tests of dynamics, and examples that are given masses."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from assurgent.mechanism.model import FRAME, Mass, Model
from assurgent.mechanism.reader import load

EXAMPLES = Path(__file__).parents[2] / "examples"

HEAD = """
format = 1
name = "{name}"
space = "planar"
gravity = [0, -9.81]
"""

FOUR_BAR = """
[points]
A = [0, 0]
B = [{bx}, {by}]
C = [{cx}, {cy}]
D = [{ground}, 0]
[bodies.frame]
points = ["A", "D"]
[bodies.crank]
points = ["A", "B"]
length = {crank}
mass = 0.5
inertia = "0.5*{crank}**2/12"
[bodies.rod]
points = ["B", "C"]
length = {rod}
mass = 1.2
inertia = "1.2*{rod}**2/12"
[bodies.rocker]
points = ["D", "C"]
length = {rocker}
mass = 0.9
inertia = "0.9*{rocker}**2/12"
[joints]
A = {{ type = "R", bodies = ["frame", "crank"], at = "A" }}
B = {{ type = "R", bodies = ["crank", "rod"], at = "B" }}
C = {{ type = "R", bodies = ["rod", "rocker"], at = "C" }}
D = {{ type = "R", bodies = ["frame", "rocker"], at = "D" }}
"""

CRANK_ROCKER = FOUR_BAR.format(crank=0.3, rod=0.8, rocker=0.6, ground=0.9, bx=0.15, by=0.26, cx=0.88, cy=0.6)
DOUBLE_ROCKER = FOUR_BAR.format(crank=0.6, rod=0.7, rocker=0.5, ground=1.0, bx=0.2, by=-0.55, cx=0.9, cy=-0.5)

RELEASED = (
    HEAD.format(name="four-bar")
    + CRANK_ROCKER
    + """
[initial]
theta = { joint = "A", angle = "pi/3", rate = 0 }
[simulation]
stop = 1
step = 0.05
"""
)

ROCKING = (
    HEAD.format(name="double rocker")
    + DOUBLE_ROCKER
    + """
[initial]
theta = { joint = "A", angle = "-pi/2 + 0.3", rate = 12 }
[simulation]
stop = 1
step = 0.05
"""
)

PENDULUM = (
    HEAD.format(name="pendulum")
    + """
[points]
O = [0, 0]
G = [0, -0.4]
[bodies.frame]
points = ["O"]
[bodies.bar]
points = ["O", "G"]
length = 0.4
mass = 2
centre = "G"
inertia = 0.05
[joints]
O = { type = "R", bodies = ["frame", "bar"], at = "O" }
"""
)

RSSR = """
format = 1
name = "rssr"
space = "spatial"
gravity = [0, 0, -9.81]
[points]
A = [0, 0, 0]
B = [0.1, 0, 0]
C = [0.1, 0.22, 0.18]
D = [0.1, 0.22, 0]
[bodies.frame]
points = ["A", "D"]
[bodies.crank]
points = ["A", "B"]
length = 0.1
mass = 1.0
inertia = [0.0001, 0.001, 0.001, 0, 0, 0]
[bodies.rod]
points = ["B", "C"]
length = 0.3
mass = 0.5
inertia = [0.004, 0.004, 0.004, 0, 0, 0]
[bodies.rocker]
points = ["D", "C"]
length = 0.18
mass = 0.8
inertia = [0.002, 0.002, 0.0001, 0, 0, 0]
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "A", axis = [0, 0, 1] }
B = { type = "S", bodies = ["crank", "rod"], at = "B" }
C = { type = "S", bodies = ["rod", "rocker"], at = "C" }
D = { type = "R", bodies = ["frame", "rocker"], at = "D", axis = [1, 0, 0] }
"""


def windows(n: int) -> str:
    """Return a chain of n parallelograms of equal rods, upright and pushed."""
    lines = [HEAD.format(name="windows"), "[points]"]
    for k in range(n + 1):
        lines += [f"A{k} = [{k}, 0]", f"B{k} = [{k}, 1]"]
    lines += ["[bodies.frame]", f"points = {[f'A{k}' for k in range(n + 1)]}"]
    rod = ["length = 1", "mass = 1", 'inertia = "1/12"']
    for k in range(n + 1):
        lines += [f"[bodies.leg{k}]", f'points = ["A{k}", "B{k}"]', *rod]
    for k in range(1, n + 1):
        lines += [f"[bodies.bar{k}]", f'points = ["B{k - 1}", "B{k}"]', *rod]
    lines.append("[joints]")
    for k in range(n + 1):
        lines.append(f'A{k} = {{ type = "R", bodies = ["frame", "leg{k}"], at = "A{k}" }}')
    for k in range(1, n + 1):
        lines.append(f'l{k} = {{ type = "R", bodies = ["leg{k - 1}", "bar{k}"], at = "B{k - 1}" }}')
        lines.append(f'r{k} = {{ type = "R", bodies = ["bar{k}", "leg{k}"], at = "B{k}" }}')
    lines += ["[initial]", 'theta = { joint = "A0", angle = "pi/2", rate = -1 }', "[simulation]", "stop = 10"]
    return "\n".join(lines)


def heavy(name: str) -> Model:
    """Return an example with a mass of 1 kg at the middle of the points of each body, and a slanting gravity."""
    model, bodies = load(EXAMPLES / f"{name}.toml"), {}
    about = np.array(0.1) if model.dimension == 2 else 0.1 * np.diag([1.0, 1.2, 1.5])
    for key, body in model.bodies.items():
        centre = np.mean(list(body.points.values()), axis=0) if body.points else np.zeros(model.dimension)
        bodies[key] = body if key == FRAME else replace(body, mass=Mass(1.0, centre, about * model.size**2))
    return replace(model, bodies=bodies, gravity=np.array([2.0, -9.81, 1.0][: model.dimension]))


def let_go(name: str) -> Model:
    """Return the same without drivers, from the time 0 on."""
    model = heavy(name)
    return replace(model, drivers={}, simulation=replace(model.simulation, start=0.0))
