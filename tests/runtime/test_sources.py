"""What a cache key is made of: everything that the makers of a text reach, and nothing kept by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from assurgent.runtime import library, sources

A, B, C = (f"assurgent.motion.{name}" for name in ("first", "second", "third"))
TEXTS = {
    A: "from . import (\n    second as other,\n)\nimport numpy\n",
    B: 'def f():\n    from .third import g\nTEMPLATE = "outer.jinja"\n',
    C: "import assurgent.motion.first\n",
    "outer.jinja": '{% from "inner.jinja" import m %}\n',
    "inner.jinja": "plain\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    paths = {name: tmp_path / f"{i}.txt" for i, name in enumerate(TEXTS)}
    for name, path in paths.items():
        path.write_text(TEXTS[name], "utf-8")
    monkeypatch.setattr(sources, "source_of", paths.get)
    sources.digest.cache_clear()
    yield paths
    sources.digest.cache_clear()


def test_everything_is_reached(project: dict[str, Path]) -> None:
    """Through relative, late and circular imports, names of templates, and what templates include."""
    assert set(sources.closure([A])) == set(TEXTS)
    assert set(sources.closure(["outer.jinja"])) == {"outer.jinja", "inner.jinja"}


@pytest.mark.parametrize("changed", TEXTS)
def test_a_change_anywhere_changes_the_digest(project: dict[str, Path], changed: str) -> None:
    before = sources.digest(A)
    project[changed].write_text(TEXTS[changed] + "\n# changed\n", "utf-8")
    sources.digest.cache_clear()
    assert sources.digest(A) != before


def test_types_are_made_by_templates_and_the_compiler_of_kernels() -> None:
    found = sources.closure(library.MAKERS)
    needed = {"group.py.jinja", "lanes.py.jinja", "assurgent.codegen.value_numbering", "assurgent.codegen.orders"}
    assert needed | {"assurgent.runtime.straight_line", "assurgent.common.expressions"} <= set(found)
    assert not any(name.startswith(("assurgent.motion", "assurgent.codegen.verify")) for name in found)


def test_a_module_that_is_not_there_has_no_digest() -> None:
    with pytest.raises(ModuleNotFoundError):
        sources.digest("assurgent.runtime.nothing")
