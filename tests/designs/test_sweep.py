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


def test_numbers_are_those_of_single_runs() -> None:
    designs = grid(["a=1.5:7:5", "c=4.5:5.5:2"])
    found = sweep(data(), "four-bar", None, designs, NUMBERS, TIMES, threads=2)
    assert found is not None
    m = Mechanism.load(FILE)
    for k in range(10):
        design = {n: float(v[k]) for n, v in designs.items()}
        if found.status[k] != 0:
            assert np.isnan(found.found["length(P)"][k])
            assert found.found["turn"][k] == 0
            continue
        r = m.run(TIMES, **design)
        P, angle = r.points["P"].position, r.joints["D"].angle
        assert angle is not None
        B, C, D = (r.points[n].position for n in "BCD")
        u, v = B - C, D - C
        sine = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) / np.hypot(*u.T) / np.hypot(*v.T)
        expected = [P[:, 1].max(), P[:, 0].min(), np.ptp(angle), np.hypot(*np.diff(P, axis=0).T).sum(), sine.min(), 1.0]
        assert [found.found[n][k] for n in NUMBERS] == pytest.approx(expected, rel=1e-12)
    assert 0 < np.sum(found.status == 0) < 10  # some do not turn


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


def test_a_killed_sweep_goes_on_and_has_the_same_bytes(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole.nc", tmp_path / "killed.nc"
    assert main([*COMMAND, "-o", str(whole)]) == 0
    parts = tmp_path / ".killed.nc.parts"
    process = subprocess.Popen([sys.executable, "-m", "assurgent", *COMMAND, "-o", str(killed)])
    began = time.monotonic()
    while not list(parts.glob("block-*.npz")) and process.poll() is None and time.monotonic() - began < 60:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    if not killed.exists():  # it may have been quicker
        before = {p.name: p.stat().st_mtime_ns for p in parts.glob("block-*.npz")}
        assert before
    assert main([*COMMAND, "-o", str(killed)]) == 0
    assert killed.read_bytes() == whole.read_bytes()
    assert not parts.exists()


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
