"""Vectors and centres of mass: against what the points and bodies of the same run say, and through every file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import assurgent
from assurgent.common.errors import InputError

EXAMPLES = Path(__file__).parents[2] / "examples"


def four_bar() -> assurgent.Mechanism:
    m = assurgent.Mechanism("bars")
    for name, place in {"A": (0, 0), "B": (0, 2), "C": (5, 5), "D": (6, 0)}.items():
        m.point(name, place)
    m.body("frame", ["A", "D"])
    m.body("crank", ["A", "B"], length=2)
    m.body("rod", ["B", "C"], length=6, mass=2, centre=[2, 1], inertia=1)
    m.body("rocker", ["D", "C"], length=6)
    pins = {"A": ("frame", "crank"), "B": ("crank", "rod"), "C": ("rod", "rocker"), "D": ("frame", "rocker")}
    for name, bodies in pins.items():
        m.joint(name, "R", bodies, at=name)
    m.driver("theta", joint="A", angle="pi/2 + 2*pi*t + 0.3*sin(5*t)")
    return m


TIMES = [0, 0.1, 0.37, 0.8]


def test_a_vector_between_points_and_a_direction() -> None:
    m = four_bar()
    m.vector("w", "rod", of=["B", "C"])
    m.vector("e", "rocker", direction=[0, 2])
    m.vector("g", "frame", direction=[1, 3])
    results = m.run(times=TIMES)
    B, C, D = (results.points[p] for p in "BCD")
    assert results.vectors is not None
    w, e, g = (results.vectors[name] for name in "weg")
    for order, kind in (("position", "value"), ("velocity", "rate"), ("acceleration", "acceleration")):
        along = getattr(C, order) - getattr(B, order)
        assert getattr(w, kind) == pytest.approx(along, rel=1e-12, abs=1e-12 * np.abs(along).max())
        across = (getattr(C, order) - getattr(D, order)) / 3  # of length 2, and turned by a right angle
        turned = np.stack([-across[:, 1], across[:, 0]], axis=1)
        assert getattr(e, kind) == pytest.approx(turned, rel=1e-12, abs=1e-12 * np.abs(turned).max())
    assert (g.value == [1, 3]).all()
    assert not g.rate.any()


@pytest.mark.parametrize("ending", ["json", "npz", "nc"])
def test_vectors_are_written_and_read_back(ending: str, tmp_path: Path) -> None:
    m = four_bar()
    m.vector("w", "rod", of=["B", "C"])
    results = m.run(times=TIMES)
    back = assurgent.Results.load(results.save(tmp_path / f"bars.{ending}"))
    assert back.vectors is not None
    assert results.vectors is not None
    assert (back.vectors["w"].acceleration == results.vectors["w"].acceleration).all()
    assert {"w.x", "w.vy", "w.ax"} <= set(results.columns())


def test_a_vector_in_space() -> None:
    m = assurgent.Mechanism.load(EXAMPLES / "rssr.toml")
    body = next(name for name, fields in m.bodies.items() if name != "frame" and len(fields["points"]) >= 2)
    first, second = m.bodies[body]["points"][:2]
    m.vector("w", body, of=[first, second])
    results = m.run(times=[0.1, 0.3])
    assert results.vectors is not None
    for order, kind in (("position", "value"), ("velocity", "rate"), ("acceleration", "acceleration")):
        along = getattr(results.points[second], order) - getattr(results.points[first], order)
        assert getattr(results.vectors["w"], kind) == pytest.approx(along, abs=1e-11 * np.abs(along).max())


def test_centres_of_mass_as_points() -> None:
    m = four_bar()
    plain = m.run(times=TIMES)
    m.simulation["centres"] = True
    results = m.run(times=TIMES)
    assert set(results.points) - set(plain.points) == {"crank.centre", "rod.centre", "rocker.centre"}
    B, C = results.points["B"], results.points["C"]
    for order in ("position", "velocity", "acceleration"):
        b, c = getattr(B, order), getattr(C, order)
        along = (c - b) / 6
        across = np.stack([-along[:, 1], along[:, 0]], axis=1)
        expected = b + 2 * along + across  # centre = [2, 1] in the rod's axes
        found = getattr(results.points["rod.centre"], order)
        assert found == pytest.approx(expected, abs=1e-11 * np.abs(expected).max())
        middle = (getattr(results.points["D"], order) + c) / 2  # no mass: the mean of the joints
        found = getattr(results.points["rocker.centre"], order)
        assert found == pytest.approx(middle, abs=1e-11 * np.abs(c).max())
        assert getattr(plain.points["C"], order) == pytest.approx(c, abs=1e-12 * np.abs(c).max())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.vector("w", "rad", of=["B", "C"]), "rod"),
        (lambda m: m.vector("w", "rod", of=["B", "D"]), "point of rod"),
        (lambda m: m.vector("w", "rod"), "either of"),
        (lambda m: m.vector("w", "rod", of=["B", "C"], direction=[1, 0]), "either of"),
        (lambda m: m.simulation.update(centres=1), "true or false"),
    ],
)
def test_wrong_input_is_named(change: object, message: str) -> None:
    m = four_bar()
    change(m)  # type: ignore[operator]
    with pytest.raises(InputError, match=message):
        m.run(times=TIMES)
