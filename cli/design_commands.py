"""The commands on many designs of a mechanism: synthesise."""

from __future__ import annotations

import argparse
import io
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..common.errors import InputError
from ..common.files import check_target, read_text, write_whole
from .mechanism_commands import settings_of
from .progress import STAGE, tell, watched

if TYPE_CHECKING:
    from ..designs.synthesis import Design, Synthesis

out = Console()
err = Console(stderr=True)
PICTURES = (".png", ".svg", ".pdf")


def add_commands(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Declare the commands on designs."""
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


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {"synthesise": command_synthesise}
