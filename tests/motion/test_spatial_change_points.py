"""Parallelograms in space, solved by Newton-Raphson, pass positions in which branches meet, whatever their size."""

from __future__ import annotations

import re

import numpy as np
import pytest

from assurgent import AssemblyError, Mechanism

Z = [0, 0, 1]


def parallelogram(crank: float, frame: float, spherical: bool, gap: float = 0.0) -> Mechanism:
    m = Mechanism("spatial parallelogram", space="spatial")
    for name, place in {"A": (0, 0), "B": (0, crank), "C": (frame, crank), "D": (frame, 0)}.items():
        m.point(name, (*place, 0))
    m.body("frame", ["A", "D"])
    m.body("k1", ["A", "B"], length=crank)
    m.body("rod", ["B", "C"], length=frame - gap)
    m.body("k2", ["D", "C"], length=crank)
    ends = {"A": ("frame", "k1"), "B": ("k1", "rod"), "C": ("rod", "k2"), "D": ("frame", "k2")}
    for name, bodies in ends.items():
        if spherical and name == "C":
            m.joint(name, "S", bodies, at=name)
        else:
            m.joint(name, "R", bodies, at=name, axis=Z)
    m.driver("theta", joint="A", angle="2*pi*t")
    return m


@pytest.mark.parametrize("spherical", [True, False])
@pytest.mark.parametrize(
    ("crank", "frame"), [(1, 2), (0.1, 0.2), (0.2, 0.4), (0.5, 1), (0.3, 0.7), (3, 7), (0.05, 0.12), (12, 31)]
)
def test_it_goes_on_as_a_parallelogram(crank: float, frame: float, spherical: bool) -> None:
    m = parallelogram(crank, frame, spherical)
    for step in (0.01, 0.02, 0.05, 0.25):
        t = np.linspace(0, 2, round(2 / step) + 1)
        results, a, w = m.run(times=t), 2 * np.pi * t, 2 * np.pi
        across = crank * np.array([-np.sin(a), np.cos(a), 0 * a]).T
        along = crank * np.array([-np.cos(a), -np.sin(a), 0 * a]).T
        assert np.abs(results.points["C"].position - across - [frame, 0, 0]).max() < 1e-11 * frame
        assert np.abs(results.points["C"].velocity - w * along).max() < 1e-7 * w * crank  # bridged, of order seven
        assert np.abs(results.points["C"].acceleration + w**2 * across).max() < 1e-5 * w**2 * crank


@pytest.mark.parametrize("gap", [1e-3, 1e-5, 1e-8])
@pytest.mark.parametrize("spherical", [True, False])
def test_a_rod_that_is_a_little_too_short_ends_it(gap: float, spherical: bool) -> None:
    m = parallelogram(0.2, 0.4, spherical, gap)
    with pytest.raises(AssemblyError, match=r"RSR_1|RRR_1") as lost:
        m.run(times=np.linspace(0, 2, 201))
    # rod and rocker in line: |B - D| is their sum
    reach = np.arccos((0.2**2 + 0.4**2 - (0.6 - gap) ** 2) / (2 * 0.2 * 0.4))
    ended = float(re.findall(r"t = ([\d.]+) s", str(lost.value))[0])
    assert ended == pytest.approx((reach - np.pi / 2) / (2 * np.pi), abs=2e-9)
