"""The commands that check a mechanism: verify FILE, compare."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from ..common.errors import InputError
from .console import err, out
from .mechanism_commands import SET, load_model, split, times
from .progress import tell, watched

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..codegen.verification_errors import Verification
    from ..mechanism.model import Model
    from ..verification.comparison import Compared, Comparison
    from ..verification.verify_mechanism import MechanismVerification

PLOTTED = 181  # instants of a plot of differences


def add_commands(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Declare the command compare; verify is declared with that of types."""
    compare = add("compare", help="methods of run or simulate side by side on one mechanism: time, differences, drift")
    compare.add_argument("file", metavar="FILE", help="mechanism file (TOML)")
    compare.add_argument(
        "--methods",
        metavar="A,B",
        default="td,3ot,global,global-sparse",
        help="of run or of simulate; the first is the reference (default %(default)s)",
    )
    compare.add_argument(
        "--paper", action="store_true", help="td and 3ot as the paper has them as well (td-paper, 3ot-paper)"
    )
    compare.add_argument("--at", metavar="T1,T2", help="these times instead of start, stop and step")
    compare.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=SET)
    compare.add_argument("--json", action="store_true", help="as JSON")
    compare.add_argument("--plot", metavar="OUT", help="differences (or drift) over time (.png .svg .pdf)")


JOINTS = "joints"  # the name that stands for the joints in absolute coordinates
MOST_OF_JOINTS = 10  # configurations: each is evaluated many times with 60 digits


def verify_all_joints(configurations: int, bound: float) -> list[Verification]:
    """Return the errors of every kind of joint in absolute coordinates, planar and spatial."""
    from ..codegen.joint_verification import verify_joints
    from ..generated.joints import planar, spatial

    count = min(configurations, MOST_OF_JOINTS)
    return [r for m in (planar, spatial) for r in verify_joints(m.SPACE, m.constraints, count, bound)]


def add_file_options(verify: argparse.ArgumentParser) -> None:
    """Declare what verify FILE takes besides the options for types."""
    verify.add_argument("--at", metavar="T1,T2", help="FILE: instants of its run (default: five)")
    verify.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="FILE: a parameter's value")
    verify.add_argument("--plot", metavar="OUT", help="FILE: differences over time (.png .svg .pdf)")


def refuse_file_options(options: argparse.Namespace) -> None:
    """Refuse what only verify FILE takes where types are verified."""
    for name, given in (("--at", options.at), ("--set", options.set), ("--plot", options.plot)):
        if given not in (None, []):
            raise InputError(
                f"verify: {name} is for a mechanism file - types are verified at random configurations (-n); give a "
                "FILE.toml, or leave the option out"
            )


# ---- verify FILE --------------------------------------------------------------------------------------------------
def verify_file(options: argparse.Namespace) -> int:
    """Every group of a mechanism three ways, and the whole against absolute coordinates; 1 beyond the bound."""
    from ..verification.verify_mechanism import BOUND, verify_mechanism

    if len(options.types) > 1:
        raise InputError(f"verify {' '.join(options.types)}: give one mechanism file, or types")
    if options.configurations is not None:
        raise InputError(
            f"verify {options.types[0]}: -n is for types - a mechanism is verified at instants of its run; choose them "
            "by --at, or leave the option out"
        )
    _check_plot(options.plot)
    options.file = options.types[0]
    model = load_model(options)
    with watched(err, "verifying ...") as progress:
        said = progress if err.is_terminal or not options.json else (lambda line: None)
        found = verify_mechanism(model, times(options.at), options.bound or BOUND, said)
    if options.plot is not None:
        _save(_difference_figure(model, found), Path(options.plot))
    if options.json:
        print(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        _verification_tables(found)
    return 0 if found.passed else 1


def _difference_figure(model: Model, found: MechanismVerification) -> Figure:
    """Return the differences over the whole run: a check at a few instants shows no course."""
    import numpy as np

    from ..motion.kinematics import run
    from ..pictures.difference_plot import difference_figure
    from ..verification.against_absolute import against_absolute

    times = model.simulation.times()
    times = times[np.unique(np.linspace(0, len(times) - 1, min(PLOTTED, len(times))).round().astype(int))]
    outcome = run(model, times)
    difference = against_absolute(model, outcome.results)
    title = f"{found.mechanism}: groups against absolute coordinates"
    return difference_figure(difference.time, {"td": list(difference.errors)}, title, found.bound)


def _number(value: float | None, bound: float) -> str:
    if value is None:
        return "-"
    return f"{value:.1e}" if value <= bound else f"[bold red]{value:.1e}[/]"


def _verification_tables(found: MechanismVerification) -> None:
    name = escape(found.mechanism or "mechanism")
    table = Table(title=f"{name}: largest relative error at {len(found.time)} instants")
    for column in ("group", "type", "quantity"):
        table.add_column(column, overflow="fold")
    for column in ("symbolic", "independent", "bound"):
        table.add_column(column, justify="right", no_wrap=True)
    for g in found.groups:
        for i, (quantity, e) in enumerate(g.errors.items()):
            name, kind = (escape(g.name), escape(g.type)) if i == 0 else ("", "")
            cells = (_number(e.symbolic, found.bound), _number(e.independent, found.bound))
            table.add_row(name, kind, quantity, *cells, f"{found.bound:.0e}")
        table.add_section()
    for i, (quantity, error) in enumerate(found.whole.items()):
        name = "the whole" if i == 0 else ""
        table.add_row(name, "absolute coordinates" if i == 0 else "", quantity, "-", _number(error, found.bound),
                      f"{found.bound:.0e}")  # fmt: skip
    out.print(table)
    verdict = "[green]passed[/]" if found.passed else "[bold red]FAILED[/]"
    out.print(f"{verdict}: {len(found.groups)} groups and the whole, {found.seconds:.1f} s", highlight=False)


# ---- compare ------------------------------------------------------------------------------------------------------
def command_compare(options: argparse.Namespace) -> int:
    from ..verification.comparison import compare

    _check_plot(options.plot)
    chosen = split(options.methods) or []
    if options.paper:
        chosen += [f"{name}-paper" for name in ("td", "3ot") if name in chosen]
    methods = list(dict.fromkeys(chosen))
    if not methods:
        raise InputError("--methods: no method is given - write --methods td,3ot,global")
    model = load_model(options)
    with watched(err, "comparing ...") as progress:
        said = progress if err.is_terminal or not options.json else (lambda line: None)
        found = compare(model, methods, times(options.at), said)
    if options.plot is not None:
        _save(_compared_figure(found), Path(options.plot))
    if options.json:
        print(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        _comparison_table(found)
    return 0


def _compared_figure(found: Comparison) -> Figure:
    from ..pictures.difference_plot import difference_figure

    if found.dynamic:
        from ..pictures.drift_plot import drift_figure

        series = {m.name: (m.drifts, m.energies) for m in found.methods if m.energies is not None}
        return drift_figure(found.sampled, found.time, series, found.mechanism)
    first, *others = found.methods
    title = f"{found.mechanism}: differences from {first.name}"
    return difference_figure(found.time, {m.name: list(m.over_time) for m in others or [first]}, title, 1e-11)


def _comparison_table(found: Comparison) -> None:
    """Print the methods side by side, as many to a table as fit a terminal: four, or two with long names."""
    most = 4 if all(len(m.name) <= 12 for m in found.methods) else 2
    name = escape(found.mechanism or "mechanism")
    title = f"{name}: {len(found.time)} times; differences from {found.methods[0].name}"
    for i in range(0, len(found.methods), most):
        out.print(_compared_columns(title if i == 0 else None, found.methods[i : i + most]))


def _compared_columns(title: str | None, methods: Sequence[Compared]) -> Table:
    from ..verification.comparison import KINDS

    table = Table(title=title)
    table.add_column("", no_wrap=True)
    for m in methods:
        table.add_column(escape(m.name), justify="right", no_wrap=True)
    dynamic = methods[0].energy is not None
    solved, iterated = ("right-hand sides", "steps") if dynamic else ("instants solved", "Newton iterations")
    table.add_row("seconds", *(f"{m.seconds:.5f}" for m in methods))
    table.add_row(solved, *(str(m.evaluations) for m in methods))
    table.add_row(iterated, *(str(m.iterations) for m in methods))
    table.add_row("largest residual", *(f"{m.residual:.1e}" for m in methods))
    for kind in KINDS:
        table.add_row(f"difference of {kind}", *(f"{m.difference[kind]:.1e}" for m in methods))
    for i, name in enumerate(("Φ", "dΦ/dt", "d²Φ/dt²")):
        table.add_row(f"drift |{name}|", *(f"{m.drift[i]:.1e}" for m in methods))
    if dynamic:
        table.add_row("drift of energy", *(f"{m.energy:.1e}" for m in methods))
    return table


# ---- pictures -----------------------------------------------------------------------------------------------------
def _check_plot(target: str | None) -> None:
    if target is not None:
        from ..common.files import check_target

        check_target(Path(target), (".png", ".svg", ".pdf"))


def _save(figure: Figure, path: Path) -> None:
    from ..common.files import write_whole

    write_whole(path, lambda part: figure.savefig(part, format=path.suffix[1:]))
    tell(err, f"wrote {path}")


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {"compare": command_compare}
