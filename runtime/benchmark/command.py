"""The command `assurgent bench`: what it measures, prints and writes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from ..errors import InputError

CASES = ("planar", "spatial", "triad", "types")
PLANAR_SIZES = (22, 42, 62, 82, 102, 122, 142, 162, 182, 202)
LONG_SIZES = (22, 102, 202, 402, 802, 2002)
SPATIAL_SIZES = (14, 86, 406, 806)
LARGEST_DENSE = 202


def add_arguments(bench: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    bench.add_argument("names", metavar="TYPE", nargs="*", help="with --types: the types to time (default: all)")
    bench.add_argument("--case", metavar="NAME", help=f"one of {', '.join(CASES)} (default: planar, spatial and triad)")
    bench.add_argument("--sizes", metavar="N1,N2", help="numbers of constraint equations instead of the paper's")
    bench.add_argument("--steps", type=int, default=24_000, help="time steps (default %(default)s)")
    bench.add_argument("--rounds", type=int, default=7, help="rounds of which the least time counts")
    bench.add_argument("--long", action="store_true", help="planar: to 2002 equations")
    bench.add_argument("--json", metavar="OUT", help="write all figures, times in seconds")
    bench.add_argument("--plots", metavar="FOLDER", help="save time over size as pictures")
    bench.add_argument("--startup", action="store_true", help="measure what users wait for instead")
    bench.add_argument("--types", action="store_true", help="time the sweeps of single group types instead")
    bench.add_argument("--lanes", type=int, default=2400, help="with --types: lanes of a sweep (default %(default)s)")


def run(options: argparse.Namespace, out: Console) -> int:
    """Measure what was asked for; 0 whether or not the claims hold, which depends on the machine."""
    case = "types" if options.types or (options.names and not options.case) else options.case
    if case is not None and case not in CASES:
        raise InputError(f"--case {case}: the cases are {', '.join(CASES)}")
    if options.steps < 2 or options.rounds < 1:
        raise InputError("--steps and --rounds: at least 2 steps and one round are needed")
    found: dict[str, Any] = {}
    if options.startup:
        from .startup import measure, table

        found["startup"] = measure()
        out.print(table(found["startup"]))
    elif case == "types":
        from .types import group_table

        out.print(group_table(options.names or None, options.lanes))
    else:
        from .report import machine

        found["machine"] = machine()
        out.print(found["machine"], highlight=False)
        for name in [case] if case else ["planar", "spatial", "triad"]:
            found[name] = _MEASURES[name](options, out)
    if options.json:
        path = Path(options.json)
        if not path.parent.is_dir():
            raise InputError(f"--json {path}: the folder {path.parent} does not exist")
        path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return 0


def _sizes(text: str | None, usual: Sequence[int], dyad: int, rest: int) -> list[int]:
    """Return the numbers of groups for the asked numbers of equations."""
    if text is None:
        return [(n - rest) // dyad for n in usual]
    found = []
    for part in text.split(","):
        if not part.strip().isdigit() or int(part) < rest + dyad or (int(part) - rest) % dyad:
            raise InputError(
                f"--sizes {text}: '{part}' - numbers of equations are {rest} + {dyad}k with k from 1 on"
            )
        found.append((int(part) - rest) // dyad)
    return found


def _planar(options: argparse.Namespace, out: Console) -> list[dict[str, Any]]:
    from . import report, studies

    usual = LONG_SIZES if options.long else PLANAR_SIZES
    rows = []
    for k in _sizes(options.sizes, usual, 2, 2):
        rows.append(studies.planar(k, options.steps, options.rounds, dense=2 * k + 2 <= LARGEST_DENSE))
    for table in report.planar_tables(rows, options.steps):
        out.print(table)
    _claims(report.planar_claims(rows), out)
    if options.plots:
        report.plot(rows, "planar four-bar, as Figure 7", Path(options.plots) / "planar.png")
    return [row.as_json() for row in rows]


def _spatial(options: argparse.Namespace, out: Console) -> list[dict[str, Any]]:
    from . import report, studies
    from .chains import SPATIAL_SPEEDS

    rows = []
    for k in _sizes(options.sizes, SPATIAL_SIZES, 8, 6):
        rows += [studies.spatial(k, speed, options.steps, options.rounds) for speed in SPATIAL_SPEEDS]
    out.print(report.spatial_table(rows, options.steps))
    out.print(report.profile_table(rows[-1]))
    _claims(report.spatial_claims(rows), out)
    if options.plots:
        fastest = [row for row in rows if row.speed == SPATIAL_SPEEDS[-1]]
        report.plot(fastest, "spatial slider-crank", Path(options.plots) / "spatial.png")
    return [row.as_json() for row in rows]


def _claims(claims: Sequence[object], out: Console) -> None:
    for claim in claims:
        out.print(str(claim), highlight=False)


def _triad(options: argparse.Namespace, out: Console) -> list[dict[str, Any]]:
    from . import report, studies

    row = studies.triad(options.steps, options.rounds)
    out.print(report.triad_table(row, options.steps))
    _claims(report.triad_claims(row), out)
    return [row.as_json()]


_MEASURES = {"planar": _planar, "spatial": _spatial, "triad": _triad}
