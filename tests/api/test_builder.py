"""A mechanism written in Python is the same as its file, and saves to one that loads to the same model."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assurgent.common.errors import InputError
from assurgent.facade import Mechanism
from assurgent.mechanism.reader import load
from assurgent.mechanism.toml_text import to_toml

DATA = Path(__file__).parents[1] / "mechanism" / "data"
FILES = ("four-bar", "gears", "spatial")


def same(a: Any, b: Any) -> bool:
    """Deep equality of models: arrays bit by bit, functions by their text and values."""
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    if callable(a) and hasattr(a, "text"):
        x = np.linspace(0.1, 1, 5)
        return bool(a.text == b.text and np.array_equal(a(x), b(x), equal_nan=True))
    if dataclasses.is_dataclass(a):
        fields = [f.name for f in dataclasses.fields(a) if f.name != "origin" or not isinstance(a.origin, Path)]  # type: ignore[attr-defined]
        return all(same(getattr(a, f), getattr(b, f)) for f in fields)
    if isinstance(a, Mapping):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(same(p, q) for p, q in zip(a, b, strict=True))
    return bool(a == b)


def four_bar() -> Mechanism:
    m = Mechanism("four-bar", omega=34.96)
    for name, place in {"A": [0, 0], "B": (0, 2), "C": np.array([5.0, 5.0]), "D": [6, 0]}.items():
        m.point(name, place)
    m.body("frame", ["A", "D"])
    m.body("crank", ["A", "B"], length=2, mass=0.5, inertia="0.5*2**2/12")
    m.body("rod", ["B", "C", "P"], local={"B": [0, 0], "C": [6, 0], "P": [3, 1]}, mass=2, centre="P")
    m.body("rocker", ["C", "D"], length=6, mass=1, centre=[2, 0.5], inertia=3)
    m.joint("A", "R", ["frame", "crank"], at="A")
    m.joint("B", "R", ["crank", "rod"], at="B")
    m.joint("C", "R", ["rod", "rocker"], at="C")
    m.joint("D", "R", ("frame", "rocker"), at="D")
    m.driver("theta", joint="A", angle="pi/2 + omega*t")
    m.parameter("g", 9.81)
    m.parameter("twice", "2*omega")
    m.gravity = [0, "-g"]
    m.force("push", body="rod", point="P", force=["sin(t)", 0])
    m.force("pull", body="rod", point=[1, 2], force=[0, "if(t < 1, t, 1)"])
    m.force("turn", body="crank", torque="3*t")
    m.force("coil", type="spring", between=["A", "C"], stiffness=10, length=2, damping=0.5)
    m.force("hair", type="torsion-spring", joint="D", stiffness=4, angle="pi", damping=0.1)
    m.initial["start"] = {"joint": "D", "angle": 2, "rate": 0.5}
    m.actuators["motor"] = {"joint": "D"}
    m.assembly["RRR_1"] = 1
    m.simulation.update(start=0, stop=1.5, step=0.5, tolerance=1e-8, cut=["D"])
    return m


def test_built_is_the_same_as_read(tmp_path: Path) -> None:
    read = load(DATA / "four-bar.toml")
    built = four_bar().model()
    assert same(built, dataclasses.replace(read, origin=None))
    four_bar().save(tmp_path / "saved.toml")
    assert same(dataclasses.replace(load(tmp_path / "saved.toml"), origin=None), built)


@pytest.mark.parametrize("name", FILES)
def test_loaded_and_saved_is_the_same(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.toml"
    Mechanism.load(DATA / f"{name}.toml").save(path)
    assert same(load(path), load(DATA / f"{name}.toml"))
    assert [p.name for p in tmp_path.iterdir()] == [path.name]  # nothing temporary is left


def test_settings() -> None:
    assert four_bar().model(omega=2).parameters["twice"] == 4.0
    with pytest.raises(InputError, match="there is no parameter 'omgea' - did you mean 'omega'"):
        four_bar().model(omgea=2)


def test_same_checks_as_the_file(tmp_path: Path) -> None:
    m = four_bar()
    with pytest.raises(InputError, match=r"four-bar: \[points\] A: is there already"):
        m.point("A", [1, 1])
    m.joint("E", "R", ["rod", "rokcer"], at="C")
    with pytest.raises(InputError, match=r"four-bar: \[joints\] E.bodies: there is no body 'rokcer' - did you mean"):
        m.model()
    with pytest.raises(InputError, match="rokcer"):
        m.save(tmp_path / "x.toml")
    assert not list(tmp_path.iterdir())


def test_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        four_bar().save(tmp_path / "none" / "x.toml")


def test_table_is_found_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "cam.csv").write_text("0,0\n1,1\n2,4\n3,9\n")
    m = four_bar()
    m.drivers["theta"] = {"joint": "A", "table": "cam.csv"}
    m.folder = tmp_path
    found = m.model().drivers["theta"].motion(np.array([1.5]))[0, 0]
    assert found == pytest.approx(2.25, abs=1e-12)  # a parabola is its own spline


keys = st.text(max_size=8)
plain = st.recursive(
    st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=12,
)


@given(st.dictionaries(keys, plain, max_size=5))
@settings(max_examples=300, derandomize=True, deadline=None)
def test_toml_reads_back(data: dict[str, Any]) -> None:
    """Any text in keys and values is escaped so that TOML gives the same values back."""
    data.pop("bodies", None)
    assert tomllib.loads(to_toml(data)) == data
