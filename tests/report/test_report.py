"""The report of a mechanism: what it says agrees with the geometry; its page is self-contained, its markup its own."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from math import acos, asin, pi, sqrt
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import assurgent
from assurgent.cli.commands import main
from assurgent.mechanism.reader import load
from assurgent.report.content import Content, gather
from assurgent.report.document import write_report
from assurgent.report.latex import escaped, safe
from assurgent.report.mathml import mathml

EXAMPLES = Path(__file__).parents[2] / "examples"
SILENT = lambda _: None  # noqa: E731


def content(name: str, verification: bool = False) -> Content:
    return gather(load(EXAMPLES / f"{name}.toml", {}), verification, SILENT)


@pytest.fixture(scope="module")
def four_bar() -> Content:
    return content("four-bar")


def ranges(found: Content) -> dict[str, object]:
    assert found.cycle is not None
    return {r.joint: r for r in found.cycle.ranges}


# ---- what it says -------------------------------------------------------------------------------------------------
def test_a_rocker_turns_back_where_crank_and_coupler_are_in_line(four_bar: Content) -> None:
    a, b, c, d = 0.1, 0.3, 0.28, 0.35
    found = ranges(four_bar)["D"]
    # in line, the distance from A to C is b + a or b - a; the rocker's angle at D follows by the law of cosines
    ends = sorted(pi - acos((c**2 + d**2 - e**2) / (2 * c * d)) for e in (b + a, b - a))
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-9)
    assert sorted(v for _, v in found.reversals) == pytest.approx(ends, abs=1e-9)
    for t, _ in found.reversals:  # the rate there, by a run at that instant
        series = assurgent.Mechanism.load(EXAMPLES / "four-bar.toml").run([0.0, t]).joints["D"]
        assert abs(series.rate[1]) < 1e-6
    assert ranges(four_bar)["A"].whole_turns
    assert ranges(four_bar)["A"].driven
    assert not found.whole_turns


def test_transmission_angles_are_those_of_the_law_of_cosines(four_bar: Content) -> None:
    a, b, c, d = 0.1, 0.3, 0.28, 0.35
    assert four_bar.cycle is not None
    (dyad,) = four_bar.cycle.groups  # the crank has no dead point
    mu = [acos((b**2 + c**2 - e**2) / (2 * b * c)) for e in (d - a, d + a)]
    acute = min(min(m, pi - m) for m in mu)
    assert dyad.transmission is not None
    assert dyad.transmission.min() == pytest.approx(acute, abs=1e-9)
    assert dyad.least == pytest.approx(np.sin(acute), abs=1e-9)


def test_the_slider_crank_has_its_stroke_and_its_transmission_angle() -> None:
    r, rod_length, e = 0.04, 0.14, 0.005
    found = content("slider-crank")
    stroke = sqrt((rod_length + r) ** 2 - e**2) - sqrt((rod_length - r) ** 2 - e**2)
    assert ranges(found)["G"].extent == pytest.approx(stroke, rel=1e-9)
    assert len(ranges(found)["G"].reversals) == 4  # two turns
    assert found.cycle is not None
    (dyad,) = found.cycle.groups
    assert dyad.type == "RRP"
    assert dyad.transmission is not None
    # the rod leans most where the crank is across the guide: its angle with the guide's normal is least there
    assert dyad.transmission.min() == pytest.approx(pi / 2 - asin((r + e) / rod_length), abs=1e-4)
    results = found.shown
    rod = results.points["B"].position - results.points["A"].position
    lean = np.abs(rod[:, 0]) / np.hypot(*rod.T)  # sine of the angle between rod and normal
    inside = np.isin(dyad.time, results.time)
    assert np.allclose(dyad.conditioning[inside], lean, atol=1e-12)


def test_joints_do_not_turn_back_where_the_driver_does(tmp_path: Path) -> None:
    text = (EXAMPLES / "four-bar.toml").read_text("utf-8")
    path = tmp_path / "swinging.toml"
    path.write_text(text.replace('"2*pi*rpm/60*t"', '"1.2 + 0.3*sin(2*pi*t)"'), "utf-8")
    found = ranges(gather(load(path, {}), False, SILENT))
    assert found["A"].extent == pytest.approx(0.6, abs=1e-9)
    assert found["B"].reversals == ()  # it turns with the crank throughout


@pytest.mark.parametrize(("name", "count"), [("jansen-leg", "3 \\cdot 7 - (2 \\cdot 10) = 1"), ("rssr", "= 1")])
def test_mobility_by_count_is_that_of_the_rank(name: str, count: str) -> None:
    found = content(name)
    assert found.mobility.latex.endswith(count)
    assert found.mobility.count == found.mobility.rank == found.structure.mobility


def test_extremes_of_a_crank_pin(four_bar: Content) -> None:
    (pin,) = [e for e in four_bar.extremes if e.point == "B"]
    assert pin.ranges[0] == pytest.approx((-0.1, 0.1), abs=1e-12)
    assert pin.speed == pytest.approx(0.1 * 2 * pi)
    assert pin.acceleration == pytest.approx(0.1 * 4 * pi**2)


# ---- the page -----------------------------------------------------------------------------------------------------
class Page(HTMLParser):
    """Notes tags, attributes and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attributes:
            if name in ("href", "src", "xlink:href"):
                self.links.append(value or "")
            elif name == "id":
                self.ids.append(value or "")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_needs_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.html"
    assert main(["report", str(EXAMPLES / "four-bar.toml"), "-o", str(path)]) == 0
    assert "wrote" in capsys.readouterr().out
    text = path.read_text("utf-8")
    page = Page(text)
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert all(link.startswith("#") for link in page.links)
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert "url(http" not in text
    assert "@import" not in text
    words = " ".join("".join(page.words).split())
    for part in ("Structural analysis step by step", "structural group", "Eq. 40, corrected", "Passed", "102°"):
        assert part in words
    assert page.tags.count("svg") == 5
    for formula in re.findall(r"<math.*?</math>", text, re.DOTALL):
        ElementTree.fromstring(formula)
    assert page.tags.count("math") > 30


def test_a_name_stays_a_name(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>&lt;b&gt; $x_1$ \\input{/etc/passwd} {{ 7*7 }} <<8*8>> %} Größe 中 π"
    m = assurgent.Mechanism.load(EXAMPLES / "four-bar.toml")
    m.name = hostile
    m.points["$C<i>"] = m.points.pop("C")
    m.bodies["coupler"]["points"] = ["B", "$C<i>", "P"]
    m.bodies["coupler"]["local"] = {"B": [0, 0], "$C<i>": [0.3, 0], "P": [0.15, 0.12]}
    m.bodies["rocker"]["points"] = ["D", "$C<i>"]
    m.joints["C"]["at"] = "$C<i>"
    page = m.report(tmp_path / "report.html", verification=False)
    found = Page(page.read_text("utf-8"))
    assert not {"script", "b", "i"} & set(found.tags)
    words = "".join(found.words)
    assert hostile in words
    assert "$C<i>" in words
    document = m.report(tmp_path / "report.tex", verification=False).read_text("utf-8")
    assert "\\input{/etc" not in document
    assert "[U+4E2D]" in document
    _compiled(tmp_path / "report.tex")


@pytest.mark.parametrize("name", ["jansen-leg", "stewart-platform"])
def test_larger_mechanisms(name: str, tmp_path: Path) -> None:
    found = write_report(load(EXAMPLES / f"{name}.toml", {}), tmp_path / "page.html", verification=False)
    page = Page((tmp_path / "page.html").read_text("utf-8"))
    assert page.tags.count("h3") == len(found.equations) > 0
    assert page.tags.count("math") >= 10


def test_a_motion_that_ends_early_is_reported_as_far_as_it_came(tmp_path: Path) -> None:
    m = assurgent.Mechanism.load(EXAMPLES / "four-bar.toml")
    m.bodies["rocker"]["length"] = 0.12
    m.points["C"] = [0.3, 0.11]
    m.drivers["theta"]["angle"] = "2*pi*t"
    path = tmp_path / "report.html"
    with pytest.raises(assurgent.AssemblyError):
        m.report(path, verification=False)
    assert "The motion ends early" in path.read_text("utf-8")


def test_without_drivers_the_page_shows_what_simulate_finds(tmp_path: Path) -> None:
    m = assurgent.Mechanism.load(EXAMPLES / "four-bar.toml")
    m.drivers.clear()
    m.gravity = [0, -9.81]
    m.bodies["coupler"].update(mass=1.0, inertia=0.01)
    m.simulation.update(stop=0.2, step=0.05)
    text = m.report(tmp_path / "report.html").read_text("utf-8")
    assert "need a driver for every motion" in text
    assert "can still move" in text


def test_wrong_targets_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(EXAMPLES / "four-bar.toml")
    assert main(["report", file, "-o", str(tmp_path / "report.docx")]) == 2
    assert ".html .tex" in capsys.readouterr().err.replace("\n", " ")
    assert main(["report", file, "-o", str(tmp_path / "nowhere" / "report.html")]) == 2


# ---- LaTeX and MathML ---------------------------------------------------------------------------------------------
def _compiled(path: Path) -> None:
    engine = shutil.which("pdflatex") or shutil.which("tectonic")
    if engine is None:
        pytest.skip("NO LATEX ENGINE on this machine: the report was not compiled (apt install texlive-latex-base)")
    options = ["-interaction=nonstopmode", "-halt-on-error"] if engine.endswith("pdflatex") else []
    done = subprocess.run([engine, *options, path.name], cwd=path.parent, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-2000:]
    assert path.with_suffix(".pdf").stat().st_size > 10_000


def test_the_document_compiles(tmp_path: Path) -> None:
    path = tmp_path / "report.tex"
    assert main(["report", str(EXAMPLES / "jansen-leg.toml"), "-o", str(path), "--no-verification"]) == 0
    assert {p.name for p in (tmp_path / "report-figures").iterdir()} == {
        "drawing.pdf", "motion.pdf", "conditioning.pdf", "kinematic.pdf", "structural.pdf",
    }  # fmt: skip
    _compiled(path)


def test_words_are_no_commands() -> None:
    assert escaped(r"\a{b}_$%&#~^") == (r"\textbackslash{}a\{b\}\_\$\%\&\#\textasciitilde{}\textasciicircum{}")
    assert safe("φ̇ ä 中") == r"\ensuremath{\dot{\varphi}} ä [U+4E2D]"


def test_indices_of_several_letters_are_words() -> None:
    assert "<mtext>crank</mtext>" in mathml("x_{crank}")
    assert "&lt;b&gt;" in mathml(r"\mathrm{<b>}")
