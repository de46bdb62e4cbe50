"""run --through: a piston that turns its crank asks for a little more than its stroke, and the crank goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assurgent import Mechanism
from assurgent.cli.commands import main
from assurgent.common.errors import AssemblyError, InputError

CRANK, ROD = 1.0, 3.0


def engine(displacement: str) -> Mechanism:
    m = Mechanism("engine", "planar", w=2.0)
    for name, place in (("A", [0, 0]), ("B", [0.5, 0.86]), ("C", [3.4, 0])):
        m.point(name, place)
    m.body("frame", ["A"])
    m.body("crank", ["A", "B"], length=CRANK)
    m.body("rod", ["B", "C"], length=ROD)
    m.body("piston", ["C"])
    m.joint("A", "R", ["frame", "crank"], at="A")
    m.joint("B", "R", ["crank", "rod"], at="B")
    m.joint("C", "R", ["rod", "piston"], at="C")
    m.joint("P", "P", ["frame", "piston"], at="C", through="A", axis=[1, 0])
    m.driver("s", joint="P", displacement=displacement)
    m.simulation.update(stop=3, step=0.05)
    return m


BEYOND = 1e-6


def test_the_crank_goes_on_where_its_piston_asks_for_too_much() -> None:
    m = engine(f"3 + (1 + {BEYOND})*cos(1 + w*t)")
    with pytest.raises(AssemblyError):  # without the option as before
        m.run()
    found, exact = m.run(through=True), engine("3 + cos(1 + w*t)").run()
    np.testing.assert_array_equal(found.time, exact.time)
    angle, expected = found.bodies["crank"].angle, exact.bodies["crank"].angle
    assert angle is not None
    assert expected is not None
    assert expected[-1] - expected[0] > np.pi  # past both dead centres
    # near a dead centre an error e of the stroke is one of sqrt(2 e (1/r + 1/l) ...) of the angle
    np.testing.assert_allclose(angle, expected, atol=2 * np.sqrt(BEYOND))
    told: Any = found.diagnostics["through"]
    assert [p["group"] for p in told] == ["RRR_1", "RRR_1"]
    assert all(p["virtual_driver"] in ("joint A", "joint B", "joint C") for p in told)
    assert all(p["off_by"] <= 2 * BEYOND for p in told)
    # the rod and the crank keep their lengths all the way, and rates are those of the motion
    B, C = found.points["B"], found.points["C"]
    np.testing.assert_allclose(np.hypot(*(B.position - C.position).T), ROD, atol=1e-12)
    across = ((B.position - C.position) * (B.velocity - C.velocity)).sum(axis=1)
    np.testing.assert_allclose(across, 0, atol=1e-12)
    np.testing.assert_allclose(found.drivers["s"].value, C.position[:, 0], atol=1e-12)


def test_rates_are_the_derivatives_of_the_motion() -> None:
    m = engine(f"3 + (1 + {BEYOND})*cos(1 + w*t)")
    m.simulation.update(stop=1.3, step=0.001)
    crank = m.run(through=True).bodies["crank"]
    assert crank.angle is not None
    step = 0.001
    speed = (crank.angle[2:] - crank.angle[:-2]) / (2 * step)
    gained = (crank.angular_velocity[2:] - crank.angular_velocity[:-2]) / (2 * step)
    # second-order differences, across the two ends of the stretch as well, where accelerations are continuous
    np.testing.assert_allclose(crank.angular_velocity[1:-1], speed, atol=2e-3)
    np.testing.assert_allclose(crank.angular_acceleration[1:-1], gained, atol=5e-2)


def test_a_run_that_begins_at_a_dead_point_ends_there_with_words() -> None:
    m = engine("4 - 0.5*t")  # crank and rod in line: nothing tells to which side they go
    m.points["B"], m.points["C"] = [1, 0], [4, 0]
    with pytest.raises(AssemblyError, match=r"RRR_1 .* at t = 0 s: the group is at a dead point"):
        m.run(through=True)


def test_a_driver_that_does_not_come_back_still_ends_the_run() -> None:
    with pytest.raises(AssemblyError, match="RRR_1"):
        engine("3.4 + 0.2*t").run(np.linspace(0, 5, 11).tolist(), through=True)
    with pytest.raises(AssemblyError):  # one hundredth too far is another motion
        engine("3 + 1.01*cos(1 + w*t)").run(through=True)


def test_the_command_and_its_refusal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "engine.toml"
    engine(f"3 + (1 + {BEYOND})*cos(1 + w*t)").save(file)
    assert main(["run", str(file)]) == 3
    assert main(["run", str(file), "--through", "-o", str(tmp_path / "out.json")]) == 0
    assert "virtual_driver" in (tmp_path / "out.json").read_text("utf-8")
    capsys.readouterr()
    m = Mechanism.load(Path(__file__).parents[2] / "examples" / "five-bar.toml")
    with pytest.raises(InputError, match="a mechanism has one driver, on a joint"):
        m.run(through=True)
