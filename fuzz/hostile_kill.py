"""Results written again and again by processes that are killed at random moments: old or new, never anything else.

    python -m fuzz.hostile_kill [--kills 20] [--seed 1]

For every kind of file a process writes two results in turn to one place until it is killed. The first round, which
ends by itself, says what the two look like as files.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from assurgent import Mechanism

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "four-bar.toml"
KINDS = (".csv", ".json", ".parquet", ".nc", ".npz", ".toml")


def made() -> list[Mechanism]:
    """Return two mechanisms, which differ in one length; everything is loaded that writes results."""
    import xarray  # noqa: F401

    found = [Mechanism.load(EXAMPLE) for _ in range(2)]
    found[1].points["A"] = [1e-3, 0]
    return found


def _started(results: list[Any], folder: Path, ending: str, rounds: int) -> int:
    """Start a process that writes two results in turn to one place; of the last two it leaves copies."""
    process = os.fork()
    if process:
        return process
    try:
        target = folder / f"result{ending}"
        (folder / "ready").touch()
        for k in range(rounds):
            results[k % 2].save(target)
            if k >= rounds - 2:
                (folder / f"copy{k % 2}").write_bytes(target.read_bytes())
        os._exit(0)
    finally:
        os._exit(1)


def torn(results: list[Any], ending: str, kills: int, rng: random.Random, folder: Path) -> int:
    """Return how many killed processes left something that is neither of the two results."""
    if os.waitpid(_started(results, folder, ending, 2), 0)[1]:
        raise RuntimeError(f"{ending}: the results cannot be written")
    whole = {(folder / f"copy{k}").read_bytes() for k in range(2)}
    bad = 0
    for _ in range(kills):
        (folder / "ready").unlink()
        process = _started(results, folder, ending, 10**9)
        while not (folder / "ready").exists():
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.05))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        bad += (folder / f"result{ending}").read_bytes() not in whole
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20, help="of each kind of file (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    mechanisms = made()
    results = [m.run(times=[k / 500 for k in range(500)]) for m in mechanisms]
    rng, bad = random.Random(options.seed), 0
    for ending in KINDS:
        with tempfile.TemporaryDirectory() as name:
            found = torn(mechanisms if ending == ".toml" else results, ending, options.kills, rng, Path(name))
        print(f"{ending:<9s} {options.kills} killed, {found} torn")
        bad += found
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
