"""What users wait for: imports, start of the program with and without caches, first result, a new type."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.table import Table

ROUNDS = 3

FOUR_BAR = """format = 1
name = "four-bar"
space = "planar"
[points]
A = [0, 0]
B = [0, 2]
C = [4.6, 5.8]
D = [6, 0]
[bodies.frame]
points = ["A", "D"]
[bodies.crank]
points = ["A", "B"]
[bodies.rod]
points = ["B", "C"]
[bodies.rocker]
points = ["D", "C"]
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "A" }
B = { type = "R", bodies = ["crank", "rod"], at = "B" }
C = { type = "R", bodies = ["rod", "rocker"], at = "C" }
D = { type = "R", bodies = ["frame", "rocker"], at = "D" }
[drivers]
theta = { joint = "A", angle = "pi/2 + t" }
[simulation]
start = 0
stop = 1
step = 0.01
"""


def _seconds(command: list[str], environment: dict[str, str], rounds: int) -> float:
    found = []
    for _ in range(rounds):
        begin = time.perf_counter()
        subprocess.run(command, env=environment, check=True, capture_output=True)
        found.append(time.perf_counter() - begin)
    return min(found)


def measure(rounds: int = ROUNDS) -> dict[str, float]:
    """Return seconds of wall time by what is waited for, the least of some rounds; new processes each."""
    python = sys.executable
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "four-bar.toml"
        file.write_text(FOUR_BAR, "utf-8")
        warm = {**os.environ}
        cold = {**warm, "NUMBA_CACHE_DIR": str(folder / "numba")}
        run = [python, "-m", "assurgent", "run", str(file)]
        _seconds(run, warm, 1)  # so that the caches are warm
        return {
            "python": _seconds([python, "-c", "pass"], warm, rounds),
            "import numba": _seconds([python, "-c", "import numba"], warm, rounds),
            "import assurgent": _seconds([python, "-c", "import assurgent"], warm, rounds),
            "run, warm": _seconds(run, warm, rounds),
            "run, no machine code cached": _seconds(run, cold, 1),
            "run, that cache filled": _seconds(run, cold, rounds),
        }


def table(found: dict[str, float]) -> Table:
    """Return the measurements with what they cost over importing Numba, which every run needs."""
    result = Table(title="start-up: wall time in seconds, least of some new processes")
    for head in ("what", "seconds", "over import numba"):
        result.add_column(head, justify="left" if head == "what" else "right")
    for name, seconds in found.items():
        result.add_row(name, f"{seconds:.2f}", f"{seconds - found['import numba']:+.2f}")
    return result
