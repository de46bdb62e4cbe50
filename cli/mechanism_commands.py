"""The commands on mechanism files: run, structure; and what all commands on files have in common."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from ..common.errors import InputError
from ..common.files import check_target, write_whole
from .console import err, out
from .printed_motion import motion_table
from .progress import watched

if TYPE_CHECKING:
    from ..mechanism.analysis_steps import AnalysisStep
    from ..mechanism.model import Model
    from ..mechanism.structure import Structure
    from ..motion.modes import ModesAtStart
    from ..motion.outcome import Outcome

METHODS = "td (default), 3ot, global, global-sparse"
SET = 'a parameter\'s value: a number or a formula, such as beta="18 deg"'


# ---- arguments ----------------------------------------------------------------------------------------------------
def add_commands(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Declare the commands on mechanism files."""
    run = add("run", help="kinematics of a mechanism over its times")
    common(run)
    run.add_argument("--names", metavar="A,B", help="what the table shows: points, bodies, joints, drivers, columns")
    run.add_argument("--unit", metavar="mm,deg", help="units of the table (files are in SI)")
    run.add_argument("--through", action="store_true", help="pass dead points, led by another coordinate meanwhile")
    run.add_argument("--jerk", action="store_true", help="the jerks of points as well")
    run.add_argument("--threads", type=int, default=1, metavar="N", help="use N threads (default %(default)s)")
    structure = add("structure", help="the structural groups of a mechanism in order")
    structure.add_argument("file", metavar="FILE")
    structure.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=SET)
    structure.add_argument("--json", action="store_true", help="as JSON")
    structure.add_argument("--steps", action="store_true", help="the analysis step by step: candidates, Eq. 12 to 14")
    structure.add_argument("--svg", metavar="OUT", help="draw the kinematic graph and the structural diagram")
    structure.add_argument("--modes", metavar="OUT", help="draw every assembly mode of every group (.svg)")


def common(parser: argparse.ArgumentParser, method: str | None = "td", methods: str = METHODS) -> None:
    parser.add_argument("file", metavar="FILE", help="mechanism file (TOML)")
    parser.add_argument("-o", "--output", metavar="OUT", help="file to write, its kind by its ending")
    time_arguments(parser)
    parser.add_argument("--method", default=method, metavar="NAME", help=methods)


def time_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what is common to the commands that compute over times: the times, and the parameters."""
    parser.add_argument("--at", metavar="T1,T2", help="these times instead of start, stop and step")
    for name in ("start", "stop", "step"):
        parser.add_argument(f"--{name}", metavar="T", help=f"{name} instead of that in [simulation]")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=SET)


def settings_of(given: Sequence[str]) -> dict[str, float | str]:
    """Return the parameters that --set gives."""
    found: dict[str, float | str] = {}
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not name or not equals or not value:
            raise InputError(f'--set {text}: is written name=value, such as --set omega=12.5 or --set beta="18 deg"')
        found[name] = _value(value)
    return found


def _value(text: str) -> float | str:
    """Return a number, or the formula that the reader will make one of."""
    try:
        return float(text)
    except ValueError:
        return text


def split(text: str | None) -> list[str] | None:
    """Return names with commas between them as a list."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def times(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return np.array([float(part) for part in text.split(",") if part.strip()])
    except ValueError:
        raise InputError(f"--at {text}: are numbers with commas between them: --at 0,0.5,1 or --at=-1,0") from None


def load_model(options: argparse.Namespace) -> Model:
    from ..mechanism.reader import load

    given = {key: getattr(options, key, None) for key in ("start", "stop", "step")}
    simulation = {key: _value(value) for key, value in given.items() if value is not None}
    if simulation and options.at is not None:
        raise InputError(f"--at {options.at} and --{next(iter(simulation))}: give the times, or the grid - not both")
    return load(Path(options.file), settings_of(options.set), simulation)


def check_output(options: argparse.Namespace) -> None:
    """Refuse a file of results that cannot be written before anything is computed."""
    if options.output is not None:
        from ..motion.writers import ENDINGS

        check_target(Path(options.output), ENDINGS)


# ---- run ----------------------------------------------------------------------------------------------------------
def command_run(options: argparse.Namespace) -> int:
    check_output(options)
    outcome = _outcome(options)
    names, table = split(options.names), None
    if len(outcome.results.time) > 0:  # names that are none are told before anything is written
        table = motion_table(outcome.results, outcome.model, out.width, names, options.unit)
    if options.output is not None:
        path = outcome.results.save(options.output)
        err.print(f"wrote {escape(str(path))}", highlight=False, soft_wrap=True)
    _summary(outcome, table)
    return _finish(outcome)


def _outcome(options: argparse.Namespace) -> Outcome:
    from ..motion.kinematics import run
    from ..motion.through import run_through

    model = load_model(options)
    asked = times(options.at)
    solve = run_through if getattr(options, "through", False) else run
    with watched(err, "solving ...") as progress:
        return solve(
            model, asked, options.method, progress, getattr(options, "jerk", False), getattr(options, "threads", 1)
        )


def _finish(outcome: Outcome) -> int:
    from ..motion.outcome import raise_stop

    if outcome.stop is not None:
        raise_stop(outcome.stop)
    return 0


def _summary(outcome: Outcome, table: Any) -> None:
    from ..mechanism.grashof import four_bars

    results, structure = outcome.results, outcome.structure
    assert structure is not None
    groups = " → ".join(g.name for g in structure.groups[:12]) + (" → ..." if len(structure.groups) > 12 else "")
    d = results.diagnostics
    out.print(
        f"[bold]{escape(results.mechanism or 'mechanism')}[/]: {results.space}, mobility {structure.mobility}, "
        f"groups {escape(groups)}",
        highlight=False,
    )
    for fact in four_bars(outcome.model, structure):
        out.print(escape(fact), highlight=False)
    if table is None:
        return
    out.print(
        f"{len(results.time)} times from {results.time[0]:g} s to {results.time[-1]:g} s, method {results.method}; "
        f"largest relative residual {d['max_residual']:.1e}, Newton iterations {d['iterations']}",
        highlight=False,
    )
    out.print(table, crop=False)


# ---- structure ----------------------------------------------------------------------------------------------------
def command_structure(options: argparse.Namespace) -> int:
    from ..mechanism.plans.planning import study

    for target in (options.svg, options.modes):
        if target is not None:
            check_target(Path(target), (".svg",))
    model = load_model(options)
    structure = study(model)
    if options.svg is not None:
        from ..mechanism.analysis_steps import structural_pairs
        from ..pictures.diagram import structural_diagram

        text = structural_diagram(model, structure, structural_pairs(model, structure) if options.steps else ())
        write_whole(Path(options.svg), lambda path: path.write_text(text, "utf-8"))
        err.print(f"wrote {escape(options.svg)}", highlight=False, soft_wrap=True)
    steps = _steps(model, structure) if options.steps else None
    modes = None
    if options.modes is not None or not options.json:
        from ..motion.modes import modes_at_start

        with watched(err, "making the types ...") as progress:
            modes = modes_at_start(model, structure, progress)
    if options.modes is not None and modes is not None:
        _draw_modes(model, modes, Path(options.modes))
    if options.json:
        found = structure.to_json()
        if steps is not None:
            found["steps"] = [step.to_json() for step in steps]
        print(json.dumps(found, ensure_ascii=False))
        return 0
    if steps is not None:
        from ..mechanism.analysis_steps import described

        for line in described(steps, structure):
            out.print(escape(line), highlight=False, soft_wrap=True)
    if modes is not None:
        _structure_table(model, structure, modes)
    return 0


def _draw_modes(model: Model, modes: ModesAtStart, path: Path) -> None:
    from ..pictures.mode_pictures import mode_pictures

    if not modes.numbers:
        raise InputError(f"--modes: there is no assembly mode to draw: {modes.why}")
    picture = mode_pictures(model, modes)
    write_whole(path, lambda part: part.write_bytes(picture))
    err.print(f"wrote {escape(str(path))}", highlight=False, soft_wrap=True)


def _steps(model: Model, structure: Structure) -> list[AnalysisStep]:
    from ..mechanism.analysis_steps import analysis

    return analysis(model, structure)


def _structure_table(model: Model, structure: Structure, modes: ModesAtStart) -> None:
    out.print(
        f"[bold]{escape(model.name or 'mechanism')}[/]: {model.space}, mobility {structure.mobility} "
        f"(Grübler's count {structure.count})",
        highlight=False,
    )
    table = Table()
    for column in ("group", "type", "bodies", "joints", "drivers", "depends on", "assembly modes"):
        table.add_column(column, overflow="fold")
    for g in structure.groups:
        cells = (g.name, g.type, *(", ".join(x) for x in (g.members, g.joints, g.drivers, g.depends_on)))
        table.add_row(*map(escape, cells), escape(modes.words(g.name)))
    out.print(table)
    for finding in (*structure.free, *structure.redundant):
        out.print(f"[yellow]![/] {escape(finding.message)}", highlight=False)
    if modes.why:
        out.print(f"not all assembly modes are listed: {escape(modes.why)}", highlight=False)
    others = [(g.name, modes.solvers[g.name]) for g in structure.groups if modes.solvers.get(g.name, g.type) != g.type]
    for name, solver in others:
        out.print(f"{escape(name)} is solved by the type {escape(solver)} (assurgent show)", highlight=False)
    for note in structure.notes:
        out.print(escape(note), highlight=False)


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "run": command_run,
    "structure": command_structure,
}
