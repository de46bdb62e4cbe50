"""The examples, read and run once for all tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from assurgent.mechanism.model import Model
from assurgent.mechanism.reader import load
from assurgent.motion.kinematics import run
from assurgent.motion.results import Results

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


@cache
def model_of(name: str) -> Model:
    return load(EXAMPLES / f"{name}.toml")


@cache
def results_of(name: str, method: str = "td") -> Results:
    outcome = run(model_of(name), method=method)
    assert outcome.stop is None
    return outcome.results


def at(name: str, times: list[float]) -> Results:
    outcome = run(model_of(name), np.array(times))
    assert outcome.stop is None
    return outcome.results
