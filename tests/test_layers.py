"""Rooms import only rooms below them, no two modules have the same name, and no file is too long to be read."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# From the bottom: a room may import its own layer and those before it. Emitted modules stand beside the runtime that
# calls them.
LAYERS = (
    ("common",),
    ("codegen", "templates"),
    ("mechanism",),
    ("runtime", "generated"),
    ("motion",),
    ("dynamics",),
    ("designs", "verification"),
    ("pictures", "report", "studio"),
    ("api",),
    ("cli", "bench", "examples"),
)
LONGEST = {".py": 400, ".js": 400, ".css": 400, ".html": 400, ".jinja": 150}  # lines of a file
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}


def imported(path: Path, package: list[str], tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and room of every import of this project in a file, those inside functions included."""
    for node in ast.walk(tree):
        names: list[list[str]] = []
        if isinstance(node, ast.ImportFrom):
            base = node.module.split(".") if node.module else []
            if node.level:
                base = package[: len(package) - node.level + 1] + base
            names = [[*base, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        for name in names:
            if name[0] == "assurgent":
                yield node.lineno, name[1] if len(name) > 1 and name[1] in LEVEL else "api"


def upward(room: str, path: Path, text: str) -> list[str]:
    """Return the imports of a file that reach above its room."""
    inside = path.relative_to(ROOT).parts[:-1] if path.is_relative_to(ROOT) else (room,)
    package = ["assurgent", *(() if room == "api" else inside)]
    found = imported(path, package, ast.parse(text))
    return [f"{path.name}:{line}: {room} imports {other}" for line, other in found if LEVEL[other] > LEVEL[room]]


def modules(room: str) -> list[Path]:
    return sorted(p for p in (ROOT / room).rglob("*.py") if "__pycache__" not in p.parts)


def test_every_room_has_a_layer() -> None:
    folders = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-dir"]
    assert {Path(folder).parts[0] for folder in folders.values()} <= set(LEVEL)


@pytest.mark.parametrize("room", [room for layer in LAYERS for room in layer])
def test_rooms_import_downward_only(room: str) -> None:
    # `python -m assurgent` must be a module of the package; it starts the command and nothing else.
    files = [p for p in modules(room) if p != ROOT / "api" / "__main__.py"]
    assert [line for path in files for line in upward(room, path, path.read_text("utf-8"))] == []


def test_an_upward_import_is_found() -> None:
    path = ROOT / "mechanism" / "plans" / "new.py"
    late = "def f():\n    from ...motion.run import solve\n"
    assert upward("mechanism", path, late) == ["new.py:2: mechanism imports motion"]
    assert upward("mechanism", path, "from ..model import Model\n") == []
    assert upward("codegen", ROOT / "codegen" / "new.py", "import assurgent.cli.commands\n")


def test_no_module_name_twice() -> None:
    rooms = [room for layer in LAYERS for room in layer if room != "generated"]
    names = Counter(p.stem for room in rooms for p in modules(room) if p.stem not in ("__init__", "__main__"))
    assert [name for name, count in names.items() if count > 1] == []


def test_no_class_name_twice() -> None:
    rooms = [room for layer in LAYERS for room in layer if room != "generated"]
    trees = [ast.parse(p.read_text("utf-8")) for room in rooms for p in modules(room)]
    names = Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1 and not name.startswith("_")] == []


def too_long(path: Path, text: str) -> bool:
    return text.count("\n") > LONGEST.get(path.suffix, sys.maxsize)


def test_no_file_is_too_long() -> None:
    rooms = [*LEVEL, "tests", "fuzz", "docs"]
    files = [p for room in rooms if room != "generated" for p in (ROOT / room).rglob("*") if p.suffix in LONGEST]
    ours = [p for p in files if "vendor" not in p.parts]
    assert len(ours) > 400
    assert [str(p.relative_to(ROOT)) for p in ours if too_long(p, p.read_text("utf-8"))] == []


def test_a_file_that_is_too_long_is_found() -> None:
    assert too_long(Path("new.py"), "x = 1\n" * 401)
    assert not too_long(Path("new.py"), "x = 1\n" * 400)
    assert too_long(Path("new.py.jinja"), "{{ x }}\n" * 151)
