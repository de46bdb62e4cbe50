"""From a specification to a type in the user's library: new, twice at once, killed, altered, misnamed."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from assurgent.common.errors import GenerationError
from assurgent.runtime import library as types
from assurgent.runtime.store import Store
from tests.runtime.generated_types import LADDER, Library, change_one_byte, expected_ladder, finish


@pytest.fixture
def copy(made: SimpleNamespace, library: Library) -> Library:
    """The library with the ladder, as a copy that a test may damage."""
    shutil.copytree(made.library.folder, library.folder)
    return library


def stored_file(name: str) -> Path:
    """Return a file of the ladder in the library of this process."""
    found = Store().current("ladder_1")
    assert found is not None
    return found.folder / name


# ---- a new type --------------------------------------------------------------------------------------------


def test_a_new_type_is_generated_and_solves(made: SimpleNamespace) -> None:
    """One command makes a type that a fresh process loads; each stage says what came of it."""
    assert "ladder-1 is ready" in made.out
    stages = ["derive", "rank", "positions", "kernels", "emit", "compile", "verify"]
    first, *lines = made.err.splitlines()  # one line each, however long, where they go into a pipe
    assert first == f"generating the group type of {made.path}"
    assert [line.split()[:2] for line in lines] == [["✓", stage] for stage in stages]
    made.library.assert_works()


def test_the_header_says_how_to_make_the_type_again(copy: Library) -> None:
    """An own type is made again from the specification beside it, a shipped one with the whole library."""
    own = stored_file("ladder_1.py").read_text("utf-8").splitlines()[2]
    assert (
        own == "# Regenerate: assurgent generate spec.toml (beside this file)        Check: assurgent verify ladder-1"
    )
    assert stored_file("spec.toml").read_text("utf-8") == LADDER
    shipped = (types.package_folder("generated") / "rrr.py").read_text("utf-8").splitlines()[2]
    assert shipped == "# Regenerate: python -m assurgent.codegen.drift --write        Check: make check-generated"


def test_only_what_a_motion_calls_is_compiled(made: SimpleNamespace) -> None:
    """The other functions are checked as plain Python, and compiled when they are first used."""
    found = {p.name.split("-")[0].split(".")[1] for p in (made.library.folder / "cache").rglob("*.nbi")}
    compiled = {re.sub(r"_[0-9a-f]{12}$", "", name) for name in found}  # functions over lanes tell their sources
    assert {"position", "sweep_lanes", "sweep_quality"} <= compiled
    assert not {"jerk", "tangent", "sweep_3ot_lanes", "acceleration_3ot"} & compiled


def test_a_type_that_is_there_is_not_derived_again(made: SimpleNamespace) -> None:
    """The same specification again is answered from the library: no stage runs."""
    out, err = made.library.generate(made.path)
    assert "ladder-1 is in your library already" in out
    assert "✓" not in err


def test_two_processes_at_once_make_one_type(library: Library) -> None:
    """Both succeed; one generates, the other waits for it; the library is whole and the type right."""
    path = library.specification()
    outputs = [finish(process) for process in [library.start(path), library.start(path)]]
    assert sorted("is ready" in out for out, _ in outputs) == [False, True]
    assert sorted("already" in out for out, _ in outputs) == [False, True]
    library.assert_works()


# ---- kills -------------------------------------------------------------------------------------------------


def kill_repeatedly(library: Library, kills: int, seconds: float, moments: random.Random) -> None:
    """Kill generations at random moments: what shows is never half a type, and generating then works.

    Each attempt has a text of its own, so that each one generates even where an earlier one came through.
    """
    for attempt in range(kills):
        process = library.start(library.specification(f"{LADDER}# attempt {attempt}\n"))
        time.sleep(moments.uniform(0.0, seconds))
        process.kill()
        process.communicate()
        store = Store()
        assert all(store.current(module) is not None for module in store.modules())
    out, _ = library.generate(library.specification())
    assert "ladder-1 is ready" in out
    library.assert_works()


def test_kills_at_random_moments_do_no_harm(library: Library, made: SimpleNamespace) -> None:
    kill_repeatedly(library, 3, made.seconds, random.Random(2))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_ten_kills_at_random_moments_do_no_harm(library: Library, made: SimpleNamespace, seed: int) -> None:
    kill_repeatedly(library, 10, made.seconds, random.Random(seed))


# ---- altered files -----------------------------------------------------------------------------------------


def test_an_altered_module_is_refused_and_generated_again(copy: Library) -> None:
    """One changed byte: loading says so, makes the type anew from its signed specification, and is right."""
    change_one_byte(stored_file("ladder_1.py"))
    found = copy.solve()
    assert found["values"] == pytest.approx(expected_ladder(), rel=1e-13)
    (line,) = found["report"]
    assert line.startswith("ladder-1: ")
    assert "refused; generating the type again" in line
    copy.assert_works()


@pytest.mark.parametrize("file", ["spec.toml", "record.json"])
def test_an_altered_specification_or_record_is_refused(copy: Library, file: str) -> None:
    """Nothing is generated from a text that cannot be trusted; the message names the way out."""
    change_one_byte(stored_file(file))
    with pytest.raises(GenerationError, match="generate it again: assurgent generate SPEC"):
        types.load("ladder-1")


def altered_package(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, file: str) -> None:
    """Let the library read a copy of one of its packages, in which one byte of a file is changed."""
    original: Callable[[str], Path] = types.package_folder  # or what an earlier call put in its place
    shutil.copytree(original(name), folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    change_one_byte(folder / name / file)

    def package_folder(asked: str) -> Path:
        return folder / name if asked == name else original(asked)

    monkeypatch.setattr(types, "package_folder", package_folder)


def test_an_altered_shipped_module_is_refused_and_generated_again(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One changed byte in the shipped library: the type is made anew into the user's store, and is right."""
    altered_package(tmp_path, monkeypatch, "generated", "p.py")
    report: list[str] = []
    for _ in range(2):
        slider = types.load("P", report.append)
        assert Path(str(slider.module.__file__)).is_relative_to(library.folder)
        found = slider.position({"A": (1.0, 2.0), "u": (0.6, 0.8), "s": 0.5}, {"e_A": 0.25})
        assert found == pytest.approx([1.0 + 0.3 - 0.2, 2.0 + 0.4 + 0.15], rel=1e-14)
    remedies = [line.split("; ")[-1] for line in report]
    assert remedies == ["generating the type again", "using the one generated again"]
    assert all("p.py is missing or was altered, so it is refused" in line for line in report)
    assert library.leftovers() == []


def test_an_altered_shipped_specification_is_refused(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With module and specification both altered there is nothing to trust but a new installation."""
    altered_package(tmp_path, monkeypatch, "generated", "p.py")
    altered_package(tmp_path, monkeypatch, "codegen", "groups/p.toml")
    with pytest.raises(GenerationError, match=r"p\.toml: is missing or was altered .* install"):
        types.load("P")
    assert not library.folder.exists()


# ---- what is imported --------------------------------------------------------------------------------------


def imported_by(code: str, *names: str) -> list[str]:
    """Run code in a fresh process; return which of the modules named it imported."""
    text = f"{code}\nimport sys; print(*(n for n in {names!r} if n in sys.modules))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_import_loads_neither_generator_nor_compiler() -> None:
    """`import assurgent` is light: SymPy, Jinja and Numba come when they are needed."""
    assert imported_by("import assurgent", "assurgent", "sympy", "jinja2", "numba") == ["assurgent"]


def test_solving_loads_no_generator() -> None:
    """A shipped type solves, with the right numbers, without SymPy and Jinja."""
    code = """
import math
import assurgent
C = assurgent.load("RRR").position({"A": (0, 0), "B": (6, 0)}, {"L_AC": 5, "L_BC": 5.5}, branch=-1)
x = (5**2 - 5.5**2 + 6**2) / 12
assert math.isclose(C[0], x, rel_tol=1e-14), C
assert math.isclose(abs(C[1]), math.sqrt(5**2 - x**2), rel_tol=1e-14), C
"""
    assert imported_by(code, "numba", "sympy", "jinja2") == ["numba"]
