"""docs/performance.md: beside every table stands its command, and measured figures find their way into it."""

import importlib.util
import re
from argparse import ArgumentParser
from pathlib import Path
from types import ModuleType

import pytest

from assurgent.bench.command import add_arguments

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def page() -> ModuleType:
    spec = importlib.util.spec_from_file_location("performance_page", DOCS / "performance.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_table_has_its_command_before_it(page: ModuleType) -> None:
    text = (DOCS / "performance.md").read_text("utf-8")
    parser = ArgumentParser(exit_on_error=False)
    add_arguments(parser)
    names = re.findall(r"<!-- figures: (\w+) -->", text)
    assert sorted(names) == sorted(page.TABLES) == sorted(page.COMMANDS)
    for name, options in page.COMMANDS.items():
        before = text[: text.index(f"<!-- figures: {name} -->")]
        words = options.rpartition(" ")[0] if "|" in options else options  # the last word is told in words
        assert f"assurgent bench {words}" in " ".join(before.split()), name
        for one in page.alternatives(options):
            parser.parse_args(one.split())
    assert page.filled(text, {}) == text  # nothing measured, nothing changed


def test_measured_figures_are_written(page: ModuleType) -> None:
    row = {"nEq": 22, "fill": 1.0, "mod_td": 2.0, "mod_3ot": 3.0, "global_sparse": 400.0}
    row |= {"global_sparse_default": 500.0, "peers": {"mod_td": 2.0, "other": 50.0}, "error": {"other": 1e-4}}
    growth = [{"dyads": 10, "mod_td": 5e-8, "mod_3ot": 1e-7}]
    found = {"--case planar --no-peers --sizes 22": {"planar": [row], "growth": growth}}
    found["--case planar --rounds 3 --sizes 22"] = found["--case planar --no-peers --sizes 22"]
    found["--case planar --no-peers --sizes 102"] = {"planar": [{**row, "nEq": 102}]}
    text = page.filled("<!-- figures: planar -->\nold\n<!-- end --> <!-- figures: peers -->\n<!-- end -->", found)
    assert "old" not in text
    # the paper's times of 22 equations: Table 3
    assert re.search(r"\| 22 \| 2.00 \| 1.5 \(2.2\) \| 200 \(61\) \| 133 \(28\) \| 250 \|", text)
    assert "| 102 | 2.00 |" in text  # rows of several commands in one table
    assert "| other | 25 | 1e-04 |" in text
    assert page.growth({"growth": growth}).endswith("| 10 | 5.00 | 10.00 |")
    figure = {"case": "four-bar", "program": page.OURS, "seconds": 2e-3, "evaluation": 1.5e-7, "reached": True}
    other = {**figure, "program": "other", "seconds": 1.0, "reached": False}
    assert page.dynamics({"dynamics": [figure, other]}).endswith("| four-bar | 2 | 1000 ! | 0.15 |")
    waits = {page.NUMBA: {"wall": 0.25, "processor": 0.2}, "run": {"wall": 0.75, "processor": 0.7}}
    data = {"startup": {"seconds": waits, "types": {"RRR": {"derive": 0.5, "compile": 1.0}}}}
    assert page.startup(data).endswith("| run | 0.75 | 0.70 | 0.50 |")
    assert page.types(data).endswith("| RRR | 1.5 | 1.0 |")
    claim = {"what": "a", "why": "", "text": "inverse", "value": 13.4, "limit": 10, "at_least": True}
    assert page.users({"users": [claim, {"what": "b", "why": "not installed"}]}).endswith(
        "| inverse | 13.4 | ≥ 10 |\n| b | - | not installed |"
    )


def test_one_table_or_one_command_can_be_measured(page: ModuleType) -> None:
    assert page.chosen(["growth", "planar:202"]) == ["--case planar --no-peers --sizes 202"]
    assert page.chosen(["users:start"]) == ["--case users start"]
    assert page.chosen(["further"])[0] == "--case zoo"
    assert set(page.chosen([])) == {one for options in page.COMMANDS.values() for one in page.alternatives(options)}
    with pytest.raises(SystemExit, match="no such table"):
        page.chosen(["speed"])
