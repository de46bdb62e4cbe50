"""Assurgent: mechanisms taken apart into structural groups, each with a derived, compiled and verified solver.

>>> import assurgent
>>> results = assurgent.Mechanism.load("four-bar.toml").run()
>>> results.points["C"].acceleration
>>> dyad = assurgent.load("RRR")
>>> dyad.position({"A": (0, 0), "B": (6, 0)}, {"L_AC": 5, "L_BC": 5.5}, branch=-1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "AssemblyError",
    "AssurgentError",
    "GenerationError",
    "GroupType",
    "InputError",
    "Mechanism",
    "Results",
    "batch",
    "four_bar",
    "generate",
    "load",
    "slider_crank",
    "types",
]

if TYPE_CHECKING:
    from assurgent.common.errors import AssemblyError, AssurgentError, GenerationError, InputError
    from assurgent.designs.population import batch
    from assurgent.facade import Mechanism
    from assurgent.linkages import four_bar, slider_crank
    from assurgent.motion.results import Results
    from assurgent.runtime.group_type import GroupType
    from assurgent.runtime.library import load
    from assurgent.runtime.library import names as types
    from assurgent.runtime.library_build import generate

# Imported when first used: `import assurgent` loads neither Numba nor SymPy.
_HOMES = {
    "AssemblyError": ("assurgent.common.errors", "AssemblyError"),
    "AssurgentError": ("assurgent.common.errors", "AssurgentError"),
    "GenerationError": ("assurgent.common.errors", "GenerationError"),
    "InputError": ("assurgent.common.errors", "InputError"),
    "Mechanism": ("assurgent.facade", "Mechanism"),
    "Results": ("assurgent.motion.results", "Results"),
    "GroupType": ("assurgent.runtime.group_type", "GroupType"),
    "batch": ("assurgent.designs.population", "batch"),
    "four_bar": ("assurgent.linkages", "four_bar"),
    "slider_crank": ("assurgent.linkages", "slider_crank"),
    "generate": ("assurgent.runtime.library_build", "generate"),
    "load": ("assurgent.runtime.library", "load"),
    "types": ("assurgent.runtime.library", "names"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'assurgent' has no attribute '{name}'")
    import importlib

    module, attribute = _HOMES[name]
    value = getattr(importlib.import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
