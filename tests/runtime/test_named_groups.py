"""[groups]: groups solved by named types move as the derived ones do; what does not fit is refused with words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assurgent import Mechanism
from assurgent.cli.commands import main
from assurgent.common.errors import AssemblyError, InputError

EXAMPLES = Path(__file__).parents[2] / "examples"
SAME = 1e-11  # of the largest value: the same motion by other unknowns


def difference(a: Any, b: Any) -> float:
    """Return the largest difference of points and bodies' rates, each quantity relative to its largest value."""
    worst = 0.0
    for table, names in (
        ("points", ("position", "velocity", "acceleration")),
        ("bodies", ("angular_velocity", "angular_acceleration")),
    ):
        for name in names:
            one, two = ({k: getattr(s, name) for k, s in getattr(r, table).items()} for r in (a, b))
            assert one.keys() == two.keys()
            scale = max(np.abs(v).max() for v in two.values()) or 1.0
            if name == "angular_acceleration":  # of bodies that turn evenly there is nothing but rounding
                scale = max(scale, *(np.abs(s.angular_velocity).max() ** 2 for s in b.bodies.values()))
            worst = max(worst, *(float(np.abs(one[k] - two[k]).max() / scale) for k in two))
    return worst


def both(name: str) -> tuple[Mechanism, Mechanism]:
    """Return an example as it is, and without its [groups]."""
    found, plain = (Mechanism.load(EXAMPLES / f"{name}.toml") for _ in range(2))
    assert found.groups
    plain.groups = {}
    return found, plain


@pytest.mark.parametrize(
    ("name", "solvers"),
    [
        ("paper-four-bar", {"1R", "RRR"}),
        ("paper-slider-crank", {"1R3D", "2E1P"}),
        ("minimal-slider-crank", {"R3D", "2S1P", "cross"}),
        ("rssr", {"R-spatial", "RSSR", "cross"}),
        ("oldham-coupling", {"R", "RPP"}),
        ("lifting-arm", {"RRR-t"}),
    ],
)
def test_examples_move_as_through_derived_types(name: str, solvers: set[str]) -> None:
    found, plain = both(name)
    times = found.model().simulation.times()[::10]
    expected = plain.run(times)
    for method in ("td", "3ot", "global-sparse"):
        results = found.run(times, method=method)
        groups: Any = results.diagnostics["groups"]
        assert {g["solver"] for g in groups.values()} == solvers
        assert difference(results, expected) <= SAME, method


def test_builder_saves_groups(tmp_path: Path) -> None:
    m, _ = both("paper-four-bar")
    entry = m.groups.pop("RRR_1")
    m.group("RRR_1", entry["type"], entry["where"])
    with pytest.raises(InputError, match="is there already"):
        m.group("R_1", "1R")
    m.save(tmp_path / "saved.toml")
    again = Mechanism.load(tmp_path / "saved.toml")
    assert again.groups == m.groups
    assert "[groups.RRR_1]" in (tmp_path / "saved.toml").read_text("utf-8")


def heavy(m: Mechanism) -> Mechanism:
    for name, body in m.bodies.items():
        if name != "frame":
            body["mass"] = 1.5
            body["inertia"] = 0.2 if m.space == "planar" else [0.2, 0.2, 0.2, 0, 0, 0]
    m.gravity = [0, -9.81] if m.space == "planar" else [0, 0, -9.81]
    return m


def test_inverse_dynamics_goes_through_named_types() -> None:
    found, plain = map(heavy, both("minimal-slider-crank"))
    times = np.linspace(0, 1, 21)
    a, b = found.inverse(times), plain.inverse(times)
    assert a.drivers["theta"].effort is not None
    np.testing.assert_allclose(a.drivers["theta"].effort, b.drivers["theta"].effort, atol=1e-10)
    for joint in b.reactions:
        np.testing.assert_allclose(a.reactions[joint].force, b.reactions[joint].force, atol=1e-9)


def test_simulation_goes_through_named_types() -> None:
    found, plain = map(heavy, both("paper-four-bar"))
    for m in (found, plain):
        m.drivers = {}
        m.initial = {"theta": {"joint": "A", "angle": 1.0, "rate": 3.0}}
        m.simulation = {"stop": 0.5, "step": 0.1}
    a, b = found.simulate(), plain.simulate()
    np.testing.assert_allclose(a.points["C"].position, b.points["C"].position, atol=1e-7)
    assert a.energy is not None
    assert np.ptp(a.energy.total) < 1e-6


def test_designs_and_sensitivities_go_through_named_types() -> None:
    found, plain = both("paper-four-bar")
    times = np.linspace(0, 0.15, 7)
    lengths = np.array([1.9, 2.0, 2.1])
    a, b = found.compile(times, points=["C"]), plain.compile(times, points=["C"])
    one, two = a.batch({"L_BA": lengths}), b.batch({"L_BA": lengths})
    assert (one.status == 0).all()
    np.testing.assert_allclose(one.points["C"].position, two.points["C"].position, atol=1e-12)
    left, right = a.sensitivities(), b.sensitivities()
    np.testing.assert_allclose(left.points["C"].position, right.points["C"].position, atol=1e-11)


# ---- refusals -----------------------------------------------------------------------------------------------------
def refused(entry: dict[str, Any], name: str = "RRR_1", example: str = "paper-four-bar") -> str:
    m, _ = both(example)
    m.groups = {name: entry}
    with pytest.raises(InputError) as found:
        m.run([0.0])
    text = str(found.value)
    assert f"[groups.{name}]" in text
    return text


GOOD = {"A": "B", "B": "D", "L_AC": "L", "L_BC": "L"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"L_AD": 3}, "the type 'RRR' has no such name - did you mean 'L_AC'?"),
        ({"L_AC": None}, "where.L_AC: is missing: the type 'RRR' has this length as a parameter"),
        ({"L_AC": "L +"}, "where.L_AC: 'L +'"),
        ({"L_AC": [1]}, "where.L_AC: is a number or a formula in quotes"),
        ({"L_AC": "1/0"}, "where.L_AC"),
        ({"L_AC": 6.001}, "its constraint 'body_AC' does not hold in the assembled first configuration, it leaves"),
        ({"A": "Q"}, "where.A: there is no point 'Q'"),
        ({"A": 3}, "where.A: is the name of a point, not 3"),
        ({"A": [1, 2, 3]}, "where.A: is a list of 2 numbers"),
        ({"A": "C"}, "'C' is of rod, rocker, which is not solved before the group"),
        ({"C": "A"}, "'A' is of no body of the group (rocker, rod), which is to find it"),
    ],
)
def test_what_does_not_fit_a_dyad_is_refused(change: dict[str, Any], said: str) -> None:
    where = {k: v for k, v in {**GOOD, **change}.items() if v is not None}
    assert said in refused({"type": "RRR", "where": where})


def test_wrong_groups_and_types_are_refused() -> None:
    assert "there is no such group - did you mean 'RRR_1'? - the groups are R_1, RRR_1" in refused(
        {"type": "RRR"}, "RRR_2"
    )
    assert "there is no group type 'RRX'" in refused({"type": "RRX"})
    assert "the type 'RSSR' is spatial, the mechanism planar" in refused({"type": "RSSR"})
    assert "where.B: there is no point" in refused({"type": "RRR", "where": {**GOOD, "B": "DD"}})


def test_tables_are_checked_where_they_are_read() -> None:
    m, _ = both("paper-four-bar")
    for entry, said in (
        ({"where": {}}, "lacks 'type'"),
        ({"type": 3}, "is a text in quotes"),
        ({"type": "RRR", "were": {}}, "did you mean 'where'?"),
        ({"type": "RRR", "where": 3}, "is a table"),
        (3, "is a table"),
    ):
        m.groups = {"RRR_1": entry}  # type: ignore[dict-item]
        with pytest.raises(InputError, match=r"\[groups\.RRR_1\]") as found:
            m.model()
        assert said in str(found.value)


def test_numbers_and_directions_are_refused_by_kind() -> None:
    def spatial(group: str, type: str, **where: Any) -> str:
        return refused({"type": type, "where": where}, group, "minimal-slider-crank")

    good = {"V1": "joint A", "V3": "frame.z"}
    assert "where.V3: is missing: the type 'R3D' must be told this unit vector" in spatial("R_1", "R3D", V1="joint A")
    assert "'frame.w' is no direction" in spatial("R_1", "R3D", **{**good, "V3": "frame.w"})
    assert "there is no body 'frme'" in spatial("R_1", "R3D", **{**good, "V3": "frme.z"})
    assert "there is no point 'Q'" in spatial("R_1", "R3D", **{**good, "V3": "A -> Q"})
    assert "no body has both points" in spatial("R_1", "R3D", **{**good, "V3": "A -> C"})
    assert "there is no joint 'X'" in spatial("R_1", "R3D", **{**good, "V1": "joint X"})
    assert "a joint of type S has no axis" in spatial("R_1", "R3D", **{**good, "V1": "joint B"})
    assert "there is no driver 'phi'" in spatial("R_1", "R3D", **good, theta="driver phi")
    assert "has no angle, which this angle is to be" in spatial("R_1", "R3D", **good, theta="joint G")
    assert "'body crank' is the angle of a planar body" in spatial("R_1", "R3D", **good, theta="body crank")
    assert "its constraint 'crank.y' does not hold" in spatial("R_1", "R3D", **{**good, "V3": "frame.y"})
    assert "where.D: 'B' moves: a parameter is constant" in refused(
        {"type": "2E1P", "where": {"D": "B", "V6": "joint G", "V7": "frame.y", "V8": "frame.z", "V4_z": 0}},
        "SSP_1", "minimal-slider-crank",
    )  # fmt: skip


def test_bodies_must_follow_from_what_is_named() -> None:
    said = refused(
        {"type": "RSSR", "where": {"B": "B", "D": "D", "n": [1, 0, 0], "L_BC": 0.3, "L_CD": 0.18}}, "SSR_1", "rssr"
    )
    assert "body 'rocker' does not follow from what is named in the type 'RSSR'" in said
    assert "three of its points, or a point and two directions" in said


# ---- the motion is that of the joints -----------------------------------------------------------------------------
DYAD = """
format = 1
name = "{name}"
title = "a dyad, or nearly one"
space = "planar"
[dependent]
C = "point"
[independent]
A = "point"
B = "point"
[parameters]
L_AC = "length"
L_BC = "length"
[constraints]
body_AC = "|C - A|^2 = L_AC^2"
body_BC = "{second}"
"""


def made(name: str, second: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mechanism:
    """Return the paper's four-bar with its dyad by a type of the user's, B of which starts at (0, 2)."""
    monkeypatch.setenv("ASSURGENT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "dyad.toml").write_text(DYAD.format(name=name, second=second), "utf-8")
    assert main(["generate", str(tmp_path / "dyad.toml")]) == 0
    m, _ = both("paper-four-bar")
    m.groups = {"RRR_1": {"type": name, "where": GOOD}}
    return m


def test_a_type_that_fits_at_the_start_only_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Right at A = (0, 2), with full rank, and wrong in the first order as soon as the crank turns."""
    m = made("dyad-at-the-start", "|C - B|^2 = L_BC^2 + x_A", tmp_path, monkeypatch)
    with pytest.raises(InputError, match=r"'body_BC' does not hold where theta = 1\.62.*, it leaves"):
        m.run([0.0])
    m.simulation = {"stop": 0.1, "step": 0.05}
    m.drivers, m.initial = {}, {"theta": {"joint": "A", "angle": 1.5, "rate": 3.0}}
    _, plain = both("paper-four-bar")
    plain.drivers, plain.initial, plain.simulation = m.drivers, m.initial, m.simulation
    a, b = heavy(m).simulate(), heavy(plain).simulate()  # by the derived type
    np.testing.assert_allclose(a.points["C"].position, b.points["C"].position, atol=1e-9)


def test_a_type_that_goes_its_own_way_later_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong by x⁸ in the place of the crank's pin: 4e-12 of a metre within reach of the check at the start."""
    m = made("dyad-for-a-while", "|C - B|^2 = L_BC^2 + 0.1*x_A^8", tmp_path, monkeypatch)
    times = np.linspace(0, 0.2, 401)
    with pytest.raises(AssemblyError, match=r"'dyad-for-a-while' of .groups. moves it otherwise .* body") as found:
        m.run(times)
    text = str(found.value)
    assert "group RRR_1 (bodies rocker, rod; joints" in text
    results: Any = found.value.results
    _, plain = both("paper-four-bar")
    expected = plain.run(times)
    assert 5 < len(results.time) < 60
    kept = len(results.time)
    np.testing.assert_allclose(results.points["C"].position, expected.points["C"].position[:kept], atol=1e-7)
    x = expected.points["B"].position[kept, 0]  # the first that is not shown is off by more than is allowed
    assert 0.1 * x**8 > 1e-7


def test_numbers_of_a_type_hold_for_their_own_design() -> None:
    """L_AC is a number where the mechanism has a parameter: right at one design, and refused at every other one."""
    m, plain = both("paper-four-bar")
    m.groups = {"RRR_1": {"type": "RRR", "where": {**GOOD, "L_AC": 6}}}
    c, right = m.compile([0.0, 0.1], points=["C"]), plain.compile([0.0, 0.1], points=["C"])
    found = c.batch({"L": np.array([6.0, 6.5])})
    assert found.status.tolist()[0] == 0
    assert found.status.tolist()[1] != 0
    np.testing.assert_allclose(found.points["C"].position[0], right().points["C"].position, atol=1e-12)
    found = c.batch({"L_BA": np.array([1.9])})
    np.testing.assert_allclose(found.points["C"].position[0], right(L_BA=1.9).points["C"].position, atol=1e-12)
    with pytest.raises(InputError, match="does not go along with L: in `where` write formulas"):
        c.sensitivities()
    assert m.compile([0.0], points=["C"], parameters=["L_BA"]).sensitivities().points["C"].position.shape == (1, 1, 2)


def test_rank_is_asked_at_the_first_configuration() -> None:
    """Crank and rod in line with the rocker's pivot: the dyad is at a dead point where it starts."""
    m, _ = both("paper-four-bar")
    m.parameters.update(L_BA=2, L=4)
    m.points.update(B=[-2, 0], C=[2, 0], D=[6, 0])
    m.drivers["theta"]["angle"] = "pi"
    with pytest.raises(InputError, match="have only rank 1 of 2 - they do not determine the group there"):
        m.run([0.0])
