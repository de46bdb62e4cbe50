"""From the command to the running studio: which folder, which file, which address, and the browser."""

from __future__ import annotations

import asyncio
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path

from ..common.errors import InputError

PORTS = range(1, 65536)
SWITCH = 5e-4  # seconds a computing thread may keep the loop from answering (Python's own: ten times as long)


def launch(
    file: str | None, folder: str | None, port: int, browser: bool, version: str, announce: Callable[[str], None]
) -> None:
    """Serve the studio until it is interrupted; `announce` is told the address, token included."""
    try:
        from .server import Studio, serve
    except ModuleNotFoundError as error:
        raise InputError(
            f"the studio needs the package {error.name} - install it with: pip install 'assurgent[studio]'"
        ) from None
    place, first = _place(file, folder)
    if port and port not in PORTS:
        raise InputError(f"port {port}: a number from 1 to 65535 is expected")

    def ready(address: str) -> None:
        announce(address)
        if browser:
            webbrowser.open(address)

    sys.setswitchinterval(SWITCH)
    try:
        asyncio.run(serve(Studio(place, first, version), port, ready))
    except OSError as error:
        raise InputError(f"port {port}: {error.strerror} - choose another one, or leave it out") from None


def _place(file: str | None, folder: str | None) -> tuple[Path, str | None]:
    """Return the folder that is served and the name of the file that is opened first."""
    place = Path(folder) if folder is not None else Path(file).parent if file is not None else Path()
    if not place.is_dir():
        raise InputError(f"folder {place}: there is no such folder - make it first, or name another one")
    if file is None:
        return place, None
    path = Path(file)
    if path.suffix != ".toml":
        raise InputError(f"{file}: a mechanism file ends in .toml")
    if not path.is_file():
        raise InputError(f"{file}: there is no such file - without a name the studio begins with templates")
    if path.resolve().parent != place.resolve():
        raise InputError(f"{file}: lies outside of the folder {place} - the studio stays inside one folder")
    return place, path.name
