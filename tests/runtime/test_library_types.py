"""The ways of a type through the library, with a generator that takes no time: stored, altered, renamed."""

from __future__ import annotations

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

import assurgent.runtime.library_build as generator
from assurgent.codegen.spec import GroupSpec
from assurgent.common.errors import GenerationError, InputError
from assurgent.runtime import library as types
from assurgent.runtime.store import Store
from tests.runtime.generated_types import LADDER, Library, change_one_byte


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


def test_without_a_report_a_new_generation_is_a_warning(library: Library, instant: Instant) -> None:
    """From Python, too, nothing takes seconds without a word."""
    stored = generator.generate(library.specification()).stored
    change_one_byte(stored.source)
    with pytest.warns(
        RuntimeWarning, match="ladder_1 was altered, so it is refused; generating the type again"
    ) as seen:
        assert types.load("ladder-1").name == "ladder-1"
    assert seen[0].filename == __file__


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
