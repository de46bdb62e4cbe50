"""The commands plot and animate with forces and simulated motions, and the small mistakes of their users."""

from __future__ import annotations

from pathlib import Path

import pytest

from assurgent.cli.commands import main

ROOT = Path(__file__).parents[2]
SPRUNG = ROOT / "examples" / "dynamics" / "sprung-four-bar.toml"
CRANK = ROOT / "examples" / "dynamics" / "yime-slider-crank.toml"
TIMES = ("--at", "0,0.1,0.2,0.3")


def said(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    return " ".join((captured.out + captured.err).split())


@pytest.mark.parametrize(
    "options", [["--reactions"], ["--reactions", "A,D"], ["--energy"], ["--reactions", "--energy"]]
)
def test_plot_of_a_simulated_mechanism(options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "x.png"
    assert main(["plot", str(SPRUNG), *options, *TIMES, "-o", str(out)]) == 0
    assert out.read_bytes().startswith(b"\x89PNG")
    assert "`assurgent simulate`" in said(capsys)


def test_the_file_may_stand_behind_the_option(tmp_path: Path) -> None:
    out = tmp_path / "x.svg"
    assert main(["plot", "--reactions", str(CRANK), *TIMES, "-o", str(out)]) == 0
    assert "J4" in out.read_text("utf-8") or out.stat().st_size > 10_000  # letters may be outlines


@pytest.mark.parametrize("ending", [".gif", ".html", ".svg"])
def test_animate_with_forces(ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file in (SPRUNG, CRANK):
        out = tmp_path / f"{file.stem}{ending}"
        assert main(["animate", str(file), "--forces", *TIMES, "--fps", "3", "--seconds", "1", "-o", str(out)]) == 0
        assert out.stat().st_size > 1000
    assert said(capsys).count("shown is what `assurgent simulate` finds") == 1  # the crank has its driver


def test_a_free_mechanism_without_masses_is_told_both_remedies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "\n".join(
        line for line in SPRUNG.read_text("utf-8").splitlines() if not line.startswith(("mass", "inertia"))
    )
    (tmp_path / "bare.toml").write_text(text, "utf-8")
    assert main(["animate", str(tmp_path / "bare.toml"), "-o", str(tmp_path / "x.svg")]) == 2
    told = said(capsys)
    assert "drive" in told
    assert "`mass`" in told
    assert not (tmp_path / "x.svg").exists()


def test_unknown_names_are_told_with_the_known_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command, option in (("animate", "--trace"), ("plot", "--names")):
        out = tmp_path / ("x.svg" if command == "animate" else "x.png")
        assert main([command, str(CRANK), option, "QQ", *TIMES, "-o", str(out)]) == 2
        told = said(capsys)
        assert "'QQ' is no point" in told
        assert "there are" in told
        assert "B, C" in told
    assert main(["plot", str(CRANK), "--reactions", "J11", *TIMES, "-o", str(tmp_path / "x.png")]) == 2
    assert "did you mean 'J1'" in said(capsys)


def test_times_below_zero_need_no_equals_sign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "early.toml"
    file.write_text(CRANK.read_text("utf-8").replace("[simulation]\n", "[simulation]\nstart = -1\n"), "utf-8")
    for command in ("run", "inverse"):
        assert main([command, str(file), "--at", "-1,0,.5"]) == 0
        assert "3 times" in said(capsys)
    assert main(["run", str(file), "--at", "-.5,0"]) == 0
    assert main(["run", str(file), "--at", "--jerk"]) == 2  # an option is no time


def test_help_says_how_long_a_film_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["animate", "--help"])
    assert "2 to 20 s" in said(capsys)


def test_plot_of_named_quantities_over_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A joint with the name of a point, sizes, units, and an angle on the horizontal axis."""
    four_bar = str(ROOT / "examples" / "four-bar.toml")
    out = tmp_path / "x.svg"
    names = ["--names", "joint.C,P,crank.omega", "--over", "joint.A", "--unit", "mm,deg", "--magnitude"]
    assert main(["plot", four_bar, *names, *TIMES, "-o", str(out)]) == 0
    assert out.stat().st_size > 10_000
    assert main(["plot", four_bar, "--names", "joint.Q", *TIMES, "-o", str(tmp_path / "y.svg")]) == 2
    assert "'joint.Q' is no point" in said(capsys)
    assert main(["plot", four_bar, "--over", "P", *TIMES, "-o", str(tmp_path / "y.svg")]) == 2
    assert "several components" in said(capsys)
    assert main(["run", four_bar, "--names", "joint.C", "--unit", "deg", *TIMES]) == 0
    assert "joint.C angle deg" in said(capsys)
    assert not (tmp_path / "y.svg").exists()
