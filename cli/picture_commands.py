"""The commands that draw: plot, draw, animate."""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from ..common.errors import InputError
from ..common.files import check_target, write_whole
from ..designs.sweep_names import ENDINGS
from .console import err, out
from .mechanism_commands import common, load_model, split, times
from .progress import tell, watched

if TYPE_CHECKING:
    from ..dynamics.computed import Computed

PICTURED = "a method of run; of simulate where drivers are missing; of inverse for forces (default: theirs)"
NAMES = "points, bodies, joints, drivers (joint.C where C is a point, too) or columns (default: a choice)"


def add_commands(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Declare the commands that draw."""
    plot = add("plot", help="plot paths and time histories, reactions, energies")
    common(plot, None, PICTURED)
    plot.add_argument("--names", metavar="A,B", help=NAMES)
    plot.add_argument("--over", metavar="NAME", help="what stands on the horizontal axis instead of time")
    plot.add_argument("--unit", metavar="mm,deg", help="units of the diagrams")
    plot.add_argument("--magnitude", action="store_true", help="sizes of vectors instead of components")
    plot.add_argument(
        "--reactions", metavar="A,B", nargs="?", const="", help="forces in these joints (default: all) and efforts"
    )
    plot.add_argument("--energy", action="store_true", help="energies, and the balance of powers")
    draw = add("draw", help="the mechanism at one instant, with paths of points")
    common(draw, None, PICTURED)
    draw.add_argument("--instant", metavar="T", help="the instant that is shown (default: the first)")
    _drawn(draw)
    animate = add("animate", help="animate a mechanism: .gif, .mp4, .html or .svg")
    common(animate, None, PICTURED)
    animate.add_argument("--fps", type=float, default=25.0, help="pictures per second (default %(default)s)")
    animate.add_argument(
        "--seconds", type=float, help="length of the film (default: that of the run if it is 2 to 20 s, else 6)"
    )
    _drawn(animate)


def _drawn(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--vectors", metavar="KIND", help="arrows: velocity, acceleration, or both with a comma")
    parser.add_argument("--forces", action="store_true", help="arrows of reactions and applied forces")
    parser.add_argument("--trace", metavar="A,B", help="points whose paths are drawn")
    parser.add_argument("--centres", action="store_true", help="instant centres of a planar mechanism")


def _target(options: argparse.Namespace, ending: str) -> Path:
    return Path(options.output or Path(options.file).with_suffix(ending).name)


def _pictured(options: argparse.Namespace, forces: bool) -> Computed:
    from ..dynamics.computed import pictured

    model = load_model(options)
    with watched(err, "solving ...") as progress:
        found = pictured(model, times(options.at), options.method, forces, progress)
    for note in found.notes:
        tell(err, note)
    return found


def _wrote(path: Path) -> None:
    out.print(f"wrote {escape(str(path))}", highlight=False, soft_wrap=True)


def command_plot(options: argparse.Namespace) -> int:
    from ..pictures.dynamics_plot import MOST_JOINTS, dynamics_figure
    from ..pictures.plot import plot

    path = _target(options, ".png")
    check_target(path, (".png", ".svg", ".pdf"))
    if Path(options.file).suffix in ENDINGS:
        from ..designs.sweep_plan import split as names_of
        from ..pictures.sweep_plot import sweep_figure

        given = (("over", options.over), ("unit", options.unit), ("reactions", options.reactions))
        unused = [f"--{name}" for name, value in (*given, ("energy", options.energy or None)) if value is not None]
        if unused:
            raise InputError(f"plot: {', '.join(unused)}: is for results - a sweep is drawn over its parameters")
        names = None if options.names is None else names_of(options.names)
        _save_figure(sweep_figure(Path(options.file), names), path)
        return 0
    dynamic = options.reactions is not None or options.energy
    found = _pictured(options, dynamic)
    if len(found.results.time):
        names, joints = split(options.names), split(options.reactions)
        if dynamic:
            chosen = joints or options.reactions is not None
            figure = dynamics_figure(found.results, found.model, chosen, options.energy, names)
            if chosen is True and len(found.results.reactions or ()) > MOST_JOINTS:
                tell(err, f"the {MOST_JOINTS} joints with the largest forces are shown; --reactions A,B chooses others")
        else:
            figure = plot(
                found.results,
                found.model,
                names,
                over=options.over,
                unit=options.unit,
                magnitude=options.magnitude,
            )
        _save_figure(figure, path)
    found.finished()
    return 0


def _save_figure(figure: Any, path: Path) -> None:
    picture = io.BytesIO()  # a full disk would meet the drawing program in its midst
    figure.savefig(picture, format=path.suffix[1:].lower())
    write_whole(path, lambda part: part.write_bytes(picture.getvalue()))
    _wrote(path)


def command_draw(options: argparse.Namespace) -> int:
    from ..mechanism.functions import evaluate
    from ..pictures.still import still

    path = _target(options, ".png")
    ending = check_target(path, (".png", ".svg", ".pdf"))
    found = _pictured(options, options.forces)
    if len(found.results.time):
        try:
            instant = None if options.instant is None else evaluate(options.instant, found.model.parameters)
        except ValueError as error:
            raise InputError(f"--instant {options.instant}: {error}") from None
        vectors = split(options.vectors) or ()
        picture = still(
            found.results,
            found.model,
            split(options.trace),
            instant,
            vectors,
            options.forces,
            ending[1:],
            options.centres,
        )
        write_whole(path, lambda part: part.write_bytes(picture))
        _wrote(path)
    found.finished()
    return 0


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
            vectors=split(options.vectors) or (),
            trace=split(options.trace),
            forces=options.forces,
            centres=options.centres,
        )
        _wrote(path)
    found.finished()
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "plot": command_plot,
    "draw": command_draw,
    "animate": command_animate,
}
