"""Transform modules: one per set of group types, emitted at first use, kept and signed beside the user's types."""

from __future__ import annotations

import hashlib
import shutil
from functools import cache
from pathlib import Path
from types import ModuleType

from ..library import package_folder
from ..motion.modules import Variants
from ..store import Store, default_root


def transform_module(variants: Variants) -> ModuleType:
    """Return the module that passes R through groups of these types; emitted and stored where it is new."""
    return _loaded(tuple(variants))


@cache
def _loaded(variants: tuple[tuple[ModuleType, frozenset[int]], ...]) -> ModuleType:
    description = _description(variants)
    key = hashlib.sha256(description.encode()).hexdigest()[:16]
    name = f"transform_{key}"
    store = Store(default_root().parent / "transforms")
    found = store.find(name, key)
    if found is None:
        with store.lock(name):
            found = store.find(name, key)
            if found is None:
                from ...codegen.transform import transform_text

                staging = store.stage(name, transform_text(variants), description)
                try:
                    found = store.publish(staging, name, name, key)
                finally:
                    shutil.rmtree(staging, ignore_errors=True)  # gone already where it was published
    return found.load()


def _description(variants: tuple[tuple[ModuleType, frozenset[int]], ...]) -> str:
    """Return what decides a transform module: its types' own texts, their constants, the template and its support."""
    lines = ["format = 1"]
    for module, constant in variants:
        text = Path(str(module.__file__)).read_bytes()
        lines.append(f"# {module.__name__} {hashlib.sha256(text).hexdigest()} {sorted(constant)}")
    for path in (
        package_folder("templates") / "transform.py.jinja",
        package_folder("codegen") / "transform.py",
        package_folder("runtime") / "dynamics" / "chain.py",
    ):
        lines.append(f"# {path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}")
    return "\n".join(lines) + "\n"
