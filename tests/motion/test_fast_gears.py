"""A linkage on a wheel that gears make fast, asked for at few times: every turn of the wheel is followed."""

from __future__ import annotations

import numpy as np
import pytest

from assurgent import InputError, Mechanism

G, K = np.array([4.0, 0.0]), np.array([6.0, 0.0])


def linkage(m: Mechanism, pins: dict[str, tuple[float, float]], frame: list[str]) -> None:
    """A Grashof four-bar 0.2, 2, 1.5 on a frame of 2, whose crank is the wheel."""
    points = {"G": (4, 0), "G2": (4.2, 0), "K": (6, 0), "L": (5.5, 1.5), **pins}
    for name, place in points.items():
        m.point(name, place)
    m.body("frame", [*frame, "G", "K"])
    m.body("wheel", ["G", "G2"], length=0.2)
    m.body("coupler", ["G2", "L"], length=2)
    m.body("rocker", ["L", "K"], length=1.5)
    ends = {"G": ("frame", "wheel"), "G2": ("wheel", "coupler"), "L": ("coupler", "rocker"), "K": ("frame", "rocker")}
    for name, bodies in ends.items():
        m.joint(name, "R", bodies, at=name)


def geared(ratio: float) -> Mechanism:
    m = Mechanism("fast gear")
    linkage(m, {"O": (-1, 0), "A": (-0.9, 0)}, ["O"])
    m.body("slow", ["O", "A"])
    m.joint("O", "R", ("frame", "slow"), at="O")
    m.joint("gear", "gear", ("slow", "wheel"), ratio=ratio)
    m.driver("theta", joint="O", angle="2*pi*t")
    return m


def racked(radius: float) -> Mechanism:
    """A slider-crank whose slider is a rack on a thin pinion, which drives the wheel through a gear."""
    m = Mechanism("fast rack")
    pins = {"O": (0, 0), "A": (0.5, 0), "B": (2.5, 0), "Q": (3, radius), "Q2": (3, 0.3)}
    linkage(m, pins, ["O", "Q"])
    m.body("crank", ["O", "A"], length=0.5)
    m.body("rod", ["A", "B"], length=2)
    m.body("slider", ["B"])
    m.body("pinion", ["Q", "Q2"])
    ends = {"O": ("frame", "crank"), "A": ("crank", "rod"), "B": ("rod", "slider"), "Q": ("frame", "pinion")}
    for name, bodies in ends.items():
        m.joint(name, "R", bodies, at=name)
    m.joint("S", "P", ("slider", "frame"), at="O", axis=[-1, 0], through="B")
    m.joint("rack", "rack", ("pinion", "slider"), radius=-radius, axis=[1, 0])
    m.joint("gear", "gear", ("pinion", "wheel"), ratio=-3.5)
    m.driver("theta", joint="O", angle="2*pi*t")
    return m


def place(wheel: np.ndarray) -> np.ndarray:
    """L at angles of the wheel: two circles, on the left of the way from the wheel's pin to K."""
    pin = G + 0.2 * np.array([np.cos(wheel), np.sin(wheel)]).T
    way = K - pin
    far = np.linalg.norm(way, axis=1)[:, None]
    along = (2**2 - 1.5**2 + far**2) / (2 * far)
    return pin + way / far * along + way[:, ::-1] / far * [-1, 1] * np.sqrt(4 - along**2)


@pytest.mark.parametrize(
    ("ratio", "times"),
    [(100, [0, 100.123]), (100, np.linspace(0, 100, 102)), (4000, np.linspace(0, 1, 102)), (-30, [0, 0.7, 300.1])],
)
def test_a_four_bar_on_a_fast_wheel(ratio: float, times: list[float]) -> None:
    results = geared(ratio).run(times=times)
    wheel = ratio * 2 * np.pi * np.array(times)
    assert np.abs(results.points["L"].position - place(wheel)).max() < 1e-9  # of angles up to 63,000 rad
    assert np.abs(results.bodies["wheel"].angle - wheel).max() < 1e-9


def test_a_wheel_behind_a_thin_pinion() -> None:
    times = np.append(np.arange(0, 3, 0.34), 3)
    results, theta = racked(0.001).run(times=times), 2 * np.pi * times
    slide = 0.5 * np.cos(theta) + np.sqrt(4 - (0.5 * np.sin(theta)) ** 2) - 2.5
    assert np.abs(results.points["L"].position - place(3.5 * slide / 0.001)).max() < 1e-8  # of 3500 rad


@pytest.mark.parametrize(("ratio", "times"), [(1e9, [0, 1]), (4000, [0, 1e5])])
def test_more_turns_than_can_be_followed_are_said_to_be(ratio: float, times: list[float]) -> None:
    with pytest.raises(InputError, match="more motion than can be followed"):
        geared(ratio).run(times=times)
