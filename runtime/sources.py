"""What a piece of emitted or compiled code is made of: the sources that its makers reach, found and not listed by hand.

A module reaches the modules of this project that it imports, a maker of text also the templates that it names, and a
template what it includes and what the emitted text imports. The digest of all of them is the part of a cache key that
changes with the program.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from .machine_code import prepare

PROJECT = __name__.partition(".")[0]
_IMPORT = re.compile(r"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|^[ \t]*import[ \t]+([.\w]+)", re.M)
_TEMPLATE = re.compile(r'"([\w.]+\.jinja)"')


def package_folder(name: str) -> Path:
    """Return the folder of a sub-package."""
    return Path(str(files(f"{PROJECT}.{name}")))


@cache
def source_of(module: str) -> Path | None:
    """Return the file of a module of this project, or of a template by its name; None for anything else."""
    if module.endswith(".jinja"):
        return package_folder("templates") / module
    head, _, rest = module.partition(".")
    package, _, rest = rest.partition(".")
    if head != PROJECT or not package:
        return None
    try:
        place = package_folder(package).joinpath(*rest.split(".")) if rest else package_folder(package)
    except (ModuleNotFoundError, NotADirectoryError, TypeError):  # a name of the facade, no folder
        return None
    found = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return found if found.is_file() else None


@cache
def reached_from(module: str) -> set[str]:
    """Return the modules and templates that a module or template names itself."""
    path = source_of(module)
    if path is None:
        return set()
    text = path.read_text("utf-8")
    found = set(_TEMPLATE.findall(text))
    parts = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for origin, names, plain in _IMPORT.findall(text):
        dots = len(origin) - len(origin.lstrip("."))
        base = ".".join([*parts[: len(parts) - dots + 1], *filter(None, [origin[dots:]])]) if dots else origin or plain
        found |= {base, *(f"{base}.{name}" for name in re.findall(r"(\w+)(?:[ \t]+as[ \t]+\w+)?", names))}
    return {name for name in found if source_of(name) is not None}


def closure(modules: Iterable[str]) -> tuple[str, ...]:
    """Return the modules and all that they reach, sorted."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += reached_from(name)
    return tuple(sorted(found))


@cache
def digest(*modules: str) -> str:
    """Return the digest of the sources of modules and of all that they reach."""
    state = hashlib.sha256()
    for name in closure(modules):
        path = source_of(name)
        if path is None:
            raise ModuleNotFoundError(name)
        state.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return state.hexdigest()


def dated(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function a name in Numba's cache that tells all sources that its machine code is made of.

    Numba compares the file of a function only; machine code made with another version of a second file would be taken
    as good, and read its arguments wrongly. Of a user's type the sources are those that emitted modules build on.
    """
    prepare()
    module = function.__module__
    known = module if source_of(module) is not None else f"{PROJECT}.runtime.lanemath"
    function.__qualname__ = f"{function.__name__}_{digest(known)[:12]}"
    return function
