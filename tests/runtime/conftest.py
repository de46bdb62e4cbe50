"""Libraries in folders of their own, for the tests of generation."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.runtime.generated_types import Library


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
