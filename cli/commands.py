"""The command line: one function per command; the generator is imported only by the commands that need it."""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..common.errors import AssurgentError, InputError, nearest
from . import analyse_command as cli_analyse
from . import design_commands as cli_designs
from . import dynamics_commands as cli_dynamics
from . import mechanism_commands as cli_mechanism
from . import picture_commands as cli_pictures
from . import report_command as cli_report
from . import start_commands as cli_start
from . import studio_commands as cli_studio
from . import type_commands as cli_types
from . import verify_commands as cli_verify
from .console import err, literal

if TYPE_CHECKING:
    pass


class _Parser(argparse.ArgumentParser):
    """Argument errors in the product's own words: one line, exit code 2."""

    def error(self, message: str) -> Any:
        if "invalid choice: " in message:
            given = message.split("invalid choice: ")[1].split("'")[1]
            message = f"'{given}' is no command{nearest(given, COMMANDS)} - the commands are {', '.join(COMMANDS)}"
        raise InputError(f"{message} ('{self.prog} --help' shows the usage)")


def _arguments() -> argparse.ArgumentParser:
    parser = _Parser(prog="assurgent", description="Mechanisms by structural groups: structure, motion, solvers.")
    parser.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)

    cli_start.add_commands(commands.add_parser)
    cli_mechanism.add_commands(commands.add_parser)
    cli_pictures.add_commands(commands.add_parser)
    cli_analyse.add_commands(commands.add_parser)
    cli_dynamics.add_commands(commands.add_parser)
    cli_designs.add_commands(commands.add_parser)
    cli_verify.add_commands(commands.add_parser)
    cli_report.add_commands(commands.add_parser)
    cli_studio.add_commands(commands.add_parser)
    cli_types.add_commands(commands.add_parser)
    return parser


class _Version(argparse.Action):
    """Prints the version, which is looked up only where it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"assurgent {version('assurgent')}")
        parser.exit()


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    **cli_start.COMMANDS,
    **cli_mechanism.COMMANDS,
    **cli_pictures.COMMANDS,
    **cli_analyse.COMMANDS,
    **cli_dynamics.COMMANDS,
    **cli_designs.COMMANDS,
    **cli_verify.COMMANDS,
    **cli_report.COMMANDS,
    **cli_studio.COMMANDS,
    **cli_types.COMMANDS,
}


WITHOUT_NUMBA = ("types", "show")


def _read_as_meant(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with what argparse would misread in its long form: a time below zero, a file as joints."""
    found: list[str] = []
    for text in arguments:
        if text.startswith("--") and text.endswith("=--"):  # of which argparse makes an empty list
            raise InputError(f"{text[:-3]}: -- is no value")
        if found and found[-1] == "--at" and text[:1] == "-" and text[1:2] in set("0123456789."):
            found[-1] = f"--at={text}"
            continue
        if found and found[-1] == "--reactions" and text.endswith(".toml"):
            found[-1] = "--reactions="
        found.append(text)
    return found


def _numba_without_blas() -> None:
    """Load Numba without the BLAS that it looks for: to import SciPy's takes 0.13 s, and no kernel here calls it.

    Only for a process of our own: elsewhere somebody's kernels may want it.
    """
    library = "scipy.linalg.cython_blas"
    if not {library, "numba.np.arraymath"} & sys.modules.keys():
        sys.modules[library] = None  # type: ignore[assignment]
        try:
            importlib.import_module("numba.np.arraymath")
        finally:
            del sys.modules[library]


# What the library calls by the names of its arguments, in the words of the command line.
OPTION_OF = {
    "times": "--at", "method": "--method", "methods": "--methods", "threads": "--threads", "fixed_step": "--fixed-step",
    "workers": "--workers",
}  # fmt: skip


def with_options(message: str) -> str:
    """Return a message of the library with the options of the command in place of arguments in Python."""
    begun = re.sub(r"^(\w+)(?=[ :=])", lambda m: OPTION_OF.get(m[1], m[1]), message)
    begun = re.sub(r"give the times$", "give them by --at, or by --start, --stop and --step", begun)
    return re.sub(r"\b(?:the|by the) method (\w+)", r"--method \1", begun)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; every error of the user's ends in one message and its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # Φ becomes ? where the terminal cannot show it
    try:
        try:
            meant = _read_as_meant(sys.argv[1:] if arguments is None else arguments)
            options, unknown = _arguments().parse_known_args(meant)
            if unknown:
                usage = f"'assurgent {options.command} --help' shows the usage"
                raise InputError(f"unrecognized arguments: {' '.join(unknown)} ({usage})")
            if arguments is None and options.command not in WITHOUT_NUMBA:
                gc.disable()  # what is imported stays: no search for garbage among it, now or later
                _numba_without_blas()
                gc.freeze()
                gc.enable()
            return COMMANDS[options.command](options)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except AssurgentError as error:
        _say(f"[bold red]assurgent:[/] {literal(with_options(str(error)))}")
        return error.exit_code
    except KeyboardInterrupt:
        _say("interrupted; nothing half-written")
        return 130
    except BrokenPipeError:
        return _without_output(0)
    except SystemExit as done:
        if done.code != 1:  # of --help and --version
            raise
        return _without_output(0)  # rich has met a closed pipe
    except OSError as error:
        _say(f"[bold red]assurgent:[/] the output cannot be written: {literal(error.strerror or str(error))}")
        return _without_output(1)


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # there is nobody to be told
        err.print(line, soft_wrap=True, highlight=False)


def _without_output(code: int) -> int:
    """Return an exit code, after which Python does not try once more to write what nobody takes."""
    with contextlib.suppress(OSError, ValueError):  # no file below, as in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
