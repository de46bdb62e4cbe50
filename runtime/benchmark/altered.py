"""A chain's program with changes in its text: to measure what a part of it costs."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from ..motion.modules import program_module
from ..motion.tables import variants
from .chains import Chain


def altered(chain: Chain, edit: Callable[[str], str], folder: Path, name: str) -> ModuleType:
    """Return the emitted program after an edit of its text, outside the cache of machine code."""
    text = Path(str(program_module(variants(chain.layout)).__file__)).read_text("utf-8")
    path = folder / f"{name}.py"
    path.write_text(edit(text).replace('"cache": True', '"cache": False'), "utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
