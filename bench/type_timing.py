"""Time of the compiled sweeps of single types, as ratios to filling arrays of the output's size."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from ..mechanism.plans.plan import Array
from ..runtime.group_type import GroupType
from ..runtime.library import load, names
from .chains import drafted
from .competitors import Modular
from .drafts import ProgramDraft

if TYPE_CHECKING:
    from ..codegen.sampling import Configuration

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


@dataclass(frozen=True)
class Timing:
    """Seconds of one sweep over all lanes: filling the output, TD and 3OT."""

    fill: float
    td: float
    tensor: float


def time_group(group: GroupType, c: Configuration, lanes: int) -> Timing:
    """Time the sweeps of a type at one configuration, its known coordinates given."""
    draft = ProgramDraft(group.module.NAME)
    known = draft.rows(len(group.independent))
    found = draft.group(group, known, c.par.tolist(), c.phi.tolist())

    def given(time: Array) -> dict[int, Array]:
        still = np.zeros((2, len(time)))
        return {row: np.vstack([np.full(len(time), x), still]) for row, x in zip(known, c.h, strict=True)}

    modular = Modular(drafted(draft, found, len(found), c.t, 0.0, given), lanes)
    output = np.zeros((3, len(found), lanes))
    modular.time[:] = c.t
    td, tensor = _best(lambda: modular.run("td")), _best(lambda: modular.run("3ot"))
    return Timing(_best(lambda: output.fill(1.5)), td, tensor)


def group_table(chosen: Sequence[str] | None, lanes: int) -> Table:
    """Return position, velocity and acceleration of each type per lane: TD and 3OT, and as ratios."""
    from ..codegen.derive import derive
    from ..codegen.sampling import Sampler
    from ..runtime.library_build import find_specification

    table = Table(
        title=f"position + velocity + acceleration over {lanes} lanes, one thread, best of {REPEATS}; "
        "'fill' writes arrays of the output's size"
    )
    for column in ("type", "positions", "r", "s", "TD ns/lane", "TD / fill", "3OT ns/lane", "3OT / TD"):
        table.add_column(column, justify="left" if column in ("type", "positions") else "right")
    for name in chosen or names():
        group = load(name)
        timing = time_group(group, Sampler(derive(find_specification(name)), seed=3).draw(1)[0], lanes)
        table.add_row(
            escape(name),
            "closed" if group.module.CLOSED_FORM else "Newton",
            str(len(group.dependent)),
            str(len(group.independent)),
            f"{timing.td / lanes * 1e9:.1f}",
            f"{timing.td / timing.fill:.1f}",
            f"{timing.tensor / lanes * 1e9:.1f}",
            f"{timing.tensor / timing.td:.1f}",
        )
    return table
