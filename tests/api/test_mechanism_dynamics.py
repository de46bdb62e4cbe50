"""Dynamics from Python: the same results as the command line, the physics of simple mechanisms, and clear refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import assurgent
from assurgent.cli.commands import main

EXAMPLES = Path(__file__).parents[2] / "examples" / "dynamics"
G = 9.81


def pendulum(**bar: float) -> assurgent.Mechanism:
    m = assurgent.Mechanism("pendulum", angle=0.3)
    m.gravity = [0, -G]
    m.point("O", [0, 0])
    m.point("A", [0, -0.5])
    m.body("frame", ["O"])
    m.body("bar", ["O", "A"], length=0.5, **bar)
    m.joint("O", "R", ["frame", "bar"], at="O")
    m.initial["phi"] = {"joint": "O", "angle": "-pi/2 + angle", "rate": 0}
    m.simulation = {"stop": 1, "step": 0.01}
    return m


def heavy() -> assurgent.Mechanism:
    m = pendulum(mass=2.0, inertia=0.04)
    m.bodies["bar"]["centre"] = "A"
    return m


def same(one: assurgent.Results, two: assurgent.Results) -> None:
    first, second = one.columns(), two.columns()
    assert list(first) == list(second)
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name], err_msg=name)


# ---- against the command line -------------------------------------------------------------------------------------
def test_inverse_is_that_of_the_command_line(tmp_path: Path) -> None:
    file, out = EXAMPLES / "yime-slider-crank.toml", tmp_path / "out.npz"
    assert main(["inverse", str(file), "-o", str(out), "--at", "0,2,5", "--method", "tangent"]) == 0
    found = assurgent.Mechanism.load(file).inverse(times=[0, 2, 5], method="tangent")
    same(found, assurgent.Results.load(out))
    data = found.to_xarray()
    assert data.reaction_force.sel(reaction="J4", axis="x", time=2).item() == pytest.approx(0, abs=1e-12)
    assert data.driver_effort.sel(driver="theta").shape == (3,)


def test_simulate_is_that_of_the_command_line(tmp_path: Path) -> None:
    file, out = EXAMPLES / "blajer-four-bar.toml", tmp_path / "out.npz"
    arguments = ["simulate", str(file), "-o", str(out), "--at", "0,0.1,0.2", "--method", "global", "--set", "l3=0.85"]
    assert main(arguments) == 0
    found = assurgent.Mechanism.load(file).simulate(times=[0, 0.1, 0.2], method="global", l3=0.85)
    same(found, assurgent.Results.load(out))


def test_equilibrium_is_that_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    file = EXAMPLES / "sprung-four-bar.toml"
    assert main(["equilibrium", str(file), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert assurgent.Mechanism.load(file).equilibrium().to_json() == told


# ---- against physics ----------------------------------------------------------------------------------------------
def test_a_pendulum_keeps_its_energy_and_is_pulled_as_it_must() -> None:
    results = heavy().simulate()
    energy = results.energy
    assert energy is not None
    np.testing.assert_allclose(energy.total, energy.total[0], atol=1e-9)  # of the order of ten joules; tolerance 1e-9
    assert results.reactions is not None
    phi, rate = results.joints["O"].angle, results.joints["O"].rate
    assert phi is not None
    along = np.stack([np.cos(phi), np.sin(phi)], axis=1)
    pull = np.sum(-results.reactions["O"].force * along, axis=1)  # towards the pin
    expected = 2.0 * (0.5 * rate**2 - G * np.sin(phi))
    np.testing.assert_allclose(pull, expected, atol=1e-9)


def test_equal_steps_give_the_same_swing() -> None:
    one, two = heavy().simulate(times=[0, 0.5], fixed_step=1e-3), heavy().simulate(times=[0, 0.5])
    # fourth order: (4 rad/s * 1e-3 s)^4 is 2.6e-10 per radian
    np.testing.assert_allclose(one.points["A"].position, two.points["A"].position, atol=1e-9)


def test_settings_reach_the_simulation() -> None:
    angle = heavy().simulate(times=[0], angle=0.7).joints["O"].angle
    assert angle is not None
    assert angle[0] == pytest.approx(-np.pi / 2 + 0.7, abs=1e-12)


def test_a_pendulum_at_rest_swings_with_its_frequency() -> None:
    found = heavy().equilibrium()
    assert found.stable
    assert found.coordinates["O"] == pytest.approx(-np.pi / 2, abs=1e-9)
    (mode,) = found.modes
    assert mode.angular == pytest.approx(np.sqrt(2 * G * 0.5 / (0.04 + 2 * 0.25)), rel=1e-9)  # differences: 12 digits


def test_the_torque_that_turns_a_bar_evenly_carries_its_weight() -> None:
    m = heavy()
    m.initial = {}
    m.drivers["phi"] = {"joint": "O", "angle": "3*t"}
    results = m.inverse(times=[0, 0.2, 0.9])
    effort = results.drivers["phi"].effort
    np.testing.assert_allclose(effort, 2 * G * 0.5 * np.cos(3 * results.time), atol=1e-11)


# ---- what stops, and what is told ---------------------------------------------------------------------------------
def test_a_bifurcation_carries_what_was_found() -> None:
    bars = assurgent.Mechanism("parallelogram")
    for name, place in {"A": [0, 0], "B": [0, 1], "C": [1, 1], "D": [1, 0]}.items():
        bars.point(name, place)
    bars.body("frame", ["A", "D"])
    for name, ends in {"left": "AB", "top": "BC", "right": "CD"}.items():
        bars.body(name, list(ends), mass=1, inertia=0.1)
    for name, bodies in {"A": ["frame", "left"], "B": ["left", "top"], "C": ["top", "right"],
                         "D": ["frame", "right"]}.items():  # fmt: skip
        bars.joint(name, "R", bodies, at=name)
    bars.initial["a"] = {"joint": "A", "angle": "pi/2", "rate": -2}
    with pytest.raises(assurgent.AssemblyError) as caught:
        bars.simulate(stop_at_bifurcation=True)
    results = caught.value.results
    assert isinstance(results, assurgent.Results)
    assert 0.5 < results.time[-1] < np.pi / 4  # flat after a quarter of a turn
    assert bars.simulate().time[-1] == 1


@pytest.mark.parametrize("command", ["simulate", "equilibrium"])
def test_without_masses_the_way_to_give_them_is_told(command: str) -> None:
    with pytest.raises(assurgent.InputError, match=r"no body has a mass.*`mass`.*\[bodies\.crank\] mass = 1\.2"):
        getattr(pendulum(), command)()


def test_inverse_without_masses_tells_why_all_is_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    m = pendulum()
    m.initial = {}
    m.drivers["phi"] = {"joint": "O", "angle": "t"}
    m.save(tmp_path / "bare.toml")
    assert main(["inverse", str(tmp_path / "bare.toml")]) == 0
    assert "no body has a mass and there are no [forces]" in capsys.readouterr().err
    m.force("push", body="bar", point="A", force=[1, 0])
    m.save(tmp_path / "pushed.toml")
    assert main(["inverse", str(tmp_path / "pushed.toml")]) == 0
    assert "no body has a mass" not in capsys.readouterr().err  # statics: forces alone are a load


def test_without_drivers_a_mechanism_with_masses_is_referred_to_simulate() -> None:
    for compute in ("run", "inverse"):
        with pytest.raises(assurgent.InputError, match=r"1 free motion and 0 drivers.*`assurgent simulate`$"):
            getattr(pendulum(mass=1.0), compute)()
    with pytest.raises(assurgent.InputError) as caught:
        pendulum().run()
    assert "simulate" not in str(caught.value)


def test_methods_are_known_by_name() -> None:
    m = heavy()
    with pytest.raises(assurgent.InputError, match=r"methods of inverse are direct, tangent, inverse - did you mean"):
        m.inverse(method="tangnt")
    with pytest.raises(assurgent.InputError, match="methods of simulate are"):
        m.simulate(method="td")


def test_a_scheme_that_cannot_is_refused_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    m = assurgent.Mechanism.load(EXAMPLES / "yime-slider-crank.toml")
    m.bodies["rod"] |= {"mass": 0, "inertia": 0}
    m.save(tmp_path / "light.toml")
    assert main(["inverse", str(tmp_path / "light.toml"), "--at", "0", "--method", "inverse"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "singular" in said
    assert "method direct" in said
    assert main(["inverse", str(tmp_path / "light.toml"), "--at", "0"]) == 0


def test_the_meaning_of_an_equilibrium_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["equilibrium", str(EXAMPLES / "sprung-four-bar.toml")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "stable: pushed a little, the mechanism stays near" in said
    assert "exp(-decay t)" in said


def test_shared_loads_are_marked_in_the_file_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A door on two hinges: the weight and the forces across have a share that no equation of rigid bodies tells."""
    door = assurgent.Mechanism("door", "spatial")
    door.gravity = [0, 0, -G]
    for name, place in {"A": [0, 0, 0], "B": [0, 0, 2], "C": [1, 0, 1]}.items():
        door.point(name, place)
    door.body("frame", ["A", "B"])
    door.body("door", ["A", "B", "C"], mass=20, centre="C", inertia=[2, 3, 1, 0, 0, 0])
    for name in "AB":
        door.joint(name, "R", ["frame", "door"], at=name, axis=[0, 0, 1])
    door.driver("turn", joint="A", angle="t")
    door.save(tmp_path / "door.toml")
    out = tmp_path / "out.json"
    assert main(["inverse", str(tmp_path / "door.toml"), "--at", "0,1", "-o", str(out)]) == 0
    assert "the reactions of A, B are not unique" in " ".join(capsys.readouterr().out.split())
    found = json.loads(out.read_text("utf-8"))
    assert found["diagnostics"]["reactions"]["not_unique"] == ["A", "B"]
    weight = np.sum([found["reactions"][hinge]["force"] for hinge in "AB"], axis=0)[:, 2]
    np.testing.assert_allclose(weight, 20 * G, rtol=1e-12)
    picture = tmp_path / "door.svg"
    assert main(["plot", str(tmp_path / "door.toml"), "--reactions", "--at", "0,1", "-o", str(picture)]) == 0
    assert "the reactions of A, B are not unique" in " ".join(capsys.readouterr().err.split())
    figure = door.plot(door.inverse(times=[0, 1]), reactions=True)
    titles = [ax.get_title(loc="right") for part in figure.subfigs for ax in part.axes]
    assert "of smallest norm, as not unique: A, B" in titles


def test_a_file_is_no_group_type() -> None:
    with pytest.raises(assurgent.InputError, match=r'assurgent\.Mechanism\.load\("x\.toml"\)'):
        assurgent.load("x.toml")
