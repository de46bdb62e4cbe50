"""The command `assurgent bench`: what it measures, prints and writes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from ..common.errors import InputError, nearest

if TYPE_CHECKING:
    from .claims import Claim

FURTHER = {"zoo": (12, 0), "triad": (4, 2), "jansen": (8, 0), "stewart": (0, 9), "spatial8": (0, 8)}  # nEq = a k + b
CASES = ("users", "planar", "spatial", *FURTHER, "choices", "formulations", "types")
PLANAR_SIZES = (22, 42, 62, 82, 102, 122, 142, 162, 182, 202)
LONG_SIZES = (22, 102, 202, 402, 802, 2002)
SPATIAL_SIZES = (14, 86, 406, 806)
GROWTH_SIZES = (10, 30, 100, 300, 1000)
GROWTH_LANES = 2_400_000  # dyads × steps: a state of about 170 MB, beyond the caches, at every size
PEERS_AT = (22, 202)
STEPS = 24_000  # of the paper
PAPER_STEPS = 2400  # a tenth of the paper's, whose figures are scaled


def add_arguments(bench: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    bench.add_argument(
        "names", metavar="NAME", nargs="*",
        help="with --types: the types to time; with --case users: run, designs, ... (default: all)",
    )  # fmt: skip
    bench.add_argument("--case", metavar="NAME", help=f"one of {', '.join(CASES)} (default: all but types)")
    bench.add_argument("--sizes", metavar="N1,N2", help="numbers of constraint equations instead of the usual ones")
    bench.add_argument("--steps", type=int, help="time steps (default 24000; with --paper 2400)")
    bench.add_argument("--rounds", type=int, default=7, help="rounds of which the least time counts")
    bench.add_argument("--long", action="store_true", help="planar: to 2002 equations; --startup: every shipped type")
    bench.add_argument("--json", metavar="OUT", help="write all figures, times in seconds")
    bench.add_argument("--plots", metavar="FOLDER", help="save pictures after the paper's Figures 7, 8 and 9")
    bench.add_argument(
        "--peers", action=argparse.BooleanOptionalAction, default=True,
        help="planar: other programs on the same chain, where they are installed (default: yes)",
    )  # fmt: skip
    bench.add_argument(
        "--dynamics", action="store_true", help="forward dynamics beside Exudyn, MuJoCo and Pinocchio instead"
    )
    bench.add_argument(
        "--paper", action="store_true",
        help="Tables 3 to 5 and Figures 7 to 9 of the paper, like for like, instead (--case: one study alone)",
    )  # fmt: skip
    bench.add_argument("--startup", action="store_true", help="measure what users wait for instead")
    bench.add_argument("--types", action="store_true", help="time the sweeps of single group types instead")
    bench.add_argument("--lanes", type=int, default=2400, help="with --types: lanes of a sweep (default %(default)s)")


def run(options: argparse.Namespace, out: Console) -> int:
    """Measure what was asked for; 0 whether or not the claims hold, which depends on the machine."""
    case = "types" if options.types or (options.names and not options.case) else options.case
    if case is None and options.sizes:
        case = "planar"
    if case is not None and case not in CASES:
        raise InputError(f"--case {case}: the cases are {', '.join(CASES)}{nearest(case, CASES)}")
    if options.steps is None:
        options.steps = PAPER_STEPS if options.paper else STEPS
    if options.steps < 2 or options.rounds < 1:
        raise InputError("--steps and --rounds: at least 2 steps and one round are needed")
    if options.json and not Path(options.json).parent.is_dir():
        raise InputError(f"--json {options.json}: the folder {Path(options.json).parent} does not exist")
    if options.plots:
        if Path(options.plots).is_file():
            raise InputError(f"--plots {options.plots}: this is a file - give a folder")
        Path(options.plots).mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    if options.startup:
        from .startup import report

        found["startup"] = report(out, every=options.long)
    elif options.paper:
        found.update(_paper(options, out))
    elif options.dynamics:
        from . import dynamics_study as dynamics
        from .printed_tables import machine

        found["machine"] = machine()
        out.print(found["machine"], highlight=False)
        found["dynamics"] = dynamics.report(out, options.rounds)
    elif case == "types":
        from .type_timing import group_table

        out.print(group_table(options.names or None, options.lanes))
    else:
        from .printed_tables import machine

        found["machine"] = machine()
        out.print(found["machine"], highlight=False)
        for name in [case] if case else CASES[:-1]:
            if name == "planar":
                found.update(_planar(options, out))
            else:
                measure: Callable[[str, argparse.Namespace, Console], Any] = _OTHERS.get(name, _further)
                found[name] = measure(name, options, out)
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return 0


def _sizes(text: str | None, usual: Sequence[int], dyad: int, rest: int) -> list[int]:
    """Return the numbers of groups for the asked numbers of equations."""
    if text is None:
        return [(n - rest) // dyad for n in usual]
    found = []
    for part in text.split(","):
        if not part.strip().isdigit() or int(part) < rest + dyad or (int(part) - rest) % dyad:
            raise InputError(f"--sizes {text}: '{part}' - numbers of equations are {rest} + {dyad}k with k from 1 on")
        found.append((int(part) - rest) // dyad)
    return found


def _claims(claims: Sequence[Claim], out: Console, steps: int = STEPS) -> None:
    for claim in claims:
        out.print(str(claim), highlight=False)
    if (
        claims and steps < STEPS
    ):  # calls weigh more, and sweeps are compiled for all coordinates, not for those that move
        out.print(f"the limits are those for {STEPS} steps, not for {steps}", highlight=False)
    out.print()


def _planar(options: argparse.Namespace, out: Console) -> dict[str, Any]:
    from . import allocation, claims, peers, studies
    from . import printed_tables as report

    steps, rounds = options.steps, options.rounds
    sizes = _sizes(options.sizes, LONG_SIZES if options.long else PLANAR_SIZES, 2, 2)
    rows = [studies.planar(k, steps, rounds) for k in sizes]
    beside = []
    missing: list[str] = []
    if options.peers:
        chosen = [row for row in rows if row.n_equations in PEERS_AT] or rows[:1]
        for row in chosen:
            ready, missing = peers.contest(row, steps, rounds)
            beside.append((row, ready))
    for table in report.planar_tables(rows, steps):
        report.show(out, table)
    profiled = [row for row in rows if row.n_equations <= studies.LARGEST_DENSE] or rows
    studies.planar_profile(profiled[-1], steps)
    report.show(out, report.profile_table(profiled[-1], "planar", paper=False))
    growth = studies.growth_rows(GROWTH_SIZES, min(GROWTH_LANES, 100 * steps), rounds)
    report.show(out, report.growth_table(growth, min(GROWTH_LANES, 100 * steps)))
    lengths = (max(steps // 10, 2), steps)
    memory = allocation.measure(min(sizes[0], 10), lengths)
    report.show(out, report.allocation_table(memory, lengths))
    if options.peers:
        report.show_peers(out, beside, missing, steps)
    shown = [*claims.planar(rows), *claims.growing(growth), *claims.allocation(memory)]
    _claims(shown, out, steps)
    if options.plots:
        from . import figures as pictures

        pictures.planar(rows, Path(options.plots) / "figure7-planar.png")
        pictures.growing(growth, Path(options.plots) / "growth.png")
    return {
        "planar": [row.as_json() for row in rows],
        "growth": [{"dyads": k, **s} for k, s in growth.items()],
        "allocation": {name: [vars(t) for t in pair] for name, pair in memory.items()},
    }


def _paper(options: argparse.Namespace, out: Console) -> dict[str, Any]:
    """Both case studies, or the one that --case names; --sizes are those of the planar one where both are asked for."""
    from . import paper_studies
    from .printed_tables import machine

    if options.case not in (None, "planar", "spatial"):
        raise InputError(f"--paper --case {options.case}: the paper's cases are planar and spatial")
    out.print(machine(), highlight=False)
    wide = options.sizes if options.case == "spatial" else None
    folder = Path(options.plots or "bench-paper")
    planar = [] if options.case == "spatial" else _sizes(options.sizes, PLANAR_SIZES, 2, 2)
    spatial = [] if options.case == "planar" else _sizes(wide, SPATIAL_SIZES, 8, 6)
    found = paper_studies.report(out, planar, spatial, options.steps, options.rounds, folder)
    return {"machine": machine(), **found}


def _spatial(_: str, options: argparse.Namespace, out: Console) -> list[dict[str, Any]]:
    from . import claims, studies
    from . import printed_tables as report
    from .chains import SPATIAL_SPEEDS

    rows = []
    for k in _sizes(options.sizes, SPATIAL_SIZES, 8, 6):
        rows += [studies.spatial(k, speed, options.steps, options.rounds) for speed in SPATIAL_SPEEDS]
    for table in report.spatial_tables(rows, options.steps):
        report.show(out, table)
    studies.spatial_profile(rows[-1], options.steps)
    report.show(out, report.profile_table(rows[-1], "spatial", paper=True))
    _claims(claims.spatial(rows), out, options.steps)
    if options.plots:
        from . import figures as pictures

        folder = Path(options.plots)
        pictures.spatial(rows, folder / "table4-spatial.png")
        pictures.accuracy(folder / "figure8-accuracy.png")
        pictures.stages(rows[-1], folder / "figure9-stages.png")
    return [row.as_json() for row in rows]


def _further(case: str, options: argparse.Namespace, out: Console) -> list[dict[str, Any]]:
    from . import claims, further
    from . import printed_tables as report

    _build, usual, title = further.CASES[case]
    a, b = FURTHER[case]
    if options.sizes and not a:
        raise InputError(f"--sizes: {case} has one size, of {b} equations")
    sizes = _sizes(options.sizes, (), a, b) if options.sizes else usual
    rows = [further.measure(case, k, options.steps, options.rounds) for k in sizes]
    report.show(out, report.case_table(case, title, rows, options.steps))
    _claims(claims.alone(case, rows), out, options.steps)
    return [row.as_json() for row in rows]


def _choices(_: str, options: argparse.Namespace, out: Console) -> dict[str, float]:
    from . import choices
    from . import printed_tables as report

    (k,) = _sizes(options.sizes, (202,), 2, 2)[:1]
    found = choices.measure(k, options.steps, options.rounds)
    report.show(out, choices.choices_table(found, k, options.steps))
    return found


def _users(_: str, options: argparse.Namespace, out: Console) -> list[dict[str, Any]]:
    from . import users

    out.print("What users call", highlight=False)
    rows = users.measure(options.steps, options.rounds, options.names)
    for row in rows:
        out.print(str(row), highlight=False, markup=False)
    out.print()
    return [{"what": row.what, "why": row.why, **(vars(row.claim) if row.claim else {})} for row in rows]


def _formulations(_: str, options: argparse.Namespace, out: Console) -> dict[str, Any]:
    from . import formulations

    return formulations.report(out, options.rounds)


_OTHERS: dict[str, Callable[[str, argparse.Namespace, Console], Any]] = {
    "users": _users, "spatial": _spatial, "choices": _choices, "formulations": _formulations,
}  # fmt: skip
