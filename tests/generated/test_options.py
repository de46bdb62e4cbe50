"""What the compiled functions say of themselves: nothing may be left to whoever calls them first."""

from __future__ import annotations

import importlib

import pytest
from numba.core.dispatcher import Dispatcher

from assurgent.runtime.library import load, manifest

SUPPORT = [
    "assurgent.runtime.sequencer",
    "assurgent.runtime.items",
    "assurgent.runtime.output_items",
    "assurgent.designs.design_kernels",
    "assurgent.motion.global_kernels",
    "assurgent.dynamics.load_kernels",
    "assurgent.dynamics.integrator",
]


def dispatchers(module) -> dict[str, Dispatcher]:
    found = {n: f for n, f in vars(module).items() if isinstance(f, Dispatcher)}
    return {n: f for n, f in found.items() if f.py_func.__module__ == module.__name__}


@pytest.mark.parametrize("name", [entry.name for entry in manifest()])
def test_types_say_that_they_do_without_the_run_time(name: str) -> None:
    # An option that is not said is inherited from the caller, and kept in the cache: a function that returns an array
    # and was first called by code that counts no references would then free arrays that others still use.
    found = dispatchers(load(name).module)
    assert len(found) > 10  # straight-line kernels are read by a compiler of their own, which knows no run-time
    for function in found.values():
        assert function.targetoptions["_nrt"] is False
        assert {"error_model", "fastmath"} <= set(function.targetoptions)


@pytest.mark.parametrize("name", SUPPORT)
def test_support_says_so_too(name: str) -> None:
    found = dispatchers(importlib.import_module(name))
    assert found
    for function in found.values():
        assert function.targetoptions["_nrt"] is False
