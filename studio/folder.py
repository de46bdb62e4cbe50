"""The one folder that the studio reads and writes: plain names only, files whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..common.errors import InputError
from ..common.files import read_text, write_whole

# What a file may be called: no separator of any system, no leading dot, nothing that a shell or a URL would read.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .()+-]{0,119}")
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")  # devices of Windows
MOST_FILES = 2000


class Folder:
    """A folder in which mechanisms lie."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()

    def place(self, name: object, ending: str) -> Path:
        """Return the path of a plain name; refuse everything that could lead out of the folder."""
        if not isinstance(name, str) or not _NAME.fullmatch(name) or _RESERVED.fullmatch(name) or ".." in name:
            raise InputError(f"{str(name)[:60]!r} is no file name - use letters, digits, blanks, - and _")
        if not name.endswith(ending):
            raise InputError(f"{name}: a file that ends in {ending} is expected")
        path = self.path / name
        if path.resolve().parent != self.path:
            raise InputError(f"{name}: leads out of the folder {self.path.name} - the studio stays inside it")
        return path

    def names(self) -> list[str]:
        """Return the mechanism files, the one changed last first."""
        found = [p for p in self.path.glob("*.toml") if _NAME.fullmatch(p.name) and p.is_file()]
        found.sort(key=lambda p: -p.stat().st_mtime)
        return [p.name for p in found[:MOST_FILES]]

    def read(self, name: object) -> str:
        """Return the text of a mechanism file."""
        path = self.place(name, ".toml")
        if not path.is_file():
            raise InputError(f"{path.name}: there is no such file in the folder {self.path.name}")
        from ..mechanism.reader import MAX_BYTES  # with the reader: not before the page is there

        return read_text(path, MAX_BYTES)

    def write(self, name: object, text: str) -> Path:
        """Write a mechanism file, whole or not at all."""
        path = self.place(name, ".toml")
        write_whole(path, lambda part: part.write_text(text, "utf-8", newline="\n"))
        return path

    def check_tables(self, data: Mapping[str, Any]) -> None:
        """Refuse tables (.csv) of drivers and cams that do not lie in the folder."""
        for value in _strings(data):
            if value.lower().endswith(".csv"):
                self.place(value, value[-4:])
        for value in _tables(data):
            self.place(value, "")


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return [text for item in items for text in _strings(item)]


def _tables(value: Any) -> list[Any]:
    """Return whatever stands under a key `table`, at any depth."""
    if isinstance(value, list):
        return [found for item in value for found in _tables(item)]
    if not isinstance(value, Mapping):
        return []
    own = [value["table"]] if "table" in value else []
    return own + [found for item in value.values() for found in _tables(item)]
