"""The commands of dynamics: inverse, simulate, equilibrium."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from rich.markup import escape
from rich.table import Table

from .console import err, out
from .mechanism_commands import SET, check_output, load_model, time_arguments, times
from .printed_motion import ROWS, motion_table
from .progress import tell, watched

if TYPE_CHECKING:
    from ..dynamics.equilibrium import Equilibrium
    from ..mechanism.model import Model
    from ..motion.results import Results

STABLE = "stable: pushed a little, the mechanism stays near this position."
NEUTRAL = "neutral: moved a little, the mechanism stays where it is put; pushed, it goes on."
UNSTABLE = "unstable: pushed a little, it leaves this position, in the mode whose decay is negative."
MODES = (
    "mode: a small vibration about the position. Its size goes with exp(-decay t): decay is 0 without dampers; a "
    "frequency of 0 does not swing."
)


# ---- arguments ----------------------------------------------------------------------------------------------------
def add_commands(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Declare the commands of dynamics."""
    inverse = add("inverse", help="inverse dynamics: efforts of drivers or actuators, reactions of joints")
    _common(inverse)
    inverse.add_argument("--method", default="direct", metavar="NAME", help="direct (default), tangent or inverse")
    simulate = add("simulate", help="forward dynamics: how a mechanism moves under its loads")
    _common(simulate)
    simulate.add_argument(
        "--method",
        metavar="NAME",
        help="partition (default), semirecursive-1, semirecursive-2, dca, dca-projected, global",
    )
    simulate.add_argument(
        "--scheme", default="direct", metavar="NAME", help="of the reactions: direct (default), tangent or inverse"
    )
    simulate.add_argument(
        "--candidates", action="store_true", help="partition: judge all joint coordinates, with what closes the loops"
    )
    simulate.add_argument("--threads", type=int, default=1, metavar="N", help="dca: threads for the levels of its tree")
    simulate.add_argument(
        "--stop-at-bifurcation", action="store_true", help="end where branches meet instead of going on smoothly"
    )
    simulate.add_argument(
        "--fixed-step", type=float, metavar="H", help="equal steps of at most H seconds by Runge-Kutta of order 4"
    )
    balance = add("equilibrium", help="a position of rest, and the frequencies of small vibrations about it")
    balance.add_argument("file", metavar="FILE", help="mechanism file (TOML)")
    balance.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=SET)
    balance.add_argument("--json", action="store_true", help="as JSON")


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="mechanism file (TOML)")
    parser.add_argument("-o", "--output", metavar="OUT", help="file to write, its kind by its ending")
    time_arguments(parser)


def _write(options: argparse.Namespace, results: Results) -> None:
    if options.output is not None:
        path = results.save(options.output)
        err.print(f"wrote {escape(str(path))}", highlight=False, soft_wrap=True)


# ---- inverse ------------------------------------------------------------------------------------------------------
def command_inverse(options: argparse.Namespace) -> int:
    from ..dynamics.computed import inverse_dynamics

    check_output(options)
    model = load_model(options)
    with watched(err, "solving ...") as progress:
        found = inverse_dynamics(model, times(options.at), options.method, progress)
    _write(options, found.results)
    for note in found.notes:
        tell(err, note)
    _title(found.results, f"largest error of the power balance {found.results.diagnostics['power_balance']:.1e}")
    out.print(force_table(found.results, found.model))
    _marked(found.results)
    found.finished()
    return 0


def force_table(results: Results, model: Model) -> Table:
    """Return a short table: efforts, and the sizes of the reaction forces, at some times."""
    from ..motion.quantities import efforts_of

    efforts = efforts_of(results, model)
    every = results.reactions or {}
    reactions = dict(list(every.items())[: max(1, (out.width - 12 * (1 + len(efforts))) // 12)])
    left = list(every)[len(reactions) :]
    more = f"not shown, but in -o FILE: reactions of {', '.join(map(escape, left))}" if left else None
    table = Table(caption=more, caption_justify="left")
    table.add_column("t s", justify="right")
    for name, unit, _ in efforts:
        table.add_column(f"{escape(name)} {unit}", justify="right")
    for name in reactions:
        table.add_column(f"|{escape(name)}| N", justify="right")
    n = len(results.time)
    for k in sorted(set(np.linspace(0, n - 1, min(n, ROWS)).round().astype(int))):
        cells = [f"{effort[k]:.5g}" for _, _, effort in efforts]
        cells += [f"{np.linalg.norm(r.force[k]):.5g}" for r in reactions.values()]
        table.add_row(f"{results.time[k]:.4g}", *cells)
    return table


def _title(results: Results, more: str) -> None:
    span = f"{results.time[0]:g} s to {results.time[-1]:g} s" if len(results.time) else "no time"
    out.print(
        f"[bold]{escape(results.mechanism or 'mechanism')}[/]: {len(results.time)} times, {span}, "
        f"method {results.method}; {more}",
        highlight=False,
    )


def _marked(results: Results) -> None:
    """Say what cannot be taken at its face value."""
    from ..dynamics.computed import not_unique

    times = results.diagnostics.get("unbounded")
    if times:
        out.print(
            f"[yellow]![/] forces grow without bound towards t = {', '.join(f'{t:.9g}' for t in times)} s: the drivers "
            "cannot carry the motion there",
            highlight=False,
        )
    times = results.diagnostics.get("unconverged_at")
    if times:
        out.print(
            f"[yellow]![/] accelerations and reactions have not converged at {len(times)} of the times, first at t = "
            rf"{times[0]:.9g} s: more \[simulation.dca] iterations, or another method, give them",
            highlight=False,
        )
    loose = results.diagnostics.get("loose")
    if loose and "stopped" not in results.diagnostics:
        out.print(f"[yellow]![/] {escape(loose)}", highlight=False)
    marked = not_unique(results)
    if marked:
        names = ", ".join(marked)
        out.print(
            f"[yellow]![/] the joints hold more than they need: the reactions of {escape(names)} are not unique; "
            "those of smallest norm are given",
            highlight=False,
        )


# ---- simulate -----------------------------------------------------------------------------------------------------
def command_simulate(options: argparse.Namespace) -> int:
    from ..dynamics.computed import simulation
    from ..runtime.parallel import threads

    check_output(options)
    model = load_model(options)
    with watched(err, "integrating ...") as progress:
        through = not options.stop_at_bifurcation
        with threads(options.threads):
            found = simulation(
                model, times(options.at), options.method, progress, through, options.fixed_step, None, options.scheme,
                options.candidates,
            )  # fmt: skip
    results, notes = found.results, found.results.diagnostics
    _write(options, results)
    told = [f"largest relative residual {notes['max_residual']:.1e}"]
    if "energy_drift" in notes:
        told.append(f"change of total energy {notes['energy_drift']:.1e} of the kinetic")
        told.append(f"{notes['steps']} steps")
    if notes.get("coordinate_changes"):
        told.append(f"{notes['coordinate_changes']} changes of coordinates")
    _title(results, ", ".join(told))
    if len(results.time):
        out.print(motion_table(results, model, out.width))
        if results.candidates:
            out.print(candidate_table(results))
    _marked(results)
    found.finished()
    return 0


def candidate_table(results: Results) -> Table:
    """Return how the joint coordinates serve: range of the criterion, how often the best by masses and by geometry."""
    from ..dynamics.candidates import judged

    table = Table(title="joint coordinates of the open tree")
    for column in ("coordinate", "cos² α least", "largest", "best of the time", "best by geometry", "largest effort"):
        table.add_column(column, justify="right")
    for c in judged(results):
        table.add_row(
            escape(c.name), f"{c.least:.4f}", f"{c.largest:.4f}", f"{c.best:.0%}", f"{c.best_by_geometry:.0%}",
            f"{c.effort:.5g}",
        )  # fmt: skip
    return table


# ---- equilibrium --------------------------------------------------------------------------------------------------
def command_equilibrium(options: argparse.Namespace) -> int:
    from ..dynamics.computed import rest

    model = load_model(options)
    found = rest(model, partial(tell, err))
    if options.json:
        print(json.dumps(found.to_json(), ensure_ascii=False))
        return 0
    _equilibrium_table(model.name, found)
    return 0


def _equilibrium_table(name: str, found: Equilibrium) -> None:
    meaning = NEUTRAL if found.neutral else STABLE if found.stable else UNSTABLE
    out.print(f"[bold]{escape(name or 'mechanism')}[/]: {meaning.split(':')[0]} equilibrium")
    table = Table()
    for column in ("coordinate", "value"):
        table.add_column(column, justify="right")
    for coordinate, value in found.coordinates.items():
        table.add_row(escape(coordinate), f"{value:.9g}")
    out.print(table)
    modes = Table()
    for column in ("mode", "frequency Hz", "angular frequency rad/s", "decay 1/s"):
        modes.add_column(column, justify="right")
    for k, mode in enumerate(found.modes, 1):
        modes.add_row(str(k), f"{mode.frequency:.9g}", f"{mode.angular:.9g}", f"{mode.decay:.6g}")
    out.print(modes)
    out.print(meaning, highlight=False)
    out.print(MODES, highlight=False)


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "inverse": command_inverse,
    "simulate": command_simulate,
    "equilibrium": command_equilibrium,
}
