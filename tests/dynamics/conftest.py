"""Mechanisms of the tests of dynamics, and a fixture that reads them from text."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from assurgent.mechanism.model import Model
from assurgent.mechanism.reader import load


@pytest.fixture(scope="session")
def mechanisms() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dynamics_mechanisms", Path(__file__).parent / "mechanisms.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], Model]:
    def from_text(text: str) -> Model:
        path = tmp_path / "mechanism.toml"
        path.write_text(text)
        return load(path)

    return from_text
