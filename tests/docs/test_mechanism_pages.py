"""The pages about mechanisms say what is so: their files load, their programs print that, links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
import struct
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from assurgent.mechanism import formulas, joints, reader
from assurgent.mechanism.constraint_network import ROWS
from assurgent.mechanism.drivers import COORDINATES
from assurgent.mechanism.model import Model
from assurgent.mechanism.plans.planning import study
from assurgent.mechanism.toml_text import to_toml
from assurgent.motion.datasets import QUANTITIES
from assurgent.motion.kinematics import run
from assurgent.pictures.diagram import structural_diagram
from assurgent.runtime.time_functions import check_times

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FILE_PAGE = (DOCS / "mechanism-file.md").read_text("utf-8")
PAGES = [*sorted(DOCS.glob("*.md")), ROOT / "CHANGELOG.md"]
TOML = re.compile(r"```toml\n(.*?)```", re.DOTALL)
TABLE = re.compile(r"```csv (\S+)\n(.*?)```", re.DOTALL)
LARGEST_PICTURE = 60_000  # bytes: a page of some twenty pictures opens at once
ROUNDING = 1e-12  # m or rad, of mechanisms of the size of 1


def whole_files() -> list[str]:
    """Return every block of the page as a whole file: pieces go into the whole file above them."""
    found: list[str] = []
    above: dict[str, Any] = {}
    for text in TOML.findall(FILE_PAGE):
        data = tomllib.loads(text)
        if "format" in data:
            above = data
            found.append(text)
            continue
        tables = {key: value if key == "drivers" else {**above.get(key, {}), **value} for key, value in data.items()}
        found.append(to_toml({**above, **tables}))
    return found


FILES = whole_files()


def loaded(text: str, folder: Path) -> Model:
    for name, rows in TABLE.findall(FILE_PAGE):
        (folder / name).write_text(rows, "utf-8")
    return reader.loads(text, "page", folder=folder)


# ---- the mechanism file -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("text", FILES, ids=lambda text: tomllib.loads(text).get("name", "?"))
def test_every_file_of_the_page_is_determined(text: str, tmp_path: Path) -> None:
    model = loaded(text, tmp_path)
    structure = study(model)
    if model.orientations:  # the top on a ball
        assert structure.mobility == 3 * len(model.orientations)
        return
    if not model.drivers:  # the one for dynamics
        assert model.loads
        assert structure.mobility == len(model.initial) == len(model.actuators)
        return
    assert not structure.free
    assert not structure.redundant
    assert structure.mobility == structure.count == len(model.drivers)
    check_times(model, model.simulation.times())


def test_every_joint_and_every_driver_is_shown(tmp_path: Path) -> None:
    models = [loaded(text, tmp_path) for text in FILES]
    shown = {(m.space, j.kind) for m in models for j in m.joints.values()}
    known = {(space, kind) for kind, (spaces, _, _) in joints.KINDS.items() for space in spaces}
    assert known - shown == {("planar", "weld"), ("spatial", "weld")}  # welds are no joints of a model
    assert any(m.welds for m in models)
    drivers = [d for m in models for d in m.drivers.values()]
    assert {d.kind for d in drivers} == {"angle", "displacement", "distance", "turn", "coordinate"}
    driven = {m.joints[d.joint].kind for m in models for d in m.drivers.values() if d.joint is not None}
    assert driven >= set(COORDINATES) - {"slot"}
    assert any(d.motion.text.startswith("table") for d in drivers)


def test_the_limits_and_functions_of_the_page_are_those_of_the_program() -> None:
    assert f"{reader.MAX_BYTES:,} bytes" in FILE_PAGE
    assert f"{reader.MAX_TIMES:,}" in FILE_PAGE
    from assurgent.common import expressions

    assert f"{expressions.MAX_LENGTH:,} characters, {expressions.MAX_DEPTH} levels" in FILE_PAGE
    listed = re.search(r"and\s`(sin cos [a-z0-9 ]*)`", FILE_PAGE)
    assert listed is not None
    assert set(listed[1].split()) == set(formulas.KNOWN) - {"if"}


def test_what_the_page_says_of_whole_turns() -> None:
    def wheel(start: str) -> float:
        gear = """
        format = 1
        space = "planar"
        points = { A = [0, 0], B = [1, 0], C = [3, 0], D = [4, 0] }
        [bodies]
        frame = { points = ["A", "C"] }
        first = { points = ["A", "B"] }
        second = { points = ["C", "D"] }
        [joints]
        A = { type = "R", bodies = ["frame", "first"], at = "A" }
        C = { type = "R", bodies = ["frame", "second"], at = "C" }
        M = { type = "gear", bodies = ["first", "second"], ratio = 0.5 }
        [drivers]
        """
        text = "\n".join(line.strip() for line in gear.splitlines())
        model = reader.loads(f'{text}\ntheta = {{ joint = "A", angle = "{start} + 0*t" }}\n', "gear")
        return float(run(model, np.array([0.0])).results.bodies["second"].angle[0])

    assert wheel("-pi/2") == pytest.approx(-np.pi / 4, abs=ROUNDING)
    assert wheel("3*pi/2") == pytest.approx(-np.pi / 4, abs=ROUNDING)


def test_what_the_page_says_of_welds_and_assembly_modes(tmp_path: Path) -> None:
    by_name = {model.name: model for model in (loaded(text, tmp_path) for text in FILES)}
    welded = run(by_name["welded arm"], np.array([0.0, 0.3])).results
    assert welded.bodies["crank"].angle == pytest.approx([0.0, 0.3], abs=ROUNDING)
    assert welded.bodies["arm"].angle == pytest.approx([np.pi / 2, np.pi / 2 + 0.3], abs=ROUNDING)
    up = run(by_name["elbow up, elbow down"], np.array([0.0])).results.points["B"].position[0]
    other = next(text for text in FILES if "RRR_1 = 1" in text).replace("RRR_1 = 1", "RRR_1 = 2")
    down = run(reader.loads(other, "other"), np.array([0.0])).results.points["B"].position[0]
    assert up == pytest.approx([2, np.sqrt(5)], abs=ROUNDING)  # legs of 3 over a base of 4
    assert down == pytest.approx([2, -np.sqrt(5)], abs=ROUNDING)


# ---- results and structure ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("page", ["docs/results.md", "docs/structure.md"])
def test_page_prints_what_it_says(page: str, check_page: Callable[[str], None], monkeypatch: Any) -> None:
    monkeypatch.chdir(ROOT)
    check_page(page)


def test_the_results_page_names_all_diagnostics_columns_and_quantities() -> None:
    page = (DOCS / "results.md").read_text("utf-8")
    results = run(reader.load(ROOT / "examples" / "four-bar.toml"), np.array([0.0])).results
    keys = [*results.diagnostics, *results.diagnostics["groups"]["RRR_1"]]
    missing = [key for key in keys if f"`{key}`" not in page and f".{key}`" not in page and key != "groups"]
    assert not missing
    told = {variable for table, _, _, variable, _ in QUANTITIES if table in ("points", "bodies", "joints", "drivers")}
    told -= {"jerk", "driver_effort", "joint_displacement_rate", "joint_displacement_acceleration"}
    assert not [variable for variable in told if f"`{variable}`" not in page]
    for column in ("t", "crank.angle", "crank.omega", "crank.alpha", "joint.A", "joint.A.rate", "theta.value"):
        assert column in results.columns()
        assert f"`{column}`" in page


def test_the_structure_page_counts_as_the_program_does() -> None:
    page = (DOCS / "structure.md").read_text("utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("   |")]
    told = {
        space: {kind: int(number) for kind, number in zip(rows[0][1:], row[1:], strict=True) if number}
        for space, row in zip(("planar", "spatial"), rows[2:], strict=True)
    }
    assert told == {space: dict(counts) for space, counts in ROWS.items()}


def test_the_diagram_is_the_one_that_is_drawn_now() -> None:
    model = reader.load(ROOT / "examples" / "watt-six-bar.toml")
    assert (DOCS / "images" / "watt-six-bar.svg").read_text("utf-8") == structural_diagram(model, study(model)), (
        "draw it again: assurgent structure examples/watt-six-bar.toml --svg docs/images/watt-six-bar.svg"
    )


# ---- the gallery --------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def gallery() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gallery", DOCS / "gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["gallery"] = module
    spec.loader.exec_module(module)
    return module


def test_the_gallery_is_what_its_script_writes(gallery: ModuleType) -> None:
    assert (DOCS / "gallery.md").read_text("utf-8") == gallery.page(), "write it again: python docs/gallery.py"


def test_every_example_has_a_small_picture(gallery: ModuleType) -> None:
    from assurgent.pictures import still

    names = [path.stem for path in gallery.examples()]
    assert set(gallery.VIEWS) <= set(names)  # an example without a view of its own shows no paths
    assert sorted(path.stem for path in gallery.PICTURES.glob("*")) == sorted(names)
    for name in names:
        data = (gallery.PICTURES / f"{name}.png").read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        wide, tall = struct.unpack(">II", data[16:24])
        assert wide <= still.WIDTH
        assert tall <= still.HEIGHT
        assert max(wide / still.WIDTH, tall / still.HEIGHT) > 0.98  # as large as it may be
        assert len(data) < LARGEST_PICTURE


QUICK = ("four-bar", "scissor-lift", "rssr")  # of a few kinds, for every run of the tests
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.toml"))


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.long) for n in EXAMPLES])
def test_a_command_of_the_gallery_gives_its_picture(name: str, tmp_path: Path) -> None:
    """Byte for byte the picture on the page, where the libraries are those that it names; else nearly."""
    from PIL import Image

    from assurgent.cli.commands import main

    page = (DOCS / "gallery.md").read_text("utf-8")
    (line,) = re.findall(rf"^    assurgent (draw examples/{name}\.toml .*)$", page, re.MULTILINE)
    words = line.split()
    words[1], words[-1] = str(ROOT / words[1]), str(tmp_path / words[-1])
    assert main(words) == 0
    fresh, kept = Path(words[-1]), DOCS / "images" / "gallery" / f"{name}.png"
    now, then = Image.open(fresh), Image.open(kept)
    if now.info["Software"] == then.info["Software"]:
        assert fresh.read_bytes() == kept.read_bytes(), f"draw it again: python docs/gallery.py {name}"
    assert np.allclose(now.size, then.size, atol=4)  # letters differ by a pixel from one font library to another
    apart = np.abs(np.asarray(now.convert("L"), float) - np.asarray(then.convert("L").resize(now.size), float))
    assert np.mean(apart) < 6  # of 255: another mechanism, or another instant, is above 15


# ---- dependencies, changelog, notebook, links ---------------------------------------------------------------------
def test_every_dependency_has_its_reason() -> None:
    page = (DOCS / "dependencies.md").read_text("utf-8").lower()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    optional = [item for items in project["optional-dependencies"].values() for item in items]
    for item in [*project["dependencies"], *optional]:
        name = re.split(r"[<>=!~\[ ]", item)[0].lower()
        assert re.search(rf"^\|[^|]*\b{re.escape(name)}\b", page, re.MULTILINE), name


def executed(name: str, folder: Path) -> tuple[str, list[Any]]:
    """Run a notebook, which is stored without outputs and imports no inner module; return what it prints and shows."""
    import nbformat
    from nbclient import NotebookClient

    notebook: Any = nbformat.read(DOCS / "notebooks" / f"{name}.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "store the notebook without outputs"
    assert not any(re.search(r"(from|import) assurgent\.", cell.source) for cell in notebook.cells)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "".join(output.get("text", "") for output in outputs), outputs


@pytest.mark.long
def test_the_notebook_of_a_six_bar(tmp_path: Path) -> None:
    printed, outputs = executed("six-bar", tmp_path)
    assert "groups: R_1, RRR_1, RRR_2" in printed
    assert "time ratio" in printed
    assert sum("<iframe" in output.get("data", {}).get("text/html", "") for output in outputs) == 1


@pytest.mark.long
def test_the_notebook_of_an_engine(tmp_path: Path) -> None:
    printed, outputs = executed("engine", tmp_path)
    (balance,) = re.findall(r"within (\S+) of", printed)
    assert float(balance) < 2e-3  # differences over 1/120 of a turn: h^2/6 of the third harmonic
    assert sum("<iframe" in output.get("data", {}).get("text/html", "") for output in outputs) == 1


@pytest.mark.long
def test_the_notebook_of_a_suspension(tmp_path: Path) -> None:
    printed, outputs = executed("suspension", tmp_path)
    (change,) = re.findall(r"changes by (\S+) m", printed)
    assert float(change) < 1e-13  # rounding of half a metre
    assert len(re.findall(r"camber +-?[\d.]+°", printed)) == 3
    assert sum("<iframe" in output.get("data", {}).get("text/html", "") for output in outputs) == 1


def test_the_notebook_runs(tmp_path: Path) -> None:
    printed, outputs = executed("four-bar", tmp_path)
    assert "the rocker swings over 0.7528 rad" in printed  # by the law of cosines in the two outer positions
    assert "cannot be closed" in printed
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2


def test_the_swing_that_the_notebook_prints() -> None:
    a, b, c, d = 0.1, 0.3, 0.28, 0.35
    outer = [np.arccos((c**2 + d**2 - reach**2) / (2 * c * d)) for reach in (b + a, b - a)]
    assert outer[0] - outer[1] == pytest.approx(0.7528, abs=2e-4)  # the run looks at 201 instants only


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("https://") or (page.parent / target).is_file(), target
