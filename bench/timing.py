"""Processor time of actions that compete: taken in turns, the least of several rounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

ENOUGH = 1.0  # seconds after which an action is not repeated more often
ROUNDS = 7
QUICK = 5  # times as many rounds for what is done quickly: a few milliseconds vary more than a second
OTHER_DATA = 8_000_000  # numbers, 64 MB: more than the caches hold


def least(actions: Mapping[str, Callable[[], Any]], rounds: int = ROUNDS) -> dict[str, float]:
    """Return the least processor time of each action in seconds; a first call, which may compile, is not counted.

    Processor time, since other programs may hold the machine; in turns, and with the caches full of other data before
    each, so that all meet the same conditions: what one leaves to be written to memory, the next would pay for.
    """
    found: dict[str, float] = {}
    other = np.zeros(OTHER_DATA)
    spent = dict.fromkeys(actions, 0.0)
    for action in actions.values():
        action()
    for i in range(rounds * QUICK):
        for name, action in actions.items():
            if spent[name] > (ENOUGH if i < rounds else ENOUGH / QUICK):
                continue
            other.fill(spent[name])
            begin = time.thread_time()
            action()
            took = time.thread_time() - begin
            spent[name] += took
            found[name] = min(found.get(name, took), took)
    return found


def growth(sizes: list[int], seconds: list[float]) -> float:
    """Return the exponent of growth, fitted to the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
