"""Results: names, tables, and files of five kinds, written whole and read back."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from assurgent import Mechanism
from assurgent.common.errors import InputError
from assurgent.motion.results import Results
from assurgent.motion.series import (
    ActuatorSeries,
    BodySeries,
    DriverSeries,
    EnergySeries,
    JointSeries,
    PointSeries,
    ReactionSeries,
)


def planar_results(n=5):
    rng = np.random.default_rng(3)

    def r(*shape):
        return rng.normal(size=(n, *shape))

    return Results(
        "four-bar",
        "partition",
        "planar",
        np.linspace(0, 1, n),
        {"B": PointSeries(r(2), r(2), r(2)), "C": PointSeries(r(2), r(2), r(2), r(2))},
        {},
        {
            "A": JointSeries(angle=r(), rate=r(), acceleration=r()),
            "guide": JointSeries(displacement=r(), rate=r(), acceleration=r()),
        },
        {"theta": DriverSeries(r(), r()), "free": DriverSeries(r())},
        {"max_residual": 1e-14, "cut": ["D"], "notes": {"unique": True}},
        {"motor": ActuatorSeries(r())},
        {"A": ReactionSeries(r(2), r())},
        EnergySeries(r(), r(), r()),
        {"A": r()},
        tuple(("A",) if k % 2 else ("A", "B") for k in range(n)),
    )


def spatial_results(n=4):
    rng = np.random.default_rng(4)

    def r(*shape):
        return rng.normal(size=(n, *shape))

    joint = JointSeries(
        angle=r(), rate=r(), acceleration=r(), displacement=r(), displacement_rate=r(), displacement_acceleration=r()
    )
    return Results(
        "screw",
        "td",
        "spatial",
        np.arange(n) * 0.1,
        {"P": PointSeries(r(3), r(3), r(3))},
        {"b": BodySeries(rotation=r(3, 3), angular_velocity=r(3), angular_acceleration=r(3))},
        {"H": joint},
        {"s": DriverSeries(r())},
        {},
        reactions={"H": ReactionSeries(r(3), r(3))},
    )


def assert_same(a, b):
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            assert_same(a[key], b[key])
    elif isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b)
    else:
        assert a == b


@pytest.mark.parametrize("make", [planar_results, spatial_results])
@pytest.mark.parametrize("ending", [".json", ".npz", ".nc"])
def test_what_is_saved_is_loaded_to_the_last_digit(tmp_path, make, ending):
    results = make()
    path = results.save(tmp_path / f"out{ending}")
    again = Results.load(path)
    assert_same(results.tree(), again.tree())
    assert again.space == results.space
    assert [p.name for p in tmp_path.iterdir()] == [f"out{ending}"]  # nothing temporary is left


def test_json_has_the_layout_of_the_format():
    tree = json.loads(planar_results().to_json())
    assert list(tree) == [
        "format",
        "mechanism",
        "method",
        "time",
        "points",
        "bodies",
        "joints",
        "drivers",
        "actuators",
        "reactions",
        "energy",
        "criterion",
        "independent",
        "diagnostics",
    ]
    assert tree["format"] == 1
    assert list(tree["points"]["B"]) == ["position", "velocity", "acceleration"]
    assert list(tree["joints"]["A"]) == ["angle", "rate", "acceleration"]
    assert list(tree["joints"]["guide"]) == ["displacement", "rate", "acceleration"]
    assert list(tree["drivers"]["theta"]) == ["value", "effort"]
    assert list(tree["drivers"]["free"]) == ["value"]
    assert list(tree["energy"]) == ["kinetic", "potential", "total"]
    screw = json.loads(spatial_results().to_json())
    assert list(screw["joints"]["H"]) == [
        "angle",
        "rate",
        "acceleration",
        "displacement",
        "displacement_rate",
        "displacement_acceleration",
    ]
    assert np.shape(screw["bodies"]["b"]["rotation"]) == (4, 3, 3)
    assert "reactions" in screw
    assert "energy" not in screw


def test_rows_of_a_rotation_are_rows_in_the_file(samples):
    model, motions, times = samples.rssr()
    results = samples.results_of(model, motions, times)
    row = json.loads(results.to_json())["bodies"]["crank"]["rotation"][30]
    q = 2 * times[30]
    np.testing.assert_allclose(row, [[np.cos(q), -np.sin(q), 0], [np.sin(q), np.cos(q), 0], [0, 0, 1]], atol=1e-15)


def test_what_is_not_finite_is_null_in_json():
    results = planar_results()
    results.points["B"].position[2, 1] = np.nan
    results.points["B"].velocity[0, 0] = np.inf
    tree = json.loads(results.to_json())
    assert tree["points"]["B"]["position"][2][1] is None
    assert tree["points"]["B"]["velocity"][0][0] is None
    assert tree["points"]["B"]["position"][1][1] == results.points["B"].position[1, 1]


def test_csv_columns_have_the_names_of_the_format(tmp_path):
    results = planar_results()
    with results.save(tmp_path / "out.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header[:7] == ["t", "B.x", "B.y", "B.vx", "B.vy", "B.ax", "B.ay"]
    assert {
        "joint.A",
        "joint.A.rate",
        "joint.A.acceleration",
        "joint.guide",
        "theta.value",
        "theta.effort",
        "motor.effort",
        "A.fx",
        "A.fy",
        "A.m",
        "energy.total",
        "criterion.A",
        "independent",
        "C.jx",
    } <= set(header)
    assert "free.effort" not in header
    column = np.array([float(row[header.index("B.vy")]) for row in rows])
    np.testing.assert_array_equal(column, results.points["B"].velocity[:, 1])
    assert rows[0][header.index("independent")] == "A B"


def test_a_run_that_failed_at_once_still_has_a_header(tmp_path):
    path = planar_results(0).save(tmp_path / "out.csv")
    assert path.read_text().splitlines() == [",".join(planar_results(0).columns())]


def test_columns_of_planar_and_spatial_bodies(samples):
    planar = samples.run(samples.slider_crank()).columns()
    assert {"crank.angle", "crank.omega", "crank.alpha", "G.ay"} <= set(planar)
    spatial = spatial_results().columns()
    assert {
        "b.r11",
        "b.r23",
        "b.r33",
        "b.omegax",
        "b.alphaz",
        "P.vz",
        "H.mz",
        "joint.H",
        "joint.H.displacement",
        "joint.H.displacement_rate",
    } <= set(spatial)


def test_two_columns_of_one_name_are_refused():
    results = planar_results()
    joints = {"A.rate": results.joints["A"], "A": results.joints["A"]}
    clash = Results("m", "td", "planar", results.time, {}, {}, joints, {})
    with pytest.raises(InputError, match=r"two columns would be called 'joint\.A\.rate'"):
        clash.columns()


def test_dataframe_and_parquet_hold_the_same_table(tmp_path):
    import pandas as pd

    results = planar_results()
    frame = results.to_dataframe()
    read = pd.read_parquet(results.save(tmp_path / "out.parquet"))
    assert list(read) == list(frame)
    np.testing.assert_array_equal(read["C.ax"], frame["C.ax"])


def test_labelled_dataset_finds_by_name():
    results = planar_results()
    data = results.to_xarray()
    np.testing.assert_array_equal(data["position"].sel(point="C", axis="y"), results.points["C"].position[:, 1])
    assert np.isnan(data["joint_angle"].sel(joint="guide")).all()
    assert data["velocity"].attrs["units"] == "m/s"


def test_a_missing_quantity_and_a_run_of_nan_stay_apart(tmp_path):
    results = planar_results()
    results.joints["A"].angle[:] = np.nan
    again = Results.load(results.save(tmp_path / "x.nc"))
    assert again.joints["A"].angle is not None
    assert again.joints["guide"].angle is None


def test_names_are_found_and_misspelt_ones_suggested():
    results = planar_results()
    assert results["C"] is results.points["C"]
    assert results["guide"] is results.joints["guide"]
    assert results["motor"] is results.actuators["motor"]
    with pytest.raises(KeyError, match="did you mean 'guide'"):
        results["giude"]
    start = "<Results of 'four-bar' (planar, method partition); 5 times, t = 0 ... 1; points: B, C"
    assert repr(results).startswith(start)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("out.jsn", r"ending '\.jsn' is not known.*\.csv \.json \.parquet \.nc \.npz.*did you mean '\.json'"),
        ("out", "a name without an ending"),
        ("nowhere/out.csv", "there is no folder"),
    ],
)
def test_wrong_targets_are_refused(tmp_path, name, message):
    with pytest.raises(InputError, match=message):
        planar_results().save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    path = planar_results().save(tmp_path / "out.json")
    before = path.read_bytes()

    def broken(results):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("assurgent.motion.writers.json_text", broken)
    with pytest.raises(InputError, match="No space left"):
        planar_results(9).save(path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.json", "{}", "no result file"),
        ("x.json", "[1, 2", "no result file"),
        ("x.npz", "abc", "no result file"),
        ("x.json", '{"format": 2}', "format 2"),
        ("x.nc", "abc", "no result file"),
        ("x.csv", "t", "read back from"),
    ],
)
def test_what_is_no_result_file_is_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        Results.load(tmp_path / name)
    with pytest.raises(InputError, match="no such file"):
        Results.load(tmp_path / "other.json")


CHANGING = """format = 1
name = "crank and rod"
space = "planar"
[parameters]
r = 1
rod = "3*r"
[points]
A = [0, 0]
B = ["r", 0]
C = ["r + rod", 0]
[bodies]
frame = { points = ["A"] }
crank = { points = ["A", "B"], length = "r" }
rod = { points = ["B", "C"], length = "rod" }
block = { points = ["C"] }
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "A" }
B = { type = "R", bodies = ["crank", "rod"], at = "B" }
C = { type = "R", bodies = ["rod", "block"], at = "C" }
S = { type = "P", bodies = ["frame", "block"], at = "C", axis = [1, 0], through = "A" }
[drivers]
theta = { joint = "A", angle = "t" }
"""


def test_results_know_the_design_that_they_were_computed_for(tmp_path: Path) -> None:
    """Three ways to a design, and files: the lengths that a picture draws are those between the solved points."""
    path = tmp_path / "m.toml"
    path.write_text(CHANGING, "utf-8")
    m = Mechanism.load(path)
    times = [0.0, 0.5, 1.0]
    runs = [m.run(times), m.run(times, r=1.5), m.run(times, r="250 cm"), m.run(times, r=1.0, rod=2.0)]
    compiled = m.compile(times)(r=1.25)
    assert [r.parameters for r in runs] == [
        {"r": 1.0, "rod": 3.0}, {"r": 1.5, "rod": 4.5}, {"r": 2.5, "rod": 7.5}, {"r": 1.0, "rod": 2.0}
    ]  # fmt: skip
    for kind in (".json", ".npz", ".nc"):
        runs.append(Results.load(runs[1].save(tmp_path / f"r{kind}")))
        assert runs[-1].parameters == runs[1].parameters
    for r in (*runs, compiled):
        model = m._model_of(r)
        for body, (p, q) in {"crank": "AB", "rod": "BC"}.items():
            drawn = np.linalg.norm(model.bodies[body].points[q] - model.bodies[body].points[p])
            solved = np.linalg.norm(r.points[q].position - r.points[p].position, axis=1)
            np.testing.assert_allclose(solved, drawn, rtol=1e-13)


def test_results_of_another_mechanism_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(CHANGING, "utf-8")
    m = Mechanism.load(path)
    other = Mechanism.load(path)
    other.name = "the other"
    other.bodies["arm"] = other.bodies.pop("rod")
    other.joints["B"]["bodies"] = ["crank", "arm"]
    other.joints["C"]["bodies"] = ["arm", "block"]
    found = other.run([0.0, 0.1])
    for draw in (lambda: m.plot(found), lambda: m.animate(found, tmp_path / "x.svg")):
        with pytest.raises(InputError, match="results of another mechanism, 'the other'"):
            draw()


def test_what_the_caller_does_with_his_times_afterwards_is_his_own() -> None:
    """They were kept for the next run, and changed with the caller's array."""
    m = Mechanism.load(Path(__file__).parents[2] / "examples" / "four-bar.toml")
    asked = np.linspace(0.0, 1.0, 2001)  # so near to each other that no inner times are needed
    times = asked.copy()
    first = m.run(times)
    times *= 1000.0  # ms for a plot
    again = m.run(asked)
    for found in (first, again):
        np.testing.assert_array_equal(found.time, asked)
    np.testing.assert_array_equal(again.points["P"].position, first.points["P"].position)
