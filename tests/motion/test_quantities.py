"""Names of quantities mean what they say wherever they are given; units are factors of what is shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assurgent import InputError, Mechanism, Results
from assurgent.motion.quantities import coordinate, curves, found, shown_in, units_of

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def results() -> Results:
    return Mechanism.load(EXAMPLES / "four-bar.toml").run([0.0, 0.1, 0.3])


def test_a_name_that_means_several_things_can_be_told(results: Results) -> None:
    assert found(results, "C") == ("points", "C") == found(results, "point.C")
    assert found(results, "joint.C") == ("joints", "C")
    assert found(results, "body.crank") == ("bodies", "crank") == found(results, "crank")
    assert found(results, "driver.theta")[0] == "drivers"
    assert found(results, "crank.omega") == ("columns", "crank.omega")
    np.testing.assert_array_equal(curves(results, "joint.C")[0].values, results.joints["C"].angle)
    np.testing.assert_array_equal(curves(results, "C.vx")[0].values, results.points["C"].velocity[:, 0])
    with pytest.raises(InputError, match=r"'joint.X' is no point.*nor a column.*there are A, B, C"):
        found(results, "joint.X")


def test_sizes_instead_of_components(results: Results) -> None:
    speed, _ = curves(results, "C", magnitude=True)
    assert speed.quantity == "speed"
    np.testing.assert_allclose(speed.values**2, (results.points["C"].velocity ** 2).sum(axis=1))


def test_what_stands_on_the_horizontal_axis_is_one_number(results: Results) -> None:
    np.testing.assert_array_equal(coordinate(results, "joint.A").values, results.joints["A"].angle)
    np.testing.assert_array_equal(coordinate(results, "C.y").values, results.points["C"].position[:, 1])
    with pytest.raises(InputError, match=r"several components - name one of them, such as C\.x"):
        coordinate(results, "C")


@pytest.mark.parametrize(
    ("si", "asked", "one", "text"),
    [
        ("m/s²", "mm", 1000.0, "mm/s²"),
        ("rad", "deg", 180 / np.pi, "deg"),
        ("rad/s", "deg", 180 / np.pi, "deg/s"),
        ("rad/s", "rpm", 60 / (2 * np.pi), "rpm"),
        ("rad", "rpm", 1.0, "rad"),
        ("rad", "turn", 1 / (2 * np.pi), "turn"),
        ("m", "in", 1 / 0.0254, "in"),
        ("N", "kN", 0.001, "kN"),
        ("N m", "mm", 1.0, "N m"),
        ("s", "ms", 1000.0, "ms"),
    ],
)
def test_units_that_are_shown(si: str, asked: str, one: float, text: str) -> None:
    factor, words = shown_in(si, units_of(asked))
    assert factor == pytest.approx(one, rel=1e-15)
    assert words == text


def test_a_unit_that_results_have_not_is_refused() -> None:
    with pytest.raises(InputError, match="unit 'furlong': results are shown in m mm"):
        units_of("mm,furlong")
