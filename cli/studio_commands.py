"""The command studio: the page in the browser."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from .console import err


def add_commands(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Declare the command."""
    studio = add("studio", help="build, watch and understand a mechanism in the browser")
    studio.add_argument("file", metavar="FILE", nargs="?", help="mechanism file (default: begin with a template)")
    studio.add_argument("--port", type=int, default=0, metavar="N", help="port on the loopback (default: a free one)")
    studio.add_argument("--folder", metavar="DIR", help="folder that is read and written (default: that of FILE, or .)")
    studio.add_argument("--no-browser", action="store_true", help="print the address only")


def command_studio(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C; the first line on standard output is the address with its token."""
    from importlib.metadata import version

    from ..studio.launch import launch

    def announce(address: str) -> None:
        print(address, flush=True)
        err.print("the studio runs; Ctrl-C ends it", highlight=False)

    launch(options.file, options.folder, options.port, not options.no_browser, version("assurgent"), announce)
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {"studio": command_studio}
