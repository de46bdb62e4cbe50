"""What single design choices are worth: the planar chain by MOD_TD with one of them taken back at a time."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from rich.table import Table

from ..runtime.sequence import Item, Sequence
from . import chains
from .competitors import Modular
from .printed_tables import table
from .timing import least

BLOCKS = (64, 512, 2048)
AS_IT_IS = "as it is"


class Unfolded(Sequence):
    """A sequence that takes every row for one that may move."""

    def folded(self, lanes: int) -> bool:
        return False


class Scalar(Sequence):
    """A sequence whose groups were compiled without LLVM's vectorisers, outside the cache of machine code."""

    def _step(self, phase: str, item: Item, folded: bool, at_once: bool) -> list[int] | None:
        from numba import cfunc, config

        from ..runtime.sequencer import CALLED, SIGNATURE

        found = super()._step(phase, item, folded, at_once)
        if found is not None and item.group is not None and phase == "td":
            before = config.LOOP_VECTORIZE, config.SLP_VECTORIZE
            config.LOOP_VECTORIZE = config.SLP_VECTORIZE = 0
            try:
                function = item.group.module.sweep(item.mask if folded else 0)
                compiled = cfunc(SIGNATURE, **{**CALLED, "cache": False})(function)
            finally:
                config.LOOP_VECTORIZE, config.SLP_VECTORIZE = before
            self.kept.append(compiled)  # its code lives as long as it does
            found[0] = int(compiled.address)
        return found

    def __post_init__(self) -> None:
        super().__post_init__()
        self.kept: list[Any] = []


def measure(k: int, n: int, rounds: int) -> dict[str, float]:
    """Return seconds of the planar chain with k dyads by what was changed."""
    chain = chains.planar(k)
    modular = Modular(chain, n)
    actions: dict[str, Callable[[], Any]] = {AS_IT_IS: modular.run}
    for block in BLOCKS:
        actions[f"blocks of {block} lanes"] = functools.partial(modular.run, "td", block)
    actions["fixed points as if they moved"] = Modular(chain, n, sequence=Unfolded(chain.program)).run
    actions["no vectors of lanes"] = Modular(chain, n, sequence=Scalar(chain.program)).run
    actions["blocks of 1 lane: step by step"] = functools.partial(modular.run, "td", 1)
    return least(actions, rounds)


def choices_table(found: dict[str, float], k: int, n: int) -> Table:
    """Return the times, per dyad and step, and beside the program as it is."""
    result = table(
        f"design choices: planar four-bar with {k} dyads, {n} steps, MOD_TD but for the change",
        ("change", "ns a dyad and step", "ratio"),
    )
    for name, seconds in found.items():
        result.add_row(name, f"{1e9 * seconds / k / n:.2f}", f"{seconds / found[AS_IT_IS]:.2f}")
    return result
