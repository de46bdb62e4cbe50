"""Mechanisms of the benchmark of dynamics: a four-bar, a chain of ten loops, and Andrews' squeezer; all from rest."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from math import cos, pi, sin
from pathlib import Path

import numpy as np

from ..mechanism.model import Array, Model


@dataclass(frozen=True)
class Case:
    """A mechanism under its loads, and how long it moves."""

    name: str
    text: str
    end: float

    def model(self) -> Model:
        """Return the mechanism, read as any file is."""
        from ..mechanism.reader import load

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "mechanism.toml"
            path.write_text(self.text, "utf-8")
            return load(path)


def joint_places(model: Model, origin: Array, rotation: Array) -> Array:
    """Return where all joints are (m x 2) when the bodies are at these origins (n x 2) and rotations (n x 2 x 2)."""
    index = {b: k for k, b in enumerate(model.bodies)}
    seconds = [(index[j.second], j.b) for j in model.joints.values()]
    return np.array([origin[k] + rotation[k] @ b for k, b in seconds])


def _body(name: str, points: list[str], mass: float, inertia: float, centre: str) -> list[str]:
    return [f"[bodies.{name}]", f"points = {points}", f"mass = {mass}", f"centre = {centre}", f"inertia = {inertia}"]


def _joints(pairs: dict[str, tuple[str, str, str]]) -> list[str]:
    return ["[joints]"] + [
        f'{name} = {{ type = "R", bodies = ["{one}", "{two}"], at = "{at}" }}' for name, (one, two, at) in pairs.items()
    ]


def _rod(name: str, points: list[str], length: float, mass: float) -> list[str]:
    return [f"[bodies.{name}]", f"points = {points}", f"length = {length}", f"mass = {mass}",
            f"inertia = {mass * length**2 / 12}"]  # fmt: skip


def four_bar() -> Case:
    """Return a crank-rocker of uniform rods, released with its crank at 60 degrees."""
    crank, rod, rocker, ground = 0.3, 0.8, 0.6, 0.9
    lines = ["format = 1", 'name = "four-bar"', 'space = "planar"', "gravity = [0, -9.81]", "[points]",
             "A = [0, 0]", f"B = [{crank * cos(pi / 3)}, {crank * sin(pi / 3)}]", "C = [0.88, 0.6]",
             f"D = [{ground}, 0]", "[bodies.frame]", 'points = ["A", "D"]']  # fmt: skip
    lines += _rod("crank", ["A", "B"], crank, 0.5) + _rod("rod", ["B", "C"], rod, 1.2)
    lines += _rod("rocker", ["D", "C"], rocker, 0.9)
    lines += _joints({"A": ("frame", "crank", "A"), "B": ("crank", "rod", "B"), "C": ("rod", "rocker", "C"),
                      "D": ("frame", "rocker", "D")})  # fmt: skip
    lines += ["[initial]", 'theta = { joint = "A", angle = "pi/3", rate = 0 }']
    return Case("four-bar", "\n".join(lines) + "\n", 1.0)


def chain(loops: int = 10) -> Case:
    """Return legs of unequal lengths that hang in a row, tied by bars; let go from one side."""
    legs = [0.5 + 0.04 * (k % 3) for k in range(loops + 1)]
    turn = -pi / 2 + 0.5
    ends = [(0.6 * k + legs[k] * cos(turn), legs[k] * sin(turn)) for k in range(loops + 1)]
    lines = ["format = 1", 'name = "chain"', 'space = "planar"', "gravity = [0, -9.81]", "[points]"]
    for k, (x, y) in enumerate(ends):
        lines += [f"A{k} = [{0.6 * k!r}, 0]", f"B{k} = [{x!r}, {y!r}]"]
    lines += ["[bodies.frame]", f"points = {[f'A{k}' for k in range(loops + 1)]}"]
    joints = {}
    for k, length in enumerate(legs):
        lines += _rod(f"leg{k}", [f"A{k}", f"B{k}"], length, 1.0 + 0.1 * k)
        joints[f"A{k}"] = ("frame", f"leg{k}", f"A{k}")
    for k in range(1, loops + 1):
        (x0, y0), (x1, y1) = ends[k - 1], ends[k]
        lines += _rod(f"bar{k}", [f"B{k - 1}", f"B{k}"], float(np.hypot(x1 - x0, y1 - y0)), 0.5)
        joints[f"l{k}"] = (f"leg{k - 1}", f"bar{k}", f"B{k - 1}")
        joints[f"r{k}"] = (f"bar{k}", f"leg{k}", f"B{k}")
    return Case(f"chain of {loops} loops", "\n".join(lines + _joints(joints)) + "\n", 1.0)


# Positions and data of Andrews' squeezer as in Hairer and Wanner, Solving ODEs II, VII.7, and in the IVP test set
START = {
    "beta": -0.0617138900142764496358948458001, "theta": 0.0, "gamma": 0.455279819163070380255912382449,
    "phi": 0.222668390165885884674473185609, "delta": 0.487364979543842550225598953530,
    "omega": -0.222668390165885884674473185609, "epsilon": 1.23054744454982119249735015568,
}  # fmt: skip
BETA_AT_END = 15.81077119629904  # rad, of the reference solution of the IVP test set at 0.03 s


def squeezer() -> Case:
    """Return Andrews' squeezer: seven bodies, a spring, and a constant torque of 0.033 Nm on the first."""
    b, g, p, d, o, e = (START[n] for n in ("beta", "gamma", "phi", "delta", "omega", "epsilon"))
    bt = b + START["theta"]
    A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
    places = {
        "O": (0.0, 0.0),
        "A": A,
        "B": B,
        "P": (0.007 * cos(b), 0.007 * sin(b)),
        "E": (0.007 * cos(b) - 0.028 * cos(bt), 0.007 * sin(b) - 0.028 * sin(bt)),
        "D": (B[0] + 0.02 * cos(g) + 0.018 * sin(g), B[1] + 0.02 * sin(g) - 0.018 * cos(g)),
        "G": (A[0] + 0.04 * cos(d), A[1] + 0.04 * sin(d)),
        "H": (A[0] + 0.04 * sin(e), A[1] - 0.04 * cos(e)),
        "C": C,
        "M1": (0.00092 * cos(b), 0.00092 * sin(b)),
        "M2": (0.007 * cos(b) - 0.0115 * cos(bt), 0.007 * sin(b) - 0.0115 * sin(bt)),
        "M3": (B[0] + 0.01874 * sin(g) + 0.01043 * cos(g), B[1] - 0.01874 * cos(g) + 0.01043 * sin(g)),
        "M4": (A[0] + 0.04 * cos(d) + 0.00579 * sin(p + d), A[1] + 0.04 * sin(d) - 0.00579 * cos(p + d)),
        "M5": (A[0] + 0.02308 * cos(d) - 0.00916 * sin(d), A[1] + 0.02308 * sin(d) + 0.00916 * cos(d)),
        "M6": (A[0] + 0.04 * sin(e) + 0.00579 * cos(o + e), A[1] - 0.04 * cos(e) + 0.00579 * sin(o + e)),
        "M7": (A[0] + 0.01228 * sin(e) - 0.00449 * cos(e), A[1] - 0.01228 * cos(e) - 0.00449 * sin(e)),
    }
    bodies = [
        ("K1", ["O", "P", "M1"], 0.04325, 2.194e-6), ("K2", ["P", "E", "M2"], 0.00365, 4.410e-7),
        ("K3", ["B", "E", "D", "M3"], 0.02373, 5.255e-6), ("K4", ["G", "E", "M4"], 0.00706, 5.667e-7),
        ("K5", ["A", "G", "M5"], 0.07050, 1.169e-5), ("K6", ["H", "E", "M6"], 0.00706, 5.667e-7),
        ("K7", ["A", "H", "M7"], 0.05498, 1.912e-5),
    ]  # fmt: skip
    lines = ["format = 1", 'name = "squeezer"', 'space = "planar"', "[points]"]
    lines += [f"{n} = [{x!r}, {y!r}]" for n, (x, y) in places.items()]
    lines += ["[bodies.frame]", 'points = ["O", "A", "B", "C"]']
    for name, points, mass, inertia in bodies:
        lines += _body(name, points, mass, inertia, f'"M{name[1]}"')
    pairs = {"O": ("frame", "K1", "O"), "P": ("K1", "K2", "P"), "E3": ("K2", "K3", "E"), "B": ("frame", "K3", "B"),
             "E4": ("K2", "K4", "E"), "G": ("K5", "K4", "G"), "A5": ("frame", "K5", "A"), "E6": ("K2", "K6", "E"),
             "H": ("K7", "K6", "H"), "A7": ("frame", "K7", "A")}  # fmt: skip
    lines += [*_joints(pairs), "[forces]", 'drive = { body = "K1", torque = 0.033 }']
    lines += ['spring = { type = "spring", between = ["C", "D"], stiffness = 4530, length = 0.07785 }']
    return Case("seven-body squeezer", "\n".join(lines) + "\n", 0.03)


def cases() -> tuple[Case, ...]:
    """Return all mechanisms."""
    return four_bar(), chain(), squeezer()
