"""[copies]: a copy moves as its original does, mirrored, turned, or at another time; parameters rule it, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assurgent import InputError, Mechanism

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_legs_of_a_walker_are_one_leg_at_other_times_and_mirrored() -> None:
    """A leg on a pin a third of a turn ahead is the first leg that much later; a mirrored one runs backwards."""
    m = Mechanism.load(EXAMPLES / "six-leg-walker.toml")
    n = 30
    time = np.arange(2 * n) / n
    found = m.run(time.tolist())
    foot = found.points["F"].position
    for name, ahead in (("F_two", n // 3), ("F_three", 2 * n // 3)):
        np.testing.assert_allclose(found.points[name].position[:n], foot[ahead : ahead + n], atol=1e-12)
    mirrored = foot * [-1, 1]  # pins at angle phi on the right are pins at pi - phi on the left
    for name, ahead in (("F_right", 0), ("F_right_two_r", n // 3), ("F_right_three_r", 2 * n // 3)):
        k = (n // 2 - ahead - np.arange(n)) % n
        np.testing.assert_allclose(found.points[name].position[:n], mirrored[k], atol=1e-12)
    alone = Mechanism.load(EXAMPLES / "jansen-leg.toml").run(time.tolist())
    np.testing.assert_allclose(foot, alone.points["F"].position, atol=1e-13)
    larger = m.run([0.1, 0.2], unit=0.02)
    np.testing.assert_allclose(larger.points["F_right"].position, 2 * m.run([0.1, 0.2]).points["F_right"].position)


def test_a_copy_in_space_is_turned_about_an_axis(tmp_path: Path) -> None:
    m = Mechanism.load(EXAMPLES / "rssr.toml")
    del m.groups["SSR_1"]
    m.copy("b", ["crank", "rod", "rocker"], rotate="120 deg", axis=[0, 0, 2], about=[0.5, 0, 0], move=[0, 0, 0.1])
    m.driver("again", joint="A_b", angle="omega*t")
    m.save(tmp_path / "two.toml")
    found = Mechanism.load(tmp_path / "two.toml").run([0.0, 0.15, 0.4])
    c, s = np.cos(2 * np.pi / 3), np.sin(2 * np.pi / 3)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    for point in "ABCD":
        place = (found.points[point].position - [0.5, 0, 0]) @ turn.T + [0.5, 0, 0.1]
        np.testing.assert_allclose(found.points[f"{point}_b"].position, place, atol=1e-12)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"bodies": ["fot"]}, "there is no body 'fot' - did you mean 'foot'"),
        ({"bodies": []}, "lacks bodies"),
        ({"bodies": ["frame"]}, "the frame is there once"),
        ({"bodies": ["foot"], "turn": 3}, "'turn' is not known here"),
        ({"bodies": ["foot"], "mirror": [1, 0], "rotate": 1}, "rotate and mirror"),
        ({"bodies": ["foot"], "mirror": [1, 0, 0]}, "mirror is a list of 2 numbers"),
        ({"bodies": ["foot"], "points": {"Q": "P"}}, "'Q' is no point of these bodies"),
        ({"bodies": ["upper_rod"], "move": [1, 0]}, "also a point of crank.*points = { P"),
        ({"bodies": ["foot"], "about": "Q", "move": [1, 0]}, "about: there is no point 'Q'"),
    ],
)
def test_wrong_copies(fields: dict[str, object], says: str) -> None:
    m = Mechanism.load(EXAMPLES / "jansen-leg.toml")
    m.copies["x"] = fields  # type: ignore[assignment]
    with pytest.raises(InputError, match=r"\[copies\.x\]: .*" + says):
        m.model()


def test_a_copy_of_what_is_no_body_or_stands_nowhere_is_refused() -> None:
    """Both ended in Python's own words: the first body of a copy was a list, one of its points a table."""
    m = Mechanism.load(EXAMPLES / "six-leg-walker.toml")
    m.bodies["upper_rod"] = [1]  # type: ignore[assignment]
    with pytest.raises(InputError, match=r"\[copies\.\w+\]: \[bodies\] upper_rod is no table"):
        m.model()
    m = Mechanism.load(EXAMPLES / "six-leg-walker.toml")
    m.points["U"] = {"a": 1}
    with pytest.raises(InputError, match=r"\[points\] U: is a list of 2 numbers"):
        m.model()
