"""The commands on mechanism files: run, structure, plot, animate."""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..common.errors import InputError
from ..common.files import check_target, write_whole
from .progress import tell, watched

if TYPE_CHECKING:
    from ..dynamics.computed import Computed
    from ..mechanism.analysis_steps import AnalysisStep
    from ..mechanism.model import Model
    from ..mechanism.structure import Structure
    from ..motion.kinematics import Outcome
    from ..motion.results import Results

out = Console()
err = Console(stderr=True)
ROWS = 12  # of the short table
METHODS = "td (default), 3ot, global, global-sparse"
SET = "a parameter's value: a number or a formula, such as beta=\"18 deg\""
PICTURED = "a method of run; of simulate where drivers are missing; of inverse for forces (default: theirs)"


# ---- arguments ----------------------------------------------------------------------------------------------------
def add_commands(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Declare the commands on mechanism files."""
    run = add("run", help="kinematics of a mechanism over its times")
    _common(run)
    run.add_argument("--jerk", action="store_true", help="the jerks of points as well")
    run.add_argument("--threads", type=int, default=1, metavar="N", help="use N threads (default %(default)s)")
    structure = add("structure", help="the structural groups of a mechanism in order")
    structure.add_argument("file", metavar="FILE")
    structure.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=SET)
    structure.add_argument("--json", action="store_true", help="as JSON")
    structure.add_argument("--steps", action="store_true", help="the analysis step by step: candidates, Eq. 12 to 14")
    structure.add_argument("--svg", metavar="OUT", help="draw the kinematic graph and the structural diagram")
    plot = add("plot", help="plot paths and time histories, reactions, energies")
    _common(plot, None, PICTURED)
    plot.add_argument("--names", metavar="A,B", help="points, bodies and joints to show (default: a choice)")
    plot.add_argument(
        "--reactions", metavar="A,B", nargs="?", const="", help="forces in these joints (default: all) and efforts"
    )
    plot.add_argument("--energy", action="store_true", help="energies, and the balance of powers")
    animate = add("animate", help="animate a mechanism: .gif, .mp4, .html or .svg")
    _common(animate, None, PICTURED)
    animate.add_argument("--fps", type=float, default=25.0, help="pictures per second (default %(default)s)")
    animate.add_argument(
        "--seconds", type=float, help="length of the film (default: that of the run if it is 2 to 20 s, else 6)"
    )
    animate.add_argument("--vectors", metavar="KIND", help="arrows: velocity, acceleration, or both with a comma")
    animate.add_argument("--forces", action="store_true", help="arrows of reactions and applied forces")
    animate.add_argument("--trace", metavar="A,B", help="points whose paths are drawn")


def _common(parser: argparse.ArgumentParser, method: str | None = "td", methods: str = METHODS) -> None:
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


def _times(text: str | None) -> Any:
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
    if options.output is not None:
        path = outcome.results.save(options.output)
        err.print(f"wrote {escape(str(path))}", highlight=False, soft_wrap=True)
    _summary(outcome)
    return _finish(outcome)


def _outcome(options: argparse.Namespace) -> Outcome:
    from ..motion.kinematics import run

    model = load_model(options)
    times = _times(options.at)
    with watched(err, "solving ...") as progress:
        return run(
            model, times, options.method, progress, getattr(options, "jerk", False), getattr(options, "threads", 1)
        )


def _finish(outcome: Outcome) -> int:
    from ..motion.run import raise_failure

    if outcome.failure is not None:
        raise_failure(outcome.failure)
    return 0


def _summary(outcome: Outcome) -> None:
    from ..mechanism.grashof import four_bars

    results, structure = outcome.results, outcome.structure
    groups = " → ".join(g.name for g in structure.groups[:12]) + (" → ..." if len(structure.groups) > 12 else "")
    d = results.diagnostics
    out.print(
        f"[bold]{escape(results.mechanism or 'mechanism')}[/]: {results.space}, mobility {structure.mobility}, "
        f"groups {escape(groups)}",
        highlight=False,
    )
    for fact in four_bars(outcome.model, structure):
        out.print(escape(fact), highlight=False)
    if len(results.time) == 0:
        return
    out.print(
        f"{len(results.time)} times from {results.time[0]:g} s to {results.time[-1]:g} s, method {results.method}; "
        f"largest relative residual {d['max_residual']:.1e}, Newton iterations {d['iterations']}",
        highlight=False,
    )
    out.print(motion_table(results))


def motion_table(results: Results) -> Table:
    """Return a short table: position, speed and acceleration of a few moving points at some times."""
    moving = [n for n, p in results.points.items() if np.ptp(p.position, axis=0).max() > 0 or p.velocity.any()]
    shown = moving[-max(1, (out.width - 10) // (36 if results.space == "planar" else 46)) :]
    table = Table()
    table.add_column("t s", justify="right")
    for name in shown:
        for axis in results.axes:
            table.add_column(f"{escape(name)}.{axis} m", justify="right")
        table.add_column("|v| m/s", justify="right")
        table.add_column("|a| m/s²", justify="right")
    n, size = len(results.time), max(np.abs(results.points[name].position).max() for name in shown) if shown else 1.0
    for k in sorted(set(np.linspace(0, n - 1, min(n, ROWS)).round().astype(int))):
        cells = []
        for name in shown:
            p = results.points[name]
            cells += [f"{x if abs(x) > 1e-12 * size else 0.0:.5g}" for x in p.position[k]]
            cells += [f"{np.linalg.norm(p.velocity[k]):.4g}", f"{np.linalg.norm(p.acceleration[k]):.4g}"]
        table.add_row(f"{results.time[k]:.4g}", *cells)
    return table


# ---- structure ----------------------------------------------------------------------------------------------------
def command_structure(options: argparse.Namespace) -> int:
    from ..mechanism.plans.planning import study

    if options.svg is not None:
        check_target(Path(options.svg), (".svg",))
    model = load_model(options)
    structure = study(model)
    if options.svg is not None:
        from ..mechanism.analysis_steps import structural_pairs
        from ..pictures.diagram import structural_diagram

        text = structural_diagram(model, structure, structural_pairs(model, structure) if options.steps else ())
        write_whole(Path(options.svg), lambda path: path.write_text(text, "utf-8"))
        err.print(f"wrote {escape(options.svg)}", highlight=False, soft_wrap=True)
    steps = _steps(model, structure) if options.steps else None
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
    _structure_table(model, structure)
    return 0


def _steps(model: Model, structure: Structure) -> list[AnalysisStep]:
    from ..mechanism.analysis_steps import analysis

    return analysis(model, structure)


def _structure_table(model: Model, structure: Structure) -> None:
    from ..motion.modes import listed_modes

    modes = listed_modes(model, structure)
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
        table.add_row(*map(escape, cells), escape(modes.get(g.name, "")))
    out.print(table)
    for finding in (*structure.free, *structure.redundant):
        out.print(f"[yellow]![/] {escape(finding.message)}", highlight=False)
    for note in structure.notes:
        out.print(escape(note), highlight=False)


# ---- pictures -----------------------------------------------------------------------------------------------------
def _split(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _target(options: argparse.Namespace, ending: str) -> Path:
    return Path(options.output or Path(options.file).with_suffix(ending).name)


def command_plot(options: argparse.Namespace) -> int:
    from ..pictures.dynamics_plot import MOST_JOINTS, dynamics_figure
    from ..pictures.plot import plot

    path = _target(options, ".png")
    ending = check_target(path, (".png", ".svg", ".pdf"))
    dynamic = options.reactions is not None or options.energy
    found = _pictured(options, dynamic)
    if len(found.results.time):
        names, joints = _split(options.names), _split(options.reactions)
        if dynamic:
            chosen = joints or options.reactions is not None
            figure = dynamics_figure(found.results, found.model, chosen, options.energy, names)
            if chosen is True and len(found.results.reactions or ()) > MOST_JOINTS:
                tell(err, f"the {MOST_JOINTS} joints with the largest forces are shown; --reactions A,B chooses others")
        else:
            figure = plot(found.results, found.model, names)
        picture = io.BytesIO()  # a full disk would meet the drawing program in its midst
        figure.savefig(picture, format=ending[1:])
        write_whole(path, lambda part: part.write_bytes(picture.getvalue()))
        out.print(f"wrote {escape(str(path))}", highlight=False, soft_wrap=True)
    found.finished()
    return 0


def _pictured(options: argparse.Namespace, forces: bool) -> Computed:
    from ..dynamics.computed import pictured

    model = load_model(options)
    times = _times(options.at)
    with watched(err, "solving ...") as progress:
        found = pictured(model, times, options.method, forces, progress)
    for note in found.notes:
        tell(err, note)
    return found


def command_animate(options: argparse.Namespace) -> int:
    from ..pictures.animate import animate

    path = _target(options, ".html")
    check_target(path, (".gif", ".mp4", ".html", ".svg"))
    found = _pictured(options, options.forces)
    if len(found.results.time):
        animate(
            found.model,
            found.results,
            path,
            fps=options.fps,
            seconds=options.seconds,
            vectors=_split(options.vectors) or (),
            trace=_split(options.trace),
            forces=options.forces,
        )
        out.print(f"wrote {escape(str(path))}", highlight=False, soft_wrap=True)
    found.finished()
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "run": command_run,
    "structure": command_structure,
    "plot": command_plot,
    "animate": command_animate,
}
