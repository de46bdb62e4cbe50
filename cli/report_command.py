"""The command that writes a report on a mechanism."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from rich.markup import escape

from ..common.files import check_target
from .console import err, out
from .mechanism_commands import load_model
from .progress import tell, watched


def add_commands(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Declare the command report."""
    report = add("report", help="one page on a mechanism: drawing, structure, equations, motion, verification")
    report.add_argument("file", metavar="FILE", help="mechanism file (TOML)")
    report.add_argument("-o", "--output", metavar="OUT", help=".html (default), or .tex with its figures beside it")
    report.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter's value")
    report.add_argument(
        "--verification", action=argparse.BooleanOptionalAction, default=True,
        help="every group three ways, which takes most of the time (default: yes)",
    )  # fmt: skip


def command_report(options: argparse.Namespace) -> int:
    """Write the report; where the motion ends early it is written as far as it came, and the reason told."""
    from ..report.document import ENDINGS, write_report

    path = Path(options.output or f"{Path(options.file).stem}-report.html")
    check_target(path, ENDINGS)
    model = load_model(options)
    with watched(err, "writing the report ...") as progress:
        content = write_report(model, path, options.verification, progress)
    for note in content.notes:
        tell(err, note)
    out.print(f"wrote {escape(str(path))}", highlight=False, soft_wrap=True)
    content.motion.finished()
    return 0 if content.verification is None or content.verification.passed else 1


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {"report": command_report}
