"""The user's store of types: signed, private, swept, and whole after a kill between any two steps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assurgent.common.errors import InputError
from assurgent.runtime.store import CURRENT, RECORD, SPECIFICATION, Store, StoredType, default_root

MODULE = "ladder"
OLD, NEW = "0123456789abcdef", "fedcba9876543210"


class Killed(BaseException):
    """Stands for the end of the process at that very moment."""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """An empty store with a signing key of its own."""
    monkeypatch.setenv("ASSURGENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ASSURGENT_DATA", str(tmp_path / "data"))
    return Store()


def publish(store: Store, key: str = OLD, answer: int = 1) -> StoredType:
    """Store a type whose module says `ANSWER`, as the generator does it."""
    with store.lock(MODULE):
        staging = store.stage(MODULE, f"ANSWER = {answer}\n", f"# specification {answer}\n")
        return store.publish(staging, "Ladder", MODULE, key)


def leftovers(store: Store) -> list[str]:
    """Names of everything that no finished write leaves behind."""
    return sorted(p.name for p in (store.root / MODULE).iterdir() if p.name.startswith("."))


def change_one_byte(path: Path) -> None:
    """Change one bit of the byte in the middle of a file; its length stays."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


# ---- publish and find --------------------------------------------------------------------------------------


def test_the_root_is_where_the_variable_says(store: Store, tmp_path: Path) -> None:
    assert store.root == default_root() == tmp_path / "cache" / "types"


def test_an_empty_store_has_nothing(store: Store) -> None:
    """Reading a store that was never written makes no folder and finds no type."""
    assert store.modules() == []
    assert store.current(MODULE) is None
    assert store.find(MODULE, OLD) is None
    assert not store.root.exists()


def test_what_is_published_is_found_and_loads(store: Store) -> None:
    """A published type is the current one, with its files as given, and imports from its final place."""
    made = publish(store)
    assert store.modules() == [MODULE]
    assert store.current(MODULE) == store.find(MODULE, OLD) == made
    assert (made.name, made.module, made.key) == ("Ladder", MODULE, OLD)
    assert made.source.read_text("utf-8") == "ANSWER = 1\n"
    assert made.specification.read_text("utf-8") == "# specification 1\n"
    module = made.load()
    assert module.ANSWER == 1
    assert Path(str(module.__file__)) == made.source
    assert leftovers(store) == []


def test_the_newest_is_current_and_the_old_one_stays(store: Store) -> None:
    publish(store, OLD, 1)
    new = publish(store, NEW, 2)
    assert store.current(MODULE) == new
    assert store.find(MODULE, OLD) is not None


def test_a_stored_type_can_be_selected_again(store: Store) -> None:
    """Going back to a type that is stored already makes it the current one."""
    old = publish(store, OLD, 1)
    publish(store, NEW, 2)
    with store.lock(MODULE):
        store.select(MODULE, OLD)
    assert store.current(MODULE) == old
    assert leftovers(store) == []


@pytest.mark.parametrize(("module", "key"), [("..", OLD), ("a/b", OLD), ("", OLD), (MODULE, ".."), (MODULE, "0" * 15)])
def test_names_that_leave_the_store_find_nothing(store: Store, module: str, key: str) -> None:
    """Only a plain module name and a key of sixteen hexadecimal digits lead to a folder."""
    publish(store)
    assert store.find(module, key) is None


@pytest.mark.parametrize("text", ["", "../" + OLD, "0" * 16, "\u00e9"])
def test_a_pointer_to_nothing_is_no_type(store: Store, text: str) -> None:
    publish(store)
    (store.root / MODULE / CURRENT).write_text(text, "utf-8")
    assert store.current(MODULE) is None


# ---- refusal -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", [f"{MODULE}.py", SPECIFICATION, RECORD])
def test_one_changed_byte_is_refused(store: Store, file: str) -> None:
    """A type is found only while every byte of module, specification and record is as written."""
    made = publish(store)
    change_one_byte(made.folder / file)
    assert store.find(MODULE, OLD) is None
    assert store.current(MODULE) is None


@pytest.mark.parametrize("file", [f"{MODULE}.py", SPECIFICATION, RECORD])
def test_a_missing_file_is_refused(store: Store, file: str) -> None:
    made = publish(store)
    (made.folder / file).unlink()
    assert store.find(MODULE, OLD) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"signature": 3}', '{"signature": "\u00e9"}'])
def test_a_record_of_another_shape_is_refused(store: Store, text: str) -> None:
    """Whatever JSON stands in the record, the answer is a refusal, not an accident."""
    made = publish(store)
    (made.folder / RECORD).write_text(text, "utf-8")
    assert store.find(MODULE, OLD) is None


def test_digests_alone_do_not_make_a_record(store: Store) -> None:
    """Whoever alters a module and its digest still lacks the signature."""
    made = publish(store)
    record = json.loads((made.folder / RECORD).read_text("utf-8"))
    made.source.write_text("ANSWER = 2\n", "utf-8")
    record["files"][made.source.name] = record["files"][SPECIFICATION]
    made.specification.write_bytes(made.source.read_bytes())
    (made.folder / RECORD).write_text(json.dumps(record), "utf-8")
    assert store.find(MODULE, OLD) is None


def test_a_record_moved_to_another_key_is_refused(store: Store) -> None:
    """A signature holds for its own key only: an old type cannot be slipped in as a new one."""
    made = publish(store)
    made.folder.rename(made.folder.with_name(NEW))
    assert store.find(MODULE, NEW) is None


def test_a_record_of_another_signing_key_is_refused(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another user signed is refused; with the own key it is found again."""
    made = publish(store)
    monkeypatch.setenv("ASSURGENT_DATA", str(tmp_path / "somebody else"))
    assert store.find(MODULE, OLD) is None
    assert store.specification(MODULE) is None
    monkeypatch.setenv("ASSURGENT_DATA", str(tmp_path / "data"))
    assert store.find(MODULE, OLD) == made


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
@pytest.mark.parametrize("mode", [0o720, 0o702])
def test_a_folder_that_others_can_write_is_refused(store: Store, mode: int) -> None:
    """Neither reading nor writing trusts such a folder; the message names both ways out."""
    publish(store)
    store.root.chmod(mode)
    with pytest.raises(InputError, match=r"chmod go-w.*ASSURGENT_CACHE"):
        store.find(MODULE, OLD)
    with pytest.raises(InputError, match=r"chmod go-w.*ASSURGENT_CACHE"), store.lock(MODULE):
        pass
    store.root.chmod(0o700)
    assert store.find(MODULE, OLD) is not None


# ---- the specification of an altered type ------------------------------------------------------------------


def test_the_specification_outlives_its_module(store: Store) -> None:
    """While record and specification are as written, an altered module can be made anew from them."""
    made = publish(store)
    change_one_byte(made.source)
    assert store.specification(MODULE) == ("Ladder", "# specification 1\n")


@pytest.mark.parametrize("file", [SPECIFICATION, RECORD, f"../{CURRENT}"])
def test_an_altered_specification_is_not_handed_out(store: Store, file: str) -> None:
    made = publish(store)
    change_one_byte(made.folder / file)
    assert store.specification(MODULE) is None


# ---- the signing key ---------------------------------------------------------------------------------------

SIGN_AT_ONCE = """
import sys
from assurgent.runtime.seals import secret
print("ready", flush=True)
sys.stdin.readline()
print(secret().hex())
"""


def test_processes_that_make_the_signing_key_at_once_agree(tmp_path: Path) -> None:
    """Whoever is first, all sign with one key, which only its owner can read."""
    environment = {**os.environ, "ASSURGENT_DATA": str(tmp_path / "data")}
    command, pipe = [sys.executable, "-c", SIGN_AT_ONCE], subprocess.PIPE
    processes = [subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) for _ in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    keys = {process.communicate()[0].strip() for process in processes}
    assert [process.returncode for process in processes] == [0] * 4
    file = tmp_path / "data" / "signing-key"
    assert keys == {file.read_bytes().hex()}
    assert [p.name for p in file.parent.iterdir()] == [file.name]
    if os.name == "posix":
        assert file.stat().st_mode & 0o077 == 0


def test_a_damaged_signing_key_is_named(store: Store, tmp_path: Path) -> None:
    """A key of another length is never used; the message says what to do with it."""
    publish(store)
    (tmp_path / "data" / "signing-key").write_bytes(b"short")
    with pytest.raises(InputError, match=r"signing-key: is not a signing key - remove it"):
        store.find(MODULE, OLD)


def test_a_signing_key_that_cannot_be_made_is_named(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A data folder that cannot be written ends in a message with the way out, not in a traceback."""
    (tmp_path / "file").write_text("", "utf-8")
    monkeypatch.setenv("ASSURGENT_DATA", str(tmp_path / "file" / "data"))
    with pytest.raises(InputError, match="ASSURGENT_DATA"):
        publish(store)


# ---- kills -------------------------------------------------------------------------------------------------


def test_what_a_killed_process_left_is_swept(store: Store) -> None:
    """Taking the lock removes staged folders and pointers of the dead; the types stay."""
    made = publish(store)
    store.stage(MODULE, "ANSWER = 3\n", "")
    (store.root / MODULE / ".staging-pointer").write_text(NEW, "ascii")
    with store.lock(MODULE):
        assert leftovers(store) == []
    assert store.current(MODULE) == made


def test_the_lock_of_one_type_leaves_other_types_alone(store: Store) -> None:
    """Another type's staging may be in use: only the holder of its own lock may remove it."""
    publish(store)
    store.stage(MODULE, "ANSWER = 3\n", "")
    with store.lock("other"):
        assert len(leftovers(store)) == 1


def kill_at(monkeypatch: pytest.MonkeyPatch, step: int, after: bool) -> list[int]:
    """Die just before (or just after) the given call of os.replace; the list returned counts the calls."""
    calls: list[int] = []
    rename: Callable[..., None] = os.replace

    def replace(source: os.PathLike[str], target: os.PathLike[str]) -> None:
        calls.append(len(calls))
        if calls[-1] == step and not after:
            raise Killed
        rename(source, target)
        if calls[-1] == step and after:
            raise Killed

    monkeypatch.setattr(os, "replace", replace)
    return calls


def publish_and_die(store: Store, monkeypatch: pytest.MonkeyPatch, key: str, step: int, after: bool) -> None:
    """Publish ANSWER = 2 and die at one rename."""
    with monkeypatch.context() as patched:
        kill_at(patched, step, after)
        with pytest.raises(Killed):
            publish(store, key, 2)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", [0, 1])
def test_a_killed_first_write_shows_nothing_or_all(
    store: Store, monkeypatch: pytest.MonkeyPatch, step: int, after: bool
) -> None:
    """Died at any rename of a first write: there is no type, or the whole one; writing again works."""
    publish_and_die(store, monkeypatch, NEW, step, after)
    found = store.current(MODULE)
    assert (found is not None) == (step == 1 and after)
    assert found is None or found.source.read_text("utf-8") == "ANSWER = 2\n"
    assert store.modules() == ([] if found is None else [MODULE])
    again = publish(store, NEW, 2)
    assert store.current(MODULE) == again
    assert leftovers(store) == []


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", [0, 1])
def test_a_killed_new_version_leaves_the_old_one_or_the_new_one(
    store: Store, monkeypatch: pytest.MonkeyPatch, step: int, after: bool
) -> None:
    """Died at any rename of a second version: the current type is the old or the new one, never none."""
    publish(store, OLD, 1)
    publish_and_die(store, monkeypatch, NEW, step, after)
    found = store.current(MODULE)
    assert found is not None
    assert found.key == (NEW if step == 1 and after else OLD)
    again = publish(store, NEW, 2)
    assert store.current(MODULE) == again
    assert leftovers(store) == []


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", [0, 1])
def test_a_killed_repair_can_be_repeated(store: Store, monkeypatch: pytest.MonkeyPatch, step: int, after: bool) -> None:
    """Died while an altered module was replaced: it is whole, or its specification is there to start from."""
    made = publish(store, OLD, 2)
    change_one_byte(made.source)
    publish_and_die(store, monkeypatch, OLD, step, after)
    found = store.current(MODULE)
    assert (found is not None) == (step == 1 and after)
    assert store.specification(MODULE) == ("Ladder", "# specification 2\n")
    again = publish(store, OLD, 2)
    assert store.current(MODULE) == again
    assert again.source.read_text("utf-8") == "ANSWER = 2\n"
    assert leftovers(store) == []


def test_the_kills_above_cover_every_rename(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write and a repair rename twice each; more renames would need more kills above."""
    with monkeypatch.context() as patched:
        calls = kill_at(patched, -1, after=False)
        made = publish(store)
        assert len(calls) == 2
    change_one_byte(made.source)
    with monkeypatch.context() as patched:
        calls = kill_at(patched, -1, after=False)
        publish(store)
        assert len(calls) == 2
