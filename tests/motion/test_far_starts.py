"""Screws and gears in space that begin far from their sketch: an angle's equation holds half a turn away as well."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from assurgent.facade import Mechanism

HEAD = 'format = 1\nspace = "spatial"\n'
SCREW = (
    HEAD
    + """
points = { A = [0, 0, 0.1], B = [0, 0, 0.2], N = [0, 0, 0.4] }
[bodies]
frame = { points = ["A"] }
screw = { points = ["A", "B"], mass = 1, inertia = [1, 1, 1, 0, 0, 0] }
nut = { points = ["N"], mass = 1 }
[joints]
S = { type = "R", bodies = ["frame", "screw"], at = "A", axis = [0, 0, 1] }
H = { type = "H", bodies = ["screw", "nut"], at = "N", axis = [0, 0, 1], pitch = 0.05 }
G = { type = "P", bodies = ["frame", "nut"], at = "N", axis = [0, 0, 1] }
"""
)
GEAR = (
    HEAD
    + """
points = { O = [0, 0, 0], P = [1, 0, 0] }
[bodies]
frame = { points = ["O", "P"] }
a = { points = ["O"], mass = 1, inertia = [1, 1, 1, 0, 0, 0] }
b = { points = ["P"], mass = 1, inertia = [1, 1, 1, 0, 0, 0] }
[joints]
S = { type = "R", bodies = ["frame", "a"], at = "O", axis = [0, 0, 1] }
B = { type = "R", bodies = ["frame", "b"], at = "P", axis = [1, 0, 0] }
"""
)
TRAIN = (
    HEAD
    + """
points = { O = [0, 0, 0], P = [1, 0, 0], Q = [2, 0, 0] }
[parameters]
first = 2.0
[bodies]
frame = { points = ["O", "P", "Q"] }
w1 = { points = ["O"], mass = 1, inertia = [1, 1, 1, 0, 0, 0] }
w2 = { points = ["P"] }
w3 = { points = ["Q"] }
[joints]
S = { type = "R", bodies = ["frame", "w1"], at = "O", axis = [0, 0, 1] }
P = { type = "R", bodies = ["frame", "w2"], at = "P", axis = [0, 0, 1] }
Q = { type = "H", bodies = ["frame", "w3"], at = "Q", axis = [0, 0, 1], pitch = 0.01 }
M1 = { type = "gear", bodies = ["w1", "w2"], ratio = -2 }
M2 = { type = "gear", bodies = ["w3", "w2"], ratio = -2, axes = [[0, 0, 1], [0, 0, 1]] }
"""
)
METHODS = ("partition", "global", "dca")


def read(folder: Path, text: str, driver: str) -> Mechanism:
    (folder / "m.toml").write_text(f'{text}[drivers]\nd = {{ joint = "S", angle = "{driver}" }}\n')
    return Mechanism.load(folder / "m.toml")


def begun(folder: Path, text: str, angle: str) -> Mechanism:
    (folder / "m.toml").write_text(f'{text}[initial]\nq = {{ joint = "S", angle = {angle}, rate = 1 }}\n')
    return Mechanism.load(folder / "m.toml")


def wrapped(angle: float) -> float:
    return math.remainder(angle, 2 * math.pi)


@pytest.mark.parametrize("start", [-3.1, -2.0, -1.6, 1.5, 2.0, 3.1, 7.9, 100.0])
def test_a_nut_follows_its_screw(tmp_path: Path, start: float) -> None:
    found = read(tmp_path, SCREW, f"{start!r} + t").run(times=[0, 0.5, 1])
    assert found.points["N"].position[:, 2] == pytest.approx(0.4 - 0.05 * (wrapped(start) + found.time), abs=1e-12)


@pytest.mark.parametrize(
    ("wheels", "ratio"), [("ab", -0.7), ("ab", 1 / 30), ("ab", 10.0), ("ab", -123.4), ("ba", 0.1), ("ba", -7.3)]
)
@pytest.mark.parametrize("start", [-3.1, 2.0, 7.9])
def test_a_wheel_follows_the_other(tmp_path: Path, wheels: str, ratio: float, start: float) -> None:
    mesh = f'M = {{ type = "gear", bodies = ["{wheels[0]}", "{wheels[1]}"], ratio = {ratio!r} }}\n'
    found = read(tmp_path, GEAR + mesh, f"{start!r} + t").run(times=[0, 0.5, 1]).joints["B"].angle
    factor = ratio if wheels == "ab" else 1 / ratio
    expected = factor * (wrapped(start) + np.array([0, 0.5, 1]))
    assert np.exp(1j * found) == pytest.approx(np.exp(1j * expected), abs=1e-9)
    assert found - found[0] == pytest.approx(expected - expected[0], abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_simulations_begin_at_the_right_angle(tmp_path: Path, method: str) -> None:
    screw = begun(tmp_path, SCREW, "2").simulate(times=[0, 1], method=method)
    assert screw.points["N"].position[:, 2] == pytest.approx([0.3, 0.25], abs=1e-6)  # dca holds joints by a frequency
    for text, factor in (('["a", "b"], ratio = -0.7', -0.7), ('["b", "a"], ratio = 0.1', 10.0)):
        mesh = f'M = {{ type = "gear", bodies = {text} }}\n'
        joints = begun(tmp_path, GEAR + mesh, "2").simulate(times=[0, 1], method=method).joints
        assert joints["S"].angle == pytest.approx([2, 3], abs=1e-6)
        assert np.exp(1j * joints["B"].angle) == pytest.approx(np.exp(1j * factor * np.array([2, 3])), abs=1e-5)


def test_a_wheel_between_two_others_keeps_its_whole_turns(tmp_path: Path) -> None:
    """The middle wheel begins at -4 rad; as 2.28 rad it would turn the screw by half a turn less."""
    train = read(tmp_path, TRAIN, "first + t")
    run = train.run(times=[0, 1])
    assert run.joints["Q"].displacement == pytest.approx([0.02, 0.03], abs=1e-14)
    compiled = train.compile(parameters=["first"], times=[0, 1])
    assert compiled(first=2.0).joints["Q"].displacement == pytest.approx([0.02, 0.03], abs=1e-14)
    assert compiled(first=-3.0).joints["Q"].displacement == pytest.approx([-0.03, -0.02], abs=1e-14)
    for method in METHODS:
        found = begun(tmp_path, TRAIN, "2").simulate(times=[0, 1], method=method)
        assert found.joints["Q"].displacement == pytest.approx([0.02, 0.03], abs=1e-7)


@pytest.mark.parametrize(("cage", "left"), [(0.0, 2.5), (1.7, -1.7), (-2.9, 3.0)])
def test_a_differential_begins_as_willis_has_it(tmp_path: Path, cage: float, left: float) -> None:
    text = (Path(__file__).parents[2] / "examples" / "car-differential.toml").read_text("utf-8")
    text = text[: text.index("[drivers]")].replace('"1/final"', "1")
    drivers = f'[drivers]\na = {{ joint = "S", angle = "{cage}" }}\nb = {{ joint = "L", angle = "{left}" }}\n'
    (tmp_path / "m.toml").write_text(text + drivers)
    right = Mechanism.load(tmp_path / "m.toml").run(times=[0]).joints["R"].angle[0]
    assert wrapped(right - (2 * cage - left)) == pytest.approx(0, abs=1e-12)
