"""Hostile input: files, options, paths and arguments that no sane user gives end in a message and its exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assurgent
from assurgent import AssemblyError, InputError, Mechanism
from assurgent.cli.commands import main
from assurgent.common.files import write_whole
from assurgent.runtime import machine_code
from fuzz import hostile

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
INPUTS = 100  # of fuzz.hostile, whose first 10,000 are run by `make fuzz-input`
posix = pytest.mark.skipif(os.name != "posix", reason="pipes and devices are files on POSIX systems")


@posix
def test_hostile_inputs(tmp_path: Path) -> None:
    faults = {}
    for number in range(INPUTS):
        found = hostile.trial(hostile.cases.case(1, number), tmp_path)
        if found["faults"]:
            faults[number] = found["faults"], found["said"][-500:]
    assert faults == {}


@posix
def test_results_are_whole_whenever_their_writer_is_killed() -> None:
    command = [sys.executable, "-m", "fuzz.hostile_kill", "--kills", "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("4 killed, 0 torn") == 6


# ---- files to read --------------------------------------------------------------------------------------------------
@posix
@pytest.mark.parametrize("name", ["/dev/zero", "/dev/full", "pipe", "folder", "loop", "a" * 300, "x\0y", ""])
@pytest.mark.parametrize("command", ["run", "structure", "simulate", "generate"])
def test_what_is_no_plain_file_is_not_read(
    name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("folder").mkdir()
    Path("loop").symlink_to("loop")
    assert main([command, name]) == 2
    said = capsys.readouterr().err
    assert "cannot be read" in said or "is no path" in said


@posix
def test_table_that_is_a_device(tmp_path: Path) -> None:
    m = Mechanism.load(EXAMPLES / "four-bar.toml")
    (m.drivers["theta"]).pop("angle")
    m.drivers["theta"]["table"] = "/dev/zero"
    with pytest.raises(InputError, match="it is no plain file"):
        m.model()


def test_table_whose_slopes_are_not_finite(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("".join(f"{k}e-300,{(-1) ** k}e300\n" for k in range(5)))
    m = Mechanism.load(EXAMPLES / "four-bar.toml")
    m.folder = tmp_path
    m.drivers["theta"] = {"joint": m.drivers["theta"]["joint"], "table": "x.csv"}
    with pytest.raises(InputError, match="no smooth curve passes"):
        m.model()


# ---- files to write -------------------------------------------------------------------------------------------------
@posix
@pytest.mark.parametrize("name", ["pipe.csv", "link.csv", "folder.csv", "a" * 300 + ".csv", "x\0.csv", "none/x.csv"])
def test_results_take_the_place_of_plain_files_only(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.csv")
    Path("link.csv").symlink_to("pipe.csv")
    Path("folder.csv").mkdir()
    before = sorted(tmp_path.rglob("*"))
    assert main(["run", str(EXAMPLES / "four-bar.toml"), "--at", "0", "-o", name]) == 2
    assert "assurgent:" in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before
    with pytest.raises(InputError):
        Mechanism.load(EXAMPLES / "four-bar.toml").save(name)


@posix
def test_results_go_where_a_link_leads_and_names_may_be_long(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    old, link = tmp_path / "far" / "old.csv", tmp_path / "link.csv"
    old.write_text("old")
    link.symlink_to(old)
    results = Mechanism.load(EXAMPLES / "four-bar.toml").run(times=[0, 0.1])
    results.save(link)
    assert link.is_symlink()
    assert old.read_text().startswith("t,")
    assert results.save(tmp_path / ("a" * 251 + ".csv")).is_file()


@pytest.mark.parametrize("ending", [".csv", ".json", ".npz", ".parquet", ".nc", ".svg", ".html", ".pdf"])
def test_full_disk_leaves_the_old_file(ending: str, tmp_path: Path) -> None:
    command = {".svg": "animate", ".html": "animate", ".pdf": "plot"}.get(ending, "run")
    plain = (EXAMPLES / "four-bar.toml").read_bytes()
    files = {"m.toml": plain, f"old{ending}": hostile.cases.OLD}
    case = hostile.cases.Case("", [command, "m.toml", "--at", "0,0.1", "-o", f"old{ending}"], files, room=10)
    found = hostile.trial(case, tmp_path)
    assert found["faults"] == []
    assert found["code"] == 2
    assert "cannot be written" in found["said"]


def test_full_disk_of_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mechanism that needs a new type, which finds no room."""
    monkeypatch.setenv("ASSURGENT_CACHE", str(tmp_path / "cache"))
    specification = (ROOT / "codegen" / "groups" / "p.toml").read_text("utf-8").replace('"P"', '"slide"', 1)
    (tmp_path / "folder").mkdir()
    case = hostile.cases.Case("", ["generate", "s.toml"], {"s.toml": specification.encode()}, room=100)
    found = hostile.trial(case, tmp_path / "folder")
    assert found["faults"] == []
    assert "cannot be written" in found["said"]


def test_machine_code_that_finds_no_room_is_used_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba import njit
    from numba.core.caching import IndexDataCacheFile

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    machine_code.forgive_damage()
    monkeypatch.setattr(IndexDataCacheFile, "save", full)
    assert njit(cache=True)(_twice)(3) == 6


def _twice(x: int) -> int:
    return 2 * x


def test_nothing_is_left_of_a_file_that_could_not_be_written(tmp_path: Path) -> None:
    def broken(part: Path) -> None:
        part.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="No space left"):
        write_whole(tmp_path / "x.csv", broken)
    assert list(tmp_path.iterdir()) == []


# ---- standard output ------------------------------------------------------------------------------------------------
@posix
@pytest.mark.parametrize("command", [["types"], ["types", "--json"], ["--version"]])
def test_output_that_nobody_takes(command: list[str]) -> None:
    program = [sys.executable, "-m", "assurgent", *command]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "the output cannot be written: No space left on device" in done.stderr
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(program, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


# ---- Python ---------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def four_bar() -> Mechanism:
    m = Mechanism.load(EXAMPLES / "four-bar.toml")
    m.parameter("a", 0.1)
    m.bodies["crank"]["length"] = "a"
    return m


TIMES: tuple[Any, ...] = (
    *("abc", ["a"], [[0, 1]], [], [1, 0], [0, 0], [0, np.nan], [0, np.inf], 5, {"a": 1}, [None], [1j], [10**400]),
    *(object(), "0", np.zeros((1, 1)), [-1, 0], [[0], [1, 2]]),
)
VALUES: tuple[Any, ...] = ("x", None, [1, 2], np.nan, np.inf, 10**400, 1j, {}, object(), np.ones(2), True)


@pytest.mark.parametrize("method", ["run", "inverse", "simulate", "compile"])
def test_times_that_are_none(four_bar: Mechanism, method: str) -> None:
    for times in TIMES:
        with pytest.raises(InputError, match="times: "):
            getattr(four_bar, method)(times=times)


@pytest.mark.parametrize("method", ["run", "inverse", "simulate"])
def test_methods_and_settings_that_are_none(four_bar: Mechanism, method: str) -> None:
    for name in ("x", "", 5, [], {}, True):
        with pytest.raises(InputError, match="method"):
            getattr(four_bar, method)(times=[0, 0.1], method=name)
    for value in VALUES:
        with pytest.raises(InputError):
            getattr(four_bar, method)(times=[0, 0.1], a=value)
    with pytest.raises(InputError, match="there is no parameter"):
        getattr(four_bar, method)(times=[0, 0.1], none=1.0)


def test_designs_that_are_none(four_bar: Mechanism) -> None:
    c = four_bar.compile(times=[0, 0.1], points=["C"])
    for value in VALUES:
        for asked in (c, c.sensitivities):
            with pytest.raises((InputError, AssemblyError)):
                asked(a=value)
    with pytest.raises(InputError, match="one number for each parameter"):
        c.sensitivities(a=np.array([0.1, 0.11]))  # wrote beyond its arrays once
    values: tuple[Any, ...] = ([[1, 2]], ["x"], 1j, [[1], [1, 2]])
    for designs in ([], None, 5, "x", {"none": [1]}, *({"a": value} for value in values)):
        with pytest.raises(InputError):
            c.batch(designs)
    for threads in (0, -1, "2", None, 1.5, [], True):
        with pytest.raises(InputError, match="threads"):
            c.batch({"a": [0.1, 0.11]}, threads=threads)
        with pytest.raises(InputError, match="threads"):
            four_bar.run(times=[0, 0.1], threads=threads)
    assert (c.batch({"a": [0.1, 0.11]}, threads=10**6).status == 0).all()
    with pytest.raises(InputError, match="orders"):
        c.sensitivities(orders=2)
    for table in ("points", "bodies", "joints", "parameters"):
        for names in ("x", 5, [5], [None], [[]], ["none"]):
            with pytest.raises(InputError):
                four_bar.compile(times=[0, 0.1], **{table: names})


def test_pictures_of_what_is_none(four_bar: Mechanism, tmp_path: Path) -> None:
    results = four_bar.run(times=[0, 0.1])
    for value in (0, -1, "x", np.nan, np.inf, [], None):
        with pytest.raises(InputError, match="animation: fps"):
            four_bar.animate(results, tmp_path / "x.svg", fps=value)
        if value is not None:
            with pytest.raises(InputError, match="animation: seconds"):
                four_bar.animate(results, tmp_path / "x.svg", seconds=value)
    for names in ("x", 5, [5], ["none"]):
        calls: tuple[Callable[[], object], ...] = (
            lambda names=names: four_bar.plot(results, names=names),
            lambda names=names: four_bar.animate(results, tmp_path / "x.svg", trace=names),
            lambda names=names: four_bar.animate(results, tmp_path / "x.svg", vectors=names),
        )
        for call in calls:
            with pytest.raises(InputError):
                call()
    for other in (None, 5, [1], ""):
        with pytest.raises(InputError, match="results are what run"):
            four_bar.plot(other)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="results are what run"):
            four_bar.animate(other, tmp_path / "x.svg")  # type: ignore[arg-type]
    assert four_bar.animate(results, tmp_path / "x.svg", fps=1e308, seconds=1e300).is_file()


def test_names_that_are_none() -> None:
    for name in (5, None, [1], "", "\0", "a" * 300):
        with pytest.raises(InputError, match="there is no group type"):
            assurgent.load(name)  # type: ignore[arg-type]
    for name in ("", ".", "none.toml", "\0"):
        with pytest.raises(InputError):
            assurgent.generate(name)
    m = Mechanism.load(EXAMPLES / "four-bar.toml")
    for field in ("name", "space"):
        held = getattr(m, field)
        for value in (None, 5, [1], np.array([1, 2])):
            setattr(m, field, value)
            with pytest.raises(InputError):
                m.run(times=[0])
        setattr(m, field, held)


# ---- numbers out of all proportion ----------------------------------------------------------------------------------
@pytest.mark.parametrize("time", [1e9, 1e300])
def test_a_time_beyond_all_inner_steps(time: float) -> None:
    """Fifty million strokes and more lie before it; the number of steps for them is bounded, or no whole number."""
    with pytest.raises(InputError, match="more motion than can be followed"):
        Mechanism.load(EXAMPLES / "scissor-lift.toml").run(times=[0, time])


def test_an_option_whose_value_is_the_end_of_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(EXAMPLES / "four-bar.toml"), "--out=--"]) == 2
    assert "--out: -- is no value" in capsys.readouterr().err


def test_names_that_are_none_leave_no_file(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    assert main(["run", str(EXAMPLES / "four-bar.toml"), "--at", "0,0.1", "--names", "nobody", "-o", str(target)]) == 2
    assert not target.exists()


def test_a_rod_of_no_length_beside_the_others() -> None:
    m = Mechanism.load(EXAMPLES / "rssr.toml")
    m.bodies["rocker"]["length"] = 1.8e29
    with pytest.raises((InputError, AssemblyError)):
        m.run(times=[0])


def test_steps_are_not_halved_without_end() -> None:
    """Ends of a rod that are lost in the rounding of its length: no step is short enough for a smooth motion."""
    m = Mechanism.load(ROOT / "tests" / "data" / "mechanisms" / "invariance-platform.toml")
    m.points["b2"] = [5.4e9, 0.8]
    with pytest.raises(AssemblyError):
        m.run(times=[0, 0.01, 0.02])


def test_a_system_that_cannot_even_begin() -> None:
    """One system for all groups, with a length beside which the others are rounding: no step is solved."""
    m = Mechanism.load(ROOT / "tests" / "data" / "mechanisms" / "two-driven-pins.toml")
    m.points["D"] = [4000000001.0, 2.5]
    try:
        m.run(times=[0, 0.01, 0.02], method="global")
    except AssemblyError as error:
        assert "group" in str(error)  # noqa: PT017 - it may also be solved, which rounding decides


def test_equilibrium_under_a_force_without_a_value() -> None:
    m = Mechanism.load(EXAMPLES / "dynamics" / "sprung-four-bar.toml")
    body, point = next((n, b["points"][0]) for n, b in m.bodies.items() if n != "frame")
    m.force("push", body=body, point=point, force=["1/t", 0])
    with pytest.raises(InputError, match="push"):
        m.equilibrium()


def test_a_cam_whose_outline_has_no_square() -> None:
    """It is closed all the same: the follower stands a radius below the centre of the disc."""
    m = Mechanism.load(EXAMPLES / "cam-follower.toml")
    m.joints["C"]["profile"] = "floor(1e300)"
    assert m.run(times=[0]).points["F"].position[0] == pytest.approx([0, -1e300], rel=1e-12)


@pytest.mark.parametrize("number", [-1e308, "1e101", 10**300, 1e100])
def test_numbers_whose_squares_are_none(number: Any) -> None:
    m = Mechanism.load(ROOT / "tests" / "data" / "mechanisms" / "wedge.toml")
    m.points["V"] = [number, 0.4]
    if number == 1e100:
        m.structure()
    else:
        with pytest.raises(InputError, match="is out of range - numbers go up to 1e"):
            m.structure()


@pytest.mark.parametrize("profile", ["0", "atan2(0, 0)", 0])
def test_a_cam_without_an_outline(profile: Any) -> None:
    m = Mechanism.load(EXAMPLES / "cam-follower.toml")
    m.joints["C"]["profile"] = profile
    with pytest.raises(InputError, match="the radius of a cam is greater than 0"):
        m.model()


def test_a_cam_that_turns_faster_than_angles_can_tell() -> None:
    m = Mechanism.load(EXAMPLES / "cam-follower.toml")
    with pytest.raises(InputError, match="more motion than can be followed"):
        m.run(times=[0, 0.01, 0.02], jerk=True, rpm=6e32)


def test_gears_whose_ratio_is_none() -> None:
    m = Mechanism.load(EXAMPLES / "planetary-gear.toml")
    name = next(n for n, joint in m.joints.items() if "radii" in joint)
    m.joints[name]["radii"] = [1, 5e-324]
    with pytest.raises(InputError, match="their ratio is beyond the range of numbers"):
        m.model()


def test_rows_of_a_table_too_close_together(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("0,0\n0.1,0.3\n1e200,0.6\n")
    m = Mechanism.load(EXAMPLES / "four-bar.toml")
    m.folder = tmp_path
    m.drivers["theta"] = {"joint": m.drivers["theta"]["joint"], "table": "x.csv"}
    with pytest.raises(InputError, match="no smooth curve passes"):
        m.model()


def test_assembly_modes_farther_away_than_numbers_go(four_bar: Mechanism) -> None:
    with pytest.raises(AssemblyError):
        four_bar.run(times=[0], a=1e99)


def test_all_series_of_a_mechanism_with_a_rod() -> None:
    """The turning of a rod is a series of designs like any other."""
    c = Mechanism.load(EXAMPLES / "rssr.toml").compile(times=[0, 0.1], parameters=["omega"])
    batch = c.batch({"omega": [6.0, 7.0]})
    assert (batch.status == 0).all()
    for i, omega in enumerate((6.0, 7.0)):
        alone = Mechanism.load(EXAMPLES / "rssr.toml").run(times=[0, 0.1], omega=omega)
        for name, body in alone.bodies.items():
            assert batch.bodies[name].rotation[i] == pytest.approx(body.rotation, abs=1e-12)


def test_a_distance_to_a_body_that_nothing_determines() -> None:
    m = Mechanism.load(EXAMPLES / "excavator.toml")
    del m.drivers["boom_cylinder"]
    assert m.structure().free
