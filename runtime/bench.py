"""Time of the compiled sweeps, as ratios to filling arrays of the output's size, measured side by side in one run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from .library import load, names

REPEATS = 7


def _best(action: Callable[[], Any], repeats: int = REPEATS) -> float:
    action()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        for _ in range(10):
            action()
        times.append((time.perf_counter() - begin) / 10)
    return min(times)


def group_table(chosen: Sequence[str] | None, lanes: int) -> Table:
    """Return position, velocity and acceleration of each type per lane: TD and 3OT, in nanoseconds and against a fill."""
    from ..codegen.derive import derive
    from ..codegen.sampling import Sampler
    from .cli import _specification

    table = Table(title=f"position + velocity + acceleration over {lanes} lanes, one thread (best of {REPEATS}); ratios to filling the output")
    for column in ("type", "positions", "r", "s", "TD ns/lane", "TD / fill", "3OT ns/lane", "3OT / TD"):
        table.add_column(column, justify="left" if column in ("type", "positions") else "right")
    for name in chosen or names():
        group = load(name)
        m, r, s = group.module, len(group.dependent), len(group.independent)
        c = Sampler(derive(_specification(name)), seed=3).draw(1)[0]
        state = np.zeros((3, r + s, lanes))
        state[:, :s] = np.stack([c.h, np.zeros(s), np.zeros(s)])[:, :, None]
        state[0, s:] = c.phi[:, None]
        q, qdot, qddot = state
        t, work = np.full(lanes, c.t), np.zeros(m.WORK)
        output = np.zeros((3, r, lanes))

        def run(function: Any) -> Callable[[], Any]:
            rows = (np.arange(s), c.par, np.ones(len(m.BRANCHES)))
            return lambda: function(t, q, qdot, qddot, *rows, q, qdot, qddot, np.arange(s, s + r), 0, lanes, work)

        fill, td, tensor = _best(lambda: output.fill(1.5)), _best(run(m.sweep)), _best(run(m.sweep_3ot))
        table.add_row(escape(name), "closed" if m.CLOSED_FORM else "Newton", str(r), str(s), f"{td / lanes * 1e9:.1f}", f"{td / fill:.1f}",
                      f"{tensor / lanes * 1e9:.1f}", f"{tensor / td:.1f}")
    return table
