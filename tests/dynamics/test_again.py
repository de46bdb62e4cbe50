"""Repeated simulations with other parameters: the digits of a fresh mechanism, without reading it again."""

import numpy as np
import pytest

from assurgent import Mechanism
from assurgent.dynamics import forward, partition

TIMES = np.linspace(0.0, 1.0, 41)


def four_bar(start: float = 1.0) -> Mechanism:
    """A four-bar whose lengths, masses, spring, torque and start all depend on parameters."""
    m = Mechanism("four-bar")
    m.gravity = [0, -9.81]
    for name, value in {"r": 2.0, "m": 1.5, "k": 20.0, "a": start, "w": 3.0}.items():
        m.parameter(name, value)
    for name, place in {"A": (0, 0), "B": (0, 2), "C": (5, 5), "D": (6, 0)}.items():
        m.point(name, place)
    m.body("frame", ["A", "D"])
    m.body("crank", ["A", "B"], length="r", mass="m", inertia=0.1)
    m.body("rod", ["B", "C"], length=6, mass=2, inertia=0.5)
    m.body("rocker", ["D", "C"], length=6, mass=1, inertia=0.3)
    ends = {"A": ("frame", "crank"), "B": ("crank", "rod"), "C": ("rod", "rocker"), "D": ("frame", "rocker")}
    for name, bodies in ends.items():
        m.joint(name, "R", bodies, at=name)
    m.forces["spring"] = {"type": "spring", "between": ["A", "C"], "stiffness": "k", "length": 5, "damping": 0.3}
    m.forces["motor"] = {"body": "crank", "torque": "k*sin(3*t)"}
    m.initial["theta"] = {"joint": "A", "angle": "a", "rate": "w"}
    return m


def compare(one, two) -> None:
    """Compare everything that is reported, to rounding."""
    for table in ("points", "bodies", "joints", "reactions"):
        for name, series in getattr(two, table).items():
            mine = getattr(one, table)[name]
            for field, value in vars(series).items():
                if isinstance(value, np.ndarray):
                    size = max(1.0, float(np.abs(value).max()))
                    assert getattr(mine, field) == pytest.approx(value, abs=1e-12 * size), (table, name, field)
    assert one.energy.total == pytest.approx(two.energy.total, rel=1e-12)
    assert one.independent == two.independent


DESIGNS = [{"r": 2.1}, {"r": 1.5, "m": 0.2}, {"k": 55.0, "a": 7.5}, {"a": -2.0, "w": 0.0, "r": 2.2}]


@pytest.mark.parametrize("often", [False, True])
def test_designs_are_those_of_a_fresh_mechanism(monkeypatch, often):
    if often:
        monkeypatch.setattr(partition, "CLEARLY", 1.05)  # coordinates change, and sets are met again
    m = four_bar()
    for _ in range(2):  # what is kept is made when it is first needed
        m.simulate(times=TIMES)
    assembled = []
    monkeypatch.setattr(forward, "begin", lambda model, right=forward.begin: assembled.append(model) or right(model))
    found = [m.simulate(times=TIMES, **design) for design in DESIGNS]
    assert not assembled
    assert often == any(r.diagnostics["coordinate_changes"] > 0 for r in found)
    for result, design in zip(found, DESIGNS, strict=True):
        compare(result, four_bar().simulate(times=TIMES, **design))


def test_a_design_on_another_branch_is_assembled_on_its_own(monkeypatch):
    """A sketch that a parameter turns over belongs to the other branch: nothing of the nominal design fits."""
    m, fresh = four_bar(), four_bar()
    for made in (m, fresh):
        made.parameter("s", 1.0)
        made.points["C"] = [5, "5*s"]
    for _ in range(2):
        m.simulate(times=TIMES)
    assembled = []
    monkeypatch.setattr(forward, "begin", lambda model, right=forward.begin: assembled.append(model) or right(model))
    found = m.simulate(times=TIMES, s=-1.0)
    assert len(assembled) == 1
    compare(found, fresh.simulate(times=TIMES, s=-1.0))
    assert found.points["C"].position[0, 1] < 0 < m.simulate(times=TIMES).points["C"].position[0, 1]


def test_a_changed_mechanism_is_read_anew():
    m = four_bar()
    for _ in range(3):
        m.simulate(times=TIMES)
    m.bodies["rod"]["mass"] = 5.0
    changed = four_bar()
    changed.bodies["rod"]["mass"] = 5.0
    compare(m.simulate(times=TIMES, r=2.2), changed.simulate(times=TIMES, r=2.2))


def test_drivers_beside_free_motions():
    """A five-bar: one crank is driven, the other is free."""

    def made() -> Mechanism:
        m = Mechanism("five-bar")
        m.gravity = [0, -9.81]
        m.parameter("b", 2.5)
        m.parameter("speed", 4.0)
        for name, place in {"A": (0, 0), "B": (0, 1), "C": (1.5, 3), "D": (3, 1), "E": (3, 0)}.items():
            m.point(name, place)
        m.body("frame", ["A", "E"])
        m.body("one", ["A", "B"], mass=1, inertia=0.1)
        m.body("two", ["B", "C"], length="b", mass=1, inertia=0.2)
        m.body("three", ["C", "D"], length="b", mass=1, inertia=0.2)
        m.body("four", ["D", "E"], mass=1, inertia=0.1)
        pairs = ("frame", "one"), ("one", "two"), ("two", "three"), ("three", "four"), ("frame", "four")
        for name, bodies in zip("ABCDE", pairs, strict=True):
            m.joint(name, "R", bodies, at=name)
        m.driver("theta", joint="A", angle="pi/2 + 0.3*sin(speed*t)")
        m.initial["free"] = {"joint": "E", "angle": 1.8, "rate": 0.5}
        return m

    m = made()
    for _ in range(2):
        m.simulate(times=TIMES)
    for design in ({"b": 2.6}, {"speed": 6.0, "b": 2.4}):
        compare(m.simulate(times=TIMES, **design), made().simulate(times=TIMES, **design))


def test_a_start_without_initial_is_assembled_once(monkeypatch):
    """From rest at the sketch: as often as it is simulated, its digits are those of the first time."""
    m = four_bar()
    m.initial.clear()
    first = m.simulate(times=TIMES)
    compare(m.simulate(times=TIMES), first)
    monkeypatch.setattr(forward, "begin", None)  # nobody may assemble any more
    compare(m.simulate(times=TIMES[::4]), first.at(np.arange(0, len(TIMES), 4)))
    compare(m.simulate(times=TIMES), first)
    monkeypatch.undo()
    fresh = four_bar()
    fresh.initial.clear()
    compare(m.simulate(times=TIMES, r=2.1), fresh.simulate(times=TIMES, r=2.1))
    compare(m.simulate(times=TIMES), first)
