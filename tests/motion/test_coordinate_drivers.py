"""Drivers on a Cartesian coordinate of a point: the coordinate is the driver's, the rest agrees with other drivers."""

from __future__ import annotations

import numpy as np
import pytest

import assurgent
from assurgent.common.errors import InputError
from assurgent.verification.against_absolute import against_absolute

TIMES = [0, 0.2, 0.5]


def bars() -> assurgent.Mechanism:
    m = assurgent.Mechanism("bars")
    for name, place in {"A": (0, 0), "B": (0.4, 1.9), "C": (5, 5), "D": (6, 0), "P": (3, 5)}.items():
        m.point(name, place)
    m.body("frame", ["A", "D"])
    m.body("crank", ["A", "B"], length=2, mass=1)
    m.body("rod", ["B", "C", "P"], local={"B": [0, 0], "C": [6, 0], "P": [3, 1]}, mass=2, inertia=3)
    m.body("rocker", ["D", "C"], length=6, mass=1)
    pins = {"A": ("frame", "crank"), "B": ("crank", "rod"), "C": ("rod", "rocker"), "D": ("frame", "rocker")}
    for name, bodies in pins.items():
        m.joint(name, "R", bodies, at=name)
    m.gravity = [0, -9.81]
    return m


def start_of(point: str, axis: int) -> float:
    free = bars()
    free.driver("theta", joint="A", angle="1.3")
    return float(free.run(times=[0]).points[point].position[0, axis])


@pytest.mark.parametrize(("point", "axis"), [("B", "x"), ("P", "y"), ("C", "x")])
def test_the_coordinate_is_that_of_the_driver(point: str, axis: str) -> None:
    m = bars()
    at = {"x": 0, "y": 1}[axis]
    start = start_of(point, at)
    m.driver("pull", point=point, **{axis: f"{start!r} - 0.4*t - 0.3*t**2"})
    results = m.run(times=TIMES)
    t, found = results.time, results.points[point]
    assert found.position[:, at] == pytest.approx(start - 0.4 * t - 0.3 * t**2, abs=1e-12)
    assert found.velocity[:, at] == pytest.approx(-0.4 - 0.6 * t, abs=1e-11)
    assert found.acceleration[:, at] == pytest.approx(np.full(3, -0.6), abs=1e-10)
    assert max(against_absolute(m.model(), results).worst) < 1e-11


def test_figure_2b_falls_into_two_groups() -> None:
    """x1 known: the first group finds y1 (Eq. 15), the second one the rest."""
    m = bars()
    m.driver("x1", point="B", x="0.5 + 0.2*t")
    groups = m.structure().groups
    assert [g.bodies for g in groups] == [("crank",), ("rocker", "rod")]
    assert groups[1].type == "RRR"


def test_the_effort_does_the_work_of_the_weights() -> None:
    m = bars()
    m.driver("pull", point="P", y=f"{start_of('P', 1)!r} - 0.05*t")
    results = m.inverse(times=[0.3])
    effort = results.drivers["pull"].effort
    assert effort is not None
    assert results.diagnostics["power_balance"] < 1e-10


def test_a_point_in_space() -> None:
    m = assurgent.Mechanism("arm", space="spatial")
    m.point("O", [0, 0, 0])
    m.point("E", [2, 0, 0])
    m.body("frame", ["O"])
    m.body("arm", ["O", "E"])
    m.joint("O", "R", ["frame", "arm"], at="O", axis=[0, 1, 0])
    m.driver("lift", point="E", z="0.5 + 0.3*t")
    results = m.run(times=TIMES)
    E = results.points["E"]
    assert E.position[:, 2] == pytest.approx(0.5 + 0.3 * results.time, abs=1e-12)
    assert E.velocity[:, 2] == pytest.approx(np.full(3, 0.3), abs=1e-12)
    assert np.linalg.norm(E.position, axis=1) == pytest.approx(np.full(3, 2.0), abs=1e-12)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"point": "Q", "x": "t"}, "point"),
        ({"point": "A", "x": "t"}, "never moves"),
        ({"point": "B"}, "one of x, y"),
        ({"point": "B", "x": "t", "y": "t"}, "two drivers"),
        ({"point": "B", "z": "t"}, "z"),
    ],
)
def test_wrong_input_is_named(fields: dict[str, str], message: str) -> None:
    m = bars()
    m.driver("pull", **fields)
    with pytest.raises(InputError, match=message):
        m.run(times=TIMES)
