"""One function walks the items of a program, and how many lanes it walks at a time does not show."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import assurgent
from assurgent.runtime.sequencer import BLOCK

ROOT = Path(__file__).parents[2]


def test_one_function_walks_the_items() -> None:
    # An item is called through `caller`; who else walked over a table of steps were a second executor.
    text = (ROOT / "runtime" / "sequencer.py").read_text("utf-8")
    walks = re.findall(r"for \w+ in range\(len\(steps\)\)", text)
    assert len(walks) == 1
    rooms = [p for room in ("motion", "dynamics", "designs") for p in (ROOT / room).rglob("*.py")]
    assert not [p.name for p in rooms if re.search(r"for \w+ in range\(len\(steps\)\)", p.read_text("utf-8"))]


def test_lanes_beyond_a_block_are_the_same_as_on_their_own() -> None:
    m = assurgent.Mechanism.load(ROOT / "examples" / "four-bar.toml")
    start, stop = m.model().simulation.start, m.model().simulation.stop
    times = np.linspace(start, stop, BLOCK + 501)
    whole = m.run(times=times)
    for k in (0, 1, BLOCK - 1, BLOCK, BLOCK + 500):
        alone = m.run(times=times[k : k + 1])
        for name in ("P", "C") if "P" in whole.points else ("C",):
            point, single = whole.points[name], alone.points[name]
            size = np.abs(point.acceleration).max()
            assert np.allclose(point.position[k], single.position[0], rtol=0, atol=1e-12 * np.abs(point.position).max())
            assert np.allclose(point.acceleration[k], single.acceleration[0], rtol=0, atol=1e-11 * size)
