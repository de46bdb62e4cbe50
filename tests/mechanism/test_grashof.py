"""Grashof's condition in the summary, by the table of the textbooks."""

from __future__ import annotations

import pytest

from assurgent.facade import Mechanism
from assurgent.mechanism.grashof import four_bars


@pytest.mark.parametrize(
    ("crank", "rod", "rocker", "frame", "fact"),
    [
        (1, 3, 2.5, 3, "crank-rocker"),
        (3, 2.5, 3, 1, "drag link"),
        (3, 1, 3, 2.5, "double rocker"),
        (2.5, 3, 1, 3, "the crank rocks"),
        (1, 3, 1, 3, "change point"),
        (2, 2.2, 2.1, 4.5, "no bar turns"),
    ],
)
def test_grashof(crank: float, rod: float, rocker: float, frame: float, fact: str) -> None:
    m = Mechanism("four-bar")
    for name, place in {"A": (0, 0), "B": (0.3, 1), "C": (frame - 0.2, 1.2), "D": (frame, 0)}.items():
        m.point(name, place)
    m.body("frame", ["A", "D"])
    m.body("crank", ["A", "B"], length=crank)
    m.body("rod", ["B", "C"], length=rod)
    m.body("rocker", ["D", "C"], length=rocker)
    loop = ["frame", "crank", "rod", "rocker", "frame"]
    for name, first, second in zip("ABCD", loop[:-1], loop[1:], strict=True):
        m.joint(name, "R", [first, second], at=name)
    m.driver("theta", joint="A", angle="t")
    (text,) = four_bars(m.model(), m.structure())
    assert text.startswith("four-bar crank-rod-rocker: ")
    assert fact in text
