"""Ways of modelling in space: points of a hinge's axis, points kept on planes, bevel gears; closed forms each."""

from __future__ import annotations

import numpy as np
import pytest

from assurgent.common.errors import InputError
from assurgent.mechanism.model import Model
from assurgent.mechanism.reader import loads
from assurgent.motion.kinematics import run

ROUNDING = 1e-12  # positions of order one through some hundred operations


def read(text: str) -> Model:
    return loads(text, "m.toml")


# ---- points of a hinge's axis ---------------------------------------------------------------------------------------
ELBOW = """
format = 1
space = "spatial"
gravity = [0, 0, -9.81]
points = { A = [0, 0, 0], P = [1, 0.2, 0.1], Q = [1.3, 0.6, 0.1], T = [2, 0, 0.4] }
[bodies]
frame   = { points = ["A"] }
arm     = { points = ["A", "P", "Q"], mass = 2 }
forearm = { points = ["Q", "P", "T"], mass = 1 }
[joints]
A = { type = "R", bodies = ["frame", "arm"], at = "A", axis = [0, 0, 1] }
E = { type = "R", bodies = ["arm", "forearm"], at = "Q", axis = [3, 4, 0] }
[drivers]
a = { joint = "A", angle = "t" }
e = { joint = "E", angle = "0.5*sin(3*t)" }
"""


def test_every_point_of_a_hinge_axis_is_common_to_both_bodies() -> None:
    found = run(read(ELBOW), np.linspace(0, 2, 9)).results
    place = {name: series.position for name, series in found.points.items()}
    first = {"A": [0, 0, 0], "P": [1, 0.2, 0.1], "Q": [1.3, 0.6, 0.1]}
    for body, origin in (("arm", "A"), ("forearm", "Q")):  # by either body the point lies at the same place
        way = np.array(first["P"]) - first[origin]
        carried = place[origin] + found.bodies[body].rotation @ way
        assert place["P"] == pytest.approx(carried, abs=ROUNDING)


def test_the_second_point_of_a_hinge_changes_nothing_else() -> None:
    alone = ELBOW.replace('["Q", "P", "T"]', '["Q", "T"]')
    one, two = (run(read(text), np.linspace(0, 2, 5)).results for text in (ELBOW, alone))
    for name, series in two.points.items():
        assert one.points[name].position == pytest.approx(series.position, abs=ROUNDING)


def test_a_point_beside_the_axis_still_needs_a_joint() -> None:
    with pytest.raises(InputError, match=r"\[points\] P: .*it misses the axis of 'E' by 0\.001 m.* add the joint"):
        read(ELBOW.replace("axis = [3, 4, 0]", "axis = [3, 4, 0.01]"))
