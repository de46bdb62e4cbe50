"""Files that users name: read whole and no further than a limit, written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path

from .errors import InputError, nearest


def read_text(path: Path, limit: int, place: object = None, remedy: str = "check the path") -> str:
    """Return the text of a plain file; `place` is what messages begin with (default: the path).

    Anything else is refused before it is opened: a device has no end, and a pipe may have nobody who writes.
    """
    place = path if place is None else place
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            what = "a folder" if path.is_dir() else "no plain file"
            raise InputError(f"{place}: cannot be read: it is {what} - {remedy}")
        # some files of the system let their reader wait
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            data = file.read(limit + 1) or b""
        if len(data) > limit:
            raise InputError(f"{place}: has more than {limit} bytes - it must be smaller")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{place}: cannot be read: {error.strerror} - {remedy}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: is not UTF-8 text (byte {error.start}) - save it as UTF-8") from error
    except ValueError as error:  # a null character in the path
        raise InputError(f"{str(place)!r}: is no path") from error


def check_target(path: Path, endings: tuple[str, ...] = ()) -> str:
    """Return the ending of a file to be written; InputError if it is none of `endings` (any, where none are given), if
    the folder is missing, or something else than a file is there.
    """
    ending = path.suffix.lower()
    if endings and ending not in endings:
        found = f"the ending '{path.suffix}'" if path.suffix else "a name without an ending"
        raise InputError(
            f"{path}: {found} is not known; the ending chooses the kind of file, one of "
            f"{' '.join(endings)}{nearest(ending, endings)}"
        )
    if "\0" in str(path):
        raise InputError(f"{str(path)!r}: is no path")
    try:
        if not path.parent.is_dir():
            raise InputError(f"{path}: there is no folder {path.parent}; make it first, or choose another place")
        if path.is_dir():
            raise InputError(f"{path}: this is a folder; give the name of a file")
        if path.exists() and not path.is_file():  # the new file would take the place of a device or a pipe
            raise InputError(f"{path}: this is no plain file; choose another place")
    except OSError as error:
        raise _unwritten(path, error) from error
    return ending


def write_whole(path: Path, write: Callable[[Path], object]) -> Path:
    """Let `write` fill a temporary file beside `path`, or beside what it links to, then put it in its place at once."""
    target = Path(os.path.realpath(path))
    # short, because names have a limit; the ending stays, because some writers look at it
    part = target.with_name(f".{secrets.token_hex(6)}{path.suffix}")
    try:
        write(part)
        if part.is_file():
            with part.open("rb+") as file:
                os.fsync(file.fileno())  # a name must not survive a power cut that its bytes do not
        part.replace(target)
    except OSError as error:
        raise _unwritten(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    return path


def _unwritten(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: cannot be written ({error.strerror or error}); choose another place")
