"""`make test-oldest` has the oldest versions, and every dependency has a bound or a pin."""

from __future__ import annotations

import importlib.util
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]


def bounds() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("oldest", Path(__file__).with_name("oldest.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.oldest())


def numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a version without zeros at the end: 2.0 is 2.0.0."""
    found = [int(part) for part in text.split(".")[:3] if part.isdigit()]
    while found and not found[-1]:
        found.pop()
    return tuple(found)


def test_every_dependency_is_bounded_from_below_or_pinned() -> None:
    needs = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    assert len(bounds()) == sum("==" not in need for need in needs) == len(needs) - 1  # SymPy decides the emitted bytes


def test_what_is_installed_is_no_older() -> None:
    for name, least in bounds().items():
        assert numbers(version(name)) >= numbers(least), name


def test_in_its_own_environment_everything_is_as_old_as_it_may_be() -> None:
    import sys

    if Path(sys.prefix).name != ".venv-oldest":
        pytest.skip("not the environment of make test-oldest")
    assert {name: numbers(version(name)) for name in bounds()} == {n: numbers(v) for n, v in bounds().items()}
