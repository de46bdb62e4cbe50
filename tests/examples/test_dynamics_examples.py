"""The examples of dynamics: what the papers say of them, and what is known of them in closed form."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from assurgent import Mechanism
from assurgent.mechanism.reader import load

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "dynamics"
NAMES = (
    "blajer-four-bar", "double-wishbones", "malczyk-double-loop", "malczyk-five-bar", "pendulum-5",
    "spatial-pendulum-5", "sprung-four-bar", "yime-slider-crank", "yu-open-loop", "yu-quick-return",
)  # fmt: skip


@cache
def script() -> ModuleType:
    """Return the script that draws the pictures of docs/dynamics.md."""
    spec = importlib.util.spec_from_file_location("docs_dynamics", ROOT / "docs" / "dynamics.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["docs_dynamics"] = module
    spec.loader.exec_module(module)
    return module


def test_every_example_is_tested_and_says_what_it_is() -> None:
    files = sorted(EXAMPLES.glob("*.toml"))
    assert tuple(f.stem for f in files) == NAMES
    for file in files:
        first, *_ = file.read_text("utf-8").splitlines()
        assert first.startswith("# ")
        assert first.endswith(".")
        assert load(file).name == file.stem


def test_criterion_is_the_closed_form_of_blajer() -> None:
    alpha, found = script().blajer()
    assert alpha[0] == pytest.approx(0, abs=1e-12)
    assert alpha[-1] > 2 * np.pi - 0.1  # a whole turn
    exact = script().blajer_closed_form(alpha)
    for k, joint in enumerate(("O1", "O2", "O3")):
        np.testing.assert_allclose(found[joint], exact[:, k], atol=1e-10)  # poses to rounding, a few divisions


def test_what_the_paper_says_of_its_figure_3() -> None:
    alpha = np.linspace(0, 2 * np.pi, 721)
    one, two, three = script().blajer_closed_form(alpha).T
    assert min(one.min(), two.min()) > 0.5  # both serve in every position
    assert (one > two).any()
    assert (two > one).any()  # neither is the best throughout
    assert (three < np.minimum(one, two)).all()  # the third is the worst
    ends = script().blajer_closed_form(np.array([np.pi / 2, 3 * np.pi / 2]))[:, 2]
    np.testing.assert_allclose(ends, 0, atol=1e-30)  # squares of a cosine that is 0 but for rounding


def test_slider_and_reaction_are_the_closed_forms() -> None:
    results = script().yime()
    place, velocity, acceleration, force = script().yime_closed_form(results.time)
    series = results.points["C"]
    np.testing.assert_allclose(series.position[:, 0], place, atol=1e-14)
    np.testing.assert_allclose(series.velocity[:, 0], velocity, atol=1e-14)
    np.testing.assert_allclose(series.acceleration[:, 0], acceleration, atol=1e-14)
    np.testing.assert_allclose(results.reactions["J1"].force[:, 0], force, atol=1e-12)  # weights of 3 N beside it
    assert place[0] == pytest.approx(0.1732051, abs=1e-7)


def test_lagrange_multipliers_of_haug_give_the_same_reactions() -> None:
    """Their own way, Eq. (20), assembled here from their tables: nine coordinates, eight rows and a driver."""
    mechanism = Mechanism.load(EXAMPLES / "yime-slider-crank.toml")
    results = mechanism.inverse(times=[0, 1.3, 4.1, 7.7])
    masses = ((0.02806, 0.096), (0.02753, 0.3713), (0.33777, 0.1406))
    for k in range(4):
        angles = [results.bodies[b].angle[k] for b in ("crank", "rod", "slider")]
        turns = [results.bodies[b].angular_acceleration[k] for b in ("crank", "rod", "slider")]
        A, B, C = (results.points[p].acceleration[k] for p in "ABC")
        centres = [(A + B) / 2, (B + C) / 2, C]
        inertia = np.concatenate([[m * (a[0]), m * (a[1] + 9.8), j * w]
                                  for (m, j), a, w in zip(masses, centres, turns, strict=True)])  # fmt: skip
        J = np.zeros((9, 9))

        def pin(row: int, body: int, reach: float, sign: float, J: np.ndarray, angles: list[float]) -> None:
            J[row : row + 2, 3 * body : 3 * body + 2] += sign * np.eye(2)
            J[row : row + 2, 3 * body + 2] += sign * reach * np.array([-np.sin(angles[body]), np.cos(angles[body])])

        pin(0, 0, -0.05, 1, J, angles)
        pin(2, 0, 0.05, -1, J, angles)
        pin(2, 1, -0.1, 1, J, angles)
        pin(4, 1, 0.1, -1, J, angles)
        pin(4, 2, 0.0, 1, J, angles)
        J[6, 7] = J[7, 8] = J[8, 2] = 1.0
        f = np.linalg.solve(J.T, inertia)
        for j, joint in enumerate(("J1", "J2", "J3")):
            np.testing.assert_allclose(results.reactions[joint].force[k], f[2 * j : 2 * j + 2], atol=1e-12)
        np.testing.assert_allclose(results.reactions["J4"].force[k], [0, f[6]], atol=1e-12)
        assert results.reactions["J4"].moment[k] == pytest.approx(f[7], abs=1e-12)
        assert results.drivers["theta"].effort[k] == pytest.approx(f[8], abs=1e-12)


def test_the_sprung_four_bar_comes_to_its_equilibrium() -> None:
    mechanism = Mechanism.load(EXAMPLES / "sprung-four-bar.toml")
    rest = mechanism.equilibrium()
    assert rest.stable
    (mode,) = rest.modes
    times = np.linspace(4, 6, 201)
    swing = mechanism.simulate(times=times.tolist()).joints["A"].angle - rest.coordinates["A"]
    # exp(-1.94 * 4) of the first swing of 0.3 rad: so small that what is not linear is a part in a thousand
    assert np.abs(swing).max() < 2e-3
    modes = np.exp(-mode.decay * times)[:, None] * np.stack(
        [np.cos(mode.angular * times), np.sin(mode.angular * times)], 1
    )
    left = swing - modes @ np.linalg.lstsq(modes, swing, rcond=None)[0]
    assert np.abs(left).max() < 5e-3 * np.abs(swing).max()


def test_schemes_differ_as_the_page_says() -> None:
    cases = script().cases()
    some = np.linspace(0, 0.4, 9).tolist()

    def miss(case: str, scheme: str) -> float:
        mechanism = cases[case]
        return float(script().unbalanced(mechanism.model(), mechanism.inverse(times=some, method=scheme)))

    for scheme in ("direct", "tangent", "inverse"):
        assert miss("four-bar of Blajer, driven", scheme) < 1e-13
    assert miss("four-bar, coupler of 1e-9 kg", "direct") < 1e-13
    assert miss("four-bar, coupler of 1e-9 kg", "inverse") > 1e-11  # loses digits by the ratio of the masses
    assert miss("four-bar with a second, equal rocker", "direct") < 1e-12


@pytest.mark.parametrize(
    ("name", "methods", "stop"),
    [
        ("malczyk-five-bar", ("dca-projected", "global"), 1.0),
        ("malczyk-double-loop", ("dca-projected", "semirecursive-2"), 1.0),
        ("yu-quick-return", ("partition", "semirecursive-1"), 0.5),
        ("yu-open-loop", ("partition", "semirecursive-2", "dca"), 0.5),
        ("pendulum-5", ("semirecursive-1", "dca-projected"), 0.5),
        ("spatial-pendulum-5", ("semirecursive-2", "dca"), 0.5),
        ("double-wishbones", ("global", "semirecursive-1", "dca-projected"), 0.5),
    ],
)
def test_formulations_move_the_examples_alike(name: str, methods: tuple[str, ...], stop: float) -> None:
    mechanism = Mechanism.load(EXAMPLES / f"{name}.toml")
    mechanism.simulation["tolerance"] = 1e-10
    one, *others = (mechanism.simulate(times=[0, stop / 2, stop], method=method) for method in methods)
    size = mechanism.model().size
    for two in others:
        for point, series in one.points.items():
            assert series.position == pytest.approx(two.points[point].position, abs=1e-8 * size)
    moved = max(np.abs(series.position[-1] - series.position[0]).max() for series in one.points.values())
    assert moved > 1e-2 * size


def test_wishbones_have_one_free_motion_each() -> None:
    """Three uprights on spherical joints alone: 12 bodies and rods in space less what all joints take."""
    model = load(EXAMPLES / "double-wishbones.toml")
    freedoms = 6 * len(model.movable) - sum({"R": 5, "S": 3}[j.kind] for j in model.joints.values())
    assert freedoms - sum(body.rod for body in model.bodies.values()) == 3  # rods spin without effect
