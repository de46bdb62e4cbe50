"""Jerks of points against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from assurgent.cli.commands import main
from assurgent.facade import Mechanism


def slider_crank() -> Mechanism:
    m = Mechanism("slider-crank")
    for name, place in {"A": (0, 0), "B": (0.8, 0.6), "C": (3.0, 0)}.items():
        m.point(name, place)
    m.body("frame", ["A"])
    m.body("crank", ["A", "B"], length=1)
    m.body("rod", ["B", "C"], length=2.5)
    m.body("slider", ["C"])
    m.joint("A", "R", ["frame", "crank"], at="A")
    m.joint("B", "R", ["crank", "rod"], at="B")
    m.joint("C", "R", ["rod", "slider"], at="C")
    m.joint("G", "P", ["frame", "slider"], at="C", axis=[1, 0], through="A")
    m.driver("theta", joint="A", angle="0.4 + 3*t")
    m.simulation.update(stop=2, step=0.05)
    return m


@pytest.mark.parametrize("times", [None, [0.0], [0.1, 0.9, 1.7]])
def test_jerks_of_crank_and_slider(times: list[float] | None) -> None:
    """The crank's end has ω³ L; the slider's x(t) = cos θ + √(2.5² - sin² θ) is differentiated by SymPy."""
    import sympy as sp

    results = slider_crank().run(times, jerk=True)
    t = sp.Symbol("t")
    theta = 0.4 + 3 * t
    x = sp.lambdify(t, sp.diff(sp.cos(theta) + sp.sqrt(sp.Rational(25, 4) - sp.sin(theta) ** 2), t, 3))
    exact = np.array([float(x(k)) for k in results.time])
    angle = 0.4 + 3 * results.time
    crank = 27 * np.stack([np.sin(angle), -np.cos(angle)], axis=1)
    # differences of fourth order over 0.01 rad, one-sided at the first time: 0.01⁴ times the fifth derivative over 5
    np.testing.assert_allclose(results.points["B"].jerk, crank, atol=27 * 1e-8)
    np.testing.assert_allclose(results.points["C"].jerk[:, 0], exact, atol=27 * 1e-8)
    assert len(results.time) == (len(times) if times else 41)
    plain = slider_crank().run(times)
    np.testing.assert_allclose(results.points["C"].acceleration, plain.points["C"].acceleration, atol=1e-12)


def test_jerk_is_written(tmp_path: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    slider_crank().save(folder / "m.toml")
    assert main(["run", str(folder / "m.toml"), "--jerk", "-o", str(folder / "m.json")]) == 0
    assert '"jerk"' in (folder / "m.json").read_text("utf-8")
