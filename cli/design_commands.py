"""The commands on many designs of a mechanism: sweep, synthesise."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import time
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from ..common.errors import InputError
from ..common.files import check_target, read_text, write_whole
from .console import err, out
from .mechanism_commands import load_model, settings_of, time_arguments
from .mechanism_commands import times as times_in
from .progress import STAGE, tell, watched

if TYPE_CHECKING:
    from ..designs.sweep import Sweep
    from ..designs.synthesis import Design, Synthesis

ROWS = 12  # of the short table
PICTURES = (".png", ".svg", ".pdf")


def add_commands(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Declare the commands on designs."""
    sweep = add("sweep", help="many designs: a grid or a Latin hypercube of parameters")
    sweep.add_argument("file", metavar="FILE", help="mechanism file (TOML)")
    sweep.add_argument("--over", action="append", default=[], metavar="A=1:3:50", help="first:last:count, or values")
    sweep.add_argument("--samples", type=int, metavar="N", help="a Latin hypercube of N designs over a=first:last")
    sweep.add_argument("--seed", type=int, default=1, metavar="S", help="of the samples (default %(default)s)")
    sweep.add_argument("--want", metavar="F,joint.C", help="what is kept; max(P.y), length(P), transmission, turn, ...")
    sweep.add_argument("--spread", metavar="A=0.01,B=0.02", help="standard deviations instead of --over: tolerances")
    sweep.add_argument("--json", action="store_true", help="tolerances as JSON")
    sweep.add_argument("-o", "--output", metavar="OUT", help=".nc .zarr .parquet .csv")
    sweep.add_argument("--threads", type=int, default=1, metavar="N", help="use N threads (default %(default)s)")
    sweep.add_argument("--workers", type=int, metavar="N", help="N processes on this machine (dask.distributed)")
    sweep.add_argument("--dask", metavar="ADDRESS", help="the scheduler of a cluster, tcp://host:8786")
    time_arguments(sweep)
    synthesise = add("synthesise", help="find dimensions: a path, a function, a motion from [synthesis]")
    synthesise.add_argument("file", metavar="FILE", help="mechanism file (TOML) with a table [synthesis]")
    synthesise.add_argument("-o", "--output", metavar="OUT", help="mechanism file of the best design")
    synthesise.add_argument("--folder", metavar="DIR", help="file and picture of every design, and the table")
    synthesise.add_argument("--picture", metavar="OUT", help="the best design with targets and curve: .svg .png .pdf")
    synthesise.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter's value")
    synthesise.add_argument("--starts", type=int, metavar="N", help="of the multi-start (default: the file's, or 64)")
    synthesise.add_argument("--seed", type=int, metavar="S", help="of the random numbers (default: the file's, or 1)")
    synthesise.add_argument("--cma", action="store_true", help="a global start by CMA-ES as well")
    synthesise.add_argument("--json", action="store_true", help="as JSON")


def file_values(path: Path, settings: dict[str, float | str]) -> dict[str, Any]:
    """Return the values of a checked mechanism file, with some parameters set."""
    from ..mechanism.reader import MAX_BYTES, load

    load(path, settings)
    data = tomllib.loads(read_text(path, MAX_BYTES).replace("\r\n", "\n"))
    if settings:
        data["parameters"] = {**data.get("parameters", {}), **settings}
    return data


# ---- sweep ----------------------------------------------------------------------------------------------------------
def command_sweep(options: argparse.Namespace) -> int:
    from ..designs.sweep import sweep
    from ..designs.sweep_plan import grid, hypercube, split

    path = Path(options.file)
    data = file_values(path, settings_of(options.set))
    simulation = load_model(options).simulation
    times = times_in(options.at)
    if any(x is not None for x in (options.start, options.stop, options.step)):
        times = simulation.times()
    if options.spread is not None:
        return _tolerances(options, data, path, times)
    if options.samples is not None:
        designs = hypercube(options.over, options.samples, options.seed)
    else:
        designs = grid(options.over)
    want = None if options.want is None else split(options.want)
    output = None if options.output is None else Path(options.output)
    if options.workers is not None and options.dask is not None:
        raise InputError("--workers and --dask: give one of them")
    with _bar() as report:
        found = sweep(
            data, str(path), path.parent, designs, want, times, output, options.threads,
            options.workers if options.dask is None else options.dask, report, partial(tell, err),
        )  # fmt: skip
    if found is None:
        tell(err, f"wrote {options.output}")
    else:
        _sweep_table(found)
    return 0


def _tolerances(options: argparse.Namespace, data: dict[str, Any], path: Path, times: Any) -> int:
    from ..designs.sweep_plan import split
    from ..designs.tolerances import read_spread, tolerances

    if options.over or options.output is not None:
        raise InputError("--spread: stands alone, without --over and -o; --json prints all of it")
    points = None if options.want is None else split(options.want)
    samples = 2000 if options.samples is None else options.samples
    found = tolerances(
        data, str(path), path.parent, read_spread(options.spread), points, times, samples, options.seed
    )  # fmt: skip
    if options.json:
        print(json.dumps(found.to_json(), ensure_ascii=False))
        return 0
    table = Table(title=f"largest over {len(found.time)} instants; {found.samples} random designs beside")
    for column in ("point", "standard deviation", "of random designs", "worst case"):
        table.add_column(column, justify="left" if column == "point" else "right")
    for name, s in found.points.items():
        for k, axis in enumerate("xyz"[: s.deviation.shape[1]]):
            cells = (f"{a[:, k].max():.4g}" for a in (s.deviation, s.sampled, s.worst))
            table.add_row(f"{escape(name)}.{axis}", *cells)
    out.print(table)
    return 0


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    """Yield what hears how many designs are done: on a terminal a bar with the designs a second."""
    if not err.is_terminal:
        yield lambda done, every: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    began, first = time.monotonic(), -1
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    with Progress(*columns, console=err) as progress:
        task = progress.add_task("designs", total=None, rate="")

        def report(done: int, every: int) -> None:
            nonlocal first
            first = done if first < 0 else first
            rate = (done - first) / max(time.monotonic() - began, 1e-9)
            progress.update(task, completed=done, total=every, rate=f"{rate:,.0f} designs/s")

        yield report


def _sweep_table(found: Sweep) -> None:
    from ..designs.sweep import counted

    numbers = [n for n, a in found.found.items() if a.ndim == 1 and n not in ("status", "solved")]
    table = Table()
    for name in (*found.parameters, "status", "solved", *numbers):
        table.add_column(escape(name), justify="right")
    count = len(found.status)
    for k in sorted(set(np.linspace(0, count - 1, min(count, ROWS)).round().astype(int).tolist())):
        cells = [f"{v[k]:.6g}" for v in found.parameters.values()]
        cells += [f"{found.found[n][k]:.6g}" for n in ("status", "solved", *numbers)]
        table.add_row(*cells)
    out.print(table)
    out.print(f"{counted(found.status)}; -o OUT.nc (.zarr .parquet .csv) keeps them all", highlight=False)


# ---- synthesise -----------------------------------------------------------------------------------------------------
def command_synthesise(options: argparse.Namespace) -> int:
    from ..designs.synthesis import synthesise

    path = Path(options.file)
    for target, endings in ((options.output, (".toml",)), (options.picture, PICTURES)):
        if target is not None:
            check_target(Path(target), endings)
    data = file_values(path, settings_of(options.set))
    changes = {k: v for k, v in (("starts", options.starts), ("seed", options.seed)) if v is not None}
    if data.get("synthesis"):
        data["synthesis"] = {**data["synthesis"], **changes}
    with watched(err, "searching ...") as progress:

        def told(line: str) -> None:
            if err.is_terminal:
                progress(f"{STAGE}{line}")

        found = synthesise(data, str(path), path.parent, told, options.cma)
    _write(found, options, path)
    if options.json:
        print(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        _table(found, path)
    return 0


def _write(found: Synthesis, options: argparse.Namespace, path: Path) -> None:
    best = found.designs[0]
    if options.output is not None:
        _save(best, Path(options.output))
    if options.picture is not None:
        _picture(best, found, Path(options.picture), path.parent)
    if options.folder is not None:
        folder = Path(options.folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"--folder {folder}: cannot be made: {error.strerror}") from error
        for k, design in enumerate(found.designs, 1):
            _save(design, folder / f"design-{k}.toml")
            _picture(design, found, folder / f"design-{k}.svg", path.parent)
        text = json.dumps(found.to_json(), ensure_ascii=False, indent=1)
        write_whole(folder / "designs.json", lambda part: part.write_text(text + "\n", "utf-8"))


def _save(design: Design, path: Path) -> None:
    design.save(path)
    tell(err, f"wrote {path}")


def _picture(design: Design, found: Synthesis, path: Path, folder: Path) -> None:
    from ..pictures.synthesis_plot import synthesis_figure

    picture = io.BytesIO()
    synthesis_figure(design, found.task, folder).savefig(picture, format=path.suffix[1:].lower())
    write_whole(path, lambda part: part.write_bytes(picture.getvalue()))
    tell(err, f"wrote {path}")


def _table(found: Synthesis, path: Path) -> None:
    out.print(
        f"[bold]{escape(path.name)}[/]: {found.task.kind} through {len(found.task.targets)} targets, "
        f"{found.starts} starts, {found.seconds:.1f} s of the processor",
        highlight=False,
    )
    table = Table()
    for column in ("", "objective", "largest error"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("parameters")
    for k, d in enumerate(found.designs, 1):
        values = ", ".join(f"{escape(n)} = {v:.6g}" for n, v in d.parameters.items())
        table.add_row(str(k), f"{d.objective:.6g}", f"{d.errors.max():.4g}", values)
    out.print(table)


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "sweep": command_sweep,
    "synthesise": command_synthesise,
}
