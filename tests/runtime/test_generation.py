"""From a specification to a type in the user's library: new, twice at once, killed, altered, misnamed."""

from __future__ import annotations

import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import assurgent.runtime.library_build as generator
from assurgent.codegen.spec import GroupSpec
from assurgent.common.errors import GenerationError, InputError
from assurgent.runtime import library as types
from assurgent.runtime.store import Store

LADDER = """\
format = 1
name = "ladder-1"
title = "a ladder: its foot at d on the floor, its top at s on the wall"
space = "planar"

[dependent]
s = "length"

[independent]
d = "length"

[parameters]
L = "length"

[constraints]
ladder = "s^2 + d^2 = L^2"
"""
STATE = {"d": 1.3, "d_dot": 0.7, "d_ddot": -0.2, "L": 2.9}

SOLVE = """
import json, sys
import assurgent
d, d_dot, d_ddot, L = json.loads(sys.argv[1]).values()
report = []
ladder = assurgent.load("ladder-1", report.append)
s = ladder.position({"d": d}, {"L": L}, branch=+1)
s_dot = ladder.velocity(s, [d], [L], [d_dot])
s_ddot = ladder.acceleration(s, [d], [L], s_dot, [d_dot], [d_ddot])
loaded = sorted({"sympy", "jinja2"} & set(sys.modules))
print(json.dumps({"values": [*s, *s_dot, *s_ddot], "report": report, "loaded": loaded}))
"""


def expected_ladder() -> list[float]:
    """Position, velocity and acceleration of the ladder's top, from s = sqrt(L^2 - d^2) by hand."""
    d, d_dot, d_ddot, L = STATE.values()
    s = math.sqrt(L**2 - d**2)
    s_dot = -d * d_dot / s
    return [s, s_dot, -(d_dot**2 + d * d_ddot + s_dot**2) / s]


@dataclass(frozen=True)
class Library:
    """A user's library in a folder of its own, used from fresh processes as the user does."""

    folder: Path

    @property
    def variables(self) -> dict[str, str]:
        return {"ASSURGENT_CACHE": str(self.folder / "cache"), "ASSURGENT_DATA": str(self.folder / "data")}

    def specification(self, text: str = LADDER) -> Path:
        """Write a specification as the user would, outside the library."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "ladder.toml"
        path.write_text(text, "utf-8")
        return path

    def start(self, path: Path) -> subprocess.Popen[str]:
        """Start `assurgent generate` in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "assurgent", "generate", str(path)],
            env={**os.environ, **self.variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def generate(self, path: Path) -> tuple[str, str]:
        """Run `assurgent generate` and return what it wrote: result and progress."""
        return finish(self.start(path))

    def solve(self) -> dict[str, Any]:
        """Load the ladder in a fresh process; return values, reported lines and generator modules."""
        command = [sys.executable, "-c", SOLVE, json.dumps(STATE)]
        environment = {**os.environ, **self.variables}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def leftovers(self) -> list[Path]:
        """Return everything below the library that a finished write does not leave, lock files apart."""
        return list((self.folder / "cache").rglob(".staging-*"))

    def assert_works(self) -> None:
        """The library is whole, and its ladder gives the right numbers without the generator."""
        found = self.solve()
        assert found["values"] == pytest.approx(expected_ladder(), rel=1e-13)
        assert found["report"] == []
        assert found["loaded"] == []
        assert self.leftovers() == []


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait for a process that has to succeed; return its two outputs."""
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out, err


def change_one_byte(path: Path) -> None:
    """Change one bit of the byte in the middle of a file; its length stays."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """A library in which the ladder was generated once; `seconds` is how long that took."""
    ready = Library(tmp_path_factory.mktemp("made"))
    path = ready.specification()
    begin = time.monotonic()
    out, err = ready.generate(path)
    return SimpleNamespace(library=ready, path=path, out=out, err=err, seconds=time.monotonic() - begin)


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """An empty library, which is also the one of this process."""
    empty = Library(tmp_path / "user")
    for name, value in empty.variables.items():
        monkeypatch.setenv(name, value)
    return empty


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


def test_a_process_that_waits_for_another_says_so_once(library: Library, instant: Instant) -> None:
    """While somebody else holds the lock of the type there is one line; then the type is made."""
    stages: list[str] = []
    begun, path = threading.Event(), library.specification()

    def progress(stage: str, seconds: float, outcome: str) -> None:
        stages.append(f"{stage}: {outcome}")
        begun.set()

    with ThreadPoolExecutor() as pool:
        with Store().lock("ladder_1"):
            job = pool.submit(generator.generate, path, progress=progress)
            assert begun.wait(60)
            assert not job.done()
        assert job.result().stored.name == "ladder-1"
    assert [s for s in stages if s.startswith("waiting")] == [
        "waiting: another process is writing this type; waiting for it"
    ]


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


def test_without_a_report_a_new_generation_is_a_warning(library: Library, instant: Instant) -> None:
    """From Python, too, nothing takes seconds without a word."""
    stored = generator.generate(library.specification()).stored
    change_one_byte(stored.source)
    with pytest.warns(
        RuntimeWarning, match="ladder_1 was altered, so it is refused; generating the type again"
    ) as seen:
        assert types.load("ladder-1").name == "ladder-1"
    assert seen[0].filename == __file__


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


# ---- the ways of a type through the library, with a generator that takes no time ---------------------------


@dataclass
class Instant:
    """Stands in for derivation, emission and verification; counts the types it made."""

    made: int = 0
    passes: bool = True

    def compile_spec(self, spec: GroupSpec, origin: str, progress: object) -> SimpleNamespace:
        self.made += 1
        lines = [f"NAME, SPACE, TITLE = {spec.name!r}, {spec.space!r}, {spec.title!r}", "WORK = 0"]
        lines += [f"{n} = ()" for n in ("DEPENDENT", "INDEPENDENT", "PARAMETERS", "CONSTRAINTS")]
        lines += ["BRANCHES = POINTS = ()"]
        module = SimpleNamespace(module=spec.module, text="\n".join(lines) + "\n")
        return SimpleNamespace(derivation=None, module=module)

    def verify_module(self, *_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(passed=self.passes, headline="one configuration, largest relative error 1 (K)")


@pytest.fixture
def instant(monkeypatch: pytest.MonkeyPatch) -> Instant:
    """The generator with all that takes time replaced."""
    stand_in = Instant()
    monkeypatch.setattr(generator, "compile_spec", stand_in.compile_spec)
    monkeypatch.setattr(generator, "verify_module", stand_in.verify_module)
    return stand_in


def named(name: str, title: str = "") -> str:
    """Return the ladder's specification under another name and title."""
    return LADDER.replace("ladder-1", name).replace('title = "a ladder', f'title = "{title}a ladder')


def test_generating_again_replaces_an_altered_module(library: Library, instant: Instant) -> None:
    """The command, too, refuses an altered file: it makes the type anew in the same place."""
    path = library.specification()
    stored = generator.generate(path).stored
    text = stored.source.read_bytes()
    change_one_byte(stored.source)
    assert generator.generate(path).stored == stored
    assert stored.source.read_bytes() == text
    assert instant.made == 2


def test_going_back_to_an_earlier_text_brings_its_type_back(library: Library, instant: Instant) -> None:
    """The type in use is that of the specification given last, also where it lay in the library already."""
    for title in ("first ", "second ", "first "):
        generator.generate(library.specification(named("ladder-1", title)))
        assert types.load("ladder-1").module.TITLE.startswith(title)
    assert instant.made == 2


def test_a_kill_before_the_type_is_in_use_is_made_good(
    library: Library, instant: Instant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed when the type was stored but not yet the one in use: the same command puts it into use."""

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    path = library.specification()
    with monkeypatch.context() as patched:
        patched.setattr(Store, "select", killed)
        with pytest.raises(KeyboardInterrupt):
            generator.generate(path)
    with pytest.raises(InputError, match="there is no group type 'ladder-1'"):
        types.load("ladder-1")
    generator.generate(path)
    assert types.load("ladder-1").name == "ladder-1"
    assert instant.made == 1


def test_a_type_of_another_generator_is_generated_again(
    library: Library, instant: Instant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A type that an earlier version wrote is made anew from its specification, once, and says so."""
    generator.generate(library.specification())
    monkeypatch.setattr(types, "fingerprint", lambda: "a later version")
    report: list[str] = []
    for _ in range(2):
        assert types.load("ladder-1", report.append).name == "ladder-1"
    assert report == ["ladder-1: written by another version of the generator; generating it again"]
    assert instant.made == 2


def test_a_type_that_fails_its_verification_is_not_stored(library: Library, instant: Instant) -> None:
    """What does not agree with its derivation never gets into the library, nor leaves anything there."""
    instant.passes = False
    with pytest.raises(GenerationError, match=r"does not agree with its derivation.*largest relative error"):
        generator.generate(library.specification())
    assert types.names() == tuple(entry.name for entry in types.manifest())
    assert library.leftovers() == []


# ---- names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("RRR", "name: 'RRR' is the name of a shipped type, whose specification is another - choose another name"),
        ("3R", "name: '3R' is an alias of the shipped type RRR - choose another name"),
        ("rrr", "the name 'rrr' is too like that of the shipped type RRR"),
        ("RR(P)R", r"the name 'RR\(P\)R' is too like that of the shipped type RR\[P\]R"),
    ],
)
def test_the_name_of_a_shipped_type_is_refused(library: Library, instant: Instant, name: str, message: str) -> None:
    """A user's type never takes the place of a shipped one; the file and the remedy are named."""
    with pytest.raises(GenerationError, match=f"ladder.toml:2: {message}"):
        generator.generate(library.specification(named(name)))
    assert instant.made == 0
    assert types.load("RRR").module.__name__ == "assurgent.generated.rrr"


def test_the_shipped_specification_itself_may_be_generated(library: Library, instant: Instant) -> None:
    """A copy of a shipped specification gives the shipped type; loading still takes the shipped module."""
    text = (types.package_folder("codegen") / "groups" / "rrr.toml").read_text("utf-8")
    assert generator.generate(library.specification(text)).stored.name == "RRR"
    assert types.load("RRR").module.__name__ == "assurgent.generated.rrr"


def with_aliases(name: str, *aliases: str) -> str:
    """Return the ladder's specification under another name, with aliases in line 3."""
    return named(name).replace("title =", f"aliases = {json.dumps(aliases)}\ntitle =", 1)


def test_an_own_type_is_found_by_its_aliases(library: Library, instant: Instant) -> None:
    generator.generate(library.specification(with_aliases("ladder-1", "Leiter", "escalera")))
    for name in ("ladder-1", "Leiter", "escalera"):
        assert types.load(name).name == "ladder-1"
        assert generator.find_specification(name).name == "ladder-1"
    (own,) = types.own_types().types
    assert (own.name, own.aliases, own.space) == ("ladder-1", ("Leiter", "escalera"), "planar")
    assert own.title.startswith("a ladder")
    assert types.names()[-1] == "ladder-1"
    with pytest.raises(InputError, match=r"there is no group type 'Leitre' - did you mean 'Leiter'\?"):
        types.load("Leitre")


@pytest.mark.parametrize(
    ("name", "alias", "message"),
    [
        ("step", "RRR", "ladder.toml:3: aliases: 'RRR' means the shipped type RRR already - choose another"),
        ("step", "3R", "ladder.toml:3: aliases: '3R' means the shipped type RRR already"),
        ("step", "ladder-1", "ladder.toml:3: aliases: 'ladder-1' means your type ladder-1 already"),
        ("step", "Leiter", "ladder.toml:3: aliases: 'Leiter' means your type ladder-1 already"),
        ("Leiter", "step", "ladder.toml:2: name: 'Leiter' means your type ladder-1 already"),
    ],
)
def test_an_alias_that_means_another_type_is_refused(
    library: Library, instant: Instant, name: str, alias: str, message: str
) -> None:
    generator.generate(library.specification(with_aliases("ladder-1", "Leiter")))
    with pytest.raises(GenerationError, match=message):
        generator.generate(library.specification(with_aliases(name, alias)))
    assert instant.made == 1
    generator.generate(library.specification(with_aliases("ladder-1", "Leiter", "stairs")))  # its own may stay
    assert types.load("stairs").name == "ladder-1"


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("spec.toml", r"spec\.toml was altered"),
        ("record.json", r"record\.json was altered or was not written by this program"),
        ("../current", r"current names no stored type"),
    ],
)
def test_a_damaged_type_is_named_and_leaves_the_others_alone(
    library: Library, instant: Instant, file: str, says: str
) -> None:
    """One line says which file is damaged and what to do; the other types are listed and load."""
    stored = generator.generate(library.specification(named("ladder-1"))).stored
    generator.generate(library.specification(named("ladder-2")))
    change_one_byte(stored.folder / file)
    own = types.own_types()
    assert [t.name for t in own.types] == ["ladder-2"]
    (line,) = own.damaged
    assert re.fullmatch(rf"your type 'ladder_1' is damaged and left out: .*{says}.* - {types.REPAIR}", line)
    assert types.names()[-1] == "ladder-2"
    assert types.load("ladder-2").name == "ladder-2"
    with pytest.raises(GenerationError, match=f"{says}.* - generate it again"):
        types.load("ladder-1")


def test_two_types_with_names_too_alike_do_not_mix(library: Library, instant: Instant) -> None:
    """Names that differ in letter case or signs only would share a module: the second one is refused."""
    generator.generate(library.specification(named("ladder-1")))
    with pytest.raises(GenerationError, match=r"the name 'Ladder\+1' is too like that of your type ladder-1"):
        generator.generate(library.specification(named("Ladder+1")))
    with pytest.raises(InputError, match=r"there is no group type 'Ladder\+1' - did you mean 'ladder-1'\?"):
        types.load("Ladder+1")
    assert types.load("ladder-1").name == "ladder-1"


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
