"""The command that reads a motion for a designer: Grashof, transmission angles, limits, advantage, instant centres."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from .console import err, out
from .mechanism_commands import load_model, time_arguments
from .progress import watched

if TYPE_CHECKING:
    from ..mechanism.model import Model
    from ..report.cycle import Cycle, Range

LISTED = 4  # reversals of a joint in the table; --json has all
GOOD = 40.0  # degrees: a transmission angle below is poor (Alt's rule)


def add_commands(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Declare the command analyse."""
    analyse = add("analyse", help="read a motion: transmission angles, limits, dead points, instant centres")
    analyse.add_argument("file", metavar="FILE", help="mechanism file (TOML)")
    time_arguments(analyse)
    analyse.add_argument("--json", action="store_true", help="as JSON")


def command_analyse(options: argparse.Namespace) -> int:
    from ..mechanism.grashof import four_bars
    from ..motion.kinematics import prepare
    from ..report.cycle import cycle_of

    model = load_model(options)
    with watched(err, "solving ...") as progress:
        structure, program = prepare(model, progress)
        cycle = cycle_of(model, structure, program, model.simulation.start, model.simulation.stop)
    facts = four_bars(model, structure)
    if options.json:
        print(json.dumps(_as_json(model, cycle, facts), ensure_ascii=False))
    else:
        out.print(f"[bold]{escape(model.name or 'mechanism')}[/]", highlight=False)
        for fact in facts:
            out.print(escape(fact), highlight=False)
        for table in (_transmission(cycle), _limits(cycle), _advantage(model, cycle), _centres(model, cycle)):
            if table is not None and table.row_count:
                out.print(table)
    if cycle.stop is not None:
        out.print(f"[yellow]![/] the motion ends early: {escape(cycle.stop.message)}", highlight=False)
    return 0


def _transmission(cycle: Cycle) -> Table:
    table = Table(title="transmission angles, 90° at best")
    for column in ("dyad", "least", "at t s", "largest", ""):
        table.add_column(column, justify="left" if column in ("dyad", "") else "right")
    for group in cycle.groups:
        angle = group.transmission
        if angle is not None and len(angle):
            low, high = np.degrees([angle.min(), angle.max()])
            poor = "poor: forces grow there" if low < GOOD else ""
            table.add_row(escape(group.name), f"{low:.2f}°", f"{group.at:.5g}", f"{high:.2f}°", poor)
    return table


def _limits(cycle: Cycle) -> Table:
    table = Table(title="limits of motion; where a joint turns back it could not drive the mechanism: a dead point")
    for column in ("joint", "from", "to", "turns back at t s"):
        table.add_column(column, justify="left" if column == "joint" else "right")
    for found in cycle.ranges:
        if found.driven and not found.reversals:
            ends = "driven"
        else:
            ends = ", ".join(f"{t if abs(t) > 1e-12 else 0.0:.5g}" for t, _ in found.reversals[:LISTED])
            ends += ", ..." if len(found.reversals) > LISTED else ""
        low, high = ("whole turns", "") if found.whole_turns else (_shown(found, found.low), _shown(found, found.high))
        table.add_row(escape(found.joint), low, high, ends)
    return table


def _shown(found: Range, value: float) -> str:
    return f"{np.degrees(value):.3f}°" if found.quantity in ("angle", "turn") else f"{value:.6g} m"


def _advantage(model: Model, cycle: Cycle) -> Table:
    from ..motion.mechanical_advantage import mechanical_advantage

    table = Table(title="mechanical advantage: effort at the joint over that of the driver")
    for column in ("joint", "at the start", "least", "at t s"):
        table.add_column(column, justify="left" if column == "joint" else "right")
    for name, ratio in mechanical_advantage(model, cycle.results).items():
        k = int(np.argmin(np.abs(ratio)))
        table.add_row(escape(name), f"{ratio[0]:.5g}", f"{ratio[k]:.5g}", f"{cycle.results.time[k]:.5g}")
    return table


def _centres(model: Model, cycle: Cycle) -> Table | None:
    from ..pictures.centres import shown_centres

    if model.dimension != 2 or not len(cycle.results):
        return None
    table = Table(title=f"instant centres at t = {cycle.results.time[0]:g} s")
    for column in ("of", "x m", "y m"):
        table.add_column(column, justify="left" if column == "of" else "right")
    for name, path in shown_centres(model, cycle.results).items():
        cells = [f"{x:.6g}" for x in path[0]] if np.isfinite(path[0]).all() else ["infinity", ""]
        table.add_row(escape(name), *cells)
    return table


def _as_json(model: Model, cycle: Cycle, facts: list[str]) -> dict[str, Any]:
    from ..motion.mechanical_advantage import mechanical_advantage
    from ..pictures.centres import shown_centres

    centres = shown_centres(model, cycle.results) if model.dimension == 2 and len(cycle.results) else {}
    return {
        "mechanism": model.name,
        "facts": facts,
        "time": cycle.results.time.tolist(),
        "transmission": {
            g.name: {"time": g.time.tolist(), "angle": g.transmission.tolist()}
            for g in cycle.groups
            if g.transmission is not None
        },
        "limits": {
            r.joint: {
                "quantity": r.quantity,
                "low": r.low,
                "high": r.high,
                "whole_turns": r.whole_turns,
                "reversals": [{"time": t, "value": v} for t, v in r.reversals],
            }
            for r in cycle.ranges
        },
        "mechanical_advantage": {n: _plain(v) for n, v in mechanical_advantage(model, cycle.results).items()},
        "centres": {n: [_plain(p) for p in path] for n, path in centres.items()},
    }


def _plain(values: Any) -> list[float | None]:
    """Return numbers for JSON, null for what is not finite."""
    return [float(v) if np.isfinite(v) else None for v in values]


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {"analyse": command_analyse}
