"""The usual linkages from their lengths, ready to run: a start in one line of Python."""

from __future__ import annotations

from collections.abc import Sequence

from .facade import Mechanism

Length = float | str  # a number, or a formula such as "25 mm"


def four_bar(
    ground: Length,
    crank: Length,
    coupler: Length,
    rocker: Length,
    point: Sequence[Length] | None = None,
    speed: Length = "60 rpm",
    crossed: bool = False,
) -> Mechanism:
    """Return a four-bar A-B-C-D with its crank A-B turning at a speed; lengths are parameters of the same names.

    `point` places a point P of the coupler: along B-C from B, and to the left of it. `crossed` assembles it with C
    below the line from B to D.

    >>> m = four_bar(ground=4, crank=1, coupler=3, rocker=3, point=[1.5, 1])
    >>> results = m.run()
    """
    m = Mechanism("four-bar", ground=ground, crank=crank, coupler=coupler, rocker=rocker, speed=speed)
    side = "-1" if crossed else "1"
    m.point("A", [0, 0])
    m.point("B", ["crank", 0])
    m.point("C", ["ground", f"{side}*max(coupler, rocker)"])
    m.point("D", ["ground", 0])
    m.body("frame", ["A", "D"])
    m.body("crank", ["A", "B"], length="crank")
    if point is None:
        m.body("coupler", ["B", "C"], length="coupler")
    else:
        m.body("coupler", ["B", "C", "P"], local={"B": [0, 0], "C": ["coupler", 0], "P": list(point)})
    m.body("rocker", ["D", "C"], length="rocker")
    for name, bodies in {"A": ("frame", "crank"), "B": ("crank", "coupler"), "C": ("coupler", "rocker")}.items():
        m.joint(name, "R", bodies, at=name)
    m.joint("D", "R", ("frame", "rocker"), at="D")
    return _turning(m)


def slider_crank(crank: Length, rod: Length, offset: Length = 0, speed: Length = "60 rpm") -> Mechanism:
    """Return a slider-crank O-A-B whose slider B moves along a line parallel to x, `offset` above the crank's pivot."""
    m = Mechanism("slider-crank", crank=crank, rod=rod, offset=offset, speed=speed)
    m.point("O", [0, 0])
    m.point("A", ["crank", 0])
    m.point("B", ["crank + rod", "offset"])
    m.body("frame", ["O"])
    m.body("crank", ["O", "A"], length="crank")
    m.body("rod", ["A", "B"], length="rod")
    m.body("slider", ["B"])
    m.joint("O", "R", ["frame", "crank"], at="O")
    m.joint("A", "R", ["crank", "rod"], at="A")
    m.joint("B", "R", ["rod", "slider"], at="B")
    m.joint("guide", "P", ["frame", "slider"], at="B", axis=[1, 0])
    return _turning(m, "O")


def _turning(m: Mechanism, pivot: str = "A") -> Mechanism:
    """Drive the crank, and run it for one turn."""
    m.driver("theta", joint=pivot, angle="speed*t")
    m.simulation.update(stop="2*pi/abs(speed)", step="2*pi/abs(speed)/180")
    return m
