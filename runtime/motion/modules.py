"""Program modules: one per set of types, emitted at first use, kept and signed beside the user's types."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

from ..library import package_folder
from ..store import Store, default_root

Variants = Sequence[tuple[ModuleType, frozenset[int]]]


def program_module(variants: Variants) -> ModuleType:
    """Return the module that runs groups of these types; emitted and stored where it is new."""
    return _loaded(tuple(variants))


@cache
def _loaded(variants: tuple[tuple[ModuleType, frozenset[int]], ...]) -> ModuleType:
    description = _description(variants)
    key = hashlib.sha256(description.encode()).hexdigest()[:16]
    name = f"program_{key}"
    store = Store(default_root().parent / "programs")
    found = store.find(name, key)
    if found is None:
        with store.lock(name):
            found = store.find(name, key)
            if found is None:
                from ...codegen.program import program_text

                staging = store.stage(name, program_text(variants), description)
                try:
                    found = store.publish(staging, name, name, key)
                finally:
                    shutil.rmtree(staging, ignore_errors=True)  # gone already where it was published
    return found.load()


def _description(variants: tuple[tuple[ModuleType, frozenset[int]], ...]) -> str:
    """Return what decides a program module: its types' own texts, their constants, the template and its support."""
    lines = ["format = 1"]
    for module, constant in variants:
        text = Path(str(module.__file__)).read_bytes()
        lines.append(f"# {module.__name__} {hashlib.sha256(text).hexdigest()} {sorted(constant)}")
    for path in (
        package_folder("templates") / "program.py.jinja",
        package_folder("templates") / "system.py.jinja",
        package_folder("codegen") / "program.py",
        package_folder("codegen") / "specialise.py",
        package_folder("runtime") / "motion" / "kernels.py",
        package_folder("runtime") / "motion" / "lanemath.py",
    ):
        lines.append(f"# {path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}")
    return "\n".join(lines) + "\n"
