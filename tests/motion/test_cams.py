"""Cams in groups of the one sequence, against the oracle in absolute coordinates, closed forms and differences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assurgent.cli.commands import main
from assurgent.facade import Mechanism
from assurgent.mechanism.reader import load
from assurgent.motion.kinematics import run

from .compared import compare

HEAD = """
format = 1
space = "planar"
[parameters]
R = 0.04
lift = 0.008
rho = 0.01
[drivers]
theta = { joint = "O", angle = "0.3 + 2*pi*t + 0.2*sin(3*t)" }
[simulation]
stop = 1.5
step = 0.03
"""
POINTS = {
    "O": "[0, 0]", "N": "[0.03, 0]", "Q": "[0.1, 0.04]", "K": "[-0.05, 0.06]", "W": "[-0.1, 0.04]", "S": "[0.08, 0.05]",
    "T": "[0.04, 0.09]", "D": "[0.18, 0.1]", "E": "[0.2, 0.02]", "F": "[0.01, 0.05]",
}  # fmt: skip
ROUND = 'profile = "R + lift*sin(2*u) + 0.002*cos(3*u)"'
CONVEX = 'profile = "R + 0.3*lift*sin(2*u) + 0.3*lift*cos(u)"'  # a flat face meets every place of it
ROLLER = '{ point = "F", radius = "rho" }'
FACE = '{ point = "F", direction = [1, 0.1] }'
SLIDE = (
    '[bodies.follower]\npoints = ["F"]\n',
    'G = { type = "P", bodies = ["frame", "follower"], at = "F", through = "O", axis = [0.1, 1] }\n',
)
ROCKER = (
    '[bodies.follower]\npoints = ["F", "Q", "T"]\n',
    'Q = { type = "R", bodies = ["frame", "follower"], at = "Q" }\n',
)
COUPLER = (
    '[bodies.link]\npoints = ["W", "K"]\n[bodies.follower]\npoints = ["K", "F", "S", "T"]\n',
    'W = { type = "R", bodies = ["frame", "link"], at = "W" }\nK = { type = "R", bodies = ["link", "follower"], '
    'at = "K" }\nS = { type = "slot", bodies = ["follower", "frame"], at = "S", through = "F", axis = [1, 0] }\n',
)
LINKAGE = (
    ROCKER[0] + '[bodies.rod]\npoints = ["T", "D"]\n[bodies.last]\npoints = ["D", "E"]\n',
    ROCKER[1] + 'T = { type = "R", bodies = ["follower", "rod"], at = "T" }\n'
    'D = { type = "R", bodies = ["rod", "last"], at = "D" }\n'
    'E = { type = "R", bodies = ["frame", "last"], at = "E" }\n',
)
CASES = {
    "knife edge on a guide": (SLIDE, ROUND, '{ point = "F" }'),
    "roller on a guide": (SLIDE, ROUND, ROLLER),
    "face on a guide": (SLIDE, CONVEX, FACE),
    "table": (SLIDE, 'table = "profile.csv"', ROLLER),
    "roller of a rocker, and a linkage": (LINKAGE, ROUND, ROLLER),
    "face of a rocker": (ROCKER, CONVEX, FACE),
    "roller of a coupler": (COUPLER, ROUND, ROLLER),  # two bodies in one group with the contact
}
OFTEN = ("roller on a guide", "table", "roller of a coupler")


def written(folder: Path, name: str, **places: str) -> Path:
    (bodies, joints), profile, follower = CASES[name]
    u = np.linspace(0, 2 * np.pi, 73)
    np.savetxt(folder / "profile.csv", np.column_stack([u, 0.04 + 0.008 * np.sin(2 * u)]), delimiter=",", fmt="%.17g")
    cam = f'C = {{ type = "cam", bodies = ["cam", "follower"], centre = "O", {profile}, follower = {follower} }}\n'
    pivot = 'O = { type = "R", bodies = ["frame", "cam"], at = "O" }\n'
    used = [p for p in POINTS if p in "ON" or f'"{p}"' in bodies + joints]
    points = "\n".join(f"{p} = {({**POINTS, **places})[p]}" for p in used)
    ground = ", ".join(f'"{p}"' for p in used if p in "OQWSE")
    text = f'{HEAD}[points]\n{points}\n[bodies.frame]\npoints = [{ground}]\n[bodies.cam]\npoints = ["O", "N"]\n'
    text += f"{bodies}[joints]\n{pivot}{joints}{cam}"
    (folder / "cam.toml").write_text(text, "utf-8")
    return folder / "cam.toml"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in OFTEN else pytest.mark.long)  # each compiles a type and a system
        for name in CASES
    ],
)
def test_methods_agree_with_absolute_coordinates(name: str, tmp_path: Path) -> None:
    model = load(written(tmp_path, name), {})
    found = compare(model, model.simulation.times())
    assert found.outcome.stop is None
    assert max(found.errors) < 1e-12
    points = found.outcome.results.points
    for method in ("3ot", "global", "global-sparse"):
        other = run(model, model.simulation.times(), method).results.points
        for point, series in points.items():
            for quantity, bound in (("position", 1e-14), ("velocity", 1e-10), ("acceleration", 1e-9)):
                # Newton of the whole system ends where its step is below 1e-12
                np.testing.assert_allclose(getattr(other[point], quantity), getattr(series, quantity), atol=bound)


def test_jerk_is_the_rate_of_the_acceleration(tmp_path: Path) -> None:
    """It needs the profile's fourth derivative, where its outline is that of a roller."""
    mechanism = Mechanism.load(written(tmp_path, "roller of a coupler"))
    h, middle = 2e-4, np.linspace(0.2, 1.2, 6)
    times = np.unique((middle[:, None] + h * np.arange(-2, 3)).ravel())
    found = mechanism.run(times, jerk=True).points["T"]
    a = found.acceleration.reshape(6, 5, 2)
    slope = (a[:, 0] - 8 * a[:, 1] + 8 * a[:, 3] - a[:, 4]) / (12 * h)
    jerk = found.jerk.reshape(6, 5, 2)[:, 2]
    # fourth order: (ω h)⁴/30 of the jerk, where the outline bends most with an ω of some 120 rad/s
    np.testing.assert_allclose(jerk, slope, atol=1e-7 * np.abs(jerk).max())


@pytest.mark.parametrize("name", ["roller of a coupler", pytest.param("face on a guide", marks=pytest.mark.long)])
def test_designs_and_sensitivities(name: str, tmp_path: Path) -> None:
    mechanism = Mechanism.load(written(tmp_path, name))
    compiled = mechanism.compile(points=["F"])
    design = {"R": 0.041, "lift": 0.007}
    alone, lifts = mechanism.run(**design).points["F"], np.linspace(0.006, 0.008, 5)
    batch = compiled.batch({"R": np.full(5, 0.041), "lift": lifts})
    assert not batch.status.any()
    assert not batch.own_way[:3].any()  # where the rates explain a step badly, a design is followed on its own
    exact, h = compiled.sensitivities(**design), 2e-5
    for quantity in ("position", "velocity", "acceleration"):
        value = getattr(alone, quantity)
        scale = np.abs(value).max()
        np.testing.assert_allclose(getattr(compiled(**design).points["F"], quantity), value, atol=1e-12 * scale)
        np.testing.assert_allclose(getattr(batch.points["F"], quantity)[2], value, atol=1e-12 * scale)
        for i, parameter in enumerate(exact.names[:2]):
            there = [
                getattr(compiled(**{**design, parameter: design[parameter] + k * h}).points["F"], quantity)
                for k in (-2, -1, 1, 2)
            ]
            slope = (there[0] - 8 * there[1] + 8 * there[2] - there[3]) / (12 * h)
            change = getattr(exact.points["F"], quantity)[i]
            # rounding: 1e-16 of the values over h; fourth order leaves less than that
            np.testing.assert_allclose(change, slope, atol=1e-8 * max(np.abs(change).max(), scale / 0.04))


def test_a_cam_that_the_follower_cannot_follow_ends_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "roller of a rocker, and a linkage", Q="[0.05, 0.06]", F="[0.03, 0.042]")
    assert main(["run", str(path)]) == 3
    told = capsys.readouterr().err
    assert "joints C, Q" in told
    assert "cannot be closed" in told or "dead point" in told


def test_many_turns_keep_all_digits(tmp_path: Path) -> None:
    """The place of contact goes round with the cam; a later turn is the same as the first."""
    mechanism = Mechanism.load(written(tmp_path, "roller on a guide"))
    mechanism.drivers["theta"]["angle"] = "2*pi*t"
    found = mechanism.run(np.linspace(0, 20, 20 * 36 + 1)).points["F"]
    np.testing.assert_allclose(found.position[-37:], found.position[:37], atol=1e-14)
    np.testing.assert_allclose(found.acceleration[-37:], found.acceleration[:37], atol=1e-11)
