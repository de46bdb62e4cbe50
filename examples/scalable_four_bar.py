"""A four-bar with k dyads in a row, written as a mechanism file: python scalable_four_bar.py 100 > k100.toml"""

from __future__ import annotations

import sys

from assurgent.facade import Mechanism

CRANK, BAR = 2.0, 6.0  # metres; the moving bars and the distances between the fixed pins are all equal
SPEED = 34.96  # of the crank, rad/s


def scalable_four_bar(k: int, stop: float = 120.0, step: float = 0.005) -> Mechanism:
    """Return the mechanism with k dyads; from the second on, each is a parallelogram with the one before."""
    m = Mechanism(f"scalable-four-bar-{k}", omega=SPEED)
    m.point("A", [0, 0])
    m.point("B", [0, CRANK])
    for i in range(1, k + 1):
        m.point(f"C{i}", [4.6 + BAR * (i - 1), 5.8])
        m.point(f"D{i}", [BAR * i, 0])
    m.body("frame", ["A", *(f"D{i}" for i in range(1, k + 1))])
    m.body("crank", ["A", "B"], length=CRANK)
    m.joint("A", "R", ["frame", "crank"], at="A")
    for i in range(1, k + 1):
        last, pin, name = ("crank", "B", "B") if i == 1 else (f"rocker{i - 1}", f"C{i - 1}", f"C{i - 1}b")
        m.body(f"rod{i}", [pin, f"C{i}"], length=BAR)
        m.body(f"rocker{i}", [f"D{i}", f"C{i}"], length=BAR)
        m.joint(name, "R", [last, f"rod{i}"], at=pin)
        m.joint(f"C{i}", "R", [f"rod{i}", f"rocker{i}"], at=f"C{i}")
        m.joint(f"D{i}", "R", ["frame", f"rocker{i}"], at=f"D{i}")
    m.driver("theta", joint="A", angle="pi/2 + omega*t")
    m.simulation.update(start=0, stop=stop, step=step)
    return m


if __name__ == "__main__":
    sys.stdout.write(scalable_four_bar(int(sys.argv[1]) if len(sys.argv) > 1 else 3).text())
