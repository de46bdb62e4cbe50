"""`assurgent bench`: what it prints fits, what it writes has the promised keys; never times."""

import io
import json
import re

import numpy as np
import pytest
from rich.console import Console

from assurgent.bench import claims, peers, startup
from assurgent.bench import printed_tables as report
from assurgent.bench.competitors import Row
from assurgent.bench.data_files import FOLDER
from assurgent.cli.commands import main
from assurgent.facade import Mechanism

KEYS = {"fill", "mod_td", "mod_3ot", "global", "global_sparse", "global_sparse_default"}


def _bench(*options):
    return main(["bench", "--steps", "60", "--rounds", "1", *options])


def test_planar_writes_json_pictures_and_a_table_that_fits(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = tmp_path / "out.json"
    assert (
        _bench("--case", "planar", "--sizes", "4,6", "--json", str(out), "--plots", str(tmp_path / "p"), "--no-peers")
        == 0
    )
    data = json.loads(out.read_text("utf-8"))
    rows = data["planar"]
    assert [row["nEq"] for row in rows] == [4, 6]
    for row in rows:
        assert row.keys() >= KEYS
        assert row["error"].keys() >= KEYS - {"fill"}
    assert [row["dyads"] for row in data["growth"]] == [10, 30, 100, 300, 1000]
    assert {p.name for p in (tmp_path / "p").iterdir()} == {"figure7-planar.png", "growth.png"}
    text = capsys.readouterr().out
    assert "…" not in text  # nothing cut
    assert max(map(len, text.splitlines())) <= 80
    for head in ("TD", "3OT", "SP def", "GLOB", "holds", "exponent"):
        assert head in text


def test_spatial_writes_three_speeds(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = tmp_path / "out.json"
    assert _bench("--case", "spatial", "--sizes", "14", "--json", str(out), "--plots", str(tmp_path)) == 0
    rows = json.loads(out.read_text("utf-8"))["spatial"]
    assert [(row["nEq"], row["speed"]) for row in rows] == [(14, 34.9e-5), (14, 34.9e-2), (14, 34.9)]
    assert all(row["iterations"]["global_sparse"] >= 1 for row in rows)
    assert rows[-1]["profile"].keys() == {"GLOB_SP"}
    names = {p.name for p in tmp_path.glob("*.png")}
    assert names == {"table4-spatial.png", "figure8-accuracy.png", "figure9-stages.png"}
    text = capsys.readouterr().out
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_further_case(tmp_path, capsys):
    out = tmp_path / "out.json"
    assert _bench("--case", "zoo", "--sizes", "12", "--json", str(out)) == 0
    (row,) = json.loads(out.read_text("utf-8"))["zoo"]
    assert row["nEq"] == 12
    assert "RPP" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--case", "planar", "--sizes", "23"), "2 + 2k"),
        (("--case", "stewart", "--sizes", "9"), "one size"),
        (("--case", "planer"), "did you mean 'planar'"),
        (("--case", "zoo", "--json", "/nowhere/at/all/out.json"), "does not exist"),
    ],
)
def test_wrong_options(options, told, capsys):
    assert _bench(*options) == 2
    assert told in re.sub(r"\s+", " ", capsys.readouterr().err)


def _row():
    seconds = {"fill": 1.0, "mod_td": 2.0, "mod_3ot": 3.0, "global_sparse": 100.0, "global_sparse_default": 200.0}
    return Row(202, 100, seconds, {})


def test_claims_tell_what_fails():
    row = _row()
    row.peers = {"mod_td": 2.0, "pylinkage": 30.0}
    found = {c.text: c.holds for c in claims.planar([row])}
    assert found["nEq 202: MOD_TD / fill"] is False
    assert found["nEq 202: GLOB_SP / MOD_TD"] is True
    assert found["nEq 202: pylinkage / MOD_TD"] is False
    assert str(claims.planar([row])[0]).startswith("FAILS")


def test_peers_do_not_give_our_method_more_rounds_than_its_opponents(monkeypatch):
    monkeypatch.setattr(peers, "PEERS", ())
    row = _row()
    row.groups = 2
    before = dict(row.seconds)
    peers.contest(row, 60, 1)
    assert row.seconds == before
    assert set(row.peers) == {"mod_td"}


def test_growth_claims_bound_the_exponent():
    linear, cubic = ({k: {"mod_td": k**p, "mod_3ot": k**p} for k in (1, 10, 100)} for p in (1.0, 3.0))
    assert all(c.holds for c in claims.growing(linear))
    assert not all(c.holds for c in claims.growing(cubic))


@pytest.mark.parametrize("name", ["pylinkage", "mujoco", "exudyn"])
def test_peers_move_the_same_chain(name):
    pytest.importorskip(name)
    found, _ = peers.prepared(2)
    (ready,) = (r for r in found if r.peer.name == name)
    # rates of the two that integrate have their integrators' errors at steps of ten degrees
    limits = {"pylinkage": (1e-12, 1e-12, 1e-12), "mujoco": (1e-3, 2e-2, 5e-2), "exudyn": (1e-9, 5e-2, 3e-1)}[name]
    assert all(e < limit for e, limit in zip(ready.errors, limits, strict=True))


def test_peers_that_are_missing_are_named(monkeypatch):
    monkeypatch.setattr(peers, "PEERS", (peers.Peer("nobody", "no_such_package_at_all", peers.pylinkage),))
    ready, missing = peers.prepared(1)
    assert ready == []
    assert missing == ['nobody is not installed: pip install ".[bench]" in the folder of the project']


def test_without_peers_the_hint_is_whole_and_no_empty_table_stands(monkeypatch):
    monkeypatch.setattr(peers, "PEERS", (peers.Peer("nobody", "no_such_package_at_all", peers.pylinkage),))
    text = io.StringIO()
    report.show_peers(Console(file=text, width=100), [(None, [])], peers.prepared(1)[1], 10)
    assert text.getvalue() == 'nobody is not installed: pip install ".[bench]" in the folder of the project\n'


def test_peers_that_move_otherwise_are_not_timed(monkeypatch):
    pytest.importorskip("pylinkage")
    monkeypatch.setattr(peers, "AGREES", -1.0)
    ready, missing = peers.prepared(1)
    assert ready == []
    assert any("moves otherwise" in line for line in missing)


def test_cold_starts_leave_the_users_caches_alone(tmp_path):
    environment = startup.fresh(tmp_path)
    for name in ("NUMBA_CACHE_DIR", "ASSURGENT_CACHE", "ASSURGENT_DATA"):
        assert environment[name].startswith(str(tmp_path))


def test_stages_of_a_type():
    from io import StringIO

    from rich.console import Console

    waits = dict.fromkeys([startup.NUMBA, "run with that type, second time"], startup.Wait(10.25, 9.5))
    out = Console(file=StringIO(), width=80)
    report.show(out, startup.startup_table(waits))
    assert "…" not in out.file.getvalue()
    stages = startup.type_stages("R")
    assert {"derive", "positions", "kernels", "emit", "compile", "verify"} <= stages.keys()
    shown = startup.types_table({"R": stages})
    assert shown.row_count == 1


@pytest.mark.long
def test_startup_measures_all(capsys):
    assert main(["bench", "--startup"]) == 0
    text = capsys.readouterr().out
    for part in ("import numba", "caches empty", "new triad type", "compile"):
        assert part in text


def test_startup_mechanisms_run():
    from assurgent.mechanism.plans.planning import studied

    for name in ("four-bar", "triad-with-slider"):
        assert len(studied(Mechanism.load(FOLDER / f"{name}.toml").model()).groups) == 2


def test_machine_is_named():
    assert "Python" in report.machine()


def test_what_users_call_has_a_row_each_that_fits(tmp_path, capsys, monkeypatch):
    from assurgent.bench import users

    # the long ones are rows of their own
    monkeypatch.setattr(users, "_simulation", lambda outputs, rounds: iter(()))
    monkeypatch.setattr(users, "_long_run", lambda steps, rounds: users.Called("a run", why="not now"))
    monkeypatch.setenv("COLUMNS", "80")
    out = tmp_path / "out.json"
    assert _bench("--case", "users", "--json", str(out)) == 0
    rows = json.loads(out.read_text("utf-8"))["users"]
    assert all(("value" in row) != bool(row["why"]) for row in rows)  # a figure, or why there is none
    text = capsys.readouterr().out
    assert "What users call" in text
    assert "a run: not now" in text
    assert max(map(len, text.splitlines())) <= 80


def test_slider_crank_beside_kinepy_is_balanced():
    # efforts from the kinetic energy: the power of the drive is its rate, since nothing else does work
    times = np.linspace(0.0, 1.0, 2001)
    found = Mechanism.load(FOLDER / "slider-crank.toml").inverse(times=times)
    power = found.drivers["theta"].effort * 2 * np.pi
    rate = np.gradient(found.energy.kinetic, times)
    assert np.abs(power - rate)[5:-5].max() < 1e-4 * np.abs(power).max()  # second-order differences


@pytest.mark.long
def test_the_papers_tables_and_figures(tmp_path, capsys):
    rows = []
    for case, size, tables in (("planar", 22, ("Table 3, planar",)), ("spatial", 14, ("Table 4, sp", "Table 5, sp"))):
        out = tmp_path / f"{case}.json"
        assert (
            _bench("--paper", "--case", case, "--sizes", str(size), "--plots", str(tmp_path), "--json", str(out)) == 0
        )
        shown = capsys.readouterr().out
        assert all(table in shown for table in tables)
        rows += json.loads(out.read_text("utf-8"))[f"paper_{case}"]
    assert {p.name for p in tmp_path.glob("*.png")} == {"figure7.png", "figure8.png", "figure9.png"}
    assert [row["nEq"] for row in rows] == [22, 14, 14, 14]
    # every method finds the same motion; the paper's Newton ends at |Φ| of 4e-11 for rods of 6 m
    assert max(max(row["error"].values()) for row in rows) < 1e-9
    assert _bench("--paper", "--case", "zoo") == 2
    assert "planar and spatial" in capsys.readouterr().err


def test_parts_of_what_users_call(capsys):
    assert _bench("--case", "users", "runs") == 2
    assert "did you mean 'run'" in " ".join(capsys.readouterr().err.split())


@pytest.mark.long
def test_inverse_beside_busy_processors_is_measured():
    """The same calls as they are and with one BLAS thread; the busy processes end with it."""
    from assurgent.bench import busy

    ours, one = busy.inverse_beside(rounds=1, calls=1)
    assert ours > 0
    assert one > 0
    with pytest.raises(KeyError), busy.all_processors():
        raise KeyError
