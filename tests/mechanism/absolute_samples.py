"""Mechanisms for the solution in absolute coordinates."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assurgent.mechanism.model import Model
from assurgent.mechanism.reader import load

ROUNDING = 1e-12  # condition numbers here are below 100, coordinates of order 1 to 10


def model(folder: Path, text: str) -> Model:
    path = folder / "m.toml"
    path.write_text("format = 1\nname = 'test'\n" + text)
    return load(path)


# ---- positions, velocities, accelerations -------------------------------------------------------------------------
FOUR_BAR = """
space = "planar"
[points]
A = [0, 0]
B = [0.1, 1.1]
C = [3.8, 3.1]
D = [4, 0]
[bodies.frame]
points = ["A", "D"]
[bodies.crank]
points = ["A", "B"]
length = 1
[bodies.rod]
points = ["B", "C"]
length = 4
[bodies.rocker]
points = ["C", "D"]
length = 3
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "A" }
B = { type = "R", bodies = ["crank", "rod"], at = "B" }
C = { type = "R", bodies = ["rod", "rocker"], at = "C" }
D = { type = "R", bodies = ["frame", "rocker"], at = "D" }
[drivers]
theta = { joint = "A", angle = "1.4 + 2*t + 0.3*sin(t)" }
"""


def circles(p: np.ndarray, r: float, q: np.ndarray, s: float) -> np.ndarray:
    """Return the meeting points (n x 2), left of the way from p to q, of circles about p and q."""
    d = np.linalg.norm(q - p, axis=1)[:, None]
    e = (q - p) / d
    along = (d**2 + r**2 - s**2) / (2 * d)
    return p + along * e + np.sqrt(r**2 - along**2) * np.stack([-e[:, 1], e[:, 0]], axis=1)


RSSR = """
space = "spatial"
[parameters]
c = "2.2/7"
[points]
A = [0, 0, 0]
B = [1, 0, 0]
C = ["3 + c*(2*cos(0.9) - 3*sin(0.9))", "1 + c*(3*cos(0.9) + 6*sin(0.9))", "0.5 + c*(6*cos(0.9) - 2*sin(0.9))"]
D = [3, 1, 0.5]
[bodies.frame]
points = ["A", "D"]
[bodies.crank]
points = ["A", "B"]
length = 1
[bodies.coupler]
points = ["B", "C"]
length = 3.6
[bodies.arm]
points = ["D", "C"]
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "A", axis = [0, 0, 1] }
B = { type = "S", bodies = ["crank", "coupler"], at = "B" }
C = { type = "S", bodies = ["coupler", "arm"], at = "C" }
D = { type = "R", bodies = ["frame", "arm"], at = "D", axis = [6, 2, -3] }
[drivers]
theta = { joint = "A", angle = "2*t" }
"""
