"""What single design choices are worth: the planar chain by MOD_TD with one of them taken back at a time."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.table import Table

from . import chains
from .altered import altered
from .methods import Modular
from .report import table
from .timing import least

BLOCKS = (64, 512, 2048)
AS_IT_IS = "as it is (blocks of 8192 lanes)"


def measure(k: int, n: int, rounds: int) -> dict[str, float]:
    """Return seconds of the planar chain with k dyads by what was changed."""
    chain = chains.planar(k)
    modular = Modular(chain, n)
    actions: dict[str, Callable[[], Any]] = {AS_IT_IS: modular.prepared("run_td")}
    for block in BLOCKS:
        actions[f"blocks of {block} lanes"] = modular.prepared("run_td", block)
    moving = Modular(replace(chain, layout=replace(chain.layout, constants=frozenset())), n)
    actions["fixed points as if they moved"] = moving.prepared("run_td")
    with tempfile.TemporaryDirectory() as folder:
        plain = altered(chain, lambda text: text, Path(folder), "without_vectors")
        actions["no vectors of lanes"] = _without_vectors(Modular(chain, n, plain))
        unfused = altered(chain, _unfused, Path(folder), "unfused")
        actions["no fused multiply-add"] = Modular(chain, n, unfused).prepared("run_td")
        actions["blocks of 1 lane: step by step"] = modular.prepared("run_td", 1)
        actions["Newton in lanes"] = modular.prepared("run_newton_lanes")
        actions["Newton step by step"] = modular.prepared("run_newton")
        return least(actions, rounds)


def _unfused(text: str) -> str:
    return text.replace('"fastmath": {"contract"}', '"fastmath": False').replace('{"contract", "nsz"}', '{"nsz"}')


def _without_vectors(modular: Modular) -> Callable[[], None]:
    """Return a driver that was compiled without LLVM's vectorisers."""
    from numba import config

    before = config.LOOP_VECTORIZE, config.SLP_VECTORIZE
    config.LOOP_VECTORIZE = config.SLP_VECTORIZE = 0
    try:
        modular.run("run_td")
    finally:
        config.LOOP_VECTORIZE, config.SLP_VECTORIZE = before
    return modular.prepared("run_td")


def choices_table(found: dict[str, float], k: int, n: int) -> Table:
    """Return the times, per dyad and step, and beside the program as it is."""
    result = table(
        f"design choices: planar four-bar with {k} dyads, {n} steps, MOD_TD but for the change",
        ("change", "ns a dyad and step", "ratio"),
    )
    for name, seconds in found.items():
        result.add_row(name, f"{1e9 * seconds / k / n:.2f}", f"{seconds / found[AS_IT_IS]:.2f}")
    return result
