"""Transform modules: one per set of group types, emitted at first use, kept and signed beside the user's types."""

from __future__ import annotations

from functools import cache
from types import ModuleType

from ..motion.modules import Variants, stored


def transform_module(variants: Variants) -> ModuleType:
    """Return the module that passes R through groups of these types; emitted and stored where it is new."""
    return _transform(tuple(variants))


@cache
def _transform(variants: tuple[tuple[ModuleType, frozenset[int]], ...]) -> ModuleType:
    def text() -> str:
        from ...codegen.transform import transform_text

        return transform_text(variants)

    makers = ("templates/transform.py.jinja", "codegen/transform.py", "runtime/dynamics/chain.py")
    return stored("transform", variants, makers, text)
