"""Sweeps: the same numbers as single runs, files of every kind, resumed after a kill, on a cluster; tolerances."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
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
from assurgent.designs.sweep_plan import grid, hypercube, split
from assurgent.designs.tolerances import read_spread, tolerances

FILE = Path(__file__).parents[2] / "bench" / "data" / "coupler-four-bar.toml"
TIMES = np.linspace(0.0, 1.0, 73)
NUMBERS = ["max(P.y)", "min(P.x)", "range(joint.D)", "length(P)", "transmission", "turn"]


def data() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text("utf-8"))


def test_a_grid_and_a_hypercube() -> None:
    designs = grid(["a=1:3:3", "b=5, 6"])
    assert designs["a"].tolist() == [1, 1, 2, 2, 3, 3]
    assert designs["b"].tolist() == [5, 6] * 3
    cube = hypercube(["a=1:3", "b=-1:1"], 10, 4)
    assert sorted(np.floor((cube["a"] - 1) / 0.2)) == list(range(10))  # one in every tenth
    assert split("P,max(P.y), joint.C") == ["P", "max(P.y)", "joint.C"]
    for wrong in ("a", "a=1:2", "a=1:2:x", "a=1:2:2.5"):
        with pytest.raises(InputError, match="over"):
            grid([wrong])


# from series (an angle needs rates), from the rows of positions alone, with rates, and with times that need inner ones
WANTED = {
    "series": (NUMBERS, TIMES),
    "rows": (["max(P.y)", "min(P.x)", "range(C.x)", "mean(P.x)", "length(P)", "transmission", "turn"], TIMES),
    "rates": (["max(P.vy)", "range(P.ax)", "transmission", "max(rod.omega)"], TIMES),
    "coarse": (["max(P.y)", "length(C)", "transmission"], TIMES[::18]),
}


@pytest.mark.parametrize("kind", WANTED)
def test_numbers_are_those_of_single_runs(kind: str) -> None:
    wanted, times = WANTED[kind]
    designs = grid(["a=1.5:7:5", "c=4.5:5.5:2"])
    found = sweep(data(), "four-bar", None, designs, wanted, times, threads=2)
    assert found is not None
    m = Mechanism.load(FILE)
    for k in range(10):
        design = {n: float(v[k]) for n, v in designs.items()}
        if found.status[k] != 0:
            assert np.isnan([found.found[n][k] for n in wanted if n != "turn"]).all()
            assert "turn" not in wanted or found.found["turn"][k] == 0
            continue
        r = m.run(times, **design)
        P, v, a = r.points["P"].position, r.points["P"].velocity, r.points["P"].acceleration
        B, C, D = (r.points[n].position for n in "BCD")
        u, w = B - C, D - C
        sine = np.abs(u[:, 0] * w[:, 1] - u[:, 1] * w[:, 0]) / np.hypot(*u.T) / np.hypot(*w.T)
        angle = r.joints["D"].angle
        assert angle is not None
        expected = {
            "max(P.y)": P[:, 1].max(), "min(P.x)": P[:, 0].min(), "range(C.x)": np.ptp(C[:, 0]),
            "mean(P.x)": P[:, 0].mean(), "range(joint.D)": np.ptp(angle), "max(P.vy)": v[:, 1].max(),
            "range(P.ax)": np.ptp(a[:, 0]), "max(rod.omega)": r.bodies["rod"].angular_velocity.max(),
            "length(P)": np.hypot(*np.diff(P, axis=0).T).sum(), "length(C)": np.hypot(*np.diff(C, axis=0).T).sum(),
            "transmission": sine.min(), "turn": 1.0,
        }  # fmt: skip
        assert [found.found[n][k] for n in wanted] == pytest.approx([expected[n] for n in wanted], rel=1e-12)
    assert 0 < np.sum(found.status == 0) < 10  # some do not turn


def test_kept_series_and_numbers_of_a_jump_agree() -> None:
    """A driver that jumps is seen where positions alone are found, too: such designs are run on their own."""
    m = Mechanism.load(FILE)
    m.drivers["theta"]["angle"] = "2*pi*t + if(t < 0.5, 0, 0.9)"
    found = sweep(m.data(), "four-bar", None, grid(["a=1.9:2.1:3"]), ["max(P.y)", "turn"], TIMES)
    beside = sweep(m.data(), "four-bar", None, grid(["a=1.9:2.1:3"]), ["P", "max(P.y)", "turn"], TIMES)
    assert found is not None
    assert beside is not None
    for name in ("max(P.y)", "turn", "status"):
        assert found.found[name] == pytest.approx(beside.found[name], rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("ending", ["nc", "zarr", "parquet", "csv"])
def test_files_of_every_kind_hold_the_same(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"sweep.{ending}"
    designs = grid(["a=1.5:2.5:3"])
    assert sweep(data(), "four-bar", None, designs, ["P", "joint.D", "max(P.y)"], TIMES, path) is None
    P = Mechanism.load(FILE).run(TIMES, a=2.0).points["P"]
    if ending in ("nc", "zarr"):
        with xr.open_dataset(path, engine="scipy" if ending == "nc" else "zarr") as found:
            assert dict(found.sizes)["design"] == 3
            assert {"a", "status", "solved"} <= set(found.coords)
            assert found["velocity"].sel(point="P").values[1] == pytest.approx(P.velocity, abs=1e-12)
            assert found["a"].values.tolist() == [1.5, 2.0, 2.5]
            assert found["time"].values == pytest.approx(TIMES)
    else:
        import pandas as pd

        table = pd.read_parquet(path) if ending == "parquet" else pd.read_csv(path)
        part = table[table["design"] == 1]
        assert part[["P.vx", "P.vy"]].to_numpy() == pytest.approx(P.velocity, abs=1e-12)
        assert set(part["a"]) == {2.0}
        assert part["max(P.y)"].iloc[0] == pytest.approx(P.position[:, 1].max())
    assert sorted(p.name for p in tmp_path.iterdir()) == [path.name]


def test_efforts_are_those_of_inverse_dynamics() -> None:
    m = Mechanism.load(Path(__file__).parents[2] / "bench" / "data" / "slider-crank.toml")
    m.parameters["more"] = 1.0
    m.bodies["slider"]["mass"] = "more"
    driver = next(iter(m.drivers))
    found = sweep(m.data(), "slider", m.folder, {"more": np.array([1.0, 2.0])}, [f"{driver}.effort"], TIMES[:5])
    assert found is not None
    expected = m.inverse(TIMES[:5], more=2.0).drivers[driver].effort
    assert found.found["driver_effort"][1, :, 0] == pytest.approx(expected)


COMMAND = ["sweep", str(FILE), "--over", "a=1.5:2.5:120", "--over", "b=5.5:6.5:100", "--want", "max(P.y),transmission"]


LONG = [*COMMAND[:2], "--over", "a=1.5:2.5:1500", "--over", "b=5.5:6.5:400", *COMMAND[6:]]  # 120 blocks


def killed_after(command: list[str], wait: float) -> int:
    """Run a command and kill it so many seconds after it has done a block of its own; its exit code."""
    parts = Path(command[-1]).with_name(f".{Path(command[-1]).name}.parts")
    before = set(parts.glob("block-*.npz"))
    process = subprocess.Popen([sys.executable, "-m", "assurgent", *command])
    began = time.monotonic()
    while set(parts.glob("block-*.npz")) <= before and process.poll() is None and time.monotonic() - began < 120:
        time.sleep(0.002)
    time.sleep(wait)
    os.kill(process.pid, signal.SIGKILL)
    return process.wait()


@pytest.mark.parametrize("kills", [1, pytest.param(10, marks=pytest.mark.long)])
def test_a_killed_sweep_goes_on_and_has_the_same_bytes(tmp_path: Path, kills: int) -> None:
    """Killed at random moments, in processes one after the other: what they left is gone on with."""
    whole, killed = tmp_path / "whole.nc", tmp_path / "killed.nc"
    command = LONG if kills > 1 else [*COMMAND[:2], "--over", "a=1.5:2.5:300", "--over", "b=5.5:6.5:200", *COMMAND[6:]]
    assert main([*command, "-o", str(whole)]) == 0
    rng = np.random.default_rng(16)
    parts, left = tmp_path / ".killed.nc.parts", 0
    for wait in rng.uniform(0.0, 0.06, kills):
        assert killed_after([*command, "-o", str(killed)], float(wait)) == -signal.SIGKILL
        assert not killed.exists()  # it was on its way
        done = len(list(parts.glob("block-*.npz")))
        assert done >= left  # what was done stays
        left = done
    assert main([*command, "-o", str(killed)]) == 0
    assert killed.read_bytes() == whole.read_bytes()
    assert not parts.exists()


def begun(output: Path, *arguments: Any) -> list[Path]:
    """Begin a sweep that fails behind its first block, as a full disk would let it; the blocks that it left."""

    class FullError(Exception):
        pass

    def stop(done: int, _: int) -> None:
        if done > 0:
            raise FullError

    with pytest.raises(FullError):
        sweep(*arguments, output=output, report=stop)
    return sorted(output.with_name(f".{output.name}.parts").glob("block-*.npz"))


@pytest.mark.parametrize("name", ["drive.csv", "drive.txt"])
def test_a_sweep_that_goes_on_does_not_mix_tables(tmp_path: Path, name: str) -> None:
    """The driver's table is changed while a sweep lies unfinished: no block of the old one is taken."""
    rows = "t,value\n" + "".join(f"{t},{{}}\n" for t in np.linspace(0, 1, 5))
    table, values = tmp_path / name, data()
    values["drivers"]["theta"] = {"joint": values["drivers"]["theta"]["joint"], "table": name}
    values["name"] = "what is called .csv"  # is no table, nor is the parameter
    values["parameters"]["table"] = "2*a"
    designs = {"a": np.linspace(1.5, 2.5, 6000)}
    table.write_text(rows.format(*np.linspace(1.57, 4.5, 5)))
    assert begun(tmp_path / "mixed.nc", values, "four-bar", tmp_path, designs, ["max(P.y)"], TIMES)
    table.write_text(rows.format(*np.linspace(1.57, 1.0, 5)))
    for output in ("mixed.nc", "fresh.nc"):
        sweep(values, "four-bar", tmp_path, designs, ["max(P.y)"], TIMES, tmp_path / output)
    assert (tmp_path / "mixed.nc").read_bytes() == (tmp_path / "fresh.nc").read_bytes()


@pytest.mark.parametrize("damage", ["", "not json", "[]", "{}", "block"])
def test_a_damaged_unfinished_sweep_is_done_again(tmp_path: Path, damage: str) -> None:
    """A power cut may leave anything in the files of a sweep on its way."""
    given: tuple[Any, ...] = data(), "four-bar", None, {"a": np.linspace(1.5, 2.5, 6000)}, ["max(P.y)"], TIMES
    (first, *_) = begun(tmp_path / "cut.nc", *given)
    if damage == "block":
        first.write_bytes(first.read_bytes()[:-100])
    else:
        first.with_name("sweep.json").write_text(damage)
    for name in ("cut.nc", "fresh.nc"):
        sweep(*given, tmp_path / name)
    assert (tmp_path / "cut.nc").read_bytes() == (tmp_path / "fresh.nc").read_bytes()


def test_threads_do_not_change_the_bytes(tmp_path: Path) -> None:
    """Blocks by two threads, and one block by two threads: the file of one."""
    for count in ("100", "2"):  # three blocks, one block
        command = [*COMMAND[:4], "--over", f"b=5.5:6.5:{count}", *COMMAND[6:]]
        one, two = tmp_path / f"one-{count}.nc", tmp_path / f"two-{count}.nc"
        assert main([*command, "-o", str(one)]) == 0
        assert main([*command, "-o", str(two), "--threads", "2"]) == 0
        assert one.read_bytes() == two.read_bytes()


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_worker_killed_half_way_loses_nothing(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    alone, many = tmp_path / "alone.nc", tmp_path / "many.nc"
    command = LONG
    assert main([*command, "-o", str(alone)]) == 0
    parts = tmp_path / ".many.nc.parts"
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as c:
        sweeping = subprocess.Popen(
            [sys.executable, "-m", "assurgent", *command, "-o", str(many), "--dask", c.scheduler_address]
        )
        while not list(parts.glob("block-*.npz")) and sweeping.poll() is None:
            time.sleep(0.01)
        os.kill(c.workers[0].pid, signal.SIGKILL)
        assert len(list(parts.glob("block-*.npz"))) < 120  # it was on its way
        assert sweeping.wait(timeout=300) == 0
    assert many.read_bytes() == alone.read_bytes()


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are those of Linux")
def test_zarr_may_be_four_times_larger_than_memory(tmp_path: Path) -> None:
    """What a sweep holds beyond its start is a quarter of what it writes."""
    path = tmp_path / "large.zarr"
    command = [*COMMAND[:2], "--over", "a=1.5:2.5:500", "--over", "b=5.5:6.5:8", "--want", "B,C,P", "-o", str(path)]
    few = [*command[:3], "a=1.5:2.5:2", *command[4:-1], str(tmp_path / "few.zarr")]
    text = """
import resource, sys
from assurgent.cli.commands import main
few, many = sys.argv[1].split(";"), sys.argv[2].split(";")
assert main(few) == 0
size = 4000 * 361 * 3 * 6 * 8
now = int(next(l for l in open("/proc/self/status") if l.startswith("VmSize")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (now + size // 4, resource.RLIM_INFINITY))
sys.exit(main(many))
"""
    done = subprocess.run(
        [sys.executable, "-c", text, ";".join(few), ";".join(command)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with xr.open_zarr(path) as found:
        assert (
            found["position"].nbytes + found["velocity"].nbytes + found["acceleration"].nbytes == 4000 * 361 * 3 * 6 * 8
        )
        assert np.isfinite(found["position"].isel(design=[0, 1999, 3999]).values).all()


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_bytes(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    alone, many, given = (tmp_path / f"{n}.nc" for n in ("alone", "many", "given"))
    assert main([*COMMAND, "-o", str(alone)]) == 0
    assert main([*COMMAND, "-o", str(many), "--workers", "2"]) == 0
    assert many.read_bytes() == alone.read_bytes()
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as c:
        assert main([*COMMAND, "-o", str(given), "--dask", c.scheduler_address]) == 0
    assert given.read_bytes() == alone.read_bytes()


def test_tolerances_agree_with_random_designs() -> None:
    spread = read_spread("a=0.002,b=0.003")
    found = tolerances(data(), "four-bar", None, spread, ["P"], TIMES, samples=4000)
    P = found.points["P"]
    assert P.sampled == pytest.approx(P.deviation, rel=0.06, abs=1e-5)  # 4,000 samples: 1.1 % standard error
    assert (P.worst >= P.deviation - 1e-15).all()
    assert (P.worst <= np.sqrt(2) * P.deviation + 1e-15).all()
    m = Mechanism.load(FILE)
    h = 1e-5
    base = m.parameters
    moved = [
        (m.run(TIMES, **{n: base[n] + h}).points["P"].position - m.run(TIMES, **{n: base[n] - h}).points["P"].position)
        / (2 * h) * s
        for n, s in spread.items()
    ]  # fmt: skip
    assert P.deviation == pytest.approx(np.sqrt(sum(x**2 for x in moved)), rel=1e-6, abs=1e-10)


def test_wrong_wants_are_named() -> None:
    for want, message in (("Q", "no series 'Q'"), ("max(P)", "name a component"), ("length(P.x)", "path")):
        with pytest.raises(InputError, match="want") as caught:
            sweep(data(), "four-bar", None, grid(["a=1,2"]), [want], TIMES)
        assert message in str(caught.value)
    with pytest.raises(InputError, match="no such parameter"):
        sweep(data(), "four-bar", None, grid(["q=1,2"]), None, TIMES)


def test_pictures_of_sweeps(tmp_path: Path) -> None:
    path = tmp_path / "s.nc"
    for more, name in (([], "map"), (["--over", "c=4.5,5"], "lines")):
        command = [*COMMAND[:2], "--over", "a=1.5:2.5:6", "--over", "b=5.5:6.5:5", *more, *COMMAND[6:]]
        assert main([*command, "-o", str(path)]) == 0
        picture = tmp_path / f"{name}.svg"
        assert main(["plot", str(path), "-o", str(picture), "--names", "transmission"]) == 0
        assert "transmission" in picture.read_text("utf-8") or "<svg" in picture.read_text("utf-8")


@pytest.mark.parametrize("times", [[1.0], [0.6, 0.8, 1.0]])
def test_asked_times_that_show_no_motion_do_not_hide_it(times: list[float]) -> None:
    """The slider's way from the start to the first asked time was left out where it rests at all asked times."""
    m = Mechanism("slider", rod=0.5)
    for name, place in {"A": (0, 0), "B": (0.45, 0.4), "C": (0.1, 0.1), "D": (0.7, 0)}.items():
        m.point(name, place)
    m.body("frame", ["A", "D"])
    m.body("slider", ["C"])
    m.body("rod", ["C", "B"], length="rod")
    m.body("rocker", ["D", "B"], length=0.5)
    m.joint("G", "P", ["frame", "slider"], at="C", through="A", axis=[1, 0])
    for name, bodies in {"C": ["slider", "rod"], "B": ["rod", "rocker"], "D": ["frame", "rocker"]}.items():
        m.joint(name, "R", bodies, at=name)
    m.driver("s", joint="G", displacement="0.1 + 0.6*min(t, 0.5)")
    m.simulation.update(stop=1, step=0.01)
    rods = [0.5, 0.52]
    found = sweep(m.data(), "slider", None, {"rod": np.array(rods)}, ["max(B.x)", "min(C.x)"], np.array(times)).found
    for k, rod in enumerate(rods):
        points = m.run(times=times, rod=rod).points
        assert found["max(B.x)"][k] == pytest.approx(points["B"].position[:, 0].max(), abs=1e-12)
        assert found["min(C.x)"][k] == pytest.approx(points["C"].position[:, 0].min(), abs=1e-12)
        assert points["C"].position[0, 0] == pytest.approx(0.4, abs=1e-12)
