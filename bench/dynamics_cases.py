"""Mechanisms of the benchmark of dynamics: a four-bar, a chain of ten loops, and Andrews' squeezer; all from rest."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np

from ..mechanism.model import Array, Model
from .data_files import text


@dataclass(frozen=True)
class Case:
    """A mechanism under its loads, and how long it moves."""

    name: str
    text: str
    end: float

    def model(self) -> Model:
        """Return the mechanism, read as any file is."""
        from ..mechanism.reader import loads

        return loads(self.text, self.name)


def joint_places(model: Model, origin: Array, rotation: Array) -> Array:
    """Return where all joints are (m x 2) when the bodies are at these origins (n x 2) and rotations (n x 2 x 2)."""
    index = {b: k for k, b in enumerate(model.bodies)}
    seconds = [(index[j.second], j.b) for j in model.joints.values()]
    return np.array([origin[k] + rotation[k] @ b for k, b in seconds])


def _joints(pairs: dict[str, tuple[str, str, str]]) -> list[str]:
    return ["[joints]"] + [
        f'{name} = {{ type = "R", bodies = ["{one}", "{two}"], at = "{at}" }}' for name, (one, two, at) in pairs.items()
    ]


def _rod(name: str, points: list[str], length: float, mass: float) -> list[str]:
    return [f"[bodies.{name}]", f"points = {points}", f"length = {length}", f"mass = {mass}",
            f"inertia = {mass * length**2 / 12}"]  # fmt: skip


def four_bar() -> Case:
    """Return a crank-rocker of uniform rods, released with its crank at 60 degrees."""
    return Case("four-bar", text("free-four-bar"), 1.0)


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


def squeezer() -> Case:
    """Return Andrews' squeezer: seven bodies, a spring, and a constant torque of 0.033 Nm on the first."""
    return Case("seven-body squeezer", text("squeezer"), 0.03)


def cases() -> tuple[Case, ...]:
    """Return all mechanisms."""
    return four_bar(), chain(), squeezer()
