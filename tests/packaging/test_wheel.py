"""The wheel holds exactly what the folders hold."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from configparser import ConfigParser
from email.parser import Parser
from pathlib import Path, PurePosixPath

import pytest

TOP = Path(__file__).parents[2]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGE_DIR: dict[str, str] = PROJECT["tool"]["setuptools"]["package-dir"]
SHIPPED = {".py", ".jinja", ".toml", ".json", ".typed", ".js", ".css", ".html", ".svg", ".woff2", ".txt"}
DELETED = "assurgent/runtime/deleted_long_ago.py"


def shipped_files(top: Path) -> set[str]:
    """Names, as the wheel should spell them, of every source and data file below the package folders."""
    # The deepest folder owns a file: mechanism/plans lies inside mechanism but is another package.
    folders = sorted(((PurePosixPath(d), p) for p, d in PACKAGE_DIR.items()), key=lambda x: -len(x[0].parts))
    names = set()
    for found in {f for folder, _ in folders for f in (top / folder).rglob("*")}:
        path = PurePosixPath(found.relative_to(top).as_posix())
        if found.is_file() and path.suffix in SHIPPED and "__pycache__" not in path.parts:
            folder, package = next((f, p) for f, p in folders if path.is_relative_to(f))
            names.add(f"{package.replace('.', '/')}/{path.relative_to(folder)}")
    return names


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a copy of the tree that also carries an old build folder with a module since deleted."""
    tree = tmp_path_factory.mktemp("tree")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(TOP / name, tree)
    for folder in {PurePosixPath(d).parts[0] for d in PACKAGE_DIR.values()}:
        shutil.copytree(TOP / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__"))
    stale = tree / "build" / "lib" / DELETED
    stale.parent.mkdir(parents=True)
    stale.write_text("", encoding="utf-8")

    # By way of the sdist, as a release is made: a wheel built in place would take up the old build folder.
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tree / "dist"), str(tree)]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = (tree / "dist").glob("*.whl")
    return built


def packed(wheel: Path) -> set[str]:
    """Names inside the wheel, without its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        return {n for n in archive.namelist() if ".dist-info/" not in n}


def metadata(wheel: Path, name: str) -> str:
    with zipfile.ZipFile(wheel) as archive:
        (path,) = (n for n in archive.namelist() if n.endswith(f".dist-info/{name}"))
        return archive.read(path).decode("utf-8")


def test_wheel_names_are_the_names_in_the_folders(wheel: Path) -> None:
    expected = shipped_files(TOP)
    found = packed(wheel)
    assert sorted(expected - found) == [], "not in the wheel: see packages and package-data in pyproject.toml"
    assert sorted(found - expected) == [], "in the wheel, not in the folders"


@pytest.mark.parametrize(
    "pattern", ["codegen/groups/*.toml", "generated/manifest.json", "templates/*.jinja", "py.typed"]
)
def test_wheel_holds_each_kind_of_data(wheel: Path, pattern: str) -> None:
    assert [n for n in packed(wheel) if PurePosixPath(n).match(f"assurgent/{pattern}")]


def test_wheel_leaves_out_deleted_modules(wheel: Path) -> None:
    assert DELETED not in packed(wheel)


def test_every_package_folder_is_listed() -> None:
    """A package-dir entry without its name in `packages` works when editable only: the wheel lacks it."""
    assert sorted(PROJECT["tool"]["setuptools"]["packages"]) == sorted(PACKAGE_DIR)


def test_wheel_metadata(wheel: Path) -> None:
    head = Parser().parsestr(metadata(wheel, "METADATA"))
    assert head["Name"] == "assurgent"
    assert head["Version"] == PROJECT["project"]["version"]
    assert head["License-Expression"] == "MIT"
    scripts = ConfigParser()
    scripts.read_string(metadata(wheel, "entry_points.txt"))
    assert dict(scripts["console_scripts"]) == {"assurgent": "assurgent.cli.commands:main"}
