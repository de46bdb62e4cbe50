"""Modules of sets of types: emitted at first use, kept and signed beside the user's types."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from ..library import package_folder
from ..store import Store, default_root

Variants = Sequence[tuple[ModuleType, frozenset[int]]]


def stored(kind: str, variants: Variants, makers: Sequence[str], text: Callable[[], str]) -> ModuleType:
    """Return the module of a kind for a set of types; `makers` are the files that decide its text besides the types."""
    description = _description(variants, makers)
    key = hashlib.sha256(description.encode()).hexdigest()[:16]
    name = f"{kind}_{key}"
    store = Store(default_root().parent / f"{kind}s")
    found = store.find(name, key)
    if found is None:
        with store.lock(name):
            found = store.find(name, key)
            if found is None:
                staging = store.stage(name, text(), description)
                try:
                    found = store.publish(staging, name, name, key)
                finally:
                    shutil.rmtree(staging, ignore_errors=True)  # gone already where it was published
    return found.load()


def _description(variants: Variants, makers: Sequence[str]) -> str:
    """Return what decides a module: its types' own texts, their constants, the templates and their support."""
    lines = ["format = 1"]
    for module, constant in variants:
        text = Path(str(module.__file__)).read_bytes()
        lines.append(f"# {module.__name__} {hashlib.sha256(text).hexdigest()} {sorted(constant)}")
    for maker in makers:
        package, rest = maker.split("/", 1)
        digest = hashlib.sha256((package_folder(package) / rest).read_bytes()).hexdigest()
        lines.append(f"# {maker} {digest}")
    return "\n".join(lines) + "\n"
