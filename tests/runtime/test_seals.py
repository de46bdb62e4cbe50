"""Byte code and machine code in the user's cache run only under this user's seal."""

from __future__ import annotations

import importlib.util
import marshal
import pickle
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from assurgent.runtime import machine_code
from assurgent.runtime.seals import TYPES, opened, seal
from assurgent.runtime.store import load_source

SOURCE = "ANSWER = 1\n"
COMPILED = """
from numba import njit
@njit(cache=True)
def double(x):
    return x + x
"""


@pytest.fixture(autouse=True)
def own_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSURGENT_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)


def loaded(path: Path, name: str) -> ModuleType:
    """Load a module anew, as another process would."""
    sys.modules.pop(name, None)
    try:
        return load_source(path, name, path.read_bytes())
    finally:
        sys.modules.pop(name, None)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.py"
    path.write_text(text, "utf-8")
    return path


def test_byte_code_beside_a_source_is_not_run(tmp_path: Path) -> None:
    """Python itself takes a file of byte code whose header has the time and the size of the source."""
    path = written(tmp_path, "ladder", SOURCE)
    status = path.stat()
    code = marshal.dumps(compile("ANSWER = 2\n", path, "exec"))
    head = importlib.util.MAGIC_NUMBER + bytes(4)
    for number in (int(status.st_mtime), status.st_size):
        head += number.to_bytes(4, "little")
    place = Path(importlib.util.cache_from_source(str(path)))
    place.parent.mkdir()
    place.write_bytes(head + code)
    spec = importlib.util.spec_from_file_location("ladder", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.ANSWER == 2  # so that the file is one that Python takes
    assert loaded(path, f"{TYPES}ladder").ANSWER == 1


def test_byte_code_is_kept_under_a_seal(tmp_path: Path) -> None:
    path = written(tmp_path, "ladder", SOURCE)
    name = f"{TYPES}ladder"
    assert loaded(path, name).ANSWER == 1
    (kept,) = (tmp_path / "__pycache__").glob("*.sealed")
    good = kept.read_bytes()
    kept.write_bytes(marshal.dumps(compile("ANSWER = 2\n", path, "exec")) + good[-32:])
    assert loaded(path, name).ANSWER == 1
    assert kept.read_bytes() == good
    path.write_text("ANSWER = 3\n", "utf-8")  # a seal holds for one source
    assert loaded(path, name).ANSWER == 3


def test_a_seal_is_of_one_thing_and_one_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.bin"
    path.write_bytes(b"body" + seal("this", b"body"))
    assert opened(path, "this") == b"body"
    assert opened(path, "that") is None
    assert opened(tmp_path / "missing", "this") is None
    monkeypatch.setenv("ASSURGENT_DATA", str(tmp_path / "somebody else"))
    assert opened(path, "this") is None


class Trap:
    """Whatever unpickles it writes a file."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> Any:
        return Path.touch, (self.place,)


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_machine_code_without_a_seal_is_made_again(tmp_path: Path, kind: str) -> None:
    """Numba unpickles its index and its data: neither is touched unless this program wrote it."""
    machine_code.prepare()
    path = written(tmp_path, "springs", COMPILED)
    name = f"{TYPES}springs_{kind}"
    assert loaded(path, name).double(2) == 4
    again = loaded(path, name)
    assert again.double(2) == 4
    assert sum(again.double.stats.cache_hits.values()) == 1
    (file,) = (tmp_path / "__pycache__").glob(f"*.{kind}")
    trap = tmp_path / "trap"
    file.write_bytes(pickle.dumps(Trap(trap)) + file.read_bytes()[-32:])
    third = loaded(path, name)
    assert third.double(3) == 6
    assert not third.double.stats.cache_hits
    assert not trap.exists()
