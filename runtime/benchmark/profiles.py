"""Shares of position, velocity, acceleration and other in a sweep: the same program with stores left out.

A sweep stores φ, φ̇ and φ̈ in the same loop. Without the stores of φ̈ the compiler drops all that only φ̈ needs, without
those of φ̇ too the same for φ̇, and without any what remains is the walk over the groups: the differences are the shares.
"""

from __future__ import annotations

import re
import tempfile
from itertools import pairwise
from pathlib import Path
from types import ModuleType

from .altered import altered
from .chains import Chain
from .methods import Modular
from .timing import least

STORE = re.compile(r"^\s+(out|outdot|outddot)\[p\d+, \w+\] = .*\n", re.MULTILINE)
FAILED = re.compile(r"^\s+failed \+= not .*\n", re.MULTILINE)
METHODS = {"MOD_TD": "run_td", "MOD_3OT": "run_3ot"}
# what is stored in each of the programs, the last being the whole one
KEPT = ((), ("out",), ("out", "outdot"), ("out", "outdot", "outddot"))


def shares(chain: Chain, n: int, rounds: int) -> dict[str, tuple[float, ...]]:
    """Return position, velocity, acceleration and other in per cent, for TD and 3OT; chains of closed forms only."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        runs = [Modular(chain, n, _program(chain, kept, Path(folder))) for kept in KEPT]
        for method, driver in METHODS.items():
            actions = {
                str(i): lambda run=run: run.run(driver, complete=False)  # noqa: B023
                for i, run in enumerate(runs)
            }
            seconds = list(least(actions, rounds).values())
            parts = [max(b - a, 0.0) for a, b in pairwise(seconds)]
            total = sum(parts) + seconds[0]
            found[method] = tuple(100 * x / total for x in (*parts, seconds[0]))
    return found


def _program(chain: Chain, kept: tuple[str, ...], folder: Path) -> ModuleType:
    """Return the chain's program with the stores of `kept` only."""

    def edit(text: str) -> str:
        text = STORE.sub(lambda m: m.group(0) if m.group(1) in kept else "", text)
        return text if kept else FAILED.sub("", text)

    return altered(chain, edit, folder, f"profiled_{len(kept)}")
