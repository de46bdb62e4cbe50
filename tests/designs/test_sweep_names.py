"""Sweeps: what may be wanted and what it is called; drivers and efforts; pictures of series; what is refused."""

from __future__ import annotations

import threading
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from assurgent import InputError, Mechanism
from assurgent.cli.commands import main
from assurgent.designs.sweep import sweep
from assurgent.designs.sweep_plan import grid, hypercube
from assurgent.designs.sweep_reading import read_sweep
from assurgent.designs.tolerances import read_spread, tolerances

# a crank-rocker with masses; with a crank of 7 it is lost on the way
TEXT = """
format = 1
name = "four-bar"
space = "planar"
gravity = [0, -9.81]
parameters = { a = 2, b = 6, c = 6, w = 6, px = 3, py = 1 }
points = { A = [0, 0], B = [0, "a"], C = [5, 5], D = [6, 0] }
[bodies]
frame = { points = ["A", "D"] }
crank = { points = ["A", "B"], length = "a", mass = 1.5, inertia = 0.1 }
rod = { points = ["B", "C", "P"], local = { B = [0, 0], C = ["b", 0], P = ["px", "py"] }, mass = 2, inertia = 1 }
rocker = { points = ["D", "C"], length = "c", mass = 1, inertia = 0.5 }
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "A" }
B = { type = "R", bodies = ["crank", "rod"], at = "B" }
C = { type = "R", bodies = ["rod", "rocker"], at = "C" }
D = { type = "R", bodies = ["frame", "rocker"], at = "D" }
[drivers]
theta = { joint = "A", angle = "pi/2 + w*t" }
[simulation]
stop = 1
step = 0.05
"""
EXAMPLES = Path(__file__).parents[2] / "examples"
MOTOR = '[actuators]\nmotor = { joint = "D" }\n'
TIMES = np.linspace(0.0, 1.0, 21)


def data(text: str = TEXT) -> dict[str, Any]:
    return tomllib.loads(text)


@pytest.mark.parametrize("ending", ["nc", "zarr", "parquet", "csv"])
@pytest.mark.parametrize(
    "name", ["status", "solved", "design", "time", "turn", "point", "axis", "velocity", "driver", "driver_effort"]
)
def test_a_parameter_with_the_name_of_something_else_in_the_file_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, ending: str
) -> None:
    file = tmp_path / "named.toml"
    file.write_text(TEXT.replace("px", name), "utf-8")
    asked = ["--over", f"{name}=2:3:2", "--want", "P,theta.effort,turn", "-o", str(tmp_path / f"z.{ending}")]
    assert main(["sweep", str(file), *asked]) == 2
    assert f"something else that is called {name}" in " ".join(capsys.readouterr().err.split())
    assert [p.name for p in tmp_path.iterdir()] == ["named.toml"]


@pytest.fixture
def mechanism(tmp_path: Path) -> Mechanism:
    file = tmp_path / "four-bar.toml"
    file.write_text(TEXT, "utf-8")
    return Mechanism.load(file)


def test_efforts_of_a_lost_design_are_those_up_to_the_loss(mechanism: Mechanism) -> None:
    found = sweep(data(), "four-bar", None, grid(["a=1,7"]), ["theta.effort", "theta"], TIMES)
    assert found is not None
    solved = int(found.found["solved"][1])
    assert 0 < solved < len(TIMES)
    for k, (a, count) in enumerate(((1, len(TIMES)), (7, solved))):
        expected = mechanism.inverse(TIMES[:count], a=a).drivers["theta"].effort
        assert found.found["driver_effort"][k, :count, 0] == pytest.approx(expected, rel=1e-12)
        assert found.found["driver_value"][k, :count, 0] == pytest.approx(np.pi / 2 + 6 * TIMES[:count], rel=1e-14)
        assert np.isnan(found.found["driver_effort"][k, count:]).all()
        assert np.isnan(found.found["driver_value"][k, count:]).all()


def test_names_with_and_without_prefix_and_numbers_of_them(mechanism: Mechanism) -> None:
    wanted = [
        "driver.theta", "driver.theta.effort", "P.x", "point.P.vy", "rod.omega", "joint.C.rate",
        "max(body.rod.omega)", "max(joint.C.rate)", "range(point.P.ay)", "min(theta.effort)", "mean(driver.theta)",
    ]  # fmt: skip
    found = sweep(data(), "four-bar", None, grid(["a=1,2,7"]), wanted, TIMES)
    assert found is not None
    r = mechanism.inverse(TIMES, a=2)
    P, rod, C, effort = r.points["P"], r.bodies["rod"], r.joints["C"], r.drivers["theta"].effort
    assert effort is not None
    series = {
        "P.x": P.position[:, 0], "P.vy": P.velocity[:, 1], "rod.omega": rod.angular_velocity, "joint.C.rate": C.rate,
    }  # fmt: skip
    for name, expected in series.items():
        assert found.found[name][1] == pytest.approx(expected, rel=1e-12)
    numbers = {
        "max(body.rod.omega)": rod.angular_velocity.max(), "max(joint.C.rate)": C.rate.max(),
        "range(point.P.ay)": np.ptp(P.acceleration[:, 1]), "min(theta.effort)": effort.min(),
        "mean(driver.theta)": np.pi / 2 + 3,
    }  # fmt: skip
    for name, expected in numbers.items():
        assert found.found[name][1] == pytest.approx(expected, rel=1e-12)
        assert np.isnan(found.found[name][2])  # it does not turn


def test_efforts_of_actuators_do_the_work_of_the_driver(mechanism: Mechanism) -> None:
    """A motor at the rocker has the power of the one at the crank."""
    wanted = ["motor.effort", "joint.D.rate", "max(actuator.motor.effort)"]
    found = sweep(data(TEXT + MOTOR), "four-bar", None, grid(["a=1,2"]), wanted, TIMES)
    assert found is not None
    for k, a in enumerate((1, 2)):
        effort = mechanism.inverse(TIMES, a=a).drivers["theta"].effort
        assert effort is not None
        power = found.found["actuator_effort"][k, :, 0] * found.found["joint.D.rate"][k]
        assert power == pytest.approx(6.0 * effort, rel=1e-9, abs=1e-9 * np.abs(effort).max())
    assert found.found["max(actuator.motor.effort)"] == pytest.approx(found.found["actuator_effort"].max(axis=(1, 2)))


def test_what_cannot_be_wanted_is_told_with_what_can() -> None:
    told = {
        "P.w": "there are P.x, P.y, P.vx", "max(P.z)": "there are P.x, P.y, P.vx", "motor": "there are motor.effort",
        "theta.eff": "did you mean 'theta.effort'", "length(theta)": "length is that of a point's path",
    }  # fmt: skip
    for want, message in told.items():
        with pytest.raises(InputError, match="want") as caught:
            sweep(data(TEXT + MOTOR), "four-bar", None, grid(["a=1,2"]), [want], TIMES)
        assert message in str(caught.value)


def test_values_that_are_given_twice_are_refused() -> None:
    with pytest.raises(InputError, match="the values of a are given twice"):
        grid(["a=1,2", "a=3,4"])
    with pytest.raises(InputError, match="the values of a are given twice"):
        hypercube(["a=1:2", "b=1:2", "a=3:4"], 4, 1)


def test_times_that_depend_on_the_design_are_told_in_the_words_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "turn.toml"
    file.write_text(TEXT.replace("stop = 1", 'stop = "2*pi/w"'), "utf-8")
    assert main(["sweep", str(file), "--over", "w=1,2", "--want", "turn"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "give them by --at, or by --start, --stop and --step" in told
    assert "compile" not in told
    assert main(["sweep", str(file), "--over", "w=1,2", "--want", "turn", "--stop", "1"]) == 0


@pytest.mark.parametrize("count", ["0", "-1"])
def test_no_workers_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], count: str) -> None:
    file = tmp_path / "four-bar.toml"
    file.write_text(TEXT, "utf-8")
    assert main(["sweep", str(file), "--over", "a=1,2", f"--workers={count}"]) == 2
    assert f"--workers {count}: at least one process" in " ".join(capsys.readouterr().err.split())


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_without_workers_is_told_and_waited_for() -> None:
    distributed = pytest.importorskip("distributed")
    lines: list[str] = []
    with distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=None) as cluster:

        def later() -> None:
            while not lines:
                time.sleep(0.05)
            cluster.scale(1)

        threading.Thread(target=later, daemon=True).start()
        found = sweep(
            data(),
            "four-bar",
            None,
            grid(["a=1,7"]),
            ["turn"],
            TIMES,
            dask=cluster.scheduler_address,
            tell=lines.append,
        )
    assert found is not None
    assert found.found["turn"].tolist() == [1.0, 0.0]
    assert "0 workers" in lines[0]


def test_tolerances_are_those_of_points_with_and_without_prefix() -> None:
    spread = read_spread("a=0.01")
    found = tolerances(data(), "four-bar", None, spread, ["point.P"], TIMES, samples=10)
    assert list(found.points) == ["P"]
    for name in ("joint.C", "body.rod", "max(P.x)"):
        with pytest.raises(InputError, match="tolerances are those of points"):
            tolerances(data(), "four-bar", None, spread, [name], TIMES, samples=10)


@pytest.mark.parametrize("ending", ["nc", "zarr", "parquet", "csv"])
def test_files_are_read_again_by_the_names_of_their_columns(tmp_path: Path, ending: str) -> None:
    path, wanted = tmp_path / f"s.{ending}", ["P", "joint.C", "rod.omega", "theta.effort", "max(P.x)", "turn"]
    designs = grid(["a=1,2", "w=5,6"])
    assert sweep(data(), "four-bar", None, designs, wanted, TIMES, path) is None
    found, kept = sweep(data(), "four-bar", None, designs, wanted, TIMES), read_sweep(path)
    assert found is not None
    assert {n: v.tolist() for n, v in kept.parameters.items()} == {n: v.tolist() for n, v in designs.items()}
    assert kept.time == pytest.approx(TIMES)
    assert set(kept.numbers) == {"max(P.x)", "turn"}
    assert kept.numbers["max(P.x)"] == pytest.approx(found.found["max(P.x)"], rel=1e-12)
    for name, expected in {
        "P.vy": found.found["velocity"][:, :, 0, 1], "joint.C": found.found["joint_angle"][:, :, 0],
        "rod.omega": found.found["rod.omega"], "theta.effort": found.found["driver_effort"][:, :, 0],
    }.items():  # fmt: skip
        assert kept.series[name] == pytest.approx(expected, rel=1e-12)


def test_pictures_of_series(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from assurgent.pictures.sweep_plot import sweep_figure

    path, wanted = tmp_path / "s.nc", ["P", "joint.C", "max(P.x)", "turn"]
    sweep(data(), "four-bar", None, grid(["a=1:3:5"]), wanted, TIMES, path)
    with xr.open_dataset(path, engine="scipy") as kept:
        place = kept["position"].sel(point="P").values
    top, below = sweep_figure(path, ["point.P", "joint.C"]).axes[:2]
    assert len(top.lines) == len(below.lines) == 5
    assert np.array(top.lines[3].get_xydata()) == pytest.approx(place[3])  # a path in the plane
    assert np.array(below.lines[0].get_xdata()) == pytest.approx(TIMES)
    assert len({str(line.get_color()) for line in top.lines}) == 5
    for names, message in (("Q", "there is no Q - there are P, P.x"), ("P,turn", "drawn apart from series")):
        assert main(["plot", str(path), "--names", names, "-o", str(tmp_path / "q.svg")]) == 2
        assert message in " ".join(capsys.readouterr().err.split())
    other = tmp_path / "other.csv"
    for text in ("t,P.x\n0,1\n", "design,a,status,solved,t,P.x\n"):
        other.write_text(text, "utf-8")
        assert main(["plot", str(other), "-o", str(tmp_path / "q.svg")]) == 2
        assert "this is no file of a sweep" in " ".join(capsys.readouterr().err.split())


def test_pictures_of_points_in_space_and_of_one_component(tmp_path: Path) -> None:
    """Each column over time, also where nothing is named."""
    from assurgent.pictures.sweep_plot import sweep_figure

    path, part = tmp_path / "s.nc", tmp_path / "x.csv"
    values = tomllib.loads((EXAMPLES / "rssr.toml").read_text("utf-8"))
    values["parameters"]["up"] = 0.0
    values["points"]["A"][2] = "up"
    sweep(values, "rssr", None, {"up": np.array([0.0, 0.01])}, None, TIMES, path)
    with xr.open_dataset(path, engine="scipy") as kept:
        place = kept["position"].sel(point="C").values
        assert kept["point"].values.tolist() == ["B", "C"]  # once each, though both their bodies have them
    for names in (["C"], None):
        figure = sweep_figure(path, names)
        shown = {str(ax.get_ylabel()): ax for ax in figure.axes}
        assert ("C.z" in shown) == (names is not None)
        assert all(str(ax.get_xlabel()) == "t [s]" for label, ax in shown.items() if "." in label)
        if names:
            assert [n for n in shown if "." in n] == ["C.x", "C.y", "C.z"]
            assert np.array(shown["C.y"].lines[1].get_ydata()) == pytest.approx(place[1, :, 1])
    sweep(data(), "four-bar", None, grid(["a=1:3:5"]), ["P.x"], TIMES, part)
    assert len(sweep_figure(part).axes[0].lines) == 5


def test_pictures_of_numbers(tmp_path: Path) -> None:
    """Curves over one parameter, a heat map each over two, lines through all otherwise; what is not whole is told."""
    from assurgent.pictures.sweep_plot import sweep_figure

    numbers, one, two, many = ["max(P.x)", "max(P.y)"], *(tmp_path / f"{n}.csv" for n in ("one", "two", "many"))
    sweep(data(), "four-bar", None, grid(["a=1:8:8"]), numbers, TIMES, one)
    curves = sweep_figure(one)
    kept = read_sweep(one).numbers
    assert [ax.get_ylabel() for ax in curves.axes] == numbers
    for ax, name in zip(curves.axes, numbers, strict=True):
        assert np.array(ax.lines[0].get_ydata()) == pytest.approx(kept[name], nan_ok=True)
        assert ax.get_xlim() == (1.0, 8.0)  # also where no design is whole
    lost = int(np.isnan(kept["max(P.x)"]).sum())
    assert 0 < lost < 8
    assert str(curves.get_suptitle()) == f"{lost} of 8 designs are not whole"
    assert [ax.get_ylabel() for ax in sweep_figure(one, numbers[1:]).axes] == numbers[1:]
    sweep(data(), "four-bar", None, grid(["a=1:2:4", "b=5.8:6.2:3"]), numbers, TIMES, two)
    maps = sweep_figure(two).axes
    assert [ax.get_ylabel() for ax in maps] == ["b", "b", *numbers]  # the maps, then their bars
    sweep(data(), "four-bar", None, hypercube(["a=1:2", "b=5.8:6.2"], 9, 1), numbers, TIMES, many)
    lines = sweep_figure(many).axes[0]
    assert [label.get_text() for label in lines.get_xticklabels()] == ["a", "b", *numbers[::-1]]


@pytest.mark.parametrize("ending", ["csv", "zarr"])
def test_how_many_designs_are_whole_is_told_and_a_sweep_takes_the_place_of_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    if ending == "zarr":
        pytest.importorskip("zarr")
    mechanism, path = tmp_path / "m.toml", tmp_path / f"s.{ending}"
    mechanism.write_text(TEXT, "utf-8")
    for count in (8, 15):
        command = ["sweep", str(mechanism), "--over", f"a=1:8:{count}", "--want", "max(P.x)", "-o", str(path)]
        assert main(command) == 0
        whole = int(np.isfinite(read_sweep(path).numbers["max(P.x)"]).sum())
        assert 0 < whole < count
        assert f"{count} designs, {whole} whole, {count - whole} lost on the way" in capsys.readouterr().err
    (tmp_path / "other.zarr").mkdir()
    assert main([*command[:-1], str(tmp_path / "other.zarr")]) == 2
    assert "this is a folder" in capsys.readouterr().err


def test_nearest_names_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mechanism = tmp_path / "m.toml"
    mechanism.write_text(TEXT, "utf-8")
    for over, want, message in (
        ("q=1:2:3", "max(P.x)", "there is no such parameter - there are a, b, c"),
        ("a=1:2:3", "rnge(P.x)", "did you mean 'range'"),
        ("a=1:2:3", "max(F.x)", "there are A, D, B"),
    ):
        assert main(["sweep", str(mechanism), "--over", over, "--want", want]) == 2
        assert message in " ".join(capsys.readouterr().err.split())
    path = tmp_path / "s.csv"
    assert main(["sweep", str(mechanism), "--over", "a=1:2:3", "--want", "max(P.x)", "-o", str(path)]) == 0
    assert main(["plot", str(path), "--over", "a", "-o", str(tmp_path / "s.png")]) == 2
    assert "--over: is for results" in " ".join(capsys.readouterr().err.split())
