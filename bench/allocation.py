"""No allocation in the loop, shown: what a run of a compiled driver takes from every allocator, for two lengths."""

from __future__ import annotations

import functools
import gc
import os
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import chains
from .competitors import CLOSED, Global, Modular
from .newton_cases import triad_alone


@dataclass(frozen=True)
class Taken:
    """What one run took: blocks of Numba's run-time, bytes of Python's and NumPy's heap, bytes of resident memory."""

    numba_blocks: int
    heap: int
    resident: int


def _resident() -> int:
    """Return the resident memory of this process in bytes; 0 where the system does not tell."""
    path = Path("/proc/self/statm")
    return int(path.read_text("utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE") if path.is_file() else 0


def taken(run: Callable[[], None]) -> Taken:
    """Return what a call takes, after one that is not counted."""
    from numba.core.runtime import _nrt_python, rtsys

    run()
    _nrt_python.memsys_enable_stats()
    gc.collect()
    gc.disable()
    try:
        resident, blocks = _resident(), rtsys.get_allocation_stats().alloc
        run()
        blocks, resident = rtsys.get_allocation_stats().alloc - blocks, _resident() - resident
        tracemalloc.start()
        run()
        heap = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    finally:
        gc.enable()
        _nrt_python.memsys_disable_stats()
    return Taken(blocks, heap, resident)


def measure(k: int, steps: tuple[int, int]) -> dict[str, tuple[Taken, Taken]]:
    """Return what each method takes on the planar chain of k dyads, Newton on a triad, for two numbers of steps."""
    found: dict[str, list[Taken]] = {}
    for n in steps:
        chain = chains.planar(k)
        modular = Modular(chain, n)
        for name, way in CLOSED.items():
            found.setdefault(name, []).append(taken(functools.partial(modular.run, *way)))
        triad = Modular(triad_alone()[0], n)
        found.setdefault("newton", []).append(taken(triad.run))
        system = Global(chain, n, "global-sparse", True, modular.state[:, :, 0].copy())
        found.setdefault("global_sparse", []).append(taken(system.run))
    return {name: (a, b) for name, (a, b) in found.items()}
