"""Calls beside processes that keep every processor busy: threads of BLAS that spin would make them much slower."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WALKER = """
import statistics, sys, time
import numpy as np
import assurgent
m = assurgent.Mechanism.load(sys.argv[2])
for name, body in m.bodies.items():
    if name != "frame":
        body |= {"mass": 0.1, "inertia": 0.01}
times = np.linspace(0.0, 1.0, 201)
spent = []
for _ in range(2 + int(sys.argv[1])):
    begin = time.perf_counter()
    m.inverse(times=times)
    spent.append(time.perf_counter() - begin)
print(statistics.mean(spent[2:]))
"""
FILE = Path(__file__).parents[1] / "examples" / "six-leg-walker.toml"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@contextmanager
def all_processors() -> Iterator[None]:
    """Keep as many processes busy as there are processors."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def inverse_beside(rounds: int, calls: int = 400) -> tuple[float, float]:
    """Return the seconds of `inverse` of six legs as it is, and with one BLAS thread set from outside.

    The mean of many calls: one is shorter than the slice of time that a process gets.
    """
    usual = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
    found: tuple[list[float], list[float]] = [], []
    with all_processors():
        for _ in range(rounds):  # in turn, so that both see the same machine
            for environment, seen in zip((usual, usual | ONE_THREAD), found, strict=True):
                command = [sys.executable, "-c", WALKER, str(calls), str(FILE)]
                done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
                seen.append(float(done.stdout))
    return statistics.median(found[0]), statistics.median(found[1])
