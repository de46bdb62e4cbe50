"""Processor time of actions that compete: taken in turns, the least of several rounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

ENOUGH = 1.0  # seconds after which an action is not repeated more often
ROUNDS = 7


def least(actions: Mapping[str, Callable[[], Any]], rounds: int = ROUNDS) -> dict[str, float]:
    """Return the least processor time of each action in seconds; a first call, which may compile, is not counted.

    Processor time, since other programs may hold the machine; in turns, so that all meet the same conditions.
    """
    found: dict[str, float] = {}
    spent = dict.fromkeys(actions, 0.0)
    for action in actions.values():
        action()
    for _ in range(rounds):
        for name, action in actions.items():
            if spent[name] > ENOUGH:
                continue
            begin = time.thread_time()
            action()
            took = time.thread_time() - begin
            spent[name] += took
            found[name] = min(found.get(name, took), took)
    return found


def growth(sizes: list[int], seconds: list[float]) -> float:
    """Return the exponent of growth, fitted to the logarithms."""
    import numpy as np

    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
